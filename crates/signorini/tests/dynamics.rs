//! The recursions against the oracle, on random mechanisms of every joint kind.

mod common;

use common::*;
use proptest::prelude::*;
use signorini::scene::{Formulation, JointKind, Scene};
use signorini::step::{Observation, Options, Simulation, build};

/// Largest difference of accelerations over the largest acceleration, and the tolerance that the oracle's condition allows.
fn disagreement(scene: &Scene) -> (f64, f64) {
    let built = build(scene).unwrap_or_else(|e| panic!("{e}\n{}", toml::to_string(scene).unwrap()));
    let run = |formulation| {
        let options = Options { formulation, ..Default::default() };
        let mut simulation =
            Simulation::new(built.model.clone(), built.plan.clone(), options, built.state.clone()).unwrap();
        let mut a = Vec::new();
        simulation.accelerations(&mut a).unwrap_or_else(|e| panic!("{e}\n{}", toml::to_string(scene).unwrap()));
        (a, simulation)
    };
    let (recursive, mut r) = run(Formulation::Recursive);
    let (dense, d) = run(Formulation::Dense);
    let oracle = d.dense().unwrap();
    let scale = max_abs(&dense).max(1e-3);
    let difference: Vec<f64> = recursive.iter().zip(&dense).map(|(a, b)| a - b).collect();
    let mut error = max_abs(&difference) / scale;
    if oracle.n_redundant == 0 {
        let mut seen = Observation::default();
        r.observe(true, &mut seen).unwrap();
        let wrenches: Vec<f64> = oracle.joint_wrenches.iter().flat_map(|w| w.to_array()).collect();
        let found: Vec<f64> = seen.reactions.concat();
        let scale = max_abs(&wrenches).max(1e-3);
        for (j, joint) in scene.joint.iter().enumerate() {
            // The oracle counts what acts inside a cut joint among the external loads.
            let acts = joint.spring.is_some() || joint.damping.is_some() || !joint.motor.is_empty();
            if acts && built.plan.link_of_joint[j].is_none() {
                continue;
            }
            for k in 6 * j..6 * j + 6 {
                error = error.max((wrenches[k] - found[k]).abs() / scale);
            }
        }
    }
    (error, (100.0 * f64::EPSILON * oracle.condition).max(1e-10))
}

const ALL: Extras = Extras { fittings: true, motions: true };

#[test]
fn every_kind_forwards_and_backwards() {
    for kind in KINDS {
        for seed in 0..24 {
            let mut rng = Rng(seed);
            let scene = random_tree(&mut rng, 3, 0.0, &[kind], ALL);
            let (error, tolerance) = disagreement(&scene);
            assert!(error <= tolerance, "{kind:?} seed {seed}: {error:e} > {tolerance:e}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn chains_and_trees(seed: u64, n in 1usize..8, branching in 0.0..0.8f64) {
        let scene = random_tree(&mut Rng(seed), n, branching, &KINDS, ALL);
        let (error, tolerance) = disagreement(&scene);
        prop_assert!(error <= tolerance, "{:e} > {:e}", error, tolerance);
    }

    #[test]
    fn loops(seed: u64, n in 2usize..7, kind in 0usize..9, loops in 1usize..3) {
        let mut rng = Rng(seed);
        // Kinds with enough freedom that a random loop can move.
        let tree = [JointKind::Spherical, JointKind::Universal, JointKind::Planar, JointKind::Cylindrical, JointKind::Free];
        let extras = Extras { fittings: true, motions: false };
        let mut scene = random_tree(&mut rng, n, 0.3, &tree, extras);
        for l in 0..loops {
            let a = format!("b{}", rng.below(n));
            let b = if rng.chance(0.4) { "ground".to_string() } else { format!("b{}", rng.below(n)) };
            if a != b {
                close_loop(&mut rng, &mut scene, &format!("loop{l}"), KINDS[(kind + l) % 9], (&a, &b), extras);
            }
        }
        let (error, tolerance) = disagreement(&scene);
        prop_assert!(error <= tolerance, "{:e} > {:e}\n{}", error, tolerance, toml::to_string(&scene).unwrap());
    }
}
