//! Why a step could not be taken.

use crate::collide::WorldError;
use crate::contact::ContactError;
use crate::dynamics::DynamicsError;
use std::sync::Arc;
use thiserror::Error;

/// Why a step could not be taken. The state before the step is kept.
#[derive(Clone, Error)]
pub enum StepError {
    /// Something became infinite or not a number.
    #[error("at t = {time}: {what} is not finite")]
    NotFinite {
        /// Time at the start of the step.
        time: f64,
        /// Which body or joint, and which quantity.
        what: String,
    },
    /// The mechanism could not be evaluated.
    #[error(transparent)]
    Dynamics(#[from] DynamicsError),
    /// The adaptive method would need steps below the resolution of time.
    #[error("at t = {time}: a step of {step:.3e} is below the resolution of time")]
    StepTooSmall {
        /// Time.
        time: f64,
        /// The step it would take.
        step: f64,
    },
    /// Shapes that cannot be searched for contact.
    #[error(transparent)]
    Shape(#[from] WorldError),
    /// A contact problem that cannot be posed, or a solver that does not take it.
    #[error("{what}: {error}")]
    Contact {
        /// Which problem of the step.
        what: &'static str,
        /// Why.
        error: Arc<ContactError>,
    },
    /// A contact problem was not solved, and the policy is to stop.
    #[error(
        "at t = {time}: the contact problem was not solved: its residual is {rel:.3e}, the tolerance {tolerance:.1e}"
    )]
    Unsolved {
        /// Time at the start of the step.
        time: f64,
        /// Relative residual of the best impulses that were found.
        rel: f64,
        /// What was asked for.
        tolerance: f64,
    },
    /// An event that cannot happen.
    #[error("at t = {time}: {why}")]
    Event {
        /// Time.
        time: f64,
        /// Why.
        why: crate::impulse::EditError,
    },
    /// An event after which constraints contradict each other.
    #[error(
        "at t = {time}: after event `{event}` no velocities satisfy all joints and motions (they differ by {residual:.3e} of the mechanism's speed)"
    )]
    Contradiction {
        /// Time.
        time: f64,
        /// The event.
        event: String,
        /// What is left, over the mechanism's speed.
        residual: f64,
    },
    /// A state that does not belong to the model.
    #[error("the state does not belong to this model: {0}")]
    WrongState(String),
    /// A fixed-step method without a step, or a step or tolerance that is not a positive number.
    #[error("{0}")]
    BadOption(String),
    /// A setting of the scene, missing or of another kind, without which contact is not stepped.
    #[error("{why}")]
    Setting {
        /// Its key in a scene.
        key: &'static str,
        /// Why it is needed and what to do.
        why: String,
    },
    /// A broken invariant.
    #[error("internal error: {0}")]
    Internal(&'static str),
}

debug_as_display!(StepError);
