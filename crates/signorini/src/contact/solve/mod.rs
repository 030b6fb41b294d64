//! Solvers for contact problems, one file per method, behind one trait.

mod active;
mod admm;
mod attempts;
mod auto;
mod block_lu;
mod constants;
mod enumerate;
mod frame;
mod gauss_seidel;
mod interior;
mod islands;
mod lemke;
mod linear;
mod local;
mod method;
mod newton;
mod newton_matrix;
mod ordering;
mod outcome;
mod plan;
pub mod route;
mod speed_lu;
mod stubborn;
mod system;
mod tableau;
mod tree_lu;
mod woodbury;

pub use admm::{Admm, AdmmOptions};
pub use auto::{Auto, AutoOptions};
pub use enumerate::{Enumerate, EnumerateOptions, Enumeration, enumerate};
pub use gauss_seidel::{GaussSeidel, GaussSeidelOptions};
pub use lemke::{Lemke, LemkeOptions};
pub use newton::{ProximalNewton, ProximalNewtonOptions, Schedule};
pub use outcome::{Declined, LawSet, Outcome, Reason, Route, Routes};
pub use plan::PIECES;

use super::error::ContactError;
use super::problem::ContactProblem;
use super::residual::Residual;
use constants::auto::GOAL_SHARE;

/// What a solver aims at on `rel`: reached where Newton's method gets there cheaply, as it mostly does.
pub const GOAL: f64 = 1e-12;

/// The largest `rel` that counts as solved in motion, unless another is given. Between the two a problem is solved, and reported as what it is.
pub const DEFAULT_TOLERANCE: f64 = 1e-8;

/// Where a solver starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// From r = 0.
    #[default]
    Cold,
    /// From the r that the solution holds.
    Warm,
    /// The same where nothing moves: velocities that r leaves would set bodies in motion, and the next r would have to stop them.
    Still,
}

/// How a solve ended. Every claim is made by the judge from r alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Status {
    /// rel ≤ tolerance.
    Solved,
    /// rel above the tolerance, but not above the rounding floor of double precision.
    SolvedToFloor,
    /// Solved, and the solver knows that other solutions exist.
    ManySolutions,
    /// The limit of work was reached while the residual was still falling: accurate to the reported rel.
    Accurate,
    /// No further progress: accurate to the reported rel only.
    #[default]
    Stalled,
    /// Proved to have no solution.
    Infeasible,
}

impl Status {
    /// Whether r is a solution within the tolerance or the rounding floor.
    pub fn is_solved(self) -> bool {
        matches!(self, Status::Solved | Status::SolvedToFloor | Status::ManySolutions)
    }

    /// The name used in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Status::Solved => "solved",
            Status::SolvedToFloor => "solved_to_floor",
            Status::ManySolutions => "many_solutions",
            Status::Accurate => "accurate",
            Status::Stalled => "stalled",
            Status::Infeasible => "infeasible",
        }
    }
}

/// What a solve cost, in counts that do not depend on the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Passes over all contacts.
    pub sweeps: usize,
    /// Newton steps.
    pub newton_steps: usize,
    /// Matrix factorisations.
    pub factorisations: usize,
    /// Pivots of tableaux, or bases tried.
    pub pivots: usize,
    /// Outer (proximal or splitting) iterations.
    pub outer: usize,
    /// Multiplications of factorisations and of what is solved with them, of sweeps and of pivots: what a solve costs on any machine. Judging is not counted.
    pub multiplications: u64,
}

impl Work {
    /// All iterations, whatever their kind.
    pub fn iterations(&self) -> usize {
        self.sweeps + self.newton_steps + self.pivots + self.outer
    }
}

/// The outcome of a solve. Keep it and solve again with [`Start::Warm`]: nothing is allocated then.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Solution {
    /// Contact impulses (or forces).
    pub r: Vec<f64>,
    /// u = W r + u_free, recomputed from r.
    pub u: Vec<f64>,
    /// How the solve ended.
    pub status: Status,
    /// The judge's verdict on r.
    pub residual: Residual,
    /// What it cost.
    pub work: Work,
    /// The method that produced r.
    pub method: &'static str,
    /// By which factorisations.
    pub routes: Routes,
    /// What was not tried, and why.
    pub declined: Declined,
}

