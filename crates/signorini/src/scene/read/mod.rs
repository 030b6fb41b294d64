//! Reading scenes from TOML.
//!
//! Three passes, each on what the one before let through: syntax, structure (keys, types, lengths, against
//! [`schema`](super::schema)), meaning ([`validate`](super::validate)). All problems of a pass are reported together.

mod structure;

use super::mesh;
use super::source::{SceneError, SceneSource};
use super::validate::validate;
use super::{Finding, FindingKind, Scene};
use serde::Deserialize;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use toml::de::DeTable;

/// Largest scene file: some million bodies. Reading needs about ten times the file's size in memory.
pub const MAX_SCENE_BYTES: u64 = 256 << 20;

/// Reads and checks a scene file and the geometry files it names.
pub fn read(path: impl AsRef<Path>) -> Result<Scene, SceneError> {
    read_with_source(path).map(|(scene, _)| scene)
}

/// The same, keeping the text, so that what is found wrong later can be shown in its place too:
/// [`SceneSource::error`].
pub fn read_with_source(path: impl AsRef<Path>) -> Result<(Scene, Arc<SceneSource>), SceneError> {
    let path = path.as_ref();
    let failed = |source| SceneError::Io { path: path.to_owned(), source };
    let bytes = read_file(path, MAX_SCENE_BYTES).map_err(failed)?;
    let base = path.parent().unwrap_or(Path::new(""));
    let file = path.display().to_string();
    let text = String::from_utf8(bytes).map_err(|error| not_utf8(&file, &error))?;
    let source = Arc::new(SceneSource { file, text });
    Ok((interpret(&source, base)?, source))
}

/// Reads and checks a scene from text. `file_name` is only shown; geometry files are looked for from `base_dir`.
pub fn read_str(text: &str, file_name: &str, base_dir: impl AsRef<Path>) -> Result<Scene, SceneError> {
    let source = Arc::new(SceneSource { file: file_name.to_owned(), text: text.to_owned() });
    interpret(&source, base_dir.as_ref())
}

fn interpret(source: &Arc<SceneSource>, base: &Path) -> Result<Scene, SceneError> {
    if source.text.len() as u64 > MAX_SCENE_BYTES {
        let finding = Finding::new(FindingKind::TooLarge, "", "the scene is too large")
            .found(format!("{} bytes", source.text.len()))
            .allowed(format!("{MAX_SCENE_BYTES} bytes"));
        return Err(source.error_at(vec![(finding, 0..0)], 0));
    }
    let root = match DeTable::parse(&source.text) {
        Ok(root) => root,
        Err(_) => return Err(syntax_errors(source)),
    };
    structure::check(source, &root)?;
    let mut scene = Scene::deserialize(toml::de::Deserializer::from(root)).map_err(|error| {
        // The structure was checked before, so this is reached only if schema and types disagree (a bug with a test).
        let finding = Finding::new(FindingKind::WrongType, "", error.message());
        source.error_at(vec![(finding, error.span().unwrap_or(0..0))], 0)
    })?;
    let mut findings = mesh::load_geometry(&mut scene, base);
    // Geometry that could not be read would only be complained of a second time.
    if findings.is_empty() {
        findings = validate(&scene);
    }
    if findings.is_empty() { Ok(scene) } else { Err(source.error(findings)) }
}

fn syntax_errors(source: &Arc<SceneSource>) -> SceneError {
    let (_, errors) = DeTable::parse_recoverable(&source.text);
    let located = errors.iter().map(|error| {
        let message = error.message().trim().replace('\n', "; ");
        (Finding::new(FindingKind::Syntax, "", message), error.span().unwrap_or(0..0))
    });
    source.error_at(located.collect(), 0)
}

fn not_utf8(file: &str, error: &std::string::FromUtf8Error) -> SceneError {
    let at = error.utf8_error().valid_up_to();
    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
    let finding = Finding::new(FindingKind::Encoding, "", "a scene file is UTF-8 text");
    let source = Arc::new(SceneSource { file: file.to_owned(), text });
    source.error_at(vec![(finding, at..at)], 0)
}

/// The bytes of a regular file of bounded size. Anything else could block or never end.
pub(crate) fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let other = |message: String| io::Error::new(io::ErrorKind::InvalidInput, message);
    if !fs::metadata(path)?.is_file() {
        return Err(other("not a regular file".into()));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(other(format!("larger than {limit} bytes")));
    }
    Ok(bytes)
}
