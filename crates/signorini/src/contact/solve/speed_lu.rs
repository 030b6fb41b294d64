//! Newton's equations in the speeds of a small mechanism.
//!
//! **Problem.** Solve x + D W x = f for blocks D, one per contact, and W = c Yᵀ Y (`columns.rs`). A machine of twenty speeds that has fallen over
//! lies on a dozen contacts: 36 rows, and no more than twenty freedoms.
//!
//! **Method.** By Woodbury's identity W x = c Yᵀ (1 + c Y D Yᵀ)⁻¹ Y f, and x = f − D W x. The matrix has one row per speed that carries
//! something; it is filled contact by contact and factored with row exchanges where a pivot is small, speeds furthest from the ground
//! first: those of different limbs do not meet, and a speed is only looked for where contacts or earlier speeds can have brought it.
//!
//! **Cost.** 3 k n per contact on k of n speeds, and n³/3 at most.
//!
//! **Fails when** a pivot vanishes, which friction can do: the caller takes W instead.
//!
//! **Checked by** the tests in `woodbury.rs`, against W, and the one below.

use super::super::columns::Columns;
use super::constants::factors::OWN_PIVOT;
use super::system::System;
use crate::simd::wide;

/// Numbers that are worked on at once.
const LANES: usize = 4;

/// Numbers of all speeds, in W registers.
type Row<const W: usize> = [[f64; LANES]; W];

const NONE: usize = usize::MAX;

/// The most speeds for which there is a width.
pub const MOST_SPEEDS: usize = 48;

/// The columns of a problem, speed by speed, and the factors, for the width that its speeds need.
#[derive(Debug, Clone, Default)]
pub struct SpeedLu {
    /// Where each speed is among those that carry something.
    place: Vec<usize>,
    n: usize,
    f1: Factors<1>,
    f2: Factors<2>,
    f3: Factors<3>,
    f4: Factors<4>,
    f5: Factors<5>,
    f6: Factors<6>,
    f8: Factors<8>,
    f12: Factors<12>,
}

/// Does the same with the factors of whatever width.
macro_rules! with_factors {
    ($own:ident, $factors:ident => $body:expr) => {
        match $own.n.div_ceil(LANES) {
            0 | 1 => {
                let $factors = &mut $own.f1;
                $body
            }
            2 => {
                let $factors = &mut $own.f2;
                $body
            }
            3 => {
                let $factors = &mut $own.f3;
                $body
            }
            4 => {
                let $factors = &mut $own.f4;
                $body
            }
            5 => {
                let $factors = &mut $own.f5;
                $body
            }
            6 => {
                let $factors = &mut $own.f6;
                $body
            }
            7 | 8 => {
                let $factors = &mut $own.f8;
                $body
            }
            _ => {
                let $factors = &mut $own.f12;
                $body
            }
        }
    };
}

impl SpeedLu {
    /// Takes over the columns of a problem; returns the multiplications of one factorisation, or nothing where speeds are too many.
    pub fn plan(&mut self, columns: &Columns, members: &[usize]) -> Option<f64> {
        self.place.clear();
        self.place.resize(columns.n_speeds(), NONE);
        members.iter().flat_map(|c| columns.entries(*c)).for_each(|(s, _)| self.place[*s] = 0);
        self.n = 0;
        for place in self.place.iter_mut().rev().filter(|p| **p != NONE) {
            *place = self.n;
            self.n += 1;
        }
        if self.n > MOST_SPEEDS {
            return None;
        }
        let (n, place) = (self.n, &self.place);
        let n_entries = with_factors!(self, factors => factors.fill(n, place, columns, members));
        let n = n as f64;
        Some(n * n * n / 3.0 + 3.0 * n * (n_entries + 3 * members.len()) as f64)
    }

    /// Factors 1 + c Y D Yᵀ; `blocks` holds D of every contact, row-major, nine numbers each. False if a pivot vanishes.
    pub fn factor(&mut self, system: &System, blocks: &[[f64; 9]]) -> bool {
        with_factors!(self, factors => factors.factor(system, blocks))
    }

