//! The motion goes on right after an event.

use super::common::*;
use super::*;
use signorini::model::event::{Action, Lock};
use signorini::scene::{Joint, JointKind, Motor, Signal, Varying};
use signorini::spatial::{Quaternion, Vec3};

/// Largest imbalance of energy, work and dissipation from here to `end`, over the largest energy at play.
fn imbalance(simulation: &mut Simulation, end: f64) -> f64 {
    let seen = observe(simulation);
    let state = simulation.state();
    let total = seen.kinetic + seen.potential - state.work + state.dissipated;
    let (mut worst, mut scale) = (0.0_f64, seen.kinetic);
    while simulation.state().time < end {
        let r = simulation.advance(end).unwrap();
        worst = worst.max((r.kinetic + r.potential - r.work + r.dissipated - total).abs());
        scale = scale.max(r.kinetic + (r.potential - seen.potential).abs());
    }
    if worst == 0.0 { 0.0 } else { worst / scale }
}

#[test]
fn locked_tree_joints_do_not_move_a_bit() {
    for (k, kind) in KINDS.into_iter().enumerate() {
        let mut rng = Rng(40 + k as u64);
        let mut scene =
            random_tree(&mut rng, 4, 0.3, &[kind, JointKind::Spherical], Extras { fittings: true, motions: false });
        scene.time.rtol = Some(1e-10);
        for j in 0..scene.joint.len() {
            let mut simulation = Simulation::from_scene(&scene).unwrap();
            run(&mut simulation, 0.1);
            let id = signorini::model::JointId(j as u32);
            let joint = simulation.system().model.joints()[j].clone();
            if joint.v.is_empty() {
                continue;
            }
            let before = observe(&mut simulation);
            simulation.apply("lock", &[Action::lock(id)]).unwrap();
            let drift = imbalance(&mut simulation, 0.4);
            // rtol 1e-10 per step over a third of a second, as in `tests/audit.rs`.
            assert!(drift < 1e-7, "{kind:?} {j}: {drift:e}");
            let after = observe(&mut simulation);
            assert_eq!(before.joint_q[joint.q.clone()], after.joint_q[joint.q.clone()], "{kind:?} {j}");
            assert!(after.joint_v[joint.v.clone()].iter().all(|v| *v == 0.0));
        }
    }
}

#[test]
fn locked_loop_closers_stay_within_the_loop_tolerance() {
    let mut rng = Rng(9);
    let extras = Extras { fittings: true, motions: false };
    for kind in
        [JointKind::Revolute, JointKind::Spherical, JointKind::Cylindrical, JointKind::Universal, JointKind::Planar]
    {
        let mut scene = random_tree(&mut rng, 5, 0.0, &[JointKind::Spherical, JointKind::Spherical], extras);
        close_loop(&mut rng, &mut scene, "loop", kind, ("b4", "b0"), Extras { fittings: false, motions: false });
        scene.time.rtol = Some(1e-10);
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        run(&mut simulation, 0.05);
        let id = simulation.joint("loop").unwrap();
        let joint = simulation.system().model.joints()[id.index()].clone();
        let before = observe(&mut simulation);
        simulation.apply("lock", &[Action::lock(id)]).unwrap();
        let drift = imbalance(&mut simulation, 0.25);
        assert!(drift < 1e-7, "{kind:?}: {drift:e}");
        let after = observe(&mut simulation);
        let off = apart(&before.joint_q[joint.q.clone()], &after.joint_q[joint.q.clone()]);
        // The engine's promise for closed loops.
        assert!(off < 1e-10, "{kind:?}: {off:e}");
    }
}

