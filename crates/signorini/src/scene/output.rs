//! What is recorded, and how often.

use serde::{Deserialize, Serialize};

/// What is recorded, and how often. Names may hold `*` (any run of characters) and `?` (one character).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Time between recorded rows; the integrator lands on these times. Every step is recorded where neither is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
    /// Steps between recorded rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// Bodies whose motion is recorded; all, where not given and the scene has at most a thousand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bodies: Option<Vec<String>>,
    /// Joints whose coordinates and speeds are recorded; all, where not given and the scene has at most a thousand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joints: Option<Vec<String>>,
    /// Joints whose transmitted wrench is recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<String>,
    /// Joints whose actuator forces are recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actuators: Vec<String>,
    /// Couplings whose gaps, rates and forces are recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub couplings: Vec<String>,
    /// Whether contacts are recorded; they are, where not given, if anything may touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contacts: Option<bool>,
    /// Points of bodies whose path is recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marker: Vec<Marker>,
}

/// A point of a body whose path is recorded.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Marker {
    /// Unique among markers; names the columns.
    pub name: String,
    /// The body.
    pub body: String,
    /// The point in the body frame.
    pub point: [f64; 3],
}
