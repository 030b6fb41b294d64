//! Springs, dampers and motors in a joint.

use super::sight::Site;
use super::sink::{JointParts, Sink};
use super::{Configuration, Element, Sight};
use crate::dynamics::row::Cut;
use crate::model::{Fittings, Instant, JointId, Model, MotorKind};
use crate::plan::Plan;
use crate::scene::JointKind;
use crate::spatial::{Quaternion, Vec3, cross_matrix};

/// What acts inside one joint, wherever the joint is in the assembly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JointForces {
    joint: JointId,
    site: Site,
}

impl JointForces {
    /// Joints with springs, dampers or motors: first those of the tree, then those that close loops.
    pub fn build_all(model: &Model, plan: &Plan, cuts: &[Cut]) -> Vec<Self> {
        let acts = |j: &JointId| {
            let f = &model.joints()[j.index()].fittings;
            !(f.stiffness.is_empty() && f.damping.is_empty() && f.motors.is_empty())
        };
        let of_tree = plan.links.iter().enumerate().filter_map(|(i, link)| Some((link.joint?, Site::Link(i))));
        let of_cuts = cuts.iter().enumerate().map(|(c, cut)| (cut.joint, Site::Cut(c)));
        let fitted = of_tree.chain(of_cuts).filter(|(joint, _)| acts(joint));
        fitted.map(|(joint, site)| Self { joint, site }).collect()
    }

    /// The joint's name.
    pub fn name<'a>(&self, model: &'a Model) -> &'a str {
        &model.joints()[self.joint.index()].name
    }
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

/// Forces of springs, dampers and motors of one joint on its speeds. Prescribed motion is no force.
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
    for motor in &f.motors {
        let k = motor.coordinate;
        parts.work[k] += match motor.kind {
            MotorKind::Motion => continue,
            MotorKind::Torque => motor.signal.at(now)[0],
            MotorKind::Servo { stiffness, damping } => {
                let [target, rate, _] = motor.signal.at(now);
                stiffness * (target - q[k]) + damping * (rate - v[k])
            }
        };
    }
    parts
}