/// A ball joint that may no longer turn about an axis of one of its bodies: the speed about it stays zero, and no coordinate is
/// constant, because the condition is not holonomic.
#[test]
fn a_ball_joint_locked_about_an_axis() {
    let scene = scene(
        r#"
        gravity = [0, 0, -9.81]
        time = { end = 2, rtol = 1e-10 }
        body = [
            { name = "upper", mass = 1, com = [0, 0.1, -0.5], inertia = [0.08, 0.07, 0.02] },
            { name = "lower", mass = 0.7, com = [0.1, 0, -0.4], inertia = [0.05, 0.06, 0.015] },
        ]
        joint = [
            { name = "shoulder", kind = "universal", parent = "ground", child = "upper", q = [0.5, 0.3], v = [1, -1] },
            { name = "ball", kind = "spherical", parent = "upper", child = "lower", parent_frame = { position = [0, 0, -1] },
              q = [0.9, 0.3, -0.3, 0.1], v = [1.0, 2.0, -1.5] },
        ]
        "#,
    );
    for on_parent in [true, false] {
        let axis = Vec3::new(0.48, 0.6, 0.64);
        let start = |formulation| {
            let mut s = simulation(&scene, formulation, 1e-11);
            run(&mut s, 0.2);
            let ball = s.joint("ball").unwrap();
            let body = s.body(if on_parent { "upper" } else { "lower" }).unwrap();
            s.apply("lock", &[Action::Lock { joints: vec![ball], what: Lock::Axis { body: Some(body), axis } }])
                .unwrap();
            s
        };
        let mut recursive = start(Formulation::Recursive);
        let mut dense = start(Formulation::Dense);
        let speed = |seen: &Observation| {
            let b = &seen.bodies;
            let spin = Vec3::from(b[1].angular_velocity) - Vec3::from(b[0].angular_velocity);
            let world = Quaternion(b[usize::from(!on_parent)].orientation).to_matrix() * axis;
            (spin.dot(&world), spin.norm())
        };
        let first = observe(&mut recursive);
        let mut largest = 0.0_f64;
        while recursive.state().time < 2.0 {
            recursive.advance(2.0).unwrap();
            let (along, size) = speed(&observe(&mut recursive));
            largest = largest.max(along.abs() / size.max(1.0));
        }
        println!("speed about the locked axis {largest:.1e}");
        assert!(largest < 1e-14, "{largest:e}");
        while dense.state().time < 2.0 {
            dense.advance(2.0).unwrap();
        }
        let (a, b) = (observe(&mut recursive), observe(&mut dense));
        // Two runs at rtol 1e-11 of a double pendulum over two seconds.
        assert!(apart(&a.joint_q, &b.joint_q) < 1e-7 && apart(&a.joint_v, &b.joint_v) < 1e-6);
        for (k, (x, y)) in first.joint_q.iter().zip(&a.joint_q).enumerate() {
            assert!((x - y).abs() > 1e-3, "coordinate {k}");
        }
        let ball = recursive.joint("ball").unwrap();
        assert!(imbalance(&mut recursive, 2.3) < 1e-8);
        recursive.apply("unlock", &[Action::unlock(ball)]).unwrap();
        assert!(recursive.system().model.spin_locks().is_empty());
        assert_eq!(recursive.events()[0].velocity_before, recursive.events()[0].velocity_after);
    }
}

fn hinged() -> Scene {
    scene(
        r#"
        gravity = [0, 0, -9.81]
        time = { end = 2, rtol = 1e-11 }
        body = [
            { name = "upper", mass = 1, com = [0, 0.1, -0.5], inertia = [0.08, 0.07, 0.02] },
            { name = "lower", mass = 0.7, com = [0.1, 0, -0.4], inertia = [0.05, 0.06, 0.015] },
        ]
        [[joint]]
        name = "shoulder"
        kind = "spherical"
        parent = "ground"
        child = "upper"
        v = [1, -1, 0.5]
        [[joint]]
        name = "elbow"
        kind = "revolute"
        parent = "upper"
        child = "lower"
        parent_frame = { position = [0, 0, -1] }
        axis = [0, 1, 0]
        q = [7]
        v = [2]
        [[event]]
        name = "loosen"
        kind = "change"
        joint = "elbow"
        to = "cylindrical"
        time = 0.2
        [[event]]
        name = "catch"
        kind = "change"
        joint = "elbow"
        to = "revolute"
        time = 0.3
        [[event]]
        name = "stiffen"
        kind = "change"
        joint = "shoulder"
        to = "universal"
        time = 0.4
        "#,
    )
}

/// A hinge that becomes a sliding one and a hinge again, and a ball joint that becomes a universal joint.
#[test]
fn changes_of_kind() {
    for formulation in [Formulation::Recursive, Formulation::Dense] {
        let mut simulation = simulation(&hinged(), formulation, 1e-11);
        let elbow = simulation.system().model.joints()[1].clone();
        let reports = run(&mut simulation, 0.2);
        // Nothing new is forbidden: nothing jumps.
        assert!(reports[0].kinetic_energy.of_jump < 1e-28);
        let seen = observe(&mut simulation);
        let angle = seen.joint_q[elbow.q_slot.start];
        assert!(angle > 6.5, "the number of turns is kept: {angle}");
        let reports = run(&mut simulation, 0.3);
        let slid = reports[0].velocity_before["elbow"][1];
        assert!(slid.abs() > 0.1 && reports[0].velocity_after["elbow"].len() == 1);
        let k = reports[0].kinetic_energy;
        assert!(k.of_jump > 1e-4 && (k.before - k.after - k.of_jump).abs() < 1e-12);
        assert!(imbalance(&mut simulation, 0.4) < 1e-9);
        let before = observe(&mut simulation);
        let reports = run(&mut simulation, 0.4);
        assert_eq!(reports[0].velocity_after["shoulder"].len(), 2);
        assert!(reports[0].kinetic_energy.of_jump > 1e-6);
        let after = observe(&mut simulation);
        assert!(apart(&before.bodies[0].position, &after.bodies[0].position) < 1e-15);
        assert!(imbalance(&mut simulation, 1.0) < 1e-9);
        // A universal joint is holonomic: its two axes stay perpendicular, which the joint's own coordinates show.
        let (slot, r) = (simulation.system().model.joints()[0].clone(), observe(&mut simulation));
        let parent = slot.parent_frame.rotation;
        let child = Quaternion(r.bodies[0].orientation).to_matrix() * slot.child_frame.rotation;
        assert!(parent.column(0).dot(&child.column(1)).abs() < 1e-14);
        assert_eq!(slot.q.len(), 2);
    }
}

