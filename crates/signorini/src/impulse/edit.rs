//! What an event makes of a topology.
//!
//! Positions never jump. Joints that are locked, welded, attached or changed take the pose that their bodies have. A joint whose
//! two frames are both given must fit where it is attached; a motion that is switched on starts where its coordinate is.

use crate::model::event::{Action, Lock, Placement, place};
use crate::model::joint::JointType;
use crate::model::topology::{Form, Hold, JointStatus, Spin};
use crate::model::{BodyId, CouplingId, CouplingKind, Instant, Joint, JointId, Model, MotorKind, Place, Topology};
use crate::spatial::{Mat3, Pose, Quaternion, Vec3};
use thiserror::Error;

/// Largest misfit, in mechanism lengths or radians, with which a joint can be attached. A joint that was released and comes
/// back fits to the rounding and integration error of its loop, some 1e-12; anything that needs assembling does not.
pub const GAP: f64 = 1e-9;

/// Why an event cannot happen.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EditError {
    /// Attaching would move bodies.
    #[error(
        "joint `{joint}` does not fit: attaching it would move its bodies by {length:.3e} of the mechanism's size and turn them \
         by {angle:.3e} rad; leave out one of its frames and it is placed where the bodies are"
    )]
    Gap {
        /// The joint.
        joint: String,
        /// Misfit over the mechanism's size.
        length: f64,
        /// Misfit in radians.
        angle: f64,
    },
    /// A coupling that would move bodies.
    #[error(
        "coupling `{coupling}` does not fit: its `{key}` is {found} where the bodies are, and it should hold {wanted}; leave `{key}` out \
         and it holds what it finds"
    )]
    CouplingGap {
        /// The coupling.
        coupling: String,
        /// Key of what it holds.
        key: &'static str,
        /// What it finds.
        found: f64,
        /// What it should hold.
        wanted: f64,
    },
    /// A coupling without direction.
    #[error("coupling `{coupling}` has no direction where it is engaged: its ends lie in one place")]
    NoDirection {
        /// The coupling.
        coupling: String,
    },
    /// Two events of one instant want different things.
    #[error(
        "events `{first}` and `{second}` contradict each other: they want different things of {what} at the same time"
    )]
    Contradiction {
        /// One event.
        first: String,
        /// The other.
        second: String,
        /// The joint, load or motor.
        what: String,
    },
}

/// Where the mechanism is when an event happens.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Time.
    pub time: f64,
    /// Pose of each body.
    pub poses: &'a [Pose],
    /// Coordinates of all joints, in their slots.
    pub joint_q: &'a [f64],
}

impl Situation<'_> {
    fn pose(&self, body: Option<BodyId>) -> Pose {
        body.map_or_else(Pose::identity, |b| self.poses[b.index()])
    }

    /// Pose of the child's joint frame in the parent's.
    fn between(&self, joint: &Joint, frames: &(Pose, Pose)) -> Pose {
        (self.pose(joint.parent) * frames.0).inverse() * (self.pose(joint.child) * frames.1)
    }
}

/// Misfit that is nothing but rounding in a chain of poses.
const ROUNDING: f64 = 1e-14;

/// A joint put where its bodies are.
struct Fitted {
    /// Misfit over the mechanism's size.
    length: f64,
    /// Misfit in radians.
    angle: f64,
    /// Frames with which it fits.
    frames: (Pose, Pose),
    /// Its coordinates.
    q: Vec<f64>,
}

/// Lets the motions of a joint go on from the coordinates that it has. Returns whether there are any.
fn start_motions(
    scene: &Model,
    status: &mut JointStatus,
    id: JointId,
    time: f64,
    q: &[f64],
    concerns: impl Fn(usize) -> bool,
) -> bool {
    let mut any = false;
    for (m, motor) in scene.joints()[id.index()].fittings.motors.iter().enumerate() {
        let (m, k) = (m as u32, motor.coordinate);
        if motor.kind == MotorKind::Motion && concerns(k) && !status.motors_off.contains(&m) {
            let [x, ..] = motor.signal.at(Instant::now(time));
            status.shifts.insert(m, q[k] - x);
            any = true;
        }
    }
    any
}

