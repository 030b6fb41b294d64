//! The part of a core that faces a direction: a face, an edge or a corner, as points with names.
//!
//! A face counts if it leans by less than [`FACE`], an edge if it leans by less than [`EDGE`]. The constants only decide how many
//! points are *offered*: points that lie too far along the normal are dropped by the margin, whatever is offered.
//!
//! Round edges become eight points, of which the first is the one farthest in the direction. Where the axis is along the direction
//! to rounding, the first lies on the x axis of the shape, so that it does not wander. The support polygon is then smaller than the
//! disc by at most a factor cos(π/8) = 0.92 between the points.

use super::convex::{Core, Placed, azimuth};
use crate::spatial::Vec3;

/// Cosine of the largest lean of a face: 25°.
const FACE: f64 = 0.9;
/// Sine of the largest lean of an edge: 25°.
const EDGE: f64 = 0.43;
/// Sine of the lean below which a round edge keeps its points fixed in the body.
const UPRIGHT: f64 = 1e-13;
/// Points on a round edge.
pub(crate) const RIM: usize = 8;
const APEX: u32 = 2 * RIM as u32;

/// A corner of a feature and its name within the shape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot {
    pub p: Vec3,
    pub id: u32,
}

/// Fills `out` with the feature that faces direction `n`: one spot, the two ends of an edge, or the corners of a face in order.
pub(crate) fn find_feature(a: &Placed, n: &Vec3, out: &mut Vec<Spot>) {
    out.clear();
    let l = a.rotation.tr_mul(n);
    let mut push = |p: Vec3, id: u32| out.push(Spot { p: a.rotation * p + a.position, id });
    match a.core {
        Core::Point => push(Vec3::zeros(), 0),
        Core::Segment { half } => {
            if l.z.abs() <= EDGE {
                push(Vec3::new(0.0, 0.0, -half), 0);
                push(Vec3::new(0.0, 0.0, *half), 1);
            } else {
                push(Vec3::new(0.0, 0.0, half.copysign(l.z)), u32::from(l.z >= 0.0));
            }
        }
        Core::Box { half } => {
            let mut corner = |signs: Vec3| {
                let id = (0..3).fold(0, |id, i| id | (u32::from(signs[i] > 0.0) << i));
                push(signs.component_mul(half), id);
            };
            let sign = l.map(|x| 1.0_f64.copysign(x));
            let (most, least) = (l.abs().imax(), l.abs().imin());
            if l[most].abs() >= FACE {
                let (i, j) = ((most + 1) % 3, (most + 2) % 3);
                for (si, sj) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                    let mut signs = sign;
                    (signs[i], signs[j]) = (si, sj);
                    corner(signs);
                }
            } else if l[least].abs() <= EDGE {
                for s in [-1.0, 1.0] {
                    let mut signs = sign;
                    signs[least] = s;
                    corner(signs);
                }
            } else {
                corner(sign);
            }
        }
        Core::Cylinder { radius, half } => {
            let (c, s) = azimuth(&l);
            let top = u32::from(l.z >= 0.0) * RIM as u32;
            if l.z.abs() >= FACE {
                rim(&l, *radius, half.copysign(l.z), top, &mut push);
            } else if l.z.abs() <= EDGE {
                push(Vec3::new(radius * c, radius * s, -half), 0);
                push(Vec3::new(radius * c, radius * s, *half), RIM as u32);
            } else {
                push(Vec3::new(radius * c, radius * s, half.copysign(l.z)), top);
            }
        }
        Core::Cone { radius, half } => {
            let (c, s) = azimuth(&l);
            let low = Vec3::new(radius * c, radius * s, -half);
            let apex = Vec3::new(0.0, 0.0, *half);
            let side = apex - low;
            if l.z <= -FACE {
                rim(&l, *radius, -half, 0, &mut push);
            } else if side.dot(&l).abs() <= EDGE * side.norm() {
                push(low, 0);
                push(apex, APEX);
            } else if side.dot(&l) > 0.0 {
                push(apex, APEX);
            } else {
                push(low, 0);
            }
        }
        Core::Hull(hull) => {
            let vertex = hull.support(&l);
            let mut best: Option<(f64, &[u32])> = None;
            for (normal, corners) in hull.faces_at(vertex) {
                let lean = normal.dot(&l);
                if lean >= FACE && best.is_none_or(|b| lean > b.0) {
                    best = Some((lean, corners));
                }
            }
            if let Some((_, corners)) = best {
                corners.iter().for_each(|&c| push(hull.vertices[c as usize], c));
                return;
            }
            let p = hull.vertices[vertex];
            let mut edge: Option<(f64, u32)> = None;
            for &end in hull.ends_at(vertex) {
                let e = hull.vertices[end as usize] - p;
                let lean = e.dot(&l).abs() / e.norm();
                if lean <= EDGE && edge.is_none_or(|b| lean < b.0) {
                    edge = Some((lean, end));
                }
            }
            // In the order of names, so that the edge is the same from either end.
            let mut ends = [vertex as u32, edge.map_or(vertex as u32, |e| e.1)];
            ends.sort_unstable();
            let n_ends = if edge.is_some() { 2 } else { 1 };
            ends[..n_ends].iter().for_each(|&c| push(hull.vertices[c as usize], c));
        }
        Core::Triangle(triangle) => {
            let corners = &triangle.corners;
            if triangle.normal.dot(&l).abs() >= FACE {
                (0..3).for_each(|i| push(corners[i], triangle.ids[i]));
                return;
            }
            let i = triangle.support(&l);
            let mut edge: Option<(f64, usize)> = None;
            for j in (0..3).filter(|&j| j != i) {
                let e = corners[j] - corners[i];
                let lean = e.dot(&l).abs() / e.norm();
                if lean <= EDGE && edge.is_none_or(|b| lean < b.0) {
                    edge = Some((lean, j));
                }
            }
            let mut ends = [i, edge.map_or(i, |e| e.1)];
            ends.sort_unstable_by_key(|&j| triangle.ids[j]);
            let n_ends = if edge.is_some() { 2 } else { 1 };
            ends[..n_ends].iter().for_each(|&j| push(corners[j], triangle.ids[j]));
        }
    }
}

