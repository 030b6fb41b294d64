//! Contact: the same bits on any number of threads, and from runs that are stopped, stored as text and taken up again on another number of
//! them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::*;
use signorini::plan::Shape as Clusters;
use signorini::scene::*;
use signorini::state::State;
use signorini::step::{Options, Simulation, build};

const NONE: Extras = Extras { fittings: false, motions: false };

fn shape(geometry: Geometry, position: [f64; 3]) -> Shape {
    let material = Some("m".into());
    Shape { geometry, position, orientation: None, density: None, material, surface_velocity: None }
}

/// A floor at a height, and a material for it.
fn add_floor(scene: &mut Scene, height: f64, restitution: f64) {
    let (friction, restitution) = (Some(0.4.into()), Some(restitution));
    scene.material.push(Material { name: "m".into(), friction, restitution, ..Default::default() });
    let floor = shape(Geometry::HalfSpace, [0.0, 0.0, height]);
    scene.body.push(Body { name: GROUND.into(), shape: vec![floor], ..Default::default() });
    (scene.time.step, scene.time.end) = (Some(1e-3), 1.0);
}

/// Balls and boxes that fall onto each other.
fn pile() -> Scene {
    let mut scene = Scene { gravity: [0.0, 0.0, -9.81], ..Default::default() };
    add_floor(&mut scene, 0.0, 0.3);
    let mut rng = Rng(5);
    for i in 0..6 {
        let geometry =
            if i % 2 == 0 { Geometry::Sphere { radius: 0.1 } } else { Geometry::Box { size: [0.2, 0.15, 0.12] } };
        let [x, y, _] = rng.vector(0.05);
        scene.body.push(Body {
            name: format!("b{i}"),
            position: Some([x, y, 0.11 + 0.21 * i as f64]),
            velocity: Some(rng.vector(0.5)),
            angular_velocity: Some(rng.vector(1.0)),
            shape: vec![Shape { density: Some(1000.0), ..shape(geometry, [0.0; 3]) }],
            ..Default::default()
        });
    }
    scene
}

/// A hanging chain, a ball at every n-th link, in a floor that some of them have just reached; limits and dry friction in its first joints.
fn chain_on_floor(n: usize, every: usize, restitution: f64) -> Scene {
    let mut scene = chain(n);
    scene.joint.iter_mut().for_each(|j| (j.q, j.v) = (j.q.as_ref().map(|q| vec![3.0 * q[0]]), None));
    let lowest = initial_poses(&scene).iter().step_by(every).map(|p| p.translation.z).fold(f64::INFINITY, f64::min);
    for joint in &mut scene.joint[..3] {
        joint.lower = Some(PerCoordinate::All(joint.q.as_ref().unwrap()[0] - 1e-4));
        joint.friction = Some(PerCoordinate::All(0.3));
    }
    let ball = Geometry::Sphere { radius: 0.05 };
    scene.body.iter_mut().step_by(every).for_each(|b| b.shape.push(shape(ball.clone(), [0.0; 3])));
    add_floor(&mut scene, lowest - 0.05, restitution);
    scene
}

/// A large tree with loops, balls on some of its bodies, and a floor that two of them have reached.
fn loops(n: usize) -> Scene {
    let mut rng = Rng(4);
    let mut scene = random_tree(&mut rng, n, 0.3, &[JointKind::Spherical, JointKind::Universal], NONE);
    scene.gravity = [0.0, 0.0, -9.81];
    // From rest, so that everything falls.
    scene.joint.iter_mut().for_each(|j| j.v = None);
    scene.body.iter_mut().for_each(|b| (b.velocity, b.angular_velocity) = (None, None));
    let ends = [format!("b{}", 2 * n / 3), format!("b{}", n / 2)];
    close_loop(&mut rng, &mut scene, "loop", JointKind::Spherical, (&ends[0], "b7"), NONE);
    close_loop(&mut rng, &mut scene, "other", JointKind::Universal, (&ends[1], "b3"), NONE);
    let mut heights: Vec<f64> = initial_poses(&scene).iter().step_by(n / 12).map(|p| p.translation.z).collect();
    heights.sort_by(f64::total_cmp);
    for body in scene.body.iter_mut().step_by(n / 12) {
        body.shape.push(shape(Geometry::Sphere { radius: 0.1 }, [0.0; 3]));
    }
    add_floor(&mut scene, heights[1] - 0.1, 0.2);
    scene
}

