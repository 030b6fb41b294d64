//! Whether a folder's recording is whole, and what can be done with it.

use super::folder::{CHECKPOINT, EVENTS, MANIFEST, SCENE, Table, holds_run};
use super::lock::FolderLock;
use super::manifest::{FileSum, Manifest};
use super::{Checkpoint, RecordError, VERSION, sums};
use std::fs;
use std::path::Path;

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A process is writing it.
    Running {
        /// Which one; zero where it is not known.
        process: u32,
    },
    /// It was killed: its tables are streams, whole up to their last record.
    BrokenOff,
    /// It was brought to its end, completed or not.
    Ended,
}

/// What a run in a folder can be gone on with.
#[derive(Debug, Clone, PartialEq)]
pub enum GoingOn {
    /// A checkpoint.
    From {
        /// Its time.
        time: f64,
    },
    /// Its scene and settings alone: it was killed before its first checkpoint.
    Anew,
    /// Nothing.
    Refused {
        /// Why.
        reason: String,
    },
}

/// A file of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Its name in the folder.
    pub name: String,
    /// Its size; zero where it is missing.
    pub bytes: u64,
    /// Rows or events, for one that is appended to.
    pub rows: Option<u64>,
    /// What is wrong with it.
    pub damage: Option<String>,
}

/// What a folder holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What made it; none where that is damaged.
    pub manifest: Option<Manifest>,
    /// How far it has come.
    pub stage: Stage,
    /// Its files.
    pub files: Vec<Checked>,
    /// Whether this version can go on with it.
    pub going_on: GoingOn,
}

impl Verdict {
    /// Whether nothing is damaged.
    pub fn is_whole(&self) -> bool {
        self.files.iter().all(|file| file.damage.is_none())
    }
}

/// Reads every byte of a recording and compares it with its sums.
pub fn verify(folder: &Path) -> Result<Verdict, RecordError> {
    if !holds_run(folder) {
        let reason = "there is none in it".to_owned();
        return Err(RecordError::NothingToResume { folder: folder.to_path_buf(), reason });
    }
    let mut files = Vec::new();
    let manifest = Manifest::read(folder);
    files.push(judged(folder, MANIFEST, None, manifest.as_ref().err()));
    let manifest = manifest.ok();
    let checkpoint = Checkpoint::read_if_there(folder);
    if !matches!(checkpoint, Ok(None)) {
        files.push(judged(folder, CHECKPOINT, None, checkpoint.as_ref().err()));
    }
    let is_closed = manifest.as_ref().is_some_and(|manifest| !manifest.files.is_empty());
    let has_streams = Table::ALL.iter().any(|table| table.stream(folder).exists());
    let stage = match FolderLock::holder(folder) {
        Some(process) => Stage::Running { process },
        None if is_closed && !has_streams => Stage::Ended,
        None => Stage::BrokenOff,
    };
    if let Some(manifest) = &manifest {
        match stage {
            Stage::Ended => {
                // A checkpoint has its own sum, and was judged by it if it is there.
                let is_judged = |name: &&String| *name == CHECKPOINT && !matches!(checkpoint, Ok(None));
                for name in manifest.files.keys().filter(|name| !is_judged(name)) {
                    files.push(judged(folder, name, None, manifest.check(folder, name).err().as_ref()));
                }
            }
            _ => check_scene(folder, manifest, &mut files),
        }
    }
    if stage != Stage::Ended {
        for table in [Table::Trajectory, Table::Steps] {
            if !table.stream(folder).exists() && !table.parquet(folder).exists() {
                let (name, damage) = (table.parquet_name().to_owned(), Some("it is missing".to_owned()));
                files.push(Checked { name, bytes: 0, rows: None, damage });
            }
        }
        let streams = Table::ALL.iter().map(|table| table.stream(folder));
        for path in streams.chain([folder.join(EVENTS)]).filter(|path| path.exists()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let found = sums::read(&path).and_then(|sums| sums::check(&path, &sums).map(|()| sums));
            let rows = found.as_ref().ok().map(|sums| sums.last().map_or(0, |sum| sum.rows));
            files.push(judged(folder, &name, rows, found.as_ref().err()));
        }
    }
    let going_on = judge(manifest.as_ref(), checkpoint, &files);
    Ok(Verdict { manifest, stage, files, going_on })
}

/// The scene of a run that has not come to its end, by what its manifest says of it.
fn check_scene(folder: &Path, manifest: &Manifest, files: &mut Vec<Checked>) {
    let identity = &manifest.identity;
    let hashes = identity.file_hashes.iter().map(|(name, hash)| (name.as_str(), hash));
    for (name, wanted) in [(SCENE, &identity.scene_hash)].into_iter().chain(hashes) {
        let path = folder.join(name);
        let sum = FileSum::of(&path).map_err(RecordError::io("read", &path));
        let outcome = sum.and_then(|sum| match sum.sha256 == *wanted {
            true => Ok(()),
            false => Err(RecordError::Damaged { path, what: "its sum is not that of what was written".to_owned() }),
        });
        files.push(judged(folder, name, None, outcome.err().as_ref()));
    }
}

fn judged(folder: &Path, name: &str, rows: Option<u64>, error: Option<&RecordError>) -> Checked {
    let bytes = fs::metadata(folder.join(name)).map_or(0, |found| found.len());
    let damage = error.map(|error| match error {
        RecordError::Damaged { what, .. } => what.clone(),
        other => other.to_string(),
    });
    Checked { name: name.to_owned(), bytes, rows, damage }
}

fn judge(
    manifest: Option<&Manifest>,
    checkpoint: Result<Option<Checkpoint>, RecordError>,
    files: &[Checked],
) -> GoingOn {
    let refused = |reason: String| GoingOn::Refused { reason };
    let Some(manifest) = manifest else { return refused(format!("{MANIFEST} is damaged or missing")) };
    if manifest.engine != VERSION {
        return refused(format!("it was made by version {}, this is {VERSION}", manifest.engine));
    }
    let is_needed = |file: &&Checked| {
        let drawn = [super::PLOT, super::SUMMARY].contains(&file.name.as_str()) || file.name.ends_with(".csv");
        file.damage.is_some() && !drawn
    };
    if let Some(file) = files.iter().find(is_needed) {
        return refused(format!("{} is damaged", file.name));
    }
    match checkpoint {
        Ok(Some(checkpoint)) => GoingOn::From { time: checkpoint.state.time },
        Ok(None) => GoingOn::Anew,
        Err(error) => refused(error.to_string()),
    }
}
