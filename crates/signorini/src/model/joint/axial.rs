//! Kinds about or along z: fixed, revolute, prismatic, screw, cylindrical.

use super::JointMotion;
use crate::spatial::{Mat3, Pose, Twist, Vec3};

pub fn rotation_z(angle: f64) -> Mat3 {
    let (s, c) = angle.sin_cos();
    Mat3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)
}

/// `axes` turned by `angle` about its own z.
#[inline(always)]
pub fn turned_about_z(axes: &Mat3, angle: f64) -> Mat3 {
    let (s, c) = angle.sin_cos();
    let (x, y, z) = (axes.column(0), axes.column(1), axes.column(2));
    Mat3::new(
        c * x[0] + s * y[0],
        c * y[0] - s * x[0],
        z[0],
        c * x[1] + s * y[1],
        c * y[1] - s * x[1],
        z[1],
        c * x[2] + s * y[2],
        c * y[2] - s * x[2],
        z[2],
    )
}

pub fn pose(angle: f64, advance: f64) -> Pose {
    Pose::new(rotation_z(angle), Vec3::new(0.0, 0.0, advance))
}

/// The rotation about z nearest to a pose's rotation.
pub fn angle(pose: &Pose) -> f64 {
    let r = &pose.rotation;
    (r[(1, 0)] - r[(0, 1)]).atan2(r[(0, 0)] + r[(1, 1)])
}

pub fn turn(axes: &Mat3) -> Twist {
    Twist::new(axes.column(2).into(), Vec3::zeros())
}

pub fn slide(axes: &Mat3) -> Twist {
    Twist::new(Vec3::zeros(), axes.column(2).into())
}

/// Both axes are fixed in the inner body, so no bias arises.
pub fn motion(angle: f64, rate: Twist, advance: f64, axes: &Mat3, out: &mut JointMotion) {
    out.rotation = turned_about_z(axes, angle);
    out.offset = axes.column(2) * advance;
    out.rate = rate;
    out.bias = Twist::default();
}
