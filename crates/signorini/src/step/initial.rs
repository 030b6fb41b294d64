//! From a scene to a mechanism that is assembled and ready to move.

use super::{Assembly, Options, Simulation, StepError};
use crate::dynamics::{Formulation as _, System, Workspace};
use crate::model::{BodyId, Instant, Model, ModelError};
use crate::plan::Plan;
use crate::scene::{self, GROUND, Scene};
use crate::spatial::{Pose, Quaternion, Vec3};
use crate::state::State;
use std::collections::HashMap;
use std::sync::Arc;
use thiserror::Error;

/// Gap, relative to the mechanism's size (or in radians), up to which a loop counts as nearly closed and is assembled.
/// Numbers typed with two digits stay below; a joint put in the wrong place does not.
pub const NEARLY_CLOSED: f64 = 0.05;

/// Relative speed at which a loop may still open after projection: rounding near a singular position, and far below
/// anything that a contradiction leaves.
const CONTRADICTION: f64 = 1e-6;

/// A scene begins at zero.
const START: Instant = Instant::now(0.0);

/// Why a scene cannot be run.
#[derive(Clone, Error)]
pub enum BuildError {
    /// The scene is not a mechanism, or not one that can be assembled.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The initial state cannot be evaluated.
    #[error(transparent)]
    Step(#[from] StepError),
}

debug_as_display!(BuildError);

/// A mechanism ready to move.
#[derive(Debug, Clone)]
pub struct Built {
    /// The compiled scene.
    pub model: Arc<Model>,
    /// Its spanning tree.
    pub plan: Plan,
    /// Where it starts.
    pub state: State,
    /// How it was assembled.
    pub assembly: Assembly,
}

/// Compiles a scene and assembles its mechanism.
pub fn build(scene: &Scene) -> Result<Built, BuildError> {
    let mut model = Arc::new(Model::build(scene)?);
    let bodies: HashMap<&str, &scene::Body> = scene.body.iter().map(|b| (b.name.as_str(), b)).collect();
    let plan = {
        let of_id = |id: BodyId| bodies.get(model.bodies()[id.index()].name.as_str()).copied();
        Plan::build(&model, &|id| of_id(id).is_some_and(is_placed))
    };
    let mut system = System::for_assembly(model.clone(), plan.clone());
    super::spin::check(scene, &system)?;
    let mut state = initial_state(scene, &system, &bodies)?;
    if !model.couplings().is_empty() {
        let settled = settle(&system, &state)?;
        model = Arc::new(settled);
        system = System::for_assembly(model.clone(), plan.clone());
    }
    let assembly = assemble(scene, &system, &mut state)?;
    system.check_finite(0.0, &state.q, &state.v)?;
    check_forces(&system, &state)?;
    Ok(Built { model, plan, state, assembly })
}

/// Whether all forces are defined where the mechanism starts.
fn check_forces(system: &System, state: &State) -> Result<(), BuildError> {
    let mut w = system.workspace();
    w.cut_q.copy_from_slice(&state.cut_q);
    system.place(&state.q, &state.v, &mut w);
    system.update_rows(&state.q, &state.v, &mut w);
    let input = vec![0.0; state.v.len()];
    system.update_loads(START, &state.q, &state.v, &input, &mut w).map_err(StepError::from)?;
    for cut in &system.cuts {
        let joint = &system.model.joints()[cut.joint.index()];
        if joint.fittings.compensates_gravity() {
            let why = "what it carries is not defined: it closes a loop";
            let path = format!("joint `{}`.motor.compensate_gravity", joint.name);
            return Err(ModelError::new(path, why).into());
        }
    }
    Ok(())
}

/// The model with couplings that hold what they have at the start as the scene gives it, before loops are closed.
fn settle(system: &System, state: &State) -> Result<Model, ModelError> {
    let mut w = system.workspace();
    w.cut_q.copy_from_slice(&state.cut_q);
    system.place(&state.q, &state.v, &mut w);
    system.update_rows(&state.q, &state.v, &mut w);
    let mut model = (*system.model).clone();
    let view = system.view(&w.kinematics);
    let poses: Vec<Pose> = (0..model.bodies().len()).map(|b| view.body_pose(Some(BodyId(b as u32)))).collect();
    let mut joint_q = vec![f64::NAN; model.n_joint_q()];
    for (joint, link) in model.joints().iter().zip(&system.plan.link_of_joint) {
        if let Some(link) = link {
            joint_q[joint.q.clone()].copy_from_slice(&state.q[system.tree.links[*link].q_range()]);
        }
    }
    for cut in &system.cuts {
        joint_q[model.joints()[cut.joint.index()].q.clone()].copy_from_slice(&w.cut_q[cut.q.clone()]);
    }
    model.settle_couplings(&poses, &joint_q)?;
    Ok(model)
}

fn is_placed(body: &scene::Body) -> bool {
    let given = body.position.is_some() || body.orientation.is_some();
    given || body.velocity.is_some() || body.angular_velocity.is_some()
}

fn pose_of(bodies: &HashMap<&str, &scene::Body>, name: &str) -> Option<Pose> {
    if name == GROUND {
        return Some(Pose::identity());
    }
    let body = bodies.get(name)?;
    let given = body.position.is_some() || body.orientation.is_some();
    given.then(|| Pose::from_parts(body.position.unwrap_or_default(), body.orientation))
}

fn initial_state(scene: &Scene, system: &System, bodies: &HashMap<&str, &scene::Body>) -> Result<State, ModelError> {
    let (n_q, n_v) = system.sizes();
    let mut state =
        State { q: vec![0.0; n_q], v: vec![0.0; n_v], cut_q: vec![0.0; system.n_cut_q], ..Default::default() };
    let model = &system.model;
    let mut is_base = vec![false; model.bodies().len()];
    for (i, planned) in system.plan.links.iter().enumerate() {
        let link = &system.tree.links[i];
        let (q, v) = (&mut state.q[link.q_range()], &mut state.v[link.v_range()]);
        match planned.joint {
            Some(j) => {
                joint_coordinates(scene, system, bodies, j.index(), q)?;
                if let Some(given) = &scene.joint[j.index()].v {
                    v.copy_from_slice(given);
                }
            }
            None => {
                let body = &model.bodies()[planned.body.index()];
                is_base[planned.body.index()] = true;
                if let Some(given) = bodies.get(body.name.as_str()) {
                    place_floating(given, &body.com, q, v);
                }
            }
        }
    }
    for cut in &system.cuts {
        let q = &mut state.cut_q[cut.q.clone()];
        cut.joint_type.neutral(q);
        if let Some(given) = &scene.joint[cut.joint.index()].q {
            q.copy_from_slice(given);
            cut.joint_type.normalise(q);
        }
    }
    for (i, body) in scene.body.iter().enumerate().filter(|(_, b)| b.name != GROUND) {
        let key = match (&body.velocity, &body.angular_velocity) {
            (None, None) => continue,
            (Some(_), _) => "velocity",
            _ => "angular_velocity",
        };
        let id = model.bodies().iter().position(|b| b.name == body.name);
        if !id.is_some_and(|id| is_base[id]) {
            let message = format!("`{}` is moved by joints; give its velocity as `v` of the joint", body.name);
            return Err(ModelError::new(format!("body[{i}].{key}"), message));
        }
    }
    Ok(state)
}

fn place_floating(body: &scene::Body, com: &Vec3, q: &mut [f64], v: &mut [f64]) {
    let pose = Pose::from_parts(body.position.unwrap_or_default(), body.orientation);
    q[..3].copy_from_slice(pose.point(com).as_slice());
    let quat = body.orientation.map_or_else(Quaternion::default, |o| Quaternion(o).normalised());
    q[3..].copy_from_slice(&quat.0);
    v[..3].copy_from_slice(&body.velocity.unwrap_or_default());
    let spin = pose.rotation.tr_mul(&Vec3::from(body.angular_velocity.unwrap_or_default()));
    v[3..].copy_from_slice(spin.as_slice());
}

/// Coordinates of a tree joint: as given, or from the poses of its bodies, or neutral.
fn joint_coordinates(
    scene: &Scene,
    system: &System,
    bodies: &HashMap<&str, &scene::Body>,
    j: usize,
    q: &mut [f64],
) -> Result<(), ModelError> {
    let (given, joint) = (&scene.joint[j], &system.model.joints()[j]);
    joint.joint_type.neutral(q);
    if let Some(values) = &given.q {
        q.copy_from_slice(values);
        joint.joint_type.normalise(q);
        return Ok(());
    }
    if given.anchor.is_some() {
        return Ok(());
    }
    let (Some(parent), Some(child)) = (pose_of(bodies, &given.parent), pose_of(bodies, &given.child)) else {
        return Ok(());
    };
    let between = (parent * joint.parent_frame).inverse() * (child * joint.child_frame);
    joint.joint_type.find_coordinates(&between, q);
    let found = joint.joint_type.pose(q);
    let length = (found.translation - between.translation).norm() / system.model.characteristic_length();
    let angle = Quaternion::from_matrix(&(between.rotation * found.rotation.transpose())).log().norm();
    if length.max(angle) > NEARLY_CLOSED {
        let message = format!(
            "the poses of `{}` and `{}` leave joint `{}` open by {length:.3} of the mechanism's size and {angle:.3} rad; \
             give poses that fit, or `q`",
            given.parent, given.child, given.name
        );
        return Err(ModelError::new(format!("joint[{j}]"), message));
    }
    Ok(())
}

fn assemble(scene: &Scene, system: &System, state: &mut State) -> Result<Assembly, BuildError> {
    let mut w = system.workspace();
    check_prescribed(scene, system, state)?;
    system.prescribe(START, &mut state.q, &mut state.v, &mut w);
    let loops = system.cuts.iter().map(|c| system.model.joints()[c.joint.index()].name.clone()).collect();
    let mut assembly = Assembly { loops, regularity: 1.0, ..Default::default() };
    let free = system.tree.prescribed.iter().filter(|p| !**p).count();
    if system.elements.is_empty() {
        assembly.dof = free;
        return Ok(assembly);
    }
    w.cut_q.copy_from_slice(&state.cut_q);
    assembly.gap = check_gaps(system, state, &mut w)?;
    let (q, v) = (state.q.clone(), state.v.clone());
    let (place, name) = place_of(system, 0);
    let closeness = system
        .project(START, &mut state.q, &mut state.v, &mut w)
        .map_err(|error| ModelError::new(place.clone(), format!("the loop through {name} does not close ({error})")))?;
    // What is left after the best velocities is what prescribed motions ask for and the loops forbid.
    if closeness.velocity > CONTRADICTION {
        let message = "prescribed motions contradict a loop or each other: no velocities satisfy them all";
        return Err(ModelError::new(place, message).into());
    }
    let units = super::simulation::Units::build(system);
    let change =
        |a: &[f64], b: &[f64], unit: &[f64]| (0..a.len()).fold(0.0, |m: f64, i| m.max((a[i] - b[i]).abs() / unit[i]));
    let fastest = (0..v.len()).fold(0.0, |m: f64, i| m.max(v[i].abs() / units.v[i]));
    assembly.moved = change(&q, &state.q, &units.q);
    assembly.speed_changed = change(&v, &state.v, &units.v) / if fastest > 0.0 { fastest } else { 1.0 };
    system.factor_rows(&mut w, false);
    let (rank, regularity) = w.engine.regularity();
    assembly.dof = free.saturating_sub(rank);
    assembly.regularity = regularity;
    assembly.redundant = system.name_dependent_rows(&w);
    state.cut_q.copy_from_slice(&w.cut_q);
    Ok(assembly)
}

/// A coordinate that is both given and prescribed must agree.
fn check_prescribed(scene: &Scene, system: &System, state: &State) -> Result<(), ModelError> {
    for (link, k, signal) in &system.motions {
        let Some(j) = system.plan.links[*link].joint else { continue };
        let given = &scene.joint[j.index()];
        let [wanted, rate, _] = signal.at(START);
        let at = (system.tree.links[*link].q as usize + k, system.tree.links[*link].v as usize + k);
        for (key, given, found, wanted) in
            [("q", given.q.is_some(), state.q[at.0], wanted), ("v", given.v.is_some(), state.v[at.1], rate)]
        {
            if given && (found - wanted).abs() > 1e-9 * wanted.abs().max(1.0) {
                let message = format!("found {found}, but the joint's motion starts at {wanted}");
                return Err(ModelError::new(format!("joint[{}].{key}", j.index()), message));
            }
        }
    }
    Ok(())
}

/// Largest relative gap of a cut joint as given; an error where it is beyond assembling.
fn check_gaps(system: &System, state: &State, w: &mut Workspace) -> Result<f64, ModelError> {
    system.place(&state.q, &state.v, w);
    system.update_rows(&state.q, &state.v, w);
    let mut worst = 0.0_f64;
    for row in w.rows.iter().take(w.rows.n_hard) {
        let gap = row.gap.abs() / row.size;
        worst = worst.max(gap);
        if gap > NEARLY_CLOSED {
            let (place, name) = place_of(system, row.element);
            let message = format!(
                "the loop that {name} closes is open by {gap:.3} (lengths over the mechanism's size, angles in radians); \
                 up to {NEARLY_CLOSED} is assembled: give `q` of the loop's joints"
            );
            return Err(ModelError::new(place, message));
        }
    }
    Ok(worst)
}

/// Where the scene has an element, and what it is called.
fn place_of(system: &System, element: usize) -> (String, String) {
    match system.elements[element].joint(&system.cuts) {
        Some((joint, _)) => {
            (format!("joint[{}]", joint.index()), format!("joint `{}`", system.model.joints()[joint.index()].name))
        }
        None => system.elements[element].coupling().map_or_else(Default::default, |(id, _)| {
            let name = &system.model.couplings()[id.index()].name;
            (format!("coupling[{}]", id.index()), format!("coupling `{name}`"))
        }),
    }
}

impl Simulation {
    /// Builds a scene's mechanism and starts it with the scene's own options.
    pub fn from_scene(scene: &Scene) -> Result<Self, BuildError> {
        let built = build(scene)?;
        Ok(Self::new(built.model, built.plan, Options::from_scene(scene), built.state)?)
    }
}

use crate::contact::solve::DEFAULT_TOLERANCE;

impl Options {
    /// What a scene asks for.
    pub fn from_scene(scene: &Scene) -> Self {
        Self {
            formulation: scene.solver.formulation,
            integrator: scene.time.integrator,
            step: scene.time.step,
            rtol: scene.time.rtol.unwrap_or(super::DEFAULT_RTOL),
            method: scene.solver.method,
            tolerance: scene.solver.tolerance.unwrap_or(DEFAULT_TOLERANCE),
            restitution: scene.solver.restitution,
            policy: scene.solver.policy,
        }
    }
}
