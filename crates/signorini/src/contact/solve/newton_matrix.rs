//! The Newton matrix A + B (W + α) over active contacts: assembled, factored, solved.

use super::super::cone::MAX_DIM;
use super::Solution;
use super::active::Linearised;
use super::block_lu::{Numeric, Row, Rows, Symbolic};
use super::constants::factors::{ALPHA_PER_TOLERANCE, LEAST_ALPHA_IN_MECHANISM, LEAST_ALPHA_IN_W};
use super::constants::route::SUBSTITUTION;
use super::linear::DenseLu;
use super::outcome::{Declined, Reason, Route, Routes};
use super::plan::Shared;
use super::route;
use super::system::System;
use super::woodbury::{MOST_ROWS, Woodbury};

/// Factors of the Newton matrix.
#[derive(Debug, Clone, Default)]
pub struct NewtonMatrix {
    symbolic: Symbolic,
    has_order: bool,
    pattern: Vec<bool>,
    dense: DenseLu,
    n1: Numeric<1, 1>,
    n2: Numeric<2, 2>,
    n3: Numeric<3, 4>,
    n5: Numeric<5, 5>,
    n6: Numeric<6, 6>,
    /// First row of an active contact in the dense system.
    start: Vec<usize>,
    active_rows: usize,
    goal: f64,
    /// Block size of the sparse factor, zero for the dense one.
    sparse_dim: usize,
    rhs: Vec<f64>,
    packed: Vec<f64>,
    mechanism: Woodbury,
    uses_mechanism: bool,
    /// Whether velocities, too, are found by the mechanism.
    moves_mechanism: bool,
    /// Whether blocks are less work than a dense matrix.
    is_sparse: bool,
    /// Multiplications of one factorisation by the mechanism, and of what is expected by the route that was planned.
    mechanism_cost: f64,
    planned: f64,
    /// What the ceiling counts in: those of one over all contacts.
    unit: f64,
    /// Of one substitution with the present factors.
    substitution: f64,
    /// All since the start of the solve.
    multiplications: u64,
    routes: Routes,
    declined: Declined,
}

impl NewtonMatrix {
    /// Forgets the routes of the last solve.
    pub fn start(&mut self) {
        (self.routes, self.declined) = (Routes::default(), Declined::default());
        self.multiplications = 0;
    }

    /// Multiplications since then.
    pub fn multiplications(&self) -> u64 {
        self.multiplications
    }

    /// Those of one factorisation over all contacts, by the dearer route: links and contacts that push may be far less work than the contacts to which exact steps
    /// turn, and each of these would count as a hundred.
    pub fn unit(&self) -> f64 {
        self.unit.max(self.planned)
    }

    fn count(&mut self, multiplications: f64) {
        self.multiplications += multiplications as u64;
    }

    /// Adds the routes since then, and what was declined.
    pub fn report(&self, solution: &mut Solution) {
        solution.routes = self.routes;
        solution.declined.note_all(self.declined);
        solution.work.multiplications += self.multiplications;
    }

    /// Forgets the last problem, and chooses between its contacts and the mechanism behind them, for steps that must lead to `accepted` and may lead to `goal`,
    /// from r.
    pub fn reset(&mut self, system: &System, r: &[f64], (goal, accepted): (f64, f64), shared: Shared) {
        self.goal = goal;
        self.has_order = false;
        self.uses_mechanism = false;
        self.moves_mechanism = false;
        let (contacts, stored) = (system.n_contacts(), system.w.n_stored());
        self.is_sparse = route::is_sparse(contacts, stored);
        let dim = system.w.stride().max(1);
        self.planned = if self.is_sparse { route::blocks(contacts, stored, dim) } else { route::dense(system.n()) };
        self.unit = self.planned;
        if !shared.mechanism || !Woodbury::is_known(system) {
            return;
        }
        if (0..contacts).any(|i| system.w.dim(i) > MOST_ROWS) {
            self.declined.note(Reason::MechanismRows);
            return;
        }
        let Some(cost) = self.mechanism.plan(system, accepted) else { return };
        let other = if self.is_sparse { self.count_blocks(system, r) } else { self.planned };
        self.uses_mechanism = cost < other;
        let of_w = (dim * dim * stored) as f64;
        self.moves_mechanism = self.uses_mechanism && self.mechanism.is_moved_for(of_w, cost, system);
        self.mechanism_cost = cost;
        self.planned = cost.min(other);
    }

