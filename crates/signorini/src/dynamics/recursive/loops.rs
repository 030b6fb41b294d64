//! Closed loops on top of the recursions.
//!
//! **Problem.** Find the joint forces of cut joints so that the tree's motion keeps every loop closed, also where
//! closure conditions depend on each other.
//!
//! **Method.** The articulated-body sweep factors the mass matrix as M = Nᵀ N: running a wrench through the inward sweep
//! and dividing each speed's force u by √D gives one column of Y = N⁻ᵀ Jᵀ, so that J M⁻¹ Jᵀ = Yᵀ Y without forming either.
//! With y = N v̇ the loop forces are the y of least norm with Yᵀ y = b (Gauss's principle), found by rank-revealing QR of Y;
//! the outward sweep turns y into accelerations, velocity jumps or displacements. Redundant conditions are those that
//! the factorisation finds dependent: they take part in no solve, and are judged afterwards like all others.
//!
//! Each column is divided by the size it would have if nothing cancelled on its way through the joints, which gives the rank
//! test a meaning in any units.
//!
//! **Cost.** O(m · depth) for Y and O(n_v · m · rank) for its factorisation, m closure conditions.
//!
//! **Fails when** conditions contradict each other: the residual after the solve says so.
//!
//! **Checked by** `tests/dynamics.rs` against `dense`, `tests/benchmarks.rs` through singular positions.

use super::{Pivot, Strand, Swept, take_strand};
use crate::dynamics::pivoted_qr::PivotedQr;
use crate::dynamics::row::{Pushed, RowKind, RowSet};
use crate::dynamics::tree::Tree;
use crate::spatial::Twist;

/// Scratch for loops.
#[derive(Debug, Clone, Default)]
pub struct Loops {
    /// Number of rows that are not rotors.
    n_hard: usize,
    /// Inertia of each rotor; their rows come last.
    rotors: Vec<f64>,
    /// Unit in which inertia is measured here, a power of two near the mechanism's mass. Inertias in other units of mass,
    /// length and time then differ by even powers of two only, and their square roots have the same bits.
    mass_unit: f64,
    qr: PivotedQr,
    scale: Vec<f64>,
    b: Vec<f64>,
    x: Vec<f64>,
    work: Vec<f64>,
    response: Vec<Twist>,
    strands: Vec<Strand>,
    pushed: Vec<(usize, f64)>,
    /// Sum of the solutions since `begin`.
    total: Vec<f64>,
    last_lambda: Vec<f64>,
}

