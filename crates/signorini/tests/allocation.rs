//! No allocation inside a step, in steady contact either; work and memory linear in the number of links.
#![allow(clippy::unwrap_used, clippy::expect_used)]
// To count allocations.
#![allow(unsafe_code)]

mod common;

use common::*;
use signorini::scene::*;
use signorini::step::{Options, Simulation, build};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// Counts per thread, because the test harness allocates on others.
// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(p, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(run: impl FnOnce()) -> u64 {
    let before = COUNT.with(Cell::get);
    run();
    COUNT.with(Cell::get) - before
}

fn simulation(scene: &Scene, integrator: Integrator) -> Simulation {
    simulation_by(scene, integrator, Formulation::Recursive)
}

fn simulation_by(scene: &Scene, integrator: Integrator, formulation: Formulation) -> Simulation {
    let built = build(scene).unwrap();
    let step = (integrator != Integrator::Adaptive).then_some(1e-4);
    let options = Options { integrator, step, formulation, ..Default::default() };
    Simulation::new(built.model, built.plan, options, built.state).unwrap()
}

#[test]
fn a_step_allocates_nothing() {
    let extras = Extras { fittings: true, motions: true };
    let mut scenes = vec![chain(50), random_tree(&mut Rng(3), 12, 0.4, &KINDS, extras)];
    let mut rng = Rng(11);
    let plain = Extras { fittings: true, motions: false };
    let mut looped = random_tree(&mut rng, 5, 0.2, &[JointKind::Spherical, JointKind::Universal], plain);
    close_loop(&mut rng, &mut looped, "loop", JointKind::Spherical, ("b4", "b0"), plain);
    scenes.push(looped);
    scenes.push(coupled());
    for scene in &scenes {
        let all = [Integrator::Adaptive, Integrator::Rk4, Integrator::Euler].into_iter();
        for (integrator, formulation) in all.flat_map(|i| [(i, Formulation::Recursive), (i, Formulation::Dca)]) {
            let mut simulation = simulation_by(scene, integrator, formulation);
            if formulation == Formulation::Dca {
                simulation.set_shape(signorini::plan::Shape::Blocked(3));
            }
            let count = allocations(|| {
                for _ in 0..20 {
                    simulation.advance(1e6).unwrap();
                }
            });
            assert_eq!(count, 0, "{integrator:?} {formulation:?}");
        }
    }
    // The counter counts.
    assert!(allocations(|| drop(vec![1; 100])) > 0);
}

/// A tree with a gear, a rod and a link.
fn coupled() -> Scene {
    let plain = Extras { fittings: true, motions: false };
    let mut scene = random_tree(&mut Rng(5), 6, 0.3, &[JointKind::Universal, JointKind::Cylindrical], plain);
    let end = |body: &str, x: f64| Attachment { body: body.into(), point: [x, 0.3, -0.2] };
    let names: Vec<String> = scene.joint.iter().map(|j| j.name.clone()).collect();
    let (joints, ratios) = (names[names.len() - 3..].to_vec(), vec![1.0, -0.8, 0.5]);
    let axis = [0.0, 0.6, 0.8];
    let kinds = [
        CouplingKind::Coupler { joints, coordinates: Some(vec![0, 1, 0]), ratios, offset: None },
        CouplingKind::Distance { a: end("b0", 0.1), b: end("b5", 0.5), length: None },
        CouplingKind::RevoluteSpherical { a: end("b1", 0.2), axis, b: end("b4", -0.4), length: None, offset: None },
    ];
    for (k, kind) in kinds.into_iter().enumerate() {
        scene.coupling.push(Coupling { name: format!("c{k}"), kind, absent: false, breaks: None });
    }
    scene
}

