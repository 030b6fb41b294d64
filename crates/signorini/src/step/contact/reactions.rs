//! Forces in joints during a step with contact: means over the step, contact impulses included.

use super::ContactStepper;
use super::found::Constraints;
use super::free::FreeMotion;
use super::motion::{Interval, Mechanism, Moving};
use super::outcome::Outcome;
use super::search::joint_of;
use crate::dynamics::System;
use crate::dynamics::force::{Implicit, Which, joint_forces};
use crate::model::Instant;
use crate::spatial::{Vec3, Wrench};
use crate::state::ContactMemory;
use crate::step::{Observation, Simulation, StepError};

/// Which impulses push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    WithoutStrikes,
}

/// What observers and watchers of the run want to know of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched {
    /// Forces in joints, to be observed after it.
    pub observed: bool,
    pub forces: bool,
    pub impulses: bool,
}

/// Forces in the joints of the last step.
pub(crate) struct Reactions {
    /// Whether those of the last step are known.
    is_known: bool,
    forces: Observation,
    /// Those without strikes, where something struck and somebody watches them.
    lasting: Observation,
    has_struck: bool,
    has_driven_cuts: bool,
    has_loaded_friction: bool,
    rates: Vec<f64>,
}

impl Reactions {
    pub fn new(system: &System) -> Self {
        let mut joints = system.model.joints().iter().filter(|j| !j.is_absent);
        Self {
            is_known: false,
            forces: Observation::default(),
            lasting: Observation::default(),
            has_struck: false,
            has_driven_cuts: system.has_driven_rows(),
            has_loaded_friction: joints.any(|j| !j.fittings.friction_load.is_empty()),
            rates: vec![0.0; system.tree.n_v],
        }
    }

    /// Finds what joints transmit and drives do, where anybody asks: an observer, dry friction that grows with the load, or the work of
    /// prescribed motions.
    pub fn compute(
        &mut self,
        m: &mut Mechanism<'_>,
        (over, at): (&Interval<'_>, Instant),
        watched: Watched,
        pushed: (&Constraints, &Outcome),
        free: &FreeMotion,
        (now, memory): (&mut Moving, &mut [ContactMemory]),
    ) -> Result<(), StepError> {
        let (system, outcome) = (m.system, pushed.1);
        let is_pushed = !(outcome.contacts.is_empty() && outcome.pushes.is_empty());
        let drives = is_pushed && (!system.motions.is_empty() || self.has_driven_cuts);
        self.has_struck = outcome.has_struck() && (watched.forces || watched.impulses);
        self.is_known = watched.observed || watched.forces || self.has_loaded_friction || drives;
        if !self.is_known && !self.has_struck {
            return Ok(());
        }
        if self.has_struck {
            self.find_forces(m, (at, over.h), (now, &free.implicit), pushed, Part::WithoutStrikes)?;
            std::mem::swap(&mut self.forces, &mut self.lasting);
        }
        self.find_forces(m, (at, over.h), (now, &free.implicit), pushed, Part::All)?;
        if drives {
            let mut power = system.driven_power(m.w);
            for (link, k, _) in &system.motions {
                let at = system.tree.links[*link].v as usize + k;
                power += (m.w.joint_forces[at] - m.w.tau[at]) * now.end[at];
            }
            // Without contact it was counted already.
            now.energy.work += over.h * (power - free.motion_power);
        }
        for memory in memory {
            if let Some((joint, _)) = joint_of(memory.id) {
                let [.., x, y, z] = self.forces.reactions[joint];
                memory.load = Vec3::new(x, y, z).norm();
            }
        }
        Ok(())
    }

    /// Reactions and forces of drives, in `self.forces`, where contacts and limits push with their mean force over the step.
    fn find_forces(
        &mut self,
        m: &mut Mechanism<'_>,
        (at, h): (Instant, f64),
        (now, implicit): (&Moving, &Implicit),
        pushed: (&Constraints, &Outcome),
        part: Part,
    ) -> Result<(), StepError> {
        let system = m.system;
        system.update_loads_of(Which::Explicit, at, (&now.q, &now.start), m.input, m.w)?;
        implicit.impose(system, &now.start, h, m.w);
        push_contacts(m, h, pushed, part);
        push_joints(m, h, pushed.1, part);
        system.react(at, &mut self.rates, m.w)?;
        system.read_forces(at, (&now.q, &now.start), m.input, &self.rates, m.w, &mut self.forces);
        self.replace_servo_forces(system, (at, h), now, implicit);
        Ok(())
    }

    /// Servos push with what the step felt, not with what they would at its start.
    fn replace_servo_forces(&mut self, system: &System, (at, h): (Instant, f64), now: &Moving, implicit: &Implicit) {
        for (joint, link) in system.model.joints().iter().zip(&system.plan.link_of_joint) {
            let Some(link) = link.map(|l| &system.tree.links[l]).filter(|_| joint.fittings.is_elastic()) else {
                continue;
            };
            let range = link.v_range();
            let state = (&now.q[link.q_range()], &now.start[range.clone()]);
            let at_start = joint_forces(joint.kind(), &joint.fittings, at, state.0, state.1);
            for (k, speed) in range.enumerate() {
                let (v, end) = (now.start[speed], now.start[speed] + h * self.rates[speed]);
                self.forces.actuators[joint.v.start + k] += implicit.servo_force(speed, v, end, h) - at_start.work[k];
            }
        }
    }
}

/// Adds the mean forces of contacts to the loads.
fn push_contacts(m: &mut Mechanism<'_>, h: f64, (found, outcome): (&Constraints, &Outcome), part: Part) {
    for c in &outcome.contacts {
        let (n, t) = (Vec3::from(c.normal), Vec3::from(c.tangent));
        let vector = |x: [f64; 3]| (n * x[0] + t * x[1] + n.cross(&t) * x[2]) / h;
        let (mut force, mut moment) = (vector(c.impulse), vector(c.moment));
        if part == Part::WithoutStrikes && c.struck > 0.0 {
            let lasting = 1.0 - c.struck / c.impulse[0];
            force *= lasting;
            moment *= lasting;
        }
        for (k, sign) in [-1.0, 1.0].into_iter().enumerate() {
            let Some(link) = c.bodies[k].map(|b| found.search.link_of(b)) else { continue };
            let arm = Vec3::from(c.points[k]) - m.w.kinematics.origin[link];
            m.w.external[link] += Wrench::new(arm.cross(&force) + moment, force) * sign;
        }
    }
}

/// Adds those of limits and dry friction.
fn push_joints(m: &mut Mechanism<'_>, h: f64, outcome: &Outcome, part: Part) {
    let (system, w) = (m.system, &mut *m.w);
    for push in &outcome.pushes {
        let force = if part == Part::All { push.force } else { push.force - push.struck / h };
        if let Some(link) = system.plan.link_of_joint[push.joint] {
            w.tau[system.tree.links[link].v as usize + push.coordinate] += force;
            continue;
        }
        let Some(c) = system.cuts.iter().position(|c| c.joint.index() == push.joint) else {
            continue;
        };
        let (cut, closure) = (&system.cuts[c], &w.closures[c]);
        let wrench = closure.measures[push.coordinate] * force;
        let ends = [(cut.child, closure.child_arm, wrench), (cut.parent, closure.parent_arm, -wrench)];
        for (link, arm, wrench) in ends {
            if let Some(link) = link {
                w.external[link] += wrench.shifted(&arm);
            }
        }
    }
}

impl ContactStepper {
    /// What another one has to tell of its last step.
    pub(crate) fn take_reports(&mut self, of: &Self) {
        self.outcome.contacts.clone_from(&of.outcome.contacts);
        self.outcome.pushes.clone_from(&of.outcome.pushes);
        let (to, from) = (&mut self.reactions, &of.reactions);
        to.forces.clone_from(&from.forces);
        to.lasting.clone_from(&from.lasting);
        (to.is_known, to.has_struck) = (from.is_known, from.has_struck);
    }
}

impl Simulation {
    /// Forces of the last step that last: its means without what struck.
    pub(crate) fn lasting_forces(&self) -> Option<&Observation> {
        let known = self.stepper.as_ref().map(|s| &s.reactions);
        known.map(|r| if r.has_struck { &r.lasting } else { &r.forces })
    }

