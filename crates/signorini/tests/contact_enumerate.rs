//! Enumeration on the Painlevé rod: 0, 1 or 2 solutions, and the time-stepping LCP whose solutions are a segment.
//!
//! Uniform rod of unit length and mass, lower end on a rough line; A and b of the scalar problem, W of the planar one and
//! all solutions from closed form.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use signorini::contact::delassus::DenseDelassus;
use signorini::contact::solve::{EnumerateOptions, Lemke, LemkeOptions, enumerate};
use signorini::contact::{Cone, ContactProblem, ContactSolver, Status, solve};
use support::close;

fn problem(w: &[f64], q: &[f64], cones: Vec<Cone>) -> ContactProblem {
    ContactProblem::build(DenseDelassus::from_rows(w.to_vec()).unwrap(), q.to_vec(), cones).unwrap()
}

fn all(p: &ContactProblem) -> Vec<Vec<f64>> {
    let mut found = enumerate(p, &EnumerateOptions::default()).unwrap();
    found.solutions.sort_by(|a, b| a[1.min(a.len() - 1)].total_cmp(&b[1.min(b.len() - 1)]));
    found.solutions
}

#[test]
fn sliding_rod_has_none_one_or_two_solutions() {
    // (A, b, normal forces of all solutions): c_n ≥ 0, A c_n + b ≥ 0, one of the two zero.
    let cases: [(f64, f64, &[f64]); 8] = [
        (0.4, -9.81, &[24.525]),
        (-0.8, -9.81, &[]),
        (-0.8, 6.28968943799848, &[0.0, 7.8621117974981]),
        (0.4, 6.28968943799848, &[0.0]),
        (4.0, -9.81, &[2.4525]),
        (-0.227202206634631, -9.81, &[]),
        (-0.227202206634631, 4.2870911752543, &[0.0, 18.8690560657647]),
        (-2.22311748099151, -3.54338472298013, &[]),
    ];
    for (a, b, expected) in cases {
        let p = problem(&[a], &[b], vec![Cone::Unilateral]);
        let found = all(&p);
        assert_eq!(found.len(), expected.len(), "A = {a}, b = {b}");
        for (f, e) in found.iter().zip(expected) {
            assert!(close(f[0], *e, 1e-13), "{f:?} {e}");
        }
        let solution = solve::solver_by_name("enumerate", 1e-12).unwrap().solve(&p).unwrap();
        let status = match expected.len() {
            0 => Status::Infeasible,
            1 => Status::Solved,
            _ => Status::ManySolutions,
        };
        assert_eq!(solution.status, status);
    }
}

#[test]
fn rod_at_rest_has_one_solution() {
    let w = [1.6, -1.2, -1.2, 3.4];
    let cases: [(f64, [f64; 2], [f64; 2]); 4] = [
        (1.0, [-9.81, 0.0], [8.3385, 2.943]),
        (0.5, [-9.81, 0.0], [8.3385, 2.943]),
        (0.2, [-9.81, 0.0], [7.21323529411765, 1.44264705882353]),
        (2.0, [6.28968943799848, 8.04984471899924], [0.0, 0.0]),
    ];
    for (mu, b, expected) in cases {
        let found = all(&problem(&w, &b, vec![Cone::planar(mu)]));
        assert_eq!(found.len(), 1, "mu = {mu}");
        for k in 0..2 {
            assert!(close(found[0][k], expected[k], 1e-12), "{found:?}");
        }
    }
}

/// Stewart and Trinkle's step of the sliding rod in the Painlevé region: p₊ − p₋ is determined, p₊ + p₋ is not.
#[test]
fn time_stepping_lcp_has_a_segment_of_solutions() {
    let mu = 2.0;
    for h in [1e-2, 1e-3, 1e-4] {
        #[rustfmt::skip]
        let w = [
             1.6, -1.2,  1.2, 0.0,
            -1.2,  3.4, -3.4, 1.0,
             1.2, -3.4,  3.4, 1.0,
              mu, -1.0, -1.0, 0.0,
        ];
        let p = problem(&w, &[-9.81 * h, -1.0, 1.0, 0.0], vec![Cone::Unilateral; 4]);
        let found = enumerate(&p, &EnumerateOptions::default()).unwrap();
        assert_eq!(found.solutions.len(), 2, "{found:?}");
        assert_eq!(found.segments, [(0, 1)], "two ends of one continuum");
        let (p_n, p_t) = (0.3 + 8.3385 * h, 0.4 + 2.943 * h);
        let minus = 0.5 * (mu * p_n - p_t);
        for expected in [[p_n, p_t, 0.0, 0.0], [p_n, p_t + minus, minus, 0.0]] {
            let matches = |r: &Vec<f64>| r.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(found.solutions.iter().any(matches), "{expected:?} not in {:?}", found.solutions);
        }
        let solution = Lemke::new(LemkeOptions::default()).solve(&p).unwrap();
        assert!(solution.status.is_solved());
    }
}

/// r₁ + r₂ = 1: a segment with ends (1, 0) and (0, 1).
#[test]
fn two_supports_share_one_load() {
    let p = problem(&[1.0, 1.0, 1.0, 1.0], &[-1.0, -1.0], vec![Cone::Unilateral; 2]);
    let found = enumerate(&p, &EnumerateOptions::default()).unwrap();
    assert_eq!(found.solutions.len(), 2);
    assert_eq!(found.segments.len(), 1);
}

#[test]
fn curved_laws_are_refused() {
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let p = problem(&identity, &[-1.0, 0.0, 0.0], vec![Cone::circular(0.5)]);
    assert!(enumerate(&p, &EnumerateOptions::default()).is_err());
}
