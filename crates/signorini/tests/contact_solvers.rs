//! Solvers on single contacts and small problems, units, determinism, warm starts.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use signorini::contact::delassus::DenseDelassus;
use signorini::contact::{Cone, ContactProblem, ContactSolver, Judge, Solution, Start, Status, solve};
use support::generate::{Law, Recipe, Rng, problem};

const LAWS: [Law; 6] = [Law::Frictionless, Law::Planar, Law::Circular, Law::Rolling, Law::Polygonal, Law::Ellipsoidal];

fn auto(tolerance: f64) -> Box<dyn ContactSolver> {
    solve::solver_by_name("auto", tolerance).unwrap()
}

/// One sweep of Gauss–Seidel on one contact is its exact solution: positive definite blocks, μ up to 5, asymmetric too.
#[test]
fn one_contact_is_solved_in_one_sweep() {
    let mut rng = Rng(2);
    let options = solve::GaussSeidelOptions { tolerance: 1e-12, max_sweeps: 1, check_every: 1 };
    let mut solver = solve::GaussSeidel::new(options);
    for k in 0..3000 {
        let (dim, cone) = match k % 3 {
            0 => (2, Cone::planar(rng.between(0.0, 5.0))),
            _ => (3, Cone::circular(rng.between(0.0, 5.0))),
        };
        let b: Vec<f64> = (0..dim * dim).map(|_| rng.normal()).collect();
        let mut w = vec![0.0; dim * dim];
        for i in 0..dim {
            for j in 0..dim {
                w[i * dim + j] = (0..dim).map(|l| b[i * dim + l] * b[j * dim + l]).sum();
            }
            w[i * dim + i] += 1e-3;
        }
        if k % 5 == 0 {
            let s = 1e-3 * rng.normal() * w[0];
            w[1] += s;
            w[dim] -= s;
        }
        let q = (0..dim).map(|_| rng.normal()).collect();
        let p = ContactProblem::build(DenseDelassus::from_rows(w).unwrap(), q, vec![cone.clone()]).unwrap();
        let solution = solver.solve(&p).unwrap();
        assert!(solution.status.is_solved(), "{k} {cone:?} {:?}", solution.residual);
    }
}

/// Without friction the velocity is unique: all solvers agree in u.
#[test]
fn frictionless_solvers_agree_in_velocity() {
    for seed in 0..40 {
        let mut rng = Rng(seed);
        let mut recipe = Recipe::random(Law::Frictionless, 40, &mut rng);
        recipe.decades = recipe.decades.min(2.0);
        let (p, _) = problem(&recipe, &mut rng);
        let mut reference: Option<Vec<f64>> = None;
        let mut judge = Judge::default();
        for name in ["auto", "newton", "lemke", "admm", "gauss-seidel"] {
            let solution = solve::solver_by_name(name, 1e-12).unwrap().solve(&p).unwrap();
            if !solution.status.is_solved() {
                // Sweeps and splittings may be slow on a badly conditioned W; the exact ones may not fail.
                assert!(matches!(name, "gauss-seidel" | "admm"), "{name} {seed} {:?}", solution.residual);
                continue;
            }
            let u = reference.get_or_insert_with(|| solution.u.clone());
            // In scaled variables ΔûᵀΔr̂ ≤ ‖F‖(‖Δû‖ + ‖Δr̂‖), and Δû = Ŵ Δr̂ gives ‖Δû‖² ≤ ‖Ŵ‖ ΔûᵀΔr̂: at rel = 1e-12 or
            // the floor, ‖Δû‖/‖q̂‖ is at most of the order of the square root, 1e-6.
            judge.compute(&p, &solution.r);
            let inverse = judge.scaling().inverse();
            let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
            let difference = norm(&mut u.iter().zip(&solution.u).zip(inverse).map(|((a, b), i)| (a - b) * i));
            let size = norm(&mut p.free_velocity().iter().zip(inverse).map(|(q, i)| q * i));
            assert!(difference <= 1e-6 * size, "{name} {seed} {:.1e}", difference / size);
        }
    }
}

