//! Friction as scenes spell it: of a material, or of a pair.

use serde::{Deserialize, Serialize};

/// Friction of a surface or of a pair of surfaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Friction {
    /// Coefficient μ of the disc ‖r_t‖ ≤ μ r_n.
    Coefficient(f64),
}

impl Friction {
    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        match self {
            Self::Coefficient(mu) => *mu == 0.0,
        }
    }
}

impl From<f64> for Friction {
    fn from(mu: f64) -> Self {
        Self::Coefficient(mu)
    }
}
