//! Changes of topology: what an event makes of a mechanism, and the velocities and impulses that follow.
//!
//! Locks, welds, dockings, releases and blows are one equation, M Δv = Jᵀ Λ + p with J v⁺ as the new constraints want it. Only
//! J differs [mukherjee2007, eq. 13–43]. Here is what changes the topology, and what is reported; `dynamics/jump.rs` solves.

mod edit;
mod report;

pub use edit::{EditError, Edits, GAP, Situation};
pub use report::{EventReport, Kinetic, Momentum};
