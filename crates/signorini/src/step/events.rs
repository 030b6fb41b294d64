//! Events happen here: which are due, what they make of the mechanism, and what is reported.

use super::contact::ContactStepper;
use super::remap::{Remapped, Snapshot};
use super::simulation::Units;
use super::{Observation, Simulation, StepError, StepReport};
use crate::dynamics::{Before, Formulation as _, Jumped};
use crate::dynamics::{System, Workspace};
use crate::impulse::{EditError, Edits, EventReport, Kinetic, Momentum, Situation};
use crate::model::event::{Action, Event, Lock, Trigger};
use crate::model::{BodyId, CouplingId, Instant, JointId, Model, Topology};
use crate::plan::Plan;
use crate::scene::Axes;
use crate::spatial::{Mat3, Pose, Twist, Vec3, Wrench};
use crate::state::EventMemory;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Relative speed that may be left of a condition on velocities after a jump: far above rounding near a singular position, far
/// below what a contradiction leaves.
const CONTRADICTION: f64 = 1e-6;

/// Relative difference of spring energies that is nothing but rounding of positions.
const SAME_ENERGY: f64 = 1e-12;

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
    /// Positions and velocities after.
    work: Workspace,
    stepper: Option<Box<ContactStepper>>,
}

/// What the events of one instant want.
struct Change<'a> {
    topology: Arc<Topology>,
    /// Whether joints come, go or change.
    is_structural: bool,
    /// Whether velocities may jump.
    imposes: bool,
    /// Name of the first event.
    event: &'a str,
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
        let memories = self.remember(&due);
        let actions: Vec<(String, Action)> =
            due.iter().map(|&e| (self.scene.events()[e].name.clone(), self.scene.events()[e].action.clone())).collect();
        let report = self.happen(&actions)?;
        self.state.events = memories;
        self.look_around(&actions)?;
        Ok(report)
    }

    /// What will be known of all events once those that are due have happened.
    fn remember(&self, due: &[usize]) -> Vec<EventMemory> {
        let time = self.state.time;
        let mut memories = self.state.events.clone();
        for &e in due {
            let memory = &mut memories[e];
            (memory.fired, memory.is_armed, memory.due, memory.last) = (memory.fired + 1, false, None, Some(time));
        }
        for (e, event) in self.scene.events().iter().enumerate() {
            if let Trigger::After { event: cause, delay } = event.trigger
                && due.contains(&cause)
            {
                memories[e].due = Some(time + delay);
            }
        }
        memories
    }

    /// Makes actions happen now, in one solve, as an event of the caller's own with this name. [`Simulation::events`] has the
    /// report.
    ///
    /// ```
    /// use signorini::model::event::Action;
    /// # use signorini::scene::read::read_str;
    /// # use signorini::step::Simulation;
    /// # let scene = read_str(
    /// #     r#"
    /// #     gravity = [0, 0, -9.81]
    /// #     time = { end = 1.0 }
    /// #     body = [
    /// #         { name = "upper", mass = 1, com = [0, 0, -0.5], inertia = [0.08, 0.08, 0.001] },
    /// #         { name = "lower", mass = 1, com = [0, 0, -0.5], inertia = [0.08, 0.08, 0.001] },
    /// #     ]
    /// #     joint = [
    /// #         { name = "shoulder", kind = "revolute", parent = "ground", child = "upper", axis = [0, 1, 0], v = [1] },
    /// #         { name = "elbow", kind = "revolute", parent = "upper", child = "lower", axis = [0, 1, 0],
    /// #           parent_frame = { position = [0, 0, -1] }, v = [-3] },
    /// #     ]
    /// #     "#,
    /// #     "arm.toml",
    /// #     "",
    /// # )?;
    /// let mut arm = Simulation::from_scene(&scene)?;
    /// let elbow = arm.joint("elbow")?;
    /// arm.apply("catch", &[Action::lock(elbow)])?;
    /// let report = &arm.events()[0];
    /// assert_eq!(report.velocity_after["elbow"], [0.0]);
    /// assert!(report.kinetic_energy.after < report.kinetic_energy.before);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn apply(&mut self, name: &str, actions: &[Action]) -> Result<StepReport, StepError> {
        self.reports.clear();
        for action in actions {
            self.check_action(action)?;
        }
        let named: Vec<(String, Action)> = actions.iter().map(|a| (name.to_owned(), a.clone())).collect();
        let report = self.happen(&named)?;
        self.look_around(&named)?;
        Ok(report)
    }

    /// The joint of a name, for [`Action`]s. Welds have the names of their events.
    pub fn joint(&self, name: &str) -> Result<JointId, StepError> {
        let found = self.scene.joints().iter().position(|j| j.name == name);
        found.map(|j| JointId(j as u32)).ok_or_else(|| StepError::BadOption(format!("there is no joint `{name}`")))
    }

    /// The coupling of a name, for [`Action`]s.
    pub fn coupling(&self, name: &str) -> Result<CouplingId, StepError> {
        let found = self.scene.couplings().iter().position(|c| c.name == name);
        let missing = || StepError::BadOption(format!("there is no coupling `{name}`"));
        found.map(|c| CouplingId(c as u32)).ok_or_else(missing)
    }

    /// The body of a name, for [`Action`]s.
    pub fn body(&self, name: &str) -> Result<BodyId, StepError> {
        let found = self.scene.bodies().iter().position(|b| b.name == name);
        found.map(|b| BodyId(b as u32)).ok_or_else(|| StepError::BadOption(format!("there is no body `{name}`")))
    }

    /// Gate for actions that no scene was checked for.
    fn check_action(&self, action: &Action) -> Result<(), StepError> {
        let bad = |why: &str| Err(StepError::BadOption(why.to_owned()));
        let (n_joints, n_bodies) = (self.scene.joints().len(), self.scene.bodies().len());
        let is_body = |b: Option<BodyId>| b.is_none_or(|b| b.index() < n_bodies);
        let finite = |x: &Vec3| x.iter().all(|x| x.is_finite());
        if action.joints().iter().any(|j| j.index() >= n_joints) {
            return bad("the model has no such joint");
        }
        if action.couplings().iter().any(|c| c.index() >= self.scene.couplings().len()) {
            return bad("the model has no such coupling");
        }
        match action {
            Action::Change { joint, kind, lead, axes } => {
                let slot = &self.scene.joints()[joint.index()];
                if kind.n_q() > slot.q_slot.len() || kind.n_v() > slot.v_slot.len() {
                    let message = format!(
                        "joint `{}` has no room for the coordinates of a {} joint; an event of the scene that changes it \
                         to a kind with as many makes room",
                        slot.name,
                        kind.name()
                    );
                    return Err(StepError::BadOption(message));
                }
                if !lead.is_finite() || axes.is_some_and(|a| (a.transpose() * a - Mat3::identity()).amax() > 1e-12) {
                    return bad("axes of a joint must be orthonormal and its lead finite");
                }
            }
            Action::Engage { held, .. } if held.iter().any(|(_, x)| !x.is_finite()) => {
                return bad("what a coupling holds must be a finite number");
            }
            Action::Lock { what: Lock::Axis { body, axis }, .. }
                if !is_body(*body) || (axis.norm() - 1.0).abs() > 1e-12 =>
            {
                return bad("an axis must have length one, and its body exist");
            }
            Action::SwitchForce { force, .. } if *force >= self.scene.forces().len() => {
                return bad("the model has no such load");
            }
            Action::SwitchMotor { joint, .. } if joint.index() >= n_joints => {
                return bad("the model has no such joint");
            }
            Action::Impulse { at, vector, moment, .. }
                if !is_body(at.body) || ![&at.position, vector, moment].into_iter().all(finite) =>
            {
                return bad("an impulse acts on a body of the model, with finite numbers");
            }
            _ => {}
        }
        Ok(())
    }

    /// What follows from events that have just happened: thresholds on impulses, quantities that jumped.
    fn look_around(&mut self, actions: &[(String, Action)]) -> Result<(), StepError> {
        self.watch_impulses();
        // A joint that is attached again can break again.
        for (e, event) in self.scene.events().iter().enumerate().filter(|(_, event)| event.is_break) {
            let memory = &mut self.state.events[e];
            memory.is_armed |= memory.due.is_none() && actions.iter().any(|(_, a)| attaches(a, &event.action));
        }
        self.watch_after_jump()
    }

    fn happen(&mut self, actions: &[(String, Action)]) -> Result<StepReport, StepError> {
        let time = self.state.time;
        let at = |why| StepError::Event { time, why };
        check_contradictions(&self.scene, actions).map_err(at)?;
        let mut before = Observation::default();
        self.observe(false, &mut before)?;
        let bodies = self.system.body_motions(&self.work.kinematics);
        let momentum_before = self.work.kinematics.momentum(&self.system.tree);
        let stored = self.system.stored(&self.state.q, &self.work);
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
            let topology = if is_changed { Arc::new(edits.topology) } else { self.state.topology.clone() };
            let struck = strikes(actions, &poses);
            let seen = Snapshot { bodies, joint_q: before.joint_q.clone(), joint_v: before.joint_v.clone() };
            let change =
                Change { topology, is_structural, imposes, event: actions.first().map_or("", |(n, _)| n.as_str()) };
            let after = self.find_after(change, &seen, &struck)?;
            self.accept(after, (&before, stored), &struck, &mut common, &mut report);
        } else {
            common.velocity_after = common.velocity_before.clone();
            common.momentum_after = common.momentum_before;
        }
        report.events = actions.len() as u32;
        self.write_reports(actions, notes, &common);
        Ok(report)
    }

    /// The mechanism after a change, with the old one untouched.
    fn find_after(
        &mut self,
        change: Change<'_>,
        seen: &Snapshot,
        struck: &[(BodyId, Vec3, Wrench)],
    ) -> Result<After, StepError> {
        let time = self.state.time;
        let model = Arc::new(self.scene.revised(&change.topology));
        let plan = if change.is_structural { plan_of(&model) } else { self.system.plan.clone() };
        let mut system = System::build(model, plan, self.options.formulation);
        system.carry_order(&self.system, !change.is_structural);
        let mut remapped = system.remap(&self.system, &self.state, seen);
        let mut w = system.workspace();
        w.kinematics.work = self.work.kinematics.work;
        w.engine.count_on(self.work.engine.counters());
        w.cut_q.copy_from_slice(&remapped.cut_q);
        if change.imposes && !change.is_structural {
            system.inherit(&self.system, &remapped.q, &mut self.work, &mut w);
        }
        let now = Instant::now(time);
        // Only where no joint came, went or changed is the tree the same.
        let known = (!change.is_structural).then_some(&self.work.kinematics);
        let mut jumped = None;
        if change.imposes {
            let mut on_links = vec![Wrench::default(); system.tree.links.len()];
            for (body, at, wrench) in struck {
                let link = system.plan.link_of_body[body.index()];
                let origin = (seen.bodies[body.index()].pose * system.tree.body_pose[link].inverse()).translation;
                on_links[link] += wrench.shifted(&(at - origin));
            }
            let before = Before {
                twists: &remapped.twists,
                is_new: &remapped.is_new,
                struck: &on_links,
                is_new_joint: &remapped.is_new_joint,
                kinematics: known,
            };
            let found = system.jump(now, &remapped.q, &mut remapped.v, &before, &mut w)?;
            if found.residual > CONTRADICTION || found.residual.is_nan() {
                let event = change.event.to_owned();
                return Err(StepError::Contradiction { time, event, residual: found.residual });
            }
            jumped = Some(found);
            w.kinematics.update_velocities(&system.tree, &remapped.v);
        } else {
            // A locked joint that closed a loop and is a part of the tree now had a speed of rounding.
            for (link, k, signal) in &system.motions {
                remapped.v[system.tree.links[*link].v as usize + k] = signal.at(now)[1];
            }
            match known {
                Some(known) => w.kinematics.clone_from(known),
                None => {
                    system.place(&remapped.q, &remapped.v, &mut w);
                }
            }
        }
        system.update_rows(&remapped.q, &remapped.v, &mut w);
        system.check_finite(time, &remapped.q, &remapped.v)?;
        let stepper = ContactStepper::build(&system, &self.options)?;
        system.needs_positions |= stepper.is_some();
        Ok(After { system, topology: change.topology, remapped, jumped, work: w, stepper })
    }

    /// Makes the new mechanism the present one, and completes the report.
    fn accept(
        &mut self,
        after: After,
        (before, stored): (&Observation, f64),
        struck: &[(BodyId, Vec3, Wrench)],
        common: &mut EventReport,
        report: &mut StepReport,
    ) {
        let After { mut system, topology, remapped, jumped, work: workspace, stepper } = after;
        // Both momenta in the terms of the tree before, whose kinematics are still at hand.
        let twists_before = twists_of(before);
        let twists_after = self.twists_after(&system, &remapped, jumped.as_ref(), &twists_before);
        let mut momenta_before = self.conjugate_momenta(&twists_before);
        let mut momenta_after = self.conjugate_momenta(&twists_after);
        system.forces.adopt_user_loads(&mut self.system.forces);
        system.needs_positions |= system.forces.has_user_loads();
        let old = std::mem::replace(&mut self.system, system);
        self.work = workspace;
        let (n_q, n_v) = self.system.sizes();
        self.units = Units::build(&self.system);
        self.fixed = super::integrate::Fixed::new(n_q, n_v);
        self.adaptive = super::integrate::Adaptive::new(n_q, n_v, self.options.integrator);
        self.stepper = stepper;
        self.input = self.carry_input(&old);
        self.state.topology = topology;
        (self.state.q, self.state.v) = (remapped.q, remapped.v);
        self.state.cut_q.clone_from(&self.work.cut_q);
        self.next = self.state.clone();

        // What is reported is measured on the result.
        let mut seen = Observation::default();
        self.read(&self.state, &mut seen);
        // Velocities were found by another sweep than a step leaves behind; for the same bits after a restart they are found anew.
        self.is_current = false;
        common.velocity_after = speeds(&self.system, &seen.joint_v);
        common.momentum_after = momentum(&self.work.kinematics.momentum(&self.system.tree));
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
        common.merges = self.work.engine.counters().repeated;
        if let Some(jumped) = &jumped {
            work += jumped.work + jumped.brought;
            common.kinetic_energy.of_jump = jumped.energy;
            for (joint, impulse) in self.system.model.joints().iter().zip(&jumped.impulses) {
                if !joint.is_absent {
                    common.impulses.insert(joint.name.clone(), *impulse);
                }
            }
            for coupling in self.system.model.couplings().iter().filter(|c| !c.is_absent) {
                let impulse = jumped.coupling_impulses[coupling.rows.clone()].to_vec();
                common.coupling_impulses.insert(coupling.name.clone(), impulse);
            }
            common.not_unique = jumped.redundant.iter().map(|(joint, what)| format!("{joint}: {what}")).collect();
        }
        // Springs that come under tension bring their energy along, those that go take it with them. Nothing else about potential
        // energy changes, since no body moves.
        let now = self.system.stored(&self.state.q, &self.work);
        let gained = if (now - stored).abs() > SAME_ENERGY * (now + stored) { now - stored } else { 0.0 };
        work += gained.max(0.0);
        common.work = work;
        common.dissipated = (before.kinetic - seen.kinetic) - gained + work;
        self.state.work += work;
        self.state.dissipated += common.dissipated;
        (report.kinetic, report.potential) = (seen.kinetic, seen.potential);
        (report.work, report.dissipated) = (self.state.work, self.state.dissipated);
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
            let pose = self.system.view(&self.work.kinematics).body_pose(Some(link.body));
            let origin = (pose * system.tree.body_pose[i].inverse()).translation;
            let arm = pose.point(&system.model.bodies()[b].com) - origin;
            after[b] = (remapped.twists[i] + jumped.twists[i]).shifted(&arm);
        }
        after
    }

    /// Momenta of the bodies beyond each tree joint along its unit motions, for given velocities of the bodies.
    fn conjugate_momenta(&self, twists: &[Twist]) -> BTreeMap<String, Vec<f64>> {
        let (system, kinematics) = (&self.system, &self.work.kinematics);
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
            let own = self.scene.events().iter().find(|event| event.name == *name);
            self.reports.push(EventReport {
                name: name.clone(),
                kind: own.map_or(action.kind().name(), |event| event.kind).to_owned(),
                target: target(&self.scene, action),
                simultaneous: others.collect(),
                notes,
                ..common.clone()
            });
        }
    }
}

