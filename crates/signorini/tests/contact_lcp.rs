//! Lemke: the forms of paper 000 agree, ties do not cycle, rays are reported, infeasibility is proved.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use signorini::contact::cone::Polygon;
use signorini::contact::delassus::DenseDelassus;
use signorini::contact::forms::{Velocities, impulses, mixed_lcp, pure_lcp};
use signorini::contact::solve::{Lemke, LemkeOptions};
use signorini::contact::{Cone, ContactProblem, ContactSolver, Judge, Status, solve};
use support::close;
use support::generate::Rng;

fn lcp(w: Vec<f64>, q: Vec<f64>) -> ContactProblem {
    let n = q.len();
    ContactProblem::build(DenseDelassus::from_rows(w).unwrap(), q, vec![Cone::Unilateral; n]).unwrap()
}

fn lemke(p: &ContactProblem) -> signorini::contact::Solution {
    Lemke::new(LemkeOptions::default()).solve(p).unwrap()
}

/// Random root equations V = κ r + κ₀, u = χ V with χ κ symmetric positive definite: κ = Φ χᵀ.
fn root_equations(n_v: usize, n_contacts: usize, rng: &mut Rng) -> Velocities {
    let m = 3 * n_contacts;
    let half: Vec<f64> = (0..n_v * n_v).map(|_| rng.normal()).collect();
    let chi: Vec<f64> = (0..m * n_v).map(|_| rng.normal()).collect();
    let mut phi = vec![0.0; n_v * n_v];
    for i in 0..n_v {
        for j in 0..n_v {
            phi[i * n_v + j] = (0..n_v).map(|k| half[i * n_v + k] * half[j * n_v + k]).sum::<f64>() / n_v as f64;
        }
    }
    let mut kappa = vec![0.0; n_v * m];
    for v in 0..n_v {
        for i in 0..m {
            kappa[v * m + i] = (0..n_v).map(|k| phi[v * n_v + k] * chi[i * n_v + k]).sum();
        }
    }
    let kappa_0 = (0..n_v).map(|_| rng.normal()).collect();
    Velocities { kappa, kappa_0, chi, c: vec![0.0; m] }
}

/// The dense mixed form (12 velocities), the sparse one (12 + 6B, the extra ones defined by the first) and the pure LCP.
#[test]
fn pure_and_mixed_forms_agree() {
    let mut rng = Rng(3);
    for n_contacts in 1..=3 {
        let cones: Vec<Cone> =
            (0..n_contacts).map(|_| Cone::polygonal(Polygon::regular(rng.between(0.1, 0.9), 6))).collect();
        let dense = root_equations(12, n_contacts, &mut rng);
        let m = 3 * n_contacts;
        // The same contact velocities through six velocities of one body in contact: V' = S V, u = χ' V', χ' S = χ is
        // arranged by letting V' be an invertible recombination of part of V.
        let mut w = vec![0.0; m * m];
        let mut q = vec![0.0; m];
        for i in 0..m {
            for v in 0..12 {
                q[i] += dense.chi[i * 12 + v] * dense.kappa_0[v];
                for j in 0..m {
                    w[i * m + j] += dense.chi[i * 12 + v] * dense.kappa[v * m + j];
                }
            }
        }
        // Sparse: unknowns (V, V'), V' = 6 copies of V₀…V₅ seen by the contacts instead of the originals.
        let mut sparse = Velocities {
            kappa: dense.kappa.clone(),
            kappa_0: dense.kappa_0.clone(),
            chi: vec![0.0; m * 18],
            c: dense.c.clone(),
        };
        sparse.kappa.extend_from_slice(&dense.kappa[..6 * m]);
        sparse.kappa_0.extend_from_slice(&dense.kappa_0[..6]);
        for i in 0..m {
            for v in 0..12 {
                let target = if v < 6 { 12 + v } else { v };
                sparse.chi[i * 18 + target] = dense.chi[i * 12 + v];
            }
        }
        let contacts = ContactProblem::build(DenseDelassus::from_rows(w).unwrap(), q, cones.clone()).unwrap();
        let pure = pure_lcp(&contacts).unwrap();
        let forms = [(0, pure), (12, mixed_lcp(&dense, &cones).unwrap()), (18, mixed_lcp(&sparse, &cones).unwrap())];
        let eta = 6;
        let mut answers = Vec::new();
        for (n_v, form) in &forms {
            assert_eq!(form.n_rows(), n_v + 2 * n_contacts + n_contacts * eta);
            let solution = lemke(form);
            assert!(solution.status.is_solved(), "{n_v} {:?}", solution.residual);
            let r = impulses(&cones, *n_v, &solution.r);
            // What solves a form solves the contacts themselves, in the judge's eyes.
            assert!(Judge::default().compute(&contacts, &r).rel < 1e-10);
            let mut u = vec![0.0; m];
            contacts.velocity(&r, &mut u);
            answers.push(u);
        }
        for other in &answers[1..] {
            for (a, b) in other.iter().zip(&answers[0]) {
                assert!((a - b).abs() < 1e-9, "contact velocities differ: {answers:?}");
            }
        }
    }
}

