//! Semismooth Newton inside a proximal-point loop.
//!
//! **Problem.** Any contact problem, in particular with a rank-deficient W (more contacts than degrees of freedom),
//! to 1e-8 … 1e-12.
//!
//! **Method.** Outer: r⁺ solves the problem with W + α and q − α r, whose solution is unique for α large enough and
//! whose fixed points solve the problem itself (R. T. Rockafellar, SIAM J. Control Optim. 14, 1976); α falls as the
//! residual does, so that convergence is superlinear, and rises when an inner problem resists. Inner: Newton's method
//! on the projected laws of `active.rs` with a backtracking search on their norm.
//!
//! **Cost.** One factorisation over the active contacts per Newton step.
//!
//! **Fails when** the friction is so large that inner problems have no or many solutions: α then stops falling.
//!
//! **Checked by** `tests/contact_solvers.rs`, `tests/contact_random.rs`.

use super::super::error::ContactError;
use super::super::problem::ContactProblem;
use super::super::residual::Judge;
use super::active::Linearised;
use super::gauss_seidel::Sweeper;
use super::newton_matrix::NewtonMatrix;
use super::system::System;
use super::{ContactSolver, DEFAULT_TOLERANCE, Solution, Start, Status, Work, begin, conclude};

/// Options of [`ProximalNewton`].
#[derive(Debug, Clone, PartialEq)]
pub struct ProximalNewtonOptions {
    /// Tolerance on `rel`.
    pub tolerance: f64,
    /// First proximal parameter, in units of the contacts' own compliance.
    pub alpha: f64,
    /// Largest number of proximal steps.
    pub max_outer: usize,
    /// Largest number of Newton steps per proximal step.
    pub max_inner: usize,
    /// Gauss–Seidel sweeps on an inner problem before Newton's method.
    pub sweeps: usize,
}

impl Default for ProximalNewtonOptions {
    fn default() -> Self {
        Self { tolerance: DEFAULT_TOLERANCE, alpha: 1.0, max_outer: 200, max_inner: 30, sweeps: std::env::var("SIG_SWEEPS").ok().and_then(|s| s.parse().ok()).unwrap_or(0) }
    }
}

/// Semismooth Newton inside a proximal-point loop.
#[derive(Debug, Clone, Default)]
pub struct ProximalNewton {
    options: ProximalNewtonOptions,
    system: System,
    core: Core,
    judge: Judge,
}

impl ProximalNewton {
    /// With options.
    pub fn new(options: ProximalNewtonOptions) -> Self {
        Self { options, ..Self::default() }
    }
}

/// The iteration on a scaled system, shared with `auto`.
#[derive(Debug, Clone, Default)]
pub struct Core {
    matrix: NewtonMatrix,
    laws: Vec<Linearised>,
    sweeper: Sweeper,
    x: Vec<f64>,
    u: Vec<f64>,
    step: Vec<f64>,
    wstep: Vec<f64>,
    trial: Vec<f64>,
    trial_u: Vec<f64>,
}

impl Core {
    /// Forgets the last problem.
    pub fn reset(&mut self, system: &System) {
        self.matrix.reset();
        self.sweeper.reset(system.n_contacts());
        self.laws.resize(system.n_contacts(), Linearised::default());
        for v in [&mut self.x, &mut self.u, &mut self.step, &mut self.wstep, &mut self.trial, &mut self.trial_u] {
            v.resize(system.n(), 0.0);
        }
    }

    /// ‖f‖ over all contacts at (x, u), with all linearisations.
    fn linearise(laws: &mut [Linearised], system: &System, rho: f64, x: &[f64], u: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (i, law) in laws.iter_mut().enumerate() {
            let rows = system.rows(i);
            let f = law.update(&system.cones[i], rho, &x[rows.clone()], &u[rows]);
            sum += f * f;
        }
        sum.sqrt()
    }

