//! W = J M⁻¹ Jᵀ with M block-diagonal over free bodies: linear in contacts to apply, whatever their graph.

use super::{BlockMatrix, Delassus};
use crate::contact::ContactError;

/// One contact's Jacobian with respect to one body: `dim` rows of six numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyJacobian {
    /// The body.
    pub body: usize,
    /// Row-major dim × 6.
    pub rows: Vec<f64>,
}

/// J and the inverse spatial inertia of every body.
#[derive(Debug, Clone, PartialEq)]
pub struct FactoredDelassus {
    offsets: Vec<usize>,
    jacobians: Vec<Vec<BodyJacobian>>,
    inverse_inertia: Vec<[f64; 36]>,
}

impl FactoredDelassus {
    /// From the Jacobian blocks of every contact (usually two bodies) and the inverse 6×6 inertia of every body.
    pub fn build(jacobians: Vec<Vec<BodyJacobian>>, inverse_inertia: Vec<[f64; 36]>) -> Result<Self, ContactError> {
        let mut offsets = vec![0];
        for contact in &jacobians {
            let dim = contact.first().map_or(0, |j| j.rows.len() / 6);
            for j in contact {
                if j.rows.len() != 6 * dim || dim == 0 {
                    return Err(ContactError::Size {
                        what: "numbers of one contact's body Jacobian",
                        found: j.rows.len(),
                        expected: 6 * dim.max(1),
                    });
                }
                if j.body >= inverse_inertia.len() {
                    return Err(ContactError::Size {
                        what: "body index of a contact Jacobian",
                        found: j.body,
                        expected: inverse_inertia.len(),
                    });
                }
            }
            offsets.push(offsets.last().copied().unwrap_or(0) + dim);
        }
        Ok(Self { offsets, jacobians, inverse_inertia })
    }

    fn sweep(&self, r: &[f64], out: &mut [f64], f: fn(f64) -> f64) {
        let mut momentum = vec![[0.0; 6]; self.inverse_inertia.len()];
        for (i, contact) in self.jacobians.iter().enumerate() {
            for j in contact {
                for (x, row) in r[self.offsets[i]..self.offsets[i + 1]].iter().zip(j.rows.chunks_exact(6)) {
                    for k in 0..6 {
                        momentum[j.body][k] += f(row[k] * x);
                    }
                }
            }
        }
        for (p, inverse) in momentum.iter_mut().zip(&self.inverse_inertia) {
            let mut v = [0.0; 6];
            for k in 0..6 {
                v[k] = (0..6).map(|l| f(inverse[6 * k + l] * p[l])).sum();
            }
            *p = v;
        }
        out.fill(0.0);
        for (i, contact) in self.jacobians.iter().enumerate() {
            for j in contact {
                for (u, row) in out[self.offsets[i]..self.offsets[i + 1]].iter_mut().zip(j.rows.chunks_exact(6)) {
                    *u += (0..6).map(|k| f(row[k] * momentum[j.body][k])).sum::<f64>();
                }
            }
        }
    }
}

impl Delassus for FactoredDelassus {
    fn n_rows(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    fn apply(&self, r: &[f64], out: &mut [f64]) {
        self.sweep(r, out, |x| x);
    }

    fn apply_abs(&self, r: &[f64], out: &mut [f64]) {
        self.sweep(r, out, f64::abs);
    }

    fn write_diagonal(&self, out: &mut [f64]) {
        out.fill(0.0);
        for (i, contact) in self.jacobians.iter().enumerate() {
            for j in contact {
                let inverse = &self.inverse_inertia[j.body];
                for (d, row) in out[self.offsets[i]..self.offsets[i + 1]].iter_mut().zip(j.rows.chunks_exact(6)) {
                    for k in 0..6 {
                        for l in 0..6 {
                            *d += row[k] * inverse[6 * k + l] * row[l];
                        }
                    }
                }
            }
        }
    }

    fn write_blocks(&self, offsets: &[usize], out: &mut BlockMatrix) {
        let mut on_body: Vec<Vec<usize>> = vec![Vec::new(); self.inverse_inertia.len()];
        for (i, contact) in self.jacobians.iter().enumerate() {
            for j in contact {
                on_body[j.body].push(i);
            }
        }
        let mut own = BlockMatrix::default();
        own.clear(&self.offsets);
        let mut neighbours = Vec::new();
        let mut values = Vec::new();
        for (i, contact) in self.jacobians.iter().enumerate() {
            neighbours.clear();
            neighbours.push(i);
            contact.iter().for_each(|j| neighbours.extend_from_slice(&on_body[j.body]));
            neighbours.sort_unstable();
            neighbours.dedup();
            for &c in &neighbours {
                let at = own.push_block(i, c);
                let (rows, cols) = (own.dim(i), own.dim(c));
                values.clear();
                values.resize(rows * cols, 0.0);
                for a in contact {
                    for b in self.jacobians[c].iter().filter(|b| b.body == a.body) {
                        let inverse = &self.inverse_inertia[a.body];
                        for (x, row) in a.rows.chunks_exact(6).enumerate() {
                            let mut left = [0.0; 6];
                            for l in 0..6 {
                                left[l] = (0..6).map(|k| row[k] * inverse[6 * k + l]).sum();
                            }
                            for (y, col) in b.rows.chunks_exact(6).enumerate() {
                                values[x * cols + y] += (0..6).map(|l| left[l] * col[l]).sum::<f64>();
                            }
                        }
                    }
                }
                own.write_values(at, &values);
            }
            own.end_row();
        }
        own.write_blocks(offsets, out);
    }
}
