//! How an attempt ended, by which route it solved its equations, and what was declined.

use super::super::cone::{Cone, Section};

/// How an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// The goal is reached.
    Met,
    /// The goal is reached, and other solutions are known.
    Many,
    /// The goal is below the rounding floor, which is reached.
    Floor,
    /// Nearer than before, to this residual, but not there.
    Better(f64),
    /// No progress.
    Stalled,
    /// Proved that there is no solution.
    NoSolution,
    /// Not tried.
    Declined(Reason),
}

impl Outcome {
    /// Whether nothing else need be tried.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Met | Self::Many | Self::Floor | Self::NoSolution)
    }
}

/// Why something that would have been tried was not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Interior points know rows and Coulomb's law.
    InteriorLaws,
    /// Links and speeds know contacts of at most three rows.
    MechanismRows,
    /// A pivot of links or speeds vanished.
    MechanismPivot,
    /// Steps are prolonged for rows and Coulomb's law only.
    ProlongedLaws,
    /// The ceiling of work was reached.
    Ceiling,
}

impl Reason {
    const ALL: [Self; 5] =
        [Self::InteriorLaws, Self::MechanismRows, Self::MechanismPivot, Self::ProlongedLaws, Self::Ceiling];

    /// In words, for reports.
    pub fn text(self) -> &'static str {
        match self {
            Self::InteriorLaws => "interior points: they know single rows and Coulomb's law with μ > 0 only",
            Self::MechanismRows => "steps over links or speeds: they know contacts of three rows at most",
            Self::MechanismPivot => "steps over links or speeds: a pivot vanished",
            Self::ProlongedLaws => "prolonged steps: they know single rows and Coulomb's law only",
            Self::Ceiling => "further attempts: the ceiling of work was reached",
        }
    }
}

/// What a solve declined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Declined(u8);

impl Declined {
    /// Adds one.
    pub fn note(&mut self, reason: Reason) {
        self.0 |= 1 << reason as u8;
    }

    /// Adds all of another solve's.
    pub fn note_all(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Whether there was nothing.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// One by one.
    pub fn reasons(self) -> impl Iterator<Item = Reason> {
        Reason::ALL.into_iter().filter(move |r| self.0 & (1 << *r as u8) != 0)
    }
}

/// By which factorisation equations are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// A dense matrix over contacts.
    Dense,
    /// Sparse blocks over contacts.
    Blocks,
    /// The links behind the contacts.
    Links,
    /// The speeds of a small machine.
    Speeds,
}

impl Route {
    const ALL: [Self; 4] = [Self::Dense, Self::Blocks, Self::Links, Self::Speeds];

    /// As reports spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Blocks => "blocks",
            Self::Links => "links",
            Self::Speeds => "speeds",
        }
    }
}

/// The routes of a solve; none where nothing was factored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Routes(u8);

impl Routes {
    /// Adds one.
    pub fn note(&mut self, route: Route) {
        self.0 |= 1 << route as u8;
    }

    /// Adds all of another solve's.
    pub fn note_all(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// One by one.
    pub fn iter(self) -> impl Iterator<Item = Route> {
        Route::ALL.into_iter().filter(move |r| self.0 & (1 << *r as u8) != 0)
    }
}

/// A set of laws, told apart by what methods know of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LawSet(u8);

impl LawSet {
    /// Unilateral and bilateral rows.
    pub const ROWS: Self = Self(1);
    /// Rows with bounds.
    pub const BOUNDED: Self = Self(2);
    /// Coulomb's law in the plane and in space, μ > 0.
    pub const COULOMB: Self = Self(4);
    /// Everything else.
    pub const OTHER: Self = Self(8);
    /// All of them.
    pub const ALL: Self = Self(15);

    /// Both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The laws of some contacts.
    pub fn of(cones: &[Cone]) -> Self {
        cones.iter().fold(Self::default(), |all, cone| {
            all.and(match cone {
                Cone::Unilateral | Cone::Bilateral => Self::ROWS,
                Cone::Interval { .. } => Self::BOUNDED,
                Cone::Friction(Section::Ball { dim: 1 | 2, radius }) if *radius > 0.0 => Self::COULOMB,
                Cone::Friction(_) => Self::OTHER,
            })
        })
    }

    /// Whether these are among them.
    pub fn contains(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }
}
