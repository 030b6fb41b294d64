//! Jacobians, momentum and kinetic energy.

use super::{Kinematics, Tree};
use crate::spatial::{Twist, Vec3, Wrench, transposed_product};
use nalgebra::{Matrix6xX, Vector6};

impl Kinematics {
    /// Jacobian of a link: its velocity at the point `at` (world, fixed in the link) is J·v, angular part first. After
    /// [`Self::update_positions`].
    pub fn jacobian(&self, tree: &Tree, link: usize, at: &Vec3) -> Matrix6xX<f64> {
        let mut jacobian = Matrix6xX::zeros(tree.n_v);
        let mut next = Some(link);
        while let Some(i) = next {
            let arm = at - self.origin[i];
            for v in tree.links[i].v_range() {
                let column = self.unit_motion(i, &tree.links[i], v).shifted(&arm).to_array();
                jacobian.set_column(v, &Vector6::from(column));
            }
            next = tree.links[i].parent_index();
        }
        jacobian
    }

    /// Linear momentum as `force` and angular momentum about the world origin as `moment`.
    pub fn momentum(&self, tree: &Tree) -> Wrench {
        let mut total = Wrench::default();
        for (i, link) in tree.links.iter().enumerate() {
            let body = link.inertia.rotated(&self.links[i].rotation);
            let momentum = body.to_sym6().times(&self.twist(i));
            total += momentum.shifted(&self.origin[i]);
        }
        total
    }

    /// Kinetic energy, rotors of tree joints included.
    pub fn kinetic_energy(&self, tree: &Tree, v: &[f64]) -> f64 {
        let rotors: f64 = tree.armature.iter().zip(v).map(|(i, v)| 0.5 * i * v * v).sum();
        let bodies = tree.links.iter().enumerate().map(|(i, link)| {
            // In the link's axes, where its inertia is known.
            let axes = &self.links[i].rotation;
            let Twist { angular, linear } = self.twist(i);
            link.inertia.kinetic(&Twist::new(transposed_product(axes, &angular), transposed_product(axes, &linear)))
        });
        rotors + bodies.sum::<f64>()
    }

    /// Potential energy of uniform gravity.
    pub fn gravity_potential(&self, tree: &Tree, gravity: &Vec3) -> f64 {
        let bodies = tree.links.iter().enumerate().map(|(i, link)| {
            let com = self.origin[i] + self.links[i].rotation * link.inertia.com;
            -link.inertia.mass * gravity.dot(&com)
        });
        bodies.sum()
    }
}