/// Conditions of every sort that never come true, on a tree and on a loop.
#[test]
fn a_watched_step_allocates_nothing() {
    let mut rng = Rng(11);
    let plain = Extras { fittings: true, motions: false };
    let mut looped = random_tree(&mut rng, 5, 0.2, &[JointKind::Spherical, JointKind::Universal], plain);
    close_loop(&mut rng, &mut looped, "loop", JointKind::Spherical, ("b4", "b0"), plain);
    for (mut scene, joint, body) in [(chain(20), "j3", "l2"), (looped, "loop", "b2")] {
        let end = |body: &str| Some(Attachment { body: body.into(), point: [0.0; 3] });
        let of = |kind| Condition { kind, joint: Some(joint.into()), above: Some(1e6), ..Condition::default() };
        let whens = [
            of(Quantity::Coordinate),
            of(Quantity::Speed),
            Condition {
                kind: Quantity::Distance,
                a: end(body),
                b: end(GROUND),
                above: Some(1e6),
                ..Condition::default()
            },
            Condition { kind: Quantity::Energy, above: Some(1e6), ..Condition::default() },
            of(Quantity::Force),
            of(Quantity::Moment),
            of(Quantity::Drive),
        ];
        // Forces need evaluations of their own: with and without them.
        for n in [4, 7] {
            scene.event = whens[..n]
                .iter()
                .enumerate()
                .map(|(i, when)| Event {
                    name: format!("e{i}"),
                    kind: EventKind::Release,
                    joint: Some(joint.into()),
                    when: Some(when.clone()),
                    ..Event::default()
                })
                .collect();
            for integrator in [Integrator::Adaptive, Integrator::Rk4] {
                let mut simulation = simulation(&scene, integrator);
                // The first step fills the observation.
                simulation.advance(1e6).unwrap();
                let count = allocations(|| {
                    for _ in 0..10 {
                        simulation.advance(1e6).unwrap();
                    }
                });
                assert_eq!(count, 0, "{integrator:?} {joint} {n}");
            }
        }
    }
}

#[test]
fn work_is_linear() {
    let work = |n: usize| {
        let mut simulation = simulation(&chain(n), Integrator::Rk4);
        simulation.advance(1e6).unwrap();
        simulation.work_counter() as f64 / n as f64
    };
    let per_link = work(10);
    for n in [100, 1000, 10_000] {
        assert_eq!(work(n), per_link, "{n}");
    }
    // Four stages of three sweeps, and two more to finish.
    assert!(per_link <= 16.0, "{per_link}");
}

#[test]
fn a_hundred_thousand_links() {
    let n = 100_000;
    let mut simulation = simulation(&chain(n), Integrator::Rk4);
    for _ in 0..2 {
        let report = simulation.advance(1e6).unwrap();
        assert!(report.kinetic.is_finite() && report.potential.is_finite());
    }
    let state = simulation.state();
    assert_eq!((state.q.len(), state.v.len()), (n, n));
    // Momentum balance of the first step would need the anchor's force; energy needs none. RK4 at 1e-4 s.
    let seen = &mut Default::default();
    simulation.observe(false, seen).unwrap();
    assert_eq!(seen.bodies.len(), n);
}

/// Bodies on a floor: kind and size of each shape, and the height of its middle.
fn on_floor(restitution: f64, friction: f64, bodies: &[(&str, f64)]) -> Scene {
    let mut text = format!(
        r#"
        gravity = [0, 0, -9.81]
        time = {{ end = 100.0, step = 1e-3 }}
        [[material]]
        name = "m"
        friction = {friction}
        restitution = {restitution}
        [[body]]
        name = "ground"
        shape = [{{ kind = "half-space", material = "m" }}]
        "#
    );
    for (i, (shape, height)) in bodies.iter().enumerate() {
        let (name, x) = shape.split_once('@').map_or((*shape, 0.0), |(s, x)| (s, x.parse().unwrap()));
        text += &format!(
            r#"
            [[body]]
            name = "b{i}"
            position = [{x}, 0, {height}]
            shape = [{{ {name}, density = 500, material = "m" }}]
            "#
        );
    }
    toml::from_str(&text).unwrap()
}

