//! Properties of the spatial algebra.

use nalgebra::{Matrix6, Vector6};
use proptest::prelude::*;
use signorini::spatial::*;

fn vec3() -> impl Strategy<Value = Vec3> {
    [-2.0..2.0f64, -2.0..2.0f64, -2.0..2.0f64].prop_map(Vec3::from)
}

fn quaternion() -> impl Strategy<Value = Quaternion> {
    [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64]
        .prop_filter("has a direction", |q| q.iter().map(|x| x * x).sum::<f64>() > 1e-2)
        .prop_map(|q| Quaternion(q).normalised())
}

fn pose() -> impl Strategy<Value = Pose> {
    (quaternion(), vec3()).prop_map(|(q, x)| Pose::new(q.to_matrix(), x))
}

fn twist() -> impl Strategy<Value = Twist> {
    (vec3(), vec3()).prop_map(|(a, l)| Twist::new(a, l))
}

fn inertia() -> impl Strategy<Value = Inertia> {
    (0.1..3.0f64, vec3(), [0.01..1.0f64, 0.01..1.0f64, 0.01..1.0f64], quaternion()).prop_map(|(m, c, [x, y, z], q)| {
        let principal = Sym3::from_array([y + z, x + z, x + y, 0.0, 0.0, 0.0]);
        Inertia::from_central(m, c, &principal.rotated(&q.to_matrix()))
    })
}

/// A handful of roundings of numbers of size ten.
const ROUNDING: f64 = 1e-13;

fn as_vector(t: &Twist) -> Vector6<f64> {
    t.to_array().into()
}

/// The 6×6 matrix of `Twist::shifted`.
fn shift_matrix(d: &Vec3) -> Matrix6<f64> {
    let mut x = Matrix6::identity();
    x.fixed_view_mut::<3, 3>(3, 0).copy_from(&-cross_matrix(d));
    x
}

proptest! {
    #[test]
    fn poses_form_a_group(a in pose(), b in pose(), c in pose(), x in vec3()) {
        let near = |p: Pose, q: Pose| (p.rotation - q.rotation).amax() + (p.translation - q.translation).amax() < ROUNDING;
        prop_assert!(near((a * b) * c, a * (b * c)));
        prop_assert!(near(a * a.inverse(), Pose::identity()));
        prop_assert!(((a * b).point(&x) - a.point(&b.point(&x))).norm() < ROUNDING);
    }

    #[test]
    fn shifting_motions_and_forces_is_adjoint(t in twist(), m in vec3(), f in vec3(), d in vec3()) {
        let w = Wrench::new(m, f);
        prop_assert!((t.shifted(&d).dot(&w) - t.dot(&w.shifted(&d))).abs() < 10.0 * ROUNDING);
        let back = t.shifted(&d).shifted(&-d);
        prop_assert!((back.linear - t.linear).norm() < ROUNDING);
    }

    #[test]
    fn symmetric_blocks_stand_for_their_matrices(i in inertia(), j in inertia(), t in twist(), d in vec3()) {
        let (a, b) = (i.to_sym6(), j.to_sym6());
        let w: Vector6<f64> = a.times(&t).to_array().into();
        prop_assert!((w - a.to_matrix() * as_vector(&t)).amax() < 100.0 * ROUNDING);
        prop_assert!(((a + b).to_matrix() - a.to_matrix() - b.to_matrix()).amax() < ROUNDING);
        let x = shift_matrix(&d);
        prop_assert!((a.shifted(&d).to_matrix() - x.transpose() * a.to_matrix() * x).amax() < 1000.0 * ROUNDING);
        let u = a.times(&t);
        let s = 1.0 / t.dot(&u).max(1.0);
        let v: Vector6<f64> = u.to_array().into();
        let wanted = a.to_matrix() - v * v.transpose() * s;
        prop_assert!((a.minus_outer(&u, &(u * s)).to_matrix() - wanted).amax() < 1e-9);
    }

    #[test]
    fn energy_does_not_depend_on_point_or_axes(i in inertia(), t in twist(), q in quaternion(), d in vec3()) {
        let energy = i.kinetic(&t);
        let r = q.to_matrix();
        let turned = i.rotated(&r).kinetic(&Twist::new(r * t.angular, r * t.linear));
        prop_assert!((energy - turned).abs() <= 1e-12 * (1.0 + energy));
        let moved = i.to_sym6().shifted(&d);
        let elsewhere = t.shifted(&-d);
        prop_assert!((0.5 * elsewhere.dot(&moved.times(&elsewhere)) - energy).abs() <= 1e-11 * (1.0 + energy));
        prop_assert!(energy >= 0.0);
    }

    #[test]
    fn quaternions_are_rotations(a in quaternion(), b in quaternion(), r in vec3()) {
        let m = a.to_matrix();
        prop_assert!((m.transpose() * m - Mat3::identity()).amax() < ROUNDING);
        prop_assert!((m.determinant() - 1.0).abs() < ROUNDING);
        prop_assert!((a.times(&b).to_matrix() - m * b.to_matrix()).amax() < ROUNDING);
        let back = Quaternion::from_matrix(&m).nearest(&a);
        prop_assert!(back.0.iter().zip(a.0).all(|(x, y)| (x - y).abs() < ROUNDING));
        // |r| ≤ 2√3 < 2π: the logarithm returns the same rotation, by the shorter way.
        let turned = Quaternion::exp(&r);
        prop_assert!((Quaternion::exp(&turned.log()).to_matrix() - turned.to_matrix()).amax() < ROUNDING);
    }

    #[test]
    fn rates_are_derivatives(q in quaternion(), omega in vec3()) {
        // Central difference of q ∘ exp(ω t): error h² · |ω|³ / 24 with h = 1e-4.
        let h = 1e-4;
        let at = |s: f64| q.times(&Quaternion::exp(&(omega * s))).0;
        let (plus, minus) = (at(h), at(-h));
        for (k, rate) in q.rate(&omega).into_iter().enumerate() {
            prop_assert!(((plus[k] - minus[k]) / (2.0 * h) - rate).abs() < 1e-7);
        }
    }
}

#[test]
fn quaternions_stay_unit_over_a_million_steps() {
    let mut q = Quaternion([0.5, 0.5, -0.5, 0.5]);
    let mut omega = Vec3::new(0.013, -0.007, 0.011);
    for _ in 0..1_000_000 {
        q = q.times(&Quaternion::exp(&omega)).normalised();
        omega = Vec3::new(omega.y, omega.z, -omega.x);
        let norm: f64 = q.0.iter().map(|x| x * x).sum();
        assert!((norm - 1.0).abs() <= 4.0 * f64::EPSILON, "{norm}");
    }
}
