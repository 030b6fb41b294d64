//! Contact in motion against formulas: thresholds of friction, sliding and rolling distances, restitution, stacks, moving floors.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod contact_support;

use contact_support::*;
use signorini::scene::{Integrator, Restitution, Scene};
use signorini::step::{Mode, Simulation, StepReport};

const G: f64 = 9.81;

/// What a step's certificate may show: the tolerance, or the floor below which no impulses in double precision get.
fn is_solved(report: &StepReport, tolerance: f64) -> bool {
    !report.is_unsolved && report.residual.rel <= tolerance.max(report.residual.floor)
}

/// A block of 1 m on a slope of 10 degrees.
fn incline(friction: f64) -> Scene {
    let mut scene = bundled("incline");
    scene.material[0].friction = Some(friction.into());
    scene
}

fn block_drift(friction: f64, step: f64, until: f64) -> f64 {
    let mut simulation = start(&incline(friction), step);
    let first = observe(&mut simulation).bodies[0].position;
    go(&mut simulation, until, |_, r| assert!(is_solved(r, 1e-10), "{r:?}"));
    distance(observe(&mut simulation).bodies[0].position, first)
}

#[test]
fn a_block_on_a_slope_does_not_creep() {
    for step in [1e-4, 3e-4, 1e-3, 3.3e-3, 1e-2] {
        let drift = block_drift(0.3, step, 10.0);
        println!("h = {step:.1e}: {drift:.1e} m");
        assert!(drift < 1e-11, "{drift:e} at {step}");
    }
}

#[test]
fn friction_has_a_sharp_threshold() {
    let (slope, eps, step) = (10f64.to_radians(), 1e-6, 1e-3);
    let stays = block_drift(slope.tan() + eps, step, 1.0);
    let slides = block_drift(slope.tan() - eps, step, 1.0);
    // x″ = g (sin − μ cos) = g ε cos; the scheme's first order in the step is of a part in 10³.
    let wanted = 0.5 * G * eps * slope.cos();
    println!("stays {stays:.1e}, slides {slides:.4e}, formula {wanted:.4e}");
    assert!(stays < 1e-11);
    assert!((slides / wanted - 1.0).abs() < 5e-3);
}

const FLOOR: &str = r#"
    gravity = [0, 0, -9.81]
    time = { end = 10, step = 1e-3 }
    material = [{ name = "m", friction = 0.3 }]
    [[body]]
    name = "ground"
    shape = [{ kind = "half-space", material = "m" }]
"#;

#[test]
fn a_sliding_block_stops_where_it_should() {
    let (v, mu) = (2.0, 0.3);
    let scene = scene(&format!(
        "{FLOOR}\n[[body]]\nname = \"block\"\nmass = 3\nposition = [0, 0, 0.25]\nvelocity = [{v}, 0, 0]\n\
         shape = [{{ kind = \"box\", size = [1, 1, 0.5], material = \"m\" }}]"
    ));
    for step in [1e-2, 3e-3, 1e-3, 3e-4] {
        let mut simulation = start(&scene, step);
        let mut last = Mode::Slip;
        go(&mut simulation, 1.0, |s, _| last = s.contacts()[0].mode);
        let body = observe(&mut simulation).bodies[0];
        let off = body.position[0] - v * v / (2.0 * mu * G);
        println!("h = {step:.0e}: off by {off:.2e}, {:.3} v h; left {:.1e} m/s", off / (v * step), body.velocity[0]);
        // Positions follow the speed at the end of a step: half a step of the first speed.
        assert!(off.abs() <= 0.6 * v * step && body.velocity[0].abs() < 1e-13 && last == Mode::Stick);
    }
}

#[test]
fn a_thrown_ball_ends_at_five_sevenths_of_its_speed() {
    let scene = scene(&format!(
        "{FLOOR}\n[[body]]\nname = \"ball\"\nmass = 3\nposition = [0, 0, 0.25]\nvelocity = [2, 1, 0]\n\
         shape = [{{ kind = \"sphere\", radius = 0.25, material = \"m\" }}]"
    ));
    for step in [1e-2, 1e-3] {
        let mut simulation = start(&scene, step);
        go(&mut simulation, 1.0, |_, _| {});
        let v = observe(&mut simulation).bodies[0].velocity;
        let off = distance(v, [10.0 / 7.0, 5.0 / 7.0, 0.0]);
        println!("h = {step:.0e}: {off:.1e}");
        // The angular momentum about the line of contact is kept by every step, so the step's length does not matter.
        assert!(off < 1e-12, "{v:?}");
    }
}

/// Heights of the first apexes of a ball above the floor.
fn apexes(scene: &Scene, step: f64, n: usize) -> Vec<f64> {
    let mut simulation = start(scene, step);
    let (mut found, mut before) = (Vec::new(), [0.0; 2]);
    while found.len() < n {
        let until = simulation.state().time + step;
        go(&mut simulation, until, |_, _| {});
        let z = observe(&mut simulation).bodies[0].position[2] - 0.1;
        if before[1] > z && before[1] >= before[0] && before[0] > 0.0 {
            found.push(before[1]);
        }
        before = [before[1], z];
    }
    found
}

