//! Long runs: energy and momentum, gaps, orders of the integrators, bits.

use super::common::*;
use super::*;
use signorini::scene::*;
use signorini::state::State;

/// Three floating bodies with a rod, a link and a gear between joints, no loads.
fn linkage() -> Scene {
    let mut rng = Rng(5);
    let none = Extras { fittings: false, motions: false };
    let mut seed = 0;
    let mut scene = loop {
        rng.0 = seed;
        let scene = random_tree(&mut rng, 5, 0.3, &[JointKind::Universal, JointKind::Cylindrical], none);
        if scene.body[0].position.is_some() {
            break scene;
        }
        seed += 1;
    };
    scene.gravity = [0.0; 3];
    let end = |body: &str, point: [f64; 3]| Attachment { body: body.into(), point };
    let (a, b) = (end("b0", [0.3, 0.1, 0.0]), end("b4", [0.0, -0.2, 0.4]));
    let add = |scene: &mut Scene, name: &str, kind| {
        scene.coupling.push(Coupling { name: name.into(), kind, absent: false, breaks: None });
    };
    add(&mut scene, "rod", CouplingKind::Distance { a, b, length: None });
    let (a, b) = (end("b1", [0.0, 0.3, 0.1]), end("b3", [-0.2, 0.0, 0.3]));
    let axis = [0.0, 0.6, 0.8];
    add(&mut scene, "link", CouplingKind::RevoluteSpherical { a, axis, b, length: None, offset: None });
    let (joints, coordinates) = (vec!["j1".into(), "j2".into(), "j3".into()], Some(vec![0, 1, 0]));
    add(&mut scene, "gear", CouplingKind::Coupler { joints, coordinates, ratios: vec![1.0, -0.8, 0.5], offset: None });
    scene
}

#[test]
fn energy_momentum_and_gaps() {
    let mut scene = linkage();
    scene.time.rtol = Some(1e-10);
    for formulation in [Formulation::Recursive, Formulation::Dca] {
        let mut simulation = simulation(&scene, formulation);
        let first = observe(&mut simulation);
        let momentum = simulation.momentum().unwrap();
        let energy = first.kinetic + first.potential;
        let mut worst = 0.0_f64;
        for k in 1..=20 {
            run(&mut simulation, 0.5 * f64::from(k));
            let seen = observe(&mut simulation);
            worst = worst.max(seen.couplings.iter().fold(0.0, |m: f64, c| m.max(c.gap.abs()).max(c.rate.abs())));
            // Ten seconds at 1e-10 per step.
            let drift = (seen.kinetic + seen.potential - energy).abs() / energy;
            assert!(drift < 1e-7, "{formulation:?}: {drift:e}");
            let now = simulation.momentum().unwrap();
            let change = difference(&now.to_array(), &momentum.to_array());
            assert!(change < 1e-7, "{formulation:?}: {change:e}");
        }
        // Projected at every step: rounding of a few lengths.
        assert!(worst < 1e-13, "{formulation:?}: {worst:e}");
    }
}

/// The error of the classical method falls by 2⁴ with half the step: couplings cost it no order.
#[test]
fn integrators_keep_their_order() {
    let scene = linkage();
    let built = build(&scene).unwrap();
    let end = 0.32;
    let finish = |integrator, step, rtol| {
        let options = Options { integrator, step, rtol, ..Options::default() };
        let mut simulation =
            Simulation::new(built.model.clone(), built.plan.clone(), options, built.state.clone()).unwrap();
        run(&mut simulation, end);
        let seen = observe(&mut simulation);
        seen.bodies
            .iter()
            .flat_map(|b| [&b.position[..], &b.velocity, &b.angular_velocity].concat())
            .collect::<Vec<f64>>()
    };
    let exact = finish(Integrator::Adaptive, None, 1e-13);
    let errors: Vec<f64> =
        [0.02, 0.01, 0.005].map(|h| difference(&finish(Integrator::Rk4, Some(h), 1e-9), &exact)).to_vec();
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 4.0).abs() < 0.4, "order {order}, errors {errors:?}");
    }
    // Of order 8 with error control: what is asked for is what comes, but for a factor.
    for rtol in [1e-6, 1e-8, 1e-10] {
        let error = difference(&finish(Integrator::Adaptive, None, rtol), &exact);
        assert!(error < 30.0 * rtol, "{rtol:e}: {error:e}");
    }
}

#[test]
fn the_same_bits() {
    let scene = linkage();
    let built = build(&scene).unwrap();
    for formulation in [Formulation::Recursive, Formulation::Dca] {
        let start = |state: &State| {
            let options = Options { formulation, ..Options::default() };
            Simulation::new(built.model.clone(), built.plan.clone(), options, state.clone()).unwrap()
        };
        let mut whole = start(&built.state);
        for _ in 0..20 {
            let text = serde_json::to_string(whole.state()).unwrap();
            let mut fresh = start(&serde_json::from_str::<State>(&text).unwrap());
            fresh.advance(1e3).unwrap();
            whole.advance(1e3).unwrap();
            assert_eq!(fresh.state(), whole.state());
        }
    }
}

/// A state that knows what a coupling engaged in flight holds restarts to the same bits.
#[test]
fn the_same_bits_after_engaging() {
    let mut scene = linkage();
    scene.coupling.iter_mut().for_each(|c| c.absent = true);
    let built = build(&scene).unwrap();
    let start = |state: &State| {
        Simulation::new(built.model.clone(), built.plan.clone(), Options::default(), state.clone()).unwrap()
    };
    let mut whole = start(&built.state);
    run(&mut whole, 0.1);
    let couplings = ["rod", "link", "gear"].map(|name| whole.coupling(name).unwrap()).to_vec();
    let engage = signorini::model::event::Action::Engage { couplings, held: Vec::new() };
    whole.apply("engage", &[engage]).unwrap();
    for _ in 0..10 {
        let text = serde_json::to_string(whole.state()).unwrap();
        let mut fresh = start(&serde_json::from_str::<State>(&text).unwrap());
        fresh.advance(1e3).unwrap();
        whole.advance(1e3).unwrap();
        assert_eq!(fresh.state(), whole.state());
    }
}

/// A gear after very many turns: gaps are judged by the coordinates that are rounded.
#[test]
fn many_turns() {
    let text = r#"
        time = { end = 1 }
        body = [
            { name = "a", mass = 1, inertia = [1, 1, 1] },
            { name = "b", mass = 1, inertia = [1, 1, 1] },
        ]
        joint = [
            { name = "a", kind = "revolute", parent = "ground", child = "a", q = [3e7], v = [1e3] },
            { name = "b", kind = "revolute", parent = "ground", child = "b", q = [-1e7], v = [-4e2] },
        ]
        coupling = [{ name = "gear", kind = "coupler", joints = ["a", "b"], ratios = [1, 3] }]
    "#;
    let mut simulation = simulation(&scene(text), Formulation::Recursive);
    run(&mut simulation, 1.0);
    let seen = observe(&mut simulation);
    assert!((seen.joint_q[0] + 3.0 * seen.joint_q[1]).abs() <= 4.0 * f64::EPSILON * 3e7, "{:?}", seen.joint_q);
}
