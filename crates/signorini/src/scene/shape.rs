//! Geometry and surface materials.

use super::{Friction, FrictionFrame};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A piece of geometry fixed in a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// What it is; its own keys stand beside the common ones.
    #[serde(flatten)]
    pub geometry: Geometry,
    /// Origin of the shape frame in the body frame.
    #[serde(default)]
    pub position: [f64; 3],
    /// Orientation of the shape frame in the body frame, quaternion w x y z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// Mass per volume; every shape of a body has one or none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Name of a `[[material]]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// Velocity of the surface against the body, body axes: a conveyor belt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface_velocity: Option<[f64; 3]>,
}

/// The kinds of geometry; axes of revolution are the shape's z axis, all are centred on the shape's origin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Geometry {
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A cuboid.
    Box {
        /// Full edge lengths along x, y, z.
        size: [f64; 3],
    },
    /// A cylinder with half-balls on both ends.
    Capsule {
        /// Radius.
        radius: f64,
        /// Length of the cylindrical part.
        length: f64,
    },
    /// A circular cylinder.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Length.
        length: f64,
    },
    /// A circular cone: its base at z = −length/2, its apex at z = +length/2.
    Cone {
        /// Radius of the base.
        radius: f64,
        /// Length.
        length: f64,
    },
    /// Everything below the plane z = 0 of the shape frame; only on the ground, without mass.
    HalfSpace,
    /// The convex hull of points, given or read from the vertices of an STL or OBJ file.
    ConvexHull {
        /// The points.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        points: Vec<[f64; 3]>,
        /// An STL or OBJ file, relative to the scene file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// Factor on the file's coordinates.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale: Option<f64>,
        /// The hull, once computed by the reader.
        #[serde(skip)]
        hull: Option<Arc<TriangleMesh>>,
    },
    /// A closed triangle mesh from an STL or OBJ file.
    Mesh {
        /// An STL or OBJ file, relative to the scene file.
        file: String,
        /// Factor on the file's coordinates.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale: Option<f64>,
        /// The triangles, once read.
        #[serde(skip)]
        mesh: Option<Arc<TriangleMesh>>,
    },
    /// The surface over a rectangle in x and y, centred on the origin, solid below; without mass of its own.
    HeightField {
        /// Extent along x and y.
        size: [f64; 2],
        /// Heights per row along x.
        columns: usize,
        /// Heights row by row: x grows along a row, y from row to row.
        heights: Vec<f64>,
    },
}

/// Triangles with shared vertices, outward by the right-hand rule.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TriangleMesh {
    /// Vertex positions in the shape frame.
    pub vertices: Vec<[f64; 3]>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// A surface material.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Material {
    /// Unique among materials.
    pub name: String,
    /// Mass per volume of shapes of this material that give none themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Friction; between two materials the geometric mean of coefficients, and where only one says, what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<Friction>,
    /// Directions of friction that has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction_frame: Option<FrictionFrame>,
    /// Coefficient of restitution; between two materials the larger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
}
