//! Accelerations at one instant: prescribe, close loops, apply loads, solve.
//!
//! Integrators work on coordinates and speeds of the tree that need not lie exactly on the mechanism's manifold: quaternions
//! drift off the unit sphere and loops open by the error of a stage. Every evaluation first projects what it is given,
//! so the vector field they integrate is f ∘ P with the smooth projection P. It keeps every method's order, needs no
//! stabilisation parameter, and lets the rank of overconstrained loops be found where it is defined: at closed ones.

use super::error::DynamicsError;
use super::formulation::{Answer, Drive, Formulation, Posed};
use super::row::Level;
use super::system::{System, Workspace};
use crate::dynamics::force::{Configuration, Power, Sight, Which};
use crate::model::Instant;
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

    /// Positions and velocities of all links.
    pub(crate) fn place(&self, q: &[f64], v: &[f64], w: &mut Workspace) {
        w.engine.place(self, q, v, &mut w.kinematics);
        w.engine.place_origins(self, &mut w.kinematics);
    }

    /// Gap of a row, and the size it is judged against.
    fn gap(&self, r: usize, now: Instant, w: &Workspace) -> (f64, f64) {
        let row = w.rows.row(r);
        let followed = self.elements[row.element].followed_gap(row.kind, &self.model, &self.cuts, now, &w.cut_q);
        (followed.unwrap_or(row.gap), row.size)
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
        w.engine.place(self, q, v, &mut w.kinematics);
        if self.needs_positions {
            w.engine.place_origins(self, &mut w.kinematics);
        }
        self.update_rows(q, v, w);
        // Joints that close a loop and forbid nothing still have coordinates.
        if w.rows.is_empty() {
            return Ok(Closeness::default());
        }
        let position = self.close_positions(now, q, v, w)?;
        let before = self.speed(w);
        self.set_wanted(now, true, w);
        for r in 0..w.rows.n_hard {
            w.rhs[r] = -w.rows.opening_rate(r);
        }
        self.close(w);
        v.iter_mut().zip(&w.displacement).for_each(|(v, d)| *v += d);
        self.place(q, v, w);
        self.update_rows(q, v, w);
        Ok(Closeness { position, velocity: self.opening_speed(before, w) })
    }

    /// Newton's method on the gaps; returns the largest that is left. Rows are left factored at the result.
    fn close_positions(&self, now: Instant, q: &mut [f64], v: &[f64], w: &mut Workspace) -> Result<f64, DynamicsError> {
        let mut last = f64::INFINITY;
        let mut position = 0.0;
        for iteration in 0.. {
            position = (0..w.rows.n_hard).fold(0.0, |worst: f64, r| {
                let (gap, length) = self.gap(r, now, w);
                worst.max((gap / length).abs())
            });
            if !position.is_finite() {
                return Err(DynamicsError::NotFinite { time: now.time, what: "loop closure".into() });
            }
            let stalled = position >= 0.5 * last && position <= NEARLY_CLOSED;
            self.factor_rows(w, false);
            if position <= CLOSED || stalled {
                break;
            }
            if iteration == MAX_NEWTON {
                return Err(DynamicsError::LoopsOpen { time: now.time, gap: position });
            }
            last = position;
            for r in 0..w.rows.n_hard {
                w.rhs[r] = -self.gap(r, now, w).0;
            }
            self.close(w);
            for link in &self.tree.links {
                link.joint_type().displace(&mut q[link.q_range()], &w.displacement[link.v_range()]);
            }
            self.hold_rotations(q);
            self.place(q, v, w);
            self.update_rows(q, v, w);
        }
        Ok(position)
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
        if w.rows.is_empty() {
            return;
        }
        w.kinematics.find_twists(&self.tree, x, &mut w.seen);
        for r in 0..w.rows.n_hard {
            w.rhs[r] = -w.rows.along(r, &w.seen, x);
        }
        self.close(w);
        x.iter_mut().zip(&w.displacement).for_each(|(x, d)| *x += d);
    }

    /// Takes from speeds at the end of a step what opens rows then, by the rows factored where the step takes its inertias from.
    pub(crate) fn close_speeds(&self, end: Instant, v: &mut [f64], w: &mut Workspace) {
        if w.rows.is_empty() {
            return;
        }
        w.kinematics.find_twists(&self.tree, v, &mut w.seen);
        self.set_wanted(end, true, w);
        for r in 0..w.rows.len() {
            let opening = -w.rows.opening(r, Level::Velocity, &w.seen, v);
            w.rhs[r] = if r < w.rows.n_hard { opening } else { 0.0 };
        }
        self.close(w);
        v.iter_mut().zip(&w.displacement).for_each(|(v, d)| *v += d);
    }

    /// The fastest point of the mechanism, roughly. Where it is all but at rest, a millionth of the speed it would fall with.
    pub(crate) fn speed(&self, w: &Workspace) -> f64 {
        let kinematics = &w.kinematics;
        let spin = kinematics.links.iter().fold(0.0, |m: f64, l| m.max(l.omega.norm()));
        let speed = kinematics.velocity.iter().fold(0.0, |m: f64, v| m.max(v.norm()));
        let length = self.model.characteristic_length();
        (spin * length).max(speed).max(1e-6 * (self.model.gravity().norm() * length).sqrt())
    }

    /// Largest rate at which a row opens, over the speed of the mechanism (before or after projection).
    fn opening_speed(&self, before: f64, w: &Workspace) -> f64 {
        let speed = self.speed(w).max(before);
        let length = self.model.characteristic_length();
        (0..w.rows.n_hard).fold(0.0, |worst: f64, r| {
            let rate = w.rows.opening_rate(r).abs();
            let reference = if w.rows.row(r).is_length { speed } else { speed / length };
            if rate == 0.0 { worst } else { worst.max(rate / reference) }
        })
    }

    /// Makes the rows' response known at the present kinematics.
    pub(crate) fn factor_rows(&self, w: &mut Workspace, rotors: bool) {
        let Workspace { engine, kinematics, rows, closures, tau, prescribed, .. } = w;
        engine.factor(&Posed { system: self, kinematics, rows, closures }, tau, prescribed, rotors);
    }

    /// The displacement of least kinetic energy that answers the right-hand sides of the factored rows, in `w.displacement`.
    pub(crate) fn close(&self, w: &mut Workspace) {
        let Workspace { engine, kinematics, rows, closures, rhs, displacement, .. } = w;
        engine.close(&Posed { system: self, kinematics, rows, closures }, rhs, displacement);
    }

    /// Joint forces and wrenches of all force elements at the present kinematics.
    pub(crate) fn update_loads(
        &self,
        now: Instant,
        q: &[f64],
        v: &[f64],
        input: &[f64],
        w: &mut Workspace,
    ) -> Result<Power, DynamicsError> {
        self.update_loads_of(Which::All, now, (q, v), input, w)
    }

    /// The same of some elements only.
    pub(crate) fn update_loads_of(
        &self,
        which: Which,
        now: Instant,
        (q, v): (&[f64], &[f64]),
        input: &[f64],
        w: &mut Workspace,
    ) -> Result<Power, DynamicsError> {
        w.external.fill(Default::default());
        // A user's load may have come since.
        w.force_scratch.resize(self.forces.n_scratch(), 0.0);
        w.tau.copy_from_slice(input);
        let mut power = Power { work: input.iter().zip(v).map(|(f, v)| f * v).sum::<f64>(), ..Power::default() };
        let Workspace { kinematics, closures, cut_q, cut_v, force_scratch, tau, external, .. } = w;
        let at = Configuration { view: self.view(kinematics), cuts: &self.cuts, q, cut_q };
        let see = Sight { at, now, closures, v, cut_v };
        power += self.forces.apply(which, &see, force_scratch, (tau, external))?;
        Ok(power)
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
        if let Some(outcome) = self.evaluate_at_once(now, q, v, input, vdot, w) {
            return outcome;
        }
        self.project(now, q, v, w)?;
        let mut power = self.update_loads(now, q, v, input, w)?;
        self.accelerate(now, vdot, w)?;
        power.work += self.motion_power(vdot, v, w);
        Ok(power)
    }

    /// The same where nothing needs positions in space, by formulations that can then do without. Leaves no kinematics behind.
    fn evaluate_at_once(
        &self,
        now: Instant,
        q: &mut [f64],
        v: &mut [f64],
        input: &[f64],
        vdot: &mut [f64],
        w: &mut Workspace,
    ) -> Option<Result<Power, DynamicsError>> {
        if self.needs_positions || !self.motions.is_empty() || !w.engine.is_direct() {
            return None;
        }
        self.prescribe(now, q, v, w);
        let power = match self.update_loads(now, q, v, input, w) {
            Ok(power) => power,
            Err(error) => return Some(Err(error)),
        };
        let level = Level::Acceleration(self.ground());
        let drive = Drive { tau: &w.tau, external: None, held: &w.prescribed, gravity: self.model.gravity(), level };
        let outcome = w.engine.accelerate_at_once(self, (q, v), &drive, vdot)?;
        Some(outcome.map(|()| power))
    }

    /// Gravity as an upward acceleration of the ground.
    fn ground(&self) -> Twist {
        Twist::new(Vec3::zeros(), -self.model.gravity())
    }

    /// Accelerations by the loads in `w`.
    pub(crate) fn accelerate(&self, now: Instant, vdot: &mut [f64], w: &mut Workspace) -> Result<(), DynamicsError> {
        self.answer(now, vdot, w, false)
    }

    /// The same with the forces of all rows, in `w.lambda`.
    pub(crate) fn react(&self, now: Instant, vdot: &mut [f64], w: &mut Workspace) -> Result<(), DynamicsError> {
        self.answer(now, vdot, w, true)
    }

    fn answer(
        &self,
        now: Instant,
        vdot: &mut [f64],
        w: &mut Workspace,
        with_forces: bool,
    ) -> Result<(), DynamicsError> {
        self.set_wanted(now, false, w);
        let Workspace { engine, kinematics, rows, closures, tau, external, prescribed, acceleration, lambda, .. } = w;
        let at = Posed { system: self, kinematics, rows, closures };
        let external = self.needs_positions.then_some(&external[..]);
        let level = Level::Acceleration(self.ground());
        let drive = Drive { tau, external, held: prescribed, gravity: self.model.gravity(), level };
        let mut answer = Answer { rates: vdot, links: acceleration, lambda };
        if with_forces { engine.react(&at, &drive, &mut answer) } else { engine.solve(&at, &drive, &mut answer) }
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