    /// u = c Yᵀ (1 + c Y D Yᵀ)⁻¹ Y f for the last factorisation.
    pub fn solve(&mut self, system: &System, f: &[f64], u: &mut [f64]) {
        with_factors!(self, factors => factors.solve(system, f, u));
    }

    /// u = c Yᵀ Y f.
    pub fn apply(&mut self, system: &System, f: &[f64], u: &mut [f64]) {
        with_factors!(self, factors => factors.apply(system, f, u));
    }
}

/// Columns and factors in rows of W registers.
#[derive(Debug, Clone, Default)]
struct Factors<const W: usize> {
    n: usize,
    scale: f64,
    /// Three rows per contact, and the register in which they begin: late where only the trunk carries it.
    y: Vec<[Row<W>; 3]>,
    firsts: Vec<usize>,
    /// Rows below that may know each speed, as bits, while none were exchanged.
    below: Vec<u64>,
    /// What carries each contact: where its list ends, and the lists: the place, and the three numbers there.
    ends: Vec<usize>,
    carriers: Vec<(usize, [f64; 3])>,
    /// U without its diagonal, row by row, and L without its own: row and factor of whatever was taken out, column by column as rows were then, and where
    /// each column ends. There is room for a full one.
    upper: Vec<Row<W>>,
    lower: Vec<(usize, f64)>,
    lower_ends: Vec<usize>,
    /// Inverses of the diagonal of U.
    inverse: Vec<f64>,
    /// With which row each was exchanged, in the order of elimination.
    exchange: Vec<usize>,
}

impl<const W: usize> Factors<W> {
    /// Takes over columns; returns the number of their entries.
    fn fill(&mut self, n: usize, place: &[usize], columns: &Columns, members: &[usize]) -> usize {
        self.n = n;
        self.scale = columns.scale();
        self.y.resize(members.len(), [[[0.0; LANES]; W]; 3]);
        self.ends.clear();
        self.firsts.clear();
        self.below.clear();
        self.below.resize(n, 0);
        self.carriers.clear();
        for (y, &member) in self.y.iter_mut().zip(members) {
            *y = [[[0.0; LANES]; W]; 3];
            let [y0, y1, y2] = y.each_mut().map(|y| y.as_flattened_mut());
            let mut known = 0_u64;
            self.carriers.extend(columns.entries(member).iter().map(|(speed, values)| {
                let at = place[*speed];
                known |= 1 << at;
                (y0[at], y1[at], y2[at]) = (values[0], values[1], values[2]);
                (at, *values)
            }));
            self.firsts.push(known.trailing_zeros() as usize / LANES);
            self.ends.push(self.carriers.len());
            let mut rest = known;
            while rest != 0 {
                self.below[rest.trailing_zeros() as usize] |= known;
                rest &= rest - 1;
            }
        }
        // What is taken out of a row is told to all that know of it.
        for k in 0..n {
            self.below[k] &= above(n, k);
            let own = self.below[k];
            let mut rest = own;
            while rest != 0 {
                self.below[rest.trailing_zeros() as usize] |= own;
                rest &= rest - 1;
            }
        }
        // Rows of speeds that are not there, up to full registers, are zero.
        self.upper.resize(W * LANES, [[0.0; LANES]; W]);
        self.upper[n..].fill([[0.0; LANES]; W]);
        self.inverse.resize(W * LANES, 0.0);
        self.inverse[n..].fill(0.0);
        self.lower.resize(n * n / 2, (0, 0.0));
        self.lower_ends.resize(n, 0);
        self.exchange.resize(n, 0);
        self.carriers.len()
    }

    fn factor(&mut self, system: &System, blocks: &[[f64; 9]]) -> bool {
        wide!(self.factor_generic(system, blocks))
    }

