//! Divide and conquer against the recursion and the oracle, on random mechanisms, by every shape of plan.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Rng, *};
use proptest::prelude::*;
use signorini::dynamics::dca::{Bias, Dca, Drive, Motion};
use signorini::dynamics::recursive::Recursion;
use signorini::dynamics::tree::{Kinematics, Tree};
use signorini::plan::{Elimination, End, Port, Shape};
use signorini::scene::*;
use signorini::spatial::{Twist, Vec3, Wrench};
use signorini::step::{Built, Observation, Options, Simulation, build};

const ALL: Extras = Extras { fittings: true, motions: true };
const SHAPES: [Shape; 5] = [Shape::Balanced, Shape::Caterpillar, Shape::Blocked(2), Shape::Blocked(5), Shape::Auto];

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

/// Other cases every time. Over 40 000 mechanisms the largest error found was a sixteenth of the tolerance.
fn config() -> ProptestConfig {
    ProptestConfig { cases: 100, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn chains_and_trees(seed: u64, n in 1usize..10, branching in 0.0..0.8f64) {
        check(&random_tree(&mut Rng(seed), n, branching, &KINDS, ALL));
    }

    #[test]
    fn loops(seed: u64, n in 2usize..8, kind in 0usize..9, loops in 1usize..4) {
        // One in twenty thousand stands so near to a singular position that it is refused, by any formulation.
        let scene = looped(seed, n, kind, loops);
        prop_assume!(scene.is_some());
        check(&scene.unwrap());
    }
}

/// A random mechanism with loops; none where a loop is refused.
fn looped(seed: u64, n: usize, kind: usize, loops: usize) -> Option<Scene> {
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
            build(&scene).ok()?;
        }
    }
    Some(scene)
}

/// The first body is fixed to the ground by its loop. Rows further out that only move with it have mobilities of rounding, whose
/// natural sizes were the same rounding: they were taken for independent.
#[test]
fn what_hangs_on_a_body_that_loops_hold() {
    check(&looped(7764921341920619831, 3, 1, 3).unwrap());
}

/// A mobility of less than full rank whose pivots come in a bad order: roundings were divided by roundings, and reactions were
/// wrong by seven times the tolerance.
#[test]
fn a_pivot_of_rounding() {
    check(&random_tree(&mut Rng(18123890265131784958), 5, 0.6323505788240052, &KINDS, ALL));
}

/// Motion given in every joint, so that those that are cut have some.
#[test]
fn prescribed_speeds_of_cut_joints() {
    let none = Extras { fittings: false, motions: false };
    let kinds = [JointKind::Planar, JointKind::Universal, JointKind::Cylindrical];
    let mut n_checked = 0;
    for seed in 0..60 {
        let mut rng = Rng(seed);
        let n = 8 + rng.below(4);
        let mut scene = random_tree(&mut rng, n, 0.0, &kinds, none);
        let last = format!("b{}", n - 1);
        close_loop(&mut rng, &mut scene, "loop", kinds[seed as usize % 3], (&last, "b0"), none);
        for joint in &mut scene.joint {
            let coordinate = rng.below(joint.kind.n_v());
            let offset = joint.q.as_ref().unwrap()[coordinate];
            let sine = Varying::Sine { amplitude: rng.range(-0.5, 0.5), angular_frequency: 2.0, phase: 0.0, offset };
            joint.motor.push(Motor::Motion { coordinate, position: Signal::Varying(sine) });
            joint.v = None;
        }
        // Some of them contradict each other, or the loop, and are refused.
        let Ok(built) = build(&scene) else { continue };
        assert_eq!(built.plan.cuts.len(), 1);
        check(&scene);
        n_checked += 1;
    }
    assert!(n_checked >= 20, "{n_checked}");
}

