//! Symmetric 3×3 and 6×6 blocks, stored and multiplied as symmetric.

use super::{Mat3, Twist, Vec3, Wrench};
use std::ops::{Add, AddAssign};

/// A symmetric 3×3 matrix.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[allow(missing_docs)]
pub struct Sym3 {
    pub xx: f64,
    pub yy: f64,
    pub zz: f64,
    pub xy: f64,
    pub xz: f64,
    pub yz: f64,
}

impl Sym3 {
    /// `s` times the identity.
    #[inline(always)]
    pub const fn scaled_identity(s: f64) -> Self {
        Self { xx: s, yy: s, zz: s, xy: 0.0, xz: 0.0, yz: 0.0 }
    }

    /// From xx, yy, zz, xy, xz, yz.
    pub const fn from_array(a: [f64; 6]) -> Self {
        Self { xx: a[0], yy: a[1], zz: a[2], xy: a[3], xz: a[4], yz: a[5] }
    }

    /// The symmetric part of a matrix.
    pub fn from_matrix(m: &Mat3) -> Self {
        let half = |i, j| 0.5 * (m[(i, j)] + m[(j, i)]);
        Self { xx: m[(0, 0)], yy: m[(1, 1)], zz: m[(2, 2)], xy: half(0, 1), xz: half(0, 2), yz: half(1, 2) }
    }

    /// As a full matrix.
    pub fn to_matrix(&self) -> Mat3 {
        Mat3::new(self.xx, self.xy, self.xz, self.xy, self.yy, self.yz, self.xz, self.yz, self.zz)
    }

    /// Sum of the diagonal.
    #[inline(always)]
    pub fn trace(&self) -> f64 {
        self.xx + self.yy + self.zz
    }

    /// Product with a vector.
    #[inline(always)]
    pub fn times(&self, v: &Vec3) -> Vec3 {
        Vec3::new(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )
    }

    /// R · self · Rᵀ. A diagonal matrix, the usual inertia, takes a third of the work: with x, y, z the columns of R,
    /// a x xᵀ + b y yᵀ + c z zᵀ = c 1 + (a − c) x xᵀ + (b − c) y yᵀ.
    #[inline(always)]
    pub fn rotated(&self, r: &Mat3) -> Self {
        if self.xy == 0.0 && self.xz == 0.0 && self.yz == 0.0 {
            let (a, b, c) = (self.xx - self.zz, self.yy - self.zz, self.zz);
            let (x0, x1, x2) = (r[(0, 0)], r[(1, 0)], r[(2, 0)]);
            let (y0, y1, y2) = (r[(0, 1)], r[(1, 1)], r[(2, 1)]);
            let (ax0, ax1, ax2) = (a * x0, a * x1, a * x2);
            let (by0, by1, by2) = (b * y0, b * y1, b * y2);
            return Self {
                xx: c + (ax0 * x0 + by0 * y0),
                yy: c + (ax1 * x1 + by1 * y1),
                zz: c + (ax2 * x2 + by2 * y2),
                xy: ax0 * x1 + by0 * y1,
                xz: ax0 * x2 + by0 * y2,
                yz: ax1 * x2 + by1 * y2,
            };
        }
        let row = |i: usize| Vec3::new(r[(i, 0)], r[(i, 1)], r[(i, 2)]);
        let (a, b, c) = (row(0), row(1), row(2));
        let (ia, ib, ic) = (self.times(&a), self.times(&b), self.times(&c));
        Self { xx: a.dot(&ia), yy: b.dot(&ib), zz: c.dot(&ic), xy: a.dot(&ib), xz: a.dot(&ic), yz: b.dot(&ic) }
    }

    /// |a|² 1 − a aᵀ times `m`: the inertia about the origin of a mass `m` at `a`.
    #[inline(always)]
    pub fn of_point_mass(m: f64, a: &Vec3) -> Self {
        let (x, y, z) = (a.x * a.x, a.y * a.y, a.z * a.z);
        Self {
            xx: m * (y + z),
            yy: m * (x + z),
            zz: m * (x + y),
            xy: -m * a.x * a.y,
            xz: -m * a.x * a.z,
            yz: -m * a.y * a.z,
        }
    }

    /// self − s · u uᵀ.
    #[inline(always)]
    pub fn minus_outer(&self, u: &Vec3, su: &Vec3) -> Self {
        Self {
            xx: self.xx - u.x * su.x,
            yy: self.yy - u.y * su.y,
            zz: self.zz - u.z * su.z,
            xy: self.xy - u.x * su.y,
            xz: self.xz - u.x * su.z,
            yz: self.yz - u.y * su.z,
        }
    }
}

impl Add for Sym3 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self {
            xx: self.xx + o.xx,
            yy: self.yy + o.yy,
            zz: self.zz + o.zz,
            xy: self.xy + o.xy,
            xz: self.xz + o.xz,
            yz: self.yz + o.yz,
        }
    }
}

/// m · v, written out: in the recursions' inner loops the general routine costs twice as much.
#[inline(always)]
pub fn product(m: &Mat3, v: &Vec3) -> Vec3 {
    Vec3::new(
        m[(0, 0)] * v.x + m[(0, 1)] * v.y + m[(0, 2)] * v.z,
        m[(1, 0)] * v.x + m[(1, 1)] * v.y + m[(1, 2)] * v.z,
        m[(2, 0)] * v.x + m[(2, 1)] * v.y + m[(2, 2)] * v.z,
    )
}

