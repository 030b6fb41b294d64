//! The Newton matrix A + B (W + α) over active contacts: assembled, factored, solved.

use super::super::cone::MAX_DIM;
use super::active::Linearised;
use super::block_lu::{Numeric, Symbolic};
use super::linear::DenseLu;
use super::system::System;

/// Up to this number of active rows a dense factorisation is faster than a sparse one (measured: book, contact problem).
const DENSE_ROWS: usize = 48;

#[derive(Debug, Clone, Default)]
pub struct NewtonMatrix {
    symbolic: Symbolic,
    has_order: bool,
    pattern: Vec<bool>,
    dense: DenseLu,
    n1: Numeric<1>,
    n2: Numeric<2>,
    n3: Numeric<3>,
    n5: Numeric<5>,
    n6: Numeric<6>,
    /// First row of an active contact in the dense system.
    start: Vec<usize>,
    active_rows: usize,
    /// Block size of the sparse factor, zero for the dense one.
    sparse_dim: usize,
    rhs: Vec<f64>,
    packed: Vec<f64>,
}

impl NewtonMatrix {
    /// Forgets the order of the last contact graph.
    pub fn reset(&mut self) {
        self.has_order = false;
        self.pattern.clear();
    }

    /// Factors A + B (W + α) over the contacts that are not open. False if it is singular.
    pub fn factor(&mut self, system: &System, laws: &[Linearised], alpha: f64) -> bool {
        let n_contacts = system.n_contacts();
        self.active_rows = laws.iter().enumerate().filter(|(_, l)| !l.is_open).map(|(i, _)| system.w.dim(i)).sum();
        if self.active_rows == 0 {
            return true;
        }
        let sparse = self.active_rows > DENSE_ROWS && system.w.n_stored() * 3 < n_contacts * n_contacts;
        if !sparse {
            self.sparse_dim = 0;
            return self.factor_dense(system, laws, alpha);
        }
        let dim = (0..n_contacts).map(|i| system.w.dim(i)).max().unwrap_or(1);
        self.sparse_dim = dim;
        if !self.has_order {
            self.symbolic.order(&system.w);
            self.has_order = true;
        }
        if self.pattern.len() != n_contacts || self.pattern.iter().zip(laws).any(|(p, l)| *p == l.is_open) {
            self.pattern.clear();
            self.pattern.extend(laws.iter().map(|l| !l.is_open));
            self.symbolic.restrict(&system.w, &self.pattern);
        }
        match dim {
            1 => factor_sparse(&mut self.n1, &self.symbolic, system, laws, alpha),
            2 => factor_sparse(&mut self.n2, &self.symbolic, system, laws, alpha),
            3 => factor_sparse(&mut self.n3, &self.symbolic, system, laws, alpha),
            4 | 5 => factor_sparse(&mut self.n5, &self.symbolic, system, laws, alpha),
            _ => factor_sparse(&mut self.n6, &self.symbolic, system, laws, alpha),
        }
    }

    /// x ← (A + B (W + α))⁻¹ x on the rows of active contacts; the rows of open ones are left alone.
    pub fn solve_factored(&mut self, system: &System, laws: &[Linearised], x: &mut [f64]) {
        let offsets = system.offsets();
        if self.active_rows == 0 {
            return;
        }
        match self.sparse_dim {
            0 => {}
            1 => return self.n1.solve(&self.symbolic, offsets, x),
            2 => return self.n2.solve(&self.symbolic, offsets, x),
            3 => return self.n3.solve(&self.symbolic, offsets, x),
            4 | 5 => return self.n5.solve(&self.symbolic, offsets, x),
            _ => return self.n6.solve(&self.symbolic, offsets, x),
        }
        self.packed.clear();
        for (i, law) in laws.iter().enumerate() {
            if !law.is_open {
                self.packed.extend_from_slice(&x[system.rows(i)]);
            }
        }
        self.dense.solve(&mut self.packed);
        let mut from = 0;
        for (i, law) in laws.iter().enumerate() {
            if !law.is_open {
                let rows = system.rows(i);
                let dim = rows.len();
                x[rows].copy_from_slice(&self.packed[from..from + dim]);
                from += dim;
            }
        }
    }

