//! Events happen here: which are due, what they make of the mechanism, and what is reported.

use super::jump::{Before, Jumped};
use super::remap::{Remapped, Snapshot};
use super::simulation::Units;
use super::system::System;
use super::{Observation, Simulation, StepError, StepReport};
use crate::impulse::{Edits, EventReport, Kinetic, Momentum, Situation};
use crate::model::event::{Action, Event, Trigger};
use crate::model::{BodyId, Instant, Model, Topology};
use crate::plan::Plan;
use crate::scene::Axes;
use crate::spatial::{Pose, Twist, Vec3, Wrench};
use crate::state::{EventMemory, State};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Relative speed that may be left of a condition on velocities after a jump: far above rounding near a singular position, far
/// below what a contradiction leaves.
const CONTRADICTION: f64 = 1e-6;

/// What is known of a model's events before the run.
pub(crate) fn first_memories(model: &Model) -> Vec<EventMemory> {
    let memory = |event: &Event| EventMemory {
        is_armed: matches!(event.trigger, Trigger::When(_)),
        due: if let Trigger::Time(t) = event.trigger { Some(t) } else { None },
        ..EventMemory::default()
    };
    model.events().iter().map(memory).collect()
}

/// The plan of a model as events have left it.
pub(crate) fn plan_of(model: &Model) -> Plan {
    Plan::build(model, &|id| model.is_placed(id))
}

/// A mechanism after the events of one instant, not yet accepted.
struct After {
    system: System,
    topology: Arc<Topology>,
    remapped: Remapped,
    jumped: Option<Jumped>,
}

impl Simulation {
    /// Whether events wait to happen now, before the next step. [`Simulation::advance`] then makes them happen and takes no time.
    pub fn is_event_due(&self) -> bool {
        self.state.events.iter().any(|e| e.due.is_some_and(|t| t <= self.state.time))
    }

    /// What the events of the last call of [`Simulation::advance`] did; empty where it took a step.
    pub fn events(&self) -> &[EventReport] {
        &self.reports
    }

    /// The next time at which an event is due.
    pub(crate) fn next_due(&self) -> f64 {
        self.state.events.iter().filter_map(|e| e.due).fold(f64::INFINITY, f64::min)
    }

    /// Lets everything happen that is due now, in one solve.
    pub(crate) fn react(&mut self) -> Result<StepReport, StepError> {
        let time = self.state.time;
        let due: Vec<usize> =
            (0..self.state.events.len()).filter(|&e| self.state.events[e].due.is_some_and(|t| t <= time)).collect();
        let actions: Vec<(String, Action)> = due
            .iter()
            .map(|&e| (self.scene.events()[e].name.clone(), self.scene.events()[e].action.clone()))
            .collect();
        let report = self.happen(&actions)?;
        let mut memories = self.state.events.clone();
        for &e in &due {
            let memory = &mut memories[e];
            (memory.fired, memory.is_armed, memory.due, memory.last) = (memory.fired + 1, false, None, Some(time));
        }
        for (e, event) in self.scene.events().iter().enumerate() {
            if let Trigger::After { event: cause, delay } = event.trigger
                && due.contains(&cause)
            {
                if delay == 0.0 && memories[e].last == Some(time) {
                    return Err(StepError::EndlessEvents { time, event: event.name.clone() });
                }
                memories[e].due = Some(time + delay);
            }
        }
        self.state.events = memories;
        self.watch_impulses();
        self.watch_after_jump()?;
        Ok(report)
    }

    /// Makes actions happen now, as one event of the user's own with this name.
    pub fn apply(&mut self, name: &str, actions: &[Action]) -> Result<StepReport, StepError> {
        let named: Vec<(String, Action)> = actions.iter().map(|a| (name.to_owned(), a.clone())).collect();
        let report = self.happen(&named)?;
        self.watch_impulses();
        self.watch_after_jump()?;
        Ok(report)
    }

