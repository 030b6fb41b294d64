//! Flight: mechanisms that nothing may touch in the step.
//!
//! **Problem.** Their motion should be of second order, whatever happens to others.
//!
//! **Method.** The implicit midpoint rule, two fixed-point iterations: v⁺ = v + h a(q ⊕ h v_m/2, v_m) with v_m = v + h a/2, q⁺ = q ⊕ h (v + v⁺)/2.
//!
//! **Cost.** Two evaluations of the accelerations; none where nothing turns and no force depends on the position: the free motion is exact then.
//!
//! **Fails when** h ω is of the order of one: the iteration does not contract.
//!
//! **Checked by** `tests/contact_motion.rs`.

use super::found::Constraints;
use super::free::FreeMotion;
use super::motion::{Balance, Interval, Mechanism, Moving, Trial};
use super::scheme::Scheme;
use crate::dynamics::force::{Power, Which};
use crate::spatial::Vec3;
use crate::step::StepError;

/// Fixed-point iterations.
const ITERATIONS: usize = 2;

/// What nothing may touch.
pub(super) struct Flight {
    /// By the first link of each mechanism: whether something may touch it.
    pub is_touched: Vec<bool>,
    rates: Vec<f64>,
}

impl Flight {
    pub fn new(n_links: usize, n_v: usize) -> Self {
        Self { is_touched: vec![false; n_links], rates: vec![0.0; n_v] }
    }

    /// Puts into `now` the speeds at the end of what nothing may touch; energies too where nothing is touched at all.
    pub fn refine(
        &mut self,
        scheme: Scheme,
        m: &mut Mechanism<'_>,
        over: &Interval<'_>,
        (trial, free): (&mut Trial, &mut FreeMotion),
        found: &Constraints,
        now: &mut Moving,
    ) -> Result<(), StepError> {
        let (system, tree) = (m.system, &m.system.tree);
        let has_loads = m.has_loads();
        let turns = |i: &usize| m.w.kinematics.links[*i].omega != Vec3::zeros() || has_loads;
        let flies = |i: &usize| !self.is_touched[found.root[*i]];
        if !scheme.rules().refines_flight() || !(0..tree.links.len()).any(|i| flies(&i) && turns(&i)) {
            return Ok(());
        }
        self.rates.copy_from_slice(&free.rates);
        let mut power = Power::default();
        if !free.implicit.is_empty() {
            // At the middle of the step as everything else: what flies ends at q ⊕ h (v + v⁺)/2.
            trial.start(over);
            system.displace(&mut trial.q, &trial.v, 0.5 * over.h);
            free.implicit.evaluate(system, over.middle(), (&trial.q, &trial.v), |i| flies(&i));
        }
        for _ in 0..ITERATIONS {
            free.implicit.clear(system, &mut trial.w);
            trial.start(over);
            trial.v.iter_mut().zip(&self.rates).for_each(|(v, rate)| *v += 0.5 * over.h * rate);
            system.displace(&mut trial.q, &trial.v, 0.5 * over.h);
            system.project(over.middle(), &mut trial.q, &mut trial.v, &mut trial.w)?;
            let state = (&trial.q[..], &trial.v[..]);
            power = system.update_loads_of(Which::Explicit, over.middle(), state, m.input, &mut trial.w)?;
            free.implicit.impose(system, &over.from.v, over.h, &mut trial.w);
            system.accelerate(over.middle(), &mut self.rates, &mut trial.w)?;
            power.work += system.motion_power(&self.rates, &trial.v, &mut trial.w);
        }
        free.implicit.clear(system, &mut trial.w);
        for (_, link) in tree.links.iter().enumerate().filter(|(i, _)| flies(i)) {
            for at in link.v_range().filter(|at| !tree.prescribed[*at]) {
                now.end[at] = over.from.v[at] + over.h * self.rates[at];
            }
        }
        if !self.is_touched.contains(&true) {
            now.energy = Balance { work: over.h * power.work, dissipated: over.h * power.dissipated };
        }
        Ok(())
    }
}
