//! Surfaces of triangles: no contact that the whole surface does not have.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod collide_support;
use collide_support::*;
use signorini::scene::TriangleMesh;
use signorini::spatial::{Pose, Twist, Vec3};

/// A box that slides over flat triangles, fast or slow, a little above or below: every normal is up, every gap is its height.
#[test]
fn no_stumbling_over_inner_edges() {
    let mut random = Random(1);
    for n in [1, 7, 32] {
        let mut two = Two::on_ground(field(8.0, n), cuboid(1.0, 0.7, 0.5));
        for k in 0..200 {
            let height = [0.0, 1e-15, -1e-15, 1e-12, -1e-12, 1e-9, -1e-9][k % 7];
            let (turn, place) = (random.within(0.0, 6.0), random.vector() * 3.0);
            let pose = turned(v(0.0, 0.0, turn), v(place.x, place.y, 0.25 + height));
            let speed = [0.0, 1e-3, 1.0, 30.0][k % 4];
            let along = random.vector();
            let twist = Twist::new(v(0.0, 0.0, random.within(-1.0, 1.0)), v(along.x, along.y, 0.0) * speed);
            let found = two.find(&[pose], &[twist], 0.01);
            assert!(found.len() >= 4, "{n} {k}: {found:#?}");
            for c in &found {
                assert!((c.normal - Vec3::z()).norm() < 1e-12, "{n} {k}: {c:#?}");
                assert!((c.gap - height).abs() < 1e-12, "{n} {k}: {c:#?}");
            }
            let touching = found.iter().filter(|c| (c.point.xy() - pose.translation.xy()).norm() < 0.62).count();
            assert!(speed > 1.0 || (4..=8).contains(&touching), "{n} {k}: {found:#?}");
        }
    }
}

/// The same for balls, capsules and cylinders that roll, and a moving mesh.
#[test]
fn no_stumbling_of_round_things() {
    let mut random = Random(2);
    let lying = v(std::f64::consts::FRAC_PI_2, 0.0, 0.0);
    for geometry in [sphere(0.5), capsule(0.5, 1.0), cylinder(0.5, 1.0), box_mesh(1.0, 1.0, 1.0)] {
        let mut two = Two::on_ground(field(8.0, 16), geometry.clone());
        for _ in 0..50 {
            let place = random.vector() * 2.0;
            let pose =
                turned(v(0.0, 0.0, random.within(0.0, 6.0)), v(place.x, place.y, 0.5)) * turned(lying, Vec3::zeros());
            let found = two.find(&[pose], &[Twist::new(Vec3::zeros(), v(2.0, 1.0, 0.0))], 0.01);
            assert!(!found.is_empty());
            for c in &found {
                assert!((c.normal - Vec3::z()).norm() < 1e-9, "{geometry:?}: {c:#?}");
                assert!(c.gap.abs() < 1e-9, "{geometry:?}: {c:#?}");
            }
        }
    }
}

/// Two ramps that meet in a ridge: on the ridge the normal may be anything between theirs, in the valley only theirs.
fn roof(slope: f64) -> TriangleMesh {
    let z = |x: f64| -slope * x.abs();
    let at = |x: f64, y: f64| [x, y, z(x)];
    TriangleMesh {
        vertices: vec![at(-2.0, -2.0), at(0.0, -2.0), at(2.0, -2.0), at(-2.0, 2.0), at(0.0, 2.0), at(2.0, 2.0)],
        triangles: vec![[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]],
    }
}

#[test]
fn ridge_and_valley() {
    let mut ridge = Two::on_ground(mesh(roof(1.0)), sphere(0.5));
    let found = ridge.rest(&[at(0.0, 0.3, 0.5)]);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!((found[0].normal - Vec3::z()).norm() < 1e-12 && found[0].gap.abs() < 1e-12);
    let mut valley = Two::on_ground(mesh(roof(-1.0)), sphere(0.5));
    let found = valley.rest(&[at(0.0, 0.3, 0.5 * 2.0_f64.sqrt())]);
    assert_eq!(found.len(), 2, "{found:#?}");
    for c in &found {
        assert!((c.normal.x.abs() - 0.5_f64.sqrt()).abs() < 1e-12 && c.gap.abs() < 1e-12, "{c:#?}");
    }
}

/// A ball that flies at a valley is met by the ramp that it will hit.
#[test]
fn a_ramp_ahead() {
    let mut two = Two::on_ground(mesh(roof(-1.0)), cuboid(0.2, 0.2, 0.2));
    // Starts over the left ramp and flies right: only the right ramp is ahead.
    let start = at(-0.5, 0.1, 1.0);
    let found = two.find(&[start], &[Twist::new(Vec3::zeros(), v(200.0, 0.0, 0.0))], 0.01);
    assert!(
        found.iter().any(|c| (c.normal - v(-1.0, 0.0, 1.0).normalize()).norm() < 1e-9 && c.gap > 0.5),
        "{found:#?}"
    );
}

/// A mesh of a box is a box.
#[test]
fn mesh_as_solid() {
    let mut random = Random(4);
    for _ in 0..200 {
        let (a, mut b) = (random.pose(0.0), random.pose(0.0));
        b.translation = random.direction() * random.within(1.5, 3.0);
        for other in [cuboid(1.0, 0.8, 0.6), sphere(0.4), capsule(0.3, 0.8), cylinder(0.4, 0.8)] {
            let solid = Two::new(cuboid(1.0, 1.2, 1.4), other.clone()).between(a, b);
            let solid = nearest(&solid);
            let b = Pose::new(b.rotation, b.translation - solid.normal * (solid.gap - 2e-7));
            let solid = nearest(&Two::new(cuboid(1.0, 1.2, 1.4), other.clone()).rest(&[a, b]));
            let surface = nearest(&Two::new(box_mesh(1.0, 1.2, 1.4), other.clone()).rest(&[a, b]));
            // Across corners and rims the direction of a gap is lost digit by digit as the gap closes, and along a wrong direction it is
            // smaller: a hundredth of it here.
            assert!((surface.gap - solid.gap).abs() < 2e-9, "{other:?}: {} {}", solid.gap, surface.gap);
        }
    }
}

#[test]
fn from_below_there_is_nothing() {
    let mut two = Two::on_ground(field(8.0, 4), sphere(0.5));
    assert!(two.rest(&[at(0.1, 0.2, -0.5)]).is_empty());
}
