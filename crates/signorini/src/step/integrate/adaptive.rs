//! Adaptive steps of high order.
//!
//! **Problem.** Advance with as long a step as a relative tolerance allows.
//!
//! **Method.** Dormand and Prince's explicit method of order 8 with embedded orders 5 and 3 [hairer1993, II.5] on
//! coordinates and speeds as plain numbers, projected as in `dynamics/evaluate.rs`. An error is measured against the natural
//! size of its quantity: a radian, the mechanism's length, and for speeds the fastest rate in the mechanism now (or what
//! the accelerations make of it within the step). At rest that rate is nothing but rounding of forces that cancel, and steps that resolve it
//! would be short without end: a rate that moves nothing by more than rounding within the step counts as that much ([`UNSEEN`]). So there
//! is no absolute tolerance and no unit. Of an error only the
//! part along the loops' manifold counts; the rest is taken away by the projection that ends the step. Steps end on
//! breakpoints of tables and on the times that the caller asks for; the step that was cut short does not shorten the next.
//!
//! **Cost.** Twelve evaluations per attempt.
//!
//! **Fails when** the motion is stiff (steps become short, never wrong) or not smooth.
//!
//! **Checked by** `tests/convergence.rs`.

use super::dop853::{A, B, C, E3, E5, STAGES};
use super::{Rates, combine, combine_power, sum};
use crate::model::Instant;
use crate::scene::Integrator;
use crate::step::{Simulation, StepError, StepReport};

/// Scratch of the adaptive method.
#[derive(Debug, Clone, Default)]
pub(crate) struct Adaptive {
    q: Vec<f64>,
    v: Vec<f64>,
    displacement: Vec<f64>,
    stages: Vec<Rates>,
}

/// Share of the step that the error estimate suggests which is really tried.
const SAFETY: f64 = 0.9;
/// Bounds on the change of step from one attempt to the next.
const CHANGE: (f64, f64) = (1.0 / 3.0, 6.0);
/// First step as a fraction of the time in which the motion changes by one natural unit.
const FIRST: f64 = 0.01;
/// Displacement in a step, in natural units and over the tolerance, that rounding hides. Forces that cancel are wrong by an ε of each; coordinates
/// by an ε of a natural unit, which a stiffness turns into an acceleration of ε ω². In a step with h ω ≤ 8, beyond the method's stability,
/// both change a speed by less than 64 ε/h. Measured (`tests/adaptive_rest.rs`): a critically damped mass rests for 20 time units of ten
/// decay times each in 105 steps instead of 387 438, a platform on six servos in 108; convergence and audits are as they were.
const UNSEEN: f64 = 64.0 * f64::EPSILON;
/// Steps, as a share of the time left, that time cannot resolve.
const UNRESOLVED: f64 = 64.0 * f64::EPSILON;
/// Attempts before a step counts as impossible.
const MAX_ATTEMPTS: u32 = 200;

impl Adaptive {
    pub fn new(n_q: usize, n_v: usize, integrator: Integrator) -> Self {
        let n = if integrator == Integrator::Adaptive { STAGES } else { 0 };
        let stages = (0..n).map(|_| Rates::new(n_q, n_v)).collect();
        Self { q: vec![0.0; n_q], v: vec![0.0; n_v], displacement: vec![0.0; n_v], stages }
    }
}

impl Simulation {
    pub(crate) fn advance_adaptive(&mut self, limit: f64) -> Result<StepReport, StepError> {
        let start = self.state.time;
        let limit = limit.min(self.system.next_breakpoint(start));
        if limit <= start {
            return Err(StepError::StepTooSmall { time: start, step: limit - start });
        }
        self.stage(0, start, 0.0, 0.5 * (start + limit))?;
        let mut step = self.state.control.step;
        if step <= 0.0 {
            step = self.options.step.unwrap_or_else(|| self.first_step(limit - start));
        }
        let mut report = StepReport { evaluations: 1, ..Default::default() };
        // Why the last attempt could not be evaluated.
        let mut failure = None;
        for attempt in 0..MAX_ATTEMPTS {
            let left = limit - start;
            let h = match () {
                _ if step >= 0.99 * left => left,
                // Two even steps are better than a long one and a stump.
                _ if step > 0.5 * left => 0.5 * left,
                _ => step,
            };
            // A step to a time that the caller asks for may be as short as time resolves.
            // No run arrives in steps that are not even rounding of the way ahead; the first ones are cautious, and grow.
            let is_lost = self.state.control.step > 0.0 && h < UNRESOLVED * left;
            if h.is_nan() || is_lost || (h < left && h <= 4.0 * f64::EPSILON * start.abs()) {
                return Err(failure.unwrap_or(StepError::StepTooSmall { time: start, step: h }));
            }
            let outcome = self.attempt(start, h);
            report.evaluations += STAGES as u32 - 1;
            let error = match outcome {
                Ok(error) => {
                    failure = None;
                    error
                }
                // A stage that cannot be closed or evaluated is a step that was too long.
                Err(error) if attempt + 1 == MAX_ATTEMPTS => return Err(error),
                Err(StepError::Dynamics(error)) if error.is_singular() => return Err(error.into()),
                Err(error) => {
                    failure = Some(error);
                    f64::INFINITY
                }
            };
            let factor = SAFETY * error.powf(-1.0 / 8.0);
            if error <= 1.0 {
                let most = if report.rejected > 0 { 1.0 } else { CHANGE.1 };
                let suggested = h * factor.clamp(CHANGE.0, most);
                // A step shortened to land on a time says nothing about how long the next one may be.
                self.next.control.step = if h < step { suggested.max(step) } else { suggested };
                self.next.time = if h == left { limit } else { start + h };
                report.time = self.next.time;
                report.step = h;
                return self.finish(report);
            }
            report.rejected += 1;
            step = h * factor.clamp(CHANGE.0, SAFETY);
        }
        Err(StepError::StepTooSmall { time: start, step })
    }

