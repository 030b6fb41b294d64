//! Bundled scenes with another step, their reference answers, and orders of convergence.
#![allow(dead_code)]

use serde_json::Value;
use signorini::scene::Scene;
use signorini::scene::read::{read, read_str};
use signorini::spatial::Quaternion;
use signorini::step::{Observation, Simulation, StepReport};

/// A bundled scene.
pub fn bundled(name: &str) -> Scene {
    read(format!("{}/../../scenes/{name}/scene.toml", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// A scene from text.
pub fn scene(text: &str) -> Scene {
    read_str(text, "test.toml", "").unwrap_or_else(|e| panic!("{e}"))
}

/// Starts a scene with a step.
pub fn start(scene: &Scene, step: f64) -> Simulation {
    let mut scene = scene.clone();
    scene.time.step = Some(step);
    Simulation::from_scene(&scene).unwrap_or_else(|e| panic!("{e}"))
}

/// Advances to a time and shows every step to `look`.
pub fn go(simulation: &mut Simulation, until: f64, mut look: impl FnMut(&Simulation, &StepReport)) {
    while simulation.state().time < until {
        let report = simulation.advance(until).unwrap_or_else(|e| panic!("at {}: {e}", simulation.state().time));
        look(simulation, &report);
    }
}

pub fn observe(simulation: &mut Simulation) -> Observation {
    let mut seen = Observation::default();
    simulation.observe(false, &mut seen).unwrap();
    seen
}

/// Slope of log(error) over log(step), by least squares.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<_> = points.iter().map(|(h, e)| (h.ln(), e.ln())).collect();
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let over: f64 = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    over / logs.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>()
}

/// An answer of `cases/`.
pub struct Reference(pub Value);

impl Reference {
    pub fn read(name: &str) -> Self {
        let path = format!("{}/../../cases/{name}.json", env!("CARGO_MANIFEST_DIR"));
        Self(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
    }

    pub fn times(&self) -> Vec<f64> {
        numbers(&self.0["t"])
    }

    /// Several columns at a stored time.
    pub fn at<const N: usize>(&self, row: usize, body: &str, columns: [&str; N]) -> [f64; N] {
        columns.map(|c| self.0["columns"][format!("{body}.{c}")][row].as_f64().unwrap())
    }
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

pub fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(&b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// Angle between two orientations.
pub fn angle_between(a: [f64; 4], b: [f64; 4]) -> f64 {
    let minus: f64 = a.iter().zip(&b).map(|(x, y)| (x - y).powi(2)).sum();
    let plus: f64 = a.iter().zip(&b).map(|(x, y)| (x + y).powi(2)).sum();
    2.0 * minus.min(plus).sqrt()
}

/// A vector of a body in world axes.
pub fn turned(q: [f64; 4], x: [f64; 3]) -> [f64; 3] {
    let m = Quaternion(q).to_matrix();
    std::array::from_fn(|i| (0..3).map(|j| m[(i, j)] * x[j]).sum())
}
