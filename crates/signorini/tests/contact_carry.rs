//! Mechanisms that are moved out of overlap take their velocities along: kinetic energy does not rise, however fast they turn.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::Rng;
use signorini::scene::*;
use signorini::step::{Observation, Simulation};

const FORMULATIONS: [Formulation; 3] = [Formulation::Recursive, Formulation::Dca, Formulation::Dense];

/// A free chain of three links that turns fast with its middle in a floor without friction, far from any force; with `is_closed` its ends are tied
/// together by a fourth.
fn chain(rng: &mut Rng, is_closed: bool) -> Scene {
    let mut text = String::from(
        r#"
        time = { end = 1, step = 1e-9 }
        [[body]]
        name = "ground"
        shape = [{ kind = "half-space" }]
        [[contact]]
        groups = ["link", "link"]
        enabled = false
        "#,
    );
    let n = if is_closed { 4 } else { 3 };
    for i in 0..n {
        let mass = 1.5 + rng.range(-1.0, 1.0);
        text += &format!(
            r#"
            [[body]]
            name = "b{i}"
            mass = {mass}
            group = "link"
            shape = [{{ kind = "capsule", radius = 0.1, length = 1 }}]
            "#
        );
    }
    let mut turns: Vec<f64> = (0..n).map(|_| 2.0 * rng.range(-1.0, 1.0)).collect();
    if is_closed {
        // A rhombus.
        turns[1] = 1.5 + 0.5 * rng.range(-1.0, 1.0);
        turns[2] = std::f64::consts::PI - turns[1];
        turns[3] = turns[1];
    }
    let mut tie = |name: &str, parent: &str, child: &str, q: f64, v: f64| {
        text += &format!(
            r#"
            [[joint]]
            name = "{name}"
            kind = "revolute"
            axis = [0, 1, 0]
            parent = "{parent}"
            child = "{child}"
            parent_frame = {{ position = [0, 0, -0.5] }}
            child_frame = {{ position = [0, 0, 0.5] }}
            q = [{q}]
            v = [{v}]
            "#
        );
    };
    for i in 1..n {
        tie(&format!("j{i}"), &format!("b{}", i - 1), &format!("b{i}"), turns[i], 30.0 * rng.range(-1.0, 1.0));
    }
    if is_closed {
        tie("last", &format!("b{}", n - 1), "b0", turns[2], 0.0);
    }
    let spin: Vec<f64> = (0..3).map(|_| 30.0 * rng.range(-1.0, 1.0)).collect();
    let (z, tilt) = (0.5 * rng.range(-1.0, 1.0), 3.0 * rng.range(-1.0, 1.0));
    text += &format!(
        r#"
        [[joint]]
        name = "root"
        kind = "free"
        parent = "ground"
        child = "b0"
        q = [0, 0, {z}, {}, 0, {}, 0]
        v = [0, 0, {}, {}, {}, {}]
        "#,
        (0.5 * tilt).cos(),
        (0.5 * tilt).sin(),
        5.0 * rng.range(-1.0, 1.0),
        spin[0],
        spin[1],
        spin[2]
    );
    toml::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Kinetic and potential energy.
fn energy(simulation: &mut Simulation) -> (f64, f64) {
    let mut seen = Observation::default();
    simulation.observe(false, &mut seen).unwrap();
    (seen.kinetic, seen.potential)
}

/// Kinetic energy before and after a step, and how deep the mechanism was.
fn step(scene: &Scene) -> (f64, f64, f64, Vec<f64>) {
    let mut simulation = Simulation::from_scene(scene).unwrap();
    let before = energy(&mut simulation).0;
    let report = simulation.advance(1.0).unwrap();
    (before, report.kinetic, report.penetration, simulation.state().v.clone())
}

fn check(is_closed: bool, integrator: Integrator) {
    let mut rng = Rng(7);
    let (mut deep, mut bent) = (0, 0);
    for case in 0..60 {
        let mut scene = chain(&mut rng, is_closed);
        scene.time.integrator = integrator;
        let speeds = FORMULATIONS.map(|formulation| {
            scene.solver.formulation = formulation;
            let (before, after, depth, v) = step(&scene);
            deep += u32::from(depth > 0.1);
            bent += u32::from(after < before * (1.0 - 1e-3));
            // Positions are off by rounding, which a step of 1e-9 turns into nothing; energies are sums of some hundred products.
            assert!(after <= before * (1.0 + 1e-13), "case {case} {formulation:?}: {before} became {after}");
            v
        });
        for other in &speeds[1..] {
            for (a, b) in speeds[0].iter().zip(other) {
                assert!((a - b).abs() <= 1e-9 * 30.0, "case {case}: {a} and {b}");
            }
        }
    }
    assert!(deep > 90 && bent > 30, "of 180 only {deep} were deep, {bent} lost energy");
}

#[test]
fn chains_gain_nothing() {
    check(false, Integrator::StewartTrinkle);
    check(false, Integrator::Moreau);
}

#[test]
fn closed_chains_gain_nothing() {
    check(true, Integrator::StewartTrinkle);
    check(true, Integrator::Moreau);
}

/// A whip: links that come down at metres per second while they turn at 80 rad/s overlap by millimetres after Moreau.
#[test]
fn a_whip_comes_to_rest_after_moreau() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/chain-on-floor/scene.toml");
    let mut scene = signorini::scene::read::read(folder).unwrap();
    scene.time.integrator = Integrator::Moreau;
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let (kinetic, potential) = energy(&mut simulation);
    let (initial, mut last, mut highest) = (kinetic + potential, 0.0, 0.0_f64);
    while simulation.state().time < scene.time.end {
        let report = simulation.advance(scene.time.end).unwrap();
        last = report.kinetic + report.potential;
        highest = highest.max(last / initial);
    }
    println!("at most {highest} of the energy, {last} J in the end");
    // A hundred links of 0.5 kg lie at the height of their radius, 0.02 m.
    let rest = 100.0 * 0.5 * 9.81 * 0.02;
    assert!((last / rest - 1.0).abs() < 1e-9, "{last} J instead of {rest}");
    // It has most before anything touches.
    assert!(highest < 1.0 + 1e-9, "{highest}");
}
