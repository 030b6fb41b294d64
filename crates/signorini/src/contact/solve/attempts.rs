//! The attempts of `auto` on a scaled system, in turn. Headings in `auto.rs`, of which this is the engine.

use super::super::cone::Cone;
use super::admm::{self, AdmmOptions};
use super::anderson::Anderson;
use super::auto::AutoOptions;
use super::constants::auto::{COARSE_FLOOR, MARGIN, SCATTER};
use super::constants::{admm as splitting, interior, newton as steps, pivoting};
use super::gauss_seidel::Sweeper;
use super::interior::{Interior, InteriorOptions};
use super::newton::{self, NearbyOptions, ProximalNewtonOptions, Schedule};
use super::system::System;
use super::tableau::{self, End};
use super::{Status, Work};

/// What happened to r before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing.
    Fresh,
    /// Sweeps led to it; whether it solves the problem is not known.
    Swept,
    /// Sweeps led to it, and the judge refused it.
    Refused,
}

/// The methods and what they work on.
#[derive(Debug, Clone, Default)]
pub struct Attempts {
    pub sweeper: Sweeper,
    /// What Newton's method aims at from nearby.
    pub near_goal: f64,
    /// The residual of r, where it is the judge's, and the velocity that he has found, scaled; none otherwise.
    pub known: Option<f64>,
    pub known_u: Vec<f64>,
    anderson: Anderson,
    newton: newton::Core,
    interior: Interior,
    lemke: tableau::Core,
    admm: admm::Core,
    best: Vec<f64>,
    /// Residual of `best`.
    rel: f64,
    trial: Vec<f64>,
}

impl Attempts {
    /// Improves r (scaled) until an attempt succeeds; returns the method that won, or what was tried last, and the
    /// status to report if the judge does not find r solved.
    pub fn run(
        &mut self,
        options: &AutoOptions,
        stage: Stage,
        system: &mut System,
        r: &mut [f64],
        work: &mut Work,
    ) -> (&'static str, Status) {
        self.best.clear();
        self.best.extend_from_slice(r);
        self.trial.clear();
        self.trial.resize(system.n(), 0.0);
        self.rel = f64::INFINITY;
        let outcome = self.try_all(options, stage, system, work);
        r.copy_from_slice(&self.best);
        outcome
    }

