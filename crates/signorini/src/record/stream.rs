//! The file a running simulation appends to: an Arrow IPC stream, one record batch per flush.
//!
//! Such a stream can be read up to its last whole batch at any moment, by this engine and by others. There is no
//! end-of-stream mark: a stream that is still in this format is one whose run has not been brought to an end.

use super::RecordError;
use super::arrow::{self, StreamSchema};
use super::sums::{self, Sum, Sums};
use super::table::{Chunk, Field};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Values in memory before a batch is written: 2 MiB of numbers.
const BATCH_VALUES: usize = 1 << 18;
/// Rows in memory before a batch is written, however many or few the columns. Each column of a batch has a price of
/// its own, which a single row would not be worth.
const BATCH_ROWS: (usize, usize) = (16, 4096);

/// Bytes before a message's header: a mark, and the header's length.
const PREFIX: usize = 8;

/// An append-only table.
pub(crate) struct Stream {
    path: PathBuf,
    file: File,
    sums: Sums,
    schema: StreamSchema,
    pending: Chunk,
    batch_rows: usize,
    /// Rows and bytes that are whole in the file.
    rows: u64,
    bytes: u64,
}

impl Stream {
    /// A new, empty stream.
    pub(crate) fn create(path: &Path, fields: &[Field]) -> Result<Self, RecordError> {
        let sums = Sums::create(path)?;
        let file = File::create(path).map_err(RecordError::io("create", path))?;
        let schema = StreamSchema::new(fields).map_err(RecordError::format("describe", path))?;
        let mut stream = Self::assemble(path, (file, sums), schema, fields);
        let head = stream.schema.head().to_vec();
        stream.write(&head, 0)?;
        Ok(stream)
    }

    /// An existing stream, cut back to its first `rows` rows.
    pub(crate) fn reopen(path: &Path, fields: &[Field], rows: u64) -> Result<Self, RecordError> {
        let sums = sums::read(path)?;
        let last = sums.iter().rposition(|sum| sum.rows <= rows).map_or(0, |last| last + 1);
        // What came after the checkpoint is dropped, whatever it is.
        let kept = &sums[..last];
        sums::check(path, kept)?;
        let found = read_fields(path)?;
        let fail = |reason: String| RecordError::Format { action: "go on with", path: path.to_path_buf(), reason };
        if found != fields {
            return Err(fail("its columns are not those of this run".to_owned()));
        }
        let ends = scan(path)?;
        let end = ends.iter().find(|end| end.rows == rows).ok_or_else(|| {
            let last = ends.last().map_or(0, |end| end.rows);
            fail(format!("it holds {last} whole rows and none of its batches ends at row {rows}"))
        })?;
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(RecordError::io("open", path))?;
        file.set_len(end.bytes).map_err(RecordError::io("cut back", path))?;
        let schema = StreamSchema::new(fields).map_err(RecordError::format("describe", path))?;
        let sums = Sums::reopen(path, kept)?;
        let mut stream = Self::assemble(path, (file, sums), schema, fields);
        (stream.rows, stream.bytes) = (end.rows, end.bytes);
        Ok(stream)
    }

    fn assemble(path: &Path, (file, sums): (File, Sums), schema: StreamSchema, fields: &[Field]) -> Self {
        let batch_rows = (BATCH_VALUES / fields.len().max(1)).clamp(BATCH_ROWS.0, BATCH_ROWS.1);
        let pending = Chunk::new(fields);
        Self { path: path.to_path_buf(), file, sums, schema, pending, batch_rows, rows: 0, bytes: 0 }
    }

    /// The rows not yet in the file; to be followed by [`Stream::advance`] after each row.
    pub(crate) fn pending(&mut self) -> &mut Chunk {
        &mut self.pending
    }

    /// Counts a row that was added to every column, and writes a batch when it is full.
    pub(crate) fn advance(&mut self) -> Result<(), RecordError> {
        self.pending.rows += 1;
        if self.pending.rows >= self.batch_rows { self.flush() } else { Ok(()) }
    }

    /// Appends rows of another table of the same columns.
    pub(crate) fn append(&mut self, chunk: &Chunk, start: usize, count: usize) -> Result<(), RecordError> {
        self.pending.append(chunk, start, count);
        if self.pending.rows >= self.batch_rows { self.flush() } else { Ok(()) }
    }

    /// Hands all rows to the operating system: they survive the end of this process, however it comes.
    pub(crate) fn flush(&mut self) -> Result<(), RecordError> {
        if self.pending.rows == 0 {
            return Ok(());
        }
        let rows = self.pending.rows as u64;
        let batch = self.schema.encode(&self.pending).map_err(RecordError::format("encode rows for", &self.path))?;
        self.write(&batch, rows)?;
        self.pending = self.schema.empty_chunk();
        Ok(())
    }

    /// Flushes, and waits until the rows are on the disk: they survive the end of the machine, too.
    pub(crate) fn sync(&mut self) -> Result<(), RecordError> {
        self.flush()?;
        self.file.sync_data().map_err(RecordError::io("write to disk", &self.path))?;
        self.sums.sync()
    }

