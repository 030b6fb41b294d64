//! The few contacts whose laws a Newton step does not meet.
//!
//! **Problem.** After a full Newton step nearly all of ‖f‖ is often that of one to three contacts, which have changed between sticking, sliding and open on the
//! way. Their new linearisation alone would be worth another factorisation, and the next step would be wrong about the next contact.
//!
//! **Method.** Nonlinear elimination: of these contacts h the linearised laws are given up, those of all others kept. With N the Newton matrix of the step,
//! N δr = −f + E g with any g on the rows of h; so r = r₁ + Z g and u = u₁ + W Z g, Z = N⁻¹ E, from where the plain step has led. Newton's method on g, a handful of
//! unknowns, then meets the laws of h exactly: f_h(r₁ + P g, u₁ + Q g) = 0, P and Q the rows of Z and W Z that belong to h. If others are now off, they join.
//!
//! **Cost.** One substitution per row of h, and one product with W in the end. A factorisation of a pile costs eight of them.
//!
//! **Fails when** the laws of h cannot be met with what all others are assumed to do: the caller compares with the plain step.
//!
//! **Checked by** the tests below; `tests/contact_files.rs`, `tests/contact_random.rs`.

use super::super::cone::MAX_DIM;
use super::super::delassus::Delassus;
use super::active::Linearised;
use super::constants::elimination::{ARMIJO, ENOUGH, MOST, REST, SHORTEST_STEP, STEPS};
use super::linear::solve_small;
use super::newton_matrix::NewtonMatrix;
use super::system::System;

/// Contacts that are treated apart, and what they do to all.
#[derive(Debug, Clone, Default)]
pub struct Stubborn {
    members: Vec<usize>,
    n_rows: usize,
    /// ‖f‖² of every contact, negative for members.
    squares: Vec<f64>,
    /// Columns of Z, and of W Z where the factorisation has them.
    columns: Vec<f64>,
    responses: Vec<f64>,
    has_responses: bool,
    /// r₁ and u₁ at the rows of the members, and P and Q, row-major.
    r: Vec<f64>,
    u: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    laws: Vec<Linearised>,
    matrix: Vec<f64>,
    /// g, the best one, the last one and its step.
    g: Vec<f64>,
    best: Vec<f64>,
    from: Vec<f64>,
    step: Vec<f64>,
    change: Vec<f64>,
    moved: Vec<f64>,
}

impl Stubborn {
    /// Forgets all members, and makes room.
    pub fn reset(&mut self, system: &System) {
        self.members.clear();
        self.n_rows = 0;
        let most = MOST * (0..system.n_contacts()).map(|i| system.w.dim(i)).max().unwrap_or(0);
        let grow = |v: &mut Vec<f64>, n: usize| v.resize(v.len().max(n), 0.0);
        grow(&mut self.columns, most * system.n());
        grow(&mut self.responses, most * system.n());
        self.laws.resize(MOST, Linearised::default());
        let room = |v: &mut Vec<f64>, n: usize| {
            v.clear();
            v.reserve(n);
        };
        room(&mut self.squares, system.n_contacts());
        let own = [&mut self.r, &mut self.u, &mut self.g, &mut self.best, &mut self.from, &mut self.step];
        own.into_iter().for_each(|v| room(v, most));
        [&mut self.p, &mut self.q, &mut self.matrix].into_iter().for_each(|v| room(v, most * most));
        [&mut self.change, &mut self.moved].into_iter().for_each(|v| v.resize(system.n(), 0.0));
    }

