//! How many points a contact has, where they are, and that they keep their names.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod collide_support;
use collide_support::*;
use signorini::collide::Contact;
use signorini::scene::Geometry;
use signorini::spatial::{Pose, Vec3};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

fn lying(z: f64) -> Pose {
    turned(v(FRAC_PI_2, 0.0, 0.0), v(0.0, 0.0, z))
}

/// Every floor, top at z = 0.
fn floors() -> Vec<(&'static str, Geometry, Pose)> {
    vec![
        ("half-space", Geometry::HalfSpace, at(0.0, 0.0, 0.0)),
        ("box", cuboid(8.0, 8.0, 2.0), at(0.0, 0.0, -1.0)),
        ("hull", box_hull(8.0, 8.0, 2.0), at(0.0, 0.0, -1.0)),
        ("mesh", box_mesh(8.0, 8.0, 2.0), at(0.0, 0.0, -1.0)),
        ("coarse field", field(8.0, 1), at(0.0, 0.0, 0.0)),
        ("fine field", field(8.0, 16), at(0.0, 0.0, 0.0)),
    ]
}

fn on_floor(floor: &Geometry, pose: &Pose, b: Geometry) -> Two {
    let mut s = shape(floor.clone());
    s.position = pose.translation.into();
    let scene = scene(vec![ground(vec![s]), body("b", vec![shape(b)])]);
    Two::of(world(&scene))
}

fn all_up(found: &[Contact], name: &str) {
    for c in found {
        assert!((c.normal - Vec3::z()).norm() < 1e-12, "{name}: {}", c.normal);
        assert!(c.gap.abs() < 1e-12, "{name}: {}", c.gap);
    }
}

#[test]
fn resting_on_a_floor() {
    for (name, floor, pose) in floors() {
        for (what, geometry, b, n) in [
            ("box", cuboid(1.0, 1.0, 1.0), at(0.1, 0.2, 0.5), 4),
            ("hull", box_hull(1.0, 1.0, 1.0), at(0.1, 0.2, 0.5), 4),
            ("mesh", box_mesh(1.0, 1.0, 1.0), at(0.1, 0.2, 0.5), 4),
            ("box on an edge", cuboid(1.0, 1.0, 1.0), turned(v(FRAC_PI_4, 0.0, 0.0), v(0.1, 0.2, 0.5_f64.sqrt())), 2),
            ("ball", sphere(0.5), at(0.1, 0.2, 0.5), 1),
            ("capsule", capsule(0.5, 1.0), lying(0.5), 2),
            ("standing capsule", capsule(0.5, 1.0), at(0.1, 0.2, 1.0), 1),
            ("cylinder", cylinder(0.5, 1.0), lying(0.5), 2),
            ("standing cylinder", cylinder(0.5, 1.0), at(0.1, 0.2, 0.5), 8),
            ("standing cone", cone(0.5, 1.0), at(0.1, 0.2, 0.5), 8),
            ("cone on its tip", cone(0.5, 1.0), turned(v(PI, 0.0, 0.0), v(0.1, 0.2, 0.5)), 1),
        ] {
            let found = on_floor(&floor, &pose, geometry).rest(&[b]);
            let name = format!("{what} on {name}");
            all_up(&found, &name);
            assert_eq!(found.len(), n, "{name}: {found:#?}");
        }
        // A cone on its side.
        let half_angle = 0.5_f64.atan2(1.0);
        let lean = turned(v(0.0, FRAC_PI_2 + half_angle, 0.0), Vec3::zeros());
        let low = (lean.rotation * v(0.0, 0.0, 0.5)).z;
        let found = on_floor(&floor, &pose, cone(0.5, 1.0)).rest(&[Pose::new(lean.rotation, v(0.0, 0.0, -low))]);
        all_up(&found, name);
        assert_eq!(found.len(), 2, "cone on its side on {name}: {found:#?}");
    }
}

