//! Whether triangles are the surface of a solid.

use crate::scene::TriangleMesh;
use crate::scene::solid::{Solid, Volume};
use std::collections::HashMap;

/// Why triangles are not the surface of a solid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// A corner that is no vertex.
    #[error("triangle {triangle} has a corner that is no vertex of the mesh")]
    Index {
        /// Number of the triangle.
        triangle: usize,
    },
    /// A vertex that is not finite.
    #[error("a vertex of the mesh is not finite")]
    NotFinite,
    /// An edge with a triangle on one side only.
    #[error(
        "the mesh is not closed: {n_edges} edges have a triangle on one side only, one of them from {from} to {to}"
    )]
    Open {
        /// How many.
        n_edges: usize,
        /// One end of one of them.
        from: Point,
        /// Its other end.
        to: Point,
    },
    /// Two triangles that disagree about which side is outside.
    #[error("two triangles disagree about which side is outside, at the edge from {from} to {to}")]
    Inconsistent {
        /// One end of the edge.
        from: Point,
        /// Its other end.
        to: Point,
    },
    /// An edge with more than two triangles.
    #[error("more than two triangles meet at the edge from {from} to {to}")]
    NotManifold {
        /// One end of the edge.
        from: Point,
        /// Its other end.
        to: Point,
    },
    /// Outside is inside.
    #[error("the mesh is inside out: its triangles are clockwise as seen from outside")]
    InsideOut,
    /// Nothing enclosed.
    #[error("the mesh encloses no volume")]
    NoVolume,
}

/// A point as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point(String);

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks that every edge joins exactly two triangles that agree about the outside, and that a positive volume is
/// enclosed. Meshes that cut through themselves are not noticed.
pub fn check_closed(mesh: &TriangleMesh) -> Result<(), MeshError> {
    if mesh.vertices.iter().flatten().any(|x| !x.is_finite()) {
        return Err(MeshError::NotFinite);
    }
    let n_vertices = mesh.vertices.len();
    if let Some(triangle) = mesh.triangles.iter().position(|t| t.iter().any(|&v| v as usize >= n_vertices)) {
        return Err(MeshError::Index { triangle });
    }
    check_edges(mesh)?;
    match Solid::of_mesh(mesh).sign() {
        Volume::Positive => Ok(()),
        Volume::Negative => Err(MeshError::InsideOut),
        Volume::None => Err(MeshError::NoVolume),
    }
}

fn check_edges(mesh: &TriangleMesh) -> Result<(), MeshError> {
    // Per undirected edge: how many triangles run along it upwards and downwards.
    let mut edges: HashMap<(u32, u32), (u32, u32)> = HashMap::with_capacity(mesh.triangles.len() * 3 / 2);
    for &[a, b, c] in &mesh.triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let count = edges.entry((from.min(to), from.max(to))).or_default();
            if from < to { count.0 += 1 } else { count.1 += 1 }
        }
    }
    let point = |v: u32| {
        let [x, y, z] = mesh.vertices[v as usize];
        Point(format!("({x}, {y}, {z})"))
    };
    let ends = |&(from, to): &(u32, u32)| (point(from), point(to));
    // The smallest edge, so that the message does not depend on the order of a hash table.
    let first =
        |bad: &dyn Fn(u32, u32) -> bool| edges.iter().filter(|(_, c)| bad(c.0, c.1)).map(|(edge, _)| edge).min();
    if let Some((from, to)) = first(&|up, down| up + down > 2).map(ends) {
        return Err(MeshError::NotManifold { from, to });
    }
    if let Some((from, to)) = first(&|up, down| up + down == 1).map(ends) {
        let n_edges = edges.values().filter(|c| c.0 + c.1 == 1).count();
        return Err(MeshError::Open { n_edges, from, to });
    }
    if let Some((from, to)) = first(&|up, down| up != down).map(ends) {
        return Err(MeshError::Inconsistent { from, to });
    }
    Ok(())
}
