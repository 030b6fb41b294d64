//! Classical benchmarks against independent answers in `cases/`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::scene::*;
use signorini::spatial::Wrench;
use signorini::step::{Observation, Simulation};
use std::path::Path;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Largest |E − E₀ − work + dissipated| over the largest |kinetic| + |potential change|, and largest loop drifts.
#[derive(Default)]
struct Audit {
    start: Option<(f64, f64)>,
    imbalance: f64,
    scale: f64,
    loop_position: f64,
    loop_velocity: f64,
}

impl Audit {
    fn see(&mut self, simulation: &mut Simulation) {
        let mut seen = Observation::default();
        simulation.observe(false, &mut seen).unwrap();
        let (k0, p0) = *self.start.get_or_insert((seen.kinetic, seen.potential));
        let state = simulation.state();
        let imbalance = seen.kinetic + seen.potential - k0 - p0 - state.work + state.dissipated;
        self.imbalance = self.imbalance.max(imbalance.abs());
        self.scale = self.scale.max(seen.kinetic + (seen.potential - p0).abs());
    }

    fn run(&mut self, simulation: &mut Simulation, end: f64) {
        self.see(simulation);
        while simulation.state().time < end {
            let report = simulation.advance(end).unwrap();
            self.loop_position = self.loop_position.max(report.loop_position);
            self.loop_velocity = self.loop_velocity.max(report.loop_velocity);
            self.see(simulation);
        }
    }

    fn drift(&self) -> f64 {
        self.imbalance / self.scale
    }
}

/// N windows of uniform rods of mass and length one, cranks upright, the first pin moving with one metre per second.
fn n_four_bar(n: usize) -> Scene {
    let mut scene = Scene { gravity: [0.0, -9.81, 0.0], ..Default::default() };
    (scene.time.end, scene.time.rtol) = (10.0, Some(1e-11));
    let rod = |name: String, com: [f64; 3]| {
        let across = 1.0 / 12.0;
        let inertia = com.map(|x| if x == 0.0 { across } else { 1e-4 });
        Body { name, mass: Some(1.0), com: Some(com), inertia: Some(inertia.to_vec()), ..Default::default() }
    };
    let pin = |name: String, parent: String, child: String, on_parent: [f64; 3], on_child: [f64; 3], v: f64| {
        let frame = |position| Some(FrameRef::Pose { position, orientation: None });
        Joint {
            name,
            kind: JointKind::Revolute,
            parent,
            child,
            parent_frame: frame(on_parent),
            child_frame: frame(on_child),
            axis: Some([0.0, 0.0, -1.0]),
            q: Some(vec![0.0]),
            v: Some(vec![v]),
            ..Default::default()
        }
    };
    for i in 0..=n {
        scene.body.push(rod(format!("crank{i}"), [0.0, 0.5, 0.0]));
        let at = [i as f64, 0.0, 0.0];
        scene.joint.push(pin(format!("theta{i}"), GROUND.into(), format!("crank{i}"), at, [0.0; 3], 1.0));
    }
    for i in 0..n {
        scene.body.push(rod(format!("coupler{i}"), [0.5, 0.0, 0.0]));
        let (tip, end) = ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0]);
        let coupler = format!("coupler{i}");
        scene.joint.push(pin(format!("left{i}"), format!("crank{i}"), coupler.clone(), tip, [0.0; 3], -1.0));
        scene.joint.push(pin(format!("right{i}"), coupler, format!("crank{}", i + 1), end, tip, 1.0));
    }
    scene
}

