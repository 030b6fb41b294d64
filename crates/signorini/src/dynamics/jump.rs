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
use super::system::{System, Workspace};
use crate::dynamics::dense::{BodyMotion, Drive};
use crate::dynamics::recursive::loops::{Loops, RowKind};
use crate::dynamics::tree::Kinematics;
use crate::model::Instant;
use crate::scene::Formulation;
use crate::spatial::{Twist, Vec3, Wrench};

/// Passes of iterative refinement over the loops, as for accelerations and one more: impulses are asked for to more digits.
const PASSES: usize = 3;

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
        self.update_closures(w);
        for i in (0..self.tree.links.len()).filter(|&i| before.is_new[i]) {
            self.measure_new_joint(i, v, before, w);
        }
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
        let residual = (0..w.loops.n_hard).fold(0.0, |m: f64, r| {
            let is_length = Loops::direction(&w.loops.rows[r], &w.closures).force != Vec3::zeros();
            let unit = if is_length { speed } else { speed / self.model.characteristic_length() };
            let opening = self.opening_jump(r, now, w).abs();
            if opening == 0.0 { m } else { m.max(opening / unit) }
        });
        self.add_loop_forces(w);
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
        for (row, lambda) in w.loops.rows.iter().zip(&w.loops.lambda) {
            if let RowKind::Prescribed(k) = row.kind {
                jumped.work += lambda * self.cut_motion(row.cut, k, now)[1];
            }
        }
        jumped.impulses = self.impulses(w);
        if !w.loops.rows.is_empty() {
            jumped.redundant = self.dependent_rows(w).iter().map(|row| self.name_row(row)).collect();
            jumped.redundant.sort();
        }
        if self.formulation == Formulation::Dense {
            self.jump_dense(now, (&was, v), before, &mut jumped, w)?;
        }
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
        for (cut, closure) in self.cuts.iter().zip(&w.closures).filter(|(cut, _)| cut.spin.is_none()) {
            let jump = cut.relative_acceleration(closure, &jumped.twists, &Twist::default());
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
                self.update_kinematics(q, &rest, w);
                self.update_positions(w);
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
        let none = Vec3::zeros();
        for closure in &mut w.closures {
            closure.bias = Twist::default();
        }
        if self.formulation == Formulation::Dca {
            return self.solve_jump_dca(now, delta, w);
        }
        w.recursion.update_articulated(&self.tree, &w.kinematics, &w.tau, &w.prescribed, Some(&w.external));
        if let Some(link) = w.recursion.singular {
            return Err(self.no_inertia(link));
        }
        if w.loops.rows.is_empty() {
            w.recursion.update_accelerations(
                &self.tree,
                &w.kinematics,
                &none,
                &w.prescribed,
                delta,
                &mut w.acceleration,
            );
            return Ok(());
        }
        w.loops.factor(w.recursion.swept(&self.tree, &w.kinematics), &self.cuts, &w.closures, true);
        w.loops.begin();
        for _ in 0..PASSES {
            w.recursion.update_accelerations(
                &self.tree,
                &w.kinematics,
                &none,
                &w.prescribed,
                delta,
                &mut w.acceleration,
            );
            for r in 0..w.loops.rows.len() {
                let b = -self.opening_jump(r, now, w);
                w.loops.set_rhs(r, b);
            }
            w.loops.solve();
            w.loops.apply(&mut w.recursion.pivots);
            w.loops.accumulate();
        }
        w.recursion.update_accelerations(&self.tree, &w.kinematics, &none, &w.prescribed, delta, &mut w.acceleration);
        Ok(())
    }

    /// Rate at which a row opens after the jump in `w.acceleration`.
    pub(crate) fn opening_jump(&self, r: usize, now: Instant, w: &Workspace) -> f64 {
        let row = &w.loops.rows[r];
        let closure = &w.closures[row.cut];
        let direction = Loops::direction(row, &w.closures);
        let jump = self.cuts[row.cut].relative_acceleration(closure, &w.acceleration, &Twist::default());
        let after = |wanted: f64| (jump.dot(&direction) + closure.relative.dot(&direction)) - wanted;
        match row.kind {
            RowKind::Closed(_) => after(0.0),
            RowKind::Prescribed(k) => after(self.cut_motion(row.cut, k, now)[1]),
            // A rotor's own jump is what its row has pushed it by.
            RowKind::Rotor(_, inertia) if self.formulation == Formulation::Dca => {
                jump.dot(&direction) + w.loops.lambda[r] / inertia
            }
            RowKind::Rotor(..) => jump.dot(&direction) - w.loops.rotor_acceleration(r),
        }
    }

    /// Impulses of all joints, from `w.wrenches` and the loop multipliers; not a number where a joint does not exist.
    fn impulses(&self, w: &Workspace) -> Vec<[f64; 6]> {
        let mut impulses = vec![[f64::NAN; 6]; self.model.joints().len()];
        for (j, link) in self.plan.link_of_joint.iter().enumerate() {
            if let Some(l) = *link {
                impulses[j] = self.tree_reaction(l, w).to_array();
            }
        }
        for (c, cut) in self.cuts.iter().enumerate() {
            let own = self.cut_wrench(c, w).to_array();
            let sum = &mut impulses[cut.joint.index()];
            if cut.spin.is_some() {
                sum.iter_mut().zip(own).for_each(|(s, o)| *s += o);
            } else {
                *sum = own;
            }
        }
        impulses
    }

    /// The same by the oracle: momenta for forces, velocities after for accelerations.
    fn jump_dense(
        &self,
        now: Instant,
        (was, v): (&[f64], &mut [f64]),
        before: &Before<'_>,
        jumped: &mut Jumped,
        w: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        let model = &self.model;
        let mut motion = vec![BodyMotion::default(); model.bodies().len()];
        let mut momenta = vec![Wrench::default(); model.bodies().len()];
        let view = self.view(&w.kinematics);
        for (i, link) in self.plan.links.iter().enumerate() {
            let body = &model.bodies()[link.body.index()];
            let pose = view.body_pose(Some(link.body));
            let arm = w.kinematics.links[i].rotation * self.tree.links[i].inertia.com;
            let twist = before.twists[i].shifted(&arm);
            let inertia = body.central.rotated(&pose.rotation);
            motion[link.body.index()] = BodyMotion { pose, twist: Twist::default() };
            momenta[link.body.index()] =
                Wrench::new(inertia.times(&twist.angular), twist.linear * body.mass) + before.struck[i].shifted(&-arm);
        }
        let mut joint_forces = vec![0.0; model.n_joint_v()];
        let mut prescribed = vec![None; model.n_joint_v()];
        for (j, joint) in model.joints().iter().enumerate().filter(|(_, j)| !j.is_absent) {
            for k in 0..joint.v.len() {
                let at = joint.v.start + k;
                prescribed[at] = joint.fittings.motion(k).map(|s| s.at(now)[1]);
                let rotor = joint.fittings.armature.get(k).copied().unwrap_or(0.0);
                let was = match self.plan.link_of_joint[j] {
                    Some(l) => was[self.tree.links[l].v as usize + k],
                    None => self
                        .cuts
                        .iter()
                        .position(|c| c.joint.index() == j)
                        .map_or(0.0, |c| w.closures[c].relative.dot(&w.closures[c].measures[k])),
                };
                joint_forces[at] = rotor * was;
            }
        }
        let Some(dense) = &mut w.dense else { return Err(DynamicsError::Internal("no dense workspace")) };
        let drive =
            Drive { external: &momenta, joint_forces: &joint_forces, prescribed: &prescribed, gravity: Vec3::zeros() };
        dense.solve(model, &motion, &drive);
        for (i, link) in self.plan.links.iter().enumerate() {
            let arm = w.kinematics.links[i].rotation * self.tree.links[i].inertia.com;
            let after = dense.bodies[link.body.index()];
            jumped.twists[i] = after.shifted(&-arm) - before.twists[i];
            let range = self.tree.links[i].v_range();
            match link.joint {
                Some(j) => {
                    v[range].copy_from_slice(&dense.joint_acceleration[model.joints()[j.index()].v.clone()]);
                }
                None => {
                    let turn = motion[link.body.index()].pose.rotation.tr_mul(&after.angular);
                    v[range.start..range.start + 3].copy_from_slice(after.linear.as_slice());
                    v[range.start + 3..range.end].copy_from_slice(turn.as_slice());
                }
            }
        }
        for (link, k, signal) in &self.motions {
            v[self.tree.links[*link].v as usize + k] = signal.at(now)[1];
        }
        for (j, _) in model.joints().iter().enumerate().filter(|(_, j)| !j.is_absent) {
            jumped.impulses[j] = dense.joint_wrenches[j].to_array();
        }
        Ok(())
    }
}