    fn happen(&mut self, actions: &[(String, Action)]) -> Result<StepReport, StepError> {
        let time = self.state.time;
        let at = |why| StepError::Event { time, why };
        check_contradictions(&self.scene, actions).map_err(at)?;
        let mut before = Observation::default();
        self.observe(false, &mut before)?;
        let bodies = self.system.body_motions(&self.work);
        let momentum_before = self.work.recursion.momentum(&self.system.tree);
        let state_before = self.next.clone();
        let poses: Vec<Pose> = bodies.iter().map(|b| b.pose).collect();
        let situation = Situation { time, poses: &poses, joint_q: &before.joint_q };
        let mut edits = Edits::new(&self.scene, &self.system.model, &self.state.topology, situation);
        let mut notes = Vec::with_capacity(actions.len());
        for (_, action) in actions {
            notes.push(edits.apply(action).map_err(at)?);
        }
        let mut common = EventReport {
            time,
            velocity_before: speeds(&self.system, &before.joint_v),
            momentum_before: momentum(&momentum_before),
            ..EventReport::default()
        };
        common.kinetic_energy = Kinetic { before: before.kinetic, after: before.kinetic, of_jump: 0.0 };
        let (imposes, is_structural, is_changed) = (edits.imposes, edits.is_structural, edits.is_changed);
        let mut report = StepReport {
            time,
            kinetic: before.kinetic,
            potential: before.potential,
            work: self.state.work,
            dissipated: self.state.dissipated,
            ..StepReport::default()
        };
        if is_changed || imposes {
            let seen =
                Snapshot { bodies, joint_q: before.joint_q.clone(), joint_v: before.joint_v.clone() };
            let topology = if is_changed { Arc::new(edits.topology) } else { self.state.topology.clone() };
            let struck = strikes(actions, &poses);
            let name = actions.first().map_or("", |(n, _)| n.as_str());
            let after = self.find_after(topology, is_structural, imposes, &seen, &state_before, &struck, name)?;
            self.accept(after, &before, &struck, &mut common, &mut report)?;
        } else {
            common.velocity_after = common.velocity_before.clone();
            common.momentum_after = common.momentum_before;
        }
        report.events = actions.len() as u32;
        self.write_reports(actions, notes, &common);
        Ok(report)
    }

    /// The mechanism after a change, with the old one untouched.
    #[allow(clippy::too_many_arguments)]
    fn find_after(
        &mut self,
        topology: Arc<Topology>,
        is_structural: bool,
        imposes: bool,
        seen: &Snapshot,
        state: &State,
        struck: &[(BodyId, Vec3, Wrench)],
        event: &str,
    ) -> Result<After, StepError> {
        let model = Arc::new(self.scene.revised(&topology));
        let plan = if is_structural { plan_of(&model) } else { self.system.plan.clone() };
        let system = System::build(model, plan, self.options.formulation);
        let mut remapped = system.remap(&self.system, state, seen);
        let mut w = system.workspace();
        w.recursion.work = self.work.recursion.work;
        w.cut_q.copy_from_slice(&remapped.cut_q);
        let now = Instant::now(state.time);
        let mut jumped = None;
        if imposes {
            let mut on_links = vec![Wrench::default(); system.tree.links.len()];
            for (body, at, wrench) in struck {
                let link = system.plan.link_of_body[body.index()];
                let origin = (seen.bodies[body.index()].pose * system.tree.body_pose[link].inverse()).translation;
                on_links[link] += wrench.shifted(&(at - origin));
            }
            let before = Before { twists: &remapped.twists, is_new: &remapped.is_new, struck: &on_links };
            let found = system.jump(now, &remapped.q, &mut remapped.v, &before, &mut w)?;
            if found.residual > CONTRADICTION || found.residual.is_nan() {
                let event = event.to_owned();
                return Err(StepError::Contradiction { time: state.time, event, residual: found.residual });
            }
            jumped = Some(found);
        }
        self.work.recursion.work = w.recursion.work;
        Ok(After { system, topology, remapped, jumped })
    }