/// A topology under change.
pub struct Edits<'a> {
    /// The scene's model.
    scene: &'a Model,
    /// The model as it is now.
    now: &'a Model,
    situation: Situation<'a>,
    /// The topology as changed so far.
    pub topology: Topology,
    /// Whether velocities may jump.
    pub imposes: bool,
    /// Whether joints came, went or changed.
    pub is_structural: bool,
    /// Whether anything changed.
    pub is_changed: bool,
}

impl<'a> Edits<'a> {
    /// Before the first change.
    pub fn new(scene: &'a Model, now: &'a Model, topology: &Topology, situation: Situation<'a>) -> Self {
        let topology = Topology { version: topology.version + 1, ..topology.clone() };
        Self { scene, now, situation, topology, imposes: false, is_structural: false, is_changed: false }
    }

    /// Makes one change. Returns what the user should know: where there was nothing to do, and why.
    pub fn apply(&mut self, action: &Action) -> Result<Vec<String>, EditError> {
        let mut notes = Vec::new();
        match action {
            // A coordinate of another kind is another quantity, and one of a joint that is gone is none.
            Action::Lock { joints, what } => joints.iter().for_each(|&j| notes.extend(self.lock(j, what))),
            Action::Unlock(joints) => joints.iter().for_each(|&j| notes.extend(self.unlock(j))),
            Action::Change { joint, kind, lead, axes } => {
                notes.extend(self.uncouple(*joint));
                notes.extend(self.change(*joint, JointType { kind: *kind, lead: *lead }, axes));
            }
            Action::Attach(joints) => {
                for &j in joints {
                    notes.extend(self.attach(j)?);
                }
            }
            Action::Release(joints) => {
                for &j in joints {
                    notes.extend(self.uncouple(j));
                    notes.extend(self.release(j));
                }
            }
            Action::Engage { couplings, held } => {
                for &c in couplings {
                    notes.extend(self.engage(c, held)?);
                }
            }
            Action::Disengage(couplings) => couplings.iter().for_each(|&c| notes.extend(self.disengage(c))),
            Action::SwitchForce { force, on } => {
                let id = *force as u32;
                let was_on = !self.topology.forces_off.contains(&id);
                match (was_on, on) {
                    (true, false) => self.is_changed |= self.topology.forces_off.insert(id),
                    (false, true) => self.is_changed |= self.topology.forces_off.remove(&id),
                    _ => notes.push(format!("force `{}` was so already", self.scene.forces[*force].name)),
                }
            }
            Action::SwitchMotor { joint, motor, on } => notes.extend(self.switch_motor(*joint, *motor, *on)),
            Action::Impulse { .. } => self.imposes = true,
        }
        Ok(notes)
    }

