//! From a scene to a model.

use super::joint::JointType;
use super::*;
use crate::scene::{self, Finding, FindingKind, FrameRef, GROUND, Interpolation, Masses, PerCoordinate, Scene};
use crate::spatial::rotation_from_z;
use std::collections::HashMap;
use thiserror::Error;

/// Why a scene is not a mechanism: everything that was found, each with its key in the scene.
#[derive(Clone, PartialEq, Error)]
#[error("{}", join(.0))]
pub struct ModelError(pub Vec<Finding>);

debug_as_display!(ModelError);

impl ModelError {
    pub(crate) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self(vec![Finding::new(FindingKind::Mechanism, path, message)])
    }
}

fn join(findings: &[Finding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

pub(super) struct Names<'a> {
    bodies: HashMap<&'a str, Option<BodyId>>,
    scene: HashMap<&'a str, &'a scene::Body>,
}

impl Names<'_> {
    pub fn body(&self, name: &str, path: &str) -> Result<Option<BodyId>, ModelError> {
        let unknown = || ModelError::new(path, format!("found `{name}`, allowed is `{GROUND}` or the name of a body"));
        self.bodies.get(name).copied().ok_or_else(unknown)
    }
}

impl Model {
    /// Compiles a scene, which is validated first.
    pub fn build(scene: &Scene) -> Result<Self, ModelError> {
        let findings = scene::validate::validate(scene);
        if !findings.is_empty() {
            return Err(ModelError(findings));
        }
        let mut masses = Masses::new(scene);
        let by_name = scene.body.iter().map(|b| (b.name.as_str(), b)).collect();
        let mut names = Names { bodies: HashMap::from([(GROUND, None)]), scene: by_name };
        let mut bodies = Vec::new();
        for (i, body) in scene.body.iter().enumerate().filter(|(_, b)| b.name != GROUND) {
            if names.bodies.insert(&body.name, Some(BodyId(bodies.len() as u32))).is_some() {
                return Err(ModelError::new(format!("body[{i}].name"), format!("`{}` is taken", body.name)));
            }
            bodies.push(build_body(&mut masses, body, i)?);
        }
        let mut joints = Vec::with_capacity(scene.joint.len());
        let (mut n_q, mut n_v) = (0, 0);
        for (i, joint) in scene.joint.iter().enumerate() {
            let mut built = build_joint(&names, joint, i)?;
            let (room_q, room_v) = build_event::room(scene, joint);
            built.q = n_q..n_q + joint.kind.n_q();
            built.v = n_v..n_v + joint.kind.n_v();
            built.q_slot = n_q..n_q + room_q;
            built.v_slot = n_v..n_v + room_v;
            (n_q, n_v) = (built.q_slot.end, built.v_slot.end);
            joints.push(built);
        }
        for (i, event) in scene.event.iter().enumerate() {
            if let Some(mut weld) = build_event::weld_joint(&names.bodies, event, i)? {
                (weld.q, weld.v, weld.q_slot, weld.v_slot) = (n_q..n_q, n_v..n_v, n_q..n_q, n_v..n_v);
                joints.push(weld);
            }
        }
        let couplings = super::coupling::build_couplings(scene, &names, &mut joints)?;
        let forces = scene.force.iter().enumerate();
        let forces = forces.map(|(i, f)| Force::build(&names, &bodies, f, i)).collect::<Result<Vec<_>, _>>()?;
        let mut markers = Vec::new();
        for (i, m) in scene.output.marker.iter().enumerate() {
            let body = names.body(&m.body, &format!("output.marker[{i}].body"))?;
            markers.push(Marker { name: m.name.clone(), point: Point { body, position: m.point.into() } });
        }
        let gravity = Vec3::from(scene.gravity);
        let events = build_event::build_events(scene, &names.bodies, &bodies, (&joints, &couplings))?;
        let spin_locks = Vec::new();
        let (mut shapes, materials) = build_contact::build_shapes(scene, &names.bodies)?;
        let said = build_laws::Said::build(scene, &names.bodies)?;
        let rules = build_contact::build_rules(scene, &said.rules);
        let meet = build_laws::Meet { rules: &rules, joints: &joints, events: &events };
        let laws = build_laws::build_laws(scene, &said, (&mut shapes, &materials), &meet)?;
        let mut model = Self {
            gravity,
            bodies,
            joints,
            couplings,
            forces,
            markers,
            events,
            shapes,
            laws,
            rules,
            spin_locks,
            length: 0.0,
            n_q,
            n_v,
        };
        model.length = characteristic_length(&model, scene);
        Ok(model)
    }
}

