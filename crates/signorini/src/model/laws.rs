//! The laws between the surfaces of a model.

use super::Shape;
use super::contact::ordered;
use crate::contact::law::{LawId, Laws, MustBeSaid, PairLaw};

/// Laws of all pairs of surfaces. Surfaces that no material and no rule tells apart are one.
#[derive(Debug, Clone, Default)]
pub struct PairLaws {
    laws: Laws,
    /// Of surfaces a ≤ b at b (b + 1)/2 + a.
    of_pairs: Vec<LawId>,
}

impl PairLaws {
    /// Asks for the law of every two of `n` surfaces. `refused` says what it is to be where friction has no mean.
    pub(super) fn build<E>(
        n: u32,
        law: impl Fn(u32, u32) -> Result<PairLaw, MustBeSaid>,
        refused: impl Fn(u32, u32) -> Result<PairLaw, E>,
    ) -> Result<Self, E> {
        let mut laws = Laws::default();
        let mut of_pairs = Vec::with_capacity(place(n, 0));
        for b in 0..n {
            for a in 0..=b {
                let law = law(a, b).or_else(|MustBeSaid| refused(a, b))?;
                of_pairs.push(laws.push(law));
            }
        }
        Ok(Self { laws, of_pairs })
    }

    /// The law between two shapes.
    pub fn between(&self, a: &Shape, b: &Shape) -> LawId {
        let (a, b) = ordered(a.surface, b.surface);
        self.of_pairs.get(place(b, a)).copied().unwrap_or_default()
    }

    /// All of them, by number.
    pub fn laws(&self) -> &Laws {
        &self.laws
    }
}

fn place(b: u32, a: u32) -> usize {
    b as usize * (b as usize + 1) / 2 + a as usize
}
