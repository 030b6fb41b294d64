//! Forces in joints during a step with contact: means over the step, contact impulses included.

use super::{Stepper, joint_of};
use crate::dynamics::recursive::loops::RowKind;
use crate::model::Instant;
use crate::spatial::{Vec3, Wrench};
use crate::step::{Observation, Simulation, StepError};

impl Simulation {
    /// Finds what joints transmit and drives do, where anybody asks: an observer, dry friction that grows with the load, or the work of
    /// prescribed motions.
    pub(super) fn find_reactions(
        &mut self,
        now: Instant,
        h: f64,
        s: &mut Stepper,
        work: &mut f64,
    ) -> Result<(), StepError> {
        let is_pushed = !(s.contacts.is_empty() && s.pushes.is_empty());
        let drives = is_pushed && (!self.system.motions.is_empty() || s.has_driven_cuts);
        s.has_forces = s.wants_forces || s.has_loaded_friction || drives;
        if !s.has_forces {
            return Ok(());
        }
        let (system, w, next) = (&self.system, &mut self.work, &mut self.next);
        system.update_loads(now, &next.q, &next.v, &self.input, w);
        for c in &s.contacts {
            let (n, t) = (Vec3::from(c.normal), Vec3::from(c.tangent));
            let force = (n * c.impulse[0] + t * c.impulse[1] + n.cross(&t) * c.impulse[2]) / h;
            for (body, sign) in [(c.bodies[0], -1.0), (c.bodies[1], 1.0)] {
                let Some(link) = body.map(|b| s.search.link_of(b)) else { continue };
                let arm = Vec3::from(c.point) - w.recursion.kinematics.origin[link];
                w.external[link] += Wrench::new(arm.cross(&force), force) * sign;
            }
        }
        for push in &s.pushes {
            if let Some(link) = system.plan.link_of_joint[push.joint] {
                w.tau[system.tree.links[link].v as usize + push.coordinate] += push.force;
                continue;
            }
            let Some(c) = system.cuts.iter().position(|c| c.joint.index() == push.joint && c.spin.is_none()) else {
                continue;
            };
            let (cut, closure) = (&system.cuts[c], &w.closures[c]);
            let wrench = closure.measures[push.coordinate] * push.force;
            let ends = [(cut.child, closure.child_arm, wrench), (cut.parent, closure.parent_arm, -wrench)];
            for (link, arm, wrench) in ends {
                if let Some(link) = link {
                    w.external[link] += wrench.shifted(&arm);
                }
            }
        }
        system.accelerate(now, &mut s.rates, w)?;
        let mut forces = std::mem::take(&mut s.forces);
        system.read_forces(now, (&next.q, &next.v), &self.input, &s.rates, w, &mut forces);
        s.forces = forces;
        if drives {
            let mut power = 0.0;
            for (row, lambda) in w.loops.rows.iter().zip(&w.loops.lambda) {
                if let RowKind::Prescribed(k) = row.kind {
                    power += lambda * w.cut_v[system.cuts[row.cut].v.start + k];
                }
            }
            for (link, k, _) in &system.motions {
                let at = system.tree.links[*link].v as usize + k;
                power += (w.joint_forces[at] - w.tau[at]) * s.free[at];
            }
            // Without contact it was counted already.
            *work += h * (power - s.motion_power);
        }
        for memory in &mut next.contacts {
            if let Some((joint, _)) = joint_of(memory.id) {
                let [.., x, y, z] = s.forces.reactions[joint];
                memory.load = Vec3::new(x, y, z).norm();
            }
        }
        Ok(())
    }

    /// Fills an observation of the present state with the forces of the step that led to it; whether there are any.
    pub(crate) fn read_step_forces(&mut self, out: &mut Observation) -> bool {
        let Some(s) = &mut self.stepper else { return false };
        s.wants_forces = true;
        if !s.has_forces {
            return false;
        }
        self.update_current();
        self.read(&self.state, out);
        let Some(s) = &self.stepper else { return false };
        out.reactions.clone_from(&s.forces.reactions);
        out.actuators.clone_from(&s.forces.actuators);
        true
    }
}
