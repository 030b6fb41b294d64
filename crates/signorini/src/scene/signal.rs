//! Prescribed functions of time.

use serde::{Deserialize, Serialize};

/// A function of time: a plain number, or a table with a `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Signal {
    /// A constant.
    Constant(f64),
    /// Anything that varies.
    Varying(Varying),
}

impl Default for Signal {
    fn default() -> Self {
        Self::Constant(0.0)
    }
}

/// The kinds of varying signal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Varying {
    /// start + rate · t.
    Ramp {
        /// Value at t = 0.
        #[serde(default)]
        start: f64,
        /// Slope.
        rate: f64,
    },
    /// offset + amplitude · sin(angular_frequency · t + phase).
    Sine {
        /// Amplitude.
        amplitude: f64,
        /// Radians per unit of time.
        angular_frequency: f64,
        /// Phase at t = 0.
        #[serde(default)]
        phase: f64,
        /// Mean value.
        #[serde(default)]
        offset: f64,
    },
    /// One value before a time, another from then on.
    Step {
        /// When.
        time: f64,
        /// Value before.
        #[serde(default)]
        before: f64,
        /// Value from then on.
        after: f64,
    },
    /// One value between two times, another outside.
    Pulse {
        /// When it begins.
        start: f64,
        /// How long it lasts.
        duration: f64,
        /// Value meanwhile.
        value: f64,
        /// Value before and after.
        #[serde(default)]
        offset: f64,
    },
    /// The sum of other signals.
    Sum {
        /// Those.
        terms: Vec<Varying>,
    },
    /// Values at increasing times; constant before the first and after the last.
    Table {
        /// Strictly increasing times.
        times: Vec<f64>,
        /// As many values.
        values: Vec<f64>,
        /// How values between are found; `linear` for forces, and always `cubic` for prescribed motion.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interpolation: Option<Interpolation>,
    },
}

/// Interpolation between the entries of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// Straight lines.
    Linear,
    /// Twice continuously differentiable cubic spline with zero slope at both ends.
    Cubic,
}
