//! The direction between two boxes, from what they offer as polytopes.
//!
//! **Problem.** Of the normals of the faces of two boxes and of the cross products of their edges, find the one along which the boxes are
//! farthest apart, or overlap least.
//!
//! **Method.** Separating axes [gottschalk1996]. With R the axes of b in those of a, half sides g and h, and d from centre to centre, a face
//! of a has the separation |d·a_i| − g_i − Σ_j |R_ij| h_j, and the cross product of two edges one in which the same numbers occur, over the
//! sine of their angle. Dividing by a small sine magnifies rounding, so that an edge which seems to win is asked again with its own unit
//! vector. Earlier directions win ties, as everywhere.
//!
//! **Cost.** About 400 operations.
//!
//! **Fails when** never; where boxes are apart the best direction may be another (see `direction.rs`).
//!
//! **Checked by** `tests/collide_pairs.rs`, `tests/collide_random.rs`.

use super::convex::{Placed, separation};
use crate::spatial::Vec3;

/// Roundings in the separation along a cross product, before it is divided by the sine.
const ROUNDINGS: f64 = 16.0 * f64::EPSILON;

/// Separation and direction from `a` to `b`, two boxes with these half sides.
pub(crate) fn find_axis(a: &Placed, b: &Placed, half: (&Vec3, &Vec3), tie: f64) -> (f64, Vec3) {
    let (g, h) = half;
    let between = b.position - a.position;
    let (of_a, of_b) = (&a.rotation, &b.rotation);
    let along = of_a.tr_mul(of_b);
    let size = along.abs();
    let (in_a, in_b) = (of_a.tr_mul(&between), of_b.tr_mul(&between));
    let faces_a = in_a.abs() - g - size * h;
    let faces_b = in_b.abs() - h - size.tr_mul(g);
    let mut best = (faces_a[0], 0);
    for (k, s) in [faces_a[1], faces_a[2], faces_b[0], faces_b[1], faces_b[2]].into_iter().enumerate() {
        if s > best.0 + tie {
            best = (s, k + 1);
        }
    }
    let (axes, i, reach) = if best.1 < 3 { (of_a, best.1, in_a) } else { (of_b, best.1 - 3, in_b) };
    let axis = axes.column(i).into_owned();
    let mut found = (best.0, if reach[i] < 0.0 { -axis } else { axis });
    let rounding = ROUNDINGS * (g.sum() + h.sum() + in_a.abs().sum());
    for i in 0..3 {
        let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            // In the axes of a, the cross product of the edges has the parts −R_(i2)j and R_(i1)j.
            let (x, y) = (along[(i1, j)], along[(i2, j)]);
            let det = x * x + y * y;
            if det <= f64::EPSILON {
                continue;
            }
            let height = in_a[i2] * x - in_a[i1] * y;
            let radius = g[i1] * size[(i2, j)] + g[i2] * size[(i1, j)] + h[j1] * size[(i, j2)] + h[j2] * size[(i, j1)];
            // Whether it may win, without a root: s √det > (best + tie) √det.
            let s = height.abs() - radius + rounding;
            let limit = found.0 + tie;
            let may_win = if s < 0.0 {
                limit < 0.0 && s * s < limit * limit * det
            } else {
                limit < 0.0 || s * s > limit * limit * det
            };
            if may_win {
                let n = of_a.column(i).cross(&of_b.column(j)).normalize();
                let n = if n.dot(&between) < 0.0 { -n } else { n };
                let s = separation(a, b, &n);
                if s > limit {
                    found = (s, n);
                }
            }
        }
    }
    found
}
