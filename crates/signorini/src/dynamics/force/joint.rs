//! Springs, dampers, servos and motors in a joint.

use super::sight::Site;
use super::sink::{JointParts, Sink};
use super::{Configuration, Element, Sight};
use crate::dynamics::row::Cut;
use crate::model::{Fittings, Instant, JointId, Model, Motor, MotorKind};
use crate::plan::Plan;
use crate::scene::JointKind;
use crate::spatial::{Quaternion, Vec3, cross_matrix};

/// Springs, dampers and servos of one joint, wherever the joint is in the assembly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JointForces {
    joint: JointId,
    site: Site,
}

/// Motors of one joint that follow a function of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JointMotors {
    joint: JointId,
    site: Site,
}

/// Forces on one speed as they depend on its coordinate and on itself.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct SpeedLaw {
    /// Force of springs at the coordinate, and how it falls with it.
    pub spring_force: f64,
    pub spring_stiffness: f64,
    pub spring_damping: f64,
    /// Force of servos by what is missing to their targets, and how it falls with the coordinate.
    pub servo_force: f64,
    pub servo_stiffness: f64,
    pub servo_damping: f64,
    /// Rate of the targets, as springs and as dampers feel it.
    pub spring_rate: f64,
    pub rate: f64,
    /// Largest force of the servos, either way.
    pub servo_limit: f64,
}

impl SpeedLaw {
    /// Fall of the force with the coordinate.
    pub fn stiffness(&self) -> f64 {
        self.spring_stiffness + self.servo_stiffness
    }

    /// Fall of the force with the speed.
    pub fn damping(&self) -> f64 {
        self.spring_damping + self.servo_damping
    }

    /// The force at a speed.
    pub fn force(&self, v: f64) -> f64 {
        self.spring_force + self.servo_force - self.spring_damping * v + self.servo_damping * (self.rate - v)
    }
}

impl JointForces {
    /// Joints with springs, dampers or servos: first those of the tree, then those that close loops.
    pub fn build_all(model: &Model, plan: &Plan, cuts: &[Cut]) -> Vec<Self> {
        let fitted = sites(plan, cuts).filter(|(joint, _)| model.joints()[joint.index()].fittings.is_elastic());
        fitted.map(|(joint, site)| Self { joint, site }).collect()
    }

    /// The joint's name.
    pub fn name<'a>(&self, model: &'a Model) -> &'a str {
        &model.joints()[self.joint.index()].name
    }

    /// Where the joint is.
    pub fn site(&self) -> Site {
        self.site
    }

    /// What acts on each of its speeds.
    pub fn write_laws(&self, model: &Model, now: Instant, (q, v): (&[f64], &[f64]), out: &mut [SpeedLaw]) {
        let joint = &model.joints()[self.joint.index()];
        let f = &joint.fittings;
        let parts = joint_forces(joint.kind(), f, now, q, v);
        for (k, law) in out.iter_mut().enumerate() {
            let of = |values: &[f64]| values.get(k).copied().unwrap_or(0.0);
            *law = SpeedLaw {
                spring_force: parts.stored[k],
                spring_stiffness: of(&f.stiffness),
                spring_damping: of(&f.damping),
                ..SpeedLaw::default()
            };
        }
        for (motor, servo) in f.motors.iter().filter_map(|m| Some((m, m.kind.servo()?))) {
            let law = &mut out[motor.coordinate];
            let [target, rate] = motor.wanted(now);
            if servo.stiffness > 0.0 {
                law.servo_force += servo.stiffness * (target - q[motor.coordinate]);
                law.spring_rate = mean(law.spring_rate, law.servo_stiffness, rate, servo.stiffness);
                law.servo_stiffness += servo.stiffness;
            }
            if servo.damping > 0.0 {
                law.rate = mean(law.rate, law.servo_damping, rate, servo.damping);
                law.servo_damping += servo.damping;
            }
            law.servo_limit += servo.limit;
        }
    }
}

impl JointMotors {
    /// Joints with such motors, in the same order.
    pub fn build_all(model: &Model, plan: &Plan, cuts: &[Cut]) -> Vec<Self> {
        let is_torque = |m: &Motor| matches!(m.kind, MotorKind::Torque);
        let acts = |joint: JointId| model.joints()[joint.index()].fittings.motors.iter().any(is_torque);
        sites(plan, cuts).filter(|(joint, _)| acts(*joint)).map(|(joint, site)| Self { joint, site }).collect()
    }

    /// The joint's name.
    pub fn name<'a>(&self, model: &'a Model) -> &'a str {
        &model.joints()[self.joint.index()].name
    }
}

/// Mean of two numbers with weights; the second weight is positive.
fn mean(a: f64, weight_a: f64, b: f64, weight_b: f64) -> f64 {
    if weight_a == 0.0 { b } else { (a * weight_a + b * weight_b) / (weight_a + weight_b) }
}

/// Joints of the tree, then those that close loops.
pub(super) fn sites<'a>(plan: &'a Plan, cuts: &'a [Cut]) -> impl Iterator<Item = (JointId, Site)> + 'a {
    let of_tree = plan.links.iter().enumerate().filter_map(|(i, link)| Some((link.joint?, Site::Link(i))));
    of_tree.chain(cuts.iter().enumerate().map(|(c, cut)| (cut.joint, Site::Cut(c))))
}

