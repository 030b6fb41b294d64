//! Steps a simulation to its end and records it.
//!
//! A row is recorded at the start, at every multiple of the output interval, after every n-th step, before and after events,
//! and at the end; after every step where the scene asks for neither. Contacts are recorded of every step that ends on a regular row, not
//! of rows that are there only because of an event or the end.

use super::layout::Row;
use super::recorder::remove_streams;
use super::{CHECKPOINT_FORMAT, Checkpoint, Identity, RecordError, Recorder, Statistics};
use crate::impulse::EventReport;
use crate::scene::Output;
use crate::state::State;
use crate::step::{ContactReport, JointConstraintForce, Observation, StepReport};
use std::path::Path;

/// Something that moves in steps and can be looked at.
pub trait Motion {
    /// Why a step could not be taken.
    type Error: std::fmt::Display;
    /// Where it is.
    fn state(&self) -> &State;
    /// Takes one step that does not pass `limit`, and lands on it exactly where it reaches it.
    fn advance(&mut self, limit: f64) -> Result<StepReport, Self::Error>;
    /// Whether events wait to happen now; the next `advance` then makes them happen and takes no time.
    fn is_event_due(&self) -> bool {
        false
    }
    /// What the events of the last `advance` did.
    fn events(&self) -> &[EventReport] {
        &[]
    }
    /// Contacts of the last step.
    fn contacts(&self) -> &[ContactReport] {
        &[]
    }
    /// Limits and dry friction in joints that acted in the last step.
    fn joint_constraint_forces(&self) -> &[JointConstraintForce] {
        &[]
    }
    /// Tells it that forces will be looked at: what they are in a step must not depend on who has looked before.
    fn keep_forces(&mut self) {}
    /// Looks at it; `forces` asks for reactions and actuator forces, too.
    fn observe(&mut self, forces: bool, out: &mut Observation) -> Result<(), Self::Error>;
}

/// When rows are recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    end: f64,
    interval: Option<f64>,
    every: Option<u64>,
}

impl Schedule {
    /// By the scene's `[output]`, up to `end`.
    pub fn new(end: f64, output: &Output) -> Result<Self, RecordError> {
        let bad = |key, found: String, allowed| Err(RecordError::BadNumber { key, found, allowed });
        if !(end.is_finite() && end >= 0.0) {
            return bad("time.end", end.to_string(), "finite and not negative");
        }
        if let Some(interval) = output.interval.filter(|interval| !(interval.is_finite() && *interval > 0.0)) {
            return bad("output.interval", interval.to_string(), "finite and greater than zero");
        }
        if output.every == Some(0) {
            return bad("output.every", "0".to_owned(), "at least 1");
        }
        Ok(Self { end, interval: output.interval, every: output.every })
    }

    /// The end of time.
    pub fn end(&self) -> f64 {
        self.end
    }

    /// Time of the k-th row: a product, because a sum would gather rounding errors. A row that would fall within
    /// rounding of the end falls on the end.
    fn time_of(&self, k: u64) -> Option<f64> {
        let time = self.interval? * k as f64;
        Some(if (time - self.end).abs() <= 4.0 * f64::EPSILON * self.end { self.end } else { time })
    }
}

/// What the caller wants after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wish {
    /// To go on.
    Continue,
    /// To have all rows out of the process first.
    Flush,
    /// To have a checkpoint on the disk first.
    Checkpoint {
        /// Time that the run took so far.
        wall_seconds: f64,
    },
    /// To end here.
    Stop,
}

/// How a run came to its end.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending<E> {
    /// The end of time.
    Completed,
    /// The caller wanted it.
    Stopped,
    /// A step could not be taken.
    Failed(E),
}

/// A simulation that is being recorded.
pub struct RecordedMotion<M: Motion> {
    motion: M,
    recorder: Recorder,
    schedule: Schedule,
    identity: Identity,
    next_output: u64,
    is_last_recorded: bool,
    seen: Observation,
    /// The row of a state that a checkpoint has and the trajectory has not; none once a step was taken.
    unrecorded: Option<Row>,
}

impl<M: Motion> RecordedMotion<M> {
    /// A new run, in a folder that was prepared for it.
    pub fn create(
        folder: &Path,
        layout: super::Layout,
        schedule: Schedule,
        identity: Identity,
        mut motion: M,
    ) -> Result<Self, RecordError> {
        if layout.needs_forces() {
            motion.keep_forces();
        }
        let mut seen = Observation::default();
        motion.observe(layout.needs_forces(), &mut seen).map_err(|error| RecordError::Unseen(error.to_string()))?;
        let mut recorder = Recorder::create(folder, layout, &seen)?;
        recorder.record(&seen, None, &[])?;
        let mut run = Self {
            motion,
            recorder,
            schedule,
            identity,
            next_output: 1,
            is_last_recorded: true,
            seen,
            unrecorded: None,
        };
        // A run that is killed before its first checkpoint can begin again where it began.
        run.write_checkpoint(folder, 0.0)?;
        Ok(run)
    }

    /// A run that goes on from a checkpoint. `motion` stands where the checkpoint says.
    pub fn resume(
        folder: &Path,
        layout: super::Layout,
        schedule: Schedule,
        identity: Identity,
        mut motion: M,
        checkpoint: &Checkpoint,
    ) -> Result<Self, RecordError> {
        checkpoint.identity.check_same(&identity, folder)?;
        if layout.needs_forces() {
            motion.keep_forces();
        }
        let recorder = Recorder::resume(folder, layout, checkpoint)?;
        let (next_output, seen) = (checkpoint.next_output, Observation::default());
        let is_last_recorded = checkpoint.is_recorded;
        let unrecorded = checkpoint.unrecorded.as_deref().map(Row::from_numbers);
        Ok(Self { motion, recorder, schedule, identity, next_output, is_last_recorded, seen, unrecorded })
    }

