//! Events: locks, welds, attachments, releases, changes of kind, switches and blows in mid-flight.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bits;
mod clusters;
#[path = "../common/mod.rs"]
mod common;
mod edits;
mod motion;
mod properties;
mod references;
mod singular;
mod triggers;

use serde_json::Value;
use signorini::impulse::EventReport;
use signorini::scene::read::read_str;
use signorini::scene::{Formulation, Scene};
use signorini::step::{Observation, Options, Simulation, build};

/// A scene from its text.
fn scene(text: &str) -> Scene {
    read_str(text, "scene.toml", "").unwrap_or_else(|e| panic!("{e}"))
}

/// A simulation of a scene with another formulation and tolerance.
fn simulation(scene: &Scene, formulation: Formulation, rtol: f64) -> Simulation {
    let built = build(scene).unwrap_or_else(|e| panic!("{e}\n{}", toml::to_string(scene).unwrap()));
    let options = Options { formulation, rtol, ..Options::from_scene(scene) };
    Simulation::new(built.model, built.plan, options, built.state).unwrap()
}

/// Advances to a time and lets everything happen that is due then. Returns what happened on the way.
fn run(simulation: &mut Simulation, end: f64) -> Vec<EventReport> {
    let mut reports = Vec::new();
    while simulation.state().time < end || simulation.is_event_due() {
        let report = simulation.advance(end).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(report.events as usize, simulation.events().len());
        reports.extend_from_slice(simulation.events());
    }
    reports
}

fn observe(simulation: &mut Simulation) -> Observation {
    let mut seen = Observation::default();
    simulation.observe(false, &mut seen).unwrap();
    seen
}

/// A stored reference answer.
fn case(name: &str) -> Value {
    let path = format!("{}/../../cases/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Largest difference.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
}
