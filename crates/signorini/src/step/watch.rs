//! Conditions that trigger events: watched over every step, and located where they come true.
//!
//! **Problem.** Find the first time at which a watched quantity passes its threshold, as exactly as the integrator knows the motion.
//!
//! **Method.** After a step the quantities are compared with those at its start. Where one has passed, the step is taken again
//! from its start with other lengths until the crossing is bracketed to the resolution of time (Illinois variant of the secant
//! rule [dowell1971], bisection where that is slow). Every trial is a real step of the method, no longer than the one that
//! error control accepted, so the time found is as good as the motion itself. A quantity that passes and comes back within a step is
//! looked for on an interpolant, and where one is seen the step ends there. What jumps is compared after the jump.
//!
//! **Cost.** Five observations per step; about ten steps for a crossing.
//!
//! **Fails when** a quantity passes and comes back between two points of the interpolant, a fifth of a step apart.
//!
//! **Checked by** `tests/events/main.rs`.

use super::contact::ContactReport;
use super::{Observation, Simulation, StepError, StepReport};
use crate::model::event::{Condition, Quantity, Trigger};
use crate::model::{BodyId, JointId, Model, Point};
use crate::spatial::{Quaternion, Vec3};
use crate::state::State;

/// Where the interpolant is looked at, in steps.
const INSIDE: [f64; 4] = [0.2, 0.4, 0.6, 0.8];
/// Trials before the bracket is taken as it is; bisection alone needs 53.
const MAX_TRIALS: usize = 100;

/// Scratch of the watch.
#[derive(Default)]
pub(crate) struct Watch {
    conditions: Vec<(usize, Condition)>,
    needs_forces: bool,
    /// Values at the start of the step, inside it, and now.
    first: Vec<f64>,
    inside: Vec<f64>,
    now: Vec<f64>,
    start: Option<State>,
    seen: Observation,
}

impl Watch {
    pub fn new(model: &Model) -> Self {
        let of = |(e, event): (usize, &crate::model::Event)| match &event.trigger {
            Trigger::When(condition) => Some((e, condition.clone())),
            _ => None,
        };
        let conditions: Vec<_> = model.events().iter().enumerate().filter_map(of).collect();
        let needs_forces = conditions.iter().any(|(_, c)| c.needs_forces());
        Self { conditions, needs_forces, ..Self::default() }
    }

    /// Whether any condition looks at forces in joints.
    pub fn needs_forces(&self) -> bool {
        self.needs_forces
    }

    /// Whether any condition looks at impulses of joints.
    pub fn needs_impulses(&self) -> bool {
        self.conditions.iter().any(|(_, c)| c.is_of_impulse())
    }

    /// Whether there is nothing to watch in a step: no condition that could come true, or come back. Forces in steps with contact are means
    /// over the step, known at its end and not inside.
    pub fn is_idle(&self, state: &State, has_contact: bool) -> bool {
        self.conditions.iter().all(|(e, c)| {
            let is_of_step = c.is_of_impulse() || c.is_of_contact() || (has_contact && c.needs_forces());
            is_of_step || !(state.events[*e].is_armed || c.rearm.is_some())
        })
    }

    /// The first condition that is watched and true.
    fn find_hit(&self, state: &State, values: &[f64]) -> Option<usize> {
        (0..self.conditions.len()).find(|&c| {
            let (event, condition) = &self.conditions[c];
            state.events[*event].is_armed && condition.excess(values[c]) >= 0.0
        })
    }
}

impl Simulation {
    /// One step that ends where a condition comes true.
    pub(crate) fn watched_step(&mut self, limit: f64) -> Result<StepReport, StepError> {
        let mut first = std::mem::take(&mut self.watch.first);
        self.measure_now(&mut first)?;
        if self.watch.find_hit(&self.state, &first).is_some() {
            // True from the start: it happens before any step.
            self.watch.now.clone_from(&first);
            self.watch.first = first;
            self.mark_due();
            return self.react();
        }
        // What an event of this instant has brought back may happen again from now on.
        self.rearm(&first);
        let mut start = self.watch.start.take().unwrap_or_default();
        start.assign(&self.state);
        let outcome = self.step_to_crossing(limit, &start, &first);
        if outcome.is_err() {
            self.state.assign(&start);
            self.is_current = false;
        }
        (self.watch.first, self.watch.start) = (first, Some(start));
        let report = outcome?;
        let now = std::mem::take(&mut self.watch.now);
        self.rearm(&now);
        self.watch.now = now;
        self.mark_due();
        Ok(report)
    }

