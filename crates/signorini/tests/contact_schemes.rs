//! Stewart and Trinkle's scheme and Moreau's side by side, on scenes with known answers. With `--nocapture` it prints the tables of
//! book/contact-in-motion.md; those of paper 000's pendulums are printed by `tests/contact_references.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use cpu_time::ThreadTime;
use signorini::scene::*;
use signorini::spatial::Vec3;
use signorini::step::{BodyMotion, Observation, Simulation, StepReport};

const GRAVITY: f64 = 9.81;
const BOTH: [Integrator; 2] = [Integrator::StewartTrinkle, Integrator::Moreau];

/// Bodies on a floor, as text.
fn scene(bodies: &str, restitution: f64, friction: f64, integrator: Integrator, step: f64) -> Scene {
    let text = format!(
        r#"
        gravity = [0, 0, -{GRAVITY}]
        time = {{ end = 100, step = {step} }}
        material = [{{ name = "m", friction = {friction}, restitution = {restitution} }}]
        [[body]]
        name = "ground"
        shape = [{{ kind = "half-space", material = "m" }}]
        {bodies}
        "#
    );
    let mut scene: Scene = toml::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    scene.time.integrator = integrator;
    scene
}

/// Runs, and hands over the first body after every step.
fn go(scene: &Scene, until: f64, mut look: impl FnMut(&BodyMotion, &StepReport)) {
    let mut simulation = Simulation::from_scene(scene).unwrap();
    let mut seen = Observation::default();
    while simulation.state().time < until {
        let report = simulation.advance(until).unwrap();
        simulation.observe(false, &mut seen).unwrap();
        look(&seen.bodies[0], &report);
    }
}

const BLOCK: &str = r#"
    [[body]]
    name = "b"
    mass = 3
    position = [0, 0, 0.25]
    velocity = [2, 0, 0]
    shape = [{ kind = "box", size = [1, 1, 0.5], material = "m" }]
"#;
const BALL: &str = r#"
    [[body]]
    name = "b"
    mass = 1
    position = [0, 0, 1.1]
    shape = [{ kind = "sphere", radius = 0.1, material = "m" }]
"#;
/// Falls on a corner and tumbles to rest.
const TUMBLING: &str = r#"
    [[body]]
    name = "b"
    position = [0, 0, 0.6]
    orientation = [0.8, 0.36, 0.48, 0]
    angular_velocity = [1, -2, 0.5]
    shape = [{ kind = "box", size = [0.4, 0.3, 0.2], density = 500, material = "m" }]
"#;

/// How far from where it should be a block stops that slides at 2 m/s, and its speed then.
fn sliding(integrator: Integrator, step: f64) -> (f64, f64) {
    let mut found = (0.0, 0.0);
    go(&scene(BLOCK, 0.0, 0.3, integrator, step), 1.0, |b, _| {
        found = (b.position[0] - 4.0 / (2.0 * 0.3 * GRAVITY), b.velocity[0].abs());
    });
    found
}

/// Error of the first apex of a ball that falls by 1 m with e = 0.8, and how deep it gets.
fn bouncing(integrator: Integrator, step: f64) -> (f64, f64) {
    let (mut apex, mut deepest) = (0.0_f64, 0.0_f64);
    // The first fall takes 0.4515 s, the second apex comes 0.8 times that later.
    go(&scene(BALL, 0.8, 0.3, integrator, step), 1.0, |b, report| {
        deepest = deepest.max(report.penetration);
        if report.time > 0.46 {
            apex = apex.max(b.position[2] - 0.1);
        }
    });
    (apex - 0.64, deepest)
}

/// Energy of a ball that bounces with e = 1 for ten seconds: the change over what there was to begin with.
fn energy(integrator: Integrator, step: f64) -> f64 {
    let mut last = 0.0;
    go(&scene(BALL, 1.0, 0.3, integrator, step), 10.0, |_, report| last = report.kinetic + report.potential);
    // The ball touches the floor at a height of 0.1 m.
    (last - 1.1 * GRAVITY) / GRAVITY
}

struct Rest {
    deepest: f64,
    speed: f64,
    resting_depth: f64,
}

