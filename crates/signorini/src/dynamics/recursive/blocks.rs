//! Blocks of the Delassus matrix, from the columns and wrenches of ports.
//!
//! **Problem.** G = Yᵀ Y, one row of blocks at a time.
//!
//! **Method.** See `ports.rs`. Columns of one mechanism share the entries from the link inwards where their ways meet; a way that is long from
//! there is summed up by the mobility of that link. Entries of points are in an order that fills registers.
//!
//! **Cost.** 54 multiplications per block of three rows and mechanism in common.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/contact_motion.rs`, against `dense`.

use super::mobility::{dot6, times6};
use super::ports::{LONG, MAX_ROWS, PADDED_ROWS, Part, Ports, speeds_inwards};
use crate::dynamics::tree::Tree;
use crate::simd::{Space, in_registers};

/// Three numbers, with room for one more so that registers are full.
type Padded = [f64; PADDED_ROWS];

/// A block of three rows and columns, row by row.
pub type Block = [f64; 9];

impl Ports {
    fn parts_of(&self, p: usize) -> &[Part] {
        &self.parts[self.part_start[p]..self.part_start[p + 1]]
    }

    /// Prepares blocks of G by [`Self::block`]: those of port `p` with others.
    pub fn open(&mut self, tree: &Tree, p: usize) {
        let per_unit = 1.0 / self.mass_unit;
        self.own.clear();
        let n = self.n_rows(p);
        let parts = &self.parts[self.part_start[p]..self.part_start[p + 1]];
        let values = match self.n_full {
            Some(n_full) => self.offsets[p] * n_full..self.offsets[p + 1] * n_full,
            None => parts.first().map_or(0, |part| part.values)..parts.last().map_or(0, |part| part.end(n)),
        };
        self.own.extend(self.values[values].iter().map(|y| y * per_unit));
        if self.has_outer && self.n_full.is_none() {
            let mut scatter = std::mem::take(&mut self.scatter);
            self.visit_entries(tree, p, |v, values, stride| {
                let to = &mut scatter[v * MAX_ROWS..v * MAX_ROWS + n];
                to.iter_mut().enumerate().for_each(|(k, y)| *y = values[k * stride] * per_unit);
            });
            self.scatter = scatter;
        }
    }

    /// Blocks of port `p` with others, all of three rows.
    pub fn write_row(&mut self, tree: &Tree, p: usize, others: &[usize], out: &mut [Block]) {
        if !self.has_outer && self.n_full.is_none() {
            return in_registers!(|token: V| self.write_plain_row::<V>(token, p, others, out));
        }
        self.open(tree, p);
        for (q, block) in others.iter().zip(out) {
            self.block(tree, p, *q, block);
        }
        self.close(tree, p);
    }

    /// Where no part has outer entries and none is full.
    #[inline(always)]
    fn write_plain_row<V: Space>(&self, token: V::Token, p: usize, others: &[usize], out: &mut [Block]) {
        let zero = [V::zero(token); 3];
        let per_unit = 1.0 / self.mass_unit;
        let own = self.parts_of(p);
        if self.is_floating_only {
            for (q, block) in others.iter().zip(out) {
                let mut sum = zero;
                for a in own {
                    for b in self.parts_of(*q).iter().filter(|b| b.tip == a.tip) {
                        if let (Some(a), Some(b)) = (self.six_entries(a), self.six_entries(b)) {
                            add_padded(a, b, &mut sum);
                        }
                    }
                }
                write_scaled(sum, per_unit, block);
            }
            return;
        }
        for (q, block) in others.iter().zip(out) {
            let mut sum = zero;
            // Mostly both push one mechanism, off the ground.
            if let ([a], [b]) = (own, self.parts_of(*q)) {
                let shared = self.ancestry.n_speeds(self.ancestry.meet(a.tip, b.tip));
                if shared <= LONG || p == *q {
                    let (a, b) = (self.last_entries(a, shared), self.last_entries(b, shared));
                    // Where limbs meet at a floating trunk: so many, which the compiler knows.
                    match (<&[Padded; 6]>::try_from(a), <&[Padded; 6]>::try_from(b)) {
                        (Ok(a), Ok(b)) => add_padded(a, b, &mut sum),
                        _ => add_padded(a, b, &mut sum),
                    }
                    write_scaled(sum, per_unit, block);
                    continue;
                }
            }
            let mut inner = None;
            for a in own {
                for b in self.parts_of(*q).iter().filter(|b| b.root == a.root) {
                    let meet = if a.tip == b.tip { a.tip } else { self.ancestry.meet(a.tip, b.tip) };
                    let shared = self.ancestry.n_speeds(meet);
                    if shared > LONG && p != *q {
                        self.add_inner((3, 3), a, b, meet, inner.get_or_insert([0.0; 9]));
                    } else {
                        add_padded(self.last_entries(a, shared), self.last_entries(b, shared), &mut sum);
                    }
                }
            }
            // The mass unit is a power of two: it may as well come last.
            write_scaled(sum, per_unit, block);
            if let Some(inner) = inner {
                block.iter_mut().zip(inner).for_each(|(g, x)| *g += x);
            }
        }
    }

