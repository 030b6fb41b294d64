//! The adaptive method at rest: what rounding leaves of motion does not shorten its steps.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::scene::Scene;
use signorini::scene::read::{read, read_str};
use signorini::step::{Observation, Simulation};
use std::path::Path;

fn scene(name: &str) -> Scene {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/force_scenes");
    read(folder.join(name).with_extension("toml")).unwrap()
}

fn run(scene: &Scene) -> Simulation {
    let mut simulation = Simulation::from_scene(scene).unwrap();
    while simulation.state().time < scene.time.end {
        simulation.advance(scene.time.end).unwrap();
    }
    simulation
}

fn first_coordinate(simulation: &mut Simulation) -> f64 {
    let mut seen = Observation::default();
    simulation.observe(false, &mut seen).unwrap();
    seen.joint_q[0]
}

/// A mass on a spring, critically damped: it comes to rest in a second, and nineteen more are a matter of stability (ω h up to 6).
#[test]
fn a_damped_mass_rests_in_few_steps() {
    let mut simulation = run(&scene("rest"));
    println!("rest: {} steps", simulation.state().steps);
    assert!(simulation.state().steps <= 400, "{}", simulation.state().steps);
    assert!((first_coordinate(&mut simulation).abs() - 0.0981).abs() < 1e-9);
}

/// Damped a hundred times more it creeps; fast decay at 2000 per unit of time holds explicit steps to about 6/2000: 20 · 2000/6 of them.
#[test]
fn a_creeping_mass_takes_the_steps_that_stability_asks_for() {
    let mut simulation = run(&scene("rest2000"));
    println!("rest2000: {} steps", simulation.state().steps);
    assert!(simulation.state().steps < 12_000, "{}", simulation.state().steps);
    assert!((first_coordinate(&mut simulation).abs() - 981e-6).abs() < 1e-11);
}

/// A platform on six legs with servos: five loops, redundant only by rounding, and forces that cancel.
#[test]
fn a_platform_on_servos_rests_in_few_steps() {
    let simulation = run(&scene("stewart_servo"));
    println!("stewart_servo: {} steps", simulation.state().steps);
    assert!(simulation.state().steps <= 1000, "{}", simulation.state().steps);
}

/// A relaxed spring far from zero: the rounding of its coordinate is all that moves it.
#[test]
fn a_relaxed_spring_rests_without_gravity() {
    let text = "[time]\nend = 20\n[[body]]\nname = \"m\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n[[joint]]\nname = \"x\"\n\
                kind = \"prismatic\"\nparent = \"ground\"\nchild = \"m\"\nq = [1.001]\n\
                spring = { stiffness = 100, rest = [1] }\ndamping = 20\n";
    let simulation = run(&read_str(text, "relaxed", ".").unwrap());
    println!("relaxed: {} steps", simulation.state().steps);
    assert!(simulation.state().steps <= 400, "{}", simulation.state().steps);
}

/// A speed that no step resolves ends with a reason instead of creeping.
#[test]
fn a_speed_beyond_resolution_is_refused() {
    let text = "[time]\nend = 1\n[[body]]\nname = \"m\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\ncom = [0.3, 0, 0]\n[[joint]]\nname = \"x\"\n\
                kind = \"revolute\"\nparent = \"ground\"\nchild = \"m\"\nv = [1e15]\nspring = { stiffness = 1e30 }\n";
    let mut simulation = Simulation::from_scene(&read_str(text, "fast", ".").unwrap()).unwrap();
    let error = (0..100).find_map(|_| simulation.advance(1.0).err()).map(|e| e.to_string());
    assert!(error.as_ref().is_some_and(|e| e.contains("resolution of time")), "{error:?}");
}
