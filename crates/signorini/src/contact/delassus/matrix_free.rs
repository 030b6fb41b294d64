//! W as a function: whatever can answer a unit impulse can pose a contact problem.

use super::Delassus;

type Product = Box<dyn Fn(&[f64], &mut [f64]) + Send + Sync>;

/// A Delassus operator given by its product with a vector of impulses.
pub struct MatrixFreeDelassus {
    n: usize,
    product: Product,
}

impl MatrixFreeDelassus {
    /// An operator of n rows; `product(r, out)` must write W r.
    pub fn build(n: usize, product: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        Self { n, product: Box::new(product) }
    }
}

impl std::fmt::Debug for MatrixFreeDelassus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MatrixFreeDelassus").field("n", &self.n).finish_non_exhaustive()
    }
}

impl Delassus for MatrixFreeDelassus {
    fn n_rows(&self) -> usize {
        self.n
    }

    fn apply(&self, r: &[f64], out: &mut [f64]) {
        (self.product)(r, out);
    }

    fn apply_abs(&self, r: &[f64], out: &mut [f64]) {
        // |W||r| is not available from products alone: the triangle inequality over single impulses bounds it.
        let (mut unit, mut column) = (vec![0.0; self.n], vec![0.0; self.n]);
        out.fill(0.0);
        for j in 0..self.n {
            unit[j] = r[j];
            (self.product)(&unit, &mut column);
            unit[j] = 0.0;
            out.iter_mut().zip(&column).for_each(|(o, c)| *o += c.abs());
        }
    }

    fn write_diagonal(&self, out: &mut [f64]) {
        let (mut unit, mut column) = (vec![0.0; self.n], vec![0.0; self.n]);
        for j in 0..self.n {
            unit[j] = 1.0;
            (self.product)(&unit, &mut column);
            unit[j] = 0.0;
            out[j] = column[j];
        }
    }
}
