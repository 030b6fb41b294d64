//! Contacts of the recorded instants: where, how hard, and whether they stick or slip.

use super::pack::Sections;
use super::series::{Quantity, Series, SeriesList};
use super::steps::Steps;
use crate::model::Model;
use crate::record::{RecordError, Recording, Table};
use crate::scene::GROUND;
use crate::spatial::Vec3;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::io;

/// Contacts kept; of more, the hardest of each instant.
const MAX_CONTACTS: usize = 300_000;
/// Rows of the table that are read: of more, the words alone would fill the memory of a small machine.
const MAX_ROWS: usize = 3_000_000;
/// Pairs of bodies whose force is a series of its own.
const MAX_PAIRS: usize = 8;
/// The largest rounded number.
const TOP: f64 = 32_767.0;

/// What a page needs to know of contacts; the numbers are in the sections `contact.…`.
#[derive(Debug, Serialize)]
pub struct Contacts {
    /// Contacts that are there.
    count: usize,
    /// Contacts that were recorded.
    recorded: usize,
    /// Least and largest x, y and z of their points.
    bounds: [[f64; 2]; 3],
    /// The force that all but one in twenty stay below: arrows are scaled by it.
    usual: f64,
}

/// One contact of an instant.
struct Seen {
    point: Vec3,
    force: Vec3,
    size: f64,
    mode: u8,
    bodies: [u16; 2],
}

/// Reads contacts and makes them sections, those of every frame together. Forces between pairs of bodies become series at `times`.
pub(super) fn read(
    recording: &Recording,
    model: &Model,
    frame_times: &[f64],
    steps: &Steps,
    sections: &mut Sections,
    series: &mut SeriesList,
) -> Result<Option<Contacts>, RecordError> {
    if recording.fields(Table::Contacts).is_empty() {
        return Ok(None);
    }
    let mut n_rows = 0;
    recording.scan(Table::Contacts, &["t"], |columns| n_rows += columns.first().map_or(0, Vec::len))?;
    if n_rows == 0 {
        return Ok(None);
    }
    if n_rows > MAX_ROWS {
        // The page says that there are none of so many.
        let none = frame_times.iter().map(|_| Vec::new()).collect::<Vec<_>>();
        return pack(recording, &none, n_rows, sections);
    }
    let rows = Rows::read(recording, model)?;
    rows.push_series(steps, model, series);
    let at: HashMap<u64, usize> = frame_times.iter().enumerate().map(|(i, t)| (t.to_bits(), i)).collect();
    let mut frames: Vec<Vec<Seen>> = frame_times.iter().map(|_| Vec::new()).collect();
    for row in 0..rows.numbers[0].len() {
        if let Some(&frame) = at.get(&rows.numbers[0][row].to_bits()) {
            frames[frame].extend(rows.seen(row, steps));
        }
    }
    let recorded = frames.iter().map(Vec::len).sum::<usize>();
    if recorded > MAX_CONTACTS {
        let most = (MAX_CONTACTS / frame_times.len().max(1)).max(1);
        for frame in &mut frames {
            frame.sort_by(|a, b| b.size.total_cmp(&a.size));
            frame.truncate(most);
        }
    }
    pack(recording, &frames, recorded, sections)
}

fn pack(
    recording: &Recording,
    frames: &[Vec<Seen>],
    recorded: usize,
    sections: &mut Sections,
) -> Result<Option<Contacts>, RecordError> {
    let failed = |source| RecordError::Io { action: "pack", path: recording.folder().to_path_buf(), source };
    write(frames, recorded, sections).map(Some).map_err(failed)
}

/// The table of contacts.
struct Rows {
    numbers: Vec<Vec<f64>>,
    modes: Vec<String>,
    bodies: [Vec<Option<usize>>; 2],
}

const NUMBERS: [&str; 13] = ["t", "px", "py", "pz", "nx", "ny", "nz", "t1x", "t1y", "t1z", "pn", "pt1", "pt2"];

impl Rows {
    fn read(recording: &Recording, model: &Model) -> Result<Self, RecordError> {
        let index: HashMap<&str, usize> =
            model.bodies().iter().enumerate().map(|(i, b)| (b.name.as_str(), i)).collect();
        let side = |column: &str| -> Result<Vec<Option<usize>>, RecordError> {
            let names = recording.words(Table::Contacts, column)?;
            Ok(names.iter().map(|name| index.get(name.as_str()).copied()).collect())
        };
        Ok(Self {
            numbers: recording.columns(Table::Contacts, &NUMBERS)?,
            modes: recording.words(Table::Contacts, "mode")?,
            bodies: [side("body_a")?, side("body_b")?],
        })
    }

    fn vector(&self, row: usize, first: usize) -> Vec3 {
        Vec3::new(self.numbers[first][row], self.numbers[first + 1][row], self.numbers[first + 2][row])
    }

