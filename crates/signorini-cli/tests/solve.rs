//! `signorini solve` and `signorini bench contact` from outside.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use signorini::contact::delassus::DenseDelassus;
use signorini::contact::store::{read_vector, write_problem};
use signorini::contact::{Cone, ContactProblem};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("signorini-cli-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_signorini")).args(args).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A contact pressed at unit speed: r = (1, 0, 0). And a problem without solution: −r − 1 ≥ 0.
fn write_samples(folder: &Path) -> (PathBuf, PathBuf) {
    let identity = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let w = DenseDelassus::from_rows(identity).unwrap();
    let p = ContactProblem::build(w, vec![-1.0, 0.0, 0.0], vec![Cone::circular(0.5)]).unwrap();
    let good = folder.join("good.npz");
    write_problem(&good, &p.named("pressed")).unwrap();
    let w = DenseDelassus::from_rows(vec![-1.0]).unwrap();
    let p = ContactProblem::build(w, vec![-1.0], vec![Cone::Unilateral]).unwrap();
    let hopeless = folder.join("hopeless.npz");
    write_problem(&hopeless, &p.named("hopeless")).unwrap();
    (good, hopeless)
}

#[test]
fn one_file() {
    let folder = folder("one");
    let (good, _) = write_samples(&folder);
    let out = folder.join("r.npy");
    let output = run(&["solve", text(&good), "--out", text(&out), "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(line["status"], "solved");
    assert_eq!(line["name"], "pressed");
    assert!(line["residual"]["rel"].as_f64().unwrap() <= 1e-8);
    assert!(line["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(read_vector(&out).unwrap(), [1.0, 0.0, 0.0]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// A contact with friction beside a limit and dry friction in a joint: as a run saves it.
#[test]
fn a_problem_of_mixed_laws() {
    let folder = folder("mixed");
    let diagonal = |n: usize| (0..n * n).map(|at| f64::from(u8::from(at / n == at % n))).collect();
    let w = DenseDelassus::from_rows(diagonal(5)).unwrap();
    let cones = vec![Cone::circular(0.5), Cone::Unilateral, Cone::Interval { lower: -0.25, upper: 0.25 }];
    let p = ContactProblem::build(w, vec![-1.0, 0.25, 0.0, -2.0, 1.0], cones).unwrap();
    let (file, out) = (folder.join("mixed.npz"), folder.join("r.npy"));
    write_problem(&file, &p.named("mixed")).unwrap();
    let output = run(&["solve", text(&file), "--out", text(&out), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&line["kind"], &line["status"]), (&"general".into(), &"solved".into()));
    // Sticks, pushes, and is held back by all that friction can.
    let wanted = [1.0, -0.25, 0.0, 2.0, -0.25];
    let found = read_vector(&out).unwrap();
    assert!(found.iter().zip(wanted).all(|(r, w)| (r - w).abs() < 1e-7), "{found:?}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn several_files_one_line_and_one_array_each() {
    let folder = folder("several");
    let (good, hopeless) = write_samples(&folder);
    let out = folder.join("answers");
    let output = run(&["solve", text(&good), text(&hopeless), "--out", text(&out), "--json"]);
    assert_eq!(output.status.code(), Some(1), "one of two is unsolved");
    let lines: Vec<serde_json::Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["status"], "infeasible");
    assert!(out.join("good.npy").is_file() && out.join("hopeless.npy").is_file());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn bad_input_is_named() {
    let folder = folder("bad");
    let (good, _) = write_samples(&folder);
    let damaged = folder.join("damaged.npz");
    let bytes = std::fs::read(&good).unwrap();
    std::fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();
    let output = run(&["solve", text(&damaged)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("damaged.npz"));
    let output = run(&["solve", text(&folder.join("absent.npz"))]);
    assert_eq!(output.status.code(), Some(3));
    let output = run(&["solve", text(&good), "--solver", "nsgs"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("gauss-seidel"));
    let output = run(&["solve", text(&good), "--tol=-1"]);
    assert_eq!(output.status.code(), Some(2));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn bench_prints_counts_and_draws_profiles() {
    let folder = folder("bench");
    write_samples(&folder);
    let svg = folder.join("profiles.svg");
    let output = run(&["bench", "contact", text(&folder), "--svg", text(&svg), "--repeat", "1"]);
    assert_eq!(output.status.code(), Some(0));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("good") && table.contains("1e-12"), "{table}");
    assert!(std::fs::read_to_string(svg).unwrap().ends_with("</svg>\n"));
    std::fs::remove_dir_all(folder).unwrap();
}
