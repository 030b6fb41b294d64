//! `auto`: the solver that is used unless another is named.
//!
//! **Problem.** Any contact problem.
//!
//! **Method.** A short list of attempts, each judged, the first that reaches the tolerance wins:
//!
//! 1. complementarity problems: Lemke when small or with zeros on the diagonal; otherwise a few sweeps and Newton;
//! 2. contacts: a few Gauss–Seidel sweeps, then proximal Newton with a fast schedule from where they lead;
//! 3. proximal Newton with the safe schedule from r = 0, then with other values of ρ;
//! 4. proximal Newton from points scattered in the cones (a fixed sequence: the same bits every time);
//! 5. alternating directions, then proximal Newton from where they lead.
//!
//! The measurements behind the order and the numbers are in the book, chapter *The contact problem*.
//!
//! **Cost.** That of the attempt that wins; nearly always the first.
//!
//! **Fails when** all attempts fail. The best r is returned with its residual and the status `stalled`, never silently.
//!
//! **Checked by** `tests/contact_random.rs` (random problems), `tests/contact_files.rs` (stored problems).

use super::super::cone::Cone;
use super::super::error::ContactError;
use super::super::problem::ContactProblem;
use super::super::residual::Judge;
use super::admm::{self, AdmmOptions};
use super::gauss_seidel::Sweeper;
use super::newton::{self, ProximalNewtonOptions, Schedule};
use super::system::System;
use super::tableau::{self, End};
use super::{ContactSolver, DEFAULT_TOLERANCE, Solution, Start, Status, Work, begin, conclude, prepare};

/// Options of [`Auto`].
#[derive(Debug, Clone, PartialEq)]
pub struct AutoOptions {
    /// Tolerance on `rel`.
    pub tolerance: f64,
    /// Gauss–Seidel sweeps before Newton's method.
    pub sweeps: usize,
    /// The same for complementarity problems.
    pub lcp_sweeps: usize,
    /// Up to this many rows a complementarity problem goes to Lemke first.
    pub lemke_rows: usize,
}

impl Default for AutoOptions {
    fn default() -> Self {
        Self { tolerance: DEFAULT_TOLERANCE, sweeps: 4, lcp_sweeps: 20, lemke_rows: 60 }
    }
}

/// The default solver.
#[derive(Debug, Clone, Default)]
pub struct Auto {
    options: AutoOptions,
    system: System,
    sweeper: Sweeper,
    newton: newton::Core,
    lemke: tableau::Core,
    admm: admm::Core,
    judge: Judge,
    best: Vec<f64>,
    trial: Vec<f64>,
}

/// An attempt is good enough when this fraction of the tolerance is reached: the judge's rounding differs from ours.
const MARGIN: f64 = 0.9;

/// Above this a dense tableau is too large to be worth a try.
const MAX_LEMKE_ROWS: usize = 3000;

/// Starting points tried when the planned ones fail.
const RESTARTS: u64 = 24;

/// A rounding floor above this means that r has run away, not that the data are coarse: keep trying.
const COARSE_FLOOR: f64 = 1e-8;

