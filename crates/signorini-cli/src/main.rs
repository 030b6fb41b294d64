//! The `signorini` command.

mod bench;
mod bundled;
mod check;
mod engine;
mod failure;
mod progress;
mod run;
mod scenes;
mod source;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Rigid multibody dynamics with hard contact.
///
/// Exit codes: 0 done; 1 stopped by policy, or not solved; 2 bad input; 3 input or output failed; 130 interrupted.
#[derive(Parser)]
#[command(version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate a scene and record it.
    Run(run::Run),
    /// Validate a scene and describe its mechanism.
    Check(check::Check),
    /// List the bundled scenes.
    Scenes(scenes::Scenes),
    /// Time forward dynamics.
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Run(command) => command.execute(),
        Command::Check(command) => command.execute(),
        Command::Scenes(command) => command.execute(),
        Command::Bench(command) => command.execute(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            failure.code()
        }
    }
}
