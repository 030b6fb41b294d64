//! Scaled variables: r̂ = σ r, û = u / (g σ), so that every contact has unit compliance and no unit is left.
//!
//! d_i is the mean diagonal of contact i's force rows (trace(W_ii)/dim), d'_i of its moment rows, |W_ii| for single
//! rows; where it is not positive, the median of the positive ones. g is a power of two, common to all rows, and
//! σ = √(d/g): a change of units by powers of two then changes σ, Ŵ and q̂ by powers of two only, and the solution keeps
//! its bits. Rows may be forces or torques, whose d differ by the square of a length: which is the largest depends on the units, but not
//! whether exponents of two are even steps apart, and g keeps even steps from the first of them.

use super::cone::Cone;
use super::problem::ContactProblem;

/// The factors σ (per row) and g.
#[derive(Debug, Clone, Default)]
pub struct Scaling {
    sigma: Vec<f64>,
    /// 1/(g σ).
    inverse: Vec<f64>,
    common: f64,
    diagonal: Vec<f64>,
    sorted: Vec<f64>,
    has_moments: bool,
    has_gaps: bool,
}

impl Scaling {
    /// Recomputes the factors for a problem, keeping the storage.
    pub fn update(&mut self, problem: &ContactProblem) {
        let n = problem.n_rows();
        self.diagonal.resize(n, 0.0);
        self.sigma.resize(n, 0.0);
        problem.delassus().write_diagonal(&mut self.diagonal);
        let (d, offsets) = (&self.diagonal, problem.offsets());
        let mean = |range: std::ops::Range<usize>| {
            let len = range.len() as f64;
            d[range].iter().sum::<f64>() / len
        };
        (self.has_moments, self.has_gaps) = (false, false);
        for (cone, rows) in problem.cones().iter().zip(offsets.windows(2)) {
            let (start, end) = (rows[0], rows[1]);
            let Cone::Friction(section) = cone else {
                let size = d[start].abs();
                self.has_gaps |= size.is_nan() || size <= 0.0;
                self.sigma[start] = size;
                continue;
            };
            let split = start + 1 + section.n_forces();
            let force = mean(start..split);
            self.has_gaps |= force.is_nan() || force <= 0.0;
            self.sigma[start..split].fill(force);
            if split < end {
                let moment = mean(split..end);
                self.has_moments = true;
                self.has_gaps |= moment.is_nan() || moment <= 0.0;
                self.sigma[split..end].fill(moment);
            }
        }
        if self.has_gaps {
            self.fill_gaps(problem, false);
            if self.has_moments {
                self.fill_gaps(problem, true);
            }
        }
        // The power of two of the largest force compliance, or the one below it.
        let mut forces = offsets.iter().take(problem.n_contacts()).map(|start| self.sigma[*start]);
        let largest = power_of_two(forces.clone().fold(0.0_f64, f64::max));
        let first = power_of_two(forces.find(|d| *d > 0.0).unwrap_or(1.0));
        self.common = if is_even_step(first, largest) { largest } else { 0.5 * largest };
        let (g, inverse_g) = (self.common, 1.0 / self.common);
        self.inverse.clear();
        // Rows of a contact share a root and a quotient.
        let mut last = (f64::NAN, 0.0, 0.0);
        for s in &mut self.sigma {
            if *s != last.0 {
                let root = (*s * inverse_g).sqrt();
                last = (*s, root, 1.0 / (g * root));
            }
            *s = last.1;
            self.inverse.push(last.2);
        }
    }

    /// Replaces compliances that are not positive by the median of the positive ones of the same unit.
    fn fill_gaps(&mut self, problem: &ContactProblem, moments: bool) {
        let range = |i: usize, cone: &Cone| {
            let (start, end) = (problem.offsets()[i], problem.offsets()[i + 1]);
            match cone {
                Cone::Friction(section) if moments => start + 1 + section.n_forces()..end,
                Cone::Friction(section) => start..start + 1 + section.n_forces(),
                _ if moments => end..end,
                _ => start..end,
            }
        };
        self.sorted.clear();
        for (i, cone) in problem.cones().iter().enumerate() {
            if let Some(&d) = self.sigma[range(i, cone)].first()
                && d > 0.0
            {
                self.sorted.push(d);
            }
        }
        self.sorted.sort_unstable_by(f64::total_cmp);
        let m = self.sorted.len();
        let fallback = match m {
            0 => match problem.delassus().largest_entry() {
                largest if largest > 0.0 => largest,
                _ => 1.0,
            },
            _ if m % 2 == 1 => self.sorted[m / 2],
            _ => 0.5 * (self.sorted[m / 2 - 1] + self.sorted[m / 2]),
        };
        for (i, cone) in problem.cones().iter().enumerate() {
            for d in &mut self.sigma[range(i, cone)] {
                if d.is_nan() || *d <= 0.0 {
                    *d = fallback;
                }
            }
        }
    }

    /// σ per row.
    pub fn sigma(&self) -> &[f64] {
        &self.sigma
    }

    /// 1/(g σ) per row: û = u times this.
    pub fn inverse(&self) -> &[f64] {
        &self.inverse
    }

    /// Whether some rows are moments, with a unit of their own.
    pub fn has_moments(&self) -> bool {
        self.has_moments
    }

    /// Whether some compliance was not positive.
    pub fn has_gaps(&self) -> bool {
        self.has_gaps
    }

    /// g.
    pub fn common(&self) -> f64 {
        self.common
    }

    /// The law of contact i in scaled variables.
    pub fn scaled_cone(&self, problem: &ContactProblem, i: usize) -> Cone {
        let cone = &problem.cones()[i];
        let (start, end) = (problem.offsets()[i], problem.offsets()[i + 1]);
        cone.scaled(self.sigma[start], self.sigma[end - 1])
    }

    /// σ of the moment rows over σ of the force rows of contact i.
    pub fn moment_ratio(&self, problem: &ContactProblem, i: usize) -> f64 {
        self.sigma[problem.offsets()[i + 1] - 1] / self.sigma[problem.offsets()[i]]
    }
}

/// Whether two powers of two are a power of four apart.
fn is_even_step(a: f64, b: f64) -> bool {
    (a.to_bits() ^ b.to_bits()) & (1 << 52) == 0
}

/// The power of two below a positive normal number; one for anything else.
fn power_of_two(x: f64) -> f64 {
    let exponent = x.to_bits() & 0x7ff0_0000_0000_0000;
    if x > 0.0 && x.is_normal() { f64::from_bits(exponent) } else { 1.0 }
}
