//! What events have made of a mechanism: the difference from the scene, small enough to be part of the state.

use super::joint::JointType;
use super::{BodyId, CouplingId, Fittings, Joint, JointId, Model, Motor, MotorKind, Signal};
use crate::scene::JointKind;
use crate::spatial::{Mat3, Pose, Vec3};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Locks, added and missing joints, switched loads. Empty at the start of a scene.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// Number of changes so far.
    pub version: u64,
    /// Joints that are not as the scene has them.
    pub joints: BTreeMap<u32, JointStatus>,
    /// Loads that are switched off.
    pub forces_off: BTreeSet<u32>,
    /// Couplings that are not as the scene has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub couplings: BTreeMap<u32, CouplingStatus>,
}

/// A coupling that is not as the scene has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CouplingStatus {
    /// Whether it acts.
    pub is_present: bool,
    /// What its conditions hold; empty where it does not act.
    pub held: Vec<f64>,
}

/// A joint that is not as the scene has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointStatus {
    /// Whether the joint exists.
    pub is_present: bool,
    /// Its kind and frames, where an event has set them.
    pub form: Option<Form>,
    /// Coordinates that are locked.
    pub hold: Option<Hold>,
    /// Axes about which it may not turn.
    pub spins: Vec<Spin>,
    /// Motors that are switched off.
    pub motors_off: BTreeSet<u32>,
    /// How far motions that were switched on later are shifted from their signals.
    pub shifts: BTreeMap<u32, f64>,
}

/// Kind and frames of a joint.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// Kind.
    pub kind: JointKind,
    /// Advance per radian of a screw.
    pub lead: f64,
    /// Joint frame in the parent: axes by columns, then origin.
    pub parent_frame: [f64; 12],
    /// Joint frame in the child.
    pub child_frame: [f64; 12],
    /// Axes of these frames in the user's joint frames, by columns.
    pub alignment: [f64; 9],
}

/// Locked coordinates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// Which speeds are zero.
    pub speeds: BTreeSet<usize>,
    /// All coordinates of the joint when it was locked.
    pub q: Vec<f64>,
}

/// An axis about which a joint may not turn: a condition on velocities that no coordinate shows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spin {
    /// Direction in the joint frame of the body in which it is fixed.
    pub axis: [f64; 3],
    /// Whether that is the parent.
    pub on_parent: bool,
}

/// A [`Spin`] of a joint of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpinLock {
    /// The joint.
    pub joint: JointId,
    /// Direction in the joint frame of the body in which it is fixed.
    pub axis: Vec3,
    /// Whether that is the parent.
    pub on_parent: bool,
}

fn to_array(pose: &Pose) -> [f64; 12] {
    std::array::from_fn(|i| if i < 9 { pose.rotation[i] } else { pose.translation[i - 9] })
}

fn from_array(a: &[f64; 12]) -> Pose {
    Pose::new(Mat3::from_column_slice(&a[..9]), Vec3::new(a[9], a[10], a[11]))
}

impl Form {
    /// Of a joint.
    pub fn new(joint_type: JointType, parent_frame: &Pose, child_frame: &Pose, alignment: &Mat3) -> Self {
        let (parent_frame, child_frame) = (to_array(parent_frame), to_array(child_frame));
        let alignment = std::array::from_fn(|i| alignment[i]);
        Self { kind: joint_type.kind, lead: joint_type.lead, parent_frame, child_frame, alignment }
    }

    /// Its frames on the parent and on the child.
    pub fn frames(&self) -> (Pose, Pose) {
        (from_array(&self.parent_frame), from_array(&self.child_frame))
    }
}

impl Topology {
    /// The status of a joint, to be changed.
    pub fn joint_mut(&mut self, model: &Model, joint: JointId) -> &mut JointStatus {
        let is_present = !model.joints[joint.index()].is_absent;
        self.joints.entry(joint.0).or_insert_with(|| JointStatus {
            is_present,
            form: None,
            hold: None,
            spins: Vec::new(),
            motors_off: BTreeSet::new(),
            shifts: BTreeMap::new(),
        })
    }
}

impl Topology {
    /// Makes a coupling act, and hold these values.
    pub fn engage(&mut self, coupling: CouplingId, held: Vec<f64>) {
        self.couplings.insert(coupling.0, CouplingStatus { is_present: true, held });
    }

    /// Makes a coupling not act.
    pub fn disengage(&mut self, coupling: CouplingId) {
        self.couplings.insert(coupling.0, CouplingStatus { is_present: false, held: Vec::new() });
    }

    /// What of it cannot belong to a model; states come from files, too.
    pub fn find_fault(&self, model: &Model) -> Option<String> {
        if self.forces_off.iter().any(|&f| f as usize >= model.forces.len()) {
            return Some("it switches a load that the model does not have".to_owned());
        }
        let fits = |(&c, status): (&u32, &CouplingStatus)| match model.couplings.get(c as usize) {
            None => Some(format!("it changes coupling {c} of {}", model.couplings.len())),
            Some(coupling) => {
                let n = if status.is_present { coupling.rows.len() } else { 0 };
                let is_fine = status.held.len() == n && status.held.iter().all(|x| x.is_finite());
                (!is_fine).then(|| format!("what it says of coupling `{}` does not fit", coupling.name))
            }
        };
        if let Some(fault) = self.couplings.iter().find_map(fits) {
            return Some(fault);
        }
        self.joints.iter().find_map(|(&j, status)| match model.joints.get(j as usize) {
            None => Some(format!("it changes joint {j} of {}", model.joints.len())),
            Some(joint) => {
                (!status.fits(joint)).then(|| format!("what it says of joint `{}` does not fit", joint.name))
            }
        })
    }
}

