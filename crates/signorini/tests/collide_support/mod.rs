//! Two shapes, and what is found between them.
#![allow(dead_code)]

use signorini::collide::{Contact, Scratch, World};
use signorini::model::Model;
use signorini::scene::*;
use signorini::spatial::{Pose, Quaternion, Twist, Vec3};
use std::sync::Arc;

pub fn v(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3::new(x, y, z)
}

pub fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_parts([x, y, z], None)
}

/// Turned by a rotation vector, then moved.
pub fn turned(r: Vec3, p: Vec3) -> Pose {
    Pose::new(Quaternion::exp(&r).to_matrix(), p)
}

pub fn sphere(radius: f64) -> Geometry {
    Geometry::Sphere { radius }
}
pub fn cuboid(x: f64, y: f64, z: f64) -> Geometry {
    Geometry::Box { size: [x, y, z] }
}
pub fn capsule(radius: f64, length: f64) -> Geometry {
    Geometry::Capsule { radius, length }
}
pub fn cylinder(radius: f64, length: f64) -> Geometry {
    Geometry::Cylinder { radius, length }
}
pub fn cone(radius: f64, length: f64) -> Geometry {
    Geometry::Cone { radius, length }
}
pub fn hull(points: Vec<[f64; 3]>) -> Geometry {
    Geometry::ConvexHull { points, file: None, scale: None, hull: None }
}
/// The corners of a box as a hull.
pub fn box_hull(x: f64, y: f64, z: f64) -> Geometry {
    let corner = |i: u32| [(0, x), (1, y), (2, z)].map(|(k, s)| if i >> k & 1 == 1 { s / 2.0 } else { -s / 2.0 });
    hull((0..8).map(corner).collect())
}
pub fn mesh(mesh: TriangleMesh) -> Geometry {
    Geometry::Mesh { file: String::new(), scale: None, mesh: Some(Arc::new(mesh)) }
}
/// The triangles of a box as a mesh.
pub fn box_mesh(x: f64, y: f64, z: f64) -> Geometry {
    let Geometry::ConvexHull { points, .. } = box_hull(x, y, z) else { panic!() };
    mesh(signorini::scene::mesh::convex_hull(&points).unwrap())
}
/// A flat field of n × n cells.
pub fn field(size: f64, n: usize) -> Geometry {
    Geometry::HeightField { size: [size; 2], columns: n + 1, heights: vec![0.0; (n + 1) * (n + 1)] }
}

pub fn shape(geometry: Geometry) -> Shape {
    Shape { geometry, position: [0.0; 3], orientation: None, density: None, material: None, surface_velocity: None }
}

pub fn body(name: &str, shapes: Vec<Shape>) -> Body {
    Body { name: name.into(), mass: Some(1.0), inertia: Some(vec![1.0; 3]), shape: shapes, ..Body::default() }
}

pub fn ground(shapes: Vec<Shape>) -> Body {
    Body { name: GROUND.into(), shape: shapes, ..Body::default() }
}

pub fn scene(body: Vec<Body>) -> Scene {
    Scene { time: Time { end: 1.0, ..Time::default() }, body, ..Scene::default() }
}

pub fn world(scene: &Scene) -> World {
    World::build(&Model::build(scene).unwrap()).unwrap()
}

/// Bodies `a` and `b` of one shape each.
pub struct Two {
    pub world: World,
    scratch: Scratch,
}

impl Two {
    pub fn of(world: World) -> Self {
        Self { world, scratch: Scratch::default() }
    }

    pub fn new(a: Geometry, b: Geometry) -> Self {
        let scene = scene(vec![body("a", vec![shape(a)]), body("b", vec![shape(b)])]);
        Self::of(world(&scene))
    }

    /// A ground of one shape and one body.
    pub fn on_ground(floor: Geometry, b: Geometry) -> Self {
        let scene = scene(vec![ground(vec![shape(floor)]), body("b", vec![shape(b)])]);
        Self::of(world(&scene))
    }

    pub fn find(&mut self, poses: &[Pose], twists: &[Twist], step: f64) -> Vec<Contact> {
        let mut out = Vec::new();
        self.world.find_contacts(poses, twists, step, &mut self.scratch, &mut out);
        check(&out);
        out
    }

    /// Everything between a and b, however far: with b on its way away from a, the margin is wide and no plane is in the way.
    pub fn between(&mut self, a: Pose, b: Pose) -> Vec<Contact> {
        let away = (b.translation - a.translation) * 16.0 + v(1e-30, 0.0, 0.0);
        // Both fly in the same direction, so that the boxes on their way meet.
        self.find(&[a, b], &[Twist::new(Vec3::zeros(), away), Twist::new(Vec3::zeros(), away * 2.0)], 1.0)
    }

    /// At rest.
    pub fn rest(&mut self, poses: &[Pose]) -> Vec<Contact> {
        self.find(poses, &vec![Twist::default(); poses.len()], 1e-3)
    }
}

/// What every contact keeps to.
pub fn check(contacts: &[Contact]) {
    for c in contacts {
        assert!((c.normal.norm() - 1.0).abs() < 1e-14, "{c:?}");
        assert!((c.tangent[0].cross(&c.tangent[1]) - c.normal).norm() < 1e-14, "{c:?}");
        assert!(c.gap.is_finite() && c.point.iter().all(|x| x.is_finite()), "{c:?}");
        assert!(c.normal.dot(&c.normal) > 0.0 && c.a <= c.b);
    }
    for pair in contacts.windows(2) {
        assert!(pair[0].id < pair[1].id, "{pair:?}");
    }
}

/// The smallest gap.
pub fn nearest(contacts: &[Contact]) -> Contact {
    *contacts.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).expect("a contact")
}

/// A small generator of random numbers.
pub struct Random(pub u64);

impl Random {
    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
    pub fn vector(&mut self) -> Vec3 {
        v(self.within(-1.0, 1.0), self.within(-1.0, 1.0), self.within(-1.0, 1.0))
    }
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let d = self.vector();
            if (0.1..1.0).contains(&d.norm()) {
                return d.normalize();
            }
        }
    }
    pub fn pose(&mut self, reach: f64) -> Pose {
        let (axis, angle) = (self.direction(), self.within(0.0, 3.0));
        turned(axis * angle, self.vector() * reach)
    }
}
