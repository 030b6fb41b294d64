//! `signorini bench`: how fast forward dynamics are.

use crate::engine;
use crate::failure::Failure;
use crate::say;
use crate::source;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Times forward dynamics on chains of revolute links, and on a scene where one is given.
#[derive(clap::Args)]
pub struct Bench {
    /// A scene to time as well.
    scene: Option<String>,
    /// Numbers of links.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [10, 100, 1000, 10_000, 100_000])]
    links: Vec<usize>,
    /// Seconds to spend on each mechanism.
    #[arg(long, value_name = "S", default_value_t = 0.5)]
    seconds: f64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// How long one evaluation took.
#[derive(Serialize)]
struct Timing {
    mechanism: String,
    bodies: usize,
    evaluations: u64,
    /// The fastest of several rounds: what disturbs a measurement only ever makes it longer.
    microseconds: f64,
    microseconds_per_body: f64,
}

impl Bench {
    /// Measures and prints.
    pub fn execute(self) -> Result<(), Failure> {
        let mut timings = Vec::new();
        if let Some(wanted) = &self.scene {
            let loaded = source::load(wanted)?;
            let evaluator = engine::evaluator(&loaded.scene);
            let evaluator = evaluator.map_err(|found| Failure::findings(&loaded.source, found))?;
            timings.push(self.measure(loaded.name, evaluator)?);
        }
        for &links in &self.links {
            let evaluator = engine::evaluator(&engine::chain(links));
            let evaluator = evaluator.map_err(|found| Failure::input(format!("{found:?}"), None))?;
            timings.push(self.measure(format!("chain-{links}"), evaluator)?);
        }
        if self.json {
            let text = serde_json::to_string_pretty(&timings).map_err(|error| Failure::Io(error.to_string()))?;
            say!("{text}");
        } else {
            say!("{:20} {:>8} {:>14} {:>14}", "forward dynamics", "bodies", "µs", "µs per body");
            for t in &timings {
                let (all, each) = (t.microseconds, t.microseconds_per_body);
                say!("{:20} {:>8} {all:>14.3} {each:>14.4}", t.mechanism, t.bodies);
            }
        }
        Ok(())
    }

    fn measure(&self, mechanism: String, mut evaluator: engine::Evaluator) -> Result<Timing, Failure> {
        let budget = Duration::from_secs_f64(self.seconds.clamp(0.0, 3600.0));
        let began = Instant::now();
        let (mut evaluations, mut best, mut per_round) = (0, f64::INFINITY, 1);
        while evaluations == 0 || began.elapsed() < budget {
            let start = Instant::now();
            for _ in 0..per_round {
                evaluator.evaluate().map_err(|error| Failure::Unsolved(error.to_string()))?;
            }
            let seconds = start.elapsed().as_secs_f64();
            best = best.min(seconds / per_round as f64);
            evaluations += per_round;
            // A round must be long against the clock's resolution.
            if seconds < 1e-3 {
                per_round *= 2;
            }
        }
        let (bodies, microseconds) = (evaluator.n_bodies(), 1e6 * best);
        let microseconds_per_body = microseconds / bodies.max(1) as f64;
        Ok(Timing { mechanism, bodies, evaluations, microseconds, microseconds_per_body })
    }
}
