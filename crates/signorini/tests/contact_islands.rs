//! Islands: a problem made of independent ones has their answers and their status.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use signorini::contact::delassus::{BlockMatrix, Delassus};
use signorini::contact::{Cone, ContactProblem, Judge, Status, solve};
use support::generate::{Law, Recipe, Rng, problem};

/// Two problems as one, contacts interleaved; also the rows of either in it.
fn join(parts: [&ContactProblem; 2]) -> (ContactProblem, [Vec<usize>; 2]) {
    let mut blocks = [BlockMatrix::default(), BlockMatrix::default()];
    let most = parts.iter().map(|p| p.n_contacts()).max().unwrap();
    let mut rows = [Vec::new(), Vec::new()];
    let (mut cones, mut q) = (Vec::new(), Vec::new());
    for i in 0..most {
        for k in 0..2 {
            if let Some(cone) = parts[k].cones().get(i) {
                for row in parts[k].offsets()[i]..parts[k].offsets()[i + 1] {
                    rows[k].push(q.len());
                    q.push(parts[k].free_velocity()[row]);
                }
                cones.push(cone.clone());
            }
        }
    }
    let mut entries: Vec<Vec<(usize, f64)>> = vec![Vec::new(); q.len()];
    for k in 0..2 {
        parts[k].delassus().write_blocks(parts[k].offsets(), &mut blocks[k]);
        let (indptr, indices, data) = blocks[k].to_csr();
        for row in 0..blocks[k].n_rows() {
            let own = (indptr[row]..indptr[row + 1]).map(|at| (rows[k][indices[at]], data[at]));
            entries[rows[k][row]].extend(own);
        }
    }
    let (mut indptr, mut indices, mut data) = (vec![0], Vec::new(), Vec::new());
    for row in entries {
        for (j, x) in row {
            indices.push(j);
            data.push(x);
        }
        indptr.push(indices.len());
    }
    (ContactProblem::from_csr((&indptr, &indices, &data), q, cones).unwrap(), rows)
}

#[test]
fn joined_problems_have_the_answers_of_their_parts() {
    let tolerance = 1e-10;
    let laws = [Law::Frictionless, Law::Planar, Law::Circular, Law::Rolling, Law::Polygonal, Law::Ellipsoidal];
    let mut solver = solve::solver_by_name("auto", tolerance).unwrap();
    let mut judge = Judge::default();
    for seed in 0..60 {
        let mut rng = Rng(seed + 400);
        let part = |law: Law, rng: &mut Rng| {
            let mut recipe = Recipe::random(law, 20, rng);
            recipe.decades = recipe.decades.min(2.0);
            recipe.max_mu = recipe.max_mu.min(1.0);
            problem(&recipe, rng).0
        };
        let (i, j) = (rng.below(laws.len()), rng.below(laws.len()));
        let parts = [part(laws[i], &mut rng), part(laws[j], &mut rng)];
        let alone = [solver.solve(&parts[0]).unwrap(), solver.solve(&parts[1]).unwrap()];
        let (whole, rows) = join([&parts[0], &parts[1]]);
        let solution = solver.solve(&whole).unwrap();
        let expected = alone.iter().all(|s| s.status.is_solved());
        assert_eq!(solution.status.is_solved(), expected, "{seed} {:?} {:?}", laws[i], laws[j]);
        assert_eq!(solver.solve(&whole).unwrap().r, solution.r, "the same bits again");
        for k in 0..2 {
            let r: Vec<f64> = rows[k].iter().map(|row| solution.r[*row]).collect();
            let verdict = judge.compute(&parts[k], &r);
            // Every island is solved in its own units; sweeps that settle the whole at once are judged as one, where
            // a part that is smaller than the other may be less exact by the ratio of their sizes.
            assert!(verdict.rel <= 1e4 * tolerance, "{seed} {:?}", verdict.rel);
            if [i, j][k] == 0 {
                // Without friction the velocity is unique, to the square root of the residual.
                let size = parts[k].free_velocity().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                for (row, u) in rows[k].iter().zip(&alone[k].u) {
                    assert!((solution.u[*row] - u).abs() <= 1e-4 * size, "{seed}");
                }
            }
        }
    }
}

/// u = −r₁ − 1, for r₁ ≥ 0 never ≥ 0: no solution, whatever stands beside it.
#[test]
fn one_part_without_a_solution_leaves_the_whole_without_one() {
    let impossible = ContactProblem::from_csr((&[0, 1], &[0], &[-1.0]), vec![-1.0], vec![Cone::Unilateral]).unwrap();
    let w = [2.0, 1.0, 1.0, 2.0];
    let cones = vec![Cone::Unilateral; 2];
    let easy = ContactProblem::from_csr((&[0, 2, 4], &[0, 1, 0, 1], &w), vec![-1.0, -1.0], cones).unwrap();
    let (whole, rows) = join([&easy, &impossible]);
    let mut solver = solve::solver_by_name("auto", 1e-10).unwrap();
    assert_eq!(solver.solve(&impossible).unwrap().status, Status::Infeasible);
    let solution = solver.solve(&whole).unwrap();
    assert_eq!(solution.status, Status::Infeasible);
    // What can be solved is: 2r + r = 1.
    for row in &rows[0] {
        assert!((solution.r[*row] - 1.0 / 3.0).abs() < 1e-12);
    }
}
