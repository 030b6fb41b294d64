//! The attempts of `auto` on a scaled system, in turn. Headings in `auto.rs`, of which this is the engine; what is tried is in `plan.rs`.

use super::super::cone::Cone;
use super::auto::AutoOptions;
use super::constants::auto::{COARSE_FLOOR, MARGIN};
use super::constants::enumerate::MOST_MODES_IN_AUTO;
use super::constants::{interior, newton as steps, pivoting};
use super::enumerate::{self, EnumerateOptions};
use super::gauss_seidel::Sweeper;
use super::interior::{Interior, InteriorOptions};
use super::newton::{self, NearbyOptions, ProximalNewtonOptions, Schedule};
use super::outcome::{Declined, LawSet, Outcome, Reason};
use super::plan::{Attempt, From, Loop, Method, PLAN, Shared, Situation};
use super::system::System;
use super::tableau::{self, End};
use super::{Solution, Work};

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
    /// What was not tried.
    pub declined: Declined,
    pub newton: newton::Core,
    interior: Interior,
    lemke: tableau::Core,
    /// Whether `newton` knows the problem.
    is_ready: bool,
    /// Multiplications before this system; what is accepted, and the Newton steps that an attempt may take.
    spent: u64,
    accepted: f64,
    most_steps: usize,
    best: Vec<f64>,
    /// Residual of `best`.
    rel: f64,
    trial: Vec<f64>,
}

impl Attempts {
    /// Forgets what the last solve declined, and its routes.
    pub fn start(&mut self) {
        self.declined = Declined::default();
        self.newton.matrix.start();
    }

    /// Writes both down.
    pub fn report(&self, solution: &mut Solution) {
        solution.declined = self.declined;
        self.newton.matrix.report(solution);
    }

    /// Improves r (scaled) until an attempt succeeds; returns the method that won, or `auto`, and how it ended.
    pub fn run(
        &mut self,
        options: &AutoOptions,
        stage: Stage,
        system: &mut System,
        r: &mut [f64],
        work: &mut Work,
    ) -> (&'static str, Outcome) {
        self.best.clear();
        self.best.extend_from_slice(r);
        self.trial.clear();
        self.trial.resize(system.n(), 0.0);
        self.rel = f64::INFINITY;
        self.is_ready = false;
        self.spent = self.newton.matrix.multiplications();
        let outcome = match self.look(options.goal(), stage, system) {
            Some(outcome) => outcome,
            None => self.try_all(options, stage, system, work),
        };
        r.copy_from_slice(&self.best);
        outcome
    }

    /// Measures r, and whether it is the solution already, where that may be.
    fn look(&mut self, tolerance: f64, stage: Stage, system: &mut System) -> Option<(&'static str, Outcome)> {
        let may_be_solved = match stage {
            Stage::Fresh => self.best.iter().any(|r| *r != 0.0) || is_open(system),
            Stage::Swept => true,
            Stage::Refused => false,
        };
        if may_be_solved {
            let outcome = self.offer_best(tolerance, system);
            return outcome
                .is_final()
                .then_some((if stage == Stage::Swept { "gauss-seidel" } else { "none" }, outcome));
        }
        // What the judge refused is not offered again, only measured where he has not done so.
        match (stage, self.known) {
            (Stage::Refused, Some(rel)) => self.rel = rel,
            (Stage::Refused, None) => self.rel = system.rel(&self.best),
            _ => {}
        }
        None
    }

