//! Random problems that are solvable by construction: `auto` must solve at least 99.5 % to 1e-8, and every claimed
//! solution must pass the judge.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use signorini::contact::{Judge, solve};
use support::generate::{Law, Recipe, Rng, problem};

/// Solves problems of one law; returns (solved, total).
fn run(law: Law, count: u64, max_contacts: usize) -> (u64, u64) {
    let mut solver = solve::solver_by_name("auto", 1e-8).unwrap();
    let mut judge = Judge::default();
    let mut solved = 0;
    for seed in 0..count {
        let mut rng = Rng(seed * 7919 + 1);
        let recipe = Recipe::random(law, max_contacts, &mut rng);
        let (p, known) = problem(&recipe, &mut rng);
        // The generator keeps its promise: rounding of W r only.
        assert!(judge.compute(&p, &known).rel < 1e-12, "{recipe:?}");
        let solution = solver.solve(&p).unwrap();
        let verdict = judge.compute(&p, &solution.r);
        assert_eq!(verdict, solution.residual, "the residual is recomputed from r");
        if solution.status.is_solved() {
            assert!(verdict.rel <= verdict.floor.max(1e-8));
            solved += 1;
        } else {
            keep(&p, law, seed);
            eprintln!("unsolved: {law:?} seed {seed} {recipe:?} rel {:.1e}", verdict.rel);
        }
    }
    (solved, count)
}

/// Keeps an unsolved problem as a file among the test artefacts, where its laws have a file format.
fn keep(p: &signorini::contact::ContactProblem, law: Law, seed: u64) {
    let name = format!("unsolved-{law:?}-{seed}.npz");
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if signorini::contact::store::write_problem(&path, p).is_ok() {
        eprintln!("kept as {}", path.display());
    }
}

#[test]
fn auto_solves_random_problems() {
    for (law, count, max) in [
        (Law::Frictionless, 200, 200),
        (Law::Planar, 200, 120),
        (Law::Circular, 300, 120),
        (Law::Rolling, 200, 40),
        (Law::Polygonal, 200, 40),
        (Law::Ellipsoidal, 200, 30),
        (Law::Cylindrical, 200, 30),
        (Law::Polyhedral, 200, 30),
        (Law::Mixed, 200, 30),
    ] {
        let (solved, total) = run(law, count, max);
        println!("{law:?}: {solved} of {total}");
        assert!(solved as f64 >= 0.995 * total as f64, "{law:?}: {solved} of {total} solved");
    }
}

/// 2000 contacts, block-sparse: a pile with moderate friction.
#[test]
fn auto_solves_large_problems() {
    for (law, decades) in [(Law::Frictionless, 6.0), (Law::Circular, 1.0)] {
        let recipe = Recipe { law, n_bodies: 900, n_contacts: 2000, per_pair: 2, decades, max_mu: 0.5, stacked: true };
        let (p, _) = problem(&recipe, &mut Rng(1));
        let solution = solve::solver_by_name("auto", 1e-8).unwrap().solve(&p).unwrap();
        assert!(solution.status.is_solved(), "{law:?} {:?} {:?}", solution.residual, solution.work);
    }
}
