//! Semismooth Newton inside a proximal-point loop.
//!
//! **Problem.** Any contact problem, in particular with a rank-deficient W (more contacts than degrees of freedom),
//! to 1e-8 … 1e-12.
//!
//! **Method.** Outer: r⁺ solves the problem with W + α and q − α r, whose solution is unique for α large enough and
//! whose fixed points solve the problem itself (R. T. Rockafellar, SIAM J. Control Optim. 14, 1976); α falls as the
//! residual does, so that convergence is superlinear, and rises when an inner problem resists. Inner: Newton's method
//! on the projected laws of `active.rs`, with a backtracking search on their norm or, boldly, with full steps: an inner problem is then solved in a few
//! steps or cycles, and cycles are cut short. Where W is singular r may have to drift far before a contact changes its state, while the residual
//! hardly falls: a bold step that gains little is prolonged to where the first contact changes its state.
//!
//! **Cost.** One factorisation over the active contacts per Newton step.
//!
//! **Fails when** the friction is so large that inner problems have no or many solutions: α then stops falling.
//!
//! **Checked by** `tests/contact_solvers.rs`, `tests/contact_random.rs`.

use super::super::cone::{Cone, Section};
use super::super::delassus::Delassus;
use super::active::Linearised;
use super::constants::newton::{
    ARMIJO, FAIR, FALL, FAST_FALL, FEW_TO_ELIMINATE, FLOOR_CHECK, FLOOR_SHARE, FORCING, FULL_STEP_RISE, GOOD,
    INNER_FLOOR, LARGEST_ALPHA, LEAST_SPEEDS_ALPHA, LITTLE, MOST_ALPHA, NEAR_ALPHA, NEAR_STEPS, ON_BOUND, PATIENCE,
    POLISH, PROGRESS, RISE, ROUNDS, SHORTEST_STEP, SPEEDS_ALPHA, SPEEDS_GOAL,
};
use super::method::{Framed, Iterate};
use super::newton_matrix::NewtonMatrix;
use super::outcome::Outcome;
use super::plan::Shared;
use super::stubborn::Stubborn;
use super::system::System;
use super::{GOAL, Solution, Work};

/// Options of [`ProximalNewton`].
#[derive(Debug, Clone, PartialEq)]
pub struct ProximalNewtonOptions {
    /// Tolerance on `rel`.
    pub tolerance: f64,
    /// Below this residual three more proximal steps are taken at most; zero for no such limit.
    pub accepted: f64,
    /// First proximal parameter, in units of the contacts' own compliance.
    pub alpha: f64,
    /// Largest number of proximal steps.
    pub max_outer: usize,
    /// Largest number of Newton steps per proximal step.
    pub max_inner: usize,
    /// ρ of the projected laws, in units of the contacts' own stiffness.
    pub rho: f64,
    /// Largest number of Newton steps in all.
    pub max_newton: usize,
    /// How fast α falls.
    pub schedule: Schedule,
}

/// Options of [`Core::close_in`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearbyOptions {
    /// Residual to reach.
    pub goal: f64,
    /// Below this residual three more steps are taken at most.
    pub accepted: f64,
    /// Smallest proximal parameter.
    pub least_alpha: f64,
    /// Largest number of steps.
    pub max_steps: usize,
}

/// How fast the proximal parameter falls after a solved inner problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Schedule {
    /// By 0.3, always: follows the path of solutions closely.
    #[default]
    Safe,
    /// By up to 0.01 when the inner problem took few Newton steps.
    Fast,
    /// By 0.3, with full Newton steps, short patience, and steps that are prolonged where they gain little.
    Bold,
}

impl Schedule {
    fn factor(self, newton_steps: usize) -> f64 {
        if self != Schedule::Fast {
            return FALL;
        }
        FAST_FALL.iter().find(|(most, _)| newton_steps <= *most).map_or(FALL, |(_, factor)| *factor)
    }

