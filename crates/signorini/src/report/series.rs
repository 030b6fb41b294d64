//! Quantities over time: which a report carries, what each measures, and how it travels.

use super::pack::Sections;
use super::thin::Thinning;
use serde::Serialize;
use std::io;

/// Values of all series together; what goes beyond is left out and counted.
const MAX_VALUES: usize = 1_500_000;

/// What a series measures; series of one quantity share an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Of a joint or a body.
    Angle,
    /// A distance.
    Length,
    /// Rate of an angle.
    AngularSpeed,
    /// Rate of a length.
    Speed,
    /// A component of a quaternion.
    Quaternion,
    /// A force.
    Force,
    /// A moment.
    Torque,
    /// A normal force between bodies: impulse of the step over its length.
    ContactForce,
    /// An energy.
    Energy,
    /// Something over a size of its own kind; drawn on a logarithmic axis.
    Relative,
    /// A time.
    Time,
    /// A number of things.
    Count,
    /// Momentum.
    Momentum,
    /// Angular momentum.
    AngularMomentum,
}

impl Quantity {
    /// What an axis says. Scenes are in consistent units, which only their author knows.
    pub fn axis(self) -> &'static str {
        match self {
            Self::Angle => "angle (rad)",
            Self::Length => "length",
            Self::AngularSpeed => "angular speed (rad per time)",
            Self::Speed => "speed (length per time)",
            Self::Quaternion => "component of a quaternion",
            Self::Force => "force",
            Self::Torque => "moment",
            Self::ContactForce => "normal force",
            Self::Energy => "energy",
            Self::Relative => "relative, without unit",
            Self::Time => "time",
            Self::Count => "number",
            Self::Momentum => "momentum",
            Self::AngularMomentum => "angular momentum",
        }
    }
}

/// Which table a series comes from; series of one table share their times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// Recorded instants.
    Trajectory,
    /// Steps.
    Steps,
}

/// A series; its values are in the section `series.N`.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    /// Its name, unique.
    pub name: String,
    /// The joint, body or marker that it belongs to.
    pub owner: String,
    /// What it measures.
    pub quantity: Quantity,
    /// Its table.
    pub base: Base,
    /// The series of its rate of change, where that was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<usize>,
    /// Least and largest value; none where it has no value at all.
    pub range: Option<[f64; 2]>,
}

impl Series {
    /// A series of recorded instants.
    pub fn new(name: String, quantity: Quantity, owner: &str) -> Self {
        Self { name, owner: owner.to_owned(), quantity, base: Base::Trajectory, rate: None, range: None }
    }

    /// How much it changes.
    pub fn change(&self) -> f64 {
        self.range.map_or(0.0, |[low, high]| high - low)
    }

    /// Whether it is more than rounding of one value.
    pub fn moves(&self) -> bool {
        self.range.is_some_and(|[low, high]| high - low > 1e-9 * low.abs().max(high.abs()))
    }
}

/// Series under construction.
pub(super) struct SeriesList {
    /// What there is.
    pub list: Vec<Series>,
    values: Vec<Vec<f32>>,
    trajectory: (Vec<f64>, Thinning),
    /// Times of the steps that stay, and whether that is not all of them.
    steps: (Vec<f64>, bool),
    left_out: usize,
}

impl SeriesList {
    /// For a trajectory of these times, and for steps that are thinned to these already.
    pub fn new(trajectory: Vec<f64>, steps: Vec<f64>, is_thinned: bool) -> Self {
        let of_trajectory = Thinning::of(trajectory.len());
        Self {
            list: Vec::new(),
            values: Vec::new(),
            trajectory: (trajectory, of_trajectory),
            steps: (steps, is_thinned),
            left_out: 0,
        }
    }

    /// Recorded instants.
    pub fn trajectory_times(&self) -> &[f64] {
        &self.trajectory.0
    }

    /// How many more series of recorded instants there is room for.
    pub fn room(&self) -> usize {
        let used: usize = self.values.iter().map(Vec::len).sum();
        MAX_VALUES.saturating_sub(used) / self.trajectory.1.n_kept().max(1)
    }

    /// Notes that so many series do not fit.
    pub fn leave_out(&mut self, count: usize) {
        self.left_out += count;
    }

    /// Adds a series of recorded instants. Returns its place.
    pub fn push_trajectory(&mut self, series: Series, values: &[f64]) -> usize {
        let thinned = self.trajectory.1.values(values);
        self.push(Series { base: Base::Trajectory, ..series }, values, thinned)
    }

    /// Adds a series of steps, as thin as their times. Returns its place.
    pub fn push_steps(&mut self, name: &str, quantity: Quantity, values: &[f64]) -> usize {
        let thinned = values.iter().map(|x| *x as f32).collect();
        let series = Series { base: Base::Steps, ..Series::new(name.to_owned(), quantity, "") };
        self.push(series, values, thinned)
    }

    fn push(&mut self, mut series: Series, values: &[f64], thinned: Vec<f32>) -> usize {
        let numbers = || values.iter().filter(|x| x.is_finite());
        let (low, high) = numbers().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
        series.range = (low <= high).then_some([low, high]);
        self.list.push(series);
        self.values.push(thinned);
        self.list.len() - 1
    }

    /// Writes times and values.
    pub fn write(self, sections: &mut Sections) -> io::Result<Catalogue> {
        sections.add_doubles("times.trajectory", &self.trajectory.1.times(&self.trajectory.0))?;
        sections.add_doubles("times.steps", &self.steps.0)?;
        for (i, values) in self.values.iter().enumerate() {
            sections.add_singles(format!("series.{i}"), values)?;
        }
        let is_thinned = [self.trajectory.1.is_thinned(), self.steps.1];
        Ok(Catalogue { series: self.list, is_thinned, left_out: self.left_out })
    }
}

/// The series of a report.
#[derive(Debug, Serialize)]
pub struct Catalogue {
    /// What there is.
    pub series: Vec<Series>,
    /// Whether rows of the trajectory, and of the steps, were thinned to their extremes.
    pub is_thinned: [bool; 2],
    /// Columns of the trajectory that found no room.
    pub left_out: usize,
}
