//! The problem in scaled variables, as the solvers see it.

use std::sync::Arc;

use super::super::cone::{Cone, MAX_DIM, Section};
use super::super::delassus::{BlockMatrix, Delassus};
use super::super::origin::Origin;
use super::super::problem::ContactProblem;
use super::super::scaling::Scaling;
use super::constants::auto::ROUNDED;
use super::islands::gather;

/// û = Ŵ r̂ + q̂ with unit compliance at every contact.
#[derive(Debug, Clone, Default)]
pub struct System {
    pub w: BlockMatrix,
    pub q: Vec<f64>,
    pub cones: Vec<Cone>,
    /// ‖q̂‖, one where it vanishes: the unit of residuals.
    pub q_norm: f64,
    /// Where W comes from, as it was posed, if that is known.
    pub origin: Option<Arc<Origin>>,
    /// The contacts there that are those of this system.
    pub members: Vec<usize>,
    /// Û = s u and r = g s r̂ row by row.
    pub row_scale: Vec<f64>,
    pub common_scale: f64,
    /// 1 / (g s).
    pub row_unit: Vec<f64>,
    f: Vec<f64>,
}

/// A problem as a sweep sees it: as it was posed, or scaled.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub w: &'a BlockMatrix,
    pub q: &'a [f64],
    pub cones: &'a [Cone],
}

impl View<'_> {
    /// Multiplications of a product with W.
    pub fn count(&self) -> u64 {
        let stride = self.w.stride().max(1);
        (self.w.n_stored() * stride * stride) as u64
    }
}

impl System {
    /// Takes over a problem whose operator is `w`, keeping the storage.
    pub fn update(&mut self, problem: &ContactProblem, w: &BlockMatrix, scaling: &Scaling, q_norm: f64) {
        let inverse = scaling.inverse();
        self.w.set_scaled(w, scaling.common(), inverse);
        self.q.clear();
        self.q.extend(problem.free_velocity().iter().zip(inverse).map(|(q, i)| q * i));
        self.cones.clear();
        self.cones.extend((0..problem.n_contacts()).map(|i| scaling.scaled_cone(problem, i)));
        self.q_norm = q_norm;
        self.origin = Some(Arc::clone(problem.origin()));
        self.members.clear();
        self.members.extend(0..problem.n_contacts());
        self.row_scale.clear();
        self.row_scale.extend_from_slice(inverse);
        self.common_scale = scaling.common();
        self.row_unit.clear();
        self.row_unit.extend_from_slice(scaling.sigma());
        self.f.resize(self.q.len(), 0.0);
    }

    /// Takes over some contacts of another system, ascending.
    pub fn restrict(&mut self, whole: &System, part: &[usize]) {
        self.w.set_restricted(&whole.w, part);
        gather(whole.offsets(), part, &whole.q, &mut self.q);
        self.cones.clear();
        self.cones.extend(part.iter().map(|i| whole.cones[*i].clone()));
        self.q_norm = unit_of(self.q.iter().map(|x| x * x).sum(), whole.q_norm);
        self.origin.clone_from(&whole.origin);
        self.members.clear();
        self.members.extend(part.iter().map(|i| whole.members[*i]));
        gather(whole.offsets(), part, &whole.row_scale, &mut self.row_scale);
        self.common_scale = whole.common_scale;
        gather(whole.offsets(), part, &whole.row_unit, &mut self.row_unit);
        self.f.resize(self.q.len(), 0.0);
    }

    /// Lets go of what belongs to the problem, which its owner may want to write anew.
    pub fn release(&mut self) {
        self.origin = None;
    }

