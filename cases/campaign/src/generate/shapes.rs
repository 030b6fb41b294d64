//! Shapes of bodies.

use super::SURFACE;
use crate::random::Random;
use signorini::scene::{Geometry, Shape};

/// A shape of the common material.
pub(super) fn shape(geometry: Geometry) -> Shape {
    Shape {
        geometry,
        position: [0.0; 3],
        orientation: None,
        density: None,
        material: Some(SURFACE.to_owned()),
        surface_velocity: None,
    }
}

/// Any geometry that a body may have, about as large as `size`.
pub(super) fn any(random: &mut Random, size: f64) -> Geometry {
    let mut length = || size * random.between(0.4, 1.2);
    let (a, b, c) = (length(), length(), length());
    match random.count(0, 7) {
        0 => Geometry::Sphere { radius: a / 2.0 },
        1 => Geometry::Box { size: [a, b, c] },
        2 => Geometry::Capsule { radius: a / 4.0, length: b },
        3 => Geometry::Cylinder { radius: a / 2.0, length: b },
        4 => Geometry::Cone { radius: a / 2.0, length: b },
        5 => hull(random, size),
        6 => mesh("cube", size * 0.8),
        _ => mesh("lshape", size * 0.4),
    }
}

/// A thin box or cylinder now and then, else any.
pub(super) fn odd(random: &mut Random, size: f64) -> Geometry {
    match random.count(0, 9) {
        0 => Geometry::Box { size: [size, size * 0.7, size * random.decades(0.01, 0.2)] },
        1 => Geometry::Cylinder { radius: size / 2.0, length: size * random.decades(0.01, 0.2) },
        2 => Geometry::Capsule { radius: size * random.decades(0.01, 0.2), length: size },
        _ => any(random, size),
    }
}

/// A shape that another can stand on, and its height.
pub(super) fn standing(random: &mut Random, size: f64) -> (Geometry, f64) {
    let height = size * random.between(0.3, 1.0);
    match random.count(0, 3) {
        0 => (Geometry::Cylinder { radius: size * random.between(0.3, 0.6), length: height }, height),
        1 => (mesh("cube", height), height),
        _ => {
            let across = [size * random.between(0.5, 1.0), size * random.between(0.5, 1.0)];
            (Geometry::Box { size: [across[0], across[1], height] }, height)
        }
    }
}

pub(super) fn mesh(name: &str, scale: f64) -> Geometry {
    Geometry::Mesh { file: format!("meshes/{name}.obj"), scale: Some(scale), mesh: None }
}

/// A tetrahedron, with some more points around it.
fn hull(random: &mut Random, size: f64) -> Geometry {
    let r = size * 0.5;
    let mut points = vec![[r, r, r], [r, -r, -r], [-r, r, -r], [-r, -r, r]];
    for _ in 0..random.count(0, 6) {
        let p = random.direction() * (1.5 * r);
        points.push([p.x, p.y, p.z]);
    }
    Geometry::ConvexHull { points, file: None, scale: None, hull: None }
}
