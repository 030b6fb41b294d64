//! Between the arrays of scenes and vectors.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// Three numbers as a vector.
pub fn vector(x: [f64; 3]) -> Vector3<f64> {
    Vector3::from(x)
}

/// A vector as three numbers.
pub fn array(v: Vector3<f64>) -> [f64; 3] {
    [v.x, v.y, v.z]
}

/// w x y z as a rotation; none is no rotation.
pub fn rotation(q: Option<[f64; 4]>) -> UnitQuaternion<f64> {
    q.map_or_else(UnitQuaternion::identity, |[w, x, y, z]| UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)))
}

/// A rotation as w x y z.
pub fn quaternion(q: UnitQuaternion<f64>) -> [f64; 4] {
    [q.w, q.i, q.j, q.k]
}