    /// Multiplications of a factorisation over the contacts that push, or over all where none does.
    fn count_blocks(&mut self, system: &System, r: &[f64]) -> f64 {
        self.order(system);
        self.pattern.clear();
        self.pattern.extend((0..system.n_contacts()).map(|i| r[system.rows(i).start] != 0.0));
        if !self.pattern.contains(&true) {
            self.pattern.fill(true);
        }
        self.symbolic.restrict(&system.w, &self.pattern);
        let dim = (0..system.n_contacts()).map(|i| system.w.dim(i)).max().unwrap_or(1);
        (dim * dim * dim * self.symbolic.count_products().0) as f64
    }

    fn order(&mut self, system: &System) {
        if !self.has_order {
            if !self.symbolic.order(&system.w) {
                self.pattern.clear();
            }
            self.has_order = true;
        }
    }

    /// u = W r + q, by the mechanism where that is less work than by W.
    pub fn velocity(&mut self, system: &System, r: &[f64], u: &mut [f64]) {
        if self.uses_mechanism && self.moves_mechanism {
            self.mechanism.velocity(system, r, u);
        } else {
            system.velocity(r, u);
        }
    }

    /// From here on steps must lead to the tolerance, or by W.
    pub fn be_exact(&mut self) {
        self.uses_mechanism &= self.mechanism.is_exact();
    }

    /// Whether the mechanism, if it was chosen, is used.
    pub fn set_mechanism(&mut self, is_used: bool) {
        self.uses_mechanism = is_used;
    }

    /// Below this the proximal term is lost in rounding.
    pub fn smallest_alpha(&self) -> f64 {
        let own = if self.uses_mechanism { LEAST_ALPHA_IN_MECHANISM } else { LEAST_ALPHA_IN_W };
        if self.uses_mechanism { own } else { (ALPHA_PER_TOLERANCE * self.goal).max(own) }
    }

    /// Whether steps are found over the speeds of a small mechanism.
    pub fn is_by_speeds(&self) -> bool {
        self.uses_mechanism && self.mechanism.is_by_speeds()
    }

    /// W x of the last step x, if the factorisation has it.
    pub fn response(&self) -> Option<&[f64]> {
        self.uses_mechanism.then_some(self.mechanism.response())
    }

    /// Factors A + B (W + α) over the contacts that are not open. False if it is singular.
    pub fn factor(&mut self, system: &System, laws: &[Linearised], alpha: f64) -> bool {
        if self.uses_mechanism {
            if self.mechanism.factor(system, laws, alpha) {
                self.routes.note(if self.mechanism.is_by_speeds() { Route::Speeds } else { Route::Links });
                self.count(self.mechanism_cost);
                self.substitution = SUBSTITUTION * self.mechanism_cost;
                return true;
            }
            self.declined.note(Reason::MechanismPivot);
            self.uses_mechanism = false;
        }
        let n_contacts = system.n_contacts();
        self.active_rows = laws.iter().enumerate().filter(|(_, l)| !l.is_open).map(|(i, _)| system.w.dim(i)).sum();
        if self.active_rows == 0 {
            self.substitution = 0.0;
            return true;
        }
        self.routes.note(if self.is_sparse { Route::Blocks } else { Route::Dense });
        if !self.is_sparse {
            self.sparse_dim = 0;
            self.count(route::dense(self.active_rows));
            self.substitution = (self.active_rows * self.active_rows) as f64;
            return self.factor_dense(system, laws, alpha);
        }
        let dim = (0..n_contacts).map(|i| system.w.dim(i)).max().unwrap_or(1);
        self.sparse_dim = dim;
        self.order(system);
        if self.pattern.len() != n_contacts || self.pattern.iter().zip(laws).any(|(p, l)| *p == l.is_open) {
            self.pattern.clear();
            self.pattern.extend(laws.iter().map(|l| !l.is_open));
            self.symbolic.restrict(&system.w, &self.pattern);
        }
        let (products, substitution) = self.symbolic.count_products();
        let size = (dim * dim) as f64;
        self.count(size * dim as f64 * products as f64);
        self.substitution = size * substitution as f64;
        let rows = NewtonRows { system, laws, alpha };
        match dim {
            1 => self.n1.factor(&self.symbolic, &rows),
            2 => self.n2.factor(&self.symbolic, &rows),
            3 => self.n3.factor(&self.symbolic, &rows),
            4 | 5 => self.n5.factor(&self.symbolic, &rows),
            _ => self.n6.factor(&self.symbolic, &rows),
        }
    }

