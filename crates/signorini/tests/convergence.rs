//! Orders of convergence, measured by halving the step, on a spatial tree with a ball joint and on a closed loop.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use signorini::scene::*;
use signorini::state::State;
use signorini::step::{Options, Simulation, build};

fn body(name: &str, mass: f64, com: [f64; 3], inertia: [f64; 3]) -> Body {
    Body { name: name.into(), mass: Some(mass), com: Some(com), inertia: Some(inertia.to_vec()), ..Default::default() }
}

fn at(x: f64, y: f64, z: f64) -> Option<FrameRef> {
    Some(FrameRef::Pose { position: [x, y, z], orientation: None })
}

fn joint(name: &str, kind: JointKind, parent: &str, child: &str) -> Joint {
    Joint { name: name.into(), kind, parent: parent.into(), child: child.into(), ..Default::default() }
}

/// A universal joint, then a ball joint with a damper and a spring.
fn spatial_pendulum() -> Scene {
    let mut scene = Scene { gravity: [0.0, 0.0, -9.81], ..Default::default() };
    scene.time.end = 1.0;
    scene.body.push(body("upper", 1.0, [0.0, 0.0, -0.5], [0.09, 0.085, 0.02]));
    scene.body.push(body("lower", 0.8, [0.02, -0.01, -0.35], [0.05, 0.045, 0.015]));
    let mut shoulder = joint("shoulder", JointKind::Universal, "ground", "upper");
    (shoulder.q, shoulder.v) = (Some(vec![0.6, 0.3]), Some(vec![0.3, -0.5]));
    let mut elbow = joint("elbow", JointKind::Spherical, "upper", "lower");
    elbow.parent_frame = at(0.0, 0.0, -1.0);
    (elbow.q, elbow.v) = (Some(vec![0.9, 0.3, -0.3, 0.1]), Some(vec![0.3, -0.4, 1.0]));
    elbow.damping = Some(PerCoordinate::All(0.05));
    elbow.spring = Some(Spring { stiffness: PerCoordinate::Each(vec![0.5, 1.0, 0.2]), rest: None });
    scene.joint = vec![shoulder, elbow];
    scene
}

/// Crank 0.4, coupler 0.9, rocker 0.7 over a base of 1, moving in the x–z plane under gravity.
fn four_bar() -> Scene {
    let mut scene = Scene { gravity: [0.0, 0.0, -9.81], ..Default::default() };
    scene.time.end = 1.0;
    for (name, l) in [("crank", 0.4), ("coupler", 0.9), ("rocker", 0.7)] {
        scene.body.push(body(name, l, [l / 2.0, 0.0, 0.0], [1e-4, l * l * l / 12.0, l * l * l / 12.0]));
    }
    // Solved in place: the fourth joint closes the loop, so the first three angles must fit.
    let (a, b, c) = (0.4f64, 0.9f64, 0.7f64);
    let th = -60f64.to_radians();
    let (px, pz) = (a * th.cos(), -a * th.sin());
    let (dx, dz) = (1.0 - px, -pz);
    let l = dx.hypot(dz);
    let k = (b * b - c * c + l * l) / (2.0 * l);
    let h = (b * b - k * k).sqrt();
    let (qx, qz) = (px + k * dx / l - h * dz / l, pz + k * dz / l + h * dx / l);
    let angle = |x: f64, z: f64| (-z).atan2(x);
    let (ac, ak, ar) = (angle(px, pz), angle(qx - px, qz - pz), angle(qx - 1.0, qz));
    let mut joints = [
        joint("a", JointKind::Revolute, "ground", "crank"),
        joint("b", JointKind::Revolute, "crank", "coupler"),
        joint("c", JointKind::Revolute, "ground", "rocker"),
        joint("d", JointKind::Revolute, "coupler", "rocker"),
    ];
    joints.iter_mut().for_each(|j| j.axis = Some([0.0, 1.0, 0.0]));
    joints[0].q = Some(vec![ac]);
    joints[1].q = Some(vec![ak - ac]);
    joints[2].q = Some(vec![ar]);
    joints[0].v = Some(vec![3.0]);
    joints[1].parent_frame = at(0.4, 0.0, 0.0);
    joints[2].parent_frame = at(1.0, 0.0, 0.0);
    joints[3].parent_frame = at(0.9, 0.0, 0.0);
    joints[3].child_frame = at(0.7, 0.0, 0.0);
    scene.joint = joints.to_vec();
    scene
}

