//! The one place where the command meets the engine: scene in, something that moves out.

use crate::describe;
use crate::describe_contact::contact;
use signorini::contact::ContactProblem;
use signorini::impulse::EventReport;
use signorini::plan::{Elimination, Shape};
use signorini::record::{JointColumns, Motion};
use signorini::scene::{Body, Finding, FindingKind, FrameRef, GROUND, Joint, JointKind, Scene};
use signorini::state::State;
use signorini::step::{
    Assembly, BuildError, ContactReport, JointConstraintForce, Observation, Options, Simulation, StepError, StepReport,
};

pub use signorini::contact::solve::DEFAULT_TOLERANCE;
pub use signorini::step::DEFAULT_RTOL;

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
    /// How it was assembled.
    pub assembly: Assembly,
    /// What the user should know: loops that were closed, redundant constraints.
    pub findings: Vec<String>,
}

/// Puts the mechanism together, at the scene's start or at a given state.
pub fn build(scene: &Scene, state: Option<State>) -> Result<Built, Vec<Finding>> {
    let built = signorini::step::build(scene).map_err(|error| match error {
        BuildError::Model(error) => error.0,
        BuildError::Step(error) => vec![finding(&error)],
    })?;
    let model = built.model.clone();
    let start = state.unwrap_or(built.state);
    let mut simulation = Simulation::new(built.model, built.plan, Options::from_scene(scene), start)
        .map_err(|error| vec![finding(&error)])?;
    // What cannot be evaluated where it stands is wrong with the scene, not with a step.
    simulation.accelerations(&mut Vec::new()).map_err(|error| vec![finding(&error)])?;
    let joints = model.joints().iter();
    Ok(Built {
        motion: Engine { simulation },
        bodies: model.bodies().iter().map(|body| body.name.clone()).collect(),
        joints: joints.map(joint_columns).collect(),
        markers: model.markers().iter().map(|marker| marker.name.clone()).collect(),
        findings: assembly_findings(&built.assembly),
        assembly: built.assembly,
    })
}

/// A joint as far as columns are concerned.
fn joint_columns(joint: &signorini::model::Joint) -> JointColumns {
    let f = &joint.fittings;
    let any = |lists: [&Vec<f64>; 2], acts: fn(f64) -> bool| {
        let acts = |k: &usize| lists.iter().any(|list| list.get(*k).is_some_and(|x| acts(*x)));
        (0..joint.v_slot.len()).filter(acts).collect()
    };
    JointColumns {
        name: joint.name.clone(),
        q: joint.q_slot.clone(),
        v: joint.v_slot.clone(),
        limits: any([&f.lower, &f.upper], f64::is_finite),
        frictions: any([&f.friction, &f.friction_load], |x| x > 0.0),
    }
}

fn finding(error: &StepError) -> Finding {
    let key = if let StepError::Setting { key, .. } = error { key } else { "" };
    Finding::new(FindingKind::Mechanism, key, error.to_string())
}

/// What assembling the mechanism found that the user should know.
fn assembly_findings(assembly: &Assembly) -> Vec<String> {
    let mut findings = Vec::new();
    if assembly.has_moved() {
        findings.push(format!(
            "loops were closed: gap {:.2e} as given, coordinates moved by up to {:.2e}, speeds changed by up to {:.2e} \
             (radians or mechanism lengths; share of the largest speed)",
            assembly.gap, assembly.moved, assembly.speed_changed
        ));
    }
    if !assembly.redundant.is_empty() {
        findings.push(format!(
            "{} redundant constraints, whose forces are not unique: {}",
            assembly.redundant.len(),
            name_redundant(assembly)
        ));
    }
    findings
}

fn name_redundant(assembly: &Assembly) -> String {
    const MOST: usize = 12;
    let mut names: Vec<String> =
        assembly.redundant.iter().take(MOST).map(|(joint, what)| format!("{joint} ({what})")).collect();
    if assembly.redundant.len() > MOST {
        names.push(format!("and {} more", assembly.redundant.len() - MOST));
    }
    names.join(", ")
}

/// What moves.
pub struct Engine {
    simulation: Simulation,
}

impl Engine {
    /// The name of the contact solver, where steps are those with contact.
    pub fn solver(&self) -> Option<&'static str> {
        self.simulation.steps_contact().then(|| self.simulation.options().method.name())
    }

    /// Whether contacts may be there to record.
    pub fn may_touch(&self) -> bool {
        self.simulation.steps_contact() && !self.simulation.system().model.shapes().is_empty()
    }

    /// The contact problem of the last step.
    pub fn contact_problem(&self) -> Option<&ContactProblem> {
        self.simulation.unsolved_problem().or_else(|| self.simulation.contact_problem())
    }
}

impl Motion for Engine {
    type Error = StepError;

    fn state(&self) -> &State {
        self.simulation.state()
    }

    fn advance(&mut self, limit: f64) -> Result<StepReport, StepError> {
        self.simulation.advance(limit)
    }

    fn is_event_due(&self) -> bool {
        self.simulation.is_event_due()
    }

    fn events(&self) -> &[EventReport] {
        self.simulation.events()
    }

    fn contacts(&self) -> &[ContactReport] {
        self.simulation.contacts()
    }

    fn joint_constraint_forces(&self) -> &[JointConstraintForce] {
        self.simulation.joint_constraint_forces()
    }

    fn keep_forces(&mut self) {
        self.simulation.keep_forces();
    }

    fn observe(&mut self, forces: bool, out: &mut Observation) -> Result<(), StepError> {
        self.simulation.observe(forces, out)
    }
}

/// What `check` prints: pairs of what and how much.
pub fn describe(scene: &Scene) -> Result<Vec<(String, String)>, Vec<Finding>> {
    let Built { mut motion, assembly, .. } = build(scene, None)?;
    let mut seen = Observation::default();
    motion.observe(false, &mut seen).map_err(|error| vec![finding(&error)])?;
    let system = motion.simulation.system();
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
        let names = if n == 0 { String::new() } else { format!(": {}", name_redundant(assembly)) };
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
    lines.extend(contact(&motion.simulation, &seen));
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
    let built = build(scene, None)?;
    Ok(Evaluator { simulation: built.motion.simulation, accelerations: Vec::new() })
}
