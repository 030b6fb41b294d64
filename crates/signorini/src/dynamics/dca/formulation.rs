//! Divide and conquer as a formulation: elements as ports of clusters.

use super::{Bias, Dca, Drive as ClusterDrive, Motion, Push, Row};
use crate::dynamics::dense::Dense;
use crate::dynamics::error::DynamicsError;
use crate::dynamics::formulation::{Answer, Counters, Drive, Formulation, JumpStart, Posed};
use crate::dynamics::jump::Jumped;
use crate::dynamics::row::{Level, RowKind, RowSet};
use crate::dynamics::system::System;
use crate::dynamics::tree::Kinematics;
use crate::plan::{Elimination, Port, Shape};
use crate::spatial::Twist;

/// Passes of refinement where there are loops. One restores what the recursion's orthogonal factorisation has; the second is for
/// positions so near to singular ones that the first leaves a digit.
const REFINEMENTS: usize = 2;

/// Clusters, and right-hand sides in their order of rows.
#[derive(Debug, Clone)]
pub(crate) struct Clusters {
    pub dca: Dca,
    /// Row of the clusters for each row of the mechanism.
    pub row: Vec<usize>,
    /// Elements as ports.
    ports: Vec<Port>,
    wanted: Vec<f64>,
    rates: Vec<f64>,
    /// Coordinates at which an event has left the clusters assembled, rotors included; empty where that is not known.
    assembled: Vec<f64>,
    /// Merges that an event has repeated.
    repeated: u64,
}

impl System {
    /// Elements as ports: closed directions, then prescribed speeds and rotors.
    pub(crate) fn ports(&self, rows: &RowSet) -> Vec<Port> {
        (0..self.elements.len()).map(|e| self.port(e, rows)).collect()
    }

    /// An element as a port.
    pub(crate) fn port(&self, element: usize, rows: &RowSet) -> Port {
        let mut ends = Vec::new();
        self.elements[element].ends(&self.cuts, &mut ends);
        Port { ends, n_rows: rows.n_rows_of(element), is_kept: false }
    }

    /// An elimination tree of this topology.
    pub fn eliminate(&self, shape: Shape) -> Elimination {
        Elimination::build(&self.plan.parents(), &self.ports(&self.rows()), shape)
    }

    /// The order of assembly after an event: the same where the tree is, else a new one of the same shape.
    pub(crate) fn carry_order(&mut self, old: &Self, is_same_tree: bool) {
        self.shape = old.shape;
        let is_same = is_same_tree && self.ports(&self.rows()) == old.ports(&old.rows());
        self.elimination =
            old.elimination.as_ref().map(|e| if is_same { e.clone() } else { self.eliminate(self.shape) });
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
}

impl Clusters {
    pub fn new(system: &System, rows: &RowSet) -> Self {
        let ports = system.ports(rows);
        let plan = system.elimination.clone().unwrap_or_default();
        let dca = Dca::new(&system.tree, &ports, plan);
        let mut next: Vec<usize> = (0..ports.len()).map(|k| dca.first_row(k)).collect();
        let row = rows.iter().map(|r| {
            next[r.element] += 1;
            next[r.element] - 1
        });
        let (row, n) = (row.collect(), rows.len());
        let (wanted, rates) = (vec![0.0; n], vec![0.0; system.tree.n_v]);
        Self { dca, row, ports, wanted, rates, assembled: Vec::new(), repeated: 0 }
    }

    fn assemble(&mut self, at: &Posed<'_>, rotors: bool) {
        self.assembled.clear();
        for (r, &row) in self.row.iter().enumerate() {
            write_row(r, at.rows, rotors, &self.ports, &mut self.dca.rows[row]);
        }
        self.dca.factor(&at.system.tree, at.kinematics);
    }

    /// Iterative refinement: closed rows were eliminated through the square of what the recursion factors, and near a singular
    /// position this restores the digits that it lost.
    fn refine(&mut self, at: &Posed<'_>, level: Level, ground: &Twist, out: &mut Answer<'_>) {
        let (tree, kinematics, rows) = (&at.system.tree, at.kinematics, at.rows);
        let Self { dca, row, wanted, rates, .. } = self;
        for pass in 0..REFINEMENTS {
            if pass > 0 || level != Level::Jump {
                dca.update_accelerations(tree, kinematics, ground, out.rates, out.links);
            }
            for r in 0..rows.len() {
                wanted[row[r]] = -opening(r, rows, level, out);
            }
            let drive = ClusterDrive { wanted, ..Default::default() };
            dca.solve(tree, kinematics, &drive, rates);
            out.rates.iter_mut().zip(&*rates).for_each(|(v, d)| *v += d);
            for r in 0..rows.len() {
                out.lambda[r] += dca.lambda[row[r]];
            }
        }
        if level == Level::Jump {
            dca.update_accelerations(tree, kinematics, ground, out.rates, out.links);
        }
    }

    fn outcome(&self, system: &System) -> Result<(), DynamicsError> {
        self.dca.singular().map_or(Ok(()), |link| Err(system.no_own_inertia(link)))
    }
}

impl Formulation for Clusters {
    fn place(&mut self, system: &System, q: &[f64], v: &[f64], out: &mut Kinematics) {
        self.dca.update_kinematics(&system.tree, q, v, out);
    }

    fn place_origins(&mut self, _: &System, _: &mut Kinematics) {}

    fn factor(&mut self, at: &Posed<'_>, _: &[f64], _: &[f64], rotors: bool) {
        self.assemble(at, rotors);
    }

