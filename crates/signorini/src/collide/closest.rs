//! Closest points of two convex cores, and the direction of least overlap.
//!
//! **Problem.** Given the support functions of two convex sets, find the pair of points that are closest, or find that the sets
//! overlap.
//!
//! **Method.** The iteration of Gilbert, Johnson and Keerthi on the difference set A − B: keep a simplex of at most four of its
//! points, find the point of the simplex nearest to the origin, add the point farthest against it. Stops when that point is known
//! already or brings nothing, for a bound on the distance that is good to rounding leaves the direction with half the digits. (The library's own iteration stops at half the digits, and takes points that are
//! closer than 10⁻⁷ for one.) Overlap is left to the library's expanding polytope, in coordinates scaled by a power of two
//! to about unit size, for its tolerances are absolute.
//!
//! **Cost.** 3 to 10 support points for polytopes, some tens for curved cores; constant memory. The polytope allocates until its
//! buffers have grown.
//!
//! **Fails when** the sets are curved and touch: the direction between closest points is then lost in rounding, which is why
//! [`direction`](super::direction) prefers normals that the cores offer.
//!
//! **Checked by** `tests/collide_random.rs` against a referee that knows neither.

use super::convex::Placed;
use crate::spatial::Vec3;
use parry3d_f64::math::{Pose, Vector};
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::{CsoPoint, VoronoiSimplex};
use parry3d_f64::shape::SupportMap;

/// Closest points, if the cores are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Closest {
    Apart { on_a: Vec3, on_b: Vec3 },
    Overlap,
}

#[derive(Debug, Clone, Copy)]
struct Vertex {
    /// On a minus on b.
    p: Vec3,
    a: Vec3,
    b: Vec3,
}

/// Up to four points and the weights of the nearest point of their hull.
#[derive(Debug, Clone)]
pub(crate) struct Simplex {
    vertices: [Vertex; 4],
    weights: [f64; 4],
    n: usize,
}

impl Default for Simplex {
    fn default() -> Self {
        let zero = Vertex { p: Vec3::zeros(), a: Vec3::zeros(), b: Vec3::zeros() };
        Self { vertices: [zero; 4], weights: [0.0; 4], n: 0 }
    }
}

/// Most support points asked for; what curved cores need is a third of it.
const MAX_ITERATIONS: usize = 96;

/// Distance and its lower bound agree to this, relative to the sizes at play, or the search starts again elsewhere.
const AGREE: f64 = 1e-9;

/// Finds the closest points. `simplex` is scratch and says afterwards where an overlap was found.
pub(crate) fn find_closest(a: &Placed, b: &Placed, simplex: &mut Simplex) -> Closest {
    let between = b.position - a.position;
    let size = a.reach + b.reach + between.norm();
    let mut start = if between.norm() > 0.0 { between } else { Vec3::x() };
    let mut best: Option<(f64, Closest)> = None;
    // A simplex that has become a sliver can stall far from the answer; from the direction that it leaves behind it does not.
    for attempt in 0..4 {
        let found = descend(a, b, &start, size, simplex);
        let Closest::Apart { on_a, on_b } = found.answer else { return Closest::Overlap };
        let distance = (on_b - on_a).norm();
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, found.answer));
        }
        if distance - found.bound <= AGREE * size {
            break;
        }
        start = if attempt == 0 { found.direction } else { start.cross(&found.direction) + found.direction };
    }
    best.map_or(Closest::Overlap, |(_, answer)| answer)
}

struct Descent {
    answer: Closest,
    /// Largest separation found, and its direction.
    bound: f64,
    direction: Vec3,
}

fn descend(a: &Placed, b: &Placed, start: &Vec3, size: f64, simplex: &mut Simplex) -> Descent {
    let mut v = Vertex::at(a, b, start);
    simplex.vertices[0] = v;
    simplex.weights = [1.0, 0.0, 0.0, 0.0];
    simplex.n = 1;
    let mut nearest = v.p;
    let (mut bound, mut direction) = (f64::NEG_INFINITY, *start);
    let overlap = Descent { answer: Closest::Overlap, bound, direction };
    for _ in 0..MAX_ITERATIONS {
        let distance = nearest.norm();
        if distance <= 4.0 * f64::EPSILON * size {
            return overlap;
        }
        v = Vertex::at(a, b, &-nearest);
        let separation = nearest.dot(&v.p) / distance;
        if separation > bound {
            (bound, direction) = (separation, -nearest / distance);
        }
        if bound >= distance || simplex.holds(&v.p) {
            break;
        }
        let kept = simplex.clone();
        simplex.vertices[simplex.n] = v;
        simplex.n += 1;
        match simplex.reduce() {
            None if bound <= 0.0 => return overlap,
            Some(p) if p.norm() < distance => nearest = p,
            // Rounding: nothing was gained, or the origin seems inside of a sliver while a direction separates.
            _ => {
                *simplex = kept;
                break;
            }
        }
    }
    if bound <= 0.0 {
        return overlap;
    }
    let (on_a, on_b) = simplex.points();
    Descent { answer: Closest::Apart { on_a, on_b }, bound, direction }
}

impl Vertex {
    fn at(a: &Placed, b: &Placed, direction: &Vec3) -> Self {
        let (on_a, on_b) = (a.support(direction), b.support(&-direction));
        Self { p: on_a - on_b, a: on_a, b: on_b }
    }
}

impl Simplex {
    fn holds(&self, p: &Vec3) -> bool {
        self.vertices[..self.n].iter().any(|v| v.p == *p)
    }