/// Two rails of bars and a rung at every storey, planar: each storey is a parallelogram with three redundant conditions.
fn ladder(n: usize) -> Scene {
    const WIDTH: f64 = 0.5;
    let mut scene = Scene { gravity: [0.0, 0.0, -9.81], ..Default::default() };
    scene.time.end = 1.0;
    let frame = |position| Some(FrameRef::Pose { position, orientation: None });
    let mut add = |name: String, parent: String, at: [f64; 3], com: [f64; 3], q: f64| {
        let inertia = Some(vec![0.004, 0.004, 0.003]);
        scene.body.push(Body { name: name.clone(), mass: Some(1.0), com: Some(com), inertia, ..Default::default() });
        scene.joint.push(Joint {
            name: format!("j-{name}"),
            kind: JointKind::Revolute,
            parent,
            child: name,
            parent_frame: frame(at),
            axis: Some([0.0, 1.0, 0.0]),
            q: Some(vec![q]),
            ..Default::default()
        });
    };
    let mut lean = 0.0;
    for i in 0..n {
        let q = 0.3 * (1.0 + i as f64).sin();
        lean += q;
        for (side, x) in [("l", 0.0), ("r", WIDTH)] {
            let (parent, at) =
                if i == 0 { ("ground".into(), [x, 0.0, 0.0]) } else { (format!("{side}{}", i - 1), [0.0, 0.0, -0.2]) };
            add(format!("{side}{i}"), parent, at, [0.0, 0.0, -0.1], q);
        }
        add(format!("rung{i}"), format!("l{i}"), [0.0, 0.0, -0.2], [0.5 * WIDTH, 0.0, 0.0], -lean);
    }
    for i in 0..n {
        let mut pin = scene.joint[3 * i + 2].clone();
        (pin.name, pin.parent) = (format!("pin{i}"), format!("r{i}"));
        pin.child_frame = frame([WIDTH, 0.0, 0.0]);
        scene.joint.push(pin);
    }
    scene
}

#[test]
fn ladders() {
    check(&ladder(6));
    let scene = ladder(200);
    let built = build(&scene).unwrap();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    start(&built, Formulation::Recursive).accelerations(&mut a).unwrap();
    for shape in [Shape::Auto, Shape::Balanced, Shape::Blocked(16)] {
        let mut simulation = start(&built, Formulation::Dca);
        simulation.set_shape(shape);
        simulation.accelerations(&mut b).unwrap();
        assert!(difference(&b, &a) < 1e-9, "{shape:?}: {:e}", difference(&b, &a));
    }
}

/// A point mass on its own joint's axis: the recursion finds inertia further out, a leaf has none.
#[test]
fn no_inertia_in_a_cluster_is_blamed_on_the_formulation() {
    let mut scene = chain(3);
    (scene.body[1].com, scene.body[1].inertia) = (Some([0.0; 3]), Some(vec![0.0; 3]));
    let built = build(&scene).unwrap();
    let mut a = Vec::new();
    start(&built, Formulation::Recursive).accelerations(&mut a).unwrap();
    let mut simulation = start(&built, Formulation::Dca);
    simulation.set_shape(Shape::Balanced);
    let error = simulation.accelerations(&mut a).unwrap_err().to_string();
    assert!(error.contains("`j1`") && error.contains("`dca`"), "{error}");
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// A planar four-bar of revolute joints has three redundant conditions; several in a row share their uprights.
#[test]
fn redundant_loops() {
    for name in ["four-bar", "n-four-bar"] {
        let path = format!("{}/../../scenes/{name}/scene.toml", env!("CARGO_MANIFEST_DIR"));
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let scene = signorini::scene::read::read_str(&text, &path, "").unwrap();
        check(&scene);
        // The motion, too: half a second by both.
        let run = |formulation| {
            let built = build(&scene).unwrap();
            let mut simulation = start(&built, formulation);
            while simulation.state().time < 0.5 {
                simulation.advance(0.5).unwrap();
            }
            simulation.state().q.clone()
        };
        let (a, b) = (run(Formulation::Dca), run(Formulation::Recursive));
        // Two runs at the default tolerance of 1e-9 per step.
        assert!(difference(&a, &b) < 1e-7, "{name}: {:e}", difference(&a, &b));
    }
}

/// Steps of trees and loops large enough that branches run side by side.
#[test]
fn same_bits_on_any_number_of_threads() {
    let mut rng = Rng(4);
    let none = Extras { fittings: false, motions: false };
    let fittings = Extras { fittings: true, motions: false };
    let mut looped = random_tree(&mut rng, 600, 0.3, &[JointKind::Spherical, JointKind::Universal], fittings);
    close_loop(&mut rng, &mut looped, "loop", JointKind::Spherical, ("b400", "b7"), none);
    let blocked = Shape::Blocked(200);
    let branching = random_tree(&mut rng, 900, 0.2, &KINDS, none);
    let scenes = [(chain(1500), blocked), (branching, blocked), (looped, blocked), (chain(9000), Shape::Auto)];
    for (scene, shape) in &scenes {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut simulation = start(&build(scene).unwrap(), Formulation::Dca);
                simulation.set_shape(*shape);
                let mut a = Vec::new();
                simulation.accelerations(&mut a).unwrap();
                bits(&a)
            })
        };
        let one = run(1);
        for threads in 2..=4 {
            assert!(run(threads) == one, "{threads} threads");
        }
    }
}

