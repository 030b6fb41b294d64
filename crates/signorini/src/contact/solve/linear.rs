//! Linear systems: dense LU with row exchanges, and block LU over the contact graph.
//!
//! **Problem.** (A + B (W + α)) x = c with A, B block-diagonal: the Newton matrix, rows of open contacts left out.
//!
//! **Method.** Dense: Gaussian elimination with partial pivoting. Sparse: block elimination in a minimum-degree order
//! of the contact graph (`ordering.rs`), the factor row by row (up-looking), exchanges only inside diagonal blocks. W + α is positive
//! definite up to the asymmetry of its data, where elimination without exchanges between blocks is stable; the caller
//! checks the residual of what comes back.
//!
//! **Cost.** Dense 2n³/3. Sparse: proportional to Σ (column count)², small for contact graphs of low fill.
//!
//! **Fails when** a pivot vanishes: reported, never patched.
//!
//! **Checked by** unit tests below (random systems against each other).

use super::constants::factors::PANEL;
use crate::simd::wide;
use std::ops::Range;

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
        let mut k = 0;
        while k < n {
            // A panel of columns at a time: every row below is then read and written once per panel, not once per column.
            let end = (k + PANEL).min(n);
            if !self.factor_panel(k, end) {
                return false;
            }
            self.update_below(k, end);
            k = end;
        }
        true
    }

    /// Eliminates columns k..end within themselves, rows exchanged as a whole.
    fn factor_panel(&mut self, start: usize, end: usize) -> bool {
        let n = self.n;
        for k in start..end {
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
            let pivot_row = &top[k * n + k..k * n + end];
            let inverse = 1.0 / pivot_row[0];
            for row in bottom.chunks_exact_mut(n) {
                let f = row[k] * inverse;
                row[k] = f;
                for (x, y) in row[k + 1..end].iter_mut().zip(&pivot_row[1..]) {
                    *x -= f * y;
                }
            }
        }
        true
    }

    /// What the columns start..end do to those after them.
    fn update_below(&mut self, start: usize, end: usize) {
        let n = self.n;
        if end == n {
            return;
        }
        let (top, bottom) = self.lu.split_at_mut(end * n);
        // Rows of the panel itself, by the unit triangle.
        for i in start + 1..end {
            let (above, row) = top.split_at_mut(i * n);
            for k in start..i {
                let f = row[k];
                for (x, y) in row[end..n].iter_mut().zip(&above[k * n + end..(k + 1) * n]) {
                    *x -= f * y;
                }
            }
        }
        update_rows(n, start..end, top, bottom);
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

/// What the rows `panel` of `top` do to the rows below, each n long, in the widest registers there are. Multiplications and additions stay apart, so that
/// the bits are the same in all of them.
fn update_rows(n: usize, panel: Range<usize>, top: &[f64], bottom: &mut [f64]) {
    wide!(update_rows_generic(n, panel, top, bottom));
}

#[inline(always)]
fn update_rows_generic(n: usize, panel: Range<usize>, top: &[f64], bottom: &mut [f64]) {
    let Range { start, end } = panel;
    for row in bottom.chunks_exact_mut(n) {
        let (factors, rest) = row.split_at_mut(end);
        let mut k = start;
        while k + 4 <= end {
            let f = [factors[k], factors[k + 1], factors[k + 2], factors[k + 3]];
            let u: [&[f64]; 4] = std::array::from_fn(|d| &top[(k + d) * n + end..(k + d + 1) * n]);
            let rows = u[0].iter().zip(u[1]).zip(u[2]).zip(u[3]);
            for (x, (((a, b), c), d)) in rest.iter_mut().zip(rows) {
                *x -= (f[0] * a + f[1] * b) + (f[2] * c + f[3] * d);
            }
            k += 4;
        }
        for k in k..end {
            for (x, y) in rest.iter_mut().zip(&top[k * n + end..(k + 1) * n]) {
                *x -= factors[k] * y;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::delassus::BlockMatrix;
    use super::super::block_lu::tests::Plain;
    use super::super::block_lu::{Numeric, Symbolic};
    use super::*;

    /// What wide registers compute are the bits of narrow ones.
    #[test]
    fn wide_registers_change_no_bit() {
        let n = 37;
        let mut seed = 7u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let top: Vec<f64> = (0..19 * n).map(|_| next()).collect();
        let mut wide: Vec<f64> = (0..18 * n).map(|_| next()).collect();
        let mut narrow = wide.clone();
        update_rows(n, 0..19, &top, &mut wide);
        update_rows_generic(n, 0..19, &top, &mut narrow);
        assert!(wide.iter().zip(&narrow).all(|(a, b)| a.to_bits() == b.to_bits()));
    }

    /// A chain of blocks with a few long-range couplings, diagonally dominant, in a fixed pseudo-random filling.
    fn chain(n_blocks: usize) -> BlockMatrix {
        let offsets: Vec<usize> = (0..=n_blocks).map(|b| 3 * b).collect();
        let n = 3 * n_blocks;
        let mut dense = vec![0.0; n * n];
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 40) as f64 / (1u64 << 24) as f64 - 0.5
        };
        for a in 0..n_blocks {
            for b in 0..n_blocks {
                if a.abs_diff(b) <= 1 || (a + b) % 7 == 0 {
                    for i in 0..3 {
                        for j in 0..3 {
                            dense[(3 * a + i) * n + 3 * b + j] = next();
                        }
                    }
                }
            }
        }
        for i in 0..n {
            dense[i * n + i] += 0.5 * n as f64;
        }
        let mut out = BlockMatrix::default();
        out.set_from_dense(&offsets, &dense);
        out
    }

    #[test]
    fn dense_small_and_block_factorisations_agree() {
        let matrix = chain(12);
        let n = 36;
        let mut dense = Vec::new();
        matrix.to_dense(&mut dense);
        let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();

        let mut small = b.clone();
        assert!(solve_small(n, &mut dense.clone(), &mut small));
        let mut lu = DenseLu::default();
        lu.start(n).copy_from_slice(&dense);
        assert!(lu.factor());
        let mut large = b.clone();
        lu.solve(&mut large);

        // Every third block open: the block factorisation must solve the system of the others.
        let active: Vec<bool> = (0..12).map(|i| i % 3 != 1).collect();
        let mut symbolic = Symbolic::default();
        symbolic.order(&matrix);
        for pattern in [vec![true; 12], active] {
            symbolic.restrict(&matrix, &pattern);
            let mut numeric = Numeric::<3, 4>::default();
            assert!(numeric.factor(&symbolic, &Plain(&matrix)));
            let mut x = b.clone();
            numeric.solve(&symbolic, matrix.offsets(), &mut x);
            for i in (0..12).filter(|i| pattern[*i]) {
                for a in 3 * i..3 * i + 3 {
                    let product: f64 = (0..n).filter(|j| pattern[j / 3]).map(|j| dense[a * n + j] * x[j]).sum();
                    // A dominant diagonal: backward stable, condition of order one.
                    assert!((product - b[a]).abs() < 1e-13, "{product} {}", b[a]);
                }
            }
            if pattern.iter().all(|p| *p) {
                for i in 0..n {
                    assert!((x[i] - large[i]).abs() < 1e-14 && (x[i] - small[i]).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn singular_matrices_are_reported() {
        assert!(!solve_small(2, &mut [1.0, 2.0, 2.0, 4.0], &mut [1.0, 1.0]));
        let mut lu = DenseLu::default();
        lu.start(2).copy_from_slice(&[0.0, 1.0, 0.0, 1.0]);
        assert!(!lu.factor());
    }
}
