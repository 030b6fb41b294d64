//! The condensed tableau of complementary pivoting. Headings in `lemke.rs`, of which this is the engine.

use super::super::cone::Cone;
use super::Work;
use super::constants::pivoting::{
    CANCEL, FREE_PIVOT, GOLDEN, GOOD_ENOUGH, PERTURBATION, PIVOT, RAY_PROOF, RAY_SIGN, TIE,
};
use super::linear::DenseLu;
use super::system::System;

/// How the pivoting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Solved,
    /// A ray: its direction is kept for [`Core::is_certificate`].
    Ray,
    Limit,
    /// The bilateral rows do not determine the free variables.
    Singular,
}

/// A variable of the tableau.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Var {
    U(usize),
    R(usize),
    Cover,
    /// The column of the constant term.
    One,
}

#[derive(Debug, Clone, Default)]
pub struct Core {
    /// Rows: basic variables. Columns: n nonbasic variables, the cover, the constant.
    table: Vec<f64>,
    basic: Vec<Var>,
    nonbasic: Vec<Var>,
    /// The variable of pair i that was basic first.
    first: Vec<Var>,
    /// Column of `first[i]` while it is nonbasic.
    column_of: Vec<usize>,
    free: Vec<bool>,
    column_factor: Vec<f64>,
    pivot_row: Vec<f64>,
    lu: DenseLu,
    support: Vec<usize>,
    packed: Vec<f64>,
    velocity: Vec<f64>,
    /// The entering column of the last ratio test.
    entering: Vec<f64>,
    /// Residual of the last solution.
    rel: f64,
}

impl Core {
    /// Pivots; on `Solved` the solution is left in r (scaled variables), refined unless it is far within `tolerance`. Elsewhere r is the best that was met.
    ///
    /// Ties are broken lexicographically, but a tie is one only up to rounding, and with many of them pivots on what is left of a zero lead to a wrong
    /// basis. Where the solution is none, all is done again with ties broken in q itself, and the basis that this leads to is solved for q as it is.
    pub fn solve(&mut self, system: &System, max_pivots: usize, tolerance: f64, r: &mut [f64], work: &mut Work) -> End {
        let end = self.solve_perturbed(system, 0.0, (max_pivots, tolerance), r, work);
        let is_wrong = matches!(end, End::Solved | End::Limit) && self.rel > tolerance;
        if !is_wrong || self.rel <= system.floor_of(r, &mut self.velocity) {
            return end;
        }
        let first = (self.rel, r.to_vec());
        let size = system.q.iter().fold(0.0_f64, |m, q| m.max(q.abs()));
        let again = self.solve_perturbed(system, PERTURBATION * size, (max_pivots, tolerance), r, work);
        if self.rel < first.0 {
            return again;
        }
        self.rel = first.0;
        r.copy_from_slice(&first.1);
        end
    }

    /// The same with q + δ, δ of each row between one and two of a size.
    fn solve_perturbed(
        &mut self,
        system: &System,
        size: f64,
        (max_pivots, tolerance): (usize, f64),
        r: &mut [f64],
        work: &mut Work,
    ) -> End {
        let n = system.n();
        let width = width(n);
        self.table.clear();
        self.table.resize(n * width, 0.0);
        for i in 0..n {
            for (j, w) in system.w.row(i) {
                self.table[i * width + j] = w[0];
            }
            let is_open = !matches!(system.cones[i], Cone::Bilateral);
            // The golden ratio spreads what must not tie again.
            let delta = if is_open { size * (1.0 + (GOLDEN * (i + 1) as f64).fract()) } else { 0.0 };
            self.table[i * width + n + 1] = system.q[i] + delta;
        }
        self.equilibrate(n);
        self.basic.clear();
        self.basic.extend((0..n).map(Var::U));
        self.nonbasic.clear();
        self.nonbasic.extend((0..n).map(Var::R));
        self.nonbasic.extend([Var::Cover, Var::One]);
        self.free.clear();
        self.free.extend(system.cones.iter().map(|c| matches!(c, Cone::Bilateral)));
        self.rel = f64::INFINITY;
        if self.free.contains(&true) && !self.eliminate_free(n, work) {
            return End::Singular;
        }
        for row in 0..n {
            // No cover on rows that cannot block.
            let cover = if self.is_free(self.basic[row]) { 0.0 } else { 1.0 };
            self.table[row * width + n] = cover;
        }
        self.first.clear();
        self.first.resize(n, Var::One);
        self.column_of.clear();
        self.column_of.resize(n, usize::MAX);
        for v in &self.basic {
            if let Var::U(i) | Var::R(i) = *v {
                self.first[i] = *v;
            }
        }
        let before = work.pivots;
        let end = self.pivot_through(n, max_pivots, work);
        work.multiplications += ((work.pivots - before) * n * width) as u64;
        // A ray's direction stays where it was found.
        if end != End::Ray {
            self.rel = if end == End::Solved { self.recover(system, tolerance, r) } else { self.read(system, r) };
        }
        end
    }

