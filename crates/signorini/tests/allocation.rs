//! No allocation inside a step, and work and memory linear in the number of links.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::*;
use signorini::scene::*;
use signorini::step::{Options, Simulation, build};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// Counts per thread, because the test harness allocates on others.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        unsafe { System.dealloc(p, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(run: impl FnOnce()) -> u64 {
    let before = COUNT.with(Cell::get);
    run();
    COUNT.with(Cell::get) - before
}

fn simulation(scene: &Scene, integrator: Integrator) -> Simulation {
    simulation_by(scene, integrator, Formulation::Recursive)
}

fn simulation_by(scene: &Scene, integrator: Integrator, formulation: Formulation) -> Simulation {
    let built = build(scene).unwrap();
    let step = (integrator != Integrator::Adaptive).then_some(1e-4);
    let options = Options { integrator, step, formulation, ..Default::default() };
    Simulation::new(built.model, built.plan, options, built.state).unwrap()
}

#[test]
fn a_step_allocates_nothing() {
    let extras = Extras { fittings: true, motions: true };
    let mut scenes = vec![chain(50), random_tree(&mut Rng(3), 12, 0.4, &KINDS, extras)];
    let mut rng = Rng(11);
    let plain = Extras { fittings: true, motions: false };
    let mut looped = random_tree(&mut rng, 5, 0.2, &[JointKind::Spherical, JointKind::Universal], plain);
    close_loop(&mut rng, &mut looped, "loop", JointKind::Spherical, ("b4", "b0"), plain);
    scenes.push(looped);
    for scene in &scenes {
        let all = [Integrator::Adaptive, Integrator::Rk4, Integrator::Euler].into_iter();
        for (integrator, formulation) in all.flat_map(|i| [(i, Formulation::Recursive), (i, Formulation::Dca)]) {
            let mut simulation = simulation_by(scene, integrator, formulation);
            if formulation == Formulation::Dca {
                simulation.set_shape(signorini::plan::Shape::Blocked(3));
            }
            let count = allocations(|| {
                for _ in 0..20 {
                    simulation.advance(1e6).unwrap();
                }
            });
            assert_eq!(count, 0, "{integrator:?} {formulation:?}");
        }
    }
    // The counter counts.
    assert!(allocations(|| drop(vec![1; 100])) > 0);
}

/// Conditions of every sort that never come true, on a tree and on a loop.
#[test]
fn a_watched_step_allocates_nothing() {
    let mut rng = Rng(11);
    let plain = Extras { fittings: true, motions: false };
    let mut looped = random_tree(&mut rng, 5, 0.2, &[JointKind::Spherical, JointKind::Universal], plain);
    close_loop(&mut rng, &mut looped, "loop", JointKind::Spherical, ("b4", "b0"), plain);
    for (mut scene, joint, body) in [(chain(20), "j3", "l2"), (looped, "loop", "b2")] {
        let end = |body: &str| Some(Attachment { body: body.into(), point: [0.0; 3] });
        let of = |kind| Condition { kind, joint: Some(joint.into()), above: Some(1e6), ..Condition::default() };
        let whens = [
            of(Quantity::Coordinate),
            of(Quantity::Speed),
            Condition {
                kind: Quantity::Distance,
                a: end(body),
                b: end(GROUND),
                above: Some(1e6),
                ..Condition::default()
            },
            Condition { kind: Quantity::Energy, above: Some(1e6), ..Condition::default() },
            of(Quantity::Force),
            of(Quantity::Moment),
            of(Quantity::Drive),
        ];
        // Forces need evaluations of their own: with and without them.
        for n in [4, 7] {
            scene.event = whens[..n]
                .iter()
                .enumerate()
                .map(|(i, when)| Event {
                    name: format!("e{i}"),
                    kind: EventKind::Release,
                    joint: Some(joint.into()),
                    when: Some(when.clone()),
                    ..Event::default()
                })
                .collect();
            for integrator in [Integrator::Adaptive, Integrator::Rk4] {
                let mut simulation = simulation(&scene, integrator);
                // The first step fills the observation.
                simulation.advance(1e6).unwrap();
                let count = allocations(|| {
                    for _ in 0..10 {
                        simulation.advance(1e6).unwrap();
                    }
                });
                assert_eq!(count, 0, "{integrator:?} {joint} {n}");
            }
        }
    }
}

#[test]
fn work_is_linear() {
    let work = |n: usize| {
        let mut simulation = simulation(&chain(n), Integrator::Rk4);
        simulation.advance(1e6).unwrap();
        simulation.work_counter() as f64 / n as f64
    };
    let per_link = work(10);
    for n in [100, 1000, 10_000] {
        assert_eq!(work(n), per_link, "{n}");
    }
    // Four stages of three sweeps, and two more to finish.
    assert!(per_link <= 16.0, "{per_link}");
}

#[test]
fn a_hundred_thousand_links() {
    let n = 100_000;
    let mut simulation = simulation(&chain(n), Integrator::Rk4);
    for _ in 0..2 {
        let report = simulation.advance(1e6).unwrap();
        assert!(report.kinetic.is_finite() && report.potential.is_finite());
    }
    let state = simulation.state();
    assert_eq!((state.q.len(), state.v.len()), (n, n));
    // Momentum balance of the first step would need the anchor's force; energy needs none. RK4 at 1e-4 s.
    let seen = &mut Default::default();
    simulation.observe(false, seen).unwrap();
    assert_eq!(seen.bodies.len(), n);
}
