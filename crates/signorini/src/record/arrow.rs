//! Between our columns and Arrow's.

use super::table::{Chunk, Column, Field, Kind};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray};
use arrow_buffer::NullBuffer;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use std::io::Read;
use std::sync::Arc;

/// Encodes batches of one schema for appending to a stream.
pub(crate) struct StreamSchema {
    fields: Vec<Field>,
    schema: SchemaRef,
    writer: StreamWriter<Vec<u8>>,
    head: Vec<u8>,
}

impl StreamSchema {
    pub(crate) fn new(fields: &[Field]) -> Result<Self, ArrowError> {
        let arrow_fields: Vec<arrow_schema::Field> = fields.iter().map(arrow_field).collect();
        let schema = Arc::new(Schema::new(arrow_fields));
        let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
        let head = std::mem::take(writer.get_mut());
        Ok(Self { fields: fields.to_vec(), schema, writer, head })
    }

    /// The message that opens a stream.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    pub(crate) fn empty_chunk(&self) -> Chunk {
        Chunk::new(&self.fields)
    }

    /// One record batch as a message.
    pub(crate) fn encode(&mut self, chunk: &Chunk) -> Result<Vec<u8>, ArrowError> {
        let columns = chunk.columns.iter().map(to_array).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(chunk.rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        self.writer.write(&batch)?;
        Ok(std::mem::take(self.writer.get_mut()))
    }
}

/// The batches of a stream.
pub(crate) struct Batches<R: Read> {
    reader: StreamReader<R>,
}

/// Opens a stream and finds its columns, all or those at the given places.
pub(crate) fn open<R: Read>(source: R, chosen: Option<Vec<usize>>) -> Result<(Vec<Field>, Batches<R>), ArrowError> {
    let reader = StreamReader::try_new(source, chosen)?;
    let fields = reader.schema().fields().iter().map(|field| our_field(field)).collect::<Result<_, _>>()?;
    Ok((fields, Batches { reader }))
}

impl<R: Read> Batches<R> {
    pub(crate) fn next_chunk(&mut self, fields: &[Field]) -> Result<Option<Chunk>, ArrowError> {
        let Some(batch) = self.reader.next().transpose()? else {
            return Ok(None);
        };
        let columns = batch.columns().iter().zip(fields).map(|(array, field)| to_column(array, field.kind));
        Ok(Some(Chunk { rows: batch.num_rows(), columns: columns.collect() }))
    }
}

/// Rows and length of the body that a message's header announces; a schema has neither.
///
/// A header that points outside its body is refused here: the reader below would panic on it.
pub(crate) fn read_header(header: &[u8]) -> Result<(u64, u64), ArrowError> {
    let fail = |what: String| Err(ArrowError::IpcError(what));
    let message = match arrow_ipc::root_as_message(header) {
        Ok(message) => message,
        Err(error) => return fail(format!("a message's header is damaged ({error:?})")),
    };
    let Ok(body) = u64::try_from(message.bodyLength()) else {
        return fail(format!("a message announces a body of {} bytes", message.bodyLength()));
    };
    let Some(batch) = message.header_as_record_batch() else { return Ok((0, body)) };
    let Ok(rows) = u64::try_from(batch.length()) else {
        return fail(format!("a message announces {} rows", batch.length()));
    };
    let is_inside = |offset: i64, length: i64| {
        let end = u64::try_from(offset).ok().zip(u64::try_from(length).ok()).and_then(|(a, b)| a.checked_add(b));
        end.is_some_and(|end| end <= body)
    };
    if batch.buffers().is_some_and(|buffers| buffers.iter().any(|b| !is_inside(b.offset(), b.length()))) {
        return fail("a message points outside itself".to_owned());
    }
    if batch.nodes().is_some_and(|nodes| nodes.iter().any(|n| n.length() != batch.length())) {
        return fail("a message has columns of different lengths".to_owned());
    }
    Ok((rows, body))
}

fn arrow_field(field: &Field) -> arrow_schema::Field {
    let (kind, is_nullable) = match field.kind {
        Kind::Float => (DataType::Float64, false),
        Kind::NullableFloat => (DataType::Float64, true),
        Kind::Count => (DataType::Int64, false),
        Kind::Text => (DataType::Utf8, false),
    };
    arrow_schema::Field::new(&field.name, kind, is_nullable)
}

fn our_field(field: &arrow_schema::Field) -> Result<Field, ArrowError> {
    let kind = match (field.data_type(), field.is_nullable()) {
        (DataType::Float64, false) => Kind::Float,
        (DataType::Float64, true) => Kind::NullableFloat,
        (DataType::Int64, false) => Kind::Count,
        (DataType::Utf8, false) => Kind::Text,
        (other, _) => {
            return Err(ArrowError::SchemaError(format!("column `{}` is of an unexpected kind {other}", field.name())));
        }
    };
    Ok(Field { name: field.name().clone(), kind })
}

fn to_array(column: &Column) -> ArrayRef {
    match column {
        Column::Float(values) => Arc::new(Float64Array::from(values.clone())),
        Column::NullableFloat { values, missing } => {
            let present = (!missing.is_empty()).then(|| missing.iter().map(|gap| !gap).collect::<NullBuffer>());
            Arc::new(Float64Array::new(values.clone().into(), present))
        }
        Column::Count(values) => Arc::new(Int64Array::from(values.clone())),
        Column::Text(values) => Arc::new(StringArray::from_iter_values(values)),
    }
}

/// The kind was found from the array's own type when the stream was opened.
fn to_column(array: &ArrayRef, kind: Kind) -> Column {
    match kind {
        Kind::Float => Column::Float(array.as_primitive::<Float64Type>().values().to_vec()),
        Kind::NullableFloat => Column::NullableFloat {
            values: array.as_primitive::<Float64Type>().values().to_vec(),
            missing: match array.nulls().filter(|nulls| nulls.null_count() > 0) {
                Some(nulls) => nulls.iter().map(|present| !present).collect(),
                None => Vec::new(),
            },
        },
        Kind::Count => Column::Count(array.as_primitive::<Int64Type>().values().to_vec()),
        Kind::Text => Column::Text(array.as_string::<i32>().iter().flatten().map(str::to_owned).collect()),
    }
}
