//! What was written: recordings while a simulation runs, their end, their continuation, and reading them again.
//!
//! While it runs a simulation appends to Arrow IPC streams, which can be read up to the last flushed batch whatever
//! happens. At the end they become Parquet files (and text). A checkpoint says how many rows of each belong to a
//! state from which the run can go on to the same bits. Every record of a stream has a sum beside it, and every file of a
//! run that has come to its end has one in the manifest; what does not agree with its sum is refused.

mod arrow;
mod checkpoint;
mod contacts;
mod csv;
mod drive;
mod error;
mod events;
mod folder;
mod kept;
mod layout;
mod lock;
mod manifest;
mod parquet;
#[cfg(feature = "plot")]
mod plot;
mod read;
mod recorder;
mod seal;
mod statistics;
mod stream;
mod summary;
mod sums;
mod table;
#[cfg(test)]
mod tests;
mod verify;

pub use checkpoint::{CHECKPOINT_FORMAT, Checkpoint, Identity, compute_hash};
pub use drive::{Ending, Motion, RecordedMotion, Schedule, Wish};
pub use error::RecordError;
pub use folder::{CHECKPOINT, EVENTS, LOCK, MANIFEST, PLOT, REPORT, SCENE, SUMMARY, Table, holds_run, prepare};
pub use kept::KeptScene;
pub use layout::{DEFAULT_LIMIT, JointColumns, Layout, MAX_COLUMNS, Row};
pub use lock::FolderLock;
pub use manifest::{FileSum, Manifest};
#[cfg(feature = "plot")]
pub use plot::write_plot;
pub use read::Recording;
pub use recorder::{Recorder, finalise};
pub use statistics::{LoopDrift, Residual, Statistics};
pub use summary::{About, Contacts, Energy, Status, Summary};
pub use table::{Field, Kind};
pub use verify::{Checked, GoingOn, Stage, Verdict, verify};

/// Version of the engine, as recordings name it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
