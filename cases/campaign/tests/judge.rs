//! The judge is no rubber stamp: every check finds a motion that was spoilt on purpose, and lets the true one pass.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use campaign::generate::{FAMILIES, scene};
use campaign::judge::{Check, judge, of_run};
use campaign::run::{End, FILES, Trace, run, text, through_text};
use campaign::shrink::shrink_by;
use campaign::transform::{ALL, Change};
use nalgebra::Vector3;
use signorini::scene::read::read_str;
use signorini::scene::{GROUND, Scene};

const THROWN: &str = r#"
title = "stack"
gravity = [0, 0, -9.81]
time = { end = 0.3, step = 0.002 }
[[body]]
name = "ground"
shape = [{ kind = "half-space" }]
[[body]]
name = "ball"
mass = 2
position = [0, 0.1, 0.1]
shape = [{ kind = "sphere", radius = 0.1 }]
[[body]]
name = "other"
mass = 1
position = [0.5, 0.1, 0.1]
shape = [{ kind = "sphere", radius = 0.1 }]
"#;

fn resting() -> (Scene, Trace) {
    let scene = read_str(THROWN, "scene.toml", "").unwrap();
    let trace = run(&scene).unwrap();
    (scene, trace)
}

/// A check lets the run pass, and finds it spoilt.
fn sees(scene: &Scene, trace: &Trace, check: Check, spoil: impl Fn(&mut Trace)) {
    assert_eq!(of_run(check, scene, trace), None, "{check:?}");
    let mut spoilt = trace.clone();
    spoil(&mut spoilt);
    assert!(of_run(check, scene, &spoilt).is_some(), "{check:?} sees nothing");
}

#[test]
fn every_law_of_mechanics_is_seen_when_it_is_broken() {
    let (scene, trace) = resting();
    sees(&scene, &trace, Check::Completed, |t| t.end = End::Stopped("x".into()));
    sees(&scene, &trace, Check::Solved, |t| t.end = End::Unsolved("x".into()));
    sees(&scene, &trace, Check::Energy, |t| t.instants[50].kinetic += 1e-3);
    sees(&scene, &trace, Check::Energy, |t| t.instants[50].kinetic = f64::NAN);
    sees(&scene, &trace, Check::Rest, |t| t.instants[50].bodies[0].at.x += 0.1);
    sees(&scene, &trace, Check::Work, |t| t.reports[20].iterations = 1_000_000);
    sees(&scene, &trace, Check::Passage, |t| t.instants[50].bodies[0].at.z = -0.01);
    sees(&scene, &trace, Check::Passage, |t| t.instants[50].bodies[0].at.x = 1.0);
    sees(&scene, &trace, Check::Spin, |t| t.instants[50].bodies[1].spin.y = 1e-3);
    let mut deep = scene.clone();
    deep.body[1].position = Some([0.0, 0.1, 0.08]);
    let trace = run(&deep).unwrap();
    sees(&deep, &trace, Check::Leap, |t| t.instants[1].bodies[0].at.z += 0.2);
    sees(&deep, &trace, Check::Leap, |t| t.reports[1].penetration = 0.1);
    let mut isolated = scene.clone();
    isolated.gravity = [0.0; 3];
    isolated.body.retain(|b| b.name != GROUND);
    isolated.body[0].velocity = Some([1.0, 0.0, 0.0]);
    let trace = run(&isolated).unwrap();
    sees(&isolated, &trace, Check::LinearMomentum, |t| t.instants[50].momentum[0] += Vector3::x() * 1e-6);
    sees(&isolated, &trace, Check::AngularMomentum, |t| t.instants[50].momentum[1] += Vector3::x() * 1e-6);
    let mut held = scene.clone();
    held.title = Some("grasp".into());
    (held.body[1].name, held.body[2].name) = ("load".into(), "hand".into());
    let trace = run(&held).unwrap();
    sees(&held, &trace, Check::Grasp, |t| t.instants[50].bodies[0].at.z += 0.1);
}

#[test]
fn thin_plates_and_heights_are_not_crossed_unseen() {
    for ground in [
        "{ kind = \"box\", size = [4, 4, 0.001], position = [0, 0, -0.0005] }",
        "{ kind = \"mesh\", file = \"meshes/plate.obj\", scale = 4, position = [0, 0, -0.002] }",
        "{ kind = \"convex-hull\", points = [[-2,-2,-0.1],[2,-2,-0.1],[-2,2,-0.1],[2,2,-0.1],[-2,-2,0],[2,-2,0],[-2,2,0],[2,2,0]] }",
        "{ kind = \"height-field\", size = [4, 4], columns = 3, heights = [0,0,0,0,0,0,0,0,0] }",
    ] {
        let scene = read_str(&THROWN.replace("{ kind = \"half-space\" }", ground), "scene.toml", FILES).unwrap();
        let trace = run(&scene).unwrap();
        sees(&scene, &trace, Check::Passage, |t| t.instants[50].bodies[0].at.z = -1.0);
    }
}

/// In a calm scene other words change nothing, but a scene that is not the same is told apart: by an end that is a millionth away.
#[test]
fn other_words_are_compared() {
    let (scene, trace) = resting();
    let checks: Vec<Check> = ALL.iter().map(|change| Check::Words(*change)).collect();
    assert_eq!(judge(&scene, &checks), []);
    for change in ALL {
        let other = run(&change.apply(&scene).unwrap()).unwrap();
        let last = other.instants.len() - 1;
        let back = change.back(&scene, &other.instants[last]);
        for (a, b) in back.iter().zip(&trace.instants[last].bodies) {
            assert!((a.at - b.at).norm() < 1e-9 && (a.axes[1] - b.axes[1]).norm() < 1e-9, "{change:?}");
        }
        assert!(other.instants[0].bodies[1].at != trace.instants[0].bodies[1].at || change == Change::Relabelled);
    }
}

#[test]
fn seeds_are_scenes_that_are_read() {
    let mut families = std::collections::BTreeSet::new();
    for seed in 0..240 {
        let scene = scene(seed);
        assert_eq!(text(&scene).unwrap(), text(&campaign::generate::scene(seed)).unwrap());
        through_text(&scene).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        families.insert(scene.title.unwrap());
    }
    assert_eq!(families.len(), FAMILIES.len());
}

/// A failure that needs one of two bodies and its speed is cut down to these.
#[test]
fn failing_scenes_are_cut_down() {
    let (mut scene, _) = resting();
    scene.body[1].velocity = Some([0.123_456, 0.0, 0.0]);
    scene.body[2].angular_velocity = Some([0.0, 1.0, 0.0]);
    let fails = |s: &Scene| {
        let fast = s.body.iter().any(|b| b.velocity.is_some_and(|v| v[0] > 0.1));
        fast.then(|| "fast".to_owned())
    };
    let (smallest, what) = shrink_by(&scene, &fails);
    assert_eq!(what, "fast");
    assert_eq!(smallest.body.len(), 1);
    let body = &smallest.body[0];
    assert_eq!((body.velocity, body.shape.len(), body.mass), (Some([0.12, 0.0, 0.0]), 0, Some(1.0)));
    assert_eq!(smallest.gravity, [0.0; 3]);
}
