//! `signorini plot`: columns of a recording as a figure for a paper.

use crate::failure::Failure;
use crate::report::{fail, put};
use signorini::report::{Figure, FigureError};
use std::path::PathBuf;

/// Draws columns of a recording over time.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A panel: a column of the trajectory or the steps, several by `*` and `?`, or `energy`.
    #[arg(long = "y", value_name = "COLUMN", required = true)]
    panels: Vec<String>,
    /// The figure; its ending, svg or png, says what it is.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// First time.
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    from: Option<f64>,
    /// Last time.
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    to: Option<f64>,
    /// Width of the figure.
    #[arg(long, value_name = "DOTS", default_value_t = 800)]
    width: u32,
    /// Height of a panel.
    #[arg(long, value_name = "DOTS", default_value_t = 280)]
    height: u32,
    /// Logarithmic axes of values.
    #[arg(long)]
    log: bool,
    /// TrueType font for a PNG; one of the system's unless given.
    #[arg(long, value_name = "FILE")]
    font: Option<PathBuf>,
}

impl Args {
    /// Writes the figure.
    pub fn execute(self) -> Result<(), Failure> {
        let size = (self.width, self.height);
        let figure = Figure { panels: self.panels, from: self.from, to: self.to, size, is_log: self.log };
        let ending = self.out.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let made = match ending.as_deref() {
            Some("svg") => figure.svg(&self.folder).map(String::into_bytes),
            Some("png") => figure.png(&self.folder, self.font),
            _ => {
                let help = "FILE ends in .svg or .png".to_owned();
                return Err(Failure::input(format!("{} is no figure", self.out.display()), Some(help)));
            }
        };
        let bytes = made.map_err(|error| match error {
            FigureError::Report(error) => fail(&self.folder, error),
            other => Failure::input(other.to_string(), None),
        })?;
        put(&self.out, &bytes)?;
        crate::say!("written to {}", self.out.display());
        Ok(())
    }
}
