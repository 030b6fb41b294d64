//! Small dense kernels: 6×6 matrices by columns, and the pivoted factorisation of closed rows.

use crate::spatial::{Sym6, Twist, Vec3, Wrench};

/// A 6×6 matrix, column by column.
pub type Mat6 = [f64; 36];
/// A motion or a force.
pub type Vec6 = [f64; 6];

/// Diagonal that is left of a semidefinite matrix, over what it was, which is nothing but rounding.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

pub fn identity() -> Mat6 {
    let mut m = [0.0; 36];
    (0..6).for_each(|i| m[7 * i] = 1.0);
    m
}

pub fn from_sym6(s: &Sym6) -> Mat6 {
    let mut m = [0.0; 36];
    m.copy_from_slice(s.to_matrix().as_slice());
    m
}

pub fn twist(a: &[f64]) -> Twist {
    Twist::new(Vec3::new(a[0], a[1], a[2]), Vec3::new(a[3], a[4], a[5]))
}

pub fn wrench(a: &[f64]) -> Wrench {
    Wrench::new(Vec3::new(a[0], a[1], a[2]), Vec3::new(a[3], a[4], a[5]))
}

/// a · b of two columns.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (&a[..6], &b[..6]);
    (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])
}

/// y += s x.
#[inline(always)]
pub fn add_scaled(y: &mut [f64], s: f64, x: &[f64]) {
    for (y, x) in y[..6].iter_mut().zip(&x[..6]) {
        *y += s * x;
    }
}

/// m x.
#[inline(always)]
pub fn times(m: &Mat6, x: &[f64]) -> Vec6 {
    let mut y = [0.0; 6];
    for j in 0..6 {
        add_scaled(&mut y, x[j], &m[6 * j..6 * j + 6]);
    }
    y
}

/// mᵀ x.
#[inline(always)]
pub fn transposed_times(m: &Mat6, x: &[f64]) -> Vec6 {
    let mut y = [0.0; 6];
    for j in 0..6 {
        y[j] = dot(&m[6 * j..6 * j + 6], x);
    }
    y
}

/// a b.
pub fn product(a: &Mat6, b: &Mat6) -> Mat6 {
    let mut m = [0.0; 36];
    for j in 0..6 {
        m[6 * j..6 * j + 6].copy_from_slice(&times(a, &b[6 * j..6 * j + 6]));
    }
    m
}

/// mᵀ.
pub fn transposed(a: &Mat6) -> Mat6 {
    let mut m = [0.0; 36];
    for i in 0..6 {
        for j in 0..6 {
            m[6 * i + j] = a[6 * j + i];
        }
    }
    m
}

/// What a body of a given mobility and one of a given inertia do together when they are joined rigidly.
///
/// With C the mobility of the one and I the inertia of the other: E = (1 + C I)⁻¹ is the share of a free motion that is left,
/// K = I E the inertia that is felt through C, S = E C the mobility that is left with I attached. C is factored as L D Lᵀ without
/// roots, and with pivots chosen by a ratio without unit (else the result would depend on units); then N = D⁻¹ + LᵀIL is positive definite,
/// E = 1 − L N⁻¹ Lᵀ I, K = I E, S = L N⁻¹ Lᵀ. For one speed this is the articulated-body step.
pub struct Joined {
    pub share: Mat6,
    pub inertia: Mat6,
    pub mobility: Mat6,
}

impl Joined {
    /// `c` holds C in its first six rows and columns, with `stride` rows.
    pub fn compute(c: &[f64], stride: usize, inertia: &Mat6) -> Self {
        let mut l = [0.0; 36];
        let mut d = [0.0; 6];
        let mut n = 0;
        let mut rest = [0.0; 36];
        (0..6).for_each(|j| rest[6 * j..6 * j + 6].copy_from_slice(&c[j * stride..j * stride + 6]));
        let whole: [f64; 6] = std::array::from_fn(|i| rest[7 * i]);
        let mut is_left = [true; 6];
        // What is left of a diagonal over what it was has no unit. A pivot that is all rounding comes last and ends the factorisation;
        // taken earlier it would divide roundings by roundings and leave them large.
        loop {
            let ratio = |i: usize| if is_left[i] && whole[i] > 0.0 { rest[7 * i] / whole[i] } else { 0.0 };
            let best = (1..6).fold(0, |best, i| if ratio(i) > ratio(best) { i } else { best });
            let pivot = rest[7 * best];
            if ratio(best).is_nan() || ratio(best) <= ROUNDING {
                break;
            }
            is_left[best] = false;
            let inverse = 1.0 / pivot;
            for i in (0..6).filter(|&i| is_left[i]) {
                l[6 * n + i] = rest[6 * best + i] * inverse;
            }
            let mut column = [0.0; 6];
            column.copy_from_slice(&l[6 * n..6 * n + 6]);
            for j in (0..6).filter(|&j| is_left[j]) {
                add_scaled(&mut rest[6 * j..], -column[j] * pivot, &column);
            }
            l[6 * n + best] = 1.0;
            d[n] = pivot;
            n += 1;
        }
        // IL, and N in place of its factors.
        let mut il = [0.0; 36];
        let mut m = [0.0; 36];
        for j in 0..n {
            let column = times(inertia, &l[6 * j..6 * j + 6]);
            for i in 0..=j {
                m[6 * i + j] = dot(&l[6 * i..6 * i + 6], &column);
            }
            m[7 * j] += 1.0 / d[j];
            il[6 * j..6 * j + 6].copy_from_slice(&column);
        }
        let mut delta = [0.0; 6];
        for j in 0..n {
            for k in 0..j {
                let s = m[6 * k + j] * delta[k];
                for i in j..n {
                    m[6 * j + i] -= s * m[6 * k + i];
                }
            }
            delta[j] = m[7 * j];
            let inverse = 1.0 / delta[j];
            for i in j..n {
                m[6 * j + i] *= inverse;
            }
        }
        // Columns of X = IL M⁻ᵀ and Y = L M⁻ᵀ take the places of IL and L.
        for j in 0..n {
            for k in 0..j {
                let s = m[6 * k + j];
                let (head, tail) = il.split_at_mut(6 * j);
                add_scaled(tail, -s, &head[6 * k..6 * k + 6]);
                let (head, tail) = l.split_at_mut(6 * j);
                add_scaled(tail, -s, &head[6 * k..6 * k + 6]);
            }
        }
        let mut joined = Self { share: identity(), inertia: *inertia, mobility: [0.0; 36] };
        for k in 0..n {
            let (x, y) = (&il[6 * k..6 * k + 6], &l[6 * k..6 * k + 6]);
            let inverse = 1.0 / delta[k];
            for j in 0..6 {
                let (xs, ys) = (x[j] * inverse, y[j] * inverse);
                add_scaled(&mut joined.share[6 * j..], -xs, y);
                add_scaled(&mut joined.inertia[6 * j..], -xs, x);
                add_scaled(&mut joined.mobility[6 * j..], ys, y);
            }
        }
        joined
    }
}

