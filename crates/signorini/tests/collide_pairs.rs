//! Gaps and normals of pairs with closed-form answers, their symmetry, and what rigid motions and units change: nothing.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod collide_support;
use collide_support::*;
use signorini::scene::Geometry;
use signorini::spatial::{Pose, Vec3};

/// A few roundings of numbers of size ten.
const TIGHT: f64 = 1e-13;

struct Case {
    name: &'static str,
    a: Geometry,
    pose_a: Pose,
    b: Geometry,
    pose_b: Pose,
    gap: f64,
    normal: Vec3,
}

fn case(name: &'static str, a: Geometry, pose_a: Pose, b: Geometry, pose_b: Pose, gap: f64, normal: Vec3) -> Case {
    Case { name, a, pose_a, b, pose_b, gap, normal: normal.normalize() }
}

fn origin() -> Pose {
    Pose::identity()
}

/// Turns z to x.
fn lying(p: Vec3) -> Pose {
    turned(v(0.0, std::f64::consts::FRAC_PI_2, 0.0), p)
}

fn cases() -> Vec<Case> {
    let ball = || sphere(0.5);
    let s2 = 2.0_f64.sqrt();
    // The side of a cone of radius 1 and length 2 has the normal (2, 0, 1)/√5.
    let side = v(2.0, 0.0, 1.0).normalize();
    vec![
        case("ball ball", ball(), origin(), sphere(1.0), at(0.0, 3.0, 4.0), 3.5, v(0.0, 3.0, 4.0)),
        case("balls overlap", ball(), origin(), sphere(1.0), at(0.0, 0.6, 0.8), -0.5, v(0.0, 3.0, 4.0)),
        case("ball box face", ball(), at(0.2, 0.3, 2.0), cuboid(2.0, 2.0, 2.0), origin(), 0.5, v(0.0, 0.0, -1.0)),
        case("ball box edge", ball(), at(2.0, 0.3, 2.0), cuboid(2.0, 2.0, 2.0), origin(), s2 - 0.5, v(-1.0, 0.0, -1.0)),
        case("ball box corner", ball(), at(2.0, 3.0, 3.0), cuboid(2.0, 2.0, 2.0), origin(), 2.5, v(-1.0, -2.0, -2.0)),
        case("ball in box", ball(), at(0.0, 0.3, 0.9), cuboid(2.0, 2.0, 2.0), origin(), -0.6, v(0.0, 0.0, -1.0)),
        case("ball capsule", ball(), at(2.0, 0.0, 0.7), capsule(0.25, 2.0), origin(), 1.25, v(-1.0, 0.0, 0.0)),
        case("ball capsule end", ball(), at(3.0, 0.0, 5.0), capsule(0.25, 2.0), origin(), 4.25, v(-3.0, 0.0, -4.0)),
        case("ball cylinder side", ball(), at(3.0, 4.0, 0.2), cylinder(1.0, 2.0), origin(), 3.5, v(-3.0, -4.0, 0.0)),
        case("ball cylinder cap", ball(), at(0.3, 0.4, 3.0), cylinder(1.0, 2.0), origin(), 1.5, v(0.0, 0.0, -1.0)),
        case(
            "ball cylinder rim",
            ball(),
            at(2.0, 0.0, 2.0),
            cylinder(1.0, 2.0),
            origin(),
            s2 - 0.5,
            v(-1.0, 0.0, -1.0),
        ),
        case("ball in cylinder", ball(), at(0.0, 0.9, 0.2), cylinder(1.0, 2.0), origin(), -0.6, v(0.0, -1.0, 0.0)),
        {
            let foot = v(0.5, 0.0, 0.0) + side * 2.0;
            case("ball cone side", ball(), at(foot.x, 0.0, foot.z), cone(1.0, 2.0), origin(), 1.5, -side)
        },
        case(
            "ball cone apex",
            ball(),
            at(0.0, 0.1, 3.0),
            cone(1.0, 2.0),
            origin(),
            4.01_f64.sqrt() - 0.5,
            v(0.0, -0.1, -2.0),
        ),
        case("ball cone base", ball(), at(0.2, 0.1, -3.0), cone(1.0, 2.0), origin(), 1.5, v(0.0, 0.0, 1.0)),
        case("ball cone rim", ball(), at(2.0, 0.0, -2.0), cone(1.0, 2.0), origin(), s2 - 0.5, v(-1.0, 0.0, 1.0)),
        case("ball hull", ball(), at(2.0, 0.3, 2.0), box_hull(2.0, 2.0, 2.0), origin(), s2 - 0.5, v(-1.0, 0.0, -1.0)),
        case("ball mesh", ball(), at(2.0, 0.3, 2.0), box_mesh(2.0, 2.0, 2.0), origin(), s2 - 0.5, v(-1.0, 0.0, -1.0)),
        case(
            "ball mesh corner",
            ball(),
            at(2.0, 3.0, 3.0),
            box_mesh(2.0, 2.0, 2.0),
            origin(),
            2.5,
            v(-1.0, -2.0, -2.0),
        ),
        case("ball field", ball(), at(0.3, 0.1, 0.7), field(4.0, 4), origin(), 0.2, v(0.0, 0.0, -1.0)),
        case(
            "capsules crossed",
            capsule(0.25, 4.0),
            origin(),
            capsule(0.5, 4.0),
            lying(v(0.1, 2.0, 0.3)),
            1.25,
            v(0.0, 1.0, 0.0),
        ),
        case(
            "capsules parallel",
            capsule(0.25, 4.0),
            origin(),
            capsule(0.5, 4.0),
            at(0.0, 2.0, 1.0),
            1.25,
            v(0.0, 1.0, 0.0),
        ),
        case(
            "capsules in line",
            capsule(0.25, 4.0),
            origin(),
            capsule(0.5, 4.0),
            at(0.0, 0.0, 6.0),
            1.25,
            v(0.0, 0.0, 1.0),
        ),
        case(
            "capsule box face",
            capsule(0.25, 2.0),
            lying(v(0.1, 0.2, 2.0)),
            cuboid(4.0, 4.0, 2.0),
            origin(),
            0.75,
            v(0.0, 0.0, -1.0),
        ),
        case(
            "capsule box edge",
            capsule(0.25, 2.0),
            at(2.0, 2.0, 0.0),
            cuboid(2.0, 2.0, 8.0),
            origin(),
            s2 - 0.25,
            v(-1.0, -1.0, 0.0),
        ),
        case(
            "boxes faces",
            cuboid(2.0, 2.0, 2.0),
            origin(),
            cuboid(1.0, 1.0, 1.0),
            at(0.3, 0.2, 2.0),
            0.5,
            v(0.0, 0.0, 1.0),
        ),
        case(
            "boxes edges",
            cuboid(2.0, 2.0, 2.0),
            turned(v(0.0, std::f64::consts::FRAC_PI_4, 0.0), Vec3::zeros()),
            cuboid(2.0, 2.0, 2.0),
            turned(v(std::f64::consts::FRAC_PI_4, 0.0, 0.0), v(0.1, 0.2, 4.0)),
            4.0 - 2.0 * s2,
            v(0.0, 0.0, 1.0),
        ),
        case(
            "boxes corners",
            cuboid(2.0, 2.0, 2.0),
            origin(),
            cuboid(2.0, 2.0, 2.0),
            at(3.0, 4.0, 4.0),
            3.0,
            v(1.0, 2.0, 2.0),
        ),
        case(
            "boxes overlap",
            cuboid(2.0, 2.0, 2.0),
            origin(),
            cuboid(2.0, 2.0, 2.0),
            at(0.1, 0.2, 1.75),
            -0.25,
            v(0.0, 0.0, 1.0),
        ),
        case(
            "cylinders caps",
            cylinder(1.0, 2.0),
            origin(),
            cylinder(2.0, 1.0),
            at(0.3, 0.2, 2.0),
            0.5,
            v(0.0, 0.0, 1.0),
        ),
        case(
            "cylinders parallel",
            cylinder(1.0, 2.0),
            origin(),
            cylinder(0.5, 2.0),
            at(3.0, 4.0, 0.5),
            3.5,
            v(3.0, 4.0, 0.0),
        ),
        case(
            "cylinders crossed",
            cylinder(1.0, 4.0),
            origin(),
            cylinder(0.5, 4.0),
            lying(v(0.1, 2.0, 0.2)),
            0.5,
            v(0.0, 1.0, 0.0),
        ),
        case(
            "cylinder rim edge",
            cylinder(1.0, 2.0),
            origin(),
            cuboid(2.0, 8.0, 2.0),
            at(3.0, 0.0, 3.0),
            s2,
            v(1.0, 0.0, 1.0),
        ),
        case(
            "cylinder rims",
            cylinder(1.0, 2.0),
            origin(),
            cylinder(1.0, 2.0),
            at(3.0, 0.0, 3.0),
            s2,
            v(1.0, 0.0, 1.0),
        ),
        case("cone box", cone(1.0, 2.0), origin(), cuboid(2.0, 2.0, 2.0), at(0.0, 0.1, 3.0), 1.0, v(0.0, 0.0, 1.0)),
        case(
            "cone cone",
            cone(1.0, 2.0),
            origin(),
            cone(1.0, 2.0),
            turned(v(std::f64::consts::PI, 0.0, 0.0), v(0.0, 0.0, 3.0)),
            1.0,
            v(0.0, 0.0, 1.0),
        ),
        case(
            "hull box",
            box_hull(2.0, 2.0, 2.0),
            origin(),
            cuboid(1.0, 1.0, 1.0),
            at(0.3, 0.2, 2.0),
            0.5,
            v(0.0, 0.0, 1.0),
        ),
        case(
            "hulls overlap",
            box_hull(2.0, 2.0, 2.0),
            origin(),
            box_hull(2.0, 2.0, 2.0),
            at(0.1, 0.2, 1.75),
            -0.25,
            v(0.0, 0.0, 1.0),
        ),
        case(
            "mesh box",
            box_mesh(2.0, 2.0, 2.0),
            origin(),
            cuboid(1.0, 1.0, 1.0),
            at(0.3, 0.2, 2.0),
            0.5,
            v(0.0, 0.0, 1.0),
        ),
        case(
            "mesh mesh",
            box_mesh(2.0, 2.0, 2.0),
            origin(),
            box_mesh(1.0, 1.0, 1.0),
            at(0.3, 0.2, 2.0),
            0.5,
            v(0.0, 0.0, 1.0),
        ),
    ]
}