impl Loops {
    /// Storage for the rows of a mechanism.
    pub(crate) fn new(tree: &Tree, rows: &RowSet) -> Self {
        let inertia = |kind: RowKind| if let RowKind::Rotor(_, i) = kind { Some(i) } else { None };
        let rotors: Vec<f64> = rows.iter().filter_map(|row| inertia(row.kind)).collect();
        let m = rows.len();
        let mass: f64 = tree.links.iter().map(|l| l.inertia.mass).sum();
        let n_rows = if m == 0 { 0 } else { tree.n_v + rotors.len() };
        // A term pushes two links, or a speed.
        let n_pushed = (0..m).map(|r| 2 * rows.terms(r).len()).max().unwrap_or(0);
        Self {
            mass_unit: power_of_two(mass),
            qr: PivotedQr::new(n_rows, m),
            scale: vec![0.0; m],
            b: vec![0.0; m],
            x: vec![0.0; n_rows],
            work: vec![0.0; n_rows],
            response: vec![Twist::default(); if m == 0 { 0 } else { tree.links.len() }],
            strands: Vec::with_capacity(n_pushed),
            pushed: Vec::with_capacity(n_pushed),
            total: vec![0.0; n_rows],
            last_lambda: vec![0.0; m],
            rotors,
            n_hard: rows.n_hard,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.scale.is_empty()
    }

    /// Builds and factors Y at the present configuration, for the hard rows or for all of them.
    pub(crate) fn factor(&mut self, swept: Swept<'_>, rows: &RowSet, rotors: bool) {
        let m = if rotors { rows.len() } else { self.n_hard };
        self.qr.clear(m);
        let Self { strands, pushed, .. } = self;
        for r in 0..m {
            strands.clear();
            pushed.clear();
            rows.push(r, |one| match one {
                Pushed::Link(link, wrench) => strands.push(Strand::new(link, wrench)),
                Pushed::Speed(speed, force) => pushed.push((speed, force)),
            });
            let column = self.qr.column_mut(r);
            let mut square = sweep(swept, self.mass_unit, strands, pushed, column);
            if let Some(rotor) = r.checked_sub(self.n_hard) {
                let root = 1.0 / (self.rotors[rotor] / self.mass_unit).sqrt();
                column[swept.tree.n_v + rotor] = -root;
                square += root * root;
            }
            // A power of two, so that scaling rounds nothing and rescaled units give the same bits.
            let scale = power_of_two(square.sqrt());
            self.scale[r] = scale;
            if scale > 0.0 {
                column.iter_mut().for_each(|x| *x /= scale);
            }
        }
        self.qr.factor();
    }

    /// Number of independent rows at the last factorisation.
    pub fn rank(&self) -> usize {
        self.qr.rank()
    }

    /// Rows that depended on others at the last factorisation.
    pub fn dependent_rows(&self) -> &[usize] {
        &self.qr.permutation()[self.qr.rank()..]
    }

    /// Closeness to a singular position: the shortest independent row after projection, one being far away.
    pub fn smallest_pivot(&self) -> f64 {
        self.qr.smallest_pivot()
    }

    /// Length of a column of Y: speeds of the tree, then rotors.
    pub fn n_unknowns(&self) -> usize {
        self.x.len()
    }

    /// Takes from a column of Y its part in the range of the loops' columns.
    pub fn project_out(&self, column: &mut [f64]) {
        self.qr.project_out(column);
    }

    /// Solves for the least y that meets the right-hand sides.
    pub fn solve(&mut self, rhs: &[f64]) {
        for (b, (rhs, scale)) in self.b.iter_mut().zip(rhs.iter().zip(&self.scale)) {
            *b = if *scale > 0.0 { rhs / scale } else { 0.0 };
        }
        self.qr.solve_least_norm(&self.b, &mut self.x);
    }

    /// Forgets solutions summed so far.
    pub fn begin(&mut self) {
        self.total.fill(0.0);
    }

    /// Adds the last solution to the sums, and its generalised forces to `lambda`.
    pub fn accumulate(&mut self, lambda: &mut [f64]) {
        self.total.iter_mut().zip(&self.x).for_each(|(t, x)| *t += x);
        let m = self.qr.permutation().len();
        self.qr.solve_multipliers(&self.x, &mut self.work, &mut self.last_lambda[..m]);
        for r in (0..m).filter(|&r| self.scale[r] > 0.0) {
            lambda[r] += self.last_lambda[r] * (self.mass_unit / self.scale[r]);
        }
    }

    /// Acceleration of a row's rotor by the solutions summed so far; none of a hard row.
    pub fn rotor_acceleration(&self, row: usize) -> Option<f64> {
        let rotor = row.checked_sub(self.n_hard)?;
        let at = self.total.len() - (self.scale.len() - row);
        Some(self.total[at] / (self.rotors[rotor] / self.mass_unit).sqrt())
    }

    /// Adds the solution to the forces of the pivots, so that the next outward sweep includes it.
    pub fn apply(&self, pivots: &mut [Pivot]) {
        for (pivot, x) in pivots.iter_mut().zip(&self.x) {
            if pivot.inverse > 0.0 {
                pivot.force += x / (pivot.inverse * self.mass_unit).sqrt() * self.mass_unit;
            }
        }
    }

    /// What the solution does to speeds (or, read as a displacement, to coordinates) of a tree that has no other cause to move.
    pub fn respond(&mut self, swept: Swept<'_>, out: &mut [f64]) {
        for (i, link) in swept.tree.links.iter().enumerate() {
            let inner = link.parent_index().map_or_else(Twist::default, |p| self.response[p]);
            let mut a = inner.shifted(&swept.kinematics.links[i].offset);
            for v in link.v_range().rev() {
                let pivot = &swept.pivots[v];
                out[v] = 0.0;
                if pivot.inverse > 0.0 {
                    out[v] = self.x[v] * (pivot.inverse * self.mass_unit).sqrt() - a.dot(&pivot.across) * pivot.inverse;
                    a += swept.kinematics.unit_motion(i, link, v) * out[v];
                }
            }
            self.response[i] = a;
        }
    }
}

/// One column of Y: the inward sweep of wrenches on links and forces on speeds, and the square of the size it would have without
/// cancellation.
///
/// Where ways meet, the wrenches may cancel (they do between bodies that the tree holds rigidly together), and what
/// is left is rounding. From there on the size counts what came together, not what is left.
fn sweep(
    swept: Swept<'_>,
    mass_unit: f64,
    strands: &mut Vec<Strand>,
    pushed: &[(usize, f64)],
    column: &mut [f64],
) -> f64 {
    let mut square = 0.0;
    let outermost = |pushed: &[(usize, f64)]| pushed.iter().map(|(speed, _)| swept.tree.link_of_speed(*speed)).max();
    let mut next_pushed = outermost(pushed);
    // The highest-numbered link cannot be an ancestor of any other, so its wrench is complete.
    while let Some(i) = strands.iter().map(|s| s.link).max().max(next_pushed) {
        let Strand { wrench: mut w, mut met_moment, met_force, .. } = take_strand(strands, i);
        let link = &swept.tree.links[i];
        for v in link.v_range() {
            let pivot = &swept.pivots[v];
            if pivot.inverse == 0.0 {
                continue;
            }
            let s = swept.kinematics.unit_motion(i, link, v);
            let own: f64 = pushed.iter().filter(|(speed, _)| *speed == v).map(|(_, force)| force).sum();
            let force = if own == 0.0 { s.dot(&w) } else { s.dot(&w) + own };
            let (moment, push) = (w.moment.norm().max(met_moment), w.force.norm().max(met_force));
            let size = s.angular.norm() * moment + s.linear.norm() * push + own.abs();
            let mobility = pivot.inverse * mass_unit;
            column[v] = force * mobility.sqrt();
            square += size * size * mobility;
            w = w - pivot.across * (force * pivot.inverse);
        }
        if next_pushed == Some(i) {
            let inwards = |(speed, _): &&(usize, f64)| swept.tree.link_of_speed(*speed) < i;
            next_pushed = pushed.iter().filter(inwards).map(|(speed, _)| swept.tree.link_of_speed(*speed)).max();
        }
        let offset = &swept.kinematics.links[i].offset;
        met_moment += offset.norm() * met_force;
        if let Some(link) = link.parent_index() {
            strands.push(Strand { link, wrench: w.shifted(offset), met_moment, met_force });
        }
    }
    square
}

/// The largest power of two not above `x`; zero where `x` is zero, subnormal or not finite.
pub(crate) fn power_of_two(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    if x > 0.0 && x.is_finite() { f64::from_bits(x.to_bits() & EXPONENT) } else { 0.0 }
}
