//! Overlap is moved away, not turned into speed.
//!
//! **Problem.** Bodies that overlap, because the scene has them so or because turning bodies leave the straight line along which gaps were
//! extrapolated, must come apart. gap/h as a velocity would throw them: a millimetre at a step of one is a metre per second.
//!
//! **Method.** The displacement of least kinetic metric, δ = M⁻¹ W_nᵀ λ, on top of h v⁺, such that no gap is left negative to first order:
//! 0 ≤ gap + h W_n v⁺ + W_n δ ⊥ λ ≥ 0. Velocities are not touched, so kinetic energy is not.
//!
//! **Cost.** Nothing where nothing overlaps; else one frictionless problem with the matrix that is there.
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
            row_start: Vec::new(),
            columns: Vec::new(),
            offsets: Vec::new(),
        }
    }
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