fn is_surface(geometry: &Geometry) -> bool {
    matches!(geometry, Geometry::Mesh { .. } | Geometry::HeightField { .. })
}

/// Pairs of solids, however far they are apart.
fn solids() -> impl Iterator<Item = Case> {
    cases().into_iter().filter(|c| !is_surface(&c.a) && !is_surface(&c.b))
}

/// Moved along the normal until almost nothing is left of the gap, normals are the same.
#[test]
fn almost_touching() {
    for c in cases() {
        let mut two = Two::new(c.a.clone(), c.b.clone());
        for gap in [1e-7, 1e-9, 0.0, -1e-9] {
            let pose_b = Pose::new(c.pose_b.rotation, c.pose_b.translation - c.normal * (c.gap - gap));
            let found = two.rest(&[c.pose_a, pose_b]);
            assert!(!found.is_empty(), "{} {gap}", c.name);
            let best = nearest(&found);
            // Corners that touch corners have no normal but the difference of two points, and overlap least along a face.
            let is_sharp =
                ["boxes corners", "cylinder rims", "cylinder rim edge", "cone cone", "cone box"].contains(&c.name);
            assert!((best.gap - gap).abs() < TIGHT || (is_sharp && gap < 0.0), "{}: {} for {gap}", c.name, best.gap);
            if !is_sharp {
                assert!((best.normal - c.normal).norm() < 1e-9, "{} {gap}: {} for {}", c.name, best.normal, c.normal);
            }
        }
    }
}