    fn close(&mut self, at: &Posed<'_>, rhs: &[f64], out: &mut [f64]) {
        let Self { dca, row, wanted, .. } = self;
        for (r, &at) in row.iter().enumerate() {
            wanted[at] = rhs[r];
        }
        let drive = ClusterDrive { wanted, ..Default::default() };
        dca.solve(&at.system.tree, at.kinematics, &drive, out);
    }

    fn solve(&mut self, at: &Posed<'_>, drive: &Drive<'_>, out: &mut Answer<'_>) -> Result<(), DynamicsError> {
        let (tree, kinematics, rows) = (&at.system.tree, at.kinematics, at.rows);
        let is_jump = drive.level == Level::Jump;
        // Clusters that an event has taken over still know the velocities at which they were assembled, and no joint is new: there is no bias.
        let is_carried = is_jump && !self.assembled.is_empty();
        if !is_carried {
            self.assemble(at, true);
        }
        let outcome = self.outcome(at.system);
        let ground = match drive.level {
            Level::Acceleration(ground) => ground,
            Level::Velocity | Level::Jump => Twist::default(),
        };
        out.lambda.fill(0.0);
        out.links.fill(Twist::default());
        out.rates.fill(0.0);
        let Self { dca, row, wanted, .. } = self;
        for r in 0..rows.len() {
            wanted[row[r]] = if is_jump { -opening(r, rows, drive.level, out) } else { rows.asked(r) };
        }
        let Drive { tau, external, held, .. } = *drive;
        let bias = if is_carried { Bias::None } else { Bias::Velocities };
        let drive_all = ClusterDrive { tau, external, bias, held, ground, wanted, kept: &[] };
        dca.solve(tree, kinematics, &drive_all, out.rates);
        for r in 0..rows.len() {
            out.lambda[r] = dca.lambda[row[r]];
        }
        if is_jump {
            if rows.is_empty() {
                out.links.copy_from_slice(&dca.acceleration);
            } else {
                dca.update_accelerations(tree, kinematics, &ground, out.rates, out.links);
            }
        }
        if !rows.is_empty() {
            self.refine(at, drive.level, &ground, out);
        }
        outcome
    }

    fn react(&mut self, at: &Posed<'_>, drive: &Drive<'_>, out: &mut Answer<'_>) -> Result<(), DynamicsError> {
        self.solve(at, drive, out)
    }

    fn override_jump(
        &mut self,
        _: &Posed<'_>,
        _: &JumpStart<'_>,
        _: &mut [f64],
        _: &mut Jumped,
    ) -> Result<(), DynamicsError> {
        Ok(())
    }

    fn is_direct(&self) -> bool {
        true
    }

    fn accelerate_at_once(
        &mut self,
        system: &System,
        (q, v): (&[f64], &[f64]),
        drive: &Drive<'_>,
        rates: &mut [f64],
    ) -> Option<Result<(), DynamicsError>> {
        let Level::Acceleration(ground) = drive.level else { return None };
        self.assembled.clear();
        let motion = Motion { tree: &system.tree, q, v, tau: drive.tau, held: drive.held };
        self.dca.accelerate(&motion, &ground, rates);
        Some(self.outcome(system))
    }

    fn dependent_rows(&self, out: &mut Vec<usize>) {
        out.clear();
        let of = |at: usize| self.row.iter().position(|&r| r == at);
        out.extend(self.dca.dependent_rows().filter_map(of));
    }

    fn regularity(&self) -> (usize, f64) {
        (self.row.len() - self.dca.dependent_rows().count(), 1.0)
    }

    /// Only what lies between the joints whose speeds were held or let go and the root is assembled again.
    fn inherit(&mut self, at: &Posed<'_>, old: &mut Self, old_at: &Posed<'_>, q: &[f64]) {
        let elements = |system: &'_ System| system.elements.len();
        let is_like = elements(at.system) == elements(old_at.system)
            && at.system.elements.iter().zip(&old_at.system.elements).all(|(a, b)| a.is_like(b));
        if !is_like || !at.rows.is_like(old_at.rows) {
            return;
        }
        if old.assembled != q {
            old.assemble(old_at, true);
        }
        old.assembled.clear();
        old.assembled.extend_from_slice(q);
        self.clone_from(old);
        let (before, tree) = (self.dca.merges, &at.system.tree);
        for (i, link) in tree.links.iter().enumerate() {
            let held = &tree.prescribed[link.v_range()];
            if self.dca.held[link.v_range()] != *held {
                self.dca.held[link.v_range()].copy_from_slice(held);
                self.dca.refactor_path(tree, old_at.kinematics, i);
            }
        }
        self.repeated = self.dca.merges - before;
    }

    fn count_on(&mut self, work: Counters) {
        (self.dca.work, self.dca.merges) = (work.links, work.merges);
    }

    fn counters(&self) -> Counters {
        Counters { links: self.dca.work, merges: self.dca.merges, repeated: self.repeated }
    }

    fn oracle(&self) -> Option<&Dense> {
        None
    }
}

/// How a row opens; a rotor's, beyond that of its rotor.
fn opening(r: usize, rows: &RowSet, level: Level, found: &Answer<'_>) -> f64 {
    let along = rows.opening(r, level, found.links, found.rates);
    if let RowKind::Rotor(_, inertia) = rows.row(r).kind { along + found.lambda[r] / inertia } else { along }
}

/// A row, as clusters have it.
pub(crate) fn write_row(r: usize, rows: &RowSet, rotors: bool, ports: &[Port], out: &mut Row) {
    out.pushes.fill(Push::default());
    let ends = &ports[rows.row(r).element].ends;
    rows.push(r, |pushed| out.add_push(ends, pushed));
    (out.compliance, out.is_active) = match rows.row(r).kind {
        RowKind::Rotor(_, inertia) => (1.0 / inertia, rotors),
        _ => (0.0, true),
    };
}