    /// By how much α rises after an inner problem that was not solved.
    fn rise(self) -> f64 {
        if self == Schedule::Bold { FULL_STEP_RISE } else { RISE }
    }

    /// The residual of an inner problem, in units of what its outer step gains.
    fn forcing(self) -> f64 {
        match self {
            Schedule::Safe => FORCING[0],
            Schedule::Fast => FORCING[1],
            Schedule::Bold => FORCING[2],
        }
    }
}

impl Default for ProximalNewtonOptions {
    fn default() -> Self {
        Self {
            tolerance: GOAL,
            accepted: 0.0,
            alpha: 1.0,
            max_outer: 200,
            max_inner: 30,
            max_newton: usize::MAX,
            rho: 1.0,
            schedule: Schedule::Safe,
        }
    }
}

/// Semismooth Newton inside a proximal-point loop.
pub type ProximalNewton = Framed<Proximal>;

/// The method behind [`ProximalNewton`].
#[derive(Debug, Clone, Default)]
pub struct Proximal {
    options: ProximalNewtonOptions,
    core: Core,
}

impl ProximalNewton {
    /// With options.
    pub fn new(options: ProximalNewtonOptions) -> Self {
        Self::around(Proximal { options, ..Proximal::default() })
    }
}

/// The iteration on a scaled system, shared with `auto`.
#[derive(Debug, Clone, Default)]
pub struct Core {
    pub matrix: NewtonMatrix,
    pub laws: Vec<Linearised>,
    x: Vec<f64>,
    u: Vec<f64>,
    step: Vec<f64>,
    wstep: Vec<f64>,
    trial: Vec<f64>,
    trial_u: Vec<f64>,
    best: Vec<f64>,
    /// Linearisations at the end of a step, while those of its start are needed.
    next_laws: Vec<Linearised>,
    stubborn: Stubborn,
    shared: Shared,
}

impl Core {
    /// Forgets the last problem.
    pub fn reset(&mut self, system: &System, r: &[f64], tolerances: (f64, f64), shared: Shared) {
        self.shared = shared;
        self.matrix.reset(system, r, tolerances, shared);
        self.laws.resize(system.n_contacts(), Linearised::default());
        self.next_laws.resize(system.n_contacts(), Linearised::default());
        let own = [&mut self.x, &mut self.u, &mut self.step, &mut self.wstep, &mut self.trial, &mut self.trial_u];
        own.into_iter().chain([&mut self.best]).for_each(|v| v.resize(system.n(), 0.0));
    }

    /// The residual of `self.x`.
    fn rel(&mut self, system: &System) -> f64 {
        self.matrix.velocity(system, &self.x, &mut self.trial_u);
        system.rel_with(&self.x, &self.trial_u)
    }