    /// Makes the new mechanism the present one, and completes the report.
    fn accept(
        &mut self,
        after: After,
        before: &Observation,
        struck: &[(BodyId, Vec3, Wrench)],
        common: &mut EventReport,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let After { mut system, topology, remapped, jumped } = after;
        system.check_finite(self.state.time, &remapped.q, &remapped.v)?;
        // Both momenta in the terms of the tree before, whose kinematics are still at hand.
        let twists_before = twists_of(before);
        let twists_after = self.twists_after(&system, &remapped, jumped.as_ref(), &twists_before);
        let mut momenta_before = self.conjugate_momenta(&twists_before);
        let mut momenta_after = self.conjugate_momenta(&twists_after);
        system.user_loads = std::mem::take(&mut self.system.user_loads);
        system.needs_positions |= !system.user_loads.is_empty();
        let old = std::mem::replace(&mut self.system, system);
        let old_work = self.work.recursion.work;
        self.work = self.system.workspace();
        self.work.recursion.work = old_work;
        let (n_q, n_v) = self.system.sizes();
        self.units = Units::build(&self.system);
        self.fixed = super::integrate::Fixed::new(n_q, n_v);
        self.adaptive = super::integrate::Adaptive::new(n_q, n_v, self.options.integrator);
        self.stepper = super::contact::Stepper::build(&self.system);
        self.input = self.carry_input(&old);
        self.state.topology = topology;
        (self.state.q, self.state.v, self.state.cut_q) = (remapped.q, remapped.v, remapped.cut_q);
        self.next = self.state.clone();

        let mut seen = Observation::default();
        self.observe(false, &mut seen)?;
        // Where nothing but rounding opened, the projection has nothing to do; what it did belongs to the state.
        self.state.cut_q.copy_from_slice(&self.work.cut_q);
        common.velocity_after = speeds(&self.system, &seen.joint_v);
        common.momentum_after = momentum(&self.work.recursion.momentum(&self.system.tree));
        common.kinetic_energy.after = seen.kinetic;
        for (old_model, seen, momenta) in
            [(&old, &before.joint_v, &mut momenta_before), (&old, &seen.joint_v, &mut momenta_after)]
        {
            add_rotors(old_model, &self.system, seen, momenta);
        }
        common.generalised_momentum_before = self.keep_free(momenta_before);
        common.generalised_momentum_after = self.keep_free(momenta_after);
        let mut work = 0.0;
        for (body, at, wrench) in struck {
            let com = Vec3::from(before.bodies[body.index()].position);
            let mean = (twists_before[body.index()] + twists_after[body.index()]) * 0.5;
            work += mean.shifted(&(at - com)).dot(wrench);
        }
        if let Some(jumped) = &jumped {
            work += jumped.work;
            common.kinetic_energy.of_jump = self.energy_of_jump(jumped, before, &seen);
            for (joint, impulse) in self.system.model.joints().iter().zip(&jumped.impulses) {
                if !joint.is_absent {
                    common.impulses.insert(joint.name.clone(), *impulse);
                }
            }
            common.not_unique = jumped.redundant.iter().map(|(joint, what)| format!("{joint}: {what}")).collect();
        }
        common.work = work;
        common.dissipated = (before.kinetic - seen.kinetic) + (before.potential - seen.potential) + work;
        self.state.work += work;
        self.state.dissipated += common.dissipated;
        (report.kinetic, report.potential) = (seen.kinetic, seen.potential);
        (report.work, report.dissipated) = (self.state.work, self.state.dissipated);
        Ok(())
    }

    /// Velocity of each body after the jump, at its centre of mass.
    fn twists_after(
        &self,
        system: &System,
        remapped: &Remapped,
        jumped: Option<&Jumped>,
        before: &[Twist],
    ) -> Vec<Twist> {
        let Some(jumped) = jumped else { return before.to_vec() };
        let mut after = before.to_vec();
        for (i, link) in system.plan.links.iter().enumerate() {
            let b = link.body.index();
            let pose = self.system.view(&self.work.recursion.kinematics).body_pose(Some(link.body));
            let origin = (pose * system.tree.body_pose[i].inverse()).translation;
            let arm = pose.point(&system.model.bodies()[b].com) - origin;
            after[b] = (remapped.twists[i] + jumped.twists[i]).shifted(&arm);
        }
        after
    }

    /// Momenta of the bodies beyond each tree joint along its unit motions, for given velocities of the bodies.
    fn conjugate_momenta(&self, twists: &[Twist]) -> BTreeMap<String, Vec<f64>> {
        let (system, kinematics) = (&self.system, &self.work.recursion.kinematics);
        let mut carried = vec![Wrench::default(); system.tree.links.len()];
        let mut momenta = BTreeMap::new();
        for (i, link) in system.tree.links.iter().enumerate().rev() {
            let body = link.inertia.rotated(&kinematics.links[i].rotation);
            let own = twists[system.tree.body[i].index()].shifted(&-body.com);
            carried[i] += body.to_sym6().times(&own);
            if let Some(j) = system.plan.links[i].joint {
                let along = |v: usize| kinematics.unit_motion(i, link, v).dot(&carried[i]);
                momenta.insert(system.model.joints()[j.index()].name.clone(), link.v_range().map(along).collect());
            }
            if let Some(p) = link.parent_index() {
                let moved = carried[i].shifted(&kinematics.links[i].offset);
                carried[p] += moved;
            }
        }
        momenta
    }

    /// Leaves out joints that have a speed which is not free, or that do not exist any more.
    fn keep_free(&self, mut momenta: BTreeMap<String, Vec<f64>>) -> BTreeMap<String, Vec<f64>> {
        for joint in self.system.model.joints() {
            let is_free = !joint.is_absent && (0..joint.v.len()).all(|k| joint.fittings.motion(k).is_none());
            if !is_free || joint.v.is_empty() || momenta.get(&joint.name).is_some_and(|p| p.len() != joint.v.len()) {
                momenta.remove(&joint.name);
            }
        }
        momenta
    }

