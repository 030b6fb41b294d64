//! Registers of four numbers, by hand: left to itself the compiler shuffles them about, and takes the lane to spare out again.

// The one exception in the library.
#![allow(unsafe_code)]

use super::lanes::{Lanes, Space};
use std::arch::x86_64::{
    __m256d, _mm_add_pd, _mm_add_sd, _mm_cvtsd_f64, _mm_storeu_pd, _mm_unpackhi_pd, _mm256_add_pd, _mm256_andnot_pd,
    _mm256_castpd256_pd128, _mm256_extractf128_pd, _mm256_loadu_pd, _mm256_maskload_pd, _mm256_mul_pd,
    _mm256_permute4x64_pd, _mm256_set_epi64x, _mm256_set1_pd, _mm256_setzero_pd, _mm256_storeu_pd, _mm256_sub_pd,
};

/// Proof that the processor has AVX2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Asks the processor.
    #[inline(always)]
    pub fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    /// Runs `work` in code for these registers.
    #[inline(always)]
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        // SAFETY: the processor has AVX2, of which `self` is the proof.
        unsafe { run_in_avx2(work) }
    }
}

#[target_feature(enable = "avx2")]
fn run_in_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Four numbers in one register. There is one only where there was a token.
#[derive(Clone, Copy)]
pub(crate) struct Quad(__m256d);

impl Lanes for Quad {
    #[inline(always)]
    fn plus(self, o: Self) -> Self {
        // SAFETY: the processor has AVX2, since there is a `Quad`.
        Self(unsafe { _mm256_add_pd(self.0, o.0) })
    }

    #[inline(always)]
    fn minus(self, o: Self) -> Self {
        // SAFETY: the processor has AVX2, since there is a `Quad`.
        Self(unsafe { _mm256_sub_pd(self.0, o.0) })
    }

    #[inline(always)]
    fn times(self, x: f64) -> Self {
        // SAFETY: the processor has AVX2, since there is a `Quad`.
        Self(unsafe { _mm256_mul_pd(self.0, _mm256_set1_pd(x)) })
    }
}

impl Space for Quad {
    type Token = Avx2;

    #[inline(always)]
    fn token(self) -> Avx2 {
        Avx2(())
    }

    #[inline(always)]
    fn zero(_: Avx2) -> Self {
        // SAFETY: the processor has AVX2, of which the token is the proof.
        Self(unsafe { _mm256_setzero_pd() })
    }

    #[inline(always)]
    fn load(_: Avx2, x: &[f64; 4]) -> Self {
        // SAFETY: the processor has AVX2, of which the token is the proof; four numbers are read of four.
        Self(unsafe { _mm256_loadu_pd(x.as_ptr()) })
    }

    #[inline(always)]
    fn load_three(_: Avx2, x: &[f64; 3]) -> Self {
        // SAFETY: the processor has AVX2, of which the token is the proof; the mask keeps the load to the three numbers that are there.
        Self(unsafe { _mm256_maskload_pd(x.as_ptr(), _mm256_set_epi64x(0, -1, -1, -1)) })
    }

    #[inline(always)]
    fn load_rows(token: Avx2, x: &[f64; 9]) -> [Self; 3] {
        let last = Self::load_three(token, &x.as_chunks().0[2]);
        // SAFETY: the processor has AVX2, of which the token is the proof; numbers 0 to 3 and 3 to 6 are read of nine.
        let first = unsafe { [_mm256_loadu_pd(x.as_ptr()), _mm256_loadu_pd(x.as_ptr().add(3))] };
        [Self(first[0]), Self(first[1]), last]
    }

    #[inline(always)]
    fn store(self, to: &mut [f64; 4]) {
        // SAFETY: the processor has AVX2, since there is a `Quad`; four numbers are written to four.
        unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn store_rows([a, b, c]: [Self; 3], to: &mut [f64; 9]) {
        let to = to.as_mut_ptr();
        // SAFETY: the processor has AVX2, since there are `Quad`s; numbers 0 to 3, 3 to 6, 6 to 7 and 8 are written of nine, in this
        // order: the last lane of a row is overwritten by the row that follows.
        unsafe {
            _mm256_storeu_pd(to, a.0);
            _mm256_storeu_pd(to.add(3), b.0);
            _mm_storeu_pd(to.add(6), _mm256_castpd256_pd128(c.0));
            *to.add(8) = _mm_cvtsd_f64(_mm256_extractf128_pd::<1>(c.0));
        }
    }

    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        // SAFETY: the processor has AVX2, since there is a `Quad`.
        Self(unsafe { _mm256_mul_pd(self.0, o.0) })
    }

    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: the processor has AVX2, since there is a `Quad`.
        Self(unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0) })
    }

    #[inline(always)]
    fn turned(self) -> Self {
        // SAFETY: the processor has AVX2, since there is a `Quad`.
        Self(unsafe { _mm256_permute4x64_pd::<0b11_00_10_01>(self.0) })
    }

    #[inline(always)]
    fn turned_back(self) -> Self {
        // SAFETY: the processor has AVX2, since there is a `Quad`.
        Self(unsafe { _mm256_permute4x64_pd::<0b11_01_00_10>(self.0) })
    }

    #[inline(always)]
    fn fold_three(self) -> f64 {
        // SAFETY: the processor has AVX2, since there is a `Quad`.
        unsafe {
            let halves = _mm_add_pd(_mm256_castpd256_pd128(self.0), _mm256_extractf128_pd::<1>(self.0));
            _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)))
        }
    }
}
