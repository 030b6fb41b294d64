//! `signorini verify`: is a recording whole, what made it, and can it go on?

use crate::failure::Failure;
use crate::say;
use signorini::record::{Checked, GoingOn, Stage, VERSION, Verdict, verify};
use std::path::PathBuf;

/// Compares every file of a run's folder with its sum, and says what made it and whether it can go on.
#[derive(clap::Args)]
pub struct Verify {
    /// The folder of a run.
    folder: PathBuf,
}

impl Verify {
    /// Prints what was found.
    pub fn execute(self) -> Result<(), Failure> {
        let verdict = verify(&self.folder)?;
        self.print(&verdict);
        let damaged = verdict.files.iter().filter(|file| file.damage.is_some()).count();
        if damaged == 0 {
            return Ok(());
        }
        let noun = if damaged == 1 { "file is" } else { "files are" };
        Err(Failure::Damaged(format!("{}: {damaged} {noun} not what was written", self.folder.display())))
    }

    fn print(&self, verdict: &Verdict) {
        let stage = match verdict.stage {
            Stage::Running { process: 0 } => "a process is writing it".to_owned(),
            Stage::Running { process } => format!("process {process} is writing it"),
            Stage::BrokenOff => "it was broken off".to_owned(),
            Stage::Ended => "it was brought to its end".to_owned(),
        };
        say!("{}: {stage}", self.folder.display());
        if let Some(manifest) = &verdict.manifest {
            let identity = &manifest.identity;
            say!("  scene         {}, until {}", identity.scene, identity.end);
            say!("  version       {} (this is {VERSION})", manifest.engine);
            for command in &manifest.commands {
                say!("  started by    {}", if command.is_empty() { "a program" } else { command });
            }
            for change in &identity.changes {
                say!("  note          {change}");
            }
        }
        let width = verdict.files.iter().map(|file| file.name.chars().count()).max().unwrap_or(0);
        for file in &verdict.files {
            say!("  {:width$}  {}", file.name, describe(file));
        }
        match &verdict.going_on {
            GoingOn::From { time } => say!("  can go on     from t = {time}"),
            GoingOn::Anew => say!("  can go on     from the start: it was killed before its first checkpoint"),
            GoingOn::Refused { reason } => say!("  cannot go on  {reason}"),
        }
    }
}

fn describe(file: &Checked) -> String {
    let rows = file.rows.map_or_else(String::new, |rows| format!(", {rows} records"));
    let outcome = file.damage.as_ref().map_or_else(|| "whole".to_owned(), |what| format!("DAMAGED: {what}"));
    format!("{} bytes{rows}, {outcome}", file.bytes)
}
