//! Fast bodies: nothing is crossed, and nothing is hit that is not in the way.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod collide_support;
use collide_support::*;
use signorini::collide::Contact;
use signorini::scene::Geometry;
use signorini::spatial::{Pose, Twist, Vec3};

/// Moves a body by a step that keeps every plane of its contacts: the linear velocity nearest to the wanted one (Dykstra).
fn step(pose: &Pose, contacts: &[Contact], wanted: Vec3, h: f64) -> Pose {
    let mut u = wanted;
    let mut kept = vec![Vec3::zeros(); contacts.len()];
    for _ in 0..200 {
        for (c, k) in contacts.iter().zip(&mut kept) {
            let before = u + *k;
            let violation = -(c.gap / h + c.normal.dot(&before));
            u = before + c.normal * violation.max(0.0);
            *k = before - u;
        }
    }
    Pose::new(pose.rotation, pose.translation + u * h)
}

#[test]
fn no_tunnelling_at_any_speed() {
    let mut random = Random(7);
    let plates = [
        Geometry::HalfSpace,
        cuboid(40.0, 40.0, 0.01),
        box_hull(40.0, 40.0, 0.01),
        box_mesh(40.0, 40.0, 0.01),
        field(40.0, 8),
    ];
    for plate in plates {
        for bullet in [
            sphere(0.1),
            cuboid(0.2, 0.1, 0.1),
            capsule(0.05, 0.2),
            cylinder(0.1, 0.2),
            cone(0.1, 0.2),
            box_mesh(0.2, 0.1, 0.1),
        ] {
            let mut two = Two::on_ground(plate.clone(), bullet.clone());
            for k in 0..12 {
                let speed = 10.0_f64.powi(k % 6);
                let mut pose = random.pose(0.5);
                pose.translation.z = random.within(0.3, 0.3 + 0.8 * speed * 0.01);
                let across = (0.5 * speed).min(500.0);
                let velocity = v(random.within(-across, across), random.within(-across, across), -speed);
                // Aslant, then straight down: it must not slide off the plate.
                for velocity in [velocity, v(0.0, 0.0, -speed), v(0.0, 0.0, -speed)] {
                    let found = two.find(&[pose], &[Twist::new(Vec3::zeros(), velocity)], 0.01);
                    pose = step(&pose, &found, velocity, 0.01);
                }
                assert!(pose.translation.z > 0.0, "{plate:?} {bullet:?} {speed}: {}", pose.translation.z);
            }
        }
    }
}

/// A body that turns by three radians in a step, half a length above the ground, is not touched, whatever both are.
#[test]
fn what_turns_in_its_place_touches_nothing() {
    let mut random = Random(9);
    let grounds = [
        Geometry::HalfSpace,
        cuboid(40.0, 40.0, 0.01),
        box_hull(40.0, 40.0, 0.01),
        box_mesh(40.0, 40.0, 0.01),
        field(40.0, 8),
    ];
    let bodies = [
        sphere(0.5),
        cuboid(1.0, 0.6, 0.1),
        capsule(0.05, 1.0),
        cylinder(0.5, 0.1),
        cone(0.3, 0.8),
        box_hull(1.0, 0.6, 0.1),
        box_mesh(1.0, 0.6, 0.1),
    ];
    let (h, mut n_turned) = (1e-3, 0);
    for ground in grounds {
        for turning in &bodies {
            let mut two = Two::on_ground(ground.clone(), turning.clone());
            for _ in 0..20 {
                let mut pose = random.pose(0.5);
                // No body reaches farther than 0.6 from its centre.
                pose.translation.z = 1.1;
                let twist = Twist::new(random.direction() * 3000.0, v(0.0, 0.0, -9.81 * h));
                for c in two.find(&[pose], &[twist], h) {
                    let approach = c.normal.dot(&(twist.linear + twist.angular.cross(&(c.on_b - pose.translation))));
                    assert!(c.gap + h * approach >= 0.0, "{ground:?} {turning:?}: {c:?}");
                }
                n_turned += 1;
            }
        }
    }
    assert_eq!(n_turned, 700);
}

/// Beside what it turns into, a body is still stopped: a turning bar over a floor that its end will reach.
#[test]
fn what_turns_into_something_is_seen() {
    for ground in [Geometry::HalfSpace, cuboid(40.0, 40.0, 1.0), box_mesh(40.0, 40.0, 1.0)] {
        let top = if matches!(ground, Geometry::HalfSpace) { 0.0 } else { 0.5 };
        for turning in [cuboid(1.0, 0.1, 0.1), capsule(0.05, 0.9), box_mesh(1.0, 0.1, 0.1)] {
            let mut two = Two::on_ground(ground.clone(), turning.clone());
            let twist = Twist::new(v(0.0, 300.0, 0.0), Vec3::zeros());
            let found = two.find(&[at(0.0, 0.0, top + 0.1)], &[twist], 1e-3);
            let closes = |c: &Contact| {
                let lever = c.on_b - v(0.0, 0.0, top + 0.1);
                c.gap + 1e-3 * c.normal.dot(&twist.angular.cross(&lever)) < 0.0
            };
            assert!(found.iter().any(closes), "{ground:?} {turning:?}: {found:?}");
        }
    }
}

