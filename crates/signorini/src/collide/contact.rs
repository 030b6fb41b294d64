//! What the room hands on: contacts with lasting names.

use crate::contact::law::LawId;
use crate::model::BodyId;
use crate::spatial::Vec3;
use serde::{Deserialize, Serialize};

/// Which contact this is, from step to step: the pair of shapes, and the corners or edges that meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContactId {
    /// Index of the shape of a in the upper half, of the shape of b in the lower half.
    pub pair: u64,
    /// Corner, edges or closest points.
    pub feature: u64,
}

impl ContactId {
    /// Shapes of a and of b, by their place in the model.
    pub const fn shapes(self) -> [usize; 2] {
        [(self.pair >> 32) as usize, (self.pair & 0xffff_ffff) as usize]
    }
}

/// A point at which two bodies touch or may touch within the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// Lasting name.
    pub id: ContactId,
    /// First body; none for the ground, which always comes first.
    pub a: Option<BodyId>,
    /// Second body.
    pub b: Option<BodyId>,
    /// Midway between `on_a` and `on_b`, world.
    pub point: Vec3,
    /// The point of a, world. Where a fast body is caught in mid-step, the place at which a will be touched, at the start of the step.
    pub on_a: Vec3,
    /// The point of b, world; see `on_a`.
    pub on_b: Vec3,
    /// Unit vector from a to b.
    pub normal: Vec3,
    /// Unit vectors across: t₁ × t₂ = n, a function of the normal alone.
    pub tangent: [Vec3; 2],
    /// Distance along the normal at the start of the step; negative where the bodies overlap.
    pub gap: f64,
    /// Part of the step after which the bodies are expected to touch, where the direction is the one of that instant; zero where it is the
    /// one of the start.
    pub time: f64,
    /// Friction and restitution: a law of [`Model::laws`](crate::model::Model::laws).
    pub law: LawId,
    /// Whether the direction is known to be the one of largest gap. Deep overlap of curved shapes or hulls may leave it open.
    pub is_reliable: bool,
}
