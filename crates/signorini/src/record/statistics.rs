//! What a run's summary is made of, kept up to date step by step and carried across interruptions.

use crate::step::StepReport;
use serde::{Deserialize, Deserializer, Serialize};

/// Running maxima and counts of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statistics {
    /// Steps taken.
    pub steps: u64,
    /// Kinetic energy at the start.
    pub initial_kinetic: f64,
    /// Potential energy at the start.
    pub initial_potential: f64,
    /// Kinetic plus potential energy now.
    #[serde(deserialize_with = "null_is_infinite")]
    pub final_energy: f64,
    /// Largest |E − E₀ − work + dissipated|.
    #[serde(deserialize_with = "null_is_infinite")]
    pub energy_imbalance: f64,
    /// Largest |kinetic| + |potential − potential at the start|.
    #[serde(deserialize_with = "null_is_infinite")]
    pub energy_scale: f64,
    /// Worst residuals.
    pub residual: Residual,
    /// Deepest penetration.
    #[serde(deserialize_with = "null_is_infinite")]
    pub penetration: f64,
    /// Worst violation of loops.
    pub loop_drift: LoopDrift,
    /// Most contacts in a step.
    pub contacts_max: u64,
    /// Contacts summed over all steps.
    pub contacts_sum: u64,
    /// Events.
    pub events: u64,
}

/// How well the equations of a step hold; see `NOTATION.md` for the definitions.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Residual {
    /// The one number that tolerances are compared with.
    #[serde(deserialize_with = "null_is_infinite")]
    pub rel: f64,
    /// Gap and normal force: one of them zero.
    #[serde(deserialize_with = "null_is_infinite")]
    pub signorini: f64,
    /// Friction within its bounds.
    #[serde(deserialize_with = "null_is_infinite")]
    pub coulomb: f64,
    /// Friction against the motion.
    #[serde(deserialize_with = "null_is_infinite")]
    pub dissipation: f64,
    /// Joints and loops.
    #[serde(deserialize_with = "null_is_infinite")]
    pub bilateral: f64,
}

/// How far loops are from closed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopDrift {
    /// Relative to the mechanism's size.
    #[serde(deserialize_with = "null_is_infinite")]
    pub position: f64,
    /// Relative to the mechanism's speed.
    #[serde(deserialize_with = "null_is_infinite")]
    pub velocity: f64,
}

impl Residual {
    /// Of a step without contact: nothing but joints and loops can be violated.
    pub(crate) fn of(report: &StepReport) -> Self {
        Self { rel: report.bilateral, bilateral: report.bilateral, ..Self::default() }
    }

    fn worsen(&mut self, other: &Self) {
        worsen(&mut self.rel, other.rel);
        worsen(&mut self.signorini, other.signorini);
        worsen(&mut self.coulomb, other.coulomb);
        worsen(&mut self.dissipation, other.dissipation);
        worsen(&mut self.bilateral, other.bilateral);
    }
}

impl Statistics {
    /// Before the first step.
    pub fn start(kinetic: f64, potential: f64) -> Self {
        Self {
            initial_kinetic: kinetic,
            initial_potential: potential,
            final_energy: kinetic + potential,
            energy_scale: kinetic.abs(),
            ..Self::default()
        }
    }

    /// After a step.
    pub fn update(&mut self, report: &StepReport) {
        if report.events > 0 {
            self.events += u64::from(report.events);
        } else {
            self.steps += 1;
        }
        self.final_energy = report.kinetic + report.potential;
        // Kinetic and potential energy are compared apart from each other: where the potential's zero is far away,
        // their sum would lose the digits of the change that is being looked for.
        let change = (report.kinetic - self.initial_kinetic) + (report.potential - self.initial_potential);
        worsen(&mut self.energy_imbalance, (change - report.work + report.dissipated).abs());
        worsen(&mut self.energy_scale, report.kinetic.abs() + (report.potential - self.initial_potential).abs());
        self.residual.worsen(&Residual::of(report));
        worsen(&mut self.loop_drift.position, report.loop_position);
        worsen(&mut self.loop_drift.velocity, report.loop_velocity);
    }

    /// Largest energy imbalance, relative; zero where there never was any energy.
    pub fn max_drift(&self) -> f64 {
        if self.energy_imbalance == 0.0 { 0.0 } else { self.energy_imbalance / self.energy_scale }
    }
}

/// The larger of two. What is not a number is the worst there is, and `f64::max` would drop it.
fn worsen(worst: &mut f64, value: f64) {
    if value.is_nan() {
        *worst = f64::INFINITY;
    } else if value > *worst {
        *worst = value;
    }
}

/// JSON has no infinity: it is written as null.
fn null_is_infinite<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::<f64>::deserialize(deserializer).map(|value| value.unwrap_or(f64::INFINITY))
}
