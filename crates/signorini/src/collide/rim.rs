//! Closest directions between curves, where a circular edge takes part.
//!
//! Newton's iteration on the stationarity of half the squared distance of two curves, from a guess that is good to a few digits.
//! Points, lines and circles have at most one parameter each, so the system is at most 2 × 2.

use super::convex::{Core, Placed};
use crate::spatial::Vec3;

#[derive(Debug, Clone, Copy)]
enum Curve {
    Point(Vec3),
    Line { p: Vec3, d: Vec3 },
    Circle { c: Vec3, u: Vec3, v: Vec3, r: f64 },
}

impl Curve {
    /// Point, first and second derivative.
    fn at(&self, t: f64) -> [Vec3; 3] {
        match *self {
            Self::Point(p) => [p, Vec3::zeros(), Vec3::zeros()],
            Self::Line { p, d } => [p + d * t, d, Vec3::zeros()],
            Self::Circle { c, u, v, r } => {
                let (sin, cos) = t.sin_cos();
                let out = (u * cos + v * sin) * r;
                [c + out, (v * cos - u * sin) * r, -out]
            }
        }
    }

    fn nearest(&self, x: &Vec3) -> f64 {
        match self {
            Self::Point(_) => 0.0,
            Self::Line { p, d } => (x - p).dot(d) / d.norm_squared(),
            Self::Circle { c, u, v, .. } => (x - c).dot(v).atan2((x - c).dot(u)),
        }
    }
}

const MAX_CURVES: usize = 12;

/// The curves of a core that may hold its closest point in direction `n`, at most [`MAX_CURVES`].
fn curves(a: &Placed, n: &Vec3) -> ([Curve; MAX_CURVES], usize) {
    let mut found = ([Curve::Point(a.support(n)); MAX_CURVES], 1);
    let mut push = |curve| {
        if found.1 < MAX_CURVES {
            found.0[found.1] = curve;
            found.1 += 1;
        }
    };
    let [x, y, z] = [0, 1, 2].map(|i| a.rotation.column(i).into_owned());
    let p = a.position;
    match a.core {
        Core::Cylinder { radius, half } => {
            push(Curve::Circle { c: p + z * half.copysign(z.dot(n)), u: x, v: y, r: *radius });
            push(Curve::Line { p, d: z });
        }
        Core::Cone { radius, half } => {
            push(Curve::Circle { c: p - z * *half, u: x, v: y, r: *radius });
            push(Curve::Point(p + z * *half));
        }
        _ => {
            let corner = a.support(n);
            a.rings(Some(n), &mut |ring| push(Curve::Line { p: corner, d: ring.axis }));
            if let Core::Triangle(triangle) = a.core {
                // An edge that does not meet the farthest corner.
                let i = triangle.support(&a.rotation.tr_mul(n));
                let [b, c] = [1, 2].map(|k| a.rotation * triangle.corners[(i + k) % 3] + p);
                push(Curve::Line { p: b, d: c - b });
            }
        }
    }
    found
}

/// Offers directions between curves of two cores near direction `n` and points `on_a`, `on_b`.
pub(crate) fn offer(a: &Placed, b: &Placed, n: &Vec3, on_a: &Vec3, on_b: &Vec3, visit: &mut impl FnMut(Vec3)) {
    let (of_a, n_a) = curves(a, n);
    let (of_b, n_b) = curves(b, &-n);
    for ca in &of_a[..n_a] {
        for cb in &of_b[..n_b] {
            if let (Curve::Point(_) | Curve::Line { .. }, Curve::Point(_) | Curve::Line { .. }) = (ca, cb)
                && !(a.core.has_rim() || b.core.has_rim())
            {
                continue;
            }
            let (mut s, mut t) = (ca.nearest(on_a), cb.nearest(on_b));
            for _ in 0..12 {
                let ([pa, da, dda], [pb, db, ddb]) = (ca.at(s), cb.at(t));
                let d = pa - pb;
                let (gs, gt) = (d.dot(&da), -d.dot(&db));
                let (hss, hst, htt) = (da.dot(&da) + d.dot(&dda), -da.dot(&db), db.dot(&db) - d.dot(&ddb));
                let (ds, dt) = match (da == Vec3::zeros(), db == Vec3::zeros()) {
                    (true, true) => break,
                    (false, true) => (gs / hss, 0.0),
                    (true, false) => (0.0, gt / htt),
                    (false, false) => {
                        let det = hss * htt - hst * hst;
                        ((gs * htt - gt * hst) / det, (gt * hss - gs * hst) / det)
                    }
                };
                if !(ds.is_finite() && dt.is_finite()) {
                    break;
                }
                s -= ds;
                t -= dt;
                if ds.abs() <= f64::EPSILON * s.abs() && dt.abs() <= f64::EPSILON * t.abs() {
                    break;
                }
            }
            let ([pa, da, _], [pb, db, _]) = (ca.at(s), cb.at(t));
            for direction in [pb - pa, da.cross(&db)] {
                let length = direction.norm();
                if length > 0.0 && length.is_finite() {
                    let unit = direction / length;
                    visit(if unit.dot(n) < 0.0 { -unit } else { unit });
                }
            }
        }
    }
}