/// Murty's problem: upper triangular twos. Least-index methods need exponentially many pivots on it.
#[test]
fn murty() {
    for n in [3, 10, 40] {
        let mut w = vec![0.0; n * n];
        for i in 0..n {
            w[i * n + i] = 1.0;
            w[i * n + i + 1..(i + 1) * n].fill(2.0);
        }
        let solution = lemke(&lcp(w, vec![-1.0; n]));
        assert_eq!(solution.status, Status::Solved);
        assert!(close(solution.r[n - 1], 1.0, 1e-14) && solution.r[..n - 1].iter().all(|x| *x == 0.0));
    }
}

/// Many identical rows and a right-hand side of zeros and equal entries: every ratio test is a tie. Without a sound rule
/// (and exact zeros to apply it to) the pivots return to an old basis.
#[test]
fn degenerate_stewart_trinkle_problem_does_not_cycle() {
    let (n_groups, per_group) = (4, 4);
    let n = n_groups * per_group;
    let total = n + n_groups;
    let mut w = vec![0.0; total * total];
    let mut rng = Rng(11);
    for i in 0..n {
        for j in 0..n {
            w[i * total + j] = 1.0;
        }
        // The slack of the row's group, and an integer coupling that differs.
        w[i * total + n + i / per_group] = -1.0 - rng.below(250) as f64;
        w[(n + i / per_group) * total + i] = 1.0;
    }
    let mut q = vec![0.0; total];
    q[n..].fill(-1.0);
    let solution = lemke(&lcp(w, q));
    assert!(solution.status.is_solved(), "{:?} {:?}", solution.status, solution.work);
}

#[test]
fn a_ray_is_reported_and_infeasibility_proved() {
    // −r − 1 ≥ 0 with r ≥ 0: no solution. y = 1 has Wᵀy = −1 ≤ 0 and qᵀy = −1 < 0.
    let p = lcp(vec![-1.0], vec![-1.0]);
    assert_eq!(lemke(&p).status, Status::Infeasible);
    assert_eq!(solve::solver_by_name("auto", 1e-8).unwrap().solve(&p).unwrap().status, Status::Infeasible);
    // A ray without a proof: two isolated solutions that Lemke's path does not meet is stalled, never infeasible.
    let p = lcp(vec![0.0, 1.0, 1.0, 0.0], vec![1.0, -1.0]);
    let solution = lemke(&p);
    assert!(solution.status.is_solved() || solution.status == Status::Stalled);
}

/// Random monotone LCPs with W = B Bᵀ + skew: Lemke must process them (Cottle, Pang, Stone, theorem 4.4.1).
#[test]
fn monotone_problems_are_processed() {
    let mut rng = Rng(5);
    for _ in 0..200 {
        let n = 1 + rng.below(20);
        let rank = 1 + rng.below(n);
        let b: Vec<f64> = (0..n * rank).map(|_| rng.normal()).collect();
        let mut w = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                w[i * n + j] = (0..rank).map(|k| b[i * rank + k] * b[j * rank + k]).sum();
            }
        }
        for i in 0..n {
            for j in 0..i {
                let s = rng.normal();
                w[i * n + j] += s;
                w[j * n + i] -= s;
            }
        }
        // Feasible by construction: q = u − W r with r, u ≥ 0, complementary.
        let (mut r, mut q) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            if rng.unit() < 0.5 { r[i] = rng.unit() } else { q[i] = rng.unit() }
        }
        for i in 0..n {
            q[i] -= (0..n).map(|j| w[i * n + j] * r[j]).sum::<f64>();
        }
        let solution = lemke(&lcp(w, q));
        assert!(solution.status.is_solved(), "{:?} {:?}", solution.status, solution.residual);
    }
}
