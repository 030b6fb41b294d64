//! The rows of a mechanism at one configuration, and what they ask for at every level.

use super::{Cut, Element, RowKind, Sight};
use crate::dynamics::tree::Kinematics;
use crate::model::{Instant, Model};
use crate::spatial::{Twist, Vec3, Wrench};
use std::ops::Range;

/// Two links seen at one world point: the first is the parent, the second the child, none is the ground.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meeting {
    pub links: [Option<usize>; 2],
    /// From the links' origins to the point.
    pub arms: [Vec3; 2],
    /// Velocity of the child against the parent there.
    pub relative: Twist,
    /// Relative acceleration there that velocities alone ask for.
    pub bias: Twist,
}

/// One summand of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Term {
    /// Relative motion at a meeting along a direction; the direction is also the wrench of a unit force on the child.
    Along { meeting: usize, direction: Wrench },
    /// A speed of the tree.
    Speed { speed: usize, factor: f64 },
}

/// What a unit force of a row does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pushed {
    /// To a link: a wrench at its origin.
    Link(usize, Wrench),
    /// To a speed of the tree: a force.
    Speed(usize, f64),
}

/// What a sum over a row's terms is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Level {
    /// Velocities.
    Velocity,
    /// Accelerations, with that of the ground (gravity counts as an upward one).
    Acceleration(Twist),
    /// A jump of velocities, on top of the velocities at the configuration.
    Jump,
}

/// One condition.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// Its element.
    pub element: usize,
    /// What it is there.
    pub kind: RowKind,
    terms: Range<usize>,
    /// How far it is from being met, but for what it follows.
    pub gap: f64,
    /// What that is compared with.
    pub size: f64,
    /// Whether that is a length, rather than an angle.
    pub is_length: bool,
    /// Rate of the condition at the configuration.
    pub rate: f64,
    /// Rate or acceleration that it follows.
    pub wanted: f64,
}

/// All rows of a mechanism; rotors come last.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowSet {
    rows: Vec<Row>,
    /// Number of rows that are not rotors.
    pub n_hard: usize,
    terms: Vec<Term>,
    meetings: Vec<Meeting>,
    /// First meeting of each element, and the number of its rows.
    first_meeting: Vec<usize>,
    n_of: Vec<usize>,
}

impl Meeting {
    /// The meeting of two links at a point, without bias.
    pub fn find(links: [Option<usize>; 2], at: &Vec3, kinematics: &Kinematics) -> Self {
        let arms = links.map(|l| l.map_or(*at, |l| at - kinematics.origin[l]));
        let [parent, child] =
            [0, 1].map(|e| links[e].map_or_else(Twist::default, |l| kinematics.twist(l)).shifted(&arms[e]));
        Self { links, arms, relative: child - parent, bias: Twist::default() }
    }

    /// Motion of the child against the parent, for given motions of the links' origins.
    pub fn relative_motion(&self, links: &[Twist], ground: &Twist) -> Twist {
        let of = |e: usize| self.links[e].map_or(*ground, |l| links[l]).shifted(&self.arms[e]);
        of(1) - of(0)
    }
}

impl RowSet {
    /// Room for the rows of all elements.
    pub fn build(elements: &[Element], model: &Model, cuts: &[Cut]) -> Self {
        let mut set = Self::default();
        let (mut hard, mut rotors, mut n_meetings) = (Vec::new(), Vec::new(), 0);
        for (e, element) in elements.iter().enumerate() {
            set.first_meeting.push(n_meetings);
            n_meetings += element.sizes().0;
            let kinds = element.rows(model, cuts);
            set.n_of.push(kinds.len());
            for kind in kinds {
                let rows = if matches!(kind, RowKind::Rotor(..)) { &mut rotors } else { &mut hard };
                rows.push((e, kind));
            }
        }
        set.n_hard = hard.len();
        set.meetings = vec![Meeting::default(); n_meetings];
        for (element, kind) in hard.into_iter().chain(rotors) {
            let start = set.terms.len();
            let n = elements[element].sizes().1;
            set.terms.resize(start + n, Term::Speed { speed: 0, factor: 0.0 });
            let terms = start..start + n;
            set.rows.push(Row { element, kind, terms, gap: 0.0, size: 1.0, is_length: false, rate: 0.0, wanted: 0.0 });
        }
        set
    }

    /// Number of rows, rotors included.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Number of rows of an element.
    pub fn n_rows_of(&self, element: usize) -> usize {
        self.n_of[element]
    }

