//! Which pairs touch, and with what friction and restitution.

use super::{Friction, FrictionFrame};
use serde::{Deserialize, Serialize};

/// A rule about pairs of bodies, of groups of bodies, or of materials. Later rules win over earlier ones.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContactRule {
    /// Two names or patterns of bodies, in any order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<String>,
    /// Two names or patterns of groups, in any order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Two names of materials, in any order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub materials: Vec<String>,
    /// Whether the pairs touch at all. Given as true, pairs across a joint touch too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Friction of the pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<Friction>,
    /// Directions of friction that has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction_frame: Option<FrictionFrame>,
    /// Coefficient of restitution of the pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
}

/// A named point of a body that touches shapes of other bodies.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContactPoint {
    /// Unique within its body.
    pub name: String,
    /// In the body frame.
    pub position: [f64; 3],
    /// Name of a `[[material]]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
}
