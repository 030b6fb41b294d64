//! An interior-point method for contacts with friction.
//!
//! **Problem.** Many contacts at once, with a rank-deficient W and bodies on the verge of sliding: Newton's method on the projected laws goes
//! from one set of sticking, sliding and open contacts to the next and may need hundreds of them.
//!
//! **Method.** With x = (μ r_n, r_t) and y = (u_n/μ + ‖u_t‖, u_t) Coulomb's law is x ∈ L, y ∈ L, x ∘ y = 0, L the second-order cone, ∘ its Jordan product.
//! The iterates stay inside L and follow x ∘ y = τ e to τ → 0, by a predictor and a corrector (S. Mehrotra,
//! SIAM J. Optim. 2, 1992) in the scaling of Y. E. Nesterov and M. J. Todd (SIAM J. Optim. 8, 1998). De Saxcé's term ‖u_t‖ is differentiated
//! with the rest, so that one path leads to the solution instead of one per value of that term. All contacts move at once: some fifteen steps lead
//! from anywhere to 1e-6, from where Newton's method ends.
//!
//! **Cost.** One factorisation over all contacts and two solves per step.
//!
//! **Fails when** the path turns back before τ = 0, which it can since the problem is not monotone: steps then become short, and the best r so far is
//! returned.
//!
//! **Checked by** the test below, and `tests/contact_files.rs` through `auto`.

use std::ops::Range;

use super::super::cone::{Cone, Section};
use super::Work;
use super::active::Linearised;
use super::constants::interior::{CENTRING_POWER, MOST_SHORT, SHORT, TO_BOUNDARY};
use super::newton_matrix::NewtonMatrix;
use super::system::System;

/// Options of [`Interior`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InteriorOptions {
    /// Residual to reach.
    pub goal: f64,
    /// Largest number of steps.
    pub max_steps: usize,
    /// How far from the cones' boundary to start, in units of ‖q‖/√n.
    pub inset: f64,
    /// Whether De Saxcé's term is left out: the associated problem, min ½ rᵀW r + qᵀr over the cones, which is convex.
    pub is_associated: bool,
}

/// One contact's x or y; of rows that it has not, zero.
type Point = [f64; 3];

/// What is known of one contact's law.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Law {
    Bilateral,
    Unilateral,
    /// With μ.
    Coulomb(f64),
}

/// The method and what it works on.
#[derive(Debug, Clone, Default)]
pub struct Interior {
    laws: Vec<Law>,
    x: Vec<Point>,
    y: Vec<Point>,
    dx: Vec<Point>,
    dy: Vec<Point>,
    /// λ = F y = F⁻¹ x.
    lambda: Vec<Point>,
    scaling: Vec<Scaling>,
    /// W x + q − (y − e ‖y_t‖).
    rho: Vec<Point>,
    /// Factor of De Saxcé's term: one, or zero for the associated problem.
    shift: f64,
    u: Vec<f64>,
    r: Vec<f64>,
    rhs: Vec<f64>,
    step: Vec<f64>,
    best: Vec<f64>,
}

/// Nesterov and Todd's scaling F = η (…) of one contact, w₀² − ‖w_t‖² = 1.
#[derive(Debug, Clone, Copy, Default)]
struct Scaling {
    w: Point,
    eta: f64,
}

impl Interior {
    /// Takes r, scaled, towards a solution; returns the residual of what it leaves there, or nothing where a law is none of those it knows.
    pub fn solve(
        &mut self,
        system: &mut System,
        (matrix, linear): (&mut NewtonMatrix, &mut [Linearised]),
        options: &InteriorOptions,
        r: &mut [f64],
        work: &mut Work,
    ) -> Option<f64> {
        self.shift = if options.is_associated { 0.0 } else { 1.0 };
        if !self.start(system, matrix, options.inset, r) {
            return None;
        }
        let mut least = f64::INFINITY;
        let mut n_short = 0;
        for _ in 0..options.max_steps {
            self.write_r(system);
            matrix.velocity(system, &self.r, &mut self.u);
            let rel = if options.is_associated { self.gap(system) } else { system.rel_with(&self.r, &self.u) };
            if rel < least {
                least = rel;
                self.best.copy_from_slice(&self.r);
            }
            if rel <= options.goal || n_short == MOST_SHORT {
                break;
            }
            work.newton_steps += 1;
            work.factorisations += 1;
            let Some(length) = self.advance(system, matrix, linear) else { break };
            n_short = if length < SHORT { n_short + 1 } else { 0 };
        }
        r.copy_from_slice(&self.best);
        Some(least)
    }

