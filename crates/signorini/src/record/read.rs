//! Opens a recording: the finished files, or the streams of a run that is still going or was killed.

use super::folder::{EVENTS, SUMMARY, Table};
use super::parquet::ParquetReader;
use super::stream::StreamReader;
use super::table::{Chunk, Column, Field, Kind};
use super::{Manifest, RecordError, Summary, sums};
use crate::impulse::EventReport;
use std::fs;
use std::path::{Path, PathBuf};

/// A recording on the disk. Only its columns' names are in memory; values are read when asked for.
#[derive(Debug, Clone)]
pub struct Recording {
    folder: PathBuf,
    trajectory: Vec<Field>,
    steps: Vec<Field>,
    /// Empty where no contacts were recorded.
    contacts: Vec<Field>,
}

impl Recording {
    /// Opens the recording in a folder.
    pub fn open(folder: &Path) -> Result<Self, RecordError> {
        if let Some(manifest) = Manifest::read_if_there(folder)? {
            for table in Table::ALL.into_iter().filter(|table| !table.stream(folder).exists()) {
                manifest.check(folder, table.parquet_name())?;
            }
        }
        let fields = |table| TableReader::open(table, folder).map(|reader| reader.fields().to_vec());
        let (trajectory, steps) = (fields(Table::Trajectory)?, fields(Table::Steps)?);
        let has_contacts = Table::Contacts.stream(folder).exists() || Table::Contacts.parquet(folder).exists();
        let contacts = if has_contacts { fields(Table::Contacts)? } else { Vec::new() };
        Ok(Self { folder: folder.to_path_buf(), trajectory, steps, contacts })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The summary; none as long as the run has not come to an end.
    pub fn summary(&self) -> Result<Option<Summary>, RecordError> {
        let path = self.folder.join(SUMMARY);
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).map_err(RecordError::io("read", &path))?;
        serde_json::from_str(&text).map(Some).map_err(RecordError::format("read", &path))
    }

    /// What its events did, in the order in which they happened.
    pub fn events(&self) -> Result<Vec<EventReport>, RecordError> {
        let path = self.folder.join(EVENTS);
        if !path.exists() {
            return Ok(Vec::new());
        }
        let mut whole = usize::MAX;
        if sums::beside(&path).exists() {
            let sums = sums::read(&path)?;
            sums::check(&path, &sums)?;
            // A kill may have left more lines at the end, or half a line.
            whole = sums.last().map_or(0, |sum| sum.bytes as usize);
        } else if let Some(manifest) = Manifest::read_if_there(&self.folder)? {
            manifest.check(&self.folder, EVENTS)?;
        }
        let text = fs::read_to_string(&path).map_err(RecordError::io("read", &path))?;
        let lines = text.get(..whole.min(text.len())).unwrap_or(&text).lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().map_err(RecordError::format("read", &path))
    }

    /// Names and kinds of a table's columns, in order.
    pub fn fields(&self, table: Table) -> &[Field] {
        match table {
            Table::Trajectory => &self.trajectory,
            Table::Steps => &self.steps,
            Table::Contacts => &self.contacts,
        }
    }

    /// One column of numbers; where there is none, NaN.
    pub fn column(&self, table: Table, name: &str) -> Result<Vec<f64>, RecordError> {
        Ok(self.columns(table, &[name])?.swap_remove(0))
    }

    /// Several columns of numbers in one go, in the order asked for.
    pub fn columns(&self, table: Table, names: &[&str]) -> Result<Vec<Vec<f64>>, RecordError> {
        let columns = self.read(table, names, |kind| kind != Kind::Text)?;
        Ok(columns.into_iter().filter_map(Column::into_numbers).collect())
    }

    /// One column of words.
    pub fn words(&self, table: Table, name: &str) -> Result<Vec<String>, RecordError> {
        match self.read(table, &[name], |kind| kind == Kind::Text)?.swap_remove(0) {
            Column::Text(words) => Ok(words),
            _ => Ok(Vec::new()),
        }
    }

    /// Several columns of numbers, piece by piece: for recordings of any length.
    pub fn scan(&self, table: Table, names: &[&str], mut take: impl FnMut(&[Vec<f64>])) -> Result<(), RecordError> {
        self.read_pieces(
            table,
            names,
            |kind| kind != Kind::Text,
            |columns| {
                let numbers: Vec<Vec<f64>> = columns.into_iter().filter_map(Column::into_numbers).collect();
                take(&numbers);
            },
        )
    }

    fn read(&self, table: Table, names: &[&str], fits: fn(Kind) -> bool) -> Result<Vec<Column>, RecordError> {
        let mut all: Option<Vec<Column>> = None;
        self.read_pieces(table, names, fits, |columns| match &mut all {
            None => all = Some(columns),
            Some(all) => {
                for (to, from) in all.iter_mut().zip(&columns) {
                    to.append(from, 0, from.len());
                }
            }
        })?;
        let kind = |name: &&str| self.fields(table).iter().find(|field| field.name == **name).map(|field| field.kind);
        Ok(all.unwrap_or_else(|| names.iter().filter_map(kind).map(Column::empty).collect()))
    }

    fn read_pieces(
        &self,
        table: Table,
        names: &[&str],
        fits: fn(Kind) -> bool,
        mut take: impl FnMut(Vec<Column>),
    ) -> Result<(), RecordError> {
        let fields = self.fields(table);
        let find = |name: &&str| {
            let place = fields.iter().position(|field| field.name == **name && fits(field.kind));
            let path = table.parquet(&self.folder);
            place.ok_or_else(|| RecordError::NoColumn { path, column: (*name).to_owned() })
        };
        let places = names.iter().map(find).collect::<Result<Vec<usize>, _>>()?;
        // Readers give columns in the order of the file and each one once.
        let mut in_order = places.clone();
        in_order.sort_unstable();
        in_order.dedup();
        let mut reader = TableReader::open(table, &self.folder)?;
        reader.choose(in_order.clone())?;
        while let Some(chunk) = reader.next_chunk()? {
            let wanted = places.iter().filter_map(|place| in_order.binary_search(place).ok());
            take(wanted.map(|i| chunk.columns[i].clone()).collect());
        }
        Ok(())
    }
}

/// A table of a recording, wherever it is.
enum TableReader {
    Stream(Box<StreamReader>, PathBuf),
    Parquet(Box<ParquetReader>),
}

impl TableReader {
    /// Where both files exist the stream counts: the other one is removed only after it, and made only from it.
    fn open(table: Table, folder: &Path) -> Result<Self, RecordError> {
        let stream = table.stream(folder);
        if stream.exists() {
            Ok(Self::Stream(Box::new(StreamReader::open(&stream, None)?), stream))
        } else {
            Ok(Self::Parquet(Box::new(ParquetReader::open(&table.parquet(folder))?)))
        }
    }

    fn fields(&self) -> &[Field] {
        match self {
            Self::Stream(reader, _) => &reader.fields,
            Self::Parquet(reader) => &reader.fields,
        }
    }

    fn choose(&mut self, places: Vec<usize>) -> Result<(), RecordError> {
        match self {
            Self::Stream(reader, path) => **reader = StreamReader::open(path, Some(places))?,
            Self::Parquet(reader) => reader.choose(places),
        }
        Ok(())
    }

    fn next_chunk(&mut self) -> Result<Option<Chunk>, RecordError> {
        match self {
            Self::Stream(reader, _) => reader.next_chunk(),
            Self::Parquet(reader) => reader.next_chunk(),
        }
    }
}
