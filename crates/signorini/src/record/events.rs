//! `events.jsonl`: one line per event, written as it happens.

use super::RecordError;
use super::folder::EVENTS;
use crate::impulse::EventReport;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The log of a run's events. The file comes into being with the first event.
pub(crate) struct EventLog {
    path: PathBuf,
    file: Option<File>,
    bytes: u64,
}

impl EventLog {
    /// Of a new run.
    pub fn create(folder: &Path) -> Self {
        Self { path: folder.join(EVENTS), file: None, bytes: 0 }
    }

    /// Of a run that goes on; what was logged after its checkpoint is dropped.
    pub fn resume(folder: &Path, bytes: u64) -> Result<Self, RecordError> {
        let mut log = Self { bytes, ..Self::create(folder) };
        if log.path.exists() {
            log.open()?;
        }
        Ok(log)
    }

    fn open(&mut self) -> Result<&mut File, RecordError> {
        let io = |what| RecordError::io(what, &self.path);
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let file = OpenOptions::new().create(true).append(true).open(&self.path).map_err(io("open"))?;
                file.set_len(self.bytes).map_err(io("shorten"))?;
                file
            }
        };
        Ok(self.file.insert(file))
    }

    /// Adds lines.
    pub fn write(&mut self, events: &[EventReport]) -> Result<(), RecordError> {
        let mut text = String::new();
        for event in events {
            let line = serde_json::to_string(event).map_err(RecordError::format("encode", &self.path))?;
            text.push_str(&line);
            text.push('\n');
        }
        let path = self.path.clone();
        self.open()?.write_all(text.as_bytes()).map_err(RecordError::io("write", &path))?;
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// Waits until all lines are on the disk.
    pub fn sync(&self) -> Result<(), RecordError> {
        self.file.as_ref().map_or(Ok(()), |f| f.sync_all().map_err(RecordError::io("write to disk", &self.path)))
    }

    /// Length of the log.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
