//! Keys, types and lengths, against the schema.

use crate::scene::finding::MAX_FINDINGS;
use crate::scene::schema::{KeySpec, SCENE, TableSpec, ValueSpec, quoted};
use crate::scene::source::{SceneError, SceneSource};
use crate::scene::suggest::did_you_mean;
use crate::scene::{Finding, FindingKind};
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

type Value<'i> = Spanned<DeValue<'i>>;

/// Checks that the document has the shape of a scene.
pub(super) fn check(source: &Arc<SceneSource>, root: &Spanned<DeTable<'_>>) -> Result<(), SceneError> {
    let mut walk = Walk { text: &source.text, path: String::new(), subject: None, findings: Vec::new() };
    walk.table(&SCENE, root.get_ref(), root.span().start..root.span().start);
    if walk.findings.is_empty() { Ok(()) } else { Err(source.error_at(walk.findings)) }
}

/// A walk along the document; its depth is that of the schema, not that of the file.
struct Walk<'a> {
    text: &'a str,
    path: String,
    subject: Option<String>,
    findings: Vec<(Finding, Range<usize>)>,
}

impl Walk<'_> {
    fn table(&mut self, spec: &'static TableSpec, table: &DeTable<'_>, span: Range<usize>) {
        let kind =
            if spec.kinds.is_empty() { None } else { table.get("kind").and_then(|kind| kind.get_ref().as_str()) };
        for (key, value) in table {
            let name: &str = key.get_ref();
            match spec.allowed(kind).find(|spec| spec.name == name) {
                Some(key) => self.inside(name, |walk| walk.value(key.value, value)),
                None => self.unknown(spec, kind, name, key.span()),
            }
        }
        let is_missing = |key: &&KeySpec| key.required && !table.contains_key(key.name);
        // Without a kind only the common keys are known to be missing.
        let of_kind = spec.kinds.iter().filter(|k| Some(k.kind) == kind).flat_map(|k| k.keys);
        for key in spec.keys.iter().chain(of_kind).filter(is_missing) {
            self.inside(key.name, |walk| {
                walk.add(span.clone(), FindingKind::Missing, "this key is required", |f| {
                    f.found("nothing").allowed(key.value.describe())
                });
            });
        }
    }

    fn unknown(&mut self, spec: &'static TableSpec, kind: Option<&str>, name: &str, span: Range<usize>) {
        let shown = shorten(name);
        let kinds = spec.kinds_with(name);
        if let (Some(kind), false) = (kind, kinds.is_empty()) {
            return self.inside(&shown, |walk| {
                let message = format!("this key does not belong to kind `{}`", shorten(kind));
                walk.add(span, FindingKind::Misplaced, &message, |f| {
                    f.help(format!("it belongs to {}", quoted(kinds.iter().copied())))
                });
            });
        }
        let names = || spec.allowed(kind).map(|key| key.name).collect::<Vec<_>>();
        self.inside(&shown, |walk| {
            walk.add(span, FindingKind::UnknownKey, "there is no such key", |f| {
                f.found(format!("`{shown}`")).allowed(quoted(names())).help(did_you_mean(name, names()))
            });
        });
    }

    fn value(&mut self, spec: ValueSpec, value: &Value<'_>) {
        match (spec, value.get_ref()) {
            (ValueSpec::Text, DeValue::String(_)) => {}
            (
                ValueSpec::Number
                | ValueSpec::NumberOrNumbers
                | ValueSpec::NumberOrTable(_)
                | ValueSpec::NumberPairOrTable(_),
                v,
            ) if is_number(v) => {
                self.number(value);
            }
            (ValueSpec::Count, DeValue::Integer(integer)) => {
                if to_i64(integer).is_none_or(|n| n < 0) {
                    self.add(value.span(), FindingKind::OutOfRange, "the number is out of range", |f| {
                        f.found(shorten(&integer.to_string())).allowed(spec.describe())
                    });
                }
            }
            (ValueSpec::Flag, DeValue::Boolean(_)) => {}
            (ValueSpec::Counts, DeValue::Array(items)) => {
                self.items(items, |walk, item| walk.value(ValueSpec::Count, item));
            }
            (ValueSpec::Numbers(lengths), DeValue::Array(items)) => {
                self.items(items, |walk, item| walk.expect_number(item));
                if !lengths.is_empty() && !lengths.contains(&items.len()) {
                    self.add(value.span(), FindingKind::WrongLength, "the list has the wrong length", |f| {
                        f.found(format!("{} entries", items.len())).allowed(spec.describe())
                    });
                }
            }
            (ValueSpec::NumberOrNumbers, DeValue::Array(items)) => {
                self.items(items, |walk, item| walk.expect_number(item));
            }
            (ValueSpec::Limits, v) if is_number(v) => self.limit(value),
            (ValueSpec::Limits, DeValue::Array(items)) => {
                self.items(items, |walk, item| {
                    if is_number(item.get_ref()) { walk.limit(item) } else { walk.wrong_type(ValueSpec::Number, item) }
                });
            }
            (ValueSpec::Points, DeValue::Array(items)) => {
                self.items(items, |walk, item| walk.value(ValueSpec::Numbers(&[3]), item));
            }
            (ValueSpec::Directions, DeValue::Array(items)) => {
                self.items(items, |walk, item| walk.value(ValueSpec::Numbers(&[2]), item));
            }
            (ValueSpec::NumberPairOrTable(_), DeValue::Array(_)) => self.value(ValueSpec::Numbers(&[2]), value),
            (ValueSpec::Texts, DeValue::Array(items)) => {
                self.items(items, |walk, item| walk.value(ValueSpec::Text, item));
            }
            (ValueSpec::Choice(words), DeValue::String(word)) => {
                if !words.contains(&word.as_ref()) {
                    self.add(value.span(), FindingKind::UnknownChoice, "there is no such choice", |f| {
                        let f = f.found(format!("`{}`", shorten(word))).allowed(spec.describe());
                        f.help(did_you_mean(word, words.iter().copied()))
                    });
                }
            }
            (ValueSpec::TextOrTable(_), DeValue::String(_)) => {}
            (
                ValueSpec::Table(spec)
                | ValueSpec::NumberOrTable(spec)
                | ValueSpec::NumberPairOrTable(spec)
                | ValueSpec::TextOrTable(spec),
                DeValue::Table(table),
            ) => self.table(spec, table, value.span()),
            (ValueSpec::Tables(spec), DeValue::Array(items)) => {
                self.items(items, |walk, item| match item.get_ref() {
                    DeValue::Table(table) => walk.named(spec, table, item.span()),
                    _ => walk.wrong_type(ValueSpec::Table(spec), item),
                });
            }
            _ => self.wrong_type(spec, value),
        }
    }

    /// A table that may have a name, by which problems inside are introduced.
    fn named(&mut self, spec: &'static TableSpec, table: &DeTable<'_>, span: Range<usize>) {
        let outer = self.subject.clone();
        if let Some(name) = table.get("name").and_then(|name| name.get_ref().as_str()) {
            self.subject = Some(format!("{} `{}`", spec.name.rsplit('.').next().unwrap_or_default(), shorten(name)));
        }
        self.table(spec, table, span);
        self.subject = outer;
    }

    fn items(&mut self, items: &[Value<'_>], mut each: impl FnMut(&mut Self, &Value<'_>)) {
        let length = self.path.len();
        for (i, item) in items.iter().enumerate() {
            if self.is_full() {
                break;
            }
            self.path.push_str(&format!("[{i}]"));
            each(self, item);
            self.path.truncate(length);
        }
    }

    fn expect_number(&mut self, value: &Value<'_>) {
        if is_number(value.get_ref()) { self.number(value) } else { self.wrong_type(ValueSpec::Number, value) }
    }

    /// A number, or an infinity that is meant.
    fn limit(&mut self, value: &Value<'_>) {
        let is_infinite = |text: &str| text.trim_start_matches(['+', '-']) == "inf";
        if !matches!(value.get_ref(), DeValue::Float(float) if is_infinite(float.as_str())) {
            self.number(value);
        }
    }

    fn number(&mut self, value: &Value<'_>) {
        let finite = match value.get_ref() {
            DeValue::Float(float) => float.as_str().parse::<f64>().is_ok_and(f64::is_finite),
            DeValue::Integer(integer) => to_i64(integer).is_some(),
            _ => false,
        };
        if !finite {
            let found = self.excerpt(value.span());
            self.add(value.span(), FindingKind::NotFinite, "this is not a finite number in range", |f| {
                f.found(found).allowed("a finite number (double precision; integers of 64 bits)")
            });
        }
    }

    fn wrong_type(&mut self, spec: ValueSpec, value: &Value<'_>) {
        let found = format!("{} {}", value.get_ref().type_str(), self.excerpt(value.span()));
        self.add(value.span(), FindingKind::WrongType, "the value has the wrong type", |f| {
            f.found(found).allowed(spec.describe())
        });
    }

    fn inside(&mut self, key: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        visit(self);
        self.path.truncate(length);
    }

    fn add(&mut self, span: Range<usize>, kind: FindingKind, message: &str, more: impl FnOnce(Finding) -> Finding) {
        if self.is_full() {
            return;
        }
        let mut finding = more(Finding::new(kind, self.path.clone(), message));
        finding.subject = self.subject.clone();
        self.findings.push((finding, span));
    }

    fn is_full(&self) -> bool {
        self.findings.len() >= MAX_FINDINGS
    }

    fn excerpt(&self, span: Range<usize>) -> String {
        shorten(self.text.get(span).unwrap_or_default())
    }
}

fn is_number(value: &DeValue<'_>) -> bool {
    matches!(value, DeValue::Float(_) | DeValue::Integer(_))
}

fn to_i64(integer: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// At most 40 characters of the first line.
fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
