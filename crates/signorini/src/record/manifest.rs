//! `run.json`: what a folder holds, what made it, and the sums of its files once the run has come to its end.

use super::folder::{CHECKPOINT, EVENTS, MANIFEST, PLOT, SCENE, SUMMARY, Table};
use super::seal::{read_sealed, write_sealed};
use super::{Identity, RecordError, VERSION, sums};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Version of the folder's format. Another one is refused.
pub const FORMAT: u32 = 1;

/// What a folder holds and what made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the folder's format.
    pub format: u32,
    /// Version of the engine.
    pub engine: String,
    /// What started the run, and what has gone on with it: command lines. A program that calls the library may have none.
    pub commands: Vec<String>,
    /// What is being run.
    pub identity: Identity,
    /// The files with their sums; empty as long as the run has not come to an end.
    pub files: BTreeMap<String, FileSum>,
}

/// Size and sum of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSum {
    /// Its size.
    pub bytes: u64,
    /// SHA-256, hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// Of a run that begins or goes on.
    pub fn new(identity: Identity, commands: Vec<String>) -> Self {
        Self { format: FORMAT, engine: VERSION.to_owned(), commands, identity, files: BTreeMap::new() }
    }

    /// Of a folder.
    pub fn read(folder: &Path) -> Result<Self, RecordError> {
        let path = folder.join(MANIFEST);
        if !path.exists() {
            let reason = format!("there is no {MANIFEST}");
            return Err(RecordError::NothingToResume { folder: folder.to_path_buf(), reason });
        }
        let manifest: Self = read_sealed(&path)?;
        if manifest.format != FORMAT {
            let reason = format!("its format is {}, this version knows {FORMAT}", manifest.format);
            return Err(RecordError::Format { action: "read", path, reason });
        }
        Ok(manifest)
    }

    /// Of a run without a checkpoint, which must be one that was killed before its first.
    pub fn of_begun(folder: &Path) -> Result<Self, RecordError> {
        let manifest = Self::read(folder)?;
        if manifest.files.is_empty() {
            return Ok(manifest);
        }
        Err(RecordError::Damaged { path: folder.join(CHECKPOINT), what: "it is missing".to_owned() })
    }

    /// Of a folder that may have none.
    pub fn read_if_there(folder: &Path) -> Result<Option<Self>, RecordError> {
        if folder.join(MANIFEST).exists() { Self::read(folder).map(Some) } else { Ok(None) }
    }

    /// Replaces that of the folder.
    pub fn write(&self, folder: &Path) -> Result<(), RecordError> {
        write_sealed(&folder.join(MANIFEST), self)
    }

    /// At the end of the run: with the sums of all its files.
    pub fn close(mut self, folder: &Path) -> Result<(), RecordError> {
        let mut names: Vec<String> = [SCENE, SUMMARY, CHECKPOINT, EVENTS, PLOT].map(str::to_owned).to_vec();
        names.extend(self.identity.file_hashes.keys().cloned());
        for table in Table::ALL {
            for path in [table.parquet(folder), table.csv(folder)] {
                names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
            }
        }
        for name in names {
            let path = folder.join(&name);
            if path.exists() {
                let sum = FileSum::of(&path).map_err(RecordError::io("read", &path))?;
                self.files.insert(name, sum);
            }
        }
        self.write(folder)
    }

    /// Refuses to go on with tables and events that nothing vouches for: neither sums of their records, nor this manifest.
    pub fn check_tables(&self, folder: &Path) -> Result<(), RecordError> {
        let tables = Table::ALL.map(|table| (table.parquet(folder), table.stream(folder), table.parquet_name()));
        let events = folder.join(EVENTS);
        let events = (events.clone(), sums::beside(&events), EVENTS);
        for (path, vouches, name) in tables.into_iter().chain([events]) {
            if vouches.exists() {
                continue;
            }
            if path.exists() && !self.files.contains_key(name) {
                return Err(RecordError::Damaged { path, what: "nothing has its sum".to_owned() });
            }
            self.check(folder, name)?;
        }
        Ok(())
    }

    /// Compares a file with its sum, where the manifest has one.
    pub fn check(&self, folder: &Path, name: &str) -> Result<(), RecordError> {
        let Some(wanted) = self.files.get(name) else { return Ok(()) };
        let path = folder.join(name);
        let damaged = |what: String| Err(RecordError::Damaged { path: path.clone(), what });
        let size = match fs::metadata(&path) {
            Ok(found) => found.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return damaged("it is missing".to_owned()),
            Err(error) => return Err(RecordError::io("read", &path)(error)),
        };
        if size != wanted.bytes {
            return damaged(format!("it has {size} bytes, {} were written", wanted.bytes));
        }
        if FileSum::of(&path).map_err(RecordError::io("read", &path))? != *wanted {
            return damaged("its sum is not that of what was written".to_owned());
        }
        Ok(())
    }
}

impl FileSum {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        use sha2::{Digest, Sha256};
        let (mut file, mut hash, mut bytes) = (File::open(path)?, Sha256::new(), 0);
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                n => {
                    hash.update(&buffer[..n]);
                    bytes += n as u64;
                }
            }
        }
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { bytes, sha256 })
    }
}
