//! Gauss–Seidel sweeps with Anderson's acceleration.
//!
//! **Problem.** Sweeps find which contacts open, stick and slide within a few passes, and then creep: their error falls by a constant factor that
//! comes close to one as piles grow.
//!
//! **Method.** A pass forwards and one backwards are a map r ↦ g(r) whose fixed points solve the problem. Of the last few f = g(r) − r the
//! combination of least norm is taken, and the same combination of g(r) is the next r (D. G. Anderson, J. ACM 12, 1965). While no contact
//! changes its state the map is nearly affine, and this is GMRES with the sweeps as preconditioner (H. F. Walker, P. Ni, SIAM J. Numer. Anal. 49,
//! 2011): a singular W does no harm. Where the norm grows, states have changed and what was learnt is forgotten.
//!
//! **Cost.** Two passes and about 4 m products of vectors per step, m the number of steps remembered.
//!
//! **Fails when** states keep changing, or r has to drift far along a direction in which nothing pushes back: then Newton's method takes over.
//!
//! **Checked by** the test below, `tests/contact_solvers.rs`, `tests/contact_random.rs`.

use super::Work;
use super::constants::anderson::{DEPENDENT, GROWTH, MEMORY, PATIENCE, PROGRESS};
use super::gauss_seidel::Sweeper;
use super::system::System;

/// The iteration with its memory.
#[derive(Debug, Clone, Default)]
pub struct Anderson {
    /// Differences of f and of g(r), newest last; each of the system's length.
    df: Vec<Vec<f64>>,
    dg: Vec<Vec<f64>>,
    /// How many of them count.
    len: usize,
    /// Products of the columns of df.
    gram: [[f64; MEMORY]; MEMORY],
    f: Vec<f64>,
    g: Vec<f64>,
    last_f: Vec<f64>,
    last_g: Vec<f64>,
    best: Vec<f64>,
}

impl Anderson {
    /// Improves r (scaled) until a pass no longer moves it by `target`, for at most `limit` passes; leaves the r that a pass moved least.
    /// Returns whether the target was reached.
    pub fn settle(
        &mut self,
        sweeper: &mut Sweeper,
        system: &System,
        (target, limit): (f64, usize),
        r: &mut [f64],
        work: &mut Work,
    ) -> bool {
        self.reset(system.n());
        self.best.copy_from_slice(r);
        let (mut least, mut mark, mut since, mut has_last) = (f64::INFINITY, f64::INFINITY, 0, false);
        for _ in 0..limit / 2 {
            self.f.copy_from_slice(r);
            sweeper.sweep(system.view(), None, false, r);
            sweeper.sweep(system.view(), None, true, r);
            work.sweeps += 2;
            for (f, g) in self.f.iter_mut().zip(&*r) {
                *f = g - *f;
            }
            self.g.copy_from_slice(r);
            let norm = dot(&self.f, &self.f).sqrt();
            if !norm.is_finite() {
                break;
            }
            if norm < least {
                least = norm;
                self.best.copy_from_slice(r);
            }
            if norm <= target {
                return true;
            }
            since += 1;
            if norm < PROGRESS * mark {
                (mark, since) = (norm, 0);
            } else if since >= PATIENCE {
                break;
            }
            if norm > GROWTH * least {
                (self.len, has_last) = (0, false);
            }
            if has_last {
                self.remember();
            }
            has_last = true;
            self.last_f.copy_from_slice(&self.f);
            self.last_g.copy_from_slice(&self.g);
            self.combine(r);
        }
        r.copy_from_slice(&self.best);
        false
    }

    fn reset(&mut self, n: usize) {
        self.len = 0;
        self.df.resize(MEMORY, Vec::new());
        self.dg.resize(MEMORY, Vec::new());
        let own = [&mut self.f, &mut self.g, &mut self.last_f, &mut self.last_g, &mut self.best];
        own.into_iter().chain(&mut self.df).chain(&mut self.dg).for_each(|v| v.resize(n, 0.0));
    }

