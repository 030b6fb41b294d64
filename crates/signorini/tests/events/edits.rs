//! Locks and unlocks, attachments and releases, and what is refused.

use super::common::*;
use super::*;
use signorini::impulse::EditError;
use signorini::model::event::Action;
use signorini::scene::JointKind;
use signorini::state::State;
use signorini::step::StepError;

fn start(scene: &Scene) -> Simulation {
    simulation(scene, Formulation::Recursive, 1e-10)
}

/// Coordinates, speeds and time, without the bookkeeping of events.
fn motion(state: &State) -> (Vec<u64>, Vec<u64>, Vec<u64>, f64) {
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect();
    (bits(&state.q), bits(&state.v), bits(&state.cut_q), state.time)
}

#[test]
fn lock_and_unlock_at_once() {
    let mut scene = chain(6);
    let text = "[[event]]\nname = \"lock\"\nkind = \"lock\"\njoint = \"j3\"\ntime = 0.2\n\
                [[event]]\nname = \"unlock\"\nkind = \"unlock\"\njoint = \"j3\"\nafter = \"lock\"\n";
    #[derive(serde::Deserialize)]
    struct Events {
        event: Vec<signorini::scene::Event>,
    }
    scene.event = toml::from_str::<Events>(text).unwrap().event;
    let mut simulation = start(&scene);
    while !simulation.is_event_due() {
        simulation.advance(1.0).unwrap();
    }
    let before = simulation.state().clone();
    simulation.advance(1.0).unwrap();
    let locked = simulation.state().clone();
    simulation.advance(1.0).unwrap();
    let after = simulation.state().clone();
    assert_eq!(before.q, after.q);
    // The unlock changes nothing but what the mechanism may do: the jump of the lock stays.
    assert_eq!(motion(&locked), motion(&after));
    assert_eq!(after.v[3], 0.0);
    assert_ne!(before.v, after.v);
    let system = simulation.system();
    assert!(system.model.joints().iter().all(|j| j.fittings.held.is_empty()));
    // From here it moves like a mechanism that never knew a lock.
    scene.event.clear();
    let built = build(&scene).unwrap();
    let state = State { topology: Default::default(), events: Vec::new(), ..after };
    let options = Options { rtol: 1e-10, ..Options::from_scene(&scene) };
    let mut fresh = Simulation::new(built.model, built.plan, options, state).unwrap();
    for _ in 0..20 {
        simulation.advance(1.0).unwrap();
        fresh.advance(1.0).unwrap();
        assert_eq!(motion(simulation.state()), motion(fresh.state()));
    }
}

#[test]
fn locking_what_is_locked_changes_no_bit() {
    let mut rng = Rng(5);
    let kinds = [JointKind::Spherical, JointKind::Universal, JointKind::Cylindrical, JointKind::Free];
    let extras = Extras { fittings: true, motions: false };
    let mut scene = random_tree(&mut rng, 5, 0.3, &kinds, extras);
    close_loop(&mut rng, &mut scene, "loop", JointKind::Spherical, ("b4", "b1"), extras);
    for name in ["j2", "loop"] {
        let mut simulation = start(&scene);
        let id = simulation.joint(name).unwrap();
        simulation.apply("lock", &[Action::lock(id)]).unwrap();
        for _ in 0..5 {
            simulation.advance(1.0).unwrap();
        }
        let before = simulation.state().clone();
        let report = simulation.apply("again", &[Action::lock(id)]).unwrap();
        assert_eq!(report.events, 1);
        assert_eq!(simulation.state(), &before);
        let report = &simulation.events()[0];
        assert_eq!(report.notes, [format!("joint `{name}` was locked already")]);
        assert_eq!(report.velocity_before, report.velocity_after);
        assert_eq!(report.kinetic_energy.of_jump, 0.0);
    }
    // Some coordinates of a joint whose others have moved on.
    let mut simulation = start(&scene);
    let free = (0..5)
        .find(|&j| scene.joint[j].kind.n_v() >= 2 && simulation.system().plan.link_of_joint[j].is_some())
        .unwrap();
    let id = signorini::model::JointId(free as u32);
    let some = Action::Lock { joints: vec![id], what: signorini::model::event::Lock::Coordinates(vec![0]) };
    simulation.apply("lock", std::slice::from_ref(&some)).unwrap();
    for _ in 0..5 {
        simulation.advance(1.0).unwrap();
    }
    let before = simulation.state().clone();
    simulation.apply("again", &[some]).unwrap();
    assert_eq!(simulation.state(), &before);
    assert!(simulation.events()[0].notes[0].contains("already"));
}

