//! Planar joint: the child's origin moves in the parent's x–y plane, and the child turns about z.

use super::{JointMotion, axial, unwrap};
use crate::spatial::{Mat3, Pose, Twist, Vec3};

pub fn pose(q: &[f64]) -> Pose {
    Pose::new(axial::rotation_z(q[2]), Vec3::new(q[0], q[1], 0.0))
}

pub fn find_coordinates(pose: &Pose, q: &mut [f64]) {
    q[0] = pose.translation.x;
    q[1] = pose.translation.y;
    q[2] = unwrap(axial::angle(pose), q[2]);
}

pub fn motion(q: &[f64], v: &[f64], axes: &Mat3, out: &mut JointMotion) {
    out.rotation = axial::turned_about_z(axes, q[2]);
    out.offset = axes.column(0) * q[0] + axes.column(1) * q[1];
    out.columns[0] = Twist::new(Vec3::zeros(), axes.column(0).into());
    out.columns[1] = Twist::new(Vec3::zeros(), axes.column(1).into());
    out.columns[2] = Twist::new(axes.column(2).into(), Vec3::zeros());
    out.rate = out.columns[0] * v[0] + out.columns[1] * v[1] + out.columns[2] * v[2];
    out.bias = Twist::default();
}

/// The plane is fixed in the outer body: the offset d = −(x e₁ + y e₂) turns with it, so with ω the relative angular
/// velocity  ḋ = −(ẋ e₁ + ẏ e₂) + ω × d  and  d̈ = … − 2 ω × (ẋ e₁ + ẏ e₂) + ω × (ω × d).
pub fn motion_reversed(q: &[f64], v: &[f64], axes: &Mat3, out: &mut JointMotion) {
    out.rotation = axial::turned_about_z(axes, -q[2]);
    let (e1, e2): (Vec3, Vec3) = (out.rotation.column(0).into(), out.rotation.column(1).into());
    let z: Vec3 = axes.column(2).into();
    let d = -(e1 * q[0] + e2 * q[1]);
    let (omega, slide) = (z * -v[2], e1 * v[0] + e2 * v[1]);
    out.offset = d;
    out.columns[0] = Twist::new(Vec3::zeros(), -e1);
    out.columns[1] = Twist::new(Vec3::zeros(), -e2);
    out.columns[2] = Twist::new(-z, -z.cross(&d));
    out.rate = Twist::new(omega, omega.cross(&d) - slide);
    out.bias = Twist::new(Vec3::zeros(), omega.cross(&omega.cross(&d)) - omega.cross(&slide) * 2.0);
}
