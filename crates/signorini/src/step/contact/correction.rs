//! Overlap is moved away, not turned into speed.
//!
//! **Problem.** Bodies that overlap, because the scene has them so or because turning bodies leave the straight line along which gaps were
//! extrapolated, must come apart. gap/h as a velocity would throw them: a millimetre at a step of one is a metre per second.
//!
//! **Method.** The displacement of least kinetic metric, δ = M⁻¹ W_nᵀ λ, on top of h v⁺, such that no gap is left negative to first order:
//! 0 ≤ gap + h W_n v⁺ + W_n δ ⊥ λ ≥ 0 (after Moreau gaps are those in the middle of this step and the next). Bodies that are alone keep their speeds and with them
//! their kinetic energy; mechanisms take their velocities along (`transport.rs`). Contacts are pushed apart one after the
//! other, again and again, until all are as they should be [cryer1971]; each push is told to the gaps that it changes, so that contacts
//! which are as they should be cost nothing. After a few sweeps those that push are nearly always the right ones, and elimination finds by how much;
//! where it does not end it, sweeps go on from there. If that takes long, the solver is asked.
//!
//! **Cost.** Nothing where nothing overlaps; else some sweeps over what does and what that closes and n³/6 for the n contacts that push, or one
//! frictionless problem.
//!
//! **Fails when** bodies cannot come apart (wedged between limits): the report counts the step as unsolved.
//!
//! **Checked by** `tests/contact_motion.rs`.

use super::{ContactConstraint, ContactStepper, contact_failed};
use crate::contact::delassus::BlockMatrix;
use crate::contact::solve::{Auto, AutoOptions};
use crate::contact::{Cone, ContactError, ContactProblem, ContactSolver, Solution, Start};
use crate::step::{Simulation, StepError, StepReport};

/// Relative tolerance of the solver: what is left overlaps by this share of what was there.
const TOLERANCE: f64 = 1e-9;

/// The same for sweeps. They go on to rounding, as pivoting does: what they left would be pushed again in the next step, and bodies
/// at rest would never quite be so.
const SETTLED: f64 = 1e-14;

/// Sweeps before the solver is asked.
const SWEEPS: usize = 300;

/// Sweeps that push by what is needed, which is exact for contacts that do not meet each other. Later ones push farther, since others
/// will push back.
const EXACT_SWEEPS: usize = 6;
const FARTHER: f64 = 1.4;

/// Sweeps after which elimination is tried, and the most contacts that it is tried with.
const LEAPS: [usize; 3] = [1, 3, 8];
const MOST_PUSHING: usize = 32;

/// Share of a diagonal entry below which its pivot is rounding.
const SINGULAR: f64 = 1e-10;

/// Scratch of the displacement.
pub(crate) struct PositionCorrection {
    solver: Auto,
    problem: ContactProblem,
    solution: Solution,
    /// Contacts with a gap, and their place among them.
    members: Vec<usize>,
    place: Vec<usize>,
    /// Their gaps at the end of the step, as it was and as it is with what has been pushed.
    gaps: Vec<f64>,
    left: Vec<f64>,
    lambda: Vec<f64>,
    /// Those that push, and their part of G, row by row up to its diagonal; factors in the end.
    pushing: Vec<usize>,
    factors: Vec<f64>,
    /// G = W_n M⁻¹ W_nᵀ, row by row; its diagonal.
    row_start: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    diagonal: Vec<f64>,
    offsets: Vec<usize>,
    impulses: Vec<f64>,
}

impl PositionCorrection {
    pub fn new() -> Self {
        Self {
            solver: Auto::new(AutoOptions { tolerance: TOLERANCE, ..AutoOptions::default() }),
            problem: ContactProblem::default(),
            solution: Solution::default(),
            members: Vec::new(),
            place: Vec::new(),
            gaps: Vec::new(),
            left: Vec::new(),
            lambda: Vec::new(),
            pushing: Vec::with_capacity(MOST_PUSHING),
            factors: Vec::with_capacity(MOST_PUSHING * (MOST_PUSHING + 1) / 2),
            row_start: Vec::new(),
            columns: Vec::new(),
            values: Vec::new(),
            diagonal: Vec::new(),
            offsets: Vec::new(),
            impulses: Vec::new(),
        }
    }

