//! Matrices of 3 × 3 blocks, by far the most frequent, four numbers at a time.
//!
//! A row of a block is three numbers: it is multiplied with a contact's impulse in a register of four, the last of which is zero. Sums run
//! lane by lane and are folded once per row, so that the bits do not depend on the width of the registers.

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

/// Three numbers and a zero.
type Lanes = [f64; 4];

#[inline(always)]
fn lanes(x: &[f64; 3]) -> Lanes {
    [x[0], x[1], x[2], 0.0]
}

/// The rows of a block. Lanes that are multiplied by zero hold what follows in memory.
#[inline(always)]
fn rows(w: &[f64; 9]) -> [Lanes; 3] {
    [[w[0], w[1], w[2], w[3]], [w[3], w[4], w[5], w[6]], [w[6], w[7], w[8], 0.0]]
}

#[inline(always)]
fn fold(x: &Lanes) -> f64 {
    (x[0] + x[2]) + (x[1] + x[3])
}

impl Spatial<'_> {
    /// W r.
    pub fn apply(&self, r: &[[f64; 3]], out: &mut [[f64; 3]]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just been asked.
            return unsafe { self.apply_avx2(r, out) };
        }
        self.apply_generic(r, out);
    }

    /// The same in wider registers. Multiplications and additions stay apart, so that the bits are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn apply_avx2(&self, r: &[[f64; 3]], out: &mut [[f64; 3]]) {
        self.apply_generic(r, out);
    }

    #[inline(always)]
    fn apply_generic(&self, r: &[[f64; 3]], out: &mut [[f64; 3]]) {
        for (b, out) in out.iter_mut().enumerate() {
            *out = self.product(self.row_start[b]..self.row_start[b + 1], r);
        }
    }

    /// W r and |W||r|, in one pass.
    pub fn apply_with_abs(&self, r: &[[f64; 3]], out: &mut [[f64; 3]], abs: &mut [[f64; 3]]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just been asked.
            return unsafe { self.apply_with_abs_avx2(r, out, abs) };
        }
        self.apply_with_abs_generic(r, out, abs);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn apply_with_abs_avx2(&self, r: &[[f64; 3]], out: &mut [[f64; 3]], abs: &mut [[f64; 3]]) {
        self.apply_with_abs_generic(r, out, abs);
    }

    #[inline(always)]
    fn apply_with_abs_generic(&self, r: &[[f64; 3]], out: &mut [[f64; 3]], abs: &mut [[f64; 3]]) {
        for (b, (out, abs)) in out.iter_mut().zip(abs).enumerate() {
            let slots = self.row_start[b]..self.row_start[b + 1];
            let (mut sums, mut sizes) = ([Lanes::default(); 3], [Lanes::default(); 3]);
            for (w, c) in self.blocks[slots.clone()].iter().zip(&self.columns[slots]) {
                let x = lanes(&r[*c]);
                for ((sum, size), w) in sums.iter_mut().zip(&mut sizes).zip(rows(w)) {
                    for k in 0..4 {
                        let product = w[k] * x[k];
                        sum[k] += product;
                        size[k] += product.abs();
                    }
                }
            }
            *out = [fold(&sums[0]), fold(&sums[1]), fold(&sums[2])];
            *abs = [fold(&sizes[0]), fold(&sizes[1]), fold(&sizes[2])];
        }
    }

    /// The sum of some blocks of one row times r.
    #[inline(always)]
    pub fn product(&self, slots: std::ops::Range<usize>, r: &[[f64; 3]]) -> [f64; 3] {
        let mut sums = [Lanes::default(); 3];
        for (w, c) in self.blocks[slots.clone()].iter().zip(&self.columns[slots]) {
            let x = lanes(&r[*c]);
            for (sum, w) in sums.iter_mut().zip(rows(w)) {
                for k in 0..4 {
                    sum[k] += w[k] * x[k];
                }
            }
        }
        [fold(&sums[0]), fold(&sums[1]), fold(&sums[2])]
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
        spatial.apply_generic(&r, &mut narrow);
        assert_eq!(wide, narrow);
        spatial.apply_with_abs(&r, &mut wide, &mut sizes);
        assert_eq!(wide, narrow);
        spatial.apply_with_abs_generic(&r, &mut wide, &mut narrow_sizes);
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
