//! Unit quaternions, w x y z, as coordinates of rotations.

use super::{Mat3, Vec3};

/// A quaternion w x y z; a rotation where its norm is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quaternion(pub [f64; 4]);

impl Default for Quaternion {
    fn default() -> Self {
        Self([1.0, 0.0, 0.0, 0.0])
    }
}

impl Quaternion {
    /// Rotation by the length of `r` about its direction.
    pub fn exp(r: &Vec3) -> Self {
        let angle = r.norm();
        let half = 0.5 * angle;
        // sin(x)/x is even and analytic: below 1e-3 its third term is under rounding.
        let k = if half < 1e-3 { 0.5 * (1.0 - half * half / 6.0) } else { half.sin() / angle };
        Self([half.cos(), k * r.x, k * r.y, k * r.z]).normalised()
    }

    /// The rotation vector, of length at most π.
    pub fn log(&self) -> Vec3 {
        let [w, x, y, z] = self.0;
        let sign = if w < 0.0 { -1.0 } else { 1.0 };
        let v = Vec3::new(x, y, z) * sign;
        let s = v.norm();
        if s == 0.0 {
            return v;
        }
        v * (2.0 * s.atan2(w * sign) / s)
    }

    /// Of norm one; the identity where the norm is zero.
    pub fn normalised(&self) -> Self {
        let [w, x, y, z] = self.0;
        let n = (w * w + x * x + y * y + z * z).sqrt();
        if n > 0.0 { Self([w / n, x / n, y / n, z / n]) } else { Self::default() }
    }

    /// The reverse rotation.
    pub fn conjugate(&self) -> Self {
        let [w, x, y, z] = self.0;
        Self([w, -x, -y, -z])
    }

    /// This rotation after `o`.
    pub fn times(&self, o: &Self) -> Self {
        let [a, b, c, d] = self.0;
        let [e, f, g, h] = o.0;
        Self([
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ])
    }

    /// Rate of change under an angular velocity given in the axes of the turning frame: ½ q ∘ ω.
    pub fn rate(&self, omega: &Vec3) -> [f64; 4] {
        self.times(&Self([0.0, 0.5 * omega.x, 0.5 * omega.y, 0.5 * omega.z])).0
    }

    /// The rotation matrix of a unit quaternion.
    pub fn to_matrix(self) -> Mat3 {
        let [w, x, y, z] = self.0;
        let (xx, yy, zz) = (x * x, y * y, z * z);
        let (xy, xz, yz) = (x * y, x * z, y * z);
        let (wx, wy, wz) = (w * x, w * y, w * z);
        Mat3::new(
            1.0 - 2.0 * (yy + zz),
            2.0 * (xy - wz),
            2.0 * (xz + wy),
            2.0 * (xy + wz),
            1.0 - 2.0 * (xx + zz),
            2.0 * (yz - wx),
            2.0 * (xz - wy),
            2.0 * (yz + wx),
            1.0 - 2.0 * (xx + yy),
        )
    }

    /// The unit quaternion of a rotation matrix (the largest component is found first, so nothing cancels).
    pub fn from_matrix(m: &Mat3) -> Self {
        let (a, b, c) = (m[(0, 0)], m[(1, 1)], m[(2, 2)]);
        let t = [1.0 + a + b + c, 1.0 + a - b - c, 1.0 - a + b - c, 1.0 - a - b + c];
        let k = (0..4).fold(0, |k, i| if t[i] > t[k] { i } else { k });
        let (x, y, z) = (m[(2, 1)] - m[(1, 2)], m[(0, 2)] - m[(2, 0)], m[(1, 0)] - m[(0, 1)]);
        let (xy, xz, yz) = (m[(1, 0)] + m[(0, 1)], m[(0, 2)] + m[(2, 0)], m[(2, 1)] + m[(1, 2)]);
        let q = match k {
            0 => [t[0], x, y, z],
            1 => [x, t[1], xy, xz],
            2 => [y, xy, t[2], yz],
            _ => [z, xz, yz, t[3]],
        };
        Self(q).normalised()
    }

    /// Of the two quaternions of this rotation, the one nearer to `to`.
    pub fn nearest(&self, to: &Self) -> Self {
        let dot: f64 = self.0.iter().zip(to.0).map(|(a, b)| a * b).sum();
        if dot < 0.0 { Self(self.0.map(|x| -x)) } else { *self }
    }
}
