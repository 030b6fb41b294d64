//! Every key that a scene file may hold, as data.
//!
//! The reader checks files against these tables, and the tests compare them with `book/scene-format.md` and with the
//! types of [`Scene`](super::Scene), so that none of the three can drift from the others.

pub(crate) mod tables;

pub(crate) use tables::{ATTACHMENT, SCENE};

use std::collections::BTreeSet;

/// A table of the scene file.
#[derive(Debug)]
pub(crate) struct TableSpec {
    /// Its name in the documentation: unique, and a dotted path where it has only one place.
    pub name: &'static str,
    /// Keys that it may hold whatever its kind.
    pub keys: &'static [KeySpec],
    /// Further keys by the value of its key `kind`; empty for a table without kinds.
    pub kinds: &'static [KindSpec],
}

/// Keys of one kind of a table.
#[derive(Debug)]
pub(crate) struct KindSpec {
    /// Value of the key `kind`.
    pub kind: &'static str,
    /// Keys that belong to it.
    pub keys: &'static [KeySpec],
}

/// A key.
#[derive(Debug)]
pub(crate) struct KeySpec {
    /// Its name.
    pub name: &'static str,
    /// What may stand there.
    pub value: ValueSpec,
    /// Whether it must be there.
    pub required: bool,
}

/// A key that must be there.
pub(crate) const fn required(name: &'static str, value: ValueSpec) -> KeySpec {
    KeySpec { name, value, required: true }
}

/// A key that may be left out.
pub(crate) const fn optional(name: &'static str, value: ValueSpec) -> KeySpec {
    KeySpec { name, value, required: false }
}

/// What may stand as a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ValueSpec {
    /// A string.
    Text,
    /// A finite number.
    Number,
    /// An integer from 0 on.
    Count,
    /// Integers from 0 on.
    Counts,
    /// True or false.
    Flag,
    /// A list of finite numbers with one of these lengths; any length if there is none.
    Numbers(&'static [usize]),
    /// A finite number, or a list of them.
    NumberOrNumbers,
    /// The same, with ±∞ where there is no limit.
    Limits,
    /// A list of points.
    Points,
    /// A list of directions in a plane.
    Directions,
    /// A list of strings.
    Texts,
    /// One of some words.
    Choice(&'static [&'static str]),
    /// A number, or a table.
    NumberOrTable(&'static TableSpec),
    /// A number, a list of two, or a table.
    NumberPairOrTable(&'static TableSpec),
    /// A string, or a table.
    TextOrTable(&'static TableSpec),
    /// A table.
    Table(&'static TableSpec),
    /// A list of tables.
    Tables(&'static TableSpec),
}

impl ValueSpec {
    /// What may stand here, in words.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Text => "a string".into(),
            Self::Number => "a finite number".into(),
            Self::Count => "an integer from 0 on".into(),
            Self::Counts => "a list of integers from 0 on".into(),
            Self::Flag => "true or false".into(),
            Self::Numbers([]) => "a list of numbers".into(),
            Self::Numbers(lengths) => {
                let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
                format!("a list of {} numbers", lengths.join(" or "))
            }
            Self::NumberOrNumbers => "a number or a list of numbers".into(),
            Self::Limits => "a number or a list of numbers, `inf` or `-inf` for no limit".into(),
            Self::Points => "a list of points, each a list of 3 numbers".into(),
            Self::Directions => "a list of directions, each a list of 2 numbers".into(),
            Self::Texts => "a list of strings".into(),
            Self::Choice(words) => quoted(words.iter().copied()),
            Self::NumberOrTable(table) => format!("a number or a table ({})", table.name),
            Self::NumberPairOrTable(table) => format!("a number, a list of 2 numbers or a table ({})", table.name),
            Self::TextOrTable(table) => format!("a string or a table ({})", table.name),
            Self::Table(table) => format!("a table (`[{}]`)", table.name),
            Self::Tables(table) => format!("a list of tables (`[[{}]]`)", table.name),
        }
    }

    fn table(self) -> Option<&'static TableSpec> {
        match self {
            Self::NumberPairOrTable(t)
            | Self::NumberOrTable(t)
            | Self::TextOrTable(t)
            | Self::Table(t)
            | Self::Tables(t) => Some(t),
            _ => None,
        }
    }
}

impl TableSpec {
    /// Keys allowed for a kind; for no kind, or one that does not exist, those of every kind.
    pub(crate) fn allowed<'a>(&'static self, kind: Option<&'a str>) -> impl Iterator<Item = &'static KeySpec> + 'a {
        let known = kind.is_some_and(|kind| self.kinds.iter().any(|k| k.kind == kind));
        let of_kinds = self.kinds.iter().filter(move |k| !known || Some(k.kind) == kind);
        self.keys.iter().chain(of_kinds.flat_map(|k| k.keys))
    }

    /// The kinds that have a key.
    pub(crate) fn kinds_with(&self, key: &str) -> Vec<&'static str> {
        self.kinds.iter().filter(|k| k.keys.iter().any(|spec| spec.name == key)).map(|k| k.kind).collect()
    }
}

/// Words in backquotes, separated by commas.
pub(crate) fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

/// A key that the reader accepts, as the documentation lists it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AcceptedKey {
    /// Name of the table: `scene` for the top, a dotted path such as `body.shape`, or a word such as `signal` for a
    /// table that has several places.
    pub table: &'static str,
    /// The `kind` to which the key belongs, if it does not belong to all.
    pub kind: Option<&'static str>,
    /// The key.
    pub key: &'static str,
    /// Whether it must be given.
    pub required: bool,
    /// What may stand there, in words.
    pub value: String,
}

/// Every key that the reader accepts.
pub fn accepted_keys() -> BTreeSet<AcceptedKey> {
    let mut keys = BTreeSet::new();
    for table in tables() {
        let common = table.keys.iter().map(|spec| (None, spec));
        let of_kinds = table.kinds.iter().flat_map(|k| k.keys.iter().map(|spec| (Some(k.kind), spec)));
        keys.extend(common.chain(of_kinds).map(|(kind, spec)| AcceptedKey {
            table: table.name,
            kind,
            key: spec.name,
            required: spec.required,
            value: spec.value.describe(),
        }));
    }
    keys
}

/// Every table, each once.
fn tables() -> Vec<&'static TableSpec> {
    let mut found: Vec<&'static TableSpec> = vec![&SCENE];
    let mut next = 0;
    while let Some(&table) = found.get(next) {
        for inner in table.allowed(None).filter_map(|spec| spec.value.table()) {
            if !found.iter().any(|known| known.name == inner.name) {
                found.push(inner);
            }
        }
        next += 1;
    }
    found
}
