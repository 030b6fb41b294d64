//! What the user wrote: names, numbers in consistent units, files. Editable, serialisable, nothing derived.
//!
//! A scene is read from TOML by [`read::read`], checked by [`validate::validate`], and compiled by
//! [`crate::model::Model::build`]. Every key is described in `book/scene-format.md`, which is tested against the reader.

mod body;
mod contact;
pub(crate) mod coupling;
mod direction;
mod event;
mod finding;
mod force;
mod friction;
mod joint;
mod mass;
pub mod mesh;
mod output;
pub mod pattern;
pub mod read;
pub mod schema;
mod shape;
mod signal;
mod solid;
mod source;
pub(crate) mod suggest;
mod time;
pub mod validate;

pub use body::{Body, Frame, FrameRef};
pub use contact::{ContactPoint, ContactRule};
pub use coupling::{Coupling, CouplingKind};
pub use direction::rotation;
pub use event::{Break, Condition, Event, EventKind, Quantity};
pub use finding::{Finding, FindingKind, MAX_FINDINGS};
pub use force::{Attachment, Axes, Force};
pub use friction::{Friction, FrictionFrame, FrictionSection, MAX_FRICTION_SIDES};
pub use joint::{Joint, JointKind, Motor, PerCoordinate, Spring};
pub use mass::{MassProperties, Masses};
pub use output::{Marker, Output};
pub use shape::{Geometry, Material, Shape, TriangleMesh};
pub use signal::{Interpolation, Signal, Varying};
pub use source::{Place, Problem, Problems, SceneError, SceneSource};
pub use time::{ContactMethod, Formulation, Integrator, Policy, Restitution, Solver, Time};

use serde::{Deserialize, Serialize};

/// The reserved name of the immovable body.
pub const GROUND: &str = "ground";

/// A whole scene file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scene {
    /// One line that says what the scene is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Uniform gravitational acceleration; zero unless given, because no unit system is assumed.
    pub gravity: [f64; 3],
    /// When and how time advances.
    pub time: Time,
    /// Which formulation of the dynamics is used.
    pub solver: Solver,
    /// What is recorded, and how often.
    pub output: Output,
    /// Surface materials, referred to by shapes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub material: Vec<Material>,
    /// Rigid bodies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<Body>,
    /// Joints between two bodies, or between a body and the ground.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joint: Vec<Joint>,
    /// Massless connections: gears, belts, rods, links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub coupling: Vec<Coupling>,
    /// Which pairs touch, and how.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contact: Vec<ContactRule>,
    /// Applied loads other than gravity and what sits in joints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub force: Vec<Force>,
    /// Changes of the mechanism in mid-flight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub event: Vec<Event>,
}
