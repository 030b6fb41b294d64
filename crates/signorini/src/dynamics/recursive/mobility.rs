//! How easily links move: the inverse inertia that a wrench on a link meets.
//!
//! **Problem.** For every link of a tree find the 6×6 matrix Ω from a wrench on the link to the change of its own velocity, everything
//! that it is joined to included.
//!
//! **Method.** The operational-space inverse inertia [featherstone2008, ch. 7; kreutz1992], from the ground outwards. With s, U, D the unit
//! motion, force across and inertia along of each speed (`aba.rs`) and X the shift to the link's origin, Ω ← X Ω Xᵀ, then for each speed
//! Ω ← T Ω Tᵀ + s sᵀ/D, T = 1 − s Uᵀ/D, which is Ω + s tᵀ + t sᵀ with t = ½ (1 + Uᵀ Ω U/D) s/D − Ω U/D. A prescribed speed has 1/D = 0.
//!
//! **Cost.** O(n): about 300 flops per speed.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/contact_motion.rs`, by way of the ports.

use super::Swept;
use crate::spatial::{Twist, Vec3};

/// Six numbers: angular part or moment first.
pub(crate) type Six = [f64; 6];

/// a · b in two interleaved sums, so that it vectorises.
#[inline(always)]
pub(crate) fn dot6(a: &Six, b: &Six) -> f64 {
    let even = a[0] * b[0] + a[2] * b[2] + a[4] * b[4];
    let odd = a[1] * b[1] + a[3] * b[3] + a[5] * b[5];
    even + odd
}

/// The matrix with these columns times x.
#[inline(always)]
pub(crate) fn times6(columns: &[Six; 6], x: &Six) -> Six {
    let mut sum = [0.0; 6];
    for (column, x) in columns.iter().zip(x) {
        for (s, c) in sum.iter_mut().zip(column) {
            *s += c * x;
        }
    }
    sum
}

/// Ω of every link, with the pivots of [`super::Recursion::update_articulated`].
pub(crate) fn find_mobilities(swept: Swept<'_>, out: &mut Vec<[Six; 6]>) {
    sweep(swept, out, |_, _| {});
}

/// How easily each speed moves, the diagonal of M⁻¹: (1 + Uᵀ Ω U/D)/D with Ω before the speed. What is prescribed does not move.
pub(crate) fn find_speed_mobilities(swept: Swept<'_>, scratch: &mut Vec<[Six; 6]>, out: &mut [f64]) {
    sweep(swept, scratch, |v, mobility| out[v] = mobility);
}

fn sweep(swept: Swept<'_>, out: &mut Vec<[Six; 6]>, mut note: impl FnMut(usize, f64)) {
    let Swept { tree, kinematics, pivots } = swept;
    out.clear();
    for (i, link) in tree.links.iter().enumerate() {
        let mut omega = [[0.0; 6]; 6];
        if let Some(p) = link.parent_index() {
            omega = shifted(&out[p], &kinematics.links[i].offset);
        }
        for v in link.v_range().rev() {
            let pivot = &pivots[v];
            let s = kinematics.unit_motion(i, link, v).to_array();
            let across = pivot.across.to_array();
            let moved = times6(&omega, &across);
            let half = 0.5 * (1.0 + dot6(&across, &moved) * pivot.inverse);
            note(v, 2.0 * half * pivot.inverse);
            let t: Six = std::array::from_fn(|k| (half * s[k] - moved[k]) * pivot.inverse);
            for (k, column) in omega.iter_mut().enumerate() {
                for (l, x) in column.iter_mut().enumerate() {
                    *x += s[k] * t[l] + t[k] * s[l];
                }
            }
        }
        out.push(omega);
    }
}

/// X Ω Xᵀ, X the shift of motions to a point that lies `d` away.
fn shifted(omega: &[Six; 6], d: &Vec3) -> [Six; 6] {
    let shift = |c: &Six| Twist::new(Vec3::new(c[0], c[1], c[2]), Vec3::new(c[3], c[4], c[5])).shifted(d).to_array();
    let half = omega.map(|column| shift(&column));
    // Ω is symmetric, so what was done to its columns is done to its rows.
    let turned: [Six; 6] = std::array::from_fn(|i| half.map(|column| column[i]));
    turned.map(|column| shift(&column))
}
