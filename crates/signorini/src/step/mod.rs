//! One step in time, and what is known after it.

mod clusters;
mod error;
mod evaluate;
mod finish;
mod forces;
mod initial;
mod integrate;
mod observation;
mod observe;
mod report;
mod simulation;
mod system;

pub use error::StepError;
pub use initial::{Assembly, BuildError, Built, build};
pub use observation::{BodyMotion, Observation};
pub use report::StepReport;
pub use simulation::{DEFAULT_RTOL, Options, Simulation};
pub use system::System;
