//! Articulated inertia and force in registers of four numbers, column by column.

use crate::simd::Space;
use crate::spatial::{Inertia, Mat3, Sym3, Vec3, Wrench};

/// An inertia at rest in memory.
pub(crate) type StoredInertia = [[f64; 4]; 12];

/// A force at rest in memory.
pub(crate) type StoredForce = [[f64; 4]; 2];

/// Force system: moment and force.
#[derive(Clone, Copy)]
pub(super) struct Force<V> {
    pub moment: V,
    pub force: V,
}

/// A 6×6 inertia in 3×3 blocks of columns: moment = aa·angular + al·linear, force = la·angular + ll·linear. Both halves are kept, since
/// a whole column takes no longer than one number.
#[derive(Clone, Copy)]
pub(super) struct Columns<V> {
    aa: [V; 3],
    al: [V; 3],
    la: [V; 3],
    ll: [V; 3],
}

/// A vector in a register.
#[inline(always)]
pub(super) fn lanes<V: Space>(token: V::Token, x: &Vec3) -> V {
    V::load(token, &[x.x, x.y, x.z, 0.0])
}

#[inline(always)]
fn vector<V: Space>(x: V) -> Vec3 {
    let mut out = [0.0; 4];
    x.store(&mut out);
    Vec3::new(out[0], out[1], out[2])
}

/// A combination of columns.
#[inline(always)]
fn combined<V: Space>([x, y, z]: &[V; 3], s: &Vec3) -> V {
    x.times(s.x).plus(y.times(s.y)).plus(z.times(s.z))
}

/// The matrix with these columns times the cross matrix of d.
#[inline(always)]
fn times_cross<V: Space>([x, y, z]: &[V; 3], d: &Vec3) -> [V; 3] {
    [y.times(d.z).minus(z.times(d.y)), z.times(d.x).minus(x.times(d.z)), x.times(d.y).minus(y.times(d.x))]
}

/// As [`Sym3::rotated`].
#[inline(always)]
fn turned_moments<V: Space>(j: &Sym3, axes: &Mat3, lanes: &[V; 3], unit: &[V; 3]) -> [V; 3] {
    let [x, y, _] = *lanes;
    if j.xy == 0.0 && j.xz == 0.0 && j.yz == 0.0 {
        let (x, y) = (x.times(j.xx - j.zz), y.times(j.yy - j.zz));
        let column = |k: usize| x.times(axes[(k, 0)]).plus(y.times(axes[(k, 1)])).plus(unit[k].times(j.zz));
        return [column(0), column(1), column(2)];
    }
    let half = |x: f64, y: f64, z: f64| combined(lanes, &Vec3::new(x, y, z));
    let half = [half(j.xx, j.xy, j.xz), half(j.xy, j.yy, j.yz), half(j.xz, j.yz, j.zz)];
    let column = |k: usize| combined(&half, &Vec3::new(axes[(k, 0)], axes[(k, 1)], axes[(k, 2)]));
    [column(0), column(1), column(2)]
}

/// Column by column.
#[inline(always)]
fn zipped<V: Space>([a, b, c]: [V; 3], [x, y, z]: [V; 3], f: impl Fn(V, V) -> V) -> [V; 3] {
    [f(a, x), f(b, y), f(c, z)]
}

impl<V: Space> Force<V> {
    #[inline(always)]
    pub fn load(token: V::Token, w: &Wrench) -> Self {
        Self { moment: lanes(token, &w.moment), force: lanes(token, &w.force) }
    }

    #[inline(always)]
    pub fn to_wrench(self) -> Wrench {
        Wrench::new(vector(self.moment), vector(self.force))
    }

    #[inline(always)]
    pub fn plus(self, o: Self) -> Self {
        Self { moment: self.moment.plus(o.moment), force: self.force.plus(o.force) }
    }

    #[inline(always)]
    pub fn minus(self, o: Self) -> Self {
        Self { moment: self.moment.minus(o.moment), force: self.force.minus(o.force) }
    }

    #[inline(always)]
    pub fn times(self, x: f64) -> Self {
        Self { moment: self.moment.times(x), force: self.force.times(x) }
    }

    /// As [`Wrench::shifted`].
    #[inline(always)]
    pub fn shifted(self, d: V) -> Self {
        Self { moment: self.moment.plus(d.cross(self.force)), force: self.force }
    }

