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

use super::constraint::ContactConstraint;
use super::found::Constraints;
use super::motion::{Interval, Mechanism, Moving};
use super::quantity::{Displacement, RowDisplacements, RowImpulseTimes};
use super::velocity::VelocityProblem;
use super::{Unsolved, contact_failed};
use crate::contact::delassus::BlockMatrix;
use crate::contact::solve::{Auto, AutoOptions};
use crate::contact::{Cone, ContactError, ContactProblem, ContactSolver, Solution, Start};
use crate::step::{StepError, StepReport};

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
    active: ActiveSet,
    g: NormalRows,
    impulses: RowImpulseTimes,
    /// What strikes have moved.
    shift: RowDisplacements,
    /// The displacement that takes bodies apart.
    pub apart: Displacement,
}

/// Those that push, and their part of G, row by row up to its diagonal; factors in the end.
struct ActiveSet {
    pushing: Vec<usize>,
    factors: Vec<f64>,
}

/// G = W_n M⁻¹ W_nᵀ, row by row; its diagonal.
#[derive(Default)]
struct NormalRows {
    row_start: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    diagonal: Vec<f64>,
    /// The rows as those of a problem.
    offsets: Vec<usize>,
}

impl NormalRows {
    /// Columns of a row and the entries there.
    fn row(&self, k: usize) -> impl Iterator<Item = (usize, f64)> {
        let row = self.row_start[k]..self.row_start[k + 1];
        self.columns[row.clone()].iter().copied().zip(self.values[row].iter().copied())
    }
}

impl PositionCorrection {
    pub fn new(n_v: usize) -> Self {
        Self {
            solver: Auto::new(AutoOptions { tolerance: TOLERANCE, ..AutoOptions::default() }),
            problem: ContactProblem::default(),
            solution: Solution::default(),
            members: Vec::new(),
            place: Vec::new(),
            gaps: Vec::new(),
            left: Vec::new(),
            lambda: Vec::new(),
            active: ActiveSet {
                pushing: Vec::with_capacity(MOST_PUSHING),
                factors: Vec::with_capacity(MOST_PUSHING * (MOST_PUSHING + 1) / 2),
            },
            g: NormalRows::default(),
            impulses: RowImpulseTimes::default(),
            shift: RowDisplacements::default(),
            apart: Displacement::zeros(n_v),
        }
    }

    /// Finds the displacement that takes bodies apart at the end of the step; whether there is any.
    pub fn compute(
        &mut self,
        m: &Mechanism<'_>,
        over: &Interval<'_>,
        found: &mut Constraints,
        velocity: &VelocityProblem,
        now: &Moving,
        (report, unsolved): (&mut StepReport, &mut Unsolved),
    ) -> Result<bool, StepError> {
        if found.list.is_empty() || !self.find_members(m, over.h, found, velocity, now) {
            return Ok(false);
        }
        let problem = &velocity.problem;
        let Some(whole) = problem.delassus().as_blocks(problem.offsets()) else {
            return Err(StepError::Internal("contact problem without blocks"));
        };
        self.update_rows(&found.list, whole);
        if !self.projected_sor() {
            self.solve().map_err(|error| contact_failed(over.from.time, "overlap", error))?;
            if !self.solution.status.is_solved() {
                report.is_unsolved = true;
                report.residual.rel = report.residual.rel.max(self.solution.residual.rel);
                unsolved.note(&self.solution, &self.problem);
            }
        }
        self.impulses.reset(problem.n_rows());
        for (&c, lambda) in self.members.iter().zip(&self.lambda) {
            self.impulses[found.offsets()[c]] = *lambda;
        }
        self.apart.fill(0.0);
        found.displace(m, &self.impulses, &mut self.apart);
        Ok(self.apart.iter().any(|x| *x != 0.0))
    }

