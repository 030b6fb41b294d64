//! Random events on random mechanisms: momentum, Carnot, the oracle, positions.

use super::common::{Extras, KINDS, Rng, close_loop, random_joint, random_tree};
use super::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use signorini::model::JointId;
use signorini::model::event::{Action, Lock};
use signorini::scene::*;
use signorini::spatial::{Quaternion, Vec3};
use signorini::step::StepError;

/// A time that no test reaches: events there make room for what the tests do by hand.
const NEVER: f64 = 1e9;

#[derive(Debug, Clone, Copy)]
struct Wanted {
    floats: bool,
    motions: bool,
    rotors: bool,
    loops: usize,
}

/// A random mechanism with joints that wait to be attached.
fn mechanism(rng: &mut Rng, n: usize, wanted: Wanted) -> Scene {
    let extras = Extras { fittings: false, motions: wanted.motions };
    let mut scene = loop {
        // Loops of joints with little freedom could not move at all.
        let loose =
            [JointKind::Spherical, JointKind::Universal, JointKind::Planar, JointKind::Cylindrical, JointKind::Free];
        let kinds = if wanted.loops > 0 { &loose[..] } else { &KINDS[..] };
        let scene = random_tree(rng, n, 0.4, kinds, extras);
        let grounded = scene.joint.iter().any(|j| j.parent == GROUND || j.child == GROUND);
        if grounded != wanted.floats {
            break scene;
        }
    };
    let plain = Extras { fittings: false, motions: false };
    let pair = |rng: &mut Rng| {
        let a = rng.below(n);
        let b = (a + 1 + rng.below(n - 1)) % n;
        (format!("b{a}"), format!("b{b}"))
    };
    for l in 0..wanted.loops {
        let (a, b) = pair(rng);
        let kind = KINDS[rng.below(9)];
        close_loop(rng, &mut scene, &format!("loop{l}"), kind, (&a, &b), plain);
    }
    if wanted.rotors {
        for joint in scene.joint.iter_mut().filter(|j| j.kind.n_v() > 0) {
            let inertia = rng.range(0.05, 0.3);
            joint.armature = rng.chance(0.4).then_some(PerCoordinate::All(inertia));
        }
    }
    for a in 0..2 {
        let (parent, child) =
            if wanted.floats || rng.chance(0.6) { pair(rng) } else { (GROUND.into(), format!("b{}", rng.below(n))) };
        let kind = KINDS[rng.below(9)];
        let mut joint = random_joint(rng, format!("wait{a}"), kind, (parent, child), plain);
        (joint.absent, joint.q, joint.v) = (true, None, None);
        if rng.chance(0.5) {
            joint.parent_frame = None
        } else {
            joint.child_frame = None
        }
        scene.joint.push(joint);
    }
    let bodies = pair(rng);
    scene.event.push(Event {
        name: "weld".into(),
        kind: EventKind::Weld,
        time: Some(NEVER),
        bodies: Some(vec![bodies.0, bodies.1]),
        ..Default::default()
    });
    let room = scene.joint.iter().map(|j| Event {
        name: format!("room-{}", j.name),
        kind: EventKind::Change,
        time: Some(NEVER),
        joint: Some(j.name.clone()),
        to: Some(JointKind::Free),
        ..Default::default()
    });
    scene.event.extend(room.collect::<Vec<_>>());
    scene
}

/// A random action on a joint.
fn action(rng: &mut Rng, simulation: &Simulation, j: usize) -> Action {
    let id = JointId(j as u32);
    let joint = &simulation.system().model.joints()[j];
    if joint.is_absent {
        // What was released has both frames given, and no longer fits.
        let fits = joint.placement != signorini::model::event::Placement::Given;
        return if fits { Action::attach(id) } else { Action::lock(id) };
    }
    let has_rotor = !joint.fittings.armature.is_empty();
    let n = joint.kind().n_v();
    let is_ball = joint.kind().quaternion_at().is_some();
    // A weld has no room for coordinates; rotors go with a joint, and their energy with them, without a jump.
    let may_change = !has_rotor && !joint.q_slot.is_empty();
    match rng.below(8) {
        2 if n > 0 => Action::Lock { joints: vec![id], what: Lock::Coordinates(vec![rng.below(n)]) },
        3 if is_ball => {
            let body = if rng.chance(0.5) { joint.parent } else { joint.child };
            Action::Lock { joints: vec![id], what: Lock::Axis { body, axis: Vec3::from(rng.vector(1.0)).normalize() } }
        }
        4 => Action::unlock(id),
        5 if !has_rotor => Action::release(id),
        6 | 7 if may_change => {
            let axes = rng.chance(0.5).then(|| Quaternion(rng.quaternion()).to_matrix());
            Action::Change { joint: id, kind: KINDS[rng.below(9)], lead: rng.range(-0.3, 0.3), axes }
        }
        _ => Action::lock(id),
    }
}

