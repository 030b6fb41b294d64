//! A simulation as its user sees it: ids, motion of bodies and joints, matrices in the user's order, clones, states, contacts, and the gate for
//! what enters.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::dynamics::force::{Load, LoadContext};
use signorini::model::{BodyId, JointId};
use signorini::nalgebra::{DMatrix, DVector, Matrix6xX};
use signorini::scene::read::{read, read_str};
use signorini::scene::{Formulation, Scene};
use signorini::step::{Observation, Simulation, StepError};
use std::path::Path;

fn bundled(name: &str) -> Scene {
    read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name).join("scene.toml")).unwrap()
}

/// A tree whose order is not that of the scene: joints are given from the tip to the root, one against the tree's direction, and a body floats.
fn shuffled() -> Simulation {
    let scene = r#"
        gravity = [0.3, -0.2, -9.81]
        time = { end = 1.0 }
        body = [
            { name = "stray", mass = 3, inertia = [0.2, 0.3, 0.4], position = [5, 1, 2], velocity = [1, 2, 3], angular_velocity = [0.4, -1, 2] },
            { name = "hand", mass = 1, com = [0.1, 0.2, -0.3], inertia = [0.05, 0.06, 0.07] },
            { name = "fore", mass = 2, com = [0.2, 0, -0.4], inertia = [0.2, 0.3, 0.1] },
            { name = "upper", mass = 4, com = [0, 0.1, -0.5], inertia = [0.5, 0.4, 0.2] },
        ]
        joint = [
            { name = "wrist", kind = "spherical", parent = "fore", child = "hand", parent_frame = { position = [0, 0, -1] }, q = [0.8, 0.6, 0, 0], v = [1, -2, 0.5] },
            { name = "elbow", kind = "revolute", parent = "upper", child = "fore", axis = [0, 1, 0], parent_frame = { position = [0, 0, -1] }, q = [0.7], v = [-1.5], armature = [0.3] },
            { name = "shoulder", kind = "cylindrical", parent = "ground", child = "upper", axis = [1, 0, 0], q = [0.4, 0.2], v = [0.9, 0.3] },
        ]
    "#;
    Simulation::from_scene(&read_str(scene, "arm", "").unwrap()).unwrap()
}

fn speeds(simulation: &mut Simulation) -> DVector<f64> {
    let mut v = vec![f64::NAN; simulation.n_speeds()];
    for joint in simulation.joint_ids() {
        let Some(range) = simulation.speeds_of_joint(joint).unwrap() else { continue };
        v[range].copy_from_slice(simulation.v(joint).unwrap());
    }
    for body in simulation.body_ids() {
        let Some(range) = simulation.speeds_of_body(body).unwrap() else { continue };
        let (pose, twist) = (simulation.pose(body).unwrap(), simulation.twist(body).unwrap());
        // This one has its centre of mass where its frame is.
        v[range.start..range.start + 3].copy_from_slice(twist.linear.as_slice());
        v[range.start + 3..range.end].copy_from_slice((pose.rotation.transpose() * twist.angular).as_slice());
    }
    assert!(v.iter().all(|x| x.is_finite()), "a speed has no place: {v:?}");
    DVector::from_vec(v)
}

/// M gives the kinetic energy that is observed, in speeds gathered joint by joint and body by body; so do Jacobians their twists.
#[test]
fn matrices_are_in_the_order_of_the_scene() {
    let mut arm = shuffled();
    assert_eq!(arm.speeds_of_joint(arm.joint("wrist").unwrap()).unwrap(), Some(0..3));
    assert_eq!(arm.speeds_of_joint(arm.joint("shoulder").unwrap()).unwrap(), Some(4..6));
    assert_eq!(arm.speeds_of_body(arm.body("stray").unwrap()).unwrap(), Some(6..12));
    assert_eq!(arm.speeds_of_body(arm.body("hand").unwrap()).unwrap(), None);
    let (mut mass, mut jacobian) = (DMatrix::zeros(0, 0), Matrix6xX::zeros(0));
    arm.mass_matrix_into(&mut mass);
    let v = speeds(&mut arm);
    let mut seen = Observation::default();
    arm.observe(false, &mut seen).unwrap();
    let kinetic = 0.5 * v.dot(&(&mass * &v));
    // A few dozen roundings.
    assert!((kinetic - seen.kinetic).abs() < 1e-13 * seen.kinetic, "{kinetic} {}", seen.kinetic);
    for body in arm.body_ids() {
        let (at, twist) = (arm.pose(body).unwrap().translation, arm.twist(body).unwrap());
        arm.jacobian_into(body, at.into(), &mut jacobian).unwrap();
        let by = &jacobian * &v;
        let wanted: Vec<f64> = twist.angular.iter().chain(twist.linear.iter()).copied().collect();
        for (a, b) in by.iter().zip(wanted) {
            assert!((a - b).abs() < 1e-13, "{} {by} {twist:?}", arm.body_name(body).unwrap());
        }
    }
}

