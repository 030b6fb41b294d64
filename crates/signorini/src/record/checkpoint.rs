//! From where a run can go on, to the same bits as if it had never been interrupted.

use super::RecordError;
use super::folder::{CHECKPOINT, write_whole};
use super::seal::{read_sealed, write_sealed};
use super::statistics::Statistics;
use crate::scene::{ContactMethod, Formulation, Integrator, Policy, Restitution};
use crate::state::State;
use crate::step::Options;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// How checkpoints are written. Raised when what a state carries changes.
pub const CHECKPOINT_FORMAT: u32 = 2;

/// From where a run can go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// [`CHECKPOINT_FORMAT`] when it was written; the first had none.
    #[serde(default)]
    pub format: u32,
    /// What is being run.
    pub identity: Identity,
    /// Where the mechanism is.
    pub state: State,
    /// What the summary is made of.
    pub statistics: Statistics,
    /// Number of the next recorded instant, in units of the output interval.
    pub next_output: u64,
    /// Is this very state the last row of the trajectory?
    pub is_recorded: bool,
    /// If it is not: the row that it would have. Forces of the step that led here are in no state. Null where a column has no value.
    #[serde(default)]
    pub unrecorded: Option<Vec<Option<f64>>>,
    /// Rows of the trajectory that belong to this state.
    pub trajectory_rows: u64,
    /// Rows of the step table that belong to this state.
    pub step_rows: u64,
    /// Rows of the table of contacts that belong to this state.
    #[serde(default)]
    pub contact_rows: u64,
    /// Length of the log of events that belongs to this state.
    #[serde(default)]
    pub event_bytes: u64,
    /// Time it took so far.
    pub wall_seconds: f64,
}

/// What makes two runs the same run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Version of the engine.
    pub engine: String,
    /// Name of the scene.
    pub scene: String,
    /// SHA-256 of the scene's text.
    pub scene_hash: String,
    /// SHA-256 of the files that the scene refers to, by their names in the scene.
    pub file_hashes: BTreeMap<String, String>,
    /// End of time.
    pub end: f64,
    /// Formulation of the dynamics.
    pub formulation: Formulation,
    /// Integration method.
    pub integrator: Integrator,
    /// Step of the fixed-step methods.
    pub step: Option<f64>,
    /// Relative tolerance of the adaptive method.
    pub rtol: f64,
    /// Method for contact problems.
    #[serde(default)]
    pub method: ContactMethod,
    /// Tolerance of contact problems.
    #[serde(default = "default_tolerance")]
    pub tolerance: f64,
    /// Law of restitution.
    #[serde(default)]
    pub restitution: Restitution,
    /// What happens when a contact problem is not solved. It may differ: it changes no step, only whether there is a next one.
    #[serde(default)]
    pub policy: Policy,
    /// Are the tables wanted as text, too?
    pub csv: bool,
    /// What was changed where the run went on: its result is then not that of one run.
    #[serde(default)]
    pub changes: Vec<String>,
}

fn default_tolerance() -> f64 {
    Options::default().tolerance
}

impl Checkpoint {
    /// Replaces the folder's checkpoint in one go.
    pub fn write(&self, folder: &Path) -> Result<(), RecordError> {
        write_sealed(&folder.join(CHECKPOINT), self)
    }

    /// Reads the folder's checkpoint.
    pub fn read(folder: &Path) -> Result<Self, RecordError> {
        Self::read_if_there(folder)?.ok_or_else(|| {
            let reason = format!("there is no {CHECKPOINT}");
            RecordError::NothingToResume { folder: folder.to_path_buf(), reason }
        })
    }

    /// Reads the folder's checkpoint; none before the first.
    pub fn read_if_there(folder: &Path) -> Result<Option<Self>, RecordError> {
        let path = folder.join(CHECKPOINT);
        if !path.exists() {
            return Ok(None);
        }
        let checkpoint: Self = read_sealed(&path)?;
        if checkpoint.format != CHECKPOINT_FORMAT {
            let (found, allowed) = (checkpoint.format.max(1), CHECKPOINT_FORMAT);
            let reason = format!(
                "its {CHECKPOINT} has format {found}, allowed is {allowed}: another version of the engine wrote it"
            );
            return Err(RecordError::Changed { folder: folder.to_path_buf(), reason });
        }
        Ok(Some(checkpoint))
    }
}

impl Identity {
    /// Refuses to go on where the result would be another one. The end may differ: a run may be prolonged. The solver of contact problems, its
    /// tolerance and the policy may be changed by whom a step is in the way; `changes_to` notes it.
    pub fn check_same(&self, now: &Self, folder: &Path) -> Result<(), RecordError> {
        let mut differences = Vec::new();
        let mut compare = |what: &str, before: String, now: String| {
            if before != now {
                differences.push(format!("{what} was {before} and is now {now}"));
            }
        };
        compare("the engine's version", self.engine.clone(), now.engine.clone());
        compare("the formulation", format!("{:?}", self.formulation), format!("{:?}", now.formulation));
        compare("the integrator", format!("{:?}", self.integrator), format!("{:?}", now.integrator));
        compare("the step", format!("{:?}", self.step), format!("{:?}", now.step));
        compare("the tolerance", format!("{:?}", self.rtol), format!("{:?}", now.rtol));
        compare("the law of restitution", format!("{:?}", self.restitution), format!("{:?}", now.restitution));
        if self.scene_hash != now.scene_hash {
            differences.push("the scene's text was changed".to_owned());
        }
        if self.file_hashes != now.file_hashes {
            differences.push("a file that the scene refers to was changed".to_owned());
        }
        if differences.is_empty() {
            return Ok(());
        }
        Err(RecordError::Changed { folder: folder.to_path_buf(), reason: differences.join("; ") })
    }
}

impl Identity {
    /// What was changed so far, and is changed now, at a time.
    pub(crate) fn changes_to(&self, now: &Self, time: f64) -> Vec<String> {
        let mut changes = self.changes.clone();
        let mut note = |what: &str, before: String, now: String| {
            if before != now {
                changes.push(format!("from t = {time} on: {what} {now} instead of {before}"));
            }
        };
        note("contact solver", self.method.name().to_owned(), now.method.name().to_owned());
        note("tolerance of contact problems", format!("{:?}", self.tolerance), format!("{:?}", now.tolerance));
        changes
    }
}

/// Writes a value as readable JSON in one go.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), RecordError> {
    let text = serde_json::to_string_pretty(value).map_err(RecordError::format("encode", path))?;
    write_whole(path, |file| writeln!(file, "{text}").map_err(RecordError::io("write", path)))
}

/// SHA-256 in hexadecimal digits.
pub fn compute_hash(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
