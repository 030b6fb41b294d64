//! What every solver does around its own iteration: start, scale, judge.

use super::super::delassus::BlockMatrix;
use super::super::problem::ContactProblem;
use super::super::residual::Judge;
use super::super::scaling::Scaling;
use super::outcome::{Declined, Outcome, Routes};
use super::system::{System, View};
use super::{Solution, Start, Status, Work};

/// The judge, the problem in scaled variables, and the storage of both.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    judge: Judge,
    /// The problem in scaled variables, from [`Frame::enter`] on.
    pub system: System,
    /// W in blocks, for operators that are not.
    blocks: BlockMatrix,
}

impl Frame {
    /// Prepares r and the judge. A warm start is judged, and may already be the solution; one of another size, or with
    /// numbers that are not finite, is a cold one. A cold start never is the solution, unless nothing touches, and the
    /// solvers find that themselves.
    pub fn open(&mut self, problem: &ContactProblem, start: Start, tolerance: f64, solution: &mut Solution) -> bool {
        let n = problem.n_rows();
        if start == Start::Cold || solution.r.len() != n || solution.r.iter().any(|x| !x.is_finite()) {
            solution.r.clear();
            solution.r.resize(n, 0.0);
        }
        solution.work = Work::default();
        solution.status = Status::Stalled;
        (solution.routes, solution.declined) = (Routes::default(), Declined::default());
        self.judge.prepare(problem);
        start != Start::Cold && self.conclude(problem, tolerance, Outcome::Stalled, solution)
    }

    /// W as it was posed, in blocks: the operator itself, or a copy of it.
    fn blocks<'a>(own: &'a mut BlockMatrix, problem: &'a ContactProblem) -> &'a BlockMatrix {
        match problem.delassus().as_blocks(problem.offsets()) {
            Some(blocks) => blocks,
            None => {
                problem.delassus().write_blocks(problem.offsets(), own);
                own
            }
        }
    }

    /// The problem as it was posed, with the scaling of the judge and ‖q̂‖.
    pub fn view<'a>(&'a mut self, problem: &'a ContactProblem) -> (View<'a>, &'a Scaling, f64) {
        let w = Self::blocks(&mut self.blocks, problem);
        (View { w, q: problem.free_velocity(), cones: problem.cones() }, self.judge.scaling(), self.judge.q_norm())
    }

    /// Fills the scaled system and scales r.
    pub fn enter(&mut self, problem: &ContactProblem, r: &mut [f64]) {
        let w = Self::blocks(&mut self.blocks, problem);
        self.system.update(problem, w, self.judge.scaling(), self.judge.q_norm());
        System::enter(self.judge.scaling(), r);
    }

    /// The scaling of the problem at hand.
    pub fn scaling(&self) -> &Scaling {
        self.judge.scaling()
    }

    /// Judges r and sets u, residual and, where it is earned, the status. Returns whether r solves the problem.
    pub fn conclude(
        &mut self,
        problem: &ContactProblem,
        tolerance: f64,
        outcome: Outcome,
        solution: &mut Solution,
    ) -> bool {
        solution.residual = self.judge.compute_prepared(problem, &solution.r);
        solution.u.clear();
        solution.u.extend_from_slice(self.judge.velocity());
        solution.status = match (solution.residual.is_within(tolerance), outcome) {
            (true, Outcome::Many) => Status::ManySolutions,
            (true, _) if solution.residual.rel <= tolerance => Status::Solved,
            (true, _) => Status::SolvedToFloor,
            (false, Outcome::NoSolution) => Status::Infeasible,
            (false, Outcome::Better(_)) => Status::Accurate,
            (false, _) => Status::Stalled,
        };
        solution.status.is_solved()
    }
}
