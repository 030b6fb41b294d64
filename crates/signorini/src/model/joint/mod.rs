//! Joint kinds: what each allows, in its own file.
//!
//! Seen from the parent's joint frame P, the child's joint frame C has the pose `pose(q)`. Canonical frames: the axis of a
//! revolute, prismatic, screw or cylindrical joint is z; a plane's normal is z and its first direction x; a universal
//! joint turns about P's x, then about C's y. The model builder turns the user's axes into these.
//!
//! A tree may run through a joint in either direction. The *inner* body is the one nearer to the ground, the *outer*
//! one is moved by the joint. Where the child is the inner body the joint runs *backwards*; its coordinates stay the
//! user's. For kinds about or along one axis that is the same joint with both frames turned by π about x; the others have
//! a `motion_reversed`.

mod axial;
mod free;
mod planar;
mod spherical;
mod universal;

use crate::scene::JointKind;
use crate::spatial::{Mat3, Pose, Quaternion, Twist, Vec3};

/// Relative motion of the outer joint frame against the inner one, in world axes.
#[derive(Debug, Clone, Copy)]
pub struct JointMotion {
    /// Axes of the outer joint frame.
    pub rotation: Mat3,
    /// From the inner joint frame's origin to the outer one's.
    pub offset: Vec3,
    /// Unit motions, one per speed, at the outer origin.
    pub columns: [Twist; 6],
    /// Relative velocity: columns · v.
    pub rate: Twist,
    /// Relative acceleration, as seen from the inner body, that is not columns · v̇.
    pub bias: Twist,
}

impl Default for JointMotion {
    fn default() -> Self {
        Self {
            rotation: Mat3::identity(),
            offset: Vec3::zeros(),
            columns: [Twist::default(); 6],
            rate: Twist::default(),
            bias: Twist::default(),
        }
    }
}

/// A joint kind with its one parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointType {
    /// The kind.
    pub kind: JointKind,
    /// Advance per radian of a screw joint.
    pub lead: f64,
}

/// The turn by π about x that makes an axial joint run backwards.
pub fn flip() -> Pose {
    Pose::new(Mat3::from_diagonal(&Vec3::new(1.0, -1.0, -1.0)), Vec3::zeros())
}

impl JointType {
    /// Whether `flip` on both frames makes this kind run backwards.
    pub fn is_axial(&self) -> bool {
        use JointKind::*;
        matches!(self.kind, Fixed | Revolute | Prismatic | Screw | Cylindrical)
    }

    /// Pose of the child's joint frame in the parent's.
    pub fn pose(&self, q: &[f64]) -> Pose {
        match self.kind {
            JointKind::Fixed => Pose::identity(),
            JointKind::Revolute => axial::pose(q[0], 0.0),
            JointKind::Prismatic => axial::pose(0.0, q[0]),
            JointKind::Screw => axial::pose(q[0], self.lead * q[0]),
            JointKind::Cylindrical => axial::pose(q[0], q[1]),
            JointKind::Universal => universal::pose(q),
            JointKind::Spherical => spherical::pose(q),
            JointKind::Planar => planar::pose(q),
            JointKind::Free => free::pose(q),
        }
    }

    /// The coordinates whose pose is nearest to `pose`; angles within half a turn of those in `q`, which is overwritten.
    pub fn find_coordinates(&self, pose: &Pose, q: &mut [f64]) {
        match self.kind {
            JointKind::Fixed => {}
            JointKind::Revolute | JointKind::Screw => q[0] = unwrap(axial::angle(pose), q[0]),
            JointKind::Prismatic => q[0] = pose.translation.z,
            JointKind::Cylindrical => {
                q[0] = unwrap(axial::angle(pose), q[0]);
                q[1] = pose.translation.z;
            }
            JointKind::Universal => universal::find_coordinates(pose, q),
            JointKind::Spherical => spherical::find_coordinates(pose, q),
            JointKind::Planar => planar::find_coordinates(pose, q),
            JointKind::Free => free::find_coordinates(pose, q),
        }
    }

