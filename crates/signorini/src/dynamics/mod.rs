//! Equations of motion, several ways that agree.

pub mod dca;
pub mod dense;
#[cfg(test)]
mod dummy;
mod energy;
mod engine;
mod error;
mod evaluate;
pub mod force;
mod formulation;
mod group;
mod jump;
pub mod pivoted_qr;
mod port;
mod reactions;
pub mod recursive;
pub(crate) mod row;
mod system;
pub mod tree;

pub use dense::{BodyMotion, Dense};
#[cfg(test)]
pub(crate) use dummy::DUMMY;
pub(crate) use engine::{Opened, Traits};
pub use error::DynamicsError;
pub(crate) use evaluate::Closeness;
pub(crate) use formulation::Formulation;
pub(crate) use jump::{Before, Jumped};
pub(crate) use port::{Attachment, Port};
pub use system::System;
pub(crate) use system::Workspace;
