//! One step in time, and what is known after it.

mod clusters;
mod contact;
mod error;
mod evaluate;
mod events;
mod finish;
mod forces;
mod initial;
mod integrate;
mod jump;
mod observation;
mod observe;
mod remap;
mod report;
mod simulation;
mod spin;
mod system;
mod watch;

pub use contact::{ContactReport, JointPush, Mode};
pub use error::StepError;
pub use initial::{Assembly, BuildError, Built, build};
pub use observation::{BodyMotion, Observation};
pub use report::StepReport;
pub use simulation::{DEFAULT_RTOL, Options, Simulation};
pub use system::System;
