//! Observations, in the user's order and conventions.

use super::{BodyMotion, Observation, Simulation, StepError};
use crate::dynamics::loads::motor_forces;
use crate::dynamics::recursive::loops::RowKind;
use crate::model::{BodyId, Instant};
use crate::spatial::{Quaternion, Wrench};

impl Simulation {
    /// Fills an observation of the present state. `forces` asks for reactions and actuator forces too.
    pub fn observe(&mut self, forces: bool, out: &mut Observation) -> Result<(), StepError> {
        let (system, w) = (&self.system, &mut self.work);
        self.next.clone_from(&self.state);
        let next = &mut self.next;
        w.cut_q.copy_from_slice(&self.state.cut_q);
        let mut vdot = std::mem::take(&mut w.displacement);
        if forces {
            w.displacement = vec![0.0; vdot.len()];
            system.evaluate(Instant::now(next.time), &mut next.q, &mut next.v, &self.input, &mut vdot, w)?;
            if system.is_fused() {
                w.recursion.update_kinematics(&system.tree, &next.q, &next.v);
            }
        } else {
            w.displacement = vdot;
            vdot = Vec::new();
            system.project(Instant::now(next.time), &mut next.q, &mut next.v, w)?;
        }
        w.recursion.update_positions(&system.tree);
        let model = &system.model;
        out.time = next.time;
        (out.kinetic, out.potential) = system.energies(&next.q, &next.v, w);
        let view = system.view(&w.recursion.kinematics);
        out.bodies.clear();
        out.bodies.extend(model.bodies().iter().enumerate().map(|(b, body)| {
            let id = Some(BodyId(b as u32));
            let pose = view.body_pose(id);
            let com = pose.point(&body.com);
            let twist = view.twist_at(id, &com);
            BodyMotion {
                position: com.into(),
                orientation: Quaternion::from_matrix(&pose.rotation).0,
                velocity: twist.linear.into(),
                angular_velocity: twist.angular.into(),
            }
        }));
        out.markers.clear();
        out.markers.extend(model.markers().iter().map(|m| <[f64; 3]>::from(view.point(&m.point).0)));
        out.joint_q.resize(model.n_joint_q(), 0.0);
        out.joint_v.resize(model.n_joint_v(), 0.0);
        for (joint, link) in model.joints().iter().zip(&system.plan.link_of_joint) {
            if let Some(link) = link.map(|l| &system.tree.links[l]) {
                out.joint_q[joint.q.clone()].copy_from_slice(&next.q[link.q_range()]);
                out.joint_v[joint.v.clone()].copy_from_slice(&next.v[link.v_range()]);
            }
        }
        for cut in &system.cuts {
            let joint = &model.joints()[cut.joint.index()];
            out.joint_q[joint.q.clone()].copy_from_slice(&w.cut_q[cut.q.clone()]);
            out.joint_v[joint.v.clone()].copy_from_slice(&w.cut_v[cut.v.clone()]);
        }
        out.reactions.clear();
        out.actuators.clear();
        if forces {
            self.observe_forces(&mut vdot, out)?;
        }
        Ok(())
    }

    /// Wrench that each joint transmits to its child, at the child's joint frame, and forces of actuators.
    fn observe_forces(&mut self, vdot: &mut [f64], out: &mut Observation) -> Result<(), StepError> {
        let (system, w, next) = (&self.system, &mut self.work, &mut self.next);
        let model = &system.model;
        let now = Instant::now(next.time);
        // The oracle's multipliers are not kept; joint wrenches come from the recursion at the same state.
        system.update_loads(now, &next.q, &next.v, &self.input, w);
        system.accelerate(now, vdot, w)?;
        system.update_reactions(vdot, w);
        out.reactions.resize(model.joints().len(), [0.0; 6]);
        out.actuators.resize(model.n_joint_v(), 0.0);
        for (j, joint) in model.joints().iter().enumerate() {
            let Some(l) = system.plan.link_of_joint[j] else { continue };
            let link = &system.tree.links[l];
            let child_is_outer = !system.plan.links[l].reversed;
            // Where the joint runs backwards, the link is the parent and its origin the parent's joint frame; the child's frame
            // lies one offset inwards.
            let wrench =
                if child_is_outer { w.wrenches[l] } else { (-w.wrenches[l]).shifted(&system.joint_offset(l, w)) };
            out.reactions[j] = wrench.to_array();
            let actuators = &mut out.actuators[joint.v.clone()];
            motor_forces(&joint.fittings, now, &next.q[link.q_range()], &next.v[link.v_range()], actuators);
            for (k, v) in link.v_range().enumerate() {
                actuators[k] += self.input[v];
                if system.tree.prescribed[v] {
                    actuators[k] += w.joint_forces[v] - w.tau[v];
                }
            }
        }
        for (c, cut) in system.cuts.iter().enumerate() {
            let joint = &model.joints()[cut.joint.index()];
            let mut fittings = [0.0; 6];
            let (q, v) = (&w.cut_q[cut.q.clone()], &w.cut_v[cut.v.clone()]);
            crate::dynamics::loads::joint_forces(joint.kind(), &joint.fittings, now, q, v, &mut fittings[..v.len()]);
            let own = (0..v.len()).fold(Wrench::default(), |s, k| s + w.closures[c].measures[k] * fittings[k]);
            out.reactions[cut.joint.index()] = (system.cut_wrench(c, w) + own).to_array();
            let actuators = &mut out.actuators[joint.v.clone()];
            motor_forces(&joint.fittings, now, q, v, actuators);
            for (row, lambda) in w.loops.rows.iter().zip(&w.loops.lambda) {
                if let RowKind::Prescribed(k) = row.kind
                    && row.cut == c
                {
                    actuators[k] += lambda;
                }
            }
        }
        Ok(())
    }
}