fn build_body(masses: &mut Masses, body: &scene::Body, i: usize) -> Result<Body, ModelError> {
    let properties = masses.compute(body).map_err(|mut finding| {
        finding.path = format!("body[{i}].{}", finding.path);
        ModelError(vec![*finding])
    })?;
    let central = Sym3::from_matrix(&properties.inertia);
    let is_placed = body.position.is_some()
        || body.orientation.is_some()
        || body.velocity.is_some()
        || body.angular_velocity.is_some();
    Ok(Body { name: body.name.clone(), mass: properties.mass, com: properties.com, central, is_placed })
}

/// Axes of the canonical joint frame in the user's joint frame.
pub(super) fn canonical_axes(joint: &scene::Joint) -> Mat3 {
    let (axis, axis2) = joint.axes();
    match joint.kind {
        JointKind::Fixed | JointKind::Spherical | JointKind::Free => Mat3::identity(),
        JointKind::Universal => Mat3::from_columns(&[axis, axis2, axis.cross(&axis2)]),
        JointKind::Planar => Mat3::from_columns(&[axis2, axis.cross(&axis2), axis]),
        _ => rotation_from_z(&axis),
    }
}

fn frame_on(names: &Names, body: &str, frame: &Option<FrameRef>, path: &str) -> Result<Pose, ModelError> {
    match frame {
        None => Ok(Pose::identity()),
        Some(FrameRef::Pose { position, orientation }) => Ok(Pose::from_parts(*position, *orientation)),
        Some(FrameRef::Name(name)) => {
            let owner = names.scene.get(body);
            let found = owner.and_then(|b| b.frame.iter().find(|f| &f.name == name));
            let unknown =
                || ModelError::new(path, format!("found `{name}`, allowed is the name of a frame of `{body}`"));
            found.map(|f| Pose::from_parts(f.position, f.orientation)).ok_or_else(unknown)
        }
    }
}

fn reference_pose(names: &Names, body: &str) -> Pose {
    names
        .scene
        .get(body)
        .map_or_else(Pose::identity, |b| Pose::from_parts(b.position.unwrap_or_default(), b.orientation))
}

fn build_joint(names: &Names, joint: &scene::Joint, i: usize) -> Result<Joint, ModelError> {
    let key = |k: &str| format!("joint[{i}].{k}");
    let parent = names.body(&joint.parent, &key("parent"))?;
    let child = names.body(&joint.child, &key("child"))?;
    if parent == child {
        return Err(ModelError::new(key("child"), format!("`{}` cannot be joined to itself", joint.child)));
    }
    let align = Pose::new(canonical_axes(joint), Vec3::zeros());
    let (on_parent, on_child) = match joint.anchor {
        Some(at) => {
            let world = Pose::from_parts(at, None);
            let place = |name: &str| reference_pose(names, name).inverse() * world;
            (place(&joint.parent), place(&joint.child))
        }
        None => (
            frame_on(names, &joint.parent, &joint.parent_frame, &key("parent_frame"))?,
            frame_on(names, &joint.child, &joint.child_frame, &key("child_frame"))?,
        ),
    };
    let lead = joint.pitch.unwrap_or(0.0) / std::f64::consts::TAU;
    let fittings = build_fittings(joint);
    Ok(Joint {
        name: joint.name.clone(),
        joint_type: JointType { kind: joint.kind, lead },
        parent,
        child,
        parent_frame: on_parent * align,
        child_frame: on_child * align,
        q: 0..0,
        v: 0..0,
        q_slot: 0..0,
        v_slot: 0..0,
        alignment: align.rotation,
        wants_tree: fittings.has_motion() || !fittings.armature.is_empty() || fittings.compensates_gravity(),
        is_absent: joint.absent,
        placement: build_event::placement(joint),
        fittings,
    })
}

