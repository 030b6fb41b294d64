//! What every solver does around its own iteration: start, scale, judge.

use super::super::delassus::BlockMatrix;
use super::super::problem::ContactProblem;
use super::super::residual::Judge;
use super::super::scaling::Scaling;
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
    /// A whole solve: `iterate` gets the scaled system and r, and returns the status to report if the judge does not
    /// find r solved.
    pub fn solve(
        &mut self,
        method: &'static str,
        (problem, start): (&ContactProblem, Start),
        tolerance: f64,
        solution: &mut Solution,
        iterate: impl FnOnce(&mut System, &mut [f64], &mut Work) -> Status,
    ) {
        solution.method = method;
        if self.open(problem, start, tolerance, solution) {
            return;
        }
        self.enter(problem, &mut solution.r);
        let otherwise = iterate(&mut self.system, &mut solution.r, &mut solution.work);
        System::leave(self.scaling(), &mut solution.r);
        self.system.release();
        self.conclude(problem, tolerance, otherwise, solution);
    }

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
        self.judge.prepare(problem);
        start != Start::Cold && self.conclude(problem, tolerance, Status::Stalled, solution)
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
        otherwise: Status,
        solution: &mut Solution,
    ) -> bool {
        solution.residual = self.judge.compute_prepared(problem, &solution.r);
        solution.u.clear();
        solution.u.extend_from_slice(self.judge.velocity());
        solution.status = match solution.residual.is_within(tolerance) {
            true if solution.residual.rel <= tolerance => Status::Solved,
            true => Status::SolvedToFloor,
            false => otherwise,
        };
        solution.status.is_solved()
    }
}