fn rescaled(p: &ContactProblem, w_factor: f64, q_factor: f64) -> ContactProblem {
    let mut blocks = signorini::contact::delassus::BlockMatrix::default();
    p.delassus().write_blocks(p.offsets(), &mut blocks);
    let (indptr, indices, data) = blocks.to_csr();
    let data: Vec<f64> = data.iter().map(|x| x * w_factor).collect();
    let q = p.free_velocity().iter().map(|x| x * q_factor).collect();
    ContactProblem::from_csr((&indptr, &indices, &data), q, p.cones().to_vec()).unwrap()
}

/// Mass and velocity units by powers of two: the same bits. By powers of ten: the same status and velocity.
#[test]
fn units_do_not_matter() {
    for (k, law) in [Law::Frictionless, Law::Planar, Law::Circular, Law::Polygonal].into_iter().enumerate() {
        for seed in 0..6 {
            let mut rng = Rng(100 * k as u64 + seed);
            let mut recipe = Recipe::random(law, 30, &mut rng);
            recipe.decades = recipe.decades.min(1.0);
            let (p, _) = problem(&recipe, &mut rng);
            let p = rescaled(&p, 1.0, 1.0);
            let base = auto(1e-10).solve(&p).unwrap();
            assert!(base.status.is_solved());
            for (a, b) in [(2.0, 1.0), (0.125, 4.0), (1024.0, 0.5), (2f64.powi(-31), 2f64.powi(17))] {
                let other = auto(1e-10).solve(&rescaled(&p, a, b)).unwrap();
                assert_eq!(base.work, other.work);
                for (x, y) in base.r.iter().zip(&other.r) {
                    assert_eq!(*x * (b / a), *y, "{law:?} {seed} {a} {b}");
                }
                assert_eq!(base.residual.rel, other.residual.rel);
            }
            for exponent in [-9, -4, 3, 9] {
                let (a, b) = (10f64.powi(exponent), 10f64.powi(-exponent / 2));
                let other = auto(1e-10).solve(&rescaled(&p, a, b)).unwrap();
                assert_eq!(base.status, other.status);
                assert!(other.residual.rel <= 1e-10);
                if law == Law::Frictionless {
                    // The velocity is unique here; with friction another solution may be met.
                    let size = p.free_velocity().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                    for (x, y) in base.u.iter().zip(&other.u) {
                        assert!((x * b - y).abs() <= 1e-4 * size * b, "{seed} {exponent} {x} {y}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_warm_start_from_a_solution_costs_one_evaluation() {
    for law in LAWS {
        let mut rng = Rng(9);
        let (p, _) = problem(&Recipe::random(law, 40, &mut rng), &mut rng);
        let mut solver = auto(1e-9);
        let mut solution = solver.solve(&p).unwrap();
        assert!(solution.status.is_solved(), "{law:?}");
        let r = solution.r.clone();
        solver.solve_into(&p, Start::Warm, &mut solution).unwrap();
        assert_eq!(solution.work.iterations(), 0);
        assert_eq!(solution.r, r);
    }
}

#[test]
fn warm_starts_that_make_no_sense_are_cold_ones() {
    let mut rng = Rng(4);
    let (p, _) = problem(&Recipe::random(Law::Circular, 10, &mut rng), &mut rng);
    let cold = auto(1e-9).solve(&p).unwrap();
    for r in [vec![], vec![f64::NAN; p.n_rows()], vec![1.0; 2]] {
        let mut solution = Solution { r, ..Solution::default() };
        auto(1e-9).solve_into(&p, Start::Warm, &mut solution).unwrap();
        assert!(solution.status.is_solved());
        assert_eq!(solution.r, cold.r);
    }
}

/// A solver that was used on another problem gives the same bits as a new one.
#[test]
fn a_used_solver_gives_the_same_bits() {
    let mut used = auto(1e-9);
    for seed in 0..10 {
        for law in LAWS {
            let mut rng = Rng(seed);
            let (p, _) = problem(&Recipe::random(law, 25, &mut rng), &mut rng);
            let (a, b) = (used.solve(&p).unwrap(), auto(1e-9).solve(&p).unwrap());
            assert_eq!(a, b, "{law:?} {seed}");
        }
    }
}

#[test]
fn trivial_problems() {
    let empty = ContactProblem::build(DenseDelassus::from_rows(vec![]).unwrap(), vec![], vec![]).unwrap();
    for name in ["auto", "newton", "gauss-seidel", "admm", "lemke", "enumerate"] {
        let solution = solve::solver_by_name(name, 1e-12).unwrap().solve(&empty).unwrap();
        assert!(solution.status.is_solved(), "{name} {solution:?}");
    }
    // Separating: r = 0.
    let w = DenseDelassus::from_rows(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
    let p = ContactProblem::build(w, vec![1.0, 2.0, 3.0], vec![Cone::circular(0.5)]).unwrap();
    let solution = auto(1e-12).solve(&p).unwrap();
    assert_eq!(solution.status, Status::Solved);
    assert_eq!(solution.r, [0.0; 3]);
}

/// A block at the friction threshold: stuck just below, sliding just above.
#[test]
fn friction_threshold() {
    for (mu, slides) in [(0.3 - 1e-9, true), (0.3 + 1e-9, false)] {
        let w = DenseDelassus::from_rows(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
        let p = ContactProblem::build(w, vec![-1.0, 0.3, 0.0], vec![Cone::circular(mu)]).unwrap();
        let solution = auto(1e-13).solve(&p).unwrap();
        assert!(solution.status.is_solved());
        assert_eq!(solution.u[1].abs() > 1e-10, slides, "{:?}", solution.u);
    }
}

#[test]
fn unknown_names_and_tolerances_are_refused() {
    assert!(solve::solver_by_name("nsgs", 1e-8).is_err());
    assert!(solve::solver_by_name("auto", -1.0).is_err());
    assert!(solve::solver_by_name("auto", f64::NAN).is_err());
    let w = DenseDelassus::from_rows(vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let p = ContactProblem::build(w, vec![-1.0, 0.0], vec![Cone::planar(0.5)]).unwrap();
    assert!(solve::solver_by_name("lemke", 1e-8).unwrap().solve(&p).is_err());
}

/// Rows with bounds and bilateral rows beside contacts: dry friction in a joint, a motor, a weld.
#[test]
fn rows_and_contacts_together() {
    let mut rng = Rng(21);
    for _ in 0..50 {
        let cones = vec![
            Cone::circular(0.4),
            Cone::Interval { lower: -0.3, upper: 0.2 },
            Cone::Bilateral,
            Cone::Unilateral,
            Cone::rolling(0.5, 0.1),
        ];
        let n: usize = cones.iter().map(Cone::dim).sum();
        let b: Vec<f64> = (0..n * n).map(|_| rng.normal()).collect();
        let mut w = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                w[i * n + j] = (0..n).map(|k| b[i * n + k] * b[j * n + k]).sum::<f64>() / n as f64;
            }
            w[i * n + i] += 0.1;
        }
        let q = (0..n).map(|_| rng.normal()).collect();
        let p = ContactProblem::build(DenseDelassus::from_rows(w).unwrap(), q, cones).unwrap();
        let solution = auto(1e-10).solve(&p).unwrap();
        assert!(solution.status.is_solved(), "{:?}", solution.residual);
        // The bound is kept in scaled variables: one rounding away from them.
        assert!((-0.3 - 1e-15..=0.2 + 1e-15).contains(&solution.r[3]));
        assert!(Judge::default().compute(&p, &solution.r).bilateral < 1e-9);
    }
}

/// Zeros, huge and tiny numbers, indefinite and asymmetric matrices: any status, but no panic, and no claim that the
/// judge would not sign.
#[test]
fn extreme_numbers_never_panic() {
    let mut rng = Rng(33);
    let values = [0.0, 1.0, -1.0, 1e-300, -1e300, 1e150, 1e-150, 0.5, 2.0, -3.0];
    for k in 0..600 {
        let cones = match k % 5 {
            0 => vec![Cone::Unilateral; 3],
            1 => vec![Cone::planar(rng.between(0.0, 2.0)), Cone::planar(0.0)],
            2 => vec![Cone::circular(rng.between(0.0, 2.0))],
            3 => vec![Cone::Bilateral, Cone::Unilateral, Cone::Interval { lower: -1.0, upper: f64::INFINITY }],
            _ => vec![Cone::rolling(0.5, 0.1), Cone::ellipsoidal(0.5, [1.0, 0.5, 0.1])],
        };
        let n: usize = cones.iter().map(Cone::dim).sum();
        let mut draw = || values[rng.below(values.len())];
        let w: Vec<f64> = (0..n * n).map(|_| draw()).collect();
        let q: Vec<f64> = (0..n).map(|_| draw()).collect();
        let p = ContactProblem::build(DenseDelassus::from_rows(w).unwrap(), q, cones).unwrap();
        for name in ["auto", "newton", "gauss-seidel", "admm", "lemke", "enumerate"] {
            let mut solver = solve::solver_by_name(name, 1e-8).unwrap();
            if k >= 60 && name != "auto" || solver.check(&p).is_err() {
                continue;
            }
            let solution = solver.solve(&p).unwrap();
            let verdict = Judge::default().compute(&p, &solution.r);
            assert!(!solution.status.is_solved() || verdict.is_within(1e-8), "{name} {k}");
        }
    }
}

/// Whatever numbers a finite problem holds, however unphysical: no panic, and no claim that the judge does not make.
#[test]
fn odd_problems_are_answered_honestly() {
    let odd = [0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, -1e150, 5e-324, 1e-16, f64::MAX];
    for seed in 0..300 {
        let mut rng = Rng(seed + 7000);
        let number = |rng: &mut Rng| if rng.below(3) == 0 { odd[rng.below(odd.len())] } else { rng.normal() };
        let cones: Vec<Cone> = (0..1 + rng.below(3))
            .map(|_| {
                let mu = [0.0, 0.3, 5.0, 1e-300, 1e300][rng.below(5)];
                match rng.below(6) {
                    0 => Cone::Unilateral,
                    1 => Cone::Bilateral,
                    2 => Cone::planar(mu),
                    3 => Cone::circular(mu),
                    4 => Cone::rolling(mu, 0.1),
                    _ => Cone::ellipsoidal(mu.min(1e100), [1.0, 0.5, 0.1]),
                }
            })
            .collect();
        let n: usize = cones.iter().map(Cone::dim).sum();
        let w = (0..n * n).map(|_| number(&mut rng)).collect();
        let q = (0..n).map(|_| number(&mut rng)).collect();
        let p = ContactProblem::build(DenseDelassus::from_rows(w).unwrap(), q, cones).unwrap();
        let solution = auto(1e-8).solve(&p).unwrap();
        let verdict = Judge::default().compute(&p, &solution.r);
        assert_eq!(verdict.rel.to_bits(), solution.residual.rel.to_bits(), "{seed}");
        assert!(!solution.status.is_solved() || verdict.is_within(1e-8), "{seed} {verdict:?}");
    }
}

/// A contact with one freedom, W = w wᵀ. Where friction jams (w_n < μ|w_t|) it can be stopped, but not be made to part: impulses without
/// bound, at whose size rounding hides the residual, are no solution.
#[test]
fn a_jam_can_be_stopped_but_not_be_parted() {
    for (w, jams_from) in [([0.2, 0.18, -0.47], 0.3974), ([6e-5, 0.4, 0.7], 7.5e-5)] {
        let rows: Vec<f64> = (0..9).map(|i| w[i / 3] * w[i % 3]).collect();
        for mu in [0.5 * jams_from, 0.99 * jams_from, 1.01 * jams_from, 0.5, 0.8] {
            for (asked, is_solvable) in [(1.0, true), (1.5, mu < jams_from)] {
                let q = vec![-asked * w[0], -w[1], -w[2]];
                let w = DenseDelassus::from_rows(rows.clone()).unwrap();
                let p = ContactProblem::build(w, q, vec![Cone::circular(mu)]).unwrap();
                let solution = auto(1e-12).solve(&p).unwrap();
                assert_eq!(solution.status.is_solved(), is_solvable, "{mu} {asked} {:?}", solution.residual);
            }
        }
    }
}
