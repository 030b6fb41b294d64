//! What a caller may do while a run is under way.

use crate::impulse::EventReport;
use crate::record::Motion;
use crate::state::State;
use crate::step::{ContactReport, JointConstraintForce, Observation, Simulation, StepError, StepReport};

/// Whether to go on after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// With the next step.
    GoOn,
    /// No more steps; the recording is brought to its end and can go on later.
    Stop,
}

/// How far a run has come.
pub struct Progress<'a> {
    /// Where it is.
    pub time: f64,
    /// The end of time.
    pub end: f64,
    /// Steps so far.
    pub steps: u64,
    /// Time it took so far, interruptions left out.
    pub wall_seconds: f64,
    /// The last step.
    pub report: &'a StepReport,
    /// What moves.
    pub simulation: &'a Simulation,
}

type Ask<'a> = Box<dyn FnMut(&Progress<'_>) -> Next + 'a>;
type Prepare<'a> = Box<dyn FnOnce(&mut Simulation) -> Result<(), StepError> + 'a>;
type Control<'a> = Box<dyn FnMut(&mut Simulation) -> Result<(), StepError> + 'a>;

/// What the caller wants to be called for.
#[derive(Default)]
pub(super) struct Hooks<'a> {
    pub progress: Option<Ask<'a>>,
    pub prepare: Option<Prepare<'a>>,
    pub control: Option<Control<'a>>,
}

/// A simulation with its controller.
pub(super) struct Controlled<'a> {
    pub simulation: Simulation,
    pub control: Option<Control<'a>>,
}

impl Motion for Controlled<'_> {
    type Error = StepError;

    fn state(&self) -> &State {
        self.simulation.state()
    }

    fn advance(&mut self, limit: f64) -> Result<StepReport, StepError> {
        if let Some(control) = &mut self.control {
            control(&mut self.simulation)?;
        }
        self.simulation.advance(limit)
    }

    fn is_event_due(&self) -> bool {
        self.simulation.is_event_due()
    }

    fn events(&self) -> &[EventReport] {
        self.simulation.events()
    }

    fn contacts(&self) -> &[ContactReport] {
        self.simulation.contacts()
    }

    fn joint_constraint_forces(&self) -> &[JointConstraintForce] {
        self.simulation.joint_constraint_forces()
    }

    fn keep_forces(&mut self) {
        self.simulation.keep_forces();
    }

    fn observe(&mut self, forces: bool, out: &mut Observation) -> Result<(), StepError> {
        self.simulation.observe(forces, out)
    }
}
