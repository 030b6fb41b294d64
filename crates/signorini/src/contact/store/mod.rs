//! Contact problems as files: NumPy archives (`.npz`) and arrays (`.npy`).
//!
//! A problem is an archive with `kind` (`lcp`, `mlcp`, `fc2d`, `fc3d`, `rfc3d`, `general`), `name`, `n`, `dim`, `nc`, the
//! compressed rows `W_data`, `W_indices`, `W_indptr`, `q`, and per kind `mu`, `mu_r`, `comp` (1 = complementarity
//! row). Other keys are ignored.
//!
//! Problems of mixed laws are of kind `general`, with `dim` zero and, contact by contact, the number of its rows in `rows`, its law in `law` and its
//! numbers in `parameters`, from `parameter_start[c]` to `parameter_start[c + 1]`; see `laws.rs`.

mod laws;
mod npy;
mod npz;

use std::path::Path;

pub use npy::Array;

use super::cone::{Cone, Section};
use super::delassus::BlockMatrix;
use super::error::ContactError;
use super::problem::{ContactProblem, Kind};

/// Reads a problem from a `.npz` file.
pub fn read_problem(path: &Path) -> Result<ContactProblem, ContactError> {
    let bytes = read_bytes(path)?;
    parse_problem(&bytes).map_err(|e| match e {
        ContactError::Format { reason, .. } => ContactError::Format { path: path.to_owned(), reason },
        other => ContactError::Format { path: path.to_owned(), reason: other.to_string() },
    })
}

/// Reads a problem from the bytes of a `.npz` archive.
pub fn parse_problem(bytes: &[u8]) -> Result<ContactProblem, ContactError> {
    let archive = npz::read(bytes)?;
    let kind = archive.text("kind")?;
    let name = archive.text("name").unwrap_or_default();
    let n = archive.size("n")?;
    let q = archive.floats("q")?;
    if q.len() != n {
        return Err(format(format!("q has {} numbers, n = {n}", q.len())));
    }
    let per_contact = |key: &'static str, dim: usize| -> Result<Vec<f64>, ContactError> {
        let values = archive.floats(key)?;
        if values.len() * dim != n {
            return Err(format(format!("{key} has {} numbers, expected n/{dim} with n = {n}", values.len())));
        }
        if let Some(x) = values.iter().find(|x| !(x.is_finite() && **x >= 0.0)) {
            return Err(format(format!("{key} contains {x}, allowed: finite and ≥ 0")));
        }
        Ok(values)
    };
    let cones: Vec<Cone> = match kind.as_str() {
        "lcp" => vec![Cone::Unilateral; n],
        "mlcp" => {
            let comp = archive.floats("comp")?;
            if comp.len() != n {
                return Err(format(format!("comp has {} entries, n = {n}", comp.len())));
            }
            comp.iter().map(|c| if *c == 0.0 { Cone::Bilateral } else { Cone::Unilateral }).collect()
        }
        "fc2d" => per_contact("mu", 2)?.into_iter().map(Cone::planar).collect(),
        "fc3d" => per_contact("mu", 3)?.into_iter().map(Cone::circular).collect(),
        "rfc3d" => {
            let (mu, mu_r) = (per_contact("mu", 5)?, per_contact("mu_r", 5)?);
            mu.into_iter().zip(mu_r).map(|(mu, mu_r)| Cone::rolling(mu, mu_r)).collect()
        }
        "general" => laws::read(&archive, n)?,
        other => {
            return Err(format(format!("kind is `{other}`, allowed: lcp, mlcp, fc2d, fc3d, rfc3d, general")));
        }
    };
    let data = archive.floats("W_data")?;
    let (indices, indptr) = (archive.indices("W_indices")?, archive.indices("W_indptr")?);
    Ok(ContactProblem::from_csr((&indptr, &indices, &data), q, cones)?.named(name))
}

/// Writes a problem as a `.npz` file, through a temporary file beside it.
pub fn write_problem(path: &Path, problem: &ContactProblem) -> Result<(), ContactError> {
    let (kind, dim) = match problem.kind() {
        Kind::Lcp => ("lcp", 1),
        Kind::Mlcp => ("mlcp", 1),
        Kind::Planar => ("fc2d", 2),
        Kind::Spatial => ("fc3d", 3),
        Kind::Rolling => ("rfc3d", 5),
        Kind::General => ("general", 0),
    };
    let mut blocks = BlockMatrix::default();
    problem.delassus().write_blocks(problem.offsets(), &mut blocks);
    let (indptr, indices, data) = blocks.to_csr();
    let scalar = |x: usize| Array::Ints { shape: vec![], values: vec![x as i64] };
    let ints = |x: &[usize]| Array::ints(x.iter().map(|i| *i as i64).collect());
    let mut entries = vec![
        ("kind", Array::Text(kind.into())),
        ("name", Array::Text(problem.name().into())),
        ("meta", Array::Text("{}".into())),
        ("n", scalar(problem.n_rows())),
        ("dim", scalar(dim)),
        ("nc", scalar(problem.n_contacts())),
        ("W_data", Array::floats(data)),
        ("W_indices", ints(&indices)),
        ("W_indptr", ints(&indptr)),
        ("q", Array::floats(problem.free_velocity().to_vec())),
    ];
    let radii = |k: usize| -> Vec<f64> {
        let radius = |cone: &Cone| match cone {
            Cone::Friction(Section::Ball { radius, .. }) => *radius,
            Cone::Friction(Section::Balls { radii, .. }) => radii[k],
            _ => 0.0,
        };
        problem.cones().iter().map(radius).collect()
    };
    match problem.kind() {
        Kind::Planar | Kind::Spatial => entries.push(("mu", Array::floats(radii(0)))),
        Kind::Rolling => {
            entries.push(("mu", Array::floats(radii(0))));
            entries.push(("mu_r", Array::floats(radii(1))));
        }
        Kind::Mlcp => {
            let comp = problem.cones().iter().map(|c| i64::from(matches!(c, Cone::Unilateral))).collect();
            entries.push(("comp", Array::ints(comp)));
        }
        Kind::General => entries.extend(laws::write(problem.cones())),
        Kind::Lcp => {}
    }
    write_bytes(path, &npz::write(&entries)?)
}

/// Writes a vector as a `.npy` file.
pub fn write_vector(path: &Path, values: &[f64]) -> Result<(), ContactError> {
    write_bytes(path, &npy::write(&Array::floats(values.to_vec())))
}

/// Reads a vector from a `.npy` file.
pub fn read_vector(path: &Path) -> Result<Vec<f64>, ContactError> {
    let array =
        npy::parse(&read_bytes(path)?).map_err(|reason| ContactError::Format { path: path.to_owned(), reason })?;
    array
        .to_floats()
        .ok_or_else(|| ContactError::Format { path: path.to_owned(), reason: "text where numbers are expected".into() })
}

fn format(reason: String) -> ContactError {
    ContactError::Format { path: "problem".into(), reason }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, ContactError> {
    std::fs::read(path).map_err(|source| ContactError::Io { path: path.to_owned(), source })
}

/// Writes through a neighbour and renames, so that a killed process leaves the old file or the new one.
fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), ContactError> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = std::path::PathBuf::from(partial);
    std::fs::write(&partial, bytes)
        .and_then(|()| std::fs::rename(&partial, path))
        .map_err(|source| ContactError::Io { path: path.to_owned(), source })
}
