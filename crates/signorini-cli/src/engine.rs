//! The one place where the command meets the engine: scenes described and timed.

use crate::describe;
use crate::describe_contact::contact;
use signorini::plan::{Elimination, Shape};
use signorini::scene::{Body, Finding, FindingKind, FrameRef, GROUND, Joint, JointKind, Scene};
use signorini::step::{Assembly, BuildError, Observation, Options, Simulation, StepError};

/// Puts the mechanism together, at the scene's start.
fn build(scene: &Scene) -> Result<(Simulation, Assembly), Vec<Finding>> {
    let built = signorini::step::build(scene).map_err(|error| match error {
        BuildError::Model(error) => error.0,
        BuildError::Step(error) => vec![finding(&error)],
    })?;
    let mut simulation = Simulation::new(built.model, built.plan, Options::from_scene(scene), built.state)
        .map_err(|error| vec![finding(&error)])?;
    // What cannot be evaluated where it stands is wrong with the scene, not with a step.
    simulation.accelerations(&mut Vec::new()).map_err(|error| vec![finding(&error)])?;
    Ok((simulation, built.assembly))
}

fn finding(error: &StepError) -> Finding {
    let key = if let StepError::Setting { key, .. } = error { key } else { "" };
    Finding::new(FindingKind::Mechanism, key, error.to_string())
}

/// What `check` prints: pairs of what and how much.
pub fn describe(scene: &Scene) -> Result<Vec<(String, String)>, Vec<Finding>> {
    let (mut simulation, assembly) = build(scene)?;
    let mut seen = Observation::default();
    simulation.observe(false, &mut seen).map_err(|error| vec![finding(&error)])?;
    let system = simulation.system();
    let (model, plan, assembly) = (&system.model, &system.plan, &assembly);
    let mut kinds: Vec<(JointKind, usize)> = Vec::new();
    for joint in model.joints().iter().filter(|joint| !joint.is_absent) {
        match kinds.iter_mut().find(|(kind, _)| *kind == joint.kind()) {
            Some((_, n)) => *n += 1,
            None => kinds.push((joint.kind(), 1)),
        }
    }
    let kinds: Vec<String> = kinds.iter().map(|(kind, n)| format!("{n} {}", kind.name())).collect();
    let n_present = model.joints().iter().filter(|joint| !joint.is_absent).count();
    let n_absent = model.joints().len() - n_present;
    let mut lines = vec![
        ("bodies", model.bodies().len().to_string()),
        ("total mass", model.mass().to_string()),
        ("joints", format!("{n_present} ({})", kinds.join(", "))),
        ("floating", format!("{} mechanisms without a joint to the ground", plan.n_floating())),
        ("degrees of freedom", assembly.dof.to_string()),
        ("tree depth", plan.depth().to_string()),
        ("elimination", describe_elimination(&system.eliminate(Shape::Balanced))),
        ("size", format!("{:.6} (farthest joint or spring end from a centre of mass)", model.characteristic_length())),
        ("initial energy", format!("{:.9} kinetic, {:.9} potential", seen.kinetic, seen.potential)),
    ];
    lines.retain(|(what, _)| *what != "floating" || plan.n_floating() > 0);
    if !model.couplings().is_empty() {
        let n_absent = model.couplings().iter().filter(|c| c.is_absent).count();
        let n = model.couplings().len() - n_absent;
        let waiting = if n_absent > 0 { format!(", {n_absent} more wait to be engaged") } else { String::new() };
        lines.push(("couplings", format!("{n}{waiting}")));
    }
    if !assembly.loops.is_empty() {
        const MOST: usize = 12;
        let mut names: Vec<&str> = assembly.loops.iter().take(MOST).map(String::as_str).collect();
        if assembly.loops.len() > MOST {
            names.push("…");
        }
        lines.push(("loops", format!("{}, cut at {}", assembly.loops.len(), names.join(", "))));
        let gap = format!("{:.2e} as given; coordinates moved by {:.2e}", assembly.gap, assembly.moved);
        lines.push(("loop gap", format!("{gap}, speeds changed by {:.2e}", assembly.speed_changed)));
        lines.push(("regularity", format!("{:.3} (0: at a singular position)", assembly.regularity)));
        let n = assembly.redundant.len();
        let names = if n == 0 { String::new() } else { format!(": {}", assembly.name_redundant()) };
        lines.push(("redundant constraints", format!("{n}{names}")));
    }
    if !model.events().is_empty() {
        let waiting = match n_absent {
            0 => String::new(),
            1 => "; 1 joint waits to be attached".to_owned(),
            n => format!("; {n} joints wait to be attached"),
        };
        lines.push(("events", format!("{}{waiting}", model.events().len())));
    }
    lines.extend(contact(&simulation, &seen));
    let mut lines: Vec<_> = lines.into_iter().map(|(what, value)| (what.to_owned(), value)).collect();
    lines.extend(describe::events(scene).into_iter().map(|(name, words)| (format!("  {name}"), words)));
    Ok(lines)
}

/// Depth and width of an elimination tree, in words.
fn describe_elimination(plan: &Elimination) -> String {
    let open = if plan.widest() > 0 { format!(", at most {} open rows", plan.widest()) } else { String::new() };
    format!("{} merges deep{open}", plan.depth())
}

/// A chain of so many revolute links with alternating axes, hanging from the ground.
pub fn chain(links: usize) -> Scene {
    const LENGTH: f64 = 0.2;
    const WIDTH: f64 = 0.04;
    let name = |i: usize| format!("link{i}");
    let across = (LENGTH * LENGTH + WIDTH * WIDTH) / 12.0;
    let body = |i| Body {
        name: name(i),
        mass: Some(1.0),
        com: Some([0.0, 0.0, -0.5 * LENGTH]),
        inertia: Some(vec![across, across, WIDTH * WIDTH / 6.0]),
        ..Body::default()
    };
    let frame = |z| Some(FrameRef::Pose { position: [0.0, 0.0, z], orientation: None });
    let joint = |i: usize| Joint {
        name: format!("joint{i}"),
        kind: JointKind::Revolute,
        parent: if i == 0 { GROUND.to_owned() } else { name(i - 1) },
        child: name(i),
        parent_frame: frame(if i == 0 { 0.0 } else { -LENGTH }),
        axis: Some([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]][i % 2]),
        q: Some(vec![0.1 * (1.0 + i as f64).sin()]),
        v: Some(vec![0.1 * (2.0 + i as f64).cos()]),
        ..Joint::default()
    };
    let (body, joint) = ((0..links).map(body).collect(), (0..links).map(joint).collect());
    let mut scene = Scene { gravity: [0.0, 0.0, -9.81], body, joint, ..Scene::default() };
    scene.time.end = 1.0;
    scene
}

/// Forward dynamics of one mechanism at one state, again and again.
pub struct Evaluator {
    simulation: Simulation,
    accelerations: Vec<f64>,
}

impl Evaluator {
    /// Evaluates the accelerations once.
    pub fn evaluate(&mut self) -> Result<(), StepError> {
        self.simulation.accelerations(&mut self.accelerations)
    }

    /// Assembles by a tree of the given shape, under divide and conquer.
    pub fn set_shape(&mut self, shape: Shape) {
        self.simulation.set_shape(shape);
    }

    /// Number of bodies.
    pub fn n_bodies(&self) -> usize {
        self.simulation.system().model.bodies().len()
    }
}

/// Makes ready what is to be timed.
pub fn evaluator(scene: &Scene) -> Result<Evaluator, Vec<Finding>> {
    let (simulation, _) = build(scene)?;
    Ok(Evaluator { simulation, accelerations: Vec::new() })
}
