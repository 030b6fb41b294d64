//! Limit surfaces of paper 002 against numbers from outside: a disc on a plane, and given loads.
//!
//! The numbers were computed apart from this engine, the forces at given velocities in closed form,
//! c = −μN E²v/√(vᵀE²v), those at given loads as convex programmes; they carry 13 digits.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod contact_support;
use contact_support::{Reference, numbers};
use serde_json::Value;
use signorini::contact::cone::Polyhedron;
use signorini::contact::delassus::DenseDelassus;
use signorini::contact::{Cone, ContactProblem, solve};

/// The printed digits of the references, relative to their largest entry.
const DIGITS: f64 = 1e-12;

fn force(cone: &Cone, normal: f64, v: [f64; 3]) -> [f64; 3] {
    let Cone::Friction(section) = cone else { panic!("not a friction cone") };
    let mut out = [0.0; 3];
    section.support_point(&v.map(|x| -x), &mut out);
    out.map(|x| normal * x)
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    let size = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * size, "{found:?} {expected:?}");
    }
}

/// A sliding and spinning disc: friction force and spin moment, and their power.
#[test]
fn disc_on_a_plane() {
    let (mu, normal) = (0.3, 14.715);
    let cases = [
        (
            [1.0, 1.0, 0.133_333_333_333_33],
            [1.0, 0.5, 8.0],
            [-2.856_831_120_441_2, -1.428_415_560_220_6, -0.406_304_870_462_75],
            -6.821_477_864_253_5,
        ),
        (
            [1.0, 1.0, 0.2],
            [1.0, 0.5, 8.0],
            [-2.261_616_861_179_6, -1.130_808_430_589_8, -0.723_717_395_577_46],
            -8.616_760_241_094_1,
        ),
        (
            [1.0, 0.7, 0.1],
            [0.8, -1.2, 5.0],
            [-2.795_821_847_769, 2.054_929_058_110_2, -0.174_738_865_485_56],
            -5.576_266_675_375_2,
        ),
    ];
    for (e, v, expected, power) in cases {
        let found = force(&Cone::ellipsoidal(mu, e), normal, v);
        assert_close(&found, &expected, DIGITS);
        let rate: f64 = found.iter().zip(v).map(|(c, v)| c * v).sum();
        assert_close(&[rate], &[power], DIGITS);
    }
}

/// The same velocities under the ellipsoid and the mixed surface.
#[test]
fn two_surfaces_at_given_velocities() {
    let e = [1.0, 0.8, 0.12];
    let cases = [
        (
            [0.6, -0.35, 4.0],
            [-5.135_717_874_467_4, 1.917_334_673_134_5, -0.493_028_915_948_87],
            [-6.343_281_979_966_9, 2.368_158_605_854_3, -0.84],
        ),
        (
            [0.1, 1.2, -1.0],
            [-0.719_701_606_008_58, -5.527_308_334_145_9, 0.103_637_031_265_24],
            [-0.725_242_589_816_19, -5.569_863_089_788_4, 0.84],
        ),
        (
            [-0.7, 0.2, 9.0],
            [3.778_183_824_051_4, -0.690_867_899_255_11, -0.699_503_747_995_8],
            [6.824_009_546_003_1, -1.247_818_888_412, -0.84],
        ),
    ];
    for (v, ellipsoid, mixed) in cases {
        assert_close(&force(&Cone::ellipsoidal(1.0, e), 7.0, v), &ellipsoid, DIGITS);
        // The reference's mixed surface is anisotropic in the plane, ours isotropic: its plane part is the ellipse.
        let plane = force(&Cone::ellipsoidal(1.0, [e[0], e[1], 0.0]), 7.0, v);
        assert_close(&plane[..2], &mixed[..2], DIGITS);
        let spin = force(&Cone::mixed(1.0, e[2]), 7.0, v)[2];
        assert_close(&[spin], &mixed[2..], DIGITS);
    }
}

