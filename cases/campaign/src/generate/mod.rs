//! Scenes from seeds: everyday ones and nasty ones.
//!
//! A seed names a scene for ever, so nothing here may depend on the engine's answers. What judges a scene reads the scene alone
//! ([`crate::facts`]), so a scene that was cut down, or written by hand, is judged by the same rules.

mod free;
mod ground;
mod linked;
mod machine;
mod shapes;

use crate::random::Random;
use signorini::scene::{Body, GROUND, Material, Scene, Time};

/// What scenes there are, by the seed's remainder.
pub const FAMILIES: [&str; 12] =
    ["throw", "pile", "stack", "chain", "balls", "loop", "space", "grasp", "overlap", "tree", "machine", "row"];

/// The name of the only surface material.
const SURFACE: &str = "surface";

/// The scene of a seed, with its family as title.
pub fn scene(seed: u64) -> Scene {
    let family = FAMILIES[(seed % FAMILIES.len() as u64) as usize];
    let mut draft = Draft::new(seed, family);
    match family {
        "throw" => free::throw(&mut draft),
        "pile" => free::pile(&mut draft),
        "stack" => free::stack(&mut draft),
        "balls" => free::balls(&mut draft),
        "space" => free::space(&mut draft),
        "overlap" => free::overlap(&mut draft),
        "row" => free::row(&mut draft),
        "chain" => linked::chain(&mut draft),
        "tree" => linked::tree(&mut draft),
        "loop" => linked::ring(&mut draft),
        "grasp" => machine::grasp(&mut draft),
        _ => machine::arm(&mut draft),
    }
    draft.scene
}

/// A scene that is being written.
struct Draft {
    random: Random,
    scene: Scene,
    /// A typical length.
    size: f64,
    /// The time that the scene lasts.
    end: f64,
}

impl Draft {
    fn new(seed: u64, family: &str) -> Self {
        let mut random = Random::new(seed);
        let size = random.decades(0.03, 3.0);
        let h = random.decades(1e-4, 1e-2);
        let n_steps = random.count(40, 160);
        let end = n_steps as f64 * h;
        let friction = if random.chance(0.25) { 0.0 } else { random.between(0.0, 1.2) };
        let restitution = random.pick(&[0.0, 0.0, 0.3, 0.6, 0.9, 1.0]);
        let scene = Scene {
            title: Some(family.to_owned()),
            gravity: [0.0, 0.0, -9.81],
            time: Time { end, step: Some(h), ..Time::default() },
            material: vec![Material {
                name: SURFACE.to_owned(),
                friction: Some(friction.into()),
                restitution: Some(restitution),
                ..Material::default()
            }],
            ..Scene::default()
        };
        Self { random, scene, size, end }
    }

    /// A speed of up to so many sizes per second.
    fn speed(&mut self, most: f64) -> f64 {
        self.size * self.random.decades(0.1, most)
    }

    /// A mass, one kilogram in the middle.
    fn mass(&mut self, ratio: f64) -> f64 {
        let half = ratio.sqrt();
        self.random.decades(1.0 / half, half)
    }

    fn add(&mut self, body: Body) {
        self.scene.body.push(body);
    }

    /// The path of something that starts with a speed downwards and falls, in a part of the time that the scene lasts.
    fn fall(&mut self, speed: f64) -> f64 {
        let t = self.end * self.random.between(0.0, 0.4);
        speed * t + 4.9 * t * t
    }
}

/// A body without shapes.
fn body(name: impl Into<String>) -> Body {
    Body { name: name.into(), ..Body::default() }
}

/// The ground.
fn ground() -> Body {
    body(GROUND)
}
