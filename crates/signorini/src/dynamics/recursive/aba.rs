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
#[cfg(target_arch = "x86_64")]
use crate::spatial::Quad;
use crate::spatial::{Inertia, Space, Twist, Vec3, Wrench, wide};

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
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just been asked.
            return unsafe { self.sweep_inwards_avx2(tree, kinematics, tau, prescribed, external) };
        }
        // SAFETY: numbers in memory need no registers.
        unsafe { self.sweep_inwards::<[f64; 4]>(tree, kinematics, tau, prescribed, external) };
    }

    /// The same in wider registers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn sweep_inwards_avx2(
        &mut self,
        tree: &Tree,
        kinematics: &Kinematics,
        tau: &[f64],
        prescribed: &[f64],
        external: Option<&[Wrench]>,
    ) {
        // SAFETY: the processor is one that has them.
        unsafe { self.sweep_inwards::<Quad>(tree, kinematics, tau, prescribed, external) };
    }

    /// # Safety
    ///
    /// The processor must have the registers.
    #[inline(always)]
    unsafe fn sweep_inwards<V: Space>(
        &mut self,
        tree: &Tree,
        kinematics: &Kinematics,
        tau: &[f64],
        prescribed: &[f64],
        external: Option<&[Wrench]>,
    ) {
        self.singular = None;
        // What a link hands to its parent stays in registers where the parent comes next; only branchings collect in memory.
        let mut handed: Option<(Columns<V>, Force<V>)> = None;
        for (i, link) in tree.links.iter().enumerate().rev() {
            let motion = &kinematics.links[i];
            if tree.floats[i] {
                let body = link.inertia.rotated(&motion.rotation);
                let own = body.gyroscopic(&motion.omega);
                let bias = external.map_or(own, |external| own - external[i]);
                let columns = &kinematics.columns[link.v_range()];
                self.eliminate_floating((i, link.v as usize), columns, &body, bias, tau);
                handed = None;
                continue;
            }
            // SAFETY: as promised by the caller.
            let (mut inertia, mut bias) = unsafe { Columns::of_body(&link.inertia, &motion.rotation, &motion.omega) };
            if let Some(external) = external {
                // SAFETY: as promised by the caller.
                bias = bias.minus(unsafe { Force::load(&external[i]) });
            }
            if let Some((i, p)) = handed.take() {
                (inertia, bias) = (inertia.plus(i), bias.plus(p));
            }
            if link.collects {
                // SAFETY: as promised by the caller.
                let (i, p) = unsafe { (Columns::take(&mut self.inertia[i]), Force::take(&mut self.bias[i])) };
                (inertia, bias) = (inertia.plus(i), bias.plus(p));
            }
            let mut c = motion.bias;
            // SAFETY: as promised by the caller.
            let d: V = unsafe { lanes(&motion.offset) };
            match link.kind {
                LinkKind::Revolute(axis) if !tree.has_prescribed => {
                    let v = link.v as usize;
                    let s = axis.of(&motion.rotation);
                    let reaction = inertia.times_angular(&s);
                    let across = reaction.to_wrench();
                    let along = s.dot(&across.moment) + tree.armature[v];
                    let inverse = 1.0 / along;
                    // What the bias acceleration does to this speed is known already.
                    let force = tau[v] - s.dot(&bias.to_wrench().moment) - c.dot(&across);
                    let moved = reaction.shifted(d);
                    self.pivots[v] = Pivot { across, inverse, force };
                    self.moved[v] = moved.to_wrench();
                    if along <= NO_INERTIA * inertia.traces().0 || along.is_nan() {
                        self.singular = Some(i);
                    }
                    // Both I and U move to the parent's origin while 1/D is on its way, and only then meet: moving is linear,
                    // and (I − UUᵀ/D) c + U u/D = I c + U (u − Uᵀc)/D. The chain of operations that each link waits for
                    // is half as long as in the textbook's order.
                    let shares = inertia.times_angular(&c.angular).plus(inertia.times_linear(&c.linear));
                    bias = bias.plus(shares).shifted(d).plus(moved.times(force * inverse));
                    inertia = inertia.shifted(d, &motion.offset).minus_outer(moved.times(inverse), &self.moved[v]);
                }
                _ => {
                    for v in link.v_range() {
                        let s = kinematics.unit_motion(i, link, v);
                        if tree.prescribed[v] {
                            c += s * prescribed[v];
                            self.pivots[v] = Pivot::default();
                            continue;
                        }
                        let reaction = inertia.times_angular(&s.angular).plus(inertia.times_linear(&s.linear));
                        let across = reaction.to_wrench();
                        let along = s.dot(&across) + tree.armature[v];
                        let inverse = 1.0 / along;
                        let (angular, linear) = inertia.traces();
                        let size = s.angular.norm_squared() * angular + s.linear.norm_squared() * linear;
                        if along <= NO_INERTIA * size || along.is_nan() {
                            self.singular = Some(i);
                        }
                        let force = tau[v] - s.dot(&bias.to_wrench());
                        self.pivots[v] = Pivot { across, inverse, force };
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
                    inertia.add_to(&mut self.inertia[link.parent as usize]);
                    bias.add_to(&mut self.bias[link.parent as usize]);
                }
                Handing::Ground => {}
            }
        }
        self.work += tree.links.len() as u64;
    }

    /// Pivots of a body that floats alone: its mass resists three speeds, its moments the others, and neither knows of the other.
    fn eliminate_floating(
        &mut self,
        (i, v): (usize, usize),
        columns: &[Twist],
        body: &Inertia,
        bias: Wrench,
        tau: &[f64],
    ) {
        let zero = Vec3::zeros();
        let inverse = 1.0 / body.mass;
        for (k, s) in columns[..3].iter().enumerate() {
            let across = Wrench::new(zero, s.linear * body.mass);
            self.pivots[v + k] = Pivot { across, inverse, force: tau[v + k] - s.linear.dot(&bias.force) };
        }
        let (mut moments, mut moment) = (body.moments, bias.moment);
        let mut is_singular = body.mass.is_nan() || body.mass <= 0.0;
        for (k, s) in columns[3..].iter().enumerate() {
            let (k, s) = (v + 3 + k, s.angular);
            let across = moments.times(&s);
            let along = s.dot(&across);
            is_singular |= along <= NO_INERTIA * moments.trace() || along.is_nan();
            let inverse = 1.0 / along;
            let force = tau[k] - s.dot(&moment);
            self.pivots[k] = Pivot { across: Wrench::new(across, zero), inverse, force };
            moments = moments.minus_outer(&across, &(across * inverse));
            moment += across * (force * inverse);
        }
        if is_singular {
            self.singular = Some(i);
        }
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
        wide(
            #[inline(always)]
            || self.sweep_outwards(tree, kinematics, gravity, prescribed, vdot, links),
        );
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