/// Everything about one tree at one state, for the interface itself.
struct Case {
    tree: Tree,
    kinematics: Kinematics,
    recursion: Recursion,
    /// Accelerations of the links by the recursion.
    links: Vec<Twist>,
    parents: Vec<Option<usize>>,
    gravity: Vec3,
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
}

fn case(scene: &Scene, rng: &mut Rng) -> Case {
    let built = build(scene).unwrap();
    let tree = Tree::build(&built.model, &built.plan);
    let recursion = Recursion::new(&tree);
    let mut kinematics = Kinematics::new(&tree);
    kinematics.update(&tree, &built.state.q, &built.state.v);
    kinematics.update_positions(&tree);
    let links = vec![Twist::default(); tree.links.len()];
    let tau = (0..tree.n_v).map(|_| rng.range(-1.0, 1.0)).collect();
    let (q, v) = (built.state.q, built.state.v);
    Case {
        parents: built.plan.parents(),
        gravity: built.model.gravity(),
        tree,
        kinematics,
        recursion,
        links,
        q,
        v,
        tau,
    }
}

fn drive<'a>(case: &'a Case, held: &'a [f64]) -> Drive<'a> {
    let ground = Twist::new(Vec3::zeros(), -case.gravity);
    Drive { tau: &case.tau, bias: Bias::Velocities, held, ground, ..Default::default() }
}

#[test]
fn a_lock_touches_only_the_way_to_the_root() {
    let n = 1000;
    let mut case = case(&chain(n), &mut Rng(1));
    let plan = Elimination::build(&case.parents, &[], Shape::Balanced);
    let mut dca = Dca::new(&case.tree, &[], plan);
    dca.factor(&case.tree, &case.kinematics);
    let zero = vec![0.0; case.tree.n_v];
    let (mut local, mut full, mut other) = (zero.clone(), zero.clone(), zero.clone());
    for link in [0, 1, 333, 500, 511, 512, 999] {
        for is_held in [true, false] {
            dca.held[link] = is_held;
            let before = dca.merges;
            dca.refactor_path(&case.tree, &case.kinematics, link);
            assert!((dca.merges - before) as f64 <= 2.0 * (n as f64).log2() + 8.0);
            dca.solve(&case.tree, &case.kinematics, &drive(&case, &zero), &mut local);
            let mut fresh = dca.clone();
            fresh.factor(&case.tree, &case.kinematics);
            fresh.solve(&case.tree, &case.kinematics, &drive(&case, &zero), &mut full);
            assert_eq!(bits(&local), bits(&full));
            (case.tree.prescribed[link], case.tree.has_prescribed) = (is_held, is_held);
            case.recursion.update_articulated(&case.tree, &case.kinematics, &case.tau, &zero, None);
            let Case { tree, kinematics, recursion, links, gravity, .. } = &mut case;
            recursion.update_accelerations(tree, kinematics, gravity, &zero, &mut other, links);
            // A thousand links' worth of roundings of a chain whose condition is its length squared.
            assert!(difference(&local, &other) < 1e-9, "{:e}", difference(&local, &other));
        }
    }
}

#[test]
fn the_fused_route_is_the_general_one() {
    let mut rng = Rng(9);
    let none = Extras { fittings: true, motions: true };
    for (n, branching) in [(1, 0.0), (30, 0.0), (40, 0.3), (60, 0.8)] {
        let case = case(&random_tree(&mut rng, n, branching, &KINDS, none), &mut Rng(2));
        let held: Vec<f64> = (0..case.tree.n_v).map(|v| (v as f64).sin()).collect();
        for shape in SHAPES {
            let mut dca = Dca::new(&case.tree, &[], Elimination::build(&case.parents, &[], shape));
            let (mut a, mut b) = (vec![0.0; case.tree.n_v], vec![0.0; case.tree.n_v]);
            dca.factor(&case.tree, &case.kinematics);
            dca.solve(&case.tree, &case.kinematics, &drive(&case, &held), &mut a);
            let motion = Motion { tree: &case.tree, q: &case.q, v: &case.v, tau: &case.tau, held: &held };
            dca.accelerate(&motion, &Twist::new(Vec3::zeros(), -case.gravity), &mut b);
            // Sixty links' worth of roundings, at a condition of some thousands.
            assert!(difference(&a, &b) < 1e-9, "{shape:?} {n}: {:e}", difference(&a, &b));
        }
    }
}

