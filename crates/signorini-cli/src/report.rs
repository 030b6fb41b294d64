//! `signorini report`: a recording as one page to look at.

use crate::failure::Failure;
use crate::viewer;
use signorini::record::REPORT;
use signorini::report::{Report, ReportError, Source, page};
use std::fs;
use std::path::{Path, PathBuf};

/// Makes the page of a recording: 3D replay, plots and certificate in one file that needs no network.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run, finished or not.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Where to write the page; `report.html` in the folder unless given.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the motion as binary glTF, too: `motion.glb` in the folder unless given.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    gltf: Option<Option<PathBuf>>,
}

impl Args {
    /// Writes the page, and the motion where it is asked for.
    pub fn execute(self) -> Result<(), Failure> {
        let to = self.out.unwrap_or_else(|| self.folder.join(REPORT));
        write(&self.folder, &to, None)?;
        crate::say!("written to {}", to.display());
        if let Some(given) = self.gltf {
            let to = given.unwrap_or_else(|| self.folder.join("motion.glb"));
            let bytes = signorini::report::gltf(&self.folder).map_err(|error| fail(&self.folder, error))?;
            put(&to, &bytes)?;
            crate::say!("written to {}", to.display());
        }
        Ok(())
    }
}

/// The line by which this command was called, as one would type it again.
pub fn command_line() -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    let quoted = |word: String| {
        if !word.is_empty() && word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    let words = std::env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    std::iter::once("signorini".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Writes the page of the recording in a folder. `command` is the line that made the recording, where that is known.
pub fn write(folder: &Path, to: &Path, command: Option<&str>) -> Result<(), Failure> {
    let report = Report::read(folder, command).map_err(|error| fail(folder, error))?;
    put(to, page(&Source::Inside(&report), viewer::TEMPLATE).as_bytes())
}

/// Writes a file whole or not at all.
pub fn put(to: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut beside = to.as_os_str().to_owned();
    beside.push(".tmp");
    let failed = |error: std::io::Error| Failure::Io(format!("cannot write {}: {error}", to.display()));
    fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, to)).map_err(|error| {
        // What is half written only takes space.
        let _ = fs::remove_file(&beside);
        failed(error)
    })
}

/// Why there is no page of a folder.
pub fn fail(folder: &Path, error: ReportError) -> Failure {
    if !folder.is_dir() {
        return Failure::input(format!("{} is not a folder", folder.display()), None);
    }
    match error {
        ReportError::Record(error) => error.into(),
        ReportError::Scene(error) => error.into(),
        other => Failure::input(other.to_string(), None),
    }
}
