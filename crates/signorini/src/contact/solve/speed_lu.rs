//! Newton's equations in the speeds of a small mechanism.
//!
//! **Problem.** Solve x + D W x = f for blocks D, one per contact, and W = c Yᵀ Y (`columns.rs`). A machine of twenty speeds that has fallen over
//! lies on a dozen contacts: 36 rows, and no more than twenty freedoms.
//!
//! **Method.** By Woodbury's identity W x = c Yᵀ (1 + c Y D Yᵀ)⁻¹ Y f, and x = f − D W x. The matrix has one row per speed that carries
//! something; it is filled contact by contact and factored with row exchanges where a pivot is small, speeds furthest from the ground
//! first: those of different limbs do not meet, and what is zero is passed over.
//!
//! **Cost.** 3 k n per contact on k of n speeds, and n³/3 at most.
//!
//! **Fails when** a pivot vanishes, which friction can do: the caller takes W instead.
//!
//! **Checked by** the tests in `woodbury.rs`, against W, and the one below.

use super::super::columns::Columns;
use super::system::System;

/// Numbers that are worked on at once.
const LANES: usize = 4;

/// Share of the largest entry in its column from which on a row's own is the pivot.
const OWN_SHARE: f64 = 1e-3;

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
    /// Three rows per contact.
    y: Vec<[Row<W>; 3]>,
    /// What carries each contact: where its list ends, and the lists: the place, and the three numbers there.
    ends: Vec<usize>,
    carriers: Vec<(usize, [f64; 3])>,
    /// U without its diagonal, row by row, and L without its own: row and factor of whatever was taken out, column by column as rows were then, and where
    /// each column ends.
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
        self.carriers.clear();
        for (y, &member) in self.y.iter_mut().zip(members) {
            *y = [[[0.0; LANES]; W]; 3];
            let [y0, y1, y2] = y.each_mut().map(|y| y.as_flattened_mut());
            self.carriers.extend(columns.entries(member).iter().map(|(speed, values)| {
                let at = place[*speed];
                (y0[at], y1[at], y2[at]) = (values[0], values[1], values[2]);
                (at, *values)
            }));
            self.ends.push(self.carriers.len());
        }
        self.upper.resize(n, [[0.0; LANES]; W]);
        // Whatever the exchanges, L has no more entries.
        self.lower.clear();
        self.lower.reserve(n * n / 2);
        self.lower_ends.resize(n, 0);
        self.inverse.resize(n, 0.0);
        self.exchange.resize(n, 0);
        self.carriers.len()
    }

    fn factor(&mut self, system: &System, blocks: &[[f64; 9]]) -> bool {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just been asked.
            return unsafe { self.factor_avx2(system, blocks) };
        }
        self.factor_generic(system, blocks)
    }

    /// The same in wider registers. Multiplications and additions stay apart, so that the bits are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn factor_avx2(&mut self, system: &System, blocks: &[[f64; 9]]) -> bool {
        self.factor_generic(system, blocks)
    }

    #[inline(always)]
    fn factor_generic(&mut self, system: &System, blocks: &[[f64; 9]]) -> bool {
        for (k, row) in self.upper.iter_mut().enumerate() {
            *row = [[0.0; LANES]; W];
            row.as_flattened_mut()[k] = 1.0;
        }
        let mut first = 0;
        for (c, (d, end)) in blocks.iter().zip(&self.ends).enumerate() {
            // Open contacts add nothing.
            if *d != [0.0; 9] {
                let stiff = stiffen(&self.y[c], system.w.dim(c), d, self.scale);
                for (place, [a, b, c]) in &self.carriers[first..*end] {
                    add(&mut self.upper[*place], &stiff, [*a, *b, *c]);
                }
            }
            first = *end;
        }
        self.lower.clear();
        // Loops, here and below, since closures are not compiled for wider registers with what they are called from.
        for k in 0..self.n {
            if !self.eliminate(k) {
                return false;
            }
        }
        true
    }

    /// Takes speed k out of the rows below.
    #[inline(always)]
    fn eliminate(&mut self, k: usize) -> bool {
        let upper = &mut self.upper[..self.n];
        // Rows that know the speed; those of other limbs do not.
        let (mut knowing, mut n_knowing) = ([[0; LANES]; W], 0);
        let knowing = knowing.as_flattened_mut();
        let (mut p, mut largest) = (k, 0.0);
        for i in k..upper.len() {
            let x = upper[i].as_flattened()[k];
            if x != 0.0 {
                knowing[n_knowing] = i;
                n_knowing += 1;
                if x.abs() > largest {
                    (p, largest) = (i, x.abs());
                }
            }
        }
        if !(largest > 0.0 && largest.is_finite()) {
            return false;
        }
        // A row of the trunk in place of a limb's own would tell all limbs of each other.
        if upper[k].as_flattened()[k].abs() >= OWN_SHARE * largest {
            p = k;
        }
        self.exchange[k] = p;
        upper.swap(k, p);
        let (top, below) = upper.split_at_mut(k + 1);
        let own = top[k].as_flattened_mut();
        let inverse = 1.0 / own[k];
        self.inverse[k] = inverse;
        own[k] = 0.0;
        let row = top[k];
        // Its first half is zero from the middle on.
        let is_short = k >= W / 2 * LANES;
        for &i in &knowing[..n_knowing] {
            if i == k {
                continue;
            }
            let other = &mut below[i - k - 1];
            let leading = &mut other.as_flattened_mut()[k];
            let f = *leading * inverse;
            *leading = 0.0;
            self.lower.push((i, f));
            if is_short {
                take(&mut other[W / 2..], f, &row[W / 2..]);
            } else {
                take(other, f, &row);
            }
        }
        self.lower_ends[k] = self.lower.len();
        true
    }

    fn solve(&mut self, system: &System, f: &[f64], u: &mut [f64]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just been asked.
            return unsafe { self.solve_avx2(system, f, u) };
        }
        self.solve_generic(system, f, u);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn solve_avx2(&self, system: &System, f: &[f64], u: &mut [f64]) {
        self.solve_generic(system, f, u);
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
        for k in (0..self.n).rev() {
            let sum = dot(&self.upper[k], &z);
            let own = &mut z.as_flattened_mut()[k];
            *own = (*own - sum) * self.inverse[k];
        }
        self.scatter(system, &z, u);
    }

    fn apply(&mut self, system: &System, f: &[f64], u: &mut [f64]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just been asked.
            return unsafe { self.apply_avx2(system, f, u) };
        }
        self.apply_generic(system, f, u);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn apply_avx2(&self, system: &System, f: &[f64], u: &mut [f64]) {
        self.apply_generic(system, f, u);
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
        for (y, ends) in self.y.iter().zip(system.offsets().windows(2)) {
            let f = &f[ends[0]..ends[1]];
            let f = *f.first_chunk().unwrap_or(&std::array::from_fn(|k| f.get(k).copied().unwrap_or(0.0)));
            if f != [0.0; 3] {
                add(&mut z, y, f);
            }
        }
        z
    }

    /// u = c Yᵀ z.
    #[inline(always)]
    fn scatter(&self, system: &System, z: &Row<W>, u: &mut [f64]) {
        for (y, ends) in self.y.iter().zip(system.offsets().windows(2)) {
            for (u, y) in u[ends[0]..ends[1]].iter_mut().zip(y) {
                *u = self.scale * dot(y, z);
            }
        }
    }
}

