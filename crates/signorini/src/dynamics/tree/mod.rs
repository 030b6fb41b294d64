//! The spanning tree as flat arrays, and what every formulation reads of its motion.
//!
//! All link quantities are in world axes at the link's own origin, which is its joint. Moving a quantity from a link to its
//! parent is then a translation only: no 6×6 rotation is ever formed, and no distance is larger than a link, so long
//! chains lose no digits to a far origin. Accelerations are those of material points (not spatial accelerations).

pub(crate) mod ancestry;
mod crba;
mod jacobian;
mod kinematics;
mod rnea;

pub(crate) use kinematics::turn_axes;
pub use kinematics::{Kinematics, LinkMotion};

use crate::model::joint::{JointType, flip};
use crate::model::{Body, BodyId, Fittings, Model};
use crate::plan::{Plan, PlanLink};
use crate::scene::JointKind;
use crate::spatial::{Inertia, Mat3, Pose, Vec3};

/// Parent index of links that hang on the ground.
pub const NO_PARENT: u32 = u32::MAX;

/// How a link moves against its parent; dispatched once per link and sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LinkKind {
    /// Turns about a coordinate axis of its own. Most mechanisms are made of these.
    Revolute(Axis),
    /// Any other kind.
    General {
        /// The kind.
        joint: JointType,
        /// Whether the link is the joint's parent.
        reversed: bool,
    },
}

/// A coordinate axis of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// x.
    X,
    /// y.
    Y,
    /// z.
    Z,
}

impl Axis {
    /// As a column of the link's rotation.
    #[inline(always)]
    pub fn of(self, rotation: &Mat3) -> Vec3 {
        rotation.column(self as usize).into()
    }
}

/// Where a link's articulated inertia goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handing {
    /// The link before this one is its parent: the inertia is handed on directly.
    Next,
    /// The parent lies further back and collects.
    Collected,
    /// The parent is the ground.
    Ground,
}

/// One link: its frame is the outer joint frame.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// Parent link, or [`NO_PARENT`].
    pub parent: u32,
    /// First coordinate.
    pub q: u32,
    /// First speed.
    pub v: u32,
    /// Number of coordinates.
    pub n_q: u8,
    /// Number of speeds.
    pub n_v: u8,
    /// How it moves.
    pub kind: LinkKind,
    /// Where its articulated inertia goes.
    pub handing: Handing,
    /// Whether others than the next link hand their inertia to this one.
    pub collects: bool,
    /// Whether the inner joint frame has the axes of the parent link.
    pub is_parallel: bool,
    /// Axes of the inner joint frame in the parent link's frame.
    pub rotation: Mat3,
    /// Origin of the inner joint frame in the parent link's frame.
    pub position: Vec3,
    /// Inertia of the body about the link's origin, link axes.
    pub inertia: Inertia,
}

/// The tree of one topology.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// Links in topological order.
    pub links: Vec<Link>,
    /// Body of each link.
    pub body: Vec<BodyId>,
    /// Pose of the body frame in the link frame.
    pub body_pose: Vec<Pose>,
    /// Rotor inertia of each speed.
    pub armature: Vec<f64>,
    /// Whether a spring, damper or servo acts on a speed: steps may add to its inertia.
    pub(crate) is_sprung: Vec<bool>,
    /// Whether a speed follows a prescribed motion.
    pub prescribed: Vec<bool>,
    /// Whether any does.
    pub has_prescribed: bool,
    /// Whether a link is a body that floats alone, placed at its centre of mass.
    pub floats: Vec<bool>,
    /// Links whose coordinates hold a quaternion.
    pub balls: Vec<usize>,
    /// Number of coordinates.
    pub n_q: usize,
    /// Number of speeds.
    pub n_v: usize,
}

impl Link {
    /// Kind as a joint type.
    pub fn joint_type(&self) -> JointType {
        match self.kind {
            LinkKind::Revolute(_) => JointType { kind: JointKind::Revolute, lead: 0.0 },
            LinkKind::General { joint, .. } => joint,
        }
    }

    /// Range of its coordinates.
    pub fn q_range(&self) -> std::ops::Range<usize> {
        self.q as usize..self.q as usize + self.n_q as usize
    }

    /// Range of its speeds.
    pub fn v_range(&self) -> std::ops::Range<usize> {
        self.v as usize..self.v as usize + self.n_v as usize
    }

    /// Parent link, if not the ground.
    pub fn parent_index(&self) -> Option<usize> {
        (self.parent != NO_PARENT).then_some(self.parent as usize)
    }
}

