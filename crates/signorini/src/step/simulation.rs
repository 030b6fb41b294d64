//! A running mechanism.

use super::contact::ContactStepper;
use super::integrate::{Adaptive, Fixed};
use super::watch::Watch;
use super::{StepError, StepReport};
use crate::contact::solve::DEFAULT_TOLERANCE;
use crate::dynamics::Dense;
use crate::dynamics::force::{Load, Power};
use crate::dynamics::{Formulation as _, System, Workspace};
use crate::impulse::EventReport;
use crate::model::{Instant, Model, Topology};
use crate::plan::{Plan, Shape};
use crate::scene::{ContactMethod, Formulation, Integrator, Policy, Restitution};
use crate::spatial::Wrench;
use crate::state::State;
use std::sync::Arc;

/// Default relative tolerance of the adaptive method per step.
pub const DEFAULT_RTOL: f64 = 1e-9;

/// How a simulation advances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Formulation of the dynamics.
    pub formulation: Formulation,
    /// Integration method.
    pub integrator: Integrator,
    /// Step of fixed-step methods; first step of the adaptive one.
    pub step: Option<f64>,
    /// Relative tolerance of the adaptive method.
    pub rtol: f64,
    /// The method for contact problems.
    pub method: ContactMethod,
    /// Tolerance of contact problems on their relative residual.
    pub tolerance: f64,
    /// The law of restitution.
    pub restitution: Restitution,
    /// What happens when a contact problem is not solved: under `stop` the step is an error, else it is taken and its report says so.
    pub policy: Policy,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            formulation: Default::default(),
            integrator: Integrator::default(),
            step: None,
            rtol: DEFAULT_RTOL,
            method: ContactMethod::default(),
            tolerance: DEFAULT_TOLERANCE,
            restitution: Restitution::default(),
            policy: Policy::default(),
        }
    }
}

/// Natural size of each coordinate and, per time, of each speed: a radian or the mechanism's length.
#[derive(Debug, Clone)]
pub(crate) struct Units {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
}

impl Units {
    pub(crate) fn build(system: &System) -> Self {
        let length = system.model.characteristic_length();
        let (n_q, n_v) = system.sizes();
        let mut units = Self { q: vec![1.0; n_q], v: vec![1.0; n_v] };
        for link in &system.tree.links {
            for k in 0..link.n_q as usize {
                if link.joint_type().kind.is_length(k) {
                    units.q[link.q as usize + k] = length;
                    units.v[link.v as usize + k] = length;
                }
            }
        }
        units
    }
}

/// A model with a state that advances.
pub struct Simulation {
    pub(crate) system: System,
    pub(crate) options: Options,
    pub(crate) state: State,
    /// The state that a step is about to reach; swapped in when it is accepted.
    pub(crate) next: State,
    pub(crate) units: Units,
    pub(crate) work: Workspace,
    /// Whether positions and velocities in `work` are those of `state`.
    pub(crate) is_current: bool,
    pub(crate) fixed: Fixed,
    pub(crate) adaptive: Adaptive,
    /// A controller's force on each tree speed, held over a step.
    pub(crate) input: Vec<f64>,
    /// The scene's model, before any event.
    pub(crate) scene: Arc<Model>,
    pub(crate) watch: Watch,
    /// Scratch for a state that is looked at.
    pub(crate) copy: Option<State>,
    /// Set where something may push.
    pub(crate) stepper: Option<Box<ContactStepper>>,
    /// Scratch for accelerations of observations.
    pub(crate) rates: Vec<f64>,
    /// What the events of the last call of `advance` did.
    pub(crate) reports: Vec<EventReport>,
    /// Whether somebody looks at forces in joints, so that steps with contact find them.
    pub(crate) wants_forces: bool,
    /// The plan of the scene's topology.
    pub(crate) first_plan: Arc<Plan>,
    /// What the last step did.
    pub(crate) last: StepReport,
    /// Why this simulation cannot move, where a clone could not be made whole.
    pub(crate) fault: Option<StepError>,
}

