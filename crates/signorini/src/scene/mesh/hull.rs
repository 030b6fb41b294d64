//! Convex hulls.
//!
//! **Problem.** The smallest convex polyhedron around points, as triangles counter-clockwise from outside.
//!
//! **Method.** Randomised incremental construction: points are added in a fixed shuffled order; facets that see the new
//! point are replaced by a cone from their horizon to the point; every waiting point remembers one facet that sees it.
//! Which side of a facet a point is on is decided exactly (adaptive-precision determinants of Shewchuk, 1997), so the
//! surface stays closed and convex whatever the points: thousands in one plane, duplicates, slivers. No tolerance
//! takes part, and rescaling by powers of two gives the same triangles.
//!
//! **Cost.** O(n log n) expected, for any points, since the order is not theirs to choose.
//!
//! **Fails when** the points enclose no volume beyond rounding.
//!
//! **Checked by** every point being inside, Euler's formula, and the volumes of known solids.

use super::check_closed;
use crate::scene::TriangleMesh;
use crate::scene::direction::power_of_two_below;
use robust::{Coord3D, orient3d};
use std::collections::HashMap;

/// Why points have no hull.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HullError {
    /// Fewer than four points.
    #[error("a convex hull needs at least 4 points; found {0}")]
    TooFew(usize),
    /// A coordinate that is not finite.
    #[error("a point is not finite")]
    NotFinite,
    /// No volume.
    #[error("the points lie in one plane (or line, or point) and enclose no volume")]
    Flat,
    /// Cannot happen with exact predicates; an error rather than a panic all the same.
    #[error("the convex hull could not be closed")]
    NotClosed,
}

const NONE: usize = usize::MAX;

/// The convex hull of points; its vertices are the points that are its corners, in the order given.
pub fn convex_hull(points: &[[f64; 3]]) -> Result<TriangleMesh, HullError> {
    if points.len() < 4 {
        return Err(HullError::TooFew(points.len()));
    }
    let largest = points.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
    if !points.iter().flatten().all(|x| x.is_finite()) {
        return Err(HullError::NotFinite);
    }
    if largest == 0.0 {
        return Err(HullError::Flat);
    }
    // Exact determinants need room below: what is 2^200 times smaller than the largest coordinate counts as zero.
    let scale = power_of_two_below(largest);
    let near_one = |x: f64| {
        if (x / scale).abs() < 2f64.powi(-200) { 0.0 } else { x / scale }
    };
    let coordinates = points.iter().map(|&[x, y, z]| Coord3D { x: near_one(x), y: near_one(y), z: near_one(z) });
    let mut build = Build { points: coordinates.collect(), facets: Vec::new(), owner: vec![NONE; points.len()] };
    build.start()?;
    for point in shuffled(points.len()) {
        if build.owner[point] != NONE {
            build.insert(point)?;
        }
    }
    let hull = build.finish(points);
    check_closed(&hull).map_err(|_| HullError::Flat)?;
    Ok(hull)
}

/// 0 … n−1 in an order that no input can foresee to its harm and that is always the same.
fn shuffled(n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for i in (1..n).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(i, ((state >> 33) % (i as u64 + 1)) as usize);
    }
    order
}

struct Facet {
    corners: [usize; 3],
    /// Facet across the edge from corner k to corner k + 1.
    across: [usize; 3],
    /// Points that remember this facet as one that sees them.
    outside: Vec<usize>,
    is_alive: bool,
}

struct Build {
    points: Vec<Coord3D<f64>>,
    facets: Vec<Facet>,
    /// A facet that sees the point; none once it is a corner or inside.
    owner: Vec<usize>,
}

impl Build {
    /// Whether the point is strictly on the outer side of the facet.
    fn sees(&self, facet: usize, point: usize) -> bool {
        let [a, b, c] = self.facets[facet].corners;
        self.volume([a, b, c, point]) < 0.0
    }

    /// Positive if the last point is on the inner side of the first three, exact in its sign.
    fn volume(&self, [a, b, c, d]: [usize; 4]) -> f64 {
        orient3d(self.points[a], self.points[b], self.points[c], self.points[d])
    }

