//! Matrices of 3 × 3 blocks, by far the most frequent, four numbers at a time.
//!
//! A row of a block is multiplied with a contact's impulse in a register of four, whose last lane is zero in the impulse. Sums run lane by lane and are
//! folded once per row of blocks. Registers are used by hand, since compilers find pairs at most; the bits are the same without.

use crate::simd::{Space, in_registers};
use std::ops::Range;

/// A matrix of 3 × 3 blocks in compressed rows.
#[derive(Debug, Clone, Copy)]
pub struct Spatial<'a> {
    pub row_start: &'a [usize],
    pub columns: &'a [usize],
    /// Row-major blocks, row by row.
    pub blocks: &'a [[f64; 9]],
    /// Where the block on the diagonal of every row is.
    pub diagonal: &'a [usize],
}

impl Spatial<'_> {
    fn row(&self, b: usize) -> Range<usize> {
        self.row_start[b]..self.row_start[b + 1]
    }

    /// W r.
    pub fn apply(&self, r: &[[f64; 3]], out: &mut [[f64; 3]]) {
        in_registers!(|token: V| self.apply_in::<V>(token, r, out));
    }

    /// W r and |W||r|, in one pass.
    pub fn apply_with_abs(&self, r: &[[f64; 3]], out: &mut [[f64; 3]], abs: &mut [[f64; 3]]) {
        in_registers!(|token: V| self.apply_with_abs_in::<V>(token, r, out, abs));
    }

    /// The sum of some blocks of one row times r.
    #[inline(always)]
    pub fn product<V: Space>(&self, token: V::Token, slots: Range<usize>, r: &[[f64; 3]]) -> [f64; 3] {
        let mut sums = [V::zero(token); 3];
        for (w, c) in self.blocks[slots.clone()].iter().zip(&self.columns[slots]) {
            let x = V::load_three(token, &r[*c]);
            for (sum, w) in sums.iter_mut().zip(V::load_rows(token, w)) {
                *sum = sum.plus(w.mul(x));
            }
        }
        sums.map(V::fold_three)
    }

    #[inline(always)]
    fn apply_in<V: Space>(&self, token: V::Token, r: &[[f64; 3]], out: &mut [[f64; 3]]) {
        for (b, out) in out.iter_mut().enumerate() {
            *out = self.product::<V>(token, self.row(b), r);
        }
    }

    #[inline(always)]
    fn apply_with_abs_in<V: Space>(&self, token: V::Token, r: &[[f64; 3]], out: &mut [[f64; 3]], abs: &mut [[f64; 3]]) {
        for (b, (out, abs)) in out.iter_mut().zip(abs).enumerate() {
            let (mut sums, mut sizes) = ([V::zero(token); 3], [V::zero(token); 3]);
            for (block, c) in self.blocks[self.row(b)].iter().zip(&self.columns[self.row(b)]) {
                let x = V::load_three(token, &r[*c]);
                for ((sum, size), w) in sums.iter_mut().zip(&mut sizes).zip(V::load_rows(token, block)) {
                    let product = w.mul(x);
                    *sum = sum.plus(product);
                    *size = size.plus(product.abs());
                }
            }
            *out = sums.map(V::fold_three);
            *abs = sizes.map(V::fold_three);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BlockMatrix, Delassus};

    /// A matrix with a few blocks per row, among them the diagonal one.
    fn matrix(n: usize) -> BlockMatrix {
        let offsets: Vec<usize> = (0..=n).map(|b| 3 * b).collect();
        let mut seed = 3u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let mut out = BlockMatrix::default();
        out.clear(&offsets);
        for b in 0..n {
            for c in (0..n).filter(|c| *c == b || (b * 7 + c * 5) % 3 == 0) {
                let at = out.push_block(b, c);
                let values: [f64; 9] = std::array::from_fn(|_| next());
                out.write_values(at, &values);
            }
            out.end_row();
        }
        out
    }

    /// Against the same sums in plain loops, and wide registers against narrow ones, bit by bit.
    #[test]
    fn products_are_those_of_plain_loops_in_registers_of_any_width() {
        let n = 13;
        let w = matrix(n);
        let r: Vec<[f64; 3]> = (0..n).map(|i| [i as f64 - 4.5, 0.3 * i as f64, 1.0 / (i + 1) as f64]).collect();
        let (mut wide, mut narrow, mut sizes, mut narrow_sizes) =
            (vec![[0.0; 3]; n], vec![[0.0; 3]; n], vec![[0.0; 3]; n], vec![[0.0; 3]; n]);
        let Some(spatial) = w.spatial() else { panic!("all blocks are 3 × 3") };
        spatial.apply(&r, &mut wide);
        spatial.apply_in::<[f64; 4]>((), &r, &mut narrow);
        assert_eq!(wide, narrow);
        spatial.apply_with_abs(&r, &mut wide, &mut sizes);
        assert_eq!(wide, narrow);
        spatial.apply_with_abs_in::<[f64; 4]>((), &r, &mut narrow, &mut narrow_sizes);
        assert_eq!(wide, narrow);
        assert_eq!(sizes, narrow_sizes);
        let mut dense = Vec::new();
        w.to_dense(&mut dense);
        for (i, row) in dense.chunks_exact(3 * n).enumerate() {
            let products: Vec<f64> = row.iter().zip(r.as_flattened()).map(|(w, x)| w * x).collect();
            let (sum, size) = (products.iter().sum::<f64>(), products.iter().map(|p| p.abs()).sum::<f64>());
            assert!((wide.as_flattened()[i] - sum).abs() <= 1e-14 * size);
            assert!((sizes.as_flattened()[i] - size).abs() <= 1e-14 * size);
        }
        assert_eq!(w.n_rows(), 3 * n);
    }
}
