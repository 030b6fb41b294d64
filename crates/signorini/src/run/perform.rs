//! The run itself.

use super::hooks::{Controlled, Hooks};
use super::{FLUSH, Next, Progress, Run, RunError, Start, columns};
use crate::record::{
    About, Checkpoint, Ending, FolderLock, Identity, KeptScene, Layout, Manifest, RecordError, RecordedMotion,
    Recording, Schedule, Statistics, Status, Summary, Wish, holds_run, prepare,
};
use crate::scene::validate::validate;
use crate::step::{Options, Simulation, StepError, build};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What came of a run.
pub struct Outcome {
    /// How it ended.
    pub ending: Ending<StepError>,
    /// The result in short.
    pub summary: Summary,
    /// Where it is written.
    pub folder: PathBuf,
    /// What the caller should know and no file has.
    pub notes: Vec<String>,
    /// The simulation, where it ended.
    pub simulation: Simulation,
}

impl Outcome {
    /// What was written.
    pub fn recording(&self) -> Result<Recording, RecordError> {
        Recording::open(&self.folder)
    }
}

/// What was checked and built before anything is written.
struct Task<'a> {
    identity: Identity,
    kept: KeptScene,
    layout: Layout,
    schedule: Schedule,
    checkpoint: Option<Checkpoint>,
    motion: Controlled<'a>,
    /// What the user should know of the scene.
    findings: Vec<String>,
}

impl<'a> Run<'a> {
    /// Runs, and records until the end of time, a stop, or a step that cannot be taken.
    pub fn finish(mut self) -> Result<Outcome, RunError> {
        let folder = self.folder.clone();
        let lock = match self.lock.take() {
            None if folder.is_dir() => Some(FolderLock::take(&folder)?),
            taken => taken,
        };
        let task = self.build()?;
        // Held to the end, whatever it is.
        let _lock = match lock {
            Some(lock) => lock,
            None => FolderLock::make(&folder)?,
        };
        let mut pace = Pace::new(self.checkpoint_interval, task.checkpoint.as_ref().map_or(0.0, |c| c.wall_seconds));
        let (identity, end, mut findings) = (task.identity.clone(), task.schedule.end(), task.findings.clone());
        let (mut run, manifest) = self.begin(task)?;

        let broken_off = |source| RunError::BrokenOff { source, folder: folder.clone() };
        let ending = drive(&mut run, &folder, end, &mut pace, &mut self.hooks).map_err(broken_off)?;
        let time = run.state().time;
        match &ending {
            Ending::Completed => {}
            Ending::Stopped => findings.push(format!("interrupted at t = {time}")),
            Ending::Failed(error) => findings.push(format!("stopped: {error}")),
        }
        let simulation = &run.motion().simulation;
        let about = About {
            status: if matches!(ending, Ending::Completed) { Status::Completed } else { Status::Stopped },
            scene: identity.scene,
            formulation: identity.formulation,
            solver: simulation.steps_contact().then(|| simulation.options().method.name().to_owned()),
            threads: self.threads,
            sim_seconds: time,
            wall_seconds: pace.wall_seconds(),
            findings,
        };
        let with_plot = self.with_plot;
        let closed = run
            .finish(&folder, about.wall_seconds, |statistics| close(&folder, about, statistics, with_plot, manifest));
        let (summary, motion) = closed.map_err(broken_off)?;
        Ok(Outcome { ending, summary, folder, notes: self.notes, simulation: motion.simulation })
    }