/// Velocities do not change at a release: to the bit where the tree stays, to rounding where another body becomes a base.
#[test]
fn releasing() {
    let mut rng = Rng(3);
    let extras = Extras { fittings: true, motions: false };
    let mut scene = random_tree(&mut rng, 6, 0.3, &[JointKind::Spherical, JointKind::Universal], extras);
    close_loop(&mut rng, &mut scene, "loop", JointKind::Universal, ("b5", "b1"), extras);
    let names: Vec<String> = scene.joint.iter().map(|j| j.name.clone()).collect();
    for name in names {
        let mut simulation = start(&scene);
        for _ in 0..5 {
            simulation.advance(1.0).unwrap();
        }
        let (before, seen) = (simulation.state().clone(), observe(&mut simulation));
        let id = simulation.joint(&name).unwrap();
        let was_cut = simulation.system().plan.cuts.contains(&id);
        simulation.apply("let go", &[Action::release(id)]).unwrap();
        let after = observe(&mut simulation);
        if was_cut {
            assert_eq!((&before.q, &before.v), (&simulation.state().q, &simulation.state().v));
        }
        for (a, b) in seen.bodies.iter().zip(&after.bodies) {
            // Speeds of a few metres per second through a chain of six.
            assert!(
                apart(&a.velocity, &b.velocity).max(apart(&a.angular_velocity, &b.angular_velocity)) < 1e-13,
                "{name}"
            );
            assert!(apart(&a.position, &b.position) < 1e-14);
        }
        let report = &simulation.events()[0];
        assert!(report.impulses.is_empty() && report.kinetic_energy.of_jump == 0.0);
        for _ in 0..5 {
            simulation.advance(1.0).unwrap();
        }
        simulation.apply("again", &[Action::release(id)]).unwrap();
        assert!(simulation.events()[0].notes[0].contains("does not exist"));
    }
}

/// A chain that hangs from the ground is pinned at its tip and let go again, a thousand times.
#[test]
fn a_loop_closed_and_opened_a_thousand_times() {
    let mut scene = chain(5);
    scene.joint.push(signorini::scene::Joint {
        name: "pin".into(),
        kind: JointKind::Spherical,
        parent: signorini::scene::GROUND.into(),
        child: "l4".into(),
        child_frame: Some(signorini::scene::FrameRef::Pose { position: [0.0, 0.0, -0.2], orientation: None }),
        absent: true,
        ..Default::default()
    });
    let mut simulation = start(&scene);
    let pin = simulation.joint("pin").unwrap();
    simulation.apply("close", &[Action::attach(pin)]).unwrap();
    let first = observe(&mut simulation);
    let (mut v, mut energy) = (0.0_f64, 0.0_f64);
    for _ in 0..1000 {
        simulation.apply("open", &[Action::release(pin)]).unwrap();
        simulation.apply("close", &[Action::attach(pin)]).unwrap();
        // The first closing took all that the loop forbids; there is nothing left to take.
        energy = energy.max(simulation.events()[0].kinetic_energy.of_jump);
        let seen = observe(&mut simulation);
        v = v.max(apart(&seen.joint_v[..5], &first.joint_v[..5]));
        assert_eq!(seen.joint_q[..5], first.joint_q[..5]);
    }
    println!("speeds moved by {v:.1e}, energy of a jump {energy:.1e}");
    // A thousand solves, each of a few roundings of speeds below one: growth like n in the worst case.
    assert!(v < 1000.0 * 4.0 * f64::EPSILON && energy < 1e-28, "{v:e} {energy:e}");
}

