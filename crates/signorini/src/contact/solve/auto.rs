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
//! 4. contacts: Newton's method while it makes progress; then, many in space, the interior-point method (`interior.rs`); fewer, accelerated sweeps
//!    (`anderson.rs`) and proximal Newton with bold steps, a handful the other way round; each then the other way;
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

use super::super::error::ContactError;
use super::super::problem::ContactProblem;
use super::attempts::{Attempts, Stage};
use super::constants::auto::{
    LCP_SWEEPS, NEAR_SHARE, NEAR_SHARE_STILL, PIVOTING_SWEEPS, STILL_SHARE, SWEEPS, WARM_FLOOR, WARM_SHARE,
};
use super::constants::newton::{FEW_CONTACTS, FEW_RESIDUAL, NEAR};
use super::constants::{anderson, pivoting};
use super::frame::Frame;
use super::islands::{Islands, gather, scatter};
use super::outcome::{LawSet, Outcome};
use super::plan::Shared;
use super::system::System;
use super::{ContactSolver, DEFAULT_TOLERANCE, Solution, Start, Work};

/// Options of [`Auto`].
#[derive(Debug, Clone, PartialEq)]
pub struct AutoOptions {
    /// Tolerance on `rel`.
    pub tolerance: f64,
    /// Gauss–Seidel sweeps before Newton's method.
    pub sweeps: usize,
    /// The same for complementarity problems.
    pub lcp_sweeps: usize,
    /// Accelerated sweeps at most.
    pub accelerated_sweeps: usize,
    /// Share of the tolerance to which a warm start must solve the problem to be taken as it is. In motion, where the last step's impulses are the start,
    /// bodies at rest want a small one: what a residual leaves as velocity moves them, and each step would find another problem.
    pub warm_share: f64,
    /// Pieces that are left out, by their names in [`PIECES`](super::PIECES): what an ablation does.
    pub without: Vec<&'static str>,
}

impl Default for AutoOptions {
    fn default() -> Self {
        Self {
            tolerance: DEFAULT_TOLERANCE,
            sweeps: SWEEPS,
            lcp_sweeps: LCP_SWEEPS,
            accelerated_sweeps: anderson::SWEEPS,
            warm_share: 1.0,
            without: Vec::new(),
        }
    }
}

impl AutoOptions {
    /// For problems of which each is nearly the last one.
    pub fn in_motion(tolerance: f64) -> Self {
        Self { tolerance, warm_share: WARM_SHARE, ..Self::default() }
    }

    /// What a warm start must reach; the rounding of positions leaves about 1e-12.
    pub(super) fn warm_tolerance(&self, start: Start) -> f64 {
        let moving = self.tolerance.min((self.warm_share * self.tolerance).max(WARM_FLOOR));
        if start == Start::Still { STILL_SHARE * moving } else { moving }
    }

    /// What Newton's method aims at from nearby.
    fn near_goal(&self, start: Start) -> f64 {
        self.warm_tolerance(start) * if start == Start::Still { NEAR_SHARE_STILL } else { NEAR_SHARE }
    }