    /// Rows in the file.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Writes a message so that a kill in the middle of it leaves a stream that other readers can open, too: what
    /// follows the prefix first, and then the prefix. Until it is there, eight zeros stand in its place, and to every
    /// reader a length of zero is the end of the stream.
    fn write(&mut self, message: &[u8], rows: u64) -> Result<(), RecordError> {
        let (prefix, rest) = message.split_at(PREFIX.min(message.len()));
        let written = (|| {
            self.file.seek(SeekFrom::Start(self.bytes + prefix.len() as u64))?;
            self.file.write_all(rest)?;
            self.file.seek(SeekFrom::Start(self.bytes))?;
            self.file.write_all(prefix)
        })();
        if let Err(error) = written {
            // Half a message is worth nothing: leave the file as it was. If even that fails, readers drop the tail.
            let _ = self.file.set_len(self.bytes);
            return Err(RecordError::io("append to", &self.path)(error));
        }
        self.rows += rows;
        self.bytes += message.len() as u64;
        self.sums.add(Sum::of(message, self.bytes, self.rows))
    }
}

/// A place in a stream where a message ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchEnd {
    /// Rows up to here.
    pub(crate) rows: u64,
    /// Bytes up to here.
    pub(crate) bytes: u64,
}

/// Finds the ends of all whole messages, the schema's first. A tail that was cut off is left out.
pub(crate) fn scan(path: &Path) -> Result<Vec<BatchEnd>, RecordError> {
    let io = || RecordError::io("read", path);
    let mut file = File::open(path).map_err(io())?;
    let length = file.metadata().map_err(io())?.len();
    let mut ends = Vec::new();
    let mut at = BatchEnd { rows: 0, bytes: 0 };
    let mut prefix = [0; PREFIX];
    let mut header = Vec::new();
    // A message: four bytes of ones, the header's length, the header, a body of the length the header names.
    while at.bytes + 8 <= length {
        file.seek(SeekFrom::Start(at.bytes)).map_err(io())?;
        file.read_exact(&mut prefix).map_err(io())?;
        if prefix == [0; PREFIX] {
            break;
        }
        let (mark, size) = prefix.split_at(4);
        let size = u64::from(u32::from_le_bytes([size[0], size[1], size[2], size[3]]));
        if mark != [0xff; 4] {
            let reason = format!("byte {} is not the beginning of a message", at.bytes);
            return Err(RecordError::Format { action: "read", path: path.to_path_buf(), reason });
        }
        if size == 0 || at.bytes + 8 + size > length {
            break;
        }
        header.resize(size as usize, 0);
        file.read_exact(&mut header).map_err(io())?;
        let (rows, body) = arrow::read_header(&header).map_err(RecordError::format("read", path))?;
        let end = (at.bytes + 8 + size).checked_add(body).filter(|&end| end <= length);
        let Some(end) = end else { break };
        at = BatchEnd { rows: at.rows.saturating_add(rows), bytes: end };
        ends.push(at);
    }
    Ok(ends)
}

/// The columns of a stream.
pub(crate) fn read_fields(path: &Path) -> Result<Vec<Field>, RecordError> {
    StreamReader::open(path, None).map(|reader| reader.fields)
}

/// The whole batches of a stream, one after another.
pub(crate) struct StreamReader {
    path: PathBuf,
    /// The columns, in order; those chosen, where some were.
    pub(crate) fields: Vec<Field>,
    batches: arrow::Batches<std::io::Take<std::io::BufReader<File>>>,
}

impl StreamReader {
    /// Opens a stream for reading, all columns or those at the given places.
    ///
    /// Every batch is compared with its sum first. One that has none was under way when its process ended, and is left out.
    pub(crate) fn open(path: &Path, chosen: Option<Vec<usize>>) -> Result<Self, RecordError> {
        let mut sums = sums::read(path)?;
        let length = std::fs::metadata(path).map_err(RecordError::io("read", path))?.len();
        // A failure of power may take what was not yet on the disk.
        sums.retain(|sum| sum.bytes <= length);
        sums::check(path, &sums)?;
        let ends = scan(path)?;
        let bytes = sums.last().map_or(0, |sum| sum.bytes);
        let Some(end) = ends.iter().rfind(|end| end.bytes <= bytes) else {
            let reason = "it was cut off before its first message was whole".to_owned();
            return Err(RecordError::Format { action: "read", path: path.to_path_buf(), reason });
        };
        let file = File::open(path).map_err(RecordError::io("open", path))?;
        let whole = std::io::BufReader::new(file).take(end.bytes);
        let (fields, batches) = arrow::open(whole, chosen).map_err(RecordError::format("read", path))?;
        Ok(Self { path: path.to_path_buf(), fields, batches })
    }

    /// The next batch, if any.
    pub(crate) fn next_chunk(&mut self) -> Result<Option<Chunk>, RecordError> {
        self.batches.next_chunk(&self.fields).map_err(RecordError::format("read", &self.path))
    }
}
