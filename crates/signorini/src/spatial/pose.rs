//! Position and orientation of one frame in another.

use super::{Mat3, Quaternion, Vec3};
use std::ops::Mul;

/// Frame b as seen from frame a: a point with coordinates x in b has coordinates `rotation * x + translation` in a.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Axes of b as columns in a.
    pub rotation: Mat3,
    /// Origin of b in a.
    pub translation: Vec3,
}

impl Default for Pose {
    fn default() -> Self {
        Self::identity()
    }
}

impl Pose {
    /// The two frames coincide.
    pub fn identity() -> Self {
        Self { rotation: Mat3::identity(), translation: Vec3::zeros() }
    }

    /// From its parts.
    pub const fn new(rotation: Mat3, translation: Vec3) -> Self {
        Self { rotation, translation }
    }

    /// From an origin and an optional quaternion w x y z, which is normalised.
    pub fn from_parts(position: [f64; 3], orientation: Option<[f64; 4]>) -> Self {
        let rotation = orientation.map_or_else(Mat3::identity, |q| Quaternion(q).normalised().to_matrix());
        Self::new(rotation, position.into())
    }

    /// Frame a as seen from frame b.
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.transpose();
        Self::new(rotation, -(rotation * self.translation))
    }

    /// Coordinates in a of a point given in b.
    pub fn point(&self, x: &Vec3) -> Vec3 {
        self.rotation * x + self.translation
    }
}

impl Mul for Pose {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self::new(self.rotation * o.rotation, self.point(&o.translation))
    }
}
