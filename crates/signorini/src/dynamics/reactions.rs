//! Joint wrenches, actuator forces, and the dense route to accelerations.

use super::error::DynamicsError;
use super::system::{System, Workspace};
use crate::dynamics::dense::{BodyMotion, Drive};
use crate::dynamics::recursive::loops::{LoopRow, Loops, RowKind};
use crate::dynamics::tree::cut::row_name;
use crate::model::{Instant, Signal};
use crate::scene::JointKind;
use crate::spatial::{Twist, Vec3, Wrench};

impl System {
    /// The joint that a loop row belongs to, and what the row forbids, in words.
    pub(crate) fn name_row(&self, row: &LoopRow) -> (String, String) {
        let cut = &self.cuts[row.cut];
        let joint = &self.model.joints()[cut.joint.index()];
        let what = match row.kind {
            RowKind::Closed(_) if cut.spin.is_some() => "rotation about a locked axis".to_owned(),
            RowKind::Closed(k) => row_name(joint.kind(), k).to_owned(),
            RowKind::Prescribed(k) if joint.fittings.held.contains(&k) => format!("lock of coordinate {k}"),
            RowKind::Prescribed(k) | RowKind::Rotor(k, _) => format!("prescribed motion of coordinate {k}"),
        };
        (joint.name.clone(), what)
    }

    /// Wrench that each cut joint's rows transmit to its child, at the closure point.
    pub(crate) fn cut_wrench(&self, cut: usize, w: &Workspace) -> Wrench {
        let rows = w.loops.rows.iter().zip(&w.loops.lambda).filter(|(row, _)| row.cut == cut);
        rows.fold(Wrench::default(), |sum, (row, l)| sum + Loops::direction(row, &w.closures) * *l)
    }

    /// Adds the loop forces to the external wrenches.
    pub(crate) fn add_loop_forces(&self, w: &mut Workspace) {
        for c in 0..self.cuts.len() {
            let total = self.cut_wrench(c, w);
            let (cut, closure) = (&self.cuts[c], &w.closures[c]);
            if let Some(l) = cut.child {
                w.external[l] += total.shifted(&closure.child_arm);
            }
            if let Some(l) = cut.parent {
                w.external[l] += (-total).shifted(&closure.parent_arm);
            }
        }
    }

    /// Adds the loop forces to the external wrenches, and finds what every tree joint transmits (`w.wrenches`) and the total
    /// generalised force on each speed (`w.joint_forces`).
    pub(crate) fn update_reactions(&self, gravity: &Vec3, vdot: &[f64], w: &mut Workspace) {
        self.add_loop_forces(w);
        let external = Some(&w.external[..]);
        w.kinematics.find_accelerations(&self.tree, gravity, vdot, &mut w.acceleration);
        let accelerations = (vdot, &w.acceleration[..]);
        w.kinematics.find_wrenches(&self.tree, accelerations, external, &mut w.wrenches, &mut w.joint_forces);
    }

    /// What a tree joint transmits to its child at the child's joint frame, by `w.wrenches`.
    pub(crate) fn tree_reaction(&self, l: usize, w: &Workspace) -> Wrench {
        // Where the joint runs backwards, the link is the parent and its origin the parent's joint frame; the child's frame
        // lies one offset inwards.
        let runs_backwards = self.plan.links[l].reversed;
        if runs_backwards { (-w.wrenches[l]).shifted(&self.joint_offset(l, w)) } else { w.wrenches[l] }
    }

    /// Power of prescribed motions.
    pub(crate) fn motion_power(&self, vdot: &[f64], v: &[f64], w: &mut Workspace) -> f64 {
        let mut power = 0.0;
        for (row, lambda) in w.loops.rows.iter().zip(&w.loops.lambda) {
            if let RowKind::Prescribed(k) = row.kind {
                power += lambda * w.cut_v[self.cuts[row.cut].v.start + k];
            }
        }

        if !self.motions.is_empty() {
            self.update_reactions(&self.model.gravity(), vdot, w);
            for (link, k, _) in &self.motions {
                let at = self.tree.links[*link].v as usize + k;
                power += (w.joint_forces[at] - w.tau[at]) * v[at];
            }
        }
        power
    }

    /// From the inner origin of a link's joint to its outer one, world axes.
    pub(crate) fn joint_offset(&self, l: usize, w: &Workspace) -> Vec3 {
        let link = &self.tree.links[l];
        let parent = link.parent_index().map(|p| w.kinematics.links[p].rotation);
        let arm = parent.map_or(link.position, |r| r * link.position);
        w.kinematics.links[l].offset - arm
    }

