//! Block-sparse matrices over the contact graph.

use super::Delassus;

/// A square matrix of blocks in compressed rows. Every diagonal block is stored, columns ascend in each row.
#[derive(Debug, Default, PartialEq)]
pub struct BlockMatrix {
    offsets: Vec<usize>,
    row_start: Vec<usize>,
    columns: Vec<usize>,
    value_start: Vec<usize>,
    diagonal: Vec<usize>,
    values: Vec<f64>,
}

impl Clone for BlockMatrix {
    fn clone(&self) -> Self {
        let mut out = Self::default();
        out.clone_from(self);
        out
    }

    /// Keeps the storage: the derived one would allocate anew at every solve.
    fn clone_from(&mut self, source: &Self) {
        self.offsets.clone_from(&source.offsets);
        self.row_start.clone_from(&source.row_start);
        self.columns.clone_from(&source.columns);
        self.value_start.clone_from(&source.value_start);
        self.diagonal.clone_from(&source.diagonal);
        self.values.clone_from(&source.values);
    }
}

impl BlockMatrix {
    /// From compressed sparse rows; repeated entries are added. Indices must be in range.
    pub fn from_csr(offsets: &[usize], indptr: &[usize], indices: &[usize], data: &[f64]) -> Self {
        let n_blocks = offsets.len().saturating_sub(1);
        let n = offsets.last().copied().unwrap_or(0);
        let mut block_of = vec![0; n];
        for b in 0..n_blocks {
            block_of[offsets[b]..offsets[b + 1]].fill(b);
        }
        let mut out = BlockMatrix::default();
        out.clear(offsets);
        let mut mark = vec![usize::MAX; n_blocks];
        let mut found = Vec::new();
        for b in 0..n_blocks {
            found.clear();
            found.push(b);
            mark[b] = b;
            for i in offsets[b]..offsets[b + 1] {
                for k in indptr[i]..indptr[i + 1] {
                    let c = block_of[indices[k]];
                    if mark[c] != b {
                        mark[c] = b;
                        found.push(c);
                    }
                }
            }
            found.sort_unstable();
            for &c in &found {
                out.push_block(b, c);
            }
            out.row_start.push(out.columns.len());
            for i in offsets[b]..offsets[b + 1] {
                for k in indptr[i]..indptr[i + 1] {
                    let c = block_of[indices[k]];
                    let slot = out.row_start[b] + out.columns[out.row_start[b]..].binary_search(&c).unwrap_or_default();
                    let dim = offsets[c + 1] - offsets[c];
                    let at = out.value_start[slot] + (i - offsets[b]) * dim + (indices[k] - offsets[c]);
                    out.values[at] += data[k];
                }
            }
        }
        out
    }

    /// From a dense row-major matrix; blocks that are zero throughout are left out.
    pub fn set_from_dense(&mut self, offsets: &[usize], dense: &[f64]) {
        self.clear(offsets);
        let n = offsets.last().copied().unwrap_or(0);
        let n_blocks = offsets.len().saturating_sub(1);
        for b in 0..n_blocks {
            for c in 0..n_blocks {
                let rows = offsets[b]..offsets[b + 1];
                let used = |i: usize| dense[i * n + offsets[c]..i * n + offsets[c + 1]].iter().any(|x| *x != 0.0);
                if b != c && !rows.clone().any(used) {
                    continue;
                }
                let at = self.push_block(b, c);
                let dim = offsets[c + 1] - offsets[c];
                for (k, i) in rows.enumerate() {
                    self.values[at + k * dim..at + (k + 1) * dim]
                        .copy_from_slice(&dense[i * n + offsets[c]..i * n + offsets[c + 1]]);
                }
            }
            self.row_start.push(self.columns.len());
        }
    }

    /// Starts anew with the given block rows and no block, keeping the storage.
    pub fn clear(&mut self, offsets: &[usize]) {
        self.offsets.clear();
        self.offsets.extend_from_slice(offsets);
        self.row_start.clear();
        self.row_start.push(0);
        self.columns.clear();
        self.value_start.clear();
        self.diagonal.clear();
        self.values.clear();
    }

    /// Appends a zero block to the current row; columns must ascend. Returns where its values start.
    pub fn push_block(&mut self, row: usize, column: usize) -> usize {
        if row == column {
            self.diagonal.push(self.columns.len());
        }
        self.columns.push(column);
        let at = self.values.len();
        self.value_start.push(at);
        self.values.resize(at + self.dim(row) * self.dim(column), 0.0);
        at
    }

    /// Writes the values of the block that starts at `at`, as `push_block` returned it.
    pub fn write_values(&mut self, at: usize, values: &[f64]) {
        self.values[at..at + values.len()].copy_from_slice(values);
    }

