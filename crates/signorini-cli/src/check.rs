//! `signorini check`: is a scene right, and what is it?

use crate::engine;
use crate::failure::Failure;
use crate::say;
use crate::source;

/// Validates a scene and describes its mechanism.
#[derive(clap::Args)]
pub struct Check {
    /// A scene file, a folder with a scene.toml, or the name of a bundled scene.
    scene: String,
}

impl Check {
    /// Prints what was found.
    pub fn execute(self) -> Result<(), Failure> {
        let loaded = source::load(&self.scene)?;
        let lines = engine::describe(&loaded.scene).map_err(|found| Failure::findings(&loaded.source, found))?;
        say!("{}{}", loaded.name, loaded.scene.title.map_or_else(String::new, |title| format!(": {title}")));
        let width = lines.iter().map(|line| line.0.chars().count()).max().unwrap_or(0);
        for (what, value) in lines {
            say!("  {what:width$}  {value}");
        }
        Ok(())
    }
}