/// c D Yᵀ of one contact.
#[inline(always)]
fn stiffen<const W: usize>(y: &[Row<W>; 3], dim: usize, d: &[f64; 9], scale: f64) -> [Row<W>; 3] {
    let mut out = [[[0.0; LANES]; W]; 3];
    for (out, d) in out.iter_mut().zip(d.chunks_exact(dim)).take(dim) {
        add(out, y, std::array::from_fn(|k| if k < dim { scale * d[k] } else { 0.0 }));
    }
    out
}

/// Adds a sum of three rows.
#[inline(always)]
fn add<const W: usize>(to: &mut Row<W>, rows: &[Row<W>; 3], f: [f64; 3]) {
    for l in 0..W {
        for k in 0..LANES {
            to[l][k] += (f[0] * rows[0][l][k] + f[1] * rows[1][l][k]) + f[2] * rows[2][l][k];
        }
    }
}

/// Takes a multiple of a row, or of the end of one, from another.
#[inline(always)]
fn take(from: &mut [[f64; LANES]], f: f64, row: &[[f64; LANES]]) {
    for (x, y) in from.iter_mut().zip(row) {
        for k in 0..LANES {
            x[k] -= f * y[k];
        }
    }
}

#[inline(always)]
fn dot<const W: usize>(a: &Row<W>, b: &Row<W>) -> f64 {
    let mut sum = [0.0; LANES];
    for l in 0..W {
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
