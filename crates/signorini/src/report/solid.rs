//! Shapes as triangles: unit solids that are scaled and turned, for formats that know nothing else.

use crate::model::{Form, Model};
use crate::scene::TriangleMesh;
use crate::spatial::{Pose, Vec3};
use std::f64::consts::TAU;

/// Corners of a circle.
const ROUND: usize = 32;

/// A unit solid on a body; a missing body is the ground.
pub(super) struct Solid {
    pub body: Option<usize>,
    /// Which solid it is: equal names are equal solids.
    pub form: String,
    /// Where it is on the body, from the centre of mass.
    pub pose: Pose,
    pub scale: [f64; 3],
    mesh: Option<TriangleMesh>,
}

impl Solid {
    /// Its triangles.
    pub fn triangles(&self) -> TriangleMesh {
        match (&self.mesh, self.form.as_str()) {
            (Some(mesh), _) => mesh.clone(),
            (None, "sphere") => turned(&half_circle()),
            (None, "cone") => turned(&[(0.0, -0.5), (1.0, -0.5), (0.0, 0.5)]),
            (None, "cylinder") => turned(&[(0.0, -0.5), (1.0, -0.5), (1.0, 0.5), (0.0, 0.5)]),
            (None, _) => cube(),
        }
    }
}

/// All shapes but half-spaces and named points, as unit solids. A body without shapes is the box of its inertia.
pub(super) fn solids(model: &Model) -> Vec<Solid> {
    let mut list = Vec::new();
    let mut has_shape = vec![false; model.bodies().len()];
    for (i, shape) in model.shapes().iter().enumerate() {
        let body = shape.body.map(crate::model::BodyId::index);
        let com = body.map_or_else(Vec3::zeros, |b| model.bodies()[b].com);
        let pose = Pose::new(shape.pose.rotation, shape.pose.translation - com);
        let mut add = |form: &str, at: f64, scale: [f64; 3], mesh: Option<TriangleMesh>| {
            let pose = Pose::new(pose.rotation, pose.point(&Vec3::new(0.0, 0.0, at)));
            list.push(Solid { body, form: form.to_owned(), pose, scale, mesh });
        };
        match &shape.form {
            Form::Point | Form::HalfSpace => continue,
            Form::Sphere { radius } => add("sphere", 0.0, [*radius; 3], None),
            Form::Box { half } => add("box", 0.0, (2.0 * half).into(), None),
            Form::Capsule { radius, half } => {
                add("cylinder", 0.0, [*radius, *radius, 2.0 * half], None);
                add("sphere", *half, [*radius; 3], None);
                add("sphere", -half, [*radius; 3], None);
            }
            Form::Cylinder { radius, half } => add("cylinder", 0.0, [*radius, *radius, 2.0 * half], None),
            Form::Cone { radius, half } => add("cone", 0.0, [*radius, *radius, 2.0 * half], None),
            Form::Hull(mesh) | Form::Surface(mesh) => {
                add(&format!("mesh {i}"), 0.0, [1.0; 3], Some(TriangleMesh::clone(mesh)));
            }
        }
        if let Some(b) = body {
            has_shape[b] = true;
        }
    }
    for (b, body) in model.bodies().iter().enumerate().filter(|(b, _)| !has_shape[*b]) {
        if let Some((edges, pose)) = super::cast::inertia_box(body) {
            let least = 0.02 * edges.iter().copied().fold(0.0, f64::max);
            let scale = edges.map(|edge| edge.max(least));
            list.push(Solid { body: Some(b), form: "box".to_owned(), pose, scale, mesh: None });
        }
    }
    list
}

/// Radius and height of a half circle from below to above.
fn half_circle() -> Vec<(f64, f64)> {
    let half = ROUND / 2;
    (0..=half).map(|i| 0.5 * TAU * i as f64 / half as f64).map(|a| (a.sin().max(0.0), -a.cos())).collect()
}

/// A line of radius and height, turned about z, outward where it goes up on the outside. Ends on the axis are closed.
fn turned(line: &[(f64, f64)]) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for &(radius, height) in line {
        for k in 0..ROUND {
            let angle = TAU * k as f64 / ROUND as f64;
            mesh.vertices.push([radius * angle.cos(), radius * angle.sin(), height]);
        }
    }
    for i in 1..line.len() {
        for k in 0..ROUND {
            let corner = |ring: usize, k: usize| (ring * ROUND + k % ROUND) as u32;
            let (a, b) = (corner(i - 1, k), corner(i - 1, k + 1));
            let (c, d) = (corner(i, k), corner(i, k + 1));
            if line[i - 1].0 > 1e-12 {
                mesh.triangles.push([a, b, d]);
            }
            if line[i].0 > 1e-12 {
                mesh.triangles.push([a, d, c]);
            }
        }
    }
    mesh
}

fn cube() -> TriangleMesh {
    let vertices = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2 & 1].map(|bit| f64::from(bit) - 0.5)).collect();
    let quads: [[u32; 4]; 6] = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    TriangleMesh { vertices, triangles }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six times the volume within triangles that look outward.
    fn volume(mesh: &TriangleMesh) -> f64 {
        let at = |i: u32| Vec3::from(mesh.vertices[i as usize]);
        mesh.triangles.iter().map(|&[a, b, c]| at(a).dot(&at(b).cross(&at(c)))).sum::<f64>() / 6.0
    }

    #[test]
    fn unit_solids_look_outward_and_have_their_volumes() {
        let solid =
            |form: &str| Solid { body: None, form: form.into(), pose: Pose::identity(), scale: [1.0; 3], mesh: None };
        let pi = std::f64::consts::PI;
        for (form, exact) in [("box", 1.0), ("cylinder", pi), ("cone", pi / 3.0), ("sphere", 4.0 * pi / 3.0)] {
            let found = volume(&solid(form).triangles());
            // Thirty-two corners of a circle have 0.6 % less than its area; of a sphere in rings twice that.
            assert!(found <= exact * 1.000_001 && found > 0.98 * exact, "{form}: {found} of {exact}");
        }
    }
}
