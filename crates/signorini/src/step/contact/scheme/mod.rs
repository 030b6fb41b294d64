//! Schemes of the step: where it takes its inertias from, and how far it looks and moves. The one place where they are listed.

mod moreau;
mod stewart_trinkle;

use super::motion::{Interval, Mechanism, Trial};
use crate::dynamics::force::Power;
use crate::model::Instant;
use crate::scene::Integrator;
use crate::step::StepError;

/// A scheme of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    StewartTrinkle,
    Moreau,
}

impl Scheme {
    /// That of an integrator, where it steps contact.
    pub fn of(integrator: Integrator) -> Option<Self> {
        match integrator {
            Integrator::Adaptive | Integrator::Rk4 | Integrator::Euler => None,
            Integrator::Auto | Integrator::StewartTrinkle => Some(Self::StewartTrinkle),
            Integrator::Moreau => Some(Self::Moreau),
        }
    }

    /// What it lays down.
    pub fn rules(self) -> &'static dyn Rules {
        match self {
            Self::StewartTrinkle => &stewart_trinkle::StewartTrinkle,
            Self::Moreau => &moreau::Moreau,
        }
    }
}

/// Where a scheme has put a mechanism before its accelerations are found.
pub(crate) struct Placed {
    /// The time there.
    pub at: Instant,
    /// Power of the loads that are not taken implicitly, which are in the workspace.
    pub power: Power,
    /// Whether the kinematics are those of the state at the start of the step.
    pub is_start: bool,
}

/// What a scheme lays down.
pub(crate) trait Rules: Sync {
    /// Takes `q` and `v`, the state at the start, to the configuration from which the step takes its inertias, leaves the workspace there, and finds the
    /// loads that are not taken implicitly.
    fn place(
        &self,
        m: &mut Mechanism<'_>,
        over: &Interval<'_>,
        trial: &mut Trial,
        at: (&mut [f64], &mut [f64]),
    ) -> Result<Placed, StepError>;

    /// The time at that configuration.
    fn configuration(&self, over: &Interval<'_>) -> Instant;

    /// Time over which the search for contacts foresees motion, out of the step's.
    fn reach(&self, h: f64) -> f64;

    /// Share of the step's forces that have acted at the configuration, from which times of impacts are counted.
    fn elapsed(&self) -> f64;

    /// Whether what overlaps by `gap` at the configuration, and approached at the start, has struck on the way there.
    fn has_passed(&self, gap: f64, rounding: f64, start: f64) -> bool;

    /// Whether what nothing touches moves by accelerations at its own middle.
    fn refines_flight(&self) -> bool;

    /// Weights of the speeds at the start and at the end in the mean by which coordinates move on from the configuration.
    fn weights(&self, is_touched: bool) -> [f64; 2];

    /// Whether velocities are always transported along the displacement that removes overlap, or only where that is deeper than turning leaves it.
    fn always_transports(&self) -> bool;

    /// Whether mechanisms that turn fast carry the velocities of their bodies along the displacement of the step.
    fn carries(&self) -> bool;
}
