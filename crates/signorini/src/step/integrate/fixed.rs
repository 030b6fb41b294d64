//! Fixed steps: semi-implicit Euler and the classical method of order 4.
//!
//! **Problem.** Advance (q, v) with q̇ = N(q) v, v̇ = a(t, q, v) by a given step.
//!
//! **Method.** Euler: v ← v + h a(t, q, v), then q moves along the manifold by h v (order 1, symplectic on conservative
//! systems in canonical coordinates). RK4: the classical tableau on coordinates and speeds as plain numbers; every stage
//! is projected before it is evaluated and the result once more (see `dynamics/evaluate.rs`), which keeps order 4.
//!
//! **Cost.** One and four evaluations of the accelerations per step.
//!
//! **Fails when** the step is too long for the motion: nothing notices but the energy audit.
//!
//! **Checked by** `tests/convergence.rs`.

use super::{Rates, combine, combine_power};
use crate::model::Instant;
use crate::scene::Integrator;
use crate::step::{Simulation, StepError, StepReport};

/// Scratch of the fixed-step methods.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fixed {
    q: Vec<f64>,
    v: Vec<f64>,
    stages: Vec<Rates>,
}

impl Fixed {
    pub fn new(n_q: usize, n_v: usize) -> Self {
        Self { q: vec![0.0; n_q], v: vec![0.0; n_v], stages: (0..4).map(|_| Rates::new(n_q, n_v)).collect() }
    }
}

/// Fraction of a step within which a time counts as a grid point.
const GRID_SLACK: f64 = 1e-6;

impl Simulation {
    /// The end of a step of the fixed grid.
    pub(crate) fn grid_end(&self, limit: f64) -> f64 {
        let step = self.options.step.unwrap_or(f64::NAN);
        let start = self.state.time;
        let limit = limit.min(self.system.next_breakpoint(start));
        // The grid is k·step by multiplication, so that times do not drift and do not depend on where the run stopped.
        let grid = ((start / step + GRID_SLACK).floor() + 1.0) * step;
        if grid >= limit - GRID_SLACK * step { limit } else { grid }
    }

    pub(crate) fn advance_fixed(&mut self, limit: f64) -> Result<StepReport, StepError> {
        let start = self.state.time;
        let end = self.grid_end(limit);
        let h = end - start;
        if h <= 0.0 {
            return Err(StepError::StepTooSmall { time: start, step: h });
        }
        let evaluations = match self.options.integrator {
            Integrator::Rk4 => self.rk4(start, h)?,
            _ => self.euler(start, h)?,
        };
        self.next.time = end;
        self.next.control = self.state.control;
        let report = StepReport { time: end, step: h, evaluations, ..Default::default() };
        self.finish(report)
    }

    fn euler(&mut self, start: f64, h: f64) -> Result<u32, StepError> {
        let (f, next) = (&mut self.fixed, &mut self.next);
        f.q.copy_from_slice(&self.state.q);
        f.v.copy_from_slice(&self.state.v);
        let k = &mut f.stages[0];
        let now = Instant { time: start, inside: start + 0.5 * h };
        self.system.rates(now, &mut f.q, &mut f.v, &self.input, k, &mut self.work)?;
        next.q.copy_from_slice(&f.q);
        for i in 0..next.v.len() {
            next.v[i] = f.v[i] + h * k.v[i];
            f.v[i] = h * next.v[i];
        }
        for link in &self.system.tree.links {
            link.joint_type().displace(&mut next.q[link.q_range()], &f.v[link.v_range()]);
        }
        next.work = self.state.work + h * k.power.work;
        next.dissipated = self.state.dissipated + h * k.power.dissipated;
        Ok(1)
    }

    fn rk4(&mut self, start: f64, h: f64) -> Result<u32, StepError> {
        const ROWS: [&[f64]; 4] = [&[], &[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]];
        const NODES: [f64; 4] = [0.0, 0.5, 0.5, 1.0];
        const WEIGHTS: [f64; 4] = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];
        let (f, next, state) = (&mut self.fixed, &mut self.next, &self.state);
        for i in 0..4 {
            let (done, rest) = f.stages.split_at_mut(i);
            combine(&mut f.q, &state.q, h, ROWS[i], done, |k| &k.q);
            combine(&mut f.v, &state.v, h, ROWS[i], done, |k| &k.v);
            let now = Instant { time: start + NODES[i] * h, inside: start + 0.5 * h };
            self.system.rates(now, &mut f.q, &mut f.v, &self.input, &mut rest[0], &mut self.work)?;
        }
        combine(&mut next.q, &state.q, h, &WEIGHTS, &f.stages, |k| &k.q);
        combine(&mut next.v, &state.v, h, &WEIGHTS, &f.stages, |k| &k.v);
        let power = combine_power(&WEIGHTS, &f.stages);
        next.work = state.work + h * power.work;
        next.dissipated = state.dissipated + h * power.dissipated;
        Ok(4)
    }
}
