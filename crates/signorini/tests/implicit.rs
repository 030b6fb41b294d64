//! Springs, dampers and servos in joints under steps with contact: no stiffness, damping or step makes them explode, statics is exact, the
//! order of the step is kept.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::scene::read::read;
use signorini::scene::*;
use signorini::step::{Observation, Simulation, StepReport};
use std::path::Path;

const FORMULATIONS: [Formulation; 3] = [Formulation::Recursive, Formulation::Dca, Formulation::Dense];
const SCHEMES: [Integrator; 2] = [Integrator::StewartTrinkle, Integrator::Moreau];

fn scene(name: &str) -> Scene {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/force_scenes");
    read(folder.join(name).with_extension("toml")).unwrap()
}

/// Runs a scene to its end; the greatest energy ever, work taken off and dissipation not, and the last report.
fn run(scene: &Scene) -> (Simulation, f64, StepReport) {
    let mut simulation = Simulation::from_scene(scene).unwrap();
    let mut greatest = f64::NEG_INFINITY;
    let mut last = StepReport::default();
    while simulation.state().time < scene.time.end {
        last = simulation.advance(scene.time.end).unwrap();
        greatest = greatest.max(last.kinetic + last.potential - last.work);
    }
    (simulation, greatest, last)
}

fn each(name: &str, check: impl Fn(&Scene, Simulation, f64, StepReport)) {
    for integrator in SCHEMES {
        for formulation in FORMULATIONS {
            let mut scene = scene(name);
            scene.time.integrator = integrator;
            scene.solver.formulation = formulation;
            // Resolved, the strut swings on with a decay of d/2m = 2.5.
            match name {
                "air_k2e6_10ms" => scene.time.end = 4.0,
                "susp_stiff" => scene.time.end = 10.0,
                _ => {}
            }
            let (simulation, greatest, last) = run(&scene);
            println!("{name} {integrator:?} {formulation:?}: {last:?}");
            check(&scene, simulation, greatest, last);
        }
    }
}

fn joint_q(simulation: &mut Simulation) -> Vec<f64> {
    let mut seen = Observation::default();
    simulation.observe(false, &mut seen).unwrap();
    seen.joint_q
}

