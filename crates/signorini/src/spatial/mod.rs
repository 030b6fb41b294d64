//! Spatial algebra: poses, twists, wrenches, inertias, rotations.
//!
//! A spatial vector has its angular part first. All vectors of one expression share one set of axes (mostly the
//! world's) and each twist, wrench or inertia is taken at a stated point; moving the point is an explicit `shifted`.

mod inertia;
mod pose;
pub mod quaternion;
mod symmetric;
mod vector;

pub use inertia::Inertia;
pub use pose::Pose;
pub use quaternion::Quaternion;
pub use symmetric::{Sym3, Sym6, product, transposed_product};
pub use vector::{Twist, Wrench};

/// A vector in space.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A matrix on vectors in space.
pub type Mat3 = nalgebra::Matrix3<f64>;

/// The matrix of `a ×`.
pub fn cross_matrix(a: &Vec3) -> Mat3 {
    Mat3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

/// The smallest rotation that takes the z axis to the unit vector `n` (about x where `n` is −z).
pub fn rotation_from_z(n: &Vec3) -> Mat3 {
    rotation_between(&Vec3::z(), n).unwrap_or_else(|| Mat3::from_diagonal(&Vec3::new(1.0, -1.0, -1.0)))
}

/// The smallest rotation that takes unit vector `a` to unit vector `b`; none where they are opposite.
pub fn rotation_between(a: &Vec3, b: &Vec3) -> Option<Mat3> {
    let c = a.dot(b);
    if c <= -1.0 + 8.0 * f64::EPSILON {
        return None;
    }
    let k = cross_matrix(&a.cross(b));
    Some(Mat3::identity() + k + k * k / (1.0 + c))
}
