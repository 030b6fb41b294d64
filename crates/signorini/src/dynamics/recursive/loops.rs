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

use super::{Pivot, Swept};
use crate::dynamics::pivoted_qr::PivotedQr;
use crate::dynamics::tree::Tree;
use crate::dynamics::tree::cut::{Closure, Cut};
use crate::spatial::{Twist, Vec3, Wrench};

/// A closure condition: forbidden direction of one cut joint, or a prescribed or inertia-carrying speed of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopRow {
    /// Index of the cut joint.
    pub cut: usize,
    /// What the row is.
    pub kind: RowKind,
}

/// The kinds of row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowKind {
    /// The k-th closed direction.
    Closed(usize),
    /// The k-th speed, which follows a prescribed motion.
    Prescribed(usize),
    /// The k-th speed, which drives a rotor of this inertia.
    Rotor(usize, f64),
}

/// Scratch for loops.
#[derive(Debug, Clone, Default)]
pub struct Loops {
    /// All rows; rotors come last.
    pub rows: Vec<LoopRow>,
    /// Number of rows that are not rotors.
    pub n_hard: usize,
    /// Unit in which inertia is measured here, a power of two near the mechanism's mass. Inertias in other units of mass,
    /// length and time then differ by even powers of two only, and their square roots have the same bits.
    mass_unit: f64,
    qr: PivotedQr,
    scale: Vec<f64>,
    /// Right-hand side of each row.
    pub(crate) rhs: Vec<f64>,
    b: Vec<f64>,
    x: Vec<f64>,
    work: Vec<f64>,
    response: Vec<Twist>,
    /// Sum of the solutions since `begin`.
    total: Vec<f64>,
    last_lambda: Vec<f64>,
    /// Generalised force of each row, summed since `begin`.
    pub lambda: Vec<f64>,
}

impl Loops {
    /// Rows and storage for a set of cut joints. `fitting(cut, k)` tells whether a speed is prescribed, and its rotor.
    pub fn new(tree: &Tree, cuts: &[Cut], fitting: impl Fn(&Cut, usize) -> (bool, f64)) -> Self {
        let mut rows = Vec::new();
        let mut rotors = Vec::new();
        for (c, cut) in cuts.iter().enumerate() {
            rows.extend((0..cut.rows.len()).map(|k| LoopRow { cut: c, kind: RowKind::Closed(k) }));
            for k in 0..cut.v.len() {
                let (prescribed, rotor) = fitting(cut, k);
                if prescribed {
                    rows.push(LoopRow { cut: c, kind: RowKind::Prescribed(k) });
                }
                if rotor > 0.0 {
                    rotors.push(LoopRow { cut: c, kind: RowKind::Rotor(k, rotor) });
                }
            }
        }
        let n_hard = rows.len();
        let n_rows = tree.n_v + rotors.len();
        rows.extend(rotors);
        let m = rows.len();
        let mass: f64 = tree.links.iter().map(|l| l.inertia.mass).sum();
        Self {
            mass_unit: power_of_two(mass),
            qr: PivotedQr::new(if m == 0 { 0 } else { n_rows }, m),
            scale: vec![0.0; m],
            rhs: vec![0.0; m],
            b: vec![0.0; m],
            x: vec![0.0; if m == 0 { 0 } else { n_rows }],
            work: vec![0.0; if m == 0 { 0 } else { n_rows }],
            response: vec![Twist::default(); if m == 0 { 0 } else { tree.links.len() }],
            total: vec![0.0; if m == 0 { 0 } else { n_rows }],
            last_lambda: vec![0.0; m],
            lambda: vec![0.0; m],
            rows,
            n_hard,
        }
    }

    /// Gives back the storage of the factorisation, for another method that needs the rows only.
    pub(crate) fn without_factors(mut self) -> Self {
        self.qr = PivotedQr::default();
        self
    }

    /// Direction of a row as a wrench on the child at the closure point.
    pub fn direction(row: &LoopRow, closures: &[Closure]) -> Wrench {
        let closure = &closures[row.cut];
        match row.kind {
            RowKind::Closed(k) => closure.rows[k],
            RowKind::Prescribed(k) | RowKind::Rotor(k, _) => closure.measures[k],
        }
    }