    fn try_all(
        &mut self,
        options: &AutoOptions,
        stage: Stage,
        system: &mut System,
        work: &mut Work,
    ) -> (&'static str, Outcome) {
        let laws = LawSet::of(&system.cones);
        let is_lcp = LawSet::ROWS.contains(laws);
        let mut situation = Situation {
            is_lcp,
            is_spatial: system.cones.iter().any(|c| c.dim() > 2),
            has_zero_diagonal: is_lcp && (0..system.n()).any(|i| system.w.diagonal_block(i)[0] <= 0.0),
            is_fresh: stage == Stage::Fresh,
            is_cold: options.is_even && self.best.iter().all(|r| *r == 0.0),
            rows: system.n(),
            contacts: system.n_contacts(),
            rel: self.rel,
        };
        let (mut last, mut is_cut) = ("auto", false);
        for attempt in PLAN {
            situation.rel = self.rel;
            if options.without.contains(&attempt.name) || !(attempt.when)(&situation) {
                continue;
            }
            if attempt.is_rescue && self.rel <= MARGIN * options.wanted() {
                return (last, Outcome::Met);
            }
            if attempt.method.is_newton() && self.is_ready && self.steps_left(options) == 0 {
                self.declined.note(Reason::Ceiling);
                is_cut = true;
                continue;
            }
            if !attempt.takes.contains(laws) {
                self.declined.note(Reason::InteriorLaws);
                continue;
            }
            let outcome = self.attempt(attempt, options, system, work);
            last = attempt.method.name();
            if matches!(attempt.method, Method::Associated)
                && !matches!(outcome, Outcome::Declined(_) | Outcome::Stalled)
            {
                // Sweeps would lead away from there.
                situation.is_fresh = false;
            }
            if outcome.is_final() {
                return (last, outcome);
            }
        }
        match self.rel <= MARGIN * options.tolerance {
            true => (last, Outcome::Met),
            false if is_cut => (last, Outcome::Better(self.rel)),
            false => ("auto", Outcome::Stalled),
        }
    }

    /// Factorisations that are left below the ceiling.
    fn steps_left(&self, options: &AutoOptions) -> usize {
        let matrix = &self.newton.matrix;
        let spent = (matrix.multiplications() - self.spent) as f64;
        (options.ceiling - spent / matrix.unit()).max(0.0) as usize
    }

    fn attempt(&mut self, attempt: &Attempt, options: &AutoOptions, system: &mut System, work: &mut Work) -> Outcome {
        let tolerance = options.goal();
        match attempt.start {
            From::Best => self.trial.copy_from_slice(&self.best),
            From::Zero => self.trial.fill(0.0),
        }
        match attempt.method {
            Method::Pivot => return self.pivot(tolerance, system, work),
            Method::Sweep => {
                let count = options.count_sweeps(system.n_contacts(), LawSet::ROWS.contains(LawSet::of(&system.cones)));
                return self.sweep(count, tolerance, system, work);
            }
            _ => {}
        }
        if !self.is_ready {
            self.newton.reset(system, &self.best, (tolerance, options.wanted()), Shared::without(&options.without));
            self.is_ready = true;
        }
        if attempt.is_exact {
            self.newton.matrix.be_exact();
        }
        (self.accepted, self.most_steps) = (options.wanted(), self.steps_left(options));
        let known = (attempt.start == From::Best).then_some(self.rel);
        let from_best = self.rel;
        match attempt.method {
            Method::Pivot | Method::Sweep => Outcome::Stalled,
            Method::Associated => self.find_even(tolerance, system, work),
            Method::Enumerate => self.enumerate(tolerance, system, work),
            Method::Nearby { steps, least_alpha } => self.nearby((steps, least_alpha), tolerance, system, work),
            Method::Tiny => {
                let goal = if self.rel <= steps::NEAR { self.near_goal } else { tolerance };
                let alpha = (steps::TINY_SHARE * from_best).clamp(steps::TINY_ALPHA, 1.0);
                let plan = Loop { alpha, rho: 1.0, schedule: Schedule::Fast, outer: steps::TINY_STEPS, inner: None };
                self.newton(&newton_options(goal, plan), known, tolerance, system, work)
            }
            Method::ActiveSet => {
                let (alpha, outer) = steps::ACTIVE_SET;
                let plan = Loop { alpha, rho: 1.0, schedule: Schedule::Fast, outer, inner: None };
                self.newton(&newton_options(tolerance, plan), known, tolerance, system, work)
            }
            Method::FullSteps { steps: most } => {
                // The proximal parameter matches how far there is to go.
                let alpha = from_best.clamp(steps::FULL_ALPHA, 1.0);
                let inner = Some((steps::FULL_INNER, most));
                let plan = Loop { alpha, rho: 1.0, schedule: Schedule::Bold, outer: most.max(100), inner };
                self.newton(&newton_options(tolerance, plan), known, tolerance, system, work)
            }
            Method::Careful { rho, outer } => {
                let plan = Loop { alpha: 1.0, rho, schedule: Schedule::Safe, outer, inner: None };
                self.newton(&newton_options(tolerance, plan), known, tolerance, system, work)
            }
            Method::Inside { insets } => self.go_inside(insets, attempt.start, tolerance, system, work),
        }
    }

