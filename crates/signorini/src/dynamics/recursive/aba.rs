//! Forward dynamics: the articulated-body algorithm.
//!
//! **Problem.** Given coordinates, speeds and forces, find the accelerations of a tree.
//!
//! **Method.** Featherstone's articulated-body algorithm [featherstone2008, ch. 7], in world axes at each link's own
//! origin. Inwards: I ← I − U Uᵀ/D, p ← p + U u/D for each speed in turn with U = I s, D = sᵀU + rotor inertia,
//! u = τ − sᵀp, then p ← p + I c, then both move to the parent's origin. Outwards: a = a_parent + c,
//! v̇ = (u − Uᵀa)/D, a ← a + s v̇. A joint of several speeds is eliminated speed by speed (it is a chain of joints
//! without mass between), so no kind needs a small matrix of its own. A prescribed speed is not eliminated: its known
//! acceleration joins c. The speeds of a body that floats alone at its centre of mass fall into two groups of three.
//!
//! **Cost.** O(n): about 500 flops per revolute link, 450 where its inertia is diagonal; 200 per body that floats alone.
//!
//! **Fails when** a joint moves no inertia (D = 0 but for rounding); the link is remembered in `singular`.
//!
//! **Checked by** `tests/dynamics.rs`, against `dense` and by inverse dynamics.

use super::columns::{Columns, Force, lanes};
use super::{Pivot, Recursion};
use crate::dynamics::tree::{Handing, Kinematics, LinkKind, Tree};
use crate::simd::{Space, in_registers, wide};
use crate::spatial::{Inertia, Twist, Vec3, Wrench};

/// Inertia along a joint, over that of what it carries about any axis, which is nothing but rounding.
const NO_INERTIA: f64 = 64.0 * f64::EPSILON;

impl Recursion {
    /// Inertias, bias forces and pivots from the tips inwards. `prescribed` holds the accelerations of prescribed speeds,
    /// `external` a wrench on each link at its origin.
    pub fn update_articulated(
        &mut self,
        tree: &Tree,
        kinematics: &Kinematics,
        tau: &[f64],
        prescribed: &[f64],
        external: Option<&[Wrench]>,
    ) {
        in_registers!(|token: V| self.sweep_inwards::<V>(token, tree, kinematics, tau, prescribed, external));
    }

    #[inline(always)]
    fn sweep_inwards<V: Space>(
        &mut self,
        token: V::Token,
        tree: &Tree,
        kinematics: &Kinematics,
        tau: &[f64],
        prescribed: &[f64],
        external: Option<&[Wrench]>,
    ) {
        // Slices of their own: what is written into one does not move the others, which the compiler cannot know of vectors.
        let Self { pivots, moved, inertia: collected, bias: collected_bias, singular, .. } = self;
        let (pivots, moved) = (&mut pivots[..], &mut moved[..]);
        let (collected, collected_bias) = (&mut collected[..], &mut collected_bias[..]);
        let (motions, columns) = (&kinematics.links[..], &kinematics.columns[..]);
        let (floats, prescribed_speeds, armature) = (&tree.floats[..], &tree.prescribed[..], &kinematics.armature[..]);
        let has_prescribed = tree.has_prescribed;
        *singular = None;
        // What a link hands to its parent stays in registers where the parent comes next; only branchings collect in memory.
        let mut handed: Option<(Columns<V>, Force<V>)> = None;
        for (i, link) in tree.links.iter().enumerate().rev() {
            let motion = &motions[i];
            if floats[i] {
                let body = link.inertia.rotated(&motion.rotation);
                let own = body.gyroscopic(&motion.omega);
                let bias = external.map_or(own, |external| own - external[i]);
                let speeds = link.v_range();
                let (columns, pivots) = (&columns[speeds.clone()], &mut pivots[speeds.clone()]);
                if !eliminate_floating(columns, &body, bias, &tau[speeds], pivots) {
                    *singular = Some(i);
                }
                handed = None;
                continue;
            }
            let (mut inertia, mut bias) = Columns::of_body(token, &link.inertia, &motion.rotation, &motion.omega);
            if let Some(external) = external {
                bias = bias.minus(Force::load(token, &external[i]));
            }
            if let Some((i, p)) = handed.take() {
                (inertia, bias) = (inertia.plus(i), bias.plus(p));
            }
            if link.collects {
                let (i, p) = (Columns::take(token, &mut collected[i]), Force::take(token, &mut collected_bias[i]));
                (inertia, bias) = (inertia.plus(i), bias.plus(p));
            }
            let mut c = motion.bias;
            let d: V = lanes(token, &motion.offset);
            match link.kind {
                LinkKind::Revolute(axis) if !has_prescribed => {
                    let v = link.v as usize;
                    let s = axis.of(&motion.rotation);
                    let reaction = inertia.times_angular(&s);
                    let across = reaction.to_wrench();
                    let along = s.dot(&across.moment) + armature[v];
                    let inverse = 1.0 / along;
                    // What the bias acceleration does to this speed is known already.
                    let force = tau[v] - s.dot(&bias.to_wrench().moment) - c.dot(&across);
                    let shifted = reaction.shifted(d);
                    pivots[v] = Pivot { across, inverse, force };
                    moved[v] = shifted.to_wrench();
                    if along <= NO_INERTIA * inertia.traces().0 || along.is_nan() {
                        *singular = Some(i);
                    }
                    // Both I and U move to the parent's origin while 1/D is on its way, and only then meet: moving is linear,
                    // and (I − UUᵀ/D) c + U u/D = I c + U (u − Uᵀc)/D. The chain of operations that each link waits for
                    // is half as long as in the textbook's order.
                    let shares = inertia.times_angular(&c.angular).plus(inertia.times_linear(&c.linear));
                    bias = bias.plus(shares).shifted(d).plus(shifted.times(force * inverse));
                    inertia = inertia.shifted(d, &motion.offset).minus_outer(shifted.times(inverse), &moved[v]);
                }
                _ => {
                    for v in link.v_range() {
                        let s = kinematics.unit_motion(i, link, v);
                        if prescribed_speeds[v] {
                            c += s * prescribed[v];
                            pivots[v] = Pivot::default();
                            continue;
                        }
                        let reaction = inertia.times_angular(&s.angular).plus(inertia.times_linear(&s.linear));
                        let across = reaction.to_wrench();
                        let along = s.dot(&across) + armature[v];
                        let inverse = 1.0 / along;
                        let (angular, linear) = inertia.traces();
                        let size = s.angular.norm_squared() * angular + s.linear.norm_squared() * linear;
                        if along <= NO_INERTIA * size || along.is_nan() {
                            *singular = Some(i);
                        }
                        let force = tau[v] - s.dot(&bias.to_wrench());
                        pivots[v] = Pivot { across, inverse, force };
                        inertia = inertia.minus_outer(reaction.times(inverse), &across);
                        bias = bias.plus(reaction.times(force * inverse));
                    }
                    if link.handing == Handing::Ground {
                        continue;
                    }
                    let shares = inertia.times_angular(&c.angular).plus(inertia.times_linear(&c.linear));
                    bias = bias.plus(shares).shifted(d);
                    inertia = inertia.shifted(d, &motion.offset);
                }
            }
            match link.handing {
                Handing::Next => handed = Some((inertia, bias)),
                Handing::Collected => {
                    inertia.add_to(&mut collected[link.parent as usize]);
                    bias.add_to(&mut collected_bias[link.parent as usize]);
                }
                Handing::Ground => {}
            }
        }
        self.work += tree.links.len() as u64;
    }

