//! The `signorini` command.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod bench_contact;
mod bench_dca;
mod bundled;
mod check;
mod describe;
mod describe_contact;
mod engine;
mod failure;
mod plot;
mod progress;
mod report;
mod run;
mod scenes;
mod screen;
mod solve;
mod source;
mod unsolved;
mod verify;
mod view;
mod viewer;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Rigid multibody dynamics with hard contact.
///
/// Exit codes: 0 done; 1 stopped by policy, or not solved; 2 bad input; 3 input or output failed; 130 interrupted; 141 the reader of its output has gone.
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
    /// Make the page of a recording: 3D replay, plots and certificate in one file.
    Report(report::Args),
    /// Look at a recording, or at a scene before it runs, in the browser.
    View(view::Args),
    /// Draw columns of a recording for a paper.
    Plot(plot::Args),
    /// Say whether a recording is whole, what made it, and whether it can go on.
    Verify(verify::Verify),
    /// Solve stored contact problems.
    Solve(solve::Args),
    /// Time forward dynamics, or every contact solver on stored problems.
    Bench(Bench),
}

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
struct Bench {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    dynamics: bench::Bench,
}

#[derive(Subcommand)]
enum What {
    /// Every solver on every stored contact problem of a folder.
    Contact(bench_contact::Args),
    /// Divide and conquer against the recursion, by shape of plan and number of threads.
    Dca(bench_dca::Args),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Run(command) => command.execute(),
        Command::Check(command) => command.execute(),
        Command::Scenes(command) => command.execute(),
        Command::Report(args) => args.execute(),
        Command::View(args) => args.execute(),
        Command::Plot(args) => args.execute(),
        Command::Verify(command) => command.execute(),
        Command::Solve(args) => return solve::run(&args),
        Command::Bench(Bench { what: Some(What::Contact(args)), .. }) => return bench_contact::run(&args),
        Command::Bench(Bench { what: Some(What::Dca(args)), .. }) => args.execute(),
        Command::Bench(Bench { dynamics, .. }) => dynamics.execute(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            failure.code()
        }
    }
}
