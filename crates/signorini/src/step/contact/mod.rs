//! Steps with hard contact.
//!
//! **Problem.** Advance a mechanism whose bodies touch, slide, stick and strike each other and whose joints have limits and dry friction,
//! so that gap ≥ 0, impulse ≥ 0 and one of them is zero at the end of every step.
//!
//! **Method.** On velocities and impulses [stewart1996, eq. 4; bhalerao2009, eq. 13–15]:
//!
//! ```text
//! M(v⁺ − v) = h F + Wᵀ r,      q⁺ = q ⊕ h v⁺,      0 ≤ gap/h + W_n v⁺ ⊥ r_n ≥ 0,  Coulomb
//! ```
//!
//! with loops closed, W_loop v⁺ = 0. A step is a sequence of stages, each a type with buffers of its own:
//!
//! | stage | what it finds | file |
//! |---|---|---|
//! | free motion | speeds at the end if nothing pushes | `free` |
//! | constraints | what may push on that motion | `found`, `search`, `constraint`, `faces` |
//! | impacts | contacts with restitution that close in the step strike, round after round; constraints are found anew after each | `impacts/` |
//! | flight | mechanisms that nothing may touch, to second order | `flight` |
//! | velocity solution | all other impulses, one contact problem | `velocity`, `warm` |
//! | position correction | a displacement that removes overlap without energy | `correction`, `transport` |
//! | report | contacts, forces in joints, the memory of the next step | `outcome`, `reactions`, `report` |
//!
//! Where inertias and contacts are taken, and by which mean of the speeds coordinates move, is the scheme's to say (`scheme/`).
//!
//! **Cost.** One evaluation of the accelerations, one contact problem, one more per round of strikes.
//!
//! **Fails when** the contact problem has no solution or cannot be solved: the report says so and the run's policy decides.
//!
//! **Checked by** `tests/contact_motion.rs`, `tests/contact_schemes.rs`, `tests/contact_analytic.rs`, `tests/contact_references.rs`.

mod assemble;
mod constraint;
mod correction;
mod faces;
mod flight;
mod found;
mod free;
mod gyroscopic;
mod impacts;
mod motion;
mod outcome;
mod quantity;
mod reactions;
mod report;
mod scheme;
mod search;
mod transport;
mod velocity;
mod warm;

pub(crate) use constraint::{ContactConstraint, find_row_velocities};
pub use report::{ContactReport, JointConstraintForce, Mode};

use super::{Options, Simulation, StepError, StepReport};
use crate::contact::solve::solver_in_motion;
use crate::contact::{ContactError, ContactProblem, ContactSolver, Solution};
use crate::dynamics::{Formulation as _, System};
use crate::state::State;
use correction::PositionCorrection;
use flight::Flight;
use found::Constraints;
use free::FreeMotion;
use impacts::Impacts;
use motion::{Interval, Mechanism, Moving, Trial};
use outcome::Outcome;
use reactions::{Reactions, Watched};
use scheme::Scheme;
use search::Search;
use std::sync::Arc;
use transport::Transport;
use velocity::VelocityProblem;

/// The stages of a step with contact. Dropping their scratch changes no bit.
pub(crate) struct ContactStepper {
    scheme: Scheme,
    /// The motion of the step, and a configuration beside it.
    now: Moving,
    trial: Trial,
    free: FreeMotion,
    found: Constraints,
    impacts: Impacts,
    flight: Flight,
    velocity: VelocityProblem,
    correction: PositionCorrection,
    transport: Transport,
    outcome: Outcome,
    reactions: Reactions,
    unsolved: Unsolved,
}

/// The first problem of a step that was not solved.
#[derive(Default)]
struct Unsolved(Option<ContactProblem>);

impl Unsolved {
    fn note(&mut self, solution: &Solution, problem: &ContactProblem) {
        if !solution.status.is_solved() && self.0.is_none() {
            self.0 = Some(problem.duplicate());
        }
    }
}