    /// Leaves the values at the end in `watch.now`.
    fn step_to_crossing(&mut self, limit: f64, start: &State, first: &[f64]) -> Result<StepReport, StepError> {
        let mut now = std::mem::take(&mut self.watch.now);
        let mut report = self.step(limit)?;
        self.measure_now(&mut now)?;
        if self.watch.find_hit(&self.state, &now).is_none()
            && let Some(time) = self.look_inside(start)
        {
            report = self.step_again(start, time)?;
            self.measure_now(&mut now)?;
        }
        if let Some(hit) = self.watch.find_hit(&self.state, &now) {
            report = self.locate(hit, start, first, &mut now, report)?;
        }
        self.watch.now = now;
        Ok(report)
    }

    fn step_again(&mut self, start: &State, limit: f64) -> Result<StepReport, StepError> {
        self.state.assign(start);
        self.step(limit)
    }

    /// A time inside the step just taken at which a condition seems true.
    fn look_inside(&mut self, start: &State) -> Option<f64> {
        // In a step of a few roundings there is no inside.
        if self.state.time - start.time <= 1e3 * f64::EPSILON * self.state.time.abs() {
            return None;
        }
        let mut values = std::mem::take(&mut self.watch.inside);
        let mut inside = self.copy.take().unwrap_or_default();
        let mut found = None;
        for s in INSIDE {
            self.interpolate(start, s, &mut inside);
            // An interpolant that cannot be assembled shows nothing.
            if self.measure(&mut inside, &mut values).is_ok() && self.watch.find_hit(&self.state, &values).is_some() {
                found = Some(inside.time);
                break;
            }
        }
        (self.copy, self.watch.inside) = (Some(inside), values);
        found
    }

    /// Cubic interpolation of coordinates by their rates at both ends, linear of speeds plus what the coordinates say.
    fn interpolate(&self, start: &State, s: f64, out: &mut State) {
        out.assign(&self.state);
        let h = self.state.time - start.time;
        let (h00, h10, h01, h11) = (
            (1.0 + 2.0 * s) * (1.0 - s) * (1.0 - s),
            s * (1.0 - s) * (1.0 - s),
            s * s * (3.0 - 2.0 * s),
            s * s * (s - 1.0),
        );
        out.time = start.time + s * h;
        for link in &self.system.tree.links {
            let joint = link.joint_type();
            let (q, v) = (link.q_range(), link.v_range());
            let (mut r0, mut r1) = ([0.0; 7], [0.0; 7]);
            joint.rates(&start.q[q.clone()], &start.v[v.clone()], &mut r0[..q.len()]);
            joint.rates(&self.state.q[q.clone()], &self.state.v[v.clone()], &mut r1[..q.len()]);
            for (k, at) in q.enumerate() {
                out.q[at] = h00 * start.q[at] + h10 * h * r0[k] + h01 * self.state.q[at] + h11 * h * r1[k];
            }
            let straight = joint.quaternion().map_or(v.len(), |(_, iv)| iv);
            for (k, at) in v.enumerate() {
                let (v0, v1) = (start.v[at], self.state.v[at]);
                out.v[at] = v0 + s * (v1 - v0);
                if k < straight {
                    // The derivative of the cubic.
                    let (q0, q1) = (start.q[link.q as usize + k], self.state.q[link.q as usize + k]);
                    out.v[at] = 6.0 * s * (1.0 - s) * (q1 - q0) / h
                        + (1.0 - s) * (1.0 - 3.0 * s) * v0
                        + s * (3.0 * s - 2.0) * v1;
                }
            }
        }
    }

    /// Ends the step where the first condition comes true.
    fn locate(
        &mut self,
        mut hit: usize,
        start: &State,
        first: &[f64],
        now: &mut Vec<f64>,
        mut report: StepReport,
    ) -> Result<StepReport, StepError> {
        let excess = |watch: &Watch, c: usize, values: &[f64]| watch.conditions[c].1.excess(values[c]);
        let (mut low, mut low_values) = (start.time, first.to_vec());
        let (mut high, mut high_values) = (self.state.time, now.clone());
        let (mut below, mut above) = (excess(&self.watch, hit, &low_values), excess(&self.watch, hit, &high_values));
        let mut is_at_high = true;
        let mut side = 0;
        for trial in 0..MAX_TRIALS {
            let resolution = 2.0 * f64::EPSILON * high.abs().max(high - start.time);
            if high - low <= resolution {
                break;
            }
            let secant = high - above * (high - low) / (above - below);
            let is_inside = secant > low + 0.25 * resolution && secant < high - 0.25 * resolution;
            // Now and then the middle, so that no shape of the function can make this slow.
            let time = if is_inside && trial % 4 != 3 { secant } else { low + 0.5 * (high - low) };
            if time <= low || time >= high {
                break;
            }
            report = self.step_again(start, time)?;
            self.measure_now(now)?;
            is_at_high = false;
            let reached = self.state.time;
            match self.watch.find_hit(&self.state, now) {
                Some(other) => {
                    high = reached;
                    high_values.clone_from(now);
                    if excess(&self.watch, hit, now) < 0.0 {
                        // Another condition comes true before.
                        hit = other;
                        below = excess(&self.watch, hit, &low_values);
                        side = 0;
                    }
                    above = excess(&self.watch, hit, now);
                    if side == 1 {
                        below *= 0.5;
                    }
                    side = 1;
                    is_at_high = true;
                }
                None if reached < time => {
                    // Error control wants a shorter step; nothing has happened in it.
                    return Ok(report);
                }
                None => {
                    low = reached;
                    low_values.clone_from(now);
                    below = excess(&self.watch, hit, now);
                    if side == -1 {
                        above *= 0.5;
                    }
                    side = -1;
                }
            }
        }
        if !is_at_high {
            report = self.step_again(start, high)?;
            now.clone_from(&high_values);
        }
        Ok(report)
    }

