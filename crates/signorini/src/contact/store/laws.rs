//! Laws of single contacts as numbers, for files of mixed problems.
//!
//! | law | code | parameters |
//! |---|---|---|
//! | bilateral, u = 0 | 0 | |
//! | unilateral, 0 ≤ r ⊥ u ≥ 0 | 1 | |
//! | bounded, r ∈ [l, h] | 2 | l, h, possibly infinite |
//! | friction within a ball | 3 | coefficient |
//! | friction within two balls | 4 | rows of each, coefficient of each |
//! | friction within an ellipsoid | 5 | half axes |
//! | friction within a polygon | 6 | vertices, x and y of each |
//! | friction within an ellipse, moment within an interval | 7 | half axes, half the interval |
//! | friction and moment within a polyhedron | 8 | rows α of its half-spaces α·c ≤ 1, three numbers each |

use super::format;
use super::npy::Array;
use super::npz::Archive;
use crate::contact::ContactError;
use crate::contact::cone::{Cone, Polygon, Polyhedron, Section};

const BILATERAL: i64 = 0;
const UNILATERAL: i64 = 1;
const INTERVAL: i64 = 2;
const BALL: i64 = 3;
const BALLS: i64 = 4;
const ELLIPSOID: i64 = 5;
const POLYGON: i64 = 6;
const CYLINDER: i64 = 7;
const POLYHEDRON: i64 = 8;

/// Keys and arrays.
pub fn write(cones: &[Cone]) -> Vec<(&'static str, Array)> {
    let (mut rows, mut laws, mut starts, mut parameters) = (Vec::new(), Vec::new(), vec![0], Vec::new());
    for cone in cones {
        rows.push(cone.dim() as i64);
        laws.push(match cone {
            Cone::Bilateral => BILATERAL,
            Cone::Unilateral => UNILATERAL,
            Cone::Interval { lower, upper } => {
                parameters.extend([*lower, *upper]);
                INTERVAL
            }
            Cone::Friction(Section::Ball { radius, .. }) => {
                parameters.push(*radius);
                BALL
            }
            Cone::Friction(Section::Balls { dims, radii }) => {
                parameters.extend(dims.map(|d| d as f64));
                parameters.extend(radii);
                BALLS
            }
            Cone::Friction(Section::Ellipsoid { dim, axes }) => {
                parameters.extend(&axes[..*dim]);
                ELLIPSOID
            }
            Cone::Friction(Section::Polygon(polygon)) => {
                parameters.extend(polygon.vertices().as_flattened());
                POLYGON
            }
            Cone::Friction(Section::Cylinder { axes, half }) => {
                parameters.extend(axes);
                parameters.push(*half);
                CYLINDER
            }
            Cone::Friction(Section::Polyhedron(polyhedron)) => {
                polyhedron.rows().for_each(|row| parameters.extend(row));
                POLYHEDRON
            }
        });
        starts.push(parameters.len() as i64);
    }
    vec![
        ("rows", Array::ints(rows)),
        ("law", Array::ints(laws)),
        ("parameter_start", Array::ints(starts)),
        ("parameters", Array::floats(parameters)),
    ]
}

/// Laws of a problem with n rows.
pub fn read(archive: &Archive, n: usize) -> Result<Vec<Cone>, ContactError> {
    let (rows, laws) = (archive.indices("rows")?, archive.indices("law")?);
    let (starts, parameters) = (archive.indices("parameter_start")?, archive.floats("parameters")?);
    if laws.len() != rows.len() || starts.len() != rows.len() + 1 {
        let found = (rows.len(), laws.len(), starts.len());
        return Err(format(format!(
            "rows, law and parameter_start have {found:?} entries, expected nc, nc and nc + 1"
        )));
    }
    let mut cones = Vec::with_capacity(rows.len());
    let mut total: usize = 0;
    for (c, (&rows, &law)) in rows.iter().zip(&laws).enumerate() {
        let own = parameters.get(starts[c]..starts[c + 1]);
        let own = own.ok_or_else(|| format(format!("parameter_start: contact {c} is out of order or range")))?;
        let cone = law_of(law, rows, own);
        let cone = cone.ok_or_else(|| {
            format(format!("contact {c}: no law {law} with {rows} rows and {} parameters", own.len()))
        })?;
        if cone.dim() != rows {
            return Err(format(format!("contact {c}: law {law} has {} rows, rows says {rows}", cone.dim())));
        }
        total = total.saturating_add(rows);
        cones.push(cone);
    }
    if total != n {
        return Err(format(format!("rows sum to {total}, n = {n}")));
    }
    Ok(cones)
}

fn law_of(law: usize, rows: usize, own: &[f64]) -> Option<Cone> {
    let section = match (law as i64, own) {
        (BILATERAL, []) => return Some(Cone::Bilateral),
        (UNILATERAL, []) => return Some(Cone::Unilateral),
        (INTERVAL, [lower, upper]) => return Some(Cone::Interval { lower: *lower, upper: *upper }),
        (BALL, [radius]) if (2..=3).contains(&rows) => Section::Ball { dim: rows - 1, radius: *radius },
        (BALLS, [a, b, rest @ ..]) if rest.len() == 2 && [a, b].into_iter().all(|d| *d == 1.0 || *d == 2.0) => {
            Section::Balls { dims: [*a as usize, *b as usize], radii: [rest[0], rest[1]] }
        }
        (ELLIPSOID, [x, y]) => Section::Ellipsoid { dim: 2, axes: [*x, *y, 0.0] },
        (ELLIPSOID, [x, y, z]) => Section::Ellipsoid { dim: 3, axes: [*x, *y, *z] },
        (CYLINDER, [t, o, half]) => Section::Cylinder { axes: [*t, *o], half: *half },
        (POLYHEDRON, rows) if rows.len() % 3 == 0 => Section::Polyhedron(Polyhedron::new(rows.as_chunks().0.to_vec())),
        (POLYGON, points) if points.len() % 2 == 0 => {
            let points: Vec<[f64; 2]> = points.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
            let hull = Polygon::hull(&points);
            // A convex polygon as it is.
            Section::Polygon(if hull.vertices().len() == points.len() { Polygon::from_vertices(points) } else { hull })
        }
        _ => return None,
    };
    Some(Cone::Friction(section))
}
