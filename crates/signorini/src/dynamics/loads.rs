//! Forces: in joints, between points, on bodies, and a user's own.

use crate::dynamics::row::{Closure, Cut};
use crate::dynamics::tree::{Kinematics, Tree};
use crate::model::{BodyId, Fittings, ForceKind, Instant, JointId, Model, MotorKind, Point};
use crate::plan::Plan;
use crate::scene::{Axes, JointKind};
use crate::spatial::{Pose, Quaternion, Twist, Vec3, Wrench, cross_matrix};

/// A load that a user of the library adds to a mechanism.
///
/// It is evaluated at every stage of every step and must depend on nothing but what the context shows. Its power counts
/// as work in the energy audit.
pub trait Load: Send + Sync {
    /// Adds its forces.
    fn apply(&self, context: &mut LoadContext<'_>);
}

/// What a [`Load`] sees and does.
pub struct LoadContext<'a> {
    now: Instant,
    view: View<'a>,
    external: &'a mut [Wrench],
    power: f64,
}

/// Rates at which energy enters and leaves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Power {
    /// Of loads and motors without potential.
    pub work: f64,
    /// Taken by dampers, positive.
    pub dissipated: f64,
}

/// A mechanism's configuration as loads see it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The model.
    pub model: &'a Model,
    /// Its plan.
    pub plan: &'a Plan,
    /// Its tree.
    pub tree: &'a Tree,
    /// Motion of the links.
    pub kinematics: &'a Kinematics,
}

impl View<'_> {
    /// World pose of a body's frame.
    pub fn body_pose(&self, body: Option<BodyId>) -> Pose {
        body.map_or_else(Pose::identity, |b| {
            let link = self.plan.link_of_body[b.index()];
            self.kinematics.pose(link) * self.tree.body_pose[link]
        })
    }

    /// World position and velocity of a point.
    pub fn point(&self, p: &Point) -> (Vec3, Vec3) {
        let Some(body) = p.body else { return (p.position, Vec3::zeros()) };
        let link = self.plan.link_of_body[body.index()];
        let arm = self.kinematics.links[link].rotation * self.tree.body_pose[link].point(&p.position);
        (self.kinematics.origin[link] + arm, self.kinematics.twist(link).shifted(&arm).linear)
    }

    /// Velocity of a body at a world point.
    pub fn twist_at(&self, body: Option<BodyId>, at: &Vec3) -> Twist {
        body.map_or_else(Twist::default, |b| {
            let link = self.plan.link_of_body[b.index()];
            self.kinematics.twist(link).shifted(&(at - self.kinematics.origin[link]))
        })
    }

    /// Adds a wrench, taken at a world point, to a body; returns its power.
    fn add(&self, external: &mut [Wrench], body: Option<BodyId>, at: &Vec3, w: &Wrench) -> f64 {
        let Some(body) = body else { return 0.0 };
        let link = self.plan.link_of_body[body.index()];
        let shifted = w.shifted(&(at - self.kinematics.origin[link]));
        external[link] += shifted;
        self.kinematics.twist(link).dot(&shifted)
    }
}

impl LoadContext<'_> {
    /// Time.
    pub fn time(&self) -> f64 {
        self.now.time
    }

    /// World pose of a body's frame.
    pub fn pose(&self, body: BodyId) -> Pose {
        self.view.body_pose(Some(body))
    }

    /// Velocity of a body at a world point.
    pub fn twist(&self, body: BodyId, at: &Vec3) -> Twist {
        self.view.twist_at(Some(body), at)
    }

    /// Adds a force on a body at a world point.
    pub fn add_force(&mut self, body: BodyId, at: &Vec3, force: &Vec3) {
        self.power += self.view.add(self.external, Some(body), at, &Wrench::new(Vec3::zeros(), *force));
    }

    /// Adds a torque on a body.
    pub fn add_torque(&mut self, body: BodyId, torque: &Vec3) {
        let at = self.view.body_pose(Some(body)).translation;
        self.power += self.view.add(self.external, Some(body), &at, &Wrench::new(*torque, Vec3::zeros()));
    }
}

