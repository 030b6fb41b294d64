//! Joints and what acts in them.

use super::direction::{image_of_x, perpendicular, unit};
use super::{Break, FrameRef, Signal};
use nalgebra::Vector3;
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
    /// Lower limit of each coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<PerCoordinate>,
    /// Upper limit of each coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<PerCoordinate>,
    /// Coefficient of restitution of the limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
    /// Largest dry friction on each speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<PerCoordinate>,
    /// Dry friction on each speed per size of the force that the joint transmits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction_load: Option<PerCoordinate>,
    /// Actuators.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub motor: Vec<Motor>,
    /// Whether the joint waits for an event that attaches it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// Loads at which it breaks.
    #[serde(rename = "break", skip_serializing_if = "Option::is_none")]
    pub breaks: Option<Break>,
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

impl Joint {
    /// Unit vectors along the first axis and, perpendicular to it, the second, in the joint frame.
    ///
    /// The first axis is z unless given (x for a universal joint). The second is y for a universal joint unless given;
    /// for other kinds, unless given, it is where the smallest rotation that takes z to the first axis takes x (so x
    /// itself for the axis z, and, to have an answer, for −z). A second axis that is perpendicular only to rounding is
    /// made so exactly. An axis without direction counts as not given: [`validate`](super::validate::validate)
    /// refuses it.
    pub fn axes(&self) -> (Vector3<f64>, Vector3<f64>) {
        let default = if self.kind == JointKind::Universal { Vector3::x() } else { Vector3::z() };
        let first = self.axis.and_then(unit).unwrap_or(default);
        let second = match self.axis2.and_then(unit) {
            Some(given) => perpendicular(&first, &given),
            None if self.kind == JointKind::Universal => perpendicular(&first, &Vector3::y()),
            None => image_of_x(&first),
        };
        (first, second)
    }
}

impl JointKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Fixed,
        Self::Revolute,
        Self::Prismatic,
        Self::Screw,
        Self::Cylindrical,
        Self::Universal,
        Self::Spherical,
        Self::Planar,
        Self::Free,
    ];

    /// Its name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Revolute => "revolute",
            Self::Prismatic => "prismatic",
            Self::Screw => "screw",
            Self::Cylindrical => "cylindrical",
            Self::Universal => "universal",
            Self::Spherical => "spherical",
            Self::Planar => "planar",
            Self::Free => "free",
        }
    }

    /// Number of coordinates.
    ///
    /// Revolute and screw: the angle. Prismatic: the distance. Cylindrical: angle, distance. Universal: the two
    /// angles. Spherical: the quaternion w x y z. Planar: x, y, angle. Free: position, quaternion w x y z.
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

    /// Number of speeds: the rates of the coordinates, except that rotations by quaternion have the child's angular
    /// velocity relative to the parent, in the axes of the child's joint frame.
    pub const fn n_v(self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute | Self::Prismatic | Self::Screw => 1,
            Self::Cylindrical | Self::Universal => 2,
            Self::Spherical | Self::Planar => 3,
            Self::Free => 6,
        }
    }

    /// Where the quaternion starts among the coordinates, for kinds that have one. Speeds from there on are rotational.
    pub fn quaternion_at(self) -> Option<usize> {
        match self {
            Self::Spherical => Some(0),
            Self::Free => Some(3),
            _ => None,
        }
    }

    /// Whether a coordinate is a length, and its speed a velocity; others are angles, or parts of a quaternion.
    pub const fn is_length(self, coordinate: usize) -> bool {
        match self {
            Self::Prismatic => true,
            Self::Cylindrical => coordinate == 1,
            Self::Planar => coordinate < 2,
            Self::Free => coordinate < 3,
            Self::Fixed | Self::Revolute | Self::Screw | Self::Universal | Self::Spherical => false,
        }
    }

    /// Whether the kind has an axis.
    pub fn has_axis(self) -> bool {
        !matches!(self, Self::Fixed | Self::Spherical | Self::Free)
    }

    /// Whether the kind has a second axis.
    pub fn has_axis2(self) -> bool {
        matches!(self, Self::Universal | Self::Planar)
    }
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
        /// Largest force, either way; none unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<f64>,
        /// Whether the force that holds what the joint carries against gravity is added.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        compensate_gravity: bool,
    },
    /// force = damping · (target − v).
    Velocity {
        /// Which speed of the joint it drives.
        #[serde(default)]
        coordinate: usize,
        /// Wanted speed as a function of time.
        target: Signal,
        /// Gain.
        damping: f64,
        /// Largest force, either way; none unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<f64>,
        /// Whether the force that holds what the joint carries against gravity is added.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        compensate_gravity: bool,
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
