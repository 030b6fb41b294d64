//! Any bytes: an error, or a problem that can be judged and solved without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use signorini::contact::{Judge, solve, store};

fuzz_target!(|bytes: &[u8]| {
    let Ok(problem) = store::parse_problem(bytes) else { return };
    if problem.n_rows() > 60 {
        return; // large problems take long, and test nothing new about the reader
    }
    if let Ok(mut solver) = solve::solver_by_name("auto", 1e-8)
        && let Ok(solution) = solver.solve(&problem)
    {
        let verdict = Judge::default().compute(&problem, &solution.r);
        assert!(!solution.status.is_solved() || verdict.is_within(1e-8));
    }
});
