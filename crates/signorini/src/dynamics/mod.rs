//! Equations of motion, several ways that agree.

pub mod dca;
pub mod dense;
mod energy;
mod error;
mod evaluate;
mod jump;
pub mod loads;
pub mod pivoted_qr;
mod reactions;
pub mod recursive;
mod system;
pub mod tree;

pub use error::DynamicsError;
pub(crate) use evaluate::Closeness;
pub(crate) use jump::{Before, Jumped};
pub use system::System;
pub(crate) use system::Workspace;
