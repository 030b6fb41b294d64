//! The recursions against the oracle, on random mechanisms of every joint kind.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::*;
use proptest::prelude::*;
use signorini::dynamics::recursive::Recursion;
use signorini::dynamics::tree::{Kinematics, Tree};
use signorini::scene::{Formulation, JointKind, Scene};
use signorini::spatial::{Twist, Vec3, Wrench};
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

/// Everything about one random tree that the recursions' identities need.
struct Case {
    tree: Tree,
    kinematics: Kinematics,
    gravity: Vec3,
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
    /// Condition of the mass matrix, which bounds how exactly its equations can be solved.
    condition: f64,
}

fn case(seed: u64, n: usize, branching: f64) -> Case {
    let mut rng = Rng(seed);
    let extras = Extras { fittings: true, motions: false };
    let scene = random_tree(&mut rng, n, branching, &KINDS, extras);
    let built = build(&scene).unwrap();
    let tree = Tree::build(&built.model, &built.plan);
    let mut kinematics = Kinematics::new(&tree);
    let tau = (0..tree.n_v).map(|_| rng.range(-2.0, 2.0)).collect();
    kinematics.update(&tree, &built.state.q, &built.state.v);
    let mass = kinematics.mass_matrix(&tree);
    let sizes = (tree.n_v > 0).then(|| mass.symmetric_eigenvalues());
    let condition = sizes.map_or(1.0, |sizes| sizes.max() / sizes.min());
    Case { gravity: built.model.gravity(), q: built.state.q, v: built.state.v, tree, kinematics, tau, condition }
}

proptest! {
    #[test]
    fn inverse_dynamics_undoes_forward_dynamics(seed: u64, n in 1usize..12, branching in 0.0..0.8f64) {
        let Case { tree, mut kinematics, gravity, q, v, tau, condition } = case(seed, n, branching);
        let (mut vdot, mut back) = (vec![0.0; tree.n_v], vec![0.0; tree.n_v]);
        let mut wrenches = vec![Wrench::default(); tree.links.len()];
        let mut recursion = Recursion::new(&tree);
        let mut links = vec![Twist::default(); tree.links.len()];
        kinematics.update(&tree, &q, &v);
        recursion.update_articulated(&tree, &kinematics, &tau, &[], None);
        recursion.update_accelerations(&tree, &kinematics, &gravity, &[], &mut vdot, &mut links);
        kinematics.find_accelerations(&tree, &gravity, &vdot, &mut links);
        kinematics.find_wrenches(&tree, (&vdot, &links), None, &mut wrenches, &mut back);
        let scale = max_abs(&wrenches.iter().flat_map(|w| w.to_array()).collect::<Vec<_>>()).max(max_abs(&tau));
        for (a, b) in tau.iter().zip(&back) {
            prop_assert!((a - b).abs() <= (100.0 * f64::EPSILON * condition).max(1e-10) * scale, "{} {}", a, b);
        }
    }

    #[test]
    fn mass_matrix_is_that_of_inverse_dynamics_and_energy(seed: u64, n in 1usize..8, branching in 0.0..0.8f64) {
        let Case { tree, mut kinematics, q, v, condition, .. } = case(seed, n, branching);
        let zero = vec![0.0; tree.n_v];
        kinematics.update(&tree, &q, &zero);
        let mass = kinematics.mass_matrix(&tree);
        let mut wrenches = vec![Wrench::default(); tree.links.len()];
        let mut links = vec![Twist::default(); tree.links.len()];
        for k in 0..tree.n_v {
            let (mut unit, mut column) = (zero.clone(), zero.clone());
            unit[k] = 1.0;
            kinematics.find_accelerations(&tree, &Vec3::zeros(), &unit, &mut links);
            kinematics.find_wrenches(&tree, (&unit, &links), None, &mut wrenches, &mut column);
            for i in 0..tree.n_v {
                // A dozen links' worth of roundings.
                prop_assert!((column[i] - mass[(i, k)]).abs() <= 1e-12 * mass.amax());
            }
        }
        kinematics.update(&tree, &q, &v);
        kinematics.update_positions(&tree);
        let speeds = nalgebra::DVector::from_column_slice(&v);
        let energy = 0.5 * speeds.dot(&(&mass * &speeds));
        prop_assert!((energy - kinematics.kinetic_energy(&tree, &v)).abs() <= 1e-12 * (1.0 + energy) * condition.sqrt());
    }

    #[test]
    fn jacobians_map_speeds_to_velocities(seed: u64, n in 1usize..12, branching in 0.0..0.8f64) {
        let Case { tree, mut kinematics, q, v, .. } = case(seed, n, branching);
        kinematics.update(&tree, &q, &v);
        kinematics.update_positions(&tree);
        let speeds = nalgebra::DVector::from_column_slice(&v);
        let mut momentum = Wrench::default();
        for link in 0..tree.links.len() {
            let at = kinematics.origin[link];
            let twist = kinematics.jacobian(&tree, link, &at) * &speeds;
            let wanted = kinematics.twist(link).to_array();
            for k in 0..6 {
                prop_assert!((twist[k] - wanted[k]).abs() <= 1e-12 * (1.0 + max_abs(&wanted)));
            }
            let inertia = tree.links[link].inertia.rotated(&kinematics.links[link].rotation);
            momentum += inertia.to_sym6().times(&kinematics.twist(link)).shifted(&at);
        }
        let total = kinematics.momentum(&tree);
        prop_assert!((total.force - momentum.force).norm() + (total.moment - momentum.moment).norm() < 1e-10);
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
