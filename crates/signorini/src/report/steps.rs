//! The table of steps, read once, however long it is: what is worth a line, what is worst and when, sums.

use super::choose::SUM;
use super::series::{Quantity, SeriesList};
use super::thin::{Thinner, Thinning};
use crate::record::{RecordError, Recording, Table};
use std::collections::{HashMap, HashSet};

/// Steps whose status is counted word by word; of longer runs the findings say what was not solved.
const MAX_WORDS: usize = 2_000_000;

/// Columns that are read, and the names under which they are drawn where they are drawn as they are.
const COLUMNS: [(&str, Option<(&str, Quantity)>); 14] = [
    ("t", None),
    ("h", None),
    ("kinetic", None),
    ("potential", None),
    ("work", None),
    ("dissipated", None),
    ("rel", Some(("residual", Quantity::Relative))),
    ("loop_position", Some(("loop drift (position)", Quantity::Relative))),
    ("loop_velocity", Some(("loop drift (velocity)", Quantity::Relative))),
    ("penetration", Some(("penetration", Quantity::Length))),
    ("contacts", Some(("contacts", Quantity::Count))),
    ("iterations", Some(("iterations", Quantity::Count))),
    ("evaluations", Some(("evaluations", Quantity::Count))),
    ("rejected", Some(("rejected", Quantity::Count))),
];
/// The first columns, by their places.
const T: usize = 0;
const H: usize = 1;
const KINETIC: usize = 2;
const POTENTIAL: usize = 3;
const WORK: usize = 4;
const DISSIPATED: usize = 5;

/// A column over the whole run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    /// Largest value.
    pub most: f64,
    /// When that was.
    pub when: f64,
    /// Sum of all values.
    pub sum: f64,
}

/// The table of steps, as far as a report needs it.
pub(super) struct Steps {
    /// Rows, events among them.
    pub rows: usize,
    /// Steps that took time.
    pub count: usize,
    /// Shortest and longest of them.
    pub lengths: Option<[f64; 2]>,
    /// How many were not solved, and how many only to the floor of rounding; none where they were not counted.
    pub troubles: Option<[usize; 2]>,
    extents: HashMap<&'static str, Extent>,
    /// Lengths of the steps that end at recorded instants.
    recorded: HashMap<u64, f64>,
    times: Vec<f64>,
    is_thinned: bool,
    series: Vec<(&'static str, Quantity, Vec<f64>)>,
}

impl Steps {
    /// Reads it. `start` is the sum of the energies before the first step; `recorded` are the recorded instants.
    pub fn read(recording: &Recording, start: Option<f64>, recorded: &[f64]) -> Result<Self, RecordError> {
        let mut rows = 0;
        recording.scan(Table::Steps, &["t"], |columns| rows += columns.first().map_or(0, Vec::len))?;
        let recorded: HashSet<u64> = recorded.iter().map(|t| t.to_bits()).collect();
        let mut reading = Reading::new(Thinning::of(rows), start);
        let names = COLUMNS.map(|(name, _)| name);
        recording.scan(Table::Steps, &names, |columns| {
            for row in 0..columns.first().map_or(0, Vec::len) {
                reading.take(|column| columns[column][row], &recorded);
            }
        })?;
        let troubles = if rows <= MAX_WORDS {
            let words = recording.words(Table::Steps, "status")?;
            Some(["unsolved", "floor"].map(|word| words.iter().filter(|status| *status == word).count()))
        } else {
            None
        };
        Ok(reading.finish(rows, troubles))
    }

    /// One column over the whole run.
    pub fn extent(&self, name: &str) -> Extent {
        self.extents.get(name).copied().unwrap_or_default()
    }

    /// Length of the step that ended at a recorded instant.
    pub fn length_at(&self, time: f64) -> Option<f64> {
        self.recorded.get(&time.to_bits()).copied()
    }