    /// Motion of all bodies as the oracle wants it.
    pub(crate) fn body_motions(&self, w: &Workspace) -> Vec<BodyMotion> {
        let view = self.view(&w.kinematics);
        let bodies = self.model.bodies().iter().enumerate().map(|(b, body)| {
            let id = Some(crate::model::BodyId(b as u32));
            let pose = view.body_pose(id);
            BodyMotion { pose, twist: view.twist_at(id, &pose.point(&body.com)) }
        });
        bodies.collect()
    }

    /// Accelerations by the oracle, from the loads in `w.tau` and `w.external`.
    pub(crate) fn accelerate_dense(
        &self,
        now: Instant,
        vdot: &mut [f64],
        w: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        w.kinematics.update_positions(&self.tree);
        let motion = self.body_motions(w);
        let mut prescribed = self.prescribed_by(|signal| signal.at(now)[2]);
        // In the tree they are those of the workspace: a step with contact asks for others than the signal's.
        for (link, k, _) in &self.motions {
            if let Some(joint) = self.plan.links[*link].joint {
                let at = self.model.joints()[joint.index()].v.start + k;
                prescribed[at] = Some(w.prescribed[self.tree.links[*link].v as usize + k]);
            }
        }
        self.solve_dense(&motion, &prescribed, self.model.gravity(), vdot, w)
    }

    /// What impulses do to a mechanism, by the oracle: `w.tau` and `w.external` are impulses, `out` becomes the change of speeds.
    pub(crate) fn respond_dense(&self, out: &mut [f64], w: &mut Workspace) -> Result<(), DynamicsError> {
        let mut motion = self.body_motions(w);
        motion.iter_mut().for_each(|m| m.twist = Twist::default());
        let prescribed = self.prescribed_by(|_| 0.0);
        self.solve_dense(&motion, &prescribed, Vec3::zeros(), out, w)
    }

    /// Something for every prescribed speed, in the scene's order of joints.
    fn prescribed_by(&self, value: impl Fn(&Signal) -> f64) -> Vec<Option<f64>> {
        let mut prescribed = vec![None; self.model.n_joint_v()];
        for joint in self.model.joints() {
            for k in 0..joint.v.len() {
                prescribed[joint.v.start + k] = joint.fittings.motion(k).map(&value);
            }
        }
        prescribed
    }

    fn solve_dense(
        &self,
        motion: &[BodyMotion],
        prescribed: &[Option<f64>],
        gravity: Vec3,
        vdot: &mut [f64],
        w: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        let model = &self.model;
        let mut joint_forces = vec![0.0; model.n_joint_v()];
        let mut external = vec![Wrench::default(); model.bodies().len()];
        for (j, joint) in model.joints().iter().enumerate() {
            if let Some(link) = self.plan.link_of_joint[j] {
                joint_forces[joint.v.clone()].copy_from_slice(&w.tau[self.tree.links[link].v_range()]);
            }
        }
        for (i, link) in self.plan.links.iter().enumerate() {
            let com = w.kinematics.links[i].rotation * self.tree.links[i].inertia.com;
            let at_com = w.external[i].shifted(&-com);
            external[link.body.index()] += at_com;
            if link.joint.is_none() {
                // The floating base's own joint sits at the centre of mass: translations in world axes, rotations in body axes.
                let tau = &w.tau[self.tree.links[i].v_range()];
                let torque = motion[link.body.index()].pose.rotation * Vec3::new(tau[3], tau[4], tau[5]);
                external[link.body.index()] += Wrench::new(torque, Vec3::new(tau[0], tau[1], tau[2]));
            }
        }
        let Some(dense) = &mut w.dense else { return Err(DynamicsError::Internal("no dense workspace")) };
        let drive = Drive { external: &external, joint_forces: &joint_forces, prescribed, gravity };
        dense.solve(model, motion, &drive);
        for (i, link) in self.plan.links.iter().enumerate() {
            let range = self.tree.links[i].v_range();
            match link.joint {
                Some(j) => {
                    let joint = &model.joints()[j.index()];
                    // What is prescribed is known to the bit. Rounding in its place would be all the motion there is in a
                    // mechanism that is locked and at rest, and no step would be short enough for it.
                    let found = joint.v.clone().map(|v| prescribed[v].unwrap_or(dense.joint_acceleration[v]));
                    vdot[range].iter_mut().zip(found).for_each(|(to, from)| *to = from);
                }
                None => {
                    debug_assert_eq!(self.tree.links[i].joint_type().kind, JointKind::Free);
                    let a = dense.bodies[link.body.index()];
                    let turn = motion[link.body.index()].pose.rotation.tr_mul(&a.angular);
                    vdot[range.start..range.start + 3].copy_from_slice(a.linear.as_slice());
                    vdot[range.start + 3..range.end].copy_from_slice(turn.as_slice());
                }
            }
        }

        Ok(())
    }
}
