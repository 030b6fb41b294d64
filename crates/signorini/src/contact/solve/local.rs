//! One contact alone: u = D r + b with D its own Delassus block, solved to rounding.
//!
//! **Problem.** The inner problem of block Gauss–Seidel. An inner tolerance would leak into the outer result, so every
//! branch is closed form, or a scalar root taken until its argument no longer moves.
//!
//! **Method.** Coulomb in space: open if b_n ≥ 0; else stick, r = −D⁻¹b, if that lies in the cone; else slip with
//! u_n = 0, u_t = −λ r_t, ‖r_t‖ = μ r_n, λ > 0. Eliminating r_n leaves (D̃ + λ) r_t = −b̃ and one equation
//! μ r_n(λ)/‖r_t(λ)‖ = 1, nearly linear in λ; its left side is below 1 at λ = 0 (stick is outside the cone) and
//! grows without bound, so the bracketed Newton iteration always ends at a root. In the plane the two slip directions
//! are tried one by one. Other sections use Newton's method on the law of `active.rs`, safeguarded by projected steps.
//!
//! **Cost.** About 60 flops, plus 40 per Newton step; usually two to four steps.
//!
//! **Fails when** D is not positive definite: no root may exist. The previous r is then kept, or a projected step taken.
//!
//! **Checked by** `tests/contact_solvers.rs` (random blocks against the natural map).

use super::super::cone::{Cone, MAX_DIM, Section};
use super::active::Linearised;
use super::constants::local::{EXACT, HALVINGS, PROJECTIONS, SETTLED, SINGULAR, STEPS};
use super::linear::solve_small;

/// Solves one contact with its block d (row-major) and u = d r + b; r holds the last value and is overwritten.
/// `memory` keeps the slip multiplier of the last visit.
pub fn solve_local(cone: &Cone, d: &[f64], b: &[f64], r: &mut [f64], memory: &mut f64) {
    match cone {
        Cone::Friction(Section::Ball { dim: 1, radius }) => planar(*radius, d, b, r),
        Cone::Friction(Section::Ball { dim: 2, radius }) => spatial(*radius, d, b, r, memory),
        Cone::Friction(_) => general(cone, d, b, r),
        Cone::Bilateral if d[0] > 0.0 => r[0] = -b[0] / d[0],
        Cone::Bilateral => {}
        Cone::Unilateral if d[0] > 0.0 => r[0] = (-b[0] / d[0]).max(0.0),
        Cone::Unilateral if b[0] >= 0.0 => r[0] = 0.0,
        Cone::Unilateral => {}
        Cone::Interval { lower, upper } => {
            let free = if d[0] > 0.0 { -b[0] / d[0] } else { r[0] - b[0] };
            r[0] = free.max(*lower).min(*upper);
        }
    }
}

fn planar(mu: f64, d: &[f64], b: &[f64], r: &mut [f64]) {
    if b[0] >= 0.0 {
        r.fill(0.0);
        return;
    }
    let det = d[0] * d[3] - d[1] * d[2];
    if det > f64::EPSILON * d[0].abs() * d[3].abs() {
        let stick = [(d[1] * b[1] - d[3] * b[0]) / det, (d[2] * b[0] - d[0] * b[1]) / det];
        if stick[1].abs() <= mu * stick[0] {
            r.copy_from_slice(&stick);
            return;
        }
    }
    for s in [-1.0_f64, 1.0] {
        // Slip towards −s: r_t = s μ r_n.
        let stiff = d[0] + s * mu * d[1];
        if stiff <= 0.0 {
            continue;
        }
        let r_n = -b[0] / stiff;
        let u_t = b[1] + d[2] * r_n + d[3] * s * mu * r_n;
        if s * u_t <= 0.0 {
            r[0] = r_n;
            r[1] = s * mu * r_n;
            return;
        }
    }
    projected_step(&Cone::planar(mu), d, b, r);
}

