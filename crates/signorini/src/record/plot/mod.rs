//! A sheet of plots next to the data: coordinates, speeds and energy of a recording at a glance, its contacts and how well they were
//! solved, and its events.
//!
//! It reads recordings only, piece by piece: however long one is, no more of it is kept than can be seen.

mod envelope;
mod marks;
mod sheet;

use super::folder::{PLOT, Table, write_whole};
use super::{RecordError, Recording};
use envelope::Envelope;
use sheet::{Panel, draw};
use std::io::Write;
use std::path::Path;

/// More lines than this cannot be told apart.
const MAX_LINES: usize = 8;

/// Draws the recording in a folder and writes the sheet beside it.
pub fn write_plot(folder: &Path) -> Result<(), RecordError> {
    let recording = Recording::open(folder)?;
    let title = recording.summary()?.map_or_else(String::new, |summary| summary.scene);
    let coordinates = pick(&recording, "coordinates", is_joint_coordinate, &[".x", ".y", ".z"])?;
    let speeds = pick(&recording, "speeds", is_joint_speed, &[".vx", ".vy", ".vz"])?;
    let path = folder.join(PLOT);
    let marks = marks::of_events(&recording.events()?);
    let mut panels = vec![coordinates, speeds, energy(&recording)?];
    panels.extend(contact(&recording)?);
    let sheet = draw(&title, &panels, &marks).map_err(|reason| RecordError::Format {
        action: "draw",
        path: path.clone(),
        reason,
    })?;
    write_whole(&path, |file| file.write_all(sheet.as_bytes()).map_err(RecordError::io("write", &path)))
}

fn is_numbered(column: &str, letter: char) -> bool {
    let suffix = column.rsplit_once('.').and_then(|(_, suffix)| suffix.strip_prefix(letter));
    suffix.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn is_joint_coordinate(column: &str) -> bool {
    is_numbered(column, 'q')
}

fn is_joint_speed(column: &str) -> bool {
    is_numbered(column, 'v')
}

/// Lines of the trajectory: those of joints, or of bodies where no joint was recorded; spread evenly where there are
/// too many.
fn pick(recording: &Recording, name: &str, is_joint: fn(&str) -> bool, of_body: &[&str]) -> Result<Panel, RecordError> {
    let all: Vec<&str> = recording.fields(Table::Trajectory).iter().map(|field| field.name.as_str()).collect();
    let mut fit: Vec<&str> = all.iter().copied().filter(|column| is_joint(column)).collect();
    if fit.is_empty() {
        fit = all.into_iter().filter(|column| of_body.iter().any(|suffix| column.ends_with(suffix))).collect();
    }
    let shown = fit.len().min(MAX_LINES);
    let chosen: Vec<&str> = (0..shown).map(|i| fit[i * fit.len() / shown]).collect();
    let note = if fit.len() > shown { format!("{name} ({shown} of {} shown)", fit.len()) } else { name.to_owned() };

    let mut lines = vec![Envelope::default(); chosen.len()];
    let columns: Vec<&str> = std::iter::once("t").chain(chosen.iter().copied()).collect();
    recording.scan(Table::Trajectory, &columns, |columns| {
        let Some((times, values)) = columns.split_first() else { return };
        for (line, values) in lines.iter_mut().zip(values) {
            times.iter().zip(values).for_each(|(&t, &y)| line.add(t, y));
        }
    })?;
    Ok(Panel { title: note, lines: chosen.into_iter().map(str::to_owned).zip(lines).collect(), is_log: false })
}

/// Kinetic energy, the change of potential energy, their sum, and what came in and went out, where anything did.
fn energy(recording: &Recording) -> Result<Panel, RecordError> {
    let names = ["kinetic", "potential (change)", "sum", "work", "dissipated"];
    let mut lines: [Envelope; 5] = Default::default();
    let mut reference = None;
    let mut has_exchange = [false; 2];
    recording.scan(Table::Steps, &["t", "kinetic", "potential", "work", "dissipated"], |columns| {
        let [times, kinetic, potential, work, dissipated] = columns else { return };
        for i in 0..times.len() {
            // Where the potential is zero means nothing; its change does.
            let change = potential[i] - *reference.get_or_insert(potential[i]);
            let values = [kinetic[i], change, kinetic[i] + change, work[i], dissipated[i]];
            lines.iter_mut().zip(values).for_each(|(line, value)| line.add(times[i], value));
            has_exchange[0] |= work[i] != 0.0;
            has_exchange[1] |= dissipated[i] != 0.0;
        }
    })?;
    let is_shown = [true, true, true, has_exchange[0], has_exchange[1]];
    let named = names.iter().map(|name| (*name).to_owned()).zip(lines);
    let lines = named.zip(is_shown).filter_map(|(line, is_shown)| is_shown.then_some(line)).collect();
    Ok(Panel { title: "energy".to_owned(), lines, is_log: false })
}

/// Residuals below this are drawn as this: they are rounding, and a logarithm has no zero.
const LEAST_RESIDUAL: f64 = 1e-18;

/// Impulses, numbers and depth of contacts, and their residuals; nothing where nothing ever touched.
fn contact(recording: &Recording) -> Result<Vec<Panel>, RecordError> {
    let [mut impulse, mut count, mut depth, mut residual]: [Envelope; 4] = Default::default();
    let mut is_touching = false;
    recording.scan(Table::Steps, &["t", "impulse", "contacts", "penetration", "rel"], |columns| {
        let [times, impulses, contacts, penetration, rel] = columns else { return };
        for (i, &time) in times.iter().enumerate() {
            is_touching |= contacts[i] > 0.0;
            impulse.add(time, impulses[i]);
            count.add(time, contacts[i]);
            depth.add(time, penetration[i]);
            residual.add(time, rel[i].max(LEAST_RESIDUAL).log10());
        }
    })?;
    if !is_touching {
        return Ok(Vec::new());
    }
    let panel = |title: &str, name: &str, line: Envelope, is_log: bool| Panel {
        title: title.to_owned(),
        lines: vec![(name.to_owned(), line)],
        is_log,
    };
    Ok(vec![
        panel("normal impulses per step", "sum", impulse, false),
        panel("contacts", "contacts", count, false),
        panel("penetration", "deepest", depth, false),
        panel("residual of contact problems", "rel", residual, true),
    ])
}
