//! Stored problems of public collections, kept outside the repository: every one, from r = 0, judged.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use signorini::contact::{solve, store};
use support::problem_folder;

#[test]
fn auto_solves_every_stored_problem() {
    let Some(folder) = problem_folder() else {
        return;
    };
    let (mut total, mut coarse, mut fine) = (0, 0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "npz") {
            continue;
        }
        let p = store::read_problem(&path).unwrap();
        total += 1;
        let at = |tolerance: f64| solve::solver_by_name("auto", tolerance).unwrap().solve(&p).unwrap();
        let solution = at(1e-8);
        if solution.status.is_solved() && solution.residual.rel <= 1e-8 {
            coarse += 1;
        } else {
            eprintln!("unsolved at 1e-8: {} {:?}", p.name(), solution.residual);
        }
        let solution = at(1e-12);
        if solution.status.is_solved() {
            fine += 1;
        } else {
            eprintln!("unsolved at 1e-12: {} {:?}", p.name(), solution.residual);
        }
    }
    assert!(total > 0, "no problem files found");
    assert_eq!(coarse, total, "all at 1e-8");
    assert_eq!(fine, total, "all at 1e-12 or the floor");
}
