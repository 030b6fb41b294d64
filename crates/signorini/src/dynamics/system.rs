//! One topology of one model, compiled for evaluation.

use super::dca::DcaWork;
use crate::dynamics::dense::Dense;
use crate::dynamics::loads::{Load, Loads, View};
use crate::dynamics::recursive::Recursion;
use crate::dynamics::recursive::loops::Loops;
use crate::dynamics::tree::cut::{Closure, Cut};
use crate::dynamics::tree::{Kinematics, Tree};
use crate::model::{Fittings, Model, Signal};
use crate::plan::{Elimination, Plan, Shape};
use crate::scene::Formulation;
use crate::spatial::{Twist, Wrench};
use std::sync::Arc;

/// Everything about a mechanism that does not change from step to step.
pub struct System {
    /// The model.
    pub model: Arc<Model>,
    /// How its topology is assembled.
    pub plan: Plan,
    pub(crate) tree: Tree,
    pub(crate) cuts: Vec<Cut>,
    pub(crate) loads: Loads,
    pub(crate) user_loads: Vec<Box<dyn Load>>,
    pub(crate) formulation: Formulation,
    /// Prescribed speeds of the tree: link, coordinate within the joint, and signal.
    pub(crate) motions: Vec<(usize, usize, Signal)>,
    /// Tree joints whose rotation is locked: link and its coordinates.
    pub(crate) holds: Vec<(usize, Vec<f64>)>,
    pub(crate) needs_positions: bool,
    pub(crate) n_cut_q: usize,
    pub(crate) n_cut_v: usize,
    /// Order of assembly, for divide and conquer.
    pub(crate) elimination: Option<Elimination>,
    /// Shape of that order.
    pub(crate) shape: Shape,
}

/// Scratch of a [`System`]. Dropping it changes nothing.
pub(crate) struct Workspace {
    pub kinematics: Kinematics,
    pub recursion: Recursion,
    pub loops: Loops,
    pub dense: Option<Box<Dense>>,
    pub dca: Option<Box<DcaWork>>,
    pub closures: Vec<Closure>,
    pub cut_q: Vec<f64>,
    pub cut_v: Vec<f64>,
    pub tau: Vec<f64>,
    /// Acceleration (or velocity jump) of each link's origin, gravity counted as an upward acceleration of the ground.
    pub acceleration: Vec<Twist>,
    pub external: Vec<Wrench>,
    pub wrenches: Vec<Wrench>,
    pub prescribed: Vec<f64>,
    pub displacement: Vec<f64>,
    pub joint_forces: Vec<f64>,
}

impl System {
    /// Compiles a model under a plan.
    pub fn build(model: Arc<Model>, plan: Plan, formulation: Formulation) -> Self {
        let tree = Tree::build(&model, &plan);
        let cuts = Cut::build_all(&model, &plan, &tree);
        let loads = Loads::build(&model, &plan, &cuts);
        let (mut motions, mut holds) = (Vec::new(), Vec::new());
        for (i, link) in plan.links.iter().enumerate() {
            let Some(joint) = link.joint else { continue };
            if let Some(q) = model.joints()[joint.index()].held_rotation() {
                holds.push((i, q.to_vec()));
            }
            for k in 0..tree.links[i].n_v as usize {
                if let Some(signal) = model.joints()[joint.index()].fittings.motion(k) {
                    motions.push((i, k, signal.clone()));
                }
            }
        }
        let needs_positions = !cuts.is_empty() || !model.forces().is_empty();
        let n_cut_q = cuts.iter().map(|c| c.q.len()).sum();
        let n_cut_v = cuts.iter().map(|c| c.v.len()).sum();
        let user_loads = Vec::new();
        let elimination = None;
        let mut system = Self {
            model,
            plan,
            tree,
            cuts,
            loads,
            user_loads,
            formulation,
            motions,
            holds,
            needs_positions,
            n_cut_q,
            n_cut_v,
            elimination,
            shape: Shape::Auto,
        };
        if formulation == Formulation::Dca {
            system.elimination = Some(system.eliminate(Shape::Auto));
        }
        system
    }

    pub(crate) fn workspace(&self) -> Workspace {
        let fitting = |cut: &Cut, k: usize| {
            let f = self.fittings(cut);
            (f.motion(k).is_some(), f.armature.get(k).copied().unwrap_or(0.0))
        };
        let (n_links, n_v) = (self.tree.links.len(), self.tree.n_v);
        let mut cut_q = vec![0.0; self.n_cut_q];
        // A lock of a spin has no coordinates.
        let cuts = self.cuts.iter().filter(|c| c.spin.is_none());
        cuts.for_each(|c| c.joint_type.neutral(&mut cut_q[c.q.clone()]));
        let loops = Loops::new(&self.tree, &self.cuts, fitting);
        let dca = self.elimination.as_ref().map(|e| Box::new(DcaWork::new(self, e.clone(), &loops)));
        Workspace {
            kinematics: Kinematics::new(&self.tree),
            recursion: Recursion::new(&self.tree),
            loops: if dca.is_some() { loops.without_factors() } else { loops },
            dca,
            dense: (self.formulation == Formulation::Dense).then(|| Box::new(Dense::new(&self.model))),
            closures: vec![Closure::default(); self.cuts.len()],
            cut_q,
            cut_v: vec![0.0; self.n_cut_v],
            tau: vec![0.0; n_v],
            acceleration: vec![Twist::default(); n_links],
            external: vec![Wrench::default(); n_links],
            wrenches: vec![Wrench::default(); n_links],
            prescribed: vec![0.0; n_v],
            displacement: vec![0.0; n_v],
            joint_forces: vec![0.0; n_v],
        }
    }

    pub(crate) fn fittings(&self, cut: &Cut) -> &Fittings {
        &self.model.joints()[cut.joint.index()].fittings
    }

    pub(crate) fn view<'a>(&'a self, kinematics: &'a Kinematics) -> View<'a> {
        View { model: &self.model, plan: &self.plan, tree: &self.tree, kinematics }
    }

    /// Tree coordinates and speeds; their numbers.
    pub fn sizes(&self) -> (usize, usize) {
        (self.tree.n_q, self.tree.n_v)
    }

    /// The next time after `time` at which a derivative of a signal may jump. No step runs over it.
    pub(crate) fn next_breakpoint(&self, time: f64) -> f64 {
        let mut next = f64::INFINITY;
        let mut see = |signal: &Signal| {
            let times = signal.breakpoints();
            if let Some(&t) = times.get(times.partition_point(|&t| t <= time)) {
                next = next.min(t);
            }
        };
        for joint in self.model.joints() {
            joint.fittings.motors.iter().for_each(|m| see(&m.signal));
        }
        for force in self.model.forces() {
            use crate::model::ForceKind::*;
            if let Force { signal, .. } | Torque { signal, .. } = &force.kind {
                see(signal);
            }
        }
        next
    }
}