/// A solver: one configuration, with its scratch.
pub trait ContactSolver: Send {
    /// The name used on the command line and in reports.
    fn name(&self) -> &'static str;

    /// Whether the solver treats this kind of problem; the reason if not.
    fn check(&self, problem: &ContactProblem) -> Result<(), ContactError>;

    /// Solves into a solution that is overwritten; with [`Start::Warm`] its r is the starting point.
    fn solve_into(
        &mut self,
        problem: &ContactProblem,
        start: Start,
        solution: &mut Solution,
    ) -> Result<(), ContactError>;

    /// The first half of [`Self::solve_into`]: judges a warm start, which may be all that there is to do. Where it is not, the second half must follow, on the
    /// same problem; where that comes from need not be written before.
    fn begin(&mut self, _problem: &ContactProblem, _start: Start, _solution: &mut Solution) -> bool {
        false
    }

    /// The second half. Where r has been changed since [`Self::begin`], u must have been cleared: it is taken for that of r.
    fn go_on(&mut self, problem: &ContactProblem, start: Start, solution: &mut Solution) -> Result<(), ContactError> {
        self.solve_into(problem, start, solution)
    }

    /// Solves from r = 0.
    fn solve(&mut self, problem: &ContactProblem) -> Result<Solution, ContactError> {
        let mut solution = Solution::default();
        self.solve_into(problem, Start::Cold, &mut solution)?;
        Ok(solution)
    }
}

/// Names of the solvers, as the command line spells them.
pub const SOLVER_NAMES: &str = "auto, lemke, gauss-seidel, newton, admm, enumerate";

/// The solver with a given name and tolerance, everything else at its default.
pub fn solver_by_name(name: &str, tolerance: f64) -> Result<Box<dyn ContactSolver>, ContactError> {
    check(tolerance)?;
    match name {
        "auto" => Ok(Box::new(Auto::new(AutoOptions { tolerance, ..AutoOptions::default() }))),
        _ => named(name, tolerance, tolerance),
    }
}

/// The same for problems of which each is nearly the last one: it aims at [`GOAL`], and what is within the tolerance counts as solved.
pub fn solver_in_motion(name: &str, tolerance: f64) -> Result<Box<dyn ContactSolver>, ContactError> {
    check(tolerance)?;
    match name {
        "auto" => Ok(Box::new(Auto::new(AutoOptions::in_motion(tolerance)))),
        _ => named(name, goal_in_motion(tolerance), tolerance),
    }
}

/// What is aimed at in motion where `tolerance` is accepted.
fn goal_in_motion(tolerance: f64) -> f64 {
    (GOAL_SHARE * tolerance).max(GOAL).min(tolerance)
}

fn check(tolerance: f64) -> Result<(), ContactError> {
    if tolerance >= 0.0 && tolerance.is_finite() {
        return Ok(());
    }
    Err(ContactError::Range { what: "tolerance", index: 0, value: tolerance, allowed: "finite and ≥ 0" })
}

fn named(name: &str, tolerance: f64, accepted: f64) -> Result<Box<dyn ContactSolver>, ContactError> {
    Ok(match name {
        "gauss-seidel" => {
            let options = GaussSeidelOptions { tolerance, ..GaussSeidelOptions::default() };
            Box::new(GaussSeidel::new(options).accepting(accepted))
        }
        "admm" => {
            let options = AdmmOptions { tolerance, ..AdmmOptions::default() };
            Box::new(Admm::new(options).accepting(accepted))
        }
        "lemke" => {
            let options = LemkeOptions { tolerance, ..LemkeOptions::default() };
            Box::new(Lemke::new(options).accepting(accepted))
        }
        "enumerate" => {
            let options = EnumerateOptions { tolerance, ..EnumerateOptions::default() };
            Box::new(Enumerate::new(options).accepting(accepted))
        }
        "newton" => {
            let options = ProximalNewtonOptions { tolerance, ..ProximalNewtonOptions::default() };
            Box::new(ProximalNewton::new(options).accepting(accepted))
        }
        _ => {
            return Err(ContactError::Unknown { what: "solver", found: name.to_owned(), allowed: SOLVER_NAMES });
        }
    })
}
