//! Between our columns and Parquet files.
//!
//! The bytes of a file depend on its rows alone: every row group but the last has the same number of rows, and each
//! column of a group is written in one piece.

use super::RecordError;
use super::folder::write_whole;
use super::stream::StreamReader;
use super::table::{Chunk, Column, Field, Kind, Regroup};
use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Values in a row group: 32 MiB of numbers, which bounds the memory that writing and reading take.
const GROUP_VALUES: usize = 1 << 22;
/// Rows in a row group, however few the columns.
const GROUP_ROWS: usize = 1 << 16;

/// Rows in a row group of a table of so many columns.
pub(crate) fn group_rows(n_columns: usize) -> usize {
    (GROUP_VALUES / n_columns.max(1)).clamp(1, GROUP_ROWS)
}

/// Makes a Parquet file of the whole batches of a stream.
pub(crate) fn convert(stream: &Path, parquet: &Path) -> Result<(), RecordError> {
    let mut reader = StreamReader::open(stream, None)?;
    let fields = reader.fields.clone();
    write_whole(parquet, |file| {
        let fail = || RecordError::format("write", parquet);
        let mut writer = Writer::new(file, &fields).map_err(fail())?;
        let mut groups = Regroup::new(&fields, group_rows(fields.len()));
        while let Some(chunk) = reader.next_chunk()? {
            groups.add(&chunk, |group| writer.write(group)).map_err(fail())?;
        }
        groups.rest().map_or(Ok(()), |group| writer.write(&group)).map_err(fail())?;
        writer.file.finish().map(|_| ()).map_err(fail())
    })
}

struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
}

impl<W: Write + Send> Writer<W> {
    fn new(sink: W, fields: &[Field]) -> Result<Self, ParquetError> {
        let columns = fields.iter().map(|field| parquet_type(field).map(Arc::new)).collect::<Result<_, _>>()?;
        let schema = Type::group_type_builder("table").with_fields(columns).build()?;
        // Neighbouring numbers of a smooth motion share sign, exponent and leading digits: with like bytes side by
        // side a fast compressor finds them. Dictionaries and statistics are of no use to measured numbers.
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("signorini ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_encoding(Encoding::BYTE_STREAM_SPLIT)
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true);
        for field in fields.iter().filter(|field| field.kind == Kind::Text) {
            let path = ColumnPath::new(vec![field.name.clone()]);
            properties =
                properties.set_column_encoding(path.clone(), Encoding::PLAIN).set_column_dictionary_enabled(path, true);
        }
        let file = SerializedFileWriter::new(sink, Arc::new(schema), Arc::new(properties.build()))?;
        Ok(Self { file })
    }

    fn write(&mut self, group: &Chunk) -> Result<(), ParquetError> {
        let mut row_group = self.file.next_row_group()?;
        for column in &group.columns {
            let Some(mut writer) = row_group.next_column()? else {
                break;
            };
            match column {
                Column::Float(values) => writer.typed::<DoubleType>().write_batch(values, None, None)?,
                Column::Count(values) => writer.typed::<Int64Type>().write_batch(values, None, None)?,
                Column::Text(values) => {
                    let values: Vec<ByteArray> = values.iter().map(|text| text.as_str().into()).collect();
                    writer.typed::<ByteArrayType>().write_batch(&values, None, None)?
                }
                Column::NullableFloat { values, missing } if missing.is_empty() => {
                    writer.typed::<DoubleType>().write_batch(values, Some(&vec![1; values.len()]), None)?
                }
                Column::NullableFloat { values, missing } => {
                    let levels: Vec<i16> = missing.iter().map(|&gap| i16::from(!gap)).collect();
                    let present = values.iter().zip(missing).filter(|(_, gap)| !**gap);
                    let present: Vec<f64> = present.map(|(value, _)| *value).collect();
                    writer.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?
                }
            };
            writer.close()?;
        }
        row_group.close().map(|_| ())
    }
}

fn parquet_type(field: &Field) -> Result<Type, ParquetError> {
    let (physical, repetition) = match field.kind {
        Kind::Float => (Physical::DOUBLE, Repetition::REQUIRED),
        Kind::NullableFloat => (Physical::DOUBLE, Repetition::OPTIONAL),
        Kind::Count => (Physical::INT64, Repetition::REQUIRED),
        Kind::Text => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
    };
    let builder = Type::primitive_type_builder(&field.name, physical).with_repetition(repetition);
    if field.kind == Kind::Text {
        builder.with_converted_type(ConvertedType::UTF8).with_logical_type(Some(LogicalType::String)).build()
    } else {
        builder.build()
    }
}

