//! Matrices of 3 × 3 blocks, by far the most frequent, four numbers at a time.
//!
//! A row of a block is multiplied with a contact's impulse in a register of four, whose last lane is not looked at. Sums run lane by lane and are folded
//! once per row of blocks. Where there are registers of four they are used by hand (compilers find pairs at most); the bits are the same.

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

/// The products of three columns.
#[inline(always)]
fn fold(x: [f64; 3]) -> f64 {
    (x[0] + x[2]) + x[1]
}

impl Spatial<'_> {
    fn row(&self, b: usize) -> Range<usize> {
        self.row_start[b]..self.row_start[b + 1]
    }

    /// W r.
    pub fn apply(&self, r: &[[f64; 3]], out: &mut [[f64; 3]]) {
        #[cfg(target_arch = "x86_64")]
        if wide::is_there() {
            // SAFETY: the processor has just been asked.
            return unsafe { wide::apply(self, r, out) };
        }
        out.iter_mut().enumerate().for_each(|(b, out)| *out = self.product(self.row(b), r));
    }

    /// W r and |W||r|, in one pass.
    pub fn apply_with_abs(&self, r: &[[f64; 3]], out: &mut [[f64; 3]], abs: &mut [[f64; 3]]) {
        #[cfg(target_arch = "x86_64")]
        if wide::is_there() {
            // SAFETY: the processor has just been asked.
            return unsafe { wide::apply_with_abs(self, r, out, abs) };
        }
        for (b, (out, abs)) in out.iter_mut().zip(abs).enumerate() {
            *out = self.product(self.row(b), r);
            *abs = self.sum(self.row(b), r, f64::abs);
        }
    }

    /// The sum of some blocks of one row times r.
    #[inline]
    pub fn product(&self, slots: Range<usize>, r: &[[f64; 3]]) -> [f64; 3] {
        self.sum(slots, r, |x| x)
    }

    #[inline]
    fn sum(&self, slots: Range<usize>, r: &[[f64; 3]], of: impl Fn(f64) -> f64) -> [f64; 3] {
        let mut sums = [[0.0; 3]; 3];
        for (w, c) in self.blocks[slots.clone()].iter().zip(&self.columns[slots]) {
            for (sum, w) in sums.iter_mut().zip(w.as_chunks::<3>().0) {
                sum.iter_mut().zip(w).zip(&r[*c]).for_each(|((sum, w), x)| *sum += of(w * x));
            }
        }
        sums.map(fold)
    }
}

/// Registers of four.
#[cfg(target_arch = "x86_64")]
pub mod wide {
    use super::Spatial;
    use std::arch::x86_64::{
        __m256d, _mm_add_pd, _mm_add_sd, _mm_cvtsd_f64, _mm_unpackhi_pd, _mm256_add_pd, _mm256_andnot_pd,
        _mm256_castpd256_pd128, _mm256_extractf128_pd, _mm256_loadu_pd, _mm256_maskload_pd, _mm256_mul_pd,
        _mm256_set_epi64x, _mm256_set1_pd, _mm256_setzero_pd,
    };
    use std::ops::Range;

    /// Whether the processor has them.
    #[inline]
    pub fn is_there() -> bool {
        std::arch::is_x86_feature_detected!("avx2")
    }

    /// Three numbers and a zero.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(x: &[f64; 3]) -> __m256d {
        // SAFETY: only the three numbers that are there are read.
        unsafe { _mm256_maskload_pd(x.as_ptr(), _mm256_set_epi64x(0, -1, -1, -1)) }
    }

    /// The rows of a block, each in the first three lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn rows(w: &[f64; 9]) -> [__m256d; 3] {
        let (top, _) = w.as_chunks::<3>();
        // SAFETY: numbers 0 to 3 and 3 to 6 of nine.
        unsafe { [_mm256_loadu_pd(w.as_ptr()), _mm256_loadu_pd(w.as_ptr().add(3)), load(&top[2])] }
    }

    /// The sum of the first three lanes; the last must be zero.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn fold(x: __m256d) -> f64 {
        let halves = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
        _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)))
    }

    /// The sum of some blocks of one row times r.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn product(w: &Spatial, slots: Range<usize>, r: &[[f64; 3]]) -> [f64; 3] {
        let mut sums = [_mm256_setzero_pd(); 3];
        for (w, c) in w.blocks[slots.clone()].iter().zip(&w.columns[slots]) {
            let x = load(&r[*c]);
            for (sum, w) in sums.iter_mut().zip(rows(w)) {
                *sum = _mm256_add_pd(*sum, _mm256_mul_pd(w, x));
            }
        }
        [fold(sums[0]), fold(sums[1]), fold(sums[2])]
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn apply(w: &Spatial, r: &[[f64; 3]], out: &mut [[f64; 3]]) {
        for (b, out) in out.iter_mut().enumerate() {
            *out = product(w, w.row(b), r);
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn apply_with_abs(w: &Spatial, r: &[[f64; 3]], out: &mut [[f64; 3]], abs: &mut [[f64; 3]]) {
        let sign = _mm256_set1_pd(-0.0);
        for (b, (out, abs)) in out.iter_mut().zip(abs).enumerate() {
            let (mut sums, mut sizes) = ([_mm256_setzero_pd(); 3], [_mm256_setzero_pd(); 3]);
            for (block, c) in w.blocks[w.row(b)].iter().zip(&w.columns[w.row(b)]) {
                let x = load(&r[*c]);
                for ((sum, size), w) in sums.iter_mut().zip(&mut sizes).zip(rows(block)) {
                    let product = _mm256_mul_pd(w, x);
                    *sum = _mm256_add_pd(*sum, product);
                    *size = _mm256_add_pd(*size, _mm256_andnot_pd(sign, product));
                }
            }
            *out = [fold(sums[0]), fold(sums[1]), fold(sums[2])];
            *abs = [fold(sizes[0]), fold(sizes[1]), fold(sizes[2])];
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
        narrow.iter_mut().enumerate().for_each(|(b, out)| *out = spatial.product(spatial.row(b), &r));
        assert_eq!(wide, narrow);
        spatial.apply_with_abs(&r, &mut wide, &mut sizes);
        assert_eq!(wide, narrow);
        narrow_sizes.iter_mut().enumerate().for_each(|(b, out)| *out = spatial.sum(spatial.row(b), &r, f64::abs));
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
