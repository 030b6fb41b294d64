//! Mass properties: closed forms, meshes of the same solids, and what must not change them.
// The exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use proptest::prelude::*;
use signorini::scene::{Body, Geometry, MassProperties, Material, Shape, TriangleMesh};
use std::f64::consts::PI;
use std::sync::Arc;

fn shape(geometry: Geometry) -> Shape {
    Shape {
        geometry,
        position: [0.0; 3],
        orientation: None,
        density: Some(1.0),
        material: None,
        surface_velocity: None,
    }
}

fn body(shape: Vec<Shape>) -> Body {
    Body { name: "body".into(), shape, ..Body::default() }
}

fn weigh(shape: Vec<Shape>) -> MassProperties {
    body(shape).mass_properties(&[]).unwrap()
}

fn hull(points: Vec<[f64; 3]>) -> Geometry {
    Geometry::ConvexHull { points, file: None, scale: None, hull: None }
}

fn mesh(mesh: TriangleMesh) -> Geometry {
    Geometry::Mesh { file: String::new(), scale: None, mesh: Some(Arc::new(mesh)) }
}

fn cuboid(a: f64, b: f64, c: f64) -> Geometry {
    Geometry::Box { size: [a, b, c] }
}

fn corners(size: [f64; 3]) -> Vec<[f64; 3]> {
    (0..8).map(|n| [0, 1, 2].map(|k| if n >> k & 1 == 1 { size[k] / 2.0 } else { -size[k] / 2.0 })).collect()
}

/// Largest difference, relative to the mass, the size and both.
fn difference(a: &MassProperties, b: &MassProperties) -> f64 {
    let size = (a.inertia.amax() / a.mass).sqrt();
    let mass = (a.mass - b.mass).abs() / a.mass;
    let com = (a.com - b.com).amax() / size;
    mass.max(com).max((a.inertia - b.inertia).amax() / a.inertia.amax())
}

fn diagonal(x: f64, y: f64, z: f64) -> Matrix3<f64> {
    Matrix3::from_diagonal(&Vector3::new(x, y, z))
}

/// Closed forms from any table of moments of inertia, with a mass of one kind or the other.
#[test]
fn closed_forms() {
    let (r, l) = (0.3_f64, 1.7_f64);
    let m = 4.0 / 3.0 * PI * r.powi(3);
    let ball = weigh(vec![shape(Geometry::Sphere { radius: r })]);
    let expected = 0.4 * m * r * r;
    assert!(
        difference(
            &ball,
            &MassProperties { mass: m, com: Vector3::zeros(), inertia: diagonal(expected, expected, expected) }
        ) < 1e-15
    );

    let m = PI * r * r * l;
    let across = m * (3.0 * r * r + l * l) / 12.0;
    let rod = weigh(vec![shape(Geometry::Cylinder { radius: r, length: l })]);
    let inertia = diagonal(across, across, m * r * r / 2.0);
    assert!(difference(&rod, &MassProperties { mass: m, com: Vector3::zeros(), inertia }) < 1e-15);

    let (a, b, c) = (0.2, 0.5, 1.1);
    let m = a * b * c;
    let block = weigh(vec![shape(cuboid(a, b, c))]);
    let inertia = diagonal(m * (b * b + c * c) / 12.0, m * (a * a + c * c) / 12.0, m * (a * a + b * b) / 12.0);
    assert!(difference(&block, &MassProperties { mass: m, com: Vector3::zeros(), inertia }) < 1e-15);
}

/// The small moment of a slender rod keeps all its digits.
#[test]
fn slender_rods_keep_their_small_moment() {
    let rod = weigh(vec![shape(Geometry::Cylinder { radius: 1e-6, length: 1.0 })]);
    let expected = rod.mass * 1e-12 / 2.0;
    assert!((rod.inertia.m33 / expected - 1.0).abs() < 1e-15);
}

/// A capsule is a cylinder and a ball cut in two; the halves here are meshes, which know nothing of the formula.
#[test]
fn a_capsule_is_the_limit_of_its_meshes() {
    let (radius, length) = (0.4, 1.2);
    let exact = weigh(vec![shape(Geometry::Capsule { radius, length })]);
    check_convergence(&exact, |n| revolve(n, &capsule_profile(n, radius, length)));
    let ball = weigh(vec![shape(Geometry::Sphere { radius })]);
    let no_length = weigh(vec![shape(Geometry::Capsule { radius, length: 0.0 })]);
    assert!(difference(&ball, &no_length) < 1e-15);
}

#[test]
fn balls_and_cylinders_are_the_limits_of_their_meshes() {
    let ball = weigh(vec![shape(Geometry::Sphere { radius: 0.7 })]);
    check_convergence(&ball, |n| revolve(n, &capsule_profile(n, 0.7, 0.0)));
    let cylinder = weigh(vec![shape(Geometry::Cylinder { radius: 0.7, length: 0.4 })]);
    check_convergence(&cylinder, |n| revolve(n, &[(0.7, -0.2), (0.7, 0.2)]));
}

