//! Observations, in the user's order and conventions.

use super::{BodyMotion, CouplingMotion, Observation, Simulation, StepError};
use crate::dynamics::force::{joint_forces, motor_forces};
use crate::dynamics::row::{Element, RowKind};
use crate::dynamics::{Formulation, System, Workspace};
use crate::model::{BodyId, Instant};
use crate::spatial::{Quaternion, Wrench};
use crate::state::State;

/// A condition that does not act.
const NO_COUPLING: CouplingMotion = CouplingMotion { gap: f64::NAN, rate: f64::NAN, force: f64::NAN };

impl Simulation {
    /// Fills an observation of the present state. `forces` asks for reactions and actuator forces too.
    pub fn observe(&mut self, forces: bool, out: &mut Observation) -> Result<(), StepError> {
        if !forces {
            self.update_current();
            self.read(&self.state, out);
            return Ok(());
        }
        if self.read_step_forces(out) {
            return Ok(());
        }
        // Taking the scratch leaves nothing behind: a default state would be an allocation.
        let mut copy = self.copy.take().unwrap_or_default();
        copy.assign(&self.state);
        let outcome = self.look(&mut copy, forces, out);
        self.copy = Some(copy);
        outcome
    }

    /// Fills an observation of a state, which is projected.
    pub(crate) fn look(&mut self, next: &mut State, forces: bool, out: &mut Observation) -> Result<(), StepError> {
        self.is_current = false;
        let (system, w) = (&self.system, &mut self.work);
        w.cut_q.copy_from_slice(&next.cut_q);
        let now = Instant::now(next.time);
        system.project(now, &mut next.q, &mut next.v, w)?;
        w.engine.place_origins(system, &mut w.kinematics);
        self.read(next, out);
        if forces {
            let mut vdot = std::mem::take(&mut self.rates);
            vdot.resize(next.v.len(), 0.0);
            let outcome = self.observe_forces(next, &mut vdot, out);
            self.rates = vdot;
            outcome?;
        }
        Ok(())
    }

    /// Fills an observation, forces left out, of a state whose positions and velocities are in `work`.
    pub(crate) fn read(&self, next: &State, out: &mut Observation) {
        let (system, w) = (&self.system, &self.work);
        let model = &system.model;
        out.time = next.time;
        (out.kinetic, out.potential) = system.energies(&next.q, &next.v, w);
        let view = system.view(&w.kinematics);
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
        // What does not exist has no value.
        out.joint_q.clear();
        out.joint_q.resize(model.n_joint_q(), f64::NAN);
        out.joint_v.clear();
        out.joint_v.resize(model.n_joint_v(), f64::NAN);
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
        out.couplings.clear();
        out.couplings.resize(model.n_coupling_rows(), NO_COUPLING);
        system.visit_couplings(w, |at, r, scale| {
            let row = w.rows.row(r);
            out.couplings[at] = CouplingMotion { gap: row.gap * scale, rate: row.rate * scale, force: f64::NAN };
        });
        out.reactions.clear();
        out.actuators.clear();
    }

    /// Wrench that each joint transmits to its child, at the child's joint frame, and forces of actuators.
    fn observe_forces(&mut self, next: &State, vdot: &mut [f64], out: &mut Observation) -> Result<(), StepError> {
        let (system, w) = (&self.system, &mut self.work);
        let now = Instant::now(next.time);
        // The oracle's multipliers are not kept; joint wrenches come from the recursion at the same state.
        system.update_loads(now, &next.q, &next.v, &self.input, w)?;
        system.react(now, vdot, w)?;
        system.read_forces(now, (&next.q, &next.v), &self.input, vdot, w, out);
        Ok(())
    }
}

impl System {
    /// Reactions and actuator forces that go with accelerations, after the loads and accelerations of the same state were found.
    pub(crate) fn read_forces(
        &self,
        now: Instant,
        (q, v): (&[f64], &[f64]),
        input: &[f64],
        vdot: &[f64],
        w: &mut Workspace,
        out: &mut Observation,
    ) {
        let model = &self.model;
        self.update_reactions(&model.gravity(), vdot, w);
        out.reactions.clear();
        out.reactions.resize(model.joints().len(), [f64::NAN; 6]);
        out.actuators.clear();
        out.actuators.resize(model.n_joint_v(), f64::NAN);
        out.couplings.resize(model.n_coupling_rows(), NO_COUPLING);
        self.visit_couplings(w, |at, r, scale| out.couplings[at].force = w.lambda[r] / scale);
        model.joints().iter().filter(|j| !j.is_absent).for_each(|j| out.actuators[j.v.clone()].fill(0.0));
        for (j, joint) in model.joints().iter().enumerate() {
            let Some(l) = self.plan.link_of_joint[j] else { continue };
            let link = &self.tree.links[l];
            out.reactions[j] = self.tree_reaction(l, w).to_array();
            let actuators = &mut out.actuators[joint.v.clone()];
            let parts = joint_forces(joint.kind(), &joint.fittings, now, &q[link.q_range()], &v[link.v_range()]);
            let motors = motor_forces(&joint.fittings, now);
            actuators.iter_mut().zip(parts.work).for_each(|(sum, force)| *sum += force);
            actuators.iter_mut().zip(motors).for_each(|(sum, force)| *sum += force);
            for (k, v) in link.v_range().enumerate() {
                actuators[k] += input[v];
                if self.tree.prescribed[v] {
                    actuators[k] += w.joint_forces[v] - w.tau[v];
                }
            }
        }
        for (joint, forces) in self.forces.weight_holds(&self.view(&w.kinematics)) {
            let actuators = &mut out.actuators[model.joints()[joint.index()].v.clone()];
            actuators.iter_mut().zip(forces).for_each(|(sum, force)| *sum += force);
        }
        for (e, element) in self.elements.iter().enumerate() {
            let Some((id, is_whole)) = element.joint(&self.cuts) else { continue };
            let sum = &mut out.reactions[id.index()];
            let by_rows = self.element_wrench(e, w);
            match element {
                Element::Joint(c) if is_whole => {
                    let (cut, joint) = (&self.cuts[*c], &model.joints()[id.index()]);
                    let (q, v) = (&w.cut_q[cut.q.clone()], &w.cut_v[cut.v.clone()]);
                    let mut parts = joint_forces(joint.kind(), &joint.fittings, now, q, v);
                    let motors = motor_forces(&joint.fittings, now);
                    parts.work.iter_mut().zip(motors).for_each(|(sum, force)| *sum += force);
                    let measures = &w.closures[*c].measures;
                    let own = (0..v.len()).fold(Wrench::default(), |s, k| s + measures[k] * parts.total(k));
                    *sum = (by_rows + own).to_array();
                    let actuators = &mut out.actuators[joint.v.clone()];
                    actuators.iter_mut().zip(parts.work).for_each(|(sum, force)| *sum += force);
                    for (row, lambda) in w.rows.iter().zip(&w.lambda).filter(|(row, _)| row.element == e) {
                        if let RowKind::Prescribed(k) = row.kind {
                            actuators[k] += lambda;
                        }
                    }
                }
                _ => sum.iter_mut().zip(by_rows.to_array()).for_each(|(sum, m)| *sum += m),
            }
        }
        self.add_couplers(w, &mut out.reactions);
    }
}
