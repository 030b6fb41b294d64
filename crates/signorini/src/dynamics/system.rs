//! One topology of one model, compiled for evaluation.

use super::engine::{Engine, Traits};
use super::formulation::{Formulation as _, Posed};
use super::row::{Closure, Cut, Element, RowKind, RowSet, Sight, Spin};
use crate::dynamics::force::{Forces, View};
use crate::dynamics::tree::{Kinematics, Tree};
use crate::model::{Fittings, Instant, Model, Signal};
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
    /// Joints that close loops.
    pub(crate) cuts: Vec<Cut>,
    /// Whatever asks for rows.
    pub(crate) elements: Vec<Element>,
    /// First link of each link's mechanism: links of different ones do not move each other.
    pub(crate) group: Vec<usize>,
    pub(crate) forces: Forces,
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
    pub engine: Engine,
    /// Rows at the present kinematics, the right-hand sides and the force of each.
    pub rows: RowSet,
    pub rhs: Vec<f64>,
    pub lambda: Vec<f64>,
    pub closures: Vec<Closure>,
    pub cut_q: Vec<f64>,
    pub cut_v: Vec<f64>,
    pub tau: Vec<f64>,
    /// Acceleration (or velocity jump) of each link's origin, gravity counted as an upward acceleration of the ground.
    pub acceleration: Vec<Twist>,
    pub external: Vec<Wrench>,
    /// Scratch of force elements.
    pub force_scratch: Vec<f64>,
    pub wrenches: Vec<Wrench>,
    pub prescribed: Vec<f64>,
    pub displacement: Vec<f64>,
    pub joint_forces: Vec<f64>,
    /// Motions of links that are looked at once.
    pub seen: Vec<Twist>,
}

impl System {
    /// Compiles a model under a plan.
    pub fn build(model: Arc<Model>, plan: Plan, formulation: Formulation) -> Self {
        let tree = Tree::build(&model, &plan);
        let cuts = Cut::build_all(&model, &plan, &tree);
        let forces = Forces::build(&model, &plan, &tree, &cuts);
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
        let spins = Spin::build_all(&model, &plan, &tree);
        let elements: Vec<Element> = (0..cuts.len())
            .map(Element::Joint)
            .chain(spins.into_iter().map(|spin| Element::Spin(Box::new(spin))))
            .chain(Element::build_couplings(&model, &plan, &tree, &cuts))
            .collect();
        let group = super::group::find(&tree, &elements, &cuts);
        let traits = Traits::of(formulation);
        let needs_positions =
            traits.needs_positions || !elements.is_empty() || !model.forces().is_empty() || forces.need_positions();
        let n_cut_q = cuts.iter().map(|c| c.q.len()).sum();
        let n_cut_v = cuts.iter().map(|c| c.v.len()).sum();
        let elimination = None;
        let mut system = Self {
            model,
            plan,
            tree,
            cuts,
            elements,
            group,
            forces,
            formulation,
            motions,
            holds,
            needs_positions,
            n_cut_q,
            n_cut_v,
            elimination,
            shape: Shape::Auto,
        };
        if traits.has_clusters {
            system.elimination = Some(system.eliminate(Shape::Auto));
        }
        system
    }

    /// The same by the formulation that puts mechanisms together: any would do that closes rows.
    pub(crate) fn for_assembly(model: Arc<Model>, plan: Plan) -> Self {
        Self::build(model, plan, Formulation::Recursive)
    }

    pub(crate) fn workspace(&self) -> Workspace {
        let (n_links, n_v) = (self.tree.links.len(), self.tree.n_v);
        let mut cut_q = vec![0.0; self.n_cut_q];
        self.cuts.iter().for_each(|c| c.joint_type.neutral(&mut cut_q[c.q.clone()]));
        let rows = self.rows();
        Workspace {
            kinematics: Kinematics::new(&self.tree),
            engine: Engine::build(self, &rows),
            rhs: vec![0.0; rows.len()],
            lambda: vec![0.0; rows.len()],
            rows,
            closures: vec![Closure::default(); self.cuts.len()],
            cut_q,
            cut_v: vec![0.0; self.n_cut_v],
            tau: vec![0.0; n_v],
            acceleration: vec![Twist::default(); n_links],
            external: vec![Wrench::default(); n_links],
            force_scratch: vec![0.0; self.forces.n_scratch()],
            wrenches: vec![Wrench::default(); n_links],
            prescribed: vec![0.0; n_v],
            displacement: vec![0.0; n_v],
            joint_forces: vec![0.0; n_v],
            seen: vec![Twist::default(); n_links],
        }
    }

    /// Takes over what an event that only held or let go speeds of tree joints has left as it was. `old_w` stands where the event
    /// happens, `q` are the coordinates there.
    pub(crate) fn inherit(&self, old: &Self, q: &[f64], old_w: &mut Workspace, w: &mut Workspace) {
        let ((engine, at), (old_engine, old_at)) = (w.posed(self), old_w.posed(old));
        engine.inherit(&at, old_engine, &old_at, q);
    }

    /// Room for all rows.
    pub(crate) fn rows(&self) -> RowSet {
        RowSet::build(&self.elements, &self.model, &self.cuts)
    }

    /// Cut joints and rows at the present kinematics; `q` and `v` are the coordinates and speeds of the tree there.
    pub(crate) fn update_rows(&self, q: &[f64], v: &[f64], w: &mut Workspace) {
        for (cut, closure) in self.cuts.iter().zip(&mut w.closures) {
            let (q, v) = (&mut w.cut_q[cut.q.clone()], &mut w.cut_v[cut.v.clone()]);
            *closure = cut.find_closure(&w.kinematics, q, v);
        }
        let length = self.model.characteristic_length();
        let (kinematics, closures) = (&w.kinematics, &w.closures[..]);
        let see = Sight { kinematics, cuts: &self.cuts, closures, q, cut_q: &w.cut_q, length };
        w.rows.pose(&self.elements, &see, v);
    }

    pub(crate) fn fittings(&self, cut: &Cut) -> &Fittings {
        &self.model.joints()[cut.joint.index()].fittings
    }

    pub(crate) fn view<'a>(&'a self, kinematics: &'a Kinematics) -> View<'a> {
        View { model: &self.model, plan: &self.plan, tree: &self.tree, kinematics }
    }

    /// Sets what rows follow: rates, or accelerations.
    pub(crate) fn set_wanted(&self, now: Instant, is_rate: bool, w: &mut Workspace) {
        w.rows.set_wanted(&self.elements, &self.model, &self.cuts, now, is_rate);
    }

    /// Whether a row follows a prescribed motion.
    pub(crate) fn has_driven_rows(&self) -> bool {
        self.rows().iter().any(|row| matches!(row.kind, RowKind::Prescribed(_)))
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
            force.signal().into_iter().for_each(&mut see);
        }
        next
    }
}

impl Workspace {
    /// The engine, and the configuration that it works at, to be looked at.
    pub(crate) fn seen<'a>(&'a self, system: &'a System) -> (&'a Engine, Posed<'a>) {
        let Self { engine, kinematics, rows, closures, .. } = self;
        (engine, Posed { system, kinematics, rows, closures })
    }

    /// The engine, and the configuration that it works at.
    pub(crate) fn posed<'a>(&'a mut self, system: &'a System) -> (&'a mut Engine, Posed<'a>) {
        let Self { engine, kinematics, rows, closures, .. } = self;
        (engine, Posed { system, kinematics, rows, closures })
    }
}