/// A double pendulum whose point slides over a floor.
fn sliding_pendulum() -> Scene {
    toml::from_str(
        r#"
        gravity = [0, 0, -9.81]
        time = { end = 100.0, step = 1e-3 }
        [[material]]
        name = "m"
        friction = 0.2
        [[body]]
        name = "ground"
        shape = [{ kind = "half-space", material = "m" }]
        [[body]]
        name = "A"
        mass = 1
        inertia = [1, 2, 3]
        position = [-0.4546487134128409, 0.0, 0.20807341827357118]
        orientation = [0.5403023058681398, 0.0, 0.8414709848078965, 0.0]
        velocity = [1.0, 1.0, 0.0]
        point = [{ name = "P1", position = [0, 0, 0.5], material = "m" }]
        [[body]]
        name = "B"
        mass = 1
        inertia = [1, 2, 3]
        [[joint]]
        name = "P2"
        kind = "spherical"
        parent = "A"
        child = "B"
        parent_frame = { position = [0, 0, -0.5] }
        child_frame = { position = [0, 0, 0.5] }
        q = [0.5403023058681398, 0.8414709848078965, 0.0, 0.0]
        "#,
    )
    .unwrap()
}

/// A hanging chain whose tip lies on a floor; limits and dry friction in some joints.
fn tip_on_floor(n: usize, fittings: bool) -> Scene {
    let mut scene = chain(n);
    scene.joint.iter_mut().for_each(|j| (j.q, j.v) = (Some(vec![0.0]), None));
    scene.joint[0].q = Some(vec![0.5]);
    let point = [0.0, 0.0, -0.2];
    let tip = initial_poses(&scene)[n - 1].point(&point.into());
    if fittings {
        scene.joint[2].lower = Some(PerCoordinate::All(0.0));
        scene.joint[5].friction = Some(PerCoordinate::All(0.1));
        scene.joint[6].friction_load = Some(PerCoordinate::All(0.01));
    }
    scene.material.push(Material { name: "m".into(), friction: Some(0.3.into()), ..Default::default() });
    scene.body[n - 1].point.push(ContactPoint { name: "tip".into(), position: point, material: Some("m".into()) });
    let floor = Shape {
        geometry: Geometry::HalfSpace,
        position: tip.into(),
        orientation: None,
        density: None,
        material: Some("m".into()),
        surface_velocity: None,
    };
    scene.body.push(Body { name: GROUND.into(), shape: vec![floor], ..Default::default() });
    scene.time.step = Some(1e-4);
    scene
}

/// Steps until memory has been seen, then counts; how often something pushed while it did.
fn count_pushes(name: &str, scene: &Scene, formulation: Formulation, integrator: Integrator, n: usize) -> usize {
    let built = build(scene).unwrap();
    let options = Options { formulation, integrator, ..Options::from_scene(scene) };
    let mut simulation = Simulation::new(built.model, built.plan, options, built.state).unwrap();
    for _ in 0..n {
        simulation.advance(1e6).unwrap();
    }
    let mut pushed = 0;
    let count = allocations(|| {
        for _ in 0..n {
            simulation.advance(1e6).unwrap();
            pushed += simulation.contacts().iter().filter(|c| c.impulse[0] > 0.0).count();
        }
    });
    assert_eq!(count, 0, "{name} {formulation:?} {integrator:?}");
    pushed
}

