//! Writes a recording while a simulation runs.

use super::contacts::{contact_fields, push_contact};
use super::events::EventLog;
use super::folder::{EVENTS, Table, beside, remove};
use super::layout::{Layout, Row};
use super::parquet::ParquetReader;
use super::statistics::{Residual, Statistics};
use super::stream::Stream;
use super::table::{Chunk, Column, Field};
use super::{Checkpoint, RecordError, csv, parquet, sums};
use crate::impulse::EventReport;
use crate::step::{ContactReport, JointConstraintForce, Observation, StepReport};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a recording while a simulation runs.
///
/// Rows go to append-only streams in batches; [`Recorder::flush`] hands the last ones to the operating system,
/// [`Recorder::sync`] to the disk. [`Recorder::finish`] turns the streams into Parquet files.
pub struct Recorder {
    folder: PathBuf,
    layout: Layout,
    trajectory: Stream,
    steps: Stream,
    contacts: Option<Stream>,
    events: EventLog,
    statistics: Statistics,
    row: Row,
}

impl Recorder {
    /// A new recording in a folder that exists and holds none. The observation is that of the start.
    pub fn create(folder: &Path, layout: Layout, start: &Observation) -> Result<Self, RecordError> {
        let trajectory = Stream::create(&Table::Trajectory.stream(folder), &layout.fields())?;
        let steps = Stream::create(&Table::Steps.stream(folder), &step_fields())?;
        let stream = || Stream::create(&Table::Contacts.stream(folder), &contact_fields());
        let contacts = layout.has_contacts().then(stream).transpose()?;
        let statistics = Statistics::start(start.kinetic, start.potential);
        let (events, row) = (EventLog::create(folder), Row::default());
        Ok(Self { folder: folder.to_path_buf(), layout, trajectory, steps, contacts, events, statistics, row })
    }

    /// Goes on with a recording from a checkpoint; what was recorded after it is dropped.
    pub fn resume(folder: &Path, layout: Layout, checkpoint: &Checkpoint) -> Result<Self, RecordError> {
        let trajectory = reopen(Table::Trajectory, folder, &layout.fields(), checkpoint.trajectory_rows)?;
        let steps = reopen(Table::Steps, folder, &step_fields(), checkpoint.step_rows)?;
        let stream = || reopen(Table::Contacts, folder, &contact_fields(), checkpoint.contact_rows);
        let contacts = layout.has_contacts().then(stream).transpose()?;
        let statistics = checkpoint.statistics.clone();
        let (events, row) = (EventLog::resume(folder, checkpoint.event_bytes)?, Row::default());
        Ok(Self { folder: folder.to_path_buf(), layout, trajectory, steps, contacts, events, statistics, row })
    }

    /// The columns of the trajectory.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What the summary is made of.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Records one instant. `pushes` are limits and dry friction in joints of the step that ended there, where one did; `exists`
    /// tells for every joint whether it exists and is empty where all do.
    pub fn record(
        &mut self,
        seen: &Observation,
        pushes: Option<&[JointConstraintForce]>,
        exists: &[bool],
    ) -> Result<(), RecordError> {
        self.layout.fill(seen, pushes, exists, &mut self.row);
        push_row(&mut self.trajectory, &self.row)
    }

    /// Records a row as it is.
    pub(crate) fn record_row(&mut self, row: &Row) -> Result<(), RecordError> {
        push_row(&mut self.trajectory, row)
    }

    /// Records the certificate of one step and the sum of its normal impulses.
    pub fn record_step(&mut self, report: &StepReport, contacts: &[ContactReport]) -> Result<(), RecordError> {
        self.statistics.update(report);
        push_step(self.steps.pending(), report, contacts.iter().map(|contact| contact.impulse[0]).sum());
        self.steps.advance()
    }

    /// Records the contacts of a step that ended at `time`, where contacts are recorded.
    pub fn record_contacts(&mut self, time: f64, contacts: &[ContactReport]) -> Result<(), RecordError> {
        let Some(stream) = &mut self.contacts else { return Ok(()) };
        for contact in contacts {
            push_contact(stream.pending(), time, contact, self.layout.bodies());
            stream.advance()?;
        }
        Ok(())
    }

    /// Records what events did.
    pub fn record_events(&mut self, events: &[EventReport]) -> Result<(), RecordError> {
        self.events.write(events)
    }

    /// Hands every row to the operating system.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        self.trajectory.flush()?;
        self.contacts.as_mut().map_or(Ok(()), Stream::flush)?;
        self.steps.flush()
    }

    /// Waits until every row is on the disk. A checkpoint that counts these rows may be written only then.
    pub fn sync(&mut self) -> Result<(), RecordError> {
        self.trajectory.sync()?;
        self.steps.sync()?;
        self.contacts.as_mut().map_or(Ok(()), Stream::sync)?;
        self.events.sync()
    }

    /// Bytes of the log of events.
    pub fn event_bytes(&self) -> u64 {
        self.events.bytes()
    }

    /// Rows of the trajectory, of the step table and of the table of contacts that were flushed.
    pub fn rows(&self) -> (u64, u64, u64) {
        (self.trajectory.rows(), self.steps.rows(), self.contacts.as_ref().map_or(0, Stream::rows))
    }

    /// Ends the recording: Parquet files, and text where asked for.
    pub fn finish(mut self, with_csv: bool) -> Result<Statistics, RecordError> {
        self.flush()?;
        convert(&self.folder, with_csv)?;
        Ok(self.statistics)
    }
}

