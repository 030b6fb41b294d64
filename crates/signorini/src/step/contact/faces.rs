//! Contacts of one face, made to agree with each other.
//!
//! **Problem.** Each contact has a point of either surface, found one by one. Where these are not quite parallel some are higher than others. The turn that closes
//! all gaps would then move them along the face too, by different amounts of the order of gap² per step: not all could stick, friction would have to find out which, and
//! a problem of ten contacts would have no solution but at forces far from those of rest. So it is with gaps: what rounding makes of them, over h, is more than a
//! step's tolerance, and which four of eight contacts carry a cylinder would be for rounding to say.
//!
//! **Method.** Of contacts of two shapes those that nearly share a normal get that of the closest. Those with one normal have their points of either body in one plane
//! across it. Gaps that are a plane to rounding are it exactly.
//!
//! **Cost.** A few passes over the contacts.
//!
//! **Fails when** pieces of two shapes lie at angles that the gaps between them do not leave open: these keep their own normals.
//!
//! **Checked by** `tests/contact_fuzz.rs`: a cylinder that falls on another.

use super::constraint::ContactConstraint;
use crate::spatial::Vec3;

/// Faces at more than this angle are not taken for one, however deep they overlap.
const NEARLY_PARALLEL: f64 = 1e-3;

/// Contacts on a strip ten thousand times as long as it is wide are on a line.
const FLAT: f64 = 1e-8;

/// Makes contacts, those of one pair of shapes side by side, agree.
pub(super) fn regularise_manifold(contacts: &mut [ContactConstraint]) {
    for pair in contacts.chunk_by_mut(|a, b| a.id[0] == b.id[0]) {
        share_normal(pair);
    }
    for face in contacts.chunk_by_mut(|a, b| a.id[0] == b.id[0] && a.normal == b.normal) {
        let closest = face.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).map(|t| t.points);
        let Some(closest) = closest.filter(|_| face.len() > 1) else { continue };
        for t in face.iter_mut() {
            for (point, level) in t.points.iter_mut().zip(&closest) {
                *point += t.normal * t.normal.dot(&(level - *point));
            }
        }
        if face.len() > 3 {
            smooth_gaps(face);
        }
    }
}

/// Gives the normal of the closest contact of two shapes to all whose own differs from it by no more than surfaces do that are this far apart: of two faces
/// that are nearly parallel either normal will do, and pieces of a mesh need not have chosen the same.
fn share_normal(pair: &mut [ContactConstraint]) {
    let Some(closest) = pair.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).filter(|_| pair.len() > 1) else { return };
    let (normal, tangents, at, gap) = (closest.normal, closest.tangents, closest.middle(), closest.gap);
    for t in pair.iter_mut().filter(|t| t.normal != normal) {
        let slack = gap.abs() + t.gap.abs() + 2.0 * t.rounding;
        let angle = (t.normal - normal).norm();
        if angle <= NEARLY_PARALLEL && angle * (t.middle() - at).norm() <= slack {
            let drift = t.tangents[0] * t.drift[0] + t.tangents[1] * t.drift[1];
            (t.normal, t.tangents, t.drift) = (normal, tangents, tangents.map(|d| d.dot(&drift)));
        }
    }
}

/// Replaces gaps by the plane of least squares through them, unless one is off by more than rounding, or all lie on a line.
fn smooth_gaps(face: &mut [ContactConstraint]) {
    let n = face.len() as f64;
    let [e, f] = face[0].tangents;
    let (mut centre, mut mean) = (Vec3::zeros(), 0.0);
    for t in face.iter() {
        centre += t.middle() / n;
        mean += t.gap / n;
    }
    let place = |t: &ContactConstraint| (e.dot(&(t.middle() - centre)), f.dot(&(t.middle() - centre)));
    let (mut xx, mut xy, mut yy, mut xg, mut yg) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for t in face.iter() {
        let ((x, y), g) = (place(t), t.gap - mean);
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
        (xg, yg) = (xg + x * g, yg + y * g);
    }
    let determinant = xx * yy - xy * xy;
    if determinant <= FLAT * (xx + yy) * (xx + yy) {
        return;
    }
    let slope = ((xg * yy - yg * xy) / determinant, (yg * xx - xg * xy) / determinant);
    let gap = |t: &ContactConstraint| {
        let (x, y) = place(t);
        mean + slope.0 * x + slope.1 * y
    };
    if face.iter().all(|t| (gap(t) - t.gap).abs() <= t.rounding) {
        for t in face {
            t.gap = gap(t);
        }
    }
}
