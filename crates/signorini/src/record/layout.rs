//! Which columns a trajectory has, and where each value comes from.
//!
//! | columns | for | unless chosen otherwise |
//! |---|---|---|
//! | `t` | time | always |
//! | `NAME.q0 …`, `NAME.v0 …` | joints | all, up to [`DEFAULT_LIMIT`] joints |
//! | `NAME.x .y .z .qw .qx .qy .qz .vx .vy .vz .wx .wy .wz` | bodies | all, up to [`DEFAULT_LIMIT`] bodies |
//! | `NAME.mx .my .mz .fx .fy .fz` | wrench that a joint transmits to its child | none |
//! | `NAME.u0 …` | forces of a joint's actuators | none |
//! | `NAME.limitK`, `NAME.frictionK` | forces of limits and of dry friction on coordinate K, mean over the step, of these joints | none |
//! | `NAME.x .y .z` | markers | all that the scene names |
//! | `NAME.gap0 …`, `NAME.rate0 …`, `NAME.force0 …` | conditions of couplings | none |
//!
//! What follows the last dot differs between joints and the rest. Bodies and markers share their suffixes, so they may
//! not share a name: two columns of one name are refused.

use super::{RecordError, table::Field};
use crate::scene::pattern::{is_plain, matches};
use crate::scene::suggest::closest;
use crate::scene::{Coupling, Output};
use crate::step::{CouplingMotion, JointConstraintForce, Observation};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// More bodies (or joints) than this are recorded only where the scene asks for them.
pub const DEFAULT_LIMIT: usize = 1000;

/// The largest number of columns; readers of Arrow streams check a schema's size before they trust it.
pub const MAX_COLUMNS: usize = 250_000;

/// Names that a misspelt one is compared with.
const MAX_COMPARED: usize = 10_000;

const BODY: [&str; 13] = ["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"];
const REACTION: [&str; 6] = ["mx", "my", "mz", "fx", "fy", "fz"];
const MARKER: [&str; 3] = ["x", "y", "z"];

/// A joint as far as columns are concerned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JointColumns {
    /// Its name.
    pub name: String,
    /// Where its coordinates lie in [`Observation::joint_q`].
    pub q: Range<usize>,
    /// Where its speeds lie in [`Observation::joint_v`].
    pub v: Range<usize>,
    /// Coordinates with a limit.
    pub limits: Vec<usize>,
    /// Coordinates with dry friction.
    pub frictions: Vec<usize>,
}

/// Which columns a trajectory has, and where each value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    joints: Vec<Picked>,
    bodies: Vec<usize>,
    reactions: Vec<usize>,
    actuators: Vec<Picked>,
    n_markers: usize,
    /// Conditions of the couplings that are recorded.
    couplings: Vec<Range<usize>>,
    /// Names of all bodies, where contacts are recorded.
    contact_bodies: Option<Vec<String>>,
    columns: Vec<String>,
    findings: Vec<String>,
}

/// A joint chosen for recording.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Picked {
    joint: usize,
    q: Range<usize>,
    v: Range<usize>,
    /// Coordinates with a limit, and with dry friction.
    pushes: [Vec<usize>; 2],
}

/// One row of a trajectory: a value per column, and the columns that have none at this time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    pub(crate) values: Vec<f64>,
    pub(crate) missing: Vec<bool>,
}