impl Auto {
    /// With options.
    pub fn new(options: AutoOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Keeps `trial` if it is better than the best so far; whether it is good enough.
    fn offer(&mut self, rel: &mut f64) -> bool {
        let new = self.system.rel(&self.trial);
        if new < *rel {
            *rel = new;
            std::mem::swap(&mut self.best, &mut self.trial);
        }
        *rel <= MARGIN * self.options.tolerance || {
            let floor = if *rel < COARSE_FLOOR { self.system.floor(&self.best) } else { 0.0 };
            *rel <= MARGIN * floor.min(COARSE_FLOOR)
        }
    }

    fn newton_options(&self, alpha: f64, rho: f64, schedule: Schedule, max_outer: usize) -> ProximalNewtonOptions {
        ProximalNewtonOptions {
            tolerance: MARGIN * self.options.tolerance,
            alpha,
            max_outer,
            rho,
            schedule,
            ..ProximalNewtonOptions::default()
        }
    }

    /// The attempts in turn, from `best` (scaled); returns the method that won, or what was tried last.
    fn attempts(&mut self, work: &mut Work) -> (&'static str, Status) {
        let row = |c: &Cone| matches!(c, Cone::Unilateral | Cone::Bilateral);
        let is_lcp = self.system.cones.iter().all(row);
        let n = self.system.n();
        let mut rel = f64::INFINITY;
        if self.best.iter().any(|r| *r != 0.0) || self.is_open() {
            self.trial.clone_from(&self.best);
            if self.offer(&mut rel) {
                return ("none", Status::Stalled);
            }
        }
        self.trial.resize(n, 0.0);
        self.sweeper.reset(self.system.n_contacts());
        // Zero diagonals (Stewart–Trinkle problems, circuits) leave nothing for sweeps to do.
        let diagonal = |i: usize| self.system.w.diagonal_block(i)[0];
        let has_zero_diagonal = is_lcp && (0..n).any(|i| diagonal(i) <= 0.0);
        let lemke_first = is_lcp && (n <= self.options.lemke_rows || has_zero_diagonal && n <= MAX_LEMKE_ROWS);
        if lemke_first {
            // Triangular problems, however hard for pivoting, fall to a sweep in each direction.
            if !has_zero_diagonal && self.sweep(2, &mut rel, work) {
                return ("gauss-seidel", Status::Stalled);
            }
            if let Some(status) = self.pivot(&mut rel, work) {
                return ("lemke", status);
            }
        }
        // A few sweeps: exact for one contact, a good active set for many.
        let sweeps = match self.system.n_contacts() {
            1 => 1,
            _ if is_lcp => self.options.lcp_sweeps,
            _ => self.options.sweeps,
        };
        if self.sweep(sweeps, &mut rel, work) {
            return ("gauss-seidel", Status::Stalled);
        }
        self.newton.reset(&self.system);
        // From there, Newton. For rows it is an active-set method that ends in a few steps or not at all; for contacts
        // the proximal parameter matches how far there is to go.
        let options = if is_lcp {
            self.newton_options(1e-9, 1.0, Schedule::Fast, 2)
        } else {
            self.newton_options((0.1 * rel).clamp(1e-6, 1.0), 1.0, Schedule::Fast, 12)
        };
        self.trial.clone_from(&self.best);
        if self.newton(&options, &mut rel, work) {
            return ("newton", Status::Stalled);
        }
        if is_lcp
            && !lemke_first
            && n <= MAX_LEMKE_ROWS
            && let Some(status) = self.pivot(&mut rel, work)
        {
            return ("lemke", status);
        }
        for rho in [1.0, 3.0, 0.3] {
            self.trial.fill(0.0);
            let options = self.newton_options(1.0, rho, Schedule::Safe, 80);
            if self.newton(&options, &mut rel, work) {
                return ("newton", Status::Stalled);
            }
        }
        for seed in 1..=RESTARTS {
            self.scatter(seed);
            let (schedule, outer) = if seed % 2 == 1 { (Schedule::Fast, 25) } else { (Schedule::Safe, 40) };
            let rho = [1.0, 3.0, 0.3][seed as usize / 2 % 3];
            let options = self.newton_options(1.0, rho, schedule, outer);
            if self.newton(&options, &mut rel, work) {
                return ("restart", Status::Stalled);
            }
        }
        for (penalty, max_steps) in [(0.1, 1000), (1.0, 5000), (0.01, 5000)] {
            let options = AdmmOptions {
                tolerance: MARGIN * self.options.tolerance,
                max_steps,
                rho: penalty,
                ..AdmmOptions::default()
            };
            self.trial.fill(0.0);
            self.admm.solve(&mut self.system, &options, &mut self.trial, work);
            let start = self.trial.clone();
            if self.offer(&mut rel) {
                return ("admm", Status::Stalled);
            }
            for (alpha, rho) in [(1e-2, 1.0), (1.0, 3.0)] {
                self.trial.clone_from(&start);
                let options = self.newton_options(alpha, rho, Schedule::Safe, 60);
                if self.newton(&options, &mut rel, work) {
                    return ("admm+newton", Status::Stalled);
                }
            }
        }
        ("auto", Status::Stalled)
    }

    /// Whether no contact closes at r = 0: the one case in which r = 0 may be the answer.
    fn is_open(&self) -> bool {
        let closes = |(i, cone): (usize, &Cone)| {
            let q = self.system.q[self.system.offsets()[i]];
            if cone.is_row() && !matches!(cone, Cone::Unilateral) { q != 0.0 } else { q < 0.0 }
        };
        !self.system.cones.iter().enumerate().any(closes)
    }

    /// Gauss–Seidel sweeps from the best r, until nothing moves.
    fn sweep(&mut self, count: usize, rel: &mut f64, work: &mut Work) -> bool {
        self.trial.clone_from(&self.best);
        for k in 0..count {
            work.sweeps += 1;
            let change = self.sweeper.sweep(&self.system, k % 2 == 1, &mut self.trial);
            // The residual is at most of the order of the change: nothing left for the next sweep.
            if change <= 0.1 * self.options.tolerance * self.system.q_norm {
                break;
            }
        }
        self.offer(rel)
    }

    /// Proximal Newton from `trial`.
    fn newton(&mut self, options: &ProximalNewtonOptions, rel: &mut f64, work: &mut Work) -> bool {
        self.newton.solve(&mut self.system, options, &mut self.trial, work);
        self.offer(rel)
    }

    /// A starting point somewhere in the cones, of the size of the impulses that stop the contacts; a fixed sequence.
    fn scatter(&mut self, seed: u64) {
        let n = self.system.n();
        let size = self.system.q_norm / (n as f64).sqrt();
        let mut state = seed;
        for x in &mut self.trial {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *x = 4.0 * size * ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5);
        }
        for (i, cone) in self.system.cones.iter().enumerate() {
            cone.project(&mut self.trial[self.system.rows(i)]);
        }
    }

    /// Lemke's method; a status if that settles the matter.
    fn pivot(&mut self, rel: &mut f64, work: &mut Work) -> Option<Status> {
        let n = self.system.n();
        self.trial.fill(0.0);
        let end = self.lemke.solve(&self.system, 20 * n + 100, &mut self.trial, work);
        match end {
            End::Ray if self.lemke.is_certificate(&self.system) => Some(Status::Infeasible),
            End::Solved if self.offer(rel) => Some(Status::Stalled),
            _ => None,
        }
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
        begin(problem, start, solution);
        let tolerance = self.options.tolerance;
        if prepare(&mut self.judge, problem, start, tolerance, solution) {
            return Ok(());
        }
        self.system.update(problem, self.judge.scaling());
        self.best.clear();
        self.best.extend_from_slice(&solution.r);
        System::enter(self.judge.scaling(), &mut self.best);
        let (method, otherwise) = self.attempts(&mut solution.work);
        solution.method = method;
        solution.r.copy_from_slice(&self.best);
        System::leave(self.judge.scaling(), &mut solution.r);
        conclude(&mut self.judge, problem, tolerance, otherwise, solution);
        Ok(())
    }
}
