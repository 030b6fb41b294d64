//! The formulations there are: the one place where they are listed.

use super::dca::Clusters;
use super::dense::{Dense, Oracle};
use super::error::DynamicsError;
use super::formulation::{Answer, Counters, Drive, Formulation, JumpStart, Posed};
use super::jump::Jumped;
use super::recursive::Recursive;
use super::row::RowSet;
use super::system::System;
use super::tree::Kinematics;
use crate::scene;

/// A formulation, chosen once per run.
pub(crate) enum Engine {
    Recursive(Box<Recursive>),
    Dca(Box<Clusters>),
    Dense(Box<Oracle>),
}

/// What is known of a formulation before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Traits {
    /// Whether it assembles clusters, which need an order of elimination.
    pub has_clusters: bool,
    /// Whether it needs positions in space at every evaluation.
    pub needs_positions: bool,
    /// Whether it knows all inertias and loops at once: a joint may then move nothing that has inertia where another joint holds it.
    pub knows_loops_at_once: bool,
}

impl Traits {
    /// Those of a formulation.
    pub const fn of(formulation: scene::Formulation) -> Self {
        let none = Self { has_clusters: false, needs_positions: false, knows_loops_at_once: false };
        match formulation {
            scene::Formulation::Recursive => none,
            scene::Formulation::Dca => Self { has_clusters: true, ..none },
            scene::Formulation::Dense => Self { needs_positions: true, knows_loops_at_once: true, ..none },
        }
    }
}

impl Engine {
    /// Scratch of a system's formulation.
    pub fn build(system: &System, rows: &RowSet) -> Self {
        match system.formulation {
            scene::Formulation::Recursive => Self::Recursive(Box::new(Recursive::new(system, rows))),
            scene::Formulation::Dca => Self::Dca(Box::new(Clusters::new(system, rows))),
            scene::Formulation::Dense => Self::Dense(Box::new(Oracle::new(system, rows))),
        }
    }
}

impl Engine {
    /// The recursion, where it is the formulation.
    pub fn recursive(&self) -> Option<&Recursive> {
        if let Self::Recursive(one) = self { Some(one) } else { None }
    }

    /// The clusters, where they are the formulation.
    pub fn clusters(&self) -> Option<&Clusters> {
        if let Self::Dca(one) = self { Some(one) } else { None }
    }
}

/// Does the same with whichever formulation there is.
macro_rules! each {
    ($engine:expr, $one:ident => $act:expr) => {
        match $engine {
            Engine::Recursive($one) => $act,
            Engine::Dca($one) => $act,
            Engine::Dense($one) => $act,
        }
    };
}

impl Formulation for Engine {
    fn place(&mut self, system: &System, q: &[f64], v: &[f64], out: &mut Kinematics) {
        each!(self, one => one.place(system, q, v, out));
    }

    fn place_origins(&mut self, system: &System, out: &mut Kinematics) {
        each!(self, one => one.place_origins(system, out));
    }

    fn factor(&mut self, at: &Posed<'_>, tau: &[f64], held: &[f64], rotors: bool) {
        each!(self, one => one.factor(at, tau, held, rotors));
    }

    fn close(&mut self, at: &Posed<'_>, rhs: &[f64], out: &mut [f64]) {
        each!(self, one => one.close(at, rhs, out));
    }

    fn solve(&mut self, at: &Posed<'_>, drive: &Drive<'_>, out: &mut Answer<'_>) -> Result<(), DynamicsError> {
        each!(self, one => one.solve(at, drive, out))
    }

    fn react(&mut self, at: &Posed<'_>, drive: &Drive<'_>, out: &mut Answer<'_>) -> Result<(), DynamicsError> {
        each!(self, one => one.react(at, drive, out))
    }

    fn override_jump(
        &mut self,
        at: &Posed<'_>,
        start: &JumpStart<'_>,
        v: &mut [f64],
        jumped: &mut Jumped,
    ) -> Result<(), DynamicsError> {
        each!(self, one => one.override_jump(at, start, v, jumped))
    }

    fn is_direct(&self) -> bool {
        each!(self, one => one.is_direct())
    }

    fn accelerate_at_once(
        &mut self,
        system: &System,
        state: (&[f64], &[f64]),
        drive: &Drive<'_>,
        rates: &mut [f64],
    ) -> Option<Result<(), DynamicsError>> {
        each!(self, one => one.accelerate_at_once(system, state, drive, rates))
    }

    fn dependent_rows(&self, out: &mut Vec<usize>) {
        each!(self, one => one.dependent_rows(out));
    }

    fn regularity(&self) -> (usize, f64) {
        each!(self, one => one.regularity())
    }

    fn inherit(&mut self, at: &Posed<'_>, old: &mut Self, old_at: &Posed<'_>, q: &[f64]) {
        // A run keeps its formulation.
        match (self, old) {
            (Self::Recursive(new), Self::Recursive(old)) => new.inherit(at, old, old_at, q),
            (Self::Dca(new), Self::Dca(old)) => new.inherit(at, old, old_at, q),
            (Self::Dense(new), Self::Dense(old)) => new.inherit(at, old, old_at, q),
            (Self::Recursive(_) | Self::Dca(_) | Self::Dense(_), _) => {}
        }
    }

    fn count_on(&mut self, work: Counters) {
        each!(self, one => one.count_on(work));
    }

    fn counters(&self) -> Counters {
        each!(self, one => one.counters())
    }

    fn oracle(&self) -> Option<&Dense> {
        each!(self, one => one.oracle())
    }
}