impl Simulation {
    /// Starts or resumes from a state. `model` and `plan` are the scene's; what events have made of them is in the state.
    pub fn new(model: Arc<Model>, plan: Plan, mut options: Options, mut state: State) -> Result<Self, StepError> {
        let scene = model;
        if state.events.is_empty() {
            state.events = super::events::first_memories(&scene);
        }
        if state.events.len() != scene.events().len() {
            let (found, wanted) = (state.events.len(), scene.events().len());
            return Err(StepError::WrongState(format!("it knows {found} events, the model has {wanted}")));
        }
        if let Some(fault) = state.topology.find_fault(&scene) {
            return Err(StepError::WrongState(fault));
        }
        let first_plan = Arc::new(plan);
        let mut system = if *state.topology == Topology::default() {
            System::build(scene.clone(), (*first_plan).clone(), options.formulation)
        } else {
            let model = Arc::new(scene.revised(&state.topology));
            let plan = super::events::plan_of(&model);
            System::build(model, plan, options.formulation)
        };
        if let Some(open) = system.model.couplings().iter().find(|c| c.is_open()) {
            let why =
                format!("coupling `{}` does not know what it holds: assemble the scene by `step::build`", open.name);
            return Err(StepError::BadOption(why));
        }
        let (n_q, n_v) = system.sizes();
        if state.q.len() != n_q || state.v.len() != n_v || state.cut_q.len() != system.n_cut_q {
            let found = (state.q.len(), state.v.len(), state.cut_q.len());
            let wanted = (n_q, n_v, system.n_cut_q);
            return Err(StepError::WrongState(format!("sizes are {found:?}, wanted {wanted:?}")));
        }
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if !options.integrator.has_tolerance() && options.step.is_none() {
            return Err(StepError::BadOption("a fixed-step integrator needs `step`".into()));
        }
        if !options.step.is_none_or(positive) || !positive(options.rtol) || !positive(options.tolerance) {
            return Err(StepError::BadOption("`step`, `rtol` and `tolerance` must be positive numbers".into()));
        }
        system.check_finite(state.time, &state.q, &state.v)?;
        if let Some(what) = state.find_non_finite() {
            return Err(StepError::NotFinite { time: state.time, what: what.into() });
        }
        let stepper = ContactStepper::build(&system, &options)?;
        system.needs_positions |= stepper.is_some();
        if options.integrator == Integrator::Auto {
            options.integrator = if stepper.is_some() { Integrator::StewartTrinkle } else { Integrator::Adaptive };
        }
        Ok(Self::assemble((scene, first_plan), system, options, state, stepper))
    }

    /// From parts that fit each other.
    pub(super) fn assemble(
        (scene, first_plan): (Arc<Model>, Arc<Plan>),
        system: System,
        options: Options,
        state: State,
        stepper: Option<Box<ContactStepper>>,
    ) -> Self {
        let (n_q, n_v) = system.sizes();
        Self {
            units: Units::build(&system),
            work: system.workspace(),
            is_current: false,
            fixed: Fixed::new(n_q, n_v),
            adaptive: Adaptive::new(n_q, n_v, options.integrator),
            input: vec![0.0; n_v],
            watch: Watch::new(&scene),
            copy: Some(state.clone()),
            next: state.clone(),
            rates: Vec::new(),
            reports: Vec::new(),
            wants_forces: false,
            last: StepReport::default(),
            fault: None,
            system,
            options,
            state,
            scene,
            first_plan,
            stepper,
        }
    }

    /// The present state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The mechanism.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// How it advances, with what was left open chosen.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Whether its steps are those with contact: something may push now.
    pub fn steps_contact(&self) -> bool {
        self.stepper.is_some()
    }

    /// Adds a load of the user's own. It is not part of the state: add it again when resuming. Clones share it.
    pub fn add_load(&mut self, load: Box<dyn Load>) {
        self.system.needs_positions = true;
        self.system.forces.add(load);
    }

    /// Keeps the forces in joints of every step with contact from now on, for [`Simulation::observe`]. They are means over the step, known at its
    /// end and nowhere else. Without this call the first observation that asks for forces makes steps keep them.
    pub fn keep_forces(&mut self) {
        self.wants_forces = true;
    }

    /// Sets a controller's force on each speed of a joint, held until it is set again.
    ///
    /// Joints that close loops cannot be driven this way; they follow from the others.
    pub fn set_joint_force(&mut self, joint: crate::model::JointId, force: &[f64]) -> Result<(), StepError> {
        let link = self.system.plan.link_of_joint.get(joint.index()).copied().flatten();
        let link = link.ok_or_else(|| StepError::BadOption("the joint is not in the tree".into()))?;
        let range = self.system.tree.links[link].v_range();
        if force.len() != range.len() {
            return Err(StepError::BadOption(format!("{} forces for {} speeds", force.len(), range.len())));
        }
        if force.iter().any(|x| !x.is_finite()) {
            let what = format!("the force set on joint `{}`", self.joint_name(joint)?);
            return Err(StepError::NotFinite { time: self.state.time, what });
        }
        self.input[range].copy_from_slice(force);
        Ok(())
    }