/// Largest rate of change of a speed, by all forces as they are now, in units of the mechanism.
fn unrest(simulation: &mut Simulation) -> f64 {
    let mut rates = Vec::new();
    simulation.accelerations(&mut rates).unwrap();
    rates.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// d = 10 on an inertia of 0.002 at 1 ms, z = 5: the motion ends in the second step, with all its energy in the damper.
#[test]
fn a_strong_damper_stops_what_it_damps() {
    each("servo_damp", |_, simulation, greatest, last| {
        assert!(greatest <= 0.001 * (1.0 + 1e-14), "{greatest}");
        assert!(simulation.state().v[0].abs() < 1e-12);
        assert!((last.dissipated - 0.001).abs() < 1e-15, "{}", last.dissipated);
    });
}

#[test]
fn a_stiff_servo_arrives() {
    each("servo_lim", |_, mut simulation, _, last| {
        // Critical damping would be 2√(k I) = 0.9: it creeps at k/d = 10, e⁻¹⁰ of 0.2 is left after a second.
        let q = joint_q(&mut simulation)[0];
        assert!((q - 0.2 * (1.0 - (-10.0_f64).exp())).abs() < 1e-6, "{q}");
        assert!(last.kinetic < 1e-9);
    });
}

/// Six axes with servos and limits, at rest where gravity and servos balance: accelerations by the equations of motion vanish.
#[test]
fn an_arm_with_limits_goes_where_its_servos_say() {
    each("arm_lim", |_, mut simulation, _, last| {
        // k/d = 10, two seconds after the targets stand still: e⁻²⁰.
        let q = joint_q(&mut simulation);
        for (q, target) in q.iter().zip([0.5, -0.8, 1.0, 0.3, 0.4, 0.2]) {
            assert!((q - target).abs() < 0.1, "{q} {target}");
        }
        assert!(last.kinetic < 1e-9, "{}", last.kinetic);
        assert!(unrest(&mut simulation) < 1e-3, "{}", unrest(&mut simulation));
    });
}

/// Twelve servos of k = 500 and d = 10 on legs of 0.3 and 1 kg: it stands.
#[test]
fn a_quadruped_stands() {
    for (integrator, formulation, end) in [
        (Integrator::StewartTrinkle, Formulation::Recursive, 2.0),
        (Integrator::Moreau, Formulation::Recursive, 2.0),
        (Integrator::StewartTrinkle, Formulation::Dca, 0.3),
    ] {
        let mut scene = scene("quad_stiff");
        (scene.time.integrator, scene.solver.formulation, scene.time.end) = (integrator, formulation, end);
        let (simulation, _, last) = run(&scene);
        let height = simulation.state().q[2];
        // What is left of the landing after 0.3 is a rocking of some centimetres per second.
        let still = if end > 1.0 { 1e-4 } else { 1.0 };
        assert!(last.kinetic < still && height > 0.2, "{integrator:?} {formulation:?}: {} {height}", last.kinetic);
    }
}

/// A sprung mass of 300 on 2e6, at steps of 1 and 10 ms: the sag is m g/k to rounding.
#[test]
fn static_sag_is_exact() {
    for name in ["air_k2e6_10ms", "susp_stiff"] {
        each(name, |_, mut simulation, greatest, last| {
            // Nothing drives it.
            assert!(last.work == 0.0 && last.dissipated > 0.0, "{} {}", last.work, last.dissipated);
            let strut = joint_q(&mut simulation)[1];
            let sag = 300.0 * 9.81 / 2e6;
            let start = 20.0 * 9.81 * 1.3 + 300.0 * 9.81 * 1.8;
            assert!(greatest <= start * (1.0 + 1e-14), "{greatest} {start}");
            // e⁻²⁵ of a swing is left, and less where the step damps it.
            assert!((strut.abs() - sag).abs() < 1e-9 * sag, "{strut:e} {sag:e}");
        });
    }
}

/// A hinge with an arm of 0.5 that weighs 2, horizontal, and what drives it.
fn arm(motor: Motor, integrator: Integrator) -> Scene {
    let body = Body {
        name: "arm".into(),
        mass: Some(2.0),
        com: Some([0.5, 0.0, 0.0]),
        inertia: Some(vec![0.01; 3]),
        ..Body::default()
    };
    let joint = Joint {
        name: "hinge".into(),
        kind: JointKind::Revolute,
        parent: GROUND.into(),
        child: "arm".into(),
        axis: Some([0.0, -1.0, 0.0]),
        lower: Some(PerCoordinate::All(-3.0)),
        motor: vec![motor],
        ..Joint::default()
    };
    let mut scene = Scene { gravity: [0.0, 0.0, -9.81], body: vec![body], joint: vec![joint], ..Scene::default() };
    (scene.time.step, scene.time.end, scene.time.integrator) = (Some(1e-3), 2.0, integrator);
    scene
}

fn servo(stiffness: f64, damping: f64, limit: Option<f64>, compensate_gravity: bool) -> Motor {
    Motor::Servo { coordinate: 0, target: Signal::Constant(0.0), stiffness, damping, limit, compensate_gravity }
}

/// The weight asks for 9.81 at the horizontal.
#[test]
fn a_servo_pushes_with_its_limit_and_no_more() {
    for integrator in SCHEMES {
        // More than enough: it holds, off by load over stiffness (to the change of the lever).
        let (mut holds, _, _) = run(&arm(servo(1e5, 300.0, Some(12.0), false), integrator));
        let q = joint_q(&mut holds)[0];
        assert!((q + 9.81e-5).abs() < 1e-9, "{integrator:?} {q}");
        // Too little: it gives way as under 9.81 cos q − 8, and never pushes with more.
        let mut motor = servo(1e5, 300.0, Some(8.0), false);
        if let Motor::Servo { target, .. } = &mut motor {
            *target = Signal::Constant(1.0);
        }
        let mut scene = arm(motor, integrator);
        scene.time.end = 0.2;
        let mut gives = Simulation::from_scene(&scene).unwrap();
        let mut seen = Observation::default();
        while gives.state().time < scene.time.end {
            gives.advance(scene.time.end).unwrap();
            gives.observe(true, &mut seen).unwrap();
            assert!(seen.actuators[0].abs() <= 8.0 * (1.0 + 1e-12), "{integrator:?} {}", seen.actuators[0]);
        }
        // ½ (9.81 − 8)/0.51 t²; a step of the first order is off by h/t, the lever by some 10⁻³.
        let free = 0.5 * 1.81 / 0.51 * 0.04;
        let q = -joint_q(&mut gives)[0];
        assert!((q / free - 1.0).abs() < 1e-2, "{integrator:?} {q} {free}");
    }
}

#[test]
fn what_a_joint_carries_is_held() {
    for integrator in [Integrator::StewartTrinkle, Integrator::Moreau, Integrator::Rk4] {
        let mut scene = arm(servo(1.0, 1.0, None, true), integrator);
        if integrator == Integrator::Rk4 {
            scene.joint[0].lower = None;
        }
        let (mut simulation, _, last) = run(&scene);
        // At rest where it starts, with forces that cancel but for rounding.
        assert!(joint_q(&mut simulation)[0].abs() < 1e-13 && last.kinetic < 1e-26, "{integrator:?} {last:?}");
        let mut seen = Observation::default();
        simulation.observe(true, &mut seen).unwrap();
        assert!((seen.actuators[0] - 9.81).abs() < 1e-9, "{integrator:?} {}", seen.actuators[0]);
    }
}

/// A turntable that is to turn at 5, first with a gain that the step does not resolve, then with a limit: v = T t/I until it is there.
#[test]
fn a_velocity_servo_keeps_a_speed() {
    for integrator in SCHEMES {
        for (limit, end, wanted) in [(None, 0.1, 5.0), (Some(0.51), 2.0, 2.0), (Some(0.51), 6.0, 5.0)] {
            let target = Signal::Constant(5.0);
            let motor = Motor::Velocity { coordinate: 0, target, damping: 1e4, limit, compensate_gravity: false };
            let mut scene = arm(motor, integrator);
            scene.gravity = [0.0; 3];
            scene.time.end = end;
            let (simulation, _, _) = run(&scene);
            let v = simulation.state().v[0];
            assert!((v - wanted).abs() < 1e-9, "{integrator:?} {limit:?}: {v}");
        }
    }
}

/// One mass on a spring with a damper, with limits that it never meets.
fn oscillator(stiffness: f64, damping: f64, step: f64, integrator: Integrator) -> Scene {
    let body = Body { name: "m".into(), mass: Some(1.0), inertia: Some(vec![0.1; 3]), ..Body::default() };
    let joint = Joint {
        name: "x".into(),
        kind: JointKind::Prismatic,
        parent: GROUND.into(),
        child: "m".into(),
        q: Some(vec![1.0]),
        lower: Some(PerCoordinate::All(-1e9)),
        spring: Some(Spring { stiffness: PerCoordinate::All(stiffness), rest: None }),
        damping: Some(PerCoordinate::All(damping)),
        ..Joint::default()
    };
    let mut scene = Scene { body: vec![body], joint: vec![joint], ..Scene::default() };
    (scene.time.step, scene.time.end, scene.time.integrator) = (Some(step), 1.0, integrator);
    scene
}

/// Both schemes are of second order where nothing touches, on x(t) = e⁻ᵗ (cos ωt + sin ωt/ω) with ω² = k − 1.
#[test]
fn smooth_motion_is_of_second_order() {
    for integrator in SCHEMES {
        let error = |step: f64| {
            let (mut simulation, _, _) = run(&oscillator(26.0, 2.0, step, integrator));
            let exact = (-1.0_f64).exp() * (5.0_f64.cos() + 5.0_f64.sin() / 5.0);
            (joint_q(&mut simulation)[0] - exact).abs()
        };
        let order = (error(0.01) / error(0.005)).log2();
        assert!((1.8..2.3).contains(&order), "{integrator:?}: {order}");
    }
}

/// From resolved to hopeless: energy never grows, nothing rings, and where the spring is stiff it is at rest at once.
#[test]
fn any_stiffness_and_damping_is_stable() {
    for integrator in SCHEMES {
        for stiffness in [0.0, 1e-2, 1.0, 1e2, 1e4, 1e6, 1e8, 1e10] {
            for damping in [0.0, 1e-2, 1.0, 1e2, 1e4, 1e6, 1e8, 1e10] {
                let mut scene = oscillator(stiffness, damping, 0.01, integrator);
                scene.joint[0].v = Some(vec![1.0]);
                let start = 0.5 + 0.5 * stiffness;
                let (mut simulation, greatest, last) = run(&scene);
                let what = format!("{integrator:?} k {stiffness:e} d {damping:e}: {greatest:e} of {start:e}, {last:?}");
                // Symplectic steps keep an energy that differs from the true one by h ω/2 of it.
                let swing = 1.0 + (0.005 * stiffness.sqrt()).min(1.0) + 1e-9;
                assert!(greatest <= start * swing, "{what}");
                // What a step borrows of the motion that it starts with is at most h (d + h k)/2 v² (`dynamics/force/implicit.rs`).
                assert!(last.work == 0.0 && last.dissipated >= -0.005 * (damping + 0.01 * stiffness), "{what}");
                let q = joint_q(&mut simulation)[0];
                let z = 1e-4 * stiffness;
                if z >= 4.0 && damping <= stiffness * 0.01 {
                    assert!(q.abs() < 1e-3, "{what} {q}");
                }
                if damping >= 1e4 && stiffness <= 1.0 {
                    assert!((q - 1.0).abs() < 1e-2 && simulation.state().v[0].abs() < 1e-3, "{what} {q}");
                }
            }
        }
    }
}
