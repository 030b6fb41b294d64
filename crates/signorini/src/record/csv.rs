//! Tables as text. Every number is written with as few digits as read back to the same bits.

use super::RecordError;
use super::folder::write_whole;
use super::parquet::ParquetReader;
use super::table::{Chunk, Column};
use std::io::{self, Write};
use std::path::Path;

/// Writes a finished table as text.
pub(crate) fn convert(parquet: &Path, csv: &Path) -> Result<(), RecordError> {
    let mut reader = ParquetReader::open(parquet)?;
    write_whole(csv, |file| {
        let names: Vec<String> = reader.fields.iter().map(|field| quote(&field.name)).collect();
        writeln!(file, "{}", names.join(",")).map_err(RecordError::io("write", csv))?;
        while let Some(chunk) = reader.next_chunk()? {
            write_rows(file, &chunk).map_err(RecordError::io("write", csv))?;
        }
        Ok(())
    })
}

fn write_rows(out: &mut impl Write, chunk: &Chunk) -> io::Result<()> {
    for row in 0..chunk.rows {
        for (i, column) in chunk.columns.iter().enumerate() {
            if i > 0 {
                out.write_all(b",")?;
            }
            match column {
                // The shortest text that reads back to the same number, with an exponent where that is shorter.
                Column::Float(values) => write!(out, "{:?}", values[row])?,
                Column::NullableFloat { values, missing } => {
                    if !missing.get(row).copied().unwrap_or(false) {
                        write!(out, "{:?}", values[row])?;
                    }
                }
                Column::Count(values) => write!(out, "{}", values[row])?,
                Column::Text(values) => out.write_all(quote(&values[row]).as_bytes())?,
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn quote(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
