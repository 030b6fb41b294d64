//! The certificate of one step, recomputed from its result.

use crate::contact::solve::{Declined, Routes};
use crate::contact::{Residual, Solution, Status};

/// What one step did and how well.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepReport {
    /// Time at the end of the step.
    pub time: f64,
    /// Length of the step.
    pub step: f64,
    /// Evaluations of the accelerations, rejected attempts included.
    pub evaluations: u32,
    /// Attempts that error control turned down before this step was accepted.
    pub rejected: u32,
    /// Kinetic energy at the end.
    pub kinetic: f64,
    /// Potential energy at the end.
    pub potential: f64,
    /// Work of loads and motors since the start of the run.
    pub work: f64,
    /// Energy dissipated since the start of the run.
    pub dissipated: f64,
    /// Largest violation of a loop, relative to the mechanism's size.
    pub loop_position: f64,
    /// Largest rate of violation of a loop, relative to the mechanism's speed.
    pub loop_velocity: f64,
    /// Worst violation of bilateral constraints: the larger of the two above. Tree joints hold by construction.
    pub bilateral: f64,
    /// Events that happened; the step then took no time.
    pub events: u32,
    /// The judge's verdict on the step's impulses.
    pub residual: Residual,
    /// Iterations of the contact solver.
    pub iterations: u32,
    /// By which factorisations equations of contact were solved, and what would have been tried but for a reason.
    pub routes: Routes,
    /// See `routes`.
    pub declined: Declined,
    /// Points that touched or were about to.
    pub contacts: u32,
    /// Deepest penetration at the start of the step.
    pub penetration: f64,
    /// Whether the contact problem was not solved to its tolerance.
    pub is_unsolved: bool,
    /// Whether rounding kept a contact problem above its tolerance; it counts as solved.
    pub is_at_floor: bool,
    /// Energy that the step's contact impulses exchanged: half of impulses times the velocities that they changed.
    pub contact_work_scale: f64,
    /// Strikes without rebound, because no impulses give the one that Newton's law asks for.
    pub no_rebound_count: u32,
    /// Energy that strikes have added: Newton's law may do so with friction.
    pub impact_energy_gain: f64,
}

impl StepReport {
    /// Takes the worst of what is known and a solution.
    pub(crate) fn note_solution(&mut self, solution: &Solution) {
        let (a, b) = (&mut self.residual, &solution.residual);
        a.rel = a.rel.max(b.rel);
        a.rel_inf = a.rel_inf.max(b.rel_inf);
        a.floor = a.floor.max(b.floor);
        a.signorini = a.signorini.max(b.signorini);
        a.coulomb = a.coulomb.max(b.coulomb);
        a.dissipation = a.dissipation.max(b.dissipation);
        a.moment = a.moment.max(b.moment);
        a.bilateral = a.bilateral.max(b.bilateral);
        self.routes.note_all(solution.routes);
        self.declined.note_all(solution.declined);
        self.iterations += solution.work.iterations() as u32;
        self.is_unsolved |= !solution.status.is_solved();
        self.is_at_floor |= solution.status == Status::SolvedToFloor;
    }
}
