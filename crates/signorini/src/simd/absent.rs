//! Where no processor has the registers: a token that nothing makes, and numbers that there are none of.

use super::lanes::{Lanes, Space};
use std::convert::Infallible;

/// Proof that the processor has AVX2, which it has not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(Infallible);

impl Avx2 {
    /// None.
    #[inline(always)]
    pub fn detect() -> Option<Self> {
        None
    }

    /// Is never called.
    #[inline(always)]
    pub fn run<R>(self, _: impl FnOnce() -> R) -> R {
        match self.0 {}
    }
}

/// There is none.
#[derive(Clone, Copy)]
pub(crate) struct Quad(Infallible);

impl Lanes for Quad {
    fn plus(self, _: Self) -> Self {
        match self.0 {}
    }

    fn minus(self, _: Self) -> Self {
        match self.0 {}
    }

    fn times(self, _: f64) -> Self {
        match self.0 {}
    }
}

impl Space for Quad {
    type Token = Avx2;

    fn token(self) -> Avx2 {
        match self.0 {}
    }

    fn zero(token: Avx2) -> Self {
        match token.0 {}
    }

    fn load(token: Avx2, _: &[f64; 4]) -> Self {
        match token.0 {}
    }

    fn load_three(token: Avx2, _: &[f64; 3]) -> Self {
        match token.0 {}
    }

    fn load_rows(token: Avx2, _: &[f64; 9]) -> [Self; 3] {
        match token.0 {}
    }

    fn store(self, _: &mut [f64; 4]) {
        match self.0 {}
    }

    fn store_rows([a, _, _]: [Self; 3], _: &mut [f64; 9]) {
        match a.0 {}
    }

    fn mul(self, _: Self) -> Self {
        match self.0 {}
    }

    fn abs(self) -> Self {
        match self.0 {}
    }

    fn turned(self) -> Self {
        match self.0 {}
    }

    fn turned_back(self) -> Self {
        match self.0 {}
    }

    fn fold_three(self) -> f64 {
        match self.0 {}
    }
}
