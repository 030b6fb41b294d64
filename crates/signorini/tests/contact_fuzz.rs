//! Random scenes of falling bodies: everything stays finite, every contact problem is solved, nothing sinks in deeper than the scheme's
//! analysis allows, and momentum is that of the recorded impulses.
//!
//! `SIGNORINI_FUZZ_STEPS=1000000` runs longer than the default of 10 000 steps per integrator.
//!
//! **Bound on penetration** (book/contact-in-motion.md). With h the step, Δv the relative velocity of the centres of mass of two bodies, ω their
//! angular velocities and ρ the reach of their shapes from there, the larger of the values at both ends of the step, and w = |Δv| + Σ ρ |ω|:
//!
//! * a contact that the step knew of, struck or not, ends no deeper than  Σ ρ (h|ω|)² + h² Σ|ω| w : paths of turning bodies bend (one
//!   half), other points of rims and round shapes become the closest (the other), and normals turn while bodies slide;
//! * one that it did not know of, because others push the two together, no deeper than  h w : the way of one step;
//!
//! The first is of second order. It holds for all contacts of the default run. In longer runs contacts at rims of cylinders exceed it, which touch at few
//! points of a circle: one contact in a hundred of 300 000 steps, mostly by less than a factor of two; two in a hundred are allowed. The second holds for
//! all of them. And
//!
//! * after Moreau, who looks at gaps in the middle of steps, no deeper there than the way from middle to middle, displacements
//!   that remove overlap included.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::*;
use signorini::model::BodyId;
use signorini::scene::*;
use signorini::spatial::Vec3;
use signorini::step::{ContactReport, Observation, Options, Simulation, build};
use std::collections::HashSet;

const DEFAULT_STEPS: usize = 10_000;

const GRAVITY: f64 = -9.81;