/// Runs to `end` in equal steps.
fn run(scene: &Scene, integrator: Integrator, step: f64, rtol: f64, end: f64) -> State {
    let built = build(scene).unwrap();
    let options = Options { integrator, step: Some(step), rtol, ..Default::default() };
    let mut simulation = Simulation::new(built.model, built.plan, options, built.state).unwrap();
    let n = (end / step).round() as u64;
    for k in 1..=n {
        let limit = end * k as f64 / n as f64;
        let report = simulation.advance(limit).unwrap();
        assert_eq!((report.time, report.rejected), (limit, 0), "a convergence study must not be disturbed");
    }
    simulation.state().clone()
}

fn reference(scene: &Scene, end: f64) -> State {
    let built = build(scene).unwrap();
    let options = Options { rtol: 1e-13, ..Default::default() };
    let mut simulation = Simulation::new(built.model, built.plan, options, built.state).unwrap();
    while simulation.state().time < end {
        simulation.advance(end).unwrap();
    }
    simulation.state().clone()
}

/// Slope of log(error) over log(step), by least squares.
fn measured_order(scene: &Scene, integrator: Integrator, steps: &[f64]) -> f64 {
    let end = 0.8;
    let exact = reference(scene, end);
    let points: Vec<(f64, f64)> = steps
        .iter()
        .map(|&h| {
            // A tolerance so loose that the adaptive method takes the steps it is told.
            let found = run(scene, integrator, h, 1e9, end);
            let pairs = found.q.iter().chain(&found.v).zip(exact.q.iter().chain(&exact.v));
            let error = pairs.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            (h.ln(), error.ln())
        })
        .collect();
    let n = points.len() as f64;
    let (sx, sy) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0, y + p.1));
    let (mx, my) = (sx / n, sy / n);
    let (num, den) =
        points.iter().fold((0.0, 0.0), |(a, b), p| (a + (p.0 - mx) * (p.1 - my), b + (p.0 - mx) * (p.0 - mx)));
    println!("{integrator:?}: {:?} slope {}", points.iter().map(|p| p.1.exp()).collect::<Vec<_>>(), num / den);
    num / den
}

/// Steps that divide the run into so many, doubled again and again (or nearly so).
fn divided(counts: &[u32]) -> Vec<f64> {
    counts.iter().map(|&n| 0.8 / f64::from(n)).collect()
}

// The loop passes near its dead centres, so its errors settle to their order at shorter steps than the tree's.

#[test]
fn euler_has_order_one() {
    for scene in [spatial_pendulum(), four_bar()] {
        let order = measured_order(&scene, Integrator::Euler, &divided(&[800, 1600, 3200, 6400, 12800]));
        assert!((0.9..1.15).contains(&order), "{order}");
    }
}

#[test]
fn rk4_has_order_four() {
    let counts: [&[u32]; 2] = [&[40, 80, 160, 320, 640], &[320, 640, 1280, 2560]];
    for (scene, counts) in [spatial_pendulum(), four_bar()].iter().zip(counts) {
        let order = measured_order(scene, Integrator::Rk4, &divided(counts));
        assert!((3.8..4.6).contains(&order), "{order}");
    }
}

#[test]
fn adaptive_method_has_order_eight() {
    let counts: [&[u32]; 2] = [&[8, 16, 32, 64], &[40, 56, 80, 112]];
    for (scene, counts) in [spatial_pendulum(), four_bar()].iter().zip(counts) {
        let order = measured_order(scene, Integrator::Adaptive, &divided(counts));
        assert!(order > 7.5, "{order}");
    }
}
