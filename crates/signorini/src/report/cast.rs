//! What is to be drawn: bodies with their shapes, joints, springs, markers, as a page needs them. Points and frames on a body are given
//! from its centre of mass, in the axes of its frame.

use super::pack::Sections;
use crate::model::event::Placement;
use crate::model::{BodyId, ForceKind, Form, Model, MotorKind, Point};
use crate::scene::TriangleMesh;
use crate::spatial::{Mat3, Pose, Quaternion, Vec3};
use nalgebra::SymmetricEigen;
use serde::Serialize;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// A place and its axes: position, and quaternion w x y z.
#[derive(Debug, Clone, Serialize)]
pub struct Frame {
    p: [f64; 3],
    q: [f64; 4],
}

/// A body.
#[derive(Debug, Serialize)]
pub struct Body {
    name: String,
    mass: f64,
    /// From the centre of mass to the origin of the body frame.
    origin: [f64; 3],
    /// Edges of the cuboid of the same mass and moments, and how it is turned.
    #[serde(skip_serializing_if = "Option::is_none")]
    inertia: Option<([f64; 3], [f64; 4])>,
}

/// A shape; a missing body is the ground.
#[derive(Debug, Serialize)]
pub struct Shape {
    body: Option<usize>,
    kind: &'static str,
    /// Radius and full length, or full edges.
    size: Vec<f64>,
    frame: Frame,
    #[serde(skip_serializing_if = "Option::is_none")]
    mesh: Option<usize>,
}

/// A joint; a missing body is the ground.
#[derive(Debug, Serialize)]
pub struct Joint {
    name: String,
    kind: &'static str,
    parent: Option<usize>,
    child: Option<usize>,
    on_parent: Frame,
    on_child: Frame,
    /// Limits of its coordinates; none where there is none.
    lower: Vec<Option<f64>>,
    upper: Vec<Option<f64>>,
    is_absent: bool,
    /// Whether its place is that of its frame on the child, because the one on the parent is chosen when it is attached.
    follows_child: bool,
    /// What drives it.
    motors: Vec<&'static str>,
    has_spring: bool,
}

/// A point of a body, or of the ground.
#[derive(Debug, Serialize)]
pub struct Spot {
    body: Option<usize>,
    p: [f64; 3],
}

/// A spring between two points.
#[derive(Debug, Serialize)]
pub struct Spring {
    name: String,
    a: Spot,
    b: Spot,
    length: f64,
    stiffness: f64,
    damping: f64,
}

/// A marked point.
#[derive(Debug, Serialize)]
pub struct Marker {
    name: String,
    at: Spot,
}

/// Everything that is to be drawn.
#[derive(Debug, Serialize)]
pub struct Cast {
    gravity: [f64; 3],
    /// Size of the mechanism.
    length: f64,
    bodies: Vec<Body>,
    shapes: Vec<Shape>,
    joints: Vec<Joint>,
    springs: Vec<Spring>,
    markers: Vec<Marker>,
    /// Vertices and triangles of each mesh; they are in the sections `mesh.N.vertices` and `mesh.N.triangles`.
    meshes: Vec<[usize; 2]>,
}

impl Cast {
    /// Describes a model. Meshes become sections.
    pub fn new(model: &Model, sections: &mut Sections) -> io::Result<Self> {
        let mut meshes = Meshes::default();
        let mut shapes = Vec::with_capacity(model.shapes().len());
        for shape in model.shapes() {
            let (kind, size, mesh) = match &shape.form {
                Form::Point => ("point", vec![], None),
                Form::Sphere { radius } => ("sphere", vec![*radius], None),
                Form::Box { half } => ("box", (2.0 * half).as_slice().to_vec(), None),
                Form::Capsule { radius, half } => ("capsule", vec![*radius, 2.0 * half], None),
                Form::Cylinder { radius, half } => ("cylinder", vec![*radius, 2.0 * half], None),
                Form::Cone { radius, half } => ("cone", vec![*radius, 2.0 * half], None),
                Form::HalfSpace => ("half-space", vec![], None),
                Form::Hull(mesh) => ("mesh", vec![], Some(meshes.add(mesh, sections)?)),
                Form::Surface(mesh) => ("mesh", vec![], Some(meshes.add(mesh, sections)?)),
            };
            let frame = on_body(model, shape.body, &shape.pose);
            shapes.push(Shape { body: shape.body.map(BodyId::index), kind, size, frame, mesh });
        }
        let spring = |force: &crate::model::Force| match &force.kind {
            ForceKind::Spring(spring) => Some(Spring {
                name: force.name.clone(),
                a: spot(model, &spring.a),
                b: spot(model, &spring.b),
                length: spring.length,
                stiffness: spring.stiffness,
                damping: spring.damping,
            }),
            _ => None,
        };
        let marker = |m: &crate::model::Marker| Marker { name: m.name.clone(), at: spot(model, &m.point) };
        Ok(Self {
            gravity: model.gravity().into(),
            length: model.characteristic_length(),
            bodies: model.bodies().iter().map(body).collect(),
            shapes,
            joints: model.joints().iter().map(|j| joint(model, j)).collect(),
            springs: model.forces().iter().filter_map(spring).collect(),
            markers: model.markers().iter().map(marker).collect(),
            meshes: meshes.sizes,
        })
    }
}