    #[inline(always)]
    fn factor_generic(&mut self, system: &System, blocks: &[[f64; 9]]) -> bool {
        for (k, row) in self.upper[..self.n].iter_mut().enumerate() {
            *row = [[0.0; LANES]; W];
            row.as_flattened_mut()[k] = 1.0;
        }
        // Loops, here and below, since closures are not compiled for wider registers with what they are called from.
        for (c, d) in blocks.iter().enumerate() {
            // Open contacts add nothing.
            if *d != [0.0; 9] {
                match self.firsts[c] {
                    first if first >= late(W) => self.add_contact(system.w.dim(c), c, d, late(W)),
                    first if first >= W / 2 => self.add_contact(system.w.dim(c), c, d, W / 2),
                    _ => self.add_contact(system.w.dim(c), c, d, 0),
                }
            }
        }
        let mut below = [0; MOST_SPEEDS];
        below[..self.n].copy_from_slice(&self.below);
        let mut n_lower = 0;
        for k in 0..self.n {
            let Some(p) = self.find_pivot(k, below[k]) else { return false };
            self.exchange[k] = p;
            if p != k {
                self.upper.swap(k, p);
                for i in k..self.n {
                    below[i] = above(self.n, i);
                }
            }
            n_lower = match k / LANES {
                first if first >= late(W) => self.eliminate(k, below[k], n_lower, late(W)),
                first if first >= W / 2 => self.eliminate(k, below[k], n_lower, W / 2),
                _ => self.eliminate(k, below[k], n_lower, 0),
            };
            self.lower_ends[k] = n_lower;
        }
        true
    }

    /// Adds c Y D Yᵀ of one contact; its rows are zero before register `from`.
    #[inline(always)]
    fn add_contact(&mut self, dim: usize, c: usize, d: &[f64; 9], from: usize) {
        let stiff = stiffen(&self.y[c], from, dim, d, self.scale);
        let first = if c == 0 { 0 } else { self.ends[c - 1] };
        for (place, values) in &self.carriers[first..self.ends[c]] {
            add(&mut self.upper[*place], &stiff, from, *values);
        }
    }

    /// The row in which speed k is eliminated, of its own and those that may know it.
    #[inline(always)]
    fn find_pivot(&self, k: usize, below: u64) -> Option<usize> {
        let upper = &self.upper[..self.n];
        let own = upper[k].as_flattened()[k].abs();
        let (mut p, mut largest) = (k, own);
        let mut rest = below;
        while rest != 0 {
            let i = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let x = upper[i].as_flattened()[k].abs();
            if x > largest {
                (p, largest) = (i, x);
            }
        }
        // A row of the trunk in place of a limb's own would tell all limbs of each other.
        let p = if own >= OWN_PIVOT * largest { k } else { p };
        (largest > 0.0 && largest.is_finite()).then_some(p)
    }

    /// Takes speed k out of the rows below that may know it; returns where L ends. What is left of the rows is zero before register `from`.
    #[inline(always)]
    fn eliminate(&mut self, k: usize, below: u64, mut n_lower: usize, from: usize) -> usize {
        let upper = &mut self.upper[..self.n];
        let inverse = 1.0 / upper[k].as_flattened()[k];
        self.inverse[k] = inverse;
        // Up to the diagonal rows keep what was there when it was taken out. Numbers that are written one by one are slow to be read by registers.
        let mut row = upper[k];
        for l in 0..W {
            for j in 0..LANES {
                row[l][j] = if l * LANES + j > k { row[l][j] } else { 0.0 };
            }
        }
        upper[k] = row;
        let mut rest = below;
        while rest != 0 {
            let i = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let other = &mut upper[i];
            let leading = other.as_flattened()[k];
            if leading == 0.0 {
                continue;
            }
            let f = leading * inverse;
            self.lower[n_lower] = (i, f);
            n_lower += 1;
            take(other, f, &row, from);
        }
        n_lower
    }

    fn solve(&mut self, system: &System, f: &[f64], u: &mut [f64]) {
        wide!(self.solve_generic(system, f, u));
    }

