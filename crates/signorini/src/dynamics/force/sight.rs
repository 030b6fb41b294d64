//! A mechanism as force elements see it.

use crate::dynamics::row::{Closure, Cut};
use crate::dynamics::tree::{Kinematics, Tree};
use crate::model::{BodyId, Instant, JointId, Model, Point};
use crate::plan::Plan;
use crate::spatial::{Pose, Twist, Vec3};

/// Where bodies are and how they move.
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
}

/// Where a mechanism is: all that a potential may depend on.
#[derive(Clone, Copy)]
pub(crate) struct Configuration<'a> {
    /// Its bodies.
    pub view: View<'a>,
    /// Joints that close loops.
    pub cuts: &'a [Cut],
    /// Coordinates of the tree.
    pub q: &'a [f64],
    /// Coordinates of the joints that close loops.
    pub cut_q: &'a [f64],
}

/// The same with time and speeds: all that a force may depend on.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    /// Where it is.
    pub at: Configuration<'a>,
    /// When.
    pub now: Instant,
    /// Where joints that close loops stand.
    pub closures: &'a [Closure],
    /// Speeds of the tree.
    pub v: &'a [f64],
    /// Speeds of the joints that close loops.
    pub cut_v: &'a [f64],
}

/// A joint's place in the assembly: a link of the tree, or one of the joints that close loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    /// It moves this link.
    Link(usize),
    /// It is this one of the cut joints.
    Cut(usize),
}

impl<'a> Configuration<'a> {
    /// Where a joint is; none for one that does not exist now.
    pub fn find_site(&self, joint: JointId) -> Option<Site> {
        let of_tree = self.view.plan.link_of_joint.get(joint.index()).copied().flatten();
        of_tree.map(Site::Link).or_else(|| self.cuts.iter().position(|c| c.joint == joint).map(Site::Cut))
    }

    /// A joint's coordinates.
    pub fn joint_q(&self, site: Site) -> &'a [f64] {
        match site {
            Site::Link(i) => &self.q[self.view.tree.links[i].q_range()],
            Site::Cut(c) => &self.cut_q[self.cuts[c].q.clone()],
        }
    }
}

impl<'a> Sight<'a> {
    /// A joint's speeds.
    pub fn joint_v(&self, site: Site) -> &'a [f64] {
        match site {
            Site::Link(i) => &self.v[self.at.view.tree.links[i].v_range()],
            Site::Cut(c) => &self.cut_v[self.at.cuts[c].v.clone()],
        }
    }
}