/// Up to three actions on different joints, in one solve.
fn actions(rng: &mut Rng, simulation: &Simulation) -> Vec<Action> {
    let n = simulation.system().model.joints().len();
    let mut joints: Vec<usize> = (0..n).collect();
    let mut chosen = Vec::new();
    for _ in 0..1 + rng.below(3) {
        if joints.is_empty() {
            break;
        }
        let j = joints.swap_remove(rng.below(joints.len()));
        chosen.push(action(rng, simulation, j));
    }
    chosen
}

fn size(x: &[f64; 3]) -> f64 {
    Vec3::from(*x).norm()
}

/// Sizes that roundings of momentum and angular momentum are measured by: nothing cancels in them.
fn momentum_sizes(simulation: &Simulation, seen: &Observation) -> (f64, f64) {
    let bodies = simulation.system().model.bodies().iter().zip(&seen.bodies);
    bodies.fold((0.0, 0.0), |(linear, angular), (body, motion)| {
        let push = body.mass * size(&motion.velocity);
        let spin = body.central.to_matrix().norm() * size(&motion.angular_velocity);
        (linear + push, angular + spin + push * size(&motion.position))
    })
}

/// How far bodies are apart in two observations, in lengths and in radians.
fn moved(a: &Observation, b: &Observation) -> f64 {
    a.bodies.iter().zip(&b.bodies).fold(0.0, |m: f64, (a, b)| {
        let turn = Quaternion(a.orientation).conjugate().times(&Quaternion(b.orientation)).log().norm();
        m.max(apart(&a.position, &b.position)).max(turn)
    })
}

/// One event under both formulations, and everything that must hold.
fn check_event(
    rng: &mut Rng,
    r: &mut Simulation,
    d: &mut Simulation,
    floats: bool,
    strikes: bool,
) -> Result<bool, TestCaseError> {
    // A blow alone loses nothing; together with constraints its work depends on which is thought to come first.
    let mut chosen = if strikes && rng.chance(0.5) { Vec::new() } else { actions(rng, r) };
    let is_blow_alone = chosen.is_empty();
    if strikes {
        let body = signorini::model::BodyId(rng.below(r.system().model.bodies().len()) as u32);
        chosen.push(Action::impulse(body, Vec3::from(rng.vector(0.3)), Vec3::from(rng.vector(2.0))));
    }
    let before = observe(r);
    let in_tree = |s: &Simulation| s.system().plan.link_of_joint.clone();
    let (was_in_tree, state) = (in_tree(r), r.state().clone());
    match r.apply("event", &chosen) {
        Ok(_) => {}
        // Prescribed motions and locks can contradict each other; then nothing has happened.
        Err(StepError::Contradiction { .. }) => {
            prop_assert_eq!(r.state(), &state);
            return Ok(false);
        }
        Err(error) => return Err(TestCaseError::fail(format!("{error} {chosen:?}"))),
    }
    d.apply("event", &chosen).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let (report, oracle) = (r.events()[0].clone(), d.events()[0].clone());
    let after = observe(r);
    let k = report.kinetic_energy;
    // Below that nothing moves.
    let energy = (k.before + k.after + k.of_jump + report.work.abs()).max(1e-20);

    // Positions do not jump: what a chain of poses rounds to.
    let off = moved(&before, &after);
    prop_assert!(off < 1e-13 * (1.0 + before.bodies.len() as f64), "moved {:e} {:?}", off, chosen);
    let touched: Vec<usize> = chosen.iter().flat_map(|a| a.joints()).map(|j| j.index()).collect();
    for (j, joint) in r.system().model.joints().iter().enumerate() {
        if !touched.contains(&j) && was_in_tree[j].is_some() && in_tree(r)[j].is_some() {
            prop_assert_eq!(&before.joint_q[joint.q.clone()], &after.joint_q[joint.q.clone()], "{}", joint.name);
        }
    }
    // Momentum, where nothing acts from outside.
    if floats && !strikes {
        let (linear, angular) = momentum_sizes(r, &before);
        let (m, n) = (report.momentum_before, report.momentum_after);
        prop_assert!(
            apart(&m.linear, &n.linear) <= 1e-12 * linear,
            "{:e} of {:e}",
            apart(&m.linear, &n.linear),
            linear
        );
        prop_assert!(
            apart(&m.angular, &n.angular) <= 1e-12 * angular,
            "{:e} of {:e}",
            apart(&m.angular, &n.angular),
            angular
        );
    }
    // Carnot.
    if is_blow_alone {
        prop_assert!(report.dissipated.abs() <= 1e-12 * energy, "{report:?}");
    } else if !strikes {
        prop_assert!(
            (report.dissipated - k.of_jump).abs() <= 1e-12 * energy,
            "{} {} {:?} {:?}",
            report.dissipated,
            k.of_jump,
            chosen,
            report
        );
        if report.work == 0.0 {
            prop_assert!(
                k.after - k.before <= 1e-12 * energy && (k.before - k.after - k.of_jump).abs() <= 1e-12 * energy,
                "{k:?} {chosen:?}"
            );
        }
    }
    // The oracle.
    let dense = d.dense().unwrap();
    let has_solved = dense.condition > 0.0;
    // Near a singular position a constraint is all but redundant: what it asks for is not quite what the others give, neither
    // formulation can meet it, and velocities are unique to what is left of it only.
    prop_assert!(dense.residual < 1e-6, "{:e}", dense.residual);
    let tolerance = (100.0 * f64::EPSILON * dense.condition).max(100.0 * dense.residual).max(1e-9);
    let fastest = oracle.velocity_before.values().chain(oracle.velocity_after.values()).flatten();
    let scale = fastest.fold(1e-3, |m: f64, v| m.max(v.abs()));
    for (name, found) in &report.velocity_after {
        let wanted = &oracle.velocity_after[name];
        let off = apart(found, wanted) / scale;
        prop_assert!(off <= tolerance, "speed of {}: {:e} > {:e} {:?} {:?}", name, off, tolerance, found, wanted);
    }
    if has_solved && dense.n_redundant == 0 {
        prop_assert!(report.not_unique.is_empty());
        let largest = oracle.impulses.values().flatten().fold(1e-3, |m: f64, x| m.max(x.abs()));
        for (name, found) in &report.impulses {
            let off = apart(found, &oracle.impulses[name]) / largest;
            prop_assert!(off <= tolerance, "impulse of {}: {:e} > {:e}", name, off, tolerance);
        }
    }
    // What is locked stands still to the bit in the tree, to rounding in a loop.
    for (j, joint) in r.system().model.joints().iter().enumerate() {
        for &s in &joint.fittings.held {
            let v = after.joint_v[joint.v.start + s];
            let limit = if in_tree(r)[j].is_some() { 0.0 } else { 1e-10 * scale };
            prop_assert!(v.abs() <= limit, "{} {v:e}", joint.name);
        }
    }
    Ok(true)
}

