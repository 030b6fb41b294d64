//! Files: round trips, and files that are damaged in every way that a test can think of.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use signorini::contact::cone::Polygon;
use signorini::contact::delassus::DenseDelassus;
use signorini::contact::store::{parse_problem, read_problem, read_vector, write_problem, write_vector};
use signorini::contact::{Cone, ContactError, ContactProblem, Judge};
use support::generate::{Law, Recipe, Rng, problem};

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("signorini-contact-store-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn sample(law: Law) -> (ContactProblem, Vec<f64>) {
    let recipe = Recipe { law, n_bodies: 4, n_contacts: 7, per_pair: 2, decades: 2.0, max_mu: 1.0, stacked: false };
    problem(&recipe, &mut Rng(7))
}

#[test]
fn problems_survive_a_round_trip() {
    let folder = folder("trip");
    for law in [Law::Frictionless, Law::Planar, Law::Circular, Law::Rolling] {
        let (p, r) = sample(law);
        let path = folder.join("p.npz");
        write_problem(&path, &p.clone().named("a name with ü")).unwrap();
        let back = read_problem(&path).unwrap();
        assert_eq!(back.name(), "a name with ü");
        assert_eq!(back.cones(), p.cones());
        assert_eq!(back.free_velocity(), p.free_velocity());
        let (a, b) = (Judge::default().compute(&p, &r), Judge::default().compute(&back, &r));
        // The operator was factored and is now a matrix: same numbers up to the order of sums.
        assert!(a.rel < 1e-13 && b.rel < 1e-13);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// One contact of every law, in a problem that couples them.
fn mixed() -> ContactProblem {
    let cones = vec![
        Cone::circular(0.4),
        Cone::Unilateral,
        Cone::Interval { lower: -0.3, upper: f64::INFINITY },
        Cone::Bilateral,
        Cone::planar(0.2),
        Cone::rolling(0.3, 0.01),
        Cone::mixed(0.5, 0.02),
        Cone::elliptic(0.5, [1.0, 0.5]),
        Cone::ellipsoidal(0.5, [1.0, 0.5, 0.1]),
        Cone::polygonal(Polygon::regular(0.5, 7)),
        Cone::polygonal(Polygon::hull(&[[0.5, 0.0], [0.0, 0.3], [-0.5, 0.0], [0.0, -0.4]])),
    ];
    let n: usize = cones.iter().map(Cone::dim).sum();
    let rows = (0..n * n).map(|at| {
        let (i, j) = (at / n, at % n);
        if i == j { 1.0 + 0.1 * i as f64 } else { 0.01 * ((i + j) as f64).sin() }
    });
    let w = DenseDelassus::from_rows(rows.collect()).unwrap();
    let q = (0..n).map(|i| -1.0 + 0.7 * (i as f64).cos()).collect();
    ContactProblem::build(w, q, cones).unwrap().named("mixed")
}

#[test]
fn problems_of_mixed_laws_survive_a_round_trip() {
    let folder = folder("mixed");
    let (path, p) = (folder.join("p.npz"), mixed());
    write_problem(&path, &p).unwrap();
    let back = read_problem(&path).unwrap();
    assert_eq!(back.name(), "mixed");
    assert_eq!(back.cones(), p.cones());
    assert_eq!(back.free_velocity(), p.free_velocity());
    let r: Vec<f64> = (0..p.n_rows()).map(|i| (i as f64).sin()).collect();
    let (mut a, mut b) = (vec![0.0; r.len()], vec![0.0; r.len()]);
    p.velocity(&r, &mut a);
    back.velocity(&r, &mut b);
    // The operator was dense and has blocks now: the same numbers up to the order of sums.
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-14), "{a:?} {b:?}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn vectors_survive_a_round_trip() {
    let folder = folder("vector");
    let path = folder.join("r.npy");
    let values = [0.0, -0.0, 1.5, f64::MIN_POSITIVE, -1e300];
    write_vector(&path, &values).unwrap();
    assert_eq!(read_vector(&path).unwrap(), values);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn files_that_are_no_problems_are_refused_with_their_name() {
    let folder = folder("none");
    let path = folder.join("text.npz");
    std::fs::write(&path, "not a zip file").unwrap();
    let message = read_problem(&path).unwrap_err().to_string();
    assert!(message.contains("text.npz"), "{message}");
    assert!(matches!(read_problem(&folder.join("absent.npz")), Err(ContactError::Io { .. })));
    assert!(read_vector(&path).is_err());
    std::fs::remove_dir_all(folder).unwrap();
}

/// A stored problem with bytes changed, cut short or repeated: an error or a valid problem, never a panic.
#[test]
fn damaged_files_never_panic() {
    let folder = folder("damage");
    let path = folder.join("p.npz");
    let files = [sample(Law::Circular).0, mixed()].map(|p| {
        write_problem(&path, &p).unwrap();
        std::fs::read(&path).unwrap()
    });
    std::fs::remove_dir_all(folder).unwrap();
    let mut rng = Rng(1);
    let mut refused = 0;
    for k in 0..3000 {
        let bytes = &files[k % 2];
        let mut damaged = bytes.clone();
        match rng.below(3) {
            0 => damaged.truncate(rng.below(bytes.len())),
            1 => {
                for _ in 0..1 + rng.below(8) {
                    let at = rng.below(damaged.len());
                    damaged[at] = rng.next() as u8;
                }
            }
            _ => {
                let at = rng.below(damaged.len());
                let piece = damaged[at..].to_vec();
                damaged.extend(piece);
            }
        }
        refused += usize::from(parse_problem(&damaged).is_err());
    }
    assert!(refused > 1000, "damage must usually be noticed, was {refused} times");
}

fn csr(n: usize) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
    ((0..=n).collect(), (0..n).collect(), vec![1.0; n])
}

#[test]
fn wrong_numbers_are_refused() {
    let (indptr, indices, data) = csr(3);
    let build = |indptr: &[usize], indices: &[usize], data: &[f64], q: &[f64], mu: f64| {
        ContactProblem::from_csr((indptr, indices, data), q.to_vec(), vec![Cone::circular(mu)])
    };
    let q = [-1.0, 0.0, 0.0];
    assert!(build(&indptr, &indices, &data, &q, 0.5).is_ok());
    assert!(matches!(build(&indptr, &indices, &data, &q, -0.5), Err(ContactError::Range { .. })));
    assert!(matches!(build(&indptr, &indices, &data, &q, f64::NAN), Err(ContactError::Range { .. })));
    assert!(matches!(build(&indptr, &indices, &data, &q[..2], 0.5), Err(ContactError::Size { .. })));
    let nan = [f64::NAN, 0.0, 0.0];
    assert!(matches!(build(&indptr, &indices, &data, &nan, 0.5), Err(ContactError::NotFinite { .. })));
    let infinite = [1.0, f64::INFINITY, 1.0];
    assert!(matches!(build(&indptr, &indices, &infinite, &q, 0.5), Err(ContactError::NotFinite { .. })));
    assert!(matches!(build(&indptr, &[0, 1, 3], &data, &q, 0.5), Err(ContactError::Size { .. })));
    assert!(matches!(build(&[0, 2, 1, 3], &indices, &data, &q, 0.5), Err(ContactError::Size { .. })));
    assert!(matches!(build(&[0, 1, 2, 4], &indices, &data, &q, 0.5), Err(ContactError::Size { .. })));
}