/// Factors of the symmetric semidefinite matrix of the rows that a cluster closes: P W Pᵀ = L D Lᵀ up to its rank.
#[derive(Debug, Clone, Default)]
pub struct Closed {
    n: usize,
    /// L below the diagonal, D on it, column by column in pivoted order.
    factor: Vec<f64>,
    pub permutation: Vec<usize>,
    pub rank: usize,
    /// Smallest pivot over its row's natural size.
    pub smallest: f64,
}

impl Closed {
    pub fn new(n: usize) -> Self {
        let (factor, permutation) = (vec![0.0; n * n], (0..n).collect());
        Self { n, factor, permutation, rank: 0, smallest: 1.0 }
    }

    /// Factors the matrix whose entries `w` gives. A row whose diagonal falls to `tolerance` of its natural `size` depends on
    /// those before; rows of no size take no part.
    pub fn factor(&mut self, w: impl Fn(usize, usize) -> f64, size: impl Fn(usize) -> f64, tolerance: f64) {
        let n = self.n;
        for j in 0..n {
            self.permutation[j] = j;
            for i in 0..n {
                self.factor[j * n + i] = w(i, j);
            }
        }
        (self.rank, self.smallest) = (0, 1.0);
        for j in 0..n {
            let ratio = |k: usize| {
                let size = size(self.permutation[k]);
                if size > 0.0 { self.factor[k * n + k] / size } else { 0.0 }
            };
            let best = (j..n).fold(j, |best, k| if ratio(k) > ratio(best) { k } else { best });
            let found = ratio(best);
            if found.is_nan() || found <= tolerance {
                break;
            }
            self.smallest = self.smallest.min(found);
            self.exchange(j, best);
            let inverse = 1.0 / self.factor[j * n + j];
            for k in j + 1..n {
                let s = self.factor[j * n + k] * inverse;
                for i in k..n {
                    self.factor[k * n + i] -= s * self.factor[j * n + i];
                }
            }
            for i in j + 1..n {
                self.factor[j * n + i] *= inverse;
            }
            self.rank += 1;
        }
    }

    /// Exchanges rows and columns `a` < `b` of what is left; only the lower triangle is kept.
    fn exchange(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        let n = self.n;
        let f = &mut self.factor;
        for k in 0..a {
            f.swap(k * n + a, k * n + b);
        }
        for k in a + 1..b {
            f.swap(a * n + k, k * n + b);
        }
        for k in b + 1..n {
            f.swap(a * n + k, b * n + k);
        }
        f.swap(a * n + a, b * n + b);
        self.permutation.swap(a, b);
    }

    /// L⁻¹ of a right-hand side given in the rows' own order; the first `rank` entries of `out`.
    pub fn forward(&self, b: impl Fn(usize) -> f64, out: &mut [f64]) {
        let n = self.n;
        for j in 0..self.rank {
            out[j] = b(self.permutation[j]);
        }
        for j in 0..self.rank {
            let x = out[j];
            for i in j + 1..self.rank {
                out[i] -= self.factor[j * n + i] * x;
            }
        }
    }

    /// One over the j-th pivot.
    pub fn inverse_pivot(&self, j: usize) -> f64 {
        1.0 / self.factor[j * self.n + j]
    }

    /// W⁻ of a right-hand side, in place and in the rows' own order; zero for dependent rows. `x` is scratch.
    pub fn solve(&self, x: &mut [f64], b: &mut [f64]) {
        let n = self.n;
        self.forward(|i| b[i], x);
        for j in 0..self.rank {
            x[j] *= self.inverse_pivot(j);
        }
        for j in (0..self.rank).rev() {
            for i in j + 1..self.rank {
                x[j] -= self.factor[j * n + i] * x[i];
            }
        }
        b[..n].fill(0.0);
        for j in 0..self.rank {
            b[self.permutation[j]] = x[j];
        }
    }
}
