//! The folder of a recording: file names, and writing so that a file is either whole or not there.

use super::{RecordError, sums};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The result in short.
pub const SUMMARY: &str = "summary.json";
/// From where a run can go on.
pub const CHECKPOINT: &str = "checkpoint.json";
/// The scene as it was run.
pub const SCENE: &str = "scene.toml";
/// What events did.
pub const EVENTS: &str = "events.jsonl";
/// What made the folder, and the sums of its files.
pub const MANIFEST: &str = "run.json";
/// Names the process that writes the folder.
pub const LOCK: &str = "run.lock";
/// Coordinates, speeds and energy at a glance.
pub const PLOT: &str = "plot.svg";
/// The page to look at.
pub const REPORT: &str = "report.html";

/// The tables of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// What moved: one row per recorded instant.
    Trajectory,
    /// How well it was computed: one row per step.
    Steps,
    /// What touched: one row per contact of a recorded step. Only where anything may.
    Contacts,
}

impl Table {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Trajectory, Self::Steps, Self::Contacts];

    /// The file that a running simulation appends to.
    pub fn stream(self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.arrows", self.stem()))
    }

    /// The finished file.
    pub fn parquet(self, folder: &Path) -> PathBuf {
        folder.join(self.parquet_name())
    }

    /// The finished file's name in its folder.
    pub(crate) fn parquet_name(self) -> &'static str {
        match self {
            Self::Trajectory => "trajectory.parquet",
            Self::Steps => "steps.parquet",
            Self::Contacts => "contacts.parquet",
        }
    }

    /// The finished file as text.
    pub fn csv(self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.csv", self.stem()))
    }

    fn stem(self) -> &'static str {
        match self {
            Self::Trajectory => "trajectory",
            Self::Steps => "steps",
            Self::Contacts => "contacts",
        }
    }
}

/// Every file that a run writes, the kept scene left out.
fn run_files(folder: &Path) -> Vec<PathBuf> {
    let names = [MANIFEST, SUMMARY, CHECKPOINT, PLOT, REPORT, EVENTS];
    let mut files: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    files.push(sums::beside(&folder.join(EVENTS)));
    for table in Table::ALL {
        let stream = table.stream(folder);
        files.extend([sums::beside(&stream), stream, table.parquet(folder), table.csv(folder)]);
    }
    files
}

/// Does the folder hold a run, finished or not?
pub fn holds_run(folder: &Path) -> bool {
    run_files(folder).iter().any(|file| file.exists())
}

/// Makes the folder ready for a new run. A run that it holds is refused, or removed with `force`; files that are not
/// a run's are never touched.
pub fn prepare(folder: &Path, force: bool) -> Result<(), RecordError> {
    if holds_run(folder) && !force {
        return Err(RecordError::Occupied { folder: folder.to_path_buf(), what: "a run".to_owned() });
    }
    fs::create_dir_all(folder).map_err(RecordError::io("create folder", folder))?;
    run_files(folder).iter().try_for_each(|file| remove(file).and_then(|()| remove(&beside(file))))
}

/// Removes a file that may be missing.
pub(crate) fn remove(path: &Path) -> Result<(), RecordError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(RecordError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Writes a file beside its place, waits until it is on the disk, and moves it there in one go.
pub(crate) fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    let beside = beside(path);
    let result = (|| {
        let file = File::create(&beside).map_err(RecordError::io("create", &beside))?;
        let mut file = BufWriter::new(file);
        fill(&mut file)?;
        file.flush().map_err(RecordError::io("write", &beside))?;
        file.get_ref().sync_all().map_err(RecordError::io("write to disk", &beside))?;
        fs::rename(&beside, path).map_err(RecordError::io("move into place", path))
    })();
    if result.is_err() {
        // What is half written only takes space, which may be the very thing that is missing.
        let _ = fs::remove_file(&beside);
        return result;
    }
    sync_folder(path)
}

/// Where a file is written before it is whole.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    path.with_file_name(name)
}

/// A moved file is safe only once its folder is on the disk. Systems that cannot do this lose nothing by skipping it.
fn sync_folder(path: &Path) -> Result<(), RecordError> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let opened = File::open(folder).and_then(|folder| folder.sync_all());
        opened.map_err(RecordError::io("write to disk", folder))?;
    }
    Ok(())
}