    /// The first tetrahedron, from points far apart.
    fn start(&mut self) -> Result<(), HullError> {
        let minus = |i: usize, j: usize| {
            let (p, q) = (self.points[i], self.points[j]);
            nalgebra::Vector3::new(p.x - q.x, p.y - q.y, p.z - q.z)
        };
        let farthest = |measure: &dyn Fn(usize) -> f64| {
            let far = (0..self.points.len()).max_by(|&i, &j| measure(i).total_cmp(&measure(j))).unwrap_or(0);
            if measure(far) > 0.0 { Ok(far) } else { Err(HullError::Flat) }
        };
        let a = 0;
        let b = farthest(&|i| minus(i, a).norm())?;
        let along = minus(b, a);
        let c = farthest(&|i| along.cross(&minus(i, a)).norm())?;
        let d = farthest(&|i| self.volume([a, b, c, i]).abs())?;
        let (b, c) = if self.volume([a, b, c, d]) > 0.0 { (b, c) } else { (c, b) };
        let facet = |corners, across| Facet { corners, across, outside: Vec::new(), is_alive: true };
        self.facets = vec![
            facet([a, b, c], [3, 1, 2]),
            facet([c, b, d], [0, 3, 2]),
            facet([a, c, d], [0, 1, 3]),
            facet([b, a, d], [0, 2, 1]),
        ];
        let waiting: Vec<usize> = (0..self.points.len()).filter(|i| ![a, b, c, d].contains(i)).collect();
        self.assign(&waiting, &[0, 1, 2, 3]);
        Ok(())
    }

    /// Gives each point to the first of the facets that sees it, or to none.
    fn assign(&mut self, points: &[usize], facets: &[usize]) {
        for &point in points {
            let seen = facets.iter().copied().find(|&facet| self.sees(facet, point));
            self.owner[point] = seen.unwrap_or(NONE);
            if let Some(facet) = seen {
                self.facets[facet].outside.push(point);
            }
        }
    }

    fn insert(&mut self, point: usize) -> Result<(), HullError> {
        // Facets that see the point are connected: flood from the one it remembers.
        let mut open = vec![self.owner[point]];
        let mut orphans = Vec::new();
        let mut horizon = Vec::new();
        self.facets[open[0]].is_alive = false;
        let mut dead = Vec::new();
        while let Some(facet) = open.pop() {
            dead.push(facet);
            orphans.append(&mut self.facets[facet].outside);
            for next in self.facets[facet].across {
                if self.facets[next].is_alive && self.sees(next, point) {
                    self.facets[next].is_alive = false;
                    open.push(next);
                }
            }
        }
        for facet in dead {
            for k in 0..3 {
                let next = self.facets[facet].across[k];
                if self.facets[next].is_alive {
                    let corners = self.facets[facet].corners;
                    horizon.push((corners[k], corners[(k + 1) % 3], next, facet));
                }
            }
        }
        let first = self.facets.len();
        let starts: HashMap<usize, usize> = horizon.iter().zip(first..).map(|(edge, facet)| (edge.0, facet)).collect();
        let ends: HashMap<usize, usize> = horizon.iter().zip(first..).map(|(edge, facet)| (edge.1, facet)).collect();
        for (new, &(from, to, beyond, old)) in (first..).zip(&horizon) {
            let (Some(&left), Some(&right)) = (starts.get(&to), ends.get(&from)) else {
                return Err(HullError::NotClosed);
            };
            for across in &mut self.facets[beyond].across {
                if *across == old {
                    *across = new;
                }
            }
            self.facets.push(Facet {
                corners: [from, to, point],
                across: [beyond, left, right],
                outside: Vec::new(),
                is_alive: true,
            });
        }
        self.owner[point] = NONE;
        orphans.retain(|&orphan| orphan != point);
        let new: Vec<usize> = (first..self.facets.len()).collect();
        self.assign(&orphans, &new);
        Ok(())
    }

    /// Corners renumbered, triangles in an order that does not depend on how they were found.
    fn finish(&self, points: &[[f64; 3]]) -> TriangleMesh {
        let alive = || self.facets.iter().filter(|facet| facet.is_alive).map(|facet| facet.corners);
        let mut corners: Vec<usize> = alive().flatten().collect();
        corners.sort_unstable();
        corners.dedup();
        let number: HashMap<usize, u32> = corners.iter().copied().zip(0..).collect();
        let mut triangles: Vec<[u32; 3]> = alive()
            .map(|corners| {
                let [a, b, c] = corners.map(|corner| number[&corner]);
                if a < b && a < c {
                    [a, b, c]
                } else if b < c {
                    [b, c, a]
                } else {
                    [c, a, b]
                }
            })
            .collect();
        triangles.sort_unstable();
        TriangleMesh { vertices: corners.iter().map(|&corner| points[corner]).collect(), triangles }
    }
}

#[cfg(test)]
#[path = "hull_tests.rs"]
mod tests;
