//! Steps with hard contact.
//!
//! **Problem.** Advance a mechanism whose bodies touch, slide, stick and strike each other and whose joints have limits and dry friction,
//! so that gap ≥ 0, impulse ≥ 0 and one of them is zero at the end of every step.
//!
//! **Method.** Paper 000, eq. 13–15, on velocities and impulses [stewart1996, eq. 4]:
//!
//! ```text
//! M(q)(v⁺ − v) = h F(q + h v/2, v) + Wᵀ r,      q⁺ = q ⊕ h v⁺,      0 ≤ gap/h + W_n v⁺ ⊥ r_n ≥ 0,  Coulomb
//! ```
//!
//! with loops closed, W_loop v⁺ = 0. Two things are not the paper's. A mechanism that nothing may touch in the step moves by the implicit midpoint
//! rule (two fixed-point iterations): its flight is of second order. And where bodies turn by more than a tenth of a radian per step, F is
//! taken at the velocity halfway to the free v⁺: at v, gyroscopic forces do work and a spinning body gains energy without bound. All of a step's impulses are one contact problem (`contact/`).
//!
//! The variant after Moreau and Jean has everything at the middle q ⊕ h v/2 and ends at q ⊕ h (v + v⁺)/2. From middle to middle bodies move by h v⁺, so that
//! the same law holds there, 0 ≤ gap/h + W_n v⁺ ⊥ r_n ≥ 0: for gaps that are closed in the middle (they count as zero, and Moreau has no others) and for those that the step's own
//! forces might close, gap ≤ h (|Δv_a| + |Δv_b|), Δv what forces give to the two bodies in the step. What comes faster is met when it overlaps.
//!
//! Before the contact problem, contacts with restitution that close within the step strike (`impacts.rs`). After it, overlap that is left is
//! removed by a displacement, which adds no kinetic energy (`correction.rs`, `transport.rs`).
//!
//! **Cost.** One evaluation of the accelerations, one contact problem, one more per strike.
//!
//! **Fails when** the contact problem has no solution or cannot be solved: the report says so and the run's policy decides.
//!
//! **Checked by** `tests/contact_motion.rs`.

mod assemble;
mod clusters;
mod constraint;
mod correction;
mod faces;
mod impacts;
mod oracle;
mod reactions;
mod report;
mod search;
mod transport;
mod warm;

pub(crate) use assemble::{Rows, write_cones};
pub(crate) use constraint::{Attachment, ContactConstraint, Law, find_row_velocities};
pub use report::{ContactReport, JointConstraintForce, Mode};
pub(crate) use search::{Search, Situation, joint_of};

use super::{Observation, Options, Simulation, StepError, StepReport};
use crate::contact::solve::{Auto, AutoOptions, solver_by_name};
use crate::contact::{ContactError, ContactProblem, ContactSolver, Solution, Start};
use crate::dynamics::System;
use crate::dynamics::loads::Power;
use crate::dynamics::tree::LinkKind;
use crate::model::{Instant, Signal};
use crate::scene::{ContactMethod, Integrator, Restitution};
use crate::spatial::{Twist, Vec3, Wrench};
use crate::state::ContactMemory;

/// Scratch of the contact steps. Dropping it changes no bit.
pub(crate) struct ContactStepper {
    search: Search,
    rows: Rows,
    touching: Vec<ContactConstraint>,
    solver: Box<dyn ContactSolver>,
    solution: Solution,
    warm: warm::WarmStart,
    problem: ContactProblem,
    /// The first problem of the step that was not solved.
    unsolved: Option<ContactProblem>,
    strike: impacts::ImpactSolver,
    overlap: correction::PositionCorrection,
    law: Restitution,
    is_moreau: bool,
    rates: Vec<f64>,
    /// Speeds at the end of the step, contact or not.
    free: Vec<f64>,
    /// What is to be added to the displacement h v⁺.
    shift: Vec<f64>,
    /// What removes overlap, on top of that, and velocities that bodies keep meanwhile.
    apart: Vec<f64>,
    kept: Vec<transport::Kept>,
    middle: Vec<f64>,
    /// Velocities of the links at the start of the step, strikes included, and without contact at its end.
    start_twists: Vec<Twist>,
    free_twists: Vec<Twist>,
    /// What strikes have added to the displacement h v⁺ of each link.
    moved: Vec<Twist>,
    /// Largest angular velocity at the start.
    fastest_turn: f64,
    /// Whether kinematics are those of the speeds at the start.
    has_start_kinematics: bool,
    /// First link of each link's mechanism, and whether anything may touch it.
    root: Vec<usize>,
    is_touched: Vec<bool>,
    u_start: Vec<f64>,
    u_free: Vec<f64>,
    u_end: Vec<f64>,
    /// Power of prescribed motions without contact.
    motion_power: f64,
    has_driven_cuts: bool,
    has_loaded_friction: bool,
    has_loads: bool,
    /// Whether forces in joints of the last step are known.
    has_forces: bool,
    forces: Observation,
    /// Those without strikes, where something struck and somebody watches them.
    lasting: Observation,
    has_struck: bool,
    tau: Vec<f64>,
    external: Vec<Wrench>,
    /// Contacts of the last step.
    pub(super) contacts: Vec<ContactReport>,
    /// Limits and dry friction of the last step.
    pushes: Vec<JointConstraintForce>,
}