impl Tree {
    /// Compiles the tree of a plan.
    pub fn build(model: &Model, plan: &Plan) -> Self {
        let mut tree = Self::default();
        for planned in &plan.links {
            let body = &model.bodies()[planned.body.index()];
            let (place, axis) = Placement::find(model, planned, body).on_coordinate_axis();
            let inner_link = planned.parent.map_or_else(Pose::identity, |p| tree.body_pose[p]);
            let inner = inner_link * place.inner;
            let (n_q, n_v) = (place.joint.kind.n_q(), place.joint.kind.n_v());
            tree.links.push(Link {
                parent: planned.parent.map_or(NO_PARENT, |p| p as u32),
                q: tree.n_q as u32,
                v: tree.n_v as u32,
                n_q: n_q as u8,
                n_v: n_v as u8,
                kind: match place.joint.kind {
                    JointKind::Revolute => LinkKind::Revolute(axis),
                    _ => LinkKind::General { joint: place.joint, reversed: planned.reversed },
                },
                handing: match planned.parent {
                    None => Handing::Ground,
                    Some(p) if p + 1 == tree.links.len() => Handing::Next,
                    Some(_) => Handing::Collected,
                },
                collects: false,
                is_parallel: inner.rotation == Mat3::identity(),
                rotation: inner.rotation,
                position: inner.translation,
                inertia: body.inertia_in(&place.outer),
            });
            if let Some(p) = planned.parent.filter(|p| p + 2 < tree.links.len()) {
                tree.links[p].collects = true;
            }
            tree.body.push(planned.body);
            tree.body_pose.push(place.outer.inverse());
            tree.add_fittings(model, planned, n_v);
            tree.n_q += n_q;
            tree.n_v += n_v;
        }
        tree.floats = tree.links.iter().map(|link| tree.floats_freely(link)).collect();
        for link in &tree.links {
            if let Some(p) = link.parent_index() {
                tree.floats[p] = false;
            }
        }
        tree.has_prescribed = tree.prescribed.iter().any(|&p| p);
        tree.balls = (0..tree.links.len()).filter(|&i| tree.links[i].joint_type().quaternion().is_some()).collect();
        tree
    }

    /// The link that a speed belongs to.
    pub fn link_of_speed(&self, speed: usize) -> usize {
        // Links without speeds share their first one with the next link.
        self.links.partition_point(|link| link.v as usize <= speed).saturating_sub(1)
    }

    /// Whether nothing but its own inertia, about its centre of mass, resists any of a link's six speeds. Children are not looked at.
    fn floats_freely(&self, link: &Link) -> bool {
        let is_free =
            matches!(link.kind, LinkKind::General { joint, reversed: false } if joint.kind == JointKind::Free);
        let is_bare = |v: usize| self.armature[v] == 0.0 && !self.prescribed[v] && !self.is_sprung[v];
        is_free && link.parent == NO_PARENT && link.inertia.com == Vec3::zeros() && link.v_range().all(is_bare)
    }

    fn add_fittings(&mut self, model: &Model, planned: &PlanLink, n_v: usize) {
        let fittings = planned.joint.map(|j| &model.joints()[j.index()].fittings);
        for k in 0..n_v {
            let armature = fittings.and_then(|f| f.armature.get(k).copied());
            self.armature.push(armature.unwrap_or(0.0));
            self.is_sprung.push(fittings.is_some_and(Fittings::is_elastic));
            self.prescribed.push(fittings.is_some_and(|f| f.motion(k).is_some()));
        }
    }
}

/// Joint frames of a planned link in the frames of its inner and outer body.
struct Placement {
    joint: JointType,
    inner: Pose,
    outer: Pose,
}

impl Placement {
    fn find(model: &Model, planned: &PlanLink, body: &Body) -> Self {
        let Some(id) = planned.joint else {
            // A floating base is placed at its centre of mass, where its own inertia is decoupled.
            let joint = JointType { kind: JointKind::Free, lead: 0.0 };
            return Self { joint, inner: Pose::identity(), outer: Pose::new(Mat3::identity(), body.com) };
        };
        let joint = &model.joints()[id.index()];
        let (mut inner, mut outer) = (joint.parent_frame, joint.child_frame);
        if planned.reversed {
            std::mem::swap(&mut inner, &mut outer);
            if joint.joint_type.is_axial() {
                (inner, outer) = (inner * flip(), outer * flip());
            }
        }
        Self { joint: joint.joint_type, inner, outer }
    }

    /// For a revolute joint about a coordinate axis of the outer body: the same joint with frames parallel to the body's
    /// axes instead of z along the joint's. Bodies drawn in line then need no constant rotation between them.
    fn on_coordinate_axis(self) -> (Self, Axis) {
        let axis: Vec3 = self.outer.rotation.column(2).into();
        for (candidate, unit) in [(Axis::X, Vec3::x()), (Axis::Y, Vec3::y()), (Axis::Z, Vec3::z())] {
            if self.joint.kind == JointKind::Revolute && axis == unit {
                let turn = Pose::new(self.outer.rotation.transpose(), Vec3::zeros());
                let mut inner = self.inner * turn;
                inner.rotation = rounded(&inner.rotation);
                let outer = Pose::new(Mat3::identity(), self.outer.translation);
                return (Self { joint: self.joint, inner, outer }, candidate);
            }
        }
        (self, Axis::Z)
    }
}

/// A rotation whose entries are within rounding of 0 and ±1, made exact; others as they are.
fn rounded(rotation: &Mat3) -> Mat3 {
    let exact = rotation.map(f64::round);
    if (exact - rotation).amax() <= 4.0 * f64::EPSILON { exact } else { *rotation }
}
