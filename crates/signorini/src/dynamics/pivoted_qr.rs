//! Orthogonal factorisation that finds the rank.
//!
//! **Problem.** Among the columns of a matrix Y (one per constraint, one row per speed) find an independent set, and solve
//! Yᵀx = b for the x of least norm, and Yλ = x for the multipliers of that set.
//!
//! **Method.** Householder QR with column pivoting (Businger and Golub): Y Π = Q R. Columns come scaled so that one
//! means "as large as the geometry allows"; a remaining column shorter than [`RANK_TOLERANCE`] is a combination of those
//! before. x = Q R₁₁⁻ᵀ b₁ and λ₁ = R₁₁⁻¹ (Qᵀx)₁. Working on Y instead of YᵀY keeps the condition number unsquared, which is
//! what carries a mechanism through a singular position.
//!
//! **Cost.** 2·n·m·rank flops, no allocation after construction.
//!
//! **Fails when** the rank is ill-determined, which near a singular position is the truth.
//!
//! **Checked by** the tests below, against a singular-value decomposition.

/// Columns shorter than this, relative to their natural size, count as dependent.
///
/// Far above what rounding leaves of an exactly redundant constraint (1e-15 times the number of links on its way). Near a
/// singular position, where a column shortens to δ, rounding in the closure makes errors of ε/δ in positions, ε/δ² in
/// velocities and ε/δ³ in the forces that keep the column's condition. Below ε^⅓ these forces are noise; without them
/// the motion leaves the branch by a δ's time of free acceleration, which the projections take back on the other side.
pub const RANK_TOLERANCE: f64 = 2e-5;

/// A matrix in column order with its factorisation, in storage that is reused.
#[derive(Debug, Clone, Default)]
pub struct PivotedQr {
    n_rows: usize,
    n_columns: usize,
    /// Columns; after `factor` the Householder vectors below and R above the diagonal.
    a: Vec<f64>,
    /// Diagonal of R.
    diagonal: Vec<f64>,
    beta: Vec<f64>,
    norms: Vec<f64>,
    permutation: Vec<usize>,
    rank: usize,
}

impl PivotedQr {
    /// Storage for matrices up to this size.
    pub fn new(n_rows: usize, n_columns: usize) -> Self {
        Self {
            n_rows,
            n_columns,
            a: vec![0.0; n_rows * n_columns],
            diagonal: vec![0.0; n_columns],
            beta: vec![0.0; n_columns],
            norms: vec![0.0; n_columns],
            permutation: (0..n_columns).collect(),
            rank: 0,
        }
    }

    /// Sets all entries to zero, for a matrix of `n_columns` columns (at most as many as were reserved).
    pub fn clear(&mut self, n_columns: usize) {
        self.n_columns = n_columns;
        self.a[..n_columns * self.n_rows].fill(0.0);
    }

    /// A column to fill before `factor`.
    pub fn column_mut(&mut self, k: usize) -> &mut [f64] {
        &mut self.a[k * self.n_rows..(k + 1) * self.n_rows]
    }

    /// Number of independent columns.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The columns in the order in which they were chosen; those from `rank` on depend on the others.
    pub fn permutation(&self) -> &[usize] {
        &self.permutation[..self.n_columns]
    }

    /// Length of the shortest independent column after the others were projected out: small near a singular position.
    pub fn smallest_pivot(&self) -> f64 {
        self.diagonal[..self.rank].iter().fold(f64::INFINITY, |m, d| m.min(d.abs()))
    }

    /// Factors what was filled in.
    pub fn factor(&mut self) {
        let (n, m) = (self.n_rows, self.n_columns);
        for k in 0..m {
            self.permutation[k] = k;
            self.norms[k] = norm(&self.a[k * n..(k + 1) * n]);
        }
        self.rank = 0;
        for k in 0..m.min(n) {
            let pivot = (k..m).fold(k, |best, j| if self.norms[j] > self.norms[best] { j } else { best });
            self.swap(k, pivot);
            let (head, tail) = self.a.split_at_mut((k + 1) * n);
            let column = &mut head[k * n + k..];
            let length = norm(column);
            if length <= RANK_TOLERANCE {
                break;
            }
            // v = x − α e₁ with α of the sign opposite to x₁, so that nothing cancels.
            let alpha = if column[0] > 0.0 { -length } else { length };
            column[0] -= alpha;
            let beta = 1.0 / (length * column[0].abs());
            self.diagonal[k] = alpha;
            self.beta[k] = beta;
            for (j, other) in tail.chunks_exact_mut(n).take(m - k - 1).enumerate() {
                let y = &mut other[k..];
                let s = beta * dot(column, y);
                for (y, v) in y.iter_mut().zip(&*column) {
                    *y -= s * v;
                }
                // Recomputed, not downdated: a downdated norm loses its digits where rank is decided.
                self.norms[k + 1 + j] = norm(&y[1..]);
            }
            self.rank += 1;
        }
    }

