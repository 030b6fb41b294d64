//! The compiled scene: bodies, joints and loads as numbers, immutable.

mod build;
mod build_contact;
mod build_event;
mod build_laws;
mod contact;
mod coupling;
pub mod event;
mod force;
pub mod ids;
pub mod joint;
mod laws;
mod signal;
pub mod topology;

pub use build::ModelError;
pub use contact::{Form, PairRule, Rules, Shape};
pub use coupling::{CoupledCoordinate, Coupling, CouplingKind, Place};
pub use event::Event;
pub use force::{Force, ForceKind, Point, Push, SpringDamper, Torque};
pub use ids::{BodyId, CouplingId, JointId};
pub use laws::PairLaws;
pub use signal::{Instant, Signal};
pub use topology::{SpinLock, Topology};

use crate::scene::JointKind;
use crate::spatial::{Inertia, Mat3, Pose, Sym3, Vec3};
use joint::JointType;
use std::collections::BTreeSet;
use std::ops::Range;

/// A compiled scene. Order of bodies and joints is the scene's.
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) gravity: Vec3,
    pub(crate) bodies: Vec<Body>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) couplings: Vec<Coupling>,
    pub(crate) forces: Vec<Force>,
    pub(crate) markers: Vec<Marker>,
    pub(crate) events: Vec<Event>,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) laws: PairLaws,
    pub(crate) rules: Rules,
    pub(crate) spin_locks: Vec<SpinLock>,
    pub(crate) length: f64,
    pub(crate) n_q: usize,
    pub(crate) n_v: usize,
}

/// A rigid body in its own frame.
#[derive(Debug, Clone)]
pub struct Body {
    /// Name.
    pub name: String,
    /// Mass.
    pub mass: f64,
    /// Centre of mass in the body frame.
    pub com: Vec3,
    /// Moments about the centre of mass, body axes.
    pub central: Sym3,
    /// Whether the scene says where it is.
    pub is_placed: bool,
}

/// A joint with canonical frames (see [`joint`]).
#[derive(Debug, Clone)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// Kind and parameter.
    pub joint_type: JointType,
    /// Parent; none for the ground.
    pub parent: Option<BodyId>,
    /// Child; none for the ground.
    pub child: Option<BodyId>,
    /// Joint frame in the parent's body frame.
    pub parent_frame: Pose,
    /// Joint frame in the child's body frame.
    pub child_frame: Pose,
    /// Place of its coordinates among those of all joints, scene order.
    pub q: Range<usize>,
    /// Place of its speeds among those of all joints, scene order.
    pub v: Range<usize>,
    /// Room for its coordinates, whatever kind events make it.
    pub q_slot: Range<usize>,
    /// Room for its speeds.
    pub v_slot: Range<usize>,
    /// Axes of the canonical joint frames in the user's joint frames.
    pub alignment: Mat3,
    /// Whether a spanning tree should run through it, because the scene gives it a rotor or a motion. Locks and switches do not
    /// change it: the tree depends only on which joints there are and of which kinds.
    pub wants_tree: bool,
    /// Whether it does not exist now.
    pub is_absent: bool,
    /// How it finds its place when it is attached.
    pub placement: event::Placement,
    /// Springs, dampers, rotors and motors.
    pub fittings: Fittings,
}

/// What acts inside a joint, per speed.
#[derive(Debug, Clone, Default)]
pub struct Fittings {
    /// Spring stiffness of each speed's coordinate; empty without springs.
    pub stiffness: Vec<f64>,
    /// Coordinates at which springs rest (as many as coordinates); empty without springs.
    pub rest: Vec<f64>,
    /// Viscous damping; empty without.
    pub damping: Vec<f64>,
    /// Rotor inertia; empty without.
    pub armature: Vec<f64>,
    /// Motors.
    pub motors: Vec<Motor>,
    /// Lower limits of the coordinates, −∞ where there is none; empty without limits.
    pub lower: Vec<f64>,
    /// Upper limits of the coordinates, ∞ where there is none; empty without limits.
    pub upper: Vec<f64>,
    /// Coefficient of restitution of the limits.
    pub restitution: f64,
    /// Largest dry friction on each speed; empty without.
    pub friction: Vec<f64>,
    /// Dry friction per size of the force that the joint transmits; empty without.
    pub friction_load: Vec<f64>,
    /// Speeds that are locked; each has a motor that stands still.
    pub held: BTreeSet<usize>,
    /// Coordinates at which they are locked.
    pub held_q: Vec<f64>,
}

impl Fittings {
    /// Nothing, for a joint of a kind.
    pub fn none(kind: JointKind) -> Self {
        let mut rest = vec![0.0; kind.n_q()];
        JointType { kind, lead: 0.0 }.neutral(&mut rest);
        Self { rest, ..Self::default() }
    }

    /// Whether some coordinate follows a prescribed motion; locks do not count.
    pub fn has_motion(&self) -> bool {
        self.motors.iter().any(|m| matches!(m.kind, MotorKind::Motion) && !self.held.contains(&m.coordinate))
    }

    /// Whether a spring, a damper or a servo acts.
    pub fn is_elastic(&self) -> bool {
        let is_servo = |m: &Motor| m.kind.servo().is_some();
        !(self.stiffness.is_empty() && self.damping.is_empty()) || self.motors.iter().any(is_servo)
    }

    /// Whether a servo holds what the joint carries.
    pub fn compensates_gravity(&self) -> bool {
        self.motors.iter().any(|m| m.kind.servo().is_some_and(|s| s.compensates_gravity))
    }

    /// The prescribed motion of one coordinate.
    pub fn motion(&self, coordinate: usize) -> Option<&Signal> {
        let is_motion = |m: &&Motor| m.coordinate == coordinate && matches!(m.kind, MotorKind::Motion);
        self.motors.iter().find(is_motion).map(|m| &m.signal)
    }
}

