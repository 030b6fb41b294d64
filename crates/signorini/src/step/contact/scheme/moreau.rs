//! The variant after Moreau and Jean: everything at the middle q ⊕ h v/2, and the end at q ⊕ h (v + v⁺)/2.
//!
//! From middle to middle bodies move by h v⁺, so that the law of the default holds there: 0 ≤ gap/h + W_n v⁺ ⊥ r_n ≥ 0, for gaps that are closed in the middle
//! (they count as zero, and Moreau has no others) and for those that the step's own forces might close, gap ≤ h (|Δv_a| + |Δv_b|), Δv what forces give
//! to the two bodies in the step. What comes faster is met when it overlaps.

use super::{Placed, Rules};
use crate::dynamics::force::Which;
use crate::model::Instant;
use crate::step::StepError;
use crate::step::contact::motion::{Interval, Mechanism, Trial};

pub(super) struct Moreau;

impl Rules for Moreau {
    fn place(
        &self,
        m: &mut Mechanism<'_>,
        over: &Interval<'_>,
        _: &mut Trial,
        (q, v): (&mut [f64], &mut [f64]),
    ) -> Result<Placed, StepError> {
        let (system, at) = (m.system, self.configuration(over));
        system.displace(q, v, 0.5 * over.h);
        system.project(at, q, v, m.w)?;
        let power = system.update_loads_of(Which::Explicit, at, (q, v), m.input, m.w)?;
        Ok(Placed { at, power, is_start: false })
    }

    fn configuration(&self, over: &Interval<'_>) -> Instant {
        over.middle()
    }

    /// The way that bodies are already on is not foreseen, only what forces add to it.
    fn reach(&self, _: f64) -> f64 {
        0.0
    }

    fn elapsed(&self) -> f64 {
        0.5
    }

    /// Bodies came from the last middle at the speeds of the start: what overlaps has struck on that way.
    fn has_passed(&self, gap: f64, rounding: f64, start: f64) -> bool {
        gap < -rounding && start < 0.0
    }

    fn refines_flight(&self) -> bool {
        false
    }

    /// The middle is half a step away from both ends.
    fn weights(&self, _: bool) -> [f64; 2] {
        [0.0, 0.5]
    }

    fn always_transports(&self) -> bool {
        true
    }

    fn carries(&self) -> bool {
        false
    }
}