/// Trees that `auto` cuts into several blocks, of which one lies on the ground.
#[test]
fn large_trees_move_as_under_the_recursion() {
    let mut rng = Rng(21);
    let none = Extras { fittings: true, motions: false };
    let kinds = [JointKind::Spherical, JointKind::Universal, JointKind::Revolute];
    for branching in [0.0, 0.05, 0.5] {
        let mut case = case(&random_tree(&mut rng, 2500, branching, &kinds, none), &mut Rng(2));
        let plan = Elimination::build(&case.parents, &[], Shape::Auto);
        assert!(plan.n_blocks() > 1);
        let mut dca = Dca::new(&case.tree, &[], plan);
        let (mut a, mut b) = (vec![0.0; case.tree.n_v], vec![0.0; case.tree.n_v]);
        let motion = Motion { tree: &case.tree, q: &case.q, v: &case.v, tau: &case.tau, held: &[] };
        dca.accelerate(&motion, &Twist::new(Vec3::zeros(), -case.gravity), &mut a);
        case.recursion.update_articulated(&case.tree, &case.kinematics, &case.tau, &[], None);
        let Case { tree, kinematics, recursion, links, gravity, .. } = &mut case;
        recursion.update_accelerations(tree, kinematics, gravity, &[], &mut b, links);
        // Thousands of links' worth of roundings.
        assert!(difference(&a, &b) < 1e-9, "{branching}: {:e}", difference(&a, &b));
    }
}

/// Positions, velocities and accelerations along the tree of clusters are those of the sweep from the ground.
#[test]
fn outward_sweeps_follow_the_tree() {
    let mut rng = Rng(12);
    let none = Extras { fittings: false, motions: false };
    for (n, branching) in [(1, 0.0), (30, 0.0), (40, 0.3), (200, 0.6)] {
        let case = case(&random_tree(&mut rng, n, branching, &KINDS, none), &mut Rng(2));
        let wanted = &case.kinematics;
        let ground = Twist::new(Vec3::zeros(), -case.gravity);
        for shape in SHAPES {
            let mut dca = Dca::new(&case.tree, &[], Elimination::build(&case.parents, &[], shape));
            let mut found = Kinematics::new(&case.tree);
            dca.update_kinematics(&case.tree, &case.q, &case.v, &mut found);
            let flat = |x: &[Vec3]| x.iter().flat_map(|x| [x.x, x.y, x.z]).collect::<Vec<_>>();
            let motion = |k: &Kinematics| {
                let all = k.links.iter().flat_map(|m| {
                    let turn: [f64; 9] = m.rotation.as_slice().try_into().unwrap();
                    let rest = [m.omega.as_slice(), m.offset.as_slice(), &m.bias.to_array()].concat();
                    turn.into_iter().chain(rest).collect::<Vec<_>>()
                });
                all.collect::<Vec<f64>>()
            };
            // Roundings of two hundred links, which a bias squares.
            assert!(difference(&motion(&found), &motion(wanted)) < 1e-12, "{shape:?}");
            assert!(difference(&flat(&found.origin), &flat(&wanted.origin)) < 1e-13, "{shape:?}");
            assert!(difference(&flat(&found.velocity), &flat(&wanted.velocity)) < 1e-13, "{shape:?}");
            let mut accelerations = vec![Twist::default(); n];
            let mut expected = vec![Twist::default(); n];
            dca.update_accelerations(&case.tree, &found, &ground, &case.tau, &mut accelerations);
            for (i, link) in case.tree.links.iter().enumerate() {
                let inner = link.parent_index().map_or(ground, |p| expected[p]);
                let a = inner.shifted(&found.links[i].offset) + found.links[i].bias;
                expected[i] = link.v_range().fold(a, |a, v| a + found.unit_motion(i, link, v) * case.tau[v]);
            }
            let flat = |x: &[Twist]| x.iter().flat_map(|x| x.to_array()).collect::<Vec<_>>();
            assert!(difference(&flat(&accelerations), &flat(&expected)) < 1e-12, "{shape:?}");
        }
    }
    for n in [100, 1000, 10_000] {
        let case = case(&chain(n), &mut Rng(1));
        let mut dca = Dca::new(&case.tree, &[], Elimination::build(&case.parents, &[], Shape::Balanced));
        let mut found = Kinematics::new(&case.tree);
        dca.update_kinematics(&case.tree, &case.q, &case.v, &mut found);
        // Once up and once down a tree of that depth, with one link at its end.
        let bound = 2.0 * (2.0 * (n as f64).log2() + 5.0);
        assert!(dca.depth as f64 <= bound, "{} for {n} links", dca.depth);
        let mut accelerations = vec![Twist::default(); n];
        dca.update_accelerations(&case.tree, &found, &Twist::default(), &case.tau, &mut accelerations);
        assert!(dca.depth as f64 <= 2.0 * bound, "{} for {n} links", dca.depth);
    }
}

