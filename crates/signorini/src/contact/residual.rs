//! The judge: how well r solves a contact problem. It knows no solver.
//!
//! **Problem.** u = W r + q is recomputed from r alone. In the scaled variables of [`Scaling`] the natural map
//! F = r̂ − P_K(r̂ − (û + h(−û_t) e_n)) vanishes exactly at the solutions.
//!
//! **Method.** rel = ‖F‖ / ‖q̂‖ is the number that tolerances are compared with (DESIGN §4); with q = 0 the divisor
//! is one. The laws are also reported one by one, relative to max |q̂|.
//!
//! **Cost.** One product with W, and one with |W| for the rounding floor.
//!
//! **Fails when** r is not finite: rel is then infinite.
//!
//! **Checked by** `tests/contact_residual.rs`: stored values, properties of the map, other implementations.

use super::cone::{Cone, MAX_DIM, MAX_TANGENT, Section};
use super::problem::ContactProblem;
use super::scaling::Scaling;

/// How far r is from a solution.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Residual {
    /// ‖F‖₂ / ‖q̂‖₂: the one number that tolerances are compared with.
    pub rel: f64,
    /// max |F| / max |q̂|.
    pub rel_inf: f64,
    /// Signorini: max |min(r̂_n, û_n)|.
    pub signorini: f64,
    /// Coulomb: largest distance of r̂_t outside its set.
    pub coulomb: f64,
    /// Maximum dissipation: max ‖r̂_t − P(r̂_t − û_t)‖.
    pub dissipation: f64,
    /// The last two for moment rows (rolling and spin), the larger.
    pub moment: f64,
    /// Bilateral rows max |û|, bounded rows max |r̂ − clamp(r̂ − û)|.
    pub bilateral: f64,
    /// 4 ε ‖|Ŵ||r̂|‖ / ‖q̂‖: no r in double precision can be asked for less.
    pub floor: f64,
}

impl Residual {
    /// Whether rel ≤ max(tolerance, floor). The floor grows with r. Where it exceeds √ε, half of all digits cancel in u = W r + q, and in the
    /// natural map v̂ is rounded away beside r̂: then nothing is certified, however small rel is.
    pub fn is_within(&self, tolerance: f64) -> bool {
        self.rel <= tolerance.max(self.floor) && self.floor <= f64::EPSILON.sqrt()
    }
}

/// Computes residuals; keeps its scratch, so that judging a problem of known size does not allocate.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    scaling: Scaling,
    /// ‖q̂‖₂ and max |q̂|, one where q vanishes.
    q_norm: f64,
    q_max: f64,
    u: Vec<f64>,
    scratch: Vec<f64>,
}

impl Judge {
    /// Computes what does not depend on r: the scaling and the size of q̂.
    pub fn prepare(&mut self, problem: &ContactProblem) {
        self.scaling.update(problem);
        let (mut square, mut largest) = (0.0, 0.0_f64);
        for (q, inverse) in problem.free_velocity().iter().zip(self.scaling.inverse()) {
            let q = q * inverse;
            square += q * q;
            largest = largest.max(q.abs());
        }
        let positive = |x: f64| if x > 0.0 { x } else { 1.0 };
        (self.q_norm, self.q_max) = (positive(f64::sqrt(square)), positive(largest));
    }

    /// ‖q̂‖₂, one where it vanishes: the unit of residuals.
    pub fn q_norm(&self) -> f64 {
        self.q_norm
    }

    /// Judges r.
    pub fn compute(&mut self, problem: &ContactProblem, r: &[f64]) -> Residual {
        self.prepare(problem);
        self.compute_prepared(problem, r)
    }