/// Turns the streams that a run left behind into Parquet files. Nothing is removed before its successor is on the disk, so that this may
/// be cut short at any moment and done again.
pub fn finalise(folder: &Path, with_csv: bool) -> Result<(), RecordError> {
    convert(folder, with_csv)?;
    remove_streams(folder)
}

/// The first half of it.
fn convert(folder: &Path, with_csv: bool) -> Result<(), RecordError> {
    for table in Table::ALL {
        let (stream, finished) = (table.stream(folder), table.parquet(folder));
        if stream.exists() {
            parquet::convert(&stream, &finished)?;
        }
        if with_csv && finished.exists() {
            csv::convert(&finished, &table.csv(folder))?;
        } else {
            remove(&table.csv(folder))?;
        }
    }
    Ok(())
}

/// The second half.
pub(super) fn remove_streams(folder: &Path) -> Result<(), RecordError> {
    for table in Table::ALL {
        let stream = table.stream(folder);
        remove(&stream)?;
        remove(&sums::beside(&stream))?;
    }
    remove(&sums::beside(&folder.join(EVENTS)))
}

/// The stream of a table, cut back to its first `rows` rows; made anew from the Parquet file of a run that was ended.
fn reopen(table: Table, folder: &Path, fields: &[Field], rows: u64) -> Result<Stream, RecordError> {
    let (path, finished) = (table.stream(folder), table.parquet(folder));
    if !path.exists() {
        let beside = beside(&path);
        let mut reader = ParquetReader::open(&finished)?;
        if reader.fields != fields {
            let reason = "its columns are not those of this run".to_owned();
            return Err(RecordError::Format { action: "go on with", path: finished, reason });
        }
        let mut stream = Stream::create(&beside, fields)?;
        let mut left = usize::try_from(rows).unwrap_or(usize::MAX);
        while let Some(chunk) = reader.next_chunk()?.filter(|_| left > 0) {
            let count = chunk.rows.min(left);
            stream.append(&chunk, 0, count)?;
            left -= count;
        }
        stream.sync()?;
        // The sums first: a stream without them is none.
        let sums_path = sums::beside(&path);
        fs::rename(sums::beside(&beside), &sums_path).map_err(RecordError::io("move into place", &sums_path))?;
        fs::rename(&beside, &path).map_err(RecordError::io("move into place", &path))?;
    }
    let stream = Stream::reopen(&path, fields, rows)?;
    // Where both exist the stream counts, and the finished files would soon be out of date.
    remove(&finished)?;
    remove(&table.csv(folder))?;
    Ok(stream)
}

fn push_row(stream: &mut Stream, row: &Row) -> Result<(), RecordError> {
    for ((column, &value), &is_missing) in stream.pending().columns.iter_mut().zip(&row.values).zip(&row.missing) {
        column.push_number(value, is_missing);
    }
    stream.advance()
}

/// The columns of the step table.
fn step_fields() -> Vec<Field> {
    let floats = |names: &[&str]| names.iter().map(|name| Field::float(name)).collect::<Vec<_>>();
    let mut fields = floats(&["t", "h", "rel", "signorini", "coulomb", "dissipation", "bilateral"]);
    fields.extend(["iterations", "contacts"].map(Field::count));
    fields.extend(floats(&["penetration", "kinetic", "potential", "work", "dissipated"]));
    fields.push(Field::text("status"));
    fields.push(Field::count("rejected"));
    fields.extend(floats(&["loop_position", "loop_velocity"]));
    fields.push(Field::count("evaluations"));
    fields.push(Field::float("impulse"));
    fields
}

fn push_step(rows: &mut Chunk, report: &StepReport, impulse: f64) {
    let residual = Residual::of(report);
    let status = if report.events > 0 {
        "event"
    } else if report.is_unsolved {
        "unsolved"
    } else if report.is_at_floor {
        "floor"
    } else {
        "solved"
    };
    let before_status = [
        report.time,
        report.step,
        residual.rel,
        residual.signorini,
        residual.coulomb,
        residual.dissipation,
        residual.bilateral,
        f64::from(report.iterations),
        f64::from(report.contacts),
        report.penetration,
        report.kinetic,
        report.potential,
        report.work,
        report.dissipated,
    ];
    let after_status = [
        f64::from(report.rejected),
        report.loop_position,
        report.loop_velocity,
        f64::from(report.evaluations),
        impulse,
    ];
    let mut numbers = before_status.into_iter().chain(after_status);
    for column in &mut rows.columns {
        match column {
            Column::Text(words) => words.push(status.to_owned()),
            number => number.push_number(numbers.next().unwrap_or(f64::NAN), false),
        }
    }
}
