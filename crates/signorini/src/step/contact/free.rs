//! The free motion: speeds at the end of a step in which nothing pushes.
//!
//! **Problem.** v_free = v + h M⁻¹ F, loops closed and prescribed speeds what they are.
//!
//! **Method.** The scheme says where inertias and forces are taken (`scheme/`). At v, gyroscopic and Coriolis forces feed energy into a turning body at a rate of half
//! the square of its turn per step, without bound. Where that turn is more than a tenth of a radian they are therefore
//! those of the velocity halfway to v_free, at which they do no work: a fixed-point iteration, which converges for a body that floats alone.
//!
//! A mechanism *carries* its velocities instead, where the scheme can: each body goes on with the velocity of its centre of mass, and with its angular velocity in its own
//! axes but for a gyroscopic torque that does no work (`gyroscopic.rs`). At the end of the step joints take from that what they do not allow (`transport.rs`).
//! Both are projections in the kinetic metric: no step adds energy, whatever its length.
//!
//! **Cost.** One evaluation of the accelerations, three where bodies turn fast; two sweeps for positions and one for the transport where a mechanism carries velocities.
//!
//! **Fails when** a joint moves no inertia.
//!
//! **Checked by** `tests/contact_motion.rs`.

use super::gyroscopic;
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
    /// Largest angular velocity there; and among links that do not float alone.
    pub fastest_turn: f64,
    pub fastest_bend: f64,
    /// Whether mechanisms carry their velocities along the displacement of the step.
    pub carries: bool,
    /// Whether a body that floats alone spins fast: it then turns as if alone, too.
    pub spins: bool,
    /// Rates of mechanisms, while those of bodies that float alone are found.
    kept: Vec<f64>,
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
            fastest_bend: 0.0,
            carries: false,
            spins: false,
            kept: Vec::new(),
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
        self.measure_turns(scheme, m, h);
        if !self.carries {
            self.accelerate(m, placed.at, &now.q, h)?;
        }
        if self.carries || self.spins {
            self.accelerate_carried(m, placed.at, &now.q, h)?;
        }
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

    fn measure_turns(&mut self, scheme: Scheme, m: &Mechanism<'_>, h: f64) {
        let links = m.w.kinematics.links.iter().zip(&m.system.tree.floats);
        let (mut spin, mut bend) = (0.0_f64, 0.0_f64);
        for (link, floats) in links {
            let fastest = if *floats { &mut spin } else { &mut bend };
            *fastest = fastest.max(link.omega.norm_squared());
        }
        (self.fastest_turn, self.fastest_bend) = (spin.max(bend).sqrt(), bend.sqrt());
        self.spins = h * spin.sqrt() > FAST_TURN;
        self.carries = scheme.rules().carries() && h * self.fastest_bend > FAST_TURN;
    }

    /// Rates at the configuration.
    fn accelerate(&mut self, m: &mut Mechanism<'_>, at: Instant, q: &[f64], h: f64) -> Result<(), StepError> {
        let (system, w) = (m.system, &mut *m.w);
        for round in 0..if h * self.fastest_bend > FAST_TURN { ROUNDS } else { 1 } {
            if round > 0 {
                self.has_start_kinematics = false;
                let halfway = self.halfway.buffer();
                halfway.clear();
                halfway.extend(self.v.iter().zip(&self.rates).map(|(v, rate)| v + 0.5 * h * rate));
                w.kinematics.update(&system.tree, q, halfway);
                w.kinematics.update_positions(&system.tree);
                system.update_rows(q, halfway, w);
            }
            self.implicit.accelerate(system, at, (&self.v, &mut self.rates), h, w)?;
        }
        Ok(())
    }

    /// Rates of what carries velocities: those from rest, by forces and gyroscopic torques of the bodies. Mechanisms that do not keep theirs.
    fn accelerate_carried(&mut self, m: &mut Mechanism<'_>, at: Instant, q: &[f64], h: f64) -> Result<(), StepError> {
        let (system, w) = (m.system, &mut *m.w);
        self.has_start_kinematics = false;
        self.kept.clone_from(&self.rates);
        system.place(q, &self.v, w);
        gyroscopic::add_torques(&system.tree, &w.kinematics, h, &mut w.external);
        self.halfway.reset(self.v.len());
        system.place(q, &self.halfway, w);
        system.update_rows(q, &self.halfway, w);
        if self.carries {
            self.implicit.accelerate(system, at, (&self.v, &mut self.rates), h, w)?;
        } else {
            // Bodies that float alone have no joints.
            system.accelerate(at, &mut self.rates, w)?;
        }
        for (link, floats) in system.tree.links.iter().zip(&system.tree.floats) {
            if !self.carries && !floats {
                self.rates[link.v_range()].copy_from_slice(&self.kept[link.v_range()]);
            }
        }
        system.place(q, &self.v, w);
        system.update_rows(q, &self.v, w);
        Ok(())
    }
}

/// Mean rate of a signal over a step.
fn mean_rate(signal: &Signal, over: &Interval<'_>) -> f64 {
    let [start, end] = [over.start(), over.end()].map(|time| signal.at(time)[0]);
    (end - start) / over.h
}