    /// Entries of a part on a body that floats alone: so many, which the compiler knows.
    #[inline(always)]
    fn six_entries(&self, part: &Part) -> Option<&[Padded; 6]> {
        self.values[part.values..].as_chunks().0.first_chunk()
    }

    /// Entries of the last speeds on the way to the ground of a part of three rows.
    #[inline(always)]
    fn last_entries(&self, part: &Part, n_speeds: usize) -> &[Padded] {
        let end = part.values + part.n_speeds * PADDED_ROWS;
        self.values[end - n_speeds * PADDED_ROWS..end].as_chunks().0
    }

    /// The block of G of the open port `p` with `q`, row-major.
    pub fn block(&self, tree: &Tree, p: usize, q: usize, out: &mut [f64]) {
        let (n, m) = (self.n_rows(p), self.n_rows(q));
        let out = &mut out[..n * m];
        out.fill(0.0);
        if let Some(n_full) = self.n_full {
            let others = &self.values[self.offsets[q] * n_full..];
            return add_product((n, m), n_full, (&self.own, n_full), (others, n_full), out);
        }
        let first = self.parts_of(p).first().map_or(0, |part| part.values);
        for a in self.parts_of(p) {
            let own = &self.own[a.values - first..a.end(n) - first];
            for b in self.parts_of(q).iter().filter(|b| b.root == a.root) {
                let others = &self.values[b.values..b.end(m)];
                self.add_shared((n, m), (a, own), (b, others), p == q, out);
                if self.has_outer && (a.has_outer() || b.has_outer()) {
                    self.add_outer(tree, (n, m), a, b, out);
                }
            }
        }
    }

    /// What two parts have in common from where their ways meet inwards.
    fn add_shared(
        &self,
        (n, m): (usize, usize),
        (a, own): (&Part, &[f64]),
        (b, others): (&Part, &[f64]),
        is_diagonal: bool,
        out: &mut [f64],
    ) {
        let meet = self.ancestry.meet(a.tip, b.tip);
        let shared = self.ancestry.n_speeds(meet);
        if shared > LONG && !is_diagonal {
            return self.add_inner((n, m), a, b, meet, out);
        }
        if a.is_padded && b.is_padded {
            let mut sum = [Padded::default(); 3];
            let ((own, _), (others, _)) = (own.as_chunks(), others.as_chunks());
            add_padded(&own[a.n_speeds - shared..], &others[b.n_speeds - shared..], &mut sum);
            for (row, sum) in out.chunks_exact_mut(m).zip(sum) {
                row.iter_mut().zip(sum).for_each(|(g, x)| *g += x);
            }
            return;
        }
        let ((row_a, speed_a), (row_b, speed_b)) = (a.strides(), b.strides());
        for x in 0..shared {
            let (at_a, at_b) = ((a.n_speeds - shared + x) * speed_a, (b.n_speeds - shared + x) * speed_b);
            for (k, out) in out.chunks_exact_mut(m).enumerate() {
                for (l, g) in out.iter_mut().enumerate() {
                    *g += own[at_a + k * row_a] * others[at_b + l * row_b];
                }
            }
        }
    }

    /// What two parts have in common from a link inwards, by the mobility of the link.
    fn add_inner(&self, (n, m): (usize, usize), a: &Part, b: &Part, meet: u32, out: &mut [f64]) {
        let wrenches = |part: &Part, n: usize| {
            let passed = self.ancestry.n_links(part.tip) - self.ancestry.n_links(meet);
            let at = part.wrenches + passed * n;
            &self.wrenches[at..at + n]
        };
        let (own, others) = (wrenches(a, n), wrenches(b, m));
        let mut here = [[0.0; 6]; MAX_ROWS];
        let (left, right) = if meet == a.tip {
            (&self.moved[a.moved..a.moved + n], others)
        } else if meet == b.tip {
            (own, &self.moved[b.moved..b.moved + m])
        } else {
            let mobility = &self.mobilities[meet as usize];
            here.iter_mut().zip(own).for_each(|(moved, z)| *moved = times6(mobility, z));
            (&here[..n], others)
        };
        add_sixes((n, m), left.as_flattened(), right.as_flattened(), out);
    }