/// Friction that resists given loads: stuck and sliding, by the solver. The normal force is set by a row of its own.
#[test]
fn ellipsoid_under_given_loads() {
    let cases = [
        ([1.5, 1.0, 6.666_666_666_666_7], [-3.0, -2.0, -0.2]),
        ([3.0, 2.0, 30.0], [-4.031_042_753_313_2, -2.268_601_306_038_9, -0.596_500_277_277_56]),
    ];
    for (b, expected) in cases {
        let mut w = vec![0.0; 16];
        for (i, a) in [1.0, 0.5, 0.5, 33.333_333_333_333].into_iter().enumerate() {
            w[5 * i] = a;
        }
        let q = vec![-7.0, b[0], b[1], b[2]];
        let cones = vec![Cone::ellipsoidal(1.0, [1.0, 0.8, 0.12])];
        let p = ContactProblem::build(DenseDelassus::from_rows(w).unwrap(), q, cones).unwrap();
        for name in ["auto", "newton", "gauss-seidel", "admm"] {
            let solution = solve::solver_by_name(name, 1e-12).unwrap().solve(&p).unwrap();
            assert!(solution.status.is_solved(), "{name} {:?}", solution.residual);
            assert_close(&solution.r[..1], &[7.0], 1e-11);
            // The reference agrees with a second method to 3e-10.
            assert_close(&solution.r[1..], &expected, 1e-9);
        }
    }
}

/// Every section of `cases/limit_surface_cones.json`, with the key of its loads.
fn sections(reference: &Value) -> Vec<(String, Cone)> {
    let e = numbers(&reference["e"]);
    let e = [e[0], e[1], e[2]];
    let mut sections =
        vec![("ellipsoid".to_owned(), Cone::ellipsoidal(1.0, e)), ("mixed".to_owned(), Cone::cylindrical(1.0, e))];
    for (name, rows) in reference["polyhedra_rows_alpha_beta_gamma"].as_object().unwrap() {
        let rows = rows.as_array().unwrap().iter().map(|row| numbers(row).try_into().unwrap()).collect();
        sections.push((name.clone(), Cone::polyhedral(Polyhedron::new(rows))));
    }
    assert_eq!(sections.len(), 5);
    sections
}

/// Loads that resist a given velocity, and given loads: each section, the latter by every solver that takes it. The normal force is set by
/// a row of its own.
#[test]
fn every_section_against_its_reference() {
    let Reference(reference) = Reference::read("limit_surface_cones");
    let normal = reference["mu_cn"].as_f64().unwrap();
    let mut n_compared = 0;
    for (name, cone) in sections(&reference) {
        for case in reference["sliding"].as_array().unwrap() {
            let v: [f64; 3] = numbers(&case["v"]).try_into().unwrap();
            if case.get(format!("{name} unique")).is_none_or(|unique| unique.as_bool().unwrap()) {
                assert_close(&force(&cone, normal, v), &numbers(&case[&name]), DIGITS);
                n_compared += 1;
            }
        }
        for case in reference["rolling"].as_array().unwrap() {
            let mut w = vec![0.0; 16];
            w[0] = 1.0;
            for (i, row) in case["A"].as_array().unwrap().iter().enumerate() {
                w[4 * i + 5..4 * i + 8].copy_from_slice(&numbers(row));
            }
            let mut q = vec![-normal];
            q.extend(numbers(&case["b"]));
            let p = ContactProblem::build(DenseDelassus::from_rows(w).unwrap(), q, vec![cone.clone()]).unwrap();
            for solver in ["auto", "newton", "gauss-seidel", "admm"] {
                let solution = solve::solver_by_name(solver, 1e-12).unwrap().solve(&p).unwrap();
                assert!(solution.status.is_solved(), "{name} {solver} {:?}", solution.residual);
                // A residual of 1e-12 over a compliance of at least 0.4 of the largest, in units of loads.
                let expected = numbers(&case[&name]["c"]);
                let size = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                for (found, expected) in solution.r[1..].iter().zip(&expected) {
                    assert!(
                        (found - expected).abs() <= 1e-10 * size,
                        "{name} {solver} {}: {:?}",
                        case["name"],
                        solution.r
                    );
                }
                n_compared += 1;
            }
        }
    }
    assert_eq!(n_compared, 5 * (3 + 4 * 4));
}