#[test]
fn boxes_on_boxes() {
    let mut two = Two::new(cuboid(2.0, 2.0, 1.0), cuboid(2.0, 2.0, 1.0));
    // In line, shifted, turned by 45°: the support is a square, a rectangle, an octagon.
    for (pose, n, area) in [
        (at(0.0, 0.0, 1.0), 4, 4.0),
        (at(0.5, 0.25, 1.0), 4, 1.5 * 1.75),
        (turned(v(0.0, 0.0, FRAC_PI_4), v(0.0, 0.0, 1.0)), 8, 8.0 * (2.0_f64.sqrt() - 1.0)),
    ] {
        let found = two.rest(&[at(0.0, 0.0, 0.0), pose]);
        all_up(&found, "boxes");
        assert_eq!(found.len(), n, "{found:#?}");
        let mut points: Vec<Vec3> = found.iter().map(|c| c.point).collect();
        let centre: Vec3 = points.iter().sum::<Vec3>() / n as f64;
        points.sort_by(|p, q| {
            let angle = |p: &Vec3| (p.y - centre.y).atan2(p.x - centre.x);
            angle(p).total_cmp(&angle(q))
        });
        let cross = |i: usize| {
            let (p, q) = (points[i] - centre, points[(i + 1) % n] - centre);
            p.x * q.y - p.y * q.x
        };
        let found_area: f64 = (0..n).map(cross).sum::<f64>() / 2.0;
        assert!((found_area - area).abs() < 1e-9, "{found_area} for {area}");
    }
    // Crossed edges touch in one point.
    let found = Two::new(cuboid(2.0, 2.0, 2.0), cuboid(2.0, 2.0, 2.0)).rest(&[
        turned(v(0.0, FRAC_PI_4, 0.0), Vec3::zeros()),
        turned(v(FRAC_PI_4, 0.0, 0.0), v(0.1, 0.2, 8.0_f64.sqrt())),
    ]);
    assert_eq!(found.len(), 1);
    all_up(&found, "edges");
}

#[test]
fn names_last() {
    let mut random = Random(3);
    for (name, floor, pose) in floors() {
        for (geometry, b) in [
            (cuboid(1.0, 1.0, 1.0), at(0.1, 0.2, 0.5)),
            (box_hull(1.0, 1.0, 1.0), at(0.1, 0.2, 0.5)),
            (capsule(0.5, 1.0), lying(0.5)),
            (cylinder(0.5, 1.0), lying(0.5)),
            (cylinder(0.5, 1.0), at(0.1, 0.2, 0.5)),
        ] {
            let mut two = on_floor(&floor, &pose, geometry);
            let names = |found: &[Contact]| found.iter().map(|c| c.id).collect::<Vec<_>>();
            let first = names(&two.rest(&[b]));
            for _ in 0..20 {
                let nudge = turned(random.vector() * 1e-9, random.vector() * 1e-9);
                assert_eq!(names(&two.rest(&[b * nudge])), first, "{name}");
            }
            // Sliding far, over many triangles, keeps corners what they are.
            for i in 0..20 {
                let slid = Pose::new(b.rotation, b.translation + v(0.11 * i as f64, -0.07 * i as f64, 0.0));
                assert_eq!(names(&two.rest(&[slid])), first, "{name}");
            }
        }
    }
}

/// A scratch that has seen other things, or nothing, gives the same bits.
#[test]
fn the_past_does_not_matter() {
    let bodies: Vec<_> = (0..30).map(|i| body(&format!("b{i}"), vec![shape(cuboid(1.0, 0.8, 0.6))])).collect();
    let scene = scene([vec![ground(vec![shape(field(20.0, 10)), shape(Geometry::HalfSpace)])], bodies].concat());
    let world = world(&scene);
    let mut random = Random(11);
    let mut used = signorini::collide::Scratch::default();
    for _ in 0..100 {
        let poses: Vec<Pose> = (0..30).map(|_| random.pose(3.0)).collect();
        let twists: Vec<_> =
            (0..30).map(|_| signorini::spatial::Twist::new(random.vector(), random.vector() * 10.0)).collect();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        world.find_contacts(&poses, &twists, 0.01, &mut used, &mut a);
        world.find_contacts(&poses, &twists, 0.01, &mut Default::default(), &mut b);
        check(&a);
        assert!(!a.is_empty() && a == b);
    }
}
