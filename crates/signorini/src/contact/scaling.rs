//! Scaled variables: r̂ = σ r, û = u / (g σ), so that every contact has unit compliance and no unit is left.
//!
//! d_i is the mean diagonal of contact i's force rows (trace(W_ii)/dim), d'_i of its moment rows, |W_ii| for single
//! rows; where it is not positive, the median of the positive ones. g is a power of two, common to all rows, and
//! σ = √(d/g): a change of units by powers of two then changes σ, Ŵ and q̂ by powers of two only, and the solution keeps
//! its bits.

use super::cone::Cone;
use super::problem::ContactProblem;

/// The factors σ (per row) and g.
#[derive(Debug, Clone, Default)]
pub struct Scaling {
    sigma: Vec<f64>,
    common: f64,
    diagonal: Vec<f64>,
    sorted: Vec<f64>,
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
        let mut has_moments = false;
        for (i, cone) in problem.cones().iter().enumerate() {
            let (start, end) = (offsets[i], offsets[i + 1]);
            match cone {
                Cone::Friction(section) => {
                    let split = start + 1 + section.n_forces();
                    let force = mean(start..split);
                    self.sigma[start..split].fill(force);
                    if split < end {
                        has_moments = true;
                        let moment = mean(split..end);
                        self.sigma[split..end].fill(moment);
                    }
                }
                _ => self.sigma[start] = d[start].abs(),
            }
        }
        self.fill_gaps(problem, false);
        if has_moments {
            self.fill_gaps(problem, true);
        }
        // The power of two of the largest force compliance.
        let mut largest = 0.0_f64;
        for (i, _) in problem.cones().iter().enumerate() {
            largest = largest.max(self.sigma[offsets[i]]);
        }
        self.common = power_of_two(largest);
        let g = self.common;
        self.sigma.iter_mut().for_each(|s| *s = (*s / g).sqrt());
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
        let mut gaps = false;
        for (i, cone) in problem.cones().iter().enumerate() {
            let rows = range(i, cone);
            gaps |= !rows.is_empty() && !self.sigma[rows].iter().all(|d| *d > 0.0);
        }
        if !gaps {
            return;
        }
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
            0 => largest_entry(problem),
            _ if m % 2 == 1 => self.sorted[m / 2],
            _ => 0.5 * (self.sorted[m / 2 - 1] + self.sorted[m / 2]),
        };
        for (i, cone) in problem.cones().iter().enumerate() {
            for d in &mut self.sigma[range(i, cone)] {
                if *d <= 0.0 {
                    *d = fallback;
                }
            }
        }
    }

    /// σ per row.
    pub fn sigma(&self) -> &[f64] {
        &self.sigma
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

/// max |W|, one for a zero matrix. Only for problems without any positive diagonal entry.
fn largest_entry(problem: &ContactProblem) -> f64 {
    let n = problem.n_rows();
    let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
    let mut largest = 0.0_f64;
    for j in 0..n {
        unit[j] = 1.0;
        problem.delassus().apply(&unit, &mut column);
        unit[j] = 0.0;
        largest = column.iter().fold(largest, |m, x| m.max(x.abs()));
    }
    if largest > 0.0 { largest } else { 1.0 }
}

/// The power of two below a positive normal number; one for anything else.
fn power_of_two(x: f64) -> f64 {
    let exponent = x.to_bits() & 0x7ff0_0000_0000_0000;
    if x > 0.0 && x.is_normal() { f64::from_bits(exponent) } else { 1.0 }
}
