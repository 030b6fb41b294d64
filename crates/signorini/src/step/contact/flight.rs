//! Flight: mechanisms that nothing may touch in the step.
//!
//! **Problem.** Their motion should be of second order, whatever happens to others.
//!
//! **Method.** The implicit midpoint rule, two fixed-point iterations: v⁺ = v + h a(q ⊕ h v_m/2, v_m) with v_m = v + h a/2, q⁺ = q ⊕ h (v + v⁺)/2. Links of
//! a mechanism that turn by more than a fifth of a radian in the step make the iteration gain energy, and soon diverge: the step is then divided into as many as it takes;
//! where joints have springs, dampers or servos, which are implicit over the whole step, velocities are carried instead (`step/contact/free.rs`).
//!
//! **Cost.** Two evaluations of the accelerations for each part of the step; none where nothing turns and no force depends on the position: the free motion is
//! exact then.
//!
//! **Fails when** links turn by more than `MOST_PARTS` fifths of a radian: then parts are longer, and the energy audit says what that does.
//!
//! **Checked by** `tests/contact_motion.rs`, `tests/contact_turning.rs`.

use super::found::Constraints;
use super::free::FreeMotion;
use super::motion::{Balance, Interval, Mechanism, Moving, Trial};
use super::quantity::Speeds;
use super::scheme::Scheme;
use crate::dynamics::force::Which;
use crate::model::Instant;
use crate::spatial::Vec3;
use crate::step::StepError;

/// Fixed-point iterations.
const ITERATIONS: usize = 2;

/// Turn of a link, in radians, in one part of a step: the iteration leaves an error of its fourth power.
const TURN: f64 = 0.2;

/// Most parts of a step.
const MOST_PARTS: usize = 64;

/// What nothing may touch.
pub(super) struct Flight {
    /// By the first link of each mechanism: whether something may touch it.
    pub is_touched: Vec<bool>,
    rates: Vec<f64>,
    /// Where a part of the step begins, and in the end the whole one ends.
    q: Vec<f64>,
    v: Speeds,
    /// Whether it has found coordinates at the end of the step, not only speeds.
    has_path: bool,
}

impl Flight {
    pub fn new(n_links: usize, (n_q, n_v): (usize, usize)) -> Self {
        let (q, v) = (vec![0.0; n_q], Speeds::zeros(n_v));
        Self { is_touched: vec![false; n_links], rates: vec![0.0; n_v], q, v, has_path: false }
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
        let tree = &m.system.tree;
        let has_loads = m.has_loads();
        let turns = |i: &usize| m.w.kinematics.links[*i].omega != Vec3::zeros() || has_loads;
        self.has_path = false;
        if free.carries && !free.implicit.is_empty() && over.h * free.fastest_bend > TURN {
            // Implicit forces have the weights of the whole step.
            self.is_touched.fill(true);
        }
        let flies = |i: &usize| !self.is_touched[found.root[*i]];
        if !scheme.rules().refines_flight() || !(0..tree.links.len()).any(|i| flies(&i) && turns(&i)) {
            return Ok(());
        }
        self.rates.copy_from_slice(&free.rates);
        self.q.copy_from_slice(&over.from.q);
        self.v.copy_from_slice(&over.from.v);
        trial.start(over);
        let n_parts = ((over.h * free.fastest_bend / TURN).ceil() as usize).clamp(1, MOST_PARTS);
        self.has_path = n_parts > 1 || free.carries;
        if !free.implicit.is_empty() {
            // At the middle of the step as everything else: what flies ends at q ⊕ h (v + v⁺)/2.
            m.system.displace(&mut trial.q, &trial.v, 0.5 * over.h);
            free.implicit.evaluate(m.system, over.middle(), (&trial.q, &trial.v), over.h, |i| flies(&i));
        }
        let mut energy = Balance::default();
        for k in 0..n_parts {
            let part = over.h / n_parts as f64;
            let middle = Instant { time: over.from.time + (k as f64 + 0.5) * part, ..over.middle() };
            self.advance(m, (part, middle), (trial, free), &mut energy)?;
        }
        free.implicit.clear(m.system, &mut trial.w);
        let flies = |i: &usize| !self.is_touched[found.root[*i]];
        // What spins fast alone has found its midpoint already, where this iteration does not converge.
        let is_found = |i: &usize| free.spins && tree.floats[*i];
        for (_, link) in tree.links.iter().enumerate().filter(|(i, _)| flies(i) && !is_found(i)) {
            for at in link.v_range().filter(|at| !tree.prescribed[*at]) {
                now.end[at] = self.v[at];
            }
        }
        if !self.is_touched.contains(&true) {
            now.energy = energy;
        }
        Ok(())
    }

    /// One part of the step.
    fn advance(
        &mut self,
        m: &Mechanism<'_>,
        (h, middle): (f64, Instant),
        (trial, free): (&mut Trial, &mut FreeMotion),
        energy: &mut Balance,
    ) -> Result<(), StepError> {
        let system = m.system;
        for iteration in 0..ITERATIONS {
            free.implicit.clear(system, &mut trial.w);
            trial.q.copy_from_slice(&self.q);
            trial.v.copy_from_slice(&self.v);
            trial.v.iter_mut().zip(&self.rates).for_each(|(v, rate)| *v += 0.5 * h * rate);
            system.displace(&mut trial.q, &trial.v, 0.5 * h);
            system.project(middle, &mut trial.q, &mut trial.v, &mut trial.w)?;
            let state = (&trial.q[..], &trial.v[..]);
            let mut power = system.update_loads_of(Which::Explicit, middle, state, m.input, &mut trial.w)?;
            free.implicit.impose(system, &self.v, h, &mut trial.w);
            free.implicit.accelerate(system, middle, (&self.v, &mut self.rates), h, &mut trial.w)?;
            power.work += system.motion_power(&self.rates, &trial.v, &mut trial.w);
            if iteration + 1 == ITERATIONS {
                energy.work += h * power.work;
                energy.dissipated += h * power.dissipated;
            }
        }
        // By the mean of the speeds at both ends.
        for ((mean, v), rate) in trial.v.iter_mut().zip(self.v.iter_mut()).zip(&self.rates) {
            let end = *v + h * rate;
            *mean = 0.5 * (*v + end);
            *v = end;
        }
        if self.has_path {
            system.displace(&mut self.q, &trial.v, h);
        }
        Ok(())
    }

    /// Puts what has found its own coordinates where it ends, and takes it out of the displacement.
    pub fn place(&self, m: &Mechanism<'_>, found: &Constraints, now: &mut Moving) {
        if !self.has_path {
            return;
        }
        let tree = &m.system.tree;
        let links = tree.links.iter().zip(&found.root).zip(&tree.floats);
        for ((link, _), _) in links.filter(|((_, root), floats)| !self.is_touched[**root] && !**floats) {
            now.q[link.q_range()].copy_from_slice(&self.q[link.q_range()]);
            now.shift[link.v_range()].fill(0.0);
        }
    }
}
