//! Spherical joint: a quaternion, and the angular velocity of the child relative to the parent in the child's axes.

use super::JointMotion;
use crate::spatial::{Mat3, Pose, Quaternion, Twist, Vec3};

pub fn quaternion(q: &[f64]) -> Quaternion {
    Quaternion([q[0], q[1], q[2], q[3]])
}

pub fn pose(q: &[f64]) -> Pose {
    Pose::new(quaternion(q).to_matrix(), Vec3::zeros())
}

pub fn find_coordinates(pose: &Pose, q: &mut [f64]) {
    let near = quaternion(q);
    q.copy_from_slice(&Quaternion::from_matrix(&pose.rotation).nearest(&near).0);
}

/// The unit turns about the columns of `axes`, and their combination with `v`.
fn turns(axes: &Mat3, sign: f64, v: &[f64], out: &mut JointMotion) {
    for k in 0..3 {
        out.columns[k] = Twist::new(axes.column(k) * sign, Vec3::zeros());
    }
    out.rate = out.columns[0] * v[0] + out.columns[1] * v[1] + out.columns[2] * v[2];
    // The relative angular velocity is the same vector for both bodies, so its change seen from either has no bias.
    out.bias = Twist::default();
    out.offset = Vec3::zeros();
}

pub fn motion(q: &[f64], v: &[f64], axes: &Mat3, out: &mut JointMotion) {
    out.rotation = axes * quaternion(q).to_matrix();
    let child = out.rotation;
    turns(&child, 1.0, v, out);
}

pub fn motion_reversed(q: &[f64], v: &[f64], axes: &Mat3, out: &mut JointMotion) {
    out.rotation = axes * quaternion(q).to_matrix().transpose();
    turns(axes, -1.0, v, out);
}
