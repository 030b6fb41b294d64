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
    /// Largest |E − E₀ − work + dissipated|; what rounding of these energies may explain counts as zero.
    #[serde(deserialize_with = "null_is_infinite")]
    pub energy_imbalance: f64,
    /// Largest |kinetic| + |potential − potential at the start| + energy that contact exchanged in the step.
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
    /// Steps whose contact problem was not solved.
    #[serde(default)]
    pub unsolved: u64,
    /// End of the first of them.
    #[serde(default)]
    pub first_unsolved: Option<f64>,
    /// Energy that strikes have added.
    #[serde(default, deserialize_with = "null_is_infinite")]
    pub gained: f64,
}

/// Differences of energies that their own rounding may explain, relative: a few dozen operations lie between coordinates and energies.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

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
    /// Of a step: the worse of what the judge of contact problems says and of how close loops are.
    pub(crate) fn of(report: &StepReport) -> Self {
        let r = &report.residual;
        let (signorini, coulomb, dissipation) = (r.signorini, r.coulomb, r.dissipation);
        let mut residual = Self { rel: r.rel, signorini, coulomb, dissipation, bilateral: r.bilateral };
        worsen(&mut residual.rel, report.bilateral);
        worsen(&mut residual.bilateral, report.bilateral);
        residual
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
        let imbalance = (change - report.work + report.dissipated).abs();
        let energies = [self.initial_kinetic, self.initial_potential];
        let energies = energies.into_iter().chain([report.kinetic, report.potential, report.work, report.dissipated]);
        // Where nothing moves there is no energy to compare with, and rounding over rounding says nothing.
        let rounding = ROUNDING * energies.map(f64::abs).sum::<f64>();
        if imbalance > rounding || imbalance.is_nan() {
            worsen(&mut self.energy_imbalance, imbalance);
        }
        let at_play = report.kinetic.abs() + (report.potential - self.initial_potential).abs();
        worsen(&mut self.energy_scale, at_play + report.contact_work_scale.abs());
        if report.impact_energy_gain > ROUNDING * self.energy_scale {
            self.gained += report.impact_energy_gain;
        }
        if report.is_unsolved {
            self.unsolved += 1;
            self.first_unsolved.get_or_insert(report.time);
        }
        worsen(&mut self.penetration, report.penetration);
        self.contacts_max = self.contacts_max.max(u64::from(report.contacts));
        self.contacts_sum += u64::from(report.contacts);
        self.residual.worsen(&Residual::of(report));
        worsen(&mut self.loop_drift.position, report.loop_position);
        worsen(&mut self.loop_drift.velocity, report.loop_velocity);
    }

    /// What the user should know: energy that restitution has added, steps that were not solved.
    pub fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        if self.gained > 0.0 {
            let share = self.gained / self.energy_scale;
            findings.push(format!(
                "restitution added energy {:.3e}, {share:.1e} of the largest (Newton's law may do so with friction)",
                self.gained
            ));
        }
        if let Some(first) = self.first_unsolved {
            findings.push(format!(
                "{} of {} steps were not solved to the tolerance, the first is the one to t = {first}; worst residual {:.1e}",
                self.unsolved, self.steps, self.residual.rel
            ));
        }
        findings
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