/// Three events with some motion between them.
fn check_scene(seed: u64, n: usize, wanted: Wanted, strikes: bool) -> Result<(), TestCaseError> {
    let mut rng = Rng(seed);
    let scene = mechanism(&mut rng, n, wanted);
    let mut r = simulation(&scene, Formulation::Recursive, 1e-9);
    for _ in 0..3 {
        // The oracle continues from the same state, so that only the event is compared.
        let built = build(&scene).unwrap();
        let options = Options { formulation: Formulation::Dense, ..Options::from_scene(&scene) };
        let mut d = Simulation::new(built.model, built.plan, options, r.state().clone()).unwrap();
        if !check_event(&mut rng, &mut r, &mut d, wanted.floats, strikes)? {
            break;
        }
        let end = r.state().time + 0.02;
        while r.state().time < end {
            r.advance(end).map_err(|e| TestCaseError::fail(format!("{e}\n{}", toml::to_string(&scene).unwrap())))?;
        }
    }
    Ok(())
}

/// The same cases every time, unless `PROPTEST_RNG_SEED` asks for others. Of 5000 others three failed, none by a velocity or an
/// impulse: twice a new tree read positions off with an error of 1e-12, once the steps after an event became too short. Of the first two, one
/// (three loops, open by 1.5e-13 of the mechanism's size before the event) was read along other joints than before; in the other, without loops, the frames of
/// a joint that the event placed were orthonormal to 2e-11 only, those of the joint next to it to 2e-12. Where that came from is not known yet.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig { cases: 96, ..ProptestConfig::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    config
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn floating_trees(seed: u64, n in 2usize..7, rotors: bool) {
        check_scene(seed, n, Wanted { floats: true, motions: false, rotors, loops: 0 }, false)?;
    }

    #[test]
    fn floating_loops(seed: u64, n in 3usize..6, loops in 1usize..3) {
        check_scene(seed, n, Wanted { floats: true, motions: false, rotors: false, loops }, false)?;
    }

    #[test]
    fn grounded_with_motions(seed: u64, n in 2usize..6, rotors: bool) {
        check_scene(seed, n, Wanted { floats: false, motions: true, rotors, loops: 0 }, false)?;
    }

    #[test]
    fn blows(seed: u64, n in 2usize..6, loops in 0usize..2, floats: bool) {
        check_scene(seed, n, Wanted { floats, motions: false, rotors: false, loops }, true)?;
    }
}
