//! The law of one contact as an equation, with its generalised derivative: what Newton's method linearises.
//!
//! The form is Alart and Curnier's: with z_n = r_n − ρ u_n and s = max(z_n, 0),
//!
//! ```text
//! f_n = r_n − s,      f_t = r_t − P_{sC}(r_t − ρ u_t),      δf = A δr + B δu
//! ```
//!
//! zero exactly at the solutions, for any ρ > 0 (P. Alart, A. Curnier, Comput. Methods Appl. Mech. Eng. 92, 1991).

use super::super::cone::{Cone, MAX_DIM, Section, SectionJacobian};

/// f, A and B of one contact; A and B row-major with the contact's own dimension as stride.
#[derive(Debug, Clone)]
pub struct Linearised {
    pub f: [f64; MAX_DIM],
    pub a: [f64; MAX_DIM * MAX_DIM],
    pub b: [f64; MAX_DIM * MAX_DIM],
    /// Whether B = 0 and A = 1: an open contact, a row at its bound.
    pub is_open: bool,
    /// Whether B = 1.
    pub is_unit: bool,
    section: SectionJacobian,
}

impl Default for Linearised {
    fn default() -> Self {
        Self {
            f: [0.0; MAX_DIM],
            a: [0.0; MAX_DIM * MAX_DIM],
            b: [0.0; MAX_DIM * MAX_DIM],
            is_open: false,
            is_unit: false,
            section: SectionJacobian::default(),
        }
    }
}

impl Linearised {
    /// A = 0, B = 1: the contact as if it were a bilateral one, so that the Newton matrix is W + α.
    pub fn set_bilateral(&mut self, dim: usize) {
        self.set_unit(dim);
        self.a[..dim * dim].fill(0.0);
    }

    /// B = 1: a Newton matrix A + W + α.
    pub fn set_unit(&mut self, dim: usize) {
        self.is_open = false;
        self.is_unit = true;
        self.b[..dim * dim].fill(0.0);
        for k in 0..dim {
            self.b[k * dim + k] = 1.0;
        }
    }

    /// Evaluates the law; returns ‖f‖.
    pub fn update(&mut self, cone: &Cone, rho: f64, r: &[f64], u: &[f64]) -> f64 {
        let dim = r.len();
        self.is_unit = false;
        match cone {
            Cone::Friction(Section::Ball { dim: 2, radius }) => {
                if let ([rn, r1, r2], [un, u1, u2]) = (r, u) {
                    return self.update_disc(*radius, rho, &[*rn, *r1, *r2], &[*un, *u1, *u2]);
                }
            }
            Cone::Friction(section) => {
                let z = r[0] - rho * u[0];
                self.is_open = z <= 0.0;
                self.a[..dim * dim].fill(0.0);
                self.b[..dim * dim].fill(0.0);
                if self.is_open {
                    for k in 0..dim {
                        self.f[k] = r[k];
                        self.a[k * dim + k] = 1.0;
                    }
                } else {
                    self.f[0] = rho * u[0];
                    self.b[0] = rho;
                    let mut y = [0.0; MAX_DIM];
                    let y = &mut y[..dim - 1];
                    for k in 1..dim {
                        y[k - 1] = r[k] - rho * u[k];
                    }
                    section.project_with_jacobian(z, y, &mut self.section);
                    for k in 1..dim {
                        self.f[k] = r[k] - y[k - 1];
                        let ds = self.section.ds[k - 1];
                        self.a[k * dim] = -ds;
                        self.b[k * dim] = rho * ds;
                        for l in 1..dim {
                            let dy = self.section.dy[k - 1][l - 1];
                            self.a[k * dim + l] = if k == l { 1.0 - dy } else { -dy };
                            self.b[k * dim + l] = rho * dy;
                        }
                    }
                }
            }
            _ => {
                let z = r[0] - rho * u[0];
                let bound = match cone {
                    Cone::Unilateral if z <= 0.0 => Some(0.0),
                    Cone::Interval { lower, .. } if z <= *lower => Some(*lower),
                    Cone::Interval { upper, .. } if z >= *upper => Some(*upper),
                    _ => None,
                };
                self.is_open = bound.is_some();
                match bound {
                    Some(bound) => {
                        self.f[0] = r[0] - bound;
                        self.a[0] = 1.0;
                        self.b[0] = 0.0;
                    }
                    None => {
                        self.f[0] = rho * u[0];
                        self.a[0] = 0.0;
                        self.b[0] = rho;
                    }
                }
            }
        }
        self.f[..dim].iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// The same for Coulomb's disc, by far the most frequent, without detours.
    fn update_disc(&mut self, mu: f64, rho: f64, r: &[f64; 3], u: &[f64; 3]) -> f64 {
        let z = r[0] - rho * u[0];
        self.is_open = z <= 0.0;
        if self.is_open {
            self.set_rows(*r, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [0.0; 9]);
        } else {
            let y = [r[1] - rho * u[1], r[2] - rho * u[2]];
            let (norm, limit) = ((y[0] * y[0] + y[1] * y[1]).sqrt(), mu * z);
            if norm <= limit {
                let f = [rho * u[0], r[1] - y[0], r[2] - y[1]];
                self.set_rows(f, [0.0; 9], [rho, 0.0, 0.0, 0.0, rho, 0.0, 0.0, 0.0, rho]);
            } else {
                let (share, [a, b]) = (limit / norm, y.map(|y| y / norm));
                let (p, q, s) = (share * (1.0 - a * a), share * (-a * b), share * (1.0 - b * b));
                let (da, db) = (mu * a, mu * b);
                let f = [rho * u[0], r[1] - y[0] * share, r[2] - y[1] * share];
                let of_r = [0.0, 0.0, 0.0, -da, 1.0 - p, -q, -db, -q, 1.0 - s];
                let of_u = [rho, 0.0, 0.0, rho * da, rho * p, rho * q, rho * db, rho * q, rho * s];
                self.set_rows(f, of_r, of_u);
            }
        }
        let [a, b, c] = [self.f[0], self.f[1], self.f[2]];
        (a * a + b * b + c * c).sqrt()
    }

    fn set_rows(&mut self, f: [f64; 3], a: [f64; 9], b: [f64; 9]) {
        self.f[..3].copy_from_slice(&f);
        self.a[..9].copy_from_slice(&a);
        self.b[..9].copy_from_slice(&b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a disc that is an ellipse with equal axes: open, stuck, sliding.
    #[test]
    fn the_disc_is_a_round_ellipse() {
        let mu = 0.7;
        let round = Cone::Friction(Section::Ellipsoid { dim: 2, axes: [mu, mu, 0.0] });
        for (r, u) in [
            ([0.3, 0.1, -0.2], [1.0, 0.2, 0.1]),
            ([1.0, 0.1, 0.2], [-0.2, 0.1, 0.3]),
            ([1.0, 0.5, 0.4], [0.2, -0.3, 0.5]),
            ([0.1, 0.0, 0.0], [0.05, -2.0, 1.0]),
        ] {
            let (mut disc, mut other) = (Linearised::default(), Linearised::default());
            let rho = 0.8;
            let sizes = [disc.update(&Cone::circular(mu), rho, &r, &u), other.update(&round, rho, &r, &u)];
            let off = |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs()));
            assert!((sizes[0] - sizes[1]).abs() < 1e-14 && disc.is_open == other.is_open);
            assert!(off(&disc.f[..3], &other.f[..3]) < 1e-14);
            assert!(off(&disc.a[..9], &other.a[..9]) < 1e-13);
            assert!(off(&disc.b[..9], &other.b[..9]) < 1e-13);
        }
    }
}
