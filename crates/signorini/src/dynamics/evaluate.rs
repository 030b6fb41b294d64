//! Accelerations at one instant: prescribe, close loops, apply loads, solve.
//!
//! Integrators work on coordinates and speeds of the tree that need not lie exactly on the mechanism's manifold: quaternions
//! drift off the unit sphere and loops open by the error of a stage. Every evaluation first projects what it is given,
//! so the vector field they integrate is f ∘ P with the smooth projection P. It keeps every method's order, needs no
//! stabilisation parameter, and lets the rank of overconstrained loops be found where it is defined: at closed ones.

use super::error::DynamicsError;
use super::system::{System, Workspace};
use crate::dynamics::loads::{Loads, Power};
use crate::dynamics::recursive::loops::{Loops, RowKind};
use crate::model::Instant;
use crate::scene::Formulation;
use crate::spatial::{Quaternion, Twist, Vec3};

/// How well loops are closed after a projection.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Closeness {
    /// Largest gap over the mechanism's size (angles as they are).
    pub position: f64,
    /// Largest opening rate over the mechanism's speed.
    pub velocity: f64,
}

/// Newton steps allowed to close loops. Quadratic convergence needs three or four from any stage of a sensible step.
const MAX_NEWTON: usize = 24;
/// Gap at which a loop counts as closed, relative to the mechanism's size: a few roundings of its chain of poses.
const CLOSED: f64 = 4.0e-15;
/// Gap that must be reached where rounding keeps Newton from doing better: a tenth of what is promised for loop drift.
const NEARLY_CLOSED: f64 = 1.0e-11;

/// How far the squared norm of a quaternion that was divided by its norm may be from one: four squares and a quotient, rounded.
const UNIT: f64 = 16.0 * f64::EPSILON;

impl System {
    /// Overwrites prescribed coordinates and speeds, and brings quaternions back to norm one.
    pub(crate) fn prescribe(&self, now: Instant, q: &mut [f64], v: &mut [f64], w: &mut Workspace) {
        for &i in &self.tree.balls {
            let link = &self.tree.links[i];
            link.joint_type().normalise(&mut q[link.q_range()]);
        }
        for (link, k, signal) in &self.motions {
            let link = &self.tree.links[*link];
            let [x, rate, acceleration] = signal.at(now);
            // A rotation by quaternion has no coordinate for a single speed; where it is locked, `holds` has it whole.
            if link.joint_type().quaternion().is_none_or(|(_, iv)| *k < iv) {
                q[link.q as usize + k] = x;
            }
            v[link.v as usize + k] = rate;
            w.prescribed[link.v as usize + k] = acceleration;
        }
        self.hold_rotations(q);
    }

    /// Whether quaternions have norm one but for rounding. Those that [`Self::prescribe`] has left do.
    pub(crate) fn has_unit_quaternions(&self, q: &[f64]) -> bool {
        self.tree.balls.iter().all(|&i| {
            let link = &self.tree.links[i];
            let q = &q[link.q_range()];
            link.joint_type().quaternion().is_none_or(|(iq, _)| {
                let norm2: f64 = q[iq..iq + 4].iter().map(|x| x * x).sum();
                (norm2 - 1.0).abs() <= UNIT
            })
        })
    }

    /// Quaternions of locked rotations, to the bit.
    fn hold_rotations(&self, q: &mut [f64]) {
        for (link, held) in &self.holds {
            let link = &self.tree.links[*link];
            if let Some((iq, _)) = link.joint_type().quaternion() {
                q[link.q_range()][iq..].copy_from_slice(&held[iq..]);
            }
        }
    }

    pub(crate) fn update_closures(&self, w: &mut Workspace) {
        for (cut, closure) in self.cuts.iter().zip(&mut w.closures) {
            let (q, v) = (&mut w.cut_q[cut.q.clone()], &mut w.cut_v[cut.v.clone()]);
            *closure = cut.find_closure(&w.kinematics, q, v);
        }
    }

    /// Value, rate and acceleration prescribed for a speed of a cut joint.
    pub(crate) fn cut_motion(&self, cut: usize, k: usize, now: Instant) -> [f64; 3] {
        self.fittings(&self.cuts[cut]).motion(k).map_or([0.0; 3], |s| s.at(now))
    }