    fn measure_now(&mut self, values: &mut Vec<f64>) -> Result<(), StepError> {
        let mut seen = std::mem::take(&mut self.watch.seen);
        let outcome = self.observe(self.watch.needs_forces && self.stepper.is_none(), &mut seen);
        self.watch.seen = seen;
        outcome?;
        self.fill(values);
        Ok(())
    }

    /// Values of all watched quantities at a state, which is projected.
    fn measure(&mut self, state: &mut State, values: &mut Vec<f64>) -> Result<(), StepError> {
        let mut seen = std::mem::take(&mut self.watch.seen);
        let outcome = self.look(state, self.watch.needs_forces && self.stepper.is_none(), &mut seen);
        self.watch.seen = seen;
        outcome?;
        self.fill(values);
        Ok(())
    }

    /// Values of all watched quantities by `watch.seen`.
    fn fill(&self, values: &mut Vec<f64>) {
        values.clear();
        values.extend(self.watch.conditions.iter().map(|(_, c)| self.value(&c.quantity, &self.watch.seen)));
    }

    fn value(&self, quantity: &Quantity, seen: &Observation) -> f64 {
        let joints = self.system.model.joints();
        let norm = |joint: usize, from: usize| {
            seen.reactions.get(joint).map_or(f64::NAN, |w| Vec3::new(w[from], w[from + 1], w[from + 2]).norm())
        };
        match quantity {
            Quantity::Coordinate(j, k) => {
                let q = &joints[j.index()].q;
                if *k < q.len() { seen.joint_q[q.start + k] } else { f64::NAN }
            }
            Quantity::Speed(j, k) => {
                let v = &joints[j.index()].v;
                if *k < v.len() { seen.joint_v[v.start + k] } else { f64::NAN }
            }
            Quantity::Distance(a, b) => (self.place(b, seen) - self.place(a, seen)).norm(),
            Quantity::KineticEnergy => seen.kinetic,
            Quantity::Energy => seen.kinetic + seen.potential,
            Quantity::Force(j) => norm(j.index(), 3),
            Quantity::Moment(j) => norm(j.index(), 0),
            Quantity::CouplingForce(c) => {
                let rows = self.system.model.couplings()[c.index()].rows.clone();
                let forces = rows.map(|k| seen.couplings.get(k).map_or(f64::NAN, |c| c.force));
                forces.map(|x| x * x).sum::<f64>().sqrt()
            }
            Quantity::Drive(j, k) => {
                let v = &joints[j.index()].v;
                let at = if *k < v.len() { v.start + k } else { usize::MAX };
                seen.actuators.get(at).copied().unwrap_or(f64::NAN)
            }
            Quantity::Impulse(_) | Quantity::MomentImpulse(_) | Quantity::CouplingImpulse(_) => f64::NAN,
            Quantity::ContactForce(_) | Quantity::ContactImpulse(_) => f64::NAN,
        }
    }

    fn place(&self, point: &Point, seen: &Observation) -> Vec3 {
        let Some(body) = point.body else { return point.position };
        let motion = &seen.bodies[body.index()];
        let com = self.system.model.bodies()[body.index()].com;
        Vec3::from(motion.position) + Quaternion(motion.orientation).to_matrix() * (point.position - com)
    }

    /// Events whose condition is true by `watch.now` happen next.
    fn mark_due(&mut self) {
        let time = self.state.time;
        let values = &self.watch.now;
        for (c, (e, condition)) in self.watch.conditions.iter().enumerate() {
            let memory = &mut self.state.events[*e];
            if memory.is_armed && condition.excess(values[c]) >= 0.0 && memory.due.is_none() {
                memory.due = Some(time);
            }
        }
    }