    /// Points inside the cones near r and its velocities.
    fn start(&mut self, system: &System, matrix: &mut NewtonMatrix, inset: f64, r: &[f64]) -> bool {
        let n = system.n_contacts();
        self.laws.clear();
        for cone in &system.cones {
            self.laws.push(match cone {
                Cone::Bilateral => Law::Bilateral,
                Cone::Unilateral => Law::Unilateral,
                Cone::Friction(Section::Ball { radius, .. }) if *radius > 0.0 => Law::Coulomb(*radius),
                _ => return false,
            });
        }
        self.u.resize(system.n(), 0.0);
        self.r.resize(system.n(), 0.0);
        self.step.resize(system.n(), 0.0);
        self.rhs.resize(system.n(), 0.0);
        self.best.resize(system.n(), 0.0);
        self.best.copy_from_slice(r);
        self.scaling.resize(n, Scaling::default());
        let own = [&mut self.x, &mut self.y, &mut self.dx, &mut self.dy, &mut self.lambda, &mut self.rho];
        own.into_iter().for_each(|v| v.resize(n, [0.0; 3]));
        matrix.velocity(system, r, &mut self.u);
        let inset = inset * system.q_norm / (n as f64).sqrt();
        for (i, law) in self.laws.iter().enumerate() {
            let rows = system.rows(i);
            let (mut x, mut y) = (read(r, &rows), read(&self.u, &rows));
            let mu = if let Law::Coulomb(mu) = law { *mu } else { 1.0 };
            x[0] *= mu;
            y[0] = y[0] / mu + self.shift * tangential(&y);
            if *law != Law::Bilateral {
                x[0] = x[0].max(tangential(&x)) + inset;
                y[0] = y[0].max(tangential(&y)) + inset;
            }
            (self.x[i], self.y[i]) = (x, y);
        }
        true
    }

    /// What is left of the associated problem's equations and of its duality gap, in units of ‖q‖.
    fn gap(&self, system: &System) -> f64 {
        let (mut square, mut gap) = (0.0, 0.0);
        for (i, law) in self.laws.iter().enumerate() {
            let rows = system.rows(i);
            let (mut u, y) = (read(&self.u, &rows), self.y[i]);
            if let Law::Coulomb(mu) = law {
                u[0] /= mu;
            }
            if *law == Law::Bilateral {
                square += u[0] * u[0];
                continue;
            }
            let off = [u[0] - y[0], u[1] - y[1], u[2] - y[2]];
            square += dot(&off, &off);
            gap += dot(&self.x[i], &y);
        }
        square.sqrt() / system.q_norm + gap / (system.q_norm * system.q_norm)
    }

    fn write_r(&mut self, system: &System) {
        for (i, law) in self.laws.iter().enumerate() {
            let rows = system.rows(i);
            write(&mut self.r, &rows, &self.x[i]);
            if let Law::Coulomb(mu) = law {
                self.r[rows.start] /= mu;
            }
        }
    }

