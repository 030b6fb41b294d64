//! Overlap is moved away, not turned into speed.
//!
//! **Problem.** Bodies that overlap, because the scene has them so or because turning bodies leave the straight line along which gaps were
//! extrapolated, must come apart. gap/h as a velocity would throw them: a millimetre at a step of one is a metre per second.
//!
//! **Method.** The displacement of least kinetic metric, δ = M⁻¹ W_nᵀ λ, on top of h v⁺, such that no gap is left negative to first order:
//! 0 ≤ gap + h W_n v⁺ + W_n δ ⊥ λ ≥ 0. Velocities are not touched, so kinetic energy is not. Few contacts are pushed apart one after the
//! other, again and again, until all are as they should be; if that takes long, or there are many, the solver is asked.
//!
//! **Cost.** Nothing where nothing overlaps; else some sweeps over a small matrix, or one frictionless problem with the matrix that is
//! there.
//!
//! **Fails when** bodies cannot come apart (wedged between limits): the report counts the step as unsolved.
//!
//! **Checked by** `tests/contact_motion.rs`.

use super::{Stepper, contact_failed};
use crate::contact::solve::{Auto, AutoOptions};
use crate::contact::{Cone, ContactProblem, ContactSolver, Solution, Start};
use crate::step::{Simulation, StepError, StepReport};

/// Relative tolerance: what is left overlaps by this share of what was there.
const TOLERANCE: f64 = 1e-9;

/// Contacts up to this many are tried one after the other.
const FEW: usize = 32;

/// Sweeps of that trial.
const SWEEPS: usize = 40;

/// Scratch of the displacement.
pub(crate) struct Overlap {
    solver: Auto,
    problem: ContactProblem,
    solution: Solution,
    /// Contacts with a gap.
    members: Vec<usize>,
    place: Vec<usize>,
    gaps: Vec<f64>,
    impulses: Vec<f64>,
    /// Rows of the normal directions, and λ, of few contacts.
    dense: Vec<f64>,
    lambda: Vec<f64>,
    row_start: Vec<usize>,
    columns: Vec<usize>,
    offsets: Vec<usize>,
}

impl Overlap {
    pub fn new() -> Self {
        Self {
            solver: Auto::new(AutoOptions { tolerance: TOLERANCE, ..AutoOptions::default() }),
            problem: ContactProblem::default(),
            solution: Solution::default(),
            members: Vec::new(),
            place: Vec::new(),
            gaps: Vec::new(),
            impulses: Vec::new(),
            dense: Vec::new(),
            lambda: Vec::new(),
            row_start: Vec::new(),
            columns: Vec::new(),
            offsets: Vec::new(),
        }
    }
}

/// Projected Gauss–Seidel from zero on 0 ≤ gap + G λ ⊥ λ ≥ 0, G symmetric and row-major. Whether it has met the tolerance.
fn push_apart(dense: &[f64], gaps: &[f64], lambda: &mut Vec<f64>) -> bool {
    lambda.clear();
    lambda.resize(gaps.len(), 0.0);
    let worst = gaps.iter().fold(0.0_f64, |m, gap| m.max(-gap));
    for _ in 0..SWEEPS {
        let mut change = 0.0_f64;
        for (i, (row, gap)) in dense.chunks_exact(gaps.len()).zip(gaps).enumerate() {
            let left = gap + row.iter().zip(&*lambda).map(|(g, l)| g * l).sum::<f64>();
            if row[i] > 0.0 {
                let next = (lambda[i] - left / row[i]).max(0.0);
                // By how much this gap was wrong, or was closed without need.
                change = change.max((next - lambda[i]).abs() * row[i]);
                lambda[i] = next;
            } else {
                change = change.max(-left);
            }
        }
        if change <= TOLERANCE * worst {
            return is_apart(dense, gaps, lambda, TOLERANCE * worst);
        }
    }
    false
}

/// Whether no gap is negative and none that is pushed is open, all at once.
fn is_apart(dense: &[f64], gaps: &[f64], lambda: &[f64], tolerance: f64) -> bool {
    dense.chunks_exact(gaps.len()).zip(gaps).enumerate().all(|(i, (row, gap))| {
        let left = gap + row.iter().zip(lambda).map(|(g, l)| g * l).sum::<f64>();
        left.min(lambda[i] * row[i]).abs() <= tolerance
    })
}