    /// Adds this to what is in memory.
    #[inline(always)]
    pub fn add_to(self, [moment, force]: &mut StoredForce) {
        let token = self.moment.token();
        V::load(token, moment).plus(self.moment).store(moment);
        V::load(token, force).plus(self.force).store(force);
    }

    /// Takes what is in memory, which becomes zero.
    #[inline(always)]
    pub fn take(token: V::Token, stored: &mut StoredForce) -> Self {
        let taken = Self { moment: V::load(token, &stored[0]), force: V::load(token, &stored[1]) };
        *stored = StoredForce::default();
        taken
    }
}

impl<V: Space> Columns<V> {
    /// Of a rigid body with these axes, and the force that its spin asks for, as [`Inertia::gyroscopic`].
    #[inline(always)]
    pub fn of_body(token: V::Token, body: &Inertia, axes: &Mat3, omega: &Vec3) -> (Self, Force<V>) {
        let unit: [V; 3] = [
            V::load(token, &[1.0, 0.0, 0.0, 0.0]),
            V::load(token, &[0.0, 1.0, 0.0, 0.0]),
            V::load(token, &[0.0, 0.0, 1.0, 0.0]),
        ];
        let omega_lanes: V = lanes(token, omega);
        let column = |k: usize| lanes(token, &axes.column(k).into());
        let axes_lanes: [V; 3] = [column(0), column(1), column(2)];
        let aa = turned_moments(&body.moments, axes, &axes_lanes, &unit);
        let com: V = combined(&axes_lanes, &body.com);
        // Columns of the cross matrix of the first moment.
        let first = com.times(body.mass);
        let (on, back) = (first.turned(), first.turned_back());
        let [on, back] = [
            [on.mul(unit[1]), on.mul(unit[2]), on.mul(unit[0])],
            [back.mul(unit[2]), back.mul(unit[0]), back.mul(unit[1])],
        ];
        let inertia = Self {
            aa,
            al: zipped(on, back, V::minus),
            la: zipped(back, on, V::minus),
            ll: [unit[0].times(body.mass), unit[1].times(body.mass), unit[2].times(body.mass)],
        };
        let spin = omega_lanes.cross(omega_lanes.cross(com)).times(body.mass);
        (inertia, Force { moment: omega_lanes.cross(combined(&aa, omega)), force: spin })
    }

    #[inline(always)]
    pub fn plus(self, o: Self) -> Self {
        Self {
            aa: zipped(self.aa, o.aa, V::plus),
            al: zipped(self.al, o.al, V::plus),
            la: zipped(self.la, o.la, V::plus),
            ll: zipped(self.ll, o.ll, V::plus),
        }
    }

    /// Product with a turn.
    #[inline(always)]
    pub fn times_angular(&self, angular: &Vec3) -> Force<V> {
        Force { moment: combined(&self.aa, angular), force: combined(&self.la, angular) }
    }

    /// Product with a translation.
    #[inline(always)]
    pub fn times_linear(&self, linear: &Vec3) -> Force<V> {
        Force { moment: combined(&self.al, linear), force: combined(&self.ll, linear) }
    }

    /// Sums of the diagonals of the angular and the linear block.
    #[inline(always)]
    pub fn traces(&self) -> (f64, f64) {
        let trace = |[a, b, c]: &[V; 3]| vector(*a).x + vector(*b).y + vector(*c).z;
        (trace(&self.aa), trace(&self.ll))
    }

    /// As [`crate::spatial::Sym6::shifted`]; `d` in a register and as a vector.
    #[inline(always)]
    pub fn shifted(&self, d: V, vector: &Vec3) -> Self {
        let Self { aa, al, la, ll } = *self;
        let al = zipped(al, ll, |al, ll| al.plus(d.cross(ll)));
        let turned = zipped(aa, la, |aa, la| aa.plus(d.cross(la)));
        Self {
            aa: zipped(turned, times_cross(&al, vector), V::minus),
            al,
            la: zipped(la, times_cross(&ll, vector), V::minus),
            ll,
        }
    }

    /// self − u uᵀ/D, with `share` = u/D in a register and u as a wrench.
    #[inline(always)]
    pub fn minus_outer(self, share: Force<V>, u: &Wrench) -> Self {
        let less = |[x, y, z]: [V; 3], by: V, s: &Vec3| {
            [x.minus(by.times(s.x)), y.minus(by.times(s.y)), z.minus(by.times(s.z))]
        };
        Self {
            aa: less(self.aa, share.moment, &u.moment),
            al: less(self.al, share.moment, &u.force),
            la: less(self.la, share.force, &u.moment),
            ll: less(self.ll, share.force, &u.force),
        }
    }