    /// Residual of the last solution.
    pub fn residual(&self) -> f64 {
        self.rel
    }

    /// Scales rows and columns by powers of two that bring the entries of W near one; complementarity does not mind.
    fn equilibrate(&mut self, n: usize) {
        let width = width(n);
        self.column_factor.clear();
        self.column_factor.resize(n, 1.0);
        // Alternating maxima settle in a few rounds; more would only shuffle factors of two.
        for _ in 0..3 {
            self.packed.clear();
            self.packed.resize(n, 0.0);
            for row in self.table.chunks_exact_mut(width) {
                let f = inverse_root(row[..n].iter().fold(0.0_f64, |m, x| m.max(x.abs())));
                if f != 1.0 {
                    row.iter_mut().for_each(|x| *x *= f);
                }
                self.packed.iter_mut().zip(row.iter()).for_each(|(m, x)| *m = m.max(x.abs()));
            }
            self.packed.iter_mut().for_each(|m| *m = inverse_root(*m));
            if self.packed.iter().all(|f| *f == 1.0) {
                break;
            }
            for row in self.table.chunks_exact_mut(width) {
                row.iter_mut().zip(&self.packed).for_each(|(x, f)| *x *= f);
            }
            self.column_factor.iter_mut().zip(&self.packed).for_each(|(c, f)| *c *= f);
        }
    }

    fn is_free(&self, v: Var) -> bool {
        matches!(v, Var::R(i) if self.free[i])
    }

    fn is_dead(&self, v: Var) -> bool {
        matches!(v, Var::U(i) if self.free[i])
    }

    /// Exchanges bilateral rows for free variables.
    fn eliminate_free(&mut self, n: usize, work: &mut Work) -> bool {
        let width = width(n);
        let largest = self.table.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        loop {
            // Rows that must leave, columns that must enter; complete pivoting.
            let mut best = (FREE_PIVOT * largest, 0, 0);
            let mut open = false;
            for row in (0..n).filter(|i| self.is_dead(self.basic[*i])) {
                open = true;
                for column in (0..n).filter(|j| self.is_free(self.nonbasic[*j])) {
                    let x = self.table[row * width + column].abs();
                    if x > best.0 {
                        best = (x, row, column);
                    }
                }
            }
            if !open {
                return true;
            }
            if best.0 > FREE_PIVOT * largest {
                work.pivots += 1;
                self.pivot(n, best.1, best.2);
                continue;
            }
            // The bilateral block is singular: a pair of exchanges with one complementary pair (u_k, r_k) instead.
            if !self.exchange_pair(n, largest, work) {
                return false;
            }
        }
    }

