//! The text of a scene file, and findings with their place in it.

use super::{Finding, finding::MAX_FINDINGS};
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text of a scene file, kept to show where something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneSource {
    /// Name to show: the path as the user gave it.
    pub file: String,
    /// The whole text.
    pub text: String,
}

/// A place in a scene file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// Bytes of the text; never beyond its end, always on character boundaries.
    pub span: Range<usize>,
}

/// A finding with its place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub finding: Finding,
    /// Where it stands.
    pub place: Place,
}

/// Why a scene could not be read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The file could not be read at all.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file was read, and something in it is wrong.
    #[error("{0}")]
    Invalid(Problems),
}

debug_as_display!(SceneError);

/// Everything that is wrong with a scene file, in the order of the file; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// The file's text.
    pub source: Arc<SceneSource>,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// Whether there may be more problems than are listed.
    pub is_cut: bool,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Problem { finding, place }) in self.problems.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{}:{}:{}: {finding}", self.source.file, place.line, place.column)?;
        }
        if self.is_cut {
            f.write_str("\nand perhaps more")?;
        }
        Ok(())
    }
}

impl SceneSource {
    /// The place of a key path such as `joint[3].axis`. Where a key is not in the file (it has a default, or is
    /// missing), the place of the table that would hold it.
    pub fn locate(&self, path: &str) -> Place {
        self.place(self.parse().map_or(0..0, |root| find(&root, path)))
    }

    /// Findings with their places, as the error that the reader gives.
    pub fn error(self: &Arc<Self>, findings: Vec<Finding>) -> SceneError {
        let root = self.parse();
        let located = findings.into_iter().map(|finding| {
            let span = root.as_ref().map_or(0..0, |root| find(root, &finding.path));
            (finding, span)
        });
        self.error_at(located.collect())
    }

    /// The document again: places are only asked for when something is wrong, so they are not worth keeping.
    fn parse(&self) -> Option<Spanned<DeTable<'_>>> {
        DeTable::parse(&self.text).ok()
    }

    /// The same, for findings whose place is known.
    pub(crate) fn error_at(self: &Arc<Self>, mut findings: Vec<(Finding, Range<usize>)>) -> SceneError {
        let is_cut = findings.len() >= MAX_FINDINGS;
        findings.truncate(MAX_FINDINGS);
        let at_place = |(finding, span)| Problem { finding, place: self.place(span) };
        let mut problems: Vec<Problem> = findings.into_iter().map(at_place).collect();
        problems.sort_by_key(|problem| problem.place.span.start);
        let source = Arc::clone(self);
        SceneError::Invalid(Problems { source, problems, is_cut })
    }

    /// Line and column of a span, which is clipped to the text.
    fn place(&self, span: Range<usize>) -> Place {
        let boundary = |mut at: usize| {
            at = at.min(self.text.len());
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = boundary(span.start);
        let end = boundary(span.end).max(start);
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Place {
            line: 1 + before.bytes().filter(|&b| b == b'\n').count(),
            column: 1 + before[line_start..].chars().count(),
            span: start..end,
        }
    }
}

/// The span of the deepest part of a key path that is in the file.
fn find(root: &Spanned<DeTable<'_>>, path: &str) -> Range<usize> {
    let mut span = 0..0;
    let mut table = Some(root.get_ref());
    for segment in path.split('.') {
        let (key, indices) = segment.split_once('[').unwrap_or((segment, ""));
        let Some(mut value) = table.and_then(|table| table.get(key)) else {
            break;
        };
        span = value.span();
        for index in indices.split('[').filter_map(|index| index.strip_suffix(']')?.parse::<usize>().ok()) {
            let Some(item) = value.get_ref().as_array().and_then(|array| array.get(index)) else {
                return span;
            };
            value = item;
            span = value.span();
        }
        table = match value.get_ref() {
            DeValue::Table(inner) => Some(inner),
            _ => None,
        };
    }
    span
}
