//! Block Gauss–Seidel with an exact local solver.
//!
//! **Problem.** Any contact problem with positive definite diagonal blocks.
//!
//! **Method.** r_i ← solution of contact i alone with the others held (M. Jean, J.-J. Moreau's nonsmooth contact
//! dynamics; F. Jourdan, P. Alart, M. Jean, Comput. Methods Appl. Mech. Eng. 155, 1998), contacts in the order given,
//! alternately forwards and backwards so that information crosses a chain in one sweep.
//!
//! **Cost.** One product with W and one local solve per contact and sweep; linear convergence.
//!
//! **Fails when** W is far from diagonally dominant (stacks, many contacts per body): slow, or not convergent at all
//! with large friction. The status then says so.
//!
//! **Checked by** `tests/contact_solvers.rs`, `tests/contact_random.rs`.

use super::super::cone::MAX_DIM;
use super::super::error::ContactError;
use super::super::problem::ContactProblem;
use super::super::residual::Judge;
use super::local::solve_local;
use super::system::System;
use super::{ContactSolver, DEFAULT_TOLERANCE, Solution, Start, Status, begin, conclude, prepare};

/// Options of [`GaussSeidel`].
#[derive(Debug, Clone, PartialEq)]
pub struct GaussSeidelOptions {
    /// Tolerance on `rel`.
    pub tolerance: f64,
    /// Largest number of sweeps.
    pub max_sweeps: usize,
    /// Sweeps between two evaluations of the residual.
    pub check_every: usize,
}

impl Default for GaussSeidelOptions {
    fn default() -> Self {
        Self { tolerance: DEFAULT_TOLERANCE, max_sweeps: 20_000, check_every: 10 }
    }
}

/// Block Gauss–Seidel.
#[derive(Debug, Clone, Default)]
pub struct GaussSeidel {
    options: GaussSeidelOptions,
    system: System,
    sweeper: Sweeper,
    judge: Judge,
}

impl GaussSeidel {
    /// With options.
    pub fn new(options: GaussSeidelOptions) -> Self {
        Self { options, ..Self::default() }
    }
}

/// The scratch of a sweep: the multipliers of sliding contacts.
#[derive(Debug, Clone, Default)]
pub struct Sweeper {
    memory: Vec<f64>,
}

impl Sweeper {
    /// Forgets the last problem.
    pub fn reset(&mut self, n_contacts: usize) {
        self.memory.clear();
        self.memory.resize(n_contacts, 0.0);
    }

    /// One pass over all contacts; returns ‖Δr‖.
    pub fn sweep(&mut self, system: &System, backwards: bool, r: &mut [f64]) -> f64 {
        let n = system.n_contacts();
        let mut change = 0.0;
        let (mut b, mut x) = ([0.0; MAX_DIM], [0.0; MAX_DIM]);
        for k in 0..n {
            let i = if backwards { n - 1 - k } else { k };
            let rows = system.rows(i);
            let dim = rows.len();
            let (b, x) = (&mut b[..dim], &mut x[..dim]);
            x.copy_from_slice(&r[rows.clone()]);
            b.copy_from_slice(&system.q[rows.clone()]);
            system.w.add_row_product(i, r, b);
            let d = system.w.diagonal_block(i);
            for a in 0..dim {
                for c in 0..dim {
                    b[a] -= d[a * dim + c] * x[c];
                }
            }
            solve_local(&system.cones[i], d, b, x, &mut self.memory[i]);
            for (old, new) in r[rows].iter_mut().zip(x.iter()) {
                change += (new - *old) * (new - *old);
                *old = *new;
            }
        }
        change.sqrt()
    }
}

impl ContactSolver for GaussSeidel {
    fn name(&self) -> &'static str {
        "gauss-seidel"
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
        solution.method = "gauss-seidel";
        let tolerance = self.options.tolerance;
        if prepare(&mut self.judge, problem, start, tolerance, solution) {
            return Ok(());
        }
        self.system.update(problem, self.judge.scaling());
        self.sweeper.reset(problem.n_contacts());
        System::enter(self.judge.scaling(), &mut solution.r);
        let mut best = (f64::INFINITY, solution.r.clone());
        let (mut since, mut mark) = (0, f64::INFINITY);
        let mut status = Status::Accurate;
        while solution.work.sweeps < self.options.max_sweeps {
            let backwards = solution.work.sweeps % 2 == 1;
            self.sweeper.sweep(&self.system, backwards, &mut solution.r);
            solution.work.sweeps += 1;
            if !solution.work.sweeps.is_multiple_of(self.options.check_every.max(1)) {
                continue;
            }
            let rel = self.system.rel(&solution.r);
            since += 1;
            if rel < best.0 {
                best.0 = rel;
                best.1.copy_from_slice(&solution.r);
            }
            // Progress worth the name: at least a tenth over a hundred checks.
            if rel < 0.9 * mark {
                (mark, since) = (rel, 0);
            }
            if rel <= 0.5 * tolerance || (rel < 1e-10 && rel <= 0.25 * self.system.floor(&solution.r)) {
                break;
            }
            if since >= 100 || !rel.is_finite() {
                status = Status::Stalled;
                break;
            }
        }
        solution.r.copy_from_slice(&best.1);
        System::leave(self.judge.scaling(), &mut solution.r);
        conclude(&mut self.judge, problem, tolerance, status, solution);
        Ok(())
    }
}
