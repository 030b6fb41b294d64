//! Couplings on body accelerations, each from its definition.
//!
//! A rod keeps d · d, a revolute–spherical link u · d and d · d, twice differentiated; a coupler is a sum of the joints' own speed rows. What
//! the recursions make of them is written otherwise on purpose.

use super::BodyMotion;
use super::rows::{JointView, Row};
use crate::model::{CoupledCoordinate, Coupling, CouplingKind, Model, Point};
use crate::spatial::{Twist, Vec3};

/// Rows of a coupling.
pub fn rows(coupling: &Coupling, model: &Model, motion: &[BodyMotion]) -> Vec<Row> {
    match &coupling.kind {
        CouplingKind::Coupler(terms) => vec![terms.iter().fold(Row::default(), |sum, t| {
            let joint = &model.joints()[t.joint.index()];
            let speeds = JointView::find(model, joint, motion).speeds(joint);
            sum.plus(&speeds[t.coordinate], t.ratio)
        })],
        CouplingKind::Distance { a, b } => vec![square(&End::find(a, model, motion), &End::find(b, model, motion))],
        CouplingKind::RevoluteSpherical { a, axis, b } => {
            let (a, b) = (End::find(a, model, motion), End::find(b, model, motion));
            vec![along(&a, &b, &(a.axes * axis)), square(&a, &b)]
        }
    }
}

/// Forces of a coupling in the terms of its conditions, from the multipliers of [`rows`].
pub fn forces(coupling: &Coupling, model: &Model, motion: &[BodyMotion], lambda: &[f64]) -> Vec<f64> {
    let span = |a: &Point, b: &Point| End::find(b, model, motion).at - End::find(a, model, motion).at;
    match &coupling.kind {
        CouplingKind::Coupler(_) => lambda.to_vec(),
        CouplingKind::Distance { a, b } => vec![lambda[0] * span(a, b).norm()],
        CouplingKind::RevoluteSpherical { a, axis, b } => {
            // λ₁ u + λ₂ d in terms of u and of what of d is across it.
            let (u, d) = (End::find(a, model, motion).axes * axis, span(a, b));
            vec![lambda[0] + lambda[1] * u.dot(&d), lambda[1] * u.cross(&d).norm()]
        }
    }
}

/// What a coupler adds to the wrench of each of its joints, by its multiplier.
pub fn on_joints<'a>(
    coupling: &'a Coupling,
    model: &'a Model,
    motion: &'a [BodyMotion],
    lambda: f64,
) -> impl Iterator<Item = (usize, crate::spatial::Wrench)> + 'a {
    let terms: &[CoupledCoordinate] = if let CouplingKind::Coupler(terms) = &coupling.kind { terms } else { &[] };
    terms.iter().map(move |t| {
        let joint = &model.joints()[t.joint.index()];
        let speeds = JointView::find(model, joint, motion).speeds(joint);
        (t.joint.index(), speeds[t.coordinate].on_child * (t.ratio * lambda))
    })
}

/// A point of a body, or of the ground.
struct End {
    body: Option<crate::model::BodyId>,
    axes: crate::spatial::Mat3,
    at: Vec3,
    /// From the centre of mass.
    arm: Vec3,
    omega: Vec3,
    velocity: Vec3,
}

impl End {
    fn find(point: &Point, model: &Model, motion: &[BodyMotion]) -> Self {
        let Some(body) = point.body else {
            let (zero, axes) = (Vec3::zeros(), crate::spatial::Mat3::identity());
            return Self { body: None, axes, at: point.position, arm: zero, omega: zero, velocity: zero };
        };
        let m = &motion[body.index()];
        let arm = m.pose.rotation * (point.position - model.bodies()[body.index()].com);
        let (omega, velocity) = (m.twist.angular, m.twist.linear + m.twist.angular.cross(&arm));
        Self { body: Some(body), axes: m.pose.rotation, at: m.pose.point(&point.position), arm, omega, velocity }
    }

    /// x · (acceleration of the point) as a form on the body's acceleration, and what velocities contribute.
    fn form(&self, x: &Vec3) -> (Twist, f64) {
        (Twist::new(self.arm.cross(x), *x), x.dot(&self.omega.cross(&self.omega.cross(&self.arm))))
    }
}

/// Half the second derivative of d · d: d · d̈ + ḋ · ḋ.
fn square(a: &End, b: &End) -> Row {
    let (d, rate) = (b.at - a.at, b.velocity - a.velocity);
    let ((on_b, bias_b), (on_a, bias_a)) = (b.form(&d), a.form(&-d));
    Row::new([(a.body, on_a), (b.body, on_b)], bias_a + bias_b + rate.norm_squared())
}

/// Second derivative of u · d, u fixed in the body of a: u · d̈ + 2 u̇ · ḋ + ü · d with ü = ω̇ × u + ω × (ω × u).
fn along(a: &End, b: &End, u: &Vec3) -> Row {
    let (d, rate) = (b.at - a.at, b.velocity - a.velocity);
    let ((on_b, bias_b), (on_a, bias_a)) = (b.form(u), a.form(&-u));
    let turning = Twist::new(u.cross(&d), Vec3::zeros());
    let (spin, centripetal) = (a.omega.cross(u), a.omega.cross(&a.omega.cross(u)));
    let bias = bias_a + bias_b + 2.0 * spin.dot(&rate) + centripetal.dot(&d);
    Row::new([(a.body, on_a + turning), (b.body, on_b)], bias)
}
