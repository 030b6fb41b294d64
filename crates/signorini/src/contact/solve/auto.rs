//! `auto`: the solver that is used unless another is named.
//!
//! **Problem.** Any contact problem.
//!
//! **Method.** A short list of attempts, each judged, the first that reaches the tolerance wins:
//!
//! 1. a few Gauss–Seidel sweeps on the problem as it was posed (their exact local solves do not mind its units); where
//!    they settle the matter nothing else is set up;
//! 2. islands (`islands.rs`): what is not coupled is solved apart, from where the sweeps lead;
//! 3. complementarity problems: Lemke when small or with zeros on the diagonal; otherwise active-set Newton;
//! 4. contacts: proximal Newton with a fast schedule;
//! 5. proximal Newton with the safe schedule from r = 0, then with other values of ρ;
//! 6. proximal Newton from points scattered in the cones (a fixed sequence: the same bits every time);
//! 7. alternating directions, then proximal Newton from where they lead.
//!
//! The measurements behind the order and the numbers are in the book, chapter *The contact problem*.
//!
//! **Cost.** That of the attempt that wins; nearly always one of the first.
//!
//! **Fails when** all attempts fail. The best r is returned with its residual and the status `stalled`, never silently.
//!
//! **Checked by** `tests/contact_random.rs` (random problems), `tests/contact_files.rs` (stored problems).

use super::super::delassus::BlockMatrix;
use super::super::error::ContactError;
use super::super::problem::ContactProblem;
use super::attempts::{Attempts, is_lcp};
use super::frame::Frame;
use super::islands::{Islands, gather, restrict, scatter};
use super::system::System;
use super::{ContactSolver, DEFAULT_TOLERANCE, Solution, Start, Status};

/// Options of [`Auto`].
#[derive(Debug, Clone, PartialEq)]
pub struct AutoOptions {
    /// Tolerance on `rel`.
    pub tolerance: f64,
    /// Gauss–Seidel sweeps before Newton's method.
    pub sweeps: usize,
    /// The same for complementarity problems.
    pub lcp_sweeps: usize,
    /// Up to this many rows a complementarity problem goes to Lemke after two sweeps.
    pub lemke_rows: usize,
}

impl Default for AutoOptions {
    fn default() -> Self {
        Self { tolerance: DEFAULT_TOLERANCE, sweeps: 4, lcp_sweeps: 20, lemke_rows: 60 }
    }
}

impl AutoOptions {
    /// Sweeps worth their time: one is exact for one contact, one in each direction for triangular problems, however
    /// hard these are for pivoting; otherwise enough for a good active set.
    pub(super) fn count_sweeps(&self, n_contacts: usize, is_lcp: bool) -> usize {
        match n_contacts {
            1 => 1,
            n if is_lcp && n <= self.lemke_rows => 2,
            _ if is_lcp => self.lcp_sweeps,
            _ => self.sweeps,
        }
    }
}

/// The default solver.
#[derive(Debug, Clone, Default)]
pub struct Auto {
    options: AutoOptions,
    frame: Frame,
    attempts: Attempts,
    islands: Islands,
    part: Part,
}

/// One island and its solution.
#[derive(Debug, Clone, Default)]
struct Part {
    frame: Frame,
    solution: Solution,
}

impl Auto {
    /// With options.
    pub fn new(options: AutoOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Sweeps over the problem as it was posed. Returns whether that solved it; `swept` whether sweeps were possible.
    fn sweep(&mut self, problem: &ContactProblem, swept: &mut bool, solution: &mut Solution) -> bool {
        let scaling = self.frame.scaling();
        // Moments are compared with forces in scaled variables only; without compliance there is nothing to sweep.
        *swept = !scaling.has_moments() && !scaling.has_gaps();
        if !*swept {
            return false;
        }
        let is_lcp = is_lcp(problem.cones());
        let n = problem.n_contacts();
        let count = self.options.count_sweeps(n, is_lcp);
        let tolerance = self.options.tolerance;
        let (view, scaling, q_norm) = self.frame.view(problem);
        let sweeper = &mut self.attempts.sweeper;
        sweeper.reset(n);
        let target = tolerance * q_norm;
        let is_still =
            sweeper.settle(view, Some(scaling.sigma()), count, target, &mut solution.r, &mut solution.work);
        solution.method = "gauss-seidel";
        // Where r still moved a lot it is hardly solved, except where few sweeps are exact.
        (is_still || count <= 2) && self.frame.conclude(problem, tolerance, Status::Stalled, solution)
    }

    /// Solves every island apart, starting from r; returns the status to report if the judge does not find r solved.
    fn solve_parts(
        &mut self,
        problem: &ContactProblem,
        n_parts: usize,
        swept: bool,
        solution: &mut Solution,
    ) -> Result<Status, ContactError> {
        self.islands.sort();
        let mut otherwise = Status::Stalled;
        for k in 0..n_parts {
            let members = self.islands.part(k);
            let own = restrict(problem, self.frame.view(problem).0.w, members)?;
            let Part { frame, solution: part } = &mut self.part;
            gather(problem.offsets(), members, &solution.r, &mut part.r);
            // Judged in the units of the island: what solves every island solves the whole.
            if !frame.open(&own, Start::Warm, self.options.tolerance, part) {
                part.work = solution.work;
                frame.enter(&own, &mut part.r);
                let (method, status) =
                    self.attempts.run(&self.options, swept, &mut frame.system, &mut part.r, &mut part.work);
                System::leave(frame.scaling(), &mut part.r);
                (solution.method, solution.work) = (method, part.work);
                if status == Status::Infeasible {
                    otherwise = status;
                }
            }
            scatter(problem.offsets(), members, &part.r, &mut solution.r);
        }
        Ok(otherwise)
    }

    fn count_islands(&mut self, problem: &ContactProblem) -> usize {
        let w: &BlockMatrix = self.frame.view(problem).0.w;
        self.islands.find(w)
    }
}

impl ContactSolver for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn check(&self, _problem: &ContactProblem) -> Result<(), ContactError> {
        Ok(())
    }

    fn solve_into(
        &mut self,
        problem: &ContactProblem,
        start: Start,
        solution: &mut Solution,
    ) -> Result<(), ContactError> {
        let tolerance = self.options.tolerance;
        let mut swept = false;
        if self.frame.open(problem, start, tolerance, solution) || self.sweep(problem, &mut swept, solution) {
            return Ok(());
        }
        let n_parts = self.count_islands(problem);
        let otherwise = if n_parts > 1 {
            self.solve_parts(problem, n_parts, swept, solution)?
        } else {
            self.frame.enter(problem, &mut solution.r);
            let (r, work) = (&mut solution.r, &mut solution.work);
            let (method, status) = self.attempts.run(&self.options, swept, &mut self.frame.system, r, work);
            solution.method = method;
            System::leave(self.frame.scaling(), r);
            status
        };
        self.frame.conclude(problem, tolerance, otherwise, solution);
        Ok(())
    }
}