/// The row groups of a file, one after another.
pub(crate) struct ParquetReader {
    path: PathBuf,
    file: SerializedFileReader<File>,
    /// The columns, in order; those chosen, where some were.
    pub(crate) fields: Vec<Field>,
    places: Vec<usize>,
    next_group: usize,
}

impl ParquetReader {
    /// Opens a file for reading.
    pub(crate) fn open(path: &Path) -> Result<Self, RecordError> {
        let file = File::open(path).map_err(RecordError::io("open", path))?;
        let file = SerializedFileReader::new(file).map_err(RecordError::format("read", path))?;
        let schema = file.metadata().file_metadata().schema_descr();
        let mut fields = Vec::new();
        for column in schema.columns() {
            let kind = match (column.physical_type(), column.max_def_level()) {
                (Physical::DOUBLE, 0) => Kind::Float,
                (Physical::DOUBLE, 1) => Kind::NullableFloat,
                (Physical::INT64, 0) => Kind::Count,
                (Physical::BYTE_ARRAY, 0) => Kind::Text,
                (other, _) => {
                    let reason = format!("column `{}` is of an unexpected kind {other}", column.name());
                    return Err(RecordError::Format { action: "read", path: path.to_path_buf(), reason });
                }
            };
            fields.push(Field { name: column.name().to_owned(), kind });
        }
        let places = (0..fields.len()).collect();
        Ok(Self { path: path.to_path_buf(), file, fields, places, next_group: 0 })
    }

    /// Reads only the columns at these places.
    pub(crate) fn choose(&mut self, places: Vec<usize>) {
        self.fields = places.iter().filter_map(|&place| self.fields.get(place).cloned()).collect();
        self.places = places;
    }

    /// The next row group, if any.
    pub(crate) fn next_chunk(&mut self) -> Result<Option<Chunk>, RecordError> {
        if self.next_group >= self.file.num_row_groups() {
            return Ok(None);
        }
        let chunk = self.read_group().map_err(RecordError::format("read", &self.path))?;
        self.next_group += 1;
        Ok(Some(chunk))
    }

    fn read_group(&self) -> Result<Chunk, ParquetError> {
        let group = self.file.get_row_group(self.next_group)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let columns = self.places.iter().map(|&place| read_column(group.get_column_reader(place)?, rows));
        Ok(Chunk { rows, columns: columns.collect::<Result<_, _>>()? })
    }
}

fn read_column(reader: ColumnReader, rows: usize) -> Result<Column, ParquetError> {
    let mut levels = Vec::new();
    let (column, found) = match reader {
        ColumnReader::DoubleColumnReader(mut reader) => {
            let mut values = Vec::with_capacity(rows.min(GROUP_ROWS));
            let (found, _, _) = reader.read_records(rows, Some(&mut levels), None, &mut values)?;
            if levels.is_empty() { (Column::Float(values), found) } else { (spread(&values, &levels), found) }
        }
        ColumnReader::Int64ColumnReader(mut reader) => {
            let mut values = Vec::with_capacity(rows.min(GROUP_ROWS));
            let (found, _, _) = reader.read_records(rows, None, None, &mut values)?;
            (Column::Count(values), found)
        }
        ColumnReader::ByteArrayColumnReader(mut reader) => {
            let mut values: Vec<ByteArray> = Vec::new();
            let (found, _, _) = reader.read_records(rows, None, None, &mut values)?;
            let texts = values.iter().map(|value| value.as_utf8().map(str::to_owned));
            (Column::Text(texts.collect::<Result<_, _>>()?), found)
        }
        _ => {
            return Err(ParquetError::General("a column is of an unexpected kind".to_owned()));
        }
    };
    if found != rows {
        return Err(ParquetError::General(format!("a column holds {found} of {rows} rows")));
    }
    Ok(column)
}

/// Puts values where there are some, and gaps between them.
fn spread(values: &[f64], levels: &[i16]) -> Column {
    let mut column = Column::empty(Kind::NullableFloat);
    let mut values = values.iter();
    for &level in levels {
        match level {
            0 => column.push_number(0.0, true),
            _ => column.push_number(values.next().copied().unwrap_or(f64::NAN), false),
        }
    }
    column
}
