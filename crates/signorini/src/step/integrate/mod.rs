//! Smooth integration on the mechanism's manifold.

mod adaptive;
mod dop853;
mod fixed;

pub(crate) use adaptive::Adaptive;
pub(crate) use fixed::Fixed;

use super::StepError;
use crate::dynamics::force::Power;
use crate::dynamics::{System, Workspace};
use crate::model::Instant;

/// Rates of everything that is integrated.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rates {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub power: Power,
}

impl Rates {
    fn new(n_q: usize, n_v: usize) -> Self {
        Self { q: vec![0.0; n_q], v: vec![0.0; n_v], power: Power::default() }
    }
}

impl System {
    /// Rates at coordinates and speeds that are first projected.
    fn rates(
        &self,
        now: Instant,
        q: &mut [f64],
        v: &mut [f64],
        input: &[f64],
        out: &mut Rates,
        w: &mut Workspace,
    ) -> Result<(), StepError> {
        out.power = self.evaluate(now, q, v, input, &mut out.v, w)?;
        for link in &self.tree.links {
            link.joint_type().rates(&q[link.q_range()], &v[link.v_range()], &mut out.q[link.q_range()]);
        }
        Ok(())
    }
}

/// y ← x + h Σ cᵢ kᵢ.
fn combine(y: &mut [f64], x: &[f64], h: f64, terms: &[f64], stages: &[Rates], part: impl Fn(&Rates) -> &[f64]) {
    sum(y, terms, stages, part);
    y.iter_mut().zip(x).for_each(|(y, x)| *y = x + h * *y);
}

/// y ← Σ cᵢ kᵢ.
fn sum(y: &mut [f64], terms: &[f64], stages: &[Rates], part: impl Fn(&Rates) -> &[f64]) {
    y.fill(0.0);
    for (c, stage) in terms.iter().zip(stages).filter(|(c, _)| **c != 0.0) {
        y.iter_mut().zip(part(stage)).for_each(|(y, k)| *y += c * k);
    }
}

/// Σ cᵢ kᵢ of the powers.
fn combine_power(terms: &[f64], stages: &[Rates]) -> Power {
    terms.iter().zip(stages).fold(Power::default(), |mut sum, (c, stage)| {
        let Power { work, dissipated, stored } = stage.power;
        sum += Power { work: c * work, dissipated: c * dissipated, stored: c * stored };
        sum
    })
}
