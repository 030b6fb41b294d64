//! Triangle surfaces: meshes and height fields.
//!
//! A triangle of a surface is not alone. A direction is a normal of the *surface* at a corner, along an edge or on a face only if the
//! neighbouring triangles do not rise above it. All other directions that a triangle offers point into its neighbours: these are the
//! contacts that make a body stumble over the inner edges of a flat floor, and they are not taken.

use super::convex::{Core, Triangle};
use crate::scene::TriangleMesh;
use crate::spatial::Vec3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};
use std::ops::Range;

/// Sine of the angle up to which a neighbour that rises still counts as level.
const LEVEL: f64 = 1e-7;

/// What a direction is to a triangle of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Normal {
    /// No normal of the surface.
    None,
    /// That of the triangle itself: here it is to the last bit.
    Face(Vec3),
    /// One of an edge or a corner.
    Other,
}

/// Triangles with their neighbours and a tree over them, about a centre of its own.
#[derive(Debug, Clone)]
pub(crate) struct Mesh {
    pub vertices: Vec<Vec3>,
    pub cores: Vec<Core>,
    pub centroids: Vec<Vec3>,
    pub reaches: Vec<f64>,
    around: Vec<Range<usize>>,
    neighbours: Vec<u32>,
    tree: Bvh,
}

impl Mesh {
    /// From triangles, with `centre` as the new origin. Triangles without area are left out.
    pub(crate) fn build(mesh: &TriangleMesh, centre: &Vec3) -> Self {
        let vertices: Vec<Vec3> = mesh.vertices.iter().map(|&p| Vec3::from(p) - centre).collect();
        let (mut cores, mut centroids, mut boxes) = (Vec::new(), Vec::new(), Vec::new());
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for &ids in &mesh.triangles {
            let [a, b, c] = ids.map(|i| vertices.get(i as usize).copied().unwrap_or_default());
            let normal = (b - a).cross(&(c - a));
            let length = normal.norm();
            if !(length > 0.0 && length.is_finite()) {
                continue;
            }
            let centroid = (a + b + c) / 3.0;
            let corners = [a - centroid, b - centroid, c - centroid];
            cores.push(Core::Triangle(Triangle { corners, ids, normal: normal / length }));
            centroids.push(centroid);
            let (low, high) = (a.inf(&b).inf(&c), a.sup(&b).sup(&c));
            boxes.push(Aabb::new(vector(&low), vector(&high)));
            for k in 0..3 {
                pairs.extend([(ids[k], ids[(k + 1) % 3]), (ids[k], ids[(k + 2) % 3])]);
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut around = vec![0..0; vertices.len()];
        let mut first = 0;
        while let Some(&(v, _)) = pairs.get(first) {
            let n = pairs[first..].iter().take_while(|pair| pair.0 == v).count();
            if let Some(range) = around.get_mut(v as usize) {
                *range = first..first + n;
            }
            first += n;
        }
        let neighbours = pairs.into_iter().map(|pair| pair.1).collect();
        let reaches = cores.iter().map(Core::reach).collect();
        let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        Self { vertices, cores, centroids, reaches, around, neighbours, tree }
    }

    /// Triangles that a box may touch.
    pub(crate) fn touched<'a>(&'a self, bounds: &'a Aabb) -> impl Iterator<Item = u32> + 'a {
        self.tree.intersect_aabb(bounds)
    }

    /// The triangle's outward normal.
    pub(crate) fn normal(&self, triangle: usize) -> Option<Vec3> {
        match self.cores.get(triangle) {
            Some(Core::Triangle(t)) => Some(t.normal),
            _ => None,
        }
    }

    /// Whether `m` is a normal of the surface where the triangle is farthest in direction `m`.
    pub(crate) fn find_normal(&self, triangle: usize, m: &Vec3) -> Normal {
        let Some(Core::Triangle(t)) = self.cores.get(triangle) else { return Normal::None };
        if t.normal.dot(m) < -LEVEL {
            return Normal::None;
        }
        let top = t.corners[t.support(m)];
        let is_level = |p: &Vec3, q: &Vec3| {
            let d = q - p;
            m.dot(&d).abs() <= LEVEL * d.norm()
        };
        let on_top = [0, 1, 2].map(|k| is_level(&top, &t.corners[k]));
        if on_top == [true; 3] {
            return Normal::Face(t.normal);
        }
        // Every neighbour of the whole feature: of an edge only those that both ends share, which are its two triangles'.
        let ids: [Option<u32>; 3] = [0, 1, 2].map(|k| on_top[k].then_some(t.ids[k]));
        let mut corners = ids.iter().flatten();
        let (Some(&first), second) = (corners.next(), corners.next()) else { return Normal::None };
        let p = self.vertices[first as usize];
        let near = |v: u32| &self.neighbours[self.around[v as usize].clone()];
        let is_highest = near(first).iter().filter(|&&q| Some(q) != second.copied()).all(|&q| {
            if let Some(&second) = second
                && near(second).binary_search(&q).is_err()
            {
                return true;
            }
            let d = self.vertices[q as usize] - p;
            m.dot(&d) <= LEVEL * d.norm()
        });
        if is_highest { Normal::Other } else { Normal::None }
    }
}

pub(crate) fn vector(p: &Vec3) -> Vector {
    Vector::new(p.x, p.y, p.z)
}

impl Mesh {
    /// Smallest and largest coordinates.
    pub(crate) fn bounds(&self) -> (Vec3, Vec3) {
        let root = self.tree.root_aabb();
        (Vec3::new(root.mins.x, root.mins.y, root.mins.z), Vec3::new(root.maxs.x, root.maxs.y, root.maxs.z))
    }
}
