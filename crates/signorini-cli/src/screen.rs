//! What commands print.
//!
//! A reader that has gone away, as in `signorini scenes | head -1`, ends the command quietly with the code that shells give to a broken pipe.
//! A device that fails is an error. Nothing is printed while files are being written, so that they are whole either way.

use std::fmt;
use std::io::{ErrorKind, Write};

/// What a shell reports of a process whose reader has gone away: 128 and the number of SIGPIPE.
const BROKEN_PIPE: i32 = 141;
/// Output failed.
const OUTPUT_FAILED: i32 = 3;

/// Prints a line on the standard output.
#[macro_export]
macro_rules! say {
    ($($what:tt)*) => { $crate::screen::say(format_args!($($what)*)) };
}

/// Tells the user something on the standard error stream. If nobody can hear it, nothing is lost that is not in a file.
#[macro_export]
macro_rules! tell {
    ($($what:tt)*) => { $crate::screen::tell(format_args!($($what)*)) };
}

/// See [`say!`].
pub fn say(line: fmt::Arguments<'_>) {
    let Err(error) = writeln!(std::io::stdout(), "{line}") else { return };
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(BROKEN_PIPE);
    }
    tell(format_args!("error: cannot write to the standard output: {error}"));
    std::process::exit(OUTPUT_FAILED);
}

/// See [`tell!`].
pub fn tell(line: fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