/// Chords miss a circle by the square of their length: four times finer in angle, sixteen times closer.
fn check_convergence(exact: &MassProperties, mesh_of: impl Fn(usize) -> TriangleMesh) {
    let error = |n| difference(exact, &weigh(vec![shape(mesh(mesh_of(n)))]));
    let (coarse, fine) = (error(32), error(128));
    assert!(coarse < 0.05, "{coarse}");
    let order = (coarse / fine).log(4.0);
    assert!((order - 2.0).abs() < 0.05, "order {order}");
}

fn capsule_profile(n: usize, radius: f64, length: f64) -> Vec<(f64, f64)> {
    let half = |start: f64, shift: f64| {
        (0..=n / 4).map(move |i| {
            let angle = start + PI / 2.0 * i as f64 / (n / 4) as f64;
            (radius * angle.cos(), radius * angle.sin() + shift)
        })
    };
    let all: Vec<(f64, f64)> = half(-PI / 2.0, -length / 2.0).chain(half(0.0, length / 2.0)).collect();
    // `revolve` closes the poles, with flat caps that are smaller than one step; the two equators of a ball are one.
    let inner = &all[1..all.len() - 1];
    let mut profile: Vec<(f64, f64)> = Vec::new();
    for &point in inner {
        if profile.last() != Some(&point) {
            profile.push(point);
        }
    }
    profile
}

/// The surface of revolution of (radius, z) points from below to above, closed at both ends on the axis.
fn revolve(n: usize, profile: &[(f64, f64)]) -> TriangleMesh {
    let mut vertices = Vec::new();
    for &(radius, z) in profile {
        vertices.extend((0..n).map(|i| {
            let (sin, cos) = (2.0 * PI * i as f64 / n as f64).sin_cos();
            [radius * cos, radius * sin, z]
        }));
    }
    let (bottom, top) = (vertices.len() as u32, vertices.len() as u32 + 1);
    vertices.push([0.0, 0.0, profile[0].1]);
    vertices.push([0.0, 0.0, profile[profile.len() - 1].1]);
    let mut triangles = Vec::new();
    let at = |ring: usize, i: usize| (ring * n + i % n) as u32;
    for i in 0..n {
        triangles.push([bottom, at(0, i + 1), at(0, i)]);
        triangles.push([top, at(profile.len() - 1, i), at(profile.len() - 1, i + 1)]);
        for ring in 1..profile.len() {
            triangles.push([at(ring - 1, i), at(ring - 1, i + 1), at(ring, i)]);
            triangles.push([at(ring - 1, i + 1), at(ring, i + 1), at(ring, i)]);
        }
    }
    TriangleMesh { vertices, triangles }
}

