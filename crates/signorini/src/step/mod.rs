//! One step in time, and what is known after it.

mod observation;
mod report;

pub use observation::{BodyMotion, Observation};
pub use report::StepReport;
