//! Typed indices.

use serde::{Deserialize, Serialize};

/// A body, by its place in the scene with the ground left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BodyId(pub u32);

/// A joint, by its place in the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JointId(pub u32);

/// A coupling, by its place in the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CouplingId(pub u32);

impl CouplingId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl BodyId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl JointId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