fn spread(value: &Option<PerCoordinate>, n: usize) -> Vec<f64> {
    match value {
        None => Vec::new(),
        Some(PerCoordinate::All(x)) => vec![*x; n],
        Some(PerCoordinate::Each(x)) => x.clone(),
    }
}

fn build_fittings(joint: &scene::Joint) -> Fittings {
    let n = joint.kind.n_v();
    let spring = joint.spring.as_ref();
    let mut rest = vec![0.0; joint.kind.n_q()];
    JointType { kind: joint.kind, lead: 0.0 }.neutral(&mut rest);
    if let Some(given) = spring.and_then(|s| s.rest.as_ref()) {
        rest.copy_from_slice(given);
        JointType { kind: joint.kind, lead: 0.0 }.normalise(&mut rest);
    }
    let motors = joint.motor.iter().map(|motor| match motor {
        scene::Motor::Torque { coordinate, value } => Motor {
            coordinate: *coordinate,
            kind: MotorKind::Torque,
            signal: Signal::build(value, Interpolation::Linear),
        },
        scene::Motor::Servo { coordinate, target, stiffness, damping, limit, compensate_gravity } => Motor {
            coordinate: *coordinate,
            kind: MotorKind::Servo {
                stiffness: *stiffness,
                damping: *damping,
                limit: limit.unwrap_or(f64::INFINITY),
                compensates_gravity: *compensate_gravity,
            },
            signal: Signal::build(target, Interpolation::Linear),
        },
        scene::Motor::Velocity { coordinate, target, damping, limit, compensate_gravity } => Motor {
            coordinate: *coordinate,
            kind: MotorKind::Velocity {
                damping: *damping,
                limit: limit.unwrap_or(f64::INFINITY),
                compensates_gravity: *compensate_gravity,
            },
            signal: Signal::build(target, Interpolation::Linear),
        },
        scene::Motor::Motion { coordinate, position } => Motor {
            coordinate: *coordinate,
            kind: MotorKind::Motion,
            signal: Signal::build(position, Interpolation::Cubic),
        },
    });
    Fittings {
        stiffness: spread(&spring.map(|s| s.stiffness.clone()), n),
        rest,
        damping: spread(&joint.damping, n),
        armature: spread(&joint.armature, n),
        motors: motors.collect(),
        lower: spread(&joint.lower, n),
        upper: spread(&joint.upper, n),
        restitution: joint.restitution.unwrap_or(0.0),
        friction: spread(&joint.friction, n),
        friction_load: spread(&joint.friction_load, n),
        ..Fittings::default()
    }
}

/// Over all bodies, the farthest joint or spring end from the centre of mass, or the radius of gyration if that is larger; the
/// distance of a body from the world's origin where bodies are points.
fn characteristic_length(model: &Model, scene: &Scene) -> f64 {
    let mut points: Vec<Vec<Vec3>> = model.bodies.iter().map(|b| vec![b.com]).collect();
    for joint in &model.joints {
        // Where an event places a frame is not known yet.
        let (on_parent, on_child) =
            (joint.placement != event::Placement::AtChild, joint.placement != event::Placement::AtParent);
        for (body, frame) in [
            (joint.parent.filter(|_| on_parent), &joint.parent_frame),
            (joint.child.filter(|_| on_child), &joint.child_frame),
        ] {
            if let Some(b) = body {
                points[b.index()].push(frame.translation);
            }
        }
    }
    for p in model.couplings.iter().flat_map(|c| c.kind.points()) {
        if let Some(body) = p.body {
            points[body.index()].push(p.position);
        }
    }
    for force in &model.forces {
        for p in force.ends() {
            if let Some(body) = p.body {
                points[body.index()].push(p.position);
            }
        }
    }
    let mut length = 0.0_f64;
    for (body, points) in model.bodies.iter().zip(&points) {
        // The radius of gyration stands in for bodies held at one point.
        let trace = body.central.xx + body.central.yy + body.central.zz;
        length = length.max((trace / (2.0 * body.mass)).sqrt());
        for p in points {
            length = length.max((p - points[0]).norm());
        }
    }
    for body in &scene.body {
        if length == 0.0 {
            length = Vec3::from(body.position.unwrap_or_default()).norm();
        }
    }
    if length > 0.0 { length } else { 1.0 }
}
