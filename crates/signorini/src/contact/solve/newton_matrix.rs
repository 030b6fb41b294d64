//! The Newton matrix A + B (W + α) over active contacts: assembled, factored, solved.

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
    /// First row of an active contact in the dense system.
    start: Vec<usize>,
    rhs: Vec<f64>,
    linear_residual: Vec<f64>,
}

impl NewtonMatrix {
    /// Forgets the order of the last contact graph.
    pub fn reset(&mut self) {
        self.has_order = false;
        self.pattern.clear();
    }

    /// Solves (A + B (W + α)) x = −f; x has one entry per row of the system. False if the matrix is singular.
    pub fn solve(&mut self, system: &System, laws: &[Linearised], alpha: f64, x: &mut [f64]) -> bool {
        let offsets = system.offsets();
        let n_contacts = system.n_contacts();
        // Open contacts: A = 1, B = 0.
        for (i, law) in laws.iter().enumerate() {
            let rows = system.rows(i);
            let dim = rows.len();
            for (x, f) in x[rows].iter_mut().zip(&law.f[..dim]) {
                *x = if law.is_open { -f } else { 0.0 };
            }
        }
        // Right-hand side of the active ones: −f − B W x_open.
        self.rhs.clear();
        self.rhs.resize(system.n(), 0.0);
        let mut active_rows = 0;
        let mut product = [0.0; super::super::cone::MAX_DIM];
        for (i, law) in laws.iter().enumerate() {
            if law.is_open {
                continue;
            }
            let rows = system.rows(i);
            let dim = rows.len();
            active_rows += dim;
            let product = &mut product[..dim];
            product.fill(0.0);
            system.w.add_row_product(i, x, product);
            for a in 0..dim {
                let bw: f64 = (0..dim).map(|c| law.b[a * dim + c] * product[c]).sum();
                self.rhs[rows.start + a] = -law.f[a] - bw;
            }
        }
        if active_rows == 0 {
            return true;
        }
        let dim = system.w.dim(0);
        let uniform = matches!(dim, 1 | 2 | 3 | 5) && offsets.len() > 1 && offsets.windows(2).all(|w| w[1] - w[0] == dim);
        let is_sparse = uniform && active_rows > DENSE_ROWS && system.w.n_stored() * 3 < n_contacts * n_contacts;
        if !is_sparse {
            return self.solve_dense(system, laws, alpha, active_rows, x);
        }
        if !self.has_order {
            self.symbolic.order(&system.w);
            self.has_order = true;
        }
        if self.pattern.len() != n_contacts || self.pattern.iter().zip(laws).any(|(p, l)| *p == l.is_open) {
            self.pattern.clear();
            self.pattern.extend(laws.iter().map(|l| !l.is_open));
            self.symbolic.restrict(&system.w, &self.pattern);
        }
        let ok = match dim {
            1 => solve_sparse(&mut self.n1, &self.symbolic, system, laws, alpha, &mut self.rhs),
            2 => solve_sparse(&mut self.n2, &self.symbolic, system, laws, alpha, &mut self.rhs),
            3 => solve_sparse(&mut self.n3, &self.symbolic, system, laws, alpha, &mut self.rhs),
            _ => solve_sparse(&mut self.n5, &self.symbolic, system, laws, alpha, &mut self.rhs),
        };
        if !ok {
            return false;
        }
        for (i, law) in laws.iter().enumerate() {
            if !law.is_open {
                x[system.rows(i)].copy_from_slice(&self.rhs[system.rows(i)]);
            }
        }
        x.iter().all(|x| x.is_finite())
    }

    fn solve_dense(
        &mut self,
        system: &System,
        laws: &[Linearised],
        alpha: f64,
        active_rows: usize,
        x: &mut [f64],
    ) -> bool {
        self.start.clear();
        let mut at = 0;
        for (i, law) in laws.iter().enumerate() {
            self.start.push(if law.is_open { usize::MAX } else { at });
            if !law.is_open {
                at += system.rows(i).len();
            }
        }
        let m = active_rows;
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
                    for c in 0..dim {
                        let b = law.b[a * dim + c];
                        if b != 0.0 {
                            for k in 0..width {
                                matrix[(row + a) * m + column + k] += b * w[c * width + k];
                            }
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
        if !self.dense.factor() {
            return false;
        }
        self.linear_residual.clear();
        for (i, law) in laws.iter().enumerate() {
            if !law.is_open {
                self.linear_residual.extend_from_slice(&self.rhs[system.rows(i)]);
            }
        }
        self.dense.solve(&mut self.linear_residual);
        for (i, law) in laws.iter().enumerate() {
            if !law.is_open {
                let rows = system.rows(i);
                let from = self.start[i];
                let dim = rows.len();
                x[rows].copy_from_slice(&self.linear_residual[from..from + dim]);
            }
        }
        x.iter().all(|x| x.is_finite())
    }
}

fn solve_sparse<const D: usize>(
    numeric: &mut Numeric<D>,
    symbolic: &Symbolic,
    system: &System,
    laws: &[Linearised],
    alpha: f64,
    rhs: &mut [f64],
) -> bool {
    let factored = numeric.factor(symbolic, |i, put| {
        let law = &laws[i];
        for (j, w) in system.w.row(i) {
            if laws[j].is_open {
                continue;
            }
            let mut block = [[0.0; D]; D];
            for a in 0..D {
                for c in 0..D {
                    let b = law.b[a * D + c];
                    for k in 0..D {
                        block[a][k] += b * w[c * D + k];
                    }
                }
            }
            if i == j {
                for a in 0..D {
                    for c in 0..D {
                        block[a][c] += law.a[a * D + c] + alpha * law.b[a * D + c];
                    }
                }
            }
            put(j, &block);
        }
    });
    if factored {
        numeric.solve(symbolic, system.offsets(), rhs);
    }
    factored
}
