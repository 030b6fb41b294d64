//! Divide and conquer as a formulation: the rows of cut joints as ports, and the same solves as the recursion's.

use super::StepError;
use super::system::{System, Workspace};
use crate::dynamics::dca::{Bias, Dca, Drive, Row};
use crate::dynamics::recursive::loops::{LoopRow, Loops, RowKind};
use crate::model::Instant;
use crate::plan::{Elimination, Port, Shape};
use crate::spatial::{Twist, Vec3};

/// Clusters, and right-hand sides in their order of rows.
#[derive(Debug, Clone)]
pub(crate) struct DcaWork {
    pub dca: Dca,
    /// Row of the clusters for each row of the loops.
    row: Vec<usize>,
    wanted: Vec<f64>,
    rates: Vec<f64>,
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
        Self { dca, row, wanted: vec![0.0; n], rates: vec![0.0; system.tree.n_v] }
    }
}

impl System {
    /// Cut joints as ports: closed directions, then prescribed speeds and rotors.
    pub(crate) fn ports(&self) -> Vec<Port> {
        let port = |cut: &crate::dynamics::recursive::cut::Cut| {
            let fittings = self.fittings(cut);
            let extra = |k: usize| {
                let has_rotor = fittings.armature.get(k).is_some_and(|&i| i > 0.0);
                usize::from(fittings.motion(k).is_some()) + usize::from(has_rotor)
            };
            let n_rows = cut.rows.len() + (0..cut.v.len()).map(extra).sum::<usize>();
            Port { ends: [cut.child, cut.parent], n_rows, is_kept: false }
        };
        self.cuts.iter().map(port).collect()
    }

    /// An elimination tree of this topology.
    pub fn eliminate(&self, shape: Shape) -> Elimination {
        Elimination::build(&self.plan.parents(), &self.ports(), shape)
    }

    /// Assembles the clusters at the present kinematics.
    pub(crate) fn factor_dca(&self, w: &mut Workspace, rotors: bool) {
        let Some(work) = w.dca.as_deref_mut() else { return };
        for (r, row) in w.loops.rows.iter().enumerate() {
            let closure = &w.closures[row.cut];
            let direction = Loops::direction(row, &w.closures);
            let wrenches = [direction.shifted(&closure.child_arm), (-direction).shifted(&closure.parent_arm)];
            let (compliance, is_active) = match row.kind {
                RowKind::Rotor(_, inertia) => (1.0 / inertia, rotors),
                _ => (0.0, true),
            };
            work.dca.rows[work.row[r]] = Row { wrenches, compliance, is_active };
        }
        work.dca.factor(&self.tree, &w.recursion.kinematics);
    }

    /// The displacement that answers the right-hand sides of the hard rows.
    pub(crate) fn respond_dca(&self, w: &mut Workspace) {
        let Some(work) = w.dca.as_deref_mut() else { return };
        let DcaWork { dca, row, wanted, .. } = work;
        for (r, &at) in row.iter().enumerate() {
            wanted[at] = w.loops.rhs[r];
        }
        let drive = Drive { wanted, ..Default::default() };
        dca.solve(&self.tree, &w.recursion.kinematics, &drive, &mut w.displacement);
    }

    /// Accelerations and the forces of the rows.
    pub(crate) fn accelerate_dca(&self, now: Instant, vdot: &mut [f64], w: &mut Workspace) -> Result<(), StepError> {
        self.factor_dca(w, true);
        let n_rows = w.loops.rows.len();
        let Some(mut work) = w.dca.take() else { return Err(StepError::Internal("no clusters")) };
        let DcaWork { dca, row, wanted, rates } = &mut *work;
        let singular = dca.singular();
        let ground = Twist::new(Vec3::zeros(), -self.model.gravity());
        for r in 0..n_rows {
            let of = w.loops.rows[r];
            let along = w.closures[of.cut].bias.dot(&Loops::direction(&of, &w.closures));
            let asked = if let RowKind::Prescribed(k) = of.kind { self.cut_motion(of.cut, k, now)[2] } else { 0.0 };
            wanted[row[r]] = along + asked;
        }
        let external = (self.needs_positions || !self.user_loads.is_empty()).then_some(&w.external[..]);
        let drive = Drive {
            tau: &w.tau,
            external,
            bias: Bias::Velocities,
            held: &w.prescribed,
            ground,
            wanted,
            kept: &[],
        };
        dca.solve(&self.tree, &w.recursion.kinematics, &drive, vdot);
        for r in 0..n_rows {
            w.loops.lambda[r] = dca.lambda[row[r]];
        }
        // Iterative refinement: closed rows were eliminated through the square of what the recursion factors, and near a singular
        // position this restores the digits that it lost.
        for _ in 0..if n_rows > 0 { REFINEMENTS } else { 0 } {
            self.sweep_accelerations(&ground, vdot, w);
            for r in 0..n_rows {
                wanted[row[r]] = -self.opening(r, now, w);
            }
            let drive = Drive { wanted, ..Default::default() };
            dca.solve(&self.tree, &w.recursion.kinematics, &drive, rates);
            vdot.iter_mut().zip(&*rates).for_each(|(v, d)| *v += d);
            for r in 0..n_rows {
                w.loops.lambda[r] += dca.lambda[row[r]];
            }
        }
        w.dca = Some(work);
        singular.map_or(Ok(()), |link| Err(self.no_inertia(link)))
    }