/// A shape of size s, as text, and its reach from the centre of mass.
fn random_shape(rng: &mut Rng, s: f64) -> (String, f64) {
    match rng.below(5) {
        0 => (format!(r#"kind = "sphere", radius = {s}"#), s),
        1 => {
            let [x, y, z] = [(); 3].map(|()| s * rng.range(0.5, 2.0));
            (format!(r#"kind = "box", size = [{x}, {y}, {z}]"#), 0.5 * Vec3::new(x, y, z).norm())
        }
        2 => (format!(r#"kind = "capsule", radius = {}, length = {}"#, 0.5 * s, 1.5 * s), 1.25 * s),
        3 => {
            let (r, l) = (s * rng.range(0.4, 1.0), s * rng.range(0.4, 2.0));
            (format!(r#"kind = "cylinder", radius = {r}, length = {l}"#), r.hypot(0.5 * l))
        }
        _ => {
            // An octahedron with its corners moved; twice its size is beyond its reach from wherever its centre is.
            let mut points = Vec::new();
            for axis in 0..3 {
                for side in [-1.0, 1.0] {
                    let mut p = rng.vector(0.3 * s);
                    p[axis] += side * s;
                    points.push(p);
                }
            }
            (format!(r#"kind = "convex-hull", points = {points:?}"#), 2.0 * s)
        }
    }
}

struct Fall {
    scene: Scene,
    reach: Vec<f64>,
    step: f64,
}

/// Two to six bodies above a floor, beside a wall or not.
fn random_fall(rng: &mut Rng) -> Fall {
    let step = 5e-4 * 8.0_f64.powf(rng.unit());
    let (friction, restitution) = (rng.unit(), if rng.chance(0.3) { 0.0 } else { rng.range(0.0, 0.8) });
    let floor = if rng.chance(0.5) {
        r#"{ kind = "half-space", material = "m" }"#
    } else {
        r#"{ kind = "box", size = [20, 20, 1], position = [0, 0, -0.5], material = "m" }"#
    };
    let wall = if rng.chance(0.5) {
        r#", { kind = "box", size = [0.2, 4, 4], position = [0.5, 0, 2], material = "m" }"#
    } else {
        ""
    };
    let mut text = format!(
        r#"
        gravity = [0, 0, {GRAVITY}]
        time = {{ end = 100.0, step = {step} }}
        material = [{{ name = "m", friction = {friction}, restitution = {restitution} }}]
        [[body]]
        name = "ground"
        shape = [{floor}{wall}]
        "#
    );
    let mut reach = Vec::new();
    let mut height = 0.0;
    for i in 0..2 + rng.below(5) {
        let size = rng.range(0.05, 0.15);
        let (shape, rho) = random_shape(rng, size);
        height += rho + rng.range(0.01, 0.1);
        let [x, y, _] = rng.vector(0.08);
        let (velocity, omega) = (rng.vector(1.5), rng.vector(10.0));
        text += &format!(
            r#"
            [[body]]
            name = "b{i}"
            position = [{x}, {y}, {height}]
            orientation = {:?}
            velocity = {velocity:?}
            angular_velocity = {omega:?}
            shape = [{{ {shape}, density = {}, material = "m" }}]
            "#,
            rng.quaternion(),
            rng.range(200.0, 2000.0)
        );
        height += rho;
        reach.push(rho);
    }
    let mut scene: Scene = toml::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    scene.solver.restitution = [Restitution::Newton, Restitution::Poisson, Restitution::Energetic][rng.below(3)];
    Fall { scene, reach, step }
}

fn observe(simulation: &mut Simulation) -> Observation {
    let mut seen = Observation::default();
    simulation.observe(false, &mut seen).unwrap();
    seen
}

/// How fast two bodies can come together, w, and the second-order bound over h².
fn closing(c: &ContactReport, seen: &[&Observation], reach: &[f64]) -> (f64, f64) {
    let largest = |f: &dyn Fn(&Observation) -> f64| seen.iter().fold(0.0, |m: f64, o| m.max(f(o)));
    let velocity =
        |o: &Observation, b: Option<BodyId>| b.map_or(Vec3::zeros(), |b| o.bodies[b.index()].velocity.into());
    let mut w = largest(&|o| (velocity(o, c.bodies[1]) - velocity(o, c.bodies[0])).norm());
    let (mut turning, mut bend) = (0.0, 0.0);
    for b in c.bodies.into_iter().flatten() {
        let omega = largest(&|o| Vec3::from(o.bodies[b.index()].angular_velocity).norm());
        turning += omega;
        w += reach[b.index()] * omega;
        bend += reach[b.index()] * omega * omega;
    }
    (w, bend + turning * w)
}

/// How far points of two bodies have moved against each other between two states, at most.
fn way(c: &ContactReport, [from, to]: [&Observation; 2], reach: &[f64]) -> f64 {
    let moved = |b: BodyId| Vec3::from(to.bodies[b.index()].position) - Vec3::from(from.bodies[b.index()].position);
    let shift = c.bodies[1].map_or(Vec3::zeros(), moved) - c.bodies[0].map_or(Vec3::zeros(), moved);
    let mut way = shift.norm();
    for b in c.bodies.into_iter().flatten() {
        let [p, q] = [from, to].map(|o| o.bodies[b.index()].orientation);
        // |p − q| is twice the sine of a quarter of the turn.
        let apart = |s: f64| p.iter().zip(&q).map(|(p, q)| (p - s * q).powi(2)).sum::<f64>().sqrt();
        way += reach[b.index()] * 4.0 * (0.5 * apart(1.0).min(apart(-1.0))).asin();
    }
    way
}

#[derive(Debug, Default)]
struct Found {
    steps: usize,
    contacts: usize,
    unsolved: usize,
    floor: usize,
    /// Worst depth over its bound: of contacts that the step before knew of; of all, by the way of one step; in the middle, after Moreau.
    known: f64,
    way: f64,
    middle: f64,
    deepest: f64,
    n_known: usize,
    /// Those of them that are deeper than their bound, without and with a cylinder, whose rims touch at few points of a circle.
    n_deep: usize,
    n_rims: usize,
    n_new: usize,
    /// Worst error of momentum over the momentum exchanged.
    momentum: f64,
    /// Largest energy over the first, less one.
    rise: f64,
}

fn fall(seed: u64, integrator: Integrator, n_steps: usize, found: &mut Found) {
    let mut rng = Rng(seed);
    let mut fall = random_fall(&mut rng);
    fall.scene.time.integrator = integrator;
    let h = fall.step;
    let built = build(&fall.scene).unwrap();
    let options = Options { policy: Policy::Accept, ..Options::from_scene(&fall.scene) };
    let mut simulation = Simulation::new(built.model, built.plan, options, built.state).unwrap();
    let mass: Vec<f64> = simulation.system().model.bodies().iter().map(|b| b.mass).collect();
    let is_rim = |shape: &Shape| matches!(shape.geometry, Geometry::Cylinder { .. });
    let has_rim: Vec<bool> = (simulation.system().model.bodies().iter())
        .map(|body| fall.scene.body.iter().any(|b| b.name == body.name && b.shape.iter().any(is_rim)))
        .collect();
    let (mut earlier, mut before) = (Observation::default(), observe(&mut simulation));
    let start = before.kinetic + before.potential;
    let mut known: HashSet<[u64; 2]> = HashSet::new();
    for k in 0..n_steps {
        let told = |what: &str| {
            format!("seed {seed} {integrator:?} step {k}: {what}\n{}", toml::to_string(&fall.scene).unwrap())
        };
        let report = simulation.advance(100.0).unwrap_or_else(|e| panic!("{}", told(&e.to_string())));
        let after = observe(&mut simulation);
        found.steps += 1;
        found.contacts += report.contacts as usize;
        found.unsolved += usize::from(report.is_unsolved);
        found.floor += usize::from(report.is_at_floor);
        found.deepest = found.deepest.max(report.penetration);
        found.rise = found.rise.max((after.kinetic + after.potential - start) / start.abs());
        let speed = after.bodies.iter().fold(0.0, |m: f64, b| m.max(Vec3::from(b.velocity).norm()));
        assert!(speed.is_finite() && speed < 100.0, "{}", told("a body is thrown away"));
        let contacts = simulation.contacts();
        for c in contacts.iter().filter(|c| c.gap < -ROUNDING && k > 0) {
            let (w, second) = closing(c, &[&earlier, &before], &fall.reach);
            if integrator == Integrator::Moreau {
                let ways =
                    way(c, [&earlier, &before], &fall.reach) + 0.5 * h * (w + closing(c, &[&before], &fall.reach).0);
                found.middle = found.middle.max(-c.gap / (ways + ROUNDING));
            } else if known.contains(&c.id) {
                found.n_known += 1;
                found.way = found.way.max(-c.gap / (h * w + 1e-12));
                let share = -c.gap / (h * h * second + ROUNDING);
                found.known = found.known.max(share);
                if c.bodies.into_iter().flatten().any(|b| has_rim[b.index()]) {
                    found.n_rims += usize::from(share > 1.0);
                } else {
                    found.n_deep += usize::from(share > 1.0);
                }
            } else {
                found.n_new += 1;
                found.way = found.way.max(-c.gap / (h * w + 1e-12));
            }
        }
        known = contacts.iter().map(|c| c.id).collect();
        // Every body on its own.
        let mut impulse = vec![Vec3::zeros(); mass.len()];
        let mut size = vec![0.0; mass.len()];
        for c in contacts {
            let (n, t) = (Vec3::from(c.normal), Vec3::from(c.tangent));
            let p = n * c.impulse[0] + t * c.impulse[1] + n.cross(&t) * c.impulse[2];
            for (b, sign) in [(c.bodies[0], -1.0), (c.bodies[1], 1.0)] {
                if let Some(b) = b {
                    impulse[b.index()] += p * sign;
                    size[b.index()] += p.norm();
                }
            }
        }
        for (i, m) in mass.iter().enumerate() {
            let [v0, v1] = [&before, &after].map(|o| Vec3::from(o.bodies[i].velocity));
            let error = ((v1 - v0) * *m - impulse[i] - Vec3::new(0.0, 0.0, GRAVITY * m * report.step)).norm();
            found.momentum = found.momentum.max(error / (m * (v0.norm() + v1.norm() + 10.0 * fall.reach[i]) + size[i]));
        }
        (earlier, before) = (before, after);
    }
}

/// Overlap of this size is none: 64 ε of coordinates of the size of one or two, as the step has it.
const ROUNDING: f64 = 3e-14;

fn n_steps() -> usize {
    std::env::var("SIGNORINI_FUZZ_STEPS").ok().and_then(|s| s.parse().ok()).unwrap_or(DEFAULT_STEPS)
}

fn fuzz(integrator: Integrator) -> Found {
    let mut found = Found::default();
    let mut seed = 0;
    while found.steps < n_steps() {
        fall(seed, integrator, 400, &mut found);
        seed += 1;
    }
    println!("{integrator:?}: {found:?}");
    found
}

fn check(found: &Found) {
    assert!(found.contacts > found.steps, "{found:?}");
    assert_eq!(found.unsolved, 0, "{found:?}");
    assert!(found.way <= 1.0 && found.middle <= 1.0, "{found:?}");
    let allowed = if n_steps() > DEFAULT_STEPS { found.n_known / 500 } else { 0 };
    assert!(found.n_deep <= allowed && found.n_rims <= found.n_known / 50, "{found:?}");
    // A dozen roundings of numbers of the size of the momenta and impulses.
    assert!(found.momentum <= 1e-13, "{found:?}");
}

#[test]
fn bodies_fall() {
    check(&fuzz(Integrator::StewartTrinkle));
}

#[test]
fn bodies_fall_after_moreau() {
    check(&fuzz(Integrator::Moreau));
}

/// Two or three links of random joints that fall on a floor: the momentum that is not in the table of contacts, after a second's third.
fn momentum_error(seed: u64, integrator: Integrator, step: f64) -> (f64, f64) {
    let mut rng = Rng(seed);
    let kinds = [JointKind::Revolute, JointKind::Spherical, JointKind::Universal];
    let mut scene = random_tree(&mut rng, 3, 0.3, &kinds, Extras { fittings: false, motions: false });
    scene.joint.retain(|j| j.parent != GROUND && j.child != GROUND);
    scene.gravity = [0.0, 0.0, GRAVITY];
    scene.material.push(Material { name: "m".into(), friction: Some(0.5.into()), ..Default::default() });
    let shape = |geometry: Geometry, position: [f64; 3]| Shape {
        geometry,
        position,
        orientation: None,
        density: None,
        material: Some("m".into()),
        surface_velocity: None,
    };
    let mut lowest = f64::INFINITY;
    for (body, pose) in scene.body.clone().iter().zip(initial_poses(&scene)) {
        lowest = lowest.min((pose.rotation * Vec3::from(body.com.unwrap()) + pose.translation).z - 0.2);
    }
    for body in &mut scene.body {
        body.shape.push(shape(Geometry::Sphere { radius: 0.2 }, body.com.unwrap()));
    }
    let floor = shape(Geometry::HalfSpace, [0.0, 0.0, lowest - 0.05]);
    scene.body.push(Body { name: GROUND.into(), shape: vec![floor], ..Default::default() });
    let bodies = vec!["b*".into(), "b*".into()];
    scene.contact.push(ContactRule { bodies, enabled: Some(false), ..Default::default() });
    (scene.time.step, scene.time.end, scene.time.integrator) = (Some(step), 1.0, integrator);
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let mass = simulation.system().model.mass();
    let first = simulation.momentum().unwrap().force;
    let mut impulse = Vec3::zeros();
    let mut size = 0.0;
    while simulation.state().time < 0.33 {
        let report = simulation.advance(0.33).unwrap();
        impulse.z += GRAVITY * mass * report.step;
        for c in simulation.contacts() {
            let (n, t) = (Vec3::from(c.normal), Vec3::from(c.tangent));
            let p = n * c.impulse[0] + t * c.impulse[1] + n.cross(&t) * c.impulse[2];
            impulse += p;
            size += p.norm();
        }
    }
    ((simulation.momentum().unwrap().force - first - impulse).norm(), size)
}

/// Speeds of joints are relative, and their inertias are those of the start of the step, so that the momentum of a mechanism is kept to O(h).
#[test]
fn mechanisms_keep_momentum_to_the_step() {
    for integrator in [Integrator::StewartTrinkle, Integrator::Moreau] {
        let mut sums = Vec::new();
        for step in [4e-3, 2e-3, 1e-3, 5e-4] {
            let (mut sum, mut size) = (0.0, 0.0);
            for seed in 0..20 {
                let (error, impulse) = momentum_error(seed, integrator, step);
                (sum, size) = (sum + error, size + impulse);
            }
            sums.push(sum / size);
        }
        println!("{integrator:?}: momentum that is not in the table, over the sum of impulses: {sums:?}");
        // First order: halves with the step, but for the luck of single impacts.
        assert!(sums[3] <= 0.25 * sums[0], "{sums:?}");
    }
}

/// Two boxes among what seed 23 lets fall come to rest, by both schemes; capsules and balls roll away. After Moreau both boxes once rocked for ever between two
/// pairs of corners at the speed that gravity gives in a step, 0.03 m/s: a pair that was open in the middle of a step was not looked at, and fell for one.
#[test]
fn boxes_that_have_fallen_rest() {
    for integrator in [Integrator::StewartTrinkle, Integrator::Moreau] {
        let mut fall = random_fall(&mut Rng(23));
        fall.scene.time.integrator = integrator;
        let is_box = |b: &Body| b.shape.iter().any(|s| matches!(s.geometry, Geometry::Box { .. }));
        let boxes: Vec<usize> = (0..fall.reach.len()).filter(|&i| is_box(&fall.scene.body[i + 1])).collect();
        assert_eq!(boxes.len(), 2);
        let mut simulation = Simulation::from_scene(&fall.scene).unwrap();
        let mass: Vec<f64> = simulation.system().model.bodies().iter().map(|b| b.mass).collect();
        let total: f64 = mass.iter().sum();
        let (mut fastest, mut share) = (0.0_f64, 0.0_f64);
        while simulation.state().time < 5.0 {
            let report = simulation.advance(5.0).unwrap();
            let seen = observe(&mut simulation);
            let unit = (2.0 * report.kinetic).sqrt() + total.sqrt() * GRAVITY.abs() * report.step;
            for &i in boxes.iter().filter(|_| report.time > 2.0) {
                let [v, omega] = [seen.bodies[i].velocity, seen.bodies[i].angular_velocity].map(Vec3::from);
                let speed = v.norm() + fall.reach[i] * omega.norm();
                fastest = fastest.max(speed);
                share = share.max(mass[i].sqrt() * speed / unit);
            }
        }
        println!("{integrator:?}: boxes that have fallen move at {fastest:.1e} m/s, {share:.1e} of what moves");
        // The tolerance of a contact problem, 10⁻¹², is one of ‖q̂‖, which is what moves, and g h, in the kinetic metric: a light box that rests has its share of the
        // residual of a heavy ball that rolls past in the same step.
        assert!(share < 1e-12, "{integrator:?} {share:e}");
    }
}

/// A cylinder that falls on another touches it at ten points of two faces that are not quite parallel. Found halfway between them, at heights that differed by the
/// gap, and with gaps rounded one by one, they could not all stick, and problems of eleven contacts had no solution that any method found, at any of these steps.
#[test]
fn faces_that_meet_are_solved_at_the_default_tolerance() {
    for integrator in [Integrator::StewartTrinkle, Integrator::Moreau] {
        for step in [4e-3, 2e-3, 1e-3, 5e-4] {
            let mut scene = read::read_str(
                r#"
                gravity = [0, 0, -9.81]
                time = { end = 1.5 }
                material = [{ name = "m", density = 1000, friction = 0.5 }]
                [[body]]
                name = "ground"
                shape = [{ kind = "half-space", material = "m" }]
                [[body]]
                name = "lower"
                position = [0, 0, 0.8]
                shape = [{ kind = "cylinder", radius = 0.4, length = 1, material = "m" }]
                [[body]]
                name = "upper"
                position = [0.15, 0.1, 2.1]
                angular_velocity = [0.3, 1, 0.2]
                shape = [{ kind = "cylinder", radius = 0.4, length = 1, material = "m" }]
                "#,
                "cylinders.toml",
                "",
            )
            .unwrap();
            (scene.time.step, scene.time.integrator) = (Some(step), integrator);
            let mut simulation = Simulation::from_scene(&scene).unwrap();
            while simulation.state().time < 1.5 {
                let report = simulation.advance(1.5).unwrap();
                assert!(!report.is_unsolved, "{integrator:?} {step} at {}: {:e}", report.time, report.residual.rel);
            }
        }
    }
}