    /// Newton's method on the problem with W + α, q − α r; the result is left in `self.x`.
    /// Returns (‖f‖, whether ‖f‖ ≤ target).
    fn inner(
        &mut self,
        system: &System,
        r: &[f64],
        alpha: f64,
        target: f64,
        max_steps: usize,
        work: &mut Work,
    ) -> (f64, bool) {
        use super::super::delassus::Delassus;
        let ev=|k:&str,d:f64| std::env::var(k).ok().and_then(|s| s.parse().ok()).unwrap_or(d);
        let rho = ev("SIG_RHO",1.0) / (1.0 + alpha); let tmin=ev("SIG_TMIN",2e-3);
        system.velocity(&self.x, &mut self.u);
        for i in 0..r.len() {
            self.u[i] += alpha * (self.x[i] - r[i]);
        }
        let mut size = Self::linearise(&mut self.laws, system, rho, &self.x, &self.u);
        for _ in 0..max_steps {
            if size <= target {
                return (size, true);
            }
            work.newton_steps += 1;
            work.factorisations += 1;
            if !self.matrix.solve(system, &self.laws, alpha, &mut self.step) {
                return (size, false);
            }
            system.w.apply(&self.step, &mut self.wstep);
            for i in 0..r.len() {
                self.wstep[i] += alpha * self.step[i];
            }
            let (mut t, mut best) = (1.0, (f64::INFINITY, 1.0));
            loop {
                for i in 0..r.len() {
                    self.trial[i] = self.x[i] + t * self.step[i];
                    self.trial_u[i] = self.u[i] + t * self.wstep[i];
                }
                let new = Self::linearise(&mut self.laws, system, rho, &self.trial, &self.trial_u);
                if new < best.0 {
                    best = (new, t);
                }
                if new < (1.0 - 0.1 * t) * size || t < tmin {
                    break;
                }
                t *= 0.5;
            }
            if best.1 != t {
                t = best.1;
                for i in 0..r.len() {
                    self.trial[i] = self.x[i] + t * self.step[i];
                    self.trial_u[i] = self.u[i] + t * self.wstep[i];
                }
                Self::linearise(&mut self.laws, system, rho, &self.trial, &self.trial_u);
            }
            size = best.0;
            std::mem::swap(&mut self.x, &mut self.trial);
            std::mem::swap(&mut self.u, &mut self.trial_u);
            if !size.is_finite() {
                return (size, false);
            }
        }
        (size, size <= target)
    }

    /// The proximal-point loop from r (scaled), to `tolerance` on the natural map. Returns the residual reached.
    pub fn solve(
        &mut self,
        system: &mut System,
        options: &ProximalNewtonOptions,
        r: &mut Vec<f64>,
        work: &mut Work,
    ) -> f64 {
        let ev=|k:&str,d:f64| std::env::var(k).ok().and_then(|s| s.parse().ok()).unwrap_or(d);
        let down=ev("SIG_DOWN",0.1); let up=ev("SIG_UP",5.0); let mode=ev("SIG_MODE",0.0) as usize;
        let verbose = std::env::var("SIG_VERBOSE").is_ok();
        let mut rel = system.rel(r);
        let mut alpha = options.alpha;
        for k in 0..options.max_outer {
            if rel <= options.tolerance {
                break;
            }
            work.outer += 1;
            self.x.copy_from_slice(r);
            for s in 0..options.sweeps {
                self.sweeper.sweep(system, s % 2 == 1, &mut self.x, Some((alpha, r)));
                work.sweeps += 1;
            }
            let target = (0.01 * rel.min(alpha)).max(1e-15) * system.q_norm;
            let before = work.newton_steps;
            let (size, ok) = self.inner(system, r, alpha, target, options.max_inner, work);
            let new = system.rel(&self.x);
            if verbose {
                eprintln!(
                    "{k} alpha {alpha:.1e} inner {} f {size:.1e} target {target:.1e} rel {new:.2e}",
                    work.newton_steps - before
                );
            }
            if ok || new < rel {
                r.copy_from_slice(&self.x);
                rel = if ok { new } else { rel.min(new) };
                if ok {
                    let n=work.newton_steps-before; let f=match mode { 0=>down, 1=> if n<=2 {0.05} else if n<=5 {0.1} else if n<=10 {0.3} else {0.5}, 2=> if n<=3 {0.1} else if n<=8 {0.3} else {0.6}, _=> if n<=1 {0.01} else if n<=3 {0.03} else if n<=6 {0.1} else {0.3} };
                    alpha = (alpha * f).max(1e-11);
                }
            } else {
                alpha = (alpha * up).min(10.0);
            }
        }
        rel
    }
}

impl ContactSolver for ProximalNewton {
    fn name(&self) -> &'static str {
        "newton"
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
        solution.method = "newton";
        let tolerance = self.options.tolerance;
        if conclude(&mut self.judge, problem, tolerance, Status::Stalled, solution) {
            return Ok(());
        }
        self.system.update(problem, self.judge.scaling());
        self.core.reset(&self.system);
        System::enter(self.judge.scaling(), &mut solution.r);
        self.core.solve(&mut self.system, &self.options, &mut solution.r, &mut solution.work);
        System::leave(self.judge.scaling(), &mut solution.r);
        conclude(&mut self.judge, problem, tolerance, Status::Stalled, solution);
        Ok(())
    }
}