/// Meshes that are known already, by where they lie in memory: shapes of one file share them.
#[derive(Default)]
struct Meshes {
    known: HashMap<*const TriangleMesh, usize>,
    sizes: Vec<[usize; 2]>,
}

impl Meshes {
    fn add(&mut self, mesh: &Arc<TriangleMesh>, sections: &mut Sections) -> io::Result<usize> {
        if let Some(&known) = self.known.get(&Arc::as_ptr(mesh)) {
            return Ok(known);
        }
        let index = self.sizes.len();
        let vertices: Vec<f32> = mesh.vertices.iter().flatten().map(|x| *x as f32).collect();
        let triangles: Vec<u32> = mesh.triangles.iter().flatten().copied().collect();
        sections.add_singles(format!("mesh.{index}.vertices"), &vertices)?;
        sections.add_counts(format!("mesh.{index}.triangles"), &triangles)?;
        self.sizes.push([mesh.vertices.len(), mesh.triangles.len()]);
        self.known.insert(Arc::as_ptr(mesh), index);
        Ok(index)
    }
}

fn com(model: &Model, body: Option<BodyId>) -> Vec3 {
    body.map_or_else(Vec3::zeros, |id| model.bodies()[id.index()].com)
}

fn on_body(model: &Model, body: Option<BodyId>, pose: &Pose) -> Frame {
    let position = pose.translation - com(model, body);
    Frame { p: position.into(), q: Quaternion::from_matrix(&pose.rotation).0 }
}

fn spot(model: &Model, point: &Point) -> Spot {
    Spot { body: point.body.map(BodyId::index), p: (point.position - com(model, point.body)).into() }
}

fn body(body: &crate::model::Body) -> Body {
    let inertia = inertia_box(body).map(|(edges, pose)| (edges, Quaternion::from_matrix(&pose.rotation).0));
    Body { name: body.name.clone(), mass: body.mass, origin: (-body.com).into(), inertia }
}

/// The cuboid of even density with a body's mass and moments, from its centre of mass: an edge's square is 6 (I₂ + I₃ − I₁) / m.
pub(super) fn inertia_box(body: &crate::model::Body) -> Option<([f64; 3], Pose)> {
    let moments: Mat3 = body.central.to_matrix();
    if moments.iter().any(|x| !x.is_finite()) || body.mass.is_nan() || body.mass <= 0.0 {
        return None;
    }
    let eigen = SymmetricEigen::new(moments);
    let (values, mut axes) = (eigen.eigenvalues, eigen.eigenvectors);
    if axes.determinant() < 0.0 {
        axes.column_mut(2).neg_mut();
    }
    let sum = values.sum();
    let edge = |k: usize| (6.0 * (sum - 2.0 * values[k]).max(0.0) / body.mass).sqrt();
    Some(([edge(0), edge(1), edge(2)], Pose::new(axes, Vec3::zeros())))
}

fn joint(model: &Model, joint: &crate::model::Joint) -> Joint {
    let f = &joint.fittings;
    let finite = |limits: &[f64]| limits.iter().map(|x| x.is_finite().then_some(*x)).collect();
    let motor = |motor: &crate::model::Motor| match motor.kind {
        MotorKind::Torque => "torque",
        MotorKind::Servo { .. } => "servo",
        MotorKind::Velocity { .. } => "velocity",
        MotorKind::Motion => "motion",
    };
    Joint {
        name: joint.name.clone(),
        kind: joint.kind().name(),
        parent: joint.parent.map(BodyId::index),
        child: joint.child.map(BodyId::index),
        on_parent: on_body(model, joint.parent, &joint.parent_frame),
        on_child: on_body(model, joint.child, &joint.child_frame),
        lower: finite(&f.lower),
        upper: finite(&f.upper),
        is_absent: joint.is_absent,
        follows_child: joint.placement == Placement::AtChild,
        motors: f.motors.iter().map(motor).collect(),
        has_spring: !f.stiffness.is_empty(),
    }
}