/// A motor on one coordinate.
#[derive(Debug, Clone)]
pub struct Motor {
    /// Which speed of the joint.
    pub coordinate: usize,
    /// What it does with the signal.
    pub kind: MotorKind,
    /// Force, target or position.
    pub signal: Signal,
}

/// What a motor does with its signal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MotorKind {
    /// The signal is the force.
    Torque,
    /// The signal is the wanted coordinate.
    Servo {
        /// Force per error.
        stiffness: f64,
        /// Force per error rate.
        damping: f64,
        /// Largest force, either way.
        limit: f64,
        /// Whether the weight that the joint carries is held besides.
        compensates_gravity: bool,
    },
    /// The signal is the wanted speed.
    Velocity {
        /// Force per error.
        damping: f64,
        /// Largest force, either way.
        limit: f64,
        /// Whether the weight that the joint carries is held besides.
        compensates_gravity: bool,
    },
    /// The signal is the coordinate.
    Motion,
}

/// What a servo does, whether it follows a coordinate or a speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Servo {
    /// Force per error of the coordinate.
    pub stiffness: f64,
    /// Force per error of the speed.
    pub damping: f64,
    /// Largest force, either way.
    pub limit: f64,
    /// Whether the weight that the joint carries is held besides.
    pub compensates_gravity: bool,
}

impl MotorKind {
    /// The servo that it is, if it is one.
    pub fn servo(&self) -> Option<Servo> {
        match *self {
            Self::Servo { stiffness, damping, limit, compensates_gravity } => {
                Some(Servo { stiffness, damping, limit, compensates_gravity })
            }
            Self::Velocity { damping, limit, compensates_gravity } => {
                Some(Servo { stiffness: 0.0, damping, limit, compensates_gravity })
            }
            Self::Torque | Self::Motion => None,
        }
    }
}

impl Motor {
    /// Coordinate and speed that a servo wants now; no coordinate of one that follows a speed.
    pub fn wanted(&self, now: Instant) -> [f64; 2] {
        let [value, rate, _] = self.signal.at(now);
        if matches!(self.kind, MotorKind::Velocity { .. }) { [0.0, value] } else { [value, rate] }
    }
}

/// A point whose path is recorded.
#[derive(Debug, Clone)]
pub struct Marker {
    /// Name.
    pub name: String,
    /// Where it sits.
    pub point: Point,
}

impl Body {
    /// Inertia about the origin of a frame fixed in the body, in that frame's axes.
    pub fn inertia_in(&self, frame: &Pose) -> Inertia {
        let body = frame.inverse();
        Inertia::from_central(self.mass, body.point(&self.com), &self.central.rotated(&body.rotation))
    }
}

impl Joint {
    /// Kind.
    pub fn kind(&self) -> JointKind {
        self.joint_type.kind
    }

    /// Coordinates at which the rotation of a kind with a quaternion is locked, if it is.
    pub fn held_rotation(&self) -> Option<&[f64]> {
        let (_, iv) = self.joint_type.quaternion()?;
        self.fittings.held.contains(&iv).then_some(&self.fittings.held_q)
    }
}

impl Model {
    /// Uniform gravitational acceleration.
    pub fn gravity(&self) -> Vec3 {
        self.gravity
    }

    /// Bodies in the scene's order, the ground left out.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Joints in the scene's order.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Couplings in the scene's order.
    pub fn couplings(&self) -> &[Coupling] {
        &self.couplings
    }

    /// Number of conditions of all couplings of the scene.
    pub fn n_coupling_rows(&self) -> usize {
        self.couplings.last().map_or(0, |c| c.rows.end)
    }

    /// Lets couplings that act from the start hold what they have there, where the scene does not say what they hold.
    pub(crate) fn settle_couplings(&mut self, poses: &[Pose], joint_q: &[f64]) -> Result<(), ModelError> {
        let place = Place { poses, joint_q, joints: &self.joints };
        for (i, coupling) in self.couplings.iter_mut().enumerate().filter(|(_, c)| !c.is_absent) {
            for (row, value) in coupling.kind.values(&place).into_iter().enumerate() {
                let held = *coupling.held[row].get_or_insert(value);
                if coupling.kind.is_radius(row) && (value <= 0.0 || held <= 0.0) {
                    let message = "its ends lie in one place, so that it has no direction; join them by a joint";
                    return Err(ModelError::new(format!("coupling[{i}]"), message));
                }
            }
        }
        Ok(())
    }

    /// Applied loads.
    pub fn forces(&self) -> &[Force] {
        &self.forces
    }

    /// Events.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Shapes and contact points: those of the ground first, then body by body.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Friction and restitution of pairs of shapes.
    pub fn laws(&self) -> &PairLaws {
        &self.laws
    }

    /// Which pairs touch.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Axes about which joints may not turn.
    pub fn spin_locks(&self) -> &[SpinLock] {
        &self.spin_locks
    }

    /// Recorded points.
    pub fn markers(&self) -> &[Marker] {
        &self.markers
    }

    /// A length that stands for the mechanism's size: over all bodies, the farthest joint or spring end from the centre of
    /// mass, or the radius of gyration if that is larger.
    pub fn characteristic_length(&self) -> f64 {
        self.length
    }

    /// Number of coordinates of all joints of the scene.
    pub fn n_joint_q(&self) -> usize {
        self.n_q
    }

    /// Number of speeds of all joints of the scene.
    pub fn n_joint_v(&self) -> usize {
        self.n_v
    }

    /// Total mass.
    pub fn mass(&self) -> f64 {
        self.bodies.iter().map(|b| b.mass).sum()
    }
}
