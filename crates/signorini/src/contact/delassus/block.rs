//! Block-sparse matrices over the contact graph.

use std::sync::Arc;

use super::Delassus;
use super::kernel::{dot, dot_with_abs, gather_dot, gather_dot_with_abs};
use super::spatial::Spatial;

/// Where the blocks of a matrix are.
#[derive(Debug, Clone, Default, PartialEq)]
struct Pattern {
    offsets: Vec<usize>,
    row_start: Vec<usize>,
    columns: Vec<usize>,
    value_start: Vec<usize>,
    diagonal: Vec<usize>,
    /// Rows of every block where all have the same number, else zero.
    stride: usize,
}

impl Pattern {
    fn update_stride(&mut self) {
        let mut dims = self.offsets.windows(2).map(|w| w[1] - w[0]);
        let first = dims.next().unwrap_or(0);
        self.stride = if dims.all(|d| d == first) { first } else { 0 };
    }
}

/// A square matrix of blocks in compressed rows. Every diagonal block is stored, columns ascend in each row.
///
/// Copies share the pattern: a scaled copy of a matrix costs its numbers only.
#[derive(Debug, Default, PartialEq)]
pub struct BlockMatrix {
    pattern: Arc<Pattern>,
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
        self.share_pattern(source);
        self.values.clone_from(&source.values);
    }
}