    /// x ← (A + B (W + α))⁻¹ x.
    pub fn solve_factored(&mut self, system: &System, laws: &[Linearised], x: &mut [f64]) {
        self.count(self.substitution);
        if self.uses_mechanism {
            return self.mechanism.solve(system, x);
        }
        if self.active_rows == 0 {
            return;
        }
        // Open contacts have A = 1, B = 0 and are solved at once; the others see them on the right.
        let open = laws.iter().enumerate().filter(|(_, law)| law.is_open);
        if open.clone().flat_map(|(i, _)| &x[system.rows(i)]).any(|x| *x != 0.0) {
            self.rhs.clear();
            self.rhs.resize(x.len(), 0.0);
            open.for_each(|(i, _)| self.rhs[system.rows(i)].copy_from_slice(&x[system.rows(i)]));
            for (i, law) in laws.iter().enumerate().filter(|(_, law)| !law.is_open) {
                let rows = system.rows(i);
                let dim = rows.len();
                let mut product = [0.0; MAX_DIM];
                system.w.add_row_product(i, &self.rhs, &mut product[..dim]);
                for a in 0..dim {
                    x[rows.start + a] -= (0..dim).map(|c| law.b[a * dim + c] * product[c]).sum::<f64>();
                }
            }
        }
        let offsets = system.offsets();
        match self.sparse_dim {
            0 => {}
            1 => return self.n1.solve(&self.symbolic, offsets, x),
            2 => return self.n2.solve(&self.symbolic, offsets, x),
            3 => return self.n3.solve(&self.symbolic, offsets, x),
            4 | 5 => return self.n5.solve(&self.symbolic, offsets, x),
            _ => return self.n6.solve(&self.symbolic, offsets, x),
        }
        self.packed.clear();
        for (i, law) in laws.iter().enumerate() {
            if !law.is_open {
                self.packed.extend_from_slice(&x[system.rows(i)]);
            }
        }
        self.dense.solve(&mut self.packed);
        let mut from = 0;
        for (i, law) in laws.iter().enumerate() {
            if !law.is_open {
                let rows = system.rows(i);
                let dim = rows.len();
                x[rows].copy_from_slice(&self.packed[from..from + dim]);
                from += dim;
            }
        }
    }

    /// The Newton step: (A + B (W + α)) x = −f. False if the matrix is singular.
    pub fn solve(&mut self, system: &System, laws: &[Linearised], alpha: f64, x: &mut [f64]) -> bool {
        if !self.factor(system, laws, alpha) {
            return false;
        }
        for (law, rows) in laws.iter().zip(system.offsets().windows(2)) {
            x[rows[0]..rows[1]].iter_mut().zip(&law.f).for_each(|(x, f)| *x = -f);
        }
        self.solve_factored(system, laws, x);
        x.iter().all(|x| x.is_finite())
    }

