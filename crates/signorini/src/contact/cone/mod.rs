//! The laws of single contacts and rows.
//!
//! **Problem.** A contact with a normal has r = (r_n, r_t) in a cone K = { r_t ∈ r_n C } over a convex
//! *section* C ∋ 0 of friction forces per unit normal force: an interval, a disc, a polygon, an ellipsoid
//! (paper 002, eq. 8), a polyhedron, or a product of two of them (rolling friction; the mixed surface of paper 002). The law is
//! De Saxcé's: with h the support function of C,
//!
//! ```text
//! v = u + h(−u_t) e_n,      K ∋ r ⊥ v ∈ K*
//! ```
//!
//! which is Signorini's condition together with the maximum dissipation −u_t·r_t = r_n h(−u_t).
//! Rows without a normal are bilateral (u = 0), unilateral (0 ≤ r ⊥ u ≥ 0) or bounded (r ∈ [l, h]).
//!
//! **Method.** A section offers its projection with derivative and its support; everything else follows:
//! P_K(a, b) = (s, P_{sC}(b)) where s ≥ 0 is the root of s − a = h(b − P_{sC}(b)), whose right side falls with s.
//!
//! **Cost.** Constant per contact; only ellipsoids need an iteration, of a convex scalar function to rounding.
//!
//! **Fails when** never, for finite input: every branch is closed form or bracketed.
//!
//! **Checked by** `tests/contact_cone.rs`: variational inequality, idempotence, Moreau, derivatives by differences.

use super::rows::RowShape;

mod ellipsoid;
mod polygon;
mod polyhedron;
mod section;

pub use polygon::Polygon;
pub use polyhedron::{MAX_HALF_SPACES, Polyhedron};
pub use section::{MAX_TANGENT, Section, SectionJacobian};

/// The largest number of rows of one contact.
pub const MAX_DIM: usize = MAX_TANGENT + 1;

/// The law of one contact, or of one row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cone {
    /// u = 0, r free.
    Bilateral,
    /// 0 ≤ r ⊥ u ≥ 0: a frictionless contact, a joint limit, a row of an LCP.
    Unilateral,
    /// r ∈ [lower, upper] and r maximises −u r there: dry friction in a joint, a bounded motor.
    Interval {
        /// Lower bound, possibly −∞.
        lower: f64,
        /// Upper bound, possibly +∞.
        upper: f64,
    },
    /// A contact with a normal row first, and friction forces in r_n times a section.
    Friction(Section),
}

impl Cone {
    /// Planar Coulomb friction |r_t| ≤ μ r_n: two rows.
    pub fn planar(mu: f64) -> Self {
        Cone::Friction(Section::Ball { dim: 1, radius: mu })
    }

    /// Coulomb friction in space, ‖r_t‖ ≤ μ r_n: three rows.
    pub fn circular(mu: f64) -> Self {
        Cone::Friction(Section::Ball { dim: 2, radius: mu })
    }

    /// ‖r_t‖ ≤ μ r_n and ‖m‖ ≤ μ_r r_n, m the two rolling moments: five rows.
    pub fn rolling(mu: f64, mu_r: f64) -> Self {
        Cone::Friction(Section::Balls { dims: [2, 2], radii: [mu, mu_r] })
    }

    /// ‖r_t‖ ≤ μ r_n and |m_n| ≤ μ e_r r_n, m_n the spin moment (the mixed surface of paper 002): four rows.
    pub fn mixed(mu: f64, e_r: f64) -> Self {
        Cone::Friction(Section::Balls { dims: [2, 1], radii: [mu, mu * e_r] })
    }

    /// (r_t/e_t)² + (r_o/e_o)² ≤ μ² r_n²: anisotropic friction, three rows.
    pub fn elliptic(mu: f64, e: [f64; 2]) -> Self {
        Cone::Friction(Section::Ellipsoid { dim: 2, axes: [mu * e[0], mu * e[1], 0.0] })
    }

    /// (r_t/e_t)² + (r_o/e_o)² + (m_n/e_r)² ≤ μ² r_n² (paper 002, eq. 8): four rows.
    pub fn ellipsoidal(mu: f64, e: [f64; 3]) -> Self {
        Cone::Friction(Section::Ellipsoid { dim: 3, axes: e.map(|x| mu * x) })
    }

    /// (r_t/e_t)² + (r_o/e_o)² ≤ μ² r_n² and |m_n| ≤ μ e_r r_n (the mixed surface of paper 002): four rows.
    pub fn cylindrical(mu: f64, e: [f64; 3]) -> Self {
        let [e_t, e_o, e_r] = e;
        if e_t == e_o {
            return Cone::Friction(Section::Balls { dims: [2, 1], radii: [mu * e_t, mu * e_r] });
        }
        Cone::Friction(Section::Cylinder { axes: [mu * e_t, mu * e_o], half: mu * e_r })
    }

    /// (r_t, r_o, m_n) in r_n times a polyhedron: four rows.
    pub fn polyhedral(polyhedron: Polyhedron) -> Self {
        Cone::Friction(Section::Polyhedron(polyhedron))
    }

    /// Friction polygon with the given vertices per unit normal force: three rows.
    pub fn polygonal(polygon: Polygon) -> Self {
        Cone::Friction(Section::Polygon(polygon))
    }

    /// Number of rows.
    pub fn dim(&self) -> usize {
        match self {
            Cone::Friction(section) => 1 + section.dim(),
            _ => 1,
        }
    }

    /// Which rows it has.
    pub fn rows(&self) -> RowShape {
        match self {
            Cone::Friction(section) => section.rows(),
            _ => RowShape::NORMAL,
        }
    }

