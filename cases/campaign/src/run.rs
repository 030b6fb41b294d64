//! A scene run to its end, and what was seen of it.

use crate::math::{rotation, vector};
use nalgebra::Vector3;
use signorini::scene::read::read_str;
use signorini::scene::{GROUND, Scene};
use signorini::step::{Observation, Simulation, StepError, StepReport};

/// Where the files that scenes name are.
pub const FILES: &str = env!("CARGO_MANIFEST_DIR");

/// A body at an instant: its centre of mass, two of its axes, and how it moves.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    /// Centre of mass.
    pub at: Vector3<f64>,
    /// The body's y and z axes.
    pub axes: [Vector3<f64>; 2],
    /// Velocity of the centre of mass.
    pub velocity: Vector3<f64>,
    /// Angular velocity.
    pub spin: Vector3<f64>,
}

/// Everything at one instant.
#[derive(Debug, Clone)]
pub struct Instant {
    /// Time.
    pub time: f64,
    /// The bodies, in the order of the scene, the ground left out.
    pub bodies: Vec<Placed>,
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy.
    pub potential: f64,
    /// Linear momentum, and angular momentum about the origin.
    pub momentum: [Vector3<f64>; 2],
}

/// Why a run ended early.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// It did not.
    Whole,
    /// A contact problem was not solved.
    Unsolved(String),
    /// Anything else.
    Stopped(String),
}

/// A run.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The start, and the end of every step.
    pub instants: Vec<Instant>,
    /// One for each step.
    pub reports: Vec<StepReport>,
    /// How it ended.
    pub end: End,
    /// Mass of all bodies.
    pub mass: f64,
}

/// A scene as text, as users write it.
pub fn text(scene: &Scene) -> Result<String, String> {
    toml::to_string(scene).map_err(|error| error.to_string())
}

/// A scene that was read from its text, so that nothing is judged that cannot be written down. Files are looked for in [`FILES`].
pub fn through_text(scene: &Scene) -> Result<Scene, String> {
    read_str(&text(scene)?, "scene.toml", FILES).map_err(|error| error.to_string())
}

/// Runs a scene as its text says it, so that geometry is read anew where something was changed; an error where it is refused.
pub fn run(scene: &Scene) -> Result<Trace, String> {
    let scene = &through_text(scene)?;
    let mut simulation = Simulation::from_scene(scene).map_err(|error| error.to_string())?;
    let mass = simulation.system().model.mass();
    let mut trace = Trace { instants: Vec::new(), reports: Vec::new(), end: End::Whole, mass };
    let mut seen = Observation::default();
    trace.instants.push(look(&mut simulation, &mut seen).map_err(|error| error.to_string())?);
    let end = scene.time.end;
    // A run that is cut short by an error of rounding in the time still ends.
    while simulation.state().time < end * (1.0 - 1e-12) {
        let instant = simulation.advance(end).and_then(|report| Ok((report, look(&mut simulation, &mut seen)?)));
        match instant {
            Ok((report, instant)) => {
                if report.is_unsolved {
                    trace.end = End::Unsolved(format!("at t = {}: residual {:.1e}", report.time, report.residual.rel));
                    break;
                }
                trace.reports.push(report);
                trace.instants.push(instant);
            }
            Err(error @ StepError::Unsolved { .. }) => {
                trace.end = End::Unsolved(error.to_string());
                break;
            }
            Err(error) => {
                trace.end = End::Stopped(error.to_string());
                break;
            }
        }
    }
    Ok(trace)
}

fn look(simulation: &mut Simulation, seen: &mut Observation) -> Result<Instant, StepError> {
    simulation.observe(false, seen)?;
    let momentum = simulation.momentum()?;
    let bodies = seen.bodies.iter().map(|b| {
        let turn = rotation(Some(b.orientation));
        Placed {
            at: vector(b.position),
            axes: [turn * Vector3::y(), turn * Vector3::z()],
            velocity: vector(b.velocity),
            spin: vector(b.angular_velocity),
        }
    });
    Ok(Instant {
        time: seen.time,
        bodies: bodies.collect(),
        kinetic: seen.kinetic,
        potential: seen.potential,
        momentum: [momentum.force, momentum.moment].map(|v| Vector3::new(v[0], v[1], v[2])),
    })
}

impl Trace {
    /// The fastest turning of any body.
    pub fn fastest_spin(&self) -> f64 {
        let spins = self.instants.iter().flat_map(|i| &i.bodies).map(|b| b.spin.norm());
        spins.fold(0.0, f64::max)
    }

    /// Names of the bodies that are seen.
    pub fn names(scene: &Scene) -> Vec<String> {
        scene.body.iter().filter(|b| b.name != GROUND).map(|b| b.name.clone()).collect()
    }
}