#[test]
fn a_ball_bounces_to_the_square_of_its_restitution_under_every_law() {
    for law in [Restitution::Newton, Restitution::Poisson, Restitution::Energetic] {
        for e in [0.5, 0.8, 1.0] {
            let mut scene = bundled("bouncing-ball");
            scene.solver.restitution = law;
            scene.material[0].restitution = Some(e);
            let mut errors = Vec::new();
            for step in [4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4] {
                let found = apexes(&scene, step, 2);
                errors.push((step, (found[0] - e * e).abs().max((found[1] - e * e * found[0]).abs())));
            }
            println!("{law:?} e = {e}: {errors:?}");
            // The speed of the impact changes by g h in a step, the height by v h: at most 4.43 h for each, twice.
            assert!(errors.iter().all(|(h, error)| *error <= 2.0 * (2.0 * G).sqrt() * h));
        }
    }
}

fn moved(simulation: &mut Simulation, first: &[[f64; 3]]) -> f64 {
    let seen = observe(simulation);
    seen.bodies.iter().zip(first).map(|(b, f)| distance(b.position, *f)).fold(0.0, f64::max)
}

fn places(simulation: &mut Simulation) -> Vec<[f64; 3]> {
    observe(simulation).bodies.iter().map(|b| b.position).collect()
}

const BOTH: [Integrator; 2] = [Integrator::StewartTrinkle, Integrator::Moreau];

#[test]
fn ten_boxes_stand_for_a_minute() {
    // A tolerance as loose as 10⁻⁸ leaves gaps of some 10⁻¹³ m, which are more than rounding: whether a corner counts must not depend on that.
    for (integrator, tolerance) in BOTH.into_iter().flat_map(|i| [(i, 1e-12), (i, 1e-8_f64)]) {
        let mut scene = bundled("box-stack");
        scene.time.integrator = integrator;
        scene.solver.tolerance = Some(tolerance);
        let mut simulation = start(&scene, 0.01);
        let first = places(&mut simulation);
        let mut worst = 0.0_f64;
        for k in 1..=60 {
            go(&mut simulation, f64::from(k), |_, r| {
                assert!(is_solved(r, tolerance.max(1e-10)));
                worst = worst.max(r.residual.rel);
            });
            // A residual is a velocity, as a share of g h; it may add up.
            let most = f64::max(1e-9, tolerance * G * 0.01 * 60.0);
            assert!(moved(&mut simulation, &first) < most);
        }
        println!(
            "{integrator:?} {tolerance:.0e}: moved {:.1e} m, residual {worst:.1e}",
            moved(&mut simulation, &first)
        );
    }
}

#[test]
fn heavy_boxes_stand_on_light_ones() {
    for (integrator, ratio) in BOTH.into_iter().flat_map(|i| [(i, 1e3), (i, 1e6)]) {
        let mut scene = bundled("heavy-stack");
        scene.time.integrator = integrator;
        scene.body.iter_mut().find(|b| b.name == "heavy").unwrap().mass = Some(ratio);
        let mut simulation = start(&scene, 0.01);
        let first = places(&mut simulation);
        let (mut rel, mut floor) = (0.0_f64, 0.0_f64);
        go(&mut simulation, 10.0, |_, r| {
            assert!(is_solved(r, 1e-10), "{r:?}");
            rel = rel.max(r.residual.rel);
            floor = floor.max(r.residual.floor);
        });
        let moved = moved(&mut simulation, &first);
        println!("{integrator:?} {ratio:.0e}: moved {moved:.1e} m, residual {rel:.1e}, floor {floor:.1e}");
        assert!(moved < 1e-9);
    }
}

#[test]
fn a_belt_takes_a_box_along() {
    let (v, mu, step) = (1.0, 0.5, 1e-3);
    let mut simulation = start(&bundled("conveyor"), step);
    let mut sticks_from = None;
    go(&mut simulation, 2.0, |s, r| {
        if sticks_from.is_none() && s.contacts().iter().any(|c| c.mode == Mode::Stick) {
            sticks_from = Some(r.time);
        }
    });
    let body = observe(&mut simulation).bodies[0];
    let slip = v * 2.0 - (body.position[0] + 1.0);
    println!("sticks from {sticks_from:?}, slipped {slip}");
    assert!((sticks_from.unwrap() - v / (mu * G)).abs() <= 2.0 * step);
    assert!((slip - v * v / (2.0 * mu * G)).abs() <= v * step);
    assert!((body.velocity[0] - v).abs() < 1e-12);
}