/// Fast bodies against a fast body.
#[test]
fn bullets_meet() {
    let mut random = Random(8);
    for bullet in [sphere(0.1), cuboid(0.2, 0.1, 0.1), capsule(0.05, 0.2), cylinder(0.1, 0.2), cone(0.1, 0.2)] {
        let mut two = Two::new(bullet.clone(), bullet.clone());
        for _ in 0..20 {
            let (mut a, mut b) = (random.pose(0.01), random.pose(0.01));
            let axis = random.direction();
            a.translation -= axis * 5.0;
            b.translation += axis * 5.0;
            let twists = [Twist::new(Vec3::zeros(), axis * 1000.0), Twist::new(Vec3::zeros(), axis * -1000.0)];
            let found = two.find(&[a, b], &twists, 0.01);
            let stops = found.iter().any(|c| c.gap + 0.01 * c.normal.dot(&(axis * -2000.0)) < 0.0);
            assert!(stops, "{bullet:?}: {found:#?}");
        }
    }
}

/// A box that passes beside, over, or flush with another one keeps its velocity.
#[test]
fn no_walls_beside_rims() {
    let mut two = Two::new(cuboid(2.0, 2.0, 2.0), cuboid(1.0, 1.0, 1.0));
    let velocity = v(-100.0, 0.0, 0.0);
    for height in [1e-15, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 0.1] {
        for distance in [1e-12, 1e-9, 1e-7, 1e-3, 0.3, 0.9] {
            let pose = at(1.5 + distance, 0.2, 1.5 + height);
            let found =
                two.find(&[at(0.0, 0.0, 0.0), pose], &[Twist::default(), Twist::new(Vec3::zeros(), velocity)], 0.01);
            let end = step(&pose, &found, velocity, 0.01);
            assert!(
                (end.translation - pose.translation - velocity * 0.01).norm() < 1e-6,
                "{height} {distance}: {found:#?}"
            );
        }
    }
    // Below the rim there is a wall.
    let pose = at(1.5 + 0.3, 0.2, 1.5 - 1e-3);
    let found = two.find(&[at(0.0, 0.0, 0.0), pose], &[Twist::default(), Twist::new(Vec3::zeros(), velocity)], 0.01);
    let end = step(&pose, &found, velocity, 0.01);
    assert!((end.translation.x - 1.5).abs() < 1e-9, "{found:#?}");
}

/// Tiles of a floor, flush, are one floor.
#[test]
fn flush_tiles() {
    let tile = |x: f64| {
        let mut s = shape(cuboid(1.0, 4.0, 1.0));
        s.position = [x, 0.0, -0.5];
        s
    };
    let scene =
        scene(vec![ground((0..8).map(|i| tile(i as f64)).collect()), body("b", vec![shape(cuboid(0.6, 0.6, 0.6))])]);
    let mut two = Two::of(world(&scene));
    for k in 0..60 {
        let pose = at(0.3 + 0.1 * k as f64, 0.1, 0.3 + [0.0, 1e-16, -1e-16, 1e-13][k % 4]);
        for speed in [1.0, 20.0] {
            let velocity = v(speed, 0.0, -0.1);
            let found = two.find(&[pose], &[Twist::new(Vec3::zeros(), velocity)], 0.01);
            for c in &found {
                assert!(
                    (c.normal - Vec3::z()).norm() < 1e-9 || c.gap + 0.01 * c.normal.dot(&velocity) >= -1e-12,
                    "{k}: {c:#?}"
                );
            }
            assert!(found.len() >= 4);
        }
    }
}

/// Gaps are those of now, however far the body will move.
#[test]
fn gaps_are_taken_back() {
    let mut two = Two::on_ground(cuboid(10.0, 10.0, 0.1), sphere(0.1));
    let found = two.find(&[at(0.0, 0.0, 3.15)], &[Twist::new(Vec3::zeros(), v(0.0, 0.0, -1000.0))], 0.01);
    assert_eq!(found.len(), 1);
    assert!((found[0].gap - 3.0).abs() < 1e-8 && (found[0].normal - Vec3::z()).norm() < 1e-12, "{found:#?}");
    // Aslant, against a side that is not the nearest: the plane that it will hit.
    let found = two.find(&[at(-6.0, 0.0, 1.05)], &[Twist::new(Vec3::zeros(), v(600.0, 0.0, -100.0))], 0.01);
    assert!((nearest(&found).normal - Vec3::z()).norm() < 1e-9, "{found:#?}");
    assert!((nearest(&found).gap - 0.9).abs() < 1e-8, "{found:#?}");
}