    /// Kinetic energy of the velocity jump, rotors included.
    fn energy_of_jump(&self, jumped: &Jumped, before: &Observation, after: &Observation) -> f64 {
        let links = self.system.tree.links.iter().enumerate().map(|(i, link)| {
            link.inertia.rotated(&self.work.recursion.kinematics.links[i].rotation).kinetic(&jumped.twists[i])
        });
        let mut energy: f64 = links.sum();
        for joint in self.system.model.joints().iter().filter(|j| !j.is_absent) {
            for (k, rotor) in joint.fittings.armature.iter().enumerate() {
                let jump = after.joint_v[joint.v.start + k] - before.joint_v[joint.v.start + k];
                // A rotor that comes with its joint had the joint's speed.
                energy += if jump.is_nan() { 0.0 } else { 0.5 * rotor * jump * jump };
            }
        }
        energy
    }

    /// A controller's forces, for the tree that is now.
    fn carry_input(&self, old: &System) -> Vec<f64> {
        let mut input = vec![0.0; self.system.tree.n_v];
        for (i, link) in self.system.plan.links.iter().enumerate() {
            let was = match link.joint {
                Some(j) => old.plan.link_of_joint[j.index()],
                None => Some(old.plan.link_of_body[link.body.index()]).filter(|&l| old.plan.links[l].joint.is_none()),
            };
            let (range, old_range) = (self.system.tree.links[i].v_range(), was.map(|l| old.tree.links[l].v_range()));
            if let Some(old_range) = old_range.filter(|r| r.len() == range.len()) {
                input[range].copy_from_slice(&self.input[old_range]);
            }
        }
        input
    }

    fn write_reports(&mut self, actions: &[(String, Action)], notes: Vec<Vec<String>>, common: &EventReport) {
        for (i, ((name, action), notes)) in actions.iter().zip(notes).enumerate() {
            let others = actions.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, (name, _))| name.clone());
            self.reports.push(EventReport {
                name: name.clone(),
                kind: action.kind().name().to_owned(),
                target: target(&self.scene, action),
                simultaneous: others.collect(),
                notes,
                ..common.clone()
            });
        }
    }
}

/// Two actions of one instant that make different things of one joint.
fn check_contradictions(model: &Model, actions: &[(String, Action)]) -> Result<(), crate::impulse::EditError> {
    let mut seen: BTreeMap<u32, (&str, crate::scene::EventKind)> = BTreeMap::new();
    for (name, action) in actions {
        for joint in action.joints() {
            let first = *seen.entry(joint.0).or_insert((name, action.kind()));
            if first.1 != action.kind() {
                return Err(crate::impulse::EditError::Contradiction {
                    first: first.0.to_owned(),
                    second: name.clone(),
                    joint: model.joints()[joint.index()].name.clone(),
                });
            }
        }
    }
    Ok(())
}

/// Applied impulses: body, world point, wrench at that point.
fn strikes(actions: &[(String, Action)], poses: &[Pose]) -> Vec<(BodyId, Vec3, Wrench)> {
    let mut struck = Vec::new();
    for (_, action) in actions {
        let Action::Impulse { at, vector, moment, axes } = action else { continue };
        let Some(body) = at.body else { continue };
        let pose = &poses[body.index()];
        let turn = |x: &Vec3| if *axes == Axes::Body { pose.rotation * x } else { *x };
        struck.push((body, pose.point(&at.position), Wrench::new(turn(moment), turn(vector))));
    }
    struck
}

fn target(model: &Model, action: &Action) -> Vec<String> {
    match action {
        Action::SwitchForce { force, .. } => vec![model.forces()[*force].name.clone()],
        Action::SwitchMotor { joint, .. } => vec![model.joints()[joint.index()].name.clone()],
        Action::Impulse { at, .. } => at.body.iter().map(|b| model.bodies()[b.index()].name.clone()).collect(),
        _ => action.joints().iter().map(|j| model.joints()[j.index()].name.clone()).collect(),
    }
}

/// Velocity of each body at its centre of mass.
fn twists_of(seen: &Observation) -> Vec<Twist> {
    seen.bodies.iter().map(|b| Twist::new(b.angular_velocity.into(), b.velocity.into())).collect()
}

/// Adds what rotors of the old tree's joints carry.
fn add_rotors(old: &System, new: &System, joint_v: &[f64], momenta: &mut BTreeMap<String, Vec<f64>>) {
    for (joint, now) in old.model.joints().iter().zip(new.model.joints()) {
        let Some(momenta) = momenta.get_mut(&joint.name).filter(|_| !now.is_absent) else { continue };
        for (k, rotor) in joint.fittings.armature.iter().enumerate() {
            momenta[k] += rotor * joint_v[joint.v.start + k];
        }
    }
}

fn momentum(w: &Wrench) -> Momentum {
    Momentum { linear: w.force.into(), angular: w.moment.into() }
}

fn speeds(system: &System, joint_v: &[f64]) -> BTreeMap<String, Vec<f64>> {
    let present = system.model.joints().iter().filter(|j| !j.is_absent);
    present.map(|j| (j.name.clone(), joint_v[j.v.clone()].to_vec())).collect()
}
