//! Poses of all bodies at recorded instants: from their columns where they were recorded, else along joints from bodies whose pose is known.

use super::frames::Placed;
use crate::model::{BodyId, Model};
use crate::record::{RecordError, Recording, Table};
use crate::spatial::{Pose, Quaternion, Vec3};
use std::collections::HashMap;

/// Columns that a recording has, by name, and where to find them in what is read.
pub(super) struct Columns {
    place: HashMap<String, usize>,
    values: Vec<Vec<f64>>,
}

impl Columns {
    /// Reads columns of the trajectory, of the chosen rows.
    pub fn read(recording: &Recording, names: &[String], rows: &[usize]) -> Result<Self, RecordError> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut values = vec![Vec::with_capacity(rows.len()); names.len()];
        let (mut start, mut next) = (0, 0);
        recording.scan(Table::Trajectory, &names, |columns| {
            let count = columns.first().map_or(0, Vec::len);
            while let Some(&row) = rows.get(next).filter(|row| **row < start + count) {
                values.iter_mut().zip(columns).for_each(|(to, from)| to.push(from[row - start]));
                next += 1;
            }
            start += count;
        })?;
        let place = names.iter().enumerate().map(|(i, name)| ((*name).to_owned(), i)).collect();
        Ok(Self { place, values })
    }

    fn find(&self, owner: &str, suffixes: &[&str]) -> Option<Vec<&[f64]>> {
        let find = |suffix: &&str| self.place.get(&format!("{owner}.{suffix}")).map(|&i| self.values[i].as_slice());
        suffixes.iter().map(find).collect()
    }
}

/// Suffixes of the columns of a body that say where it is.
const POSE: [&str; 7] = ["x", "y", "z", "qw", "qx", "qy", "qz"];

/// Which columns of the trajectory poses are made of.
pub(super) fn wanted_columns(recording: &Recording, model: &Model) -> Vec<String> {
    let bodies =
        model.bodies().iter().flat_map(|body| POSE.iter().map(move |suffix| format!("{}.{suffix}", body.name)));
    let coordinates = |n: usize| (0..n).map(|k| format!("q{k}"));
    let joints = model
        .joints()
        .iter()
        .flat_map(|joint| coordinates(joint.q_slot.len()).map(move |suffix| format!("{}.{suffix}", joint.name)));
    let there: std::collections::HashSet<&str> =
        recording.fields(Table::Trajectory).iter().map(|field| field.name.as_str()).collect();
    bodies.chain(joints).filter(|name| there.contains(name.as_str())).collect()
}

/// A joint by which the pose of one body follows from that of another.
struct Step {
    joint: usize,
    /// Whether the child's pose is the known one.
    is_backwards: bool,
    to: BodyId,
}

/// Pose of each body at each row; none where nothing says.
pub(super) fn find_poses(model: &Model, columns: &Columns, n_rows: usize) -> Vec<Vec<Option<Placed>>> {
    let mut poses: Vec<Vec<Option<Placed>>> = vec![vec![None; n_rows]; model.bodies().len()];
    let mut is_known = vec![false; model.bodies().len()];
    for (b, body) in model.bodies().iter().enumerate() {
        let Some(found) = columns.find(&body.name, &POSE) else { continue };
        is_known[b] = true;
        for (row, pose) in poses[b].iter_mut().enumerate() {
            let at = |k: usize| found[k][row];
            let position = Vec3::new(at(0), at(1), at(2));
            let orientation = Quaternion([at(3), at(4), at(5), at(6)]);
            let is_there = position.iter().chain(&orientation.0).all(|x| x.is_finite());
            *pose = is_there.then(|| Placed { position, orientation: orientation.normalised() });
        }
    }
    for Step { joint, is_backwards, to } in find_steps(model, columns, is_known) {
        let joint = &model.joints()[joint];
        let n_q = joint.joint_type.kind.n_q();
        let suffixes: Vec<String> = (0..n_q).map(|k| format!("q{k}")).collect();
        let suffixes: Vec<&str> = suffixes.iter().map(String::as_str).collect();
        let Some(coordinates) = columns.find(&joint.name, &suffixes) else { continue };
        let from = if is_backwards { joint.child } else { joint.parent };
        for row in 0..n_rows {
            let q: Vec<f64> = coordinates.iter().map(|column| column[row]).collect();
            let base = from.map_or(Some(Pose::identity()), |id| poses[id.index()][row].map(|p| pose_of(model, id, &p)));
            let Some(base) = base.filter(|_| q.iter().all(|x| x.is_finite())) else { continue };
            let across = joint.parent_frame * joint.joint_type.pose(&q) * joint.child_frame.inverse();
            let pose = base * if is_backwards { across.inverse() } else { across };
            let position = pose.point(&model.bodies()[to.index()].com);
            poses[to.index()][row] = Some(Placed { position, orientation: Quaternion::from_matrix(&pose.rotation) });
        }
    }
    poses
}

/// Joints by which the poses of bodies that were not recorded follow, nearest first.
fn find_steps(model: &Model, columns: &Columns, mut is_known: Vec<bool>) -> Vec<Step> {
    let mut of_body: Vec<Vec<usize>> = vec![Vec::new(); model.bodies().len() + 1];
    let place = |body: Option<BodyId>| body.map_or(model.bodies().len(), BodyId::index);
    for (j, joint) in model.joints().iter().enumerate() {
        let n_q = joint.joint_type.kind.n_q();
        let is_recorded = (0..n_q).all(|k| columns.place.contains_key(&format!("{}.q{k}", joint.name)));
        if is_recorded && !joint.is_absent {
            of_body[place(joint.parent)].push(j);
            of_body[place(joint.child)].push(j);
        }
    }
    let mut queue: Vec<usize> = (0..is_known.len()).filter(|&b| is_known[b]).collect();
    queue.push(model.bodies().len());
    let (mut next, mut steps) = (0, Vec::new());
    while let Some(&from) = queue.get(next) {
        next += 1;
        for &j in &of_body[from] {
            let joint = &model.joints()[j];
            let is_backwards = place(joint.child) == from;
            let to = if is_backwards { joint.parent } else { joint.child };
            if let Some(to) = to.filter(|to| !is_known[to.index()]) {
                is_known[to.index()] = true;
                queue.push(to.index());
                steps.push(Step { joint: j, is_backwards, to });
            }
        }
    }
    steps
}

/// Pose of a body's frame.
pub(super) fn pose_of(model: &Model, body: BodyId, placed: &Placed) -> Pose {
    let rotation = placed.orientation.to_matrix();
    let translation = placed.position - rotation * model.bodies()[body.index()].com;
    Pose { rotation, translation }
}