    /// Ends the current row.
    pub fn end_row(&mut self) {
        self.row_start.push(self.columns.len());
    }

    /// W · factor / (σ_i σ_j), in place; `inverse` holds 1/σ.
    pub fn scale(&mut self, factor: f64, inverse: &[f64]) {
        if self.values.len() == self.columns.len() {
            for b in 0..self.n_blocks() {
                let f = factor * inverse[b];
                let slots = self.row_start[b]..self.row_start[b + 1];
                let columns = &self.columns[slots.clone()];
                for (w, j) in self.values[slots].iter_mut().zip(columns) {
                    *w *= f * inverse[*j];
                }
            }
            return;
        }
        for b in 0..self.n_blocks() {
            for slot in self.row_start[b]..self.row_start[b + 1] {
                let c = self.columns[slot];
                let mut at = self.value_start[slot];
                for i in self.offsets[b]..self.offsets[b + 1] {
                    for j in self.offsets[c]..self.offsets[c + 1] {
                        self.values[at] *= factor * inverse[i] * inverse[j];
                        at += 1;
                    }
                }
            }
        }
    }

    /// Number of block rows.
    pub fn n_blocks(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Number of stored blocks.
    pub fn n_stored(&self) -> usize {
        self.columns.len()
    }

    /// First row of every block, and the number of rows.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Number of rows of block b.
    pub fn dim(&self, b: usize) -> usize {
        self.offsets[b + 1] - self.offsets[b]
    }

    /// Block columns of block row b.
    pub fn columns(&self, b: usize) -> &[usize] {
        &self.columns[self.row_start[b]..self.row_start[b + 1]]
    }

    /// Column and row-major values of every block of block row b.
    pub fn row(&self, b: usize) -> impl Iterator<Item = (usize, &[f64])> {
        let dim = self.dim(b);
        (self.row_start[b]..self.row_start[b + 1]).map(move |slot| {
            let c = self.columns[slot];
            let at = self.value_start[slot];
            (c, &self.values[at..at + dim * self.dim(c)])
        })
    }

    /// Row-major values of the diagonal block b.
    pub fn diagonal_block(&self, b: usize) -> &[f64] {
        let at = self.value_start[self.diagonal[b]];
        let dim = self.dim(b);
        &self.values[at..at + dim * dim]
    }

    /// out += W_b r for the rows of block b.
    pub fn add_row_product(&self, b: usize, r: &[f64], out: &mut [f64]) {
        if self.values.len() == self.columns.len() {
            // Blocks of one number: values and columns run in step, and a full row is a plain dot product.
            let slots = self.row_start[b]..self.row_start[b + 1];
            let (w, columns) = (&self.values[slots.clone()], &self.columns[slots]);
            out[0] += if w.len() == r.len() { dot(w, r) } else { gather_dot(w, columns, r, |x| x) };
            return;
        }
        if let [o0, o1] = out {
            for slot in self.row_start[b]..self.row_start[b + 1] {
                let c = self.columns[slot];
                let x = &r[self.offsets[c]..self.offsets[c + 1]];
                let w = &self.values[self.value_start[slot]..][..2 * x.len()];
                if let ([x0, x1], [w0, w1, w2, w3]) = (x, w) {
                    *o0 += w0 * x0 + w1 * x1;
                    *o1 += w2 * x0 + w3 * x1;
                } else {
                    let (top, bottom) = w.split_at(x.len());
                    *o0 += top.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
                    *o1 += bottom.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
                }
            }
            return;
        }
        if let [o0, o1, o2] = out {
            let (mut s0, mut s1, mut s2) = (*o0, *o1, *o2);
            for slot in self.row_start[b]..self.row_start[b + 1] {
                let c = self.columns[slot];
                let x = &r[self.offsets[c]..self.offsets[c + 1]];
                let at = self.value_start[slot];
                if let [x0, x1, x2] = *x {
                    let w = &self.values[at..at + 9];
                    s0 += w[0] * x0 + w[1] * x1 + w[2] * x2;
                    s1 += w[3] * x0 + w[4] * x1 + w[5] * x2;
                    s2 += w[6] * x0 + w[7] * x1 + w[8] * x2;
                } else {
                    let k = x.len();
                    let dot = |i: usize| -> f64 {
                        self.values[at + i * k..at + (i + 1) * k].iter().zip(x).map(|(w, x)| w * x).sum()
                    };
                    s0 += dot(0);
                    s1 += dot(1);
                    s2 += dot(2);
                }
            }
            (*o0, *o1, *o2) = (s0, s1, s2);
            return;
        }
        for slot in self.row_start[b]..self.row_start[b + 1] {
            let c = self.columns[slot];
            let x = &r[self.offsets[c]..self.offsets[c + 1]];
            let w = &self.values[self.value_start[slot]..];
            for (o, row) in out.iter_mut().zip(w.chunks_exact(x.len())) {
                *o += row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
            }
        }
    }

    /// Compressed sparse rows without the zeros: indptr, indices, data.
    pub fn to_csr(&self) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
        let (mut indptr, mut indices, mut data) = (vec![0], Vec::new(), Vec::new());
        for b in 0..self.n_blocks() {
            for i in 0..self.dim(b) {
                for (c, w) in self.row(b) {
                    let dim = self.dim(c);
                    for j in 0..dim {
                        if w[i * dim + j] != 0.0 {
                            indices.push(self.offsets[c] + j);
                            data.push(w[i * dim + j]);
                        }
                    }
                }
                indptr.push(indices.len());
            }
        }
        (indptr, indices, data)
    }

