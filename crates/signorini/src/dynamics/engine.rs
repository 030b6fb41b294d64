//! The formulations there are: the one place where they are listed.

use super::dca::{Clusters, Kept};
use super::dense::{Dense, Oracle, Solves};
#[cfg(test)]
use super::dummy::{Dummy, DummyPorts};
use super::error::DynamicsError;
use super::formulation::{Answer, Counters, Drive, Formulation, JumpStart, Posed, Response};
use super::jump::Jumped;
use super::port::Port;
use super::recursive::{Recursive, Sweeps};
use super::row::RowSet;
use super::system::System;
use super::tree::Kinematics;
use crate::contact::delassus::BlockMatrix;
use crate::contact::origin::Origin;
use crate::contact::solve::Reason;
use crate::scene;

/// A formulation, chosen once per run.
pub(crate) enum Engine {
    Recursive(Box<Recursive>),
    Dca(Box<Clusters>),
    Dense(Box<Oracle>),
    #[cfg(test)]
    Dummy(Box<Dummy>),
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
            #[cfg(test)]
            scene::Formulation::Dummy => none,
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
            #[cfg(test)]
            scene::Formulation::Dummy => Self::Dummy(Box::new(Dummy::new(system, rows))),
        }
    }
}

/// What impulses at ports do, by a formulation.
pub(crate) enum Opened {
    Recursive(Box<Sweeps>),
    Dca(Box<Kept>),
    Dense(Box<Solves>),
    #[cfg(test)]
    Dummy(Box<DummyPorts>),
}

impl Opened {
    /// Scratch for a system's formulation.
    pub fn build(system: &System) -> Self {
        match system.formulation {
            scene::Formulation::Recursive => Self::Recursive(Box::new(Sweeps::new(system))),
            scene::Formulation::Dca => Self::Dca(Box::default()),
            scene::Formulation::Dense => Self::Dense(Box::default()),
            #[cfg(test)]
            scene::Formulation::Dummy => Self::Dummy(Box::new(DummyPorts::new(system))),
        }
    }

    /// Poses ports where the engine has factored last.
    pub fn open(&mut self, engine: &mut Engine, at: &Posed<'_>, ports: &[Port]) -> Result<(), DynamicsError> {
        match (self, engine) {
            (Self::Recursive(one), Engine::Recursive(by)) => one.open(by, at, ports),
            (Self::Dca(one), Engine::Dca(by)) => one.open(by, at, ports),
            (Self::Dense(one), Engine::Dense(by)) => one.open(by, at, ports),
            #[cfg(test)]
            (Self::Dummy(one), Engine::Dummy(by)) => one.open(by, at, ports),
            (Self::Recursive(_) | Self::Dca(_) | Self::Dense(_), _) => Err(OTHER_ENGINE),
            #[cfg(test)]
            (Self::Dummy(_), _) => Err(OTHER_ENGINE),
        }
    }

    /// G of the open ports, block by block.
    pub fn write_delassus(&mut self, system: &System, out: &mut BlockMatrix) {
        match self {
            Self::Recursive(one) => one.write_delassus(system, out),
            Self::Dca(one) => one.write_delassus(system, out),
            Self::Dense(one) => one.write_delassus(system, out),
            #[cfg(test)]
            Self::Dummy(one) => one.write_delassus(system, out),
        }
    }

    /// Where G comes from.
    pub fn describe(&mut self, at: &Posed<'_>, ports: &[Port], out: &mut Origin) -> Option<Reason> {
        match self {
            Self::Recursive(one) => one.describe(at, ports, out),
            Self::Dca(one) => one.describe(at, ports, out),
            Self::Dense(one) => one.describe(at, ports, out),
            #[cfg(test)]
            Self::Dummy(one) => one.describe(at, ports, out),
        }
    }

    /// Adds M⁻¹ Wᵀ r to speeds. The engine is the one of [`Self::open`], which has refused any other.
    pub fn respond(&mut self, engine: &Engine, at: &Posed<'_>, r: &[f64], v: &mut [f64]) {
        match (self, engine) {
            (Self::Recursive(one), Engine::Recursive(by)) => one.respond(by, at, r, v),
            (Self::Dca(one), Engine::Dca(by)) => one.respond(by, at, r, v),
            (Self::Dense(one), Engine::Dense(by)) => one.respond(by, at, r, v),
            #[cfg(test)]
            (Self::Dummy(one), Engine::Dummy(by)) => one.respond(by, at, r, v),
            (Self::Recursive(_) | Self::Dca(_) | Self::Dense(_), _) => debug_assert!(false, "{OTHER_ENGINE}"),
            #[cfg(test)]
            (Self::Dummy(_), _) => debug_assert!(false, "{OTHER_ENGINE}"),
        }
    }
}

/// Ports and engine are made of one system.
const OTHER_ENGINE: DynamicsError = DynamicsError::Internal("ports of another formulation");

/// Does the same with whichever formulation there is.
macro_rules! each {
    ($engine:expr, $one:ident => $act:expr) => {
        match $engine {
            Engine::Recursive($one) => $act,
            Engine::Dca($one) => $act,
            Engine::Dense($one) => $act,
            #[cfg(test)]
            Engine::Dummy($one) => $act,
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
            #[cfg(test)]
            (Self::Dummy(new), Self::Dummy(old)) => new.inherit(at, old, old_at, q),
            // Each must be named above.
            (Self::Recursive(_) | Self::Dca(_) | Self::Dense(_), _) => {}
            #[cfg(test)]
            (Self::Dummy(_), _) => {}
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
