//! Random pairs of convex shapes against a referee that knows only their definitions.
//!
//! The referee maximises the separation min n·(b − a) over directions n: first over some thousand, then around the best few in ever
//! smaller rings. For shapes that are apart the largest separation is the distance; for others it is minus the depth of overlap.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod collide_support;
use collide_support::*;
use signorini::scene::Geometry;
use signorini::spatial::{Pose, Vec3};

/// How far a shape reaches in a direction, from its definition.
fn reach(geometry: &Geometry, d: &Vec3) -> f64 {
    let rho = d.x.hypot(d.y);
    match geometry {
        Geometry::Sphere { radius } => radius * d.norm(),
        Geometry::Box { size } => (size[0] * d.x.abs() + size[1] * d.y.abs() + size[2] * d.z.abs()) / 2.0,
        Geometry::Capsule { radius, length } => radius * d.norm() + length / 2.0 * d.z.abs(),
        Geometry::Cylinder { radius, length } => radius * rho + length / 2.0 * d.z.abs(),
        Geometry::Cone { radius, length } => (length / 2.0 * d.z).max(radius * rho - length / 2.0 * d.z),
        Geometry::ConvexHull { points, .. } => {
            points.iter().map(|p| Vec3::from(*p).dot(d)).fold(f64::NEG_INFINITY, f64::max)
        }
        _ => panic!("not convex"),
    }
}

fn separation(a: &(Geometry, Pose), b: &(Geometry, Pose), n: &Vec3) -> f64 {
    let of = |(g, pose): &(Geometry, Pose), n: &Vec3| reach(g, &pose.rotation.tr_mul(n)) + n.dot(&pose.translation);
    -of(b, &-n) - of(a, n)
}

/// Largest separation and its direction.
fn referee(a: &(Geometry, Pose), b: &(Geometry, Pose)) -> (f64, Vec3) {
    const N: usize = 4000;
    let golden = std::f64::consts::PI * (5.0_f64.sqrt() - 1.0);
    let spiral = |i: usize| {
        let z = 1.0 - (2 * i + 1) as f64 / N as f64;
        let (s, c) = (golden * i as f64).sin_cos();
        let r = (1.0 - z * z).sqrt();
        v(r * c, r * s, z)
    };
    let mut tried: Vec<(f64, Vec3)> = (0..N).map(|i| (separation(a, b, &spiral(i)), spiral(i))).collect();
    tried.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut best = tried[0];
    for &start in &tried[..8] {
        let mut here = start;
        let mut radius = 0.1;
        while radius > 1e-9 {
            let e = here.1.cross(&if here.1.x.abs() < 0.7 { Vec3::x() } else { Vec3::y() }).normalize();
            let f = here.1.cross(&e);
            let mut next = here;
            for k in 0..24 {
                let (s, c) = (k as f64 * 0.261799).sin_cos();
                let n = (here.1 + (e * c + f * s) * radius).normalize();
                let value = separation(a, b, &n);
                if value > next.0 {
                    next = (value, n);
                }
            }
            if next.0 > here.0 {
                here = next;
            } else {
                radius *= 0.6;
            }
        }
        if here.0 > best.0 {
            best = here;
        }
    }
    best
}

/// How deep a point is inside of a shape, or a bound of that sign.
fn depth(geometry: &Geometry, pose: &Pose, p: &Vec3) -> f64 {
    let p = pose.rotation.tr_mul(&(p - pose.translation));
    let rho = p.x.hypot(p.y);
    match geometry {
        Geometry::Sphere { radius } => radius - p.norm(),
        Geometry::Box { size } => (0..3).map(|i| size[i] / 2.0 - p[i].abs()).fold(f64::INFINITY, f64::min),
        Geometry::Capsule { radius, length } => {
            radius - (p - v(0.0, 0.0, p.z.clamp(-length / 2.0, length / 2.0))).norm()
        }
        Geometry::Cylinder { radius, length } => (radius - rho).min(length / 2.0 - p.z.abs()),
        Geometry::Cone { radius, length } => {
            (radius * (0.5 - p.z / length) - rho).min(length / 2.0 + p.z).min(length / 2.0 - p.z)
        }
        // Inside of a hull is what no direction separates.
        Geometry::ConvexHull { .. } => {
            let here = (geometry.clone(), Pose::identity());
            -referee(&here, &(sphere(1e-12), Pose::new(Pose::identity().rotation, p))).0
        }
        _ => panic!("not convex"),
    }
}

fn shapes(random: &mut Random) -> Vec<Geometry> {
    let points = (0..12).map(|_| (random.direction() * 0.7).into()).collect();
    vec![
        sphere(random.within(0.2, 0.8)),
        cuboid(random.within(0.2, 1.5), random.within(0.2, 1.5), random.within(0.2, 1.5)),
        capsule(random.within(0.1, 0.5), random.within(0.2, 1.5)),
        cylinder(random.within(0.1, 0.8), random.within(0.2, 1.5)),
        cone(random.within(0.1, 0.8), random.within(0.2, 1.5)),
        hull(points),
    ]
}

fn compare(seed: u64, rounds: usize, gap: impl Fn(&mut Random) -> f64) {
    let mut random = Random(seed);
    for round in 0..rounds {
        let shapes = shapes(&mut random);
        for a in &shapes {
            for b in &shapes {
                let (pose_a, mut pose_b) = (random.pose(0.3), random.pose(0.0));
                // Moved along some direction until they are about `gap` apart along it.
                let d = random.direction();
                let wanted = gap(&mut random);
                pose_b.translation = pose_a.translation;
                let touch = separation(&(a.clone(), pose_a), &(b.clone(), pose_b), &d);
                pose_b.translation += d * (wanted - touch);
                let (expected, direction) = referee(&(a.clone(), pose_a), &(b.clone(), pose_b));
                let found = Two::new(a.clone(), b.clone()).between(pose_a, pose_b);
                let best = nearest(&found);
                let what =
                    || format!("seed {seed}, round {round}: {a:?} {b:?} {pose_a:?} {pose_b:?} {best:?} {direction}");
                // The referee's search stalls in creases of the separation, so it bounds the answer from below. From above it is bounded
                // by the definition: no direction has more separation than the largest.
                assert!(best.gap >= expected - 1e-9, "{} < {expected}: {}", best.gap, what());
                let own = separation(&(a.clone(), pose_a), &(b.clone(), pose_b), &best.normal);
                assert!((best.gap - own).abs() < 1e-9, "{} for {own}: {}", best.gap, what());
                // Points of the shapes that are this far apart prove that it is the distance. On curved edges they are good to half the digits.
                if best.gap > 0.0 {
                    assert!((best.on_b - best.on_a).norm() <= best.gap + 1e-9, "{}", what());
                    assert!(depth(a, &pose_a, &best.on_a) >= -1e-7, "{}", what());
                    assert!(depth(b, &pose_b, &best.on_b) >= -1e-7, "{}", what());
                }
            }
        }
    }
}

#[test]
fn apart() {
    compare(1, 12, |random| random.within(0.01, 2.0));
}

#[test]
fn nearly_touching() {
    compare(2, 8, |random| random.within(-12.0, -3.0).exp());
}

#[test]
fn slightly_overlapping() {
    compare(3, 8, |random| -random.within(1e-6, 0.02));
}
