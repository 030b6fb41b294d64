//! The law between two surfaces: one value from the scene to the recording.
//!
//! A scene says it of a material or of a pair ([`Surface`]); [`Surface::pair`] makes one law of what two surfaces say. A model
//! has a list of all of its laws ([`Laws`]), and contacts carry a number in it. What the contact problem asks for, the cone with the
//! directions of its rows, follows from the law alone.

use super::cone::{Cone, Polygon, Polyhedron};
use super::rows::RowShape;

/// What impulses a contact can transmit besides the normal one: forces along t and o, and moments.
#[derive(Debug, Clone, PartialEq)]
pub enum Friction {
    /// ‖r_t‖ ≤ μ r_n; none where μ is zero.
    Disc {
        /// Coefficient μ.
        mu: f64,
    },
    /// (r_t/μ_t)² + (r_o/μ_o)² ≤ r_n².
    Ellipse {
        /// Coefficients along t and o.
        mu: [f64; 2],
    },
    /// (r_t, r_o) in r_n times a polygon.
    Polygon(Polygon),
    /// (r_t/e_t)² + (r_o/e_o)² + (m_n/e_r)² ≤ μ² r_n².
    Ellipsoid {
        /// Coefficient μ.
        mu: f64,
        /// e_t, e_o and the length e_r.
        e: [f64; 3],
    },
    /// (r_t/e_t)² + (r_o/e_o)² ≤ μ² r_n² and |m_n| ≤ μ e_r r_n.
    Mixed {
        /// Coefficient μ.
        mu: f64,
        /// e_t, e_o and the length e_r.
        e: [f64; 3],
    },
    /// (r_t, r_o, m_n) in r_n times a polyhedron.
    Polyhedron(Polyhedron),
    /// ‖r_t‖ ≤ μ r_n, and ‖m_t‖ ≤ ρ r_n for the moments about t and o.
    Rolling {
        /// Coefficient μ.
        mu: f64,
        /// The length ρ.
        arm: f64,
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
            Self::Disc { mu } | Self::Ellipsoid { mu, .. } | Self::Mixed { mu, .. } => *mu == 0.0,
            Self::Ellipse { mu } => *mu == [0.0; 2],
            Self::Rolling { mu, arm } => *mu == 0.0 && *arm == 0.0,
            Self::Polygon(_) | Self::Polyhedron(_) => false,
        }
    }

    /// The law of the contact problem.
    pub fn cone(&self) -> Cone {
        match self {
            _ if self.is_none() => Cone::Unilateral,
            Self::Disc { mu } => Cone::circular(*mu),
            Self::Ellipse { mu } => Cone::elliptic(1.0, *mu),
            Self::Polygon(polygon) => Cone::polygonal(polygon.clone()),
            Self::Ellipsoid { mu, e } => Cone::ellipsoidal(*mu, *e),
            Self::Mixed { mu, e } => Cone::cylindrical(*mu, *e),
            Self::Polyhedron(polyhedron) => Cone::polyhedral(polyhedron.clone()),
            Self::Rolling { mu, arm } => Cone::rolling(*mu, *arm),
        }
    }

    /// The friction between two surfaces that both say theirs: the geometric mean of two discs. Nothing is known of other pairs.
    fn mixed(&self, other: &Self) -> Result<Self, MustBeSaid> {
        match (self, other) {
            (Self::Disc { mu: a }, Self::Disc { mu: b }) => Ok(Self::Disc { mu: (a * b).sqrt() }),
            _ => Err(MustBeSaid),
        }
    }
}

/// No rule makes one law of the friction of these two surfaces; the scene must say what holds for the pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("friction of these two surfaces has no mean")]
pub struct MustBeSaid;

/// Directions t and o, fixed in a body and turning with it: t is the part of an axis of the body across the normal, o the normal times t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// The body by its number; none for the ground.
    pub body: Option<u32>,
    /// Its axis, of length one.
    pub axis: [f64; 3],
}

/// What is said of a surface, or of a pair of surfaces; what is not said is none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Surface {
    /// Friction.
    pub friction: Option<Friction>,
    /// In which directions; it goes with the friction.
    pub frame: Option<Frame>,
    /// Coefficient of restitution.
    pub restitution: Option<f64>,
}

impl Surface {
    /// Both, `later` where it says something.
    pub fn then(&self, later: &Self) -> Self {
        let directed = if later.friction.is_some() { later } else { self };
        let restitution = later.restitution.or(self.restitution);
        Self { friction: directed.friction.clone(), frame: directed.frame, restitution }
    }