    /// What moves.
    pub fn motion(&self) -> &M {
        &self.motion
    }

    /// Where the mechanism is.
    pub fn state(&self) -> &State {
        self.motion.state()
    }

    #[cfg(test)]
    pub(crate) fn recorder_for_test(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    /// Steps to the end, or until the caller, who is asked after every step, wants to stop.
    pub fn drive(
        &mut self,
        folder: &Path,
        mut ask: impl FnMut(&M, &StepReport) -> Wish,
    ) -> Result<Ending<M::Error>, RecordError> {
        while self.motion.state().time < self.schedule.end || self.motion.is_event_due() {
            // At an event there are two rows, before and after.
            if self.motion.is_event_due() && !self.is_last_recorded {
                self.record(false)?;
            }
            let report = match self.motion.advance(self.find_limit()) {
                Ok(report) => report,
                Err(error) => return Ok(Ending::Failed(error)),
            };
            self.unrecorded = None;
            // An event takes no time, so that no contact pushes in it.
            let contacts = if report.events > 0 { &[] } else { self.motion.contacts() };
            self.recorder.record_step(&report, contacts)?;
            let is_due = self.is_due();
            self.is_last_recorded = is_due || report.events > 0;
            if report.events > 0 {
                self.recorder.record_events(self.motion.events())?;
            } else if is_due {
                self.recorder.record_contacts(report.time, self.motion.contacts())?;
            }
            if self.is_last_recorded {
                self.record(report.events == 0)?;
            }
            match ask(&self.motion, &report) {
                Wish::Continue => {}
                Wish::Flush => self.recorder.flush()?,
                Wish::Checkpoint { wall_seconds } => self.write_checkpoint(folder, wall_seconds)?,
                Wish::Stop => return Ok(Ending::Stopped),
            }
        }
        Ok(Ending::Completed)
    }

    /// Ends the recording: a last checkpoint, a last row, Parquet files. Streams are removed once `close` has written what goes with
    /// these. What moved is given back.
    pub fn finish<T>(
        mut self,
        folder: &Path,
        wall_seconds: f64,
        close: impl FnOnce(&Statistics) -> Result<T, RecordError>,
    ) -> Result<(T, M), RecordError> {
        // The last row comes after the checkpoint: it may lie between two regular ones, and a run that goes on from
        // here must not have it.
        self.write_checkpoint(folder, wall_seconds)?;
        if !self.is_last_recorded {
            self.record(false)?;
        }
        let statistics = self.recorder.finish(self.identity.csv)?;
        let closed = close(&statistics)?;
        remove_streams(folder)?;
        Ok((closed, self.motion))
    }

    fn write_checkpoint(&mut self, folder: &Path, wall_seconds: f64) -> Result<(), RecordError> {
        self.recorder.sync()?;
        let (trajectory_rows, step_rows, contact_rows) = self.recorder.rows();
        if !self.is_last_recorded && self.unrecorded.is_none() {
            let forces = self.recorder.layout().needs_forces();
            self.motion.observe(forces, &mut self.seen).map_err(|error| RecordError::Unseen(error.to_string()))?;
            let mut row = Row::default();
            self.recorder.layout().fill(&self.seen, None, &[], &mut row);
            self.unrecorded = Some(row);
        }
        let checkpoint = Checkpoint {
            format: CHECKPOINT_FORMAT,
            identity: self.identity.clone(),
            state: self.motion.state().clone(),
            statistics: self.recorder.statistics().clone(),
            next_output: self.next_output,
            is_recorded: self.is_last_recorded,
            unrecorded: self.unrecorded.as_ref().map(Row::to_numbers),
            trajectory_rows,
            step_rows,
            contact_rows,
            event_bytes: self.recorder.event_bytes(),
            wall_seconds,
        };
        checkpoint.write(folder)
    }

    /// Records where it is. What pushed in joints is known at the end of a step and nowhere else: not at the start, at events, or
    /// where a run goes on.
    fn record(&mut self, is_end_of_step: bool) -> Result<(), RecordError> {
        // Where a run goes on, forces of the step that led there are known from the checkpoint alone.
        if let Some(row) = &self.unrecorded {
            return self.recorder.record_row(row);
        }
        let forces = self.recorder.layout().needs_forces();
        self.motion.observe(forces, &mut self.seen).map_err(|error| RecordError::Unseen(error.to_string()))?;
        let pushes = is_end_of_step.then(|| self.motion.joint_constraint_forces());
        self.recorder.record(&self.seen, pushes, &[])
    }

    fn find_limit(&self) -> f64 {
        self.schedule.time_of(self.next_output).map_or(self.schedule.end, |time| time.min(self.schedule.end))
    }

    /// Is a row due at the state just reached?
    fn is_due(&mut self) -> bool {
        let state = self.motion.state();
        let mut is_due = self.schedule.interval.is_none() && self.schedule.every.is_none();
        is_due |= self.schedule.every.is_some_and(|n| state.steps.is_multiple_of(n));
        while self.schedule.time_of(self.next_output).is_some_and(|due| due <= state.time) {
            self.next_output += 1;
            is_due = true;
        }
        is_due
    }
}