    /// Motion of the outer frame, given the world axes of the inner one.
    pub fn motion(&self, reversed: bool, q: &[f64], v: &[f64], axes: &Mat3, out: &mut JointMotion) {
        match self.kind {
            JointKind::Fixed => axial::motion(0.0, Twist::default(), 0.0, axes, out),
            JointKind::Revolute => {
                out.columns[0] = axial::turn(axes);
                axial::motion(q[0], out.columns[0] * v[0], 0.0, axes, out);
            }
            JointKind::Prismatic => {
                out.columns[0] = axial::slide(axes);
                axial::motion(0.0, out.columns[0] * v[0], q[0], axes, out);
            }
            JointKind::Screw => {
                out.columns[0] = axial::turn(axes) + axial::slide(axes) * self.lead;
                axial::motion(q[0], out.columns[0] * v[0], self.lead * q[0], axes, out);
            }
            JointKind::Cylindrical => {
                out.columns[0] = axial::turn(axes);
                out.columns[1] = axial::slide(axes);
                let rate = out.columns[0] * v[0] + out.columns[1] * v[1];
                axial::motion(q[0], rate, q[1], axes, out);
            }
            JointKind::Universal => universal::motion(reversed, q, v, axes, out),
            JointKind::Spherical if reversed => spherical::motion_reversed(q, v, axes, out),
            JointKind::Spherical => spherical::motion(q, v, axes, out),
            JointKind::Planar if reversed => planar::motion_reversed(q, v, axes, out),
            JointKind::Planar => planar::motion(q, v, axes, out),
            JointKind::Free if reversed => free::motion_reversed(q, v, axes, out),
            JointKind::Free => free::motion(q, v, axes, out),
        }
    }

    /// Where the quaternion among the coordinates starts, and the angular velocity among the speeds.
    pub fn quaternion(&self) -> Option<(usize, usize)> {
        match self.kind {
            JointKind::Spherical => Some((0, 0)),
            JointKind::Free => Some((3, 3)),
            _ => None,
        }
    }

    /// Rate of change of the coordinates.
    pub fn rates(&self, q: &[f64], v: &[f64], rates: &mut [f64]) {
        match self.quaternion() {
            None => rates.copy_from_slice(v),
            Some((iq, iv)) => {
                rates[..iq].copy_from_slice(&v[..iv]);
                let quat = Quaternion([q[iq], q[iq + 1], q[iq + 2], q[iq + 3]]);
                rates[iq..].copy_from_slice(&quat.rate(&Vec3::new(v[iv], v[iv + 1], v[iv + 2])));
            }
        }
    }

    /// Moves the coordinates by `dq`, a displacement in the space of speeds, along the manifold.
    pub fn displace(&self, q: &mut [f64], dq: &[f64]) {
        let straight = self.quaternion().map_or(q.len(), |(iq, _)| iq);
        for k in 0..straight {
            q[k] += dq[k];
        }
        if let Some((iq, iv)) = self.quaternion() {
            let turn = Quaternion::exp(&Vec3::new(dq[iv], dq[iv + 1], dq[iv + 2]));
            let quat = Quaternion([q[iq], q[iq + 1], q[iq + 2], q[iq + 3]]);
            q[iq..].copy_from_slice(&quat.times(&turn).normalised().0);
        }
    }

    /// Coordinates of zero displacement.
    pub fn neutral(&self, q: &mut [f64]) {
        q.fill(0.0);
        if let Some((iq, _)) = self.quaternion() {
            q[iq] = 1.0;
        }
    }

    /// Brings the quaternion among the coordinates back to norm one.
    pub fn normalise(&self, q: &mut [f64]) {
        if let Some((iq, _)) = self.quaternion() {
            let unit = Quaternion([q[iq], q[iq + 1], q[iq + 2], q[iq + 3]]).normalised();
            q[iq..].copy_from_slice(&unit.0);
        }
    }
}

/// `angle` plus the number of turns that brings it within half a turn of `near`.
pub fn unwrap(angle: f64, near: f64) -> f64 {
    use std::f64::consts::TAU;
    angle + TAU * ((near - angle) / TAU).round()
}
