//! Divide and conquer as a formulation: the rows of cut joints as ports, and the same solves as the recursion's.

use super::{Bias, Dca, Drive, Motion, Row};
use crate::dynamics::error::DynamicsError;
use crate::dynamics::loads::Power;
use crate::dynamics::recursive::loops::{LoopRow, Loops, RowKind};
use crate::dynamics::system::{System, Workspace};
use crate::dynamics::tree::cut::{Closure, Cut};
use crate::model::Instant;
use crate::plan::{Elimination, Port, Shape};
use crate::scene::Formulation;
use crate::spatial::{Twist, Vec3};

/// Clusters, and right-hand sides in their order of rows.
#[derive(Debug, Clone)]
pub(crate) struct DcaWork {
    pub dca: Dca,
    /// Row of the clusters for each row of the loops.
    pub row: Vec<usize>,
    wanted: Vec<f64>,
    rates: Vec<f64>,
    /// Coordinates at which an event has left the clusters assembled, rotors included; empty where that is not known.
    assembled: Vec<f64>,
    /// Merges that an event has repeated.
    pub repeated: u64,
}

impl DcaWork {
    pub fn new(system: &System, plan: Elimination, loops: &Loops) -> Self {
        let ports = system.ports();
        let dca = Dca::new(&system.tree, &ports, plan);
        let mut next: Vec<usize> = (0..ports.len()).map(|k| dca.first_row(k)).collect();
        let row = loops.rows.iter().map(|r| {
            next[r.cut] += 1;
            next[r.cut] - 1
        });
        let (row, n) = (row.collect(), loops.rows.len());
        let (wanted, rates) = (vec![0.0; n], vec![0.0; system.tree.n_v]);
        Self { dca, row, wanted, rates, assembled: Vec::new(), repeated: 0 }
    }
}

impl Workspace {
    /// Goes on counting where the workspace before an event was.
    pub(crate) fn carry_counters(&mut self, old: &Self) {
        if let (Some(new), Some(old)) = (&mut self.dca, &old.dca) {
            (new.dca.merges, new.dca.work) = (old.dca.merges, old.dca.work);
        }
    }
}

impl System {
    /// A cut joint as a port: closed directions, then prescribed speeds and rotors.
    pub(crate) fn port(&self, cut: &Cut) -> Port {
        let fittings = self.fittings(cut);
        let extra = |k: usize| {
            let has_rotor = fittings.armature.get(k).is_some_and(|&i| i > 0.0);
            usize::from(fittings.motion(k).is_some()) + usize::from(has_rotor)
        };
        let n_rows = cut.rows.len() + (0..cut.v.len()).map(extra).sum::<usize>();
        Port { ends: [cut.child, cut.parent], n_rows, is_kept: false }
    }

    /// Cut joints as ports.
    pub(crate) fn ports(&self) -> Vec<Port> {
        self.cuts.iter().map(|cut| self.port(cut)).collect()
    }

    /// An elimination tree of this topology.
    pub fn eliminate(&self, shape: Shape) -> Elimination {
        Elimination::build(&self.plan.parents(), &self.ports(), shape)
    }

    /// Whether accelerations need neither positions in space nor loops: then kinematics and assembly are one sweep.
    pub(crate) fn is_fused(&self) -> bool {
        let is_plain = !self.needs_positions && self.user_loads.is_empty() && self.motions.is_empty();
        self.formulation == Formulation::Dca && is_plain
    }

    /// Accelerations of a tree on which nothing acts that needs positions in space. Leaves no kinematics behind.
    pub(crate) fn evaluate_fused(
        &self,
        now: Instant,
        q: &mut [f64],
        v: &mut [f64],
        input: &[f64],
        vdot: &mut [f64],
        w: &mut Workspace,
    ) -> Result<Power, DynamicsError> {
        self.prescribe(now, q, v, w);
        let power = self.update_joint_loads(now, q, v, input, w);
        let Some(work) = w.dca.as_deref_mut() else { return Err(DynamicsError::Internal("no clusters")) };
        work.assembled.clear();
        let motion = Motion { tree: &self.tree, q, v, tau: &w.tau, held: &w.prescribed };
        let ground = Twist::new(Vec3::zeros(), -self.model.gravity());
        work.dca.accelerate(&motion, &ground, vdot);
        work.dca.singular().map_or(Ok(power), |link| Err(self.no_own_inertia(link)))
    }

    /// Assembles the clusters at the present kinematics.
    pub(crate) fn factor_dca(&self, w: &mut Workspace, rotors: bool) {
        let Some(work) = w.dca.as_deref_mut() else { return };
        work.assembled.clear();
        for (row, &at) in w.loops.rows.iter().zip(&work.row) {
            work.dca.rows[at] = cut_row(row, &w.closures, rotors);
        }
        work.dca.factor(&self.tree, &w.kinematics);
    }