fn spatial(mu: f64, d: &[f64], b: &[f64], r: &mut [f64], memory: &mut f64) {
    if b[0] >= 0.0 {
        r.fill(0.0);
        return;
    }
    if d[0] <= 0.0 {
        projected_step(&Cone::circular(mu), d, b, r);
        return;
    }
    // Schur complement of the normal row: D̃ = D_tt − D_tn D_nt / D_nn.
    let (f, g) = (d[3] / d[0], d[6] / d[0]);
    let t = [d[4] - f * d[1], d[5] - f * d[2], d[7] - g * d[1], d[8] - g * d[2]];
    let c = [b[1] - f * b[0], b[2] - g * b[0]];
    // One freedom: the contact slides only as it closes, and what is left of D̃ is rounding.
    if t.iter().all(|x| x.abs() <= SINGULAR * (d[4] + d[8])) {
        one_freedom(mu, d, b, c, r);
        return;
    }
    let at = |lambda: f64| {
        let (a, e) = (t[0] + lambda, t[3] + lambda);
        let det = a * e - t[1] * t[2];
        let x = [(t[1] * c[1] - e * c[0]) / det, (t[2] * c[0] - a * c[1]) / det];
        let n = -(b[0] + d[1] * x[0] + d[2] * x[1]) / d[0];
        (x, n, a, e, det)
    };
    let trace = t[0] + t[3];
    let (x, n, _, _, det) = at(0.0);
    // Below this the sticking system is singular in double precision; the root is then sought from its edge.
    let singular = det <= EXACT * trace * trace;
    if !singular && x[0] * x[0] + x[1] * x[1] <= (mu * n) * (mu * n) && n >= 0.0 {
        r.copy_from_slice(&[n, x[0], x[1]]);
        *memory = 0.0;
        return;
    }
    if mu == 0.0 {
        r.copy_from_slice(&[-b[0] / d[0], 0.0, 0.0]);
        return;
    }
    let (mut low, mut high) = (0.0_f64, f64::INFINITY);
    let mut lambda = if *memory > 0.0 { *memory } else { trace.max(d[0]) };
    let mut best = (x, n);
    for _ in 0..STEPS {
        let (x, n, a, e, det) = at(lambda);
        let square = x[0] * x[0] + x[1] * x[1];
        let norm = square.sqrt();
        best = (x, n);
        if norm == 0.0 {
            break; // no tangential load at all
        }
        let value = mu * n / norm - 1.0;
        // As exact as the quotient can be computed; waiting for λ to settle could take for ever here.
        if value.abs() <= EXACT {
            break;
        }
        if value < 0.0 {
            low = lambda;
        } else {
            high = lambda;
        }
        // x' = −(D̃ + λ)⁻¹ x, n' = −(d_nt·x')/d_nn.
        let dx = [(t[1] * x[1] - e * x[0]) / det, (t[2] * x[0] - a * x[1]) / det];
        let dn = -(d[1] * dx[0] + d[2] * dx[1]) / d[0];
        let slope = mu * (dn - n * (x[0] * dx[0] + x[1] * dx[1]) / square) / norm;
        let mut next = lambda - value / slope;
        if !(next > low && next < high) {
            next = if high.is_finite() { 0.5 * (low + high) } else { 4.0 * lambda };
        }
        if (next - lambda).abs() <= SETTLED * lambda || !(next > low && next < high) {
            break;
        }
        lambda = next;
    }
    *memory = lambda;
    let (x, n) = best;
    let norm = (x[0] * x[0] + x[1] * x[1]).sqrt();
    // The direction from the root, the length from the cone: on its boundary to the last bit.
    let n = n.max(0.0);
    let f = if norm > 0.0 { mu * n / norm } else { 0.0 };
    r.copy_from_slice(&[n, f * x[0], f * x[1]]);
}