    fn points(&self) -> (Vec3, Vec3) {
        let each = || self.vertices[..self.n].iter().zip(&self.weights);
        (each().map(|(v, w)| v.a * *w).sum(), each().map(|(v, w)| v.b * *w).sum())
    }

    /// The nearest point to the origin, of which only the vertices are kept that it needs; none where the origin is inside.
    fn reduce(&mut self) -> Option<Vec3> {
        let p = self.vertices.map(|v| v.p);
        let best = match self.n {
            1 => (p[0], [1.0, 0.0, 0.0, 0.0]),
            2 => nearest_on_segment(&p, 0, 1),
            3 => nearest_on_triangle(&p, 0, 1, 2),
            _ => {
                // Flat tetrahedra have sides that rounding decides, so no face is left out for them.
                let mut best: Option<(Vec3, [f64; 4])> = None;
                let mut is_inside = true;
                for [i, j, k, l] in [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]] {
                    let normal = (p[j] - p[i]).cross(&(p[k] - p[i]));
                    let (origin, other) = (-normal.dot(&p[i]), normal.dot(&(p[l] - p[i])));
                    is_inside &= origin * other > 0.0;
                    let found = nearest_on_triangle(&p, i, j, k);
                    if best.is_none_or(|b| found.0.norm_squared() < b.0.norm_squared()) {
                        best = Some(found);
                    }
                }
                best.filter(|_| !is_inside)?
            }
        };
        let mut n = 0;
        for i in 0..self.n {
            if best.1[i] > 0.0 {
                self.vertices[n] = self.vertices[i];
                self.weights[n] = best.1[i];
                n += 1;
            }
        }
        self.n = n;
        Some(best.0)
    }
}

fn nearest_on_segment(p: &[Vec3; 4], i: usize, j: usize) -> (Vec3, [f64; 4]) {
    let edge = p[j] - p[i];
    let length2 = edge.norm_squared();
    let t = if length2 > 0.0 { (-p[i].dot(&edge) / length2).clamp(0.0, 1.0) } else { 0.0 };
    let mut weights = [0.0; 4];
    (weights[i], weights[j]) = (1.0 - t, t);
    (p[i] * (1.0 - t) + p[j] * t, weights)
}

fn nearest_on_triangle(p: &[Vec3; 4], i: usize, j: usize, k: usize) -> (Vec3, [f64; 4]) {
    let normal = (p[j] - p[i]).cross(&(p[k] - p[i]));
    let area2 = normal.norm_squared();
    if area2 > 0.0 {
        let w = |x: usize, y: usize| p[x].cross(&p[y]).dot(&normal) / area2;
        let (wi, wj, wk) = (w(j, k), w(k, i), w(i, j));
        if wi > 0.0 && wj > 0.0 && wk > 0.0 {
            let mut weights = [0.0; 4];
            let sum = wi + wj + wk;
            (weights[i], weights[j], weights[k]) = (wi / sum, wj / sum, wk / sum);
            return (normal * (normal.dot(&p[i]) / area2), weights);
        }
    }
    let mut best = nearest_on_segment(p, i, j);
    for found in [nearest_on_segment(p, j, k), nearest_on_segment(p, k, i)] {
        if found.0.norm_squared() < best.0.norm_squared() {
            best = found;
        }
    }
    best
}

/// A core in scaled coordinates about some origin, as the library wants it.
struct Scaled<'a, 'b> {
    placed: &'a Placed<'b>,
    origin: Vec3,
    scale: f64,
}

impl SupportMap for Scaled<'_, '_> {
    fn local_support_point(&self, d: Vector) -> Vector {
        let p = (self.placed.support(&Vec3::new(d.x, d.y, d.z)) - self.origin) * self.scale;
        Vector::new(p.x, p.y, p.z)
    }
}

/// The direction from `a` to `b` along which two overlapping cores overlap least, and a point of a where they do, from where
/// [`find_closest`] left its simplex; none where that cannot be told.
pub(crate) fn find_least_overlap(
    a: &Placed,
    b: &Placed,
    simplex: &Simplex,
    polytope: &mut EPA,
) -> Option<(Vec3, Vec3)> {
    let scale = power_of_two_over(a.reach + b.reach)?;
    let origin = a.position;
    let [scaled_a, scaled_b] = [a, b].map(|placed| Scaled { placed, origin, scale });
    let mut start = VoronoiSimplex::new();
    for (i, v) in simplex.vertices[..simplex.n].iter().enumerate() {
        let [on_a, on_b] = [v.a, v.b].map(|p| (p - origin) * scale).map(|p| Vector::new(p.x, p.y, p.z));
        let point = CsoPoint::new(on_a, on_b);
        if i == 0 {
            start.reset(point);
        } else {
            start.add_point(point);
        }
    }
    let (p, _, n) = polytope.closest_points(&Pose::IDENTITY, &scaled_a, &scaled_b, &start)?;
    let n = Vec3::new(n.x, n.y, n.z);
    let on_a = Vec3::new(p.x, p.y, p.z) / scale + origin;
    ((n + on_a).iter().all(|x| x.is_finite()) && n.norm() > 0.5).then(|| (n.normalize(), on_a))
}

/// The power of two that brings a positive length to between ½ and 1.
pub(crate) fn power_of_two_over(length: f64) -> Option<f64> {
    if !length.is_normal() || length <= 0.0 {
        return None;
    }
    let exponent = ((length.to_bits() >> 52) & 0x7ff) as i64 - 1022;
    let biased = 1023 - exponent;
    (1..2047).contains(&biased).then(|| f64::from_bits((biased as u64) << 52))
}
