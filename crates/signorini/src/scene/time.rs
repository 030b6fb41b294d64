//! How time advances.

use serde::{Deserialize, Serialize};

/// When and how time advances.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Time {
    /// The run goes from 0 to here.
    pub end: f64,
    /// Step of the fixed-step methods; first step of the adaptive one where given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// The method.
    pub integrator: Integrator,
    /// Relative tolerance of the adaptive method per step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtol: Option<f64>,
}

/// Integration methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integrator {
    /// `adaptive` where nothing can push, `stewart-trinkle` where bodies may touch or joints have limits or dry friction.
    #[default]
    Auto,
    /// Embedded Runge–Kutta method of order 8 with error control (Dormand and Prince).
    Adaptive,
    /// The classical method of order 4 with a fixed step.
    Rk4,
    /// Semi-implicit (symplectic) Euler with a fixed step.
    Euler,
    /// Contact on velocities and impulses with gaps that may close within the step, a fixed step (paper 000).
    StewartTrinkle,
    /// The same in the middle of the step, for gaps that are closed there or that its forces might close, a fixed step (after Moreau and Jean).
    Moreau,
}

impl Integrator {
    /// Whether it steps contact.
    pub const fn steps_contact(self) -> bool {
        matches!(self, Self::StewartTrinkle | Self::Moreau)
    }

    /// Whether it has a tolerance.
    pub const fn has_tolerance(self) -> bool {
        matches!(self, Self::Auto | Self::Adaptive)
    }

    /// As scenes spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Adaptive => "adaptive",
            Self::Rk4 => "rk4",
            Self::Euler => "euler",
            Self::StewartTrinkle => "stewart-trinkle",
            Self::Moreau => "moreau",
        }
    }
}

/// Which formulation of the dynamics is used, and how contact is solved.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// The formulation.
    pub formulation: Formulation,
    /// The method for contact problems.
    pub method: ContactMethod,
    /// Tolerance of contact problems on their relative residual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// What happens when a contact problem is not solved.
    pub policy: Policy,
    /// The law of restitution.
    pub restitution: Restitution,
}

/// Methods for contact problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContactMethod {
    /// The first of several that solves the problem.
    #[default]
    Auto,
    /// Lemke's pivoting, without friction in space.
    Lemke,
    /// Block Gauss–Seidel.
    GaussSeidel,
    /// Proximal Newton.
    Newton,
    /// Alternating directions.
    Admm,
    /// Every mode of every contact: few contacts only.
    Enumerate,
}

impl ContactMethod {
    /// As scenes spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Lemke => "lemke",
            Self::GaussSeidel => "gauss-seidel",
            Self::Newton => "newton",
            Self::Admm => "admm",
            Self::Enumerate => "enumerate",
        }
    }
}

/// What a run does when a contact problem is not solved to its tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Stops before the step; what was computed is kept.
    #[default]
    Stop,
    /// Goes on with the best impulses that were found, and says so.
    Warn,
    /// Goes on; summary and step table show it.
    Accept,
}

/// Laws of restitution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restitution {
    /// Newton's: velocities of departure and approach (paper 000, eq. 16).
    #[default]
    Newton,
    /// Poisson's: impulses of expansion and compression.
    Poisson,
    /// Energetic: Poisson's, with no more energy given back than e² of what compression has stored.
    Energetic,
}

/// Formulations of the equations of motion. All give the same motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Formulation {
    /// Joint coordinates, articulated-body recursion, cost linear in the number of bodies.
    #[default]
    Recursive,
    /// Divide and conquer: clusters of bodies with ports, merged along a tree, on any number of threads.
    Dca,
    /// The whole constrained system in body coordinates by a general factorisation: slow, and the yardstick.
    Dense,
    /// The recursion by another name: what a new formulation takes.
    #[cfg(test)]
    Dummy,
}