/// Directions of contact stay open up to the root, where they are J (M⁻¹ − M⁻¹Aᵀ(AM⁻¹Aᵀ)⁻¹AM⁻¹) Jᵀ, A being the closed rows.
#[test]
fn kept_rows_are_the_delassus_matrix() {
    use nalgebra::{DMatrix, DVector};
    for seed in 0..20 {
        let mut rng = Rng(seed);
        let n = 12;
        let kinds = [JointKind::Spherical, JointKind::Universal, JointKind::Revolute];
        let none = Extras { fittings: false, motions: false };
        let case = case(&random_tree(&mut rng, n, 0.3, &kinds, none), &mut Rng(3));
        let ports = [
            Port { ends: vec![End::Link(n - 1), End::Link(3)], n_rows: 2, is_kept: false },
            Port { ends: vec![End::Link(5), End::Link(8)], n_rows: 3, is_kept: true },
            Port { ends: vec![End::Link(n - 2), End::Ground], n_rows: 2, is_kept: false },
            Port { ends: vec![End::Link(n - 1), End::Ground], n_rows: 3, is_kept: true },
        ];
        let mass = case.kinematics.mass_matrix(&case.tree);
        let inverse = mass.try_inverse().unwrap();
        for shape in SHAPES {
            let mut dca = Dca::new(&case.tree, &ports, Elimination::build(&case.parents, &ports, shape));
            let mut rng = Rng(seed + 100);
            let mut rows: Vec<DVector<f64>> = Vec::new();
            for (r, port) in ports.iter().flat_map(|p| (0..p.n_rows).map(move |_| p)).enumerate() {
                let mut jacobian = DVector::zeros(case.tree.n_v);
                for (e, link) in port.ends.iter().enumerate().filter_map(|(e, l)| l.link().map(|l| (e, l))) {
                    let wrench = Wrench::new(rng.vector(1.0).into(), rng.vector(1.0).into());
                    dca.rows[r].pushes[e].wrench = wrench;
                    let at = case.kinematics.origin[link];
                    let of = case.kinematics.jacobian(&case.tree, link, &at);
                    jacobian += of.transpose() * nalgebra::Vector6::from(wrench.to_array());
                }
                rows.push(jacobian);
            }
            let pick =
                |list: &[usize]| DMatrix::from_rows(&list.iter().map(|&r| rows[r].transpose()).collect::<Vec<_>>());
            let (a, j) = (pick(&[0, 1, 5, 6]), pick(&[2, 3, 4, 7, 8, 9]));
            let through = (&a * &inverse * a.transpose()).try_inverse().unwrap();
            let wanted = &j * (&inverse - &inverse * a.transpose() * &through * &a * &inverse) * j.transpose();
            dca.factor(&case.tree, &case.kinematics);
            let mut found = Vec::new();
            dca.delassus(&mut found);
            assert_eq!(dca.kept_rows(), [2, 3, 4, 7, 8, 9]);
            let error = difference(&found, wanted.as_slice());
            // The reference inverts the mass matrix.
            assert!(error < 1e-9, "{shape:?} {seed}: {error:e}");
        }
    }
}
