//! Shapes as the searches want them: about a centre of their own, with bounds.

use super::closest::power_of_two_over;
use super::convex::{Core, Placed};
use super::hull::Hull;
use super::mesh::Mesh;
use crate::model::{Form, Shape};
use crate::scene::TriangleMesh;
use crate::spatial::{Pose, Vec3};
use std::sync::Arc;

/// A shape about its centre.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// Centre and axes in the body frame.
    pub pose: Pose,
    pub form: PieceForm,
    /// Radius of the rounding of a convex core.
    pub radius: f64,
    /// Radius of a ball about the centre that holds core or surface; infinite for a half-space.
    pub reach: f64,
}

#[derive(Debug, Clone)]
pub(crate) enum PieceForm {
    HalfSpace,
    Convex(Core),
    Surface(Arc<Mesh>),
}

impl Piece {
    /// None for a hull that cannot be joined to faces, which a hull that was checked is not.
    pub(crate) fn build(shape: &Shape) -> Option<Self> {
        let mut centre = Vec3::zeros();
        let (form, radius) = match &shape.form {
            Form::Point => (PieceForm::Convex(Core::Point), 0.0),
            Form::Sphere { radius } => (PieceForm::Convex(Core::Point), *radius),
            Form::Capsule { radius, half } if *half == 0.0 => (PieceForm::Convex(Core::Point), *radius),
            Form::Capsule { radius, half } => (PieceForm::Convex(Core::Segment { half: *half }), *radius),
            Form::Box { half } => (PieceForm::Convex(Core::Box { half: *half }), 0.0),
            Form::Cylinder { radius, half } => {
                (PieceForm::Convex(Core::Cylinder { radius: *radius, half: *half }), 0.0)
            }
            Form::Cone { radius, half } => (PieceForm::Convex(Core::Cone { radius: *radius, half: *half }), 0.0),
            Form::HalfSpace => (PieceForm::HalfSpace, 0.0),
            Form::Hull(mesh) => {
                let size;
                (centre, size) = middle(mesh);
                let hull = Hull::build(mesh, &centre, power_of_two_over(size)?)?;
                (PieceForm::Convex(Core::Hull(Arc::new(hull))), 0.0)
            }
            Form::Surface(mesh) => {
                centre = middle(mesh).0;
                (PieceForm::Surface(Arc::new(Mesh::build(mesh, &centre))), 0.0)
            }
        };
        let reach = match &form {
            PieceForm::HalfSpace => f64::INFINITY,
            PieceForm::Convex(core) => core.reach(),
            PieceForm::Surface(mesh) => mesh.vertices.iter().fold(0.0, |r: f64, v| r.max(v.norm())),
        };
        let pose = Pose::new(shape.pose.rotation, shape.pose.point(&centre));
        Some(Self { pose, form, radius, reach })
    }

    /// The core where it is; none for other forms.
    pub(crate) fn placed(&self, pose: &Pose) -> Option<Placed<'_>> {
        let PieceForm::Convex(core) = &self.form else { return None };
        let (rotation, position) = (pose.rotation, pose.translation);
        Some(Placed { core, rotation, position, radius: self.radius, reach: self.reach })
    }
}

/// Middle and largest extent of the box around the vertices.
fn middle(mesh: &TriangleMesh) -> (Vec3, f64) {
    let points = || mesh.vertices.iter().map(|&p| Vec3::from(p));
    let low = points().reduce(|a, b| a.inf(&b)).unwrap_or_default();
    let high = points().reduce(|a, b| a.sup(&b)).unwrap_or_default();
    (low / 2.0 + high / 2.0, (high - low).max())
}
