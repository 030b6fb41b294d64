//! Sequences of contact problems, solved with every piece of the default solver left out in turn: what each piece buys.
//!
//! Scenes are run with the solver as it is, and problems of consecutive steps are kept with the impulses that they started from. All variants then solve the
//! *same* problems. Whole runs prove nothing: piles are chaotic, and a run with one piece less is another run.
//!
//! ```sh
//! cargo run --release -p signorini --example contact_bench -- scenes            # the ablation, as a table
//! cargo run --release -p signorini --example contact_bench -- scenes --solve    # the solver as it is, sequence by sequence
//! cargo run --release -p signorini --example contact_bench -- scenes --problems DIR   # a folder of stored problems as well
//! ```
//!
//! Work is counted in multiplications, which are the same on every machine; beside it stands the time that the thread had a processor.

mod replay;
mod scenes;

use replay::{Cost, Sequence};
use signorini::contact::solve::PIECES;
use std::path::PathBuf;

/// The tolerance of the scenes.
const TOLERANCE: f64 = 1e-8;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "scenes".into()));
    let (mut only, mut problems, mut ceilings) = (false, None, false);
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--solve" => only = true,
            "--ceilings" => ceilings = true,
            "--problems" => problems = arguments.next().map(PathBuf::from),
            other => {
                eprintln!("unknown argument {other}; allowed: --solve, --ceilings, --problems DIR");
                std::process::exit(2);
            }
        }
    }
    let mut sequences: Vec<Sequence> = scenes::sources(&folder).iter().filter_map(replay::record).collect();
    sequences.extend(replay::random());
    sequences.extend(problems.and_then(|p| replay::stored(&p)));
    print!("| without |");
    sequences.iter().for_each(|s| print!(" {} ({}) |", s.name, s.items.len()));
    println!("\n|---{}|", "|---".repeat(sequences.len()));
    let all = row("nothing", &sequences, None, &[], f64::INFINITY);
    if ceilings {
        for ceiling in [100.0, 300.0, 1000.0, 3000.0] {
            row(&format!("ceiling of {ceiling}"), &sequences, Some(&all), &[], ceiling);
        }
    }
    if only || ceilings {
        return;
    }
    for piece in PIECES {
        row(piece, &sequences, Some(&all), &[piece], f64::INFINITY);
    }
}

/// One line: multiplications per problem (10³), share of those of the whole, unsolved ones, microseconds.
fn row(name: &str, sequences: &[Sequence], all: Option<&[Cost]>, without: &[&'static str], ceiling: f64) -> Vec<Cost> {
    print!("| {name} |");
    let costs: Vec<Cost> = sequences.iter().map(|s| s.solve(TOLERANCE, without, ceiling)).collect();
    for (k, cost) in costs.iter().enumerate() {
        let n = sequences[k].items.len().max(1) as f64;
        match all {
            None => print!(" {:.1}k, {:.0} µs", 1e-3 * cost.multiplications as f64 / n, 1e6 * cost.seconds / n),
            Some(all) => {
                let share = 100.0 * cost.multiplications as f64 / all[k].multiplications.max(1) as f64;
                print!(" {share:.0} %, {:.0} %", 100.0 * cost.seconds / all[k].seconds.max(1e-9));
            }
        }
        if cost.unsolved > 0 {
            print!(", **{}**", cost.unsolved);
        }
        print!(" |");
    }
    println!();
    costs
}
