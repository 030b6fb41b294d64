//! The smallest thing that restarts a run bit for bit.

use serde::{Deserialize, Serialize};

/// Everything that a run carries from one step to the next.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// Version of the topology these coordinates belong to.
    pub topology: u64,
    /// Time.
    pub time: f64,
    /// Steps taken.
    pub steps: u64,
    /// Coordinates of the tree joints, in tree order.
    pub q: Vec<f64>,
    /// Speeds of the tree joints, in tree order.
    pub v: Vec<f64>,
    /// Coordinates of the cut joints; they follow from `q`, but for the number of turns.
    pub cut_q: Vec<f64>,
    /// Work done so far by loads and motors that have no potential.
    pub work: f64,
    /// Energy dissipated so far by dampers.
    pub dissipated: f64,
    /// Memory of the adaptive step-size control.
    pub control: StepControl,
}

/// Memory of the adaptive step-size control.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StepControl {
    /// Step to try next; zero before the first one.
    pub step: f64,
}
