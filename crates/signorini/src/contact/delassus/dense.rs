//! W as a dense matrix: the root of an elimination tree hands over this form.

use super::{BlockMatrix, Delassus};

/// A dense row-major Delassus matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseDelassus {
    n: usize,
    values: Vec<f64>,
}

impl DenseDelassus {
    /// From n² row-major values; `None` when their number is not a square.
    pub fn from_rows(values: Vec<f64>) -> Option<Self> {
        let n = values.len().isqrt();
        (n * n == values.len()).then_some(Self { n, values })
    }
}

impl Delassus for DenseDelassus {
    fn n_rows(&self) -> usize {
        self.n
    }

    fn apply(&self, r: &[f64], out: &mut [f64]) {
        for (o, row) in out.iter_mut().zip(self.values.chunks_exact(self.n.max(1))) {
            *o = row.iter().zip(r).map(|(w, r)| w * r).sum();
        }
    }

    fn apply_abs(&self, r: &[f64], out: &mut [f64]) {
        for (o, row) in out.iter_mut().zip(self.values.chunks_exact(self.n.max(1))) {
            *o = row.iter().zip(r).map(|(w, r)| (w * r).abs()).sum();
        }
    }

    fn write_diagonal(&self, out: &mut [f64]) {
        for i in 0..self.n {
            out[i] = self.values[i * self.n + i];
        }
    }

    fn write_blocks(&self, offsets: &[usize], out: &mut BlockMatrix) {
        out.set_from_dense(offsets, &self.values);
    }
}
