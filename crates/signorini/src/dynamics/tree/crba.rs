//! Mass matrix: the composite-rigid-body algorithm.
//!
//! **Problem.** Find the symmetric matrix M of the kinetic energy ½ vᵀ M v of a tree.
//!
//! **Method.** Composite inertias inwards; a column's momentum is carried to each ancestor [featherstone2008, ch. 6].
//!
//! **Cost.** O(n · depth) time, n² storage: for mechanisms small enough to want the matrix itself.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/dynamics.rs`: against inverse dynamics, and M⁻¹ against forward dynamics.

use super::{Kinematics, Tree};
use crate::spatial::Sym6;
use nalgebra::DMatrix;

impl Kinematics {
    /// The mass matrix, after [`Self::update`].
    pub fn mass_matrix(&self, tree: &Tree) -> DMatrix<f64> {
        let mut m = DMatrix::zeros(tree.n_v, tree.n_v);
        let mut collected = vec![Sym6::default(); tree.links.len()];
        for (i, link) in tree.links.iter().enumerate().rev() {
            let motion = &self.links[i];
            let composite = collected[i] + link.inertia.rotated(&motion.rotation).to_sym6();
            for v in link.v_range() {
                let mut momentum = composite.times(&self.unit_motion(i, link, v));
                m[(v, v)] = tree.armature[v];
                let mut j = Some(i);
                while let Some(at) = j {
                    for w in tree.links[at].v_range() {
                        let entry = self.unit_motion(at, &tree.links[at], w).dot(&momentum);
                        if w == v {
                            m[(v, v)] += entry;
                        } else {
                            m[(v, w)] = entry;
                            m[(w, v)] = entry;
                        }
                    }
                    momentum = momentum.shifted(&self.links[at].offset);
                    j = tree.links[at].parent_index();
                }
            }
            if let Some(p) = link.parent_index() {
                collected[p] += composite.shifted(&motion.offset);
            }
        }
        m
    }
}
