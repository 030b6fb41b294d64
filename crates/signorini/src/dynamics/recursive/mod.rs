//! Joint coordinates and recursions over the tree, cost linear in the number of links.
//!
//! Quantities are those of `dynamics/tree/`: in world axes, at each link's own origin.

mod aba;
pub(crate) mod blocks;
mod columns;
mod contact;
mod formulation;
pub mod loops;
mod mobility;
pub mod ports;
mod response;
mod strand;

pub(crate) use contact::Sweeps;
pub(crate) use formulation::Recursive;
pub(crate) use mobility::find_speed_mobilities;
pub(crate) use strand::{Strand, take_strand};

use super::tree::{Kinematics, Tree};
use crate::spatial::Wrench;

/// Scratch of the recursion; holds nothing that outlives an evaluation.
#[derive(Debug, Clone, Default)]
pub struct Recursion {
    /// Elimination of each speed: what the articulated body does along and across it.
    pub(crate) pivots: Vec<Pivot>,
    /// `across` of each pivot, seen at the parent's origin; revolute speeds only.
    pub(crate) moved: Vec<Wrench>,
    /// Articulated inertia that links with several children collect from them.
    pub(crate) inertia: Vec<columns::StoredInertia>,
    /// Articulated bias force that links with several children collect from them.
    pub(crate) bias: Vec<columns::StoredForce>,
    /// First link met whose joint moves no inertia.
    pub(crate) singular: Option<usize>,
    /// Link visits so far, over all sweeps.
    pub work: u64,
}

/// A tree whose articulated inertias are known: where it is, and what each speed leaves.
#[derive(Clone, Copy)]
pub struct Swept<'a> {
    /// The tree.
    pub tree: &'a Tree,
    /// Where its links are.
    pub kinematics: &'a Kinematics,
    /// Pivots of [`Recursion::update_articulated`].
    pub pivots: &'a [Pivot],
}

/// One eliminated speed: force across per unit acceleration along, inverse inertia along, force along.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pivot {
    /// Articulated inertia times the speed's unit motion.
    pub across: Wrench,
    /// One over the inertia along; zero for a prescribed speed.
    pub inverse: f64,
    /// Force along that is not balanced by bias (nor, for a revolute speed, by its bias acceleration).
    pub force: f64,
}

impl Recursion {
    /// Scratch for a tree.
    pub fn new(tree: &Tree) -> Self {
        let n = tree.links.len();
        Self {
            pivots: vec![Pivot::default(); tree.n_v],
            moved: vec![Wrench::default(); tree.n_v],
            inertia: vec![Default::default(); n],
            bias: vec![Default::default(); n],
            singular: None,
            work: 0,
        }
    }

    /// The tree as the last inward sweep left it.
    pub fn swept<'a>(&'a self, tree: &'a Tree, kinematics: &'a Kinematics) -> Swept<'a> {
        Swept { tree, kinematics, pivots: &self.pivots }
    }
}