    /// The law of a pair: what is said of it; else what one of the surfaces says if the other is silent, or what both say alike; else the
    /// geometric mean of coefficients of friction, and the larger coefficient of restitution. What nobody says is zero.
    pub fn pair(&self, [a, b]: [&Self; 2]) -> Result<PairLaw, MustBeSaid> {
        let speaks = |s: &&Self| s.friction.is_some();
        let (friction, frame) =
            match ([self].into_iter().find(speaks), [a].into_iter().find(speaks), [b].into_iter().find(speaks)) {
                (Some(said), ..) | (None, Some(said), None) | (None, None, Some(said)) => {
                    (said.friction.clone(), said.frame)
                }
                (None, Some(a), Some(b))
                    if !matches!(a.friction, Some(Friction::Disc { .. }))
                        && a.friction == b.friction
                        && a.frame == b.frame =>
                {
                    (a.friction.clone(), a.frame)
                }
                (None, Some(a), Some(b)) => {
                    let mean = a.friction.as_ref().zip(b.friction.as_ref()).map(|(a, b)| a.mixed(b)).transpose()?;
                    (mean, None)
                }
                (None, None, None) => (None, None),
            };
        let restitution = match (self.restitution, a.restitution, b.restitution) {
            (Some(said), ..) | (None, Some(said), None) | (None, None, Some(said)) => said,
            (None, Some(a), Some(b)) => a.max(b),
            (None, None, None) => 0.0,
        };
        Ok(PairLaw { friction: friction.unwrap_or_default(), frame, restitution })
    }
}

/// The law of one pair of surfaces.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairLaw {
    /// Friction.
    pub friction: Friction,
    /// In which directions; none where they are a function of the normal alone.
    pub frame: Option<Frame>,
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
    arm: f64,
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
        let (rows, arm) = (cone.rows(), cone.moment_arm());
        self.0.push(Entry { law, cone, rows, arm });
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

    /// Length by which its moments are compared with its forces: the largest moment over the largest force; zero without moments.
    pub fn arm(&self, id: LawId) -> f64 {
        self.0[id.0 as usize].arm
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
            Surface { friction: disc(0.8), restitution: Some(0.1), ..Surface::default() },
            Surface { friction: disc(0.2), restitution: Some(0.7), ..Surface::default() },
        );
        let silent = Surface::default();
        let law = |said: &Surface, a: &Surface, b: &Surface| said.pair([a, b]).unwrap();
        let mean = law(&silent, &a, &b);
        let pair = |mu: f64| PairLaw { friction: Friction::Disc { mu }, restitution: 0.7, frame: None };
        assert_eq!(mean, pair((0.8_f64 * 0.2).sqrt()));
        assert_eq!(law(&silent, &silent, &b), pair(0.2));
        assert_eq!(law(&silent, &silent, &silent), PairLaw::default());
        let said = Surface { friction: disc(0.3), ..silent.clone() };
        assert_eq!(law(&said, &a, &b), pair(0.3));
        assert_eq!(said.then(&a), a);
        assert_eq!(a.then(&said), Surface { friction: disc(0.3), ..a });
    }

    #[test]
    fn without_friction_there_is_one_row() {
        let mut laws = Laws::default();
        let rough = laws.push(PairLaw { friction: Friction::Disc { mu: 0.4 }, ..PairLaw::default() });
        assert_eq!(laws.cone(LawId::default()), &Cone::Unilateral);
        assert_eq!(laws.rows(LawId::default()).dim(), 1);
        assert_eq!(laws.cone(rough), &Cone::circular(0.4));
        assert_eq!(laws.rows(rough).dim(), 3);
    }

    #[test]
    fn only_equal_sections_have_a_mean() {
        let said = |friction, axis| Surface {
            friction: Some(friction),
            frame: Some(Frame { body: None, axis }),
            restitution: None,
        };
        let ellipse = Friction::Ellipse { mu: [0.3, 0.1] };
        let (x, y) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
        let a = said(ellipse.clone(), x);
        let silent = Surface::default();
        assert_eq!(
            silent.pair([&a, &a]).unwrap(),
            PairLaw { friction: ellipse.clone(), frame: a.frame, restitution: 0.0 }
        );
        assert_eq!(silent.pair([&a, &said(ellipse, y)]), Err(MustBeSaid));
        let disc = Surface { friction: Some(Friction::Disc { mu: 0.3 }), ..Surface::default() };
        assert_eq!(silent.pair([&a, &disc]), Err(MustBeSaid));
        // A frame goes with its friction.
        assert_eq!(disc.pair([&a, &a]).unwrap().frame, None);
        assert_eq!(a.then(&disc).frame, None);
    }
}
