//! Mechanisms that turn far in one step, in the air and on a floor: no step makes energy, however long it is, and short ones converge.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::Rng;
use signorini::scene::*;
use signorini::step::{Observation, Options, Simulation, build};

fn start(text: &str, step: f64) -> Simulation {
    let scene: Scene = toml::from_str(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let built = build(&scene).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options { step: Some(step), policy: Policy::Accept, ..Options::from_scene(&scene) };
    Simulation::new(built.model, built.plan, options, built.state).unwrap()
}

fn energy(simulation: &mut Simulation) -> f64 {
    let mut seen = Observation::default();
    simulation.observe(false, &mut seen).unwrap();
    seen.kinetic + seen.potential
}

/// Three links on joints of a kind above a floor.
fn chain(rng: &mut Rng, kind: &str, restitution: f64, speed: f64) -> String {
    let joint = |rng: &mut Rng, name: &str, parent: &str, child: &str| {
        let v: Vec<f64> = (0..if kind == "revolute" { 1 } else { 3 }).map(|_| speed * rng.range(-1.0, 1.0)).collect();
        format!(
            "[[joint]]\nname = \"{name}\"\nkind = \"{kind}\"\nparent = \"{parent}\"\nchild = \"{child}\"\nv = {v:?}\n\
             parent_frame = {{ position = [0, 0, 0.1] }}\nchild_frame = {{ position = [0, 0, -0.1] }}\n"
        )
    };
    let mut text = format!(
        r#"
        gravity = [0, 0, -9.81]
        time = {{ end = 10, step = 1e-3 }}
        [[material]]
        name = "m"
        friction = 0.1
        restitution = {restitution}
        [[contact]]
        groups = ["link", "link"]
        enabled = false
        [[body]]
        name = "ground"
        shape = [{{ kind = "half-space", material = "m" }}]
        "#
    );
    for i in 0..3 {
        let mass = 0.3 + 0.7 * rng.unit();
        let place = if i == 0 { "position = [0, 0, 0.6]\norientation = [0.283, 0, 0.959, 0]\n" } else { "" };
        text += &format!(
            "[[body]]\nname = \"b{i}\"\nmass = {mass}\ngroup = \"link\"\n{place}\
             shape = [{{ kind = \"box\", size = [0.05, 0.05, 0.16], material = \"m\" }}]\n"
        );
    }
    text += &joint(rng, "j1", "b0", "b1");
    text += &joint(rng, "j2", "b1", "b2");
    text
}

/// Chains that fall, strike and tumble while their links turn by up to several radians in a step.
#[test]
fn no_step_makes_energy() {
    let mut rng = Rng(20);
    let mut worst = 0.0_f64;
    for kind in ["revolute", "spherical"] {
        for (restitution, speed, step) in
            [(1.0, 5.0, 5.5e-3), (1.0, 60.0, 5.5e-3), (0.0, 60.0, 2e-2), (0.7, 200.0, 1e-2), (1.0, 20.0, 1e-3)]
        {
            let text = chain(&mut rng, kind, restitution, speed);
            let mut simulation = start(&text, step);
            let first = energy(&mut simulation);
            let mut largest = first;
            let mut turn = 0.0_f64;
            for _ in 0..((1.5 / step) as usize) {
                let report = simulation.advance(1e6).unwrap();
                let now = report.kinetic + report.potential;
                assert!(now.is_finite());
                largest = largest.max(now);
                let fastest = simulation.state().v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                turn = turn.max(step * fastest);
            }
            println!(
                "{kind}, e = {restitution}, h = {step}: h ω up to {turn:.2}, {first:.3} J, at most {largest:.3} J"
            );
            worst = worst.max(largest / first);
        }
    }
    // What a part of a step leaves below a fifth of a radian, and what moves while a mechanism bends by a tenth before it carries velocities.
    assert!(worst <= 1.05, "{worst}");
}

/// A box that is thrown at a floor spins by several radians a step from its first strike on.
#[test]
fn a_box_that_spins_by_radians_a_step_makes_no_energy() {
    for (step, speed, friction) in [(1e-2, 100.0, 0.5), (1e-2, 100.0, 0.0), (2e-2, 30.0, 0.3), (1e-3, 300.0, 0.5)] {
        for integrator in ["stewart-trinkle", "moreau"] {
            let text = format!(
                r#"
                gravity = [0, 0, -9.81]
                time = {{ end = 10, step = {step}, integrator = "{integrator}" }}
                [[material]]
                name = "m"
                friction = {friction}
                [[body]]
                name = "ground"
                shape = [{{ kind = "half-space", material = "m" }}]
                [[body]]
                name = "a"
                position = [0, 0, 0.4]
                orientation = [0.8, 0.36, 0.48, 0]
                velocity = [{speed}, 0, -{speed}]
                shape = [{{ kind = "box", size = [0.1, 0.2, 0.3], density = 500, material = "m" }}]
                "#
            );
            let mut simulation = start(&text, step);
            let first = energy(&mut simulation);
            let mut largest = first;
            for _ in 0..300 {
                let report = simulation.advance(1e6).unwrap();
                largest = largest.max(report.kinetic + report.potential);
            }
            println!("{integrator}, h = {step}, {speed} m/s: {first:.1} J, at most {largest:.1} J");
            assert!(largest <= 1.01 * first, "{integrator}, h = {step}: {first} → {largest}");
        }
    }
}

/// A chain in the air, without a floor near it: second order, also where the step is divided.
#[test]
fn flight_converges() {
    let text = chain(&mut Rng(3), "spherical", 0.0, 30.0).replace("position = [0, 0, 0.6]", "position = [0, 0, 50]");
    let end = 0.128;
    let run = |step: f64| {
        let mut simulation = start(&text, step);
        while simulation.state().time < end - 0.5 * step {
            simulation.advance(end).unwrap();
        }
        let mut seen = Observation::default();
        simulation.observe(false, &mut seen).unwrap();
        seen.bodies.iter().flat_map(|b| b.position).collect::<Vec<f64>>()
    };
    let reference = run(end / 8192.0);
    let error = |n: f64| {
        let found = run(end / n);
        found.iter().zip(&reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let errors: Vec<f64> = [16.0, 64.0, 256.0, 1024.0].into_iter().map(error).collect();
    println!("{errors:?}");
    // Four times the steps, a sixteenth of the error; an eighth is asked for. The longest step is divided, and better than its length.
    assert!(
        errors[0] <= 16.0 * errors[1] && errors[2] <= errors[1] / 8.0 && errors[3] <= errors[2] / 8.0,
        "{errors:?}"
    );
}