/// M v̇ + h = 0 where nothing else pushes: v̇ by the step's own route, that of the articulated bodies.
#[test]
fn inverse_dynamics_undoes_forward_dynamics() {
    let mut arm = shuffled();
    let (mut mass, mut bias, mut tau) = (DMatrix::zeros(0, 0), DVector::zeros(0), DVector::zeros(0));
    arm.mass_matrix_into(&mut mass);
    arm.bias_into(&mut bias);
    let rates = mass.clone().cholesky().unwrap().solve(&-&bias);
    arm.inverse_dynamics(rates.as_slice(), &mut tau).unwrap();
    let scale = bias.amax();
    assert!(tau.amax() < 1e-12 * scale, "{tau}");
    assert!((&mass * &rates + &bias - &tau).amax() < 1e-12 * scale);
    // A short step changes the speeds by these rates, to the first order in its length.
    let before = speeds(&mut arm);
    let h = 1e-6;
    arm.advance(h).unwrap();
    assert_eq!(arm.state().time, h);
    let after = speeds(&mut arm);
    let change = (after - before) / h;
    assert!((change - &rates).amax() < 1e-4 * rates.amax(), "{rates}");
    assert!(arm.inverse_dynamics(&[0.0; 3], &mut tau).is_err());
}

/// What a joint's accessors say is what an observation says, joints that close loops among them.
#[test]
fn joints_and_bodies_by_id() {
    for name in ["four-bar", "ring", "docking"] {
        let mut simulation = Simulation::from_scene(&bundled(name)).unwrap();
        for _ in 0..3 {
            simulation.advance(1.0).unwrap();
        }
        let mut seen = Observation::default();
        simulation.observe(false, &mut seen).unwrap();
        for joint in simulation.joint_ids() {
            let own = simulation.system().model.joints()[joint.index()].clone();
            assert_eq!(simulation.joint(&own.name).unwrap(), joint);
            let (q, v) = (simulation.q(joint).unwrap().to_vec(), simulation.v(joint).unwrap().to_vec());
            if own.is_absent {
                assert!(q.is_empty() && v.is_empty());
                continue;
            }
            assert_eq!(
                (&q[..], &v[..]),
                (&seen.joint_q[own.q.clone()], &seen.joint_v[own.v.clone()]),
                "{name} {}",
                own.name
            );
        }
        for body in simulation.body_ids() {
            let com = simulation.system().model.bodies()[body.index()].com;
            let (pose, twist) = (simulation.pose(body).unwrap(), simulation.twist(body).unwrap());
            let there: [f64; 3] = pose.point(&com).into();
            let arm = pose.rotation * com;
            let moving: [f64; 3] = (twist.linear + twist.angular.cross(&arm)).into();
            let motion = &seen.bodies[body.index()];
            for k in 0..3 {
                assert!(
                    (there[k] - motion.position[k]).abs() < 1e-13 && (moving[k] - motion.velocity[k]).abs() < 1e-12
                );
            }
        }
    }
}

struct Wind(f64);

impl Load for Wind {
    fn apply(&self, context: &mut LoadContext<'_>) {
        let at = context.pose(BodyId(0)).translation;
        context.add_force(BodyId(0), &at, &signorini::nalgebra::Vector3::new(self.0, 0.0, 0.0));
    }
}

/// A clone goes on to the same bits as what it was made of, whatever happens to that; and a state that was put aside can be returned to.
#[test]
fn clones_and_states() {
    for (name, formulation) in [
        ("box-stack", Formulation::Recursive),
        ("four-bar-stop", Formulation::Dca),
        ("docking", Formulation::Recursive),
        ("breaking-chain", Formulation::Dense),
    ] {
        let mut scene = bundled(name);
        scene.solver.formulation = formulation;
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        simulation.add_load(Box::new(Wind(0.01)));
        simulation.keep_forces();
        for _ in 0..6 {
            simulation.advance(scene.time.end).unwrap();
        }
        let kept = simulation.state().clone();
        let mut clone = simulation.clone();
        assert_eq!(clone.contacts(), simulation.contacts());
        assert_eq!(clone.last_report(), simulation.last_report());
        let (mut a, mut b) = (Observation::default(), Observation::default());
        simulation.observe(true, &mut a).unwrap();
        clone.observe(true, &mut b).unwrap();
        assert_eq!(format!("{a:?}"), format!("{b:?}"), "{name}: what is not a number is equal as well");
        let go_on = |simulation: &mut Simulation| {
            for _ in 0..6 {
                simulation.advance(scene.time.end).unwrap();
            }
            simulation.state().clone()
        };
        let first = go_on(&mut simulation);
        assert!(first.time > kept.time);
        assert_eq!(go_on(&mut clone), first, "{name}");
        simulation.set_state(kept).unwrap();
        assert_eq!(go_on(&mut simulation), first, "{name}: after its state was put back");
    }
}