    pub fn view(&self) -> View<'_> {
        View { w: &self.w, q: &self.q, cones: &self.cones }
    }

    pub fn n(&self) -> usize {
        self.q.len()
    }

    pub fn n_contacts(&self) -> usize {
        self.cones.len()
    }

    pub fn offsets(&self) -> &[usize] {
        self.w.offsets()
    }

    pub fn rows(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets()[i]..self.offsets()[i + 1]
    }

    /// u = W r + q.
    pub fn velocity(&self, r: &[f64], u: &mut [f64]) {
        self.w.apply(r, u);
        u.iter_mut().zip(&self.q).for_each(|(u, q)| *u += q);
    }

    /// ‖natural map‖ / ‖q‖, given u = W r + q.
    pub fn rel_with(&self, r: &[f64], u: &[f64]) -> f64 {
        let parts = self.cones.iter().zip(self.offsets().windows(2));
        let sum =
            parts.fold(0.0, |sum, (cone, rows)| sum + square_of(cone, &r[rows[0]..rows[1]], &u[rows[0]..rows[1]]));
        let rel = sum.sqrt() / self.q_norm;
        if rel.is_finite() { rel } else { f64::INFINITY }
    }

    /// ‖natural map‖ / ‖q‖.
    pub fn rel(&mut self, r: &[f64]) -> f64 {
        let mut u = std::mem::take(&mut self.f);
        self.velocity(r, &mut u);
        let rel = self.rel_with(r, &u);
        self.f = u;
        rel
    }

    /// The rounding floor of rel at r (DESIGN §4).
    pub fn floor(&mut self, r: &[f64]) -> f64 {
        let mut scratch = std::mem::take(&mut self.f);
        let floor = self.floor_of(r, &mut scratch);
        self.f = scratch;
        floor
    }

    /// The same, in scratch of the caller's.
    pub fn floor_of(&self, r: &[f64], scratch: &mut Vec<f64>) -> f64 {
        scratch.resize(self.n(), 0.0);
        self.w.apply_abs(r, scratch);
        4.0 * f64::EPSILON * scratch.iter().map(|x| x * x).sum::<f64>().sqrt() / self.q_norm
    }

    /// ‖natural map‖² of every contact, and the square of its rounding floor (DESIGN §4).
    pub fn write_squares(&mut self, r: &[f64], out: &mut Vec<[f64; 2]>) {
        let mut f = std::mem::take(&mut self.f);
        self.w.apply_abs(r, &mut f);
        out.clear();
        let floor = |x: &f64| (4.0 * f64::EPSILON * x).powi(2);
        out.extend(self.offsets().windows(2).map(|rows| [0.0, f[rows[0]..rows[1]].iter().map(floor).sum()]));
        self.velocity(r, &mut f);
        for ((out, cone), rows) in out.iter_mut().zip(&self.cones).zip(self.offsets().windows(2)) {
            out[0] = square_of(cone, &r[rows[0]..rows[1]], &f[rows[0]..rows[1]]);
        }
        self.f = f;
    }

    /// Whether some contacts, which nothing couples with others, are within a tolerance or at their rounding floor.
    pub fn is_within(&self, members: &[usize], squares: &[[f64; 2]], tolerance: f64) -> bool {
        let (mut f, mut floor, mut q) = (0.0, 0.0, 0.0);
        for &i in members {
            f += squares[i][0];
            floor += squares[i][1];
            q += self.q[self.rows(i)].iter().map(|q| q * q).sum::<f64>();
        }
        let unit = unit_of(q, self.q_norm);
        f <= floor.max((tolerance * unit).powi(2))
    }

    /// r̂ from r.
    pub fn enter(scaling: &Scaling, r: &mut [f64]) {
        r.iter_mut().zip(scaling.sigma()).for_each(|(r, s)| *r *= s);
    }

    /// r from r̂.
    pub fn leave(scaling: &Scaling, r: &mut [f64]) {
        r.iter_mut().zip(scaling.sigma()).for_each(|(r, s)| *r /= s);
    }
}

/// ‖q‖ as the unit of a part of a problem; where that is zero, or rounding beside ‖q‖ of the whole, the latter.
fn unit_of(square: f64, whole: f64) -> f64 {
    let own = square.sqrt();
    if own > ROUNDED * whole { own } else { whole }
}

/// ‖natural map‖² of one contact.
#[inline(always)]
fn square_of(cone: &Cone, r: &[f64], u: &[f64]) -> f64 {
    match (cone, r.first_chunk::<3>(), u.first_chunk::<3>()) {
        (Cone::Unilateral, ..) => {
            let x = r[0].min(u[0]);
            x * x
        }
        // By far the most frequent, with three rows that the compiler knows of.
        (Cone::Friction(Section::Ball { dim: 2, .. }), Some(r), Some(u)) => {
            let mut f = [0.0; 3];
            cone.natural_map(r, u, &mut f);
            f.iter().map(|x| x * x).sum::<f64>()
        }
        _ => {
            let mut f = [0.0; MAX_DIM];
            let f = &mut f[..r.len()];
            cone.natural_map(r, u, f);
            f.iter().map(|x| x * x).sum::<f64>()
        }
    }
}