/// Which joints hold springs, dampers or motors.
#[derive(Debug, Clone, Default)]
pub struct Loads {
    fitted_links: Vec<(usize, JointId)>,
    fitted_cuts: Vec<usize>,
}

impl Loads {
    /// Lists what acts in a mechanism.
    pub fn build(model: &Model, plan: &Plan, cuts: &[Cut]) -> Self {
        let acts = |j: &JointId| {
            let f = &model.joints()[j.index()].fittings;
            !(f.stiffness.is_empty() && f.damping.is_empty() && f.motors.is_empty())
        };
        let links = plan.links.iter().enumerate().filter_map(|(i, l)| l.joint.filter(acts).map(|j| (i, j)));
        let is_fitted = |c: &Cut| acts(&c.joint);
        let fitted_cuts = cuts.iter().enumerate().filter(|(_, c)| is_fitted(c)).map(|(i, _)| i).collect();
        Self { fitted_links: links.collect(), fitted_cuts }
    }

    /// Whether no joint is fitted.
    pub fn is_idle(&self) -> bool {
        self.fitted_links.is_empty() && self.fitted_cuts.is_empty()
    }

    /// Joint forces of the tree, added to `tau`, and wrenches on links, added to `external`.
    #[allow(clippy::too_many_arguments)]
    pub fn apply(
        &self,
        view: &View<'_>,
        now: Instant,
        (q, v): (&[f64], &[f64]),
        cuts: &[Cut],
        closures: &[Closure],
        (cut_q, cut_v): (&[f64], &[f64]),
        tau: &mut [f64],
        external: &mut [Wrench],
    ) -> Power {
        let mut power = Power::default();
        for &(i, joint) in &self.fitted_links {
            let link = &view.tree.links[i];
            let fittings = &view.model.joints()[joint.index()].fittings;
            let v_range = link.v_range();
            let (q, v) = (&q[link.q_range()], &v[v_range.clone()]);
            power += joint_forces(link.joint_type().kind, fittings, now, q, v, &mut tau[v_range]);
        }
        for &c in &self.fitted_cuts {
            let (cut, closure) = (&cuts[c], &closures[c]);
            let joint = &view.model.joints()[cut.joint.index()];
            let mut forces = [0.0; 6];
            let n = cut.v.len();
            let (q, v) = (&cut_q[cut.q.clone()], &cut_v[cut.v.clone()]);
            power += joint_forces(joint.kind(), &joint.fittings, now, q, v, &mut forces[..n]);
            let total = (0..n).fold(Wrench::default(), |w, k| w + closure.measures[k] * forces[k]);
            view.add(external, joint.child, &closure.at, &total);
            view.add(external, joint.parent, &closure.at, &-total);
        }
        for force in view.model.forces.iter().filter(|f| f.is_on) {
            power += body_forces(view, &force.kind, now, external);
        }
        power
    }

    /// A user's own loads.
    pub fn apply_user(loads: &[Box<dyn Load>], view: &View<'_>, now: Instant, external: &mut [Wrench]) -> Power {
        let mut context = LoadContext { now, view: *view, external, power: 0.0 };
        loads.iter().for_each(|load| load.apply(&mut context));
        Power { work: context.power, dissipated: 0.0 }
    }