    /// The displacement that answers the right-hand sides of the hard rows.
    pub(crate) fn respond_dca(&self, w: &mut Workspace) {
        let Some(work) = w.dca.as_deref_mut() else { return };
        let DcaWork { dca, row, wanted, .. } = work;
        for (r, &at) in row.iter().enumerate() {
            wanted[at] = w.loops.rhs[r];
        }
        let drive = Drive { wanted, ..Default::default() };
        dca.solve(&self.tree, &w.kinematics, &drive, &mut w.displacement);
    }

    /// Accelerations and the forces of the rows.
    pub(crate) fn accelerate_dca(
        &self,
        now: Instant,
        vdot: &mut [f64],
        w: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        self.factor_dca(w, true);
        let n_rows = w.loops.rows.len();
        let Some(mut work) = w.dca.take() else { return Err(DynamicsError::Internal("no clusters")) };
        let DcaWork { dca, row, wanted, rates, .. } = &mut *work;
        let singular = dca.singular();
        let ground = Twist::new(Vec3::zeros(), -self.model.gravity());
        for r in 0..n_rows {
            let of = w.loops.rows[r];
            let along = w.closures[of.cut].bias.dot(&Loops::direction(&of, &w.closures));
            let asked = if let RowKind::Prescribed(k) = of.kind { self.cut_motion(of.cut, k, now)[2] } else { 0.0 };
            wanted[row[r]] = along + asked;
        }
        let external = (self.needs_positions || !self.user_loads.is_empty()).then_some(&w.external[..]);
        let drive =
            Drive { tau: &w.tau, external, bias: Bias::Velocities, held: &w.prescribed, ground, wanted, kept: &[] };
        dca.solve(&self.tree, &w.kinematics, &drive, vdot);
        for r in 0..n_rows {
            w.loops.lambda[r] = dca.lambda[row[r]];
        }
        // Iterative refinement: closed rows were eliminated through the square of what the recursion factors, and near a singular
        // position this restores the digits that it lost.
        for _ in 0..if n_rows > 0 { REFINEMENTS } else { 0 } {
            dca.update_accelerations(&self.tree, &w.kinematics, &ground, vdot, &mut w.acceleration);
            for r in 0..n_rows {
                wanted[row[r]] = -self.opening(r, now, w);
            }
            let drive = Drive { wanted, ..Default::default() };
            dca.solve(&self.tree, &w.kinematics, &drive, rates);
            vdot.iter_mut().zip(&*rates).for_each(|(v, d)| *v += d);
            for r in 0..n_rows {
                w.loops.lambda[r] += dca.lambda[row[r]];
            }
        }
        w.dca = Some(work);
        singular.map_or(Ok(()), |link| Err(self.no_own_inertia(link)))
    }

    /// Velocity jumps and the impulses of the rows, as [`Self::accelerate_dca`]: velocities are zero and biases are what new joints
    /// do not allow.
    pub(crate) fn solve_jump_dca(
        &self,
        now: Instant,
        delta: &mut [f64],
        w: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        // Clusters that were taken over still know the velocities at which they were assembled, and no joint is new: there is no bias.
        let is_carried = w.dca.as_ref().is_some_and(|work| !work.assembled.is_empty());
        if !is_carried {
            self.factor_dca(w, true);
        }
        let bias = if is_carried { Bias::None } else { Bias::Velocities };
        let n_rows = w.loops.rows.len();
        w.loops.lambda.fill(0.0);
        w.acceleration.fill(Twist::default());
        let Some(mut work) = w.dca.take() else { return Err(DynamicsError::Internal("no clusters")) };
        let DcaWork { dca, row, wanted, rates, .. } = &mut *work;
        let singular = dca.singular();
        for r in 0..n_rows {
            wanted[row[r]] = -self.opening_jump(r, now, w);
        }
        let external = Some(&w.external[..]);
        let (held, tau) = (&w.prescribed, &w.tau);
        let drive = Drive { tau, external, bias, held, wanted, ..Default::default() };
        dca.solve(&self.tree, &w.kinematics, &drive, delta);
        for r in 0..n_rows {
            w.loops.lambda[r] = dca.lambda[row[r]];
        }
        let ground = Twist::default();
        if n_rows == 0 {
            w.acceleration.copy_from_slice(&dca.acceleration);
        } else {
            dca.update_accelerations(&self.tree, &w.kinematics, &ground, delta, &mut w.acceleration);
        }
        for _ in 0..if n_rows > 0 { REFINEMENTS } else { 0 } {
            for r in 0..n_rows {
                wanted[row[r]] = -self.opening_jump(r, now, w);
            }
            let drive = Drive { wanted, ..Default::default() };
            dca.solve(&self.tree, &w.kinematics, &drive, rates);
            delta.iter_mut().zip(&*rates).for_each(|(v, d)| *v += d);
            for r in 0..n_rows {
                w.loops.lambda[r] += dca.lambda[row[r]];
            }
            dca.update_accelerations(&self.tree, &w.kinematics, &ground, delta, &mut w.acceleration);
        }
        w.dca = Some(work);
        singular.map_or(Ok(()), |link| Err(self.no_own_inertia(link)))
    }

