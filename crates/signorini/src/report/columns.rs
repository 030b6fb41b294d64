//! From columns of recordings to series: what each measures, and which come first where there is not room for all.

use super::series::{Quantity, Series, SeriesList};
use crate::model::Model;
use crate::record::{RecordError, Recording, Table};
use crate::scene::JointKind;
use std::collections::{HashMap, HashSet};

/// Values read in one go.
const MAX_BATCH: usize = 4_000_000;

/// A column that is to become a series.
struct Wanted {
    column: String,
    owner: String,
    quantity: Quantity,
    /// The column of its rate.
    rate: Option<String>,
}

/// What coordinate `k` of a joint measures.
fn coordinate(kind: JointKind, k: usize) -> Quantity {
    match (kind, k) {
        (JointKind::Revolute | JointKind::Screw | JointKind::Universal, _) | (JointKind::Cylindrical, 0) => {
            Quantity::Angle
        }
        (JointKind::Planar, 2) => Quantity::Angle,
        (JointKind::Spherical, _) => Quantity::Quaternion,
        (JointKind::Free, 3..) => Quantity::Quaternion,
        _ => Quantity::Length,
    }
}

/// What speed `k` of a joint measures.
fn speed(kind: JointKind, k: usize) -> Quantity {
    match kind {
        JointKind::Spherical => Quantity::AngularSpeed,
        _ => match coordinate(kind, k) {
            Quantity::Length => Quantity::Speed,
            _ => Quantity::AngularSpeed,
        },
    }
}

/// What the generalised force on speed `k` of a joint measures.
fn force(kind: JointKind, k: usize) -> Quantity {
    if speed(kind, k) == Quantity::Speed { Quantity::Force } else { Quantity::Torque }
}

/// How much a column of the trajectory is worth (the less the more), and what it measures.
fn classify(owner_kind: Option<JointKind>, is_marker: bool, suffix: &str) -> (u8, Quantity) {
    let letters = suffix.trim_end_matches(|c: char| c.is_ascii_digit());
    let k: usize = suffix[letters.len()..].parse().unwrap_or(0);
    match (letters, owner_kind) {
        ("q", Some(kind)) => (0, coordinate(kind, k)),
        ("v", Some(kind)) => (0, speed(kind, k)),
        ("u" | "limit" | "friction", Some(kind)) => (1, force(kind, k)),
        ("mx" | "my" | "mz", Some(_)) => (1, Quantity::Torque),
        ("fx" | "fy" | "fz", Some(_)) => (1, Quantity::Force),
        ("x" | "y" | "z", _) => (if is_marker { 2 } else { 3 }, Quantity::Length),
        ("vx" | "vy" | "vz", _) => (3, Quantity::Speed),
        ("wx" | "wy" | "wz", _) => (4, Quantity::AngularSpeed),
        ("qw" | "qx" | "qy" | "qz", _) => (5, Quantity::Quaternion),
        _ => (6, Quantity::Count),
    }
}

/// What a column of the trajectory measures; none for what belongs to no joint, body or marker.
pub(super) fn quantity_of(column: &str, model: &Model) -> Option<Quantity> {
    let (owner, suffix) = column.rsplit_once('.')?;
    let kind = model.joints().iter().find(|joint| joint.name == owner).map(|joint| joint.kind());
    Some(classify(kind, false, suffix).1)
}

/// Columns of the trajectory in the order of how much they are worth: joints, their forces, markers, bodies.
fn wanted(recording: &Recording, model: &Model) -> Vec<Wanted> {
    let joints: HashMap<&str, JointKind> = model.joints().iter().map(|j| (j.name.as_str(), j.kind())).collect();
    let markers: HashSet<&str> = model.markers().iter().map(|marker| marker.name.as_str()).collect();
    let mut ranked: Vec<(u8, Wanted)> = Vec::new();
    for field in recording.fields(Table::Trajectory).iter().skip(1) {
        let Some((owner, suffix)) = field.name.rsplit_once('.') else { continue };
        let (rank, quantity) = classify(joints.get(owner).copied(), markers.contains(owner), suffix);
        let rate = match (rank, suffix.strip_prefix('q')) {
            // Rates of a quaternion are no column.
            (0, Some(k)) if quantity != Quantity::Quaternion => Some(format!("{owner}.v{k}")),
            (3, None) if quantity == Quantity::Length => Some(format!("{owner}.v{suffix}")),
            _ => None,
        };
        ranked.push((rank, Wanted { column: field.name.clone(), owner: owner.to_owned(), quantity, rate }));
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, wanted)| wanted).collect()
}

/// Adds the columns of the trajectory, as many as there is room for.
pub(super) fn push_trajectory(
    recording: &Recording,
    model: &Model,
    series: &mut SeriesList,
) -> Result<(), RecordError> {
    let mut wanted = wanted(recording, model);
    let room = series.room();
    series.leave_out(wanted.len().saturating_sub(room));
    wanted.truncate(room);
    let mut places: HashMap<String, usize> = HashMap::new();
    let batch = (MAX_BATCH / series.trajectory_times().len().max(1)).max(1);
    for some in wanted.chunks(batch) {
        let names: Vec<&str> = some.iter().map(|wanted| wanted.column.as_str()).collect();
        for (wanted, values) in some.iter().zip(recording.columns(Table::Trajectory, &names)?) {
            let new = Series::new(wanted.column.clone(), wanted.quantity, &wanted.owner);
            places.insert(wanted.column.clone(), series.push_trajectory(new, &values));
        }
    }
    for wanted in &wanted {
        let rate = wanted.rate.as_ref().and_then(|rate| places.get(rate)).copied();
        if let Some(&place) = places.get(&wanted.column) {
            series.list[place].rate = rate;
        }
    }
    Ok(())
}
