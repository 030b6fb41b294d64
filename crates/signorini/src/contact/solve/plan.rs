//! What `auto` tries, in this order, as data.
//!
//! Each attempt says what it is called, which method it is, which laws that knows, when it applies and where it starts; the method carries its
//! budget. One driver (`attempts.rs`) runs them. [`AutoOptions::without`](super::AutoOptions) leaves pieces out by name, so that an ablation is a loop
//! over [`PIECES`]; its table is in `cases/experiments/contact-ablation.md`.

use super::constants::{enumerate, interior, newton as steps, pivoting};
use super::newton::Schedule;
use super::outcome::LawSet;

/// What is known of a problem when an attempt is considered.
#[derive(Debug, Clone, Copy)]
pub struct Situation {
    /// Whether all laws are unilateral or bilateral rows.
    pub is_lcp: bool,
    /// Whether a contact has more than two rows.
    pub is_spatial: bool,
    /// Whether a complementarity problem has a zero on its diagonal.
    pub has_zero_diagonal: bool,
    /// Whether nothing has been done to r.
    pub is_fresh: bool,
    /// Whether nothing is known of r, which is zero, in a solve that is to choose evenly.
    pub is_cold: bool,
    /// Rows, and contacts.
    pub rows: usize,
    pub contacts: usize,
    /// Residual of the best r.
    pub rel: f64,
}

impl Situation {
    /// Many contacts in space.
    fn is_many(&self) -> bool {
        self.is_spatial && self.contacts > steps::MANY_CONTACTS
    }

    fn is_tiny(&self) -> bool {
        self.contacts <= steps::TINY_CONTACTS
    }

    fn pivots_first(&self) -> bool {
        self.is_lcp && (self.rows <= pivoting::FEW_ROWS || self.has_zero_diagonal && self.rows <= pivoting::MOST_ROWS)
    }
}

/// A method with its budget.
#[derive(Debug, Clone, Copy)]
pub enum Method {
    /// Lemke's.
    Pivot,
    /// Gauss–Seidel sweeps.
    Sweep,
    /// Interior points on the associated problem, which is convex.
    Associated,
    /// Newton's method, every step with its own proximal term, at most so many; the least α.
    Nearby { steps: usize, least_alpha: f64 },
    /// Newton's method inside a proximal loop, for few contacts, with the residual as first α.
    Tiny,
    /// The same for rows: an active-set method.
    ActiveSet,
    /// The same with full steps, cut short when they cycle; at most so many.
    FullSteps { steps: usize },
    /// The same along the path of solutions: ρ and proximal steps.
    Careful { rho: f64, outer: usize },
    /// Interior points from so far inside the cones, then a few full steps.
    Inside { insets: &'static [f64] },
    /// All modes of a small problem of rows and planar contacts: a solution, or the proof that there is none.
    Enumerate,
}

impl Method {
    /// Whether it solves Newton's equations, which the ceiling counts.
    pub fn is_newton(self) -> bool {
        !matches!(self, Self::Pivot | Self::Sweep | Self::Enumerate)
    }

    /// As solutions report it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pivot => "lemke",
            Self::Sweep => "gauss-seidel",
            Self::Inside { .. } | Self::Associated => "interior",
            Self::Enumerate => "enumerate",
            _ => "newton",
        }
    }
}

/// Where an attempt starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// At the best r.
    Best,
    /// At r = 0.
    Zero,
}

/// One attempt.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    /// What an ablation calls it; attempts of one name are one piece.
    pub name: &'static str,
    /// What is done.
    pub method: Method,
    /// Laws that the method knows.
    pub takes: LawSet,
    /// Whether it is worth trying.
    pub when: fn(&Situation) -> bool,
    /// Where it starts.
    pub start: From,
    /// Whether steps must lead to the tolerance, and not only near it.
    pub is_exact: bool,
    /// Whether it only runs above what is accepted.
    pub is_rescue: bool,
}

/// From the best r, exact, for all laws.
const fn attempt(name: &'static str, method: Method, when: fn(&Situation) -> bool) -> Attempt {
    Attempt { name, method, takes: LawSet::ALL, when, start: From::Best, is_exact: true, is_rescue: true }
}

impl Attempt {
    const fn takes(self, takes: LawSet) -> Self {
        Self { takes, ..self }
    }

    const fn from(self, start: From) -> Self {
        Self { start, ..self }
    }

