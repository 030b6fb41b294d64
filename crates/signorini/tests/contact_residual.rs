//! The judge against numbers computed elsewhere, and against a second implementation on stored problems.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use signorini::contact::delassus::DenseDelassus;
use signorini::contact::{Cone, ContactProblem, Judge, store};
use support::{close, problem_folder};

fn problem(w: &[f64], q: &[f64], cones: Vec<Cone>) -> ContactProblem {
    ContactProblem::build(DenseDelassus::from_rows(w.to_vec()).unwrap(), q.to_vec(), cones).unwrap()
}

/// Expected: rel, rel_inf and, for contacts, signorini, coulomb, dissipation, from `residual.py` of the problem collection.
/// The tolerance is rounding: sums of a few dozen terms of order one.
fn check(p: &ContactProblem, r: &[f64], expected: &[f64]) {
    let found = Judge::default().compute(p, r);
    let found = [found.rel, found.rel_inf, found.signorini, found.coulomb, found.dissipation];
    for (f, e) in found.iter().zip(expected) {
        assert!(close(*f, *e, 1e-14), "{found:?} {expected:?}");
    }
}

#[test]
fn lcp_with_a_zero_diagonal() {
    let w = [
        1.0625, -0.78125, -0.03125, -0.75, -0.78125, 1.1875, 0.09375, 0.125, 0.46875, 0.09375, 0.0, -0.4375, -0.5,
        0.375, -0.3125, 0.28125,
    ];
    let p = problem(&w, &[-0.25, -1.25, -0.5, -1.25], vec![Cone::Unilateral; 4]);
    check(&p, &[0.0, 0.5, -0.375, 0.875], &[0.7688539333851658, 0.5593750000000001]);
}

#[test]
fn mixed_lcp() {
    let w = [
        2.0, -0.25, 0.625, -0.6875, 0.75, 0.125, 0.0, -0.125, -0.15625, -0.65625, 0.375, -0.375, 0.59375, -0.125,
        0.28125, -0.5625, -0.40625, 0.0, 0.71875, 0.03125, 0.375, -0.28125, 0.53125, 0.28125, 0.5625,
    ];
    let (b, u) = (Cone::Bilateral, Cone::Unilateral);
    let p = problem(&w, &[0.75, -2.0, 0.0, 1.0, 0.5], vec![u.clone(), b.clone(), u.clone(), b, u]);
    check(&p, &[0.5, -0.25, 1.0, 0.625, 0.25], &[1.1900628097637065, 1.162109375]);
}

#[test]
fn planar_contacts() {
    let w = [
        2.1875, 0.96875, 0.3125, 0.78125, -0.75, -0.40625, 0.96875, 1.09375, 0.125, 0.78125, -0.625, 0.0625, 0.3125,
        0.125, 1.5625, -0.3125, 0.75, 0.15625, 0.78125, 0.78125, -0.3125, 1.75, -1.09375, -0.0625, -0.75, -0.625, 0.75,
        -1.09375, 1.71875, -0.46875, -0.40625, 0.0625, 0.15625, -0.0625, -0.46875, 1.34375,
    ];
    let cones = [0.25, 0.75, 1.5].map(Cone::planar).to_vec();
    let p = problem(&w, &[-2.0, 0.25, -0.75, -0.25, -0.75, 1.5], cones);
    let expected = [1.3088281199924756, 1.6586914062499998, 1.7246093749999998, 0.384521484375, 0.4457796557665696];
    check(&p, &[-0.375, -0.375, -0.375, 0.125, 0.125, 0.375], &expected);
}

#[test]
fn contacts_in_space() {
    let w = [
        2.0, 0.375, -0.25, 0.3125, 0.03125, -0.21875, 0.375, 1.59375, -0.28125, 0.90625, 0.21875, -1.125, -0.25,
        -0.28125, 1.1875, -0.75, -0.5, -0.25, 0.3125, 0.90625, -0.75, 1.0625, 0.46875, -0.34375, 0.03125, 0.21875,
        -0.5, 0.46875, 1.84375, 0.6875, -0.21875, -1.125, -0.25, -0.34375, 0.6875, 1.59375,
    ];
    let p = problem(&w, &[1.75, -1.5, 2.0, 0.25, 2.0, 1.0], [0.25, 0.75].map(Cone::circular).to_vec());
    let expected = [0.4426450422275933, 0.6562499999999998, 0.2899058643012417, 0.7842912286747411, 0.7139787286747412];
    check(&p, &[0.375, -0.25, 0.25, -0.125, 0.875, 0.375], &expected);
}