    /// One step from where `u` belongs to `r`; its length, or nothing where the equations are singular.
    fn advance(&mut self, system: &System, matrix: &mut NewtonMatrix, linear: &mut [Linearised]) -> Option<f64> {
        let n = self.laws.len();
        let (mut tau, mut count) = (0.0, 0.0);
        for i in 0..n {
            let rows = system.rows(i);
            let dim = rows.len();
            let (x, y) = (self.x[i], self.y[i]);
            let mut z = read(&self.u, &rows);
            let law = &mut linear[i];
            law.set_unit(dim);
            match self.laws[i] {
                Law::Bilateral => {
                    self.rho[i] = z;
                    law.a[0] = 0.0;
                }
                Law::Unilateral => {
                    self.rho[i] = [z[0] - y[0], 0.0, 0.0];
                    law.a[0] = y[0] / x[0];
                    self.lambda[i] = [(x[0] * y[0]).sqrt(), 0.0, 0.0];
                    tau += x[0] * y[0];
                    count += 1.0;
                }
                Law::Coulomb(mu) => {
                    z[0] /= mu;
                    let slip = self.shift * tangential(&y);
                    self.rho[i] = [z[0] - y[0] + slip, z[1] - y[1], z[2] - y[2]];
                    let f = Scaling::find(&x, &y)?;
                    self.scaling[i] = f;
                    self.lambda[i] = f.times(&y);
                    let mut e = f.inverse_square();
                    // P⁻¹ = 1 − e₀ (0, y_t/‖y_t‖), times F⁻²; back from x to r.
                    let direction = direction(&y, self.shift);
                    for column in 0..3 {
                        e[0][column] -= direction[1] * e[1][column] + direction[2] * e[2][column];
                    }
                    let unit = [mu, 1.0, 1.0];
                    for a in 0..dim {
                        for b in 0..dim {
                            law.a[a * dim + b] = unit[a] * e[a][b] * unit[b];
                        }
                    }
                    tau += dot(&x, &y);
                    count += 1.0;
                }
            }
        }
        if !matrix.factor(system, linear, 0.0) {
            return None;
        }
        tau /= f64::max(count, 1.0);
        self.find_direction(system, matrix, linear, None);
        let length = self.longest_step();
        let (x, y) = (self.x.iter().zip(&self.dx), self.y.iter().zip(&self.dy));
        let after: f64 = (x.zip(y).zip(&self.laws))
            .filter(|(_, law)| **law != Law::Bilateral)
            .map(|(((x, dx), (y, dy)), _)| dot(&moved(x, dx, length), &moved(y, dy, length)))
            .sum();
        let gain = (after / (count.max(1.0) * tau)).clamp(0.0, 1.0);
        self.find_direction(system, matrix, linear, Some(gain.powi(CENTRING_POWER) * tau));
        let length = (TO_BOUNDARY * self.longest_step()).min(1.0);
        for i in 0..n {
            self.x[i] = moved(&self.x[i], &self.dx[i], length);
            self.y[i] = moved(&self.y[i], &self.dy[i], length);
        }
        length.is_finite().then_some(length)
    }

