//! Compiled loads.

use super::{BodyId, Signal};
use crate::scene::Axes;
use crate::spatial::Vec3;

/// A point fixed in a body or in the ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The body; none for the ground.
    pub body: Option<BodyId>,
    /// The point in the body frame.
    pub position: Vec3,
}

/// An applied load.
#[derive(Debug, Clone)]
pub struct Force {
    /// Name.
    pub name: String,
    /// What it is.
    pub kind: ForceKind,
    /// Whether it acts now.
    pub is_on: bool,
}

/// The kinds of load.
#[derive(Debug, Clone)]
pub enum ForceKind {
    /// Spring and damper between two points.
    Spring {
        /// One end.
        a: Point,
        /// The other.
        b: Point,
        /// Force per elongation.
        stiffness: f64,
        /// Length at rest.
        length: f64,
        /// Force per rate of elongation.
        damping: f64,
    },
    /// A force at a point of a body.
    Force {
        /// Where.
        at: Point,
        /// Force at signal one.
        vector: Vec3,
        /// In which axes.
        axes: Axes,
        /// Factor.
        signal: Signal,
    },
    /// A pure torque on a body.
    Torque {
        /// On which body.
        body: Option<BodyId>,
        /// Torque at signal one.
        vector: Vec3,
        /// In which axes.
        axes: Axes,
        /// Factor.
        signal: Signal,
    },
}
