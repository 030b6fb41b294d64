//! Massless connections between points of two bodies: rods, and links that turn about an axis of one body.
//!
//! **Rod.** |d| = L for d from the first point to the second. The rate is n̂ · ḋ, n̂ = d/|d|, and the acceleration
//! n̂ · d̈ + |ḋ_⊥|²/|d|. The force lies on the line of both points, so the second point serves both bodies as the place where they meet:
//! turning the first body about it moves nothing along n̂.
//!
//! **Revolute–spherical link.** u · d = s and |d_⊥| = L with u fixed in the first body. Seen from that body the point moves with w, its
//! velocity against the body's own point there. The rates are u · w and e · w, e = d_⊥/|d_⊥|, the accelerations u · ẇ and
//! e · ẇ + w_t²/|d_⊥|, w_t the part of w across both. ẇ is the relative acceleration of the points less 2 ω × w.
//!
//! Both are wrong nowhere but where the second point is on the first, or on the axis: there is no direction, and no value is finite.

use super::ends::{Ends, Seen};
use super::{Gap, Meeting, Sight, Term};
use crate::dynamics::tree::Kinematics;
use crate::model::CouplingId;
use crate::spatial::{Vec3, Wrench};

/// A rod.
#[derive(Debug, Clone)]
pub(crate) struct Rod {
    pub id: CouplingId,
    pub ends: Ends,
    pub length: f64,
}

impl Rod {
    pub fn meet(&self, kinematics: &Kinematics) -> Meeting {
        let Seen { span, spin, mut meeting } = self.ends.see(kinematics);
        let length = span.norm();
        let n = span / length;
        // At the second point the first body has its own velocity there; the rod's other end has that of the first point.
        let rate = meeting.relative.linear + spin.cross(&span);
        let across = rate - n * rate.dot(&n);
        // The first body's centripetal term at its own point instead of at the meeting.
        let between = spin.cross(&spin.cross(&span));
        meeting.bias.linear -= between + n * (across.norm_squared() / length);
        meeting
    }

    pub fn pose(&self, see: &Sight<'_>, meeting: usize, terms: &mut [Term]) -> Gap {
        let span = self.ends.span(see.kinematics);
        let length = span.norm();
        let direction = Wrench::new(Vec3::zeros(), span / length);
        terms[0] = Term::Along { meeting, direction };
        Gap { gap: length - self.length, size: see.length, is_length: true }
    }
}

/// A link that turns about an axis of one body and holds a point of another.
#[derive(Debug, Clone)]
pub(crate) struct TurningLink {
    pub id: CouplingId,
    pub ends: Ends,
    /// The axis in the first body's frame.
    pub axis: Vec3,
    /// Along the axis, and from it.
    pub held: [f64; 2],
}

impl TurningLink {
    /// The axis, the direction away from it, and the point's place in terms of both.
    fn directions(&self, kinematics: &Kinematics, span: &Vec3) -> ([Vec3; 2], [f64; 2]) {
        let axis = self.ends.turn(kinematics, &self.axis);
        let along = axis.dot(span);
        let across = span - axis * along;
        let radius = across.norm();
        ([axis, across / radius], [along, radius])
    }

    pub fn meet(&self, kinematics: &Kinematics) -> Meeting {
        let Seen { span, mut meeting, .. } = self.ends.see_from_first(kinematics);
        let ([axis, away], [_, radius]) = self.directions(kinematics, &span);
        let around = axis.cross(&away).dot(&meeting.relative.linear);
        meeting.bias.linear -= away * (around * around / radius);
        meeting
    }

    pub fn pose(&self, row: usize, see: &Sight<'_>, meeting: usize, terms: &mut [Term]) -> Gap {
        let (directions, values) = self.directions(see.kinematics, &self.ends.span(see.kinematics));
        terms[0] = Term::Along { meeting, direction: Wrench::new(Vec3::zeros(), directions[row]) };
        Gap { gap: values[row] - self.held[row], size: see.length, is_length: true }
    }
}