    /// Evaluates stage `i` of a step of length `h`. No table's breakpoint lies between `start` and `inside`.
    fn stage(&mut self, i: usize, start: f64, h: f64, inside: f64) -> Result<(), StepError> {
        let (a, state) = (&mut self.adaptive, &self.state);
        let (done, rest) = a.stages.split_at_mut(i);
        combine(&mut a.q, &state.q, h, A[i], done, |k| &k.q);
        combine(&mut a.v, &state.v, h, A[i], done, |k| &k.v);
        let now = Instant { time: start + C[i] * h, inside };
        self.system.rates(now, &mut a.q, &mut a.v, &self.input, &mut rest[0], &mut self.work)
    }

    /// One attempt; the first stage is known. Returns the error in units of the tolerance.
    fn attempt(&mut self, start: f64, h: f64) -> Result<f64, StepError> {
        for i in 1..STAGES {
            self.stage(i, start, h, start + 0.5 * h)?;
        }
        let (a, state, next) = (&mut self.adaptive, &self.state, &mut self.next);
        combine(&mut next.q, &state.q, h, &B, &a.stages, |k| &k.q);
        combine(&mut next.v, &state.v, h, &B, &a.stages, |k| &k.v);
        let power = combine_power(&B, &a.stages);
        next.work = state.work + h * power.work;
        next.dissipated = state.dissipated + h * power.dissipated;
        self.system.check_finite(start, &next.q, &next.v)?;
        let end = Instant { time: start + h, inside: start + 0.5 * h };
        self.system.project(end, &mut next.q, &mut next.v, &mut self.work)?;
        Ok(self.error(h))
    }

    /// The error of the step just projected, in units of the tolerance.
    fn error(&mut self, h: f64) -> f64 {
        let (a, w) = (&mut self.adaptive, &mut self.work);
        let (units, state, next) = (&self.units, &self.state, &self.next);
        let k = &a.stages[0];
        let hidden = UNSEEN / (self.options.rtol * h);
        let rate = (0..next.v.len()).fold(hidden, |m: f64, i| {
            let speed = state.v[i].abs().max(next.v[i].abs()).max(h * k.v[i].abs());
            m.max(speed / units.v[i])
        });
        let mut worst = [0.0_f64; 2];
        for (weights, worst) in [&E5, &E3].into_iter().zip(&mut worst) {
            sum(&mut a.q, weights, &a.stages, |k| &k.q);
            sum(&mut a.v, weights, &a.stages, |k| &k.v);
            self.system.as_displacement(&next.q, &a.q, &mut a.displacement);
            // What the projection takes away is not an error of the step. Near a singular position it is most of it.
            self.system.project_tangent(&mut a.displacement, w);
            self.system.project_tangent(&mut a.v, w);
            for i in 0..a.v.len() {
                *worst = worst.max((a.displacement[i] / units.v[i]).abs());
                if a.v[i] != 0.0 {
                    *worst = worst.max((a.v[i] / (units.v[i] * rate)).abs());
                }
            }
        }
        let [fifth, third] = worst.map(|e| h * e / self.options.rtol);
        if fifth == 0.0 {
            return 0.0;
        }
        let error = fifth * fifth / (fifth * fifth + 0.01 * third * third).sqrt();
        if error.is_finite() { error } else { f64::INFINITY }
    }

    /// A cautious first step: the error control lengthens it sixfold at a time.
    fn first_step(&self, longest: f64) -> f64 {
        let k = &self.adaptive.stages[0];
        let units = &self.units;
        let largest = |x: &[f64], unit: &[f64]| x.iter().zip(unit).fold(0.0, |m: f64, (x, u)| m.max(x.abs() / u));
        let rate = largest(&self.state.v, &units.v);
        let change = largest(&k.v, &units.v).sqrt();
        let fastest = rate.max(change);
        if fastest > 0.0 { (FIRST / fastest).min(longest) } else { longest }
    }
}
