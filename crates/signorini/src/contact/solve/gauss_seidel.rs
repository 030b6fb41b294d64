//! Block Gauss–Seidel with an exact local solver.
//!
//! **Problem.** Any contact problem with positive definite diagonal blocks.
//!
//! **Method.** r_i ← solution of contact i alone with the others held (M. Jean, J.-J. Moreau's nonsmooth contact
//! dynamics; F. Jourdan, P. Alart, M. Jean, Comput. Methods Appl. Mech. Eng. 155, 1998), contacts in the order given,
//! alternately forwards and backwards so that information crosses a chain in one sweep.
//!
//! **Cost.** One product with W and one local solve per contact and sweep; linear convergence.
//!
//! **Fails when** W is far from diagonally dominant (stacks, many contacts per body): slow, or not convergent at all
//! with large friction. The status then says so.
//!
//! **Checked by** `tests/contact_solvers.rs`, `tests/contact_random.rs`.

use super::super::cone::{Cone, MAX_DIM};
use super::super::delassus::Spatial;
use super::constants::auto::SETTLED;
use super::constants::sweeps::{FLOOR_CHECK, FLOOR_SHARE, GOAL_SHARE, PATIENCE, PROGRESS};
use super::local::solve_local;
use super::method::{Framed, Iterate};
use super::outcome::Outcome;
use super::system::{System, View};
use super::{GOAL, Work};
use crate::simd::{Space, in_registers};

/// Options of [`GaussSeidel`].
#[derive(Debug, Clone, PartialEq)]
pub struct GaussSeidelOptions {
    /// Tolerance on `rel`.
    pub tolerance: f64,
    /// Largest number of sweeps.
    pub max_sweeps: usize,
    /// Sweeps between two evaluations of the residual.
    pub check_every: usize,
}

impl Default for GaussSeidelOptions {
    fn default() -> Self {
        Self { tolerance: GOAL, max_sweeps: 20_000, check_every: 10 }
    }
}

/// Block Gauss–Seidel.
pub type GaussSeidel = Framed<Sweeping>;

/// The method behind [`GaussSeidel`].
#[derive(Debug, Clone, Default)]
pub struct Sweeping {
    options: GaussSeidelOptions,
    sweeper: Sweeper,
}

impl GaussSeidel {
    /// With options.
    pub fn new(options: GaussSeidelOptions) -> Self {
        Self::around(Sweeping { options, ..Sweeping::default() })
    }
}

/// The scratch of a sweep: the multipliers of sliding contacts.
#[derive(Debug, Clone, Default)]
pub struct Sweeper {
    memory: Vec<f64>,
}

impl Sweeper {
    /// Forgets the last problem.
    pub fn reset(&mut self, n_contacts: usize) {
        self.memory.clear();
        self.memory.resize(n_contacts, 0.0);
    }

    /// Sweeps in alternating directions, at most `count`, until r moves by no more than a share of `target` (the
    /// residual is of the order of the movement). Returns whether it came to rest.
    pub fn settle(
        &mut self,
        view: View,
        sigma: Option<&[f64]>,
        count: usize,
        target: f64,
        r: &mut [f64],
        work: &mut Work,
    ) -> bool {
        for k in 0..count {
            work.sweeps += 1;
            work.multiplications += view.count();
            if self.sweep(view, sigma, k % 2 == 1, r) <= SETTLED * target {
                return true;
            }
        }
        false
    }

    /// One pass over all contacts; returns ‖σ Δr‖, σ being the rows' units (one in scaled variables).
    pub fn sweep(&mut self, view: View, sigma: Option<&[f64]>, backwards: bool, r: &mut [f64]) -> f64 {
        match view.w.stride() {
            1 => return sweep_rows(view, sigma, backwards, r),
            2 => return self.sweep_planar(view, sigma, backwards, r),
            _ => {}
        }
        if let Some(w) = view.w.spatial() {
            return self.sweep_spatial(&w, view, sigma, backwards, r);
        }
        let (w, offsets, n) = (view.w, view.w.offsets(), view.cones.len());
        let mut change = 0.0;
        let (mut b, mut x) = ([0.0; MAX_DIM], [0.0; MAX_DIM]);
        for k in 0..n {
            let i = if backwards { n - 1 - k } else { k };
            let rows = offsets[i]..offsets[i + 1];
            let dim = rows.len();
            let (b, x) = (&mut b[..dim], &mut x[..dim]);
            x.copy_from_slice(&r[rows.clone()]);
            b.copy_from_slice(&view.q[rows.clone()]);
            w.add_row_product(i, r, b);
            let d = w.diagonal_block(i);
            for (b, d) in b.iter_mut().zip(d.chunks_exact(dim)) {
                *b -= d.iter().zip(x.iter()).map(|(d, x)| d * x).sum::<f64>();
            }
            solve_local(&view.cones[i], d, b, x, &mut self.memory[i]);
            let mut square = 0.0;
            for (old, new) in r[rows.clone()].iter_mut().zip(x.iter()) {
                square += (new - *old) * (new - *old);
                *old = *new;
            }
            let unit = sigma.map_or(1.0, |s| s[rows.start]);
            change += square * (unit * unit);
        }
        change.sqrt()
    }

