//! Alternating directions with an adaptive penalty.
//!
//! **Problem.** Any contact problem with W positive semidefinite; meant for large or badly scaled ones.
//!
//! **Method.** With De Saxcé's shift s held, min ½ xᵀWx + (q + s)ᵀx + I_K(z), x = z, is split:
//! x = (W + ρ)⁻¹(ρ z − y − q − s), z = P_K(x + y/ρ), y ← y + ρ (x − z), and −y → v = u + s e_n, so that s is renewed
//! from y at every step (S. Boyd et al., Found. Trends Mach. Learn. 3, 2011, §3; over-relaxation §3.4.3). ρ follows the
//! ratio of primal and dual residuals (§3.4.1) with ever rarer changes, so that the iteration ends up stationary.
//!
//! **Cost.** One factorisation per change of ρ, one back-substitution per step.
//!
//! **Fails when** W is far from symmetric (LCPs), or friction is large: linear convergence at best.
//!
//! **Checked by** `tests/contact_solvers.rs`, `tests/contact_random.rs`.

use super::super::error::ContactError;
use super::super::problem::{ContactProblem, Kind};
use super::active::Linearised;
use super::constants::admm::{
    ASYMMETRY, CHANGE, CHECK_EVERY, FIRST_WAIT, GOAL_SHARE, PATIENCE, PROGRESS, RELAXATION, RHO, UNBALANCED,
};
use super::method::{Framed, Iterate};
use super::newton_matrix::NewtonMatrix;
use super::outcome::Outcome;
use super::plan::Shared;
use super::system::System;
use super::{GOAL, Solution, Work};

/// Options of [`Admm`].
#[derive(Debug, Clone, PartialEq)]
pub struct AdmmOptions {
    /// Tolerance on `rel`.
    pub tolerance: f64,
    /// Largest number of steps.
    pub max_steps: usize,
    /// First penalty, in units of the contacts' own compliance.
    pub rho: f64,
    /// Over-relaxation, between 1 and 2.
    pub relaxation: f64,
}

impl Default for AdmmOptions {
    fn default() -> Self {
        Self { tolerance: GOAL, max_steps: 20_000, rho: RHO, relaxation: RELAXATION }
    }
}

/// Alternating directions.
pub type Admm = Framed<Splitting>;

/// The method behind [`Admm`].
#[derive(Debug, Clone, Default)]
pub struct Splitting {
    options: AdmmOptions,
    core: Core,
}

impl Admm {
    /// With options.
    pub fn new(options: AdmmOptions) -> Self {
        Self::around(Splitting { options, ..Splitting::default() })
    }
}

/// The iteration on a scaled system, shared with `auto`.
#[derive(Debug, Clone, Default)]
pub struct Core {
    matrix: NewtonMatrix,
    laws: Vec<Linearised>,
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    best: Vec<f64>,
}

