//! Joint coordinates and recursions over the tree, cost linear in the number of links.
//!
//! All link quantities are in world axes at the link's own origin, which is its joint. Moving a quantity from a link to its
//! parent is then a translation only: no 6×6 rotation is ever formed, and no distance is larger than a link, so long
//! chains lose no digits to a far origin. Accelerations are those of material points (not spatial accelerations).

mod aba;
mod ancestry;
pub(crate) mod blocks;
mod columns;
mod crba;
pub mod cut;
mod jacobian;
mod kinematics;
pub mod loops;
mod mobility;
pub mod ports;
mod response;
mod rnea;
mod tree;

pub(crate) use kinematics::turn_axes;
pub use kinematics::{Kinematics, LinkMotion};
pub use tree::{Axis, Handing, Link, LinkKind, NO_PARENT, Tree};

use crate::spatial::{Sym6, Twist, Wrench};

/// Scratch of the recursions; holds nothing that outlives an evaluation.
#[derive(Debug, Clone, Default)]
pub struct Recursion {
    /// Positions and velocities of the links.
    pub kinematics: Kinematics,
    /// Elimination of each speed: what the articulated body does along and across it.
    pub(crate) pivots: Vec<Pivot>,
    /// `across` of each pivot, seen at the parent's origin; revolute speeds only.
    pub(crate) moved: Vec<Wrench>,
    /// Inertia that links collect from their children for the mass matrix.
    pub(crate) composite: Vec<Sym6>,
    /// Articulated inertia that links with several children collect from them.
    pub(crate) inertia: Vec<columns::StoredInertia>,
    /// Articulated bias force that links with several children collect from them.
    pub(crate) bias: Vec<columns::StoredForce>,
    /// Acceleration of each link's origin, gravity counted as an upward acceleration of the ground.
    pub(crate) acceleration: Vec<Twist>,
    /// First link met whose joint moves no inertia.
    pub(crate) singular: Option<usize>,
    /// Link visits so far, over all sweeps.
    pub work: u64,
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
            kinematics: Kinematics::new(tree),
            pivots: vec![Pivot::default(); tree.n_v],
            moved: vec![Wrench::default(); tree.n_v],
            composite: vec![Sym6::default(); n],
            inertia: vec![Default::default(); n],
            bias: vec![Default::default(); n],
            acceleration: vec![Twist::default(); n],
            singular: None,
            work: 0,
        }
    }
}