/// A box that tumbles: how deep it gets, and after three seconds its largest speed and depth.
fn tumbling(integrator: Integrator, step: f64) -> Rest {
    let mut found = Rest { deepest: 0.0, speed: 0.0, resting_depth: 0.0 };
    go(&scene(TUMBLING, 0.3, 0.5, integrator, step), 4.0, |b, report| {
        found.deepest = found.deepest.max(report.penetration);
        if report.time > 3.0 {
            let speed = Vec3::from(b.velocity).norm() + 0.27 * Vec3::from(b.angular_velocity).norm();
            found.speed = found.speed.max(speed);
            found.resting_depth = found.resting_depth.max(report.penetration);
        }
    });
    found
}

/// Largest speed of a box that is put down at rest, after a second.
fn resting(integrator: Integrator, step: f64) -> f64 {
    let mut speed = 0.0_f64;
    let still = BLOCK.replace("velocity = [2, 0, 0]", "");
    go(&scene(&still, 0.3, 0.3, integrator, step), 2.0, |b, report| {
        if report.time > 1.0 {
            speed = speed.max(Vec3::from(b.velocity).norm() + Vec3::from(b.angular_velocity).norm());
        }
    });
    speed
}

/// Seconds per step of ten boxes on each other, in the mean over a thousand steps.
fn cost(integrator: Integrator, step: f64) -> f64 {
    let boxes = (0..10).map(|i| {
        let height = 0.1 + 0.2 * f64::from(i);
        format!(
            r#"
            [[body]]
            name = "b{i}"
            position = [0, 0, {height}]
            shape = [{{ kind = "box", size = [0.2, 0.2, 0.2], density = 500, material = "m" }}]
            "#
        )
    });
    let mut simulation =
        Simulation::from_scene(&scene(&boxes.collect::<String>(), 0.0, 0.5, integrator, step)).unwrap();
    let mut run = |n: usize| {
        for _ in 0..n {
            simulation.advance(100.0).unwrap();
        }
    };
    run(100);
    let clock = ThreadTime::now();
    run(1000);
    clock.elapsed().as_secs_f64() / 1000.0
}

#[test]
fn the_two_schemes_side_by_side() {
    for integrator in BOTH {
        for step in [4e-3, 2e-3, 1e-3, 5e-4] {
            let ((stopped, speed), (apex, deepest)) = (sliding(integrator, step), bouncing(integrator, step));
            println!("{integrator:?} h {step:.1e}: block {stopped:+.1e}, apex {apex:+.1e}, deepest {deepest:.1e}");
            // A step at the speed that there is; after Moreau only the step in which it stops, within which it moves by no more than μ g h²/2.
            let most = if integrator == Integrator::Moreau { 0.15 * GRAVITY * step * step } else { 2.0 * step };
            assert!(stopped.abs() <= most && speed < 1e-12, "{stopped:e}");
            // A strike is foreseen, or found when it has passed, at its own time; the highest of the points that are seen is up to g h²/8 below the apex.
            assert!(apex.abs() <= GRAVITY * step * step, "{apex:e}");
            assert!(deepest <= if integrator == Integrator::Moreau { 4.43 * step + 1e-12 } else { 1e-14 });
        }
    }
}

#[test]
fn the_two_schemes_at_a_millisecond() {
    for integrator in BOTH {
        let step = 1e-3;
        let (drift, rest, speed) = (energy(integrator, step), tumbling(integrator, step), resting(integrator, step));
        println!(
            "{integrator:?}: energy after 10 s of bouncing with e = 1 {drift:+.1e}; a tumbling box: deepest {:.1e}, at rest {:.1e} m/s, \
             depth {:.1e}; a box put down: {speed:.1e} m/s; ten boxes: {:.1} µs per step",
            rest.deepest,
            rest.speed,
            rest.resting_depth,
            1e6 * cost(integrator, step)
        );
        // What is put down at rest rests, and what falls comes to rest.
        assert!(speed < 1e-12, "{speed:e}");
        assert!(rest.speed < 1e-12 && rest.resting_depth < 1e-13, "{:e} {:e}", rest.speed, rest.resting_depth);
        // After Moreau parabolas are met at points of their own, and strikes reverse them in time; the default takes a strike's speed at a time within the
        // step that is off by O(h²).
        let most = if integrator == Integrator::Moreau { 1e-12 } else { 1e-4 };
        assert!(drift.abs() < most, "{drift:e}");
    }
}