    /// Builds and factors Y at the present configuration, for the hard rows or for all of them.
    pub fn factor(&mut self, swept: Swept<'_>, cuts: &[Cut], closures: &[Closure], rotors: bool) {
        let m = if rotors { self.rows.len() } else { self.n_hard };
        self.qr.clear(m);
        for r in 0..m {
            let row = self.rows[r];
            let cut = &cuts[row.cut];
            let closure = &closures[row.cut];
            let w = Self::direction(&row, closures);
            let start = |link: Option<usize>, w: Wrench, arm: &Vec3| link.map(|l| (l, w.shifted(arm)));
            let child = start(cut.child, w, &closure.child_arm);
            let parent = start(cut.parent, -w, &closure.parent_arm);
            let column = self.qr.column_mut(r);
            let mut square = sweep(swept, self.mass_unit, child, parent, column);
            if let RowKind::Rotor(_, inertia) = row.kind {
                let root = 1.0 / (inertia / self.mass_unit).sqrt();
                column[swept.tree.n_v + r - self.n_hard] = -root;
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
    pub fn dependent_rows(&self) -> impl Iterator<Item = &LoopRow> {
        self.qr.permutation()[self.qr.rank()..].iter().map(|&r| &self.rows[r])
    }

    /// Closeness to a singular position: the shortest independent row after projection, one being far away.
    pub fn smallest_pivot(&self) -> f64 {
        self.qr.smallest_pivot()
    }

    /// Right-hand side of a row.
    pub fn set_rhs(&mut self, row: usize, b: f64) {
        self.rhs[row] = b;
    }

    /// Right-hand sides that undo what a motion of the tree, given in the space of speeds, does to the hard rows.
    pub fn set_rhs_of_motion(&mut self, swept: Swept<'_>, cuts: &[Cut], closures: &[Closure], motion: &[f64]) {
        for (i, link) in swept.tree.links.iter().enumerate() {
            let inner = link.parent_index().map_or_else(Twist::default, |p| self.response[p]);
            let mut t = inner.shifted(&swept.kinematics.links[i].offset);
            for v in link.v_range() {
                t += swept.kinematics.unit_motion(i, link, v) * motion[v];
            }
            self.response[i] = t;
        }
        for r in 0..self.n_hard {
            let row = self.rows[r];
            let (cut, closure) = (&cuts[row.cut], &closures[row.cut]);
            let of =
                |link: Option<usize>, arm: &Vec3| link.map_or_else(Twist::default, |l| self.response[l].shifted(arm));
            let relative = of(cut.child, &closure.child_arm) - of(cut.parent, &closure.parent_arm);
            let opening = relative.dot(&Self::direction(&row, closures));
            self.set_rhs(r, -opening);
        }
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
    pub fn solve(&mut self) {
        for (b, (rhs, scale)) in self.b.iter_mut().zip(self.rhs.iter().zip(&self.scale)) {
            *b = if *scale > 0.0 { rhs / scale } else { 0.0 };
        }
        self.qr.solve_least_norm(&self.b, &mut self.x);
    }

    /// Forgets solutions summed so far.
    pub fn begin(&mut self) {
        self.total.fill(0.0);
        self.lambda.fill(0.0);
    }

    /// Adds the last solution to the sums.
    pub fn accumulate(&mut self) {
        self.total.iter_mut().zip(&self.x).for_each(|(t, x)| *t += x);
        let m = self.qr.permutation().len();
        self.qr.solve_multipliers(&self.x, &mut self.work, &mut self.last_lambda[..m]);
        for r in (0..m).filter(|&r| self.scale[r] > 0.0) {
            self.lambda[r] += self.last_lambda[r] * (self.mass_unit / self.scale[r]);
        }
    }

    /// Acceleration of a rotor row's rotor by the solutions summed so far.
    pub fn rotor_acceleration(&self, row: usize) -> f64 {
        let RowKind::Rotor(_, inertia) = self.rows[row].kind else { return 0.0 };
        let at = self.total.len() - (self.rows.len() - row);
        self.total[at] / (inertia / self.mass_unit).sqrt()
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

/// One column of Y: the inward sweep of a wrench on two links, and the square of the size it would have without
/// cancellation.
///
/// Where the two ways meet, the wrenches may cancel (they do between bodies that the tree holds rigidly together), and what
/// is left is rounding. From there on the size counts what came together, not what is left.
fn sweep(
    swept: Swept<'_>,
    mass_unit: f64,
    mut a: Option<(usize, Wrench)>,
    mut b: Option<(usize, Wrench)>,
    column: &mut [f64],
) -> f64 {
    let mut square = 0.0;
    let (mut met_moment, mut met_force) = (0.0_f64, 0.0_f64);
    loop {
        // The higher-numbered link cannot be an ancestor of the other, so its wrench is complete.
        match (a, b) {
            (None, None) => return square,
            (None, Some(_)) => std::mem::swap(&mut a, &mut b),
            (Some((i, _)), Some((j, _))) if i < j => std::mem::swap(&mut a, &mut b),
            (Some((i, w)), Some((j, z))) if i == j => {
                met_moment = w.moment.norm() + z.moment.norm();
                met_force = w.force.norm() + z.force.norm();
                a = Some((i, w + z));
                b = None;
            }
            _ => {}
        }
        let Some((i, mut w)) = a else { return square };
        let link = &swept.tree.links[i];
        for v in link.v_range() {
            let pivot = &swept.pivots[v];
            if pivot.inverse == 0.0 {
                continue;
            }
            let s = swept.kinematics.unit_motion(i, link, v);
            let force = s.dot(&w);
            let (moment, push) = (w.moment.norm().max(met_moment), w.force.norm().max(met_force));
            let size = s.angular.norm() * moment + s.linear.norm() * push;
            let mobility = pivot.inverse * mass_unit;
            column[v] = force * mobility.sqrt();
            square += size * size * mobility;
            w = w - pivot.across * (force * pivot.inverse);
        }
        let offset = &swept.kinematics.links[i].offset;
        met_moment += offset.norm() * met_force;
        a = link.parent_index().map(|p| (p, w.shifted(offset)));
    }
}

/// The largest power of two not above `x`; zero where `x` is zero, subnormal or not finite.
pub(crate) fn power_of_two(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    if x > 0.0 && x.is_finite() { f64::from_bits(x.to_bits() & EXPONENT) } else { 0.0 }
}