    /// Gap of a row, and the length it is judged against.
    fn gap(&self, row: usize, now: Instant, w: &Workspace) -> (f64, f64) {
        let row = &w.loops.rows[row];
        let closure = &w.closures[row.cut];
        match row.kind {
            RowKind::Closed(k) => {
                let is_length = closure.rows[k].force != Vec3::zeros();
                (closure.gaps[k], if is_length { self.model.characteristic_length() } else { 1.0 })
            }
            RowKind::Prescribed(k) => {
                let gap = self.prescribed_gap(row.cut, k, now, w);
                let is_length = closure.measures[k].force != Vec3::zeros();
                (gap, if is_length { self.model.characteristic_length() } else { 1.0 })
            }
            RowKind::Rotor(..) => (0.0, 1.0),
        }
    }

    /// How far a prescribed coordinate of a cut joint is from where it should be; about one axis of a locked rotation.
    fn prescribed_gap(&self, cut: usize, k: usize, now: Instant, w: &Workspace) -> f64 {
        let cut_joint = &self.cuts[cut];
        let q = &w.cut_q[cut_joint.q.clone()];
        match cut_joint.joint_type.quaternion() {
            Some((iq, iv)) if k >= iv => {
                let held = &self.fittings(cut_joint).held_q;
                let quat = |x: &[f64]| Quaternion([x[iq], x[iq + 1], x[iq + 2], x[iq + 3]]);
                quat(held).conjugate().times(&quat(q)).log()[k - iv]
            }
            _ => q[k] - self.cut_motion(cut, k, now)[0],
        }
    }

    /// Closes the loops: coordinates first, then speeds, both by the displacement of least kinetic energy. Leaves kinematics,
    /// closures and the factored loop rows at the result.
    pub(crate) fn project(
        &self,
        now: Instant,
        q: &mut [f64],
        v: &mut [f64],
        w: &mut Workspace,
    ) -> Result<Closeness, DynamicsError> {
        self.prescribe(now, q, v, w);
        self.update_kinematics(q, v, w);
        if self.needs_positions {
            self.update_positions(w);
        }
        if w.loops.rows.is_empty() {
            // Joints that close a loop and forbid nothing still have coordinates.
            self.update_closures(w);
            return Ok(Closeness::default());
        }
        let n_hard = w.loops.n_hard;
        let mut last = f64::INFINITY;
        let mut position = 0.0;
        for iteration in 0.. {
            self.update_closures(w);
            position = (0..n_hard).fold(0.0, |worst: f64, r| {
                let (gap, length) = self.gap(r, now, w);
                worst.max((gap / length).abs())
            });
            if !position.is_finite() {
                return Err(DynamicsError::NotFinite { time: now.time, what: "loop closure".into() });
            }
            let stalled = position >= 0.5 * last && position <= NEARLY_CLOSED;
            self.factor_loops(w, false);
            if position <= CLOSED || stalled {
                break;
            }
            if iteration == MAX_NEWTON {
                return Err(DynamicsError::LoopsOpen { time: now.time, gap: position });
            }
            last = position;
            for r in 0..n_hard {
                let gap = self.gap(r, now, w).0;
                w.loops.set_rhs(r, -gap);
            }
            self.respond(w);
            for link in &self.tree.links {
                link.joint_type().displace(&mut q[link.q_range()], &w.displacement[link.v_range()]);
            }
            self.hold_rotations(q);
            self.update_kinematics(q, v, w);
            self.update_positions(w);
        }
        let before = self.speed(w);
        for r in 0..n_hard {
            let rate = self.opening_rate(r, now, w);
            w.loops.set_rhs(r, -rate);
        }
        self.respond(w);
        v.iter_mut().zip(&w.displacement).for_each(|(v, d)| *v += d);
        self.update_kinematics(q, v, w);
        self.update_positions(w);
        self.update_closures(w);
        Ok(Closeness { position, velocity: self.opening_speed(now, before, w) })
    }

