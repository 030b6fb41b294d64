//! Rigid multibody dynamics with hard contact and topology that changes in mid-flight.
//!
//! ```text
//! scene file → Scene → Model → Plan ┐
//!                                   ├→ step → StepReport + Observation → Recording
//!                          State ───┘
//! ```

pub mod contact;
pub mod record;
pub mod scene;
pub mod state;
pub mod step;
