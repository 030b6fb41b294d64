//! Puts the bundled scenes into the binary, so that an installed one knows them by name.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let scenes = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("../../scenes");
    println!("cargo::rerun-if-changed={}", scenes.display());
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    if scenes.is_dir() {
        for entry in fs::read_dir(&scenes)? {
            let folder = entry?.path();
            let text = folder.join("scene.toml");
            if let Some(name) = folder.file_name().filter(|_| text.is_file()) {
                found.push((name.to_string_lossy().into_owned(), fs::canonicalize(text)?));
            }
        }
    }
    found.sort();
    let mut code = String::from("&[\n");
    for (name, path) in found {
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(code, "    ({name:?}, include_str!({:?})),", path.display().to_string()).map_err(io::Error::other)?;
    }
    code.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR").map_err(io::Error::other)?).join("bundled.rs"), code)
}