impl Core {
    /// Iterates from r (scaled); leaves the best r and returns its residual.
    pub fn solve(&mut self, system: &mut System, options: &AdmmOptions, r: &mut [f64], work: &mut Work) -> f64 {
        let n = system.n();
        self.matrix.reset(system, r, (options.tolerance, options.tolerance), Shared::default());
        self.laws.resize(system.n_contacts(), Linearised::default());
        for (i, law) in self.laws.iter_mut().enumerate() {
            law.set_bilateral(system.w.dim(i));
        }
        for v in [&mut self.x, &mut self.y, &mut self.z, &mut self.best] {
            v.resize(n, 0.0);
        }
        self.z.copy_from_slice(r);
        self.best.copy_from_slice(r);
        let mut best = system.rel(r);
        // y = −v at the start.
        system.velocity(r, &mut self.y);
        for (i, cone) in system.cones.iter().enumerate() {
            let rows = system.rows(i);
            let shift = cone.shift(&self.y[rows.clone()]);
            self.y[rows.start] += shift;
        }
        self.y.iter_mut().for_each(|y| *y = -*y);
        let mut rho = options.rho;
        let (mut factored, mut wait, mut since_change) = (false, FIRST_WAIT, 0);
        let mut since_best = 0;
        for step in 0..options.max_steps {
            if !factored {
                work.factorisations += 1;
                if !self.matrix.factor(system, &self.laws, rho) {
                    break;
                }
                factored = true;
            }
            work.outer += 1;
            // The shift from −y_t = u_t.
            for (i, cone) in system.cones.iter().enumerate() {
                let rows = system.rows(i);
                let mut u = [0.0; super::super::cone::MAX_DIM];
                let u = &mut u[..rows.len()];
                u.iter_mut().zip(&self.y[rows.clone()]).for_each(|(u, y)| *u = -y);
                let shift = cone.shift(u);
                for k in rows.clone() {
                    self.x[k] = rho * self.z[k] - self.y[k] - system.q[k];
                }
                self.x[rows.start] -= shift;
            }
            self.matrix.solve_factored(system, &self.laws, &mut self.x);
            let (mut primal, mut dual) = (0.0, 0.0);
            let a = options.relaxation;
            for (i, cone) in system.cones.iter().enumerate() {
                let rows = system.rows(i);
                let mut p = [0.0; super::super::cone::MAX_DIM];
                let p = &mut p[..rows.len()];
                for (p, k) in p.iter_mut().zip(rows.clone()) {
                    self.x[k] = a * self.x[k] + (1.0 - a) * self.z[k];
                    *p = self.x[k] + self.y[k] / rho;
                }
                cone.project(p);
                for (p, k) in p.iter().zip(rows) {
                    let gap = self.x[k] - p;
                    primal += gap * gap;
                    dual += (p - self.z[k]) * (p - self.z[k]);
                    self.y[k] += rho * gap;
                    self.z[k] = *p;
                }
            }
            since_change += 1;
            if step % CHECK_EVERY == CHECK_EVERY - 1 {
                let rel = system.rel(&self.z);
                if rel < best {
                    since_best = if rel < PROGRESS * best { 0 } else { since_best + 1 };
                    best = rel;
                    self.best.copy_from_slice(&self.z);
                } else {
                    since_best += 1;
                }
                if rel <= options.tolerance || since_best > PATIENCE || !rel.is_finite() {
                    break;
                }
            }
            let (primal, dual) = (primal.sqrt(), rho * dual.sqrt());
            if since_change >= wait {
                let factor = if primal > UNBALANCED * dual {
                    CHANGE
                } else if dual > UNBALANCED * primal {
                    1.0 / CHANGE
                } else {
                    1.0
                };
                if factor != 1.0 {
                    rho *= factor;
                    factored = false;
                    wait += wait / 2;
                    since_change = 0;
                }
            }
        }
        r.copy_from_slice(&self.best);
        best
    }
}

impl Iterate for Splitting {
    const NAME: &'static str = "admm";

    fn tolerance(&self) -> f64 {
        self.options.tolerance
    }

    fn check(&self, problem: &ContactProblem) -> Result<(), ContactError> {
        match problem.kind() {
            Kind::Lcp | Kind::Mlcp if problem.n_rows() > 0 => {
                let mut w = super::super::delassus::BlockMatrix::default();
                problem.delassus().write_blocks(problem.offsets(), &mut w);
                // Symmetric to print precision is symmetric enough for a splitting of a convex programme.
                if w.asymmetry() > ASYMMETRY {
                    return Err(ContactError::NotApplicable {
                        solver: "admm",
                        reason: "the matrix of the complementarity problem is not symmetric",
                    });
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn report(&self, solution: &mut Solution) {
        self.core.matrix.report(solution);
    }

    fn iterate(&mut self, system: &mut System, r: &mut [f64], work: &mut Work) -> Outcome {
        self.core.matrix.start();
        let options = AdmmOptions { tolerance: GOAL_SHARE * self.options.tolerance, ..self.options.clone() };
        let rel = self.core.solve(system, &options, r, work);
        if work.outer >= options.max_steps { Outcome::Better(rel) } else { Outcome::Stalled }
    }
}