/// A motion that a lock has interrupted goes on from where the joint was, and brings its speed back at once.
#[test]
fn a_motion_goes_on_after_a_lock() {
    let mut scene = chain(3);
    let sine = Varying::Sine { amplitude: 0.3, angular_frequency: 4.0, phase: 0.0, offset: 0.2 };
    let joint: &mut Joint = &mut scene.joint[1];
    (joint.q, joint.v) = (None, None);
    joint.motor.push(Motor::Motion { coordinate: 0, position: Signal::Varying(sine) });
    let mut simulation = simulation(&scene, Formulation::Recursive, 1e-10);
    let at = |t: f64| 0.2 + 0.3 * (4.0 * t).sin();
    run(&mut simulation, 0.25);
    let id = simulation.joint("j1").unwrap();
    simulation.apply("lock", &[Action::lock(id)]).unwrap();
    let k = simulation.events()[0].kinetic_energy;
    assert!((k.before - k.after - k.of_jump).abs() < 1e-14 * k.before && simulation.events()[0].work == 0.0);
    let held = observe(&mut simulation).joint_q[1];
    assert_eq!(held, at(0.25));
    assert!(imbalance(&mut simulation, 0.5) < 1e-8);
    assert_eq!(observe(&mut simulation).joint_q[1], held);
    simulation.apply("unlock", &[Action::unlock(id)]).unwrap();
    let report = simulation.events()[0].clone();
    assert!((report.velocity_after["j1"][0] - 1.2 * 2.0_f64.cos()).abs() < 1e-15);
    // The motion's work closes the balance.
    let k = report.kinetic_energy;
    assert!(report.work != 0.0 && (k.before + report.work - k.after - k.of_jump).abs() < 1e-13);
    assert!(imbalance(&mut simulation, 0.8) < 1e-8);
    assert!((observe(&mut simulation).joint_q[1] - (held + at(0.8) - at(0.5))).abs() < 1e-14);
    // Switched off, it lets the joint go; switched on again, it takes it where it is.
    let switch = |on| Action::SwitchMotor { joint: id, motor: 0, on };
    simulation.apply("off", &[switch(false)]).unwrap();
    assert_eq!(simulation.events()[0].velocity_before, simulation.events()[0].velocity_after);
    assert!(imbalance(&mut simulation, 1.0) < 1e-8);
    let (free, before) = (observe(&mut simulation).joint_q[1], observe(&mut simulation));
    simulation.apply("on", &[switch(true)]).unwrap();
    assert!((observe(&mut simulation).joint_q[1] - free).abs() < 1e-15);
    assert!(apart(&before.bodies[2].position, &observe(&mut simulation).bodies[2].position) < 1e-14);
    assert!(imbalance(&mut simulation, 1.2) < 1e-8);
}

/// Two bodies that float are welded: from then on they move as one, and come apart again.
#[test]
fn welded_and_let_go() {
    let mut scene =
        random_tree(&mut Rng(2), 2, 0.0, &[JointKind::Spherical], Extras { fittings: false, motions: false });
    scene.joint.clear();
    (scene.gravity, scene.time.rtol) = ([0.0; 3], Some(1e-11));
    for (k, body) in scene.body.iter_mut().enumerate() {
        body.position = Some([k as f64, 0.3, 0.0]);
        body.velocity = Some([0.5 - k as f64, 0.2, 0.1]);
        body.angular_velocity = Some([0.4, 1.0 - k as f64, 0.3]);
    }
    scene.event.push(signorini::scene::Event {
        name: "dock".into(),
        kind: signorini::scene::EventKind::Weld,
        time: Some(0.5),
        bodies: Some(vec!["b0".into(), "b1".into()]),
        ..Default::default()
    });
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let reports = run(&mut simulation, 0.5);
    let (before, after) = (reports[0].momentum_before, reports[0].momentum_after);
    assert!(apart(&before.linear, &after.linear) < 1e-14 && apart(&before.angular, &after.angular) < 1e-14);
    let distance =
        |seen: &Observation| (Vec3::from(seen.bodies[0].position) - Vec3::from(seen.bodies[1].position)).norm();
    let seen = observe(&mut simulation);
    assert!(apart(&seen.bodies[0].angular_velocity, &seen.bodies[1].angular_velocity) < 1e-15);
    let wanted = distance(&seen);
    assert!(imbalance(&mut simulation, 3.0) < 1e-9);
    assert!((distance(&observe(&mut simulation)) - wanted).abs() < 1e-13);
    let dock = simulation.joint("dock").unwrap();
    simulation.apply("undock", &[Action::release(dock)]).unwrap();
    run(&mut simulation, 4.0);
    assert!((distance(&observe(&mut simulation)) - wanted).abs() > 1e-3);
}
