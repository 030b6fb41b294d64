//! Joints that close loops.

use super::{Kinematics, Tree};
use crate::model::joint::{JointMotion, JointType};
use crate::model::{JointId, Model, SpinLock};
use crate::plan::Plan;
use crate::scene::JointKind;
use crate::spatial::{Mat3, Pose, Quaternion, Twist, Vec3, Wrench};
use std::ops::Range;

/// A cut joint, with its frames in the frames of the links it connects (or in the world).
#[derive(Debug, Clone)]
pub struct Cut {
    /// The joint.
    pub joint: JointId,
    /// Its kind.
    pub joint_type: JointType,
    /// Link of the parent; none for the ground.
    pub parent: Option<usize>,
    /// Link of the child; none for the ground.
    pub child: Option<usize>,
    parent_frame: Pose,
    child_frame: Pose,
    /// Set where this is no joint but a lock of a joint's rotation about an axis.
    pub spin: Option<SpinLock>,
    /// Place of its coordinates among those of all cut joints.
    pub q: Range<usize>,
    /// Place of its speeds among those of all cut joints.
    pub v: Range<usize>,
    /// Place of its closure conditions among all.
    pub rows: Range<usize>,
}

/// Where a cut joint stands and how it moves; everything in world axes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Closure {
    /// Origin of the child's joint frame.
    pub at: Vec3,
    /// From the parent's joint frame to the child's.
    pub span: Vec3,
    /// From the parent link's origin to the child's joint frame.
    pub parent_arm: Vec3,
    /// From the child link's origin to the child's joint frame.
    pub child_arm: Vec3,
    /// Directions that the joint closes, as wrenches at `at` on the child.
    pub rows: [Wrench; 6],
    /// Gap along each of them.
    pub gaps: [f64; 6],
    /// Directions along which the joint's speeds are measured: speed = measure · relative velocity.
    pub measures: [Wrench; 6],
    /// Velocity of the child against the parent at `at`.
    pub relative: Twist,
    /// Relative acceleration at `at` that velocities alone ask for.
    pub bias: Twist,
}

/// Number of closure conditions of a kind.
pub const fn n_rows(kind: JointKind) -> usize {
    6 - kind.n_v()
}

/// What a closure condition forbids, in words, in the order of [`Closure::rows`].
pub fn row_name(kind: JointKind, row: usize) -> &'static str {
    const TURN: [&str; 3] = ["rotation about x", "rotation about y", "rotation about z"];
    const MOVE: [&str; 3] = ["translation along x", "translation along y", "translation along z"];
    match (kind, row) {
        (JointKind::Universal, 0) => "rotation about the normal of both axes",
        (JointKind::Universal, r) => MOVE[r - 1],
        (JointKind::Spherical, r) => MOVE[r],
        (JointKind::Planar, 2) => MOVE[2],
        (JointKind::Screw, 4) => "advance other than the pitch along z",
        (JointKind::Fixed | JointKind::Prismatic, r) if r >= 3 => MOVE[r - 3],
        (JointKind::Fixed | JointKind::Prismatic, r) => TURN[r],
        (_, r) if r >= 2 => MOVE[r - 2],
        (_, r) => TURN[r],
    }
}

impl Cut {
    /// The cut joints of a plan.
    pub fn build_all(model: &Model, plan: &Plan, tree: &Tree) -> Vec<Self> {
        let (mut n_q, mut n_v, mut n_r) = (0, 0, 0);
        let mut cuts = Vec::with_capacity(plan.cuts.len() + model.spin_locks().len());
        let spins = model.spin_locks().iter().map(|lock| (lock.joint, Some(*lock)));
        for (id, spin) in plan.cuts.iter().map(|&id| (id, None)).chain(spins) {
            let joint = &model.joints()[id.index()];
            let kind = joint.kind();
            let (nq, nv, nr) = if spin.is_some() { (0, 0, 1) } else { (kind.n_q(), kind.n_v(), n_rows(kind)) };
            let parent = joint.parent.map(|b| plan.link_of_body[b.index()]);
            let child = joint.child.map(|b| plan.link_of_body[b.index()]);
            let in_link = |link: Option<usize>, frame: Pose| link.map_or(frame, |l| tree.body_pose[l] * frame);
            cuts.push(Self {
                joint: id,
                joint_type: joint.joint_type,
                parent,
                child,
                parent_frame: in_link(parent, joint.parent_frame),
                child_frame: in_link(child, joint.child_frame),
                spin,
                q: n_q..n_q + nq,
                v: n_v..n_v + nv,
                rows: n_r..n_r + nr,
            });
            (n_q, n_v, n_r) = (n_q + nq, n_v + nv, n_r + nr);
        }
        cuts
    }