#[test]
fn nothing_that_is_not_finite_enters() {
    let mut scene = bundled("double-pendulum");
    scene.time.end = 1.0;
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    simulation.advance(1.0).unwrap();
    let joint = JointId(0);
    let name = simulation.joint_name(joint).unwrap().to_owned();
    let before = simulation.state().clone();
    let n = simulation.v(joint).unwrap().len();
    let forces = |bad: f64| vec![bad; n];
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = simulation.set_joint_force(joint, &forces(bad)).unwrap_err();
        assert!(error.to_string().contains(&format!("the force set on joint `{name}` is not finite")), "{error}");
        let spoils: [fn(&mut signorini::state::State, f64); 4] =
            [|s, x| s.q[0] = x, |s, x| s.v[0] = x, |s, x| s.time = x, |s, x| s.control.step = x];
        for spoil in spoils {
            let mut state = before.clone();
            spoil(&mut state, bad);
            let error = simulation.set_state(state).unwrap_err();
            assert!(matches!(error, StepError::NotFinite { .. }), "{error}");
        }
        assert!(simulation.jacobian_into(BodyId(0), [bad, 0.0, 0.0], &mut Matrix6xX::zeros(0)).is_err());
    }
    assert!(matches!(simulation.advance(f64::NAN), Err(StepError::NotFinite { .. })));
    assert_eq!(*simulation.state(), before, "what was refused has changed nothing");
    assert!(simulation.pose(BodyId(99)).is_err() && simulation.q(JointId(99)).is_err());
    let error: Box<dyn std::error::Error> = simulation.joint("nobody").unwrap_err().into();
    assert_eq!(format!("{error:?}"), error.to_string(), "`main` prints an error as it reads");
}

/// Two boxes at rest on each other: what the lower carries is the weight of the upper, what the ground carries that of both, and their moments
/// vanish about the axis through both centres.
#[test]
fn wrenches_between_bodies() {
    let text = r#"
        gravity = [0, 0, -10]
        time = { end = 1, step = 0.01 }
        material = [{ name = "wood", friction = 0.5 }]
        body = [
            { name = "ground", shape = [{ kind = "half-space", material = "wood" }] },
            { name = "low", mass = 3, position = [0, 0, 0.5], shape = [{ kind = "box", size = [1, 1, 1], material = "wood" }] },
            { name = "high", mass = 2, position = [0, 0, 1.5], shape = [{ kind = "box", size = [1, 1, 1], material = "wood" }] },
        ]
    "#;
    let mut simulation = Simulation::from_scene(&read_str(text, "stack", "").unwrap()).unwrap();
    for _ in 0..5 {
        simulation.advance(1.0).unwrap();
    }
    let (low, high) = (simulation.body("low").unwrap(), simulation.body("high").unwrap());
    for (a, b, wanted) in [
        (Some(low), Some(high), 20.0),
        (None, Some(low), 50.0),
        (Some(high), Some(low), -20.0),
        (None, Some(high), 0.0),
    ] {
        let wrench = simulation.wrench_between(a, b, [0.0, 0.0, 1.0]).unwrap();
        // The solver's tolerance is far below.
        assert!((wrench.force.z - wanted).abs() < 1e-9 && wrench.moment.norm() < 1e-9, "{wrench:?} {wanted}");
    }
    for contact in simulation.contacts() {
        let [t1, t2] = contact.tangents().map(signorini::nalgebra::Vector3::from);
        let n = signorini::nalgebra::Vector3::from(contact.normal);
        assert!((t1.cross(&t2) - n).norm() < 1e-14);
        assert!((contact.impulse_vector().dot(&n) - contact.impulse[0]).abs() < 1e-14);
        let shapes = simulation.system().model.shapes();
        assert!(contact.shapes().iter().all(|shape| *shape < shapes.len()));
    }
}