    /// Judges r with the scaling of the last [`Judge::prepare`], which must have been for the same problem.
    pub(super) fn compute_prepared(&mut self, problem: &ContactProblem, r: &[f64]) -> Residual {
        self.u.resize(problem.n_rows(), 0.0);
        self.scratch.resize(problem.n_rows(), 0.0);
        let outside = Residual { rel: f64::INFINITY, rel_inf: f64::INFINITY, ..Residual::default() };
        if r.len() != problem.n_rows() || r.iter().any(|x| !x.is_finite()) {
            return outside;
        }
        problem.delassus().apply_with_abs(r, &mut self.u, &mut self.scratch);
        self.u.iter_mut().zip(problem.free_velocity()).for_each(|(u, q)| *u += q);
        let (sigma, inverse) = (self.scaling.sigma(), self.scaling.inverse());
        let (mut f_square, mut f_max) = (0.0, 0.0_f64);
        let floor: f64 = self.scratch.iter().zip(inverse).map(|(w, i)| (w * i) * (w * i)).sum();
        let mut out = Residual::default();
        let (mut rh, mut uh, mut f) = ([0.0; MAX_DIM], [0.0; MAX_DIM], [0.0; MAX_DIM]);
        for (c, (cone, rows)) in problem.cones().iter().zip(problem.offsets().windows(2)).enumerate() {
            let (start, dim) = (rows[0], rows[1] - rows[0]);
            if let Cone::Friction(Section::Ball { dim: 2, .. }) = cone {
                // The same with three rows that the compiler knows of.
                let three = |x: &[f64], y: &[f64]| -> [f64; 3] {
                    let (x, y) = (&x[start..start + 3], &y[start..start + 3]);
                    [x[0] * y[0], x[1] * y[1], x[2] * y[2]]
                };
                let mut f = [0.0; 3];
                add_contact(cone, &three(sigma, r), &three(inverse, &self.u), &mut f, &mut out);
                for x in f {
                    f_square += x * x;
                    f_max = f_max.max(x.abs());
                }
                continue;
            }
            if let Cone::Unilateral = cone {
                let x = (sigma[start] * r[start]).min(inverse[start] * self.u[start]);
                out.signorini = out.signorini.max(x.abs());
                f_square += x * x;
                f_max = f_max.max(x.abs());
                continue;
            }
            for k in 0..dim {
                rh[k] = sigma[start + k] * r[start + k];
                uh[k] = inverse[start + k] * self.u[start + k];
            }
            let (rh, uh, f) = (&rh[..dim], &uh[..dim], &mut f[..dim]);
            match cone {
                // Laws that scaling leaves alone are used as they are: no copy, no allocation.
                Cone::Friction(Section::Balls { dims, radii }) => {
                    let ratio = self.scaling.moment_ratio(problem, c);
                    let radii = [radii[0], radii[1] * ratio];
                    add_contact(&Cone::Friction(Section::Balls { dims: *dims, radii }), rh, uh, f, &mut out);
                }
                Cone::Friction(
                    Section::Ellipsoid { dim: 3, .. } | Section::Cylinder { .. } | Section::Polyhedron(_),
                )
                | Cone::Interval { .. } => {
                    add_contact(&self.scaling.scaled_cone(problem, c), rh, uh, f, &mut out);
                }
                _ => add_contact(cone, rh, uh, f, &mut out),
            }
            for x in f.iter() {
                f_square += x * x;
                f_max = f_max.max(x.abs());
            }
        }
        let (q_norm, q_max) = (self.q_norm, self.q_max);
        out.rel = f64::sqrt(f_square) / q_norm;
        out.rel_inf = f_max / q_max;
        out.floor = 4.0 * f64::EPSILON * f64::sqrt(floor) / q_norm;
        for x in [&mut out.signorini, &mut out.coulomb, &mut out.dissipation, &mut out.moment, &mut out.bilateral] {
            *x /= q_max;
        }
        if out.rel.is_nan() {
            return outside;
        }
        out
    }

    /// u = W r + q of the last call.
    pub fn velocity(&self) -> &[f64] {
        &self.u
    }

    /// The scaling of the last call.
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }
}

/// Adds one contact, in scaled variables, to the separate laws, and leaves its natural map in `f`.
#[inline(always)]
fn add_contact(cone: &Cone, r: &[f64], u: &[f64], f: &mut [f64], out: &mut Residual) {
    cone.natural_map(r, u, f);
    let Cone::Friction(section) = cone else {
        match cone {
            Cone::Unilateral => out.signorini = out.signorini.max(f[0].abs()),
            _ => out.bilateral = out.bilateral.max(f[0].abs()),
        }
        return;
    };
    out.signorini = out.signorini.max(r[0].min(u[0]).abs());
    let normal = r[0].max(0.0);
    // Coulomb's law in the plane and in space, by far the most frequent, without detours.
    if let Section::Ball { radius, .. } = section {
        let (outside, slip) = match (r, u) {
            ([_, rt], [_, ut]) => {
                let limit = radius * normal;
                (rt.abs() - radius * r[0], (rt - (rt - ut).max(-limit).min(limit)).abs())
            }
            ([_, r1, r2], [_, u1, u2]) => {
                let (y1, y2) = (r1 - u1, r2 - u2);
                let (norm, limit) = ((y1 * y1 + y2 * y2).sqrt(), radius * normal);
                let f = if norm > limit { limit / norm } else { 1.0 };
                let (e1, e2) = (r1 - f * y1, r2 - f * y2);
                ((r1 * r1 + r2 * r2).sqrt() - radius * r[0], (e1 * e1 + e2 * e2).sqrt())
            }
            _ => (0.0, 0.0),
        };
        out.coulomb = out.coulomb.max(outside);
        out.dissipation = out.dissipation.max(slip);
        return;
    }
    let n = section.n_forces();
    let mut worst = |at: usize, len: usize, moment: bool, ball: Option<f64>| {
        let (rt, ut) = (&r[1..], &u[1..]);
        let mut y = [0.0; MAX_TANGENT];
        let y = &mut y[..rt.len()];
        let distance = |p: &[f64]| (at..at + len).map(|k| (rt[k] - p[k]) * (rt[k] - p[k])).sum::<f64>().sqrt();
        y.copy_from_slice(rt);
        section.project(normal, y);
        // A disc also says how far outside r_t is when r_n itself is negative.
        let outside = match ball {
            Some(radius) => (rt[at..at + len].iter().map(|x| x * x).sum::<f64>().sqrt() - radius * r[0]).max(0.0),
            None => distance(y),
        };
        for k in 0..rt.len() {
            y[k] = rt[k] - ut[k];
        }
        section.project(normal, y);
        let slip = distance(y);
        if moment {
            out.moment = out.moment.max(outside).max(slip);
        } else {
            out.coulomb = out.coulomb.max(outside);
            out.dissipation = out.dissipation.max(slip);
        }
    };
    match section {
        Section::Balls { dims, radii } => {
            worst(0, dims[0], false, Some(radii[0]));
            worst(dims[0], dims[1], true, Some(radii[1]));
        }
        Section::Ball { .. } => {}
        _ => {
            worst(0, n, false, None);
            if n < section.dim() {
                worst(n, section.dim() - n, true, None);
            }
        }
    }
}