    /// Takes the contacts with a gap; `gap_of` is what it will be. Whether any will overlap.
    fn find_members(
        &mut self,
        touching: &[ContactConstraint],
        gap_of: impl Fn(usize, &ContactConstraint) -> f64,
    ) -> bool {
        let mut is_needed = false;
        self.members.clear();
        self.gaps.clear();
        for (c, t) in touching.iter().enumerate().filter(|(_, t)| t.is_unilateral()) {
            let gap = gap_of(c, t);
            is_needed |= gap < -t.rounding;
            self.members.push(c);
            self.gaps.push(gap);
        }
        is_needed
    }

    /// Normal rows of the members.
    fn update_rows(&mut self, touching: &[ContactConstraint], whole: &BlockMatrix) {
        self.place.clear();
        self.place.resize(touching.len(), usize::MAX);
        self.members.iter().enumerate().for_each(|(k, &c)| self.place[c] = k);
        self.row_start.clear();
        self.row_start.push(0);
        self.columns.clear();
        self.values.clear();
        self.diagonal.clear();
        if let (true, Some(spatial)) = (self.members.len() == touching.len(), whole.spatial()) {
            self.columns.extend_from_slice(spatial.columns);
            self.values.extend(spatial.blocks.iter().map(|block| block[0]));
            self.diagonal.extend(spatial.diagonal.iter().map(|slot| self.values[*slot]));
            self.row_start.extend_from_slice(&spatial.row_start[1..]);
            return;
        }
        for (k, &c) in self.members.iter().enumerate() {
            let mut own = 0.0;
            for (column, block) in whole.row(c) {
                let column = self.place[column];
                if column == usize::MAX {
                    continue;
                }
                if column == k {
                    own = block[0];
                }
                self.columns.push(column);
                self.values.push(block[0]);
            }
            self.diagonal.push(own);
            self.row_start.push(self.columns.len());
        }
    }

    /// Projected successive over-relaxation from zero on 0 ≤ gap + G λ ⊥ λ ≥ 0. Whether it has met the tolerance.
    fn projected_sor(&mut self) -> bool {
        let worst = self.gaps.iter().fold(0.0_f64, |m, gap| m.max(-gap));
        self.left.clone_from(&self.gaps);
        self.lambda.clear();
        self.lambda.resize(self.gaps.len(), 0.0);
        for sweep in 0..SWEEPS {
            if LEAPS.contains(&sweep) {
                self.active_set_solve();
            }
            let factor = if sweep < EXACT_SWEEPS { 1.0 } else { FARTHER };
            if self.sweep(factor, SETTLED * worst) {
                return true;
            }
        }
        false
    }

    /// One sweep, in which every push is `factor` times what it takes. Whether all gaps were what they should be but for `slack`, so that
    /// none was pushed.
    fn sweep(&mut self, factor: f64, slack: f64) -> bool {
        let mut is_settled = true;
        for k in 0..self.left.len() {
            let (left, old, own) = (self.left[k], self.lambda[k], self.diagonal[k]);
            if left >= 0.0 && old == 0.0 {
                continue;
            }
            if own <= 0.0 {
                is_settled &= -left <= slack;
                continue;
            }
            // By how much this gap is wrong, or is closed without need.
            let needed = (old - left / own).max(0.0) - old;
            if needed.abs() * own <= slack {
                continue;
            }
            is_settled = false;
            let new = (old - factor * left / own).max(0.0);
            self.lambda[k] = new;
            let row = self.row_start[k]..self.row_start[k + 1];
            for (&column, value) in self.columns[row.clone()].iter().zip(&self.values[row]) {
                self.left[column] += value * (new - old);
            }
        }
        is_settled
    }

    /// Closes the gaps of all that push at once: G λ = −gap among them. Nothing is done where that cannot be or one of them would have to pull.
    fn active_set_solve(&mut self) {
        self.pushing.clear();
        self.pushing.extend((0..self.lambda.len()).filter(|k| self.lambda[*k] > 0.0).take(MOST_PUSHING + 1));
        let n = self.pushing.len();
        if n > MOST_PUSHING {
            return;
        }
        self.factors.clear();
        self.factors.resize(n * (n + 1) / 2, 0.0);
        let mut x = [0.0; MOST_PUSHING];
        for (i, &k) in self.pushing.iter().enumerate() {
            x[i] = -self.gaps[k];
            let row = self.row_start[k]..self.row_start[k + 1];
            // Both are in ascending order.
            let mut j = 0;
            for (&column, value) in
                self.columns[row.clone()].iter().zip(&self.values[row]).take_while(|(c, _)| **c <= k)
            {
                while self.pushing[j] < column {
                    j += 1;
                }
                if self.pushing[j] == column {
                    self.factors[i * (i + 1) / 2 + j] = *value;
                }
            }
        }
        if !solve_symmetric(&mut self.factors, &mut x[..n]) || x[..n].iter().any(|x| *x < 0.0) {
            return;
        }
        self.left.clone_from(&self.gaps);
        for (&k, x) in self.pushing.iter().zip(x) {
            self.lambda[k] = x;
            let row = self.row_start[k]..self.row_start[k + 1];
            for (&column, value) in self.columns[row.clone()].iter().zip(&self.values[row]) {
                self.left[column] += value * x;
            }
        }
    }