    /// A contact that is whole and pushes, or is near.
    fn seen(&self, row: usize, steps: &Steps) -> Option<Seen> {
        let (point, n, t1, p) = (self.vector(row, 1), self.vector(row, 4), self.vector(row, 7), self.vector(row, 10));
        let h = steps.length_at(self.numbers[0][row])?;
        let force = (n * p.x + t1 * p.y + n.cross(&t1) * p.z) / h;
        let mode = match self.modes.get(row).map(String::as_str) {
            Some("stick") => 1,
            Some("slip") => 2,
            _ => 0,
        };
        let is_whole = point.iter().chain(&force).all(|x| x.is_finite());
        let bodies = [0, 1].map(|k| self.bodies[k].get(row).copied().flatten().map_or(u16::MAX, |b| b as u16));
        is_whole.then(|| Seen { point, force, size: force.norm(), mode, bodies })
    }

    /// Normal forces: the sum, and those of the pairs of bodies that push hardest.
    fn push_series(&self, steps: &Steps, model: &Model, series: &mut SeriesList) {
        let times = series.trajectory_times().to_vec();
        let at: HashMap<u64, usize> = times.iter().enumerate().map(|(i, t)| (t.to_bits(), i)).collect();
        let mut of_pair: BTreeMap<[Option<usize>; 2], Vec<f64>> = BTreeMap::new();
        let mut sum = vec![0.0; times.len()];
        for row in 0..self.numbers[0].len() {
            let time = self.numbers[0][row];
            let (Some(&i), Some(h)) = (at.get(&time.to_bits()), steps.length_at(time)) else { continue };
            let force = self.numbers[10][row] / h;
            sum[i] += force;
            let pair = [self.bodies[0][row], self.bodies[1][row]];
            // A table of all pairs at all times would not end in a large pile.
            if of_pair.contains_key(&pair) || of_pair.len() < 64 * MAX_PAIRS {
                of_pair.entry(pair).or_insert_with(|| vec![0.0; times.len()])[i] += force;
            }
        }
        series.push_trajectory(Series::new("contact: all".into(), Quantity::ContactForce, ""), &sum);
        let impulse = |values: &[f64]| values.iter().sum::<f64>();
        let mut pairs: Vec<_> = of_pair.into_iter().collect();
        pairs.sort_by(|a, b| impulse(&b.1).total_cmp(&impulse(&a.1)));
        let name = |body: Option<usize>| body.map_or(GROUND, |b| model.bodies()[b].name.as_str());
        for ([a, b], values) in pairs.into_iter().take(MAX_PAIRS) {
            let owner = if b.is_some() { name(b) } else { name(a) };
            let title = format!("contact: {} – {}", name(a), name(b));
            series.push_trajectory(Series::new(title, Quantity::ContactForce, owner), &values);
        }
    }
}

/// Sections: how many contacts each frame has, and then one after the other points, directions, sizes, modes and bodies.
fn write(frames: &[Vec<Seen>], recorded: usize, sections: &mut Sections) -> io::Result<Contacts> {
    let all = || frames.iter().flatten();
    let count = all().count();
    let mut bounds = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
    for seen in all() {
        for axis in 0..3 {
            bounds[axis] = [bounds[axis][0].min(seen.point[axis]), bounds[axis][1].max(seen.point[axis])];
        }
    }
    if count == 0 {
        bounds = [[0.0; 2]; 3];
    }
    let counts: Vec<u32> = frames.iter().map(|frame| frame.len() as u32).collect();
    sections.add_counts("contact.counts", &counts)?;
    let mut points = Vec::with_capacity(3 * count);
    let mut directions = Vec::with_capacity(3 * count);
    for axis in 0..3 {
        let [low, high] = bounds[axis];
        let (middle, half) = (0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low);
        points.extend(all().map(|seen| {
            let x = seen.point[axis];
            if half > 0.0 { (TOP * ((x - middle) / half)).round() as i16 as u16 } else { 0 }
        }));
        directions.extend(all().map(|seen| {
            let x = if seen.size > 0.0 { seen.force[axis] / seen.size } else { 0.0 };
            (127.0 * x).round() as i8 as u8
        }));
    }
    sections.add_shorts("contact.points", &points)?;
    sections.add("contact.directions", &directions)?;
    sections.add_singles("contact.sizes", &all().map(|seen| seen.size as f32).collect::<Vec<_>>())?;
    sections.add("contact.modes", &all().map(|seen| seen.mode).collect::<Vec<_>>())?;
    sections.add_shorts("contact.bodies", &all().flat_map(|seen| seen.bodies).collect::<Vec<_>>())?;
    let mut sizes: Vec<f64> = all().map(|seen| seen.size).filter(|size| *size > 0.0).collect();
    sizes.sort_by(f64::total_cmp);
    let usual = sizes.get(sizes.len() * 19 / 20).copied().unwrap_or(0.0);
    Ok(Contacts { count, recorded, bounds, usual })
}
