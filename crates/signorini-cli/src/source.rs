//! Finds and reads the scene that the user means: a file, a folder, or the name of a bundled scene.

use crate::bundled;
use crate::failure::Failure;
use signorini::scene::read::{read_str, read_with_source};
use signorini::scene::{Scene, SceneSource};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A scene that was read, and where it came from.
pub struct Loaded {
    /// Its name: of the bundled scene, of the file, or of the folder where the file is called `scene.toml`.
    pub name: String,
    /// The scene.
    pub scene: Scene,
    /// Its text, to show where something is wrong.
    pub source: Arc<SceneSource>,
    /// From where it looks for files.
    pub base: PathBuf,
}

/// Reads the scene that the user means. What exists on the disk comes before what is bundled.
pub fn load(wanted: &str) -> Result<Loaded, Failure> {
    if let Some(file) = locate(wanted)? {
        return load_file(&file);
    }
    let text = bundled::find(wanted).unwrap_or_default();
    let file = format!("{wanted}/scene.toml (bundled)");
    let scene = read_str(text, &file, "")?;
    let source = Arc::new(SceneSource { file, text: text.to_owned() });
    Ok(Loaded { name: wanted.to_owned(), scene, source, base: PathBuf::new() })
}

/// The file of the scene that the user means; none where it is bundled.
pub fn locate(wanted: &str) -> Result<Option<PathBuf>, Failure> {
    let path = Path::new(wanted);
    let inside = path.join("scene.toml");
    if let Some(file) = [path, &inside].into_iter().find(|file| file.is_file()) {
        return Ok(Some(file.to_path_buf()));
    }
    if bundled::find(wanted).is_some() {
        return Ok(None);
    }
    let what = if path.is_dir() { "a folder without scene.toml" } else { "no file, no folder and no bundled scene" };
    let names: Vec<&str> = bundled::BUNDLED.iter().map(|scene| scene.0).collect();
    let help = if names.is_empty() { None } else { Some(format!("bundled scenes: {}", names.join(", "))) };
    Err(Failure::input(format!("`{wanted}` is {what}"), help))
}

fn load_file(path: &Path) -> Result<Loaded, Failure> {
    let (scene, source) = read_with_source(path)?;
    let base = path.parent().unwrap_or(Path::new("")).to_path_buf();
    Ok(Loaded { name: name_of(path), scene, source, base })
}

fn name_of(path: &Path) -> String {
    let text = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let stem = text(path.file_stem());
    let folder = || text(std::path::absolute(path).ok()?.parent()?.file_name());
    let name = if stem.as_deref() == Some("scene") { folder().or(stem) } else { stem };
    name.unwrap_or_else(|| "scene".to_owned())
}
