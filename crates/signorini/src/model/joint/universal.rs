//! Universal joint: turns about x of the parent, then about y of the child; the two stay perpendicular.

use super::{JointMotion, unwrap};
use crate::spatial::{Mat3, Pose, Twist, Vec3};

fn rotation_x(angle: f64) -> Mat3 {
    let (s, c) = angle.sin_cos();
    Mat3::new(1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c)
}

fn rotation_y(angle: f64) -> Mat3 {
    let (s, c) = angle.sin_cos();
    Mat3::new(c, 0.0, s, 0.0, 1.0, 0.0, -s, 0.0, c)
}

pub fn pose(q: &[f64]) -> Pose {
    Pose::new(rotation_x(q[0]) * rotation_y(q[1]), Vec3::zeros())
}

/// Rx(a)·Ry(b) has the middle column (0, cos a, sin a) and the first row (cos b, 0, sin b).
pub fn find_coordinates(pose: &Pose, q: &mut [f64]) {
    let r = &pose.rotation;
    q[0] = unwrap(r[(2, 1)].atan2(r[(1, 1)]), q[0]);
    q[1] = unwrap(r[(0, 2)].atan2(r[(0, 0)]), q[1]);
}

/// Backwards, with the parent as the outer body: Ry(−q1)·Rx(−q0), so the first turn is q1 about −y of the child.
pub fn motion(reversed: bool, q: &[f64], v: &[f64], axes: &Mat3, out: &mut JointMotion) {
    let (middle, first, second, rotation): (Mat3, Vec3, Vec3, Mat3);
    if reversed {
        middle = axes * rotation_y(-q[1]);
        rotation = middle * rotation_x(-q[0]);
        second = -axes.column(1);
        first = -middle.column(0);
        // The turn about the child's axis comes first, so its axis is fixed in the inner body and the other moves.
        out.bias = Twist::new(second.cross(&first) * (v[0] * v[1]), Vec3::zeros());
    } else {
        middle = axes * rotation_x(q[0]);
        rotation = middle * rotation_y(q[1]);
        first = axes.column(0).into();
        second = middle.column(1).into();
        out.bias = Twist::new(first.cross(&second) * (v[0] * v[1]), Vec3::zeros());
    }
    out.rotation = rotation;
    out.offset = Vec3::zeros();
    out.columns[0] = Twist::new(first, Vec3::zeros());
    out.columns[1] = Twist::new(second, Vec3::zeros());
    out.rate = out.columns[0] * v[0] + out.columns[1] * v[1];
}
