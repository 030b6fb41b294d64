//! Which of many solutions the default solver chooses: rest where rest is possible, even loads, whatever the order of contacts; and what it says of its choice.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::contact::delassus::BlockMatrix;
use signorini::contact::solve::{Auto, AutoOptions, Route};
use signorini::contact::{Cone, ContactProblem, ContactSolver, Solution, Status};

/// W = J M⁻¹ Jᵀ and q = J v of rows over speeds, contacts in the given order.
fn pose(rows: &[[Vec<f64>; 3]], mobility: &[f64], v: &[f64], mu: f64, order: &[usize]) -> ContactProblem {
    let j: Vec<&Vec<f64>> = order.iter().flat_map(|c| &rows[*c]).collect();
    let n = j.len();
    let product = |a: &[f64], b: &[f64]| (0..v.len()).map(|k| a[k] * mobility[k] * b[k]).sum::<f64>();
    let dense: Vec<f64> = (0..n * n).map(|at| product(j[at / n], j[at % n])).collect();
    let mut blocks = BlockMatrix::default();
    blocks.set_from_dense(&(0..=order.len()).map(|i| 3 * i).collect::<Vec<_>>(), &dense);
    let q = j.iter().map(|row| row.iter().zip(v).map(|(j, v)| j * v).sum()).collect();
    let cone = if mu > 0.0 { Cone::circular(mu) } else { Cone::Unilateral };
    ContactProblem::build(blocks, q, vec![cone; order.len()]).unwrap()
}

/// Rows of a point on a free body: normal, then two tangents.
fn point(at: [f64; 3], frame: [[f64; 3]; 3]) -> [Vec<f64>; 3] {
    frame.map(|d| {
        let moment = [at[1] * d[2] - at[2] * d[1], at[2] * d[0] - at[0] * d[2], at[0] * d[1] - at[1] * d[0]];
        d.into_iter().chain(moment).collect()
    })
}

fn solve(p: &ContactProblem) -> Solution {
    let solution = Auto::new(AutoOptions::in_motion(1e-8)).solve(p).unwrap();
    assert!(solution.status.is_solved(), "{:?}", solution.residual);
    solution
}

/// A table of mass 12 on four legs, dropped on them at 1 m/s: a quarter of 12 each, whatever the order, and no friction.
#[test]
fn a_table_loads_its_legs_evenly() {
    let up = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let rows = [[0.5, 0.3], [-0.5, 0.3], [-0.5, -0.3], [0.5, -0.3]].map(|[x, y]| point([x, y, -0.4], up));
    let mobility = [1.0 / 12.0, 1.0 / 12.0, 1.0 / 12.0, 1.0, 0.7, 1.3];
    let v = [0.0, 0.0, -1.0, 0.0, 0.0, 0.0];
    for order in [[0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0]] {
        let solution = solve(&pose(&rows, &mobility, &v, 0.5, &order));
        for r in solution.r.chunks_exact(3) {
            assert!((r[0] - 3.0).abs() < 1e-5 && r[1].hypot(r[2]) < 1e-5, "{order:?}: {:?}", solution.r);
        }
    }
}