    /// The predictor, to τ = 0, or from it the corrector to another τ.
    fn find_direction(
        &mut self,
        system: &System,
        matrix: &mut NewtonMatrix,
        linear: &[Linearised],
        target: Option<f64>,
    ) {
        for (i, law) in self.laws.iter().enumerate() {
            let rows = system.rows(i);
            let rho = self.rho[i];
            let b = match law {
                Law::Bilateral => [-rho[0], 0.0, 0.0],
                Law::Unilateral => {
                    let (x, y) = (self.x[i][0], self.y[i][0]);
                    let aim = target.map_or(0.0, |t| t - self.dx[i][0] * self.dy[i][0]);
                    [(aim - x * y) / x - rho[0], 0.0, 0.0]
                }
                Law::Coulomb(mu) => {
                    let (f, lambda) = (self.scaling[i], self.lambda[i]);
                    let square = jordan(&lambda, &lambda);
                    let aim = match target {
                        None => square.map(|s| -s),
                        Some(t) => {
                            let second = jordan(&f.divide(&self.dx[i]), &f.times(&self.dy[i]));
                            [t - square[0] - second[0], -square[1] - second[1], -square[2] - second[2]]
                        }
                    };
                    // P⁻¹ F⁻¹ (λ⁻¹ ∘ aim) − ρ, for r instead of x.
                    let c = f.divide(&jordan_divide(&lambda, &aim));
                    let direction = direction(&self.y[i], self.shift);
                    let first = c[0] - direction[1] * c[1] - direction[2] * c[2];
                    [mu * (first - rho[0]), c[1] - rho[1], c[2] - rho[2]]
                }
            };
            write(&mut self.step, &rows, &b);
            write(&mut self.rhs, &rows, &b);
        }
        matrix.solve_factored(system, linear, &mut self.step);
        for (i, law) in self.laws.iter().enumerate() {
            let rows = system.rows(i);
            let dim = rows.len();
            let mut dx = read(&self.step, &rows);
            // W δr by the equations that have just been solved.
            let mut du = read(&self.rhs, &rows);
            for (k, row) in linear[i].a[..dim * dim].chunks_exact(dim).enumerate() {
                du[k] -= row.iter().zip(&dx).map(|(a, x)| a * x).sum::<f64>();
            }
            if let Law::Coulomb(mu) = law {
                dx[0] *= mu;
                du[0] /= mu;
            }
            let rho = self.rho[i];
            let mut dy = [du[0] + rho[0], du[1] + rho[1], du[2] + rho[2]];
            let direction = direction(&self.y[i], self.shift);
            dy[0] += direction[1] * dy[1] + direction[2] * dy[2];
            (self.dx[i], self.dy[i]) = (dx, dy);
        }
    }

    /// How far both x and y may go, at most to 1.
    fn longest_step(&self) -> f64 {
        let mut length: f64 = 1.0;
        for (i, law) in self.laws.iter().enumerate().filter(|(_, law)| **law != Law::Bilateral) {
            for (p, d) in [(&self.x[i], &self.dx[i]), (&self.y[i], &self.dy[i])] {
                // Cones are convex: what ends inside has not left.
                let end = moved(p, d, length);
                let is_inside =
                    end[0] > 0.0 && (*law == Law::Unilateral || end[0] * end[0] > end[1] * end[1] + end[2] * end[2]);
                if is_inside {
                    continue;
                }
                if d[0] < 0.0 {
                    length = length.min(-p[0] / d[0]);
                }
                if *law != Law::Unilateral {
                    length = length.min(distance(p, d));
                }
            }
        }
        length
    }
}

impl Scaling {
    fn find(x: &Point, y: &Point) -> Option<Self> {
        let (dx, dy) = (determinant(x).sqrt(), determinant(y).sqrt());
        if !(dx > 0.0 && dy > 0.0) {
            return None;
        }
        let (a, b) = (x.map(|v| v / dx), y.map(|v| v / dy));
        let half = 0.5 / (0.5 * (1.0 + dot(&a, &b))).sqrt();
        let w = [(a[0] + b[0]) * half, (a[1] - b[1]) * half, (a[2] - b[2]) * half];
        Some(Self { w, eta: (dx / dy).sqrt() })
    }

    /// F p.
    fn times(&self, p: &Point) -> Point {
        boost(&self.w, p).map(|v| v * self.eta)
    }

    /// F⁻¹ p.
    fn divide(&self, p: &Point) -> Point {
        boost(&[self.w[0], -self.w[1], -self.w[2]], p).map(|v| v / self.eta)
    }

    /// F⁻² = (2 v vᵀ − J)/η², v = J w.
    fn inverse_square(&self) -> [Point; 3] {
        let v = [self.w[0], -self.w[1], -self.w[2]];
        let sign = [1.0, -1.0, -1.0];
        let scale = 1.0 / (self.eta * self.eta);
        std::array::from_fn(|i| {
            std::array::from_fn(|j| (2.0 * v[i] * v[j] - if i == j { sign[i] } else { 0.0 }) * scale)
        })
    }
}

