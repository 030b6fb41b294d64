//! Events as numbers.

use super::{BodyId, CouplingId, JointId, Point};
use crate::scene::{Axes, EventKind, JointKind};
use crate::spatial::{Mat3, Pose, Vec3};

/// A compiled event.
#[derive(Debug, Clone)]
pub struct Event {
    /// Name.
    pub name: String,
    /// What happens.
    pub action: Action,
    /// When.
    pub trigger: Trigger,
    /// Whether this is a joint that breaks: it is watched again when the joint is attached again.
    pub is_break: bool,
    /// What reports call it: its kind in the scene, or a break.
    pub kind: &'static str,
}

/// When an event happens.
#[derive(Debug, Clone)]
pub enum Trigger {
    /// At a time.
    Time(f64),
    /// When a quantity passes a threshold.
    When(Condition),
    /// After another event.
    After {
        /// The other one.
        event: usize,
        /// How long after.
        delay: f64,
    },
}

/// A quantity and its threshold.
#[derive(Debug, Clone)]
pub struct Condition {
    /// The quantity.
    pub quantity: Quantity,
    /// True above the threshold, or below it.
    pub is_above: bool,
    /// The threshold.
    pub threshold: f64,
    /// Where the quantity must come back to before the event can happen again.
    pub rearm: Option<f64>,
}

/// What a condition looks at.
#[derive(Debug, Clone)]
pub enum Quantity {
    /// A coordinate.
    Coordinate(JointId, usize),
    /// A speed.
    Speed(JointId, usize),
    /// Distance of two points.
    Distance(Point, Point),
    /// Kinetic energy.
    KineticEnergy,
    /// Kinetic and potential energy.
    Energy,
    /// Size of a joint's force.
    Force(JointId),
    /// Size of a joint's moment.
    Moment(JointId),
    /// Size of a coupling's force.
    CouplingForce(CouplingId),
    /// Size of a coupling's impulse at an event.
    CouplingImpulse(CouplingId),
    /// Force of locks, motions and motors on a speed.
    Drive(JointId, usize),
    /// Size of a joint's impulse at an event.
    Impulse(JointId),
    /// Size of a joint's moment impulse at an event.
    MomentImpulse(JointId),
    /// Force between two bodies, none for the ground.
    ContactForce([Option<BodyId>; 2]),
    /// Impulse of a strike between two bodies.
    ContactImpulse([Option<BodyId>; 2]),
}

/// What an event does.
#[derive(Debug, Clone)]
pub enum Action {
    /// Locks joints.
    Lock {
        /// Which.
        joints: Vec<JointId>,
        /// What of them.
        what: Lock,
    },
    /// Unlocks joints.
    Unlock(Vec<JointId>),
    /// Makes a joint another kind.
    Change {
        /// Which.
        joint: JointId,
        /// New kind.
        kind: JointKind,
        /// Advance per radian of a screw.
        lead: f64,
        /// Axes of the canonical joint frame in the user's joint frame; none where the event gives none.
        axes: Option<Mat3>,
    },
    /// Makes joints exist.
    Attach(Vec<JointId>),
    /// Makes joints not exist.
    Release(Vec<JointId>),
    /// Makes couplings act. What they hold is what is given here, or else in the scene, or else what they find.
    Engage {
        /// Which.
        couplings: Vec<CouplingId>,
        /// What they hold: keys of the scene format, and values.
        held: Vec<(&'static str, f64)>,
    },
    /// Makes couplings not act.
    Disengage(Vec<CouplingId>),
    /// Switches a load.
    SwitchForce {
        /// Which.
        force: usize,
        /// On or off.
        on: bool,
    },
    /// Switches a motor.
    SwitchMotor {
        /// Of which joint.
        joint: JointId,
        /// Which of its motors.
        motor: usize,
        /// On or off.
        on: bool,
    },
    /// Strikes a body.
    Impulse {
        /// Where.
        at: Point,
        /// Force times time.
        vector: Vec3,
        /// Moment times time.
        moment: Vec3,
        /// In which axes.
        axes: Axes,
    },
}

/// What of a joint is locked.
#[derive(Debug, Clone, PartialEq)]
pub enum Lock {
    /// Everything.
    All,
    /// Some coordinates.
    Coordinates(Vec<usize>),
    /// The rotation about an axis of one of its bodies.
    Axis {
        /// The body; none for the ground.
        body: Option<BodyId>,
        /// The axis in the body's frame.
        axis: Vec3,
    },
}

/// How an absent joint finds its place when it is attached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Placement {
    /// Both frames are given and must fit.
    Given,
    /// The parent's frame goes where the child's is.
    AtChild,
    /// The child's frame goes where the parent's is.
    AtParent,
}

