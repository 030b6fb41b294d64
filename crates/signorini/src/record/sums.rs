//! Sums of the records of a file that is appended to: one line per record, in a file beside it.
//!
//! A record is a batch of rows, or the lines of the events of one instant. Its line is written after it, so that a record without a line
//! was under way when the process ended, and does not count. A line has its own sum.

use super::RecordError;
use super::folder::write_whole;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The end of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sum {
    /// Bytes of the file up to here.
    pub bytes: u64,
    /// Rows up to here.
    pub rows: u64,
    /// Checksum of the record.
    pub sum: u32,
}

/// Writes the sums of a file.
pub(crate) struct Sums {
    path: PathBuf,
    file: File,
}

/// Where the sums of a file are.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".sums");
    path.with_file_name(name)
}

impl Sums {
    /// Of a new file, made before it.
    pub fn create(of: &Path) -> Result<Self, RecordError> {
        let path = beside(of);
        let file = File::create(&path).map_err(RecordError::io("create", &path))?;
        Ok(Self { path, file })
    }

    /// Of a file that is gone on with: these are kept.
    pub fn reopen(of: &Path, kept: &[Sum]) -> Result<Self, RecordError> {
        let path = beside(of);
        let text: String = kept.iter().map(Sum::line).collect();
        write_whole(&path, |file| file.write_all(text.as_bytes()).map_err(RecordError::io("write", &path)))?;
        let file = OpenOptions::new().append(true).open(&path).map_err(RecordError::io("open", &path))?;
        Ok(Self { path, file })
    }

    /// Adds the sum of a record.
    pub fn add(&mut self, sum: Sum) -> Result<(), RecordError> {
        self.file.write_all(sum.line().as_bytes()).map_err(RecordError::io("append to", &self.path))
    }

    /// Waits until they are on the disk.
    pub fn sync(&self) -> Result<(), RecordError> {
        self.file.sync_data().map_err(RecordError::io("write to disk", &self.path))
    }
}

impl Sum {
    /// After the record that ends at `bytes`.
    pub fn of(record: &[u8], bytes: u64, rows: u64) -> Self {
        Self { bytes, rows, sum: crc32fast::hash(record) }
    }

    fn line(&self) -> String {
        let text = format!("{} {} {:08x}", self.bytes, self.rows, self.sum);
        format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes()))
    }

    fn read(line: &str) -> Option<Self> {
        let (text, own) = line.rsplit_once(' ')?;
        if u32::from_str_radix(own, 16).ok()? != crc32fast::hash(text.as_bytes()) {
            return None;
        }
        let mut words = text.split(' ');
        let bytes = words.next()?.parse().ok()?;
        let rows = words.next()?.parse().ok()?;
        Some(Self { bytes, rows, sum: u32::from_str_radix(words.next()?, 16).ok()? })
    }
}

/// The sums of a file, in order. Half a line at the end was under way.
pub(crate) fn read(of: &Path) -> Result<Vec<Sum>, RecordError> {
    let path = beside(of);
    let text = fs::read(&path).map_err(RecordError::io("read", &path))?;
    let damaged = |line: usize| {
        let what = format!("line {line} is not what was written");
        RecordError::Damaged { path: path.clone(), what }
    };
    let text = String::from_utf8(text).map_err(|_| damaged(1))?;
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let mut sums: Vec<Sum> = Vec::new();
    for (i, line) in whole.lines().enumerate() {
        let sum = Sum::read(line).ok_or_else(|| damaged(i + 1))?;
        if sums.last().is_some_and(|before| before.bytes >= sum.bytes || before.rows > sum.rows) {
            return Err(damaged(i + 1));
        }
        sums.push(sum);
    }
    Ok(sums)
}

/// Compares the first records of a file with their sums. What comes after them is not looked at.
pub(crate) fn check(of: &Path, sums: &[Sum]) -> Result<(), RecordError> {
    let mut file = File::open(of).map_err(RecordError::io("open", of))?;
    let length = file.metadata().map_err(RecordError::io("read", of))?.len();
    let mut record = Vec::new();
    let mut at = Sum { bytes: 0, rows: 0, sum: 0 };
    for sum in sums {
        let damaged = |what: &str| {
            let what = format!("the record of rows {} to {} {what}", at.rows, sum.rows);
            RecordError::Damaged { path: of.to_path_buf(), what }
        };
        // Sizes are compared before memory is asked for.
        if sum.bytes > length {
            return Err(damaged("is cut off"));
        }
        record.resize((sum.bytes - at.bytes) as usize, 0);
        file.read_exact(&mut record).map_err(RecordError::io("read", of))?;
        if crc32fast::hash(&record) != sum.sum {
            return Err(damaged("is not what was written"));
        }
        at = *sum;
    }
    Ok(())
}
