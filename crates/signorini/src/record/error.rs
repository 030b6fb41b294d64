//! What can go wrong with a recording.

use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong with a recording.
#[derive(thiserror::Error)]
pub enum RecordError {
    /// A state that was reached cannot be looked at.
    #[error("cannot observe the mechanism: {0}")]
    Unseen(String),
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("cannot {action} {}: {reason}", path.display())]
    Format {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file is not what was written.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Another process writes the folder.
    #[error("{} is being written by {}; one run writes a folder at a time", folder.display(), process(*holder))]
    Busy {
        /// The folder.
        folder: PathBuf,
        /// The process; zero where it has not said its name yet.
        holder: u32,
    },
    /// A name or pattern under `[output]` fits nothing.
    #[error("`{pattern}` in output.{key} fits none of the {count} {noun} of the scene{}", did_you_mean(suggestion))]
    NoMatch {
        /// The key under `[output]`.
        key: &'static str,
        /// What was asked for.
        pattern: String,
        /// What the pattern was compared with: bodies or joints.
        noun: &'static str,
        /// How many of them there are.
        count: usize,
        /// The name that looks most like it.
        suggestion: Option<String>,
    },
    /// More columns were asked for than a file can hold.
    #[error("[output] asks for {asked} columns, a recording holds at most {allowed}: choose fewer bodies or joints")]
    TooManyColumns {
        /// Columns asked for.
        asked: usize,
        /// Columns possible.
        allowed: usize,
    },
    /// Two columns have one name.
    #[error("two columns would be called `{column}`: bodies and markers need different names")]
    DuplicateColumn {
        /// The name.
        column: String,
    },
    /// A number under `[output]` or `[time]` makes no sense.
    #[error("{key} is {found}, but must be {allowed}")]
    BadNumber {
        /// The key.
        key: &'static str,
        /// Its value.
        found: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The folder is taken.
    #[error("{} already holds {what}", folder.display())]
    Occupied {
        /// The folder.
        folder: PathBuf,
        /// What was found in it.
        what: String,
    },
    /// There is nothing to go on from.
    #[error("{} holds no run that can be continued: {reason}", folder.display())]
    NothingToResume {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The run in the folder is not the one that is to go on.
    #[error("the run in {} cannot be continued to the same result: {reason}", folder.display())]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// What differs.
        reason: String,
    },
    /// A recording has no such column.
    #[error("{} has no column `{column}`", path.display())]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column asked for.
        column: String,
    },
}

debug_as_display!(RecordError);

fn process(holder: u32) -> String {
    if holder == 0 { "another process".to_owned() } else { format!("process {holder}") }
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

impl RecordError {
    /// True where the user asked for something impossible; false where files or the operating system are at fault.
    pub fn is_input(&self) -> bool {
        !matches!(self, Self::Io { .. } | Self::Format { .. } | Self::Damaged { .. })
    }

    /// For `map_err`: what was being done, and to what.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }

    /// For `map_err` on the errors of file formats, which may hide an error of the operating system.
    pub(crate) fn format<E: std::error::Error>(action: &'static str, path: &Path) -> impl FnOnce(E) -> Self {
        let path = path.to_path_buf();
        move |error| {
            let mut cause = error.source();
            while let Some(inner) = cause {
                if let Some(inner) = inner.downcast_ref::<io::Error>() {
                    // io::Error cannot be cloned; its kind and text are what callers and users look at.
                    return Self::Io { action, path, source: io::Error::new(inner.kind(), inner.to_string()) };
                }
                cause = inner.source();
            }
            Self::Format { action, path, reason: error.to_string() }
        }
    }
}
