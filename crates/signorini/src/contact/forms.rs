//! The linear complementarity forms of paper 000: pure, and mixed with velocities kept as unknowns.
//!
//! Per contact with a friction polygon of η vertices d_k (per unit normal force) the unknowns are the normal impulse p_n,
//! η weights p_k ≥ 0 and the sliding speed S (paper 000, eq. 14, with the coefficient in the directions):
//!
//! ```text
//! 0 ≤ p_n ⊥ u_n ≥ 0,    0 ≤ p_k ⊥ d_k·u_t + S ≥ 0,    0 ≤ S ⊥ p_n − Σ p_k ≥ 0,    r_t = Σ p_k d_k
//! ```
//!
//! The mixed forms add V = κ p + κ₀ as bilateral rows (eq. 32: the 12 velocities of the root's two handles; eq. 33: six
//! more for every body in contact) and write u = χ V + c. They have the same solutions as the pure form with
//! W = χ κ, q = χ κ₀ + c.

use super::cone::{Cone, Section};
use super::delassus::BlockMatrix;
use super::error::ContactError;
use super::problem::ContactProblem;

fn polygons(problem: &ContactProblem) -> Result<Vec<&[[f64; 2]]>, ContactError> {
    let vertices = |cone| match cone {
        &Cone::Friction(Section::Polygon(ref polygon)) => Ok(polygon.vertices()),
        _ => Err(ContactError::NotApplicable { solver: "lcp form", reason: "a contact without a friction polygon" }),
    };
    problem.cones().iter().map(vertices).collect()
}

/// How the impulses r (three per contact) follow from the unknowns z of the form: r = B z, with one row of the friction
/// law per contact.
struct Layout {
    /// First unknown of every contact: p_n, p_1 … p_η, S.
    start: Vec<usize>,
    n: usize,
}

fn layout(polygons: &[&[[f64; 2]]], first: usize) -> Layout {
    let mut start = Vec::with_capacity(polygons.len());
    let mut n = first;
    for polygon in polygons {
        start.push(n);
        n += polygon.len() + 2;
    }
    Layout { start, n }
}

/// The pure LCP of a problem whose contacts all have friction polygons: size 2Ξ + Ξη.
pub fn pure_lcp(problem: &ContactProblem) -> Result<ContactProblem, ContactError> {
    let polygons = polygons(problem)?;
    let mut blocks = BlockMatrix::default();
    problem.delassus().write_blocks(problem.offsets(), &mut blocks);
    let mut w = Vec::new();
    blocks.to_dense(&mut w);
    let m = problem.n_rows();
    let layout = layout(&polygons, 0);
    let n = layout.n;
    let mut a = vec![0.0; n * n];
    let mut q = vec![0.0; n];
    // Columns of B and rows of Bᵀ: (unknown, impulse row, factor).
    let mut map = Vec::new();
    for (i, polygon) in polygons.iter().enumerate() {
        let at = layout.start[i];
        map.push((at, 3 * i, 1.0));
        for (k, d) in polygon.iter().enumerate() {
            map.push((at + 1 + k, 3 * i + 1, d[0]));
            map.push((at + 1 + k, 3 * i + 2, d[1]));
        }
    }
    for &(x, i, f) in &map {
        q[x] += f * problem.free_velocity()[i];
        for &(y, j, g) in &map {
            a[x * n + y] += f * w[i * m + j] * g;
        }
    }
    add_friction_law(&polygons, &layout, &mut a);
    let w = super::delassus::DenseDelassus::from_rows(a).ok_or(ContactError::Size {
        what: "LCP matrix",
        found: 0,
        expected: n * n,
    })?;
    Ok(ContactProblem::build(w, q, vec![Cone::Unilateral; n])?.named(problem.name()))
}

fn add_friction_law(polygons: &[&[[f64; 2]]], layout: &Layout, a: &mut [f64]) {
    for (i, polygon) in polygons.iter().enumerate() {
        let (at, last) = (layout.start[i], layout.start[i] + polygon.len() + 1);
        a[last * layout.n + at] += 1.0;
        for k in 1..=polygon.len() {
            a[(at + k) * layout.n + last] += 1.0;
            a[last * layout.n + at + k] -= 1.0;
        }
    }
}

