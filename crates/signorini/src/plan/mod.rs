//! How one topology is assembled: spanning tree, order of the links, cut joints.
//!
//! **Problem.** The user gives a graph of bodies and joints and marks no joint as special. The recursions need a tree.
//!
//! **Method.** A spanning forest of least total weight (Kruskal). Joints with prescribed motion or rotor inertia come
//! first, because both are free of charge in the tree and cost a row in a loop; then joints with fewer freedoms, so that
//! the cut ones leave few closure conditions; among equals the joint nearest to the ground, so that a ring is cut opposite
//! to its anchor and the tree stays shallow. Bodies without a path to the ground hang on it by a free joint of their own.
//! Links are numbered depth first, so that a chain is contiguous and every parent precedes its children.
//!
//! **Cost.** O(n log n), no recursion.
//!
//! **Fails when** never: every graph has a spanning forest.
//!
//! **Checked by** `tests/plan.rs`.

mod contraction;
mod elimination;
mod forest;
mod top_tree;

use crate::model::{BodyId, JointId, Model};
pub use elimination::{Cluster, Elimination, End, Merge, Port, Shape};

/// Cut joints from which on it matters how their loops overlap.
const MANY_LOOPS: usize = 4;

/// Which body hangs on which, and by which joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Links in topological order.
    pub links: Vec<PlanLink>,
    /// Link of each body.
    pub link_of_body: Vec<usize>,
    /// Joints that close loops.
    pub cuts: Vec<JointId>,
    /// For each joint, the link it moves; none for cut and for absent joints.
    pub link_of_joint: Vec<Option<usize>>,
}

/// A body with the joint that carries it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanLink {
    /// The body.
    pub body: BodyId,
    /// Link of the inner body; none for the ground.
    pub parent: Option<usize>,
    /// The joint; none for the free joint of a floating mechanism.
    pub joint: Option<JointId>,
    /// Whether the link is the joint's parent.
    pub reversed: bool,
}

impl Plan {
    /// The plan of a model's topology. A floating mechanism is based on its first body that `is_posed`, or on its first.
    ///
    /// Where many loops overlap, a second tree is tried that cuts joints between neighbours (`plan/contraction.rs`), and taken where
    /// its clusters take less than half the work.
    pub fn build(model: &Model, is_posed: &dyn Fn(BodyId) -> bool) -> Self {
        let plan = Self::of_forest(model, &forest::Forest::build(model, is_posed, false));
        if plan.cuts.len() < MANY_LOOPS {
            return plan;
        }
        let other = Self::of_forest(model, &forest::Forest::build(model, is_posed, true));
        let work = |plan: &Self| Elimination::build(&plan.parents(), &plan.closures(model), Shape::Auto).work();
        if work(&other) < 0.5 * work(&plan) { other } else { plan }
    }

    /// Cut joints as ports, their closed directions as rows.
    pub fn closures(&self, model: &Model) -> Vec<Port> {
        let link = |body: Option<BodyId>| body.map(|b| self.link_of_body[b.index()]);
        let port = |joint: &crate::model::Joint| {
            let ends = vec![End::of(link(joint.child)), End::of(link(joint.parent))];
            Port { ends, n_rows: 6 - joint.kind().n_v(), is_kept: false }
        };
        self.cuts.iter().map(|j| port(&model.joints()[j.index()])).collect()
    }

    fn of_forest(model: &Model, forest: &forest::Forest) -> Self {
        let mut links = Vec::with_capacity(model.bodies().len());
        let mut link_of_body = vec![usize::MAX; model.bodies().len()];
        let mut link_of_joint = vec![None; model.joints().len()];
        // Children are pushed in reverse so that they are visited in the scene's order.
        let mut stack: Vec<(forest::Edge, Option<usize>)> = forest.children(None).rev().map(|e| (e, None)).collect();
        while let Some((edge, parent)) = stack.pop() {
            let link = links.len();
            link_of_body[edge.body.index()] = link;
            if let Some(joint) = edge.joint {
                link_of_joint[joint.index()] = Some(link);
            }
            links.push(PlanLink { body: edge.body, parent, joint: edge.joint, reversed: edge.reversed });
            stack.extend(forest.children(Some(edge.body)).rev().map(|e| (e, Some(link))));
        }
        let is_cut = |j: &JointId| link_of_joint[j.index()].is_none() && !model.joints()[j.index()].is_absent;
        let cuts = (0..model.joints().len() as u32).map(JointId).filter(is_cut).collect();
        Self { links, link_of_body, cuts, link_of_joint }
    }

    /// Links that carry each link, in the links' order.
    pub fn parents(&self) -> Vec<Option<usize>> {
        self.links.iter().map(|l| l.parent).collect()
    }

    /// Longest chain of links from the ground.
    pub fn depth(&self) -> usize {
        let mut depth = vec![0; self.links.len()];
        for (i, link) in self.links.iter().enumerate() {
            depth[i] = 1 + link.parent.map_or(0, |p| depth[p]);
        }
        depth.into_iter().max().unwrap_or(0)
    }

    /// Number of links that hang on the ground by a free joint of their own.
    pub fn n_floating(&self) -> usize {
        self.links.iter().filter(|l| l.joint.is_none()).count()
    }
}
