//! Shapes and contact rules, from a scene.

use super::contact::{Form, PairRule, Rules, Shape, height_field};
use super::{BodyId, ModelError};
use crate::scene::mesh::convex_hull;
use crate::scene::pattern::matches;
use crate::scene::{GROUND, Geometry, Scene};
use crate::spatial::{Pose, Vec3};
use std::collections::HashMap;
use std::sync::Arc;

/// Shapes and contact points, those of the ground first, and the place of each one's material in the scene.
pub(super) fn build_shapes(
    scene: &Scene,
    ids: &HashMap<&str, Option<BodyId>>,
) -> Result<(Vec<Shape>, Vec<Option<u32>>), ModelError> {
    let named = materials_by_name(scene);
    let material = |name: &Option<String>| name.as_deref().and_then(|name| named.get(name).copied());
    let (mut shapes, mut materials) = (Vec::new(), Vec::new());
    for is_ground in [true, false] {
        for (i, body) in scene.body.iter().enumerate().filter(|(_, b)| (b.name == GROUND) == is_ground) {
            let id = ids.get(body.name.as_str()).copied().flatten();
            for (j, shape) in body.shape.iter().enumerate() {
                let form = form(&shape.geometry)
                    .map_err(|(key, message)| ModelError::new(format!("body[{i}].shape[{j}].{key}"), message))?;
                let pose = Pose::from_parts(shape.position, shape.orientation);
                let surface_velocity = shape.surface_velocity.map_or_else(Vec3::zeros, Vec3::from);
                shapes.push(Shape { body: id, name: None, pose, form, surface: 0, surface_velocity });
                materials.push(material(&shape.material));
            }
            for point in &body.point {
                let pose = Pose::from_parts(point.position, None);
                let name = Some(point.name.clone());
                let (form, surface_velocity) = (Form::Point, Vec3::zeros());
                shapes.push(Shape { body: id, name, pose, form, surface: 0, surface_velocity });
                materials.push(material(&point.material));
            }
        }
    }
    Ok((shapes, materials))
}

/// Materials by name, with their places in the scene.
pub(super) fn materials_by_name(scene: &Scene) -> HashMap<&str, u32> {
    scene.material.iter().zip(0..).map(|(m, i)| (m.name.as_str(), i)).collect()
}

fn form(geometry: &Geometry) -> Result<Form, (&'static str, String)> {
    let unread = || ("file", "the geometry file has not been read (`scene::mesh::load_geometry` does)".to_owned());
    Ok(match geometry {
        Geometry::Sphere { radius } => Form::Sphere { radius: *radius },
        Geometry::Box { size } => Form::Box { half: Vec3::from(*size) / 2.0 },
        Geometry::Capsule { radius, length } => Form::Capsule { radius: *radius, half: length / 2.0 },
        Geometry::Cylinder { radius, length } => Form::Cylinder { radius: *radius, half: length / 2.0 },
        Geometry::Cone { radius, length } => Form::Cone { radius: *radius, half: length / 2.0 },
        Geometry::HalfSpace => Form::HalfSpace,
        Geometry::ConvexHull { hull: Some(hull), .. } => Form::Hull(Arc::clone(hull)),
        Geometry::ConvexHull { points, file: None, .. } => {
            Form::Hull(Arc::new(convex_hull(points).map_err(|e| ("points", e.to_string()))?))
        }
        Geometry::Mesh { mesh: Some(mesh), .. } => Form::Surface(Arc::clone(mesh)),
        Geometry::ConvexHull { .. } | Geometry::Mesh { .. } => return Err(unread()),
        Geometry::HeightField { size, columns, heights } => {
            Form::Surface(Arc::new(height_field(*size, *columns, heights)))
        }
    })
}

/// The rules for bodies, by classes of bodies that no rule tells apart.
pub(super) fn build_rules(scene: &Scene, said: &[PairRule]) -> Rules {
    let mut rules = Rules::default();
    if scene.contact.is_empty() {
        return rules;
    }
    // On which sides of which rules a body stands.
    let mut sides: HashMap<Vec<u32>, u32> = HashMap::new();
    let bodies = scene.body.iter().filter(|body| body.name != GROUND).map(|b| (b.name.as_str(), b.group.as_deref()));
    let ground = scene.body.iter().find(|body| body.name == GROUND).and_then(|b| b.group.as_deref());
    for (name, group) in bodies.chain([(GROUND, ground)]) {
        let mut stands = Vec::new();
        for (i, rule) in scene.contact.iter().enumerate() {
            for k in 0..2 {
                let by_name = rule.bodies.get(k).is_some_and(|pattern| matches(pattern, name));
                let by_group = rule.groups.get(k).zip(group).is_some_and(|(pattern, group)| matches(pattern, group));
                if by_name || by_group {
                    stands.push((2 * i + k) as u32);
                }
            }
        }
        let next = sides.len() as u32;
        rules.classes.push(*sides.entry(stands).or_insert(next));
    }
    for (i, said) in said.iter().enumerate() {
        let on = |k: usize| {
            let side = (2 * i + k) as u32;
            sides.iter().filter(move |(stands, _)| stands.contains(&side)).map(|(_, &class)| class)
        };
        for a in on(0) {
            for b in on(1) {
                Rules::add(&mut rules.of_classes, a, b, said);
            }
        }
    }
    rules
}
