//! Velocities are carried along the displacement that removes overlap.
//!
//! **Problem.** A mechanism is bent from q to q ⊕ δ, in no time. Speeds of joints are relative: kept as they are, they would give the bodies other
//! velocities than they had, and where links turn fast and δ is as large as the way of a step, energy out of nothing.
//!
//! **Method.** What bodies keep is their velocity V: of their centre of mass in world axes, angular in their own, so that ½ Vᵀ M V stays what it is. Speeds
//! after the displacement are those whose velocities are nearest, min ‖J(q ⊕ δ)(v + Δv) − V‖ in the kinetic metric: the equations of an impact without impulse,
//! which `dynamics/jump.rs` solves. A projection does not lengthen: **kinetic energy does not rise**. Loops stay closed, prescribed speeds what they are.
//!
//! The default scheme leaves overlap of second order, ρ (h ω)², where bodies turn, and to keep speeds then errs no more than the step does. It carries velocities
//! where overlap is deeper, which the scene has put there or others have pushed together. After Moreau what comes fast overlaps by the way of a step, and velocities are always carried.
//!
//! **Cost.** Two sweeps for positions and the two of the articulated-body algorithm, in such steps.
//!
//! **Fails when** a joint moves no inertia.
//!
//! **Checked by** `tests/contact_carry.rs`.

use super::constraint::ContactConstraint;
use super::motion::{Interval, Mechanism};
use super::quantity::{Displacement, Speeds};
use super::search::joint_of;
use crate::dynamics::System;
use crate::dynamics::tree::Link;
use crate::spatial::{Mat3, Twist, Vec3, Wrench};
use crate::state::State;
use crate::step::StepError;

/// What a body keeps: the velocity of its centre of mass, and its angular velocity in the axes that it has.
#[derive(Debug, Clone, Copy)]
struct Kept {
    linear: Vec3,
    angular: Vec3,
    rotation: Mat3,
}

/// Scratch of the transport.
pub(crate) struct Transport {
    kept: Vec<Kept>,
    change: Speeds,
}

/// Whether a displacement bends a mechanism. A body that floats alone keeps its velocity with its speeds.
pub(super) fn bends(system: &System, apart: &Displacement) -> bool {
    let tree = &system.tree;
    let is_bent = |(i, link): (usize, &Link)| !tree.floats[i] && link.v_range().any(|at| apart[at] != 0.0);
    tree.links.iter().enumerate().any(is_bent)
}

/// Whether something overlapped by more than bodies do that have turned by `turn` in the step, ρ (h ω)².
pub(super) fn is_deeper_than_turning(system: &System, turn: f64, list: &[ContactConstraint]) -> bool {
    let bending = system.model.characteristic_length() * turn * turn;
    // Coordinates of joints do not bend: what lies beyond a limit was put there.
    let allowed = |t: &ContactConstraint| if joint_of(t.id).is_some() { t.rounding } else { bending.max(t.rounding) };
    list.iter().any(|t| t.is_unilateral() && -t.gap > allowed(t))
}

impl Transport {
    pub fn new(n_links: usize, n_v: usize) -> Self {
        Self { kept: Vec::with_capacity(n_links), change: Speeds::zeros(n_v) }
    }

    /// Moves `next` on by a displacement, and takes velocities along.
    pub fn apply(
        &mut self,
        m: &mut Mechanism<'_>,
        over: &Interval<'_>,
        apart: &Displacement,
        next: &mut State,
    ) -> Result<(), StepError> {
        let (system, w) = (m.system, &mut *m.w);
        let tree = &system.tree;
        system.place(&next.q, &next.v, w);
        self.kept.clear();
        self.kept.extend(tree.links.iter().zip(&w.kinematics.links).zip(&w.kinematics.velocity).map(
            |((link, motion), velocity)| {
                let arm = motion.rotation * link.inertia.com;
                Kept { linear: velocity + motion.omega.cross(&arm), angular: motion.omega, rotation: motion.rotation }
            },
        ));
        system.displace(&mut next.q, apart, 1.0);
        system.place(&next.q, &next.v, w);
        system.update_rows(&next.q, &next.v, w);
        let kinematics = &mut w.kinematics;
        for (i, (link, kept)) in tree.links.iter().zip(&self.kept).enumerate() {
            let motion = &mut kinematics.links[i];
            let inertia = link.inertia.rotated(&motion.rotation);
            let angular = motion.rotation * kept.rotation.tr_mul(&kept.angular);
            let before = Twist::new(angular, kept.linear - angular.cross(&inertia.com));
            let lost = before - Twist::new(motion.omega, kinematics.velocity[i]);
            // Bodies that float alone keep their speeds, to the bit.
            w.external[i] = if tree.floats[i] { Wrench::default() } else { inertia.to_sym6().times(&lost) };
            motion.omega = Vec3::zeros();
            motion.bias = Twist::default();
        }
        w.tau.fill(0.0);
        w.prescribed.fill(0.0);
        system.solve_jump(over.end(), &mut self.change, w)?;
        next.v.iter_mut().zip(&*self.change).for_each(|(v, d)| *v += d);
        Ok(())
    }
}