    /// A change of coordinates as a displacement in the space of speeds.
    pub(crate) fn as_displacement(&self, q: &[f64], dq: &[f64], out: &mut [f64]) {
        for link in &self.tree.links {
            let (q, dq, out) = (&q[link.q_range()], &dq[link.q_range()], &mut out[link.v_range()]);
            let straight = link.joint_type().quaternion().map_or(out.len(), |(iq, _)| iq);
            out[..straight].copy_from_slice(&dq[..straight]);
            if let Some((iq, iv)) = link.joint_type().quaternion() {
                let quat = |x: &[f64]| Quaternion([x[iq], x[iq + 1], x[iq + 2], x[iq + 3]]);
                let turn = quat(q).conjugate().times(&quat(dq)).0;
                (0..3).for_each(|k| out[iv + k] = 2.0 * turn[k + 1]);
            }
        }
    }

    /// Takes from a displacement (or a change of speeds) what opens loops, by the factored rows of the last projection.
    pub(crate) fn project_tangent(&self, x: &mut [f64], w: &mut Workspace) {
        if w.loops.rows.is_empty() {
            return;
        }
        w.loops.set_rhs_of_motion(w.recursion.swept(&self.tree, &w.kinematics), &self.cuts, &w.closures, x);
        self.respond(w);
        x.iter_mut().zip(&w.displacement).for_each(|(x, d)| *x += d);
    }

    /// The fastest point of the mechanism, roughly. Where it is all but at rest, a millionth of the speed it would fall with.
    pub(crate) fn speed(&self, w: &Workspace) -> f64 {
        let kinematics = &w.kinematics;
        let spin = kinematics.links.iter().fold(0.0, |m: f64, l| m.max(l.omega.norm()));
        let speed = kinematics.velocity.iter().fold(0.0, |m: f64, v| m.max(v.norm()));
        let length = self.model.characteristic_length();
        (spin * length).max(speed).max(1e-6 * (self.model.gravity().norm() * length).sqrt())
    }

    /// Largest rate at which a loop opens, over the speed of the mechanism (before or after projection).
    fn opening_speed(&self, now: Instant, before: f64, w: &Workspace) -> f64 {
        let speed = self.speed(w).max(before);
        let length = self.model.characteristic_length();
        (0..w.loops.n_hard).fold(0.0, |worst: f64, r| {
            let rate = self.opening_rate(r, now, w).abs();
            let is_length = Loops::direction(&w.loops.rows[r], &w.closures).force != Vec3::zeros();
            let reference = if is_length { speed } else { speed / length };
            if rate == 0.0 { worst } else { worst.max(rate / reference) }
        })
    }

    /// Rate at which a row opens.
    fn opening_rate(&self, row: usize, now: Instant, w: &Workspace) -> f64 {
        let row = &w.loops.rows[row];
        let wanted = match row.kind {
            RowKind::Prescribed(k) => self.cut_motion(row.cut, k, now)[1],
            _ => 0.0,
        };
        w.closures[row.cut].relative.dot(&Loops::direction(row, &w.closures)) - wanted
    }

    /// Articulated inertias and factored loop rows at the present kinematics.
    pub(crate) fn factor_loops(&self, w: &mut Workspace, rotors: bool) {
        if self.formulation == Formulation::Dca {
            return self.factor_dca(w, rotors);
        }
        w.recursion.update_articulated(&self.tree, &w.kinematics, &w.tau, &w.prescribed, None);
        w.loops.factor(w.recursion.swept(&self.tree, &w.kinematics), &self.cuts, &w.closures, rotors);
    }

    /// The displacement of least kinetic energy that answers the right-hand sides of the hard rows, in `w.displacement`.
    pub(crate) fn respond(&self, w: &mut Workspace) {
        if self.formulation == Formulation::Dca {
            return self.respond_dca(w);
        }
        w.loops.solve();
        w.loops.respond(w.recursion.swept(&self.tree, &w.kinematics), &mut w.displacement);
    }

    /// Joint forces and wrenches of all loads at the present kinematics.
    pub(crate) fn update_loads(&self, now: Instant, q: &[f64], v: &[f64], input: &[f64], w: &mut Workspace) -> Power {
        w.external.fill(Default::default());
        let mut power = self.update_joint_loads(now, q, v, input, w);
        if !self.user_loads.is_empty() {
            let view = self.view(&w.kinematics);
            power += Loads::apply_user(&self.user_loads, &view, now, &mut w.external);
        }
        power
    }