    /// Advances by one step that does not pass `limit`, and lands on it exactly where it reaches it. Where events are due it makes
    /// them happen instead, and takes no time. On error the state is what it was.
    pub fn advance(&mut self, limit: f64) -> Result<StepReport, StepError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if limit.is_nan() {
            return Err(StepError::NotFinite { time: self.state.time, what: "the limit of the step".into() });
        }
        self.reports.clear();
        if self.is_event_due() {
            return self.react();
        }
        let limit = limit.min(self.next_due());
        let before = self.state.time;
        let report = if self.watch.is_idle(&self.state, self.stepper.is_some()) {
            self.step(limit)
        } else {
            self.watched_step(limit)
        }?;
        if self.state.time > before {
            self.watch_contacts(self.state.time - before);
        }
        self.last = report;
        Ok(report)
    }

    /// One step, whatever it leads to.
    pub(crate) fn step(&mut self, limit: f64) -> Result<StepReport, StepError> {
        let is_current = std::mem::take(&mut self.is_current);
        self.work.cut_q.copy_from_slice(&self.state.cut_q);
        if self.stepper.is_some() {
            return self.advance_contact(limit, is_current);
        }
        match self.options.integrator {
            Integrator::Auto | Integrator::Adaptive => self.advance_adaptive(limit),
            // Where nothing can push, steps with contact are Euler's.
            Integrator::Rk4 | Integrator::Euler | Integrator::StewartTrinkle | Integrator::Moreau => {
                self.advance_fixed(limit)
            }
        }
    }

    /// Rates of the tree's speeds at the present state, in tree order.
    pub fn accelerations(&mut self, out: &mut Vec<f64>) -> Result<(), StepError> {
        self.is_current = false;
        let next = &mut self.next;
        next.assign(&self.state);
        out.resize(next.v.len(), 0.0);
        self.work.cut_q.copy_from_slice(&self.state.cut_q);
        self.system.evaluate(Instant::now(next.time), &mut next.q, &mut next.v, &self.input, out, &mut self.work)?;
        Ok(())
    }

    /// What force elements and a controller do at the present state, prescribed motions left out.
    pub fn power(&mut self) -> Result<Power, StepError> {
        self.update_current();
        let (now, w) = (Instant::now(self.state.time), &mut self.work);
        Ok(self.system.update_loads(now, &self.state.q, &self.state.v, &self.input, w)?)
    }

    /// Linear momentum as `force`, angular momentum about the world origin as `moment`.
    pub fn momentum(&mut self) -> Result<Wrench, StepError> {
        self.update_current();
        Ok(self.work.kinematics.momentum(&self.system.tree))
    }

    /// Positions and velocities of the present state, which a step leaves on the mechanism's manifold. The step that reached
    /// it has left them in `work`; they have the same bits when they are found again.
    pub(crate) fn update_current(&mut self) {
        if self.is_current {
            return;
        }
        let (system, state, w) = (&self.system, &self.state, &mut self.work);
        w.cut_q.copy_from_slice(&state.cut_q);
        system.place(&state.q, &state.v, w);
        system.update_rows(&state.q, &state.v, w);
        self.is_current = true;
    }

    /// Assembles by a tree of the given shape, under divide and conquer. The motion stays the same up to rounding.
    pub fn set_shape(&mut self, shape: Shape) {
        if self.system.elimination.is_some() {
            self.system.shape = shape;
            self.system.elimination = Some(self.system.eliminate(shape));
            let cut_q = std::mem::take(&mut self.work.cut_q);
            self.work = self.system.workspace();
            self.work.cut_q = cut_q;
            self.is_current = false;
        }
    }

    /// The oracle's last solution, under the dense formulation.
    pub fn dense(&self) -> Option<&Dense> {
        self.work.engine.oracle()
    }

    /// Link visits of all sweeps so far: a measure of work that does not depend on the machine.
    pub fn work_counter(&self) -> u64 {
        self.work.kinematics.work + self.work.engine.counters().links + self.trial_work()
    }

    /// Merges of clusters so far, under divide and conquer.
    pub fn merge_counter(&self) -> u64 {
        self.work.engine.counters().merges
    }
}
