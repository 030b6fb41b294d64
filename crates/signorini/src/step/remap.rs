//! Coordinates and speeds of one topology, read as those of another. Positions and velocities of bodies stay.

use crate::dynamics::{BodyMotion, System};
use crate::model::{Joint, Model};
use crate::scene::JointKind;
use crate::spatial::{Pose, Quaternion, Twist};
use crate::state::State;

/// A mechanism at an event, in terms that do not depend on a spanning tree.
pub(crate) struct Snapshot {
    /// Pose of each body, and its velocity at the centre of mass.
    pub bodies: Vec<BodyMotion>,
    /// Coordinates of all joints, in their slots.
    pub joint_q: Vec<f64>,
    /// Speeds of all joints, in their slots.
    pub joint_v: Vec<f64>,
}

/// Coordinates, speeds and more in the terms of a new tree.
pub(crate) struct Remapped {
    /// Coordinates of the tree.
    pub q: Vec<f64>,
    /// Speeds of the tree; zero where the joint is new.
    pub v: Vec<f64>,
    /// Coordinates of the cut joints.
    pub cut_q: Vec<f64>,
    /// Whether a link's joint is not the one that it was.
    pub is_new: Vec<bool>,
    /// Velocity of each link at its origin.
    pub twists: Vec<Twist>,
    /// Joints that were not there, or not as they are now, scene order.
    pub is_new_joint: Vec<bool>,
}

fn is_same(old: &Joint, new: &Joint) -> bool {
    !old.is_absent
        && old.joint_type == new.joint_type
        && old.parent_frame == new.parent_frame
        && old.child_frame == new.child_frame
}

/// Whether the first coordinate is an angle about the joint's z.
fn turns_about_z(joint: &Joint) -> bool {
    matches!(joint.kind(), JointKind::Revolute | JointKind::Screw | JointKind::Cylindrical)
}

/// Whether an angle of one joint is that of the other, but for rounding in the frames.
fn has_axis_of(old: &Joint, new: &Joint) -> bool {
    let apart = |a: &Pose, b: &Pose| (a.rotation - b.rotation).amax();
    apart(&old.parent_frame, &new.parent_frame).max(apart(&old.child_frame, &new.child_frame)) < 1e-6
}

impl Snapshot {
    fn pose(&self, body: Option<crate::model::BodyId>) -> Pose {
        body.map_or_else(Pose::identity, |b| self.bodies[b.index()].pose)
    }

    fn coordinates(&self, old: &Joint, joint: &Joint, q: &mut [f64]) {
        if is_same(old, joint) {
            q.copy_from_slice(&self.joint_q[joint.q.clone()]);
            return;
        }
        joint.joint_type.neutral(q);
        // The number of turns is kept from one kind to another whose first coordinate is the same angle.
        if !old.is_absent && turns_about_z(old) && turns_about_z(joint) && has_axis_of(old, joint) {
            q[0] = self.joint_q[joint.q.start];
        }
        let parent = self.pose(joint.parent) * joint.parent_frame;
        let child = self.pose(joint.child) * joint.child_frame;
        joint.joint_type.find_coordinates(&(parent.inverse() * child), q);
    }
}

impl System {
    /// Reads the snapshot of a mechanism that was built of `old` in the terms of this one.
    pub(crate) fn remap(&self, old: &System, old_state: &State, seen: &Snapshot) -> Remapped {
        let model: &Model = &self.model;
        let (n_q, n_v) = self.sizes();
        let mut out = Remapped {
            q: vec![0.0; n_q],
            v: vec![0.0; n_v],
            cut_q: vec![0.0; self.n_cut_q],
            is_new: vec![false; self.tree.links.len()],
            twists: vec![Twist::default(); self.tree.links.len()],
            is_new_joint: model.joints().iter().zip(old.model.joints()).map(|(new, old)| !is_same(old, new)).collect(),
        };
        for (i, planned) in self.plan.links.iter().enumerate() {
            let link = &self.tree.links[i];
            let (q, v) = (&mut out.q[link.q_range()], &mut out.v[link.v_range()]);
            match planned.joint {
                Some(j) => {
                    let joint = &model.joints()[j.index()];
                    let same = !out.is_new_joint[j.index()];
                    seen.coordinates(&old.model.joints()[j.index()], joint, q);
                    if same {
                        v.copy_from_slice(&seen.joint_v[joint.v.clone()]);
                    }
                    out.is_new[i] = !same;
                }
                None => {
                    // A floating base has its joint at the centre of mass.
                    let old_link = old.plan.link_of_body[planned.body.index()];
                    if old.plan.links[old_link].joint.is_none() {
                        let old_link = &old.tree.links[old_link];
                        q.copy_from_slice(&old_state.q[old_link.q_range()]);
                        v.copy_from_slice(&old_state.v[old_link.v_range()]);
                    } else {
                        let motion = &seen.bodies[planned.body.index()];
                        let com = motion.pose.point(&model.bodies()[planned.body.index()].com);
                        q[..3].copy_from_slice(com.as_slice());
                        q[3..].copy_from_slice(&Quaternion::from_matrix(&motion.pose.rotation).0);
                        v[..3].copy_from_slice(motion.twist.linear.as_slice());
                        v[3..].copy_from_slice(motion.pose.rotation.tr_mul(&motion.twist.angular).as_slice());
                    }
                }
            }
            let motion = &seen.bodies[planned.body.index()];
            let body = &model.bodies()[planned.body.index()];
            // The link's frame in the body's, whose origin is the joint.
            let origin = motion.pose * self.tree.body_pose[i].inverse();
            out.twists[i] = motion.twist.shifted(&(origin.translation - motion.pose.point(&body.com)));
        }
        for cut in &self.cuts {
            let j = cut.joint.index();
            seen.coordinates(&old.model.joints()[j], &model.joints()[j], &mut out.cut_q[cut.q.clone()]);
        }
        out
    }
}