    /// Velocity jumps and the impulses of the rows, as [`Self::accelerate_dca`]: velocities are zero and biases are what new joints
    /// do not allow.
    pub(crate) fn solve_jump_dca(&self, now: Instant, delta: &mut [f64], w: &mut Workspace) -> Result<(), StepError> {
        self.factor_dca(w, true);
        let n_rows = w.loops.rows.len();
        w.loops.lambda.fill(0.0);
        w.recursion.acceleration.fill(Twist::default());
        let Some(mut work) = w.dca.take() else { return Err(StepError::Internal("no clusters")) };
        let DcaWork { dca, row, wanted, rates } = &mut *work;
        let singular = dca.singular();
        for r in 0..n_rows {
            wanted[row[r]] = -self.opening_jump(r, now, w);
        }
        let external = Some(&w.external[..]);
        let (held, tau) = (&w.prescribed, &w.tau);
        let drive = Drive { tau, external, bias: Bias::Velocities, held, wanted, ..Default::default() };
        dca.solve(&self.tree, &w.recursion.kinematics, &drive, delta);
        for r in 0..n_rows {
            w.loops.lambda[r] = dca.lambda[row[r]];
        }
        self.sweep_accelerations(&Twist::default(), delta, w);
        for _ in 0..if n_rows > 0 { REFINEMENTS } else { 0 } {
            for r in 0..n_rows {
                wanted[row[r]] = -self.opening_jump(r, now, w);
            }
            let drive = Drive { wanted, ..Default::default() };
            dca.solve(&self.tree, &w.recursion.kinematics, &drive, rates);
            delta.iter_mut().zip(&*rates).for_each(|(v, d)| *v += d);
            for r in 0..n_rows {
                w.loops.lambda[r] += dca.lambda[row[r]];
            }
            self.sweep_accelerations(&Twist::default(), delta, w);
        }
        w.dca = Some(work);
        singular.map_or(Ok(()), |link| Err(self.no_inertia(link)))
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

    /// Accelerations of all links from those of the speeds.
    fn sweep_accelerations(&self, ground: &Twist, vdot: &[f64], w: &mut Workspace) {
        let recursion = &mut w.recursion;
        for (i, link) in self.tree.links.iter().enumerate() {
            let motion = &recursion.kinematics.links[i];
            let inner = link.parent_index().map_or(*ground, |p| recursion.acceleration[p]);
            let mut a = inner.shifted(&motion.offset) + motion.bias;
            for v in link.v_range() {
                a += recursion.kinematics.unit_motion(i, link, v) * vdot[v];
            }
            recursion.acceleration[i] = a;
        }
    }

    /// Acceleration with which a row opens; a rotor's, beyond that of its rotor.
    fn opening(&self, r: usize, now: Instant, w: &Workspace) -> f64 {
        let row = &w.loops.rows[r];
        let ground = Twist::new(Vec3::zeros(), -self.model.gravity());
        let closure = &w.closures[row.cut];
        let relative = self.cuts[row.cut].relative_acceleration(closure, &w.recursion.acceleration, &ground);
        let along = relative.dot(&Loops::direction(row, &w.closures));
        match row.kind {
            RowKind::Closed(_) => along,
            RowKind::Prescribed(k) => along - self.cut_motion(row.cut, k, now)[2],
            RowKind::Rotor(_, inertia) => along + w.loops.lambda[r] / inertia,
        }
    }
}

/// Passes of refinement where there are loops. One restores what the recursion's orthogonal factorisation has; the second is for
/// positions so near to singular ones that the first leaves a digit.
const REFINEMENTS: usize = 2;

impl super::Simulation {
    /// Assembles by a tree of the given shape, under divide and conquer. The motion stays the same up to rounding.
    pub fn set_shape(&mut self, shape: Shape) {
        if self.system.elimination.is_some() {
            self.system.elimination = Some(self.system.eliminate(shape));
            let cut_q = std::mem::take(&mut self.work.cut_q);
            self.work = self.system.workspace();
            self.work.cut_q = cut_q;
        }
    }
}
