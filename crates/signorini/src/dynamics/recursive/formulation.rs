//! The recursion as a formulation: articulated bodies, and loops on top of them.

use super::loops::Loops;
use super::{Recursion, Swept};
use crate::dynamics::dense::Dense;
use crate::dynamics::error::DynamicsError;
use crate::dynamics::formulation::{Answer, Counters, Drive, Formulation, JumpStart, Posed};
use crate::dynamics::jump::Jumped;
use crate::dynamics::row::{Level, RowSet};
use crate::dynamics::system::System;
use crate::dynamics::tree::Kinematics;

/// Passes over the loops. The second is iterative refinement: near a singular position it restores the digits that the first one lost.
const PASSES: usize = 2;
/// Passes at a jump: impulses are asked for to more digits.
const JUMP_PASSES: usize = 3;

/// Articulated bodies and the rows on top of them.
#[derive(Debug, Clone)]
pub(crate) struct Recursive {
    pub recursion: Recursion,
    pub loops: Loops,
    /// Right-hand side of each row.
    rhs: Vec<f64>,
}

impl Recursive {
    pub fn new(system: &System, rows: &RowSet) -> Self {
        let (recursion, loops) = (Recursion::new(&system.tree), Loops::new(&system.tree, rows));
        Self { recursion, loops, rhs: vec![0.0; rows.len()] }
    }

    /// The tree as the last inward sweep left it.
    pub fn swept<'a>(&'a self, system: &'a System, kinematics: &'a Kinematics) -> Swept<'a> {
        self.recursion.swept(&system.tree, kinematics)
    }
}

impl Formulation for Recursive {
    fn place(&mut self, system: &System, q: &[f64], v: &[f64], out: &mut Kinematics) {
        out.update(&system.tree, q, v);
    }

    fn place_origins(&mut self, system: &System, out: &mut Kinematics) {
        out.update_positions(&system.tree);
    }

    fn factor(&mut self, at: &Posed<'_>, tau: &[f64], held: &[f64], rotors: bool) {
        self.recursion.update_articulated(&at.system.tree, at.kinematics, tau, held, None);
        self.loops.factor(self.recursion.swept(&at.system.tree, at.kinematics), at.rows, rotors);
    }

    fn close(&mut self, at: &Posed<'_>, rhs: &[f64], out: &mut [f64]) {
        self.loops.solve(rhs);
        self.loops.respond(self.recursion.swept(&at.system.tree, at.kinematics), out);
    }

    fn solve(&mut self, at: &Posed<'_>, drive: &Drive<'_>, out: &mut Answer<'_>) -> Result<(), DynamicsError> {
        let (tree, kinematics, rows) = (&at.system.tree, at.kinematics, at.rows);
        let Self { recursion, loops, rhs } = self;
        recursion.update_articulated(tree, kinematics, drive.tau, drive.held, drive.external);
        if let Some(link) = recursion.singular {
            return Err(at.system.no_inertia(link));
        }
        let mut passes = 0;
        if !rows.is_empty() {
            passes = if drive.level == Level::Jump { JUMP_PASSES } else { PASSES };
            loops.factor(recursion.swept(tree, kinematics), rows, true);
            loops.begin();
            out.lambda.fill(0.0);
        }
        for _ in 0..passes {
            recursion.update_accelerations(tree, kinematics, &drive.gravity, drive.held, out.rates, out.links);
            for (r, rhs) in rhs.iter_mut().enumerate() {
                let along = rows.opening(r, drive.level, out.links, out.rates);
                *rhs = -loops.rotor_acceleration(r).map_or(along, |rotor| along - rotor);
            }
            loops.solve(rhs);
            loops.apply(&mut recursion.pivots);
            loops.accumulate(out.lambda);
        }
        recursion.update_accelerations(tree, kinematics, &drive.gravity, drive.held, out.rates, out.links);
        Ok(())
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
        false
    }

    fn accelerate_at_once(
        &mut self,
        _: &System,
        _: (&[f64], &[f64]),
        _: &Drive<'_>,
        _: &mut [f64],
    ) -> Option<Result<(), DynamicsError>> {
        None
    }

    fn dependent_rows(&self, out: &mut Vec<usize>) {
        out.clear();
        if !self.loops.is_empty() {
            out.extend_from_slice(self.loops.dependent_rows());
        }
    }

    fn regularity(&self) -> (usize, f64) {
        if self.loops.is_empty() { (0, 1.0) } else { (self.loops.rank(), self.loops.smallest_pivot().min(1.0)) }
    }

    fn inherit(&mut self, _: &Posed<'_>, _: &mut Self, _: &Posed<'_>, _: &[f64]) {}

    fn count_on(&mut self, work: Counters) {
        self.recursion.work = work.links;
    }

    fn counters(&self) -> Counters {
        Counters { links: self.recursion.work, ..Counters::default() }
    }

    fn oracle(&self) -> Option<&Dense> {
        None
    }
}