#[test]
fn refused() {
    let mut scene = chain(3);
    for (name, position) in [("far", [5.0, 0.0, 0.0]), ("near", [0.0, 0.0, -0.2])] {
        let frame = |position| Some(signorini::scene::FrameRef::Pose { position, orientation: None });
        scene.joint.push(signorini::scene::Joint {
            name: name.into(),
            kind: JointKind::Spherical,
            parent: "l0".into(),
            child: "l1".into(),
            parent_frame: frame(position),
            child_frame: frame([0.0; 3]),
            absent: true,
            ..Default::default()
        });
    }
    let mut simulation = start(&scene);
    let [far, near, j1] = ["far", "near", "j1"].map(|n| simulation.joint(n).unwrap());
    let state = simulation.state().clone();
    let refused = |simulation: &mut Simulation, actions: &[Action]| {
        let error = simulation.apply("event", actions).unwrap_err();
        assert_eq!(simulation.state(), &state, "nothing has happened");
        error
    };
    let error = refused(&mut simulation, &[Action::attach(far)]);
    assert!(
        matches!(&error, StepError::Event { why: EditError::Gap { joint, length, .. }, .. } if joint == "far" && *length > 1.0)
    );
    assert!(error.to_string().contains("leave out one of its frames"), "{error}");
    let error = refused(&mut simulation, &[Action::lock(j1), Action::release(j1)]);
    assert!(matches!(error, StepError::Event { why: EditError::Contradiction { .. }, .. }), "{error}");
    let two = [JointKind::Fixed, JointKind::Prismatic].map(|kind| Action::change(j1, kind));
    assert!(matches!(refused(&mut simulation, &two), StepError::Event { .. }));
    assert!(matches!(refused(&mut simulation, &[Action::change(j1, JointKind::Free)]), StepError::BadOption(_)));
    assert!(matches!(
        refused(&mut simulation, &[Action::lock(signorini::model::JointId(99))]),
        StepError::BadOption(_)
    ));
    assert!(matches!(refused(&mut simulation, &[Action::SwitchForce { force: 0, on: true }]), StepError::BadOption(_)));
    assert!(simulation.joint("none").is_err() && simulation.body("none").is_err());
    // A second joint where one is: it fits, and says nothing new.
    simulation.apply("near", &[Action::attach(near)]).unwrap();
    assert_eq!(simulation.events()[0].not_unique.len(), 3);
    assert_eq!(simulation.events()[0].kinetic_energy.of_jump, 0.0);
    // What does not exist cannot be locked; that is no error.
    simulation.apply("lock", &[Action::lock(far)]).unwrap();
    assert!(simulation.events()[0].notes[0].contains("nothing to lock"));
}

/// A motion that contradicts a new constraint is named as such.
#[test]
fn velocities_that_no_joint_allows() {
    let mut scene = chain(1);
    let sine = signorini::scene::Varying::Sine {
        amplitude: 0.5,
        angular_frequency: 2.0,
        phase: 0.0,
        offset: 0.1 * 1.0_f64.sin(),
    };
    scene.joint[0].v = None;
    scene.joint[0]
        .motor
        .push(signorini::scene::Motor::Motion { coordinate: 0, position: signorini::scene::Signal::Varying(sine) });
    scene.event.push(signorini::scene::Event {
        name: "weld".into(),
        kind: signorini::scene::EventKind::Weld,
        time: Some(0.3),
        bodies: Some(vec!["ground".into(), "l0".into()]),
        ..Default::default()
    });
    let mut simulation = start(&scene);
    let error = loop {
        match simulation.advance(1.0) {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(
        matches!(&error, StepError::Contradiction { time, event, .. } if *time == 0.3 && event == "weld"),
        "{error}"
    );
    assert_eq!(simulation.state().time, 0.3);
}