    /// Whether a handful of contacts makes up f as it is now; they are added to the members, with their columns of the matrix that was factored for `laws`.
    pub fn gather(
        &mut self,
        system: &System,
        (matrix, laws): (&mut NewtonMatrix, &[Linearised]),
        now: &[Linearised],
    ) -> bool {
        self.squares.clear();
        let square = |(law, dim): (&Linearised, usize)| match law.f[..dim] {
            [a, b, c] => a * a + b * b + c * c,
            _ => law.f[..dim].iter().map(|x| x * x).sum::<f64>(),
        };
        self.squares
            .extend(now.iter().zip(system.offsets().windows(2)).map(|(law, rows)| square((law, rows[1] - rows[0]))));
        let mut left: f64 = self.squares.iter().sum();
        let allowed = REST * left;
        let known = self.members.len();
        for &i in &self.members {
            left -= self.squares[i];
            self.squares[i] = -1.0;
        }
        while left > allowed {
            let largest = |a: (usize, f64), b: (usize, f64)| if b.1 >= a.1 { b } else { a };
            let (worst, square) = self.squares.iter().copied().enumerate().fold((0, -1.0), largest);
            if self.members.len() == MOST || square < 0.0 {
                self.members.truncate(known);
                return false;
            }
            self.members.push(worst);
            left -= square;
            self.squares[worst] = -1.0;
        }
        for k in known..self.members.len() {
            for row in system.rows(self.members[k]) {
                self.add_column(system, (matrix, laws), row);
            }
        }
        self.members.len() > known
    }

    fn add_column(&mut self, system: &System, (matrix, laws): (&mut NewtonMatrix, &[Linearised]), row: usize) {
        let n = system.n();
        let at = self.n_rows * n..(self.n_rows + 1) * n;
        self.n_rows += 1;
        let column = &mut self.columns[at.clone()];
        column.fill(0.0);
        column[row] = 1.0;
        matrix.solve_factored(system, laws, column);
        self.has_responses = matrix.response().is_some();
        if let Some(response) = matrix.response() {
            self.responses[at].copy_from_slice(response);
        }
    }