/// A box of mass 1 between two fingers that press with 20 each, friction 0.5, four points a side: 40 · 0.5 exceeds the weight 9.81 by far, it holds, and every
/// point carries 5; at 9 each (friction 9 in all) it slips.
#[test]
fn a_grip_holds_where_it_can() {
    let h = 1e-3;
    let mobility = [1.0, 1.0, 1.0, 600.0, 600.0, 600.0, 5.0, 5.0];
    let mut rows = Vec::new();
    for side in [0, 1] {
        let s = if side == 0 { 1.0 } else { -1.0 };
        for [y, z] in [[0.05, 0.05], [-0.05, 0.05], [-0.05, -0.05], [0.05, -0.05]] {
            let frame = [[s, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            // The finger moves along x only.
            rows.push(point([-0.05 * s, y, z], frame).map(|mut row| {
                let along = row[0];
                row.extend([0.0, 0.0]);
                row[6 + side] = -along;
                row
            }));
        }
    }
    for (force, holds) in [(20.0, true), (9.0, false)] {
        let v = [0.0, 0.0, -9.81 * h, 0.0, 0.0, 0.0, force * h * 5.0, -force * h * 5.0];
        for order in [[0, 1, 2, 3, 4, 5, 6, 7], [7, 2, 5, 0, 3, 6, 1, 4]] {
            let solution = solve(&pose(&rows, &mobility, &v, 0.5, &order));
            let fastest = solution.u.iter().fold(0.0_f64, |m, u| m.max(u.abs()));
            if holds {
                assert!(fastest < 1e-8 * 9.81 * h, "{order:?}: slips by {fastest:e}");
                let off = |r: &[f64]| (r[0] / (5.0 * h) - 1.0).abs();
                assert!(solution.r.chunks_exact(3).all(|r| off(r) < 1e-4), "{order:?}: {:?}", solution.r);
            } else {
                assert!((fastest - (9.81 - 9.0) * h).abs() < 1e-6 * h, "{order:?}: {fastest:e}");
            }
        }
    }
}

/// A problem without a solution, of which enumeration has the proof: two bilateral rows that ask for different velocities of one body.
#[test]
fn enumeration_proves_that_there_is_none() {
    let mut blocks = BlockMatrix::default();
    blocks.set_from_dense(&[0, 1, 2], &[1.0, 1.0, 1.0, 1.0]);
    let cones = vec![Cone::Bilateral, Cone::Interval { lower: -1.0, upper: 1.0 }];
    let p = ContactProblem::build(blocks, vec![5.0, 1.0], cones).unwrap();
    let solution = Auto::new(AutoOptions { tolerance: 1e-9, ..AutoOptions::default() }).solve(&p).unwrap();
    // With r₁ = −1 the first row gives r₀ = −4, u₁ = −4: the bound that it is at asks for u₁ ≥ 0; at +1 for u₁ ≤ 0, which r₀ = −6 gives.
    assert!(solution.status.is_solved(), "{:?}", solution.residual);
    let mut blocks = BlockMatrix::default();
    blocks.set_from_dense(&[0, 1, 2], &[1.0, 1.0, 1.0, 1.0]);
    let p = ContactProblem::build(blocks, vec![5.0, 1.0], vec![Cone::Bilateral, Cone::Bilateral]).unwrap();
    let solution = Auto::new(AutoOptions { tolerance: 1e-9, ..AutoOptions::default() }).solve(&p).unwrap();
    assert_eq!(solution.status, Status::Infeasible);
}

/// A solution says by which factorisations it came about, and what was declined.
#[test]
fn routes_and_refusals_are_told() {
    let up = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let rows = [[0.5, 0.3], [-0.5, 0.3], [-0.5, -0.3]].map(|[x, y]| point([x, y, -0.4], up));
    let (mobility, v) = ([1.0; 6], [0.3, 0.0, -1.0, 0.0, 0.0, 0.1]);
    let solution = solve(&pose(&rows, &mobility, &v, 0.3, &[0, 1, 2]));
    assert_eq!(solution.routes.iter().collect::<Vec<_>>(), [Route::Dense]);
    assert!(solution.declined.is_empty() && solution.work.multiplications > 0);
    // Interior points do not know ellipses.
    let mut p = pose(&rows, &mobility, &v, 0.3, &[0, 1, 2]);
    let mut blocks = BlockMatrix::default();
    p.delassus().write_blocks(p.offsets(), &mut blocks);
    p = ContactProblem::build(blocks, p.free_velocity().to_vec(), vec![Cone::elliptic(0.3, [1.0, 0.5]); 3]).unwrap();
    assert_eq!(solve(&p).declined.reasons().count(), 1);
}

/// A ceiling ends a solve; what it has reached by then is reported as what it is.
#[test]
fn a_ceiling_ends_a_solve() {
    let up = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let rows: Vec<_> = (0..9).map(|k| point([(k % 3) as f64, (k / 3) as f64, -0.4], up)).collect();
    let p = pose(&rows, &[1.0; 6], &[3.0, 0.4, -1.0, 0.0, 0.3, 0.1], 0.7, &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let options = AutoOptions { tolerance: 1e-12, ceiling: 1.0, ..AutoOptions::default() };
    let solution = Auto::new(options).solve(&p).unwrap();
    assert!(solution.work.factorisations <= 2, "{:?}", solution.work);
    assert!(solution.status.is_solved() || solution.status == Status::Accurate, "{:?}", solution.status);
}
