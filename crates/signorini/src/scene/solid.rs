//! Volume, centroid and second moments of solids of unit density.

use super::TriangleMesh;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use std::f64::consts::PI;

/// Moments of a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Solid {
    /// Volume (times density).
    pub volume: f64,
    /// Centroid.
    pub com: Vector3<f64>,
    /// ∫ r rᵀ dV, r from the centroid.
    pub second: Matrix3<f64>,
    /// Bound on what rounding did to the volume.
    pub rounding: f64,
}

/// Whether a volume is one, beyond rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Volume {
    Positive,
    Negative,
    None,
}

impl Solid {
    fn centred(volume: f64, xx: f64, yy: f64, zz: f64) -> Self {
        let second = Matrix3::from_diagonal(&(Vector3::new(xx, yy, zz) * volume));
        Self { volume, com: Vector3::zeros(), second, rounding: 0.0 }
    }

    pub(crate) fn ball(radius: f64) -> Self {
        let r2 = radius * radius;
        Self::centred(4.0 / 3.0 * PI * r2 * radius, r2 / 5.0, r2 / 5.0, r2 / 5.0)
    }

    pub(crate) fn cuboid(size: Vector3<f64>) -> Self {
        let square = |x: f64| x * x / 12.0;
        Self::centred(size.x * size.y * size.z, square(size.x), square(size.y), square(size.z))
    }

    pub(crate) fn cylinder(radius: f64, length: f64) -> Self {
        let r2 = radius * radius;
        Self::centred(PI * r2 * length, r2 / 4.0, r2 / 4.0, length * length / 12.0)
    }

    /// Base at −length/2, apex at +length/2; the centroid is a quarter of the length above the base.
    pub(crate) fn cone(radius: f64, length: f64) -> Self {
        let r2 = radius * radius;
        let across = 0.15 * r2;
        let solid = Self::centred(PI * r2 * length / 3.0, across, across, 0.0375 * length * length);
        Self { com: Vector3::new(0.0, 0.0, -0.25 * length), ..solid }
    }

    /// A cylinder and the two halves of a ball.
    pub(crate) fn capsule(radius: f64, length: f64) -> Self {
        let (r2, half) = (radius * radius, length / 2.0);
        let (tube, ball) = (PI * r2 * length, 4.0 / 3.0 * PI * r2 * radius);
        let across = tube * r2 / 4.0 + ball * r2 / 5.0;
        // A half ball's centroid is 3/8 r from its face: ∫ z² = V (r²/5 + 2 · 3/8 r · h + h²), z from the capsule's middle.
        let along = tube * length * length / 12.0 + ball * (r2 / 5.0 + 0.75 * radius * half + half * half);
        let second = Matrix3::from_diagonal(&Vector3::new(across, across, along));
        Self { volume: tube + ball, com: Vector3::zeros(), second, rounding: 0.0 }
    }

    /// Inside the triangles, whose corners must be vertices.
    pub(crate) fn of_mesh(mesh: &TriangleMesh) -> Self {
        let corner = |v: u32| mesh.vertices.get(v as usize).map_or_else(Vector3::zeros, |&p| Vector3::from(p));
        let used = || mesh.triangles.iter().flatten().map(|&v| corner(v));
        let low = used().reduce(|a, b| a.inf(&b)).unwrap_or_default();
        let high = used().reduce(|a, b| a.sup(&b)).unwrap_or_default();
        // Seen from the middle, distant solids lose no digits.
        let origin = low / 2.0 + high / 2.0;
        let (mut volume, mut size) = (0.0, 0.0);
        let mut first = Vector3::zeros();
        let mut second = Matrix3::zeros();
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|v| corner(v) - origin);
            let d = a.dot(&b.cross(&c));
            let sum = a + b + c;
            volume += d / 6.0;
            size += a.norm() * b.norm() * c.norm();
            first += sum * (d / 24.0);
            second += (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose()) * (d / 120.0);
        }
        let com = if volume == 0.0 { Vector3::zeros() } else { first / volume };
        second -= com * com.transpose() * volume;
        // A triple product of vectors known to ε is known to a few ε of the product of their lengths.
        Self { volume, com: origin + com, second, rounding: 4.0 * f64::EPSILON * size }
    }

    pub(crate) fn sign(&self) -> Volume {
        if self.volume > self.rounding {
            Volume::Positive
        } else if self.volume < -self.rounding {
            Volume::Negative
        } else {
            Volume::None
        }
    }

    /// Turned about the origin, then shifted.
    pub(crate) fn moved(self, rotation: &UnitQuaternion<f64>, shift: &Vector3<f64>) -> Self {
        let r = rotation.to_rotation_matrix().into_inner();
        let second = r * self.second * r.transpose();
        let second = (second + second.transpose()) / 2.0;
        Self { com: r * self.com + shift, second, ..self }
    }

    pub(crate) fn times(self, density: f64) -> Self {
        Self { volume: self.volume * density, second: self.second * density, ..self }
    }

    /// Several solids as one; where they overlap, both count.
    pub(crate) fn sum(parts: &[Self]) -> Self {
        if let [only] = parts {
            return *only;
        }
        let volume: f64 = parts.iter().map(|part| part.volume).sum();
        let first: Vector3<f64> = parts.iter().map(|part| part.com * part.volume).sum();
        let com = first / volume;
        let mut second = Matrix3::zeros();
        for part in parts {
            let d = part.com - com;
            second += part.second + d * d.transpose() * part.volume;
        }
        Self { volume, com, second, rounding: 0.0 }
    }
}