impl Layout {
    /// Chooses columns for bodies, joints and markers in scene order by the scene's `[output]`.
    pub fn build(
        bodies: &[String],
        joints: &[JointColumns],
        markers: &[String],
        output: &Output,
    ) -> Result<Self, RecordError> {
        let body_names: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let joint_names: Vec<&str> = joints.iter().map(|joint| joint.name.as_str()).collect();
        let picked = |joint: usize| {
            let JointColumns { q, v, limits, frictions, .. } = &joints[joint];
            Picked { joint, q: q.clone(), v: v.clone(), pushes: [limits.clone(), frictions.clone()] }
        };

        let mut layout = Self::default();
        let chosen = layout.choose_or_default("joints", "joints", output.joints.as_deref(), &joint_names)?;
        layout.joints = chosen.into_iter().map(picked).collect();
        layout.bodies = layout.choose_or_default("bodies", "bodies", output.bodies.as_deref(), &body_names)?;
        layout.reactions = choose("reactions", "joints", &output.reactions, &joint_names)?;
        layout.actuators =
            choose("actuators", "joints", &output.actuators, &joint_names)?.into_iter().map(picked).collect();
        layout.n_markers = markers.len();

        let asked = layout.count_columns();
        if asked > MAX_COLUMNS {
            return Err(RecordError::TooManyColumns { asked, allowed: MAX_COLUMNS });
        }
        layout.columns = layout.name_columns(&body_names, &joint_names, markers);
        let mut seen = HashSet::with_capacity(asked);
        if let Some(twice) = layout.columns.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(RecordError::DuplicateColumn { column: twice.clone() });
        }
        Ok(layout)
    }

    /// Has contacts recorded, too, by the names of all bodies in scene order.
    pub fn with_contacts(mut self, bodies: &[String]) -> Self {
        self.contact_bodies = Some(bodies.to_vec());
        self
    }

    /// Has couplings recorded, those of the scene that its `[output]` names.
    pub fn with_couplings(mut self, couplings: &[Coupling], output: &Output) -> Result<Self, RecordError> {
        let names: Vec<&str> = couplings.iter().map(|c| c.name.as_str()).collect();
        let mut end = 0;
        let rows = couplings.iter().map(|c| {
            end += c.kind.constants().len();
            end - c.kind.constants().len()..end
        });
        let rows: Vec<Range<usize>> = rows.collect();
        for c in choose("couplings", "couplings", &output.couplings, &names)? {
            for what in ["gap", "rate", "force"] {
                self.columns.extend((0..rows[c].len()).map(|k| format!("{}.{what}{k}", names[c])));
            }
            self.couplings.push(rows[c].clone());
        }
        let mut seen = HashSet::with_capacity(self.columns.len());
        if let Some(twice) = self.columns.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(RecordError::DuplicateColumn { column: twice.clone() });
        }
        let asked = self.columns.len();
        if asked > MAX_COLUMNS { Err(RecordError::TooManyColumns { asked, allowed: MAX_COLUMNS }) } else { Ok(self) }
    }

    /// Are contacts recorded?
    pub fn has_contacts(&self) -> bool {
        self.contact_bodies.is_some()
    }

    pub(crate) fn bodies(&self) -> &[String] {
        self.contact_bodies.as_deref().unwrap_or_default()
    }

    /// Names of the columns, in order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What the user should know about the choice.
    pub fn findings(&self) -> &[String] {
        &self.findings
    }

    /// Must an observation hold reactions and actuator forces?
    pub fn needs_forces(&self) -> bool {
        !self.reactions.is_empty() || !self.actuators.is_empty() || !self.couplings.is_empty()
    }

    /// Picks the values of one row. A joint that does not exist (`exists` is empty where all do), whatever the
    /// observation lacks, and what pushes in joints where no step has ended, is left without value.
    pub fn fill(&self, seen: &Observation, pushes: Option<&[JointConstraintForce]>, exists: &[bool], row: &mut Row) {
        let is_there = |joint: usize| exists.get(joint).copied().unwrap_or(true);
        row.values.clear();
        row.missing.clear();
        row.put(Some(&[seen.time]), 1);
        for joint in &self.joints {
            let (q, v) = (seen.joint_q.get(joint.q.clone()), seen.joint_v.get(joint.v.clone()));
            row.put(q.filter(|_| is_there(joint.joint)), joint.q.len());
            row.put(v.filter(|_| is_there(joint.joint)), joint.v.len());
        }
        for &body in &self.bodies {
            let motion = seen.bodies.get(body);
            row.put(motion.map(|m| m.position.as_slice()), 3);
            row.put(motion.map(|m| m.orientation.as_slice()), 4);
            row.put(motion.map(|m| m.velocity.as_slice()), 3);
            row.put(motion.map(|m| m.angular_velocity.as_slice()), 3);
        }
        for &joint in &self.reactions {
            let wrench = seen.reactions.get(joint).map(<[f64; 6]>::as_slice);
            row.put(wrench.filter(|_| is_there(joint)), 6);
        }
        for joint in &self.actuators {
            let force = seen.actuators.get(joint.v.clone());
            row.put(force.filter(|_| is_there(joint.joint)), joint.v.len());
            for (coordinates, is_limit) in joint.pushes.iter().zip([true, false]) {
                for &coordinate in coordinates {
                    let fits = |push: &&JointConstraintForce| {
                        (push.joint, push.coordinate, push.is_limit) == (joint.joint, coordinate, is_limit)
                    };
                    let sum = |pushes: &[JointConstraintForce]| {
                        pushes.iter().filter(fits).map(|push| push.force).sum::<f64>()
                    };
                    let force = pushes.filter(|_| is_there(joint.joint)).map(|pushes| [0.0 + sum(pushes)]);
                    row.put(force.as_ref().map(<[f64; 1]>::as_slice), 1);
                }
            }
        }
        for marker in 0..self.n_markers {
            row.put(seen.markers.get(marker).map(<[f64; 3]>::as_slice), 3);
        }
        for rows in &self.couplings {
            let reads: [fn(&CouplingMotion) -> f64; 3] = [|c| c.gap, |c| c.rate, |c| c.force];
            for (read, k) in reads.into_iter().flat_map(|read| rows.clone().map(move |k| (read, k))) {
                row.put(seen.couplings.get(k).map(|c| [read(c)]).as_ref().map(<[f64; 1]>::as_slice), 1);
            }
        }
    }

    /// The trajectory's table: time is always there, the rest may be missing.
    pub(crate) fn fields(&self) -> Vec<Field> {
        let mut fields = vec![Field::float("t")];
        fields.extend(self.columns.iter().skip(1).map(|name| Field::nullable(name)));
        fields
    }

    fn choose_or_default(
        &mut self,
        key: &'static str,
        noun: &'static str,
        asked: Option<&[String]>,
        names: &[&str],
    ) -> Result<Vec<usize>, RecordError> {
        match asked {
            Some(patterns) => choose(key, noun, patterns, names),
            None if names.len() <= DEFAULT_LIMIT => Ok((0..names.len()).collect()),
            None => {
                self.findings.push(format!(
                    "none of the {} {noun} is recorded: more than {DEFAULT_LIMIT}, and output.{key} does not say which",
                    names.len()
                ));
                Ok(Vec::new())
            }
        }
    }

    fn count_columns(&self) -> usize {
        1 + self.joints.iter().map(|joint| joint.q.len() + joint.v.len()).sum::<usize>()
            + BODY.len() * self.bodies.len()
            + REACTION.len() * self.reactions.len()
            + self
                .actuators
                .iter()
                .map(|joint| joint.v.len() + joint.pushes.iter().map(Vec::len).sum::<usize>())
                .sum::<usize>()
            + MARKER.len() * self.n_markers
    }

    fn name_columns(&self, bodies: &[&str], joints: &[&str], markers: &[String]) -> Vec<String> {
        let mut names = vec!["t".to_owned()];
        let mut add = |owner: &str, suffixes: &[&str]| names.extend(suffixes.iter().map(|s| format!("{owner}.{s}")));
        let numbered = |letter: char, count: usize| (0..count).map(|i| format!("{letter}{i}")).collect::<Vec<_>>();
        for joint in &self.joints {
            for suffix in numbered('q', joint.q.len()).iter().chain(&numbered('v', joint.v.len())) {
                add(joints[joint.joint], &[suffix]);
            }
        }
        for &body in &self.bodies {
            add(bodies[body], &BODY);
        }
        for &joint in &self.reactions {
            add(joints[joint], &REACTION);
        }
        for joint in &self.actuators {
            for suffix in &numbered('u', joint.v.len()) {
                add(joints[joint.joint], &[suffix]);
            }
            for (coordinates, word) in joint.pushes.iter().zip(["limit", "friction"]) {
                for coordinate in coordinates {
                    add(joints[joint.joint], &[&format!("{word}{coordinate}")]);
                }
            }
        }
        for marker in markers {
            add(marker, &MARKER);
        }
        names
    }
}