/// Contacts that last, with and without restitution and friction; shapes of every kind; tips of chains.
#[test]
fn a_step_in_steady_contact_allocates_nothing() {
    let cube = r#"kind = "box", size = [0.2, 0.2, 0.2]"#;
    let stack: Vec<(&str, f64)> = (0..10).map(|i| (cube, 0.1 + 0.2 * f64::from(i))).collect();
    let shapes = [
        (r#"kind = "sphere", radius = 0.1@0"#, 0.1),
        (r#"kind = "capsule", radius = 0.1, length = 0.2@1"#, 0.2),
        (r#"kind = "cylinder", radius = 0.1, length = 0.2@2"#, 0.1),
        (r#"kind = "cone", radius = 0.1, length = 0.2@3"#, 0.05),
        (
            r#"kind = "convex-hull", points = [[0.1, 0, -0.1], [-0.1, 0.1, -0.1], [-0.1, -0.1, -0.1], [0, 0, 0.2]]@4"#,
            0.1,
        ),
        (r#"kind = "box", size = [0.2, 0.2, 0.2]@5"#, 0.1),
        (r#"kind = "box", size = [0.1, 0.1, 0.2]@5"#, 0.3),
        (r#"kind = "cylinder", radius = 0.1, length = 0.2@6"#, 0.1),
        (r#"kind = "box", size = [0.1, 0.1, 0.2]@6"#, 0.3),
        (r#"kind = "box", size = [0.2, 0.2, 0.2]@7"#, 0.1),
        (r#"kind = "cylinder", radius = 0.05, length = 0.2@7"#, 0.3),
    ];
    for formulation in [Formulation::Recursive, Formulation::Dca] {
        for integrator in [Integrator::StewartTrinkle, Integrator::Moreau] {
            let check = |name: &str, scene: &Scene| {
                let pushed = count_pushes(name, scene, formulation, integrator, 100);
                assert!(pushed >= 50, "{name}: {pushed} pushes");
            };
            check("box", &on_floor(0.0, 0.5, &[(cube, 0.1)]));
            check("frictionless box", &on_floor(0.0, 0.0, &[(cube, 0.1)]));
            check("box with restitution", &on_floor(0.5, 0.5, &[(cube, 0.1)]));
            check("stack", &on_floor(0.0, 0.5, &stack));
            check("stack with restitution", &on_floor(0.3, 0.5, &stack[..4]));
            check("shapes", &on_floor(0.0, 0.5, &shapes));
            check("sliding pendulum", &sliding_pendulum());
            check("chain", &tip_on_floor(20, false));
            check("chain with limits", &tip_on_floor(20, true));
        }
    }
}

/// Contacts of four and five rows, and of sections that are lists: corners of boxes and a ball.
#[test]
fn friction_of_every_law_allocates_nothing() {
    let cube = r#"kind = "box", size = [0.2, 0.2, 0.2]"#;
    let bodies = [(cube, 0.1), (cube, 0.3), (r#"kind = "sphere", radius = 0.1@1"#, 0.1)];
    let frame = FrictionFrame { body: "b0".into(), direction: [1.0, 0.5, 0.0] };
    let laws = [
        FrictionSection { ellipsoid: Some([1.0, 0.7, 0.05]), mu: Some(0.4), ..Default::default() },
        FrictionSection { mixed: Some([1.0, 0.7, 0.05]), mu: Some(0.4), ..Default::default() },
        FrictionSection { directions: vec![[0.4, 0.0], [0.0, 0.3], [-0.4, -0.3]], ..Default::default() },
        FrictionSection {
            polyhedron: vec![[1.0, 1.0, 20.0], [-1.0, 1.0, -20.0], [1.0, -1.0, -20.0], [-1.0, -1.0, 20.0]],
            mu: Some(0.4),
            ..Default::default()
        },
        FrictionSection { rolling: Some(0.01), mu: Some(0.4), ..Default::default() },
    ];
    for law in laws {
        for formulation in [Formulation::Recursive, Formulation::Dca] {
            let mut scene = on_floor(0.0, 0.5, &bodies);
            let friction = Friction::from(law.clone());
            scene.material[0].friction_frame = (!friction.is_isotropic()).then(|| frame.clone());
            scene.material[0].friction = Some(friction);
            scene.body[3].velocity = Some([0.3, 0.2, 0.0]);
            scene.body[3].angular_velocity = Some([0.0, 0.0, 2.0]);
            let name = format!("{law:?}");
            let pushed = count_pushes(&name, &scene, formulation, Integrator::StewartTrinkle, 100);
            assert!(pushed >= 50, "{name}: {pushed} pushes");
        }
    }
}

/// A ball that bounces: strikes by every law.
#[test]
fn strikes_allocate_nothing() {
    for law in [Restitution::Newton, Restitution::Poisson, Restitution::Energetic] {
        let mut scene = on_floor(1.0, 0.5, &[(r#"kind = "sphere", radius = 0.1"#, 0.11)]);
        scene.body[1].velocity = Some([1.0, 0.0, 0.0]);
        scene.solver.restitution = law;
        let pushed = count_pushes(&format!("{law:?}"), &scene, Formulation::Recursive, Integrator::StewartTrinkle, 400);
        assert!(pushed >= 3, "{law:?}: {pushed} strikes");
    }
}