    /// Takes one leftover bilateral row out for r_k, and then u_k out for one leftover free variable.
    fn exchange_pair(&mut self, n: usize, largest: f64, work: &mut Work) -> bool {
        let width = width(n);
        let Some(row) = (0..n).find(|i| self.is_dead(self.basic[*i])) else {
            return false;
        };
        let mut best = (PIVOT * largest, 0, 0, 0);
        for column in 0..n {
            let Var::R(k) = self.nonbasic[column] else {
                continue;
            };
            let Some(u_row) = self.basic.iter().position(|v| *v == Var::U(k)) else {
                continue;
            };
            if self.free[k] {
                continue;
            }
            for f in (0..n).filter(|j| self.is_free(self.nonbasic[*j])) {
                // After the first exchange the second pivot is T[u_k, f] itself, as T[row, f] vanishes.
                let x = self.table[row * width + column].abs().min(self.table[u_row * width + f].abs());
                if x > best.0 {
                    best = (x, column, u_row, f);
                }
            }
        }
        let (x, column, u_row, f) = best;
        if x <= PIVOT * largest {
            return false;
        }
        work.pivots += 2;
        self.pivot(n, row, column);
        self.pivot(n, u_row, f);
        true
    }

    /// Exchanges basic row and nonbasic column.
    fn pivot(&mut self, n: usize, row: usize, column: usize) {
        let width = width(n);
        let inverse = 1.0 / self.table[row * width + column];
        self.pivot_row.clear();
        self.pivot_row.extend_from_slice(&self.table[row * width..(row + 1) * width]);
        self.pivot_row.iter_mut().for_each(|x| *x *= -inverse);
        self.pivot_row[column] = inverse;
        for (i, target) in self.table.chunks_exact_mut(width).enumerate() {
            if i == row {
                target.copy_from_slice(&self.pivot_row);
                continue;
            }
            let f = target[column];
            if f != 0.0 {
                target[column] = 0.0;
                eliminate(target, &self.pivot_row, f);
            }
        }
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
    }

    fn track(&mut self, column: usize) {
        if let Var::U(i) | Var::R(i) = self.nonbasic[column]
            && self.first[i] == self.nonbasic[column]
        {
            self.column_of[i] = column;
        }
    }

    /// Coefficient k of the perturbation of a row (0: the row itself).
    fn perturbation(&self, n: usize, row: usize, k: usize) -> f64 {
        match self.column_of[k] {
            usize::MAX => f64::from(u8::from(self.basic[row] == self.first[k])),
            column => -self.table[row * width(n) + column],
        }
    }

    fn pivot_through(&mut self, n: usize, max_pivots: usize, work: &mut Work) -> End {
        let width = width(n);
        // The cover enters; the row that needs it most leaves, ties lexicographically last.
        let mut leave: Option<usize> = None;
        for row in 0..n {
            if self.is_free(self.basic[row]) {
                continue;
            }
            leave = match leave {
                None => Some(row),
                Some(best) => {
                    let (a, b) = (self.table[row * width + n + 1], self.table[best * width + n + 1]);
                    Some(if a <= b { row } else { best })
                }
            };
        }
        let Some(mut row) = leave.filter(|row| self.table[row * width + n + 1] < 0.0) else {
            return End::Solved;
        };
        let mut column = n;
        for _ in 0..max_pivots {
            work.pivots += 1;
            let leaving = self.basic[row];
            let entering = self.nonbasic[column];
            self.pivot(n, row, column);
            if let Var::U(i) | Var::R(i) = entering
                && self.first[i] == entering
            {
                self.column_of[i] = usize::MAX;
            }
            self.track(column);
            // The complement of what left enters next.
            let next = match leaving {
                Var::Cover => return End::Solved,
                Var::U(i) => Var::R(i),
                Var::R(i) => Var::U(i),
                Var::One => return End::Limit,
            };
            column = match self.nonbasic.iter().position(|v| *v == next) {
                Some(column) => column,
                None => return End::Limit,
            };
            match self.find_leaving(n, column) {
                Some(found) => row = found,
                None => {
                    self.keep_ray(n, column);
                    return End::Ray;
                }
            }
        }
        End::Limit
    }

