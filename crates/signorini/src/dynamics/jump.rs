//! Velocity jumps and impulses at an event.
//!
//! **Problem.** Velocities V⁻ of all bodies are known; from now on the mechanism has other constraints. Find the velocities just after,
//! and the impulses of all joints.
//!
//! **Method.** The impulse–momentum equations M ΔV = Jᵀ Λ + p with J V⁺ = w, written for the jump ΔV itself [mukherjee2007, eq. 13–43].
//! They are the equations of motion at rest with ΔV for the acceleration, so the same sweeps solve them. A link's joint
//! demands ΔV_i = ΔV_parent + S δ + c with c = S v − (V_i⁻ − V_parent⁻): what of the old relative velocity the joint no longer
//! allows. Joints that were there before have c = 0. Locked and driven speeds are known, δ = w − v. Loops follow as in
//! `dynamics/recursive/loops.rs`. An event that changes nothing gives ΔV = 0 to the bit.
//!
//! **Cost.** Three sweeps over the links, two more where the tree is another than before; with loops what they cost in an
//! evaluation.
//!
//! **Fails when** constraints contradict each other (the residual is reported), or a joint moves no inertia.
//!
//! **Checked by** `tests/events/main.rs`: dense = recursive, momentum, Carnot, and references.

use super::error::DynamicsError;
use super::formulation::{Answer, Drive, Formulation, JumpStart, Posed};
use super::row::{Level, RowKind};
use super::system::{System, Workspace};
use crate::dynamics::tree::Kinematics;
use crate::model::Instant;
use crate::spatial::{Twist, Vec3, Wrench};

/// What is known before a jump, by links of the new tree.
pub(crate) struct Before<'a> {
    /// Velocity of each link at its origin.
    pub twists: &'a [Twist],
    /// Whether a link's joint is not the one that it was.
    pub is_new: &'a [bool],
    /// Applied impulse on each link at its origin.
    pub struck: &'a [Wrench],
    /// Joints that were not there, or not as they are now, scene order.
    pub is_new_joint: &'a [bool],
    /// Kinematics before, where the tree is the same.
    pub kinematics: Option<&'a Kinematics>,
}

/// What a jump did beside changing speeds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jumped {
    /// Jump of each link's velocity at its origin.
    pub twists: Vec<Twist>,
    /// Impulse of each joint on its child at the child's joint frame, scene order.
    pub impulses: Vec<[f64; 6]>,
    /// Impulse of each condition of couplings, scene order; not a number where it does not act.
    pub coupling_impulses: Vec<f64>,
    /// Work of constraints that move by themselves.
    pub work: f64,
    /// Kinetic energy of the jump, rotors included.
    pub energy: f64,
    /// Kinetic energy that rotors brought along which came with their joints.
    pub brought: f64,
    /// What is left of the conditions on velocities, over the mechanism's speed.
    pub residual: f64,
    /// Rows that follow from others: joint and what it forbids.
    pub redundant: Vec<(String, String)>,
}

impl System {
    /// Finds the speeds after an event at coordinates `q`. `v` holds the speeds before where a joint is not new.
    pub(crate) fn jump(
        &self,
        now: Instant,
        q: &[f64],
        v: &mut [f64],
        before: &Before<'_>,
        w: &mut Workspace,
    ) -> Result<Jumped, DynamicsError> {
        self.stand_still(q, before, w);
        for i in (0..self.tree.links.len()).filter(|&i| before.is_new[i]) {
            self.measure_new_joint(i, v, before, w);
        }
        self.update_rows(q, v, w);
        for i in 0..self.tree.links.len() {
            w.kinematics.links[i].omega = Vec3::zeros();
        }
        w.prescribed.fill(0.0);
        for (link, k, signal) in &self.motions {
            let at = self.tree.links[*link].v as usize + k;
            w.prescribed[at] = signal.at(now)[1] - v[at];
        }
        w.tau.fill(0.0);
        w.external.copy_from_slice(before.struck);
        let mut delta = vec![0.0; v.len()];
        self.solve_jump(now, &mut delta, w)?;
        let speed = self.reference_speed(before, w);
        let residual = (0..w.rows.n_hard).fold(0.0, |m: f64, r| {
            let unit = if w.rows.row(r).is_length { speed } else { speed / self.model.characteristic_length() };
            let opening = w.rows.opening(r, Level::Jump, &w.acceleration, &delta).abs();
            if opening == 0.0 { m } else { m.max(opening / unit) }
        });
        self.add_row_forces(w);
        let external = Some(&w.external[..]);
        w.kinematics.find_wrenches(
            &self.tree,
            (&delta, &w.acceleration),
            external,
            &mut w.wrenches,
            &mut w.joint_forces,
        );
        let mut jumped = Jumped { residual, twists: w.acceleration.clone(), ..Jumped::default() };
        let was = v.to_vec();
        for (v, d) in v.iter_mut().zip(&delta) {
            *v += d;
        }
        for (link, k, signal) in &self.motions {
            let at = self.tree.links[*link].v as usize + k;
            v[at] = signal.at(now)[1];
            jumped.work += w.joint_forces[at] * v[at];
        }
        for (row, lambda) in w.rows.iter().zip(&w.lambda) {
            if let RowKind::Prescribed(_) = row.kind {
                jumped.work += lambda * row.wanted;
            }
        }
        jumped.impulses = self.impulses(w);
        jumped.coupling_impulses = vec![f64::NAN; self.model.n_coupling_rows()];
        self.visit_couplings(w, |at, r, scale| jumped.coupling_impulses[at] = w.lambda[r] / scale);
        jumped.redundant = self.name_dependent_rows(w);
        let (engine, at) = w.posed(self);
        engine.override_jump(&at, &JumpStart { now, was: &was, before }, v, &mut jumped)?;
        self.measure_energies(&was, v, before, &mut jumped, w);
        Ok(jumped)
    }

