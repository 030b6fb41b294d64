//! Limit surfaces as half-spaces α·c ≤ τ of two forces and the moment about the normal [pang1996].
//!
//! **Problem.** Support and projections of C = { c : α_i·c ≤ 1 } and of the cone { (s, c) : α_i·c ≤ s } over it.
//!
//! **Method.** Supports are largest at vertices, which are found once. The nearest point of a set of half-spaces is found by the dual active
//! set method [goldfarb1983]: the half-space that is violated most becomes active, and those whose multiplier would turn negative are given
//! up on the way. At most as many are active as there are coordinates. The derivative is that of the projection on the active planes.
//!
//! **Cost.** One product per half-space and change of the active set, a handful of them; m⁴/6 once for the vertices of m half-spaces, mostly less.
//!
//! **Fails when** never: [`Polyhedron::find_fault`] refuses what is not bounded.
//!
//! **Checked by** `tests/contact_cone.rs`, `tests/contact_limit_surface.rs`.

use super::section::{MAX_TANGENT, SectionJacobian};
use std::sync::Arc;

/// Most half-spaces of one section: all triples of planes are tried for vertices.
pub const MAX_HALF_SPACES: usize = 256;

/// Coordinates of the largest set that is projected on: the normal force and three of the section.
const DIM: usize = 4;

/// Rounding of a product of a row and a point, in units of their sizes.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Share of a row's square that must lie outside the span of others for it to be independent of them.
const INDEPENDENT: f64 = 1e-14;

/// Violation of a half-space at a point, relative to its sizes, up to which a vertex belongs to it: rounding of a solved 3×3 system.
const ON_VERTEX: f64 = 1e-12;

type Row = [f64; DIM];

/// A bounded polyhedron around the origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Polyhedron {
    planes: Arc<Planes>,
    /// What the third coordinate is multiplied with: the unit of moments.
    ratio: f64,
}

#[derive(Debug, PartialEq)]
struct Planes {
    /// Rows α, in which α·c ≤ 1.
    rows: Vec<[f64; 3]>,
    vertices: Vec<[f64; 3]>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

impl Polyhedron {
    /// Of half-spaces α·c ≤ 1.
    pub fn new(rows: Vec<[f64; 3]>) -> Self {
        let vertices = if find_fault(&rows).is_none() { find_vertices(&rows) } else { Vec::new() };
        Self { planes: Arc::new(Planes { rows, vertices }), ratio: 1.0 }
    }

    /// Rows α of the half-spaces α·c ≤ 1.
    pub fn rows(&self) -> impl Iterator<Item = [f64; 3]> + '_ {
        self.planes.rows.iter().map(|[t, o, r]| [*t, *o, r / self.ratio])
    }

