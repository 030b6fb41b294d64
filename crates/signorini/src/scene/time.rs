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

/// Integration methods for motion without contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integrator {
    /// Embedded Runge–Kutta method of order 8 with error control (Dormand and Prince).
    #[default]
    Adaptive,
    /// The classical method of order 4 with a fixed step.
    Rk4,
    /// Semi-implicit (symplectic) Euler with a fixed step.
    Euler,
}

/// Which formulation of the dynamics is used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// The formulation.
    pub formulation: Formulation,
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
}
