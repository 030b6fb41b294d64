//! A formulation that does nothing of its own. It is the standing proof of what a new one takes: this file, a variant where scenes name
//! formulations, and the arms of `engine.rs`.

use super::dense::Dense;
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

/// Its name.
pub(crate) const DUMMY: scene::Formulation = scene::Formulation::Dummy;

/// The recursion by another name.
pub(crate) struct Dummy(Recursive);

/// Its ports.
pub(crate) struct DummyPorts(Sweeps);

impl Dummy {
    pub fn new(system: &System, rows: &RowSet) -> Self {
        Self(Recursive::new(system, rows))
    }
}

impl DummyPorts {
    pub fn new(system: &System) -> Self {
        Self(Sweeps::new(system))
    }
}

impl Formulation for Dummy {
    fn place(&mut self, system: &System, q: &[f64], v: &[f64], out: &mut Kinematics) {
        self.0.place(system, q, v, out);
    }

    fn place_origins(&mut self, system: &System, out: &mut Kinematics) {
        self.0.place_origins(system, out);
    }

    fn factor(&mut self, at: &Posed<'_>, tau: &[f64], held: &[f64], rotors: bool) {
        self.0.factor(at, tau, held, rotors);
    }

    fn close(&mut self, at: &Posed<'_>, rhs: &[f64], out: &mut [f64]) {
        self.0.close(at, rhs, out);
    }

    fn solve(&mut self, at: &Posed<'_>, drive: &Drive<'_>, out: &mut Answer<'_>) -> Result<(), DynamicsError> {
        self.0.solve(at, drive, out)
    }

    fn react(&mut self, at: &Posed<'_>, drive: &Drive<'_>, out: &mut Answer<'_>) -> Result<(), DynamicsError> {
        self.0.react(at, drive, out)
    }

    fn override_jump(
        &mut self,
        at: &Posed<'_>,
        start: &JumpStart<'_>,
        v: &mut [f64],
        jumped: &mut Jumped,
    ) -> Result<(), DynamicsError> {
        self.0.override_jump(at, start, v, jumped)
    }

    fn is_direct(&self) -> bool {
        self.0.is_direct()
    }

    fn accelerate_at_once(
        &mut self,
        system: &System,
        state: (&[f64], &[f64]),
        drive: &Drive<'_>,
        rates: &mut [f64],
    ) -> Option<Result<(), DynamicsError>> {
        self.0.accelerate_at_once(system, state, drive, rates)
    }

    fn dependent_rows(&self, out: &mut Vec<usize>) {
        self.0.dependent_rows(out);
    }

    fn regularity(&self) -> (usize, f64) {
        self.0.regularity()
    }

    fn inherit(&mut self, at: &Posed<'_>, old: &mut Self, old_at: &Posed<'_>, q: &[f64]) {
        self.0.inherit(at, &mut old.0, old_at, q);
    }

    fn count_on(&mut self, work: Counters) {
        self.0.count_on(work);
    }

    fn counters(&self) -> Counters {
        self.0.counters()
    }

    fn oracle(&self) -> Option<&Dense> {
        self.0.oracle()
    }
}

impl Response for DummyPorts {
    type Of = Dummy;

    fn open(&mut self, by: &mut Dummy, at: &Posed<'_>, ports: &[Port]) -> Result<(), DynamicsError> {
        self.0.open(&mut by.0, at, ports)
    }

    fn write_delassus(&mut self, system: &System, out: &mut BlockMatrix) {
        self.0.write_delassus(system, out);
    }

    fn describe(&mut self, at: &Posed<'_>, ports: &[Port], out: &mut Origin) -> Option<Reason> {
        self.0.describe(at, ports, out)
    }

    fn respond(&mut self, by: &Dummy, at: &Posed<'_>, r: &[f64], v: &mut [f64]) {
        self.0.respond(&by.0, at, r, v);
    }
}
