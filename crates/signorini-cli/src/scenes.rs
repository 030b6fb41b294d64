//! `signorini scenes`: what is bundled.

use crate::bundled::BUNDLED;
use crate::failure::Failure;
use crate::say;
use signorini::scene::read::read_str;

/// Lists the bundled scenes.
#[derive(clap::Args)]
pub struct Scenes {}

impl Scenes {
    /// Prints one line per scene: its name, and what it shows.
    pub fn execute(self) -> Result<(), Failure> {
        let width = BUNDLED.iter().map(|scene| scene.0.len()).max().unwrap_or(0);
        for (name, text) in BUNDLED {
            let scene = read_str(text, name, "")?;
            say!("{name:width$}  {}", scene.title.unwrap_or_default());
        }
        Ok(())
    }
}