    /// Checks the scene, finds where the run begins, and builds what moves.
    fn build(&mut self) -> Result<Task<'a>, RunError> {
        let source = self.written()?;
        let wrong = validate(&self.scene);
        if !wrong.is_empty() {
            return Err(RunError::findings(&source, wrong));
        }
        let kept = KeptScene::gather(&self.scene, &source, &self.base)?;
        let mut identity = Identity::of(&self.name, &self.scene, &kept, self.with_csv);
        let checkpoint = self.find_checkpoint(&mut identity)?;
        let built = build(&self.scene).map_err(|error| RunError::build(&source, error))?;
        let start = checkpoint.as_ref().map_or(built.state, |checkpoint| checkpoint.state.clone());
        let options = Options::from_scene(&self.scene);
        let at_scene = |error: StepError| RunError::step(&source, &error);
        let mut simulation = Simulation::new(built.model, built.plan, options, start).map_err(at_scene)?;
        if let Some(prepare) = self.hooks.prepare.take() {
            prepare(&mut simulation)?;
        }
        // What cannot be evaluated where it stands is wrong with the scene, not with a step.
        simulation.accelerations(&mut Vec::new()).map_err(at_scene)?;
        let mut findings = built.assembly.findings();
        findings.extend_from_slice(&identity.changes);
        let layout = columns::choose(&simulation, &self.scene, &mut findings)
            .map_err(|error| RunError::layout(&source, error))?;
        let schedule = Schedule::new(self.scene.time.end, &self.scene.output)?;
        let motion = Controlled { simulation, control: self.hooks.control.take() };
        Ok(Task { identity, kept, layout, schedule, checkpoint, motion, findings })
    }

    /// From where the run in the folder goes on, where it does. What was changed since is noted in the identity.
    fn find_checkpoint(&mut self, identity: &mut Identity) -> Result<Option<Checkpoint>, RunError> {
        let folder = &self.folder;
        match self.start {
            Start::New { .. } => return Ok(None),
            Start::GoOnIfThere if !holds_run(folder) => {
                self.start = Start::New { replace: false };
                return Ok(None);
            }
            Start::GoOnIfThere | Start::GoOn => {}
        }
        let Some(checkpoint) = Checkpoint::read_if_there(folder)? else {
            Manifest::of_begun(folder)?.identity.check_same(identity, folder)?;
            self.begin_anew();
            return Ok(None);
        };
        checkpoint.identity.check_same(identity, folder)?;
        identity.changes = checkpoint.identity.changes_to(identity, checkpoint.state.time);
        Ok(Some(checkpoint))
    }

    /// A recording that begins, or goes on.
    fn begin(&mut self, task: Task<'a>) -> Result<(RecordedMotion<Controlled<'a>>, Manifest), RunError> {
        let Task { identity, kept, layout, schedule, checkpoint, motion, .. } = task;
        let folder = &self.folder;
        let mut manifest = Manifest::new(identity.clone(), Vec::new());
        let command = std::mem::take(&mut self.command).join(" ");
        let run = match checkpoint {
            Some(checkpoint) => {
                let before = Manifest::read(folder)?;
                before.check_tables(folder)?;
                manifest.commands = before.commands;
                manifest.commands.push(command);
                let run = RecordedMotion::resume(folder, layout, schedule, identity, motion, &checkpoint)?;
                manifest.write(folder)?;
                run
            }
            None => {
                kept.check_place(folder)?;
                prepare(folder, matches!(self.start, Start::New { replace: true }))?;
                kept.write(folder)?;
                manifest.commands.push(command);
                manifest.write(folder)?;
                RecordedMotion::create(folder, layout, schedule, identity, motion)?
            }
        };
        Ok((run, manifest))
    }
}

/// Writes what goes with the tables: the summary, the plot, and the sums of all files.
fn close(
    folder: &Path,
    mut about: About,
    statistics: &Statistics,
    with_plot: bool,
    manifest: Manifest,
) -> Result<Summary, RecordError> {
    about.findings.extend(statistics.findings());
    let summary = Summary::new(about, statistics);
    summary.write(folder)?;
    #[cfg(feature = "plot")]
    if with_plot {
        crate::record::write_plot(folder)?;
    }
    #[cfg(not(feature = "plot"))]
    let _ = with_plot;
    manifest.close(folder)?;
    Ok(summary)
}

/// Steps to the end of time, or as far as the caller wants.
fn drive(
    run: &mut RecordedMotion<Controlled<'_>>,
    folder: &Path,
    end: f64,
    pace: &mut Pace,
    hooks: &mut Hooks<'_>,
) -> Result<Ending<StepError>, RecordError> {
    run.drive(folder, |motion, report| {
        let now = Instant::now();
        let state = motion.simulation.state();
        let next = hooks.progress.as_mut().map_or(Next::GoOn, |ask| {
            ask(&Progress {
                time: state.time,
                end,
                steps: state.steps,
                wall_seconds: pace.at(now),
                report,
                simulation: &motion.simulation,
            })
        });
        if next == Next::Stop { Wish::Stop } else { pace.wish(now) }
    })
}

/// When rows and checkpoints go to the disk.
struct Pace {
    began: Instant,
    /// Time that the run took before it was interrupted.
    before: f64,
    interval: Duration,
    flushed: Instant,
    saved: Instant,
}

impl Pace {
    fn new(interval: Duration, before: f64) -> Self {
        let began = Instant::now();
        Self { began, before, interval, flushed: began, saved: began }
    }

    fn at(&self, now: Instant) -> f64 {
        self.before + now.duration_since(self.began).as_secs_f64()
    }

    fn wall_seconds(&self) -> f64 {
        self.at(Instant::now())
    }

    fn wish(&mut self, now: Instant) -> Wish {
        if now.duration_since(self.saved) >= self.interval {
            (self.saved, self.flushed) = (now, now);
            Wish::Checkpoint { wall_seconds: self.at(now) }
        } else if now.duration_since(self.flushed) >= FLUSH {
            self.flushed = now;
            Wish::Flush
        } else {
            Wish::Continue
        }
    }
}
