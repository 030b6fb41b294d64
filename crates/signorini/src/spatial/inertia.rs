//! Inertia of a rigid body.

use super::{Mat3, Sym3, Sym6, Twist, Vec3, Wrench, product};

/// Mass, centre of mass and moments about a reference point, all in one set of axes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Inertia {
    /// Mass.
    pub mass: f64,
    /// Centre of mass relative to the reference point.
    pub com: Vec3,
    /// Moments of inertia about the reference point.
    pub moments: Sym3,
}

impl Inertia {
    /// From moments about the centre of mass.
    pub fn from_central(mass: f64, com: Vec3, central: &Sym3) -> Self {
        Self { mass, com, moments: *central + Sym3::of_point_mass(mass, &com) }
    }

    /// The same body in axes turned by `r`.
    #[inline(always)]
    pub fn rotated(&self, r: &Mat3) -> Self {
        Self { mass: self.mass, com: product(r, &self.com), moments: self.moments.rotated(r) }
    }

    /// As a 6×6 block on (angular acceleration, acceleration of the reference point).
    #[inline(always)]
    pub fn to_sym6(&self) -> Sym6 {
        let c = self.com * self.mass;
        let al = Mat3::new(0.0, -c.z, c.y, c.z, 0.0, -c.x, -c.y, c.x, 0.0);
        Sym6 { aa: self.moments, al, ll: Sym3::scaled_identity(self.mass) }
    }

    /// Forces that the motion itself asks for: (ω × Jω, m ω × (ω × c)).
    #[inline(always)]
    pub fn gyroscopic(&self, omega: &Vec3) -> Wrench {
        let spin = omega.cross(&(omega.cross(&self.com)));
        Wrench::new(omega.cross(&self.moments.times(omega)), spin * self.mass)
    }

    /// Kinetic energy of a motion given at the reference point.
    pub fn kinetic(&self, t: &Twist) -> f64 {
        let (spin, v) = (&t.angular, &t.linear);
        let of_centre = v.dot(&(v * 0.5 + spin.cross(&self.com)));
        0.5 * spin.dot(&self.moments.times(spin)) + self.mass * of_centre
    }
}