    /// The order of assembly after an event: the same where the tree is, else a new one of the same shape.
    pub(crate) fn carry_order(&mut self, old: &Self, is_same_tree: bool) {
        self.shape = old.shape;
        let is_same = is_same_tree && self.ports() == old.ports();
        self.elimination =
            old.elimination.as_ref().map(|e| if is_same { e.clone() } else { self.eliminate(self.shape) });
    }

    /// Takes over the clusters of the same tree before an event that only held or let go speeds of tree joints. Only what lies
    /// between those joints and the root is assembled again. `w_old` stands where the event happens.
    pub(crate) fn carry_clusters(&self, old: &Self, q: &[f64], w_old: &mut Workspace, w: &mut Workspace) {
        if w_old.loops.rows != w.loops.rows {
            return;
        }
        if w_old.dca.as_ref().is_some_and(|work| work.assembled != q) {
            old.factor_dca(w_old, true);
        }
        let Some(work) = w_old.dca.as_deref_mut() else { return };
        work.assembled.clear();
        work.assembled.extend_from_slice(q);
        let mut work = Box::new(work.clone());
        let before = work.dca.merges;
        for (i, link) in self.tree.links.iter().enumerate() {
            let held = &self.tree.prescribed[link.v_range()];
            if work.dca.held[link.v_range()] != *held {
                work.dca.held[link.v_range()].copy_from_slice(held);
                work.dca.refactor_path(&self.tree, &w_old.kinematics, i);
            }
        }
        work.repeated = work.dca.merges - before;
        w.dca = Some(work);
    }

    /// Rows that depended on others at the last factorisation.
    pub(crate) fn dependent_rows(&self, w: &Workspace) -> Vec<LoopRow> {
        match &w.dca {
            None => w.loops.dependent_rows().copied().collect(),
            Some(work) => {
                let of = |at: usize| work.row.iter().position(|&r| r == at).map(|r| w.loops.rows[r]);
                work.dca.dependent_rows().filter_map(of).collect()
            }
        }
    }

    /// A joint that moves no inertia of its own cluster. Where there is only one, that is all the inertia there is.
    fn no_own_inertia(&self, link: usize) -> DynamicsError {
        match self.no_inertia(link) {
            DynamicsError::NoInertia { joint } if self.elimination.as_ref().is_some_and(|e| e.n_merges() > 0) => {
                DynamicsError::NoOwnInertia { joint }
            }
            error => error,
        }
    }

    /// Positions and velocities of all links; the origins' are found under divide and conquer, else by [`Self::update_positions`].
    pub(crate) fn update_kinematics(&self, q: &[f64], v: &[f64], w: &mut Workspace) {
        match &mut w.dca {
            Some(work) => work.dca.update_kinematics(&self.tree, q, v, &mut w.kinematics),
            None => w.kinematics.update(&self.tree, q, v),
        }
    }

    /// Positions and velocities of the links' origins, after [`Self::update_kinematics`].
    pub(crate) fn update_positions(&self, w: &mut Workspace) {
        if w.dca.is_none() {
            w.kinematics.update_positions(&self.tree);
        }
    }

    /// Acceleration with which a row opens; a rotor's, beyond that of its rotor.
    fn opening(&self, r: usize, now: Instant, w: &Workspace) -> f64 {
        let row = &w.loops.rows[r];
        let ground = Twist::new(Vec3::zeros(), -self.model.gravity());
        let closure = &w.closures[row.cut];
        let relative = self.cuts[row.cut].relative_acceleration(closure, &w.acceleration, &ground);
        let along = relative.dot(&Loops::direction(row, &w.closures));
        match row.kind {
            RowKind::Closed(_) => along,
            RowKind::Prescribed(k) => along - self.cut_motion(row.cut, k, now)[2],
            RowKind::Rotor(_, inertia) => along + w.loops.lambda[r] / inertia,
        }
    }
}

/// A row of a cut joint, as clusters have it.
pub(crate) fn cut_row(row: &LoopRow, closures: &[Closure], rotors: bool) -> Row {
    let closure = &closures[row.cut];
    let direction = Loops::direction(row, closures);
    let wrenches = [direction.shifted(&closure.child_arm), (-direction).shifted(&closure.parent_arm)];
    let (compliance, is_active) = match row.kind {
        RowKind::Rotor(_, inertia) => (1.0 / inertia, rotors),
        _ => (0.0, true),
    };
    Row { wrenches, compliance, is_active }
}

/// Passes of refinement where there are loops. One restores what the recursion's orthogonal factorisation has; the second is for
/// positions so near to singular ones that the first leaves a digit.
const REFINEMENTS: usize = 2;
