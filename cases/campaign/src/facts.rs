//! What a scene says of itself, without any engine: what may be asked of its motion.

use crate::math::{rotation, vector};
use nalgebra::{UnitQuaternion, Vector3};
use signorini::scene::{Body, Friction, GROUND, Geometry, Joint, JointKind, Motor, Scene, Shape, Signal};

/// How far a geometry reaches from its origin; a half-space nowhere.
pub fn reach(geometry: &Geometry) -> f64 {
    let of = |points: &[[f64; 3]]| points.iter().fold(0.0_f64, |m, p| m.max(vector(*p).norm()));
    match geometry {
        Geometry::Sphere { radius } => *radius,
        Geometry::Box { size } => vector(*size).norm() / 2.0,
        Geometry::Capsule { radius, length } => radius + length / 2.0,
        Geometry::Cylinder { radius, length } | Geometry::Cone { radius, length } => radius.hypot(length / 2.0),
        Geometry::HalfSpace => 0.0,
        Geometry::ConvexHull { points, hull, .. } => {
            hull.as_ref().map_or_else(|| of(points), |hull| of(&hull.vertices))
        }
        // Of the meshes here: no corner is farther than that from the origin.
        Geometry::Mesh { mesh, scale, .. } => match mesh {
            Some(mesh) => of(&mesh.vertices),
            None => 1.6 * scale.unwrap_or(1.0),
        },
        Geometry::HeightField { size, .. } => size[0].hypot(size[1]) / 2.0,
    }
}

/// The radius of a ball around the origin that lies within the geometry, where the origin does. Of a hull it is not looked for, and of a
/// mesh only where it is a cube.
pub fn core(geometry: &Geometry) -> Option<f64> {
    match geometry {
        Geometry::Sphere { radius } | Geometry::Capsule { radius, .. } => Some(*radius),
        Geometry::Box { size } => Some(size.iter().copied().fold(f64::INFINITY, f64::min) / 2.0),
        Geometry::Cylinder { radius, length } => Some(radius.min(length / 2.0)),
        Geometry::Mesh { file, scale, .. } if file.ends_with("cube.obj") => Some(scale.unwrap_or(1.0) / 2.0),
        _ => None,
    }
}

/// The bodies that move, in the order in which they are observed.
pub fn moving(scene: &Scene) -> Vec<&Body> {
    scene.body.iter().filter(|body| body.name != GROUND).collect()
}

/// Shapes of the ground.
pub fn ground(scene: &Scene) -> impl Iterator<Item = &Shape> {
    scene.body.iter().filter(|body| body.name == GROUND).flat_map(|body| &body.shape)
}

/// A typical length: the mean reach of the bodies' shapes, or of their joints where there are none.
pub fn size(scene: &Scene) -> f64 {
    let bodies = moving(scene);
    let reaches: Vec<f64> =
        bodies.iter().flat_map(|b| &b.shape).map(|s| vector(s.position).norm() + reach(&s.geometry)).collect();
    if reaches.is_empty() { 1.0 } else { reaches.iter().sum::<f64>() / reaches.len() as f64 }
}

/// Whether anything may put energy into the scene: a motor, a prescribed motion, a load, a moving surface, an event.
pub fn is_driven(scene: &Scene) -> bool {
    let still = |motor: &Motor| match motor {
        Motor::Motion { position, .. } => matches!(position, Signal::Constant(_)),
        _ => false,
    };
    let belt = scene.body.iter().flat_map(|b| &b.shape).any(|s| s.surface_velocity.is_some());
    let loads = scene.force.iter().any(|f| !matches!(f, signorini::scene::Force::Spring { .. }));
    belt || loads || !scene.event.is_empty() || scene.joint.iter().any(|j| j.motor.iter().any(|m| !still(m)))
}

/// Whether nothing outside acts on the bodies, so that both momenta are kept.
pub fn is_isolated(scene: &Scene) -> bool {
    let on_ground = |j: &Joint| j.parent == GROUND || j.child == GROUND;
    scene.gravity == [0.0; 3]
        && ground(scene).next().is_none()
        && scene.force.is_empty()
        && scene.event.is_empty()
        && !scene.joint.iter().any(on_ground)
}

/// Whether no surface has friction.
pub fn is_smooth(scene: &Scene) -> bool {
    scene.material.iter().all(|m| m.friction.as_ref().is_none_or(Friction::is_none))
        && scene.contact.iter().all(|rule| rule.friction.as_ref().is_none_or(Friction::is_none))
}

/// Whether a body turns by itself only as it did before: the same inertia about every axis.
pub fn is_round(body: &Body) -> bool {
    let given = body.inertia.as_ref().is_some_and(|i| i[0] == i[1] && i[1] == i[2] && i[3..].iter().all(|x| *x == 0.0));
    let ball = body.inertia.is_none() && is_ball(body);
    given || ball
}

/// Whether its only shape is a ball around its centre of mass.
pub fn is_ball(body: &Body) -> bool {
    let [only] = body.shape.as_slice() else { return false };
    body.com.is_none() && only.position == [0.0; 3] && matches!(only.geometry, Geometry::Sphere { .. })
}

/// Whether a body is free: no joint holds it.
pub fn is_free(scene: &Scene, body: &Body) -> bool {
    !scene.joint.iter().any(|j| j.kind != JointKind::Free && (j.parent == body.name || j.child == body.name))
}

/// Largest coefficient of restitution.
pub fn restitution(scene: &Scene) -> f64 {
    let surfaces = scene.material.iter().filter_map(|m| m.restitution);
    let rules = scene.contact.iter().filter_map(|rule| rule.restitution);
    surfaces.chain(rules).fold(0.0, f64::max)
}

/// Where a shape of the ground is.
pub fn pose(shape: &Shape) -> (Vector3<f64>, UnitQuaternion<f64>) {
    (vector(shape.position), rotation(shape.orientation))
}
