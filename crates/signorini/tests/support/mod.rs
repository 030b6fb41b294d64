//! Helpers shared by the tests of the contact room.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::expect_used)]

pub mod generate;

use std::io::Write;
use std::path::PathBuf;

use signorini::contact::cone::Section;
use signorini::contact::{Cone, ContactProblem};

/// |a − b| ≤ tolerance · max(|a|, |b|), or both below the tolerance.
pub fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(tolerance)
}

/// Says that a test had nothing to work on, past the capture of passed tests' output, so that a person sees it.
pub fn skip(what: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {what}");
}

/// The collection of stored problems, kept outside the repository. Says so when it is not there.
pub fn problem_folder() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/contact_problems/open");
    if folder.is_dir() {
        return Some(folder);
    }
    skip("stored contact problems are not there: no folder `shared/contact_problems/open` beside the repository");
    None
}

/// rel by the definition, written for clarity and without a line of the library's: scaled natural map over ‖q̂‖.
pub fn reference_rel(p: &ContactProblem, r: &[f64]) -> f64 {
    let n = p.n_rows();
    let (mut u, mut diagonal) = (vec![0.0; n], vec![0.0; n]);
    p.velocity(r, &mut u);
    p.delassus().write_diagonal(&mut diagonal);
    // Compliance per row, first by contact, with gaps.
    let mut d = vec![0.0; n];
    for (i, cone) in p.cones().iter().enumerate() {
        let o = p.offsets()[i];
        let dim = cone.dim();
        let forces = if dim == 1 { 1 } else { dim.min(3) };
        let mean = |a: usize, b: usize| diagonal[o + a..o + b].iter().sum::<f64>() / (b - a) as f64;
        for k in 0..dim {
            d[o + k] = match dim {
                1 => diagonal[o].abs(),
                _ if k < forces => mean(0, forces),
                _ => mean(forces, dim),
            };
        }
    }
    for class in 0..2 {
        let member = |i: usize, k: usize, dim: usize| (dim == 5 && k >= 3) == (class == 1) && i < p.n_contacts();
        let mut positive = Vec::new();
        for (i, cone) in p.cones().iter().enumerate() {
            let k = if class == 0 { 0 } else { 3 };
            if k < cone.dim() && member(i, k, cone.dim()) && d[p.offsets()[i] + k] > 0.0 {
                positive.push(d[p.offsets()[i] + k]);
            }
        }
        positive.sort_by(f64::total_cmp);
        let m = positive.len();
        let mut largest = 0.0_f64;
        let (mut e, mut column) = (vec![0.0; n], vec![0.0; n]);
        if m == 0 {
            for j in 0..n {
                e[j] = 1.0;
                p.delassus().apply(&e, &mut column);
                e[j] = 0.0;
                largest = column.iter().fold(largest, |a, x| a.max(x.abs()));
            }
        }
        let fallback = match m {
            0 => largest,
            _ => 0.5 * (positive[(m - 1) / 2] + positive[m / 2]),
        };
        for (i, cone) in p.cones().iter().enumerate() {
            for k in 0..cone.dim() {
                if member(i, k, cone.dim()) && d[p.offsets()[i] + k] <= 0.0 {
                    d[p.offsets()[i] + k] = fallback;
                }
            }
        }
    }
    let (mut f, mut qq) = (0.0, 0.0);
    for i in 0..n {
        qq += p.free_velocity()[i] * p.free_velocity()[i] / d[i];
    }
    for (i, cone) in p.cones().iter().enumerate() {
        let o = p.offsets()[i];
        let rh: Vec<f64> = (0..cone.dim()).map(|k| d[o + k].sqrt() * r[o + k]).collect();
        let uh: Vec<f64> = (0..cone.dim()).map(|k| u[o + k] / d[o + k].sqrt()).collect();
        f += natural_map_square(cone, &rh, &uh, (d[o + cone.dim() - 1] / d[o]).sqrt());
    }
    f.sqrt() / if qq > 0.0 { qq.sqrt() } else { 1.0 }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// ‖r − P(r − v)‖² with the projection found by bisection on the normal part: slow, and nobody's formula.
fn natural_map_square(cone: &Cone, r: &[f64], u: &[f64], ratio: f64) -> f64 {
    let balls: Vec<(usize, f64)> = match cone {
        Cone::Bilateral => return u[0] * u[0],
        Cone::Unilateral => return r[0].min(u[0]).powi(2),
        Cone::Friction(Section::Ball { dim, radius }) => vec![(*dim, *radius)],
        Cone::Friction(Section::Balls { dims, radii }) => {
            vec![(dims[0], radii[0]), (dims[1], radii[1] * ratio)]
        }
        other => panic!("no reference for {other:?}"),
    };
    let mut z: Vec<f64> = r.iter().zip(u).map(|(r, u)| r - u).collect();
    let mut at = 1;
    for (dim, mu) in &balls {
        z[0] -= mu * norm(&u[at..at + dim]);
        at += dim;
    }
    let excess = |s: f64| {
        let mut at = 1;
        let mut sum = s - z[0];
        for (dim, mu) in &balls {
            sum -= mu * (norm(&z[at..at + dim]) - mu * s).max(0.0);
            at += dim;
        }
        sum
    };
    let (mut low, mut high) = (0.0, z[0].abs() + balls.iter().map(|b| b.1).sum::<f64>() * norm(&z));
    if excess(0.0) >= 0.0 {
        high = 0.0;
    }
    for _ in 0..200 {
        let s = 0.5 * (low + high);
        if excess(s) < 0.0 { low = s } else { high = s }
    }
    let s = 0.5 * (low + high);
    let mut out = (r[0] - s).powi(2);
    let mut at = 1;
    for (dim, mu) in &balls {
        let size = norm(&z[at..at + dim]);
        let f = if size > mu * s { mu * s / size } else { 1.0 };
        out += (at..at + dim).map(|k| (r[k] - f * z[k]).powi(2)).sum::<f64>();
        at += dim;
    }
    out
}