impl Element for JointForces {
    fn n_scratch(&self) -> usize {
        0
    }

    fn apply(&self, see: &Sight<'_>, _: &mut [f64], out: &mut Sink<'_>) {
        let joint = &see.at.view.model.joints()[self.joint.index()];
        let (q, v) = (see.at.joint_q(self.site), see.joint_v(self.site));
        out.joint(see, self.site, &joint_forces(joint.kind(), &joint.fittings, see.now, q, v));
    }

    fn potential(&self, at: &Configuration<'_>) -> f64 {
        let joint = &at.view.model.joints()[self.joint.index()];
        spring_energy(joint.kind(), &joint.fittings, at.joint_q(self.site))
    }
}

impl Element for JointMotors {
    fn n_scratch(&self) -> usize {
        0
    }

    fn apply(&self, see: &Sight<'_>, _: &mut [f64], out: &mut Sink<'_>) {
        let fittings = &see.at.view.model.joints()[self.joint.index()].fittings;
        out.joint(see, self.site, &JointParts { work: motor_forces(fittings, see.now), ..JointParts::default() });
    }

    fn potential(&self, _: &Configuration<'_>) -> f64 {
        0.0
    }
}

/// Displacement of each speed's coordinate from where the spring rests.
fn displacement(kind: JointKind, fittings: &Fittings, q: &[f64]) -> ([f64; 6], Option<usize>) {
    let mut d = [0.0; 6];
    let turn = match kind {
        JointKind::Spherical => Some(0),
        JointKind::Free => Some(3),
        _ => None,
    };
    for k in 0..turn.unwrap_or(q.len()) {
        d[k] = q[k] - fittings.rest[k];
    }
    if let Some(k) = turn {
        let quat = |q: &[f64]| Quaternion([q[k], q[k + 1], q[k + 2], q[k + 3]]);
        let r = quat(&fittings.rest).conjugate().times(&quat(q)).log();
        d[k..k + 3].copy_from_slice(r.as_slice());
    }
    (d, turn)
}

fn spring_energy(kind: JointKind, fittings: &Fittings, q: &[f64]) -> f64 {
    if fittings.stiffness.is_empty() {
        return 0.0;
    }
    let (d, _) = displacement(kind, fittings, q);
    fittings.stiffness.iter().zip(d).map(|(k, d)| 0.5 * k * d * d).sum()
}

/// Inverse transpose of the map from angular velocity in turned axes to the rate of the rotation vector.
fn torque_of_rotation_gradient(r: &Vec3, gradient: &Vec3) -> Vec3 {
    let angle = r.norm();
    // 1/θ² − (1 + cos θ)/(2θ sin θ) tends to 1/12 + θ²/720; below 1e-2 the next term is under rounding.
    let c = if angle < 1e-2 {
        1.0 / 12.0 + angle * angle / 720.0
    } else {
        1.0 / (angle * angle) - (1.0 + angle.cos()) / (2.0 * angle * angle.sin())
    };
    let k = cross_matrix(r);
    gradient - k * gradient * 0.5 + k * (k * gradient) * c
}

/// Forces of springs, dampers and servos of one joint on its speeds.
pub(crate) fn joint_forces(kind: JointKind, f: &Fittings, now: Instant, q: &[f64], v: &[f64]) -> JointParts {
    let mut parts = JointParts::default();
    if !f.stiffness.is_empty() {
        let (d, turn) = displacement(kind, f, q);
        let mut gradient = [0.0; 6];
        for k in 0..v.len() {
            gradient[k] = f.stiffness[k] * d[k];
        }
        if let Some(k) = turn {
            let part = |a: &[f64; 6]| Vec3::new(a[k], a[k + 1], a[k + 2]);
            let torque = torque_of_rotation_gradient(&part(&d), &part(&gradient));
            gradient[k..k + 3].copy_from_slice(torque.as_slice());
        }
        parts.stored = gradient.map(|g| -g);
    }
    for (k, damping) in f.damping.iter().enumerate() {
        parts.dissipated[k] = -(damping * v[k]);
    }
    for (motor, servo) in f.motors.iter().filter_map(|m| Some((m, m.kind.servo()?))) {
        let (k, [target, rate]) = (motor.coordinate, motor.wanted(now));
        let damped = servo.damping * (rate - v[k]);
        // Rotations by quaternion have speeds to follow, but no coordinates.
        let wanted = if servo.stiffness > 0.0 { servo.stiffness * (target - q[k]) + damped } else { damped };
        parts.work[k] += wanted.clamp(-servo.limit, servo.limit);
    }
    parts
}

/// Forces of motors that follow a function of time on the speeds of their joint.
pub(crate) fn motor_forces(f: &Fittings, now: Instant) -> [f64; 6] {
    let mut forces = [0.0; 6];
    for motor in f.motors.iter().filter(|m| matches!(m.kind, MotorKind::Torque)) {
        forces[motor.coordinate] += motor.signal.at(now)[0];
    }
    forces
}
