//! NumPy archives: a zip file with one `.npy` per key.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};

use super::npy::{self, Array};
use crate::contact::ContactError;

/// No array of a problem file is larger than this when unpacked: a guard against crafted archives.
const MAX_UNPACKED: u64 = 1 << 32;

pub struct Archive {
    arrays: BTreeMap<String, Array>,
}

fn damaged(reason: impl std::fmt::Display) -> ContactError {
    super::format(reason.to_string())
}

pub fn read(bytes: &[u8]) -> Result<Archive, ContactError> {
    let mut zip =
        zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| damaged(format!("not a NumPy archive ({e})")))?;
    let mut arrays = BTreeMap::new();
    for i in 0..zip.len() {
        let entry = zip.by_index(i).map_err(|e| damaged(format!("archive is damaged ({e})")))?;
        let name = entry.name().map_err(|e| damaged(format!("archive is damaged ({e})")))?.into_owned();
        let Some(key) = name.strip_suffix(".npy").map(str::to_owned) else {
            continue;
        };
        if !KEYS.contains(&key.as_str()) {
            continue; // not unpacked: keys that this reader does not use may hold anything
        }
        let mut content = Vec::new();
        entry
            .take(MAX_UNPACKED)
            .read_to_end(&mut content)
            .map_err(|e| damaged(format!("{key}: archive is damaged ({e})")))?;
        let array = npy::parse(&content).map_err(|e| damaged(format!("{key}: {e}")))?;
        arrays.insert(key, array);
    }
    Ok(Archive { arrays })
}

const KEYS: [&str; 14] = [
    "kind",
    "name",
    "n",
    "q",
    "mu",
    "mu_r",
    "comp",
    "rows",
    "law",
    "parameter_start",
    "parameters",
    "W_data",
    "W_indices",
    "W_indptr",
];

impl Archive {
    fn get(&self, key: &str) -> Result<&Array, ContactError> {
        self.arrays.get(key).ok_or_else(|| damaged(format!("key `{key}` is missing")))
    }

    pub fn text(&self, key: &str) -> Result<String, ContactError> {
        match self.get(key)? {
            Array::Text(text) => Ok(text.clone()),
            _ => Err(damaged(format!("{key} is a number, expected text"))),
        }
    }

    pub fn floats(&self, key: &str) -> Result<Vec<f64>, ContactError> {
        self.get(key)?.to_floats().ok_or_else(|| damaged(format!("{key} is text, expected numbers")))
    }

    pub fn indices(&self, key: &str) -> Result<Vec<usize>, ContactError> {
        let Array::Ints { values, .. } = self.get(key)? else {
            return Err(damaged(format!("{key}: expected integers")));
        };
        let index = |x: &i64| usize::try_from(*x).map_err(|_| damaged(format!("{key} contains {x}, allowed: ≥ 0")));
        values.iter().map(index).collect()
    }

    pub fn size(&self, key: &str) -> Result<usize, ContactError> {
        match self.indices(key)?.as_slice() {
            [n] => Ok(*n),
            many => Err(damaged(format!("{key} has {} entries, expected one", many.len()))),
        }
    }
}

pub fn write(entries: &[(&str, Array)]) -> Result<Vec<u8>, ContactError> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (key, array) in entries {
        zip.start_file(format!("{key}.npy"), options).map_err(damaged)?;
        zip.write_all(&npy::write(array)).map_err(damaged)?;
    }
    Ok(zip.finish().map_err(damaged)?.into_inner())
}