    fn try_step(&mut self, t: f64) {
        for i in 0..self.x.len() {
            self.trial[i] = self.x[i] + t * self.step[i];
            self.trial_u[i] = self.u[i] + t * self.wstep[i];
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

    /// Takes the whole step where that is good, or where it is with the laws of a few contacts met exactly; else goes along it. Returns ‖f‖ there.
    fn advance(&mut self, system: &System, rho: f64, size: f64) -> f64 {
        self.try_step(1.0);
        let plain = Self::linearise(&mut self.next_laws, system, rho, &self.trial, &self.trial_u);
        let mut new = plain;
        // Over speeds, and with few contacts, another factorisation costs no more than the columns of one contact.
        let is_worth_it = self.shared.stubborn && !self.matrix.is_by_speeds() && system.n_contacts() > FEW_TO_ELIMINATE;
        if is_worth_it && plain >= GOOD * size {
            self.stubborn.reset(system);
        }
        for _ in 0..if is_worth_it { ROUNDS } else { 0 } {
            let own = (&mut self.matrix, &*self.laws);
            if new < GOOD * size || !self.stubborn.gather(system, own, &self.next_laws) {
                break;
            }
            self.try_step(1.0);
            self.stubborn.settle(system, rho, &mut self.trial, &mut self.trial_u);
            new = Self::linearise(&mut self.next_laws, system, rho, &self.trial, &self.trial_u);
        }
        if new <= plain && new < (if new < plain { FAIR } else { GOOD }) * size {
            std::mem::swap(&mut self.laws, &mut self.next_laws);
            self.take_trial();
            return new;
        }
        let along = self.search(system, rho, size, false);
        if !(new < along && new < plain) {
            return along;
        }
        // From where the step began, which the search has left in `trial`.
        self.take_trial();
        self.try_step(1.0);
        self.stubborn.apply(&mut self.trial, &mut self.trial_u);
        self.take_trial();
        Self::linearise(&mut self.laws, system, rho, &self.x, &self.u)
    }

    fn take_trial(&mut self) {
        std::mem::swap(&mut self.x, &mut self.trial);
        std::mem::swap(&mut self.u, &mut self.trial_u);
    }

    /// Goes along the step: the whole of it, or the best of the longest few. Returns ‖f‖ there.
    fn search(&mut self, system: &System, rho: f64, size: f64, is_bold: bool) -> f64 {
        let (mut t, mut best) = (1.0, (f64::INFINITY, 1.0));
        loop {
            self.try_step(t);
            let new = Self::linearise(&mut self.laws, system, rho, &self.trial, &self.trial_u);
            if new < best.0 {
                best = (new, t);
            }
            if new < (1.0 - ARMIJO * t) * size || t < SHORTEST_STEP || is_bold {
                break;
            }
            t *= 0.5;
        }
        if best.1 != t {
            self.try_step(best.1);
            Self::linearise(&mut self.laws, system, rho, &self.trial, &self.trial_u);
        }
        self.take_trial();
        best.0
    }

    /// Newton's method on the problem with W + α, q − α r; the result is left in `self.x`.
    /// Returns whether ‖f‖ ≤ target.
    fn inner(
        &mut self,
        system: &System,
        r: &[f64],
        alpha: f64,
        target: f64,
        options: &ProximalNewtonOptions,
        work: &mut Work,
    ) -> bool {
        let rho = options.rho / (1.0 + alpha);
        self.matrix.velocity(system, &self.x, &mut self.u);
        for i in 0..r.len() {
            self.u[i] += alpha * (self.x[i] - r[i]);
        }
        let mut size = Self::linearise(&mut self.laws, system, rho, &self.x, &self.u);
        for _ in 0..options.max_inner {
            if size <= target {
                return true;
            }
            work.newton_steps += 1;
            work.factorisations += 1;
            if !self.matrix.solve(system, &self.laws, alpha, &mut self.step) {
                return false;
            }
            match self.matrix.response() {
                Some(response) => self.wstep.copy_from_slice(response),
                None => system.w.apply(&self.step, &mut self.wstep),
            }
            for i in 0..r.len() {
                self.wstep[i] += alpha * self.step[i];
            }
            size = self.search(system, rho, size, options.schedule == Schedule::Bold);
            if !size.is_finite() {
                return false;
            }
        }
        size <= target
    }

    /// The proximal-point loop from r (scaled) with residual `rel`, to `tolerance`. Returns the residual reached; r is the best found.
    pub fn solve(
        &mut self,
        system: &mut System,
        options: &ProximalNewtonOptions,
        rel: f64,
        r: &mut [f64],
        work: &mut Work,
    ) -> f64 {
        let rel = self.iterate(system, options, rel, r, work);
        if self.matrix.response().is_none() {
            return rel;
        }
        // By links velocities have a rounding of their own.
        system.rel(r)
    }

    /// Newton's method from nearby, where few contacts change their state: every step has its own proximal term, centred where it starts, so that
    /// steps converge as Newton's do. `rel` is the residual of r, `u` its velocity or, where that is not known, empty. Returns the residual reached; r is
    /// the best found.
    pub fn close_in(
        &mut self,
        system: &mut System,
        options: &NearbyOptions,
        (rel, u): (f64, &[f64]),
        r: &mut [f64],
        work: &mut Work,
    ) -> f64 {
        self.x.copy_from_slice(r);
        if u.len() == r.len() {
            self.u.copy_from_slice(u);
        } else {
            self.matrix.velocity(system, &self.x, &mut self.u);
        }
        let rho = 1.0;
        let mut size = Self::linearise(&mut self.laws, system, rho, &self.x, &self.u);
        let mut least = rel;
        let (mut mark, mut since) = (rel, 0);
        let mut last = rel;
        let mut n_beyond = 0;
        for _ in 0..options.max_steps {
            if least <= options.accepted {
                n_beyond += 1;
                if n_beyond > NEAR_STEPS {
                    break;
                }
            }
            work.newton_steps += 1;
            work.factorisations += 1;
            let (share, lowest) =
                if self.matrix.is_by_speeds() { (SPEEDS_ALPHA, LEAST_SPEEDS_ALPHA) } else { (1.0, 0.0) };
            let alpha = share * size / system.q_norm;
            // Beyond what is accepted few contacts change their state, and α only slows steps down.
            let smallest = if last <= options.accepted { NEAR_ALPHA } else { options.least_alpha };
            let alpha = alpha.clamp(smallest.max(lowest), LARGEST_ALPHA);
            let is_solved = self.matrix.solve(system, &self.laws, alpha, &mut self.step);
            if !is_solved {
                break;
            }
            match self.matrix.response() {
                Some(response) => self.wstep.copy_from_slice(response),
                None => system.w.apply(&self.step, &mut self.wstep),
            }
            size = self.advance(system, rho, size);
            if !size.is_finite() {
                break;
            }
            let rel = system.rel_with(&self.x, &self.u);
            if rel < least {
                least = rel;
                r.copy_from_slice(&self.x);
            }
            if rel <= options.goal {
                break;
            }
            last = rel;
            if rel < PROGRESS * mark {
                (mark, since) = (rel, 0);
            } else {
                since += 1;
                if since >= PATIENCE {
                    break;
                }
            }
        }
        match least < rel {
            // Over speeds velocities are as good as by W, down to tolerances that are far above rounding.
            true if self.matrix.is_by_speeds() && options.goal >= SPEEDS_GOAL => least,
            true => system.rel(r),
            false => rel,
        }
    }

    /// A last step or two by W, where links have led to their rounding.
    pub fn polish(&mut self, system: &mut System, tolerance: f64, rel: f64, r: &mut [f64], work: &mut Work) -> f64 {
        if self.matrix.response().is_none() || rel > FLOOR_CHECK {
            return rel;
        }
        let schedule = Schedule::Fast;
        let options = ProximalNewtonOptions {
            tolerance,
            alpha: POLISH.0,
            max_outer: POLISH.1,
            max_newton: POLISH.2,
            schedule,
            ..Default::default()
        };
        self.matrix.set_mechanism(false);
        let rel = self.iterate(system, &options, rel, r, work);
        self.matrix.set_mechanism(true);
        rel
    }

    fn iterate(
        &mut self,
        system: &mut System,
        options: &ProximalNewtonOptions,
        mut rel: f64,
        r: &mut [f64],
        work: &mut Work,
    ) -> f64 {
        let mut alpha = options.alpha;
        let schedule = options.schedule;
        let first = work.newton_steps;
        let (mut least, mut n_beyond) = (rel, 0);
        self.best.copy_from_slice(r);
        for _ in 0..options.max_outer {
            if rel <= options.tolerance || (rel < FLOOR_CHECK && rel <= FLOOR_SHARE * system.floor(r)) {
                break;
            }
            if work.newton_steps - first >= options.max_newton {
                break;
            }
            if least <= options.accepted {
                n_beyond += 1;
                if n_beyond > NEAR_STEPS {
                    break;
                }
            }
            work.outer += 1;
            self.x.copy_from_slice(r);
            // An inner problem need not be solved beyond what the outer step gains, nor beyond rounding.
            let target = (schedule.forcing() * rel.min(alpha)).max(INNER_FLOOR) * system.q_norm;
            let before = work.newton_steps;
            let ok = self.inner(system, r, alpha, target, options, work);
            let mut new = self.rel(system);
            let is_prolonged = ok && schedule == Schedule::Bold && new > LITTLE * rel && new > options.tolerance;
            if new < least {
                least = new;
                self.best.copy_from_slice(&self.x);
            }
            if is_prolonged && prolong(system, r, &mut self.x) {
                new = self.rel(system);
            }
            if ok || new < rel {
                r.copy_from_slice(&self.x);
                rel = new;
            }
            if is_prolonged {
                continue;
            }
            if ok {
                alpha = (alpha * schedule.factor(work.newton_steps - before)).max(self.matrix.smallest_alpha());
            } else {
                alpha = (alpha * schedule.rise()).min(MOST_ALPHA);
            }
        }
        if least < rel {
            r.copy_from_slice(&self.best);
            rel = least;
        }
        rel
    }
}

/// Goes on from x in the direction that led from r to x, up to where the first contact opens or starts to slide, and no further than a sliding contact's
/// force is long, since its direction turns. False, and nothing is done, where a law is not one of single rows or Coulomb's.
fn prolong(system: &System, r: &[f64], x: &mut [f64]) -> bool {
    let mut t = f64::INFINITY;
    for (i, cone) in system.cones.iter().enumerate() {
        let rows = system.rows(i);
        let (n, from) = (x[rows.start], r[rows.start]);
        let dn = n - from;
        let mu = match cone {
            Cone::Bilateral => continue,
            Cone::Unilateral => 0.0,
            Cone::Friction(Section::Ball { radius, .. }) => *radius,
            _ => return false,
        };
        if n <= 0.0 {
            continue;
        }
        if dn < 0.0 {
            t = t.min(-n / dn);
        }
        if rows.len() == 1 || mu == 0.0 {
            continue;
        }
        // ‖x_t + t d_t‖² = μ² (x_n + t d_n)² as a t² + b t + c = 0.
        let (mut a, mut b, mut c, mut dd, mut xx) =
            (-(mu * dn) * (mu * dn), -mu * mu * n * dn, -(mu * n) * (mu * n), 0.0, 0.0);
        for k in rows.start + 1..rows.end {
            let d = x[k] - r[k];
            a += d * d;
            b += x[k] * d;
            c += x[k] * x[k];
            dd += d * d;
            xx += x[k] * x[k];
        }
        if c < -ON_BOUND * (mu * n) * (mu * n) {
            let root = b * b - a * c;
            if root > 0.0 {
                let w = -(b + root.sqrt().copysign(b));
                [w / a, c / w].into_iter().filter(|x| *x > 0.0).for_each(|x| t = t.min(x));
            }
        } else if dd > 0.0 {
            t = t.min((xx / dd).sqrt());
        }
    }
    if !(t > 0.0 && t.is_finite()) {
        return false;
    }
    x.iter_mut().zip(r).for_each(|(x, r)| *x += t * (*x - r));
    true
}

impl Iterate for Proximal {
    const NAME: &'static str = "newton";

    fn tolerance(&self) -> f64 {
        self.options.tolerance
    }

    fn report(&self, solution: &mut Solution) {
        self.core.matrix.report(solution);
    }

    fn iterate(&mut self, system: &mut System, r: &mut [f64], work: &mut Work) -> Outcome {
        self.core.matrix.start();
        self.core.reset(system, r, (self.options.tolerance, self.options.tolerance), Shared::default());
        let rel = system.rel(r);
        self.core.solve(system, &self.options, rel, r, work);
        Outcome::Stalled
    }
}
