//! The velocity problem: one contact problem for all impulses of a step.
//!
//! **Problem.** 0 ≤ gap/h + W_n v⁺ ⊥ r_n ≥ 0 with Coulomb's law and those of limits and dry friction, v⁺ = v_free + M⁻¹ Wᵀ r.
//!
//! **Method.** Row by row q = W v_free + gap/h, and G, which the formulation gives. The solver starts at the impulses of the last step (`warm.rs`). What the
//! solution's impulses do is added to the speeds; ½(v + v⁺)·M(v⁺ − v) is their work.
//!
//! **Cost.** That of the problem; nothing where nothing may push.
//!
//! **Fails when** the problem has no solution or cannot be solved: the report says so and the run's policy decides.
//!
//! **Checked by** `tests/contact_motion.rs`.

use super::assemble::write_cones;
use super::constraint::ContactConstraint;
use super::found::Constraints;
use super::motion::{Interval, Mechanism, Moving};
use super::quantity::{RowDisplacements, RowImpulses, RowVelocities};
use super::search::joint_of;
use super::warm::WarmStart;
use super::{Unsolved, contact_failed};
use crate::contact::{ContactProblem, ContactSolver, Solution, Start, Unit};
use crate::step::{StepError, StepReport};

/// Velocities of rows before a step, over what forces would make of them, that count as rest: what rounding leaves.
const STILL: f64 = 1e-12;

/// The problem with its solution, and velocities along all rows.
pub(crate) struct VelocityProblem {
    solver: Box<dyn ContactSolver>,
    pub solution: Solution,
    pub warm: WarmStart,
    pub problem: ContactProblem,
    impulses: RowImpulses,
    /// At the start of the step, at its end without impulses, and with them.
    pub start: RowVelocities,
    pub free: RowVelocities,
    pub end: RowVelocities,
    /// What strikes have moved.
    shift: RowDisplacements,
}

impl VelocityProblem {
    pub fn new(solver: Box<dyn ContactSolver>) -> Self {
        Self {
            solver,
            solution: Solution::default(),
            warm: WarmStart::default(),
            problem: ContactProblem::default(),
            impulses: RowImpulses::default(),
            start: RowVelocities::default(),
            free: RowVelocities::default(),
            end: RowVelocities::default(),
            shift: RowDisplacements::default(),
        }
    }

    /// Finds the impulses of all that may push, and adds to `now` what they do.
    pub fn solve(
        &mut self,
        m: &mut Mechanism<'_>,
        over: &Interval<'_>,
        found: &mut Constraints,
        has_struck: bool,
        now: &mut Moving,
        (report, unsolved): (&mut StepReport, &mut Unsolved),
    ) -> Result<(), StepError> {
        if found.list.is_empty() {
            return Ok(());
        }
        found.assemble(m)?;
        found.start_velocities(m, now, &mut self.start);
        found.end_velocities(m, now, &mut self.free);
        if has_struck {
            found.displacements(m, &now.shift, &mut self.shift);
        }
        self.pose(m, over, found, has_struck)?;
        self.find_impulses(m, over, found)?;
        report.note_solution(&self.solution);
        unsolved.note(&self.solution, &self.problem);
        self.impulses.buffer().clone_from(&self.solution.r);
        found.respond(m, &self.impulses, &mut now.end);
        found.velocities(m, &now.end, &mut self.end);
        for (c, t) in found.list.iter().enumerate() {
            let at = found.offsets()[c];
            for (k, i) in (at..at + t.n_rows()).enumerate() {
                let (r, before, after) = (self.impulses[i], self.start[i], self.end[i]);
                report.contact_work_scale += 0.5 * r * (after - self.free[i]);
                now.energy.dissipated -= 0.5 * r * (before + after);
                now.energy.work -= r * t.drift_along(k);
            }
        }
        Ok(())
    }

    /// Fills the problem.
    fn pose(
        &mut self,
        m: &Mechanism<'_>,
        over: &Interval<'_>,
        found: &mut Constraints,
        has_struck: bool,
    ) -> Result<(), StepError> {
        let Self { problem, free, shift, .. } = self;
        let posed = problem.refill(|delassus, q, cones| {
            found.write_delassus(m.system, delassus);
            write_cones(m.system, &found.list, cones);
            q.clear();
            q.extend_from_slice(free);
            for (c, t) in found.list.iter().enumerate().filter(|(_, t)| t.is_unilateral()) {
                let row = found.offsets()[c];
                // What strikes have left of the gap, if velocities had been those after them from the start of the step.
                let gap = if has_struck { t.gap + shift[row] } else { t.gap };
                // Closed gaps and overlap ask for no velocity of their own.
                if t.gap > t.rounding && gap > 0.0 {
                    q[row] += gap / over.h;
                }
            }
        });
        posed.map_err(|error| contact_failed(over.from.time, "a contact problem", error))
    }

    /// Solves it.
    fn find_impulses(
        &mut self,
        m: &Mechanism<'_>,
        over: &Interval<'_>,
        found: &mut Constraints,
    ) -> Result<(), StepError> {
        let Self { problem, solution, solver, warm, start, .. } = self;
        warm.read(&over.from.contacts, &found.list);
        let is_still = is_still(&found.list, found.offsets(), start, problem.free_velocity());
        let from = if is_still { Start::Still } else { Start::Warm };
        if !warm.begin(&mut **solver, problem, from, solution) {
            let mut declined = None;
            problem.refill_origin(|out| declined = found.write_origin(m, out));
            let solved = solver.go_on(problem, from, solution);
            solved.map_err(|error| contact_failed(over.from.time, "a contact problem", error))?;
            if let Some(reason) = declined {
                solution.declined.note(reason);
            }
        }
        Ok(())
    }
}

/// Whether nothing that may push moves: velocities before the step are rounding beside those that forces would give. Contacts are compared among each other,
/// sliding and turning apart; rows of joints each with itself, since they have units of their own.
fn is_still(list: &[ContactConstraint], offsets: &[usize], before: &[f64], free: &[f64]) -> bool {
    let (mut fastest, mut given) = ([0.0_f64; 2], [0.0_f64; 2]);
    for (c, t) in list.iter().enumerate() {
        let rows = offsets[c]..offsets[c + 1];
        if joint_of(t.id).is_some() {
            if rows.into_iter().any(|i| before[i].abs() > STILL * free[i].abs()) {
                return false;
            }
            continue;
        }
        for (k, i) in rows.enumerate() {
            let unit = usize::from(t.rows.unit(k) == Unit::Angle);
            fastest[unit] = fastest[unit].max(before[i].abs());
            given[unit] = given[unit].max(free[i].abs());
        }
    }
    fastest.iter().zip(given).all(|(fastest, given)| *fastest <= STILL * given)
}