    /// Number of rows of rotors.
    pub fn n_rotors(&self) -> usize {
        self.rows.len() - self.n_hard
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A row.
    pub fn row(&self, r: usize) -> &Row {
        &self.rows[r]
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter()
    }

    /// Whether another set has the same rows, wherever they stand.
    pub fn is_like(&self, other: &Self) -> bool {
        let same = |(a, b): (&Row, &Row)| a.element == b.element && a.kind == b.kind;
        self.len() == other.len() && self.rows.iter().zip(&other.rows).all(same)
    }

    /// A row's terms at the configuration.
    pub fn terms(&self, r: usize) -> &[Term] {
        &self.terms[self.rows[r].terms.clone()]
    }

    /// Evaluates all elements; `v` are the speeds of the tree.
    pub fn pose(&mut self, elements: &[Element], see: &Sight<'_>, v: &[f64]) {
        for (e, element) in elements.iter().enumerate() {
            let first = self.first_meeting[e];
            element.meet(see, &mut self.meetings[first..first + element.sizes().0]);
        }
        for r in 0..self.rows.len() {
            let Row { element, kind, terms, .. } = self.rows[r].clone();
            let first = self.first_meeting[element];
            let found = elements[element].pose(kind, see, first, &mut self.terms[terms]);
            let rate = self.sum(r, |m| m.relative, v);
            let row = &mut self.rows[r];
            (row.gap, row.size, row.is_length, row.rate) = (found.gap, found.size, found.is_length, rate);
        }
    }

    /// Sets what rows follow at a level, which their evaluation does not know.
    pub fn set_wanted(&mut self, elements: &[Element], model: &Model, cuts: &[Cut], now: Instant, is_rate: bool) {
        for row in &mut self.rows {
            let [_, rate, acceleration] = elements[row.element].wanted(row.kind, model, cuts, now);
            row.wanted = if is_rate { rate } else { acceleration };
        }
    }

    /// How fast a row opens at the configuration, beyond what it follows.
    pub fn opening_rate(&self, r: usize) -> f64 {
        self.rows[r].rate - self.rows[r].wanted
    }

    /// Motion along a row for velocities of the links' origins and speeds of the tree.
    pub fn along(&self, r: usize, links: &[Twist], speeds: &[f64]) -> f64 {
        self.sum(r, |m| m.relative_motion(links, &Twist::default()), speeds)
    }

    /// How a row opens at a level, beyond what it follows, for motions of the links' origins and rates of the tree's speeds. What a
    /// rotor gives way by is not counted.
    pub fn opening(&self, r: usize, level: Level, links: &[Twist], rates: &[f64]) -> f64 {
        let row = &self.rows[r];
        match level {
            Level::Velocity => self.along(r, links, rates) - row.wanted,
            Level::Acceleration(ground) => {
                self.sum(r, |m| m.relative_motion(links, &ground) - m.bias, rates) - row.wanted
            }
            Level::Jump => {
                let jump = self.along(r, links, rates);
                // A rotor's own jump is what its row has pushed it by, whatever its speed.
                if matches!(row.kind, RowKind::Rotor(..)) { jump } else { (jump + row.rate) - row.wanted }
            }
        }
    }

    /// What velocities alone ask of the accelerations along a row, and what it follows.
    pub fn asked(&self, r: usize) -> f64 {
        let along = |t: &Term| match t {
            Term::Along { meeting, direction } => self.meetings[*meeting].bias.dot(direction),
            Term::Speed { .. } => 0.0,
        };
        sum(self.terms(r).iter().map(along)) + self.rows[r].wanted
    }

    /// Adds the forces of an element's rows on links, at their origins, and on speeds of the tree.
    pub fn add_forces(&self, element: usize, lambda: &[f64], on_links: &mut [Wrench], on_speeds: &mut [f64]) {
        let first = self.first_meeting[element];
        let end = self.first_meeting.get(element + 1).copied().unwrap_or(self.meetings.len());
        for m in first..end {
            let mut total = Wrench::default();
            for (r, _) in self.rows.iter().enumerate().filter(|(_, row)| row.element == element) {
                for term in self.terms(r) {
                    if let Term::Along { meeting, direction } = term
                        && *meeting == m
                    {
                        total += *direction * lambda[r];
                    }
                }
            }
            let Meeting { links, arms, .. } = &self.meetings[m];
            if let Some(child) = links[1] {
                on_links[child] += total.shifted(&arms[1]);
            }
            if let Some(parent) = links[0] {
                on_links[parent] += (-total).shifted(&arms[0]);
            }
        }
        for (r, _) in self.rows.iter().enumerate().filter(|(_, row)| row.element == element) {
            for term in self.terms(r) {
                if let Term::Speed { speed, factor } = term {
                    on_speeds[*speed] += factor * lambda[r];
                }
            }
        }
    }

    /// Visits what a unit force of a row does to links and speeds of the tree.
    pub fn push(&self, r: usize, mut visit: impl FnMut(Pushed)) {
        for term in self.terms(r) {
            match term {
                Term::Along { meeting, direction } => {
                    let Meeting { links, arms, .. } = &self.meetings[*meeting];
                    if let Some(child) = links[1] {
                        visit(Pushed::Link(child, direction.shifted(&arms[1])));
                    }
                    if let Some(parent) = links[0] {
                        visit(Pushed::Link(parent, (-*direction).shifted(&arms[0])));
                    }
                }
                Term::Speed { speed, factor } => visit(Pushed::Speed(*speed, *factor)),
            }
        }
    }

    fn sum(&self, r: usize, motion: impl Fn(&Meeting) -> Twist, rates: &[f64]) -> f64 {
        let along = |t: &Term| match t {
            Term::Along { meeting, direction } => motion(&self.meetings[*meeting]).dot(direction),
            Term::Speed { speed, factor } => factor * rates[*speed],
        };
        sum(self.terms(r).iter().map(along))
    }
}

/// A sum that begins with its first number, so that one number alone keeps its bits.
fn sum(mut numbers: impl Iterator<Item = f64>) -> f64 {
    let first = numbers.next().unwrap_or(0.0);
    numbers.fold(first, |sum, x| sum + x)
}
