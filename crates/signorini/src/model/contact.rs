//! Shapes, surface materials and contact rules as numbers.

use super::BodyId;
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
    /// Index of its material.
    pub material: Option<u32>,
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

/// A surface material; what is not given is left to the other one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Material {
    /// Coefficient of friction.
    pub friction: Option<f64>,
    /// Coefficient of restitution.
    pub restitution: Option<f64>,
}

/// What the rules say about a pair; what they do not say is none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PairRule {
    /// Whether it touches.
    pub is_enabled: Option<bool>,
    /// Friction.
    pub friction: Option<f64>,
    /// Restitution.
    pub restitution: Option<f64>,
}

impl PairRule {
    /// Both, `later` where it says something.
    pub fn then(&self, later: &Self) -> Self {
        Self {
            is_enabled: later.is_enabled.or(self.is_enabled),
            friction: later.friction.or(self.friction),
            restitution: later.restitution.or(self.restitution),
        }
    }
}

/// Contact rules. Bodies that no rule tells apart are of one class, so that patterns over thousands of bodies stay small.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Class of each body, and of the ground at the end; empty where there are no rules.
    pub(super) classes: Vec<u32>,
    pub(super) of_classes: HashMap<(u32, u32), PairRule>,
    pub(super) of_materials: HashMap<(u32, u32), PairRule>,
}

fn ordered(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

impl Rules {
    /// What is said about two bodies; the ground is none.
    pub fn of_bodies(&self, a: Option<BodyId>, b: Option<BodyId>) -> PairRule {
        let Some(ground) = self.classes.len().checked_sub(1) else { return PairRule::default() };
        let class = |body: Option<BodyId>| self.classes.get(body.map_or(ground, BodyId::index)).copied();
        let (Some(a), Some(b)) = (class(a), class(b)) else { return PairRule::default() };
        self.of_classes.get(&ordered(a, b)).copied().unwrap_or_default()
    }

    /// What is said about two materials.
    pub fn of_materials(&self, a: Option<u32>, b: Option<u32>) -> PairRule {
        let (Some(a), Some(b)) = (a, b) else { return PairRule::default() };
        self.of_materials.get(&ordered(a, b)).copied().unwrap_or_default()
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