    /// Finds the joint's coordinates (near those in `q`, which are overwritten), speeds, closure rows and gaps.
    pub fn find_closure(&self, kinematics: &Kinematics, q: &mut [f64], v: &mut [f64]) -> Closure {
        let pose = |link: Option<usize>, frame: &Pose| link.map_or(*frame, |l| kinematics.pose(l) * *frame);
        let (p, c) = (pose(self.parent, &self.parent_frame), pose(self.child, &self.child_frame));
        let origin = |link: Option<usize>| link.map_or_else(Vec3::zeros, |l| kinematics.origin[l]);
        let twist = |link: Option<usize>| link.map_or_else(Twist::default, |l| kinematics.twist(l));
        let (tp, tc) = (twist(self.parent), twist(self.child));
        let span = c.translation - p.translation;
        let parent_arm = c.translation - origin(self.parent);
        let child_arm = c.translation - origin(self.child);
        let relative = tc.shifted(&child_arm) - tp.shifted(&parent_arm);
        if let Some(lock) = &self.spin {
            return self.find_spin_closure(lock, [&p, &c], [&tp, &tc], relative);
        }
        let axes = p.rotation;
        self.joint_type.find_coordinates(&(p.inverse() * c), q);
        let mut motion = JointMotion::default();
        let zero = [0.0; 6];
        self.joint_type.motion(false, q, &zero[..v.len()], &axes, &mut motion);
        let measures = self.measures(&motion);
        for k in 0..v.len() {
            v[k] = relative.dot(&measures[k]);
        }
        self.joint_type.motion(false, q, v, &axes, &mut motion);
        let gap = Twist::new(rotation_gap(&c.rotation, &motion.rotation), span - motion.offset);
        let rows = self.rows(&axes, &motion);
        let mut gaps = [0.0; 6];
        for k in 0..n_rows(self.joint_type.kind) {
            gaps[k] = gap.dot(&rows[k]);
        }
        // Centripetal terms of both bodies' points at the closure, then the joint's own.
        let (spin, child_spin) = (tp.angular, tc.angular);
        let linear = spin.cross(&spin.cross(&parent_arm)) - child_spin.cross(&child_spin.cross(&child_arm))
            + spin.cross(&motion.rate.linear) * 2.0;
        let bias = Twist::new(spin.cross(&motion.rate.angular), linear) + motion.bias;
        Closure { at: c.translation, span, parent_arm, child_arm, rows, gaps, measures, relative, bias }
    }

    /// One condition a · (ω_c − ω_p) = 0 with a fixed in one of the bodies. Its rate is a · (ω̇_c − ω̇_p) + (ω_f × a) · ω_rel with
    /// ω_f the fixing body's, so the bias is ω_f × ω_rel. There is no gap: the condition is not holonomic.
    fn find_spin_closure(&self, lock: &SpinLock, poses: [&Pose; 2], twists: [&Twist; 2], relative: Twist) -> Closure {
        let side = usize::from(!lock.on_parent);
        let axis = poses[side].rotation * lock.axis;
        let mut closure = Closure {
            at: poses[1].translation,
            span: poses[1].translation - poses[0].translation,
            relative,
            bias: Twist::new(twists[side].angular.cross(&relative.angular), Vec3::zeros()),
            ..Closure::default()
        };
        closure.rows[0] = Wrench::new(axis, Vec3::zeros());
        closure
    }

    fn measures(&self, motion: &JointMotion) -> [Wrench; 6] {
        let mut measures = motion.columns.map(|s| Wrench::new(s.angular, s.linear));
        if self.joint_type.kind == JointKind::Screw {
            measures[0].force = Vec3::zeros();
        }
        measures
    }

    /// An orthonormal complement of the joint's unit motions (for a screw, up to the factor √(1 + lead²)).
    fn rows(&self, axes: &Mat3, motion: &JointMotion) -> [Wrench; 6] {
        let (x, y, z): (Vec3, Vec3, Vec3) = (axes.column(0).into(), axes.column(1).into(), axes.column(2).into());
        let turn = |n: Vec3| Wrench::new(n, Vec3::zeros());
        let slide = |n: Vec3| Wrench::new(Vec3::zeros(), n);
        let mut rows = [Wrench::default(); 6];
        let mut put = |list: &[Wrench]| rows[..list.len()].copy_from_slice(list);
        match self.joint_type.kind {
            JointKind::Fixed => put(&[turn(x), turn(y), turn(z), slide(x), slide(y), slide(z)]),
            JointKind::Revolute => put(&[turn(x), turn(y), slide(x), slide(y), slide(z)]),
            JointKind::Prismatic => put(&[turn(x), turn(y), turn(z), slide(x), slide(y)]),
            JointKind::Screw => {
                put(&[turn(x), turn(y), slide(x), slide(y), Wrench::new(z * -self.joint_type.lead, z)]);
            }
            JointKind::Cylindrical => put(&[turn(x), turn(y), slide(x), slide(y)]),
            JointKind::Universal => {
                let normal = motion.columns[0].angular.cross(&motion.columns[1].angular);
                put(&[turn(normal), slide(x), slide(y), slide(z)]);
            }
            JointKind::Spherical => put(&[slide(x), slide(y), slide(z)]),
            JointKind::Planar => put(&[turn(x), turn(y), slide(z)]),
            JointKind::Free => {}
        }
        rows
    }

    /// Velocity of the child against the parent at the closure point, for given velocities of the links.
    pub fn relative_motion(&self, closure: &Closure, links: &[Twist]) -> Twist {
        let of = |link: Option<usize>| link.map_or_else(Twist::default, |l| links[l]);
        of(self.child).shifted(&closure.child_arm) - of(self.parent).shifted(&closure.parent_arm)
    }

    /// Acceleration of the child against the parent at the closure point, beyond its bias: closed directions have none.
    pub fn relative_acceleration(&self, closure: &Closure, links: &[Twist], ground: &Twist) -> Twist {
        let of = |link: Option<usize>| link.map_or(*ground, |l| links[l]);
        of(self.child).shifted(&closure.child_arm) - of(self.parent).shifted(&closure.parent_arm) - closure.bias
    }
}

/// Rotation vector, in world axes, that takes `wanted` to `found`.
fn rotation_gap(found: &Mat3, wanted: &Mat3) -> Vec3 {
    Quaternion::from_matrix(&(found * wanted.transpose())).log()
}
