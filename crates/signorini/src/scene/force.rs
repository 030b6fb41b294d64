//! Applied loads.

use super::Signal;
use serde::{Deserialize, Serialize};

/// An applied load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Force {
    /// A spring and damper between two points.
    Spring {
        /// Unique among forces.
        name: String,
        /// One end.
        a: Attachment,
        /// The other end.
        b: Attachment,
        /// Force per elongation.
        #[serde(default)]
        stiffness: f64,
        /// Length at which the spring is at rest.
        #[serde(default)]
        length: f64,
        /// Force per rate of elongation.
        #[serde(default)]
        damping: f64,
    },
    /// A force at a point of a body.
    Force {
        /// Unique among forces.
        name: String,
        /// The body.
        body: String,
        /// Where it acts, in the body frame; the centre of mass unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        point: Option<[f64; 3]>,
        /// The force, times `signal` where that is given.
        vector: [f64; 3],
        /// Axes in which `vector` is given.
        #[serde(default)]
        axes: Axes,
        /// Factor on `vector` as a function of time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<Signal>,
    },
    /// A pure torque on a body.
    Torque {
        /// Unique among forces.
        name: String,
        /// The body.
        body: String,
        /// The torque, times `signal` where that is given.
        vector: [f64; 3],
        /// Axes in which `vector` is given.
        #[serde(default)]
        axes: Axes,
        /// Factor on `vector` as a function of time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<Signal>,
    },
}

impl Force {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Spring { name, .. } | Self::Force { name, .. } | Self::Torque { name, .. } => {
                name
            }
        }
    }
}

/// A point of a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// The body, or `ground`.
    pub body: String,
    /// The point in the body frame.
    #[serde(default)]
    pub point: [f64; 3],
}

/// Which axes a vector's components refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axes {
    /// Fixed in space.
    #[default]
    World,
    /// Turning with the body.
    Body,
}
