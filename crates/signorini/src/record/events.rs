//! `events.jsonl`: one line per event, written as it happens.

use super::RecordError;
use super::folder::EVENTS;
use super::sums::{self, Sum, Sums};
use crate::impulse::EventReport;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The log of a run's events. The file comes into being with the first event.
pub(crate) struct EventLog {
    path: PathBuf,
    file: Option<(File, Sums)>,
    bytes: u64,
    /// Events so far.
    rows: u64,
    /// Sums of what a run that goes on has logged.
    kept: Vec<Sum>,
}

impl EventLog {
    /// Of a new run.
    pub fn create(folder: &Path) -> Self {
        Self { path: folder.join(EVENTS), file: None, bytes: 0, rows: 0, kept: Vec::new() }
    }

    /// Of a run that goes on; what was logged after its checkpoint is dropped.
    pub fn resume(folder: &Path, bytes: u64) -> Result<Self, RecordError> {
        let mut log = Self::create(folder);
        if !log.path.exists() && bytes == 0 {
            return Ok(log);
        }
        let path = &log.path;
        let mut kept = if sums::beside(path).exists() { sums::read(path)? } else { vec![whole(path)?] };
        kept.retain(|sum| sum.bytes <= bytes);
        sums::check(path, &kept)?;
        if kept.last().map_or(0, |sum| sum.bytes) != bytes {
            let what = format!("no record of it ends at byte {bytes}, as the checkpoint says");
            return Err(RecordError::Damaged { path: path.clone(), what });
        }
        (log.bytes, log.rows, log.kept) = (bytes, kept.last().map_or(0, |sum| sum.rows), kept);
        log.open()?;
        Ok(log)
    }

    fn open(&mut self) -> Result<&mut (File, Sums), RecordError> {
        let io = |what| RecordError::io(what, &self.path);
        let opened = match self.file.take() {
            Some(opened) => opened,
            None => {
                let sums = Sums::reopen(&self.path, &self.kept)?;
                let file = OpenOptions::new().create(true).append(true).open(&self.path).map_err(io("open"))?;
                file.set_len(self.bytes).map_err(io("shorten"))?;
                (file, sums)
            }
        };
        Ok(self.file.insert(opened))
    }

    /// Adds the lines of one instant.
    pub fn write(&mut self, events: &[EventReport]) -> Result<(), RecordError> {
        let mut text = String::new();
        for event in events {
            let line = serde_json::to_string(event).map_err(RecordError::format("encode", &self.path))?;
            text.push_str(&line);
            text.push('\n');
        }
        let path = self.path.clone();
        let (bytes, rows) = (self.bytes + text.len() as u64, self.rows + events.len() as u64);
        let (file, sums) = self.open()?;
        file.write_all(text.as_bytes()).map_err(RecordError::io("write", &path))?;
        sums.add(Sum::of(text.as_bytes(), bytes, rows))?;
        (self.bytes, self.rows) = (bytes, rows);
        Ok(())
    }

    /// Waits until all lines are on the disk.
    pub fn sync(&self) -> Result<(), RecordError> {
        let Some((file, sums)) = &self.file else { return Ok(()) };
        file.sync_all().map_err(RecordError::io("write to disk", &self.path))?;
        sums.sync()
    }

    /// Length of the log.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The one record of a log whose run had come to its end; the manifest has vouched for it.
fn whole(path: &Path) -> Result<Sum, RecordError> {
    let text = std::fs::read(path).map_err(RecordError::io("read", path))?;
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    Ok(Sum::of(&text, text.len() as u64, lines as u64))
}