    /// The row that blocks first when the nonbasic variable of `column` grows: lexicographic ratio test.
    fn find_leaving(&mut self, n: usize, column: usize) -> Option<usize> {
        let width = width(n);
        let (mut largest, mut constants) = (0.0_f64, 0.0_f64);
        self.entering.resize(n, 0.0);
        for (row, entry) in self.table.chunks_exact(width).zip(&mut self.entering) {
            *entry = row[column];
            largest = largest.max(row[column].abs());
            constants = constants.max(row[n + 1].abs());
        }
        let (limit, noise) = (-PIVOT * largest, 0.01 * TIE * constants);
        let mut best: Option<(usize, f64, f64)> = None;
        for row in 0..n {
            if self.entering[row] >= limit || self.is_free(self.basic[row]) {
                continue;
            }
            // t/(−entry), and the scale of its perturbations.
            let scale = -1.0 / self.entering[row];
            let ratio = self.table[row * width + n + 1].max(0.0) * scale;
            let Some((other, other_ratio, other_scale)) = best else {
                best = Some((row, ratio, scale));
                continue;
            };
            let slack = noise * (scale + other_scale);
            if (ratio - other_ratio).abs() > TIE * (ratio + other_ratio) + slack {
                if ratio < other_ratio {
                    best = Some((row, ratio, scale));
                }
                continue;
            }
            // A tie. The cover leaves whenever it may; else the perturbations decide, in order.
            if self.basic[other] == Var::Cover {
                continue;
            }
            if self.basic[row] == Var::Cover || self.is_before((row, scale), (other, other_scale), n) {
                best = Some((row, ratio, scale));
            }
        }
        best.map(|(row, ..)| row)
    }

    /// Whether the perturbations of one row, each times its scale, are lexicographically smaller than those of another.
    fn is_before(&self, (row, scale): (usize, f64), (other, other_scale): (usize, f64), n: usize) -> bool {
        for k in 0..n {
            let (x, y) = (self.perturbation(n, row, k), self.perturbation(n, other, k));
            // Most are zero in both.
            if x == 0.0 && y == 0.0 {
                continue;
            }
            let (x, y) = (x * scale, y * other_scale);
            if (x - y).abs() > TIE * (x.abs() + y.abs()) {
                return x < y;
            }
        }
        false
    }

    /// Keeps the direction of r along the ray of `column`.
    fn keep_ray(&mut self, n: usize, column: usize) {
        self.packed.clear();
        self.packed.resize(n, 0.0);
        for row in 0..n {
            if let Var::R(i) = self.basic[row] {
                self.packed[i] = self.table[row * width(n) + column] * self.column_factor[i];
            }
        }
        if let Var::R(i) = self.nonbasic[column] {
            self.packed[i] = self.column_factor[i];
        }
    }

    /// y of the last ray: y ≥ 0, Wᵀy ≤ 0 and qᵀy < 0 prove that u = W r + q ≥ 0 has no solution r ≥ 0.
    pub fn is_certificate(&mut self, system: &System) -> bool {
        let n = system.n();
        let y = &mut self.packed;
        let size = y.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if y.len() != n || size <= 0.0 {
            return false;
        }
        // What rounding may have left: far below anything that could decide.
        let noise = RAY_SIGN * size;
        for i in 0..n {
            if !self.free[i] {
                if y[i] < -noise {
                    return false;
                }
                y[i] = y[i].max(0.0);
            }
        }
        self.velocity.clear();
        self.velocity.resize(n, 0.0);
        let mut scale = 0.0_f64;
        for i in 0..n {
            for (j, w) in system.w.row(i) {
                self.velocity[j] += w[0] * y[i];
                scale = scale.max((w[0] * y[i]).abs());
            }
        }
        let qy: f64 = system.q.iter().zip(y.iter()).map(|(q, y)| q * y).sum();
        let q_scale: f64 = system.q.iter().zip(y.iter()).map(|(q, y)| (q * y).abs()).sum();
        let fits = |i: usize| {
            let x = self.velocity[i];
            if self.free[i] { x.abs() <= RAY_SIGN * scale } else { x <= RAY_SIGN * scale }
        };
        (0..n).all(fits) && qy < -RAY_PROOF * q_scale
    }

