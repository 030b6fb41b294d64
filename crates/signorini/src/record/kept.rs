//! The scene as it was run, kept beside what came of it, so that a run can go on from its folder alone.

use super::folder::{SCENE, holds_run, write_whole};
use super::{RecordError, compute_hash};
use crate::scene::{Geometry, Scene, SceneSource};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Where the geometry files of the kept scene lie.
const FILES: &str = "files";

/// A scene's text, and the geometry files that it refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptScene {
    /// The text, with geometry files by the names under which they are kept.
    pub text: String,
    files: Vec<KeptFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct KeptFile {
    name: String,
    from: PathBuf,
    hash: String,
}

impl KeptScene {
    /// Gathers what is to be kept. Geometry files are looked for from `base`, as the reader does.
    ///
    /// A file is kept under a name that begins with its hash. A kept scene gathered again is therefore the same as
    /// before, unless something in it was changed.
    pub fn gather(scene: &Scene, source: &SceneSource, base: &Path) -> Result<Self, RecordError> {
        let mut files: BTreeMap<&str, KeptFile> = BTreeMap::new();
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for (i, body) in scene.body.iter().enumerate() {
            for (j, shape) in body.shape.iter().enumerate() {
                let (Geometry::Mesh { file, .. } | Geometry::ConvexHull { file: Some(file), .. }) = &shape.geometry
                else {
                    continue;
                };
                if !files.contains_key(file.as_str()) {
                    files.insert(file, KeptFile::new(&base.join(file))?);
                }
                let name = &files[file.as_str()].name;
                if name != file {
                    let place = source.locate(&format!("body[{i}].shape[{j}].file"));
                    edits.push((place.span, format!("\"{name}\"")));
                }
            }
        }
        // From the end to the beginning, so that places stay where they are.
        edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        let mut text = source.text.clone();
        for (span, name) in edits {
            text.replace_range(span, &name);
        }
        Ok(Self { text, files: files.into_values().collect() })
    }

    /// Hashes of the files, by the names under which they are kept.
    pub fn file_hashes(&self) -> BTreeMap<String, String> {
        self.files.iter().map(|file| (file.name.clone(), file.hash.clone())).collect()
    }

    /// Refuses a folder whose `scene.toml` is somebody's own and not the text that would be kept there.
    pub fn check_place(&self, folder: &Path) -> Result<(), RecordError> {
        let path = folder.join(SCENE);
        if holds_run(folder) || !path.exists() {
            return Ok(());
        }
        let there = fs::read(&path).map_err(RecordError::io("read", &path))?;
        if there == self.text.as_bytes() {
            return Ok(());
        }
        Err(RecordError::Occupied { folder: folder.to_path_buf(), what: format!("another {SCENE}") })
    }

    /// Writes scene and files into the folder of a run.
    pub fn write(&self, folder: &Path) -> Result<(), RecordError> {
        for file in &self.files {
            let to = folder.join(&file.name);
            if to.exists() {
                continue;
            }
            let parent = folder.join(FILES);
            fs::create_dir_all(&parent).map_err(RecordError::io("create folder", &parent))?;
            fs::copy(&file.from, &to).map_err(RecordError::io("copy a geometry file to", &to))?;
        }
        let path = folder.join(SCENE);
        write_whole(&path, |file| file.write_all(self.text.as_bytes()).map_err(RecordError::io("write", &path)))
    }
}

impl KeptFile {
    fn new(from: &Path) -> Result<Self, RecordError> {
        let bytes = fs::read(from).map_err(RecordError::io("read", from))?;
        let hash = compute_hash(&bytes);
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let stem: String = from.file_name().unwrap_or_default().to_string_lossy().chars().map(plain).collect();
        // A name that already begins with the hash stays as it is.
        let short = &hash[..16];
        let stem = stem.strip_prefix(short).and_then(|rest| rest.strip_prefix('-')).unwrap_or(&stem);
        Ok(Self { name: format!("{FILES}/{short}-{stem}"), from: from.to_path_buf(), hash })
    }
}
