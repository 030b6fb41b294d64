//! The direction of a contact between two convex cores.
//!
//! **Problem.** Find the unit vector n, from a to b, along which the separation s(n) = min n·(b − a) is largest. For cores that are
//! apart that largest separation is their distance; for overlapping ones it is minus the depth of the overlap.
//!
//! **Method.** s is cheap and exact to rounding for any n. So directions are only ever *proposed*, and the largest s decides: normals of
//! faces, intersections of the rings of normals of edges and sides (for polytopes these are the separating axes), then, unless
//! contact points along the best of them prove that the distance is reached, the direction between closest points, polished on curved
//! edges. A resting contact has a face normal to full precision where the difference of closest points would be rounding. Proposals
//! that come earlier win ties, so that the choice does not hang on the last bit.
//!
//! **Cost.** 15 proposals for two boxes; closest points only where cores meet at edges, corners or curves.
//!
//! **Fails when** curved cores or hulls overlap deeply: the polytope may find a direction that is only locally best, or none. The
//! answer is then marked as unreliable.
//!
//! **Checked by** `tests/collide_pairs.rs` (closed forms), `tests/collide_random.rs` (a referee).

use super::boxes::find_axis;
use super::closest::{Closest, Simplex, find_closest, find_least_overlap};
use super::convex::{Core, Placed, Ring, separation};
use super::manifold::tangents;
use super::rim;
use crate::spatial::Vec3;
use parry3d_f64::query::epa::EPA;

/// How much larger a separation must be to win over an earlier proposal, relative to the size of the cores: a few roundings.
const TIE: f64 = 64.0 * f64::EPSILON;

/// A direction and what is known of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Direction {
    pub normal: Vec3,
    /// Separation of the cores along it.
    pub separation: f64,
    /// A point of core a at which the separation is reached, where one is known.
    pub on_a: Option<Vec3>,
    /// Whether the separation is known to be the largest.
    pub is_reliable: bool,
}

/// Scratch.
#[derive(Default)]
pub(crate) struct Finder {
    simplex: Simplex,
    polytope: EPA,
}

struct Best<'a, 'b> {
    a: &'a Placed<'b>,
    b: &'a Placed<'b>,
    tie: f64,
    found: Option<(f64, Vec3)>,
}

impl Best<'_, '_> {
    fn offer(&mut self, n: Vec3) {
        let s = separation(self.a, self.b, &n);
        if self.found.is_none_or(|(best, _)| s > best + self.tie) {
            self.found = Some((s, n));
        }
    }
}

impl Best<'_, '_> {
    /// Searches around the best direction, in ever smaller rings, for a better one.
    fn climb(&mut self) {
        let Some(start) = self.found else { return };
        let (mut s, mut n) = start;
        let mut radius = 0.25;
        for _ in 0..400 {
            let [e, f] = tangents(&n);
            let mut next = (s, n);
            for (cos, sin) in RING {
                for sign in [1.0, -1.0] {
                    let m = (n + (e * cos + f * sin) * (sign * radius)).normalize();
                    let value = separation(self.a, self.b, &m);
                    if value > next.0 {
                        next = (value, m);
                    }
                }
            }
            if next.0 > s {
                (s, n) = next;
            } else if radius > 1e-9 {
                radius *= 0.5;
            } else {
                break;
            }
        }
        self.offer(n);
    }
}

/// Half of the directions of a search.
const RING: [(f64, f64); 4] = {
    const D: f64 = std::f64::consts::FRAC_1_SQRT_2;
    [(1.0, 0.0), (D, D), (0.0, 1.0), (-D, D)]
};

/// Directions that the cores offer by themselves; near `near` where it is given.
pub(crate) fn propose(a: &Placed, b: &Placed, near: Option<&Vec3>, visit: &mut impl FnMut(Vec3)) {
    let between = b.position - a.position;
    // Of mirror images in the origin only the half that faces the other can win.
    let half = a.core.is_symmetric() && b.core.is_symmetric();
    let mut visit = |n: Vec3| {
        if !half || n.dot(&between) >= 0.0 {
            visit(n);
        }
    };
    let away = near.map(|n| -n);
    a.faces(near, &mut visit);
    b.faces(away.as_ref(), &mut |n| visit(-n));
    a.rings(near, &mut |of_a| {
        b.rings(away.as_ref(), &mut |of_b| cross(&of_a, &of_b, &mut visit));
        if let Some(n) = toward(&of_a, &between) {
            visit(n);
        }
    });
    b.rings(away.as_ref(), &mut |of_b| {
        if let Some(n) = toward(&of_b, &-between) {
            visit(-n);
        }
    });
    let distance = between.norm();
    if distance > 0.0 {
        visit(between / distance);
    }
}