    /// Keeps `trial`, whose residual is `new`, if it is better than the best so far; whether that is good enough.
    fn offer(&mut self, new: f64, tolerance: f64, system: &mut System) -> Outcome {
        let is_better = new < self.rel;
        if is_better {
            self.rel = new;
            std::mem::swap(&mut self.best, &mut self.trial);
        }
        if self.rel <= MARGIN * tolerance {
            return Outcome::Met;
        }
        let floor = if self.rel < COARSE_FLOOR { system.floor(&self.best) } else { 0.0 };
        match (self.rel <= MARGIN * floor.min(COARSE_FLOOR), is_better) {
            (true, _) => Outcome::Floor,
            (false, true) => Outcome::Better(new),
            (false, false) => Outcome::Stalled,
        }
    }

    /// Evaluates the best r itself.
    fn offer_best(&mut self, tolerance: f64, system: &mut System) -> Outcome {
        self.trial.copy_from_slice(&self.best);
        self.rel = f64::INFINITY;
        let new = system.rel(&self.trial);
        self.offer(new, tolerance, system)
    }

    /// Gauss–Seidel sweeps from the best r, until nothing moves.
    fn sweep(&mut self, count: usize, tolerance: f64, system: &mut System, work: &mut Work) -> Outcome {
        self.sweeper.reset(system.n_contacts());
        self.sweeper.settle(system.view(), None, count, tolerance * system.q_norm, &mut self.best, work);
        self.offer_best(tolerance, system)
    }

    /// A few Newton steps where the best r is close, or a step is cheap.
    fn nearby(
        &mut self,
        (max_steps, least_alpha): (usize, f64),
        tolerance: f64,
        system: &mut System,
        work: &mut Work,
    ) -> Outcome {
        let goal = if self.rel <= steps::NEAR { self.near_goal } else { tolerance };
        let least_alpha = (steps::ALPHA_PER_TOLERANCE * self.accepted).clamp(steps::NEAR_ALPHA, least_alpha);
        let (accepted, max_steps) = (MARGIN * self.accepted, max_steps.min(self.most_steps));
        let plan = NearbyOptions { goal: MARGIN * goal, accepted, least_alpha, max_steps };
        let new = self.newton.close_in(system, &plan, (self.rel, &self.known_u), &mut self.trial, work);
        // It is not known elsewhere.
        self.known_u.clear();
        let new = self.polish(new, tolerance, system, work);
        self.offer(new, tolerance, system)
    }

    /// The interior-point method from the best r or from zero, each time followed by a few bold Newton steps.
    fn go_inside(
        &mut self,
        insets: &[f64],
        start: From,
        tolerance: f64,
        system: &mut System,
        work: &mut Work,
    ) -> Outcome {
        let (outer, newton) = interior::THEN_STEPS;
        let inner = Some((steps::FULL_INNER, newton));
        let bold = Loop { alpha: interior::THEN_ALPHA, rho: 1.0, schedule: Schedule::Bold, outer, inner };
        let bold = newton_options(tolerance, bold);
        let mut outcome = Outcome::Stalled;
        for &inset in insets {
            let max_steps = interior::STEPS.min(self.most_steps);
            let options = InteriorOptions { goal: interior::GOAL, max_steps, inset, is_associated: false };
            match start {
                From::Best => self.trial.copy_from_slice(&self.best),
                From::Zero => self.trial.fill(0.0),
            }
            let own = (&mut self.newton.matrix, &mut *self.newton.laws);
            let Some(new) = self.interior.solve(system, own, &options, &mut self.trial, work) else {
                self.declined.note(Reason::InteriorLaws);
                return Outcome::Declined(Reason::InteriorLaws);
            };
            let is_best = new < self.rel;
            outcome = self.offer(new, tolerance, system);
            if outcome.is_final() {
                break;
            }
            // From where the path has led, be it the best or not.
            if is_best {
                self.trial.copy_from_slice(&self.best);
            }
            outcome = self.newton(&bold, Some(new), tolerance, system, work);
            if outcome.is_final() {
                break;
            }
        }
        outcome
    }

