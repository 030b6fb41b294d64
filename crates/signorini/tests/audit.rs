//! Energy, work and dissipation add up on random mechanisms with everything in them: an independent check of every force
//! against its potential or its power.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::*;
use proptest::prelude::*;
use signorini::scene::*;
use signorini::step::{Observation, Simulation};

/// Largest imbalance over the largest energy at play, over `end` units of time.
fn imbalance(scene: &Scene, end: f64) -> f64 {
    let mut simulation = Simulation::from_scene(scene).unwrap();
    let mut seen = Observation::default();
    let (mut worst, mut scale) = (0.0_f64, 0.0_f64);
    simulation.observe(false, &mut seen).unwrap();
    let (k0, p0) = (seen.kinetic, seen.potential);
    while simulation.state().time < end {
        let r = simulation.advance(end).unwrap();
        worst = worst.max((r.kinetic + r.potential - k0 - p0 - r.work + r.dissipated).abs());
        scale = scale.max(r.kinetic + (r.potential - p0).abs() + r.work.abs() + r.dissipated);
    }
    // A body that is welded to the ground has no energy at play.
    if worst == 0.0 { 0.0 } else { worst / scale.max(k0) }
}

/// Integration at rtol 1e-10 over a third of a second of lively motion; a force without its potential is off by far more.
const TOLERANCE: f64 = 1e-7;

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn trees(seed: u64, n in 1usize..6, branching in 0.0..0.8f64) {
        let extras = Extras { fittings: true, motions: true };
        let mut scene = random_tree(&mut Rng(seed), n, branching, &KINDS, extras);
        scene.time.rtol = Some(1e-10);
        let off = imbalance(&scene, 0.3);
        prop_assert!(off < TOLERANCE, "{off:e}");
    }

    #[test]
    fn loops(seed: u64, n in 3usize..6, kind in 0usize..9) {
        let mut rng = Rng(seed);
        let kinds = [JointKind::Spherical, JointKind::Universal, JointKind::Cylindrical];
        let extras = Extras { fittings: true, motions: false };
        let mut scene = random_tree(&mut rng, n, 0.2, &kinds, extras);
        let last = format!("b{}", n - 1);
        close_loop(&mut rng, &mut scene, "loop", KINDS[kind], (&last, "b0"), extras);
        scene.time.rtol = Some(1e-10);
        let off = imbalance(&scene, 0.2);
        prop_assert!(off < TOLERANCE, "{off:e}");
    }
}

/// A tabulated motion and a tabulated torque: accelerations jump at the ends of the tables, and no step may run over them.
#[test]
fn tables_of_motion_and_force() {
    let mut scene = chain(2);
    let table = |values: [f64; 4], interpolation| {
        let times = vec![0.0, 0.11, 0.23, 0.37];
        Signal::Varying(Varying::Table { times, values: values.to_vec(), interpolation: Some(interpolation) })
    };
    let position = table([0.0, 0.5, 0.2, 0.8], Interpolation::Cubic);
    (scene.joint[0].q, scene.joint[0].v) = (None, None);
    scene.joint[0].motor.push(Motor::Motion { coordinate: 0, position });
    let value = table([0.3, -0.4, 0.2, 0.0], Interpolation::Linear);
    scene.joint[1].motor.push(Motor::Torque { coordinate: 0, value });
    scene.joint[1].damping = Some(PerCoordinate::All(0.02));
    scene.time.rtol = Some(1e-10);
    let off = imbalance(&scene, 0.5);
    assert!(off < TOLERANCE, "{off:e}");
    // A fixed step that fits none of the tables' times still has order four: it is split there.
    (scene.time.rtol, scene.time.step, scene.time.integrator) = (None, Some(1e-3), Integrator::Rk4);
    let coarse = imbalance(&scene, 0.5);
    scene.time.step = Some(5e-4);
    let fine = imbalance(&scene, 0.5);
    println!("{off:.1e} {coarse:.1e} {fine:.1e}");
    assert!(coarse / fine > 10.0, "{coarse:e} {fine:e}");
}
