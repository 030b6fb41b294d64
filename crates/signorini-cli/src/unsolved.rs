//! What a run does with contact problems that were not solved: it says so, and saves them.

use crate::failure::Failure;
use crate::tell;
use signorini::contact::{ContactError, store};
use signorini::scene::Policy;
use signorini::step::{Simulation, StepReport};
use std::path::{Path, PathBuf};

/// Problems that are saved at most: the first ones tell most, and disks are finite.
const MOST: usize = 100;

/// Contact problems of a run that were not solved.
pub struct Unsolved {
    folder: Option<PathBuf>,
    saved: Vec<PathBuf>,
    failure: Option<ContactError>,
    is_noted: bool,
}

impl Unsolved {
    /// Saves problems in a folder, where one is given.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, saved: Vec::new(), failure: None, is_noted: false }
    }

    /// A step was taken all the same. The first one is worth a line.
    pub fn note(&mut self, simulation: &Simulation, report: &StepReport, policy: Policy) {
        if policy == Policy::Warn && !self.is_noted {
            let (time, rel) = (report.time, report.residual.rel);
            tell!("warning: step to t = {time}: the contact problem was not solved: its residual is {rel:.3e}");
            tell!("         the run goes on with the best impulses found, and counts such steps");
        }
        self.is_noted = true;
        self.save(simulation, simulation.state().steps);
    }

    /// Saves the problem of the last step that was tried, by its number.
    pub fn save(&mut self, simulation: &Simulation, step: u64) {
        let problem = simulation.unsolved_problem().or_else(|| simulation.contact_problem());
        let (Some(folder), Some(problem)) = (&self.folder, problem) else { return };
        if self.saved.len() >= MOST || self.failure.is_some() {
            return;
        }
        let path = folder.join(format!("contact-{step:06}.npz"));
        let io = |source| ContactError::Io { path: folder.clone(), source };
        match std::fs::create_dir_all(folder).map_err(io).and_then(|()| store::write_problem(&path, problem)) {
            Ok(()) => self.saved.push(path),
            Err(error) => self.failure = Some(error),
        }
    }

    /// Whether the disk took what was to be saved. A problem that has no file format is worth a warning only.
    pub fn result(&self) -> Result<(), Failure> {
        match &self.failure {
            Some(error @ ContactError::Io { .. }) => Err(Failure::Io(failed_to_save(error))),
            Some(error) => {
                tell!("warning: {}", failed_to_save(error));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// What the user may do about a step that was not solved.
    pub fn advice(&self, folder: &Path) -> String {
        let go_on = "--policy warn goes on with the best impulses found";
        match (&self.failure, self.saved.last()) {
            (Some(error), _) => failed_to_save(error),
            (None, Some(path)) => {
                let path = path.display();
                format!("`signorini solve {path}` solves its problem alone, --solver by another method; {go_on}")
            }
            (None, None) => {
                let folder = folder.display();
                format!(
                    "`signorini run --resume {folder} --save-problem` tries again and saves the problem for `signorini solve`; {go_on}"
                )
            }
        }
    }
}

fn failed_to_save(error: &ContactError) -> String {
    format!("its problem could not be saved: {error}")
}
