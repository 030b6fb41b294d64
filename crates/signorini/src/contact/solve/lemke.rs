//! Lemke's method for linear and mixed linear complementarity problems.
//!
//! **Problem.** u = W r + q; unilateral rows 0 ≤ r ⊥ u ≥ 0, bilateral rows u = 0. W may be anything.
//!
//! **Method.** Complementary pivoting on u = W r + q + d z₀ with the covering vector d = 1 in scaled variables
//! (C. E. Lemke, Manage. Sci. 11, 1965; R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity Problem*,
//! 1992, §4.4), on the condensed tableau. Bilateral rows are first exchanged for free variables with complete
//! pivoting; free variables then never leave the basis. Ties are broken lexicographically (ibid., §4.4.5), with the
//! perturbation attached to the first basis; the condensed tableau holds all that the comparison needs, so the rule
//! costs nothing and no basis can return. The solution is recomputed from the final basis by LU with refinement.
//!
//! **Cost.** n² per pivot; often n to 3n pivots, exponentially many on constructed problems.
//!
//! **Fails when** a ray is met: the method can go no further. With y ≥ 0 (free on bilateral rows), Wᵀy ≤ 0 (= 0 for
//! free r) and qᵀy < 0 found on the ray, the problem has no solution and says so; otherwise the status is stalled.
//!
//! **Checked by** `tests/contact_solvers.rs`, `tests/contact_lcp.rs` (forms of paper 000, cycling examples, rays).

use super::super::error::ContactError;
use super::super::problem::{ContactProblem, Kind};
use super::method::{Framed, Iterate};
use super::outcome::Outcome;
use super::system::System;
use super::tableau::{Core, End};
use super::{GOAL, Work};

/// Options of [`Lemke`].
#[derive(Debug, Clone, PartialEq)]
pub struct LemkeOptions {
    /// Tolerance on `rel`.
    pub tolerance: f64,
    /// Largest number of pivots per row.
    pub max_pivots_per_row: usize,
}

impl Default for LemkeOptions {
    fn default() -> Self {
        Self { tolerance: GOAL, max_pivots_per_row: 100 }
    }
}

/// Lemke's method.
pub type Lemke = Framed<Pivoting>;

/// The method behind [`Lemke`].
#[derive(Debug, Clone, Default)]
pub struct Pivoting {
    options: LemkeOptions,
    core: Core,
}

impl Lemke {
    /// With options.
    pub fn new(options: LemkeOptions) -> Self {
        Self::around(Pivoting { options, ..Pivoting::default() })
    }
}

impl Iterate for Pivoting {
    const NAME: &'static str = "lemke";

    fn tolerance(&self) -> f64 {
        self.options.tolerance
    }

    fn check(&self, problem: &ContactProblem) -> Result<(), ContactError> {
        match problem.kind() {
            Kind::Lcp | Kind::Mlcp => Ok(()),
            _ => Err(ContactError::NotApplicable {
                solver: "lemke",
                reason: "only unilateral and bilateral rows (write polygonal contacts as an LCP first)",
            }),
        }
    }

    fn iterate(&mut self, system: &mut System, r: &mut [f64], work: &mut Work) -> Outcome {
        let limit = self.options.max_pivots_per_row.saturating_mul(system.n()).saturating_add(100);
        r.fill(0.0);
        match self.core.solve(system, limit, self.options.tolerance, r, work) {
            End::Ray if self.core.is_certificate(system) => Outcome::NoSolution,
            End::Limit => Outcome::Better(f64::INFINITY),
            End::Solved => Outcome::Met,
            End::Ray | End::Singular => Outcome::Stalled,
        }
    }
}
