//! `signorini solve`: stored contact problems, one by one.

use crate::{say, tell};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use signorini::contact::{
    ContactError, ContactProblem, ContactSolver, Kind, Solution, Start, delassus::BlockMatrix, solve, store,
};

/// Exit code: a problem was not solved.
const UNSOLVED: u8 = 1;
/// Exit code: bad input.
const BAD_INPUT: u8 = 2;
/// Exit code: reading or writing failed.
const IO_FAILED: u8 = 3;

/// Most repetitions, and most time spent on them, when `--repeat` is not given.
const AUTO_RUNS: usize = 50;
const AUTO_SECONDS: f64 = 5e-2;

#[derive(clap::Args)]
pub struct Args {
    /// Problem files (.npz)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// auto, lemke, gauss-seidel, newton, admm or enumerate
    #[arg(long, default_value = "auto")]
    solver: String,
    /// Tolerance on the relative residual
    #[arg(long, default_value_t = 1e-8)]
    tol: f64,
    /// Where to write r (.npy); for several files a folder, one .npy per problem
    #[arg(long)]
    out: Option<PathBuf>,
    /// One JSON line per file
    #[arg(long)]
    json: bool,
    /// Solve this many times from r = 0 and report the shortest time; 0 chooses so that short solves are measured well
    #[arg(long, default_value_t = 0)]
    repeat: usize,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    let mut worst = 0;
    if let Some(out) = &args.out
        && args.files.len() > 1
        && let Err(source) = std::fs::create_dir_all(out)
    {
        tell!("error: {}: {source}", out.display());
        return ExitCode::from(IO_FAILED);
    }
    for file in &args.files {
        let code = match solve_file(args, file) {
            Ok(true) => 0,
            Ok(false) => UNSOLVED,
            Err(error) => {
                report_error(args.json, file, &error);
                if matches!(error, ContactError::Io { .. }) { IO_FAILED } else { BAD_INPUT }
            }
        };
        worst = worst.max(code);
    }
    ExitCode::from(worst)
}

fn report_error(json: bool, file: &Path, error: &ContactError) {
    tell!("error: {error}");
    if json {
        let line = serde_json::json!({ "file": file, "status": "error", "error": error.to_string() });
        say!("{line}");
    }
}

fn solve_file(args: &Args, file: &Path) -> Result<bool, ContactError> {
    let problem = store::read_problem(file)?;
    let mut solver = solve::solver_by_name(&args.solver, args.tol)?;
    solver.check(&problem)?;
    let mut solution = Solution::default();
    let mut seconds = f64::INFINITY;
    let (mut runs, mut total) = (0, 0.0);
    // A first solve pays for pages and caches that belong to the process, not to the method: when the choice is ours,
    // solves of microseconds are repeated for some milliseconds, long ones are not.
    while runs == 0 || runs < args.repeat || (args.repeat == 0 && runs < AUTO_RUNS && total < AUTO_SECONDS) {
        let clock = Instant::now();
        solver.solve_into(&problem, Start::Cold, &mut solution)?;
        let elapsed = clock.elapsed().as_secs_f64();
        seconds = seconds.min(elapsed);
        total += elapsed;
        runs += 1;
    }
    if let Some(out) = &args.out {
        let path = if args.files.len() > 1 {
            out.join(file.file_stem().unwrap_or_default()).with_extension("npy")
        } else {
            out.clone()
        };
        store::write_vector(&path, &solution.r)?;
    }
    let name = if problem.name().is_empty() { file.display().to_string() } else { problem.name().to_owned() };
    if args.json {
        say!("{}", json_line(file, &name, &problem, &*solver, &solution, seconds));
    } else {
        let r = &solution.residual;
        say!(
            "{name}: {} by {} in {} iterations, {:.3e} s, rel {:.2e} (floor {:.1e})",
            solution.status.name(),
            solution.method,
            solution.work.iterations(),
            seconds,
            r.rel,
            r.floor
        );
    }
    Ok(solution.status.is_solved())
}

fn json_line(
    file: &Path,
    name: &str,
    problem: &ContactProblem,
    solver: &dyn ContactSolver,
    solution: &Solution,
    seconds: f64,
) -> serde_json::Value {
    let (r, w) = (&solution.residual, &solution.work);
    let mut blocks = BlockMatrix::default();
    problem.delassus().write_blocks(problem.offsets(), &mut blocks);
    serde_json::json!({
        "file": file,
        "name": name,
        "kind": kind_name(problem.kind()),
        "n": problem.n_rows(),
        "contacts": problem.n_contacts(),
        "asymmetry": blocks.asymmetry(),
        "solver": solver.name(),
        "method": solution.method,
        "status": solution.status.name(),
        "solved": solution.status.is_solved(),
        "rel": finite(r.rel),
        "residual": {
            "rel": finite(r.rel),
            "rel_inf": finite(r.rel_inf),
            "signorini": finite(r.signorini),
            "coulomb": finite(r.coulomb),
            "dissipation": finite(r.dissipation),
            "moment": finite(r.moment),
            "bilateral": finite(r.bilateral),
            "floor": finite(r.floor),
        },
        "iterations": w.iterations(),
        "work": {
            "sweeps": w.sweeps,
            "newton_steps": w.newton_steps,
            "factorisations": w.factorisations,
            "pivots": w.pivots,
            "outer": w.outer,
        },
        "seconds": seconds,
    })
}

/// JSON has no infinity: a residual that could not be computed is null.
fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// The name of a family in problem files.
pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Lcp => "lcp",
        Kind::Mlcp => "mlcp",
        Kind::Planar => "fc2d",
        Kind::Spatial => "fc3d",
        Kind::Rolling => "rfc3d",
        Kind::General => "general",
    }
}
