//! Couplings: gears, belts, racks, rods and links, against the oracle, formulas, and conservation laws.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod agreement;
mod analytic;
#[path = "../common/mod.rs"]
mod common;
mod contact;
mod events;
mod motion;

use signorini::scene::read::read_str;
use signorini::scene::{Formulation, Scene};
use signorini::step::{Observation, Options, Simulation, build};

const FORMULATIONS: [Formulation; 3] = [Formulation::Recursive, Formulation::Dca, Formulation::Dense];

/// A scene from its text.
fn scene(text: &str) -> Scene {
    read_str(text, "scene.toml", "").unwrap_or_else(|e| panic!("{e}"))
}

/// A simulation of a scene by a formulation.
fn simulation(scene: &Scene, formulation: Formulation) -> Simulation {
    let built = build(scene).unwrap_or_else(|e| panic!("{e}\n{}", toml::to_string(scene).unwrap()));
    let options = Options { formulation, ..Options::from_scene(scene) };
    Simulation::new(built.model, built.plan, options, built.state).unwrap()
}

/// Everything that is seen, forces included.
fn observe(simulation: &mut Simulation) -> Observation {
    let mut seen = Observation::default();
    simulation.observe(true, &mut seen).unwrap();
    seen
}

/// Rates of the tree's speeds.
fn accelerations(simulation: &mut Simulation) -> Vec<f64> {
    let mut a = Vec::new();
    simulation.accelerations(&mut a).unwrap();
    a
}

/// Advances to a time, whatever happens on the way.
fn run(simulation: &mut Simulation, end: f64) {
    while simulation.state().time < end || simulation.is_event_due() {
        simulation.advance(end).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// Largest difference over the largest entry.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let d = a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    d / common::max_abs(b).max(1e-3)
}
