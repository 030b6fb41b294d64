//! A method as a solver of its own: what every one does around its iteration, once.

use super::super::error::ContactError;
use super::super::problem::ContactProblem;
use super::frame::Frame;
use super::outcome::Outcome;
use super::system::System;
use super::{ContactSolver, Solution, Start, Work};

/// A method on a problem in scaled variables.
pub trait Iterate: Send {
    /// The name used on the command line and in reports.
    const NAME: &'static str;

    /// Whether a starting point is of use to it.
    const USES_START: bool = true;

    /// Tolerance on `rel`.
    fn tolerance(&self) -> f64;

    /// Whether it treats this kind of problem; the reason if not.
    fn check(&self, _problem: &ContactProblem) -> Result<(), ContactError> {
        Ok(())
    }

    /// Writes down routes, and what was declined.
    fn report(&self, _solution: &mut Solution) {}

    /// Takes r, scaled, towards a solution. Whether it is one the judge says.
    fn iterate(&mut self, system: &mut System, r: &mut [f64], work: &mut Work) -> Outcome;
}

/// A method, and what is around it.
#[derive(Debug, Clone, Default)]
pub struct Framed<M> {
    frame: Frame,
    method: M,
    /// What is accepted, where that is more than the method's own tolerance.
    accepted: f64,
}

impl<M> Framed<M> {
    /// Around a method.
    pub(super) fn around(method: M) -> Self {
        Self { frame: Frame::default(), method, accepted: 0.0 }
    }

    /// The same, where residuals up to `tolerance` count as solved.
    pub(super) fn accepting(self, tolerance: f64) -> Self {
        Self { accepted: tolerance, ..self }
    }
}

impl<M: Iterate> ContactSolver for Framed<M> {
    fn name(&self) -> &'static str {
        M::NAME
    }

    fn check(&self, problem: &ContactProblem) -> Result<(), ContactError> {
        self.method.check(problem)
    }

    fn solve_into(
        &mut self,
        problem: &ContactProblem,
        start: Start,
        solution: &mut Solution,
    ) -> Result<(), ContactError> {
        self.method.check(problem)?;
        let (frame, tolerance) = (&mut self.frame, self.method.tolerance());
        solution.method = M::NAME;
        if frame.open(problem, if M::USES_START { start } else { Start::Cold }, tolerance, solution) {
            return Ok(());
        }
        frame.enter(problem, &mut solution.r);
        let outcome = self.method.iterate(&mut frame.system, &mut solution.r, &mut solution.work);
        System::leave(frame.scaling(), &mut solution.r);
        frame.system.release();
        frame.conclude(problem, tolerance.max(self.accepted), outcome, solution);
        self.method.report(solution);
        Ok(())
    }
}