/// The block of a mechanism with one freedom, D = w wᵀ; c is the velocity along the surface that is left once the contact is closed. Without any it sticks,
/// and of the impulses that do so the one along the normal is taken; else it slides. Where friction jams what should slide there is no solution.
fn one_freedom(mu: f64, d: &[f64], b: &[f64], c: [f64; 2], r: &mut [f64]) {
    let left = c[0].hypot(c[1]);
    if left <= SINGULAR * (b[1].abs() + b[2].abs() + b[0].abs() * (d[3].abs() + d[6].abs()) / d[0]) {
        r.copy_from_slice(&[-b[0] / d[0], 0.0, 0.0]);
        return;
    }
    let stiff = d[0] - mu * (d[1] * c[0] + d[2] * c[1]) / left;
    if stiff <= SINGULAR * (d[0] + mu * d[1].hypot(d[2])) {
        projected_step(&Cone::circular(mu), d, b, r);
        return;
    }
    let n = -b[0] / stiff;
    r.copy_from_slice(&[n, -mu * n * c[0] / left, -mu * n * c[1] / left]);
}

/// Any other law: Newton's method on the projected form, accepted when it reduces the natural map.
fn general(cone: &Cone, d: &[f64], b: &[f64], r: &mut [f64]) {
    let dim = b.len();
    if let Cone::Friction(_) = cone
        && b[0] >= 0.0
    {
        r.fill(0.0);
        return;
    }
    let mut lin = Linearised::default();
    let mut u = [0.0; MAX_DIM];
    let velocity = |r: &[f64], u: &mut [f64]| {
        for i in 0..dim {
            u[i] = b[i] + (0..dim).map(|j| d[i * dim + j] * r[j]).sum::<f64>();
        }
    };
    let scale = (0..dim).map(|i| d[i * dim + i]).sum::<f64>() / dim as f64;
    if scale <= 0.0 || scale.is_nan() {
        projected_step(cone, d, b, r);
        return;
    }
    let rho = 1.0 / scale;
    velocity(r, &mut u);
    let mut size = lin.update(cone, rho, r, &u[..dim]);
    let (mut matrix, mut step) = ([0.0; MAX_DIM * MAX_DIM], [0.0; MAX_DIM]);
    let mut trial = [0.0; MAX_DIM];
    let floor = f64::EPSILON * rho * b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for _ in 0..STEPS {
        if size <= floor {
            return;
        }
        for i in 0..dim {
            for j in 0..dim {
                let product: f64 = (0..dim).map(|k| lin.b[i * dim + k] * d[k * dim + j]).sum();
                matrix[i * dim + j] = lin.a[i * dim + j] + product;
            }
            step[i] = -lin.f[i];
        }
        let mut accepted = false;
        if solve_small(dim, &mut matrix, &mut step) {
            let mut t = 1.0;
            for _ in 0..HALVINGS {
                for i in 0..dim {
                    trial[i] = r[i] + t * step[i];
                }
                velocity(&trial[..dim], &mut u);
                let new = lin.update(cone, rho, &trial[..dim], &u[..dim]);
                if new < size {
                    accepted = true;
                    r.copy_from_slice(&trial[..dim]);
                    size = new;
                    break;
                }
                t *= 0.5;
            }
        }
        if !accepted {
            // A contraction where Newton's direction is no descent; when even that gains nothing, rounding rules.
            trial[..dim].copy_from_slice(r);
            for _ in 0..PROJECTIONS {
                projected_step(cone, d, b, r);
            }
            velocity(r, &mut u);
            let new = lin.update(cone, rho, r, &u[..dim]);
            if new >= size {
                r.copy_from_slice(&trial[..dim]);
                return;
            }
            size = new;
        }
    }
}

/// r ← P_K(r − ρ (u + shift)), ρ below the inverse of the block's size: always possible, rarely needed.
fn projected_step(cone: &Cone, d: &[f64], b: &[f64], r: &mut [f64]) {
    let dim = b.len();
    let norm = d.iter().map(|x| x * x).sum::<f64>().sqrt();
    let rho = if norm > 0.0 { 1.0 / norm } else { return };
    let mut u = [0.0; MAX_DIM];
    for i in 0..dim {
        u[i] = b[i] + (0..dim).map(|j| d[i * dim + j] * r[j]).sum::<f64>();
    }
    let shift = cone.shift(&u[..dim]);
    u[0] += shift;
    for i in 0..dim {
        r[i] -= rho * u[i];
    }
    cone.project(r);
}