/// Whether an action attaches a joint, or engages a coupling, that a break releases.
fn attaches(action: &Action, broken: &Action) -> bool {
    match action {
        Action::Attach(attached) => broken.joints().iter().any(|j| attached.contains(j)),
        Action::Engage { couplings, .. } => broken.couplings().iter().any(|c| couplings.contains(c)),
        _ => false,
    }
}

/// Two actions of one instant that make different things of one joint, load or motor.
fn check_contradictions(model: &Model, actions: &[(String, Action)]) -> Result<(), EditError> {
    let mut joints: BTreeMap<u32, usize> = BTreeMap::new();
    let mut couplings: BTreeMap<u32, usize> = BTreeMap::new();
    let mut switches: BTreeMap<(Option<u32>, usize), usize> = BTreeMap::new();
    let contradiction = |i: usize, k: usize, what: String| {
        Err(EditError::Contradiction { first: actions[i].0.clone(), second: actions[k].0.clone(), what })
    };
    for (k, (_, action)) in actions.iter().enumerate() {
        for joint in action.joints() {
            let i = *joints.entry(joint.0).or_insert(k);
            if !actions[i].1.goes_with(action) {
                return contradiction(i, k, format!("joint `{}`", model.joints()[joint.index()].name));
            }
        }
        for coupling in action.couplings() {
            let i = *couplings.entry(coupling.0).or_insert(k);
            if !actions[i].1.goes_with(action) {
                return contradiction(i, k, format!("coupling `{}`", model.couplings()[coupling.index()].name));
            }
        }
        let (key, what) = match action {
            Action::SwitchForce { force, .. } => ((None, *force), format!("load `{}`", model.forces()[*force].name)),
            Action::SwitchMotor { joint, motor, .. } => {
                ((Some(joint.0), *motor), format!("a motor of joint `{}`", model.joints()[joint.index()].name))
            }
            _ => continue,
        };
        let i = *switches.entry(key).or_insert(k);
        if !actions[i].1.goes_with(action) {
            return contradiction(i, k, what);
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
        Action::Engage { couplings, .. } | Action::Disengage(couplings) => {
            couplings.iter().map(|c| model.couplings()[c.index()].name.clone()).collect()
        }
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