fn rim(l: &Vec3, radius: f64, z: f64, first: u32, push: &mut impl FnMut(Vec3, u32)) {
    let (c, s) = if l.x.hypot(l.y) > UPRIGHT { azimuth(l) } else { (1.0, 0.0) };
    const DIAGONAL: f64 = std::f64::consts::FRAC_1_SQRT_2;
    let turns = [(1.0, 0.0), (DIAGONAL, DIAGONAL), (0.0, 1.0), (-DIAGONAL, DIAGONAL)];
    for half in [1.0, -1.0] {
        for (k, (cos, sin)) in turns.into_iter().enumerate() {
            let id = first + k as u32 + if half < 0.0 { RIM as u32 / 2 } else { 0 };
            push(Vec3::new(radius * (c * cos - s * sin) * half, radius * (s * cos + c * sin) * half, z), id);
        }
    }
}

/// All corners of a polytope, for contact with a half-space; false for cores that have others.
pub(crate) fn find_corners(a: &Placed, out: &mut Vec<Spot>) -> bool {
    out.clear();
    let mut push = |p: Vec3, id: u32| out.push(Spot { p: a.rotation * p + a.position, id });
    match a.core {
        Core::Box { half } => {
            for id in 0..8u32 {
                let sign = |i: u32| if id >> i & 1 == 1 { 1.0 } else { -1.0 };
                push(Vec3::new(sign(0), sign(1), sign(2)).component_mul(half), id);
            }
        }
        Core::Segment { half } => {
            push(Vec3::new(0.0, 0.0, -half), 0);
            push(Vec3::new(0.0, 0.0, *half), 1);
        }
        Core::Hull(hull) => hull.vertices.iter().enumerate().for_each(|(i, v)| push(*v, i as u32)),
        Core::Triangle(triangle) => (0..3).for_each(|i| push(triangle.corners[i], triangle.ids[i])),
        Core::Point | Core::Cylinder { .. } | Core::Cone { .. } => return false,
    }
    true
}