/// Ten seconds through all singular positions, against the pendulum that the mechanism is on its branch.
#[test]
fn n_four_bar_passes_its_singular_positions() {
    let text = std::fs::read_to_string(root().join("cases/n_four_bar.json")).unwrap();
    let case: serde_json::Value = serde_json::from_str(&text).unwrap();
    for run in case["runs"].as_array().unwrap() {
        let n = run["N"].as_u64().unwrap() as usize;
        let mut simulation = Simulation::from_scene(&n_four_bar(n)).unwrap();
        let mut audit = Audit::default();
        audit.run(&mut simulation, 10.0);
        let mut seen = Observation::default();
        simulation.observe(false, &mut seen).unwrap();
        let (theta, omega) = (run["theta_10"].as_f64().unwrap(), run["omega_10"].as_f64().unwrap());
        println!(
            "N = {n}: {} steps, energy {:.1e}, angle {:.1e}, loops {:.1e} {:.1e}",
            simulation.state().steps,
            audit.drift(),
            seen.joint_q[0] - theta,
            audit.loop_position,
            audit.loop_velocity
        );
        // Every crank on the branch: all angles equal, none fallen over into a bow tie.
        for i in 0..=n {
            assert!((seen.joint_q[i] - theta).abs() < 1e-6, "N = {n}, crank {i}: {} {theta}", seen.joint_q[i]);
            assert!((seen.joint_v[i] - omega).abs() < 1e-5, "N = {n}, crank {i}: {} {omega}", seen.joint_v[i]);
        }
        assert!(audit.drift() < 1e-6 && audit.loop_position < 1e-10 && audit.loop_velocity < 1e-10);
        assert!(simulation.state().steps < 20_000, "stalled");
    }
}

/// Andrews' squeezer at 0.03 s: 1e-6 against the published angles, 1e-8 against the more accurate ones.
#[test]
fn andrews_squeezer() {
    let text = std::fs::read_to_string(root().join("cases/andrews.json")).unwrap();
    let case: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut scene = read::read(root().join("scenes/andrews/scene.toml")).unwrap();
    scene.time.rtol = Some(1e-12);
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    while simulation.state().time < 0.03 {
        simulation.advance(0.03).unwrap();
    }
    let mut seen = Observation::default();
    simulation.observe(false, &mut seen).unwrap();
    let names = ["beta", "theta", "gamma", "phi", "delta", "omega", "epsilon"];
    let model = &simulation.system().model;
    let row = case["t"].as_array().unwrap().iter().position(|t| t.as_f64() == Some(0.03)).unwrap();
    for (k, name) in names.iter().enumerate() {
        let joint = model.joints().iter().find(|j| j.name == *name).unwrap();
        let found = seen.joint_q[joint.q.start];
        let published = case["published_at_0.03"][k].as_f64().unwrap();
        let computed = case["columns"][format!("{name}.q0")][row].as_f64().unwrap();
        println!("{name}: {:.1e} from the published angle, {:.1e} from ours", found - published, found - computed);
        assert!((found - published).abs() < 1e-6 && (found - computed).abs() < 1e-8, "{name}: {found}");
    }
}

/// A torque-free box about its intermediate axis: energy and angular momentum over ten seconds.
#[test]
fn tumbling_box_keeps_its_momentum() {
    let mut scene = read::read(root().join("scenes/tumbling-box/scene.toml")).unwrap();
    scene.time.rtol = Some(1e-13);
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let momentum = |simulation: &mut Simulation| -> Wrench { simulation.momentum().unwrap() };
    let start = momentum(&mut simulation);
    let mut audit = Audit::default();
    let mut worst = 0.0_f64;
    audit.see(&mut simulation);
    while simulation.state().time < 10.0 {
        simulation.advance(10.0).unwrap();
        audit.see(&mut simulation);
        worst = worst.max((momentum(&mut simulation).moment - start.moment).norm() / start.moment.norm());
    }
    println!("energy {:.1e}, angular momentum {worst:.1e}", audit.drift());
    assert!(audit.drift() < 1e-11 && worst < 1e-11);
}

/// The free spatial double pendulum of the bundled scene at rtol 1e-11.
#[test]
fn double_pendulum_keeps_its_energy() {
    let mut scene = read::read(root().join("scenes/double-pendulum/scene.toml")).unwrap();
    scene.time.rtol = Some(1e-11);
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let mut audit = Audit::default();
    audit.run(&mut simulation, 10.0);
    println!("energy {:.1e}", audit.drift());
    assert!(audit.drift() < 1e-9);
}
