//! The Delassus operator W: contact velocities per contact impulse.
//!
//! It is the seam between dynamics and contact: whoever has one can pose a contact problem. The solvers work on a
//! scaled block-sparse copy; an operator that cannot write its blocks is probed with unit impulses.

mod block;
mod dense;
mod factored;
mod kernel;
mod matrix_free;
pub(crate) mod spatial;

pub use block::BlockMatrix;
pub use dense::DenseDelassus;
pub use factored::{BodyJacobian, FactoredDelassus};
pub use matrix_free::MatrixFreeDelassus;
pub(crate) use spatial::Spatial;

/// W, seen through what it does.
pub trait Delassus: std::fmt::Debug + Send + Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// out = W r.
    fn apply(&self, r: &[f64], out: &mut [f64]);

    /// out = |W| |r|, or an upper bound of it: what rounding errors of `apply` are proportional to.
    fn apply_abs(&self, r: &[f64], out: &mut [f64]);

    /// Both at once, where that is cheaper.
    fn apply_with_abs(&self, r: &[f64], out: &mut [f64], abs: &mut [f64]) {
        self.apply(r, out);
        self.apply_abs(r, abs);
    }

    /// The diagonal of W.
    fn write_diagonal(&self, out: &mut [f64]);

    /// max |W|. The default probes with unit impulses.
    fn largest_entry(&self) -> f64 {
        let n = self.n_rows();
        let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
        let mut largest = 0.0_f64;
        for j in 0..n {
            unit[j] = 1.0;
            self.apply(&unit, &mut column);
            unit[j] = 0.0;
            largest = column.iter().fold(largest, |m, x| m.max(x.abs()));
        }
        largest
    }

    /// The operator itself, if it is stored in blocks with these first rows: what a solver may read without a copy.
    fn as_blocks(&self, offsets: &[usize]) -> Option<&BlockMatrix> {
        let _ = offsets;
        None
    }

    /// The operator itself, to be written anew, if it is stored in blocks.
    fn as_blocks_mut(&mut self) -> Option<&mut BlockMatrix> {
        None
    }

    /// Writes all blocks; block i has rows `offsets[i]..offsets[i + 1]`. The default probes with unit impulses.
    fn write_blocks(&self, offsets: &[usize], out: &mut BlockMatrix) {
        let n = self.n_rows();
        let mut dense = vec![0.0; n * n];
        let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
        for j in 0..n {
            unit[j] = 1.0;
            self.apply(&unit, &mut column);
            unit[j] = 0.0;
            for i in 0..n {
                dense[i * n + j] = column[i];
            }
        }
        out.set_from_dense(offsets, &dense);
    }
}