    /// r as the tableau has it. Returns its residual.
    fn read(&mut self, system: &System, r: &mut [f64]) -> f64 {
        let n = system.n();
        let width = width(n);
        r.fill(0.0);
        for row in 0..n {
            if let Var::R(i) = self.basic[row] {
                r[i] = self.table[row * width + n + 1] * self.column_factor[i];
                if !self.free[i] {
                    r[i] = r[i].max(0.0);
                }
            }
        }
        self.rel(system, r)
    }

    /// r from the final basis: W_AA r_A = −q_A on its support, by LU and refinement. Returns its residual.
    fn recover(&mut self, system: &System, tolerance: f64, r: &mut [f64]) -> f64 {
        let n = system.n();
        let from_table = self.read(system, r);
        if from_table <= (GOOD_ENOUGH * tolerance).max(f64::EPSILON) {
            return from_table;
        }
        self.support.clear();
        self.support.extend(self.basic.iter().filter_map(|v| if let Var::R(i) = v { Some(*i) } else { None }));
        self.support.sort_unstable();
        self.packed.clear();
        self.packed.extend_from_slice(r);
        let m = self.support.len();
        let matrix = self.lu.start(m);
        let mut place = vec![usize::MAX; n];
        for (a, &i) in self.support.iter().enumerate() {
            place[i] = a;
        }
        for (a, &i) in self.support.iter().enumerate() {
            for (j, w) in system.w.row(i) {
                if place[j] != usize::MAX {
                    matrix[a * m + place[j]] = w[0];
                }
            }
        }
        if m == 0 || !self.lu.factor() {
            return from_table;
        }
        let mut best = from_table;
        for _ in 0..3 {
            // Newton step on the support: δ = −W_AA⁻¹ u_A.
            self.velocity.resize(n, 0.0);
            system.velocity(r, &mut self.velocity);
            let mut step: Vec<f64> = self.support.iter().map(|i| -self.velocity[*i]).collect();
            self.lu.solve(&mut step);
            for (s, &i) in step.iter().zip(&self.support) {
                r[i] += s;
                if !self.free[i] {
                    r[i] = r[i].max(0.0);
                }
            }
            let rel = self.rel(system, r);
            if rel >= best || rel.is_nan() {
                break;
            }
            best = rel;
            self.packed.copy_from_slice(r);
        }
        r.copy_from_slice(&self.packed);
        best
    }

    fn rel(&mut self, system: &System, r: &[f64]) -> f64 {
        self.velocity.resize(system.n(), 0.0);
        system.velocity(r, &mut self.velocity);
        system.rel_with(r, &self.velocity)
    }
}

/// target += f · row. What cancels to rounding is zero: degenerate vertices stay exactly degenerate.
fn eliminate(target: &mut [f64], row: &[f64], f: f64) {
    for (t, p) in target.chunks_exact_mut(LANES).zip(row.chunks_exact(LANES)) {
        for k in 0..LANES {
            let new = t[k] + f * p[k];
            t[k] = if new.abs() > CANCEL * t[k].abs() { new } else { 0.0 };
        }
    }
}

/// Numbers of a tableau's row that are worked on together.
const LANES: usize = 4;

/// Stored length of a row: n nonbasic variables, the cover, the constant, and zeros up to a multiple of `LANES`.
fn width(n: usize) -> usize {
    (n + 2).next_multiple_of(LANES)
}

/// A power of two near 1/√x, from the exponent of x; one for zero.
fn inverse_root(x: f64) -> f64 {
    if !(x > 0.0 && x.is_normal()) {
        return 1.0;
    }
    let exponent = (x.to_bits() >> 52) as i64 - 1023;
    f64::from_bits(((1023 - exponent.div_euclid(2)) as u64) << 52)
}