    #[inline(always)]
    fn solve_generic(&self, system: &System, f: &[f64], u: &mut [f64]) {
        let mut z = self.gather(system, f);
        let x = z.as_flattened_mut();
        let mut first = 0;
        for (k, (exchange, end)) in self.exchange.iter().zip(&self.lower_ends).enumerate() {
            x.swap(k, *exchange);
            let own = x[k];
            for (i, f) in &self.lower[first..*end] {
                x[*i] -= f * own;
            }
            first = *end;
        }
        // Register by register: what is known of the speeds after it by dot products, the speeds in it one after the other.
        let mut known = [[0.0; LANES]; W];
        for l in (0..W).rev() {
            let mut own = z[l];
            for j in (0..LANES).rev() {
                let row = &self.upper[l * LANES + j];
                let mut sum = dot(row, &known, 0);
                for i in j + 1..LANES {
                    sum += row[l][i] * own[i];
                }
                own[j] = (own[j] - sum) * self.inverse[l * LANES + j];
            }
            known[l] = own;
        }
        let z = known;
        self.scatter(system, &z, u);
    }

    fn apply(&mut self, system: &System, f: &[f64], u: &mut [f64]) {
        wide!(self.apply_generic(system, f, u));
    }

    #[inline(always)]
    fn apply_generic(&self, system: &System, f: &[f64], u: &mut [f64]) {
        let z = self.gather(system, f);
        self.scatter(system, &z, u);
    }

    /// Y f.
    #[inline(always)]
    fn gather(&self, system: &System, f: &[f64]) -> Row<W> {
        let mut z = [[0.0; LANES]; W];
        for ((y, first), ends) in self.y.iter().zip(&self.firsts).zip(system.offsets().windows(2)) {
            let f = match f[ends[0]..ends[1]] {
                [a, b, c] => [a, b, c],
                [a, b] => [a, b, 0.0],
                [a] => [a, 0.0, 0.0],
                _ => continue,
            };
            if f == [0.0; 3] {
                continue;
            }
            if *first >= W / 2 {
                add(&mut z, y, W / 2, f);
            } else {
                add(&mut z, y, 0, f);
            }
        }
        z
    }

    /// u = c Yᵀ z.
    #[inline(always)]
    fn scatter(&self, system: &System, z: &Row<W>, u: &mut [f64]) {
        for ((y, first), ends) in self.y.iter().zip(&self.firsts).zip(system.offsets().windows(2)) {
            let u = &mut u[ends[0]..ends[1]];
            if let ([a, b, c], true) = (&mut *u, *first >= W / 2) {
                *a = self.scale * dot(&y[0], z, W / 2);
                *b = self.scale * dot(&y[1], z, W / 2);
                *c = self.scale * dot(&y[2], z, W / 2);
                continue;
            }
            for (u, y) in u.iter_mut().zip(y) {
                *u = self.scale * dot(y, z, 0);
            }
        }
    }
}

/// The register from which on only the last quarter is left.
const fn late(w: usize) -> usize {
    3 * w / 4
}

/// Bits of the rows after row k of n.
fn above(n: usize, k: usize) -> u64 {
    ((1 << n) - 1) & !((2 << k) - 1)
}

/// c D Yᵀ of one contact.
#[inline(always)]
fn stiffen<const W: usize>(y: &[Row<W>; 3], from: usize, dim: usize, d: &[f64; 9], scale: f64) -> [Row<W>; 3] {
    let mut out = [[[0.0; LANES]; W]; 3];
    if dim == 3 {
        add(&mut out[0], y, from, [scale * d[0], scale * d[1], scale * d[2]]);
        add(&mut out[1], y, from, [scale * d[3], scale * d[4], scale * d[5]]);
        add(&mut out[2], y, from, [scale * d[6], scale * d[7], scale * d[8]]);
    } else if dim == 2 {
        add(&mut out[0], y, from, [scale * d[0], scale * d[1], 0.0]);
        add(&mut out[1], y, from, [scale * d[2], scale * d[3], 0.0]);
    } else {
        add(&mut out[0], y, from, [scale * d[0], 0.0, 0.0]);
    }
    out
}

