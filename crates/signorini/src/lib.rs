//! Rigid multibody dynamics with hard contact and topology that changes in mid-flight.
//!
//! ```text
//! scene file → Scene → Model → Plan ┐
//!                                   ├→ step → StepReport + Observation → Recording
//!                          State ───┘
//! ```
//!
//! A mechanism is a graph of bodies and joints. On a spanning tree of it, with coordinates q and speeds v, the engine solves
//!
//! ```text
//! M(q) v̇ + h(q, v) = τ + Jᵀλ,     J v̇ + J̇ v = 0,     q̇ = K(q) v
//! ```
//!
//! for v̇ and the forces λ that keep loops closed. M is never formed: the articulated-body recursion factors it in O(n), M = NᵀN,
//! and the loop forces are those of least norm in Yᵀy = b with Y = N⁻ᵀJᵀ, found by a factorisation that reveals the rank.
//! Redundant constraints and singular positions therefore need no special case. Every stage of an integrator is evaluated on
//! closed loops, so nothing drifts and nothing is stabilised.
//!
//! ```
//! use signorini::scene::read::read_str;
//! use signorini::step::Simulation;
//!
//! let scene = read_str(
//!     r#"
//!     gravity = [0, 0, -9.81]
//!     time = { end = 1.0 }
//!     body = [{ name = "rod", mass = 1, com = [0, 0, -0.5], inertia = [0.08, 0.08, 0.001] }]
//!     joint = [{ name = "pivot", kind = "spherical", parent = "ground", child = "rod", v = [1, 2, 0] }]
//!     "#,
//!     "pendulum.toml",
//!     "",
//! )?;
//! let mut simulation = Simulation::from_scene(&scene)?;
//! while simulation.state().time < scene.time.end {
//!     simulation.advance(scene.time.end)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Start with [`step::Simulation`], [`scene::Scene`] and [`step::Observation`]. The contact problem and its solvers are in
//! [`contact`], which stands alone; contact in motion is not there yet.

/// Lets `?` in `main` show an error as it reads: what `main` returns is printed by `Debug`.
macro_rules! debug_as_display {
    ($($error:ty),*) => {$(
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    )*};
}

pub mod collide;
pub mod contact;
pub mod dynamics;
pub mod impulse;
pub mod model;
pub mod plan;
#[cfg(feature = "record")]
pub mod record;
#[cfg(feature = "plot")]
pub mod report;
#[cfg(feature = "record")]
pub mod run;
pub mod scene;
mod simd;
pub mod spatial;
pub mod state;
pub mod step;

pub use nalgebra;

/// Listings of the documents, compiled and run with the doc tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../book/rust-api.md")]
    struct RustApi;
}
