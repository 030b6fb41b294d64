//! The four forms of the Delassus operator are one operator, and problems may mix laws of any size.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use signorini::contact::delassus::{BlockMatrix, Delassus, DenseDelassus, MatrixFreeDelassus};
use signorini::contact::{Cone, ContactProblem, solve};
use support::close;
use support::generate::{Law, Recipe, Rng, operator};

#[test]
fn all_forms_of_the_operator_agree() {
    for law in [Law::Frictionless, Law::Planar, Law::Circular, Law::Rolling] {
        let mut rng = Rng(3);
        let recipe =
            Recipe { law, n_bodies: 6, n_contacts: 11, per_pair: 2, decades: 3.0, max_mu: 1.0, stacked: false };
        let factored = operator(&recipe, &mut rng);
        let n = factored.n_rows();
        let offsets: Vec<usize> = (0..=11).map(|i| i * n / 11).collect();
        let mut blocks = BlockMatrix::default();
        factored.write_blocks(&offsets, &mut blocks);
        let mut values = Vec::new();
        blocks.to_dense(&mut values);
        let dense = DenseDelassus::from_rows(values).unwrap();
        let copy = blocks.clone();
        let free = MatrixFreeDelassus::build(n, move |r, out| copy.apply(r, out));
        let r: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let forms: [&dyn Delassus; 4] = [&factored, &blocks, &dense, &free];
        let product = |w: &dyn Delassus| {
            let mut out = vec![0.0; n];
            w.apply(&r, &mut out);
            out
        };
        let mut bound = vec![0.0; n];
        blocks.apply_abs(&r, &mut bound);
        for w in forms {
            for (k, (a, b)) in product(w).iter().zip(product(&blocks)).enumerate() {
                // Sums in another order: rounding relative to |W||r|.
                assert!((a - b).abs() <= 1e-14 * bound[k], "{law:?} {w:?}");
            }
            let (mut diagonal, mut expected) = (vec![0.0; n], vec![0.0; n]);
            w.write_diagonal(&mut diagonal);
            blocks.write_diagonal(&mut expected);
            assert!(diagonal.iter().zip(&expected).all(|(a, b)| close(*a, *b, 1e-14)));
            let mut again = BlockMatrix::default();
            w.write_blocks(&offsets, &mut again);
            assert!(again.asymmetry() < 1e-14);
            let mut abs = vec![0.0; n];
            w.apply_abs(&r, &mut abs);
            assert!(abs.iter().zip(&bound).all(|(a, b)| *a >= b * (1.0 - 1e-14)), "an upper bound of |W||r|");
        }
    }
}

/// A long chain of contacts, limits, welds and rolling contacts: the sparse factorisation pads blocks of different size.
#[test]
fn laws_of_different_size_in_one_large_problem() {
    let mut rng = Rng(8);
    let cones: Vec<Cone> = (0..120)
        .map(|i| match i % 5 {
            0 => Cone::circular(0.4),
            1 => Cone::Unilateral,
            2 => Cone::Bilateral,
            3 => Cone::rolling(0.5, 0.05),
            _ => Cone::planar(0.3),
        })
        .collect();
    let n: usize = cones.iter().map(Cone::dim).sum();
    // W = B Bᵀ with B banded: every row sees the rows nearby.
    let (m, band) = (n + 8, 8);
    let mut b = vec![0.0; n * m];
    for i in 0..n {
        for j in i..i + band {
            b[i * m + j] = rng.normal();
        }
    }
    let mut w = vec![0.0; n * n];
    for i in 0..n {
        for j in i.saturating_sub(band)..(i + band).min(n) {
            w[i * n + j] = (0..m).map(|k| b[i * m + k] * b[j * m + k]).sum();
        }
    }
    let q = (0..n).map(|_| rng.normal()).collect();
    let p = ContactProblem::build(DenseDelassus::from_rows(w).unwrap(), q, cones).unwrap();
    for name in ["auto", "newton"] {
        let solution = solve::solver_by_name(name, 1e-11).unwrap().solve(&p).unwrap();
        assert!(solution.status.is_solved(), "{name} {:?}", solution.residual);
    }
}
