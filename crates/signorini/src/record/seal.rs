//! JSON files that carry the sum of what they say: a damaged one is refused before anything in it is believed.

use super::folder::write_whole;
use super::{RecordError, compute_hash};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::io::Write;
use std::path::Path;

/// What stands before and after the sum, which is that of all that follows.
const BEFORE: &str = "{\n  \"sha256\": \"";
const AFTER: &str = "\",\n";
const DIGITS: usize = 64;

/// Writes an object with its sum, in one go.
pub(crate) fn write_sealed(path: &Path, value: &impl Serialize) -> Result<(), RecordError> {
    let text = serde_json::to_string_pretty(value).map_err(RecordError::format("encode", path))?;
    let rest = text.strip_prefix("{\n").unwrap_or(&text);
    let sum = compute_hash(rest.as_bytes());
    write_whole(path, |file| write!(file, "{BEFORE}{sum}{AFTER}{rest}").map_err(RecordError::io("write", path)))
}

/// Reads an object whose sum is right.
pub(crate) fn read_sealed<T: DeserializeOwned>(path: &Path) -> Result<T, RecordError> {
    let text = fs::read(path).map_err(RecordError::io("read", path))?;
    let damaged = |what: &str| RecordError::Damaged { path: path.to_path_buf(), what: what.to_owned() };
    let text = String::from_utf8(text).map_err(|_| damaged("it is not text"))?;
    let opened = text.strip_prefix(BEFORE).and_then(|text| text.split_at_checked(DIGITS));
    let Some((sum, rest)) = opened.and_then(|(sum, rest)| Some((sum, rest.strip_prefix(AFTER)?))) else {
        return Err(damaged("it does not begin with its sum"));
    };
    if compute_hash(rest.as_bytes()) != sum {
        return Err(damaged("its sum is not that of what it says"));
    }
    serde_json::from_str(&format!("{{\n{rest}")).map_err(RecordError::format("read", path))
}