    /// A last step or two by W: to the goal where W is small, as that of a small machine is, whose speeds bear no small α; to what is accepted elsewhere.
    fn polish(&mut self, new: f64, goal: f64, system: &mut System, work: &mut Work) -> f64 {
        let aim = MARGIN * if self.newton.matrix.is_by_speeds() { goal } else { self.accepted };
        if new > aim { self.newton.polish(system, aim, new, &mut self.trial, work) } else { new }
    }

    /// Proximal Newton from `trial`, whose residual is `known` or computed.
    fn newton(
        &mut self,
        plan: &ProximalNewtonOptions,
        known: Option<f64>,
        tolerance: f64,
        system: &mut System,
        work: &mut Work,
    ) -> Outcome {
        let rel = known.unwrap_or_else(|| system.rel(&self.trial));
        let accepted = if self.accepted > tolerance { MARGIN * self.accepted } else { 0.0 };
        let plan = ProximalNewtonOptions { accepted, max_newton: plan.max_newton.min(self.most_steps), ..plan.clone() };
        let new = self.newton.solve(system, &plan, rel, &mut self.trial, work);
        let new = self.polish(new, tolerance, system, work);
        self.offer(new, tolerance, system)
    }

    /// The associated problem, from zero: convex, so that the path to its solution never fails, and central, so that loads which nothing determines are even. Where
    /// no contact slides it has solutions of the problem itself.
    fn find_even(&mut self, tolerance: f64, system: &mut System, work: &mut Work) -> Outcome {
        let (goal, max_steps, inset) = interior::EVEN;
        let options = InteriorOptions { goal, max_steps, inset, is_associated: true };
        let own = (&mut self.newton.matrix, &mut *self.newton.laws);
        if self.interior.solve(system, own, &options, &mut self.trial, work).is_none() {
            return Outcome::Declined(Reason::InteriorLaws);
        }
        let new = system.rel(&self.trial);
        self.offer(new, tolerance, system)
    }

    /// All modes, where they are few; the proof that there is no solution, or the one of smallest norm.
    fn enumerate(&mut self, tolerance: f64, system: &mut System, work: &mut Work) -> Outcome {
        if enumerate::count_modes(&system.cones).is_none_or(|n| n > MOST_MODES_IN_AUTO) {
            return Outcome::Stalled;
        }
        let options = EnumerateOptions { tolerance: self.accepted, ..EnumerateOptions::default() };
        let outcome = enumerate::find_smallest(system, &options, &mut self.trial, work);
        if outcome == Outcome::NoSolution {
            return outcome;
        }
        let new = system.rel(&self.trial);
        self.offer(new, tolerance, system)
    }

    /// Lemke's method.
    fn pivot(&mut self, tolerance: f64, system: &mut System, work: &mut Work) -> Outcome {
        let limit = pivoting::PER_ROW * system.n() + pivoting::AT_LEAST;
        match self.lemke.solve(system, limit, tolerance, &mut self.trial, work) {
            End::Ray if self.lemke.is_certificate(system) => Outcome::NoSolution,
            End::Singular => Outcome::Stalled,
            // Whatever the last basis gives may be the best that there is.
            _ => {
                let new = self.lemke.residual();
                self.offer(new, tolerance, system)
            }
        }
    }
}

fn newton_options(tolerance: f64, plan: Loop) -> ProximalNewtonOptions {
    let all = ProximalNewtonOptions {
        tolerance: MARGIN * tolerance,
        alpha: plan.alpha,
        max_outer: plan.outer,
        rho: plan.rho,
        schedule: plan.schedule,
        ..ProximalNewtonOptions::default()
    };
    match plan.inner {
        Some((max_inner, max_newton)) => ProximalNewtonOptions { max_inner, max_newton, ..all },
        None => all,
    }
}

/// Whether no contact closes at r = 0: the one case in which r = 0 may be the answer.
fn is_open(system: &System) -> bool {
    let closes = |(i, cone): (usize, &Cone)| {
        let q = system.q[system.offsets()[i]];
        if cone.is_row() && !matches!(cone, Cone::Unilateral) { q != 0.0 } else { q < 0.0 }
    };
    !system.cones.iter().enumerate().any(closes)
}
