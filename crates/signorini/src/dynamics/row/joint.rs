//! Joints that close loops.

use super::{Gap, Meeting, RowKind, Term};
use crate::dynamics::tree::{Kinematics, Tree};
use crate::model::joint::{JointMotion, JointType};
use crate::model::{Instant, JointId, Model};
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
    /// Place of its coordinates among those of all cut joints.
    pub q: Range<usize>,
    /// Place of its speeds among those of all cut joints.
    pub v: Range<usize>,
}

/// Where a cut joint stands and how it moves; everything in world axes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Closure {
    /// Origin of the child's joint frame.
    pub at: Vec3,
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
const fn n_rows(kind: JointKind) -> usize {
    6 - kind.n_v()
}

/// What a closure condition forbids, in words, in the order of [`Closure::rows`].
fn row_name(kind: JointKind, row: usize) -> &'static str {
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
        let (mut n_q, mut n_v) = (0, 0);
        let mut cuts = Vec::with_capacity(plan.cuts.len());
        for &id in &plan.cuts {
            let joint = &model.joints()[id.index()];
            let kind = joint.kind();
            let (nq, nv) = (kind.n_q(), kind.n_v());
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
                q: n_q..n_q + nq,
                v: n_v..n_v + nv,
            });
            (n_q, n_v) = (n_q + nq, n_v + nv);
        }
        cuts
    }

    /// Velocity of the child against the parent at the closure point, for given velocities of the links.
    pub fn relative_motion(&self, closure: &Closure, links: &[Twist]) -> Twist {
        let of = |link: Option<usize>| link.map_or_else(Twist::default, |l| links[l]);
        of(self.child).shifted(&closure.child_arm) - of(self.parent).shifted(&closure.parent_arm)
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
        Closure { at: c.translation, parent_arm, child_arm, rows, gaps, measures, relative, bias }
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
}

/// Rotation vector, in world axes, that takes `wanted` to `found`.
fn rotation_gap(found: &Mat3, wanted: &Mat3) -> Vec3 {
    Quaternion::from_matrix(&(found * wanted.transpose())).log()
}

/// Closed directions, prescribed speeds, then rotors.
pub(super) fn rows(cut: &Cut, model: &Model) -> Vec<RowKind> {
    let fittings = &model.joints()[cut.joint.index()].fittings;
    let mut rows: Vec<RowKind> = (0..n_rows(cut.joint_type.kind)).map(RowKind::Closed).collect();
    rows.extend((0..cut.v.len()).filter(|k| fittings.motion(*k).is_some()).map(RowKind::Prescribed));
    let rotor = |k: usize| fittings.armature.get(k).copied().filter(|i| *i > 0.0);
    rows.extend((0..cut.v.len()).filter_map(|k| Some(RowKind::Rotor(k, rotor(k)?))));
    rows
}

/// Where the joint's links meet: the origin of the child's joint frame.
pub(super) fn meeting(cut: &Cut, closure: &Closure) -> Meeting {
    let Closure { parent_arm, child_arm, relative, bias, .. } = *closure;
    Meeting { links: [cut.parent, cut.child], arms: [parent_arm, child_arm], relative, bias }
}

/// One row of the joint.
pub(super) fn pose(kind: RowKind, closure: &Closure, length: f64, meeting: usize, terms: &mut [Term]) -> Gap {
    let (direction, gap) = match kind {
        RowKind::Closed(k) => (closure.rows[k], closure.gaps[k]),
        RowKind::Prescribed(k) | RowKind::Rotor(k, _) => (closure.measures[k], 0.0),
    };
    if let [term] = terms {
        *term = Term::Along { meeting, direction };
    }
    let is_length = direction.force != Vec3::zeros();
    Gap { gap, size: if is_length { length } else { 1.0 }, is_length }
}

/// Value, rate and acceleration prescribed for a speed of the joint.
pub(super) fn motion(cut: &Cut, model: &Model, k: usize, now: Instant) -> [f64; 3] {
    model.joints()[cut.joint.index()].fittings.motion(k).map_or([0.0; 3], |s| s.at(now))
}

/// How far a prescribed coordinate is from where it should be; about one axis of a locked rotation.
pub(super) fn prescribed_gap(cut: &Cut, model: &Model, k: usize, now: Instant, q: &[f64]) -> f64 {
    match cut.joint_type.quaternion() {
        Some((iq, iv)) if k >= iv => {
            let held = &model.joints()[cut.joint.index()].fittings.held_q;
            let quat = |x: &[f64]| Quaternion([x[iq], x[iq + 1], x[iq + 2], x[iq + 3]]);
            quat(held).conjugate().times(&quat(q)).log()[k - iv]
        }
        _ => q[k] - motion(cut, model, k, now)[0],
    }
}

/// The joint's name, and what one of its rows forbids.
pub(super) fn name(cut: &Cut, model: &Model, kind: RowKind) -> (String, String) {
    let joint = &model.joints()[cut.joint.index()];
    let what = match kind {
        RowKind::Closed(k) => row_name(joint.kind(), k).to_owned(),
        RowKind::Prescribed(k) if joint.fittings.held.contains(&k) => format!("lock of coordinate {k}"),
        RowKind::Prescribed(k) | RowKind::Rotor(k, _) => format!("prescribed motion of coordinate {k}"),
    };
    (joint.name.clone(), what)
}
