//! Scenes with absurd numbers are refused, or run, or stop with an error: nothing panics or hangs.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Extras, KINDS, Rng, close_loop, random_tree};
use proptest::prelude::*;
use signorini::scene::*;
use signorini::step::Simulation;

/// Replaces some numbers of a scene's text by others that hurt.
fn mutate(text: &str, rng: &mut Rng) -> String {
    const HURTS: [&str; 10] =
        ["0.0", "-0.0", "1e308", "-1e308", "1e-308", "5e-324", "1e16", "-1.0", "1e-16", "3.141592653589793"];
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, tail) = rest.split_at(start);
        let len = tail.find(|c: char| !(c.is_ascii_digit() || ".e-".contains(c))).unwrap_or(tail.len());
        out.push_str(before);
        let is_value = before.ends_with([' ', '[', '-']);
        out.push_str(if is_value && rng.chance(0.03) { HURTS[rng.below(HURTS.len())] } else { &tail[..len] });
        rest = &tail[len..];
    }
    out + rest
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn absurd_numbers(seed: u64) {
        let mut rng = Rng(seed);
        let extras = Extras { fittings: true, motions: true };
        let mut scene = random_tree(&mut rng, 4, 0.3, &KINDS, extras);
        close_loop(&mut rng, &mut scene, "loop", KINDS[seed as usize % 9], ("b3", "b0"), extras);
        let text = mutate(&toml::to_string(&scene).unwrap(), &mut rng);
        if let Ok(scene) = read::read_str(&text, "fuzz.toml", "")
            && let Ok(mut simulation) = Simulation::from_scene(&scene)
        {
            for _ in 0..3 {
                match simulation.advance(1.0) {
                    Ok(report) => prop_assert!(report.kinetic.is_finite() && report.potential.is_finite()),
                    Err(_) => break,
                }
            }
            let finite = simulation.state().q.iter().chain(&simulation.state().v).all(|x| x.is_finite());
            prop_assert!(finite, "a state that is not finite was accepted");
        }
    }
}

/// A rod without thickness, hung by a joint about its own slanted axis: rounding makes its inertia there not quite zero.
#[test]
fn a_joint_that_moves_no_inertia_is_named() {
    let (s, c) = 0.7f64.sin_cos();
    let axis = [s, 0.0, c];
    // Inertia m l²/12 (1 − a aᵀ) about an axis a that no coordinate plane holds.
    let inertia = vec![c * c, 1.0, s * s, 0.0, -s * c, 0.0].into_iter().map(|x| x / 12.0).collect();
    let rod = Body { name: "rod".into(), mass: Some(1.0), inertia: Some(inertia), ..Default::default() };
    let joint = Joint {
        name: "spin".into(),
        kind: JointKind::Revolute,
        parent: GROUND.into(),
        child: "rod".into(),
        axis: Some(axis),
        ..Default::default()
    };
    let mut scene = Scene { body: vec![rod], joint: vec![joint], ..Default::default() };
    scene.time.end = 1.0;
    let error = Simulation::from_scene(&scene).unwrap().advance(1.0).unwrap_err().to_string();
    assert!(error.contains("`spin`"), "{error}");
}

/// A slender rod is refused where it may turn about its own axis, however it points and whatever rounding makes of that, and runs where it may not.
#[test]
fn a_rod_that_may_spin_is_refused() {
    use signorini::step::BuildError;
    let with = |kind: Option<JointKind>, edit: &dyn Fn(&mut Body, &mut Joint)| {
        let mut rod = Body {
            name: "rod".into(),
            mass: Some(1.0),
            inertia: Some(vec![1.0 / 3.0, 1.0 / 3.0, 0.0]),
            ..Default::default()
        };
        let mut joint = Joint {
            name: "joint".into(),
            kind: kind.unwrap_or_default(),
            parent: GROUND.into(),
            child: "rod".into(),
            child_frame: Some(FrameRef::Pose { position: [0.0, 0.0, 1.0], orientation: None }),
            ..Default::default()
        };
        edit(&mut rod, &mut joint);
        let joint = if kind.is_some() { vec![joint] } else { Vec::new() };
        let mut scene = Scene { gravity: [0.0, 0.0, -9.81], body: vec![rod], joint, ..Default::default() };
        scene.time.end = 0.1;
        signorini::step::build(&scene).map(|_| Simulation::from_scene(&scene).unwrap().advance(0.1).unwrap())
    };
    let refused = |kind: Option<JointKind>, edit: &dyn Fn(&mut Body, &mut Joint)| match with(kind, edit).unwrap_err() {
        BuildError::Model(error) => {
            assert_eq!((error.0[0].kind, error.0[0].path.as_str()), (FindingKind::Inertia, "body[0].inertia"));
        }
        BuildError::Step(error) => panic!("{error}"),
    };
    let (free, ball, hinge) = (Some(JointKind::Free), Some(JointKind::Spherical), Some(JointKind::Revolute));
    for kind in [None, free, ball] {
        refused(kind, &|_, _| ());
        let (s, c) = 0.7f64.sin_cos();
        // About an axis in no coordinate direction, on which the joint is, too: zero but for rounding.
        refused(kind, &|rod, joint| {
            rod.inertia = Some([c * c, 1.0, s * s, 0.0, -s * c, 0.0].iter().map(|x| x / 3.0).collect());
            joint.child_frame = Some(FrameRef::Pose { position: [s, 0.0, c], orientation: None });
        });
        with(kind, &|rod, _| rod.inertia = Some(vec![1.0 / 3.0, 1.0 / 3.0, 1e-9])).unwrap();
    }
    refused(None, &|rod, _| rod.orientation = Some([0.9238795325112867, 0.0, 0.3826834323650898, 0.0]));
    // Across its axis; by a ball beside it, which makes it a body about every axis; with a rotor.
    with(hinge, &|_, joint| joint.axis = Some([1.0, 0.0, 0.0])).unwrap();
    with(ball, &|_, joint| joint.child_frame = Some(FrameRef::Pose { position: [0.5, 0.0, 1.0], orientation: None }))
        .unwrap();
    with(ball, &|_, joint| joint.armature = Some(PerCoordinate::All(0.01))).unwrap();
}
