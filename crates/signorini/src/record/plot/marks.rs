//! Marks at the times of events: which there are, and where their names find room.

use super::sheet::shorten;
use crate::impulse::EventReport;

/// Height of a row of names.
pub(super) const LABEL_HEIGHT: u32 = 18;
/// Rows of names; what finds no room in them is a line without a name.
const MAX_ROWS: usize = 3;
/// More lines than this would hide what they mark.
const MAX_MARKS: usize = 150;
/// Width of a letter, on average.
const LETTER: f64 = 6.8;
/// Least distance between names.
const AIR: f64 = 12.0;

/// An instant at which something happened, and the names of what did.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mark {
    time: f64,
    names: Vec<String>,
}

/// A mark with the place of its name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    pub(super) time: f64,
    pub(super) label: Option<Label>,
}

/// A name, the row from below in which it stands, and on which side of its line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    pub(super) text: String,
    pub(super) row: usize,
    pub(super) is_left: bool,
}

/// The instants of events. Where there are too many to be told apart, none.
pub(super) fn of_events(events: &[EventReport]) -> Vec<Mark> {
    let instants = events.chunk_by(|a, b| a.time == b.time);
    let marks: Vec<Mark> = instants
        .map(|at| Mark { time: at[0].time, names: at.iter().map(|event| event.name.clone()).collect() })
        .collect();
    if marks.len() > MAX_MARKS { Vec::new() } else { marks }
}

/// Finds room for names above a chart of some width; `at` tells where in it a time is. Returns how many rows there are.
pub(super) fn place_labels(marks: &[Mark], width: f64, at: impl Fn(f64) -> f64) -> (Vec<Placed>, usize) {
    // Taken from here on, row by row. From the last to the first, the line of a name passes before the names below it.
    let mut taken = [f64::INFINITY; MAX_ROWS];
    let mut used = 0;
    let mut placed = Vec::with_capacity(marks.len());
    for mark in marks.iter().rev() {
        let text = mark.text();
        let (x, length) = (at(mark.time), LETTER * text.chars().count() as f64 + AIR);
        let is_left = x + length > width;
        let start = if is_left { x - length } else { x };
        let row = taken.iter().position(|&begin| start + length <= begin);
        if let Some(row) = row {
            taken[row] = start;
            taken[..row].iter_mut().for_each(|begin| *begin = begin.min(x - AIR));
            used = used.max(row + 1);
        }
        placed.push(Placed { time: mark.time, label: row.map(|row| Label { text, row, is_left }) });
    }
    placed.reverse();
    (placed, used)
}

impl Mark {
    /// The names, as far as they are worth their room.
    fn text(&self) -> String {
        const MOST: usize = 2;
        let mut names: Vec<String> = self.names.iter().take(MOST).map(|name| shorten(name)).collect();
        if self.names.len() > MOST {
            names.push(format!("{} more", self.names.len() - MOST));
        }
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(times: &[f64]) -> Vec<Mark> {
        times.iter().map(|&time| Mark { time, names: vec!["lock".to_owned()] }).collect()
    }

    #[test]
    fn names_that_would_overlap_stand_in_rows() {
        let marks = marks(&[0.0, 1.0, 500.0, 799.0]);
        let (placed, rows) = place_labels(&marks, 800.0, |t| t);
        let labels: Vec<&Label> = placed.iter().filter_map(|mark| mark.label.as_ref()).collect();
        assert_eq!(labels.iter().map(|l| l.row).collect::<Vec<_>>(), [1, 0, 0, 0]);
        assert_eq!(labels.iter().map(|l| l.is_left).collect::<Vec<_>>(), [false, false, false, true]);
        assert_eq!(rows, 2);
    }

    #[test]
    fn where_there_is_no_room_there_is_no_name() {
        let marks = marks(&[0.0, 1.0, 2.0, 3.0, 4.0]);
        let (placed, rows) = place_labels(&marks, 800.0, |t| t);
        assert_eq!((placed.len(), rows), (5, MAX_ROWS));
        assert_eq!(placed.iter().filter(|mark| mark.label.is_some()).count(), MAX_ROWS);
    }

    #[test]
    fn events_of_one_instant_are_one_mark() {
        let event = |time, name: &str| EventReport { time, name: name.to_owned(), ..EventReport::default() };
        let found = of_events(&[event(1.0, "a"), event(1.0, "b"), event(1.0, "c"), event(2.0, "d")]);
        assert_eq!(found.iter().map(Mark::text).collect::<Vec<_>>(), ["a, b, 1 more", "d"]);
    }
}
