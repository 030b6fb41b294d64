//! Unit vectors and rotations from what a user wrote.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// The power of two just below a positive number: dividing by it changes no bits but the exponent's.
pub(crate) fn power_of_two_below(x: f64) -> f64 {
    let exponent_only = f64::from_bits(x.to_bits() & 0x7ff0_0000_0000_0000);
    exponent_only.clamp(f64::MIN_POSITIVE, f64::MAX)
}

/// The unit vector along `v`, or nothing if `v` has no direction (zero, or not finite).
///
/// Components are brought near one first, so that neither tiny nor huge ones are lost in the squares.
pub(crate) fn unit(v: [f64; 3]) -> Option<Vector3<f64>> {
    let scaled = near_one(v)?;
    let v = Vector3::from(scaled);
    Some(v / v.norm())
}

/// The rotation that a quaternion w x y z stands for, whatever its length; nothing if it has no direction.
pub(crate) fn unit_quaternion(q: [f64; 4]) -> Option<UnitQuaternion<f64>> {
    let [w, x, y, z] = near_one(q)?;
    Some(UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)))
}

/// The rotation of an optional orientation: identity where none is given, or where it has no direction (which
/// [`validate`](super::validate::validate) reports).
pub fn rotation(orientation: Option<[f64; 4]>) -> UnitQuaternion<f64> {
    orientation.and_then(unit_quaternion).unwrap_or_else(UnitQuaternion::identity)
}

fn near_one<const N: usize>(v: [f64; N]) -> Option<[f64; N]> {
    let largest = v.iter().fold(0.0, |m: f64, x| if x.is_nan() { f64::NAN } else { m.max(x.abs()) });
    if !(largest.is_finite() && largest > 0.0) || v.iter().any(|x| x.is_nan()) {
        return None;
    }
    let scale = power_of_two_below(largest);
    Some(v.map(|x| x / scale))
}

/// Where the smallest rotation that takes z to the unit vector `a` takes x. For a = −z, x stays.
pub(crate) fn image_of_x(a: &Vector3<f64>) -> Vector3<f64> {
    // R = 1 + [w]× + [w]×²/(1 + a_z), w = z × a. Near a = −z, 1 + a_z is found from a_x² + a_y² without cancellation.
    let sideways = a.x * a.x + a.y * a.y;
    let one_plus = if a.z < 0.0 { sideways / (1.0 - a.z) } else { 1.0 + a.z };
    if one_plus == 0.0 {
        return Vector3::x();
    }
    let image = Vector3::new(1.0 - a.x * (a.x / one_plus), -a.x * (a.y / one_plus), -a.x);
    perpendicular(a, &image)
}

/// The unit vector along the part of `b` that is perpendicular to the unit vector `a`.
pub(crate) fn perpendicular(a: &Vector3<f64>, b: &Vector3<f64>) -> Vector3<f64> {
    let rest = b - a * a.dot(b);
    // A second pass removes what rounding left of `a` when b was nearly along it.
    let rest = rest - a * a.dot(&rest);
    unit(rest.into()).unwrap_or_else(|| image_of_x_fallback(a))
}

fn image_of_x_fallback(a: &Vector3<f64>) -> Vector3<f64> {
    let other = if a.x.abs() < 0.5 { Vector3::x() } else { Vector3::y() };
    a.cross(&other).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn extreme_lengths_keep_their_direction() {
        for length in [1e-320, 1e-200, 1.0, 1e200, f64::MAX] {
            let v = unit([0.0, -length, 0.0]).unwrap();
            assert_eq!(v, -Vector3::y());
        }
        assert_eq!(unit([0.0; 3]), None);
        assert_eq!(unit([f64::NAN, 1.0, 0.0]), None);
        assert_eq!(unit([f64::INFINITY, 1.0, 0.0]), None);
        assert_eq!(unit_quaternion([0.0; 4]), None);
    }

    #[test]
    fn image_of_x_at_the_poles() {
        assert_eq!(image_of_x(&Vector3::z()), Vector3::x());
        assert_eq!(image_of_x(&-Vector3::z()), Vector3::x());
        assert_eq!(image_of_x(&Vector3::x()), -Vector3::z());
        assert_eq!(image_of_x(&Vector3::y()), Vector3::x());
    }

    proptest! {
        /// Agrees with nalgebra's rotation between two vectors, an independent construction.
        #[test]
        fn image_of_x_is_the_smallest_rotation(x in -1.0..1.0, y in -1.0..1.0, z in -1.0..1.0) {
            prop_assume!(Vector3::new(x, y, z).norm() > 1e-3);
            let a = unit([x, y, z]).unwrap();
            prop_assume!(a.z > -0.999);
            let rotation = UnitQuaternion::rotation_between(&Vector3::z(), &a).unwrap();
            let error = (image_of_x(&a) - rotation * Vector3::x()).norm();
            // Both are a dozen operations; near −z the reference loses digits like 1/(1 + a_z) ≤ 1000.
            prop_assert!(error < 1e-12, "{error}");
        }

        #[test]
        fn power_of_two_scaling_changes_no_bits(x in -1.0..1.0, y in -1.0..1.0, z in 0.1..1.0, k in -60..60) {
            let s = 2f64.powi(k);
            prop_assert_eq!(unit([x, y, z]), unit([s * x, s * y, s * z]));
        }
    }
}
