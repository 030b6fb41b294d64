//! Why a mechanism could not be evaluated.

use thiserror::Error;

/// Why a mechanism could not be evaluated.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum DynamicsError {
    /// Something became infinite or not a number.
    #[error("at t = {time}: {what} is not finite")]
    NotFinite {
        /// Time.
        time: f64,
        /// Which quantity.
        what: String,
    },
    /// Loops could not be closed.
    #[error("at t = {time}: a loop stays open by {gap:.3e} of the mechanism's size")]
    LoopsOpen {
        /// Time.
        time: f64,
        /// Relative gap.
        gap: f64,
    },
    /// A joint moves nothing that has inertia.
    #[error("joint `{joint}` moves no inertia, so its acceleration is not determined")]
    NoInertia {
        /// The joint.
        joint: String,
    },
    /// A joint moves nothing that has inertia before other parts of the mechanism are merged to it.
    #[error(
        "joint `{joint}` moves no inertia of its own cluster, which the formulation `dca` needs; `recursive` does without \
         where bodies further out have some"
    )]
    NoOwnInertia {
        /// The joint.
        joint: String,
    },
    /// A broken invariant.
    #[error("internal error: {0}")]
    Internal(&'static str),
}

impl DynamicsError {
    /// Whether a joint moves no inertia, which no shorter step mends.
    pub fn is_singular(&self) -> bool {
        matches!(self, Self::NoInertia { .. } | Self::NoOwnInertia { .. })
    }
}
