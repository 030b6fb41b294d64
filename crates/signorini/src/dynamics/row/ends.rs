//! Two points of bodies, as couplings between them see them.

use super::Meeting;
use crate::dynamics::tree::{Kinematics, Tree};
use crate::model::Point;
use crate::plan::{End, Plan};
use crate::spatial::{Mat3, Twist, Vec3};

/// Two points of bodies.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    links: [Option<usize>; 2],
    /// In the frames of the links, or in the world.
    points: [Vec3; 2],
    /// Axes of the first body in its link's frame.
    axes: Mat3,
}

/// Two points as they move.
pub(crate) struct Seen {
    /// From the first to the second.
    pub span: Vec3,
    /// Angular velocity of the first body.
    pub spin: Vec3,
    /// At the second point, with the centripetal terms of both bodies' points there.
    pub meeting: Meeting,
}

impl Ends {
    pub fn build(a: &Point, b: &Point, plan: &Plan, tree: &Tree) -> Self {
        let link = |p: &Point| p.body.map(|b| plan.link_of_body[b.index()]);
        let links = [link(a), link(b)];
        let points = [(links[0], a), (links[1], b)];
        let axes = links[0].map_or_else(Mat3::identity, |l| tree.body_pose[l].rotation);
        let points = points.map(|(l, p)| l.map_or(p.position, |l| tree.body_pose[l].point(&p.position)));
        Self { links, points, axes }
    }

    pub fn write(&self, out: &mut Vec<End>) {
        out.extend([End::of(self.links[1]), End::of(self.links[0])]);
    }

    /// From the first point to the second.
    pub fn span(&self, kinematics: &Kinematics) -> Vec3 {
        let [from, at] = self.place(kinematics);
        at - from
    }

    /// A direction fixed in the first body, in world axes.
    pub fn turn(&self, kinematics: &Kinematics, direction: &Vec3) -> Vec3 {
        let direction = self.axes * direction;
        self.links[0].map_or(direction, |l| kinematics.links[l].rotation * direction)
    }

    fn place(&self, kinematics: &Kinematics) -> [Vec3; 2] {
        [0, 1].map(|e| self.links[e].map_or(self.points[e], |l| kinematics.pose(l).point(&self.points[e])))
    }

    /// How they move.
    pub fn see(&self, kinematics: &Kinematics) -> Seen {
        let [from, at] = self.place(kinematics);
        let mut meeting = Meeting::find(self.links, &at, kinematics);
        let spins = self.links.map(|l| l.map_or_else(Vec3::zeros, |l| kinematics.links[l].omega));
        let [inner, outer] = [0, 1].map(|e| spins[e].cross(&spins[e].cross(&meeting.arms[e])));
        meeting.bias = Twist::new(Vec3::zeros(), inner - outer);
        Seen { span: at - from, spin: spins[0], meeting }
    }

    /// The meeting at the second point as the first body, which turns, sees it move.
    pub fn see_from_first(&self, kinematics: &Kinematics) -> Seen {
        let mut seen = self.see(kinematics);
        seen.meeting.bias.linear += seen.spin.cross(&seen.meeting.relative.linear) * 2.0;
        seen
    }
}