struct Case {
    scene: Scene,
    formulation: Formulation,
    clusters: Clusters,
    steps: usize,
    /// Steps after which a run is stopped and taken up again.
    stop: usize,
}

impl Case {
    fn start(&self, state: Option<&str>) -> Simulation {
        let built = build(&self.scene).unwrap();
        let state = state.map_or(built.state, |text| serde_json::from_str::<State>(text).unwrap());
        // Bodies that overlap deeply in a mechanism may be wedged; bits are bits.
        let policy = Policy::Accept;
        let options = Options { formulation: self.formulation, policy, ..Options::from_scene(&self.scene) };
        let mut simulation = Simulation::new(built.model, built.plan, options, state).unwrap();
        simulation.set_shape(self.clusters);
        simulation
    }

    /// Every state and what pushed, as text that tells every bit; how often something pushed.
    fn run(&self, threads: usize) -> (Vec<String>, usize) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut pushed = 0;
        let states = pool.install(|| {
            let mut simulation = self.start(None);
            let step = |_| {
                simulation.advance(1.0).unwrap();
                pushed += simulation.contacts().iter().filter(|c| c.impulse[0] > 0.0).count();
                let (contacts, pushes) = (simulation.contacts(), simulation.joint_constraint_forces());
                format!("{} {contacts:?} {pushes:?}", serde_json::to_string(simulation.state()).unwrap())
            };
            (0..self.steps).map(step).collect()
        });
        (states, pushed)
    }

    /// The same, stopped and taken up again on one and two threads more in turn.
    fn run_in_parts(&self) -> Vec<String> {
        let pools = [1, 2, 4].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
        let (mut states, mut stored) = (Vec::new(), None);
        for (part, start) in (0..self.steps).step_by(self.stop).enumerate() {
            pools[part % 3].install(|| {
                let mut simulation = self.start(stored.as_deref());
                for _ in start..(start + self.stop).min(self.steps) {
                    simulation.advance(1.0).unwrap();
                    let (contacts, pushes) = (simulation.contacts(), simulation.joint_constraint_forces());
                    let state = serde_json::to_string(simulation.state()).unwrap();
                    states.push(format!("{state} {contacts:?} {pushes:?}"));
                    stored = Some(state);
                }
            });
        }
        states
    }

    fn check(&self) {
        let what = format!("{:?} {:?}, {} bodies", self.formulation, self.clusters, self.scene.body.len());
        let (one, pushed) = self.run(1);
        assert!(pushed > 3, "{what}: {pushed} pushes");
        let same = |other: &[String], how: &str| {
            assert_eq!(one.len(), other.len());
            let first = one.iter().zip(other).position(|(a, b)| a != b);
            assert!(first.is_none(), "{what}, {how}: step {}", first.unwrap());
        };
        for threads in [2, 4] {
            same(&self.run(threads).0, &format!("{threads} threads"));
        }
        same(&self.run_in_parts(), "in parts");
    }
}

/// Clusters of at least 192 links run side by side; these have several.
const SHAPES: [Clusters; 3] = [Clusters::Balanced, Clusters::Blocked(200), Clusters::Auto];

#[test]
fn free_bodies() {
    for integrator in [Integrator::StewartTrinkle, Integrator::Moreau] {
        for formulation in [Formulation::Recursive, Formulation::Dca] {
            let mut scene = pile();
            scene.time.integrator = integrator;
            Case { scene, formulation, clusters: Clusters::Auto, steps: 300, stop: 37 }.check();
        }
    }
}

#[test]
fn mechanisms_by_the_recursion() {
    for integrator in [Integrator::StewartTrinkle, Integrator::Moreau] {
        for mut scene in [chain_on_floor(12, 1, 0.3), chain_on_floor(60, 3, 0.0), loops(60)] {
            scene.time.integrator = integrator;
            let (formulation, clusters) = (Formulation::Recursive, Clusters::Auto);
            Case { scene, formulation, clusters, steps: 60, stop: 7 }.check();
        }
    }
}

#[test]
fn chains_by_clusters() {
    for clusters in SHAPES {
        let (scene, formulation) = (chain_on_floor(1000, 50, 0.0), Formulation::Dca);
        Case { scene, formulation, clusters, steps: 12, stop: 5 }.check();
    }
}

#[test]
fn loops_by_clusters() {
    for clusters in SHAPES {
        let (scene, formulation) = (loops(600), Formulation::Dca);
        Case { scene, formulation, clusters, steps: 12, stop: 5 }.check();
    }
}