    const fn nearly(self) -> Self {
        Self { is_exact: false, ..self }
    }

    const fn first(self) -> Self {
        Self { is_rescue: false, ..self }
    }
}

const NEAR: Method = Method::Nearby { steps: steps::NEAR_STEPS, least_alpha: steps::NEAR_ALPHA };
const NEARBY: Method = Method::Nearby { steps: steps::FIRST_STEPS, least_alpha: steps::FIRST_ALPHA };
const INSIDE_LAWS: LawSet = LawSet::ROWS.and(LawSet::COULOMB);

/// All attempts, in order. First what leads to the goal in most problems, then what is only run above what is accepted.
#[rustfmt::skip]
pub const PLAN: &[Attempt] = &[
    attempt("even start", Method::Associated, |s| s.is_cold && s.contacts > 1).takes(INSIDE_LAWS).from(From::Zero).first(),
    attempt("pivoting", Method::Pivot, Situation::pivots_first).first(),
    attempt("sweeps", Method::Sweep, |s| s.is_fresh).first(),
    attempt("few contacts", Method::Tiny, |s| !s.is_lcp && s.is_tiny()).nearly().first(),
    attempt("nearby", NEAR, |s| !s.is_lcp && !s.is_tiny() && s.rel <= steps::NEAR).nearly().first(),
    attempt("nearby", NEARBY, |s| !s.is_lcp && !s.is_tiny() && s.rel > steps::NEAR && s.rel <= steps::FIRST_RESIDUAL).nearly().first(),
    attempt("active set", Method::ActiveSet, |s| s.is_lcp).first(),
    attempt("interior points", Method::Inside { insets: &interior::INSETS }, |s| !s.is_lcp && s.is_many()).takes(INSIDE_LAWS),
    attempt("full steps", Method::FullSteps { steps: steps::FULL_STEPS }, |s| !s.is_lcp && !s.is_many()),
    attempt("full steps", Method::FullSteps { steps: steps::MANY_FULL_STEPS }, |s| !s.is_lcp && s.is_many()),
    attempt("interior points", Method::Inside { insets: &interior::INSETS }, |s| !s.is_lcp && !s.is_many()).takes(INSIDE_LAWS),
    attempt("pivoting", Method::Pivot, |s| s.is_lcp && !s.pivots_first() && s.rows <= pivoting::MOST_ROWS),
    attempt("careful steps", Method::Careful { rho: steps::CAREFUL[0].0, outer: steps::CAREFUL[0].1 }, |_| true).from(From::Zero),
    attempt("careful steps", Method::Careful { rho: steps::CAREFUL[1].0, outer: steps::CAREFUL[1].1 }, |_| true).from(From::Zero),
    attempt("careful steps", Method::Careful { rho: steps::CAREFUL[2].0, outer: steps::CAREFUL[2].1 }, |_| true).from(From::Zero),
    attempt("enumeration", Method::Enumerate, |s| s.rows <= enumerate::MOST_ROWS),
];

/// Everything that can be left out: the attempts, and what they share.
pub const PIECES: [&str; 13] = [
    "even start",
    "pivoting",
    "sweeps",
    "few contacts",
    "nearby",
    "active set",
    "interior points",
    "full steps",
    "careful steps",
    "enumeration",
    "islands",
    "stubborn contacts",
    "mechanism",
];

/// What all attempts share, unless it is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shared {
    pub islands: bool,
    pub stubborn: bool,
    pub mechanism: bool,
}

impl Default for Shared {
    fn default() -> Self {
        Self::without(&[])
    }
}

impl Shared {
    /// Everything that is not named.
    pub fn without(names: &[&str]) -> Self {
        let has = |name: &str| !names.contains(&name);
        Self { islands: has("islands"), stubborn: has("stubborn contacts"), mechanism: has("mechanism") }
    }
}

/// A proximal loop's α, ρ, schedule and proximal steps, with those of its Newton steps that are limited.
#[derive(Debug, Clone, Copy)]
pub struct Loop {
    pub alpha: f64,
    pub rho: f64,
    pub schedule: Schedule,
    pub outer: usize,
    pub inner: Option<(usize, usize)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every attempt can be left out.
    #[test]
    fn attempts_are_pieces() {
        assert!(PLAN.iter().all(|a| PIECES.contains(&a.name)));
    }
}
