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

use super::{Kinematics, Tree};
use crate::spatial::{Twist, Vec3, Wrench};

impl Kinematics {
    /// Accelerations of the links' origins for given accelerations of the speeds, after [`Self::update`]. Gravity counts as an upward
    /// acceleration of the ground.
    pub fn find_accelerations(&mut self, tree: &Tree, gravity: &Vec3, vdot: &[f64], out: &mut [Twist]) {
        let ground = Twist::new(Vec3::zeros(), -gravity);
        for (i, link) in tree.links.iter().enumerate() {
            let motion = &self.links[i];
            let inner = link.parent_index().map_or(ground, |p| out[p]);
            let mut a = inner.shifted(&motion.offset) + motion.bias;
            for v in link.v_range() {
                a += self.unit_motion(i, link, v) * vdot[v];
            }
            out[i] = a;
        }
        self.work += tree.links.len() as u64;
    }

    /// Joint forces for accelerations of the speeds and of the links' origins. `wrenches` receives what each link's joint
    /// transmits to it, at its origin in world axes.
    pub fn find_wrenches(
        &mut self,
        tree: &Tree,
        (vdot, accelerations): (&[f64], &[Twist]),
        external: Option<&[Wrench]>,
        wrenches: &mut [Wrench],
        tau: &mut [f64],
    ) {
        wrenches.fill(Wrench::default());
        for (i, link) in tree.links.iter().enumerate().rev() {
            let motion = &self.links[i];
            let body = link.inertia.rotated(&motion.rotation);
            wrenches[i] += body.to_sym6().times(&accelerations[i]) + body.gyroscopic(&motion.omega);
            if let Some(external) = external {
                wrenches[i] = wrenches[i] - external[i];
            }
            for v in link.v_range() {
                let s = self.unit_motion(i, link, v);
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