    /// Moves r and u, which the plain step has led to, to where the members' laws are met as well as can be.
    pub fn settle(&mut self, system: &System, rho: f64, r: &mut [f64], u: &mut [f64]) {
        self.find_rows(system, r, u);
        self.find_sources(system, rho);
        let n = r.len();
        self.change.fill(0.0);
        self.moved.fill(0.0);
        for (k, g) in self.best.iter().enumerate() {
            let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(t, z)| *t += g * z);
            add(&mut self.change, &self.columns[k * n..(k + 1) * n]);
            if self.has_responses {
                add(&mut self.moved, &self.responses[k * n..(k + 1) * n]);
            }
        }
        if !self.has_responses {
            system.w.apply(&self.change, &mut self.moved);
        }
        self.apply(r, u);
    }

    /// Adds to r and u what [`Self::settle`] has found last.
    pub fn apply(&self, r: &mut [f64], u: &mut [f64]) {
        r.iter_mut().zip(&self.change).for_each(|(r, d)| *r += d);
        u.iter_mut().zip(&self.moved).for_each(|(u, d)| *u += d);
    }

    /// r₁, u₁, P and Q.
    fn find_rows(&mut self, system: &System, r: &[f64], u: &[f64]) {
        let (n, m) = (system.n(), self.n_rows);
        self.r.clear();
        self.u.clear();
        for v in [&mut self.p, &mut self.q] {
            v.clear();
            v.resize(m * m, 0.0);
        }
        for &c in &self.members {
            let rows = system.rows(c);
            let at = self.r.len();
            for k in 0..m {
                let column = &self.columns[k * n..(k + 1) * n];
                let mut product = [0.0; MAX_DIM];
                if self.has_responses {
                    product[..rows.len()].copy_from_slice(&self.responses[k * n..(k + 1) * n][rows.clone()]);
                } else {
                    system.w.add_row_product(c, column, &mut product[..rows.len()]);
                }
                for (i, (z, wz)) in column[rows.clone()].iter().zip(product).enumerate() {
                    self.p[(at + i) * m + k] = *z;
                    self.q[(at + i) * m + k] = wz;
                }
            }
            self.r.extend_from_slice(&r[rows.clone()]);
            self.u.extend_from_slice(&u[rows]);
        }
    }

    /// The g with the smallest ‖f‖ of the members that Newton's method comes by.
    fn find_sources(&mut self, system: &System, rho: f64) {
        let m = self.n_rows;
        self.g.clear();
        self.g.resize(m, 0.0);
        self.best.clone_from(&self.g);
        let first = self.evaluate(system, rho);
        let (mut size, mut least) = (first, first);
        for _ in 0..STEPS {
            if size <= ENOUGH * first || !self.find_step(system) {
                break;
            }
            self.from.clone_from(&self.g);
            let (mut t, mut best) = (1.0, (f64::INFINITY, 1.0));
            loop {
                let new = self.go(system, rho, t);
                if new < best.0 {
                    best = (new, t);
                }
                if new < (1.0 - ARMIJO * t) * size || t < SHORTEST_STEP {
                    break;
                }
                t *= 0.5;
            }
            if best.1 != t {
                self.go(system, rho, best.1);
            }
            size = best.0;
            if size < least {
                least = size;
                self.best.clone_from(&self.g);
            }
            if !size.is_finite() {
                break;
            }
        }
    }

    fn go(&mut self, system: &System, rho: f64, t: f64) -> f64 {
        for ((g, from), step) in self.g.iter_mut().zip(&self.from).zip(&self.step) {
            *g = from + t * step;
        }
        self.evaluate(system, rho)
    }

    /// ‖f‖ of the members at g, with their linearisations.
    fn evaluate(&mut self, system: &System, rho: f64) -> f64 {
        let m = self.n_rows;
        let (mut at, mut sum) = (0, 0.0);
        for (law, &c) in self.laws.iter_mut().zip(&self.members) {
            let dim = system.w.dim(c);
            let (mut r, mut u) = ([0.0; MAX_DIM], [0.0; MAX_DIM]);
            for k in 0..dim {
                let row = (at + k) * m..(at + k + 1) * m;
                let dot = |a: &[f64]| a.iter().zip(&self.g).map(|(a, g)| a * g).sum::<f64>();
                r[k] = self.r[at + k] + dot(&self.p[row.clone()]);
                u[k] = self.u[at + k] + dot(&self.q[row]);
            }
            let f = law.update(&system.cones[c], rho, &r[..dim], &u[..dim]);
            sum += f * f;
            at += dim;
        }
        sum.sqrt()
    }

    /// (A P + B Q) δg = −f; false if that is singular.
    fn find_step(&mut self, system: &System) -> bool {
        let m = self.n_rows;
        self.matrix.clear();
        self.step.clear();
        let mut at = 0;
        for (law, &c) in self.laws.iter().zip(&self.members) {
            let dim = system.w.dim(c);
            for i in 0..dim {
                for k in 0..m {
                    let product = |factors: &[f64], of: &[f64]| {
                        (0..dim).map(|l| factors[i * dim + l] * of[(at + l) * m + k]).sum::<f64>()
                    };
                    self.matrix.push(product(&law.a, &self.p) + product(&law.b, &self.q));
                }
                self.step.push(-law.f[i]);
            }
            at += dim;
        }
        solve_small(m, &mut self.matrix, &mut self.step)
    }
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

    const ALPHA: f64 = 1e-3;
    const RHO: f64 = 1.0;

    /// Numbers between −1 and 1, always the same.
    fn random(seed: usize) -> impl FnMut() -> f64 {
        let mut state = seed as u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }
    }

    /// Eight contacts on bodies of eighteen speeds.
    fn problem(seed: usize) -> ContactProblem {
        let (n, speeds) = (24, 18);
        let mut next = random(seed);
        let j: Vec<f64> = (0..n * speeds).map(|_| next()).collect();
        let product = |a: usize, b: usize| (0..speeds).map(|k| j[a * speeds + k] * j[b * speeds + k]).sum::<f64>();
        let dense: Vec<f64> = (0..n * n).map(|at| product(at / n, at % n)).collect();
        let mut blocks = BlockMatrix::default();
        blocks.set_from_dense(&(0..=8).map(|i| 3 * i).collect::<Vec<_>>(), &dense);
        let q = (0..n).map(|_| next()).collect();
        ContactProblem::build(blocks, q, vec![Cone::circular(0.5); 8]).unwrap()
    }

    fn size(laws: &[Linearised], of: impl Fn(usize) -> bool) -> f64 {
        let f = laws.iter().enumerate().filter(|(i, _)| of(*i)).flat_map(|(_, law)| &law.f[..3]);
        f.map(|x| x * x).sum::<f64>().sqrt()
    }

    /// The members' own laws are met, and the others' linearised ones are kept.
    #[test]
    fn members_obey_their_laws_and_others_their_linearisations() {
        let (mut n_settled, mut n_met) = (0, 0);
        for seed in 1..400 {
            let problem = problem(seed);
            let (mut frame, mut solution) = (Frame::default(), Solution::default());
            frame.open(&problem, Start::Cold, 1e-9, &mut solution);
            frame.enter(&problem, &mut solution.r);
            let system = &frame.system;
            let n = system.n();
            let mut next = random(seed + 1000);
            let r: Vec<f64> = (0..n).map(|k| if k % 3 == 0 { next().abs() } else { 0.3 * next() }).collect();
            let mut u = vec![0.0; n];
            system.velocity(&r, &mut u);
            let linearise = |r: &[f64], u: &[f64]| -> Vec<Linearised> {
                let one = |i: usize| {
                    let mut law = Linearised::default();
                    law.update(&system.cones[i], RHO, &r[system.rows(i)], &u[system.rows(i)]);
                    law
                };
                (0..system.n_contacts()).map(one).collect()
            };
            let laws = linearise(&r, &u);
            let mut matrix = NewtonMatrix::default();
            matrix.reset(system, &vec![0.0; system.n()], (1e-9, 1e-9), Default::default());
            let mut step = vec![0.0; n];
            if !matrix.solve(system, &laws, ALPHA, &mut step) {
                continue;
            }
            let mut r1: Vec<f64> = r.iter().zip(&step).map(|(r, s)| r + s).collect();
            let mut u1 = vec![0.0; n];
            system.velocity(&r1, &mut u1);
            let plain = linearise(&r1, &u1);
            let mut stubborn = Stubborn::default();
            stubborn.reset(system);
            if !stubborn.gather(system, (&mut matrix, &laws), &plain) {
                continue;
            }
            n_settled += 1;
            stubborn.settle(system, RHO, &mut r1, &mut u1);
            let members = stubborn.members.clone();
            let is_member = |i: usize| members.contains(&i);
            let before = size(&plain, |_| true);
            assert!(size(&plain, |i| !is_member(i)) <= (REST * 1.001).sqrt() * before);
            let after = size(&linearise(&r1, &u1), is_member);
            assert!(after <= size(&plain, is_member) * (1.0 + 1e-12), "seed {seed}: {after:e}");
            n_met += usize::from(after <= ENOUGH * before);
            let mut moved = vec![0.0; n];
            system.velocity(&r1, &mut moved);
            let largest = moved.iter().chain(&r1).fold(1.0, |m: f64, x| m.max(x.abs()));
            assert!(moved.iter().zip(&u1).all(|(a, b)| (a - b).abs() <= 1e-11 * largest), "seed {seed}: velocities");
            for (i, law) in laws.iter().enumerate().filter(|(i, _)| !is_member(*i)) {
                for a in 0..3 {
                    let mut sum = law.f[a];
                    for (b, k) in system.rows(i).enumerate() {
                        let change = r1[k] - r[k];
                        sum += law.a[3 * a + b] * change + law.b[3 * a + b] * (u1[k] - u[k] + ALPHA * change);
                    }
                    // W + α has a condition of 1/α.
                    assert!(sum.abs() <= 1e-10 * largest, "seed {seed}: contact {i}: {sum:e}");
                }
            }
        }
        assert!(n_settled > 50 && n_met * 2 > n_settled, "{n_met} of {n_settled}");
    }
}
