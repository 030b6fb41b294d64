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

#[cfg(test)]
mod tests {
    use crate::scene;
    use crate::scene::read::read_str;
    use crate::step::{Options, Simulation, build};

    /// A loop, a gear, contact, a limit and a lock: everything that asks a formulation for something.
    const SCENE: &str = r#"
        gravity = [0, 0, -10]
        time = { end = 1, step = 0.01 }
        material = [{ name = "rough", friction = 0.4 }]
        body = [
            { name = "ground", shape = [{ kind = "half-space", material = "rough" }] },
            { name = "a", mass = 1, inertia = [1, 1, 1] },
            { name = "b", mass = 1, inertia = [1, 1, 1] },
            { name = "ball", mass = 1, inertia = [1, 1, 1], position = [0, 3, 0.55], velocity = [1, 0, 0],
              shape = [{ kind = "sphere", radius = 0.5, material = "rough" }] },
        ]
        joint = [
            { name = "one", kind = "revolute", parent = "ground", child = "a", axis = [0, 1, 0], v = [1], upper = 0.2 },
            { name = "two", kind = "revolute", parent = "ground", child = "b", axis = [0, 1, 0] },
        ]
        coupling = [
            { name = "gear", kind = "coupler", joints = ["one", "two"], ratios = [1, 2] },
            { name = "rod", kind = "distance", a = { body = "ground", point = [0, 3, 4] }, b = { body = "ball" }, absent = true },
        ]
        event = [{ name = "catch", kind = "engage", coupling = "rod", time = 0.1 }]
    "#;

    #[test]
    fn another_name_for_the_recursion_has_its_bits() {
        let scene = read_str(SCENE, "scene.toml", "").unwrap_or_else(|e| panic!("{e}"));
        let Ok(built) = build(&scene) else { panic!("the scene is a mechanism") };
        let start = |formulation| {
            let options = Options { formulation, ..Options::from_scene(&scene) };
            Simulation::new(built.model.clone(), built.plan.clone(), options, built.state.clone())
        };
        let (Ok(mut one), Ok(mut other)) = (start(scene::Formulation::Recursive), start(scene::Formulation::Dummy))
        else {
            panic!("both run")
        };
        for _ in 0..60 {
            let (a, b) = (one.advance(1.0), other.advance(1.0));
            assert!(a.is_ok() && b.is_ok());
            assert_eq!(one.state(), other.state());
        }
    }
}
