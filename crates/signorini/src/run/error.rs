//! Why a run could not be recorded.

use crate::record::RecordError;
use crate::scene::{Finding, FindingKind, SceneError, SceneSource};
use crate::step::{BuildError, StepError};
use std::path::PathBuf;
use std::sync::Arc;

/// Why a run could not be recorded. A step that could not be taken is no error: the outcome has it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The scene cannot be read, or is not one that can be run; with places in its text.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A scene that was built in Rust has no form as text.
    #[error("the scene cannot be written down: {0}")]
    Unwritable(String),
    /// The folder, or what it holds.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// What the caller does before the first step failed.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The recording broke off.
    #[error("{source}\nwhat was recorded before is kept; `signorini run --resume {}` goes on with it", folder.display())]
    BrokenOff {
        /// Why.
        source: RecordError,
        /// The folder.
        folder: PathBuf,
    },
}

debug_as_display!(RunError);

impl RunError {
    /// True where the user asked for something impossible; false where files or the operating system are at fault.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Scene(SceneError::Io { .. }) | Self::BrokenOff { .. } => false,
            Self::Record(error) => error.is_input(),
            Self::Scene(_) | Self::Unwritable(_) | Self::Step(_) => true,
        }
    }

    /// What is wrong with a scene, found after it was read.
    pub(super) fn findings(source: &Arc<SceneSource>, findings: Vec<Finding>) -> Self {
        Self::Scene(source.error(findings))
    }

    pub(super) fn step(source: &Arc<SceneSource>, error: &StepError) -> Self {
        let key = if let StepError::Setting { key, .. } = error { key } else { "" };
        Self::findings(source, vec![Finding::new(FindingKind::Mechanism, key, error.to_string())])
    }

    pub(super) fn build(source: &Arc<SceneSource>, error: BuildError) -> Self {
        match error {
            BuildError::Model(error) => Self::findings(source, error.0),
            BuildError::Step(error) => Self::step(source, &error),
        }
    }

    /// What a recording cannot do, at its place in the scene where it has one.
    pub(super) fn layout(source: &Arc<SceneSource>, error: RecordError) -> Self {
        let (kind, key) = match &error {
            RecordError::NoMatch { key, .. } => (FindingKind::Pattern, format!("output.{key}")),
            RecordError::TooManyColumns { .. } => (FindingKind::TooLarge, "output".to_owned()),
            _ => return Self::Record(error),
        };
        Self::findings(source, vec![Finding::new(kind, key, error.to_string())])
    }
}
