//! Compiled loads.

use super::build::{ModelError, Names};
use super::{Body, BodyId, Signal};
use crate::scene::{self, Axes, Interpolation};
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
    Spring(SpringDamper),
    /// A force at a point of a body.
    Force(Push),
    /// A pure torque on a body.
    Torque(Torque),
}

/// Spring and damper between two points.
#[derive(Debug, Clone, PartialEq)]
pub struct SpringDamper {
    /// One end.
    pub a: Point,
    /// The other.
    pub b: Point,
    /// Force per elongation.
    pub stiffness: f64,
    /// Length at rest.
    pub length: f64,
    /// Force per rate of elongation.
    pub damping: f64,
}

/// A force at a point of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Push {
    /// Where.
    pub at: Point,
    /// Force at signal one.
    pub vector: Vec3,
    /// In which axes.
    pub axes: Axes,
    /// Factor.
    pub signal: Signal,
}

/// A pure torque on a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Torque {
    /// On which body.
    pub body: Option<BodyId>,
    /// Torque at signal one.
    pub vector: Vec3,
    /// In which axes.
    pub axes: Axes,
    /// Factor.
    pub signal: Signal,
}

impl Force {
    /// Compiles the `i`-th load of a scene.
    pub(super) fn build(
        names: &Names<'_>,
        bodies: &[Body],
        force: &scene::Force,
        i: usize,
    ) -> Result<Self, ModelError> {
        let body = |name: &str, key: &str| names.body(name, &format!("force[{i}].{key}"));
        let end = |end: &scene::Attachment, key: &str| {
            Ok(Point { body: body(&end.body, &format!("{key}.body"))?, position: end.point.into() })
        };
        let factor = |s: &Option<scene::Signal>| {
            s.as_ref().map_or(Signal::Constant(1.0), |s| Signal::build(s, Interpolation::Linear))
        };
        let kind = match force {
            scene::Force::Spring { a, b, stiffness, length, damping, .. } => ForceKind::Spring(SpringDamper {
                a: end(a, "a")?,
                b: end(b, "b")?,
                stiffness: *stiffness,
                length: *length,
                damping: *damping,
            }),
            scene::Force::Force { body: name, point, vector, axes, signal, .. } => {
                let body = body(name, "body")?;
                let com = body.map_or_else(Vec3::zeros, |b| bodies[b.index()].com);
                let at = Point { body, position: point.map_or(com, Vec3::from) };
                ForceKind::Force(Push { at, vector: (*vector).into(), axes: *axes, signal: factor(signal) })
            }
            scene::Force::Torque { body: name, vector, axes, signal, .. } => {
                let body = body(name, "body")?;
                ForceKind::Torque(Torque { body, vector: (*vector).into(), axes: *axes, signal: factor(signal) })
            }
        };
        Ok(Self { name: force.name().to_string(), kind, is_on: true })
    }

    /// The function of time that it follows, if it follows one.
    pub fn signal(&self) -> Option<&Signal> {
        match &self.kind {
            ForceKind::Spring(_) => None,
            ForceKind::Force(Push { signal, .. }) | ForceKind::Torque(Torque { signal, .. }) => Some(signal),
        }
    }

    /// Points of bodies that say how large the mechanism is.
    pub fn ends(&self) -> Vec<Point> {
        match &self.kind {
            ForceKind::Spring(spring) => vec![spring.a, spring.b],
            ForceKind::Force(_) | ForceKind::Torque(_) => Vec::new(),
        }
    }
}
