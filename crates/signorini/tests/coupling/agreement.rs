//! Three formulations on random mechanisms with couplings of every kind, in trees and loops.

use super::common::{Rng, *};
use super::{difference, observe};
use proptest::prelude::*;
use signorini::plan::Shape;
use signorini::scene::*;
use signorini::step::{Options, Simulation, build};

const SHAPES: [Shape; 4] = [Shape::Balanced, Shape::Caterpillar, Shape::Blocked(3), Shape::Auto];

/// Accelerations and forces of all formulations; the oracle has every kind of coupling once more, from its definition.
fn check(scene: &Scene) {
    let text = || toml::to_string(scene).unwrap();
    let built = build(scene).unwrap_or_else(|e| panic!("{e}\n{}", text()));
    let start = |formulation| {
        let options = Options { formulation, ..Options::default() };
        Simulation::new(built.model.clone(), built.plan.clone(), options, built.state.clone()).unwrap()
    };
    let run = |mut simulation: Simulation| {
        let mut a = Vec::new();
        simulation.accelerations(&mut a).unwrap_or_else(|e| panic!("{e}\n{}", text()));
        let oracle = simulation.dense().cloned();
        let seen = observe(&mut simulation);
        (a, seen.couplings.iter().map(|c| c.force).collect::<Vec<_>>(), seen, oracle)
    };
    let (dense, _, _, oracle) = run(start(Formulation::Dense));
    let oracle = oracle.unwrap();
    let (recursive, forces, seen, _) = run(start(Formulation::Recursive));
    // The oracle's own bound, as in `dynamics.rs`.
    let tolerance = (100.0 * f64::EPSILON * oracle.condition).max(1e-10);
    let agree = |what: &str, a: &[f64], b: &[f64], tolerance: f64| {
        let error = difference(a, b);
        assert!(error <= tolerance, "{what}: {error:e} > {tolerance:e}\n{}", text());
    };
    agree("recursive", &recursive, &dense, tolerance);
    let length = built.model.characteristic_length();
    for (c, gap) in seen.couplings.iter().enumerate() {
        // Closed to rounding, whatever unit the condition is in.
        assert!(gap.gap.abs() <= 1e-11 * length.max(1.0), "condition {c} is open by {:e}\n{}", gap.gap, text());
    }
    let is_unique = oracle.n_redundant == 0;
    if is_unique {
        agree("forces", &forces, &oracle.coupling_forces, tolerance);
        let wrenches: Vec<f64> = oracle.joint_wrenches.iter().flat_map(|w| w.to_array()).collect();
        let mut found = seen.reactions.concat();
        for (j, joint) in scene.joint.iter().enumerate() {
            // The oracle counts what acts inside a cut joint among the external loads.
            let acts = joint.spring.is_some() || joint.damping.is_some() || !joint.motor.is_empty();
            if acts && built.plan.link_of_joint[j].is_none() {
                found[6 * j..6 * j + 6].copy_from_slice(&wrenches[6 * j..6 * j + 6]);
            }
        }
        agree("reactions", &found, &wrenches, tolerance);
    }
    for shape in SHAPES {
        let mut simulation = start(Formulation::Dca);
        simulation.set_shape(shape);
        let (a, by_clusters, _, _) = run(simulation);
        agree(&format!("{shape:?}"), &a, &recursive, tolerance.max(1e-9));
        if is_unique {
            agree(&format!("{shape:?}, forces"), &by_clusters, &forces, tolerance.max(1e-9));
        }
    }
}

/// Adds a coupling of a kind between what there is; false where there is too little.
pub fn couple(rng: &mut Rng, scene: &mut Scene, name: &str, kind: usize) -> bool {
    let n = scene.body.len();
    let straight = |joint: &Joint| joint.kind.quaternion_at().unwrap_or(joint.kind.n_v());
    let kind = match kind {
        0 => {
            let usable: Vec<usize> = (0..scene.joint.len()).filter(|&j| straight(&scene.joint[j]) > 0).collect();
            if usable.len() < 2 {
                return false;
            }
            let mut joints: Vec<usize> = Vec::new();
            for _ in 0..2 + rng.below(3) {
                let j = usable[rng.below(usable.len())];
                if !joints.contains(&j) {
                    joints.push(j);
                }
            }
            if joints.len() < 2 {
                return false;
            }
            let sign = |rng: &mut Rng| if rng.chance(0.5) { 1.0 } else { -1.0 };
            CouplingKind::Coupler {
                ratios: joints.iter().map(|_| rng.range(0.3, 3.0) * sign(rng)).collect(),
                coordinates: Some(joints.iter().map(|&j| rng.below(straight(&scene.joint[j]))).collect()),
                joints: joints.iter().map(|&j| scene.joint[j].name.clone()).collect(),
                offset: None,
            }
        }
        _ => {
            let on = |rng: &mut Rng, b: usize| match b {
                b if b == n => Attachment { body: GROUND.into(), point: rng.vector(2.0) },
                b => Attachment { body: format!("b{b}"), point: rng.vector(0.6) },
            };
            let (i, j) = (rng.below(n + 1), rng.below(n + 1));
            if i == j {
                return false;
            }
            let (a, b) = (on(rng, i), on(rng, j));
            match kind {
                1 => CouplingKind::Distance { a, b, length: None },
                _ => CouplingKind::RevoluteSpherical { a, axis: rng.vector(1.0), b, length: None, offset: None },
            }
        }
    };
    scene.coupling.push(Coupling { name: name.into(), kind, absent: false, breaks: None });
    true
}

