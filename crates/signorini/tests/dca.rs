//! Divide and conquer against the recursion and the oracle, on random mechanisms, by every shape of plan.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Rng, *};
use proptest::prelude::*;
use signorini::plan::Shape;
use signorini::scene::{Formulation, JointKind, Scene};
use signorini::step::{Built, Observation, Options, Simulation, build};

const ALL: Extras = Extras { fittings: true, motions: true };
const SHAPES: [Shape; 5] =
    [Shape::Balanced, Shape::Caterpillar, Shape::Blocked(2), Shape::Blocked(5), Shape::Auto];

fn start(built: &Built, formulation: Formulation) -> Simulation {
    let options = Options { formulation, ..Default::default() };
    Simulation::new(built.model.clone(), built.plan.clone(), options, built.state.clone()).unwrap()
}

/// Largest difference over the largest entry.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    max_abs(&d) / max_abs(b).max(1e-3)
}

/// Accelerations, and joint forces where they are unique, of all shapes against recursion and oracle.
fn check(scene: &Scene) {
    let text = || toml::to_string(scene).unwrap();
    let built = build(scene).unwrap_or_else(|e| panic!("{e}\n{}", text()));
    let run = |mut simulation: Simulation| {
        let (mut a, mut seen) = (Vec::new(), Observation::default());
        simulation.accelerations(&mut a).unwrap_or_else(|e| panic!("{e}\n{}", text()));
        let oracle = simulation.dense().cloned();
        simulation.observe(true, &mut seen).unwrap();
        (a, seen.reactions.concat(), seen.actuators, oracle)
    };
    let (dense, _, _, oracle) = run(start(&built, Formulation::Dense));
    let oracle = oracle.unwrap();
    let (recursive, reactions, actuators, _) = run(start(&built, Formulation::Recursive));
    let tolerance = (100.0 * f64::EPSILON * oracle.condition).max(1e-9);
    for shape in SHAPES {
        let mut simulation = start(&built, Formulation::Dca);
        simulation.set_shape(shape);
        let (a, forces, drives, _) = run(simulation);
        let error = difference(&a, &dense).max(difference(&a, &recursive));
        assert!(error <= tolerance, "{shape:?}: {error:e} > {tolerance:e}\n{}", text());
        if oracle.n_redundant == 0 {
            let error = difference(&forces, &reactions).max(difference(&drives, &actuators));
            assert!(error <= tolerance, "{shape:?}: forces {error:e} > {tolerance:e}\n{}", text());
        }
    }
}

#[test]
fn every_kind_forwards_and_backwards() {
    for kind in KINDS {
        for seed in 0..16 {
            check(&random_tree(&mut Rng(seed), 3, 0.0, &[kind], ALL));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn chains_and_trees(seed: u64, n in 1usize..10, branching in 0.0..0.8f64) {
        check(&random_tree(&mut Rng(seed), n, branching, &KINDS, ALL));
    }

    #[test]
    fn loops(seed: u64, n in 2usize..8, kind in 0usize..9, loops in 1usize..4) {
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
        check(&scene);
    }
}