impl BlockMatrix {
    fn share_pattern(&mut self, source: &Self) {
        if !Arc::ptr_eq(&self.pattern, &source.pattern) {
            self.pattern = Arc::clone(&source.pattern);
        }
    }

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
            out.end_row();
            for i in offsets[b]..offsets[b + 1] {
                for k in indptr[i]..indptr[i + 1] {
                    let c = block_of[indices[k]];
                    let slot = out.pattern.row_start[b]
                        + out.pattern.columns[out.pattern.row_start[b]..].binary_search(&c).unwrap_or_default();
                    let dim = offsets[c + 1] - offsets[c];
                    let at = out.pattern.value_start[slot] + (i - offsets[b]) * dim + (indices[k] - offsets[c]);
                    out.values[at] += data[k];
                }
            }
        }
        out
    }

    /// From a dense row-major matrix; blocks that are zero throughout are left out. Where the same blocks are used as before, nothing
    /// is allocated and copies go on sharing the pattern.
    pub fn set_from_dense(&mut self, offsets: &[usize], dense: &[f64]) {
        let n = offsets.last().copied().unwrap_or(0);
        let n_blocks = offsets.len().saturating_sub(1);
        let is_used = |b: usize, c: usize| {
            let mut rows = offsets[b]..offsets[b + 1];
            b == c || rows.any(|i| dense[i * n + offsets[c]..i * n + offsets[c + 1]].iter().any(|x| *x != 0.0))
        };
        let p = &*self.pattern;
        let is_same = p.offsets == offsets
            && (0..n_blocks).all(|b| (0..n_blocks).filter(|c| is_used(b, *c)).eq(self.columns(b).iter().copied()));
        if !is_same {
            self.clear(offsets);
            for b in 0..n_blocks {
                for c in (0..n_blocks).filter(|c| is_used(b, *c)) {
                    self.push_block(b, c);
                }
                self.end_row();
            }
        }
        let Self { pattern: p, values } = self;
        for b in 0..n_blocks {
            for slot in p.row_start[b]..p.row_start[b + 1] {
                let columns = offsets[p.columns[slot]]..offsets[p.columns[slot] + 1];
                for (k, i) in (offsets[b]..offsets[b + 1]).enumerate() {
                    let at = p.value_start[slot] + k * columns.len();
                    values[at..at + columns.len()].copy_from_slice(&dense[i * n..][columns.clone()]);
                }
            }
        }
    }

    /// Becomes the blocks of some contacts, ascending, alone.
    pub fn set_restricted(&mut self, source: &Self, part: &[usize]) {
        self.clear(&[0]);
        let p = Arc::make_mut(&mut self.pattern);
        let mut n = 0;
        for &b in part {
            n += source.dim(b);
            p.offsets.push(n);
        }
        p.update_stride();
        for (row, &b) in part.iter().enumerate() {
            for (c, w) in source.row(b) {
                if let Ok(column) = part.binary_search(&c) {
                    let at = self.push_block(row, column);
                    self.write_values(at, w);
                }
            }
            self.end_row();
        }
    }

    /// Starts anew with the given block rows and no block, keeping the storage.
    pub fn clear(&mut self, offsets: &[usize]) {
        if Arc::get_mut(&mut self.pattern).is_none() {
            self.pattern = Arc::default(); // somebody else still needs the old one
        }
        let p = Arc::make_mut(&mut self.pattern);
        p.offsets.clear();
        p.offsets.extend_from_slice(offsets);
        p.row_start.clear();
        p.row_start.push(0);
        p.columns.clear();
        p.value_start.clear();
        p.diagonal.clear();
        p.update_stride();
        self.values.clear();
    }

    /// Takes a pattern; all values are to be written. Where it is the one that is there, nothing is allocated and copies go on sharing it.
    pub fn set_pattern(&mut self, offsets: &[usize], row_start: &[usize], columns: &[usize]) {
        let p = &*self.pattern;
        let is_same = p.offsets == offsets && p.row_start == row_start && p.columns == columns;
        if !is_same {
            self.clear(offsets);
            for row in 0..row_start.len().saturating_sub(1) {
                for &column in &columns[row_start[row]..row_start[row + 1]] {
                    self.push_block(row, column);
                }
                self.end_row();
            }
        }
    }

    /// All blocks row by row, where each has D numbers.
    pub fn uniform_slots_mut<const D: usize>(&mut self) -> Option<&mut [[f64; D]]> {
        let (blocks, rest) = self.values.as_chunks_mut::<D>();
        (self.pattern.stride * self.pattern.stride == D && rest.is_empty()).then_some(blocks)
    }

    /// The same matrix, seen as one of 3 × 3 blocks, where that is what it is.
    pub(crate) fn spatial(&self) -> Option<Spatial<'_>> {
        let Pattern { row_start, columns, diagonal, stride, .. } = &*self.pattern;
        let (blocks, _) = self.values.as_chunks::<9>();
        (*stride == 3).then_some(Spatial { row_start, columns, blocks, diagonal })
    }

    /// Row-major values of the block in a slot: slots count blocks row by row.
    pub fn slot_mut(&mut self, slot: usize) -> &mut [f64] {
        let start = self.pattern.value_start[slot];
        let end = self.pattern.value_start.get(slot + 1).copied().unwrap_or(self.values.len());
        &mut self.values[start..end]
    }

    /// Appends a zero block to the current row; columns must ascend. Returns where its values start.
    pub fn push_block(&mut self, row: usize, column: usize) -> usize {
        let p = Arc::make_mut(&mut self.pattern);
        if row == column {
            p.diagonal.push(p.columns.len());
        }
        p.columns.push(column);
        let at = self.values.len();
        p.value_start.push(at);
        self.values.resize(at + self.dim(row) * self.dim(column), 0.0);
        at
    }

    /// Writes the values of the block that starts at `at`, as `push_block` returned it.
    pub fn write_values(&mut self, at: usize, values: &[f64]) {
        self.values[at..at + values.len()].copy_from_slice(values);
    }

    /// Ends the current row.
    pub fn end_row(&mut self) {
        let p = Arc::make_mut(&mut self.pattern);
        p.row_start.push(p.columns.len());
    }

    /// Becomes W · factor / (σ_i σ_j); `inverse` holds 1/σ. Nothing is copied but the numbers.
    pub fn set_scaled(&mut self, source: &Self, factor: f64, inverse: &[f64]) {
        self.share_pattern(source);
        let p = &*source.pattern;
        if source.has_single_rows() {
            self.values.clear();
            for b in 0..source.n_blocks() {
                let f = factor * inverse[b];
                let slots = p.row_start[b]..p.row_start[b + 1];
                let values = &source.values[slots.clone()];
                if values.len() == inverse.len() {
                    self.values.extend(values.iter().zip(inverse).map(|(w, i)| w * (f * i)));
                } else {
                    let columns = p.columns[slots].iter();
                    self.values.extend(values.iter().zip(columns).map(|(w, j)| w * (f * inverse[*j])));
                }
            }
            return;
        }
        if let Some(w) = source.spatial() {
            let (inverse, _) = inverse.as_chunks::<3>();
            self.values.resize(source.values.len(), 0.0);
            let (blocks, _) = self.values.as_chunks_mut::<9>();
            // The rows of a contact have one unit, but for those of a moment.
            let has_one = inverse.iter().all(|x| x[0] == x[1] && x[0] == x[2]);
            for (b, own) in inverse.iter().enumerate() {
                let slots = w.row_start[b]..w.row_start[b + 1];
                let pairs = w.blocks[slots.clone()].iter().zip(&w.columns[slots.clone()]);
                for (out, (w, c)) in blocks[slots].iter_mut().zip(pairs) {
                    let other = &inverse[*c];
                    if has_one {
                        let scale = factor * own[0] * other[0];
                        *out = w.map(|w| w * scale);
                        continue;
                    }
                    for (i, x) in own.iter().enumerate() {
                        for (j, y) in other.iter().enumerate() {
                            out[3 * i + j] = w[3 * i + j] * (factor * x * y);
                        }
                    }
                }
            }
            return;
        }
        self.values.clear();
        for b in 0..source.n_blocks() {
            for (c, w) in source.row(b) {
                let columns = &inverse[p.offsets[c]..p.offsets[c + 1]];
                for (row, i) in w.chunks_exact(columns.len()).zip(&inverse[p.offsets[b]..]) {
                    self.values.extend(row.iter().zip(columns).map(|(w, j)| w * (factor * i * j)));
                }
            }
        }
    }

    /// Rows of every block where all have the same number, else zero.
    pub fn stride(&self) -> usize {
        self.pattern.stride
    }

    /// Columns and values of block row b of a matrix of 2 × 2 blocks.
    pub fn planar_row(&self, b: usize) -> impl Iterator<Item = (usize, &[f64; 4])> {
        let slots = self.pattern.row_start[b]..self.pattern.row_start[b + 1];
        let (blocks, _) = self.values.as_chunks::<4>();
        self.pattern.columns[slots.clone()].iter().copied().zip(&blocks[slots])
    }

    /// W r and |W||r| of a matrix of 2 × 2 blocks, in one pass.
    fn apply_planar_with_abs(&self, r: &[f64], out: &mut [f64], abs: &mut [f64]) {
        let r = r.as_chunks::<2>().0;
        let both = out.as_chunks_mut::<2>().0.iter_mut().zip(abs.as_chunks_mut::<2>().0);
        for (b, (out, abs)) in both.enumerate() {
            (*out, *abs) = ([0.0; 2], [0.0; 2]);
            for (c, w) in self.planar_row(b) {
                let x = r[c];
                let products = [w[0] * x[0], w[1] * x[1], w[2] * x[0], w[3] * x[1]];
                for (k, pair) in products.as_chunks::<2>().0.iter().enumerate() {
                    out[k] += pair[0] + pair[1];
                    abs[k] += pair[0].abs() + pair[1].abs();
                }
            }
        }
    }

    /// Whether every block is one number; values and columns then run in step.
    pub fn has_single_rows(&self) -> bool {
        self.values.len() == self.pattern.columns.len()
    }

    /// Values and columns of row b of a matrix of single rows.
    pub fn single_row(&self, b: usize) -> (&[f64], &[usize]) {
        let slots = self.pattern.row_start[b]..self.pattern.row_start[b + 1];
        (&self.values[slots.clone()], &self.pattern.columns[slots])
    }

    /// W_b r for row b of a matrix of single rows.
    pub fn single_row_product(&self, b: usize, r: &[f64]) -> f64 {
        let (w, columns) = self.single_row(b);
        if w.len() == r.len() { dot(w, r) } else { gather_dot(w, columns, r, |x| x) }
    }

    /// Number of block rows.
    pub fn n_blocks(&self) -> usize {
        self.pattern.offsets.len().saturating_sub(1)
    }

    /// Number of stored blocks.
    pub fn n_stored(&self) -> usize {
        self.pattern.columns.len()
    }

    /// First row of every block, and the number of rows.
    pub fn offsets(&self) -> &[usize] {
        &self.pattern.offsets
    }

    /// Number of rows of block b.
    pub fn dim(&self, b: usize) -> usize {
        self.pattern.offsets[b + 1] - self.pattern.offsets[b]
    }

    /// Block columns of block row b.
    pub fn columns(&self, b: usize) -> &[usize] {
        &self.pattern.columns[self.pattern.row_start[b]..self.pattern.row_start[b + 1]]
    }

    /// Column and row-major values of every block of block row b.
    pub fn row(&self, b: usize) -> impl Iterator<Item = (usize, &[f64])> {
        let dim = self.dim(b);
        (self.pattern.row_start[b]..self.pattern.row_start[b + 1]).map(move |slot| {
            let c = self.pattern.columns[slot];
            let at = self.pattern.value_start[slot];
            (c, &self.values[at..at + dim * self.dim(c)])
        })
    }

    /// Row-major values of the diagonal block b.
    pub fn diagonal_block(&self, b: usize) -> &[f64] {
        let at = self.pattern.value_start[self.pattern.diagonal[b]];
        let dim = self.dim(b);
        &self.values[at..at + dim * dim]
    }

    /// out += W_b r for the rows of block b.
    pub fn add_row_product(&self, b: usize, r: &[f64], out: &mut [f64]) {
        if self.has_single_rows() {
            out[0] += self.single_row_product(b, r);
            return;
        }
        if let [o0, o1] = out {
            for slot in self.pattern.row_start[b]..self.pattern.row_start[b + 1] {
                let c = self.pattern.columns[slot];
                let x = &r[self.pattern.offsets[c]..self.pattern.offsets[c + 1]];
                let w = &self.values[self.pattern.value_start[slot]..][..2 * x.len()];
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
        if let Some(w) = self.spatial() {
            let product = w.product::<[f64; 4]>((), w.row_start[b]..w.row_start[b + 1], r.as_chunks().0);
            out.iter_mut().zip(product).for_each(|(o, x)| *o += x);
            return;
        }
        if let [o0, o1, o2] = out {
            let (mut s0, mut s1, mut s2) = (*o0, *o1, *o2);
            for slot in self.pattern.row_start[b]..self.pattern.row_start[b + 1] {
                let c = self.pattern.columns[slot];
                let x = &r[self.pattern.offsets[c]..self.pattern.offsets[c + 1]];
                let at = self.pattern.value_start[slot];
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
        for slot in self.pattern.row_start[b]..self.pattern.row_start[b + 1] {
            let c = self.pattern.columns[slot];
            let x = &r[self.pattern.offsets[c]..self.pattern.offsets[c + 1]];
            let w = &self.values[self.pattern.value_start[slot]..];
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
                            indices.push(self.pattern.offsets[c] + j);
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
        let n = self.pattern.offsets.last().copied().unwrap_or(0);
        out.clear();
        out.resize(n * n, 0.0);
        for b in 0..self.n_blocks() {
            for (c, w) in self.row(b) {
                let dim = self.dim(c);
                for i in 0..self.dim(b) {
                    let at = (self.pattern.offsets[b] + i) * n + self.pattern.offsets[c];
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
                let range = self.pattern.row_start[c]..self.pattern.row_start[c + 1];
                let mirror = self.pattern.columns[range.clone()].binary_search(&b).ok();
                for i in 0..rows {
                    for j in 0..cols {
                        let x = w[i * cols + j];
                        let y = mirror
                            .map_or(0.0, |k| self.values[self.pattern.value_start[range.start + k] + j * rows + i]);
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

impl Delassus for BlockMatrix {
    fn as_blocks_mut(&mut self) -> Option<&mut BlockMatrix> {
        Some(self)
    }

    fn n_rows(&self) -> usize {
        self.pattern.offsets.last().copied().unwrap_or(0)
    }

    fn apply(&self, r: &[f64], out: &mut [f64]) {
        if self.has_single_rows() {
            for (b, o) in out.iter_mut().enumerate() {
                *o = self.single_row_product(b, r);
            }
            return;
        }
        if let Some(w) = self.spatial() {
            return w.apply(r.as_chunks().0, out.as_chunks_mut().0);
        }
        for b in 0..self.n_blocks() {
            let rows = &mut out[self.pattern.offsets[b]..self.pattern.offsets[b + 1]];
            rows.fill(0.0);
            self.add_row_product(b, r, rows);
        }
    }

    fn apply_abs(&self, r: &[f64], out: &mut [f64]) {
        for b in 0..self.n_blocks() {
            let rows = &mut out[self.pattern.offsets[b]..self.pattern.offsets[b + 1]];
            rows.fill(0.0);
            if self.has_single_rows() {
                let (w, columns) = self.single_row(b);
                let full = w.len() == r.len();
                rows[0] = if full { dot_with_abs(w, r).1 } else { gather_dot(w, columns, r, f64::abs) };
                continue;
            }
            for (c, w) in self.row(b) {
                let x = &r[self.pattern.offsets[c]..self.pattern.offsets[c + 1]];
                match (&mut *rows, x, w) {
                    ([o0, o1], [x0, x1], [w0, w1, w2, w3]) => {
                        *o0 += (w0 * x0).abs() + (w1 * x1).abs();
                        *o1 += (w2 * x0).abs() + (w3 * x1).abs();
                    }
                    ([o0, o1, o2], [x0, x1, x2], [w0, w1, w2, w3, w4, w5, w6, w7, w8]) => {
                        *o0 += (w0 * x0).abs() + (w1 * x1).abs() + (w2 * x2).abs();
                        *o1 += (w3 * x0).abs() + (w4 * x1).abs() + (w5 * x2).abs();
                        *o2 += (w6 * x0).abs() + (w7 * x1).abs() + (w8 * x2).abs();
                    }
                    (rows, x, w) => {
                        for (o, row) in rows.iter_mut().zip(w.chunks_exact(x.len())) {
                            *o += row.iter().zip(x).map(|(w, x)| (w * x).abs()).sum::<f64>();
                        }
                    }
                }
            }
        }
    }

    fn apply_with_abs(&self, r: &[f64], out: &mut [f64], abs: &mut [f64]) {
        if self.has_single_rows() {
            for (b, (o, a)) in out.iter_mut().zip(abs).enumerate() {
                let (w, columns) = self.single_row(b);
                let is_full = w.len() == r.len();
                (*o, *a) = if is_full { dot_with_abs(w, r) } else { gather_dot_with_abs(w, columns, r) };
            }
            return;
        }
        if let Some(w) = self.spatial() {
            return w.apply_with_abs(r.as_chunks().0, out.as_chunks_mut().0, abs.as_chunks_mut().0);
        }
        if self.stride() == 2 {
            return self.apply_planar_with_abs(r, out, abs);
        }
        self.apply(r, out);
        self.apply_abs(r, abs);
    }

    fn write_diagonal(&self, out: &mut [f64]) {
        let p = &*self.pattern;
        for (slot, rows) in p.diagonal.iter().zip(p.offsets.windows(2)) {
            let (at, dim) = (p.value_start[*slot], rows[1] - rows[0]);
            for (i, o) in out[rows[0]..rows[1]].iter_mut().enumerate() {
                *o = self.values[at + i * (dim + 1)];
            }
        }
    }

    fn largest_entry(&self) -> f64 {
        self.values.iter().fold(0.0_f64, |m, x| m.max(x.abs()))
    }

    fn write_blocks(&self, offsets: &[usize], out: &mut BlockMatrix) {
        if offsets == self.pattern.offsets {
            out.clone_from(self);
        } else {
            let mut dense = Vec::new();
            self.to_dense(&mut dense);
            out.set_from_dense(offsets, &dense);
        }
    }

    fn as_blocks(&self, offsets: &[usize]) -> Option<&BlockMatrix> {
        (offsets == self.pattern.offsets).then_some(self)
    }
}