    /// Its vertices.
    pub fn vertices(&self) -> impl Iterator<Item = [f64; 3]> + '_ {
        self.planes.vertices.iter().map(|[t, o, r]| [*t, *o, r * self.ratio])
    }

    /// The same where the third coordinate is `ratio` times as large.
    pub(super) fn scaled(&self, ratio: f64) -> Self {
        Self { planes: Arc::clone(&self.planes), ratio: self.ratio * ratio }
    }

    pub(super) fn find_fault(&self) -> Option<(f64, &'static str)> {
        find_fault(&self.planes.rows)
    }

    pub(super) fn support(&self, y: &[f64]) -> f64 {
        self.vertices().map(|v| dot(&v, y)).fold(0.0, f64::max)
    }

    pub(super) fn support_point(&self, y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let mut best = 0.0;
        for v in self.vertices() {
            let along = dot(&v, y);
            if along > best {
                best = along;
                out.copy_from_slice(&v);
            }
        }
    }

    /// Half the sides of a box within s times the polyhedron, a corner of it in a direction; of one whose sides are the extents where there is none.
    pub(super) fn box_at(&self, s: f64, towards: &[f64], out: &mut [f64]) {
        let mut corner = [0.0; 3];
        let is_zero = towards.iter().all(|t| *t == 0.0);
        for (k, corner) in corner.iter_mut().enumerate() {
            // Extents, so that forces are compared with forces and moments with moments.
            let extent = self.vertices().fold(0.0, |m: f64, v| m.max(v[k].abs()));
            *corner = if is_zero { extent } else { towards[k].abs() };
        }
        let reach = self.rows().map(|a| (0..3).map(|k| a[k].abs() * corner[k]).sum()).fold(0.0, f64::max);
        let share = if reach > 0.0 { s / reach } else { 0.0 };
        out.iter_mut().zip(corner).for_each(|(half, c)| *half = share * c);
    }

    pub(super) fn project(&self, s: f64, y: &mut [f64]) {
        let mut x = [y[0], y[1], y[2], 0.0];
        self.nearest(|a| ([a[0], a[1], a[2], 0.0], s), &mut x);
        y.copy_from_slice(&x[..3]);
    }

    pub(super) fn project_with_jacobian(&self, s: f64, y: &mut [f64], jacobian: &mut SectionJacobian) {
        let mut x = [y[0], y[1], y[2], 0.0];
        let active = self.nearest(|a| ([a[0], a[1], a[2], 0.0], s), &mut x);
        y.copy_from_slice(&x[..3]);
        // With N the active rows: ∂P/∂y = 1 − N⁺N, ∂P/∂s = N⁺ 1.
        jacobian.ds = [0.0; MAX_TANGENT];
        for k in 0..3 {
            let mut unit = [0.0; DIM];
            unit[k] = 1.0;
            let share = active.multipliers(&unit);
            for l in 0..3 {
                let along: f64 = (0..active.n).map(|i| share[i] * active.rows[i][l]).sum();
                jacobian.dy[k][l] = unit[l] - along;
            }
        }
        let share = active.solve([1.0; DIM]);
        for l in 0..3 {
            jacobian.ds[l] = (0..active.n).map(|i| share[i] * active.rows[i][l]).sum();
        }
    }

    /// Projection of (a, b) on { b ∈ a C }: returns the normal part.
    pub(super) fn project_cone(&self, a: f64, b: &mut [f64]) -> f64 {
        let mut x = [b[0], b[1], b[2], a];
        self.nearest(|row| ([row[0], row[1], row[2], -1.0], 0.0), &mut x);
        b.copy_from_slice(&x[..3]);
        x[3].max(0.0)
    }

    /// Moves x to the nearest point with row·x ≤ bound for all rows.
    fn nearest(&self, half_space: impl Fn([f64; 3]) -> (Row, f64), x: &mut Row) -> Active {
        nearest(
            self.planes.rows.len(),
            |i| {
                let [t, o, r] = self.planes.rows[i];
                half_space([t, o, r / self.ratio])
            },
            x,
        )
    }
}

/// Half-spaces on whose planes a point lies, with their multipliers.
#[derive(Default)]
struct Active {
    n: usize,
    at: [usize; DIM],
    rows: [Row; DIM],
    u: [f64; DIM],
}

impl Active {
    fn remove(&mut self, k: usize) {
        for i in k..self.n - 1 {
            (self.at[i], self.rows[i], self.u[i]) = (self.at[i + 1], self.rows[i + 1], self.u[i + 1]);
        }
        self.n -= 1;
    }

    /// (N Nᵀ)⁻¹ of numbers, one per active row: elimination on the Gram matrix.
    fn solve(&self, mut right: [f64; DIM]) -> [f64; DIM] {
        let n = self.n;
        let mut gram = [[0.0; DIM]; DIM];
        for (i, row) in gram.iter_mut().enumerate().take(n) {
            (0..n).for_each(|j| row[j] = dot(&self.rows[i], &self.rows[j]));
        }
        for i in 0..n {
            for j in i + 1..n {
                let f = gram[j][i] / gram[i][i];
                (i..n).for_each(|k| gram[j][k] -= f * gram[i][k]);
                right[j] -= f * right[i];
            }
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|k| gram[i][k] * right[k]).sum();
            right[i] = (right[i] - sum) / gram[i][i];
        }
        right
    }

    /// What of each active row makes up a vector, as far as they can.
    fn multipliers(&self, v: &Row) -> [f64; DIM] {
        let mut right = [0.0; DIM];
        right.iter_mut().zip(&self.rows[..self.n]).for_each(|(right, row)| *right = dot(row, v));
        self.solve(right)
    }
}

