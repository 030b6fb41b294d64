//! `signorini bench dca`: divide and conquer against the recursion, and what its plan predicts for more threads.

use crate::engine::{self, Evaluator};
use crate::failure::Failure;
use crate::say;
use serde::Serialize;
use signorini::plan::{Elimination, Shape};
use signorini::scene::Formulation;
use std::time::Instant;

/// Times forward dynamics of chains under both formulations. Shapes and threads take turns, so that what disturbs the machine
/// disturbs all of them; the fastest round counts.
#[derive(clap::Args)]
pub struct Args {
    /// Numbers of links.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [100, 1000, 4000, 10_000])]
    links: Vec<usize>,
    /// Numbers of threads.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// Links per block, besides the plan's own choice.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 64, 256, 1024])]
    blocks: Vec<usize>,
    /// Rounds.
    #[arg(long, value_name = "N", default_value_t = 40)]
    rounds: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// One way to compute one mechanism.
#[derive(Serialize)]
struct Timing {
    links: usize,
    formulation: String,
    threads: usize,
    /// The fastest round, per evaluation.
    microseconds: f64,
    /// Over the recursion's time.
    ratio: f64,
    /// Counted arithmetic over the recursion's, and the part of it that cannot run side by side.
    work: f64,
    span: f64,
    depth: usize,
}

struct Contender {
    name: String,
    threads: usize,
    pool: rayon::ThreadPool,
    shape: Option<Shape>,
    evaluator: Evaluator,
    best: f64,
}

impl Args {
    /// Measures and prints.
    pub fn execute(self) -> Result<(), Failure> {
        let mut timings = Vec::new();
        for &links in &self.links {
            timings.extend(self.measure(links)?);
        }
        if self.json {
            let text = serde_json::to_string_pretty(&timings).map_err(|error| Failure::Io(error.to_string()))?;
            say!("{text}");
            return Ok(());
        }
        say!(
            "{:>7} {:18} {:>7} {:>10} {:>7} {:>9} {:>9} {:>6}",
            "links",
            "",
            "threads",
            "µs",
            "ratio",
            "work",
            "span",
            "depth"
        );
        for t in &timings {
            say!(
                "{:>7} {:18} {:>7} {:>10.1} {:>7.3} {:>9.3} {:>9.4} {:>6}",
                t.links,
                t.formulation,
                t.threads,
                t.microseconds,
                t.ratio,
                t.work,
                t.span,
                t.depth
            );
        }
        Ok(())
    }

    fn measure(&self, links: usize) -> Result<Vec<Timing>, Failure> {
        let mut contenders = vec![contender(links, None, 1)?];
        for &threads in &self.threads {
            contenders.push(contender(links, Some(Shape::Auto), threads)?);
            for &block in self.blocks.iter().filter(|&&block| block < links) {
                contenders.push(contender(links, Some(Shape::Blocked(block)), threads)?);
            }
        }
        let per_round = (20_000 / links.max(1)).clamp(1, 200);
        for _ in 0..self.rounds {
            for contender in &mut contenders {
                let Contender { pool, evaluator, best, .. } = contender;
                let seconds = pool.install(|| {
                    let start = Instant::now();
                    for _ in 0..per_round {
                        evaluator.evaluate().map_err(|error| error.to_string())?;
                    }
                    Ok::<_, String>(start.elapsed().as_secs_f64())
                });
                *best = best.min(seconds.map_err(Failure::Unsolved)? / per_round as f64);
            }
        }
        let recursive = contenders[0].best;
        let parents: Vec<Option<usize>> = (0..links).map(|i| i.checked_sub(1)).collect();
        let timing = |c: &Contender| {
            let plan = c.shape.map(|shape| Elimination::build(&parents, &[], shape));
            let whole = links as f64;
            Timing {
                links,
                formulation: c.name.clone(),
                threads: c.threads,
                microseconds: 1e6 * c.best,
                ratio: c.best / recursive,
                work: plan.as_ref().map_or(1.0, |p| p.work() / whole),
                span: plan.as_ref().map_or(1.0, |p| p.span() / whole),
                depth: plan.as_ref().map_or(0, Elimination::depth),
            }
        };
        Ok(contenders.iter().map(timing).collect())
    }
}

fn contender(links: usize, shape: Option<Shape>, threads: usize) -> Result<Contender, Failure> {
    let mut scene = engine::chain(links);
    let (mut name, mut formulation) = ("recursive".to_owned(), Formulation::Recursive);
    if let Some(shape) = shape {
        formulation = Formulation::Dca;
        name = match shape {
            Shape::Blocked(n) => format!("dca, blocks of {n}"),
            _ => "dca".to_owned(),
        };
    }
    scene.solver.formulation = formulation;
    let mut evaluator = engine::evaluator(&scene).map_err(|found| Failure::input(format!("{found:?}"), None))?;
    shape.into_iter().for_each(|shape| evaluator.set_shape(shape));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Failure::Io(error.to_string()))?;
    Ok(Contender { name, threads, pool, shape, evaluator, best: f64::INFINITY })
}
