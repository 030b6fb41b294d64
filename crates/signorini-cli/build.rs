//! Puts into the binary what an installed one needs: the bundled scenes by name, and the viewer of recordings.
//!
//! The viewer is built here, where Node is there. Where it is not, or the build fails, the command is built without it and says in its
//! reports how to get it. `SIGNORINI_VIEWER` names a viewer that was built elsewhere, or is `none`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let top = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("../..");
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    bundle_scenes(&top.join("scenes"), &out)?;
    let viewer = match find_viewer(&top.join("viewer"), &out) {
        Ok(Some(page)) => format!("Some(include_str!({:?}))", page.display().to_string()),
        Ok(None) => "None".to_owned(),
        Err(reason) => {
            println!("cargo::warning=built without the viewer, reports will have no 3D replay: {reason}");
            "None".to_owned()
        }
    };
    fs::write(out.join("viewer.rs"), viewer)
}

/// Name and text of every bundled scene.
fn bundle_scenes(scenes: &Path, out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", scenes.display());
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    if scenes.is_dir() {
        for entry in fs::read_dir(scenes)? {
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
    fs::write(out.join("bundled.rs"), code)
}

/// The page of the viewer: given, or built into `out`; none where that is what was asked for.
fn find_viewer(source: &Path, out: &Path) -> Result<Option<PathBuf>, String> {
    println!("cargo::rerun-if-env-changed=SIGNORINI_VIEWER");
    for part in ["src", "index.html", "package.json", "package-lock.json", "vite.config.ts"] {
        println!("cargo::rerun-if-changed={}", source.join(part).display());
    }
    match env::var("SIGNORINI_VIEWER") {
        Ok(asked) if asked == "none" => return Ok(None),
        Ok(given) => {
            println!("cargo::rerun-if-changed={given}");
            return fs::canonicalize(&given).map(Some).map_err(|error| format!("SIGNORINI_VIEWER={given}: {error}"));
        }
        Err(_) => {}
    }
    if !source.is_dir() {
        return Err("its source is not there".to_owned());
    }
    run("node", &["--version"], source).map_err(|_| "Node.js 20.19 or later is not there".to_owned())?;
    // On Windows npm is a script of the shell.
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    if !source.join("node_modules/three").is_dir() || !source.join("node_modules/vite").is_dir() {
        run(npm, &["ci", "--omit=dev", "--no-audit", "--no-fund"], source)?;
    }
    let folder = out.join("viewer");
    run(npm, &["run", "build", "--", "--outDir", &folder.display().to_string(), "--emptyOutDir"], source)?;
    let page = folder.join("viewer.html");
    if page.is_file() { Ok(Some(page)) } else { Err("the build left no viewer.html".to_owned()) }
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> Result<(), String> {
    let line = format!("{program} {}", arguments.join(" "));
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| format!("`{line}`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    Err(format!("`{line}` failed: {last}"))
}