    /// Accelerations from the ground outwards, with the pivots of [`Self::update_articulated`]: of the speeds in `vdot`, of the links'
    /// origins in `links`, gravity counted as an upward acceleration of the ground.
    pub fn update_accelerations(
        &mut self,
        tree: &Tree,
        kinematics: &Kinematics,
        gravity: &Vec3,
        prescribed: &[f64],
        vdot: &mut [f64],
        links: &mut [Twist],
    ) {
        wide!(self.sweep_outwards(tree, kinematics, gravity, prescribed, vdot, links));
    }

    #[inline(always)]
    fn sweep_outwards(
        &mut self,
        tree: &Tree,
        kinematics: &Kinematics,
        gravity: &Vec3,
        prescribed: &[f64],
        vdot: &mut [f64],
        links: &mut [Twist],
    ) {
        let ground = Twist::new(Vec3::zeros(), -gravity);
        for (i, link) in tree.links.iter().enumerate() {
            let motion = &kinematics.links[i];
            let inner = link.parent_index().map_or(ground, |p| links[p]);
            let mut a = inner.shifted(&motion.offset) + motion.bias;
            match link.kind {
                LinkKind::Revolute(axis) if !tree.has_prescribed => {
                    let v = link.v as usize;
                    let pivot = &self.pivots[v];
                    // From the parent's acceleration directly: `a` need not be waited for.
                    let acc = (pivot.force - inner.dot(&self.moved[v])) * pivot.inverse;
                    vdot[v] = acc;
                    a.angular += axis.of(&motion.rotation) * acc;
                }
                _ => {
                    for v in link.v_range().filter(|&v| tree.prescribed[v]) {
                        vdot[v] = prescribed[v];
                        a += kinematics.unit_motion(i, link, v) * vdot[v];
                    }
                    for v in link.v_range().rev().filter(|&v| !tree.prescribed[v]) {
                        let pivot = &self.pivots[v];
                        vdot[v] = (pivot.force - a.dot(&pivot.across)) * pivot.inverse;
                        a += kinematics.unit_motion(i, link, v) * vdot[v];
                    }
                }
            }
            links[i] = a;
        }
        self.work += tree.links.len() as u64;
    }
}

/// Pivots of a body that floats alone: its mass resists three speeds, its moments the others, and neither knows of the other. False if one of
/// them moves no inertia.
fn eliminate_floating(columns: &[Twist], body: &Inertia, bias: Wrench, tau: &[f64], pivots: &mut [Pivot]) -> bool {
    let zero = Vec3::zeros();
    let inverse = 1.0 / body.mass;
    for (k, s) in columns[..3].iter().enumerate() {
        let across = Wrench::new(zero, s.linear * body.mass);
        pivots[k] = Pivot { across, inverse, force: tau[k] - s.linear.dot(&bias.force) };
    }
    let (mut moments, mut moment) = (body.moments, bias.moment);
    let mut is_singular = body.mass.is_nan() || body.mass <= 0.0;
    for (k, s) in columns[3..].iter().enumerate() {
        let (k, s) = (3 + k, s.angular);
        let across = moments.times(&s);
        let along = s.dot(&across);
        is_singular |= along <= NO_INERTIA * moments.trace() || along.is_nan();
        let inverse = 1.0 / along;
        let force = tau[k] - s.dot(&moment);
        pivots[k] = Pivot { across: Wrench::new(across, zero), inverse, force };
        moments = moments.minus_outer(&across, &(across * inverse));
        moment += across * (force * inverse);
    }
    !is_singular
}