/// Velocities that a mixed form keeps as unknowns: V = κ r + κ₀ and u = χ V + c, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct Velocities {
    /// n_v × m: what the contact impulses do to the velocities.
    pub kappa: Vec<f64>,
    /// n_v: the velocities without contact impulses.
    pub kappa_0: Vec<f64>,
    /// m × n_v: contact velocities from velocities.
    pub chi: Vec<f64>,
    /// m: contact velocities at V = 0 (moving obstacles, gaps).
    pub c: Vec<f64>,
}

/// The mixed LCP of contacts with friction polygons: n_v bilateral rows, then the rows of the pure form.
pub fn mixed_lcp(velocities: &Velocities, cones: &[Cone]) -> Result<ContactProblem, ContactError> {
    let (n_v, m) = (velocities.kappa_0.len(), velocities.c.len());
    for (what, found, expected) in [
        ("rows of the contacts", m, 3 * cones.len()),
        ("numbers of κ", velocities.kappa.len(), n_v * m),
        ("numbers of χ", velocities.chi.len(), n_v * m),
    ] {
        if found != expected {
            return Err(ContactError::Size { what, found, expected });
        }
    }
    let polygon = |cone: &'_ Cone| match cone {
        Cone::Friction(Section::Polygon(polygon)) => Ok(polygon.vertices().to_vec()),
        _ => Err(ContactError::NotApplicable { solver: "lcp form", reason: "a contact without a friction polygon" }),
    };
    let owned: Vec<Vec<[f64; 2]>> = cones.iter().map(polygon).collect::<Result<_, _>>()?;
    let polygons: Vec<&[[f64; 2]]> = owned.iter().map(Vec::as_slice).collect();
    let layout = layout(&polygons, n_v);
    let n = layout.n;
    let mut a = vec![0.0; n * n];
    let mut q = vec![0.0; n];
    // Bilateral rows: −V + κ B z + κ₀ = 0.
    for v in 0..n_v {
        a[v * n + v] = -1.0;
        q[v] = velocities.kappa_0[v];
    }
    for (i, polygon) in polygons.iter().enumerate() {
        let at = layout.start[i];
        let mut entry = |unknown: usize, row: usize, f: f64| {
            q[unknown] += f * velocities.c[row];
            for v in 0..n_v {
                a[unknown * n + v] += f * velocities.chi[row * n_v + v];
                a[v * n + unknown] += velocities.kappa[v * m + row] * f;
            }
        };
        entry(at, 3 * i, 1.0);
        for (k, d) in polygon.iter().enumerate() {
            entry(at + 1 + k, 3 * i + 1, d[0]);
            entry(at + 1 + k, 3 * i + 2, d[1]);
        }
    }
    add_friction_law(&polygons, &layout, &mut a);
    let mut laws = vec![Cone::Bilateral; n_v];
    laws.resize(n, Cone::Unilateral);
    let w = super::delassus::DenseDelassus::from_rows(a).ok_or(ContactError::Size {
        what: "mixed LCP matrix",
        found: 0,
        expected: n * n,
    })?;
    ContactProblem::build(w, q, laws)
}

/// The contact impulses r of a solution z of a form with n_v velocities in front (0 for the pure LCP).
pub fn impulses(cones: &[Cone], n_v: usize, z: &[f64]) -> Vec<f64> {
    let mut r = Vec::with_capacity(3 * cones.len());
    let mut at = n_v;
    for cone in cones {
        let Cone::Friction(Section::Polygon(polygon)) = cone else {
            continue;
        };
        let mut contact = [z.get(at).copied().unwrap_or(0.0), 0.0, 0.0];
        for (k, d) in polygon.vertices().iter().enumerate() {
            let p = z.get(at + 1 + k).copied().unwrap_or(0.0);
            contact[1] += p * d[0];
            contact[2] += p * d[1];
        }
        r.extend(contact);
        at += polygon.vertices().len() + 2;
    }
    r
}
