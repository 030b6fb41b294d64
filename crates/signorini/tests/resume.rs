//! A run that is killed, or stopped, at any instant and goes on from its folder alone writes the files of one that never was, to the byte.
//!
//! A kill is a copy of the folder, made between two steps: what a process leaves that ends without warning.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::record::Manifest;
use signorini::run::{Next, Run};
use signorini::scene::read::read;
use signorini::scene::validate::validate;
use signorini::scene::{Formulation, Integrator, Scene};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Contact, joint limits and friction, loops, events, thresholds on forces, breaking joints; adaptive and fixed steps.
const SCENES: [&str; 14] = [
    "bouncing-ball",
    "box-stack",
    "breaking-chain",
    "conveyor",
    "docking",
    "four-bar",
    "four-bar-stop",
    "joint-lock",
    "partial-lock",
    "ratchet",
    "sliding-pendulum",
    "tumbling-box",
    "turntable",
    "walker",
];

/// Steps of a run: enough for several rows, checkpoints and, in most scenes, events that are moved there.
const STEPS: u64 = 24;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("signorini-resume-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A bundled scene with everything recorded, and rows that do not fall on every step.
fn scene(name: &str) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name).join("scene.toml");
    let mut scene = read(path).unwrap();
    // A pattern that fits nothing is refused.
    scene.output.reactions = vec!["*".to_owned()];
    if !validate(&scene).is_empty() {
        scene.output.reactions.clear();
    }
    scene.output.actuators = vec!["*".to_owned()];
    if !validate(&scene).is_empty() {
        scene.output.actuators.clear();
    }
    (scene.output.interval, scene.output.every) = (None, Some(3));
    scene
}

/// As many steps as wanted. The number is counted by whoever drives, since adaptive steps have no length.
fn run(scene: &Scene, folder: &Path) -> Run<'static> {
    Run::new(scene.clone()).named("cut").into_folder(folder).with_csv(true).checkpoint_every(Duration::ZERO)
}

/// Every file of a finished run but the clock's numbers.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let manifest = Manifest::read(folder).unwrap();
    let mut found = BTreeMap::new();
    for name in manifest.files.keys() {
        let bytes = fs::read(folder.join(name)).unwrap();
        let bytes = match name.as_str() {
            "summary.json" | "checkpoint.json" => {
                let mut value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
                let object = value.as_object_mut().unwrap();
                assert!(object.remove("wall_seconds").is_some());
                object.remove("sha256");
                serde_json::to_vec(&value).unwrap()
            }
            _ => bytes,
        };
        found.insert(name.clone(), bytes);
    }
    assert!(found.len() >= 7, "{:?}", found.keys());
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// The time that so many steps take, and the folder of the whole run.
fn whole(scene: &mut Scene, folder: &Path) {
    let probe = Folder::new(&format!("probe-{}", folder.file_name().unwrap().to_string_lossy()));
    let outcome = run(scene, &probe.0)
        .checkpoint_every(Duration::MAX)
        .progress(|now| if now.steps < STEPS { Next::GoOn } else { Next::Stop });
    scene.time.end = outcome.finish().unwrap().simulation.state().time;
    run(scene, folder).checkpoint_every(Duration::MAX).finish().unwrap();
}

/// Kills after so many calls of `advance`, and goes on; at the end, orderly stops at the same places.
fn check(name: &str, mut scene: Scene, places: &[u64]) {
    let folder = Folder::new(name);
    whole(&mut scene, &folder.0);
    let wanted = files(&folder.0);
    let killed = Folder::new(&format!("{name}-killed"));
    let mut next = Some(run(&scene, &killed.0));
    for (round, &place) in places.iter().chain([&u64::MAX]).enumerate() {
        let left = Folder::new(&format!("{name}-left-{round}"));
        let mut calls = 0;
        let begun = next.take().unwrap().checkpoint_every(Duration::ZERO).progress(|_| {
            calls += 1;
            if calls == place {
                copy(&killed.0, &left.0);
                return Next::Stop;
            }
            Next::GoOn
        });
        begun.finish().unwrap_or_else(|error| panic!("{name} {place}: {error}"));
        if calls < place {
            break;
        }
        // What the stop made orderly is put back to what a kill leaves.
        fs::remove_dir_all(&killed.0).unwrap();
        copy(&left.0, &killed.0);
        let _ = fs::remove_file(killed.0.join("run.lock"));
        next = Some(Run::from_folder(&killed.0).unwrap());
    }
    assert_same(&format!("{name}, killed"), &wanted, &files(&killed.0));

    let stopped = Folder::new(&format!("{name}-stopped"));
    let mut calls = 0;
    let place = places[0];
    let stop = run(&scene, &stopped.0).progress(|_| {
        calls += 1;
        if calls == place { Next::Stop } else { Next::GoOn }
    });
    stop.finish().unwrap();
    Run::from_folder(&stopped.0).unwrap().finish().unwrap();
    assert_same(&format!("{name}, stopped"), &wanted, &files(&stopped.0));
}