    /// λ by the solver.
    fn solve(&mut self) -> Result<(), ContactError> {
        let Self { columns, values, row_start, offsets, gaps, .. } = self;
        offsets.clear();
        offsets.extend(0..=gaps.len());
        self.problem.refill(|delassus, q, cones| {
            delassus.set_pattern(offsets, row_start, columns);
            values.iter().enumerate().for_each(|(slot, value)| delassus.slot_mut(slot)[0] = *value);
            q.clone_from(gaps);
            cones.clear();
            cones.resize(gaps.len(), Cone::Unilateral);
        })?;
        self.solver.solve_into(&self.problem, Start::Cold, &mut self.solution)?;
        self.lambda.clone_from(&self.solution.r);
        Ok(())
    }
}

/// x ← A⁻¹ x for a positive definite matrix, given row by row up to its diagonal: A = L D Lᵀ, without roots, so that units stay powers of two. False,
/// and x is of no use, where a pivot is lost in the rounding of what it came from.
fn solve_symmetric(a: &mut [f64], x: &mut [f64]) -> bool {
    let n = x.len();
    let start = |i: usize| i * (i + 1) / 2;
    for i in 0..n {
        let (above, own) = a.split_at_mut(start(i));
        let diagonal = own[i];
        for j in 0..i {
            let other = &above[start(j)..start(j) + j];
            own[j] -= own[..j].iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
        }
        // L D is there by now; L is left.
        for j in 0..i {
            let l = own[j] / above[start(j) + j];
            own[i] -= l * own[j];
            own[j] = l;
        }
        if own[i].is_nan() || own[i] <= SINGULAR * diagonal {
            return false;
        }
        x[i] -= (0..i).map(|j| own[j] * x[j]).sum::<f64>();
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|j| a[start(j) + i] * x[j]).sum();
        x[i] = x[i] / a[start(i) + i] - sum;
    }
    true
}

impl Simulation {
    /// Finds the displacement that takes bodies apart.
    pub(super) fn remove_overlap(
        &mut self,
        h: f64,
        s: &mut ContactStepper,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        if s.touching.is_empty() {
            return Ok(());
        }
        let (system, w) = (&self.system, &self.work);
        let has_shift = s.shift.iter().any(|x| *x != 0.0);
        if has_shift {
            s.rows.velocities(system, &s.touching, &s.shift, w, &mut s.u_start);
        }
        let o = &mut s.overlap;
        let (offsets, u_end, u_start) = (s.rows.offsets(), &s.u_end, &s.u_start);
        // Conveyor belts move along themselves, so that normal velocities are those of the bodies.
        let is_needed = o.find_members(&s.touching, |c, t| {
            let gap = t.gap + h * u_end[offsets[c]];
            if has_shift { gap + u_start[offsets[c]] } else { gap }
        });
        if !is_needed {
            return Ok(());
        }
        let Some(whole) = s.problem.delassus().as_blocks(s.problem.offsets()) else {
            return Err(StepError::Internal("contact problem without blocks"));
        };
        o.update_rows(&s.touching, whole);
        if !o.projected_sor() {
            o.solve().map_err(|error| contact_failed(self.state.time, "overlap", error))?;
            if !o.solution.status.is_solved() {
                report.is_unsolved = true;
                report.residual.rel = report.residual.rel.max(o.solution.residual.rel);
                s.unsolved.get_or_insert_with(|| o.problem.duplicate());
            }
        }
        o.impulses.clear();
        o.impulses.resize(s.problem.n_rows(), 0.0);
        for (&c, lambda) in o.members.iter().zip(&o.lambda) {
            o.impulses[s.rows.offsets()[c]] = *lambda;
        }
        s.rows.respond(system, w, &o.impulses, &mut s.apart);
        Ok(())
    }
}
