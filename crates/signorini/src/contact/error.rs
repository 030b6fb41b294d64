//! What can be wrong with the input of this room.

use std::path::PathBuf;

/// A contact problem, an option or a file that cannot be accepted.
///
/// A problem that has no solution, or that was not solved, is not an error: it is a
/// [`Status`](crate::contact::Status).
#[derive(Debug, thiserror::Error)]
pub enum ContactError {
    /// Two sizes that must agree do not.
    #[error("{what}: found {found}, expected {expected}")]
    Size {
        /// The quantity.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The size that the rest of the problem asks for.
        expected: usize,
    },
    /// A number is NaN or infinite where a finite one is needed.
    #[error("{what}[{index}] is {value}, expected a finite number")]
    NotFinite {
        /// The quantity.
        what: &'static str,
        /// Position of the first offender.
        index: usize,
        /// The offender.
        value: f64,
    },
    /// A number is outside its range.
    #[error("{what}[{index}] is {value}, allowed: {allowed}")]
    Range {
        /// The quantity.
        what: &'static str,
        /// Position of the first offender.
        index: usize,
        /// The offender.
        value: f64,
        /// The range in words.
        allowed: &'static str,
    },
    /// A solver was asked for a kind of problem that it does not treat.
    #[error("solver `{solver}` does not treat this problem: {reason}")]
    NotApplicable {
        /// The solver.
        solver: &'static str,
        /// Why it does not.
        reason: &'static str,
    },
    /// A name that is not one of a list.
    #[error("unknown {what} `{found}`, allowed: {allowed}")]
    Unknown {
        /// What was named.
        what: &'static str,
        /// The name found.
        found: String,
        /// The allowed names.
        allowed: &'static str,
    },
    /// A file is not a problem file, or is damaged.
    #[error("{path}: {reason}", path = .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file system refused.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The refusal.
        source: std::io::Error,
    },
}
