//! `auto`: the solver that is used unless another is named.
//!
//! **Problem.** Any contact problem.
//!
//! **Method.** A short list of attempts, each judged, the first that reaches the tolerance wins:
//!
//! 1. a few Gauss–Seidel sweeps on the problem as it was posed (their exact local solves do not mind its units); where
//!    they settle the matter nothing else is set up;
//! 2. islands (`islands.rs`): what is not coupled is verified and solved apart;
//! 3. in motion, islands of which nothing is known: the associated convex problem, whose central solution is rest where rest is possible, with even loads;
//! 4. complementarity problems: Lemke when small or with zeros on the diagonal; otherwise active-set Newton;
//! 5. contacts: Newton's method while it makes progress;
//! 6. above what is accepted: interior points (`interior.rs`) and proximal Newton with full steps, many contacts the one first, few the other; proximal
//!    Newton along the path of solutions, from r = 0, with three values of ρ; enumeration.
//!
//! Two tolerances: a goal, and what is accepted. Between them Newton's method takes a few more steps, and nothing else is tried. A ceiling of
//! counted work ends every solve; the best r that any attempt has found is returned.
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
    CEILING, CEILING_IN_MOTION, LCP_SWEEPS, MARGIN, NEAR_SHARE, NEAR_SHARE_STILL, PIVOTING_SWEEPS, STILL_SHARE,
    STRIKE_SHARE, SWEEPS,
};
use super::constants::newton::{FEW_CONTACTS, FEW_RESIDUAL, NEAR};
use super::constants::pivoting;
use super::frame::Frame;
use super::islands::{Islands, gather, scatter};
use super::outcome::{LawSet, Outcome};
use super::plan::Shared;
use super::system::System;
use super::{ContactSolver, GOAL, Solution, Start, Work, goal_in_motion};

/// Options of [`Auto`].
#[derive(Debug, Clone, PartialEq)]
pub struct AutoOptions {
    /// Tolerance on `rel`: what is accepted. Rescue methods run above it only.
    pub tolerance: f64,
    /// What is aimed at where that is cheap, if that is less.
    pub goal: Option<f64>,
    /// Gauss–Seidel sweeps before Newton's method.
    pub sweeps: usize,
    /// The same for complementarity problems.
    pub lcp_sweeps: usize,
    /// The residual above which the slower methods run, if that is less than what is accepted.
    pub rescued_above: Option<f64>,
    /// Whether islands of which nothing is known start where loads are even and rest is found if it is possible, at the cost of some fifteen factorisations.
    pub is_even: bool,
    /// Multiplications at most, in factorisations over all contacts.
    pub ceiling: f64,
    /// Pieces that are left out, by their names in [`PIECES`](super::PIECES): what an ablation does.
    pub without: Vec<&'static str>,
}

impl Default for AutoOptions {
    fn default() -> Self {
        Self {
            tolerance: GOAL,
            goal: None,
            sweeps: SWEEPS,
            lcp_sweeps: LCP_SWEEPS,
            rescued_above: None,
            is_even: false,
            ceiling: CEILING,
            without: Vec::new(),
        }
    }
}

impl AutoOptions {
    /// For problems of which each is nearly the last one, so that what is left of one adds to the next.
    pub fn in_motion(tolerance: f64) -> Self {
        Self {
            tolerance,
            goal: Some(goal_in_motion(tolerance)),
            is_even: true,
            ceiling: CEILING_IN_MOTION,
            ..Self::default()
        }
    }

    /// For strikes, of which each happens once, and whose law is one of energy: the slower methods run above the goal of motion, and Newton's goes on to rounding.
    pub fn for_strikes(tolerance: f64) -> Self {
        let goal = goal_in_motion(tolerance);
        let rescued_above = Some(goal);
        Self { goal: Some(STRIKE_SHARE * goal), rescued_above, is_even: false, ..Self::in_motion(tolerance) }
    }

    /// What is aimed at.
    pub(super) fn goal(&self) -> f64 {
        self.goal.map_or(self.tolerance, |goal| goal.min(self.tolerance))
    }

    /// The residual above which the slower methods run.
    pub(super) fn wanted(&self) -> f64 {
        self.rescued_above.map_or(self.tolerance, |rel| rel.min(self.tolerance))
    }

    /// What a warm start must reach to be taken as it is.
    pub(super) fn warm_tolerance(&self, start: Start) -> f64 {
        if start == Start::Still { STILL_SHARE * self.goal() } else { self.goal() }
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
    /// ‖F‖² and the square of its rounding floor, contact by contact.
    squares: Vec<[f64; 2]>,
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
        // Which islands nothing is known of is not known yet.
        if self.options.is_even && n > 1 {
            return Stage::Fresh;
        }
        let count = self.options.count_sweeps(n, LawSet::ROWS.contains(LawSet::of(problem.cones())));
        let tolerance = self.options.goal();
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
    fn solve_parts(
        &mut self,
        (n_parts, verified): (usize, f64),
        stage: Stage,
        r: &mut [f64],
        work: &mut Work,
    ) -> (&'static str, Outcome) {
        self.islands.sort();
        let is_warm = r.iter().any(|r| *r != 0.0);
        if is_warm {
            self.frame.system.write_squares(r, &mut self.squares);
        }
        // The judge refused the whole, not every part of it.
        let stage = if stage == Stage::Refused { Stage::Swept } else { stage };
        let mut all = ("gauss-seidel", Outcome::Met);
        for k in 0..n_parts {
            let members = self.islands.part(k);
            let whole = &self.frame.system;
            // What rests is verified, not solved.
            if is_warm && whole.is_within(members, &self.squares, verified) {
                continue;
            }
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
        // What is needed only now and then may be needed first in the middle of a long rest, which must not allocate.
        self.squares.clear();
        self.squares.reserve(problem.n_contacts());
        self.attempts.known_u.clear();
        self.attempts.known_u.reserve(problem.n_rows());
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
            self.solve_parts((n_parts, MARGIN * self.options.warm_tolerance(start)), stage, r, work)
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
