//! Motions and forces.

use super::Vec3;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// A velocity or acceleration of a rigid body: angular part, and linear part of one of its points.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Twist {
    /// Angular part.
    pub angular: Vec3,
    /// Linear part at the reference point.
    pub linear: Vec3,
}

/// A force system on a rigid body: moment about one of its points, and force.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Wrench {
    /// Moment about the reference point.
    pub moment: Vec3,
    /// Force.
    pub force: Vec3,
}

impl Twist {
    /// From its parts.
    pub const fn new(angular: Vec3, linear: Vec3) -> Self {
        Self { angular, linear }
    }

    /// The same motion, with the linear part taken at a point that lies `d` away.
    #[inline(always)]
    pub fn shifted(&self, d: &Vec3) -> Self {
        Self::new(self.angular, self.linear + self.angular.cross(d))
    }

    /// Power of a wrench on this motion, both at one point.
    #[inline(always)]
    pub fn dot(&self, w: &Wrench) -> f64 {
        self.angular.dot(&w.moment) + self.linear.dot(&w.force)
    }

    /// As an array, angular part first.
    pub fn to_array(self) -> [f64; 6] {
        let (a, l) = (self.angular, self.linear);
        [a.x, a.y, a.z, l.x, l.y, l.z]
    }
}

impl Wrench {
    /// From its parts.
    pub const fn new(moment: Vec3, force: Vec3) -> Self {
        Self { moment, force }
    }

    /// The same force system, with the moment taken about the point from which its present point lies `d` away.
    ///
    /// Adjoint of [`Twist::shifted`]: `t.shifted(d).dot(w) == t.dot(w.shifted(d))`.
    #[inline(always)]
    pub fn shifted(&self, d: &Vec3) -> Self {
        Self::new(self.moment + d.cross(&self.force), self.force)
    }

    /// As an array, moment first.
    pub fn to_array(self) -> [f64; 6] {
        let (m, f) = (self.moment, self.force);
        [m.x, m.y, m.z, f.x, f.y, f.z]
    }
}

macro_rules! linear_space {
    ($name:ident, $a:ident, $b:ident) => {
        impl Add for $name {
            type Output = Self;
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                Self { $a: self.$a + o.$a, $b: self.$b + o.$b }
            }
        }
        impl Sub for $name {
            type Output = Self;
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                Self { $a: self.$a - o.$a, $b: self.$b - o.$b }
            }
        }
        impl AddAssign for $name {
            #[inline(always)]
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }
        impl Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self { $a: -self.$a, $b: -self.$b }
            }
        }
        impl Mul<f64> for $name {
            type Output = Self;
            #[inline(always)]
            fn mul(self, s: f64) -> Self {
                Self { $a: self.$a * s, $b: self.$b * s }
            }
        }
    };
}
linear_space!(Twist, angular, linear);
linear_space!(Wrench, moment, force);