impl ContactStepper {
    /// For a mechanism in which something may push.
    pub fn build(system: &System, options: &Options) -> Result<Option<Box<Self>>, StepError> {
        let Some(search) = Search::build(system)? else { return Ok(None) };
        let Some(scheme) = Scheme::of(options.integrator) else {
            let (what, name) = (search.example(system), options.integrator.name());
            let why = format!(
                "integrator `{name}` does not step contact, and {what}: leave it out, or switch contact off by a `[[contact]]` rule"
            );
            return Err(StepError::Setting { key: "time.integrator", why });
        };
        if options.step.is_none() {
            let what = search.example(system);
            let why = format!(
                "steps with contact need `step`, and {what}: give it, or switch contact off by a `[[contact]]` rule"
            );
            return Err(StepError::Setting { key: "time.step", why });
        }
        let (n_links, (_, n_v)) = (system.tree.links.len(), system.sizes());
        Ok(Some(Box::new(Self {
            scheme,
            now: Moving::new(system),
            trial: Trial::new(system),
            free: FreeMotion::new(system),
            found: Constraints::new(system, search),
            impacts: Impacts::new(options.restitution, options.tolerance),
            flight: Flight::new(n_links, system.sizes()),
            velocity: VelocityProblem::new(solver(options)?),
            correction: PositionCorrection::new(n_v),
            transport: Transport::new(n_links, n_v),
            outcome: Outcome::default(),
            reactions: Reactions::new(system),
            unsolved: Unsolved::default(),
        })))
    }

    /// One step, from a state to the next.
    fn step(
        &mut self,
        m: &mut Mechanism<'_>,
        over: &Interval<'_>,
        watched: Watched,
        next: &mut State,
    ) -> Result<StepReport, StepError> {
        let Self { scheme, now, trial, free, found, impacts, flight, velocity, correction, unsolved, .. } = self;
        let (scheme, from) = (*scheme, over.from);
        let mut report = StepReport { evaluations: 1, ..StepReport::default() };
        unsolved.0 = None;
        impacts.clear();
        free.compute(scheme, m, over, trial, now)?;
        loop {
            found.search(scheme, m, over, now, (impacts.has_struck(), free.has_start_kinematics));
            if !impacts.round(scheme, m, over, found, now, (&mut report, unsolved))? {
                break;
            }
        }
        found.mark_touched(m.system, impacts.struck(), &mut flight.is_touched);
        flight.refine(scheme, m, over, (trial, free), found, now)?;
        velocity.solve(m, over, found, impacts.has_struck(), now, (&mut report, unsolved))?;
        now.energy += free.implicit.find_passed(&from.v, &now.end, over.h);
        let overlaps = correction.compute(m, over, found, velocity, now, (&mut report, unsolved))?;
        self.report(m, over, watched, next, &mut report)?;
        // Displacements are measured by the inertias of bodies and rotors alone.
        self.free.implicit.clear(m.system, m.w);
        self.advance(m, over, next)?;
        if overlaps {
            self.correct_positions(m, over, next)?;
        }
        next.work = from.work + self.now.energy.work;
        next.dissipated = from.dissipated + self.now.energy.dissipated;
        Ok(report)
    }

    /// What the next step, the report and the recording need to know.
    fn report(
        &mut self,
        m: &mut Mechanism<'_>,
        over: &Interval<'_>,
        watched: Watched,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let Self { scheme, now, free, found, impacts, velocity, outcome, reactions, .. } = self;
        outcome.clear();
        next.contacts.clear();
        // The two states change places at every step: what one has room for, the other will need.
        next.contacts.reserve(over.from.contacts.capacity());
        outcome.write((m.system, over.h), found, impacts, velocity, &mut next.contacts, report);
        let at = scheme.rules().configuration(over);
        reactions.compute(m, (over, at), watched, (found, outcome), free, (now, &mut next.contacts))
    }

    /// q⁺ = q ⊕ (h v̄ + what strikes ask for), v̄ the scheme's mean of the speeds.
    fn advance(&mut self, m: &mut Mechanism<'_>, over: &Interval<'_>, next: &mut State) -> Result<(), StepError> {
        let Self { scheme, now, free, flight, found, transport, .. } = self;
        let system = m.system;
        for (i, link) in system.tree.links.iter().enumerate() {
            let [start, end] = scheme.rules().weights(flight.is_touched[found.root[i]]);
            for at in link.v_range() {
                now.shift[at] += over.h * (start * now.start[at] + end * now.end[at]);
            }
        }
        flight.place(m, found, now);
        next.v.copy_from_slice(&now.end);
        next.q.copy_from_slice(&now.q);
        if free.carries && flight.is_touched.contains(&true) {
            return transport.apply(m, over, &now.shift, next);
        }
        system.displace(&mut next.q, &now.shift, 1.0);
        Ok(())
    }