/// The corner tetrahedron with edges a, b, c: volume abc/6, centroid at a quarter, ∫xy = V ab/20, ∫x² = V a²/10.
#[test]
fn a_corner_tetrahedron() {
    let (a, b, c) = (0.5, 2.0, 3.0);
    let m = a * b * c / 6.0;
    let found = weigh(vec![shape(hull(vec![[0.0; 3], [a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]))]);
    // Moved from the corner to the centroid: ∫x² − V (a/4)² = V 3a²/80, ∫xy − V ab/16 = −V ab/80.
    let square = |x: f64| 3.0 / 80.0 * m * x * x;
    let inertia = Matrix3::new(
        square(b) + square(c),
        m * a * b / 80.0,
        m * a * c / 80.0,
        m * a * b / 80.0,
        square(a) + square(c),
        m * b * c / 80.0,
        m * a * c / 80.0,
        m * b * c / 80.0,
        square(a) + square(b),
    );
    let expected = MassProperties { mass: m, com: Vector3::new(a, b, c) / 4.0, inertia };
    // Four tetrahedra of a dozen operations each.
    assert!(difference(&found, &expected) < 1e-14);
}

#[test]
fn the_three_ways_to_give_mass_agree() {
    let by_density = weigh(vec![shape(cuboid(1.0, 2.0, 3.0))]);
    let plain = Shape { density: None, ..shape(cuboid(1.0, 2.0, 3.0)) };
    let spread = Body { mass: Some(6.0), ..body(vec![plain.clone()]) }.mass_properties(&[]).unwrap();
    let i = by_density.inertia;
    let inertia = Some(vec![i.m11, i.m22, i.m33, i.m12, i.m13, i.m23]);
    let given = Body { mass: Some(6.0), inertia, ..body(vec![plain.clone()]) }.mass_properties(&[]).unwrap();
    assert_eq!(by_density, spread);
    assert_eq!(by_density, given);
    let steel = [Material { name: "steel".into(), density: Some(1.0), ..Material::default() }];
    let of_steel = Shape { material: Some("steel".into()), ..plain };
    assert_eq!(body(vec![of_steel.clone()]).mass_properties(&steel).unwrap(), by_density);
    // A shape's own density goes before its material's.
    let heavier = Shape { density: Some(2.0), ..of_steel };
    assert_eq!(body(vec![heavier]).mass_properties(&steel).unwrap().mass, 12.0);
}

#[test]
fn geometry_that_was_not_read_is_an_error() {
    let unread = Geometry::Mesh { file: "x.stl".into(), scale: None, mesh: None };
    let finding = body(vec![shape(cuboid(1.0, 1.0, 1.0)), shape(unread)]).mass_properties(&[]).unwrap_err();
    assert_eq!(finding.path, "shape[1].file");
}

/// A box cut into eight, each piece shifted to its place, is the box.
#[test]
fn parts_add_up() {
    let whole = weigh(vec![shape(cuboid(2.0, 4.0, 6.0))]);
    let parts = corners([1.0, 2.0, 3.0]).into_iter().map(|position| Shape { position, ..shape(cuboid(1.0, 2.0, 3.0)) });
    assert!(difference(&whole, &weigh(parts.collect())) < 1e-15);
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let length = || 0.1..2.0;
    let geometry = prop_oneof![
        length().prop_map(|radius| Geometry::Sphere { radius }),
        (length(), length(), length()).prop_map(|(a, b, c)| cuboid(a, b, c)),
        (length(), length()).prop_map(|(radius, length)| Geometry::Capsule { radius, length }),
        (length(), length()).prop_map(|(radius, length)| Geometry::Cylinder { radius, length }),
        (length(), length(), length()).prop_map(|(a, b, c)| hull(corners([a, b, c]))),
        prop::collection::vec(prop::array::uniform3(-1.0..1.0), 8..20).prop_map(hull),
    ];
    let pose = (prop::array::uniform3(-2.0..2.0), prop::array::uniform4(0.1..1.0));
    (geometry, pose, 0.1..3.0).prop_map(|(geometry, (position, orientation), density)| Shape {
        geometry,
        position,
        orientation: Some(orientation),
        density: Some(density),
        material: None,
        surface_velocity: None,
    })
}

proptest! {
    /// Box, hull of its corners: the same solid by formula and by sum, wherever it is.
    #[test]
    fn boxes_by_formula_and_by_triangles(size in prop::array::uniform3(0.1..2.0), shape in any_shape()) {
        let by_formula = weigh(vec![Shape { geometry: Geometry::Box { size }, ..shape.clone() }]);
        let by_triangles = weigh(vec![Shape { geometry: hull(corners(size)), ..shape }]);
        prop_assert!(difference(&by_formula, &by_triangles) < 1e-13);
    }

    /// Moving a body's shapes together moves its centre and turns its inertia, and does nothing else.
    #[test]
    fn moving_shapes_moves_the_body(shapes in prop::collection::vec(any_shape(), 1..4), shift in prop::array::uniform3(-3.0..3.0), turn in prop::array::uniform4(0.1..1.0)) {
        let before = weigh(shapes.clone());
        let rotation = signorini::scene::rotation(Some(turn));
        let moved = shapes.into_iter().map(|shape| {
            let position = rotation * Vector3::from(shape.position) + Vector3::from(shift);
            let q: UnitQuaternion<f64> = rotation * signorini::scene::rotation(shape.orientation);
            Shape { position: position.into(), orientation: Some([q.w, q.i, q.j, q.k]), ..shape }
        });
        let after = weigh(moved.collect());
        let r = rotation.to_rotation_matrix().into_inner();
        let expected = MassProperties { mass: before.mass, com: r * before.com + Vector3::from(shift), inertia: r * before.inertia * r.transpose() };
        // Positions up to 10 sizes away lose a digit or two of sixteen.
        prop_assert!(difference(&expected, &after) < 1e-12, "{}", difference(&expected, &after));
    }

    /// No solid breaks the triangle inequality or has a negative moment.
    #[test]
    fn every_solid_has_a_possible_inertia(shapes in prop::collection::vec(any_shape(), 1..4)) {
        let found = weigh(shapes);
        let mut moments: Vec<f64> = found.inertia.symmetric_eigenvalues().iter().copied().collect();
        moments.sort_by(f64::total_cmp);
        prop_assert!(moments[0] > 0.0 && moments[2] <= (moments[0] + moments[1]) * (1.0 + 1e-12));
    }

    #[test]
    fn powers_of_two_scale_exactly(shapes in prop::collection::vec(any_shape(), 1..4), length in -40..40, mass in -40..40) {
        let (l, m) = (2f64.powi(length), 2f64.powi(mass));
        let before = weigh(shapes.clone());
        let scaled = shapes.into_iter().map(|shape| {
            let geometry = match shape.geometry {
                Geometry::Sphere { radius } => Geometry::Sphere { radius: radius * l },
                Geometry::Box { size } => Geometry::Box { size: size.map(|x| x * l) },
                Geometry::Capsule { radius, length } => Geometry::Capsule { radius: radius * l, length: length * l },
                Geometry::Cylinder { radius, length } => Geometry::Cylinder { radius: radius * l, length: length * l },
                Geometry::ConvexHull { points, .. } => hull(points.iter().map(|p| p.map(|x| x * l)).collect()),
                other => other,
            };
            let density = shape.density.map(|density| density * m / (l * l * l));
            Shape { geometry, position: shape.position.map(|x| x * l), density, ..shape }
        });
        let after = weigh(scaled.collect());
        prop_assert_eq!(after, MassProperties { mass: before.mass * m, com: before.com * l, inertia: before.inertia * (m * l * l) });
    }
}
