//! How far a run has come, on a terminal, and whether the user wants it to end.

use crate::failure::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signorini::run;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const TICKS: u64 = 1000;
const REDRAW: Duration = Duration::from_millis(100);

/// A bar on the standard error stream where that is a terminal, and nothing elsewhere.
pub struct Progress {
    bar: ProgressBar,
    drawn: Instant,
}

impl Progress {
    /// A bar, unless the user wants none.
    pub fn new(is_quiet: bool) -> Self {
        let bar = ProgressBar::new(TICKS);
        if is_quiet || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  {msg}  {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, drawn: Instant::now() }
    }

    /// Shows how far the run has come, as often as an eye can follow.
    pub fn show(&mut self, at: &run::Progress<'_>) {
        if self.bar.is_hidden() || self.drawn.elapsed() < REDRAW {
            return;
        }
        self.drawn = Instant::now();
        let run::Progress { time, end, steps, .. } = *at;
        self.bar.set_position((time / end * TICKS as f64) as u64);
        self.bar.set_message(format!("t = {time:.6} of {end}, {steps} steps"));
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Set when the user interrupts, or the system asks the process to end. A second time ends it at once; the streams
/// can be read and continued all the same.
pub fn catch_interrupts() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .map_err(|error| Failure::Io(format!("cannot watch for interrupts: {error}")))?;
    Ok(flag)
}