    /// Sweeps worth their time: one is exact for one contact, one in each direction for triangular problems, however
    /// hard these are for pivoting; otherwise enough for a good active set.
    pub(super) fn count_sweeps(&self, n_contacts: usize, is_lcp: bool) -> usize {
        match n_contacts {
            1 => 1,
            n if is_lcp && n <= pivoting::FEW_ROWS => PIVOTING_SWEEPS,
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
    /// One island, and its r.
    part: System,
    part_r: Vec<f64>,
}

impl Auto {
    /// With options.
    pub fn new(options: AutoOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Sweeps over the problem as it was posed, and asks the judge where that may have solved it.
    fn sweep(&mut self, problem: &ContactProblem, solution: &mut Solution) -> Stage {
        let scaling = self.frame.scaling();
        // Moments are compared with forces in scaled variables only; without compliance there is nothing to sweep.
        if scaling.has_moments() || scaling.has_gaps() || self.options.without.contains(&"sweeps") {
            return Stage::Fresh;
        }
        let n = problem.n_contacts();
        let count = self.options.count_sweeps(n, LawSet::ROWS.contains(LawSet::of(problem.cones())));
        let tolerance = self.options.tolerance;
        let (view, scaling, q_norm) = self.frame.view(problem);
        let sweeper = &mut self.attempts.sweeper;
        sweeper.reset(n);
        let (sigma, target) = (Some(scaling.sigma()), tolerance * q_norm);
        let is_still = sweeper.settle(view, sigma, count, target, &mut solution.r, &mut solution.work);
        solution.method = "gauss-seidel";
        // Where r still moved a lot it is hardly solved, except where few sweeps are exact.
        if is_still || count <= PIVOTING_SWEEPS {
            self.frame.conclude(problem, tolerance, Outcome::Stalled, solution);
            return Stage::Refused;
        }
        Stage::Swept
    }

    /// Solves every island apart, from r (scaled); each to the tolerance in its own q̂, so that the whole is. Returns
    /// the last method that was needed, and how it ended.
    fn solve_parts(&mut self, n_parts: usize, stage: Stage, r: &mut [f64], work: &mut Work) -> (&'static str, Outcome) {
        self.islands.sort();
        // The judge refused the whole, not every part of it.
        let stage = if stage == Stage::Refused { Stage::Swept } else { stage };
        let mut all = ("gauss-seidel", Outcome::Met);
        for k in 0..n_parts {
            let members = self.islands.part(k);
            let whole = &self.frame.system;
            self.part.restrict(whole, members);
            gather(whole.offsets(), members, r, &mut self.part_r);
            let (method, outcome) = self.attempts.run(&self.options, stage, &mut self.part, &mut self.part_r, work);
            scatter(whole.offsets(), members, &self.part_r, r);
            if method != "gauss-seidel" {
                all.0 = method;
            }
            // One part without a solution leaves the whole without one.
            if outcome == Outcome::NoSolution || !outcome.is_final() && all.1 != Outcome::NoSolution {
                all.1 = outcome;
            }
        }
        all
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
        if self.begin(problem, start, solution) { Ok(()) } else { self.go_on(problem, start, solution) }
    }

    fn begin(&mut self, problem: &ContactProblem, start: Start, solution: &mut Solution) -> bool {
        self.frame.open(problem, start, self.options.warm_tolerance(start), solution)
    }

    fn go_on(&mut self, problem: &ContactProblem, start: Start, solution: &mut Solution) -> Result<(), ContactError> {
        let tolerance = self.options.tolerance;
        // At rest one problem is nearly the last one, and Newton's method is there at once; with few contacts it is from further away. One contact alone
        // is solved by a sweep.
        let (rel, n) = (solution.residual.rel, problem.n_contacts());
        // A start that made no sense is zero by now, as a cold one.
        let is_warm = start != Start::Cold && solution.r.iter().any(|r| *r != 0.0);
        let is_near = is_warm && n > 1 && (rel <= NEAR || rel <= FEW_RESIDUAL && n <= FEW_CONTACTS);
        let stage = if is_near { Stage::Refused } else { self.sweep(problem, solution) };
        if solution.status.is_solved() {
            return Ok(());
        }
        self.frame.enter(problem, &mut solution.r);
        self.attempts.near_goal = self.options.near_goal(start);
        let (r, work) = (&mut solution.r, &mut solution.work);
        self.attempts.start();
        let is_split = Shared::without(&self.options.without).islands;
        let n_parts = if is_split { self.islands.find(&self.frame.system.w) } else { 1 };
        self.attempts.known = (is_near && n_parts == 1).then_some(rel);
        self.attempts.known_u.clear();
        if self.attempts.known.is_some() {
            let scaled = solution.u.iter().zip(self.frame.scaling().inverse()).map(|(u, i)| u * i);
            self.attempts.known_u.extend(scaled);
        }
        let (method, outcome) = if n_parts > 1 {
            self.solve_parts(n_parts, stage, r, work)
        } else {
            self.attempts.run(&self.options, stage, &mut self.frame.system, r, work)
        };
        solution.method = method;
        System::leave(self.frame.scaling(), &mut solution.r);
        self.frame.system.release();
        self.part.release();
        self.frame.conclude(problem, tolerance, outcome, solution);
        self.attempts.report(solution);
        Ok(())
    }
}