    /// Impulse of a joint by what struck in the last step of length `h`, as its forces are given. Forces are affine in what pushes, so
    /// it is what strikes add to those that last.
    pub(crate) fn struck_impulse(&self, joint: usize, h: f64) -> Option<[f64; 6]> {
        let r = self.stepper.as_ref().map(|s| &s.reactions).filter(|r| r.has_struck)?;
        let (all, lasting) = (r.forces.reactions.get(joint)?, r.lasting.reactions.get(joint)?);
        Some(std::array::from_fn(|k| h * (all[k] - lasting[k])))
    }

    /// Size of a coupling's impulse by what struck in the last step of length `h`; zero where nothing did.
    pub(crate) fn struck_coupling(&self, coupling: usize, h: f64) -> f64 {
        let Some(s) = self.stepper.as_ref().map(|s| &s.reactions).filter(|r| r.has_struck) else { return 0.0 };
        let rows = self.system.model.couplings()[coupling].rows.clone();
        let part = |k: usize| {
            let (all, lasting) = (s.forces.couplings.get(k), s.lasting.couplings.get(k));
            all.zip(lasting).map_or(0.0, |(a, b)| h * (a.force - b.force))
        };
        let size = rows.map(part).map(|x| x * x).sum::<f64>().sqrt();
        if size.is_finite() { size } else { 0.0 }
    }

    /// Fills an observation of the present state with the forces of the step that led to it; whether there are any.
    pub(crate) fn read_step_forces(&mut self, out: &mut Observation) -> bool {
        self.wants_forces = true;
        if !self.stepper.as_ref().is_some_and(|s| s.reactions.is_known) {
            return false;
        }
        self.update_current();
        self.read(&self.state, out);
        let Some(r) = self.stepper.as_ref().map(|s| &s.reactions) else { return false };
        out.reactions.clone_from(&r.forces.reactions);
        out.actuators.clone_from(&r.forces.actuators);
        out.couplings.iter_mut().zip(&r.forces.couplings).for_each(|(to, from)| to.force = from.force);
        true
    }
}
