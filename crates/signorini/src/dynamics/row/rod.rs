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

use super::{Gap, Meeting, Sight, Term};
use crate::dynamics::tree::{Kinematics, Tree};
use crate::model::{CouplingId, Point};
use crate::plan::{End, Plan};
use crate::spatial::{Twist, Vec3, Wrench};

/// Two points of bodies.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    links: [Option<usize>; 2],
    /// In the frames of the links, or in the world.
    points: [Vec3; 2],
}

/// Two points as they move.
struct Seen {
    /// From the first to the second.
    span: Vec3,
    /// Angular velocity of the first body.
    spin: Vec3,
    meeting: Meeting,
}

impl Ends {
    pub fn build(a: &Point, b: &Point, plan: &Plan, tree: &Tree) -> Self {
        let link = |p: &Point| p.body.map(|b| plan.link_of_body[b.index()]);
        let links = [link(a), link(b)];
        let points = [(links[0], a), (links[1], b)];
        Self { links, points: points.map(|(l, p)| l.map_or(p.position, |l| tree.body_pose[l].point(&p.position))) }
    }

    pub fn write(&self, out: &mut Vec<End>) {
        out.extend([End::of(self.links[1]), End::of(self.links[0])]);
    }

    fn place(&self, kinematics: &Kinematics) -> [Vec3; 2] {
        [0, 1].map(|e| self.links[e].map_or(self.points[e], |l| kinematics.pose(l).point(&self.points[e])))
    }

    /// The meeting at the second point, with the centripetal terms of both bodies' points there.
    fn see(&self, kinematics: &Kinematics) -> Seen {
        let [from, at] = self.place(kinematics);
        let mut meeting = Meeting::find(self.links, &at, kinematics);
        let spins = self.links.map(|l| l.map_or_else(Vec3::zeros, |l| kinematics.links[l].omega));
        let [inner, outer] = [0, 1].map(|e| spins[e].cross(&spins[e].cross(&meeting.arms[e])));
        meeting.bias = Twist::new(Vec3::zeros(), inner - outer);
        Seen { span: at - from, spin: spins[0], meeting }
    }
}

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
        let [from, at] = self.ends.place(see.kinematics);
        let length = (at - from).norm();
        let direction = Wrench::new(Vec3::zeros(), (at - from) / length);
        terms[0] = Term::Along { meeting, direction };
        Gap { gap: length - self.length, size: see.length, is_length: true }
    }
}

/// A link that turns about an axis of one body and holds a point of another.
#[derive(Debug, Clone)]
pub(crate) struct TurningLink {
    pub id: CouplingId,
    pub ends: Ends,
    /// The axis in the first link's frame.
    pub axis: Vec3,
    /// Along the axis, and from it.
    pub held: [f64; 2],
}

impl TurningLink {
    /// The axis, the direction away from it, and the point's place in terms of both.
    fn directions(&self, kinematics: &Kinematics, span: &Vec3) -> ([Vec3; 2], [f64; 2]) {
        let axis = self.ends.links[0].map_or(self.axis, |l| kinematics.links[l].rotation * self.axis);
        let along = axis.dot(span);
        let across = span - axis * along;
        let radius = across.norm();
        ([axis, across / radius], [along, radius])
    }

    pub fn meet(&self, kinematics: &Kinematics) -> Meeting {
        let Seen { span, spin, mut meeting } = self.ends.see(kinematics);
        let ([axis, away], [_, radius]) = self.directions(kinematics, &span);
        let rate = meeting.relative.linear;
        let around = axis.cross(&away).dot(&rate);
        meeting.bias.linear += spin.cross(&rate) * 2.0 - away * (around * around / radius);
        meeting
    }

    pub fn pose(&self, row: usize, see: &Sight<'_>, meeting: usize, terms: &mut [Term]) -> Gap {
        let [from, at] = self.ends.place(see.kinematics);
        let (directions, values) = self.directions(see.kinematics, &(at - from));
        terms[0] = Term::Along { meeting, direction: Wrench::new(Vec3::zeros(), directions[row]) };
        Gap { gap: values[row] - self.held[row], size: see.length, is_length: true }
    }
}
