//! Inverse dynamics: the recursive Newton–Euler algorithm.
//!
//! **Problem.** Given coordinates, speeds and accelerations of a tree, find the joint forces, and the wrench that each
//! joint transmits.
//!
//! **Method.** Accelerations outwards, Newton–Euler per link, forces inwards [featherstone2008, ch. 5].
//!
//! **Cost.** O(n).
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/dynamics.rs`: inverse ∘ forward is the identity.

use super::{Recursion, Tree};
use crate::spatial::{Twist, Vec3, Wrench};

impl Recursion {
    /// Joint forces for given accelerations, after [`Self::update_kinematics`]. `wrenches` receives what each link's joint
    /// transmits to it, at its origin in world axes.
    pub fn inverse_dynamics(
        &mut self,
        tree: &Tree,
        gravity: &Vec3,
        vdot: &[f64],
        external: Option<&[Wrench]>,
        wrenches: &mut [Wrench],
        tau: &mut [f64],
    ) {
        let ground = Twist::new(Vec3::zeros(), -gravity);
        for (i, link) in tree.links.iter().enumerate() {
            let motion = &self.kinematics.links[i];
            let inner = link.parent_index().map_or(ground, |p| self.acceleration[p]);
            let mut a = inner.shifted(&motion.offset) + motion.bias;
            for v in link.v_range() {
                a += self.kinematics.unit_motion(i, link, v) * vdot[v];
            }
            self.acceleration[i] = a;
        }
        self.work += tree.links.len() as u64;
        self.update_wrenches(tree, vdot, external, wrenches, tau);
    }

    /// The inward half: what each joint transmits, and its force along each speed, for accelerations that are known.
    pub fn update_wrenches(
        &mut self,
        tree: &Tree,
        vdot: &[f64],
        external: Option<&[Wrench]>,
        wrenches: &mut [Wrench],
        tau: &mut [f64],
    ) {
        wrenches.fill(Wrench::default());
        for (i, link) in tree.links.iter().enumerate().rev() {
            let motion = &self.kinematics.links[i];
            let body = link.inertia.rotated(&motion.rotation);
            wrenches[i] += body.to_sym6().times(&self.acceleration[i]) + body.gyroscopic(&motion.omega);
            if let Some(external) = external {
                wrenches[i] = wrenches[i] - external[i];
            }
            for v in link.v_range() {
                let s = self.kinematics.unit_motion(i, link, v);
                tau[v] = s.dot(&wrenches[i]) + tree.armature[v] * vdot[v];
            }
            if let Some(p) = link.parent_index() {
                let shifted = wrenches[i].shifted(&motion.offset);
                wrenches[p] += shifted;
            }
        }
        self.work += tree.links.len() as u64;
    }
}
