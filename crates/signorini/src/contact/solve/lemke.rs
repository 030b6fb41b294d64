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
use super::frame::Frame;
use super::tableau::{Core, End};
use super::{ContactSolver, DEFAULT_TOLERANCE, Solution, Start, Status};

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
        Self { tolerance: DEFAULT_TOLERANCE, max_pivots_per_row: 100 }
    }
}

/// Lemke's method.
#[derive(Debug, Clone, Default)]
pub struct Lemke {
    options: LemkeOptions,
    frame: Frame,
    core: Core,
}

impl Lemke {
    /// With options.
    pub fn new(options: LemkeOptions) -> Self {
        Self { options, ..Self::default() }
    }
}

impl ContactSolver for Lemke {
    fn name(&self) -> &'static str {
        "lemke"
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

    fn solve_into(
        &mut self,
        problem: &ContactProblem,
        start: Start,
        solution: &mut Solution,
    ) -> Result<(), ContactError> {
        self.check(problem)?;
        let (core, tolerance) = (&mut self.core, self.options.tolerance);
        let limit = self.options.max_pivots_per_row.saturating_mul(problem.n_rows()).saturating_add(100);
        self.frame.solve("lemke", (problem, start), tolerance, solution, |system, r, work| {
            r.fill(0.0);
            match core.solve(system, limit, tolerance, r, work) {
                End::Ray if core.is_certificate(system) => Status::Infeasible,
                End::Limit => Status::Accurate,
                _ => Status::Stalled,
            }
        });
        Ok(())
    }
}