    /// Adds the displacement that removes overlap, and transports velocities along it where that is called for.
    fn correct_positions(
        &mut self,
        m: &mut Mechanism<'_>,
        over: &Interval<'_>,
        next: &mut State,
    ) -> Result<(), StepError> {
        let (system, apart) = (m.system, &self.correction.apart);
        let turn = over.h * self.free.fastest_turn;
        let is_deep = || {
            self.scheme.rules().always_transports() || transport::is_deeper_than_turning(system, turn, &self.found.list)
        };
        if transport::bends(system, apart) && is_deep() {
            return self.transport.apply(m, over, apart, next);
        }
        system.displace(&mut next.q, apart, 1.0);
        Ok(())
    }

    /// Contacts of the last step.
    pub(super) fn contacts(&self) -> &[ContactReport] {
        &self.outcome.contacts
    }
}

/// The solver that a run asks for.
fn solver(options: &Options) -> Result<Box<dyn ContactSolver>, StepError> {
    let failed = |error| StepError::Contact { what: "the solver", error: Arc::new(error) };
    solver_in_motion(options.method.name(), options.tolerance).map_err(failed)
}

impl Simulation {
    /// One step of the fixed grid with contact.
    /// `is_current` says whether positions and velocities in `work` are those of the state.
    pub(crate) fn advance_contact(&mut self, limit: f64, is_current: bool) -> Result<StepReport, StepError> {
        let start = self.state.time;
        let end = self.grid_end(limit);
        let h = end - start;
        if h <= 0.0 {
            return Err(StepError::StepTooSmall { time: start, step: h });
        }
        let Some(stepper) = &mut self.stepper else { return Err(StepError::Internal("no contact stepper")) };
        let mut mechanism = Mechanism { system: &self.system, w: &mut self.work, input: &self.input };
        let over = Interval { from: &self.state, h, is_current };
        let watched = Watched {
            observed: self.wants_forces,
            forces: self.watch.needs_forces(),
            impulses: self.watch.needs_impulses(),
        };
        let outcome = stepper.step(&mut mechanism, &over, watched, &mut self.next);
        // Nobody else knows of what the step has added to inertias.
        stepper.free.implicit.clear(&self.system, &mut self.work);
        let mut report = outcome?;
        self.next.time = end;
        self.next.control = self.state.control;
        (report.time, report.step) = (end, h);
        self.finish(report)
    }

    /// Contacts of the last step, with their impulses.
    pub fn contacts(&self) -> &[ContactReport] {
        self.stepper.as_ref().map_or(&[], |s| &s.outcome.contacts)
    }

    /// Limits and dry friction that acted in the last step.
    pub fn joint_constraint_forces(&self) -> &[JointConstraintForce] {
        self.stepper.as_ref().map_or(&[], |s| &s.outcome.pushes)
    }

    /// The contact problem of the last step.
    pub fn contact_problem(&self) -> Option<&ContactProblem> {
        self.stepper.as_ref().map(|s| &s.velocity.problem)
    }

    /// The first problem of the last step that was not solved.
    pub fn unsolved_problem(&self) -> Option<&ContactProblem> {
        self.stepper.as_ref().and_then(|s| s.unsolved.0.as_ref())
    }

    /// Link visits of trial configurations so far.
    pub(super) fn trial_work(&self) -> u64 {
        self.stepper.as_ref().map_or(0, |s| s.trial.w.kinematics.work + s.trial.w.engine.counters().links)
    }
}

/// An error of a contact problem as one of the step.
fn contact_failed(time: f64, what: &'static str, error: ContactError) -> StepError {
    match error {
        ContactError::NotFinite { .. } => StepError::NotFinite { time, what: what.into() },
        other => StepError::Contact { what, error: Arc::new(other) },
    }
}