    fn factor_dense(&mut self, system: &System, laws: &[Linearised], alpha: f64) -> bool {
        self.start.clear();
        let mut at = 0;
        for (i, law) in laws.iter().enumerate() {
            self.start.push(if law.is_open { usize::MAX } else { at });
            if !law.is_open {
                at += system.w.dim(i);
            }
        }
        let m = self.active_rows;
        let matrix = self.dense.start(m);
        for (i, law) in laws.iter().enumerate() {
            if law.is_open {
                continue;
            }
            let (row, dim) = (self.start[i], system.w.dim(i));
            for (j, w) in system.w.row(i) {
                if laws[j].is_open {
                    continue;
                }
                let (column, width) = (self.start[j], system.w.dim(j));
                for a in 0..dim {
                    let at = (row + a) * m + column;
                    let target = &mut matrix[at..at + width];
                    let factors = &law.b[a * dim..(a + 1) * dim];
                    if let ([t0, t1, t2], [b0, b1, b2], 9) = (&mut *target, factors, w.len()) {
                        *t0 += b0 * w[0] + b1 * w[3] + b2 * w[6];
                        *t1 += b0 * w[1] + b1 * w[4] + b2 * w[7];
                        *t2 += b0 * w[2] + b1 * w[5] + b2 * w[8];
                        continue;
                    }
                    if let ([t0, t1], [b0, b1], 4) = (&mut *target, factors, w.len()) {
                        *t0 += b0 * w[0] + b1 * w[2];
                        *t1 += b0 * w[1] + b1 * w[3];
                        continue;
                    }
                    for (b, row) in factors.iter().zip(w.chunks_exact(width)) {
                        for (t, w) in target.iter_mut().zip(row) {
                            *t += b * w;
                        }
                    }
                }
            }
            for a in 0..dim {
                for c in 0..dim {
                    matrix[(row + a) * m + row + c] += law.a[a * dim + c] + alpha * law.b[a * dim + c];
                }
            }
        }
        self.dense.factor()
    }
}

/// A + B (W + α) row by row.
struct NewtonRows<'a> {
    system: &'a System,
    laws: &'a [Linearised],
    alpha: f64,
}

impl<const D: usize, const P: usize> Rows<D, P> for NewtonRows<'_> {
    #[inline(always)]
    fn write(&self, contact: usize, row: &mut Row<D, P>) {
        let (law, w) = (&self.laws[contact], &self.system.w);
        let dim = w.dim(contact);
        match w.spatial().filter(|_| D == 3) {
            Some(spatial) => {
                let slots = spatial.row_start[contact]..spatial.row_start[contact + 1];
                for (w, j) in spatial.blocks[slots.clone()].iter().zip(&spatial.columns[slots]) {
                    let Some(block) = row.block(*j) else { continue };
                    if law.is_unit {
                        block.iter_mut().zip(w.chunks_exact(D)).for_each(|(b, w)| b[..D].copy_from_slice(w));
                    } else {
                        multiply(&law.b, w, block);
                    }
                }
            }
            None => {
                for (j, w) in w.row(contact) {
                    let Some(block) = row.block(j) else { continue };
                    let width = w.len() / dim;
                    for a in 0..dim {
                        for c in 0..dim {
                            for k in 0..width {
                                block[a][k] += law.b[a * dim + c] * w[c * width + k];
                            }
                        }
                    }
                }
            }
        }
        if let Some(block) = row.block(contact) {
            for a in 0..dim {
                for c in 0..dim {
                    block[a][c] += law.a[a * dim + c] + self.alpha * law.b[a * dim + c];
                }
            }
            for a in dim..D {
                block[a][a] = 1.0;
            }
        }
    }
}

/// The product of two matrices of D rows, in rows of P.
#[inline(always)]
fn multiply<const D: usize, const P: usize>(b: &[f64], w: &[f64; 9], out: &mut [[f64; P]; D]) {
    let lanes: [[f64; P]; D] = std::array::from_fn(|c| std::array::from_fn(|k| if k < D { w[c * D + k] } else { 0.0 }));
    for (a, out) in out.iter_mut().enumerate() {
        let mut sum = [0.0; P];
        for c in 0..D {
            for k in 0..P {
                sum[k] += b[a * D + c] * lanes[c][k];
            }
        }
        *out = sum;
    }
}
