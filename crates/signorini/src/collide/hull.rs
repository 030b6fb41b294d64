//! Convex polyhedra with their faces, from a triangulated hull.

use crate::scene::TriangleMesh;
use crate::spatial::Vec3;
use parry3d_f64::math::Vector;
use parry3d_f64::shape::ConvexPolyhedron;
use std::ops::Range;

/// A convex polyhedron whose coplanar triangles have been joined to polygons.
#[derive(Debug, Clone)]
pub(crate) struct Hull {
    pub vertices: Vec<Vec3>,
    faces: Vec<(Vec3, Range<usize>)>,
    loops: Vec<u32>,
    around: Vec<(Range<usize>, Range<usize>)>,
    faces_at: Vec<u32>,
    ends_at: Vec<u32>,
}

impl Hull {
    /// From the triangles of a hull and a point inside, which becomes the origin. The library that joins triangles has
    /// absolute tolerances, so it sees the hull scaled by a power of two to about unit size.
    pub(crate) fn build(mesh: &TriangleMesh, centre: &Vec3, scale: f64) -> Option<Self> {
        let points = mesh.vertices.iter().map(|&p| (Vec3::from(p) - centre) * scale);
        let points: Vec<Vector> = points.map(|p| Vector::new(p.x, p.y, p.z)).collect();
        let polyhedron = ConvexPolyhedron::from_convex_mesh(points, &mesh.triangles)?;
        let vertices: Vec<Vec3> = polyhedron.points().iter().map(|p| Vec3::new(p.x, p.y, p.z) / scale).collect();
        let loops = polyhedron.vertices_adj_to_face().to_vec();
        let mut faces = Vec::new();
        for face in polyhedron.faces() {
            let first = face.first_vertex_or_edge as usize;
            let range = first..first + face.num_vertices_or_edges as usize;
            let outward = Vec3::new(face.normal.x, face.normal.y, face.normal.z);
            faces.push((newell(&vertices, &loops[range.clone()]).unwrap_or(outward), range));
        }
        let mut hull = Self { vertices, faces, loops, around: Vec::new(), faces_at: Vec::new(), ends_at: Vec::new() };
        for v in 0..hull.vertices.len() as u32 {
            let (first_face, first_end) = (hull.faces_at.len(), hull.ends_at.len());
            for (f, (_, range)) in hull.faces.iter().enumerate() {
                let corners = &hull.loops[range.clone()];
                if let Some(i) = corners.iter().position(|&corner| corner == v) {
                    hull.faces_at.push(f as u32);
                    hull.ends_at.push(corners[(i + 1) % corners.len()]);
                }
            }
            hull.around.push((first_face..hull.faces_at.len(), first_end..hull.ends_at.len()));
        }
        Some(hull)
    }

    /// The vertex farthest in a direction; of several, the first.
    pub(crate) fn support(&self, direction: &Vec3) -> usize {
        let mut best = (f64::NEG_INFINITY, 0);
        for (i, vertex) in self.vertices.iter().enumerate() {
            let height = vertex.dot(direction);
            if height > best.0 {
                best = (height, i);
            }
        }
        best.1
    }

    /// Outward normal and corners of the faces at a vertex.
    pub(crate) fn faces_at(&self, vertex: usize) -> impl Iterator<Item = (&Vec3, &[u32])> {
        let faces = &self.faces_at[self.around[vertex].0.clone()];
        faces.iter().map(|&f| &self.faces[f as usize]).map(|(n, range)| (n, &self.loops[range.clone()]))
    }

    /// The other ends of the edges at a vertex.
    pub(crate) fn ends_at(&self, vertex: usize) -> &[u32] {
        &self.ends_at[self.around[vertex].1.clone()]
    }
}

/// Unit normal of a polygon, right-handed.
fn newell(vertices: &[Vec3], corners: &[u32]) -> Option<Vec3> {
    let origin = vertices.get(*corners.first()? as usize)?;
    let mut sum = Vec3::zeros();
    for (i, &corner) in corners.iter().enumerate() {
        let next = corners[(i + 1) % corners.len()];
        sum += (vertices[corner as usize] - origin).cross(&(vertices[next as usize] - origin));
    }
    let length = sum.norm();
    (length > 0.0).then(|| sum / length)
}