/// Turn per step, in radians, up to which gyroscopic and Coriolis forces are those of the velocities at the start (eq. 13a). They feed
/// energy into a turning body at a rate of half its square per step, which friction and strikes must take away again.
const FAST_TURN: f64 = 0.1;

/// Velocities of rows before a step, over what forces would make of them, that count as rest: what rounding leaves.
const STILL: f64 = 1e-12;

/// Evaluations of faster turning bodies: a fixed-point iteration to the velocity in the middle of the step, at which those forces do no work.
const ROUNDS: usize = 3;

/// Energy that passes during a step.
#[derive(Debug, Clone, Copy, Default)]
struct Balance {
    work: f64,
    dissipated: f64,
}

impl ContactStepper {
    /// For a mechanism in which something may push.
    pub fn build(system: &System, options: &Options) -> Result<Option<Box<Self>>, StepError> {
        let search = Search::build(system).map_err(|e| StepError::BadOption(e.to_string()))?;
        let Some(search) = search else { return Ok(None) };
        match options.integrator {
            Integrator::Adaptive | Integrator::Rk4 | Integrator::Euler => {
                let (what, name) = (search.example(system), options.integrator.name());
                let why = format!(
                    "integrator `{name}` does not step contact, and {what}: leave it out, or switch contact off by a `[[contact]]` rule"
                );
                return Err(StepError::Setting { key: "time.integrator", why });
            }
            Integrator::Auto | Integrator::StewartTrinkle | Integrator::Moreau => {}
        }
        if options.step.is_none() {
            let what = search.example(system);
            let why = format!(
                "steps with contact need `step`, and {what}: give it, or switch contact off by a `[[contact]]` rule"
            );
            return Err(StepError::Setting { key: "time.step", why });
        }
        let (_, n_v) = system.sizes();
        let mut root: Vec<usize> = (0..system.tree.links.len()).collect();
        for (i, link) in system.tree.links.iter().enumerate() {
            root[i] = link.parent_index().map_or(i, |p| root[p]);
        }
        let joints = system.model.joints().iter().filter(|j| !j.is_absent);
        let bad = |e: ContactError| StepError::BadOption(e.to_string());
        let mut solver = solver_by_name(options.method.name(), options.tolerance).map_err(bad)?;
        if options.method == ContactMethod::Auto {
            solver = Box::new(Auto::new(AutoOptions::in_motion(options.tolerance)));
        }
        Ok(Some(Box::new(Self {
            search,
            rows: Rows::new(system),
            touching: Vec::new(),
            solver,
            solution: Solution::default(),
            warm: warm::WarmStart::default(),
            problem: ContactProblem::default(),
            unsolved: None,
            strike: impacts::ImpactSolver::new(options.tolerance),
            overlap: correction::PositionCorrection::new(),
            law: options.restitution,
            is_moreau: options.integrator == Integrator::Moreau,
            rates: vec![0.0; n_v],
            free: vec![0.0; n_v],
            shift: vec![0.0; n_v],
            apart: vec![0.0; n_v],
            kept: Vec::with_capacity(system.tree.links.len()),
            middle: Vec::with_capacity(n_v),
            start_twists: vec![Twist::default(); system.tree.links.len()],
            free_twists: vec![Twist::default(); system.tree.links.len()],
            moved: vec![Twist::default(); system.tree.links.len()],
            fastest_turn: 0.0,
            has_start_kinematics: false,
            root,
            is_touched: vec![false; system.tree.links.len()],
            u_start: Vec::new(),
            u_free: Vec::new(),
            u_end: Vec::new(),
            motion_power: 0.0,
            has_driven_cuts: system.has_driven_rows(),
            has_loaded_friction: joints.clone().any(|j| !j.fittings.friction_load.is_empty()),
            has_loads: !(system.elements.is_empty() && system.model.forces().is_empty() && system.loads.is_idle()),
            has_forces: false,
            forces: Observation::default(),
            lasting: Observation::default(),
            has_struck: false,
            tau: vec![0.0; n_v],
            external: vec![Wrench::default(); system.tree.links.len()],
            contacts: Vec::new(),
            pushes: Vec::new(),
        })))
    }
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
        let Some(mut stepper) = self.stepper.take() else { return Err(StepError::Internal("no contact stepper")) };
        let outcome = self.contact_step(start, h, is_current, &mut stepper);
        self.stepper = Some(stepper);
        let mut report = outcome?;
        self.next.time = end;
        self.next.control = self.state.control;
        (report.time, report.step) = (end, h);
        self.finish(report)
    }

    fn contact_step(
        &mut self,
        start: f64,
        h: f64,
        is_current: bool,
        s: &mut ContactStepper,
    ) -> Result<StepReport, StepError> {
        let mut report = StepReport { evaluations: 1, ..StepReport::default() };
        let power = self.find_free_motion(start, h, is_current, s)?;
        let mut balance = Balance { work: power.work * h, dissipated: power.dissipated * h };
        s.shift.fill(0.0);
        s.apart.fill(0.0);
        s.unsolved = None;
        self.strike_all(h, s, &mut balance, &mut report)?;
        self.refine_flight(start, h, s, &mut balance)?;
        self.find_impulses(h, s, &mut balance, &mut report)?;
        self.remove_overlap(h, s, &mut report)?;
        let inside = start + 0.5 * h;
        let now = Instant { time: if s.is_moreau { inside } else { start }, inside };
        self.find_reactions(now, h, s, &mut balance.work)?;
        self.move_by(h, s);
        if s.apart.iter().any(|x| *x != 0.0) {
            self.correct_positions(Instant { time: start + h, inside }, h, s)?;
        }
        self.next.work = self.state.work + balance.work;
        self.next.dissipated = self.state.dissipated + balance.dissipated;
        Ok(report)
    }

    /// Speeds at the end of the step without contact, in `s.free`; sweeps and loops are left factored where the step takes its
    /// inertias from, and the coordinates there in `next`.
    fn find_free_motion(
        &mut self,
        start: f64,
        h: f64,
        is_current: bool,
        s: &mut ContactStepper,
    ) -> Result<Power, StepError> {
        let inside = start + 0.5 * h;
        let middle = Instant { time: inside, inside };
        let mut now = Instant { time: start, inside };
        let (system, w, next) = (&self.system, &mut self.work, &mut self.next);
        next.q.copy_from_slice(&self.state.q);
        next.v.copy_from_slice(&self.state.v);
        let mut power;
        let has_loads = s.has_loads || !system.user_loads.is_empty();
        if has_loads || s.is_moreau {
            system.displace(&mut next.q, &next.v, 0.5 * h);
            system.project(middle, &mut next.q, &mut next.v, w)?;
        }
        power = system.update_loads(middle, &next.q, &next.v, &self.input, w);
        // A state that a step has left is on the manifold, and so are its kinematics.
        s.has_start_kinematics =
            !has_loads && !s.is_moreau && system.motions.is_empty() && system.has_unit_quaternions(&next.q);
        if s.is_moreau {
            now = middle;
        } else if s.has_start_kinematics {
            if !is_current {
                system.place(&next.q, &next.v, w);
            }
        } else {
            // Forces at the middle position (eq. 13a), inertias at the start.
            if has_loads {
                s.tau.copy_from_slice(&w.tau);
                s.external.copy_from_slice(&w.external);
                next.q.copy_from_slice(&self.state.q);
                next.v.copy_from_slice(&self.state.v);
                w.cut_q.copy_from_slice(&self.state.cut_q);
            }
            system.project(now, &mut next.q, &mut next.v, w)?;
            if has_loads {
                w.tau.copy_from_slice(&s.tau);
                w.external.copy_from_slice(&s.external);
            }
        }
        let fastest = w.kinematics.links.iter().fold(0.0, |m: f64, l| m.max(l.omega.norm_squared())).sqrt();
        s.fastest_turn = fastest;
        for round in 0..if h * fastest > FAST_TURN { ROUNDS } else { 1 } {
            if round > 0 {
                s.has_start_kinematics = false;
                // Velocities halfway to what the last round has found.
                s.middle.clear();
                s.middle.extend(next.v.iter().zip(&s.rates).map(|(v, rate)| v + 0.5 * h * rate));
                w.kinematics.update(&system.tree, &next.q, &s.middle);
                w.kinematics.update_positions(&system.tree);
                system.update_rows(&s.middle, w);
            }
            system.accelerate(now, &mut s.rates, w)?;
        }
        s.motion_power = system.motion_power(&s.rates, &next.v, w);
        power.work += s.motion_power;
        let next = &mut self.next;
        next.v.copy_from_slice(&self.state.v);
        for (free, (v, rate)) in s.free.iter_mut().zip(next.v.iter().zip(&s.rates)) {
            *free = v + h * rate;
        }
        // Prescribed speeds are those that bring the coordinate where it belongs.
        for (link, k, signal) in &self.system.motions {
            s.free[self.system.tree.links[*link].v as usize + k] = step_rate(signal, start, inside, h);
        }
        self.close_loops(start, h, s);
        Ok(power)
    }

    /// Speeds at the end of the step of mechanisms that nothing may touch, by accelerations at the middle of the step. Sweeps and loops are
    /// left where they were.
    fn refine_flight(
        &mut self,
        start: f64,
        h: f64,
        s: &mut ContactStepper,
        balance: &mut Balance,
    ) -> Result<(), StepError> {
        self.find_touched(s);
        let tree = &self.system.tree;
        let has_loads = s.has_loads || !self.system.user_loads.is_empty();
        let turns = |i: &usize| self.work.kinematics.links[*i].omega != Vec3::zeros() || has_loads;
        if s.is_moreau || !(0..tree.links.len()).any(|i| !s.is_touched[s.root[i]] && turns(&i)) {
            return Ok(());
        }
        // Strikes have changed the speeds of others.
        s.middle.clone_from(&self.next.v);
        let inside = start + 0.5 * h;
        let (now, middle) = (Instant { time: start, inside }, Instant { time: inside, inside });
        let mut power = Power::default();
        for _ in 0..2 {
            let next = &mut self.next;
            next.q.copy_from_slice(&self.state.q);
            next.v.copy_from_slice(&self.state.v);
            next.v.iter_mut().zip(&s.rates).for_each(|(v, rate)| *v += 0.5 * h * rate);
            self.system.displace(&mut next.q, &next.v, 0.5 * h);
            self.work.cut_q.copy_from_slice(&self.state.cut_q);
            self.system.project(middle, &mut next.q, &mut next.v, &mut self.work)?;
            power = self.accelerate_here(middle, s)?;
        }
        let tree = &self.system.tree;
        for (_, link) in tree.links.iter().enumerate().filter(|(i, _)| !s.is_touched[s.root[*i]]) {
            for at in link.v_range().filter(|at| !tree.prescribed[*at]) {
                s.free[at] = self.state.v[at] + h * s.rates[at];
            }
        }
        if !s.is_touched.contains(&true) {
            *balance = Balance { work: h * power.work, dissipated: h * power.dissipated };
        }
        let (system, w, next) = (&self.system, &mut self.work, &mut self.next);
        next.q.copy_from_slice(&self.state.q);
        next.v.copy_from_slice(&self.state.v);
        w.cut_q.copy_from_slice(&self.state.cut_q);
        if s.is_touched.contains(&true) {
            system.project(now, &mut next.q, &mut next.v, w)?;
            system.factor_rows(w, true);
        }
        next.v.copy_from_slice(&s.middle);
        Ok(())
    }

    /// Accelerations and powers of all loads at the coordinates and speeds in `next`, which are projected.
    fn accelerate_here(&mut self, now: Instant, s: &mut ContactStepper) -> Result<Power, StepError> {
        let (system, w, next) = (&self.system, &mut self.work, &mut self.next);
        let mut power = system.update_loads(now, &next.q, &next.v, &self.input, w);
        system.accelerate(now, &mut s.rates, w)?;
        s.motion_power = system.motion_power(&s.rates, &next.v, w);
        power.work += s.motion_power;
        Ok(power)
    }

    /// Takes from the free speeds what opens loops.
    fn close_loops(&mut self, start: f64, h: f64, s: &mut ContactStepper) {
        let end = Instant { time: start + h, inside: start + 0.5 * h };
        self.system.close_speeds(end, &mut s.free, &mut self.work);
    }

    /// Everything that may push in this step, if speeds are what is expected now.
    fn find_touching(&mut self, h: f64, s: &mut ContactStepper) {
        let (system, w) = (&self.system, &self.work);
        w.kinematics.find_twists(&system.tree, &s.free, &mut s.free_twists);
        if s.has_start_kinematics && s.strike.struck.is_empty() {
            s.start_twists.iter_mut().enumerate().for_each(|(i, t)| *t = w.kinematics.twist(i));
        } else {
            w.kinematics.find_twists(&system.tree, &self.next.v, &mut s.start_twists);
        }
        if !s.strike.struck.is_empty() {
            w.kinematics.find_twists(&system.tree, &s.shift, &mut s.moved);
        }
        let now = Situation {
            system,
            w,
            q: &self.next.q,
            v: [&self.next.v, &s.free],
            twists: &s.free_twists,
            start_twists: &s.start_twists,
            moved: if s.strike.struck.is_empty() { &[] } else { &s.moved },
            step: h,
            // After Moreau the way that bodies are already on is not foreseen, only what forces add to it.
            reach: if s.is_moreau { 0.0 } else { h },
            memory: &self.state.contacts,
        };
        s.search.find(&now, &mut s.touching);
    }

    /// The contact problem of the step, solved; what its impulses do is added to `s.free`.
    fn find_impulses(
        &mut self,
        h: f64,
        s: &mut ContactStepper,
        balance: &mut Balance,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        self.next.contacts.clear();
        // The two states change places at every step: what one has room for, the other will need.
        self.next.contacts.reserve(self.state.contacts.capacity());
        s.contacts.clear();
        s.pushes.clear();
        if s.touching.is_empty() {
            self.note_contacts(h, s, report);
            return Ok(());
        }
        let system = &self.system;
        let ContactStepper { rows, touching, problem, solution, .. } = s;
        rows.assemble(system, touching, &mut self.work)?;
        let w = &self.work;
        // Flight that was refined since is that of mechanisms which nothing touches.
        find_row_velocities(system, w, touching, (&self.next.v, &s.start_twists), &mut s.u_start);
        find_row_velocities(system, w, touching, (&s.free, &s.free_twists), &mut s.u_free);
        // What strikes have left of gaps, if velocities had been those after them from the start of the step.
        let has_struck = !s.strike.struck.is_empty();
        if has_struck {
            rows.velocities(system, touching, &s.shift, w, &mut s.u_end);
        }
        let time = self.state.time;
        let failed = |error| contact_failed(time, "a contact problem", error);
        let posed = problem.refill(|delassus, q, cones| {
            rows.write_delassus(system, delassus);
            write_cones(system, touching, cones);
            q.clear();
            q.extend_from_slice(&s.u_free);
            for (c, t) in touching.iter().enumerate().filter(|(_, t)| t.is_unilateral()) {
                let row = rows.offsets()[c];
                let gap = if has_struck { t.gap + s.u_end[row] } else { t.gap };
                // Closed gaps and overlap ask for no velocity of their own.
                if t.gap > t.rounding && gap > 0.0 {
                    q[row] += gap / h;
                }
            }
        });
        posed.map_err(failed)?;
        s.warm.read(&self.state.contacts, touching);
        let start = if is_still(touching, rows.offsets(), &s.u_start, problem.free_velocity()) {
            Start::Still
        } else {
            Start::Warm
        };
        if !s.warm.begin(&mut *s.solver, problem, start, solution) {
            problem.refill_origin(|out| rows.write_origin(system, touching, w, out));
            s.solver.go_on(problem, start, solution).map_err(failed)?;
        }
        report.note_solution(solution);
        if !solution.status.is_solved() && s.unsolved.is_none() {
            s.unsolved = Some(problem.duplicate());
        }
        rows.respond(system, w, &solution.r, &mut s.free);
        rows.velocities(system, touching, &s.free, w, &mut s.u_end);
        // ½(v + v⁺)·M(v⁺ − v) is the work of all impulses at the mean velocity.
        for (c, t) in touching.iter().enumerate() {
            let at = rows.offsets()[c];
            for (k, i) in (at..at + t.n_rows()).enumerate() {
                report.contact_work_scale += 0.5 * solution.r[i] * (s.u_end[i] - s.u_free[i]);
                balance.dissipated -= 0.5 * solution.r[i] * (s.u_start[i] + s.u_end[i]);
                balance.work -= solution.r[i] * t.drift_along(k);
            }
        }
        self.note_contacts(h, s, report);
        Ok(())
    }

    /// What the next step, the report and the recording need to know.
    fn note_contacts(&mut self, h: f64, s: &mut ContactStepper, report: &mut StepReport) {
        let ContactStepper { touching, rows, solution, strike, contacts, pushes, warm, .. } = s;
        let mut note =
            |t: &ContactConstraint, impulse: [f64; 3], struck: f64, end: [f64; 3], free: [f64; 3]| match joint_of(t.id)
            {
                Some((joint, coordinate)) => {
                    let (is_limit, force) = (t.is_unilateral(), t.side() * impulse[0] / h);
                    let struck = if is_limit { t.side() * struck } else { 0.0 };
                    pushes.push(JointConstraintForce { joint, coordinate, is_limit, force, struck });
                }
                None => contacts.push(ContactReport::new(t, impulse, struck, end, &free)),
            };
        strike.struck.sort_unstable_by_key(|x| (x.touching.id, x.order));
        let mut struck = strike.struck.iter().peekable();
        for (c, t) in touching.iter().enumerate() {
            // What struck and is out of reach by now.
            while let Some(x) = struck.next_if(|x| x.touching.id < t.id) {
                note(&x.touching, x.impulse, x.impulse[0], x.velocity, x.velocity);
            }
            let at = rows.offsets()[c];
            let three = |x: &[f64]| std::array::from_fn(|k| if k < t.n_rows() { x[at + k] } else { 0.0 });
            let mut impulse: [f64; 3] = three(&solution.r);
            let tangents = t.tangents.map(<[f64; 3]>::from);
            let before = three(warm.last());
            self.next.contacts.push(ContactMemory { id: t.id, impulse, before, tangents, load: 0.0 });
            // What closes in this step, or was still closing, and not by the step's own forces.
            let closes = t.gap > t.rounding || -s.u_start[at] > (s.u_free[at] - s.u_start[at]).abs();
            let mut struck_by = if closes { impulse[0] } else { 0.0 };
            while let Some(x) = struck.next_if(|x| x.touching.id == t.id) {
                // Its directions may have changed since.
                impulse = x.add_to(t, impulse);
                struck_by += x.impulse[0];
            }
            note(t, impulse, struck_by, three(&s.u_end), three(&s.u_free));
            if t.is_unilateral() && t.gap < -t.rounding {
                report.penetration = report.penetration.max(-t.gap);
            }
        }
        for x in struck {
            note(&x.touching, x.impulse, x.impulse[0], x.velocity, x.velocity);
        }
        report.contacts = contacts.len() as u32;
        self.spread_strikes(s);
    }

    /// Where something strikes a mechanism, all its contacts pass the blow on: what they push with is then no force either.
    fn spread_strikes(&self, s: &mut ContactStepper) {
        if s.contacts.iter().all(|c| c.struck == 0.0) && s.pushes.iter().all(|p| p.struck == 0.0) {
            return;
        }
        let ContactStepper { search, root, contacts, pushes, is_touched: is_struck, .. } = s;
        is_struck.fill(false);
        let roots = |c: &ContactReport| c.bodies.map(|b| b.map(|b| root[search.link_of(b)]));
        for p in pushes.iter().filter(|p| p.struck != 0.0) {
            self.system.links_of_joint(p.joint).into_iter().flatten().for_each(|l| is_struck[root[l]] = true);
        }
        for c in contacts.iter().filter(|c| c.struck > 0.0) {
            roots(c).into_iter().flatten().for_each(|r| is_struck[r] = true);
        }
        // Blows travel from mechanism to mechanism.
        let mut is_settled = false;
        while !is_settled {
            is_settled = true;
            for c in contacts.iter_mut().filter(|c| c.impulse[0] > 0.0) {
                let ends = roots(c);
                if ends.into_iter().flatten().any(|r| is_struck[r]) {
                    c.struck = c.impulse[0];
                    for r in ends.into_iter().flatten() {
                        is_settled &= is_struck[r];
                        is_struck[r] = true;
                    }
                }
            }
        }
    }

    /// Marks the mechanisms that something may touch in this step.
    fn find_touched(&self, s: &mut ContactStepper) {
        let system = &self.system;
        s.is_touched.fill(false);
        let struck = s.strike.struck.iter().map(|x| &x.touching);
        for t in s.touching.iter().chain(struck) {
            t.links(system).into_iter().flatten().for_each(|l| s.is_touched[s.root[l]] = true);
        }
        // Loops may tie mechanisms together.
        if !system.elements.is_empty() && s.is_touched.contains(&true) {
            s.is_touched.fill(true);
        }
    }

    /// q⁺ = q ⊕ (h v⁺ + what strikes ask for); q ⊕ h (v + v⁺)/2 where nothing may touch.
    fn move_by(&mut self, h: f64, s: &mut ContactStepper) {
        self.find_touched(s);
        let system = &self.system;
        for (i, link) in system.tree.links.iter().enumerate() {
            for at in link.v_range() {
                s.shift[at] += match (s.is_moreau, s.is_touched[s.root[i]]) {
                    // The middle is half a step away from both ends.
                    (true, _) => 0.5 * h * s.free[at],
                    (false, true) => h * s.free[at],
                    (false, false) => 0.5 * h * (self.state.v[at] + s.free[at]),
                };
            }
        }
        system.displace(&mut self.next.q, &s.shift, 1.0);
        self.next.v.copy_from_slice(&s.free);
    }

    /// Contacts of the last step, with their impulses.
    pub fn contacts(&self) -> &[ContactReport] {
        self.stepper.as_ref().map_or(&[], |s| &s.contacts)
    }

    /// Limits and dry friction that acted in the last step.
    pub fn joint_constraint_forces(&self) -> &[JointConstraintForce] {
        self.stepper.as_ref().map_or(&[], |s| &s.pushes)
    }

    /// The contact problem of the last step.
    pub fn contact_problem(&self) -> Option<&ContactProblem> {
        self.stepper.as_ref().map(|s| &s.problem)
    }

    /// The first problem of the last step that was not solved.
    pub fn unsolved_problem(&self) -> Option<&ContactProblem> {
        self.stepper.as_ref().and_then(|s| s.unsolved.as_ref())
    }
}