#[test]
fn a_ball_on_a_turntable_goes_round_at_two_sevenths_of_its_rate() {
    let mut errors = Vec::new();
    for step in [4e-3, 2e-3, 1e-3, 5e-4] {
        let mut simulation = start(&bundled("turntable"), step);
        let mut turned = 0.0;
        let mut last = 0.0_f64;
        for k in 1..=60 {
            go(&mut simulation, 0.1 * f64::from(k), |_, _| {});
            let x = observe(&mut simulation).bodies.iter().find(|b| b.position[2] > 0.0).unwrap().position;
            // About the middle of its circle.
            let angle = x[1].atan2(x[0] - 0.2);
            turned += (angle - last + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI;
            last = angle;
        }
        errors.push((step, (turned / 6.0 - 1.0).abs()));
    }
    println!("{errors:?}");
    // 3.5 rad/s of the table are 1 rad/s of the ball.
    assert!(errors.iter().all(|(h, error)| *error <= 0.5 * h));
}

#[test]
fn a_rocking_block_loses_speed_as_housner_says() {
    let alpha = 0.2_f64.atan();
    let wanted = 1.0 - 1.5 * alpha.sin().powi(2);
    let scene = bundled("rocking-block");
    let mut errors = Vec::new();
    for step in [8e-4, 4e-4, 2e-4, 1e-4, 5e-5] {
        let mut simulation = start(&scene, step);
        // The first impact is at 0.4186 s; the block turns at 0.65 rad/s, so that speeds change by g/R Δt around it.
        let spin_at = |s: &mut Simulation, t: f64| {
            go(s, t, |_, _| {});
            observe(s).bodies[0].angular_velocity[1]
        };
        let (t0, t1, t2) = (0.40, 0.41855363481283386, 0.44);
        let before = spin_at(&mut simulation, t0);
        let after = spin_at(&mut simulation, t2);
        // p² sin α is the rate of the speed near θ = 0, on both sides and to second order in the time from the impact.
        let rate = 0.75 * G / 0.26_f64.sqrt() * alpha.sin();
        let ratio = (after - rate * (t2 - t1)) / (before - rate * (t1 - t0));
        errors.push((step, (ratio - wanted).abs()));
    }
    println!("{errors:?}");
    // Second order in 0.02 s of rocking: 3e-4; first order in the step.
    assert!(errors.iter().all(|(h, error)| *error <= 5e-4 + 20.0 * h));
}

#[test]
fn the_last_ball_of_the_cradle_leaves_with_the_speed_of_the_first() {
    let mut simulation = start(&bundled("newtons-cradle"), 5e-5);
    go(&mut simulation, 0.505, |_, _| {});
    let before = observe(&mut simulation);
    let energy = before.kinetic + before.potential;
    go(&mut simulation, 0.515, |_, _| {});
    let after = observe(&mut simulation);
    println!("{:?} then {:?}", before.joint_v, after.joint_v);
    // Gravity takes 1e-3 of the speed meanwhile.
    assert!((after.joint_v[4] / before.joint_v[0] - 1.0).abs() < 1e-3);
    assert!(after.joint_v[..4].iter().all(|v| v.abs() < 1e-3));
    // e = 1: an impact loses nothing; what is left is the scheme's error between impacts.
    assert!(((after.kinetic + after.potential) / energy - 1.0).abs() < 1e-4);
}

#[test]
fn a_linkage_comes_to_rest_at_its_stop() {
    let mut simulation = start(&bundled("four-bar-stop"), 2e-4);
    let mut deepest = 0.0_f64;
    go(&mut simulation, 2.0, |_, r| deepest = deepest.max(r.penetration));
    let seen = observe(&mut simulation);
    println!("{} {:e} {deepest:e}", seen.joint_q[2], seen.joint_v[2]);
    assert!((seen.joint_q[2] - 1.8).abs() < 1e-12 && seen.joint_v[2].abs() < 1e-12);
    // The stop holds the weight: its moment is the slope of the potential energy in ψ, with the sign that pushes back.
    let push = simulation.joint_constraint_forces().iter().find(|p| p.joint == 2).copied().unwrap();
    assert!(push.is_limit && push.force < 0.0, "{push:?}");
}

#[test]
fn touching_balls_are_struck_at_once_under_newtons_law() {
    // Every contact that is struck separates with e times its approach: 1 for the first, 0 for those at rest, which stay closed. With the momentum
    // (w − 1) + 4 w = 1 that is w = 2/5 for the row and −3/5 for the first ball, and the energy is kept.
    let mut text = String::from("time = { end = 1, step = 1e-2 }\nmaterial = [{ name = \"m\", restitution = 1 }]\n");
    for k in 0..5 {
        let (x, v) = if k == 0 { (-0.1, 1.0) } else { (f64::from(k), 0.0) };
        text += &format!(
            "[[body]]\nname = \"b{k}\"\nmass = 1\nposition = [{x}, 0, 0]\nvelocity = [{v}, 0, 0]\n\
             shape = [{{ kind = \"sphere\", radius = 0.5, material = \"m\" }}]\n"
        );
    }
    let mut scene = scene(&text);
    scene.solver.restitution = Restitution::Newton;
    let mut simulation = start(&scene, 1e-2);
    go(&mut simulation, 1.0, |_, _| {});
    let speeds: Vec<_> = observe(&mut simulation).bodies.iter().map(|b| b.velocity[0]).collect();
    println!("{speeds:?}");
    assert!((speeds[0] + 0.6).abs() < 1e-10 && speeds[1..].iter().all(|v| (v - 0.4).abs() < 1e-10), "{speeds:?}");
}
