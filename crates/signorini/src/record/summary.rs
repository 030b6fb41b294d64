//! `summary.json`: the result in short.

use super::RecordError;
use super::folder::SUMMARY;
use super::statistics::{LoopDrift, Residual, Statistics};
use crate::scene::Formulation;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The end of time was reached.
    Completed,
    /// It ended before: interrupted, or a step could not be taken.
    Stopped,
}

/// The result in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How the run ended.
    pub status: Status,
    /// Name of the scene.
    pub scene: String,
    /// Version of the engine.
    pub version: String,
    /// Formulation of the dynamics.
    pub formulation: Formulation,
    /// Contact solver; null where nothing can touch.
    pub solver: Option<String>,
    /// Threads allowed; results do not depend on it.
    pub threads: usize,
    /// Steps taken.
    pub steps: u64,
    /// Simulated time.
    pub sim_seconds: f64,
    /// Time it took, interruptions left out.
    pub wall_seconds: f64,
    /// Energy audit.
    pub energy: Energy,
    /// Worst residuals of the run.
    pub residual: Residual,
    /// Deepest penetration, a length.
    pub penetration: f64,
    /// Worst violation of loops.
    pub loop_drift: LoopDrift,
    /// Number of contacts.
    pub contacts: Contacts,
    /// Number of events.
    pub events: u64,
    /// What the user should know.
    pub findings: Vec<String>,
}

/// Energy audit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Kinetic plus potential energy at the start.
    pub initial: f64,
    /// Kinetic plus potential energy at the end.
    #[serde(rename = "final")]
    pub last: f64,
    /// Largest |E − E₀ − work of loads and motors + dissipated| over the largest |kinetic| + |potential change| + energy
    /// that contact exchanged in a step. Differences that rounding of the energies may explain count as zero.
    pub max_drift: f64,
}

/// Number of contacts over a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Contacts {
    /// Most in a step.
    pub max: u64,
    /// Per step.
    pub mean: f64,
}

/// What a summary says beside statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// How the run ended.
    pub status: Status,
    /// Name of the scene.
    pub scene: String,
    /// Formulation of the dynamics.
    pub formulation: Formulation,
    /// Contact solver; none where nothing can touch.
    pub solver: Option<String>,
    /// Threads allowed.
    pub threads: usize,
    /// Simulated time.
    pub sim_seconds: f64,
    /// Time it took.
    pub wall_seconds: f64,
    /// What the user should know.
    pub findings: Vec<String>,
}

impl Summary {
    /// Puts a summary together.
    pub fn new(about: About, statistics: &Statistics) -> Self {
        let s = statistics;
        let mean = if s.steps == 0 { 0.0 } else { s.contacts_sum as f64 / s.steps as f64 };
        let (initial, last) = (s.initial_kinetic + s.initial_potential, s.final_energy);
        Self {
            status: about.status,
            scene: about.scene,
            version: super::VERSION.to_owned(),
            formulation: about.formulation,
            solver: about.solver,
            threads: about.threads,
            steps: s.steps,
            sim_seconds: about.sim_seconds,
            wall_seconds: about.wall_seconds,
            energy: Energy { initial, last, max_drift: s.max_drift() },
            residual: s.residual,
            penetration: s.penetration,
            loop_drift: s.loop_drift,
            contacts: Contacts { max: s.contacts_max, mean },
            events: s.events,
            findings: about.findings,
        }
    }

    /// Writes it into the folder of a run.
    pub fn write(&self, folder: &Path) -> Result<(), RecordError> {
        super::checkpoint::write_json(&folder.join(SUMMARY), self)
    }
}