    fn try_all(
        &mut self,
        options: &AutoOptions,
        stage: Stage,
        system: &mut System,
        work: &mut Work,
    ) -> (&'static str, Status) {
        let tolerance = options.tolerance;
        let is_lcp = is_lcp(&system.cones);
        let n = system.n();
        let has_zero_diagonal = is_lcp && (0..n).any(|i| system.w.diagonal_block(i)[0] <= 0.0);
        let lemke_first = is_lcp && (n <= options.lemke_rows || has_zero_diagonal && n <= pivoting::MOST_ROWS);
        let may_be_solved = match stage {
            Stage::Fresh => self.best.iter().any(|r| *r != 0.0) || is_open(system),
            Stage::Swept => true,
            Stage::Refused => false,
        };
        if may_be_solved && self.offer_best(tolerance, system) {
            return (if stage == Stage::Swept { "gauss-seidel" } else { "none" }, Status::Stalled);
        }
        if lemke_first && let Some(status) = self.pivot(tolerance, system, work) {
            return ("lemke", status);
        }
        if stage == Stage::Fresh {
            self.sweep(options.count_sweeps(system.n_contacts(), is_lcp), tolerance, system, work);
        }
        // What the judge refused is not offered again, only measured where he has not done so.
        if let (Stage::Refused, Some(rel)) = (stage, self.known) {
            self.rel = rel;
        } else if stage != Stage::Swept && self.offer_best(tolerance, system) && stage != Stage::Refused {
            return ("gauss-seidel", Status::Stalled);
        }
        self.newton.reset(system, tolerance);
        if !is_lcp && self.close_in(options, system, work) {
            return ("newton", Status::Stalled);
        }
        // From a wrong set of states a few sweeps lead to another one.
        if !is_lcp && self.rel <= steps::FIRST_RESIDUAL && system.n_contacts() <= steps::FEW_CONTACTS {
            self.sweep(options.sweeps, tolerance, system, work);
            self.offer_best(tolerance, system);
            if self.close_in(options, system, work) {
                return ("newton", Status::Stalled);
            }
        }
        self.newton.matrix.be_exact();
        // Planar contacts have finitely many states, which Newton's method goes through quickly.
        let is_spatial = system.cones.iter().any(|c| c.dim() > 2);
        let is_many = is_spatial && system.n_contacts() > steps::MANY_CONTACTS;
        if !is_lcp && is_many && self.go_inside(false, tolerance, system, work) {
            return ("interior", Status::Stalled);
        }
        // With few contacts a hundred sweeps cost more than Newton steps, which come first; a handful had all that they need.
        let is_few = (steps::TINY_CONTACTS + 1..=steps::FEW_CONTACTS).contains(&system.n_contacts());
        if !is_lcp && !is_few && self.accelerate(options, system, work) {
            return ("gauss-seidel", Status::Stalled);
        }
        // From there, Newton. For rows it is an active-set method that ends in a few steps or not at all; for contacts
        // the proximal parameter matches how far there is to go.
        let plan = if is_lcp {
            newton_options(tolerance, steps::ACTIVE_SET.0, 1.0, Schedule::Fast, steps::ACTIVE_SET.1)
        } else {
            let most = if is_many { options.newton_steps } else { steps::FULL_STEPS };
            let outer = most.max(100);
            let bold = newton_options(tolerance, self.rel.clamp(steps::FULL_ALPHA, 1.0), 1.0, Schedule::Bold, outer);
            ProximalNewtonOptions { max_inner: steps::FULL_INNER, max_newton: most, ..bold }
        };
        self.trial.copy_from_slice(&self.best);
        if self.newton(&plan, Some(self.rel), tolerance, system, work) {
            return ("newton", Status::Stalled);
        }
        if !is_lcp && is_few && self.accelerate(options, system, work) {
            return ("gauss-seidel", Status::Stalled);
        }
        if !is_lcp && !is_many && self.go_inside(false, tolerance, system, work) {
            return ("interior", Status::Stalled);
        }
        // Another start leads along another path, and costs little beside what follows.
        if !is_lcp && self.go_inside(true, tolerance, system, work) {
            return ("interior", Status::Stalled);
        }
        if is_lcp
            && !lemke_first
            && n <= pivoting::MOST_ROWS
            && let Some(status) = self.pivot(tolerance, system, work)
        {
            return ("lemke", status);
        }
        // Forces of bodies on the verge of sliding drift for a hundred proximal steps and more.
        for (rho, outer) in steps::CAREFUL {
            self.trial.fill(0.0);
            let plan = newton_options(tolerance, 1.0, rho, Schedule::Safe, outer);
            if self.newton(&plan, None, tolerance, system, work) {
                return ("newton", Status::Stalled);
            }
        }
        for seed in 1..=steps::RESTARTS {
            self.scatter(seed, system);
            let (schedule, outer) = if seed % 2 == 1 {
                (Schedule::Fast, steps::RESTART_STEPS[0])
            } else {
                (Schedule::Safe, steps::RESTART_STEPS[1])
            };
            let rho = steps::RESTART_RHO[seed as usize / 2 % 3];
            let plan = newton_options(tolerance, 1.0, rho, schedule, outer);
            if self.newton(&plan, None, tolerance, system, work) {
                return ("restart", Status::Stalled);
            }
        }
        for (rho, max_steps) in splitting::STARTS {
            let plan = AdmmOptions { tolerance: MARGIN * tolerance, max_steps, rho, ..AdmmOptions::default() };
            self.trial.fill(0.0);
            let new = self.admm.solve(system, &plan, &mut self.trial, work);
            let start = self.trial.clone();
            if self.offer(new, tolerance, system) {
                return ("admm", Status::Stalled);
            }
            for (alpha, rho) in splitting::THEN {
                self.trial.copy_from_slice(&start);
                let plan = newton_options(tolerance, alpha, rho, Schedule::Safe, splitting::THEN_STEPS);
                if self.newton(&plan, None, tolerance, system, work) {
                    return ("admm+newton", Status::Stalled);
                }
            }
        }
        ("auto", Status::Stalled)
    }

