//! Scenes that went wrong once: what is right stays right, and what is listed as open is wrong still.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use campaign::judge::{Check, judge};
use campaign::run::{End, Trace, run};
use serde::Deserialize;
use signorini::scene::read::read;
use signorini::scene::{Geometry, Integrator, Restitution, Scene};
use signorini::step::{Mode, Simulation};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    scene: String,
    expected: String,
    check: String,
    other: Option<String>,
    integrator: Option<Integrator>,
    restitution: Option<Restitution>,
    open: Option<String>,
}

#[derive(Deserialize)]
struct List {
    case: Vec<Case>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../found")
}

/// A scene, its files named so that they are found from anywhere.
fn load(name: &str) -> Scene {
    let mut scene = read(folder().join("scenes").join(format!("{name}.toml"))).unwrap();
    for shape in scene.body.iter_mut().flat_map(|b| &mut b.shape) {
        if let Geometry::Mesh { file, .. } = &mut shape.geometry {
            *file = folder().join("scenes").join(&*file).to_string_lossy().into_owned();
        }
    }
    scene
}

fn ran(scene: &Scene) -> Result<Trace, String> {
    let trace = run(scene)?;
    match &trace.end {
        End::Whole => Ok(trace),
        End::Unsolved(why) | End::Stopped(why) => Err(why.clone()),
    }
}

/// What is wrong, where something is.
fn find_fault(case: &Case) -> Option<String> {
    let mut scene = load(&case.scene);
    scene.time.integrator = case.integrator.unwrap_or(scene.time.integrator);
    scene.solver.restitution = case.restitution.unwrap_or(scene.solver.restitution);
    let fault = match case.check.as_str() {
        "bounded" => bounded(&scene),
        "held" => held(&scene),
        "even" => even(&scene),
        "one-mode" => one_mode(&scene),
        "kept" => kept(&scene),
        "same-end" => same_end(&scene, &load(case.other.as_ref().unwrap())),
        name => {
            let check = Check::by_name(name).unwrap_or_else(|| panic!("no check `{name}`"));
            // A run that ends early was not asked to the end.
            let found = judge(&scene, &[check, Check::Completed, Check::Solved]);
            match found.into_iter().next() {
                Some(failure) => Err(format!("{}: {}", failure.check.name(), failure.what)),
                None => Ok(()),
            }
        }
    };
    fault.err()
}

fn place(scene: &Scene, name: &str) -> usize {
    Trace::names(scene).iter().position(|n| n == name).unwrap()
}

fn held(scene: &Scene) -> Result<(), String> {
    let trace = ran(scene)?;
    let (load, hand) = (place(scene, "box"), place(scene, "hand"));
    let between = |i: usize| trace.instants[i].bodies[load].at - trace.instants[i].bodies[hand].at;
    let slip = (0..trace.instants.len()).map(|i| (between(i) - between(0)).norm()).fold(0.0, f64::max);
    if slip < 1e-3 { Ok(()) } else { Err(format!("slips by {slip:.2e}")) }
}

fn even(scene: &Scene) -> Result<(), String> {
    let mut simulation = Simulation::from_scene(scene).map_err(|e| e.to_string())?;
    while simulation.state().time < scene.time.end {
        simulation.advance(scene.time.end).map_err(|e| e.to_string())?;
    }
    let loads: Vec<f64> = simulation.contacts().iter().map(|c| c.impulse[0] / scene.time.step.unwrap()).collect();
    let (least, most) = loads.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
    if most - least < 0.01 * most { Ok(()) } else { Err(format!("{loads:.2?}")) }
}

fn one_mode(scene: &Scene) -> Result<(), String> {
    let mut simulation = Simulation::from_scene(scene).map_err(|e| e.to_string())?;
    let (mut last, mut changes) = (None, 0);
    while simulation.state().time < scene.time.end {
        simulation.advance(scene.time.end).map_err(|e| e.to_string())?;
        let now = simulation.contacts().first().map_or(Mode::Open, |c| c.mode);
        changes += usize::from(last.is_some_and(|last| last != now));
        last = Some(now);
    }
    if changes <= 2 { Ok(()) } else { Err(format!("{changes} changes of mode")) }
}

fn bounded(scene: &Scene) -> Result<(), String> {
    let trace = ran(scene)?;
    let energy = |i: usize| trace.instants[i].kinetic + trace.instants[i].potential;
    let most = (0..trace.instants.len()).map(energy).fold(0.0, f64::max);
    if most <= 1.01 * energy(0) { Ok(()) } else { Err(format!("from {:.1} to {most:.1}", energy(0))) }
}

fn kept(scene: &Scene) -> Result<(), String> {
    let trace = ran(scene)?;
    let (first, last) = (&trace.instants[0], trace.instants.last().unwrap());
    let lost = first.kinetic + first.potential - last.kinetic - last.potential;
    if lost.abs() < 0.01 * first.kinetic { Ok(()) } else { Err(format!("loses {lost:.2e} of {:.2e}", first.kinetic)) }
}

fn same_end(scene: &Scene, other: &Scene) -> Result<(), String> {
    let (a, b) = (ran(scene)?, ran(other)?);
    let size = campaign::facts::size(scene);
    let pairs = a.instants.last().unwrap().bodies.iter().zip(&b.instants.last().unwrap().bodies);
    let apart = pairs.map(|(a, b)| (a.at - b.at).norm() / size).fold(0.0, f64::max);
    if apart < 1e-3 { Ok(()) } else { Err(format!("{apart:.2e} sizes apart")) }
}

#[test]
fn what_is_listed_is_true() {
    let list: List = toml::from_str(&fs::read_to_string(folder().join("expected.toml")).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for case in &list.case {
        let name = format!("{} ({})", case.scene, case.check);
        match (find_fault(case), &case.open) {
            (Some(fault), None) => wrong.push(format!("{name}: expected that {}; {fault}", case.expected)),
            (None, Some(open)) => wrong.push(format!("{name} is right now, but listed as open: {open}")),
            (Some(fault), Some(_)) => println!("open: {name}: {fault}"),
            (None, None) => println!("right: {name}"),
        }
    }
    assert!(list.case.len() > 30);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_scene_is_listed() {
    let list: List = toml::from_str(&fs::read_to_string(folder().join("expected.toml")).unwrap()).unwrap();
    let is_named = |name: &str| list.case.iter().any(|c| c.scene == name || c.other.as_deref() == Some(name));
    for entry in fs::read_dir(folder().join("scenes")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            assert!(is_named(&path.file_stem().unwrap().to_string_lossy()), "{path:?} is not in expected.toml");
        }
    }
}