    /// A list of series for a trajectory of these times.
    pub fn series(&self, trajectory: Vec<f64>) -> SeriesList {
        let mut list = SeriesList::new(trajectory, self.times.clone(), self.is_thinned);
        for (name, quantity, values) in &self.series {
            list.push_steps(name, *quantity, values);
        }
        list
    }
}

/// The table while it is read.
struct Reading {
    start: Option<f64>,
    first: Option<[f64; 4]>,
    scale: f64,
    count: usize,
    lengths: Option<[f64; 2]>,
    extents: [Extent; COLUMNS.len()],
    recorded: HashMap<u64, f64>,
    times: Thinner,
    is_thinned: bool,
    /// Kinetic, change of potential, their sum, work, dissipated, imbalance, length; then the columns that are drawn as they are.
    series: Vec<(&'static str, Quantity, Thinner)>,
}

const IMBALANCE: &str = "energy imbalance";

impl Reading {
    fn new(thinning: Thinning, start: Option<f64>) -> Self {
        let energy = Quantity::Energy;
        let own = [
            ("kinetic", energy),
            ("potential (change)", energy),
            (SUM, energy),
            ("work", energy),
            ("dissipated", energy),
            (IMBALANCE, Quantity::Relative),
            ("step", Quantity::Time),
        ];
        let drawn = own.into_iter().chain(COLUMNS.iter().filter_map(|(_, drawn)| *drawn));
        Self {
            start,
            first: None,
            scale: 0.0,
            count: 0,
            lengths: None,
            extents: [Extent { most: f64::NEG_INFINITY, ..Extent::default() }; COLUMNS.len()],
            recorded: HashMap::new(),
            times: Thinner::ends(thinning),
            is_thinned: thinning.is_thinned(),
            series: drawn.map(|(name, quantity)| (name, quantity, Thinner::extremes(thinning))).collect(),
        }
    }

    fn take(&mut self, at: impl Fn(usize) -> f64, recorded: &HashSet<u64>) {
        let (t, h) = (at(T), at(H));
        self.times.push(t);
        // An event takes no time; it is no step.
        if h > 0.0 {
            self.count += 1;
            let [low, high] = self.lengths.unwrap_or([h, h]);
            self.lengths = Some([low.min(h), high.max(h)]);
            if recorded.contains(&t.to_bits()) {
                self.recorded.insert(t.to_bits(), h);
            }
        }
        for (k, extent) in self.extents.iter_mut().enumerate() {
            let value = at(k);
            extent.sum += value;
            if value > extent.most {
                (extent.most, extent.when) = (value, t);
            }
        }
        let energies = [at(KINETIC), at(POTENTIAL), at(WORK), at(DISSIPATED)];
        let [t0, v0, w0, q0] = *self.first.get_or_insert(energies);
        let [kinetic, potential, work, dissipated] = energies;
        // What the first step itself has lost, where the energy before it is known. Differences come first: where the potential's zero
        // is far away, its digits would be lost in a sum.
        let before = self.start.map_or(0.0, |start| ((t0 + v0) - start) - w0 + q0);
        let change = potential - v0;
        let imbalance = ((kinetic - t0) + change - (work - w0) + (dissipated - q0) + before).abs();
        self.scale = self.scale.max(kinetic.abs() + change.abs());
        let length = if h > 0.0 { h } else { f64::NAN };
        let own = [kinetic, change, kinetic + change, work, dissipated, imbalance, length];
        let drawn = COLUMNS.iter().enumerate().filter(|(_, (_, drawn))| drawn.is_some()).map(|(k, _)| at(k));
        for ((_, _, thinner), value) in self.series.iter_mut().zip(own.into_iter().chain(drawn)) {
            thinner.push(value);
        }
    }

    fn finish(self, rows: usize, troubles: Option<[usize; 2]>) -> Steps {
        let scale = self.scale;
        let extents = COLUMNS.iter().zip(self.extents).map(|((name, _), extent)| (*name, extent));
        let series = self.series.into_iter().map(|(name, quantity, thinner)| {
            let mut values = thinner.finish();
            if name == IMBALANCE {
                values.iter_mut().for_each(|x| *x = if scale > 0.0 { *x / scale } else { 0.0 });
            }
            (name, quantity, values)
        });
        Steps {
            rows,
            count: self.count,
            lengths: self.lengths,
            troubles,
            extents: extents.filter(|(_, extent)| extent.most.is_finite()).collect(),
            recorded: self.recorded,
            times: self.times.finish(),
            is_thinned: self.is_thinned,
            series: series.collect(),
        }
    }
}