/// Adds a sum of three rows, which are zero before register `from`.
#[inline(always)]
fn add<const W: usize>(to: &mut Row<W>, rows: &[Row<W>; 3], from: usize, f: [f64; 3]) {
    for l in from..W {
        for k in 0..LANES {
            to[l][k] += (f[0] * rows[0][l][k] + f[1] * rows[1][l][k]) + f[2] * rows[2][l][k];
        }
    }
}

/// Takes a multiple of a row, which is zero before register `from`, from another.
#[inline(always)]
fn take<const W: usize>(other: &mut Row<W>, f: f64, row: &Row<W>, from: usize) {
    for l in from..W {
        for k in 0..LANES {
            other[l][k] -= f * row[l][k];
        }
    }
}

/// The product of two rows, one of which is zero before register `from`.
#[inline(always)]
fn dot<const W: usize>(a: &Row<W>, b: &Row<W>, from: usize) -> f64 {
    let mut sum = [0.0; LANES];
    for l in from..W {
        for k in 0..LANES {
            sum[k] += a[l][k] * b[l][k];
        }
    }
    (sum[0] + sum[2]) + (sum[1] + sum[3])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::super::cone::Cone;
    use super::super::super::delassus::BlockMatrix;
    use super::super::super::problem::ContactProblem;
    use super::super::frame::Frame;
    use super::super::{Solution, Start};
    use super::*;

    /// The widest registers and the plain ones; the equation itself is checked in `woodbury.rs`.
    #[test]
    fn wide_registers_change_no_bit() {
        let (n_contacts, n_speeds) = (7, 18);
        let n = 3 * n_contacts;
        let entry = |row: usize, speed: usize| ((row * n_speeds + speed) as f64 * 0.37).sin();
        let dense: Vec<f64> =
            (0..n * n).map(|k| 0.25 * (0..n_speeds).map(|s| entry(k / n, s) * entry(k % n, s)).sum::<f64>()).collect();
        let offsets: Vec<usize> = (0..=n_contacts).map(|c| 3 * c).collect();
        let mut blocks = BlockMatrix::default();
        blocks.set_from_dense(&offsets, &dense);
        let cones = vec![Cone::circular(0.4); n_contacts];
        let problem = ContactProblem::build(blocks, vec![-1.0; n], cones).unwrap();
        let (mut frame, mut solution) = (Frame::default(), Solution::default());
        frame.open(&problem, Start::Cold, 1e-9, &mut solution);
        frame.enter(&problem, &mut solution.r);
        let mut columns = Columns::default();
        columns.clear(n_speeds, 0.25);
        for c in 0..n_contacts {
            // Some speeds carry nothing of some contacts.
            for s in (0..n_speeds).filter(|s| (s + c) % 4 != 0) {
                columns.push(s, [entry(3 * c, s), entry(3 * c + 1, s), entry(3 * c + 2, s)]);
            }
            columns.end_contact();
        }
        let d = [3.0, 0.0, 0.0, 0.4, 2.0, 0.1, -0.2, 0.1, 2.5];
        let stiffness = vec![d; n_contacts];
        let members: Vec<usize> = (0..n_contacts).collect();
        let (mut wide, mut plain) = (SpeedLu::default(), SpeedLu::default());
        assert!(wide.plan(&columns, &members).is_some() && plain.plan(&columns, &members).is_some());
        let plain = &mut plain.f5;
        let system = &frame.system;
        assert!(wide.factor(system, &stiffness) && plain.factor_generic(system, &stiffness));
        assert!(wide.f5.upper == plain.upper && wide.f5.lower == plain.lower && wide.f5.inverse == plain.inverse);
        let f: Vec<f64> = (0..n).map(|k| (k as f64).cos()).collect();
        let (mut u, mut v) = (vec![0.0; n], vec![0.0; n]);
        wide.solve(system, &f, &mut u);
        plain.solve_generic(system, &f, &mut v);
        assert_eq!(u, v);
        wide.apply(system, &f, &mut u);
        plain.apply_generic(system, &f, &mut v);
        assert_eq!(u, v);
    }
}