impl JointStatus {
    fn fits(&self, joint: &Joint) -> bool {
        let kind = self.form.map_or(joint.kind(), |form| form.kind);
        let (n_q, n_v) = (kind.n_q(), kind.n_v());
        let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
        let form_fits = self.form.is_none_or(|f| {
            let (a, b) = f.frames();
            let is_turn = |p: &Pose| (p.rotation.transpose() * p.rotation - Mat3::identity()).amax() <= 1e-9;
            n_q <= joint.q_slot.len()
                && n_v <= joint.v_slot.len()
                && f.lead.is_finite()
                && finite(&f.parent_frame)
                && finite(&f.child_frame)
                && is_turn(&a)
                && is_turn(&b)
        });
        // A rotation by quaternion is locked as a whole or, about single axes, by `spins`.
        let turns = kind.quaternion_at().map(|start| start..start + 3);
        let hold_fits = self.hold.as_ref().is_none_or(|h| {
            let n_turns = turns.clone().map_or(0, |t| t.filter(|k| h.speeds.contains(k)).count());
            h.speeds.iter().all(|&k| k < n_v) && h.q.len() == n_q && finite(&h.q) && (n_turns == 0 || n_turns == 3)
        });
        let n_motors = joint.fittings.motors.len();
        let mut motors = self.motors_off.iter().chain(self.shifts.keys());
        form_fits
            && hold_fits
            && self.spins.iter().all(|s| turns.is_some() && finite(&s.axis))
            && motors.all(|&m| (m as usize) < n_motors)
            && self.shifts.values().all(|x| x.is_finite())
    }
}

impl Model {
    /// The scene's model as events have left it. Bodies, joints and loads keep their ids.
    pub fn revised(&self, topology: &Topology) -> Self {
        let mut model = self.clone();
        model.spin_locks.clear();
        for (&j, status) in &topology.joints {
            let Some(joint) = model.joints.get_mut(j as usize) else { continue };
            joint.revise(status);
            let spins = status.spins.iter().filter(|_| status.is_present);
            model.spin_locks.extend(spins.map(|s| SpinLock {
                joint: JointId(j),
                axis: Vec3::from(s.axis),
                on_parent: s.on_parent,
            }));
        }
        for (&c, status) in &topology.couplings {
            if let Some(coupling) = model.couplings.get_mut(c as usize) {
                coupling.is_absent = !status.is_present;
                if status.is_present {
                    coupling.held = status.held.iter().copied().map(Some).collect();
                }
            }
        }
        for &f in &topology.forces_off {
            if let Some(force) = model.forces.get_mut(f as usize) {
                force.is_on = false;
            }
        }
        model
    }

    /// Whether a body's pose is given by the scene, so that a floating mechanism is based on it.
    pub fn is_placed(&self, body: BodyId) -> bool {
        self.bodies[body.index()].is_placed
    }
}

impl Joint {
    fn revise(&mut self, status: &JointStatus) {
        self.is_absent = !status.is_present;
        if let Some(form) = &status.form {
            let (parent_frame, child_frame) = form.frames();
            (self.parent_frame, self.child_frame) = (parent_frame, child_frame);
            self.alignment = Mat3::from_column_slice(&form.alignment);
            if form.kind != self.kind() {
                // Springs, dampers, rotors and motors belong to the coordinates of a kind, and go with them.
                self.fittings = Fittings::none(form.kind);
            }
            self.joint_type = JointType { kind: form.kind, lead: form.lead };
            self.q.end = self.q.start + form.kind.n_q();
            self.v.end = self.v.start + form.kind.n_v();
        }
        let mut index = 0;
        self.fittings.motors.retain_mut(|motor| {
            if let Some(shift) = status.shifts.get(&index) {
                motor.signal = motor.signal.shifted(*shift);
            }
            index += 1;
            !status.motors_off.contains(&(index - 1))
        });
        if let Some(hold) = &status.hold {
            self.hold(hold);
        }
    }

    /// Makes locked coordinates follow a motion that stands still.
    fn hold(&mut self, hold: &Hold) {
        let is_held = |m: &Motor| m.kind == MotorKind::Motion && hold.speeds.contains(&m.coordinate);
        self.fittings.motors.retain(|m| !is_held(m));
        let straight = self.kind().quaternion_at().unwrap_or(usize::MAX);
        for &k in &hold.speeds {
            let value = if k < straight { hold.q[k] } else { 0.0 };
            self.fittings.motors.push(Motor {
                coordinate: k,
                kind: MotorKind::Motion,
                signal: Signal::Constant(value),
            });
        }
        self.fittings.held = hold.speeds.clone();
        self.fittings.held_q = hold.q.clone();
    }
}
