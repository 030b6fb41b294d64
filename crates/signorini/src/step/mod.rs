//! One step in time, and what is known after it.

mod access;
mod assembly;
mod contact;
mod error;
mod events;
mod finish;
mod initial;
mod integrate;
mod observation;
mod observe;
#[cfg(test)]
mod other_formulation;
mod remap;
mod report;
mod simulation;
mod spin;
mod watch;

pub use assembly::Assembly;
pub use contact::{ContactReport, JointConstraintForce, Mode};
pub use error::StepError;
pub use initial::{BuildError, Built, build};
pub use observation::{BodyMotion, CouplingMotion, Observation};
pub use report::StepReport;
pub use simulation::{DEFAULT_RTOL, Options, Simulation};