/// The hyperbolic rotation that takes e to w.
fn boost(w: &Point, p: &Point) -> Point {
    let along = w[1] * p[1] + w[2] * p[2];
    let factor = p[0] + along / (1.0 + w[0]);
    [w[0] * p[0] + along, p[1] + factor * w[1], p[2] + factor * w[2]]
}

/// Rows of one contact.
#[inline(always)]
fn read(from: &[f64], rows: &Range<usize>) -> Point {
    match from[rows.clone()] {
        [a, b, c] => [a, b, c],
        [a, b] => [a, b, 0.0],
        [a] => [a, 0.0, 0.0],
        _ => [0.0; 3],
    }
}

#[inline(always)]
fn write(to: &mut [f64], rows: &Range<usize>, p: &Point) {
    to[rows.clone()].iter_mut().zip(p).for_each(|(to, p)| *to = *p);
}

fn dot(a: &Point, b: &Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn moved(p: &Point, d: &Point, t: f64) -> Point {
    [p[0] + t * d[0], p[1] + t * d[1], p[2] + t * d[2]]
}

fn tangential(p: &Point) -> f64 {
    (p[1] * p[1] + p[2] * p[2]).sqrt()
}

/// The derivative of De Saxcé's term: (0, y_t/‖y_t‖) times its factor, zero where nothing slides.
fn direction(y: &Point, shift: f64) -> Point {
    let slip = tangential(y);
    if slip > 0.0 { [0.0, shift * y[1] / slip, shift * y[2] / slip] } else { [0.0; 3] }
}

fn determinant(p: &Point) -> f64 {
    let t = tangential(p);
    (p[0] - t) * (p[0] + t)
}

fn jordan(a: &Point, b: &Point) -> Point {
    [dot(a, b), a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]]
}

/// The p with l ∘ p = b.
fn jordan_divide(l: &Point, b: &Point) -> Point {
    let p = (l[0] * b[0] - l[1] * b[1] - l[2] * b[2]) / determinant(l);
    [p, (b[1] - l[1] * p) / l[0], (b[2] - l[2] * p) / l[0]]
}

/// The least t > 0 at which p + t d is on the boundary of the cone or its negative.
fn distance(p: &Point, d: &Point) -> f64 {
    let a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
    let b = p[0] * d[0] - p[1] * d[1] - p[2] * d[2];
    let c = determinant(p);
    let root = b * b - a * c;
    if root < 0.0 {
        return f64::INFINITY;
    }
    let w = -(b + root.sqrt().copysign(b));
    [w / a, c / w].into_iter().filter(|t| *t > 0.0).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Point = [2.0, 0.7, -1.1];
    const Y: Point = [0.6, -0.3, 0.2];

    fn is_near(a: &Point, b: &Point) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-14 * b.abs().max(1.0))
    }

    #[test]
    fn scaling_meets_both_points_halfway() {
        let f = Scaling::find(&X, &Y).unwrap_or_default();
        assert!(is_near(&f.times(&Y), &f.divide(&X)));
        assert!(is_near(&f.times(&f.divide(&X)), &X));
        let twice = f.divide(&f.divide(&X));
        let rows = f.inverse_square();
        assert!(is_near(&std::array::from_fn(|i| dot(&rows[i], &X)), &twice));
        assert!(Scaling::find(&[1.0, 1.0, 0.0], &Y).is_none());
    }

    #[test]
    fn division_undoes_multiplication() {
        assert!(is_near(&jordan_divide(&X, &jordan(&X, &Y)), &Y));
    }

    #[test]
    fn the_boundary_is_where_the_determinant_vanishes() {
        for d in [[-1.0, 0.3, 0.2], [0.1, 2.0, -1.0], [-2.0, -0.7, 1.1]] {
            let t = distance(&X, &d);
            assert!(determinant(&moved(&X, &d, t)).abs() < 1e-13);
        }
        assert_eq!(distance(&X, &[1.0, 0.1, 0.0]), f64::INFINITY);
    }
}