    /// Keeps `trial`, whose residual is `new`, if it is better than the best so far; whether that is good enough.
    fn offer(&mut self, new: f64, tolerance: f64, system: &mut System) -> bool {
        if new < self.rel {
            self.rel = new;
            std::mem::swap(&mut self.best, &mut self.trial);
        }
        self.rel <= MARGIN * tolerance || {
            let floor = if self.rel < COARSE_FLOOR { system.floor(&self.best) } else { 0.0 };
            self.rel <= MARGIN * floor.min(COARSE_FLOOR)
        }
    }

    /// Evaluates the best r itself.
    fn offer_best(&mut self, tolerance: f64, system: &mut System) -> bool {
        self.trial.copy_from_slice(&self.best);
        self.rel = f64::INFINITY;
        let new = system.rel(&self.trial);
        self.offer(new, tolerance, system)
    }

    /// Gauss–Seidel sweeps from the best r, until nothing moves.
    fn sweep(&mut self, count: usize, tolerance: f64, system: &System, work: &mut Work) {
        self.sweeper.reset(system.n_contacts());
        self.sweeper.settle(system.view(), None, count, tolerance * system.q_norm, &mut self.best, work);
    }

    /// A few Newton steps where the best r is close, or a step is cheap.
    fn close_in(&mut self, options: &AutoOptions, system: &mut System, work: &mut Work) -> bool {
        let is_near = self.rel <= steps::NEAR;
        let is_tiny = system.n_contacts() <= steps::TINY_CONTACTS;
        if !(is_tiny || self.rel <= steps::FIRST_RESIDUAL) {
            return false;
        }
        let tolerance = options.tolerance;
        let goal = if is_near { self.near_goal } else { tolerance };
        self.trial.copy_from_slice(&self.best);
        if is_tiny {
            let alpha = (steps::TINY_SHARE * self.rel).clamp(steps::TINY_ALPHA, 1.0);
            let plan = newton_options(goal, alpha, 1.0, Schedule::Fast, steps::TINY_STEPS);
            return self.newton(&plan, Some(self.rel), tolerance, system, work);
        }
        let (max_steps, least_alpha) = if is_near {
            (steps::NEAR_STEPS, steps::NEAR_ALPHA)
        } else {
            (steps::FIRST_STEPS, (steps::ALPHA_PER_TOLERANCE * tolerance).clamp(steps::NEAR_ALPHA, steps::FIRST_ALPHA))
        };
        let plan = NearbyOptions { goal: MARGIN * goal, least_alpha, max_steps };
        let new = self.newton.close_in(system, &plan, (self.rel, &self.known_u), &mut self.trial, work);
        // It is not known elsewhere.
        self.known_u.clear();
        self.offer(new, tolerance, system)
    }

    /// The interior-point method from the best r or from zero, each time followed by a few bold Newton steps.
    fn go_inside(&mut self, is_from_zero: bool, tolerance: f64, system: &mut System, work: &mut Work) -> bool {
        let bold = newton_options(tolerance, interior::THEN_ALPHA, 1.0, Schedule::Bold, interior::THEN_STEPS.0);
        let bold = ProximalNewtonOptions { max_inner: steps::FULL_INNER, max_newton: interior::THEN_STEPS.1, ..bold };
        let insets: &[f64] = if is_from_zero { &interior::INSETS_FROM_ZERO } else { &interior::INSETS };
        for &inset in insets {
            let options = InteriorOptions { goal: interior::GOAL, max_steps: interior::STEPS, inset };
            self.trial.copy_from_slice(&self.best);
            if is_from_zero {
                self.trial.fill(0.0);
            }
            let own = (&mut self.newton.matrix, &mut *self.newton.laws);
            let Some(new) = self.interior.solve(system, own, &options, &mut self.trial, work) else { return false };
            let is_best = new < self.rel;
            if self.offer(new, tolerance, system) {
                return true;
            }
            // From where the path has led, be it the best or not.
            if is_best {
                self.trial.copy_from_slice(&self.best);
            }
            if self.newton(&bold, Some(new), tolerance, system, work) {
                return true;
            }
        }
        false
    }