#[test]
fn closed_forms() {
    for c in solids() {
        let mut two = Two::new(c.a.clone(), c.b.clone());
        let found = two.between(c.pose_a, c.pose_b);
        assert!(!found.is_empty(), "{}", c.name);
        let best = nearest(&found);
        assert!((best.gap - c.gap).abs() < TIGHT, "{}: {} for {}", c.name, best.gap, c.gap);
        assert!((best.normal - c.normal).norm() < 1e-12, "{}: {} for {}", c.name, best.normal, c.normal);
        assert!((best.on_b - best.on_a - best.normal * best.gap).norm() < 1e-9, "{}: {best:?}", c.name);
        assert!(found.iter().all(|c| c.is_reliable), "{}", c.name);
    }
}

#[test]
fn the_other_way_round() {
    for c in solids() {
        let there = nearest(&Two::new(c.a.clone(), c.b.clone()).between(c.pose_a, c.pose_b));
        let back = nearest(&Two::new(c.b.clone(), c.a.clone()).between(c.pose_b, c.pose_a));
        assert!((there.gap - back.gap).abs() < TIGHT, "{}: {} {}", c.name, there.gap, back.gap);
        assert!((there.normal + back.normal).norm() < 1e-12, "{}: {} {}", c.name, there.normal, back.normal);
    }
}

