//! The one place where the command meets the engine: scene in, something that moves out.
//!
//! Until the model is compiled by the library this is a stand-in: every body flies freely as a point mass.

use signorini::record::{JointColumns, Motion};
use signorini::scene::{Finding, FindingKind, GROUND, Scene};
use signorini::state::State;
use signorini::step::{BodyMotion, Observation, StepReport};

/// Relative tolerance of the adaptive method where the scene gives none.
pub const DEFAULT_RTOL: f64 = 1e-9;

/// A mechanism ready to move, and what recording needs to know of it.
pub struct Built {
    /// It.
    pub motion: Engine,
    /// Names of the bodies, in scene order, the ground left out.
    pub bodies: Vec<String>,
    /// The joints, in scene order.
    pub joints: Vec<JointColumns>,
    /// Names of the markers, in scene order.
    pub markers: Vec<String>,
    /// What the user should know: loops that were closed, redundant constraints.
    pub findings: Vec<String>,
}

/// Puts the mechanism together, at the scene's start or at a given state.
pub fn build(scene: &Scene, _rtol: f64, _threads: usize, state: Option<State>) -> Result<Built, Vec<Finding>> {
    if !scene.joint.is_empty() {
        return Err(vec![Finding::new(FindingKind::NotYet, "joint", "joints do not act yet")]);
    }
    let bodies: Vec<_> = scene.body.iter().filter(|body| body.name != GROUND).collect();
    let start = || State {
        q: bodies.iter().flat_map(|body| body.position.unwrap_or_default()).collect(),
        v: bodies.iter().flat_map(|body| body.velocity.unwrap_or_default()).collect(),
        ..State::default()
    };
    let mass = bodies.iter().map(|body| body.mass.unwrap_or(1.0)).collect();
    let step = scene.time.step.unwrap_or(1e-3);
    let motion = Engine { state: state.unwrap_or_else(start), gravity: scene.gravity, mass, step };
    let names = bodies.iter().map(|body| body.name.clone()).collect();
    let markers = scene.output.marker.iter().map(|marker| marker.name.clone()).collect();
    Ok(Built { motion, bodies: names, joints: Vec::new(), markers, findings: Vec::new() })
}

/// What moves.
pub struct Engine {
    state: State,
    gravity: [f64; 3],
    mass: Vec<f64>,
    step: f64,
}

impl Engine {
    fn energies(&self) -> (f64, f64) {
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for (i, mass) in self.mass.iter().enumerate() {
            for k in 0..3 {
                kinetic += 0.5 * mass * self.state.v[3 * i + k].powi(2);
                potential -= mass * self.gravity[k] * self.state.q[3 * i + k];
            }
        }
        (kinetic, potential)
    }
}

impl Motion for Engine {
    type Error = String;

    fn state(&self) -> &State {
        &self.state
    }

    fn advance(&mut self, limit: f64) -> Result<StepReport, String> {
        let state = &mut self.state;
        let reaches = state.time + self.step >= limit;
        let h = if reaches { limit - state.time } else { self.step };
        for i in 0..state.q.len() {
            let g = self.gravity[i % 3];
            state.q[i] += h * (state.v[i] + 0.5 * h * g);
            state.v[i] += h * g;
            if !state.q[i].is_finite() {
                return Err(format!("coordinate {i} is not finite"));
            }
        }
        state.time = if reaches { limit } else { state.time + h };
        state.steps += 1;
        let (time, (kinetic, potential)) = (state.time, self.energies());
        Ok(StepReport { time, step: h, evaluations: 1, kinetic, potential, ..StepReport::default() })
    }

    fn observe(&mut self, _forces: bool, out: &mut Observation) {
        (out.kinetic, out.potential) = self.energies();
        let state = &self.state;
        let three = |values: &[f64], i: usize| [values[3 * i], values[3 * i + 1], values[3 * i + 2]];
        out.time = state.time;
        out.bodies = (0..self.mass.len())
            .map(|i| BodyMotion {
                position: three(&state.q, i),
                orientation: [1.0, 0.0, 0.0, 0.0],
                velocity: three(&state.v, i),
                angular_velocity: [0.0; 3],
            })
            .collect();
    }
}

/// What `check` prints: pairs of what and how much.
pub fn describe(scene: &Scene) -> Result<Vec<(String, String)>, Vec<Finding>> {
    let built = build(scene, DEFAULT_RTOL, 1, None)?;
    let (kinetic, potential) = built.motion.energies();
    Ok(vec![
        ("bodies".to_owned(), built.bodies.len().to_string()),
        ("total mass".to_owned(), built.motion.mass.iter().sum::<f64>().to_string()),
        ("initial energy".to_owned(), format!("{kinetic} kinetic, {potential} potential")),
    ])
}

/// A chain of so many revolute links with alternating axes.
pub fn chain(links: usize) -> Scene {
    use signorini::scene::{Body, FrameRef, Joint, JointKind};
    let name = |i: usize| format!("link{i}");
    let body = |i| Body { name: name(i), mass: Some(1.0), inertia: Some(vec![0.1; 3]), ..Body::default() };
    let frame = |x| Some(FrameRef::Pose { position: [x, 0.0, 0.0], orientation: None });
    let joint = |i: usize| Joint {
        name: format!("joint{i}"),
        kind: JointKind::Revolute,
        parent: if i == 0 { GROUND.to_owned() } else { name(i - 1) },
        child: name(i),
        parent_frame: frame(if i == 0 { 0.0 } else { 0.5 }),
        child_frame: frame(-0.5),
        axis: Some([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]][i % 2]),
        q: Some(vec![0.3]),
        ..Joint::default()
    };
    let (body, joint) = ((0..links).map(body).collect(), (0..links).map(joint).collect());
    Scene { gravity: [0.0, 0.0, -9.81], body, joint, ..Scene::default() }
}

/// Forward dynamics of one mechanism at one state, again and again.
pub struct Evaluator {
    engine: Engine,
}

impl Evaluator {
    /// Evaluates the accelerations once.
    pub fn evaluate(&mut self) {
        std::hint::black_box(self.engine.energies());
    }

    /// Number of bodies.
    pub fn n_bodies(&self) -> usize {
        self.engine.mass.len()
    }
}

/// Makes ready what is to be timed.
pub fn evaluator(scene: &Scene) -> Result<Evaluator, Vec<Finding>> {
    build(scene, DEFAULT_RTOL, 1, None).map(|built| Evaluator { engine: built.motion })
}
