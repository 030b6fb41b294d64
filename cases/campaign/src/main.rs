//! `campaign --seeds 0..2000 --jobs 2`: judges random scenes; `campaign --seed 17 --check energy`: the smallest scene that still fails.

use campaign::generate::scene;
use campaign::judge::Check;
use campaign::ledger::{Line, examine, table};
use campaign::run::text;
use campaign::shrink::shrink;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const USAGE: &str = "\
campaign --seeds A..B [--jobs N] [--out FILE] [--shrink DIR]   judge scenes; FILE (out/campaign.jsonl) is taken up again
campaign --seed N [--check NAME]                              print the scene, or the smallest that still fails the check";

/// What was asked for.
struct Request {
    seeds: Range<u64>,
    seed: Option<u64>,
    check: Option<Check>,
    jobs: usize,
    out: PathBuf,
    shrink: Option<PathBuf>,
}

fn parse(arguments: &[String]) -> Option<Request> {
    let out = PathBuf::from("out/campaign.jsonl");
    let mut request = Request { seeds: 0..0, seed: None, check: None, jobs: 1, out, shrink: None };
    for pair in arguments.chunks(2) {
        let [key, value] = pair else { return None };
        match key.as_str() {
            "--seeds" => {
                let (first, end) = value.split_once("..")?;
                request.seeds = first.parse().ok()?..end.parse().ok()?;
            }
            "--seed" => request.seed = Some(value.parse().ok()?),
            "--check" => request.check = Some(Check::by_name(value)?),
            "--jobs" => request.jobs = value.parse().ok().filter(|n| *n > 0)?,
            "--out" => request.out = value.into(),
            "--shrink" => request.shrink = Some(value.into()),
            _ => return None,
        }
    }
    (request.seed.is_some() || !request.seeds.is_empty()).then_some(request)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(request) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let outcome = match request.seed {
        Some(seed) => show(seed, request.check),
        None => judge_all(&request),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

/// Prints a scene, or what is left of it.
fn show(seed: u64, check: Option<Check>) -> Result<bool, String> {
    let scene = scene(seed);
    let Some(check) = check else {
        println!("{}", text(&scene)?);
        return Ok(true);
    };
    let (smallest, what) = shrink(&scene, check);
    println!("# seed {seed}, {}: {what}\n{}", check.name(), text(&smallest)?);
    Ok(what.is_empty())
}

/// What an earlier campaign has left; a last line that was cut off is judged again.
fn known(path: &Path) -> Vec<Line> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn judge_all(request: &Request) -> Result<bool, String> {
    let says = |what: &str, error: std::io::Error| format!("{what}: {error}");
    let path = &request.out;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|e| says("cannot make the folder", e))?;
    }
    let mut lines: Vec<Line> = known(path).into_iter().filter(|line| request.seeds.contains(&line.seed)).collect();
    let done: BTreeSet<u64> = lines.iter().map(|line| line.seed).collect();
    let file = OpenOptions::new().create(true).append(true).open(path).map_err(|e| says("cannot write", e))?;
    let (next, fresh) = (AtomicU64::new(request.seeds.start), Mutex::new((file, Vec::new())));
    std::thread::scope(|scope| {
        for _ in 0..request.jobs {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= request.seeds.end {
                        break;
                    }
                    if done.contains(&seed) {
                        continue;
                    }
                    let line = examine(seed);
                    for (check, what) in &line.failures {
                        println!("{seed:6} {:8} {check:16} {what}", line.family);
                    }
                    let Ok(mut fresh) = fresh.lock() else { break };
                    if let Ok(text) = serde_json::to_string(&line) {
                        // A line that cannot be written is judged again the next time.
                        let _ = writeln!(fresh.0, "{text}");
                    }
                    fresh.1.push(line);
                }
            });
        }
    });
    lines.extend(fresh.into_inner().map_err(|_| "a thread has failed")?.1);
    lines.sort_by_key(|line| line.seed);
    if let Some(folder) = &request.shrink {
        write_smallest(&lines, folder)?;
    }
    println!("\n{}", table(&lines));
    Ok(lines.iter().all(|line| line.failures.is_empty()))
}

/// One scene per family and check, cut down.
fn write_smallest(lines: &[Line], folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    let mut seen = BTreeSet::new();
    for line in lines {
        for name in line.failures.keys() {
            let is_first = seen.insert((name.clone(), line.family.clone()));
            let Some(check) = Check::by_name(name).filter(|_| is_first) else { continue };
            let (smallest, what) = shrink(&scene(line.seed), check);
            let name = format!("{}-{}-{}.toml", check.name(), line.family, line.seed);
            let text = format!("# seed {}: {what}\n{}", line.seed, text(&smallest)?);
            fs::write(folder.join(name), text).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}
