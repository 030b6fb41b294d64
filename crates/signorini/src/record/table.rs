//! Columns in memory: what every file format here is written from and read into.

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number in every row.
    Float,
    /// A number, or none.
    NullableFloat,
    /// A whole number in every row.
    Count,
    /// A word in every row.
    Text,
}

/// A column's name and kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Unique within its table.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

impl Field {
    pub(crate) fn float(name: &str) -> Self {
        Self { name: name.to_owned(), kind: Kind::Float }
    }
    pub(crate) fn nullable(name: &str) -> Self {
        Self { name: name.to_owned(), kind: Kind::NullableFloat }
    }
    pub(crate) fn count(name: &str) -> Self {
        Self { name: name.to_owned(), kind: Kind::Count }
    }
    pub(crate) fn text(name: &str) -> Self {
        Self { name: name.to_owned(), kind: Kind::Text }
    }
}

/// The values of one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Column {
    Float(Vec<f64>),
    /// `missing` is empty as long as nothing is.
    NullableFloat {
        values: Vec<f64>,
        missing: Vec<bool>,
    },
    Count(Vec<i64>),
    Text(Vec<String>),
}

impl Column {
    pub(crate) fn empty(kind: Kind) -> Self {
        match kind {
            Kind::Float => Self::Float(Vec::new()),
            Kind::NullableFloat => Self::NullableFloat { values: Vec::new(), missing: Vec::new() },
            Kind::Count => Self::Count(Vec::new()),
            Kind::Text => Self::Text(Vec::new()),
        }
    }

    /// Appends a number, or a gap, to a column of numbers; whole numbers stay exact up to 2⁵³.
    pub(crate) fn push_number(&mut self, value: f64, is_missing: bool) {
        match self {
            Self::Float(values) => values.push(value),
            Self::NullableFloat { values, missing } => {
                if is_missing && missing.is_empty() {
                    missing.resize(values.len(), false);
                }
                // The value under a gap is fixed, so that equal tables are equal files.
                values.push(if is_missing { 0.0 } else { value });
                if is_missing || !missing.is_empty() {
                    missing.push(is_missing);
                }
            }
            Self::Count(values) => values.push(value as i64),
            Self::Text(_) => debug_assert!(false, "a number in a column of words"),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Float(values) | Self::NullableFloat { values, .. } => values.len(),
            Self::Count(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Appends `count` rows of `other` from row `start` on. Both are of one kind.
    pub(crate) fn append(&mut self, other: &Self, start: usize, count: usize) {
        let end = start + count;
        match (self, other) {
            (Self::Float(to), Self::Float(from)) => to.extend_from_slice(&from[start..end]),
            (Self::Count(to), Self::Count(from)) => to.extend_from_slice(&from[start..end]),
            (Self::Text(to), Self::Text(from)) => to.extend_from_slice(&from[start..end]),
            (Self::NullableFloat { values, missing }, Self::NullableFloat { values: from, missing: from_missing }) => {
                if missing.is_empty() && from_missing.get(start..end).is_some_and(|gaps| gaps.contains(&true)) {
                    missing.resize(values.len(), false);
                }
                values.extend_from_slice(&from[start..end]);
                if !missing.is_empty() || from_missing.get(start..end).is_some_and(|gaps| gaps.contains(&true)) {
                    match from_missing.get(start..end) {
                        Some(gaps) => missing.extend_from_slice(gaps),
                        None => missing.resize(values.len(), false),
                    }
                }
            }
            _ => debug_assert!(false, "columns of two kinds"),
        }
    }

    /// As numbers; gaps become NaN. None for words.
    pub(crate) fn into_numbers(self) -> Option<Vec<f64>> {
        match self {
            Self::Float(values) => Some(values),
            Self::NullableFloat { mut values, missing } => {
                for (value, _) in values.iter_mut().zip(missing).filter(|(_, gap)| *gap) {
                    *value = f64::NAN;
                }
                Some(values)
            }
            Self::Count(values) => Some(values.into_iter().map(|value| value as f64).collect()),
            Self::Text(_) => None,
        }
    }
}

/// Some rows of a table, column by column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chunk {
    pub(crate) rows: usize,
    pub(crate) columns: Vec<Column>,
}

impl Chunk {
    pub(crate) fn new(fields: &[Field]) -> Self {
        Self { rows: 0, columns: fields.iter().map(|field| Column::empty(field.kind)).collect() }
    }

    /// Appends `count` rows of `other` from row `start` on.
    pub(crate) fn append(&mut self, other: &Self, start: usize, count: usize) {
        for (to, from) in self.columns.iter_mut().zip(&other.columns) {
            to.append(from, start, count);
        }
        self.rows += count;
    }
}

/// Rows gathered up to a fixed number before they are handed on, whatever the pieces they arrive in.
///
/// This is what makes a file of an interrupted run equal, byte for byte, to that of one that never was.
pub(crate) struct Regroup {
    pub(crate) size: usize,
    gathered: Chunk,
    fields: Vec<Field>,
}

impl Regroup {
    pub(crate) fn new(fields: &[Field], size: usize) -> Self {
        Self { size: size.max(1), gathered: Chunk::new(fields), fields: fields.to_vec() }
    }

    /// Takes in a piece, handing on every group that it fills.
    pub(crate) fn add<E>(&mut self, piece: &Chunk, mut hand_on: impl FnMut(&Chunk) -> Result<(), E>) -> Result<(), E> {
        let mut start = 0;
        while start < piece.rows {
            let count = (self.size - self.gathered.rows).min(piece.rows - start);
            self.gathered.append(piece, start, count);
            start += count;
            if self.gathered.rows == self.size {
                hand_on(&self.gathered)?;
                self.gathered = Chunk::new(&self.fields);
            }
        }
        Ok(())
    }

    /// The rows left over.
    pub(crate) fn rest(self) -> Option<Chunk> {
        (self.gathered.rows > 0).then_some(self.gathered)
    }
}