/// Directions on the ring of a whose opposite is on the ring of b.
fn cross(a: &Ring, b: &Ring, visit: &mut impl FnMut(Vec3)) {
    let axis = a.axis.cross(&b.axis);
    let det = axis.norm_squared();
    if det <= f64::EPSILON {
        return;
    }
    let (k, ca, cb) = (a.axis.dot(&b.axis), a.offset, -b.offset);
    if ca == 0.0 && cb == 0.0 {
        let n = axis / det.sqrt();
        visit(n);
        visit(-n);
        return;
    }
    let middle = (a.axis * (ca - k * cb) + b.axis * (cb - k * ca)) / det;
    let rest = 1.0 - middle.norm_squared();
    if rest >= 0.0 {
        let side = axis * (rest / det).sqrt();
        visit((middle + side).normalize());
        visit((middle - side).normalize());
    }
}

/// The direction of a ring that leans most towards `d`.
fn toward(ring: &Ring, d: &Vec3) -> Option<Vec3> {
    let across = d - ring.axis * ring.axis.dot(d);
    let length = across.norm();
    (length > 0.0).then(|| ring.axis * ring.offset + across * ((1.0 - ring.offset * ring.offset).sqrt() / length))
}

impl Finder {
    /// For two boxes, the best of the normals of faces and edges, which is all that matters where they overlap or face each other.
    pub(crate) fn find_between_boxes(&self, a: &Placed, b: &Placed) -> Option<Direction> {
        let (Core::Box { half: of_a }, Core::Box { half: of_b }) = (a.core, b.core) else { return None };
        let (separation, normal) = find_axis(a, b, (of_a, of_b), TIE * (a.reach + b.reach));
        Some(Direction { normal, separation, on_a: None, is_reliable: separation <= 0.0 })
    }

    /// The best of what the cores offer by themselves; none where they offer nothing.
    pub(crate) fn find_offered(&self, a: &Placed, b: &Placed) -> Option<Direction> {
        let mut best = Best { a, b, tie: TIE * (a.reach + b.reach), found: None };
        propose(a, b, None, &mut |n| best.offer(n));
        let (separation, normal) = best.found?;
        let is_reliable = separation <= 0.0 && is_complete(a, b);
        Some(Direction { normal, separation, on_a: None, is_reliable })
    }

    /// The best direction of all, `offered` included.
    pub(crate) fn find(&mut self, a: &Placed, b: &Placed, offered: Option<Direction>) -> Direction {
        let found = offered.map(|d| (d.separation, d.normal));
        let mut best = Best { a, b, tie: TIE * (a.reach + b.reach), found };
        let closest = find_closest(a, b, &mut self.simplex);
        let (on_a, mut is_reliable) = match closest {
            Closest::Apart { on_a, on_b } => {
                let between = on_b - on_a;
                let n = between / between.norm();
                propose(a, b, Some(&n), &mut |n| best.offer(n));
                if a.core.has_rim() || b.core.has_rim() {
                    rim::offer(a, b, &n, &on_a, &on_b, &mut |n| best.offer(n));
                }
                best.offer(n);
                (Some(on_a), true)
            }
            Closest::Overlap => {
                let least = find_least_overlap(a, b, &self.simplex, &mut self.polytope);
                if let Some((n, _)) = least {
                    propose(a, b, Some(&n), &mut |n| best.offer(n));
                    best.offer(n);
                }
                if a.core.has_rim() || b.core.has_rim() {
                    // The polytope has flat faces where the cores are curved.
                    best.climb();
                    if let Some((_, n)) = best.found {
                        // The points of both are near each other, and rims know theirs.
                        for (rimmed, at) in [(a, a.support(&n)), (b, b.support(&-n))] {
                            if rimmed.core.has_rim() {
                                rim::offer(a, b, &n, &at, &at, &mut |n| best.offer(n));
                            }
                        }
                    }
                    (None, least.is_some())
                } else {
                    (least.map(|(_, on_a)| on_a), least.is_some())
                }
            }
        };
        // Coincident points overlap along every direction alike.
        let (separation, normal) = best.found.unwrap_or((0.0, Vec3::z()));
        if separation.is_nan() {
            is_reliable = false;
        }
        Direction { normal, separation, on_a, is_reliable }
    }
}

/// Whether the normals that two cores offer hold the direction of least overlap.
fn is_complete(a: &Placed, b: &Placed) -> bool {
    use super::convex::Core::{Cone, Cylinder, Point};
    let round = |x: &Placed, y: &Placed| matches!((x.core, y.core), (Point, Cylinder { .. } | Cone { .. }));
    (a.core.is_small_polytope() && b.core.is_small_polytope()) || round(a, b) || round(b, a)
}