#[test]
fn wherever_they_are() {
    let mut random = Random(5);
    for c in solids() {
        let mut two = Two::new(c.a.clone(), c.b.clone());
        let n = two.between(c.pose_a, c.pose_b).len();
        for _ in 0..8 {
            let moved = random.pose(10.0);
            let found = two.between(moved * c.pose_a, moved * c.pose_b);
            let best = nearest(&found);
            assert!((best.gap - c.gap).abs() < 4e-13, "{}: {} for {}", c.name, best.gap, c.gap);
            let normal = moved.rotation * c.normal;
            assert!((best.normal - normal).norm() < 1e-11, "{}: {} for {normal}", c.name, best.normal);
            // As many points, but for features that a rounding brings above each other.
            if !["cylinder rim edge", "cylinder rims", "boxes corners"].contains(&c.name) {
                assert_eq!(found.len(), n, "{}", c.name);
            }
        }
    }
}

fn scaled(geometry: &Geometry, s: f64) -> Geometry {
    match geometry {
        Geometry::Sphere { radius } => sphere(radius * s),
        Geometry::Box { size: [x, y, z] } => cuboid(x * s, y * s, z * s),
        Geometry::Capsule { radius, length } => capsule(radius * s, length * s),
        Geometry::Cylinder { radius, length } => cylinder(radius * s, length * s),
        Geometry::Cone { radius, length } => cone(radius * s, length * s),
        Geometry::ConvexHull { points, .. } => hull(points.iter().map(|p| p.map(|x| x * s)).collect()),
        Geometry::Mesh { mesh: Some(m), .. } => {
            let mut m = (**m).clone();
            m.vertices.iter_mut().for_each(|p| *p = p.map(|x| x * s));
            mesh(m)
        }
        Geometry::HeightField { size, columns, heights } => Geometry::HeightField {
            size: size.map(|x| x * s),
            columns: *columns,
            heights: heights.iter().map(|x| x * s).collect(),
        },
        other => other.clone(),
    }
}

/// Powers of two change no bit; they reach from a millionth to a million.
#[test]
fn in_whatever_units() {
    for c in cases() {
        let mut plain = Two::new(c.a.clone(), c.b.clone());
        for exponent in [-20, -7, 3, 20] {
            let s = 2.0_f64.powi(exponent);
            let mut two = Two::new(scaled(&c.a, s), scaled(&c.b, s));
            let larger = |p: &Pose| Pose::new(p.rotation, p.translation * s);
            let away = (c.pose_b.translation - c.pose_a.translation) * 16.0;
            let twists = |s: f64| [1.0, 2.0].map(|k| signorini::spatial::Twist::new(Vec3::zeros(), away * (s * k)));
            let reference = plain.find(&[c.pose_a, c.pose_b], &twists(1.0), 1.0);
            let found = two.find(&[larger(&c.pose_a), larger(&c.pose_b)], &twists(s), 1.0);
            assert_eq!(found.len(), reference.len(), "{}", c.name);
            for (f, r) in found.iter().zip(&reference) {
                assert_eq!(f.id, r.id, "{}", c.name);
                assert_eq!(f.gap, r.gap * s, "{}", c.name);
                assert_eq!(f.normal, r.normal, "{}", c.name);
                assert_eq!(f.on_a, r.on_a * s, "{}", c.name);
            }
        }
    }
}

#[test]
fn points_touch_shapes() {
    let scene = scene(vec![
        ground(vec![shape(Geometry::HalfSpace)]),
        signorini::scene::Body {
            point: vec![signorini::scene::ContactPoint {
                name: "P1".into(),
                position: [0.0, 0.0, -1.0],
                material: None,
            }],
            ..body("arm", vec![])
        },
        body("block", vec![shape(cuboid(1.0, 1.0, 1.0))]),
    ]);
    let world = world(&scene);
    let mut out = Vec::new();
    let mut find = |arm: Pose| {
        let poses = [arm, at(0.0, 5.0, 5.0)];
        world.find_contacts(&poses, &[Default::default(); 2], 1e-3, &mut Default::default(), &mut out);
        check(&out);
        out.clone()
    };
    let found = find(turned(v(0.3, 0.0, 0.0), v(0.0, 0.0, 0.3_f64.cos())));
    assert_eq!(found.len(), 1);
    assert!(found[0].gap.abs() < TIGHT && found[0].normal == v(0.0, 0.0, 1.0));
    assert_eq!(world.shapes()[found[0].id.shapes()[1]].name.as_deref(), Some("P1"));
    let found = find(at(0.2, 5.1, 6.5 - 1e-9));
    assert_eq!(found.len(), 1);
    assert!((found[0].gap + 1e-9).abs() < 1e-14, "{found:?}");
    assert!(find(at(0.2, 5.1, 6.6)).is_empty());
}