    /// Accelerated sweeps from the best r.
    fn accelerate(&mut self, options: &AutoOptions, system: &mut System, work: &mut Work) -> bool {
        let goal = (options.tolerance * system.q_norm, options.accelerated_sweeps);
        self.trial.copy_from_slice(&self.best);
        // The multipliers of earlier sweeps may be those of the problem as it was posed.
        self.sweeper.reset(system.n_contacts());
        self.anderson.settle(&mut self.sweeper, system, goal, &mut self.trial, work);
        let new = system.rel(&self.trial);
        self.offer(new, options.tolerance, system)
    }

    /// Proximal Newton from `trial`, whose residual is `known` or computed.
    fn newton(
        &mut self,
        plan: &ProximalNewtonOptions,
        known: Option<f64>,
        tolerance: f64,
        system: &mut System,
        work: &mut Work,
    ) -> bool {
        let rel = known.unwrap_or_else(|| system.rel(&self.trial));
        let mut new = self.newton.solve(system, plan, rel, &mut self.trial, work);
        if new > MARGIN * tolerance {
            new = self.newton.polish(system, MARGIN * tolerance, new, &mut self.trial, work);
        }
        self.offer(new, tolerance, system)
    }

    /// A starting point somewhere in the cones, of the size of the impulses that stop the contacts; a fixed sequence.
    fn scatter(&mut self, seed: u64, system: &System) {
        let size = system.q_norm / (system.n() as f64).sqrt();
        let mut state = seed;
        for x in &mut self.trial {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *x = SCATTER * size * ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5);
        }
        for (i, cone) in system.cones.iter().enumerate() {
            cone.project(&mut self.trial[system.rows(i)]);
        }
    }

    /// Lemke's method; a status if that settles the matter.
    fn pivot(&mut self, tolerance: f64, system: &mut System, work: &mut Work) -> Option<Status> {
        let limit = pivoting::PER_ROW * system.n() + pivoting::AT_LEAST;
        match self.lemke.solve(system, limit, tolerance, &mut self.trial, work) {
            End::Ray if self.lemke.is_certificate(system) => Some(Status::Infeasible),
            End::Solved => {
                let new = self.lemke.residual();
                self.offer(new, tolerance, system).then_some(Status::Stalled)
            }
            _ => None,
        }
    }
}

fn newton_options(tolerance: f64, alpha: f64, rho: f64, schedule: Schedule, max_outer: usize) -> ProximalNewtonOptions {
    let tolerance = MARGIN * tolerance;
    ProximalNewtonOptions { tolerance, alpha, max_outer, rho, schedule, ..ProximalNewtonOptions::default() }
}

/// Whether all laws are rows of a linear or mixed linear complementarity problem.
pub fn is_lcp(cones: &[Cone]) -> bool {
    cones.iter().all(|c| matches!(c, Cone::Unilateral | Cone::Bilateral))
}

/// Whether no contact closes at r = 0: the one case in which r = 0 may be the answer.
fn is_open(system: &System) -> bool {
    let closes = |(i, cone): (usize, &Cone)| {
        let q = system.q[system.offsets()[i]];
        if cone.is_row() && !matches!(cone, Cone::Unilateral) { q != 0.0 } else { q < 0.0 }
    };
    !system.cones.iter().enumerate().any(closes)
}