/// mᵀ · v, written out.
#[inline(always)]
pub fn transposed_product(m: &Mat3, v: &Vec3) -> Vec3 {
    Vec3::new(
        m[(0, 0)] * v.x + m[(1, 0)] * v.y + m[(2, 0)] * v.z,
        m[(0, 1)] * v.x + m[(1, 1)] * v.y + m[(2, 1)] * v.z,
        m[(0, 2)] * v.x + m[(1, 2)] * v.y + m[(2, 2)] * v.z,
    )
}

/// A symmetric 6×6 matrix from motions to forces, in 3×3 blocks: moment = aa·angular + al·linear,
/// force = alᵀ·angular + ll·linear.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sym6 {
    /// Angular–angular block.
    pub aa: Sym3,
    /// Angular–linear block.
    pub al: Mat3,
    /// Linear–linear block.
    pub ll: Sym3,
}

impl Sym6 {
    /// Product with a motion.
    #[inline(always)]
    pub fn times(&self, t: &Twist) -> Wrench {
        Wrench::new(
            self.aa.times(&t.angular) + product(&self.al, &t.linear),
            transposed_product(&self.al, &t.angular) + self.ll.times(&t.linear),
        )
    }

    /// self − u uᵀ / d, with `ud` = u / d.
    #[inline(always)]
    pub fn minus_outer(&self, u: &Wrench, ud: &Wrench) -> Self {
        let (m, f) = (&u.moment, &ud.force);
        Self {
            aa: self.aa.minus_outer(m, &ud.moment),
            al: Mat3::new(
                self.al[(0, 0)] - m.x * f.x,
                self.al[(0, 1)] - m.x * f.y,
                self.al[(0, 2)] - m.x * f.z,
                self.al[(1, 0)] - m.y * f.x,
                self.al[(1, 1)] - m.y * f.y,
                self.al[(1, 2)] - m.y * f.z,
                self.al[(2, 0)] - m.z * f.x,
                self.al[(2, 1)] - m.z * f.y,
                self.al[(2, 2)] - m.z * f.z,
            ),
            ll: self.ll.minus_outer(&u.force, f),
        }
    }

    /// The same inertia seen at the point from which its present point lies `d` away:
    /// Xᵀ·self·X with X the map of [`Twist::shifted`]. With d̃ the cross matrix of d:
    /// al′ = al + d̃ ll, aa′ = aa + d̃ alᵀ − al′ d̃.
    #[inline(always)]
    pub fn shifted(&self, d: &Vec3) -> Self {
        let (x, y, z) = (d.x, d.y, d.z);
        let (b, c) = (&self.al, &self.ll);
        let (b00, b01, b02) = (b[(0, 0)], b[(0, 1)], b[(0, 2)]);
        let (b10, b11, b12) = (b[(1, 0)], b[(1, 1)], b[(1, 2)]);
        let (b20, b21, b22) = (b[(2, 0)], b[(2, 1)], b[(2, 2)]);
        let e00 = b00 + (y * c.xz - z * c.xy);
        let e01 = b01 + (y * c.yz - z * c.yy);
        let e02 = b02 + (y * c.zz - z * c.yz);
        let e10 = b10 + (z * c.xx - x * c.xz);
        let e11 = b11 + (z * c.xy - x * c.yz);
        let e12 = b12 + (z * c.xz - x * c.zz);
        let e20 = b20 + (x * c.xy - y * c.xx);
        let e21 = b21 + (x * c.yy - y * c.xy);
        let e22 = b22 + (x * c.yz - y * c.xz);
        // Entry ij of d̃ alᵀ is d_(i+1) al_j,(i+2) − d_(i+2) al_j,(i+1); of al′ d̃ it is al′_i,(j+1) d_(j+2) − al′_i,(j+2) d_(j+1).
        let a = &self.aa;
        let aa = Sym3 {
            xx: a.xx + (y * b02 - z * b01) - (e01 * z - e02 * y),
            yy: a.yy + (z * b10 - x * b12) - (e12 * x - e10 * z),
            zz: a.zz + (x * b21 - y * b20) - (e20 * y - e21 * x),
            xy: a.xy + (y * b12 - z * b11) - (e02 * x - e00 * z),
            xz: a.xz + (y * b22 - z * b21) - (e00 * y - e01 * x),
            yz: a.yz + (z * b20 - x * b22) - (e10 * y - e11 * x),
        };
        Self { aa, al: Mat3::new(e00, e01, e02, e10, e11, e12, e20, e21, e22), ll: *c }
    }

    /// As a full matrix.
    pub fn to_matrix(&self) -> nalgebra::Matrix6<f64> {
        let mut m = nalgebra::Matrix6::zeros();
        m.fixed_view_mut::<3, 3>(0, 0).copy_from(&self.aa.to_matrix());
        m.fixed_view_mut::<3, 3>(0, 3).copy_from(&self.al);
        m.fixed_view_mut::<3, 3>(3, 0).copy_from(&self.al.transpose());
        m.fixed_view_mut::<3, 3>(3, 3).copy_from(&self.ll.to_matrix());
        m
    }
}

impl Add for Sym6 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self { aa: self.aa + o.aa, al: self.al + o.al, ll: self.ll + o.ll }
    }
}

impl AddAssign for Sym6 {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
