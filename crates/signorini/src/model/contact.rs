//! Shapes, surface materials and contact rules as numbers.

use super::BodyId;
use crate::contact::law::Surface;
use crate::scene::TriangleMesh;
use crate::spatial::{Pose, Vec3};
use std::collections::HashMap;
use std::sync::Arc;

/// A piece of geometry on a body, or a contact point.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Whose it is; none for the ground.
    pub body: Option<BodyId>,
    /// Name of a contact point; shapes have none.
    pub name: Option<String>,
    /// The shape frame in the body frame.
    pub pose: Pose,
    /// Geometry in the shape frame.
    pub form: Form,
    /// Its surface, as far as laws of contact tell surfaces apart: an index of [`PairLaws`](super::PairLaws).
    pub surface: u32,
    /// Velocity of the surface against the body, body axes.
    pub surface_velocity: Vec3,
}

/// Geometry in the shape frame; axes of revolution are z.
#[derive(Debug, Clone)]
pub enum Form {
    /// A named contact point.
    Point,
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A cuboid.
    Box {
        /// Half of its edges.
        half: Vec3,
    },
    /// A cylinder with half-balls on both ends.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half of the length between the half-balls.
        half: f64,
    },
    /// A circular cylinder.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half of its length.
        half: f64,
    },
    /// A circular cone, base at −half, apex at +half.
    Cone {
        /// Radius of the base.
        radius: f64,
        /// Half of its length.
        half: f64,
    },
    /// Everything below z = 0.
    HalfSpace,
    /// A convex polyhedron, triangulated.
    Hull(Arc<TriangleMesh>),
    /// A surface of triangles, outward by the right-hand rule.
    Surface(Arc<TriangleMesh>),
}

/// What the rules say about a pair; what they do not say is none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairRule {
    /// Whether it touches.
    pub is_enabled: Option<bool>,
    /// Friction and restitution.
    pub law: Surface,
}

impl PairRule {
    /// Both, `later` where it says something.
    pub fn then(&self, later: &Self) -> Self {
        Self { is_enabled: later.is_enabled.or(self.is_enabled), law: self.law.then(&later.law) }
    }
}

/// Contact rules. Bodies that no rule tells apart are of one class, so that patterns over thousands of bodies stay small.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Class of each body, and of the ground at the end; empty where there are no rules.
    pub(super) classes: Vec<u32>,
    pub(super) of_classes: HashMap<(u32, u32), PairRule>,
}

pub(super) fn ordered(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

impl Rules {
    /// Class of a body; the ground is none. All are of one class where there are no rules.
    pub(super) fn class(&self, body: Option<BodyId>) -> u32 {
        let Some(ground) = self.classes.len().checked_sub(1) else { return 0 };
        self.classes.get(body.map_or(ground, BodyId::index)).copied().unwrap_or(0)
    }

    /// What is said about bodies of two classes.
    pub(super) fn of_classes(&self, a: u32, b: u32) -> Option<&PairRule> {
        self.of_classes.get(&ordered(a, b))
    }

    /// Whether two bodies touch, where a rule says so; the ground is none.
    pub fn is_enabled(&self, a: Option<BodyId>, b: Option<BodyId>) -> Option<bool> {
        self.of_classes(self.class(a), self.class(b)).and_then(|rule| rule.is_enabled)
    }

    pub(super) fn add(rules: &mut HashMap<(u32, u32), PairRule>, a: u32, b: u32, rule: &PairRule) {
        let known = rules.entry(ordered(a, b)).or_default();
        *known = known.then(rule);
    }
}

/// The surface of a height field: `columns` heights along x per row, rows along y, over a rectangle centred on the origin.
pub fn height_field(size: [f64; 2], columns: usize, heights: &[f64]) -> TriangleMesh {
    let columns = columns.max(2);
    let rows = heights.len() / columns;
    let mut mesh = TriangleMesh::default();
    let place = |extent: f64, n: usize, i: usize| extent * (i as f64 / (n - 1) as f64 - 0.5);
    for (i, &z) in heights.iter().take(rows * columns).enumerate() {
        mesh.vertices.push([place(size[0], columns, i % columns), place(size[1], rows.max(2), i / columns), z]);
    }
    for row in 1..rows {
        for column in 1..columns {
            let corner = |r: usize, c: usize| ((row - 1 + r) * columns + column - 1 + c) as u32;
            mesh.triangles.push([corner(0, 0), corner(0, 1), corner(1, 1)]);
            mesh.triangles.push([corner(0, 0), corner(1, 1), corner(1, 0)]);
        }
    }
    mesh
}