    /// Watches again what has come back.
    fn rearm(&mut self, values: &[f64]) {
        for (c, (e, condition)) in self.watch.conditions.iter().enumerate() {
            let memory = &mut self.state.events[*e];
            memory.is_armed |= memory.due.is_none() && condition.is_back(values[c]);
        }
    }

    /// Quantities may have jumped: what has come true happens in the same instant, but nothing twice.
    pub(crate) fn watch_after_jump(&mut self) -> Result<(), StepError> {
        if self.watch.is_idle(&self.state, self.stepper.is_some()) {
            return Ok(());
        }
        let mut now = std::mem::take(&mut self.watch.now);
        self.measure_now(&mut now)?;
        self.rearm(&now);
        self.watch.now = now;
        for (e, _) in &self.watch.conditions {
            let memory = &mut self.state.events[*e];
            if memory.last == Some(self.state.time) {
                memory.is_armed = false;
            }
        }
        self.mark_due();
        Ok(())
    }

    /// Thresholds on contacts, and on forces and impulses in joints, against what they did in the step of length `h` that has just ended.
    ///
    /// Without restitution a blow takes two steps: one brings the bodies together, and the next stops what is left of their approach. So
    /// what struck in the step before counts as well.
    pub(crate) fn watch_contacts(&mut self, h: f64) {
        for c in 0..self.watch.conditions.len() {
            let (e, condition) = &self.watch.conditions[c];
            let Some(own) = self.value_of_step(condition, h) else { continue };
            let memory = &mut self.state.events[*e];
            let is_blow = !condition.needs_forces() && !matches!(condition.quantity, Quantity::ContactForce(_));
            let value = if is_blow { own + memory.struck } else { own };
            memory.struck = if is_blow { own } else { 0.0 };
            memory.is_armed |= memory.due.is_none() && condition.is_back(value);
            let is_new = !is_blow || own > 0.0;
            if is_new && memory.is_armed && condition.excess(value) >= 0.0 && memory.due.is_none() {
                memory.due = Some(self.state.time);
            }
        }
    }

    /// What a quantity was in a step with contact of length `h`, for one that is known at its end and not inside.
    fn value_of_step(&self, condition: &Condition, h: f64) -> Option<f64> {
        let stepper = self.stepper.as_ref()?;
        let of_pair = |bodies: [Option<BodyId>; 2], value: fn(&ContactReport) -> f64| -> f64 {
            let own = stepper.contacts().iter().filter(|c| c.bodies == bodies || c.bodies == [bodies[1], bodies[0]]);
            own.map(value).sum()
        };
        let impulse = |joint: usize, from: usize| {
            let impulse = self.struck_impulse(joint, h).filter(|w| w.iter().all(|x| x.is_finite()));
            impulse.map_or(0.0, |w| Vec3::new(w[from], w[from + 1], w[from + 2]).norm())
        };
        match &condition.quantity {
            Quantity::ContactForce(bodies) => Some(of_pair(*bodies, |c| c.impulse[0] - c.struck) / h),
            Quantity::ContactImpulse(bodies) => Some(of_pair(*bodies, |c| c.struck)),
            Quantity::Impulse(j) => Some(impulse(j.index(), 3)),
            Quantity::MomentImpulse(j) => Some(impulse(j.index(), 0)),
            Quantity::CouplingImpulse(c) => Some(self.struck_coupling(c.index(), h)),
            Quantity::Force(_) | Quantity::Moment(_) | Quantity::Drive(..) | Quantity::CouplingForce(_) => {
                self.lasting_forces().map(|forces| self.value(&condition.quantity, forces))
            }
            _ => None,
        }
    }

    /// Thresholds on impulses, against what the joints have just transmitted.
    pub(crate) fn watch_impulses(&mut self) {
        let Some(report) = self.reports.last() else { return };
        for (e, condition) in &self.watch.conditions {
            let of_joint = |joint: JointId, from: usize| {
                let impulse = report.impulses.get(&self.scene.joints()[joint.index()].name);
                impulse.map_or(f64::NAN, |w| Vec3::new(w[from], w[from + 1], w[from + 2]).norm())
            };
            let size = match condition.quantity {
                Quantity::Impulse(j) => of_joint(j, 3),
                Quantity::MomentImpulse(j) => of_joint(j, 0),
                Quantity::CouplingImpulse(c) => {
                    let impulse = report.coupling_impulses.get(&self.scene.couplings()[c.index()].name);
                    impulse.map_or(f64::NAN, |rows| rows.iter().map(|x| x * x).sum::<f64>().sqrt())
                }
                _ => continue,
            };
            let memory = &mut self.state.events[*e];
            if memory.is_armed && condition.excess(size) >= 0.0 {
                memory.due = Some(self.state.time);
            }
        }
    }
}
