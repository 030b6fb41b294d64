//! Equations of motion, several ways that agree.

pub mod dca;
pub mod dense;
mod energy;
mod engine;
mod error;
mod evaluate;
pub mod force;
mod formulation;
mod jump;
pub mod pivoted_qr;
mod reactions;
pub mod recursive;
pub(crate) mod row;
mod system;
pub mod tree;

pub(crate) use engine::Traits;
pub use error::DynamicsError;
pub(crate) use evaluate::Closeness;
pub(crate) use formulation::Formulation;
pub(crate) use jump::{Before, Jumped};
pub use system::System;
pub(crate) use system::Workspace;