    /// The same for spatial contacts, in the widest registers there are.
    fn sweep_spatial(&mut self, w: &Spatial, view: View, sigma: Option<&[f64]>, backwards: bool, r: &mut [f64]) -> f64 {
        in_registers!(|token: V| self.sweep_in::<V>(token, w, view, sigma, backwards, r))
    }

    #[inline(always)]
    fn sweep_in<V: Space>(
        &mut self,
        token: V::Token,
        w: &Spatial,
        view: View,
        sigma: Option<&[f64]>,
        backwards: bool,
        r: &mut [f64],
    ) -> f64 {
        let n = view.cones.len();
        let (r, q) = (r.as_chunks_mut::<3>().0, view.q.as_chunks::<3>().0);
        let mut change = 0.0;
        for k in 0..n {
            let i = if backwards { n - 1 - k } else { k };
            let own = w.diagonal[i];
            let before = w.product::<V>(token, w.row_start[i]..own, r);
            let after = w.product::<V>(token, own + 1..w.row_start[i + 1], r);
            let b: [f64; 3] = std::array::from_fn(|a| q[i][a] + (before[a] + after[a]));
            let old = r[i];
            solve_local(&view.cones[i], &w.blocks[own], &b, &mut r[i], &mut self.memory[i]);
            let square: f64 = r[i].iter().zip(old).map(|(new, old)| (new - old) * (new - old)).sum();
            let unit = sigma.map_or(1.0, |s| s[3 * i]);
            change += square * (unit * unit);
        }
        change.sqrt()
    }

    /// The same for planar contacts.
    fn sweep_planar(&mut self, view: View, sigma: Option<&[f64]>, backwards: bool, r: &mut [f64]) -> f64 {
        let n = view.cones.len();
        let (r, q) = (r.as_chunks_mut::<2>().0, view.q.as_chunks::<2>().0);
        let mut change = 0.0;
        for k in 0..n {
            let i = if backwards { n - 1 - k } else { k };
            let mut b = q[i];
            let mut diagonal: &[f64] = &[];
            for (c, w) in view.w.planar_row(i) {
                if c == i {
                    diagonal = w;
                    continue;
                }
                let x = r[c];
                b[0] += w[0] * x[0] + w[1] * x[1];
                b[1] += w[2] * x[0] + w[3] * x[1];
            }
            let old = r[i];
            solve_local(&view.cones[i], diagonal, &b, &mut r[i], &mut self.memory[i]);
            let square: f64 = r[i].iter().zip(old).map(|(new, old)| (new - old) * (new - old)).sum();
            let unit = sigma.map_or(1.0, |s| s[2 * i]);
            change += square * (unit * unit);
        }
        change.sqrt()
    }
}

/// The same for problems of single rows: one dot product and one division each.
fn sweep_rows(view: View, sigma: Option<&[f64]>, backwards: bool, r: &mut [f64]) -> f64 {
    let n = view.cones.len();
    let mut change = 0.0;
    for k in 0..n {
        let i = if backwards { n - 1 - k } else { k };
        let (d, old) = (view.w.diagonal_block(i)[0], r[i]);
        let u = view.q[i] + view.w.single_row_product(i, r);
        match view.cones[i] {
            Cone::Unilateral if d > 0.0 => r[i] = (-(u - d * old) / d).max(0.0),
            ref cone => solve_local(cone, &[d], &[u - d * old], &mut r[i..=i], &mut 0.0),
        }
        let step = (r[i] - old) * sigma.map_or(1.0, |s| s[i]);
        change += step * step;
    }
    change.sqrt()
}

impl Iterate for Sweeping {
    const NAME: &'static str = "gauss-seidel";

    fn tolerance(&self) -> f64 {
        self.options.tolerance
    }

    fn iterate(&mut self, system: &mut System, r: &mut [f64], work: &mut Work) -> Outcome {
        self.sweeper.reset(system.n_contacts());
        iterate(&mut self.sweeper, &self.options, system, r, work)
    }
}

/// Sweeps until the tolerance, the limit, or a standstill; leaves the best r.
fn iterate(
    sweeper: &mut Sweeper,
    options: &GaussSeidelOptions,
    system: &mut System,
    r: &mut [f64],
    work: &mut Work,
) -> Outcome {
    let mut best = (f64::INFINITY, r.to_vec());
    let (mut since, mut mark) = (0, f64::INFINITY);
    let mut is_stuck = false;
    while work.sweeps < options.max_sweeps {
        sweeper.sweep(system.view(), None, work.sweeps % 2 == 1, r);
        work.sweeps += 1;
        if !work.sweeps.is_multiple_of(options.check_every.max(1)) {
            continue;
        }
        let rel = system.rel(r);
        since += 1;
        if rel < best.0 {
            best.0 = rel;
            best.1.copy_from_slice(r);
        }
        // Progress worth the name.
        if rel < PROGRESS * mark {
            (mark, since) = (rel, 0);
        }
        if rel <= GOAL_SHARE * options.tolerance || (rel < FLOOR_CHECK && rel <= FLOOR_SHARE * system.floor(r)) {
            break;
        }
        if since >= PATIENCE || !rel.is_finite() {
            is_stuck = true;
            break;
        }
    }
    r.copy_from_slice(&best.1);
    if is_stuck { Outcome::Stalled } else { Outcome::Better(best.0) }
}