    /// Potential energy of springs in joints and between points.
    pub fn potential(&self, view: &View<'_>, q: &[f64], cuts: &[Cut], cut_q: &[f64]) -> f64 {
        let mut energy = 0.0;
        for &(i, joint) in &self.fitted_links {
            let joint = &view.model.joints()[joint.index()];
            energy += spring_energy(joint.kind(), &joint.fittings, &q[view.tree.links[i].q_range()]);
        }
        for &c in &self.fitted_cuts {
            let joint = &view.model.joints()[cuts[c].joint.index()];
            energy += spring_energy(joint.kind(), &joint.fittings, &cut_q[cuts[c].q.clone()]);
        }
        for force in view.model.forces.iter().filter(|f| f.is_on) {
            if let ForceKind::Spring { a, b, stiffness, length, .. } = &force.kind {
                let stretch = (view.point(b).0 - view.point(a).0).norm() - length;
                energy += 0.5 * stiffness * stretch * stretch;
            }
        }
        energy
    }
}

impl std::ops::AddAssign for Power {
    fn add_assign(&mut self, o: Self) {
        self.work += o.work;
        self.dissipated += o.dissipated;
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

/// Adds the forces of springs, dampers and motors of one joint to its speeds.
pub fn joint_forces(kind: JointKind, f: &Fittings, now: Instant, q: &[f64], v: &[f64], tau: &mut [f64]) -> Power {
    let mut power = Power::default();
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
        for k in 0..v.len() {
            tau[k] -= gradient[k];
        }
    }
    for k in 0..f.damping.len() {
        tau[k] -= f.damping[k] * v[k];
        power.dissipated += f.damping[k] * v[k] * v[k];
    }
    power.work += motor_forces(f, now, q, v, tau);
    power
}

/// Adds the forces of motors other than prescribed motion to the speeds they drive; returns their power.
pub fn motor_forces(f: &Fittings, now: Instant, q: &[f64], v: &[f64], tau: &mut [f64]) -> f64 {
    let mut power = 0.0;
    for motor in &f.motors {
        let k = motor.coordinate;
        let force = match motor.kind {
            MotorKind::Motion => continue,
            MotorKind::Torque => motor.signal.at(now)[0],
            MotorKind::Servo { stiffness, damping } => {
                let [target, rate, _] = motor.signal.at(now);
                stiffness * (target - q[k]) + damping * (rate - v[k])
            }
        };
        tau[k] += force;
        power += force * v[k];
    }
    power
}

fn body_forces(view: &View<'_>, kind: &ForceKind, now: Instant, external: &mut [Wrench]) -> Power {
    let mut power = Power::default();
    match kind {
        ForceKind::Spring { a, b, stiffness, length, damping } => {
            let ((xa, va), (xb, vb)) = (view.point(a), view.point(b));
            let d = xb - xa;
            let l = d.norm();
            // At length zero a spring that rests elsewhere has no direction: the result is not a number, and is reported.
            let n = d / l;
            let mut pull = if *length == 0.0 { d * *stiffness } else { n * (stiffness * (l - length)) };
            let rate = if *damping == 0.0 { 0.0 } else { n.dot(&(vb - va)) };
            if *damping != 0.0 {
                pull += n * (damping * rate);
            }
            view.add(external, a.body, &xa, &Wrench::new(Vec3::zeros(), pull));
            view.add(external, b.body, &xb, &Wrench::new(Vec3::zeros(), -pull));
            power.dissipated += damping * rate * rate;
        }
        ForceKind::Force { at, vector, axes, signal } => {
            let force = in_world(view, at.body, vector, *axes) * signal.at(now)[0];
            let (x, _) = view.point(at);
            power.work += view.add(external, at.body, &x, &Wrench::new(Vec3::zeros(), force));
        }
        ForceKind::Torque { body, vector, axes, signal } => {
            let torque = in_world(view, *body, vector, *axes) * signal.at(now)[0];
            let x = view.body_pose(*body).translation;
            power.work += view.add(external, *body, &x, &Wrench::new(torque, Vec3::zeros()));
        }
    }
    power
}

fn in_world(view: &View<'_>, body: Option<BodyId>, vector: &Vec3, axes: Axes) -> Vec3 {
    match axes {
        Axes::World => *vector,
        Axes::Body => view.body_pose(body).rotation * vector,
    }
}
