//! Steps do not know which formulation runs: one that hands everything on to another has its bits.

use crate::dynamics::DUMMY;
use crate::scene::read::read_str;
use crate::step::{Options, Simulation, build};

/// A loop, a gear, contact, a limit and a lock: everything that asks a formulation for something.
const SCENE: &str = r#"
    gravity = [0, 0, -10]
    time = { end = 1, step = 0.01 }
    material = [{ name = "rough", friction = 0.4 }]
    body = [
        { name = "ground", shape = [{ kind = "half-space", material = "rough" }] },
        { name = "a", mass = 1, inertia = [1, 1, 1] },
        { name = "b", mass = 1, inertia = [1, 1, 1] },
        { name = "ball", mass = 1, inertia = [1, 1, 1], position = [0, 3, 0.55], velocity = [1, 0, 0],
          shape = [{ kind = "sphere", radius = 0.5, material = "rough" }] },
    ]
    joint = [
        { name = "one", kind = "revolute", parent = "ground", child = "a", axis = [0, 1, 0], v = [1], upper = 0.2 },
        { name = "two", kind = "revolute", parent = "ground", child = "b", axis = [0, 1, 0] },
    ]
    coupling = [
        { name = "gear", kind = "coupler", joints = ["one", "two"], ratios = [1, 2] },
        { name = "rod", kind = "distance", a = { body = "ground", point = [0, 3, 4] }, b = { body = "ball" }, absent = true },
    ]
    event = [{ name = "catch", kind = "engage", coupling = "rod", time = 0.1 }]
"#;

#[test]
fn another_name_for_the_recursion_has_its_bits() {
    let scene = read_str(SCENE, "scene.toml", "").unwrap_or_else(|e| panic!("{e}"));
    let Ok(built) = build(&scene) else { panic!("the scene is a mechanism") };
    let start = |formulation| {
        let options = Options { formulation, ..Options::from_scene(&scene) };
        Simulation::new(built.model.clone(), built.plan.clone(), options, built.state.clone())
    };
    let (Ok(mut one), Ok(mut other)) = (start(scene.solver.formulation), start(DUMMY)) else { panic!("both run") };
    for _ in 0..60 {
        let (a, b) = (one.advance(1.0), other.advance(1.0));
        assert!(a.is_ok() && b.is_ok());
        assert_eq!(one.state(), other.state());
    }
}
