//! The `signorini` command.

mod bench_contact;
mod solve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "signorini",
    version,
    about = "Rigid multibody dynamics with hard contact"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Solve stored contact problems
    Solve(solve::Args),
    /// Measure
    #[command(subcommand)]
    Bench(Bench),
}

#[derive(Subcommand)]
enum Bench {
    /// Every solver on every stored contact problem of a folder
    Contact(bench_contact::Args),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Solve(args) => solve::run(&args),
        Command::Bench(Bench::Contact(args)) => bench_contact::run(&args),
    }
}
