//! The free motion: speeds at the end of a step in which nothing pushes.
//!
//! **Problem.** v_free = v + h M⁻¹ F, loops closed and prescribed speeds what they are.
//!
//! **Method.** The scheme says where inertias and forces are taken (`scheme/`). Where bodies turn by more than a tenth of a radian per step, gyroscopic and
//! Coriolis forces are those of the velocity halfway to v_free, at which they do no work: a fixed-point iteration. At v they feed energy into a turning body
//! at a rate of half the square of its turn per step, without bound.
//!
//! **Cost.** One evaluation of the accelerations, three where bodies turn fast.
//!
//! **Fails when** a joint moves no inertia.
//!
//! **Checked by** `tests/contact_motion.rs`.

use super::motion::{Balance, Interval, Mechanism, Moving, Trial};
use super::quantity::Speeds;
use super::scheme::Scheme;
use crate::dynamics::System;
use crate::dynamics::force::Implicit;
use crate::model::{Instant, Signal};
use crate::step::StepError;

/// Turn per step, in radians, up to which forces are those of the velocities at the start: friction and strikes take away again what
/// they feed in.
const FAST_TURN: f64 = 0.1;

/// Evaluations of faster turning bodies.
const ROUNDS: usize = 3;

/// The free motion of a step, with what is known of its configuration.
pub(super) struct FreeMotion {
    /// Rates of all speeds.
    pub rates: Vec<f64>,
    /// Springs, dampers and servos in joints.
    pub implicit: Implicit,
    /// Speeds at the configuration, projected; and halfway to those at the end.
    v: Speeds,
    halfway: Speeds,
    /// Whether the kinematics in the workspace are those of the state at the start.
    pub has_start_kinematics: bool,
    /// Largest angular velocity there.
    pub fastest_turn: f64,
    /// Power of prescribed motions.
    pub motion_power: f64,
}

impl FreeMotion {
    pub fn new(system: &System) -> Self {
        let (_, n_v) = system.sizes();
        Self {
            implicit: Implicit::new(system),
            rates: vec![0.0; n_v],
            v: Speeds::zeros(n_v),
            halfway: Speeds::default(),
            has_start_kinematics: false,
            fastest_turn: 0.0,
            motion_power: 0.0,
        }
    }

    /// Starts `now` with the free motion. Sweeps and loops are left factored at the configuration.
    pub fn compute(
        &mut self,
        scheme: Scheme,
        m: &mut Mechanism<'_>,
        over: &Interval<'_>,
        trial: &mut Trial,
        now: &mut Moving,
    ) -> Result<(), StepError> {
        let (system, from, h) = (m.system, over.from, over.h);
        now.q.copy_from_slice(&from.q);
        self.v.copy_from_slice(&from.v);
        let placed = scheme.rules().place(m, over, trial, (&mut now.q, &mut self.v))?;
        self.has_start_kinematics = placed.is_start;
        self.implicit.begin(system, placed.at, (&now.q, &self.v), h, m.w);
        self.implicit.impose(system, &self.v, h, m.w);
        self.accelerate(m, &placed.at, &now.q, h)?;
        self.motion_power = system.motion_power(&self.rates, &self.v, m.w);
        let work = placed.power.work + self.motion_power;
        now.energy = Balance { work: work * h, dissipated: placed.power.dissipated * h };
        now.shift.fill(0.0);
        now.start.copy_from_slice(&from.v);
        for (end, (v, rate)) in now.end.iter_mut().zip(from.v.iter().zip(&self.rates)) {
            *end = v + h * rate;
        }
        // Prescribed speeds are those that bring the coordinate where it belongs.
        for (link, k, signal) in &system.motions {
            now.end[system.tree.links[*link].v as usize + k] = mean_rate(signal, over);
        }
        system.close_speeds(over.end(), &mut now.end, m.w);
        Ok(())
    }

    /// Rates at the configuration.
    fn accelerate(&mut self, m: &mut Mechanism<'_>, at: &Instant, q: &[f64], h: f64) -> Result<(), StepError> {
        let (system, w) = (m.system, &mut *m.w);
        let fastest = w.kinematics.links.iter().fold(0.0, |m: f64, l| m.max(l.omega.norm_squared())).sqrt();
        self.fastest_turn = fastest;
        for round in 0..if h * fastest > FAST_TURN { ROUNDS } else { 1 } {
            if round > 0 {
                self.has_start_kinematics = false;
                let halfway = self.halfway.buffer();
                halfway.clear();
                halfway.extend(self.v.iter().zip(&self.rates).map(|(v, rate)| v + 0.5 * h * rate));
                w.kinematics.update(&system.tree, q, halfway);
                w.kinematics.update_positions(&system.tree);
                system.update_rows(q, halfway, w);
            }
            system.accelerate(*at, &mut self.rates, w)?;
        }
        Ok(())
    }
}

/// Mean rate of a signal over a step.
fn mean_rate(signal: &Signal, over: &Interval<'_>) -> f64 {
    let [start, end] = [over.start(), over.end()].map(|time| signal.at(time)[0]);
    (end - start) / over.h
}
