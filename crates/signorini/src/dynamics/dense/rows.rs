//! Constraint and speed equations of joints on body accelerations.

use super::{BodyMotion, ends};
use crate::model::{BodyId, Joint, Model, SpinLock};
use crate::scene::JointKind;
use crate::spatial::{Twist, Vec3, Wrench};
use nalgebra::{DMatrix, DVector};

/// A linear form on accelerations of bodies (at their centres of mass), plus a bias.
#[derive(Debug, Clone, Default)]
pub struct Row {
    parts: Vec<(BodyId, Twist)>,
    /// What velocities contribute.
    pub bias: f64,
    /// The row of a joint as a wrench on the child at its joint frame.
    pub on_child: Wrench,
}

impl Row {
    /// Of parts on bodies; what is on the ground is left out.
    pub fn new(parts: [(Option<BodyId>, Twist); 2], bias: f64) -> Self {
        let parts = parts.into_iter().filter_map(|(body, part)| Some((body?, part))).collect();
        Self { parts, bias, on_child: Wrench::default() }
    }

    /// Coefficients on bodies, which may occur several times.
    pub fn coefficients(&self) -> impl Iterator<Item = (BodyId, [f64; 6])> + '_ {
        self.parts.iter().map(|(body, part)| (*body, part.to_array()))
    }

    /// Adds the row's transpose times `s`.
    pub fn add_to(&self, force: &mut DVector<f64>, s: f64) {
        for (body, c) in self.coefficients() {
            (0..6).for_each(|k| force[6 * body.index() + k] += s * c[k]);
        }
    }

    /// Adds `s` times the outer product of the row with itself.
    pub fn add_outer(&self, mass: &mut DMatrix<f64>, s: f64) {
        for (a, ca) in self.coefficients() {
            for (b, cb) in self.coefficients() {
                for i in 0..6 {
                    for j in 0..6 {
                        mass[(6 * a.index() + i, 6 * b.index() + j)] += s * ca[i] * cb[j];
                    }
                }
            }
        }
    }

    /// The form's value on given accelerations.
    pub fn value(&self, accelerations: &[Twist]) -> f64 {
        let dot = |a: &Twist, b: &Twist| a.angular.dot(&b.angular) + a.linear.dot(&b.linear);
        let sum = self.parts.iter().map(|(body, part)| dot(part, &accelerations[body.index()]));
        sum.sum::<f64>() + self.bias
    }

    /// This form and `s` times another.
    pub fn plus(mut self, o: &Self, s: f64) -> Self {
        self.parts.extend(o.parts.iter().map(|(body, part)| (*body, *part * s)));
        self.bias += o.bias * s;
        self.on_child += o.on_child * s;
        self
    }
}

/// A joint's two frames and the motion of the bodies they sit on.
pub struct JointView {
    bodies: [Option<BodyId>; 2],
    /// Axes of the joint frames.
    axes: [[Vec3; 3]; 2],
    /// From centre of mass to joint frame.
    arms: [Vec3; 2],
    omega: [Vec3; 2],
    /// From the parent's joint frame to the child's, and its rate.
    span: Vec3,
    rate: Vec3,
}

const P: usize = 0;
const C: usize = 1;

impl JointView {
    pub fn find(model: &Model, joint: &Joint, motion: &[BodyMotion]) -> Self {
        let bodies = ends(joint);
        let mut view = Self {
            bodies,
            axes: [[Vec3::zeros(); 3]; 2],
            arms: [Vec3::zeros(); 2],
            omega: [Vec3::zeros(); 2],
            span: Vec3::zeros(),
            rate: Vec3::zeros(),
        };
        for (e, frame) in [joint.parent_frame, joint.child_frame].into_iter().enumerate() {
            let sign = if e == C { 1.0 } else { -1.0 };
            let (pose, arm, twist) = match bodies[e] {
                None => (frame, Vec3::zeros(), Twist::default()),
                Some(b) => {
                    let m = &motion[b.index()];
                    let arm = m.pose.rotation * (frame.translation - model.bodies()[b.index()].com);
                    (m.pose * frame, arm, m.twist)
                }
            };
            view.axes[e] = [0, 1, 2].map(|k| pose.rotation.column(k).into());
            view.arms[e] = arm;
            view.omega[e] = twist.angular;
            view.span += pose.translation * sign;
            view.rate += twist.shifted(&arm).linear * sign;
        }
        view
    }

    fn row(&self, parts: [Twist; 2], bias: f64, on_child: Wrench) -> Row {
        let [a, b] = parts;
        Row { on_child, ..Row::new([(self.bodies[P], a), (self.bodies[C], b)], bias) }
    }

