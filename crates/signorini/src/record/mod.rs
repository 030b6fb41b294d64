//! What was written: recordings while a simulation runs, their end, their continuation, and reading them again.
//!
//! While it runs a simulation appends to Arrow IPC streams, which can be read up to the last flushed batch whatever
//! happens. At the end they become Parquet files (and text). A checkpoint says how many rows of each belong to a
//! state from which the run can go on to the same bits.

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
mod parquet;
mod plot;
mod read;
mod recorder;
mod statistics;
mod stream;
mod summary;
mod table;
#[cfg(test)]
mod tests;

pub use checkpoint::{CHECKPOINT_FORMAT, Checkpoint, Identity, compute_hash};
pub use drive::{Ending, Motion, Run, Schedule, Wish};
pub use error::RecordError;
pub use folder::{CHECKPOINT, EVENTS, PLOT, REPORT, SCENE, SUMMARY, Table, holds_run, prepare};
pub use kept::KeptScene;
pub use layout::{DEFAULT_LIMIT, JointColumns, Layout, MAX_COLUMNS, Row};
pub use plot::write_plot;
pub use read::Recording;
pub use recorder::{Recorder, finalise};
pub use statistics::{LoopDrift, Residual, Statistics};
pub use summary::{About, Contacts, Energy, Status, Summary};
pub use table::{Field, Kind};

/// Version of the engine, as recordings name it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
