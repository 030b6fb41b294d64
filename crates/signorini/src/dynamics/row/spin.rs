//! A lock of a joint's rotation about an axis.
//!
//! One condition a · (ω_c − ω_p) = 0 with a fixed in one of the bodies. Its rate is a · (ω̇_c − ω̇_p) + (ω_f × a) · ω_rel with
//! ω_f the fixing body's, so the bias is ω_f × ω_rel. There is no gap: the condition is not holonomic.

use super::{Gap, Meeting, Term};
use crate::dynamics::tree::{Kinematics, Tree};
use crate::model::{JointId, Model, SpinLock};
use crate::plan::Plan;
use crate::spatial::{Pose, Twist, Vec3, Wrench};

/// A lock of a joint's rotation, with the joint's frames in the frames of the links that it connects (or in the world).
#[derive(Debug, Clone)]
pub(crate) struct Spin {
    /// The joint.
    pub joint: JointId,
    /// Link of the parent; none for the ground.
    pub parent: Option<usize>,
    /// Link of the child; none for the ground.
    pub child: Option<usize>,
    frames: [Pose; 2],
    lock: SpinLock,
}

impl Spin {
    pub fn build_all(model: &Model, plan: &Plan, tree: &Tree) -> Vec<Self> {
        let locks = model.spin_locks().iter().map(|lock| {
            let joint = &model.joints()[lock.joint.index()];
            let [parent, child] = [joint.parent, joint.child].map(|b| b.map(|b| plan.link_of_body[b.index()]));
            let in_link = |link: Option<usize>, frame: Pose| link.map_or(frame, |l| tree.body_pose[l] * frame);
            let frames = [in_link(parent, joint.parent_frame), in_link(child, joint.child_frame)];
            Self { joint: lock.joint, parent, child, frames, lock: *lock }
        });
        locks.collect()
    }

    /// Whether another lock is this one.
    pub fn is_like(&self, other: &Self) -> bool {
        self.lock == other.lock
    }

    pub fn meet(&self, kinematics: &Kinematics) -> Meeting {
        let at = self.poses(kinematics)[1].translation;
        let mut meeting = Meeting::find([self.parent, self.child], &at, kinematics);
        let fixing = [self.parent, self.child][usize::from(!self.lock.on_parent)];
        let spin = fixing.map_or_else(Vec3::zeros, |l| kinematics.twist(l).angular);
        meeting.bias = Twist::new(spin.cross(&meeting.relative.angular), Vec3::zeros());
        meeting
    }

    pub fn pose(&self, kinematics: &Kinematics, meeting: usize, terms: &mut [Term]) -> Gap {
        let axis = self.poses(kinematics)[usize::from(!self.lock.on_parent)].rotation * self.lock.axis;
        terms[0] = Term::Along { meeting, direction: Wrench::new(axis, Vec3::zeros()) };
        Gap { gap: 0.0, size: 1.0, is_length: false }
    }

    fn poses(&self, kinematics: &Kinematics) -> [Pose; 2] {
        let pose = |link: Option<usize>, frame: &Pose| link.map_or(*frame, |l| kinematics.pose(l) * *frame);
        [pose(self.parent, &self.frames[0]), pose(self.child, &self.frames[1])]
    }
}
