//! The same bits from two runs, from a resumed run, and from a fresh workspace at every step.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::*;
use signorini::scene::*;
use signorini::state::State;
use signorini::step::{Options, Simulation, build};

fn mechanisms() -> Vec<Scene> {
    let extras = Extras { fittings: true, motions: true };
    let mut scenes: Vec<Scene> = (0..4).map(|seed| random_tree(&mut Rng(seed), 6, 0.3, &KINDS, extras)).collect();
    let mut rng = Rng(7);
    let plain = Extras { fittings: true, motions: false };
    let kinds = [JointKind::Spherical, JointKind::Universal, JointKind::Cylindrical];
    let mut looped = random_tree(&mut rng, 5, 0.2, &kinds, plain);
    close_loop(&mut rng, &mut looped, "loop", JointKind::Universal, ("b4", "b0"), plain);
    scenes.push(looped);
    scenes
}

fn options(integrator: Integrator) -> Options {
    let step = (integrator != Integrator::Adaptive).then_some(1e-3);
    Options { integrator, step, ..Default::default() }
}

const LIMIT: f64 = 1e3;
const STEPS: usize = 20;

#[test]
fn runs_and_workspaces() {
    for scene in mechanisms() {
        let built = build(&scene).unwrap();
        for integrator in [Integrator::Adaptive, Integrator::Rk4, Integrator::Euler] {
            let start = |state: &State| {
                Simulation::new(built.model.clone(), built.plan.clone(), options(integrator), state.clone()).unwrap()
            };
            let mut whole = start(&built.state);
            let mut states = vec![whole.state().clone()];
            for _ in 0..STEPS {
                whole.advance(LIMIT).unwrap();
                states.push(whole.state().clone());
            }
            let mut again = start(&built.state);
            for wanted in &states[1..] {
                again.advance(LIMIT).unwrap();
                assert_eq!(again.state(), wanted, "second run");
            }
            for pair in states.windows(2) {
                // Through text, as a checkpoint is kept.
                let text = serde_json::to_string(&pair[0]).unwrap();
                let stored: State = serde_json::from_str(&text).unwrap();
                let mut fresh = start(&stored);
                fresh.advance(LIMIT).unwrap();
                assert_eq!(fresh.state(), &pair[1], "fresh workspace");
            }
        }
    }
}

#[test]
fn observing_changes_nothing() {
    for scene in mechanisms() {
        let built = build(&scene).unwrap();
        let start = || {
            let options = options(Integrator::Adaptive);
            Simulation::new(built.model.clone(), built.plan.clone(), options, built.state.clone()).unwrap()
        };
        let (mut watched, mut alone) = (start(), start());
        let mut seen = Default::default();
        for _ in 0..STEPS {
            watched.observe(true, &mut seen).unwrap();
            watched.advance(LIMIT).unwrap();
            alone.advance(LIMIT).unwrap();
            assert_eq!(watched.state(), alone.state());
        }
    }
}