    /// Adds this to what is in memory.
    #[inline(always)]
    pub fn add_to(&self, stored: &mut StoredInertia) {
        let columns = [self.aa, self.al, self.la, self.ll];
        for (to, column) in stored.iter_mut().zip(columns.as_flattened()) {
            V::load(column.token(), to).plus(*column).store(to);
        }
    }

    /// Takes what is in memory, which becomes zero.
    #[inline(always)]
    pub fn take(token: V::Token, stored: &mut StoredInertia) -> Self {
        let three =
            |k: usize| [V::load(token, &stored[k]), V::load(token, &stored[k + 1]), V::load(token, &stored[k + 2])];
        let taken = Self { aa: three(0), al: three(3), la: three(6), ll: three(9) };
        *stored = StoredInertia::default();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::{Columns, Force, StoredForce, StoredInertia, lanes};
    use crate::simd::{Space, in_registers};
    use crate::spatial::{Inertia, Quaternion, Sym3, Sym6, Vec3, Wrench};

    const OFFSET: Vec3 = Vec3::new(0.3, -0.7, 0.2);
    const OMEGA: Vec3 = Vec3::new(0.4, 1.5, -2.0);
    const ACROSS: Wrench = Wrench::new(Vec3::new(0.1, -0.3, 0.2), Vec3::new(-0.4, 0.15, 0.35));

    /// A body whose moments are diagonal or not.
    fn body(off_diagonal: f64) -> (Inertia, crate::spatial::Mat3) {
        let moments = Sym3 { xx: 2.0, yy: 2.5, zz: 3.1, xy: off_diagonal, xz: -off_diagonal, yz: 0.5 * off_diagonal };
        let inertia = Inertia { mass: 1.7, com: Vec3::new(0.11, -0.23, 0.37), moments };
        (inertia, Quaternion([0.6, -0.3, 0.5, 0.2]).normalised().to_matrix())
    }

    /// What a link does to its body's inertia and force.
    #[inline(always)]
    fn handed<V: Space>(token: V::Token, off_diagonal: f64) -> (StoredInertia, StoredForce) {
        let (inertia, axes) = body(off_diagonal);
        let (mut stored, mut force) = (StoredInertia::default(), StoredForce::default());
        let (columns, own) = Columns::<V>::of_body(token, &inertia, &axes, &OMEGA);
        let (d, share) = (lanes(token, &OFFSET), Force::load(token, &ACROSS).times(0.5));
        let moved = columns.shifted(d, &OFFSET).minus_outer(share, &ACROSS);
        moved.add_to(&mut stored);
        own.plus(columns.times_linear(&OFFSET)).shifted(d).add_to(&mut force);
        (stored, force)
    }

    #[test]
    fn columns_are_those_of_the_symmetric_matrix() {
        for off_diagonal in [0.0, 0.2] {
            let (stored, force) = handed::<[f64; 4]>((), off_diagonal);
            let (inertia, axes) = body(off_diagonal);
            let body = inertia.rotated(&axes);
            let whole: Sym6 = body.to_sym6();
            let expected = whole.shifted(&OFFSET).minus_outer(&ACROSS, &(ACROSS * 0.5)).to_matrix();
            for (block, [row, column]) in [[0, 0], [0, 3], [3, 0], [3, 3]].into_iter().enumerate() {
                for (k, i) in (0..9).map(|n| (n / 3, n % 3)) {
                    let error: f64 = stored[3 * block + k][i] - expected[(row + i, column + k)];
                    assert!(error.abs() < 1e-14, "block {block}, row {i}, column {k}: {error}");
                }
            }
            let push = whole.times(&crate::spatial::Twist::new(Vec3::zeros(), OFFSET));
            let expected = (body.gyroscopic(&OMEGA) + push).shifted(&OFFSET);
            for k in 0..3 {
                assert!((force[0][k] - expected.moment[k]).abs() < 1e-13);
                assert!((force[1][k] - expected.force[k]).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn wide_registers_give_the_same_bits() {
        for off_diagonal in [0.0, 0.2] {
            let wide = in_registers!(|token: V| handed::<V>(token, off_diagonal));
            assert_eq!(wide, handed::<[f64; 4]>((), off_diagonal));
        }
    }
}
