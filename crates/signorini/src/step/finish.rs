//! The end of a step: onto the manifold, through the gate for finite values, and the certificate.

use super::{Simulation, StepError, StepReport};
use crate::dynamics::{Closeness, Formulation as _};
use crate::dynamics::{System, Workspace};
use crate::model::Instant;
use crate::scene::Policy;

impl Simulation {
    /// Makes `next` the state if it is sound, and completes the report.
    pub(crate) fn finish(&mut self, mut report: StepReport) -> Result<StepReport, StepError> {
        if report.is_unsolved && self.options.policy == Policy::Stop {
            let (time, rel, tolerance) = (self.state.time, report.residual.rel, self.options.tolerance);
            return Err(StepError::Unsolved { time, rel, tolerance });
        }
        let (next, w) = (&mut self.next, &mut self.work);
        self.system.check_finite(self.state.time, &next.q, &next.v)?;
        w.cut_q.copy_from_slice(&self.state.cut_q);
        self.system.predict_turns(report.step, w);
        let closeness = self.system.project(Instant::now(next.time), &mut next.q, &mut next.v, w)?;
        self.system.check_finite(self.state.time, &next.q, &next.v)?;
        next.cut_q.copy_from_slice(&w.cut_q);
        next.steps = self.state.steps + 1;
        next.topology = self.state.topology.clone();
        next.events.clone_from(&self.state.events);
        if !self.system.needs_positions {
            w.engine.place_origins(&self.system, &mut w.kinematics);
        }
        (report.kinetic, report.potential) = self.system.energies(&next.q, &next.v, w);
        report.work = next.work;
        report.dissipated = next.dissipated;
        Closeness { position: report.loop_position, velocity: report.loop_velocity } = closeness;
        report.bilateral = closeness.position.max(closeness.velocity);
        if ![report.kinetic, report.potential, report.work, report.dissipated].iter().all(|x| x.is_finite()) {
            return Err(StepError::NotFinite { time: self.state.time, what: "the energy of the mechanism".into() });
        }
        std::mem::swap(&mut self.state, &mut self.next);
        self.is_current = true;
        Ok(report)
    }
}

impl System {
    /// Coordinates of cut joints are found within half a turn of where their speeds lead; without this a joint that turns by
    /// more than that in one step would lose count.
    fn predict_turns(&self, step: f64, w: &mut Workspace) {
        for cut in &self.cuts {
            if cut.joint_type.quaternion().is_none() {
                for k in 0..cut.v.len() {
                    w.cut_q[cut.q.start + k] += step * w.cut_v[cut.v.start + k];
                }
            }
        }
    }

    /// Names the first coordinate or speed that is not a finite number.
    pub(crate) fn check_finite(&self, time: f64, q: &[f64], v: &[f64]) -> Result<(), StepError> {
        // All of them, though one would do: without a way out in between they are looked at several at a time.
        let are_finite = |x: &[f64]| x.iter().fold(true, |so_far, x| so_far & x.is_finite());
        if are_finite(q) && are_finite(v) {
            return Ok(());
        }
        for (i, link) in self.tree.links.iter().enumerate() {
            let bad_q = q[link.q_range()].iter().any(|x| !x.is_finite());
            let bad_v = v[link.v_range()].iter().any(|x| !x.is_finite());
            if bad_q || bad_v {
                let quantity = if bad_q { "coordinate" } else { "speed" };
                let body = &self.model.bodies()[self.tree.body[i].index()].name;
                return Err(StepError::NotFinite { time, what: format!("a {quantity} of body `{body}`") });
            }
        }
        Ok(())
    }
}
