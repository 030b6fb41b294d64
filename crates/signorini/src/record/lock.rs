//! One writer at a time: a lock that the operating system gives back when its holder ends, however that happens.

use super::RecordError;
use super::folder::LOCK;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The right to write a folder, as long as this value lives.
///
/// The file names the process that holds it; a file that nobody has locked is left over from a kill and means nothing.
pub struct FolderLock {
    path: PathBuf,
    /// Closing it gives the lock back.
    _file: File,
}

impl FolderLock {
    /// Of a folder that is made where it is not there.
    pub fn make(folder: &Path) -> Result<Self, RecordError> {
        fs::create_dir_all(folder).map_err(RecordError::io("create folder", folder))?;
        Self::take(folder)
    }

    /// Of a folder that exists. Refused where another process holds it.
    pub fn take(folder: &Path) -> Result<Self, RecordError> {
        let path = folder.join(LOCK);
        loop {
            let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = opened.map_err(RecordError::io("create", &path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let holder = read_holder(&mut file);
                    return Err(RecordError::Busy { folder: folder.to_path_buf(), holder });
                }
                // A file system without locks: nothing can be promised there, and nothing is lost.
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(RecordError::io("lock", &path)(error)),
            }
            // Its last holder removes the file: what was locked may not be what is there now.
            if !is_there(&file, &path) {
                continue;
            }
            let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
            written.map_err(RecordError::io("write", &path))?;
            return Ok(Self { path, _file: file });
        }
    }

    /// The process that holds a folder, if one does. Zero where it has not said its name yet.
    pub fn holder(folder: &Path) -> Option<u32> {
        let mut file = OpenOptions::new().read(true).write(true).open(folder.join(LOCK)).ok()?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Some(read_holder(&mut file)),
            _ => None,
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // While it is still locked, so that nobody can have taken it meanwhile. What stays means nothing.
        let _ = fs::remove_file(&self.path);
    }
}

fn read_holder(file: &mut File) -> u32 {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok()).unwrap_or(0)
}

#[cfg(unix)]
fn is_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |found: fs::Metadata| (found.dev(), found.ino());
    file.metadata().map(place).ok() == fs::metadata(path).map(place).ok()
}

/// A file that is open cannot be removed here.
#[cfg(not(unix))]
fn is_there(_: &File, _: &Path) -> bool {
    true
}