#[test]
fn contacts_with_rolling_friction() {
    let w = [
        2.96875, 1.09375, 0.09375, -0.1875, 0.28125, -0.0625, 0.625, 0.875, -0.0625, 0.03125, 1.09375, 2.15625, 0.8125,
        0.6875, -0.59375, -0.375, 0.28125, 0.65625, 0.28125, -1.25, 0.09375, 0.8125, 2.09375, 0.96875, -0.125, 0.34375,
        0.09375, 1.1875, 0.6875, -0.75, -0.1875, 0.6875, 0.96875, 1.34375, 0.1875, -0.5, -0.65625, 0.875, -0.0625,
        -0.84375, 0.28125, -0.59375, -0.125, 0.1875, 2.3125, -0.5, -1.1875, 1.4375, -0.1875, 1.1875, -0.0625, -0.375,
        0.34375, -0.5, -0.5, 3.09375, -0.3125, -0.3125, 0.375, -0.1875, 0.625, 0.28125, 0.09375, -0.65625, -1.1875,
        -0.3125, 2.46875, -0.34375, 0.53125, -0.375, 0.875, 0.65625, 1.1875, 0.875, 1.4375, -0.3125, -0.34375, 2.59375,
        0.34375, -0.25, -0.0625, 0.28125, 0.6875, -0.0625, -0.1875, 0.375, 0.53125, 0.34375, 1.03125, -0.53125,
        0.03125, -1.25, -0.75, -0.84375, 1.1875, -0.1875, -0.375, -0.25, -0.53125, 2.53125,
    ];
    let q = [-0.25, 1.0, 0.0, 0.5, 0.0, -2.0, 1.75, 1.5, -0.75, -1.25];
    let p = problem(&w, &q, vec![Cone::rolling(0.25, 0.125), Cone::rolling(0.75, 0.0625)]);
    let expected = [1.2921751750681347, 1.398936648275761, 1.57421875, 1.5489692582229688, 1.3773882202162866];
    check(&p, &[0.875, 0.875, 0.0, -0.5, -0.25, -0.25, -0.375, 0.875, -0.375, 0.375], &expected);
}

#[test]
fn numbers_that_are_not_finite_are_infinitely_wrong() {
    let p = problem(&[1.0], &[-1.0], vec![Cone::Unilateral]);
    assert_eq!(Judge::default().compute(&p, &[f64::NAN]).rel, f64::INFINITY);
    assert_eq!(Judge::default().compute(&p, &[f64::INFINITY]).rel, f64::INFINITY);
    assert_eq!(Judge::default().compute(&p, &[]).rel, f64::INFINITY);
    assert_eq!(Judge::default().compute(&p, &[1.0]).rel, 0.0);
}

/// Agreement with a second, plain implementation on stored problems, at several points far from the solution.
#[test]
fn stored_problems_agree_with_a_second_implementation() {
    let Some(folder) = problem_folder() else {
        return;
    };
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "npz") {
            continue;
        }
        let p = store::read_problem(&path).unwrap();
        let mut judge = Judge::default();
        for seed in 0..3 {
            let mut rng = support::generate::Rng(seed);
            let r: Vec<f64> = (0..p.n_rows()).map(|_| if seed == 0 { 0.0 } else { rng.normal() }).collect();
            let (found, expected) = (judge.compute(&p, &r).rel, support::reference_rel(&p, &r));
            // Products of up to 4000 terms of mixed sign, summed in another order.
            assert!(close(found, expected, 1e-11), "{} {found} {expected}", p.name());
        }
        count += 1;
    }
    assert!(count > 0, "no problem files found");
}