/// Moves x to the nearest point with row·x ≤ bound for all rows [goldfarb1983, for the identity].
fn nearest(m: usize, half_space: impl Fn(usize) -> (Row, f64), x: &mut Row) -> Active {
    let mut active = Active::default();
    // Every round makes one half-space active for good or gives one up; sets do not return but for rounding.
    for _ in 0..4 * m + 16 {
        let mut worst = (0.0, usize::MAX);
        for i in (0..m).filter(|i| !active.at[..active.n].contains(i)) {
            let (row, bound) = half_space(i);
            let size = norm(&row);
            let by = dot(&row, x) - bound;
            if by > ROUNDING * (size * norm(x) + bound.abs()) && by > worst.0 * size {
                worst = (by / size, i);
            }
        }
        let new = worst.1;
        if new == usize::MAX {
            break;
        }
        let (row, bound) = half_space(new);
        let mut own = 0.0;
        loop {
            // A step along the part of the new row that lies outside the span of the active ones, until it is met or one of them would pull.
            let share = active.multipliers(&row);
            let mut free = row;
            for (share, other) in share.iter().zip(&active.rows[..active.n]) {
                free.iter_mut().zip(other).for_each(|(f, o)| *f -= share * o);
            }
            let square = dot(&free, &row);
            let is_free = active.n < DIM && square > INDEPENDENT * dot(&row, &row);
            let whole = if is_free { (dot(&row, x) - bound) / square } else { f64::INFINITY };
            let (mut length, mut gives_up) = (whole, None);
            for (k, (share, u)) in share.iter().zip(&active.u[..active.n]).enumerate() {
                if *share > 0.0 && u / share < length {
                    (length, gives_up) = (u / share, Some(k));
                }
            }
            if !length.is_finite() {
                // Nothing meets all of them but for rounding.
                return active;
            }
            if is_free {
                x.iter_mut().zip(free).for_each(|(x, f)| *x -= length * f);
            }
            own += length;
            active.u.iter_mut().zip(share).take(active.n).for_each(|(u, share)| *u -= length * share);
            match gives_up {
                Some(k) => active.remove(k),
                None => break,
            }
        }
        (active.at[active.n], active.rows[active.n], active.u[active.n]) = (new, row, own);
        active.n += 1;
    }
    active
}

/// What is wrong with half-spaces α·c ≤ 1.
fn find_fault(rows: &[[f64; 3]]) -> Option<(f64, &'static str)> {
    if let Some(x) = rows.iter().flatten().find(|x| !x.is_finite()) {
        return Some((*x, "half-spaces with finite numbers"));
    }
    if !(4..=MAX_HALF_SPACES).contains(&rows.len()) {
        return Some((rows.len() as f64, "from 4 to 256 half-spaces"));
    }
    let size: [f64; 3] = std::array::from_fn(|k| rows.iter().fold(0.0, |m: f64, a| m.max(a[k].abs())));
    // A direction in which no half-space ends shows in the projection of the axis that is nearest to it: that is at least 1/√3 long.
    for axis in 0..6 {
        let mut x = [0.0; DIM];
        x[axis / 2] = if axis % 2 == 0 { 1.0 } else { -1.0 };
        let row = |i: usize| {
            let scaled = |k: usize| if size[k] > 0.0 { rows[i][k] / size[k] } else { 0.0 };
            ([scaled(0), scaled(1), scaled(2), 0.0], 0.0)
        };
        nearest(rows.len(), row, &mut x);
        if norm(&x) > 0.5 {
            return Some((rows.len() as f64, "half-spaces that bound the section in every direction"));
        }
    }
    None
}

/// Points where three planes meet and no half-space is left; with coordinates of size one, whatever their units.
fn find_vertices(rows: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let unit: [f64; 3] = std::array::from_fn(|k| {
        let size = rows.iter().fold(0.0, |m: f64, a| m.max(a[k].abs()));
        size.log2().floor().exp2()
    });
    let rows: Vec<[f64; 3]> = rows.iter().map(|a| std::array::from_fn(|k| a[k] / unit[k])).collect();
    let vertices = find_scaled_vertices(&rows);
    vertices.into_iter().map(|v| std::array::from_fn(|k| v[k] / unit[k])).collect()
}

fn find_scaled_vertices(rows: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let cross =
        |a: &[f64; 3], b: &[f64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    for (i, a) in rows.iter().enumerate() {
        for (j, b) in rows.iter().enumerate().skip(i + 1) {
            let ab = cross(a, b);
            for c in &rows[j + 1..] {
                let volume = dot(&ab, c);
                if volume.abs() <= ON_VERTEX * norm(&ab) * norm(c) {
                    continue;
                }
                let (bc, ca) = (cross(b, c), cross(c, a));
                let v: [f64; 3] = std::array::from_fn(|k| (ab[k] + bc[k] + ca[k]) / volume);
                let is_within = |row: &[f64; 3]| dot(row, &v) - 1.0 <= ON_VERTEX * (1.0 + norm(row) * norm(&v));
                let is_new = |w: &[f64; 3]| (0..3).any(|k| (w[k] - v[k]).abs() > ON_VERTEX * norm(&v));
                if rows.iter().all(is_within) && vertices.iter().all(is_new) {
                    vertices.push(v);
                }
            }
        }
    }
    vertices
}
