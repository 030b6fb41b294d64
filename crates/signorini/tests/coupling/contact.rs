//! Couplings together with contact, limits and dry friction in one step.

use super::common::*;
use super::*;
use signorini::scene::*;

/// Speeds and positions of all bodies after some steps, by each formulation.
fn after(scene: &Scene, n_steps: usize) -> Vec<Vec<f64>> {
    let finish = |formulation| {
        let mut simulation = simulation(scene, formulation);
        let mut touched = 0;
        for _ in 0..n_steps {
            let report = simulation.advance(1e3).unwrap();
            touched += report.contacts + simulation.joint_constraint_forces().len() as u32;
            assert!(report.residual.rel < 1e-9, "{:e}", report.residual.rel);
        }
        assert!(touched > 0, "nothing pushes");
        let seen = observe(&mut simulation);
        for c in &seen.couplings {
            // Steps with contact close loops by the manifold, too.
            assert!(c.gap.abs() < 1e-12 && c.rate.abs() < 1e-10, "{formulation:?}: {c:?}");
        }
        seen.bodies.iter().flat_map(|b| [b.position, b.velocity, b.angular_velocity].concat()).collect()
    };
    FORMULATIONS.map(finish).to_vec()
}

fn agree(scene: &Scene, n_steps: usize) {
    let found = after(scene, n_steps);
    // Every step solves to 1e-12, and motion with contact amplifies that.
    let (dca, dense) = (difference(&found[1], &found[0]), difference(&found[2], &found[0]));
    assert!(dca < 1e-7 && dense < 1e-7, "{dca:e} {dense:e}");
}

/// A weight on a rack falls on the floor and stops the flywheel that it drives.
const WEIGHT: &str = r#"
    gravity = [0, 0, -10]
    time = { end = 1, step = 0.01 }
    material = [{ name = "rough", friction = 0.4 }]
    [[body]]
    name = "ground"
    shape = [{ material = "rough", kind = "half-space" }]
    [[body]]
    name = "weight"
    mass = 2
    inertia = [0.1, 0.1, 0.1]
    shape = [{ material = "rough", kind = "box", size = [0.2, 0.2, 0.2] }]
    [[body]]
    name = "wheel"
    mass = 1
    inertia = [0.2, 0.2, 0.2]
    [[joint]]
    name = "rail"
    kind = "planar"
    axis = [0, 1, 0]
    parent = "ground"
    child = "weight"
    parent_frame = { position = [0, 0, 0.2] }
    v = [0.5, 0, 0]
    [[joint]]
    name = "axle"
    kind = "revolute"
    axis = [0, 1, 0]
    parent = "ground"
    child = "wheel"
    parent_frame = { position = [0, 0, 2] }
    friction = 0.05
    [[coupling]]
    name = "rack"
    kind = "coupler"
    joints = ["rail", "axle"]
    coordinates = [1, 0]
    ratios = [1, 0.3]
"#;

#[test]
fn a_geared_weight_falls_on_the_floor() {
    agree(&scene(WEIGHT), 60);
}

/// A body that hangs on two rods swings over the floor and drags a block by a link; rods, link and contact act in one step.
#[test]
fn rods_and_contact() {
    let text = r#"
        gravity = [0, 0, -10]
        time = { end = 1, step = 0.01 }
        material = [{ name = "rough", friction = 0.3 }]
        [[body]]
        name = "ground"
        shape = [{ material = "rough", kind = "half-space", position = [0, 0, -1.2] }]
        [[body]]
        name = "swing"
        mass = 1
        inertia = [0.05, 0.05, 0.05]
        position = [0.6, 0, -0.8]
        shape = [{ material = "rough", kind = "sphere", radius = 0.2 }]
        [[body]]
        name = "block"
        mass = 1.5
        inertia = [0.05, 0.05, 0.05]
        position = [0, 0, -1.0]
        shape = [{ material = "rough", kind = "box", size = [0.4, 0.4, 0.4] }]
        [[coupling]]
        name = "left"
        kind = "distance"
        a = { body = "ground", point = [0, -0.3, 0] }
        b = { body = "swing", point = [0, -0.1, 0] }
        [[coupling]]
        name = "right"
        kind = "distance"
        a = { body = "ground", point = [0, 0.3, 0] }
        b = { body = "swing", point = [0, 0.1, 0] }
        [[coupling]]
        name = "tether"
        kind = "revolute-spherical"
        a = { body = "swing", point = [0, 0, 0.1] }
        axis = [0, 1, 0]
        b = { body = "block", point = [0, 0, 0.2] }
    "#;
    agree(&scene(text), 50);
}

/// Random geared chains with limits and dry friction in the coupled joints.
#[test]
fn limits_and_friction_of_coupled_joints() {
    for seed in 0..6 {
        let mut rng = Rng(seed);
        let none = Extras { fittings: false, motions: false };
        let mut scene = random_tree(&mut rng, 5, 0.2, &[JointKind::Revolute, JointKind::Cylindrical], none);
        for joint in &mut scene.joint {
            let q = joint.q.clone().unwrap();
            joint.upper = Some(PerCoordinate::Each(q.iter().map(|q| q + 0.05).collect()));
            joint.friction = Some(PerCoordinate::All(0.1));
        }
        let names: Vec<String> = scene.joint.iter().map(|j| j.name.clone()).collect();
        let (joints, ratios) = (names[names.len() - 2..].to_vec(), vec![1.0, -0.6]);
        let kind = CouplingKind::Coupler { joints, coordinates: None, ratios, offset: None };
        scene.coupling.push(Coupling { name: "gear".into(), kind, absent: false, breaks: None });
        scene.time.step = Some(0.005);
        agree(&scene, 20);
    }
}