    /// Energies of the jump. A rotor that comes with its joint had the speed that the joint would have measured.
    fn measure_energies(&self, was: &[f64], v: &[f64], before: &Before<'_>, jumped: &mut Jumped, w: &Workspace) {
        for (i, link) in self.tree.links.iter().enumerate() {
            let body = link.inertia.rotated(&w.kinematics.links[i].rotation);
            jumped.energy += body.kinetic(&jumped.twists[i]);
            for at in link.v_range() {
                let (rotor, jump) = (self.tree.armature[at], v[at] - was[at]);
                jumped.energy += 0.5 * rotor * jump * jump;
                jumped.brought += if before.is_new[i] { 0.5 * rotor * was[at] * was[at] } else { 0.0 };
            }
        }
        for (cut, closure) in self.cuts.iter().zip(&w.closures) {
            let jump = cut.relative_motion(closure, &jumped.twists);
            let is_new = before.is_new_joint[cut.joint.index()];
            for (rotor, measure) in self.fittings(cut).armature.iter().zip(&closure.measures) {
                let (was, jump) = (closure.relative.dot(measure), jump.dot(measure));
                jumped.energy += 0.5 * rotor * jump * jump;
                jumped.brought += if is_new { 0.5 * rotor * was * was } else { 0.0 };
            }
        }
    }

    /// Kinematics at `q` with the velocities before, which the new joints need not allow.
    fn stand_still(&self, q: &[f64], before: &Before<'_>, w: &mut Workspace) {
        match before.kinematics {
            Some(known) => w.kinematics.clone_from(known),
            None => {
                w.displacement.fill(0.0);
                let rest = std::mem::take(&mut w.displacement);
                self.place(q, &rest, w);
                w.displacement = rest;
            }
        }
        let kinematics = &mut w.kinematics;
        for (i, twist) in before.twists.iter().enumerate() {
            kinematics.links[i].omega = twist.angular;
            kinematics.links[i].bias = Twist::default();
            kinematics.velocity[i] = twist.linear;
        }
    }

    /// The fastest point of the mechanism, roughly, before or after the jump: conditions on velocities are judged by it.
    fn reference_speed(&self, before: &Before<'_>, w: &Workspace) -> f64 {
        let length = self.model.characteristic_length();
        let after = before.twists.iter().zip(&w.acceleration).map(|(t, d)| *t + *d);
        let all = before.twists.iter().copied().chain(after);
        all.fold(0.0, |m: f64, t| m.max(t.angular.norm() * length).max(t.linear.norm()))
    }

    /// Speeds that a new joint would have measured, and what of the relative velocity it does not allow.
    fn measure_new_joint(&self, i: usize, v: &mut [f64], before: &Before<'_>, w: &mut Workspace) {
        let link = &self.tree.links[i];
        let offset = w.kinematics.links[i].offset;
        let inner = link.parent_index().map_or_else(Twist::default, |p| before.twists[p]).shifted(&offset);
        let relative = before.twists[i] - inner;
        let mut left = relative;
        // Rotations first: turning about the far end of a reversed joint moves the origin, too.
        for is_turn in [true, false] {
            for at in link.v_range() {
                let s = w.kinematics.unit_motion(i, link, at);
                let (size, along) = match is_turn {
                    true => (s.angular.norm_squared(), left.angular.dot(&s.angular)),
                    false if s.angular == Vec3::zeros() => (s.linear.norm_squared(), left.linear.dot(&s.linear)),
                    false => continue,
                };
                if size > 0.0 {
                    v[at] = along / size;
                    left = left - s * v[at];
                }
            }
        }
        w.kinematics.links[i].bias = -left;
    }

    pub(crate) fn solve_jump(&self, now: Instant, delta: &mut [f64], w: &mut Workspace) -> Result<(), DynamicsError> {
        self.set_wanted(now, true, w);
        let Workspace { engine, kinematics, rows, closures, tau, external, prescribed, acceleration, lambda, .. } = w;
        let at = Posed { system: self, kinematics, rows, closures };
        let drive =
            Drive { tau, external: Some(external), held: prescribed, gravity: Vec3::zeros(), level: Level::Jump };
        engine.solve(&at, &drive, &mut Answer { rates: delta, links: acceleration, lambda })
    }

    /// Impulses of all joints, from `w.wrenches` and the loop multipliers; not a number where a joint does not exist.
    fn impulses(&self, w: &Workspace) -> Vec<[f64; 6]> {
        let mut impulses = vec![[f64::NAN; 6]; self.model.joints().len()];
        for (j, link) in self.plan.link_of_joint.iter().enumerate() {
            if let Some(l) = *link {
                impulses[j] = self.tree_reaction(l, w).to_array();
            }
        }
        for (e, element) in self.elements.iter().enumerate() {
            let Some((joint, is_whole)) = element.joint(&self.cuts) else { continue };
            let own = self.element_wrench(e, w).to_array();
            let sum = &mut impulses[joint.index()];
            if is_whole {
                *sum = own;
            } else {
                sum.iter_mut().zip(own).for_each(|(s, o)| *s += o);
            }
        }
        self.add_couplers(w, &mut impulses);
        impulses
    }
}
