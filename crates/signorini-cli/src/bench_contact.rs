//! `signorini bench contact`: every solver on every stored contact problem.

use crate::tell;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use signorini::contact::{ContactError, Solution, Start, solve, store};

use crate::solve::kind_name;

/// The levels at which a problem counts as solved.
const LEVELS: [f64; 3] = [1e-4, 1e-8, 1e-12];

#[derive(clap::Args)]
pub struct Args {
    /// A folder of problem files (.npz)
    folder: PathBuf,
    /// Solvers, separated by commas
    #[arg(long, default_value = "auto,newton,gauss-seidel,admm,lemke")]
    solvers: String,
    /// Tolerance on the relative residual
    #[arg(long, default_value_t = 1e-8)]
    tol: f64,
    /// The shortest of this many solves from r = 0 is reported
    #[arg(long, default_value_t = 5)]
    repeat: usize,
    /// Performance profiles as a picture
    #[arg(long)]
    svg: Option<PathBuf>,
    /// All numbers as JSON lines
    #[arg(long)]
    json: Option<PathBuf>,
}

struct Row {
    problem: String,
    kind: &'static str,
    solver: String,
    rel: f64,
    floor: f64,
    iterations: usize,
    seconds: f64,
    is_solved: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    match measure(args) {
        Ok(rows) => {
            print_tables(&rows, args);
            let written = args.svg.as_ref().map(|p| std::fs::write(p, profiles_svg(&rows, args)));
            let json = args.json.as_ref().map(|p| std::fs::write(p, json_lines(&rows)));
            for result in [written, json].into_iter().flatten() {
                if let Err(error) = result {
                    tell!("error: {error}");
                    return ExitCode::from(3);
                }
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            tell!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn problem_files(folder: &Path) -> Result<Vec<PathBuf>, ContactError> {
    let io = |source| ContactError::Io { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|e| e == "npz") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn measure(args: &Args) -> Result<Vec<Row>, ContactError> {
    let mut rows = Vec::new();
    for file in problem_files(&args.folder)? {
        let problem = store::read_problem(&file)?;
        for name in args.solvers.split(',').map(str::trim) {
            let mut solver = solve::solver_by_name(name, args.tol)?;
            if solver.check(&problem).is_err() {
                continue;
            }
            let mut solution = Solution::default();
            let mut seconds = f64::INFINITY;
            for _ in 0..args.repeat.max(1) {
                let clock = Instant::now();
                solver.solve_into(&problem, Start::Cold, &mut solution)?;
                seconds = seconds.min(clock.elapsed().as_secs_f64());
                if seconds > 1.0 {
                    break; // long enough to be measured once
                }
            }
            rows.push(Row {
                problem: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
                kind: kind_name(problem.kind()),
                solver: name.to_owned(),
                rel: solution.residual.rel,
                floor: solution.residual.floor,
                iterations: solution.work.iterations(),
                seconds,
                is_solved: solution.status.is_solved(),
            });
        }
    }
    Ok(rows)
}

fn solvers(args: &Args) -> Vec<&str> {
    args.solvers.split(',').map(str::trim).collect()
}

fn print_tables(rows: &[Row], args: &Args) {
    let mut text = format!("{:<48} {:<13} {:>9} {:>9} {:>12}\n", "problem", "solver", "rel", "iter", "seconds");
    for row in rows {
        let _ = writeln!(
            text,
            "{:<48} {:<13} {:>9.1e} {:>9} {:>12.3e}",
            row.problem, row.solver, row.rel, row.iterations, row.seconds
        );
    }
    let _ = writeln!(text, "\n{:<13} {:>9} {:>9} {:>9} {:>9}", "solver", "problems", "1e-4", "1e-8", "1e-12");
    for solver in solvers(args) {
        let own: Vec<&Row> = rows.iter().filter(|r| r.solver == solver).collect();
        let count = |level: f64| own.iter().filter(|r| r.rel <= level.max(r.floor)).count();
        let [a, b, c] = LEVELS.map(count);
        let _ = writeln!(text, "{solver:<13} {:>9} {a:>9} {b:>9} {c:>9}", own.len());
    }
    use std::io::Write as _;
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn json_lines(rows: &[Row]) -> String {
    let mut text = String::new();
    for r in rows {
        let line = serde_json::json!({
            "problem": r.problem, "kind": r.kind, "solver": r.solver, "rel": r.rel.is_finite().then_some(r.rel),
            "floor": r.floor, "iterations": r.iterations, "seconds": r.seconds, "solved": r.is_solved,
        });
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Share of problems solved within τ times the best solver's time, over τ (E. Dolan, J. Moré, Math. Program. 91, 2002).
fn profiles_svg(rows: &[Row], args: &Args) -> String {
    let mut problems: Vec<&str> = rows.iter().map(|r| r.problem.as_str()).collect();
    problems.dedup();
    let best = |problem: &str| {
        rows.iter().filter(|r| r.problem == problem && r.is_solved).map(|r| r.seconds).fold(f64::INFINITY, f64::min)
    };
    let (width, height, left, bottom, decades) = (640.0, 360.0, 60.0, 40.0, 4.0);
    let x = |tau: f64| left + (width - left - 120.0) * tau.log10().clamp(0.0, decades) / decades;
    let y = |share: f64| height - bottom - (height - bottom - 20.0) * share;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">time over the best time</text>\n",
        x(100.0),
        height - 8.0
    );
    for k in 0..=4 {
        let (at, tau) = (x(10f64.powi(k)), 10f64.powi(k));
        let (level, share) = (y(0.25 * f64::from(k)), 25 * k);
        let (top, base, right, label) = (y(1.0), y(0.0), x(1e4), level + 4.0);
        let _ = writeln!(
            svg,
            "<line x1=\"{at}\" y1=\"{top}\" x2=\"{at}\" y2=\"{base}\" stroke=\"#ddd\"/>\n\
             <text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{tau}</text>\n\
             <line x1=\"{left}\" y1=\"{level}\" x2=\"{right}\" y2=\"{level}\" stroke=\"#ddd\"/>\n\
             <text x=\"{}\" y=\"{label}\" text-anchor=\"end\">{share} %</text>",
            base + 14.0,
            left - 6.0,
        );
    }
    let colours = ["#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b"];
    for (i, solver) in solvers(args).into_iter().enumerate() {
        let mut ratios: Vec<f64> = rows
            .iter()
            .filter(|r| r.solver == solver && r.is_solved)
            .map(|r| (r.seconds / best(&r.problem)).max(1.0))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let mut points = format!("{},{} ", x(1.0), y(0.0));
        for (k, tau) in ratios.iter().enumerate() {
            let (before, after) = (k as f64 / problems.len() as f64, (k + 1) as f64 / problems.len() as f64);
            let _ = write!(points, "{0:.1},{1:.1} {0:.1},{2:.1} ", x(*tau), y(before), y(after));
        }
        let last = ratios.len() as f64 / problems.len().max(1) as f64;
        let _ = write!(points, "{:.1},{:.1}", x(1e4), y(last));
        let colour = colours[i % colours.len()];
        let _ = writeln!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n\
             <text x=\"{}\" y=\"{}\" fill=\"{colour}\">{solver}</text>",
            x(1e4) + 8.0,
            30.0 + 16.0 * i as f64
        );
    }
    svg.push_str("</svg>\n");
    svg
}
