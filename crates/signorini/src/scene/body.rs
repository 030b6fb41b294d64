//! Bodies and the named frames fixed in them.

use super::{ContactPoint, Shape};
use serde::{Deserialize, Serialize};

/// A rigid body, described in its own body frame.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Body {
    /// Unique among bodies; `ground` is the immovable one and carries no mass.
    pub name: String,
    /// Mass. Given with `inertia`, or with shapes over which it is spread evenly, or left to the shapes' densities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Centre of mass in the body frame; the origin unless given (or unless it follows from shapes).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub com: Option<[f64; 3]>,
    /// Inertia about the centre of mass in body axes: `[xx, yy, zz]` or `[xx, yy, zz, xy, xz, yz]`, the
    /// entries of the matrix: xy is −∫ x y dm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inertia: Option<Vec<f64>>,
    /// Initial (or, for `anchor`ed joints, reference) position of the body frame in the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 3]>,
    /// Initial (reference) orientation of the body frame, quaternion w x y z of any length but zero: [`rotation`](super::rotation)
    /// normalises.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// Initial velocity of the centre of mass, world axes; only for a body that floats (no joint leads to the ground).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub velocity: Option<[f64; 3]>,
    /// Initial angular velocity, world axes; only for a body that floats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angular_velocity: Option<[f64; 3]>,
    /// Named frames fixed in the body.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frame: Vec<Frame>,
    /// Geometry fixed in the body.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shape: Vec<Shape>,
    /// Named points that touch shapes of other bodies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub point: Vec<ContactPoint>,
    /// A name by which contact rules may speak of several bodies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// A named frame fixed in a body.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Frame {
    /// Unique within its body.
    pub name: String,
    /// Origin in the body frame.
    pub position: [f64; 3],
    /// Orientation in the body frame, quaternion w x y z.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
}

/// Where a joint sits on a body: the name of one of the body's frames, or a frame given in place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FrameRef {
    /// One of the body's named frames.
    Name(String),
    /// A frame in body coordinates.
    Pose {
        /// Origin in the body frame.
        #[serde(default)]
        position: [f64; 3],
        /// Orientation in the body frame, quaternion w x y z.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        orientation: Option<[f64; 4]>,
    },
}