/// Whether nothing that may push moves: velocities before the step are rounding beside those that forces would give. Contacts are compared among each other,
/// rows of joints each with itself, since they have units of their own.
fn is_still(touching: &[ContactConstraint], offsets: &[usize], before: &[f64], free: &[f64]) -> bool {
    let (mut fastest, mut given) = (0.0_f64, 0.0_f64);
    for (c, t) in touching.iter().enumerate() {
        let rows = offsets[c]..offsets[c + 1];
        if joint_of(t.id).is_some() {
            if rows.into_iter().any(|i| before[i].abs() > STILL * free[i].abs()) {
                return false;
            }
            continue;
        }
        for i in rows {
            fastest = fastest.max(before[i].abs());
            given = given.max(free[i].abs());
        }
    }
    fastest <= STILL * given
}

/// An error of the contact problem as one of the step.
fn contact_failed(time: f64, what: &str, error: ContactError) -> StepError {
    match error {
        ContactError::NotFinite { .. } => StepError::NotFinite { time, what: what.into() },
        other => StepError::BadOption(other.to_string()),
    }
}

impl System {
    /// The links of a joint, its own for one of the tree.
    fn links_of_joint(&self, joint: usize) -> [Option<usize>; 2] {
        let cut = || self.cuts.iter().find(|c| c.joint.index() == joint).map_or([None; 2], |c| [c.parent, c.child]);
        self.plan.link_of_joint[joint].map_or_else(cut, |link| [Some(link), None])
    }

    /// Moves coordinates along the manifold by h v.
    fn displace(&self, q: &mut [f64], v: &[f64], h: f64) {
        for link in &self.tree.links {
            if let LinkKind::Revolute(_) = link.kind {
                q[link.q as usize] += h * v[link.v as usize];
                continue;
            }
            let mut step = [0.0; 6];
            for (k, at) in link.v_range().enumerate() {
                step[k] = h * v[at];
            }
            link.joint_type().displace(&mut q[link.q_range()], &step[..link.n_v as usize]);
        }
    }
}

/// Mean rate of a signal over a step.
fn step_rate(signal: &Signal, start: f64, inside: f64, h: f64) -> f64 {
    let [now, end] = [start, start + h].map(|time| signal.at(Instant { time, inside })[0]);
    (end - now) / h
}