    /// What two parts have in common further out than where both are whole.
    fn add_outer(&self, tree: &Tree, (n, m): (usize, usize), a: &Part, b: &Part, out: &mut [f64]) {
        let mut add = |v: usize, other: &[f64], stride: usize| {
            let own = &self.scatter[v * MAX_ROWS..v * MAX_ROWS + n];
            for (k, y) in own.iter().enumerate() {
                for l in 0..m {
                    out[k * m + l] += y * other[l * stride];
                }
            }
        };
        for (x, v) in self.outer[b.outer.0..b.outer.1].iter().enumerate() {
            add(*v as usize, &self.values[b.outer_values + x * m..], 1);
        }
        let further_out = b.n_speeds - self.ancestry.n_speeds(self.ancestry.meet(a.tip, b.tip));
        for (x, v) in speeds_inwards(tree, b.tip).take(further_out).enumerate() {
            let (values, stride) = self.entry(b, x);
            add(v, values, stride);
        }
    }

    /// Ends what [`Self::open`] began.
    pub fn close(&mut self, tree: &Tree, p: usize) {
        if self.has_outer && self.n_full.is_none() {
            let mut scatter = std::mem::take(&mut self.scatter);
            self.visit_entries(tree, p, |v, _, _| scatter[v * MAX_ROWS..(v + 1) * MAX_ROWS].fill(0.0));
            self.scatter = scatter;
        }
    }
}

impl Part {
    /// Where the values of a part of n rows end.
    pub(super) fn end(&self, n: usize) -> usize {
        self.values + self.n_speeds * if self.is_padded { PADDED_ROWS } else { n }
    }

    /// From one row to the next, and from one speed to the next.
    pub(super) fn strides(&self) -> (usize, usize) {
        if self.is_padded { (1, PADDED_ROWS) } else { (self.n_speeds, 1) }
    }

    fn has_outer(&self) -> bool {
        self.outer.0 < self.outer.1
    }
}

/// Adds the products of the entries of two ports, speed by speed.
#[inline(always)]
fn add_padded<V: Space>(a: &[Padded], b: &[Padded], [x, y, z]: &mut [V; 3]) {
    for (a, b) in a.iter().zip(b) {
        let b = V::load(x.token(), b);
        *x = x.plus(b.times(a[0]));
        *y = y.plus(b.times(a[1]));
        *z = z.plus(b.times(a[2]));
    }
}

/// Writes three rows, times a number.
#[inline(always)]
fn write_scaled<V: Space>(rows: [V; 3], factor: f64, out: &mut Block) {
    V::store_rows(rows.map(|row| row.times(factor)), out);
}

/// Adds the products of rows of six.
#[inline(always)]
fn add_sixes((n, m): (usize, usize), a: &[f64], b: &[f64], out: &mut [f64]) {
    let ((a, _), (b, _)) = (a.as_chunks::<6>(), b.as_chunks::<6>());
    for (a, out) in a[..n].iter().zip(out.chunks_exact_mut(m)) {
        for (b, g) in b[..m].iter().zip(out) {
            *g += dot6(a, b);
        }
    }
}

/// Adds the products of full rows of `len` numbers; each row starts a stride after the last.
fn add_product((n, m): (usize, usize), len: usize, a: (&[f64], usize), b: (&[f64], usize), out: &mut [f64]) {
    if len == 0 {
        return;
    }
    if let (3, 3, Some(out)) = (n, m, out.first_chunk_mut::<9>()) {
        return add_three_by_three(len, a, b, out);
    }
    for k in 0..n {
        let own = &a.0[k * a.1..k * a.1 + len];
        for l in 0..m {
            let other = &b.0[l * b.1..l * b.1 + len];
            out[k * m + l] += own.iter().zip(other).map(|(x, y)| x * y).sum::<f64>();
        }
    }
}

/// The same for three rows each: two numbers of every row at a time, each in a sum of its own.
fn add_three_by_three(len: usize, a: (&[f64], usize), b: (&[f64], usize), out: &mut [f64; 9]) {
    let rows = |(x, stride): (_, usize)| -> [&[f64]; 3] {
        let x: &[f64] = x;
        [&x[..len], &x[stride..stride + len], &x[2 * stride..2 * stride + len]]
    };
    let (a, b) = (rows(a), rows(b));
    let mut sums = [[0.0; 2]; 9];
    let mut at = 0;
    while at + 2 <= len {
        for k in 0..3 {
            for l in 0..3 {
                let (x, y) = (&a[k][at..at + 2], &b[l][at..at + 2]);
                sums[3 * k + l][0] += x[0] * y[0];
                sums[3 * k + l][1] += x[1] * y[1];
            }
        }
        at += 2;
    }
    if at < len {
        for k in 0..3 {
            for l in 0..3 {
                sums[3 * k + l][0] += a[k][at] * b[l][at];
            }
        }
    }
    out.iter_mut().zip(sums).for_each(|(g, sum)| *g += sum[0] + sum[1]);
}