fn assert_same(what: &str, wanted: &BTreeMap<String, Vec<u8>>, found: &BTreeMap<String, Vec<u8>>) {
    assert!(wanted.keys().eq(found.keys()), "{what}: {:?} {:?}", wanted.keys(), found.keys());
    for (file, bytes) in wanted {
        let here = bytes.iter().zip(&found[file]).take_while(|(a, b)| a == b).count();
        assert!(*bytes == found[file], "{what}: {file} differs from byte {here} on");
    }
}

#[test]
fn every_scene() {
    for (i, name) in SCENES.iter().enumerate() {
        // Places differ from scene to scene, and the second run is killed again.
        let first = 1 + (7 * i as u64) % 11;
        check(name, scene(name), &[first, 2, 5]);
    }
}

#[test]
fn every_formulation_and_scheme() {
    for formulation in [Formulation::Recursive, Formulation::Dca, Formulation::Dense] {
        for integrator in [Integrator::StewartTrinkle, Integrator::Moreau] {
            let mut scene = scene("four-bar-stop");
            scene.solver.formulation = formulation;
            scene.time.integrator = integrator;
            check(&format!("stop-{formulation:?}-{integrator:?}"), scene, &[3, 4]);
        }
        for (integrator, step) in
            [(Integrator::Adaptive, None), (Integrator::Rk4, Some(1e-3)), (Integrator::Euler, Some(1e-4))]
        {
            let mut scene = scene("joint-lock");
            scene.solver.formulation = formulation;
            (scene.time.integrator, scene.time.step, scene.time.rtol) = (integrator, step, None);
            check(&format!("lock-{formulation:?}-{integrator:?}"), scene, &[5, 1]);
        }
    }
}

/// A threshold on a force in a joint that a resumed run must not see too early or too late: the joint breaks in the same step.
#[test]
fn a_threshold_on_forces_after_a_kill() {
    let mut scene = scene("breaking-chain");
    scene.output.every = Some(1);
    check("threshold", scene, &[1, 1, 1, 1]);
}

#[test]
fn a_run_without_a_checkpoint_begins_anew_and_says_so() {
    let (folder, cut) = (Folder::new("anew"), Folder::new("anew-cut"));
    let mut scene = scene("four-bar");
    scene.time.end = 0.05;
    run(&scene, &folder.0).finish().unwrap();
    // A run that ends without a word, as a kill ends it.
    let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let run = run(&scene, &cut.0).checkpoint_every(Duration::from_secs(3600));
        run.progress(|now| if now.steps == 3 { panic!("killed") } else { Next::GoOn }).finish()
    }));
    assert!(killed.is_err());
    let _ = fs::remove_file(cut.0.join("checkpoint.json"));
    let outcome = Run::from_folder(&cut.0).unwrap().finish().unwrap();
    assert_eq!(outcome.notes, ["it was killed before its first checkpoint, and begins anew"]);
    assert_same("anew", &files(&folder.0), &files(&cut.0));
}

/// `resume(true)` needs no other folder than that of the run: it begins there, and goes on there.
#[test]
fn one_call_begins_and_goes_on() {
    let (folder, cut) = (Folder::new("one"), Folder::new("one-cut"));
    let mut scene = scene("four-bar");
    scene.time.end = 0.05;
    run(&scene, &folder.0).finish().unwrap();
    for stops in [1, 3, u64::MAX] {
        let mut calls = 0;
        let task = run(&scene, &cut.0).resume(true).progress(|_| {
            calls += 1;
            if calls == stops { Next::Stop } else { Next::GoOn }
        });
        task.finish().unwrap();
    }
    assert_same("one call", &files(&folder.0), &files(&cut.0));
    scene.body[0].mass = Some(77.0);
    let error = run(&scene, &cut.0).resume(true).finish().err().unwrap();
    assert!(error.is_input() && error.to_string().contains("the scene's text was changed"), "{error}");
}

/// The solver and its tolerance may change where a step is in the way; the recording says so.
#[test]
fn a_change_of_solver_is_noted() {
    let cut = Folder::new("change");
    let mut scene = scene("box-stack");
    scene.time.end = 5.0 * scene.time.step.unwrap();
    run(&scene, &cut.0).progress(|now| if now.steps == 2 { Next::Stop } else { Next::GoOn }).finish().unwrap();
    let mut again = Run::from_folder(&cut.0).unwrap();
    again.solver_mut().tolerance = Some(1e-9);
    let outcome = again.finish().unwrap();
    let noted = |finding: &&String| finding.contains("tolerance of contact problems 1e-9 instead of 1e-8");
    assert!(outcome.summary.findings.iter().any(|finding| noted(&finding)), "{:?}", outcome.summary.findings);
}