    /// The Newton step: (A + B (W + α)) x = −f. False if the matrix is singular.
    pub fn solve(&mut self, system: &System, laws: &[Linearised], alpha: f64, x: &mut [f64]) -> bool {
        // Open contacts have A = 1, B = 0 and are solved at once; the others see them on the right.
        let mut any_open_step = false;
        for (i, law) in laws.iter().enumerate() {
            let rows = system.rows(i);
            let dim = rows.len();
            for (x, f) in x[rows].iter_mut().zip(&law.f[..dim]) {
                *x = if law.is_open { -f } else { 0.0 };
                any_open_step |= *x != 0.0;
            }
        }
        self.rhs.clear();
        self.rhs.extend_from_slice(x);
        let mut product = [0.0; MAX_DIM];
        for (i, law) in laws.iter().enumerate() {
            if law.is_open {
                continue;
            }
            let rows = system.rows(i);
            let dim = rows.len();
            let product = &mut product[..dim];
            product.fill(0.0);
            if any_open_step {
                system.w.add_row_product(i, x, product);
            }
            for a in 0..dim {
                let bw: f64 = (0..dim).map(|c| law.b[a * dim + c] * product[c]).sum();
                self.rhs[rows.start + a] = -law.f[a] - bw;
            }
        }
        if !self.factor(system, laws, alpha) {
            return false;
        }
        x.copy_from_slice(&self.rhs);
        self.solve_factored(system, laws, x);
        x.iter().all(|x| x.is_finite())
    }

    fn factor_dense(&mut self, system: &System, laws: &[Linearised], alpha: f64) -> bool {
        self.start.clear();
        let mut at = 0;
        for (i, law) in laws.iter().enumerate() {
            self.start.push(if law.is_open { usize::MAX } else { at });
            if !law.is_open {
                at += system.w.dim(i);
            }
        }
        let m = self.active_rows;
        let matrix = self.dense.start(m);
        for (i, law) in laws.iter().enumerate() {
            if law.is_open {
                continue;
            }
            let (row, dim) = (self.start[i], system.w.dim(i));
            for (j, w) in system.w.row(i) {
                if laws[j].is_open {
                    continue;
                }
                let (column, width) = (self.start[j], system.w.dim(j));
                for a in 0..dim {
                    let at = (row + a) * m + column;
                    let target = &mut matrix[at..at + width];
                    let factors = &law.b[a * dim..(a + 1) * dim];
                    if let ([t0, t1, t2], [b0, b1, b2], 9) = (&mut *target, factors, w.len()) {
                        *t0 += b0 * w[0] + b1 * w[3] + b2 * w[6];
                        *t1 += b0 * w[1] + b1 * w[4] + b2 * w[7];
                        *t2 += b0 * w[2] + b1 * w[5] + b2 * w[8];
                        continue;
                    }
                    if let ([t0, t1], [b0, b1], 4) = (&mut *target, factors, w.len()) {
                        *t0 += b0 * w[0] + b1 * w[2];
                        *t1 += b0 * w[1] + b1 * w[3];
                        continue;
                    }
                    for (b, row) in factors.iter().zip(w.chunks_exact(width)) {
                        for (t, w) in target.iter_mut().zip(row) {
                            *t += b * w;
                        }
                    }
                }
            }
            for a in 0..dim {
                for c in 0..dim {
                    matrix[(row + a) * m + row + c] += law.a[a * dim + c] + alpha * law.b[a * dim + c];
                }
            }
        }
        self.dense.factor()
    }
}

fn factor_sparse<const D: usize>(
    numeric: &mut Numeric<D>,
    symbolic: &Symbolic,
    system: &System,
    laws: &[Linearised],
    alpha: f64,
) -> bool {
    numeric.factor(symbolic, |i, put| {
        let law = &laws[i];
        for (j, w) in system.w.row(i) {
            if laws[j].is_open {
                continue;
            }
            let mut block = [[0.0; D]; D];
            let (dim, width) = (system.w.dim(i), system.w.dim(j));
            if dim == D && width == D {
                for a in 0..D {
                    for c in 0..D {
                        let b = law.b[a * D + c];
                        for k in 0..D {
                            block[a][k] += b * w[c * D + k];
                        }
                    }
                }
            } else {
                for a in 0..dim {
                    for c in 0..dim {
                        let b = law.b[a * dim + c];
                        for k in 0..width {
                            block[a][k] += b * w[c * width + k];
                        }
                    }
                }
            }
            if i == j {
                for a in 0..dim {
                    for c in 0..dim {
                        block[a][c] += law.a[a * dim + c] + alpha * law.b[a * dim + c];
                    }
                }
                for a in dim..D {
                    block[a][a] = 1.0;
                }
            }
            put(j, &block);
        }
    })
}