impl Row {
    /// As numbers that JSON can hold: none where a column has no value.
    pub(crate) fn to_numbers(&self) -> Vec<Option<f64>> {
        self.values.iter().zip(&self.missing).map(|(value, is_missing)| (!is_missing).then_some(*value)).collect()
    }

    /// The opposite.
    pub(crate) fn from_numbers(numbers: &[Option<f64>]) -> Self {
        let values = numbers.iter().map(|number| number.unwrap_or(0.0)).collect();
        Self { values, missing: numbers.iter().map(Option::is_none).collect() }
    }

    fn put(&mut self, values: Option<&[f64]>, count: usize) {
        match values {
            // What is not a number stands for what does not exist now; what does exist has passed the gate for finite values.
            Some(values) => {
                self.values.extend(values.iter().map(|x| if x.is_nan() { 0.0 } else { *x }));
                self.missing.extend(values.iter().map(|x| x.is_nan()));
            }
            None => {
                self.values.resize(self.values.len() + count, 0.0);
                self.missing.resize(self.values.len(), true);
            }
        }
    }
}

/// Indices, in scene order, of the names that fit any of the patterns. A pattern that fits nothing is a mistake.
fn choose(
    key: &'static str,
    noun: &'static str,
    patterns: &[String],
    names: &[&str],
) -> Result<Vec<usize>, RecordError> {
    let mut is_chosen = vec![false; names.len()];
    // Plain names are looked up: a list of all of a hundred thousand must not take their square.
    let index: HashMap<&str, usize> = names.iter().enumerate().map(|(i, &name)| (name, i)).collect();
    for pattern in patterns {
        let mut is_used = false;
        if let Some(&i) = index.get(pattern.as_str()) {
            is_chosen[i] = true;
            is_used = true;
        }
        if !is_plain(pattern) {
            for (chosen, name) in is_chosen.iter_mut().zip(names) {
                if matches(pattern, name) {
                    *chosen = true;
                    is_used = true;
                }
            }
        }
        // `*` asks for all there are, and none is a possible number.
        if !is_used && pattern != "*" {
            let suggestion = closest(pattern, names.iter().copied().take(MAX_COMPARED)).map(str::to_owned);
            let (pattern, count) = (pattern.clone(), names.len());
            return Err(RecordError::NoMatch { key, pattern, noun, count, suggestion });
        }
    }
    Ok((0..names.len()).filter(|&i| is_chosen[i]).collect())
}
