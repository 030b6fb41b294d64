//! The scheme of Stewart and Trinkle: contacts and inertias at the start, forces at the middle position, displacement by the new velocity.
//!
//! ```text
//! M(q)(v⁺ − v) = h F(q + h v/2, v) + Wᵀ r,      q⁺ = q ⊕ h v⁺
//! ```
//!
//! [stewart1996, eq. 4; bhalerao2009, eq. 13]. Flight is by the implicit midpoint rule (`step/contact/flight.rs`).

use super::{Placed, Rules};
use crate::dynamics::force::Which;
use crate::model::Instant;
use crate::step::StepError;
use crate::step::contact::motion::{Interval, Mechanism, Trial};

pub(super) struct StewartTrinkle;

impl Rules for StewartTrinkle {
    fn place(
        &self,
        m: &mut Mechanism<'_>,
        over: &Interval<'_>,
        trial: &mut Trial,
        (q, v): (&mut [f64], &mut [f64]),
    ) -> Result<Placed, StepError> {
        let system = m.system;
        let at = self.configuration(over);
        if m.has_loads() {
            // Forces at the middle position, inertias at the start.
            trial.start(over);
            system.displace(&mut trial.q, &trial.v, 0.5 * over.h);
            system.project(over.middle(), &mut trial.q, &mut trial.v, &mut trial.w)?;
            let state = (&trial.q[..], &trial.v[..]);
            let power = system.update_loads_of(Which::Explicit, over.middle(), state, m.input, &mut trial.w)?;
            system.project(at, q, v, m.w)?;
            m.w.tau.copy_from_slice(&trial.w.tau);
            m.w.external.copy_from_slice(&trial.w.external);
            return Ok(Placed { at, power, is_start: false });
        }
        let power = system.update_loads_of(Which::Explicit, over.middle(), (q, v), m.input, m.w)?;
        // A state that a step has left is on the manifold, and so are its kinematics.
        let is_start = system.motions.is_empty() && system.has_unit_quaternions(q);
        if !is_start {
            system.project(at, q, v, m.w)?;
        } else if !over.is_current {
            system.place(q, v, m.w);
        }
        Ok(Placed { at, power, is_start })
    }

    fn configuration(&self, over: &Interval<'_>) -> Instant {
        over.start()
    }

    fn reach(&self, h: f64) -> f64 {
        h
    }

    fn elapsed(&self) -> f64 {
        0.0
    }

    fn has_passed(&self, _: f64, _: f64, _: f64) -> bool {
        false
    }

    fn refines_flight(&self) -> bool {
        true
    }

    fn weights(&self, is_touched: bool) -> [f64; 2] {
        if is_touched { [0.0, 1.0] } else { [0.5, 0.5] }
    }

    fn always_transports(&self) -> bool {
        false
    }

    fn carries(&self) -> bool {
        true
    }
}
