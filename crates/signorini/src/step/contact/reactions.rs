//! Forces in joints during a step with contact: means over the step, contact impulses included.

use super::{ContactStepper, joint_of};
use crate::model::Instant;
use crate::spatial::{Vec3, Wrench};
use crate::step::{Observation, Simulation, StepError};

/// Which impulses push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    WithoutStrikes,
}

impl Simulation {
    /// Finds what joints transmit and drives do, where anybody asks: an observer, dry friction that grows with the load, or the work of
    /// prescribed motions.
    pub(super) fn find_reactions(
        &mut self,
        now: Instant,
        h: f64,
        s: &mut ContactStepper,
        work: &mut f64,
    ) -> Result<(), StepError> {
        let is_pushed = !(s.contacts.is_empty() && s.pushes.is_empty());
        let drives = is_pushed && (!self.system.motions.is_empty() || s.has_driven_cuts);
        let has_struck = s.contacts.iter().any(|c| c.struck > 0.0) || s.pushes.iter().any(|p| p.struck != 0.0);
        let is_watched = self.watch.needs_forces() || self.watch.needs_impulses();
        s.has_struck = has_struck && is_watched;
        s.has_forces = self.wants_forces || self.watch.needs_forces() || s.has_loaded_friction || drives;
        if !s.has_forces && !s.has_struck {
            return Ok(());
        }
        if s.has_struck {
            self.find_forces(now, h, s, Part::WithoutStrikes)?;
            std::mem::swap(&mut s.forces, &mut s.lasting);
        }
        self.find_forces(now, h, s, Part::All)?;
        let (system, w, next) = (&self.system, &self.work, &mut self.next);
        if drives {
            let mut power = system.driven_power(w);
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

    /// Reactions and forces of drives, in `s.forces`, where contacts and limits push with their mean force over the step.
    fn find_forces(&mut self, now: Instant, h: f64, s: &mut ContactStepper, part: Part) -> Result<(), StepError> {
        let (system, w, next) = (&self.system, &mut self.work, &self.next);
        system.update_loads(now, &next.q, &next.v, &self.input, w);
        for c in &s.contacts {
            let (n, t) = (Vec3::from(c.normal), Vec3::from(c.tangent));
            let mut force = (n * c.impulse[0] + t * c.impulse[1] + n.cross(&t) * c.impulse[2]) / h;
            if part == Part::WithoutStrikes && c.struck > 0.0 {
                force *= 1.0 - c.struck / c.impulse[0];
            }
            for (body, sign) in [(c.bodies[0], -1.0), (c.bodies[1], 1.0)] {
                let Some(link) = body.map(|b| s.search.link_of(b)) else { continue };
                let arm = Vec3::from(c.point) - w.kinematics.origin[link];
                w.external[link] += Wrench::new(arm.cross(&force), force) * sign;
            }
        }
        for push in &s.pushes {
            let force = if part == Part::All { push.force } else { push.force - push.struck / h };
            if let Some(link) = system.plan.link_of_joint[push.joint] {
                w.tau[system.tree.links[link].v as usize + push.coordinate] += force;
                continue;
            }
            let Some(c) = system.cuts.iter().position(|c| c.joint.index() == push.joint) else {
                continue;
            };
            let (cut, closure) = (&system.cuts[c], &w.closures[c]);
            let wrench = closure.measures[push.coordinate] * force;
            let ends = [(cut.child, closure.child_arm, wrench), (cut.parent, closure.parent_arm, -wrench)];
            for (link, arm, wrench) in ends {
                if let Some(link) = link {
                    w.external[link] += wrench.shifted(&arm);
                }
            }
        }
        system.react(now, &mut s.rates, w)?;
        let mut forces = std::mem::take(&mut s.forces);
        system.read_forces(now, (&next.q, &next.v), &self.input, &s.rates, w, &mut forces);
        s.forces = forces;
        Ok(())
    }

    /// Forces of the last step that last: its means without what struck.
    pub(crate) fn lasting_forces(&self) -> Option<&Observation> {
        self.stepper.as_ref().map(|s| if s.has_struck { &s.lasting } else { &s.forces })
    }

    /// Impulse of a joint by what struck in the last step of length `h`, as its forces are given. Forces are affine in what pushes, so
    /// it is what strikes add to those that last.
    pub(crate) fn struck_impulse(&self, joint: usize, h: f64) -> Option<[f64; 6]> {
        let s = self.stepper.as_ref().filter(|s| s.has_struck)?;
        let (all, lasting) = (s.forces.reactions.get(joint)?, s.lasting.reactions.get(joint)?);
        Some(std::array::from_fn(|k| h * (all[k] - lasting[k])))
    }

    /// Fills an observation of the present state with the forces of the step that led to it; whether there are any.
    pub(crate) fn read_step_forces(&mut self, out: &mut Observation) -> bool {
        self.wants_forces = true;
        if !self.stepper.as_ref().is_some_and(|s| s.has_forces) {
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
