//! The law between two surfaces: one value from the scene to the recording.
//!
//! A scene says it of a material, of a shape or of a pair ([`Surface`]); [`Surface::pair`] makes one law of what two surfaces say. A model
//! has a list of all of its laws ([`Laws`]), and contacts carry a number in it. What the contact problem asks for, the cone with the
//! directions of its rows, follows from the law alone.

use super::cone::Cone;
use super::rows::RowShape;

/// What impulses a contact can transmit besides the normal one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Friction {
    /// ‖r_t‖ ≤ μ r_n; none where μ is zero.
    Disc {
        /// Coefficient μ.
        mu: f64,
    },
}

impl Default for Friction {
    fn default() -> Self {
        Self::Disc { mu: 0.0 }
    }
}

impl Friction {
    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        match self {
            Self::Disc { mu } => *mu == 0.0,
        }
    }

    /// The law of the contact problem.
    pub fn cone(&self) -> Cone {
        match self {
            _ if self.is_none() => Cone::Unilateral,
            Self::Disc { mu } => Cone::circular(*mu),
        }
    }

    /// The friction between two surfaces that both say theirs: the geometric mean of two discs. Nothing is known of other pairs.
    fn mixed(&self, other: &Self) -> Result<Self, MustBeSaid> {
        match (self, other) {
            (Self::Disc { mu: a }, Self::Disc { mu: b }) => Ok(Self::Disc { mu: (a * b).sqrt() }),
        }
    }
}

/// No rule makes one law of the friction of these two surfaces; the scene must say what holds for the pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("friction of these two surfaces has no mean")]
pub struct MustBeSaid;

/// What is said of a surface, or of a pair of surfaces; what is not said is none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Surface {
    /// Friction.
    pub friction: Option<Friction>,
    /// Coefficient of restitution.
    pub restitution: Option<f64>,
}

impl Surface {
    /// Both, `later` where it says something.
    pub fn then(&self, later: &Self) -> Self {
        Self { friction: later.friction.or(self.friction), restitution: later.restitution.or(self.restitution) }
    }

    /// The law of a pair: what is said of it; else what one of the surfaces says if the other is silent; else the geometric mean of coefficients
    /// of friction, and the larger coefficient of restitution. What nobody says is zero.
    pub fn pair(&self, [a, b]: [&Self; 2]) -> Result<PairLaw, MustBeSaid> {
        let friction = match (self.friction, a.friction, b.friction) {
            (Some(said), ..) | (None, Some(said), None) | (None, None, Some(said)) => said,
            (None, Some(a), Some(b)) => a.mixed(&b)?,
            (None, None, None) => Friction::default(),
        };
        let restitution = match (self.restitution, a.restitution, b.restitution) {
            (Some(said), ..) | (None, Some(said), None) | (None, None, Some(said)) => said,
            (None, Some(a), Some(b)) => a.max(b),
            (None, None, None) => 0.0,
        };
        Ok(PairLaw { friction, restitution })
    }
}

/// The law of one pair of surfaces.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PairLaw {
    /// Friction.
    pub friction: Friction,
    /// Coefficient of restitution.
    pub restitution: f64,
}

/// A law's place in [`Laws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LawId(u32);

/// A law, with what follows from it.
#[derive(Debug, Clone)]
struct Entry {
    law: PairLaw,
    cone: Cone,
    rows: RowShape,
}

/// All laws of a model. They are gathered when it is built; nothing is added in a step.
#[derive(Debug, Clone)]
pub struct Laws(Vec<Entry>);

impl Default for Laws {
    /// The law without friction and restitution, by the default number.
    fn default() -> Self {
        let mut laws = Self(Vec::new());
        laws.push(PairLaw::default());
        laws
    }
}

impl Laws {
    /// Adds a law.
    pub fn push(&mut self, law: PairLaw) -> LawId {
        let cone = law.friction.cone();
        let rows = cone.rows();
        self.0.push(Entry { law, cone, rows });
        LawId((self.0.len() - 1) as u32)
    }

    /// A law, by the number that [`push`](Self::push) gave it.
    pub fn get(&self, id: LawId) -> &PairLaw {
        &self.0[id.0 as usize].law
    }

    /// Its law of the contact problem.
    pub fn cone(&self, id: LawId) -> &Cone {
        &self.0[id.0 as usize].cone
    }

    /// Its rows.
    pub fn rows(&self, id: LawId) -> RowShape {
        self.0[id.0 as usize].rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_the_pair_wins() {
        let disc = |mu| Some(Friction::Disc { mu });
        let (a, b) = (
            Surface { friction: disc(0.8), restitution: Some(0.1) },
            Surface { friction: disc(0.2), restitution: Some(0.7) },
        );
        let silent = Surface::default();
        let law = |said: &Surface, a: &Surface, b: &Surface| said.pair([a, b]).unwrap();
        let mean = law(&silent, &a, &b);
        assert_eq!(mean, PairLaw { friction: Friction::Disc { mu: (0.8_f64 * 0.2).sqrt() }, restitution: 0.7 });
        assert_eq!(law(&silent, &silent, &b), PairLaw { friction: Friction::Disc { mu: 0.2 }, restitution: 0.7 });
        assert_eq!(law(&silent, &silent, &silent), PairLaw::default());
        let said = Surface { friction: disc(0.3), restitution: None };
        assert_eq!(law(&said, &a, &b), PairLaw { friction: Friction::Disc { mu: 0.3 }, restitution: 0.7 });
        assert_eq!(said.then(&a), a);
        assert_eq!(a.then(&said), Surface { friction: disc(0.3), ..a });
    }

    #[test]
    fn without_friction_there_is_one_row() {
        let mut laws = Laws::default();
        let rough = laws.push(PairLaw { friction: Friction::Disc { mu: 0.4 }, restitution: 0.0 });
        assert_eq!(laws.cone(LawId::default()), &Cone::Unilateral);
        assert_eq!(laws.rows(LawId::default()).dim(), 1);
        assert_eq!(laws.cone(rough), &Cone::circular(0.4));
        assert_eq!(laws.rows(rough).dim(), 3);
    }
}