impl Condition {
    /// How far past the threshold a value is; negative where the condition is false.
    pub fn excess(&self, value: f64) -> f64 {
        if self.is_above { value - self.threshold } else { self.threshold - value }
    }

    /// Whether a value has come back far enough for the event to happen again.
    pub fn is_back(&self, value: f64) -> bool {
        self.rearm.is_some_and(|r| if self.is_above { value <= r } else { value >= r })
    }

    /// Whether it looks at forces.
    pub fn needs_forces(&self) -> bool {
        matches!(
            self.quantity,
            Quantity::Force(_) | Quantity::Moment(_) | Quantity::Drive(..) | Quantity::CouplingForce(_)
        )
    }

    /// Whether it looks at contacts, which are known at the end of a step and not inside.
    pub fn is_of_contact(&self) -> bool {
        matches!(self.quantity, Quantity::ContactForce(_) | Quantity::ContactImpulse(_))
    }

    /// Whether it looks at what happens at events only.
    pub fn is_of_impulse(&self) -> bool {
        matches!(self.quantity, Quantity::Impulse(_) | Quantity::MomentImpulse(_) | Quantity::CouplingImpulse(_))
    }
}

impl Action {
    /// Kind in the words of the scene.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Lock { .. } => EventKind::Lock,
            Self::Unlock(_) => EventKind::Unlock,
            Self::Change { .. } => EventKind::Change,
            Self::Attach(_) => EventKind::Attach,
            Self::Release(_) | Self::Disengage(_) => EventKind::Release,
            Self::Engage { .. } => EventKind::Engage,
            Self::SwitchForce { .. } | Self::SwitchMotor { .. } => EventKind::Switch,
            Self::Impulse { .. } => EventKind::Impulse,
        }
    }

    /// Locks a joint.
    pub fn lock(joint: JointId) -> Self {
        Self::Lock { joints: vec![joint], what: Lock::All }
    }

    /// Unlocks a joint.
    pub fn unlock(joint: JointId) -> Self {
        Self::Unlock(vec![joint])
    }

    /// Attaches an absent joint.
    pub fn attach(joint: JointId) -> Self {
        Self::Attach(vec![joint])
    }

    /// Releases a joint.
    pub fn release(joint: JointId) -> Self {
        Self::Release(vec![joint])
    }

    /// Engages a coupling where it is.
    pub fn engage(coupling: CouplingId) -> Self {
        Self::Engage { couplings: vec![coupling], held: Vec::new() }
    }

    /// Releases a coupling.
    pub fn disengage(coupling: CouplingId) -> Self {
        Self::Disengage(vec![coupling])
    }

    /// Changes a joint's kind. It keeps its frames where the new kind allows its present pose with them.
    pub fn change(joint: JointId, kind: JointKind) -> Self {
        Self::Change { joint, kind, lead: 0.0, axes: None }
    }

    /// An impulse on a body at a point of it, world axes.
    pub fn impulse(body: BodyId, position: Vec3, vector: Vec3) -> Self {
        let at = Point { body: Some(body), position };
        Self::Impulse { at, vector, moment: Vec3::zeros(), axes: Axes::World }
    }

    /// Whether two actions on the same joint, load or motor can happen at one time: they want the same, or locks that add up.
    pub fn goes_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Change { kind: a, lead: b, axes: c, .. }, Self::Change { kind: x, lead: y, axes: z, .. }) => {
                (a, b, c) == (x, y, z)
            }
            (Self::SwitchForce { on: a, .. }, Self::SwitchForce { on: b, .. })
            | (Self::SwitchMotor { on: a, .. }, Self::SwitchMotor { on: b, .. }) => a == b,
            (Self::Engage { held: a, .. }, Self::Engage { held: b, .. }) => a == b,
            _ => self.kind() == other.kind(),
        }
    }

    /// Joints that it changes.
    pub fn joints(&self) -> &[JointId] {
        match self {
            Self::Lock { joints, .. } | Self::Unlock(joints) | Self::Attach(joints) | Self::Release(joints) => joints,
            Self::Change { joint, .. } => std::slice::from_ref(joint),
            _ => &[],
        }
    }

    /// Couplings that it changes.
    pub fn couplings(&self) -> &[CouplingId] {
        match self {
            Self::Engage { couplings, .. } | Self::Disengage(couplings) => couplings,
            _ => &[],
        }
    }
}

/// Frames of a joint that is placed where its bodies are: given the poses of its bodies and the frames it has.
pub fn place(placement: Placement, parent: &Pose, child: &Pose, frames: (Pose, Pose)) -> (Pose, Pose) {
    match placement {
        Placement::Given => frames,
        Placement::AtChild => (parent.inverse() * (*child * frames.1), frames.1),
        Placement::AtParent => (frames.0, child.inverse() * (*parent * frames.0)),
    }
}