    /// Dense row-major copy.
    pub fn to_dense(&self, out: &mut Vec<f64>) {
        let n = self.offsets.last().copied().unwrap_or(0);
        out.clear();
        out.resize(n * n, 0.0);
        for b in 0..self.n_blocks() {
            for (c, w) in self.row(b) {
                let dim = self.dim(c);
                for i in 0..self.dim(b) {
                    let at = (self.offsets[b] + i) * n + self.offsets[c];
                    out[at..at + dim].copy_from_slice(&w[i * dim..(i + 1) * dim]);
                }
            }
        }
    }

    /// max |W − Wᵀ| / max |W|, zero for a zero matrix.
    pub fn asymmetry(&self) -> f64 {
        let (mut worst, mut largest) = (0.0_f64, 0.0_f64);
        for b in 0..self.n_blocks() {
            for (c, w) in self.row(b) {
                let (rows, cols) = (self.dim(b), self.dim(c));
                let range = self.row_start[c]..self.row_start[c + 1];
                let mirror = self.columns[range.clone()].binary_search(&b).ok();
                for i in 0..rows {
                    for j in 0..cols {
                        let x = w[i * cols + j];
                        let y = mirror.map_or(0.0, |k| self.values[self.value_start[range.start + k] + j * rows + i]);
                        worst = worst.max((x - y).abs());
                        largest = largest.max(x.abs());
                    }
                }
            }
        }
        if largest > 0.0 { worst / largest } else { 0.0 }
    }

    /// All stored values.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

/// A dot product in eight interleaved sums, so that it vectorises; the order is fixed, so are the bits.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a8.zip(b8) {
        for k in 0..8 {
            sums[k] += x[k] * y[k];
        }
    }
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + tail
}

/// Σ f(a_k x[j_k]) in four interleaved sums, so that additions need not wait for each other.
fn gather_dot(a: &[f64], columns: &[usize], x: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, c4) = (a.chunks_exact(4), columns.chunks_exact(4));
    let rest = a4.remainder().iter().zip(c4.remainder());
    let tail: f64 = rest.map(|(a, j)| f(a * x[*j])).sum();
    for (a, j) in a4.zip(c4) {
        for k in 0..4 {
            sums[k] += f(a[k] * x[j[k]]);
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + tail
}

impl Delassus for BlockMatrix {
    fn n_rows(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    fn apply(&self, r: &[f64], out: &mut [f64]) {
        for b in 0..self.n_blocks() {
            let rows = &mut out[self.offsets[b]..self.offsets[b + 1]];
            rows.fill(0.0);
            self.add_row_product(b, r, rows);
        }
    }

    fn apply_abs(&self, r: &[f64], out: &mut [f64]) {
        for b in 0..self.n_blocks() {
            let rows = &mut out[self.offsets[b]..self.offsets[b + 1]];
            rows.fill(0.0);
            if self.values.len() == self.columns.len() {
                let slots = self.row_start[b]..self.row_start[b + 1];
                let columns = &self.columns[slots.clone()];
                rows[0] = gather_dot(&self.values[slots], columns, r, f64::abs);
                continue;
            }
            for (c, w) in self.row(b) {
                let x = &r[self.offsets[c]..self.offsets[c + 1]];
                for (o, row) in rows.iter_mut().zip(w.chunks_exact(x.len())) {
                    *o += row.iter().zip(x).map(|(w, x)| (w * x).abs()).sum::<f64>();
                }
            }
        }
    }

    fn write_diagonal(&self, out: &mut [f64]) {
        for b in 0..self.n_blocks() {
            let dim = self.dim(b);
            let w = self.diagonal_block(b);
            for i in 0..dim {
                out[self.offsets[b] + i] = w[i * dim + i];
            }
        }
    }

    fn write_blocks(&self, offsets: &[usize], out: &mut BlockMatrix) {
        if offsets == self.offsets {
            out.clone_from(self);
        } else {
            let mut dense = Vec::new();
            self.to_dense(&mut dense);
            out.set_from_dense(offsets, &dense);
        }
    }
}