    fn swap(&mut self, i: usize, j: usize) {
        if i != j {
            let n = self.n_rows;
            let (head, tail) = self.a.split_at_mut(j * n);
            head[i * n..(i + 1) * n].swap_with_slice(&mut tail[..n]);
            self.norms.swap(i, j);
            self.permutation.swap(i, j);
        }
    }

    /// The x of least norm with Yᵀx = b on the independent columns; `b` in the original column order.
    pub fn solve_least_norm(&self, b: &[f64], x: &mut [f64]) {
        let n = self.n_rows;
        x.fill(0.0);
        for k in 0..self.rank {
            let mut s = b[self.permutation[k]];
            for i in 0..k {
                s -= self.a[k * n + i] * x[i];
            }
            x[k] = s / self.diagonal[k];
        }
        for k in (0..self.rank).rev() {
            let v = &self.a[k * n + k..(k + 1) * n];
            let s = self.beta[k] * dot(v, &x[k..]);
            for (x, v) in x[k..].iter_mut().zip(v) {
                *x -= s * v;
            }
        }
    }

    /// Takes from x its part in the range of the independent columns.
    pub fn project_out(&self, x: &mut [f64]) {
        let n = self.n_rows;
        let reflect = |k: usize, x: &mut [f64]| {
            let v = &self.a[k * n + k..(k + 1) * n];
            let s = self.beta[k] * dot(v, &x[k..]);
            x[k..].iter_mut().zip(v).for_each(|(x, v)| *x -= s * v);
        };
        (0..self.rank).for_each(|k| reflect(k, x));
        x[..self.rank].fill(0.0);
        (0..self.rank).rev().for_each(|k| reflect(k, x));
    }

    /// Multipliers with Yλ = x for the x of [`Self::solve_least_norm`], zero for dependent columns. `work` has `n_rows`
    /// entries, λ the original column order.
    pub fn solve_multipliers(&self, x: &[f64], work: &mut [f64], lambda: &mut [f64]) {
        let n = self.n_rows;
        work.copy_from_slice(x);
        for k in 0..self.rank {
            let v = &self.a[k * n + k..(k + 1) * n];
            let s = self.beta[k] * dot(v, &work[k..]);
            for (w, v) in work[k..].iter_mut().zip(v) {
                *w -= s * v;
            }
        }
        lambda.fill(0.0);
        for k in (0..self.rank).rev() {
            let mut s = work[k];
            for j in k + 1..self.rank {
                s -= self.a[j * n + k] * lambda[self.permutation[j]];
            }
            lambda[self.permutation[k]] = s / self.diagonal[k];
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_singular_values(rank in 1usize..6, seed in proptest::collection::vec(-1.0..1.0f64, 12 * 6 + 6 * 8)) {
            let (n, m) = (12, 8);
            let left = DMatrix::from_fn(n, rank, |i, j| seed[i * 6 + j]);
            let right = DMatrix::from_fn(rank, m, |i, j| seed[72 + i * 8 + j]);
            let y = &left * &right;
            let svd = y.clone().svd(true, true);
            // The reference is sometimes wrong itself: nalgebra's decomposition of some rank-deficient matrices does not multiply
            // out to the matrix.
            prop_assume!((svd.clone().recompose().unwrap() - &y).norm() < 1e-12);
            let smallest = svd.singular_values.iter().copied().filter(|s| *s > 1e-12).fold(f64::INFINITY, f64::min);
            prop_assume!(svd.singular_values[rank - 1] > 1e-4 && smallest > 1e-4);
            let mut qr = PivotedQr::new(n, m);
            qr.clear(m);
            for j in 0..m {
                qr.column_mut(j).copy_from_slice(y.column(j).as_slice());
            }
            qr.factor();
            prop_assert_eq!(qr.rank(), rank);
            let wanted = DVector::from_fn(n, |i, _| (i as f64).cos());
            let b = y.transpose() * &wanted;
            let mut x = vec![0.0; n];
            qr.solve_least_norm(b.as_slice(), &mut x);
            let x = DVector::from_vec(x);
            // Condition up to 1e4 or so times rounding.
            let best = svd.solve(&wanted, 1e-10).unwrap();
            let least = &y * best;
            prop_assert!((y.transpose() * &x - &b).norm() <= 1e-10 * b.norm());
            prop_assert!((&x - &least).norm() <= 1e-8 * (1.0 + least.norm()));
            let (mut work, mut lambda) = (vec![0.0; n], vec![0.0; m]);
            qr.solve_multipliers(x.as_slice(), &mut work, &mut lambda);
            prop_assert!((&y * DVector::from_vec(lambda) - &x).norm() <= 1e-8 * (1.0 + x.norm()));
        }
    }
}