    fn joint(&self, id: JointId) -> &'a Joint {
        &self.now.joints()[id.index()]
    }

    fn coordinates(&self, joint: &Joint) -> Vec<f64> {
        self.situation.joint_q[joint.q.clone()].to_vec()
    }

    fn lock(&mut self, id: JointId, what: &Lock) -> Option<String> {
        let joint = self.joint(id);
        if joint.is_absent {
            return Some(format!("joint `{}` does not exist: there is nothing to lock", joint.name));
        }
        let n = joint.kind().n_v();
        let q = self.coordinates(joint);
        let turns = joint.joint_type.quaternion().map(|(_, iv)| iv..iv + 3);
        let is_turn = |k: usize| turns.as_ref().is_some_and(|t| t.contains(&k));
        let status = self.topology.joint_mut(self.scene, id);
        let before = status.hold.clone().unwrap_or_else(|| Hold { speeds: Default::default(), q: q.clone() });
        let mut speeds = before.speeds.clone();
        let mut spins = Vec::new();
        match what {
            Lock::All => speeds.extend(0..n),
            Lock::Axis { body, axis } => {
                if turns.is_none() {
                    return Some(format!("joint `{}` does not turn in any direction now: not locked", joint.name));
                }
                let on_parent = *body == joint.parent;
                let frame = if on_parent { &joint.parent_frame } else { &joint.child_frame };
                spins.push(Spin { axis: frame.rotation.tr_mul(axis).into(), on_parent });
            }
            Lock::Coordinates(list) => {
                let all_turns = turns.clone().is_some_and(|mut t| t.all(|k| list.contains(&k)));
                for &k in list.iter().filter(|k| **k < n) {
                    if all_turns || !is_turn(k) {
                        speeds.insert(k);
                    } else if let Some(turns) = &turns {
                        // One direction of a rotation is no coordinate: only its speed can be locked.
                        spins.push(Spin { axis: Vec3::ith(k - turns.start, 1.0).into(), on_parent: false });
                    }
                }
            }
        }
        // A rotation that is locked as a whole needs no axes.
        let is_whole = turns.as_ref().is_some_and(|t| speeds.contains(&t.start));
        spins.retain(|spin| !is_whole && !status.spins.contains(spin));
        if speeds == before.speeds && spins.is_empty() {
            return Some(format!("joint `{}` was locked already", joint.name));
        }
        if is_whole {
            status.spins.clear();
        }
        status.spins.extend(spins);
        if speeds != before.speeds {
            // Coordinates locked before stay at their values to the bit.
            let was_held = |k: usize| match &turns {
                Some(t) if k >= t.start => before.speeds.contains(&t.start),
                _ => before.speeds.contains(&k),
            };
            let q = q.iter().enumerate().map(|(k, now)| if was_held(k) { before.q[k] } else { *now }).collect();
            status.hold = Some(Hold { speeds, q });
        }
        (self.imposes, self.is_changed) = (true, true);
        None
    }

    fn unlock(&mut self, id: JointId) -> Option<String> {
        let joint = self.joint(id);
        let q = self.coordinates(joint);
        let status = self.topology.joint_mut(self.scene, id);
        let held = status.hold.take();
        let was_locked = held.is_some() || !status.spins.is_empty();
        status.spins.clear();
        if !was_locked || joint.is_absent {
            return Some(format!("joint `{}` was not locked", joint.name));
        }
        // A motion that the lock had interrupted goes on from where the joint is.
        let was_held = |k: usize| held.as_ref().is_some_and(|h| h.speeds.contains(&k));
        if joint.kind() == self.scene.joints()[id.index()].kind() {
            self.imposes |= start_motions(self.scene, status, id, self.situation.time, &q, was_held);
        }
        self.is_changed = true;
        None
    }

    fn change(&mut self, id: JointId, to: JointType, axes: &Option<Mat3>) -> Option<String> {
        let joint = self.joint(id);
        if joint.is_absent {
            return Some(format!("joint `{}` does not exist: there is nothing to change", joint.name));
        }
        if joint.joint_type == to && axes.is_none() {
            return Some(format!("joint `{}` was {} already", joint.name, to.kind.name()));
        }
        let old = (joint.parent_frame, joint.child_frame);
        let kept = axes.is_none().then(|| self.fitted(joint, to, &old)).filter(|f| f.length.max(f.angle) <= GAP);
        let (frames, alignment) = match kept {
            Some(fitted) => (fitted.frames, joint.alignment),
            None => {
                let alignment = axes.unwrap_or_else(Mat3::identity);
                let rotation = joint.child_frame.rotation * joint.alignment.transpose() * alignment;
                let child_frame = Pose::new(rotation, joint.child_frame.translation);
                let poses = (self.situation.pose(joint.parent), self.situation.pose(joint.child));
                (place(Placement::AtChild, &poses.0, &poses.1, (old.0, child_frame)), alignment)
            }
        };
        let q = self.fitted(joint, to, &frames).q;
        let status = self.topology.joint_mut(self.scene, id);
        status.form = Some(Form::new(to, &frames.0, &frames.1, &alignment));
        status.hold = None;
        status.spins.clear();
        if to.kind == self.scene.joints()[id.index()].kind() {
            start_motions(self.scene, status, id, self.situation.time, &q, |_| true);
        }
        (self.imposes, self.is_structural, self.is_changed) = (true, true, true);
        None
    }

    /// A joint of a type with these frames, put where its bodies are.
    fn fitted(&self, joint: &Joint, joint_type: JointType, frames: &(Pose, Pose)) -> Fitted {
        let between = self.situation.between(joint, frames);
        let mut q = vec![0.0; joint_type.kind.n_q()];
        joint_type.neutral(&mut q);
        joint_type.find_coordinates(&between, &mut q);
        let found = joint_type.pose(&q);
        let length = (found.translation - between.translation).norm() / self.scene.characteristic_length();
        let angle = Quaternion::from_matrix(&(between.rotation * found.rotation.transpose())).log().norm();
        // Within rounding the frames fit as they are; a little more is taken up by the parent's, so that no body moves.
        let fits = length.max(angle) <= ROUNDING;
        let frames = if fits { *frames } else { (frames.0 * between * found.inverse(), frames.1) };
        Fitted { length, angle, frames, q }
    }

    fn attach(&mut self, id: JointId) -> Result<Option<String>, EditError> {
        let joint = self.joint(id);
        if !joint.is_absent {
            return Ok(Some(format!("joint `{}` was attached already", joint.name)));
        }
        let given = &self.scene.joints()[id.index()];
        let poses = (self.situation.pose(joint.parent), self.situation.pose(joint.child));
        let frames = place(given.placement, &poses.0, &poses.1, (joint.parent_frame, joint.child_frame));
        let Fitted { length, angle, frames, q } = self.fitted(joint, joint.joint_type, &frames);
        if length.max(angle) > GAP || (length + angle).is_nan() {
            return Err(EditError::Gap { joint: joint.name.clone(), length, angle });
        }
        let status = self.topology.joint_mut(self.scene, id);
        status.is_present = true;
        if frames != (joint.parent_frame, joint.child_frame) {
            status.form = Some(Form::new(joint.joint_type, &frames.0, &frames.1, &joint.alignment));
        }
        if joint.kind() == given.kind() {
            start_motions(self.scene, status, id, self.situation.time, &q, |_| true);
        }
        (self.imposes, self.is_structural, self.is_changed) = (true, true, true);
        Ok(None)
    }

    fn release(&mut self, id: JointId) -> Option<String> {
        let joint = self.joint(id);
        if joint.is_absent {
            return Some(format!("joint `{}` does not exist: there is nothing to release", joint.name));
        }
        let status = self.topology.joint_mut(self.scene, id);
        status.is_present = false;
        status.hold = None;
        status.spins.clear();
        (self.is_structural, self.is_changed) = (true, true);
        None
    }

    /// Whether a coupling acts, as changed so far.
    fn is_engaged(&self, id: CouplingId) -> bool {
        let is_present = self.topology.couplings.get(&id.0).map(|status| status.is_present);
        is_present.unwrap_or(!self.scene.couplings()[id.index()].is_absent)
    }

    fn engage(&mut self, id: CouplingId, given: &[(&'static str, f64)]) -> Result<Option<String>, EditError> {
        let coupling = &self.scene.couplings()[id.index()];
        let name = || coupling.name.clone();
        if self.is_engaged(id) {
            return Ok(Some(format!("coupling `{}` was engaged already", coupling.name)));
        }
        let joints = self.now.joints();
        let is_gone =
            |j: JointId| self.topology.joints.get(&j.0).map_or(joints[j.index()].is_absent, |s| !s.is_present);
        let lacks = |j: &JointId| {
            let CouplingKind::Coupler(terms) = &coupling.kind else { return false };
            let straight = joints[j.index()].kind().quaternion_at().unwrap_or(joints[j.index()].kind().n_v());
            is_gone(*j) || terms.iter().any(|t| t.joint == *j && t.coordinate >= straight)
        };
        if let Some(j) = coupling.kind.joints().find(lacks) {
            let joint = &joints[j.index()].name;
            return Ok(Some(format!(
                "coupling `{}` needs a coordinate that joint `{joint}` does not have now",
                coupling.name
            )));
        }
        let place = Place { poses: self.situation.poses, joint_q: self.situation.joint_q, joints };
        let found = coupling.kind.values(&place);
        let mut held = Vec::with_capacity(found.len());
        for (row, value) in found.into_iter().enumerate() {
            let key = coupling.keys[row];
            let told = given.iter().find(|(k, _)| *k == key).map(|(_, x)| *x).or(coupling.given[row]);
            let wanted = told.unwrap_or(value);
            // As a joint must fit where it is attached; a relation between coordinates is measured by the coordinates themselves.
            let size = self.coupling_size(&coupling.kind);
            if (value - wanted).abs() > GAP * size || !value.is_finite() {
                return Err(EditError::CouplingGap { coupling: name(), key, found: value, wanted });
            }
            if coupling.kind.is_radius(row) && (value <= 0.0 || wanted <= 0.0) {
                return Err(EditError::NoDirection { coupling: name() });
            }
            held.push(wanted);
        }
        self.topology.engage(id, held);
        (self.imposes, self.is_changed) = (true, true);
        Ok(None)
    }

    /// What a misfit of a coupling is compared with.
    fn coupling_size(&self, kind: &CouplingKind) -> f64 {
        let length = self.scene.characteristic_length();
        let CouplingKind::Coupler(terms) = kind else { return length };
        terms.iter().fold(0.0, |m: f64, t| {
            let joint = &self.now.joints()[t.joint.index()];
            let unit = if joint.kind().is_length(t.coordinate) { length } else { 1.0 };
            m.max(t.ratio.abs() * unit.max(self.situation.joint_q[joint.q.start + t.coordinate].abs()))
        })
    }

    fn disengage(&mut self, id: CouplingId) -> Option<String> {
        if !self.is_engaged(id) {
            return Some(format!("coupling `{}` was not engaged", self.scene.couplings()[id.index()].name));
        }
        self.topology.disengage(id);
        self.is_changed = true;
        None
    }

    /// Disengages what uses coordinates of a joint that goes or becomes another.
    fn uncouple(&mut self, joint: JointId) -> Vec<String> {
        let mut notes = Vec::new();
        for (c, coupling) in self.scene.couplings().iter().enumerate() {
            let id = CouplingId(c as u32);
            if self.is_engaged(id) && coupling.kind.joints().any(|j| j == joint) {
                self.topology.disengage(id);
                notes.push(format!("coupling `{}` goes with joint `{}`", coupling.name, self.joint(joint).name));
            }
        }
        notes
    }

    fn switch_motor(&mut self, id: JointId, motor: usize, on: bool) -> Option<String> {
        let joint = self.joint(id);
        let q = self.coordinates(joint);
        let given = &self.scene.joints()[id.index()];
        let Some(compiled) = given.fittings.motors.get(motor) else {
            return Some(format!("joint `{}` has no motor {motor}", joint.name));
        };
        let time = self.situation.time;
        let status = self.topology.joint_mut(self.scene, id);
        let was_on = !status.motors_off.contains(&(motor as u32));
        if was_on == on {
            return Some(format!("motor {motor} of joint `{}` was so already", joint.name));
        }
        if !on {
            status.motors_off.insert(motor as u32);
        } else {
            status.motors_off.remove(&(motor as u32));
            if compiled.kind == MotorKind::Motion && joint.kind() == given.kind() && !joint.is_absent {
                let [x, ..] = compiled.signal.at(Instant::now(time));
                status.shifts.insert(motor as u32, q[compiled.coordinate] - x);
                self.imposes = true;
            }
        }
        self.is_changed = true;
        None
    }
}