    /// The largest moment over the largest force that friction can transmit: a length; zero without moments.
    pub fn moment_arm(&self) -> f64 {
        match self {
            Cone::Friction(section) => section.moment_arm(),
            _ => 0.0,
        }
    }

    /// Whether the law has one row and no normal.
    pub fn is_row(&self) -> bool {
        !matches!(self, Cone::Friction(_))
    }

    /// The first parameter outside its range: (value, what is allowed).
    pub(crate) fn find_fault(&self) -> Option<(f64, &'static str)> {
        match self {
            Cone::Bilateral | Cone::Unilateral => None,
            Cone::Interval { lower, upper } => {
                if lower.is_nan() || *lower == f64::INFINITY {
                    Some((*lower, "lower bound finite or −∞"))
                } else if upper.is_nan() || *upper == f64::NEG_INFINITY {
                    Some((*upper, "upper bound finite or +∞"))
                } else if lower > upper {
                    Some((*lower, "lower bound ≤ upper bound"))
                } else {
                    None
                }
            }
            Cone::Friction(section) => section.find_fault(),
        }
    }

    /// The law of the same contact when the variables are scaled: r̂ = f r on the normal and the first tangential
    /// rows, r̂ = g r on moment rows.
    pub fn scaled(&self, force: f64, moment: f64) -> Self {
        match self {
            Cone::Interval { lower, upper } => Cone::Interval { lower: lower * force, upper: upper * force },
            Cone::Friction(section) => Cone::Friction(section.scaled(moment / force)),
            other => other.clone(),
        }
    }

    /// Projection on the set of admissible r, in place.
    pub fn project(&self, r: &mut [f64]) {
        match (self, r) {
            (Cone::Bilateral, _) => {}
            (Cone::Unilateral, [x, ..]) => *x = x.max(0.0),
            (Cone::Interval { lower, upper }, [x, ..]) => *x = x.max(*lower).min(*upper),
            (Cone::Friction(section), [a, b @ ..]) => *a = section.project_cone(*a, b),
            _ => {}
        }
    }

    /// Projection on the polar cone K° = −K*, in place (friction cones and unilateral rows): z − P_K(z), by Moreau.
    pub fn project_polar(&self, z: &mut [f64]) {
        let mut p = [0.0; MAX_DIM];
        let p = &mut p[..z.len()];
        p.copy_from_slice(z);
        self.project(p);
        z.iter_mut().zip(p).for_each(|(z, p)| *z -= *p);
    }

    /// De Saxcé's shift h(−u_t), zero for rows.
    pub fn shift(&self, u: &[f64]) -> f64 {
        match (self, u) {
            (Cone::Friction(section), [_, u_t @ ..]) => {
                let mut minus = [0.0; MAX_TANGENT];
                let minus = &mut minus[..u_t.len()];
                minus.iter_mut().zip(u_t).for_each(|(m, u)| *m = -u);
                section.support(minus)
            }
            _ => 0.0,
        }
    }

    /// The natural map F = r − P_K(r − v) of one contact: zero exactly at a solution.
    ///
    /// For rows: bilateral u, unilateral min(r, u), bounded r − clamp(r − u).
    #[inline(always)]
    pub fn natural_map(&self, r: &[f64], u: &[f64], out: &mut [f64]) {
        match (self, r, u) {
            (Cone::Bilateral, _, [u, ..]) => out[0] = *u,
            (Cone::Unilateral, [r, ..], [u, ..]) => out[0] = r.min(*u),
            (Cone::Interval { lower, upper }, [r, ..], [u, ..]) => out[0] = r - (r - u).max(*lower).min(*upper),
            (Cone::Friction(Section::Ball { radius: mu, .. }), [r_n, r_t], [u_n, u_t]) => {
                let (z_n, z_t) = (r_n - (u_n + mu * u_t.abs()), r_t - u_t);
                let (s, t) = project_disc(*mu, z_n, z_t.abs());
                out[0] = r_n - s;
                out[1] = r_t - t * z_t;
            }
            (Cone::Friction(Section::Ball { radius: mu, .. }), [r_n, r_1, r_2], [u_n, u_1, u_2]) => {
                let z_n = r_n - (u_n + mu * (u_1 * u_1 + u_2 * u_2).sqrt());
                let (z_1, z_2) = (r_1 - u_1, r_2 - u_2);
                let (s, t) = project_disc(*mu, z_n, (z_1 * z_1 + z_2 * z_2).sqrt());
                out[0] = r_n - s;
                out[1] = r_1 - t * z_1;
                out[2] = r_2 - t * z_2;
            }
            (Cone::Friction(section), [r_n, r_t @ ..], [u_n, u_t @ ..]) => {
                let shift = self.shift(u);
                let (out_n, out_t) = match out {
                    [n, t @ ..] => (n, t),
                    [] => return,
                };
                for k in 0..r_t.len() {
                    out_t[k] = r_t[k] - u_t[k];
                }
                let s = section.project_cone(r_n - (u_n + shift), out_t);
                *out_n = r_n - s;
                for k in 0..r_t.len() {
                    out_t[k] = r_t[k] - out_t[k];
                }
            }
            _ => {}
        }
    }
}

/// Projection of (a, y), ‖y‖ = n, on the cone over a disc of radius μ: the normal part, and the factor of y.
fn project_disc(mu: f64, a: f64, n: f64) -> (f64, f64) {
    let t = a + mu * n;
    if n <= mu * a {
        (a, 1.0)
    } else if t <= 0.0 {
        (0.0, 0.0)
    } else {
        let s = t / (1.0 + mu * mu);
        (s, mu * s / n)
    }
}
