//! Joints and what acts in them.

use super::{FrameRef, Signal};
use serde::{Deserialize, Serialize};

/// A joint between two bodies, or between the ground and a body.
///
/// A joint frame sits on each body; the joint's coordinates describe the child's joint frame as seen from the parent's.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Joint {
    /// Unique among joints.
    pub name: String,
    /// What the joint allows.
    pub kind: JointKind,
    /// Name of the body the coordinates are counted from.
    pub parent: String,
    /// Name of the body the coordinates move.
    pub child: String,
    /// Joint frame on the parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_frame: Option<FrameRef>,
    /// Joint frame on the child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child_frame: Option<FrameRef>,
    /// Instead of the two frames: a world point, with both bodies at their reference poses; joint axes are then world axes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<[f64; 3]>,
    /// Joint axis in the joint frame: of rotation, of sliding, of the plane's normal; z unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// Second axis, perpendicular to the first: fixed in the child (universal), first direction in the plane (planar).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis2: Option<[f64; 3]>,
    /// Advance per full turn of a screw joint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pitch: Option<f64>,
    /// Initial coordinates; see NOTATION.md for each kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<Vec<f64>>,
    /// Initial speeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub v: Option<Vec<f64>>,
    /// Linear spring on the coordinates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spring: Option<Spring>,
    /// Viscous damping of the speeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<PerCoordinate>,
    /// Reflected rotor inertia added to each speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub armature: Option<PerCoordinate>,
    /// Actuators.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub motor: Vec<Motor>,
}

/// The joint kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JointKind {
    /// No relative motion.
    #[default]
    Fixed,
    /// Rotation about one axis.
    Revolute,
    /// Translation along one axis.
    Prismatic,
    /// Rotation about an axis with proportional advance along it.
    Screw,
    /// Independent rotation about and translation along one axis.
    Cylindrical,
    /// Rotation about an axis of the parent, then about a perpendicular axis of the child.
    Universal,
    /// Any rotation.
    Spherical,
    /// Two translations in a plane and the rotation about its normal.
    Planar,
    /// Anything.
    Free,
}

/// One number for every coordinate alike, or one for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PerCoordinate {
    /// The same for each.
    All(f64),
    /// One for each speed of the joint.
    Each(Vec<f64>),
}

/// A linear joint spring: force = −stiffness · (coordinate − rest).
///
/// On a spherical joint, and on the rotation of a free one, the coordinate is the rotation vector from `rest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spring {
    /// Stiffness: one number, or one for each speed.
    pub stiffness: PerCoordinate,
    /// Coordinates (as many as `q`) at which the spring is at rest; zero (identity) unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Vec<f64>>,
}

/// An actuator on one coordinate of a joint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Motor {
    /// A given generalised force.
    Torque {
        /// Which speed of the joint it drives.
        #[serde(default)]
        coordinate: usize,
        /// The force (or torque) as a function of time.
        value: Signal,
    },
    /// force = stiffness · (target − q) + damping · (target′ − v).
    Servo {
        /// Which speed of the joint it drives.
        #[serde(default)]
        coordinate: usize,
        /// Wanted coordinate as a function of time.
        target: Signal,
        /// Proportional gain.
        stiffness: f64,
        /// Derivative gain.
        #[serde(default)]
        damping: f64,
    },
    /// The coordinate follows the signal exactly, whatever force that takes.
    Motion {
        /// Which speed of the joint it drives.
        #[serde(default)]
        coordinate: usize,
        /// The coordinate as a function of time.
        position: Signal,
    },
}

impl JointKind {
    /// Number of coordinates.
    pub const fn n_q(self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute | Self::Prismatic | Self::Screw => 1,
            Self::Cylindrical | Self::Universal => 2,
            Self::Planar => 3,
            Self::Spherical => 4,
            Self::Free => 7,
        }
    }

    /// Number of speeds.
    pub const fn n_v(self) -> usize {
        match self {
            Self::Spherical => 3,
            Self::Free => 6,
            _ => self.n_q(),
        }
    }
}