    /// Takes the constraints with a gap, and what it will be. Whether any will overlap.
    fn find_members(
        &mut self,
        m: &Mechanism<'_>,
        h: f64,
        found: &mut Constraints,
        velocity: &VelocityProblem,
        now: &Moving,
    ) -> bool {
        let has_shift = now.shift.iter().any(|x| *x != 0.0);
        if has_shift {
            found.displacements(m, &now.shift, &mut self.shift);
        }
        let mut is_needed = false;
        self.members.clear();
        self.gaps.clear();
        for (c, t) in found.list.iter().enumerate().filter(|(_, t)| t.is_unilateral()) {
            let row = found.offsets()[c];
            // Conveyor belts move along themselves, so that normal velocities are those of the bodies.
            let moved = t.gap + h * velocity.end[row];
            let gap = if has_shift { moved + self.shift[row] } else { moved };
            is_needed |= gap < -t.rounding;
            self.members.push(c);
            self.gaps.push(gap);
        }
        is_needed
    }

    /// Normal rows of the members.
    fn update_rows(&mut self, list: &[ContactConstraint], whole: &BlockMatrix) {
        let Self { members, place, g, .. } = self;
        place.clear();
        place.resize(list.len(), usize::MAX);
        members.iter().enumerate().for_each(|(k, &c)| place[c] = k);
        g.row_start.clear();
        g.row_start.push(0);
        g.columns.clear();
        g.values.clear();
        g.diagonal.clear();
        if let (true, Some(spatial)) = (members.len() == list.len(), whole.spatial()) {
            g.columns.extend_from_slice(spatial.columns);
            g.values.extend(spatial.blocks.iter().map(|block| block[0]));
            g.diagonal.extend(spatial.diagonal.iter().map(|slot| g.values[*slot]));
            g.row_start.extend_from_slice(&spatial.row_start[1..]);
            return;
        }
        for (k, &c) in members.iter().enumerate() {
            let mut own = 0.0;
            for (column, block) in whole.row(c) {
                let column = place[column];
                if column == usize::MAX {
                    continue;
                }
                if column == k {
                    own = block[0];
                }
                g.columns.push(column);
                g.values.push(block[0]);
            }
            g.diagonal.push(own);
            g.row_start.push(g.columns.len());
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
            let (left, old, own) = (self.left[k], self.lambda[k], self.g.diagonal[k]);
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
            for (column, value) in self.g.row(k) {
                self.left[column] += value * (new - old);
            }
        }
        is_settled
    }

    /// Closes the gaps of all that push at once: G λ = −gap among them. Nothing is done where that cannot be or one of them would have to pull.
    fn active_set_solve(&mut self) {
        let Self { active: ActiveSet { pushing, factors }, g, gaps, left, lambda, .. } = self;
        pushing.clear();
        pushing.extend((0..lambda.len()).filter(|k| lambda[*k] > 0.0).take(MOST_PUSHING + 1));
        let n = pushing.len();
        if n > MOST_PUSHING {
            return;
        }
        factors.clear();
        factors.resize(n * (n + 1) / 2, 0.0);
        let mut x = [0.0; MOST_PUSHING];
        for (i, &k) in pushing.iter().enumerate() {
            x[i] = -gaps[k];
            // Both are in ascending order.
            let mut j = 0;
            for (column, value) in g.row(k).take_while(|(column, _)| *column <= k) {
                while pushing[j] < column {
                    j += 1;
                }
                if pushing[j] == column {
                    factors[i * (i + 1) / 2 + j] = value;
                }
            }
        }
        if !solve_symmetric(factors, &mut x[..n]) || x[..n].iter().any(|x| *x < 0.0) {
            return;
        }
        left.clone_from(gaps);
        for (&k, x) in pushing.iter().zip(x) {
            lambda[k] = x;
            for (column, value) in g.row(k) {
                left[column] += value * x;
            }
        }
    }

    /// λ by the solver.
    fn solve(&mut self) -> Result<(), ContactError> {
        let Self { g: NormalRows { columns, values, row_start, offsets, .. }, gaps, .. } = self;
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