    /// Second derivative of u·s, u fixed in the parent, s from the parent's joint frame to the child's.
    fn along(&self, u: &Vec3) -> Row {
        let (wp, wc) = (self.omega[P], self.omega[C]);
        let centripetal = |w: &Vec3, r: &Vec3| w.cross(&w.cross(r));
        let bias = centripetal(&wp, u).dot(&self.span)
            + 2.0 * wp.cross(u).dot(&self.rate)
            + u.dot(&(centripetal(&wc, &self.arms[C]) - centripetal(&wp, &self.arms[P])));
        let parent = Twist::new(u.cross(&self.span) - self.arms[P].cross(u), -u);
        let child = Twist::new(self.arms[C].cross(u), *u);
        self.row([parent, child], bias, Wrench::new(Vec3::zeros(), *u))
    }

    /// Second derivative of u·w, u fixed in the parent and w in the child.
    fn perpendicular(&self, u: &Vec3, w: &Vec3) -> Row {
        let (wp, wc) = (self.omega[P], self.omega[C]);
        let bias = wp.cross(&wp.cross(u)).dot(w) + 2.0 * wp.cross(u).dot(&wc.cross(w)) + u.dot(&wc.cross(&wc.cross(w)));
        let parts = [Twist::new(u.cross(w), Vec3::zeros()), Twist::new(w.cross(u), Vec3::zeros())];
        self.row(parts, bias, Wrench::new(w.cross(u), Vec3::zeros()))
    }

    /// Derivative of the relative angular velocity along u, fixed in the parent or the child.
    fn spin(&self, u: &Vec3, fixed_in: usize) -> Row {
        let relative = self.omega[C] - self.omega[P];
        let bias = relative.dot(&self.omega[fixed_in].cross(u));
        let parts = [Twist::new(-u, Vec3::zeros()), Twist::new(*u, Vec3::zeros())];
        self.row(parts, bias, Wrench::new(*u, Vec3::zeros()))
    }

    /// Rate of the rotation that a lock forbids.
    pub fn spin_lock(&self, lock: &SpinLock) -> Row {
        let side = if lock.on_parent { P } else { C };
        let [x, y, z] = self.axes[side];
        self.spin(&(x * lock.axis.x + y * lock.axis.y + z * lock.axis.z), side)
    }

    /// Rates of the joint's speeds.
    pub fn speeds(&self, joint: &Joint) -> Vec<Row> {
        let [x, y, z] = self.axes[P];
        let c = self.axes[C];
        match joint.kind() {
            JointKind::Fixed => vec![],
            JointKind::Revolute | JointKind::Screw => vec![self.spin(&z, P)],
            JointKind::Prismatic => vec![self.along(&z)],
            JointKind::Cylindrical => vec![self.spin(&z, P), self.along(&z)],
            JointKind::Universal => vec![self.spin(&x, P), self.spin(&c[1], C)],
            JointKind::Spherical => c.iter().map(|c| self.spin(c, C)).collect(),
            JointKind::Planar => vec![self.along(&x), self.along(&y), self.spin(&z, P)],
            JointKind::Free => {
                let translations = self.axes[P].iter().map(|e| self.along(e));
                translations.chain(c.iter().map(|c| self.spin(c, C))).collect()
            }
        }
    }

    /// What the joint forbids.
    pub fn constraints(&self, joint: &Joint) -> Vec<Row> {
        let [x, y, z] = self.axes[P];
        let [_, cy, cz] = self.axes[C];
        let along = |us: &[Vec3]| us.iter().map(|u| self.along(u)).collect::<Vec<_>>();
        let with = |mut rows: Vec<Row>, more: &[(Vec3, Vec3)]| {
            rows.extend(more.iter().map(|(u, w)| self.perpendicular(u, w)));
            rows
        };
        let parallel_z = [(x, cz), (y, cz)];
        let locked = [(x, cy), (x, cz), (y, cz)];
        match joint.kind() {
            JointKind::Fixed => with(along(&[x, y, z]), &locked),
            JointKind::Revolute => with(along(&[x, y, z]), &parallel_z),
            JointKind::Prismatic => with(along(&[x, y]), &locked),
            JointKind::Screw => {
                let mut rows = with(along(&[x, y]), &parallel_z);
                rows.push(self.along(&z).plus(&self.spin(&z, P), -joint.joint_type.lead));
                rows
            }
            JointKind::Cylindrical => with(along(&[x, y]), &parallel_z),
            JointKind::Universal => with(along(&[x, y, z]), &[(x, cy)]),
            JointKind::Spherical => along(&[x, y, z]),
            JointKind::Planar => with(along(&[z]), &parallel_z),
            JointKind::Free => vec![],
        }
    }
}