impl Simulation {
    /// Adds to the displacement what takes bodies apart.
    pub(super) fn remove_overlap(&mut self, h: f64, s: &mut Stepper, report: &mut StepReport) -> Result<(), StepError> {
        if s.touching.is_empty() {
            return Ok(());
        }
        let (system, w) = (&self.system, &self.work);
        let h = if s.is_moreau { 0.5 * h } else { h };
        let has_shift = s.shift.iter().any(|x| *x != 0.0);
        if has_shift {
            s.rows.velocities(system, &s.touching, &s.shift, w, &mut s.u_start);
        }
        let o = &mut s.overlap;
        o.members.clear();
        o.gaps.clear();
        o.place.clear();
        o.place.resize(s.touching.len(), usize::MAX);
        let mut is_needed = false;
        for (c, t) in s.touching.iter().enumerate().filter(|(_, t)| t.is_unilateral()) {
            let row = s.rows.offsets()[c];
            // Conveyor belts move along themselves, so that normal velocities are those of the bodies.
            let mut left = t.gap + h * s.u_end[row];
            if has_shift {
                left += s.u_start[row];
            }
            is_needed |= left < -t.rounding;
            o.place[c] = o.members.len();
            o.members.push(c);
            o.gaps.push(left);
        }
        if !is_needed {
            return Ok(());
        }
        let Overlap { members, place, gaps, row_start, columns, offsets, .. } = o;
        let Some(whole) = s.problem.delassus().as_blocks(s.problem.offsets()) else {
            return Err(StepError::Internal("contact problem without blocks"));
        };
        if members.len() <= FEW {
            let n = members.len();
            o.dense.clear();
            o.dense.resize(n * n, 0.0);
            for (&c, to) in members.iter().zip(o.dense.chunks_exact_mut(n)) {
                for (column, block) in whole.row(c).filter(|(column, _)| place[*column] != usize::MAX) {
                    to[place[column]] = block[0];
                }
            }
            if push_apart(&o.dense, gaps, &mut o.lambda) {
                o.impulses.clear();
                o.impulses.resize(s.problem.n_rows(), 0.0);
                for (&c, r) in o.members.iter().zip(&o.lambda) {
                    o.impulses[s.rows.offsets()[c]] = *r;
                }
                s.rows.respond(system, w, &o.impulses, &mut s.shift);
                return Ok(());
            }
        }
        row_start.clear();
        row_start.push(0);
        columns.clear();
        for &c in members.iter() {
            columns.extend(whole.columns(c).iter().map(|q| place[*q]).filter(|q| *q != usize::MAX));
            row_start.push(columns.len());
        }
        offsets.clear();
        offsets.extend(0..=members.len());
        let posed = o.problem.refill(|delassus, q, cones| {
            delassus.set_pattern(offsets, row_start, columns);
            let mut slot = 0;
            for &c in members.iter() {
                for (column, block) in whole.row(c) {
                    if place[column] != usize::MAX {
                        delassus.slot_mut(slot)[0] = block[0];
                        slot += 1;
                    }
                }
            }
            q.clone_from(gaps);
            cones.clear();
            cones.resize(members.len(), Cone::Unilateral);
        });
        let time = self.state.time;
        let failed = |error| contact_failed(time, "overlap", error);
        posed.map_err(failed)?;
        o.solver.solve_into(&o.problem, Start::Cold, &mut o.solution).map_err(failed)?;
        if !o.solution.status.is_solved() {
            report.is_unsolved = true;
            s.unsolved.get_or_insert_with(|| o.problem.duplicate());
        }
        o.impulses.clear();
        o.impulses.resize(s.problem.n_rows(), 0.0);
        for (&c, r) in o.members.iter().zip(&o.solution.r) {
            o.impulses[s.rows.offsets()[c]] = *r;
        }
        s.rows.respond(system, w, &o.impulses, &mut s.shift);
        Ok(())
    }
}