const ALL: Extras = Extras { fittings: true, motions: true };
const NO_MOTIONS: Extras = Extras { fittings: true, motions: false };
const FREE: [JointKind; 5] =
    [JointKind::Spherical, JointKind::Universal, JointKind::Planar, JointKind::Cylindrical, JointKind::Free];

#[test]
fn every_kind_of_joint_is_geared() {
    for kind in KINDS {
        for seed in 0..16 {
            let mut rng = Rng(seed);
            let mut scene = random_tree(&mut rng, 3, 0.0, &[kind, JointKind::Revolute], NO_MOTIONS);
            if couple(&mut rng, &mut scene, "gear", 0) {
                check(&scene);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn trees(seed: u64, n in 2usize..9, branching in 0.0..0.8f64, kind in 0usize..3, more in 0usize..3) {
        let mut rng = Rng(seed);
        let mut scene = random_tree(&mut rng, n, branching, &FREE, NO_MOTIONS);
        for k in 0..=more {
            couple(&mut rng, &mut scene, &format!("c{k}"), (kind + k) % 3);
        }
        prop_assume!(build(&scene).is_ok());
        check(&scene);
    }

    /// Some of the coupled speeds are given.
    #[test]
    fn prescribed_motion(seed: u64, n in 3usize..8, kind in 0usize..3) {
        let mut rng = Rng(seed);
        let mut scene = random_tree(&mut rng, n, 0.3, &FREE, ALL);
        couple(&mut rng, &mut scene, "c", kind);
        // A relation between given coordinates alone is a contradiction, and is refused.
        prop_assume!(build(&scene).is_ok());
        check(&scene);
    }

    /// Loops, and couplings of the joints that close them.
    #[test]
    fn loops(seed: u64, n in 3usize..8, cut in 0usize..9, kind in 0usize..3, more in 0usize..2) {
        let mut rng = Rng(seed);
        let mut scene = random_tree(&mut rng, n, 0.3, &FREE, NO_MOTIONS);
        let a = format!("b{}", rng.below(n));
        let b = if rng.chance(0.4) { "ground".to_string() } else { format!("b{}", rng.below(n)) };
        prop_assume!(a != b);
        close_loop(&mut rng, &mut scene, "loop", KINDS[cut], (&a, &b), NO_MOTIONS);
        for k in 0..=more {
            couple(&mut rng, &mut scene, &format!("c{k}"), (kind + k) % 3);
        }
        prop_assume!(build(&scene).is_ok());
        check(&scene);
    }
}

/// Couplers of joints that close loops, so that their coordinates are measured.
#[test]
fn coordinates_of_cut_joints() {
    let mut n_cut = 0;
    for seed in 0..40 {
        let mut rng = Rng(seed);
        let n = 10 + rng.below(3);
        let mut scene = random_tree(&mut rng, n, 0.0, &[JointKind::Revolute], NO_MOTIONS);
        // Rotors keep these in the tree, and freedoms decide which of those that want to be there are cut.
        scene.joint.iter_mut().for_each(|j| j.armature = Some(PerCoordinate::All(0.05)));
        let kinds = [JointKind::Planar, JointKind::Cylindrical, JointKind::Universal];
        let (last, middle) = (format!("b{}", n - 1), format!("b{}", n / 2));
        for (k, (name, ends)) in [("one", (&last[..], "b0")), ("two", (&middle[..], "b0"))].into_iter().enumerate() {
            close_loop(&mut rng, &mut scene, name, kinds[(seed as usize + k) % 3], ends, NO_MOTIONS);
        }
        let joints = vec!["one".to_owned(), "two".to_owned(), "j3".to_owned()];
        let (coordinates, ratios) = (Some(vec![0, 1, 0]), vec![1.0, -0.7, 0.4]);
        let kind = CouplingKind::Coupler { joints, coordinates, ratios, offset: None };
        scene.coupling.push(Coupling { name: "gear".into(), kind, absent: false, breaks: None });
        let Ok(built) = build(&scene) else { continue };
        check(&scene);
        n_cut +=
            built.plan.cuts.iter().filter(|j| ["one", "two"].contains(&&*built.model.joints()[j.index()].name)).count();
    }
    assert!(n_cut >= 40, "{n_cut}");
}