    /// Joint forces of all loads, and wrenches of those of the scene.
    pub(crate) fn update_joint_loads(
        &self,
        now: Instant,
        q: &[f64],
        v: &[f64],
        input: &[f64],
        w: &mut Workspace,
    ) -> Power {
        w.tau.copy_from_slice(input);
        let mut power = Power::default();
        power.work += input.iter().zip(v).map(|(f, v)| f * v).sum::<f64>();
        let view = self.view(&w.kinematics);
        let cut = (&w.cut_q[..], &w.cut_v[..]);
        power += self.loads.apply(&view, now, (q, v), &self.cuts, &w.closures, cut, &mut w.tau, &mut w.external);
        power
    }

    /// Accelerations at projected coordinates and speeds (which are overwritten with their projections), and the rates of
    /// work. `input` is a controller's force on each speed.
    pub(crate) fn evaluate(
        &self,
        now: Instant,
        q: &mut [f64],
        v: &mut [f64],
        input: &[f64],
        vdot: &mut [f64],
        w: &mut Workspace,
    ) -> Result<Power, DynamicsError> {
        if self.is_fused() {
            return self.evaluate_fused(now, q, v, input, vdot, w);
        }
        self.project(now, q, v, w)?;
        let mut power = self.update_loads(now, q, v, input, w);
        if self.formulation == Formulation::Dense {
            self.accelerate_dense(now, vdot, w)?;
        } else {
            self.accelerate(now, vdot, w)?;
        }
        power.work += self.motion_power(vdot, v, w);
        Ok(power)
    }

    pub(crate) fn accelerate(&self, now: Instant, vdot: &mut [f64], w: &mut Workspace) -> Result<(), DynamicsError> {
        if self.formulation == Formulation::Dca {
            return self.accelerate_dca(now, vdot, w);
        }
        let external = (self.needs_positions || !self.user_loads.is_empty()).then_some(&w.external[..]);
        let gravity = self.model.gravity();
        w.recursion.update_articulated(&self.tree, &w.kinematics, &w.tau, &w.prescribed, external);
        if let Some(link) = w.recursion.singular {
            return Err(self.no_inertia(link));
        }
        if w.loops.rows.is_empty() {
            w.recursion.update_accelerations(
                &self.tree,
                &w.kinematics,
                &gravity,
                &w.prescribed,
                vdot,
                &mut w.acceleration,
            );
            return Ok(());
        }
        w.loops.factor(w.recursion.swept(&self.tree, &w.kinematics), &self.cuts, &w.closures, true);
        w.loops.begin();
        // The second pass is iterative refinement: near a singular position it restores the digits the first one lost.
        for _ in 0..2 {
            w.recursion.update_accelerations(
                &self.tree,
                &w.kinematics,
                &gravity,
                &w.prescribed,
                vdot,
                &mut w.acceleration,
            );
            for r in 0..w.loops.rows.len() {
                let b = -self.opening_acceleration(r, now, w);
                w.loops.set_rhs(r, b);
            }
            w.loops.solve();
            w.loops.apply(&mut w.recursion.pivots);
            w.loops.accumulate();
        }
        w.recursion.update_accelerations(&self.tree, &w.kinematics, &gravity, &w.prescribed, vdot, &mut w.acceleration);
        Ok(())
    }

    /// Acceleration with which a row opens.
    pub(crate) fn opening_acceleration(&self, r: usize, now: Instant, w: &Workspace) -> f64 {
        let row = &w.loops.rows[r];
        let ground = Twist::new(Vec3::zeros(), -self.model.gravity());
        let closure = &w.closures[row.cut];
        let relative = self.cuts[row.cut].relative_acceleration(closure, &w.acceleration, &ground);
        let along = relative.dot(&Loops::direction(row, &w.closures));
        match row.kind {
            RowKind::Closed(_) => along,
            RowKind::Prescribed(k) => along - self.cut_motion(row.cut, k, now)[2],
            RowKind::Rotor(..) => along - w.loops.rotor_acceleration(r),
        }
    }

    /// A joint that moves no inertia.
    pub(crate) fn no_inertia(&self, link: usize) -> DynamicsError {
        let joint = match self.plan.links[link].joint {
            Some(j) => self.model.joints()[j.index()].name.clone(),
            None => format!("free motion of {}", self.model.bodies()[self.tree.body[link].index()].name),
        };
        DynamicsError::NoInertia { joint }
    }
}
