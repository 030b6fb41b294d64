//! One thing that may push during a step.

use crate::contact::law::{Frame, LawId, Laws};
use crate::contact::{Cone, RowShape, Unit};
use crate::dynamics::{Attachment, Port, System, Workspace};
use crate::model::BodyId;
use crate::spatial::{Twist, Vec3};

/// Sine of the angle from which on an axis is not taken to lie along the normal: below, its part across is mostly rounding.
const ALONG: f64 = 1e-8;

/// What law it obeys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Law {
    /// That of a pair of surfaces.
    Contact(LawId),
    /// A limit of a coordinate.
    Limit {
        /// One for a lower limit, minus one for an upper.
        side: f64,
    },
    /// Dry friction in a joint: an impulse of at most this.
    DryFriction {
        /// Largest impulse of the step.
        bound: f64,
    },
}

/// A contact, a joint at a limit, or dry friction in a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ContactConstraint {
    /// The same from step to step; all that touch in a step are in the order of these.
    pub id: [u64; 2],
    pub place: Attachment,
    pub law: Law,
    pub rows: RowShape,
    /// Bodies of a contact, none for the ground.
    pub bodies: [Option<BodyId>; 2],
    /// The point of each body that is to meet the other's, world: as both stand at the configuration, so that they differ by the gap, and by the way
    /// along the surface that leads to it.
    pub points: [Vec3; 2],
    /// From the first body to the second.
    pub normal: Vec3,
    pub tangents: [Vec3; 2],
    /// Distance, or distance of a coordinate from its limit.
    pub gap: f64,
    /// Gaps up to this are closed, overlaps down to this are none: what rounding makes of coordinates of this size.
    pub rounding: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Velocity of the second surface against the first beyond that of the bodies, along the tangents.
    pub drift: [f64; 2],
}

impl Default for ContactConstraint {
    fn default() -> Self {
        Self {
            id: [0; 2],
            place: Attachment::Links([None; 2]),
            law: Law::Contact(LawId::default()),
            rows: RowShape::NORMAL,
            bodies: [None; 2],
            points: [Vec3::zeros(); 2],
            normal: Vec3::z(),
            tangents: [Vec3::x(), Vec3::y()],
            gap: 0.0,
            rounding: 0.0,
            restitution: 0.0,
            drift: [0.0; 2],
        }
    }
}

impl ContactConstraint {
    /// The links that it pushes, the joint's own for what pushes on a speed.
    pub fn links(&self, system: &System) -> [Option<usize>; 2] {
        match self.place {
            Attachment::Links(links) => links,
            Attachment::Speed { link, .. } => [Some(link), None],
            Attachment::Cut { cut, .. } => [system.cuts[cut].parent, system.cuts[cut].child],
        }
    }

    /// Between its points.
    pub fn middle(&self) -> Vec3 {
        (self.points[0] + self.points[1]) / 2.0
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.dim()
    }

    /// Normal and tangents.
    pub fn directions(&self) -> [Vec3; 3] {
        [self.normal, self.tangents[0], self.tangents[1]]
    }

    /// As a port of the mechanism.
    pub fn port(&self) -> Port {
        Port {
            place: self.place,
            points: self.points,
            directions: self.directions(),
            side: self.side(),
            rows: self.rows,
        }
    }

    /// What surfaces add to the velocity along a row. Across the surface that is nothing, not even rounding: gaps and displacements, which have other units, stay
    /// as they are.
    pub fn drift_along(&self, row: usize) -> f64 {
        match (self.rows.unit(row), self.rows.axis(row)) {
            (Unit::Length, axis @ 1..) => self.drift[axis - 1],
            _ => 0.0,
        }
    }

    /// Length by which its moments are compared with its forces.
    pub fn arm(&self, laws: &Laws) -> f64 {
        if let Law::Contact(law) = self.law { laws.arm(law) } else { 0.0 }
    }

    /// Direction of the row on a coordinate.
    pub fn side(&self) -> f64 {
        if let Law::Limit { side } = self.law { side } else { 1.0 }
    }

    /// Whether it has a gap that must not become negative.
    pub fn is_unilateral(&self) -> bool {
        !matches!(self.law, Law::DryFriction { .. })
    }

    /// Whether its gap is closed.
    pub fn is_closed(&self) -> bool {
        self.is_unilateral() && self.gap <= self.rounding
    }

    /// Its law as the contact problem has it.
    pub fn cone(&self, laws: &Laws) -> Cone {
        match self.law {
            Law::Contact(law) => laws.cone(law).clone(),
            Law::Limit { .. } => Cone::Unilateral,
            Law::DryFriction { bound } => Cone::Interval { lower: -bound, upper: bound },
        }
    }
}

/// Tangents of a contact whose friction has directions of its own, from the axis of the body in the world; none where that lies along the
/// normal, so that it has no part across.
pub(super) fn directed(axis: &Vec3, normal: &Vec3) -> Option<[Vec3; 2]> {
    let t = axis - normal * normal.dot(axis);
    let t = (t.norm() > ALONG).then(|| t.normalize())?;
    Some([t, normal.cross(&t)])
}

/// The axis of a frame of friction in the world.
pub(super) fn frame_axis(frame: &Frame, system: &System, w: &Workspace, link_of_body: &[usize]) -> Vec3 {
    let axis = Vec3::from(frame.axis);
    let Some(&link) = frame.body.and_then(|body| link_of_body.get(body as usize)) else { return axis };
    (w.kinematics.pose(link) * system.tree.body_pose[link]).rotation * axis
}

/// Velocities along all rows, for speeds of the tree and the velocities of links that go with them.
pub(crate) fn find_row_velocities(
    system: &System,
    w: &Workspace,
    touching: &[ContactConstraint],
    (v, twists): (&[f64], &[Twist]),
    out: &mut Vec<f64>,
) {
    out.clear();
    for t in touching {
        match t.place {
            Attachment::Links([a, b]) => {
                let at = |l: Option<usize>, point: &Vec3| {
                    l.map_or_else(Vec3::zeros, |l| {
                        let arm = point - w.kinematics.origin[l];
                        twists[l].linear + twists[l].angular.cross(&arm)
                    })
                };
                let relative = at(b, &t.points[1]) - at(a, &t.points[0]);
                let rows = t.directions().into_iter().enumerate().take(t.rows.n_forces());
                out.extend(rows.map(|(k, d)| d.dot(&relative) + t.drift_along(k)));
                if t.rows.has_moments() {
                    let turn = |l: Option<usize>| l.map_or_else(Vec3::zeros, |l| twists[l].angular);
                    let (relative, directions) = (turn(b) - turn(a), t.directions());
                    let rows = t.rows.n_forces()..t.n_rows();
                    out.extend(rows.map(|k| directions[t.rows.axis(k)].dot(&relative)));
                }
            }
            Attachment::Speed { speed, .. } => out.push(t.side() * v[speed]),
            Attachment::Cut { cut, k } => {
                let (joint, closure) = (&system.cuts[cut], &w.closures[cut]);
                out.push(t.side() * joint.relative_motion(closure, twists).dot(&closure.measures[k]));
            }
        }
    }
}
