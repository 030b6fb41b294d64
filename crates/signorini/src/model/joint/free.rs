//! Free joint: position and quaternion; velocity of the child's origin in parent axes, angular velocity in child axes.

use super::{JointMotion, spherical};
use crate::spatial::{Mat3, Pose, Twist, Vec3};

pub fn pose(q: &[f64]) -> Pose {
    Pose::new(spherical::quaternion(&q[3..]).to_matrix(), Vec3::new(q[0], q[1], q[2]))
}

pub fn find_coordinates(pose: &Pose, q: &mut [f64]) {
    q[..3].copy_from_slice(pose.translation.as_slice());
    spherical::find_coordinates(pose, &mut q[3..]);
}

pub fn motion(q: &[f64], v: &[f64], axes: &Mat3, out: &mut JointMotion) {
    out.rotation = axes * spherical::quaternion(&q[3..]).to_matrix();
    out.offset = axes * Vec3::new(q[0], q[1], q[2]);
    for k in 0..3 {
        out.columns[k] = Twist::new(Vec3::zeros(), axes.column(k).into());
        out.columns[3 + k] = Twist::new(out.rotation.column(k).into(), Vec3::zeros());
    }
    out.rate = Twist::new(out.rotation * Vec3::new(v[3], v[4], v[5]), axes * Vec3::new(v[0], v[1], v[2]));
    out.bias = Twist::default();
}

/// As for the planar joint, the position is measured in axes that turn with the outer body.
pub fn motion_reversed(q: &[f64], v: &[f64], axes: &Mat3, out: &mut JointMotion) {
    out.rotation = axes * spherical::quaternion(&q[3..]).to_matrix().transpose();
    let d = -(out.rotation * Vec3::new(q[0], q[1], q[2]));
    let slide = out.rotation * Vec3::new(v[0], v[1], v[2]);
    let omega = -(axes * Vec3::new(v[3], v[4], v[5]));
    out.offset = d;
    for k in 0..3 {
        let axis: Vec3 = -axes.column(k);
        out.columns[k] = Twist::new(Vec3::zeros(), -out.rotation.column(k));
        out.columns[3 + k] = Twist::new(axis, axis.cross(&d));
    }
    out.rate = Twist::new(omega, omega.cross(&d) - slide);
    out.bias = Twist::new(Vec3::zeros(), omega.cross(&omega.cross(&d)) - omega.cross(&slide) * 2.0);
}