    /// Adds what the last step taught; the oldest makes room.
    fn remember(&mut self) {
        if self.len == MEMORY {
            self.df.rotate_left(1);
            self.dg.rotate_left(1);
            for i in 1..MEMORY {
                for j in 1..MEMORY {
                    self.gram[i - 1][j - 1] = self.gram[i][j];
                }
            }
        } else {
            self.len += 1;
        }
        let k = self.len - 1;
        for i in 0..self.f.len() {
            self.df[k][i] = self.f[i] - self.last_f[i];
            self.dg[k][i] = self.g[i] - self.last_g[i];
        }
        for i in 0..self.len {
            let product = dot(&self.df[i], &self.df[k]);
            (self.gram[i][k], self.gram[k][i]) = (product, product);
        }
    }

    /// r ← g − Σ γ dg with ‖f − Σ γ df‖ least: Cholesky's factors of the products, newest column first, so that old ones are left out.
    fn combine(&self, r: &mut [f64]) {
        let (mut l, mut y) = ([[0.0; MEMORY]; MEMORY], [0.0; MEMORY]);
        let (mut chosen, mut count) = ([0; MEMORY], 0);
        for k in (0..self.len).rev() {
            let mut row = [0.0; MEMORY];
            let mut pivot = self.gram[k][k];
            for a in 0..count {
                let sum: f64 = (0..a).map(|b| l[a][b] * row[b]).sum();
                row[a] = (self.gram[k][chosen[a]] - sum) / l[a][a];
                pivot -= row[a] * row[a];
            }
            if pivot <= DEPENDENT * self.gram[k][k] {
                continue;
            }
            row[count] = pivot.sqrt();
            let sum: f64 = (0..count).map(|b| row[b] * y[b]).sum();
            y[count] = (dot(&self.df[k], &self.f) - sum) / row[count];
            (l[count], chosen[count]) = (row, k);
            count += 1;
        }
        for a in (0..count).rev() {
            let sum: f64 = (a + 1..count).map(|b| l[b][a] * y[b]).sum();
            y[a] = (y[a] - sum) / l[a][a];
        }
        r.copy_from_slice(&self.g);
        for a in 0..count {
            r.iter_mut().zip(&self.dg[chosen[a]]).for_each(|(r, d)| *r -= y[a] * d);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::super::cone::Cone;
    use super::super::super::problem::ContactProblem;
    use super::super::frame::Frame;
    use super::super::{Solution, Start};
    use super::*;

    /// A row of forty bodies between walls, each pressed against the next: plain sweeps need a thousand passes, since news travels by one body per pass and is damped
    /// on its way.
    #[test]
    fn acceleration_finds_the_same_answer_in_fewer_sweeps() {
        let n = 40_usize;
        let (mut indptr, mut indices, mut data) = (vec![0], Vec::new(), Vec::new());
        for i in 0..n {
            for j in i.saturating_sub(1)..n.min(i + 2) {
                indices.push(j);
                data.push(if i == j { 2.0 } else { -1.0 });
            }
            indptr.push(indices.len());
        }
        let q = (0..n).map(|i| -1.0 - 0.3 * (i as f64).sin()).collect();
        let problem = ContactProblem::from_csr((&indptr, &indices, &data), q, vec![Cone::Unilateral; n]).unwrap();
        let (mut frame, mut solution) = (Frame::default(), Solution::default());
        frame.open(&problem, Start::Cold, 1e-10, &mut solution);
        frame.enter(&problem, &mut solution.r);
        let mut system = frame.system.clone();
        let target = 1e-11 * system.q_norm;
        let mut run = |limit: usize, is_accelerated: bool| {
            let (mut sweeper, mut r, mut work) = (Sweeper::default(), vec![0.0; n], Work::default());
            sweeper.reset(n);
            if is_accelerated {
                Anderson::default().settle(&mut sweeper, &system, (target, limit), &mut r, &mut work);
            } else {
                sweeper.settle(system.view(), None, limit, target, &mut r, &mut work);
            }
            (system.rel(&r), work.sweeps, r)
        };
        let (rel, plain, expected) = run(20_000, false);
        assert!(rel < 1e-8 && plain > 400, "{rel:e} after {plain}");
        let (rel, accelerated, r) = run(plain / 4, true);
        assert!(rel < 1e-9, "{rel:e} after {accelerated} of {plain}");
        let size = expected.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        assert!(r.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-5 * size));
    }
}
