//! `signorini run`: simulate a scene and record it.

use crate::engine::{self, Built};
use crate::failure::Failure;
use crate::progress::{Progress, catch_interrupts};
use crate::report;
use crate::source::{self, Loaded};
use crate::unsolved::Unsolved;
use clap::{Args, ValueEnum};
use signorini::record::{
    About, Checkpoint, Ending, Identity, KeptScene, Layout, Motion, REPORT, RecordError, SCENE, Schedule, Status,
    Summary, VERSION, Wish, compute_hash, prepare, write_plot,
};
use signorini::scene::validate::validate;
use signorini::scene::{ContactMethod, Formulation, Integrator, Policy, Restitution, Solver};
use signorini::step::StepError;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Rows are handed to the operating system at least this often.
const FLUSH: Duration = Duration::from_secs(1);
/// A place from which the run can go on is written this often.
const CHECKPOINT: Duration = Duration::from_secs(10);

/// Simulates a scene and records it.
#[derive(Args)]
pub struct Run {
    /// A scene file, a folder with a scene.toml, or the name of a bundled scene.
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    scene: Option<String>,
    /// Folder to write to; out/NAME unless given.
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// End of time, instead of the scene's.
    #[arg(long, value_name = "T", value_parser = positive, allow_negative_numbers = true)]
    until: Option<f64>,
    /// Step of the fixed-step methods, first step of the adaptive one.
    #[arg(long, value_name = "H", value_parser = positive, allow_negative_numbers = true, conflicts_with = "resume")]
    step: Option<f64>,
    /// Integration method; auto is adaptive where nothing can push, else stewart-trinkle.
    #[arg(long, value_enum, conflicts_with = "resume")]
    integrator: Option<IntegratorName>,
    /// Relative tolerance of the adaptive method.
    #[arg(long, value_name = "R", value_parser = positive, allow_negative_numbers = true, conflicts_with = "resume")]
    rtol: Option<f64>,
    /// Formulation of the dynamics.
    #[arg(long, value_enum, conflicts_with = "resume")]
    formulation: Option<FormulationName>,
    /// Method for contact problems.
    #[arg(long, value_enum, value_name = "METHOD", conflicts_with = "resume")]
    solver: Option<MethodName>,
    /// Tolerance of contact problems on their relative residual.
    #[arg(long, value_name = "R", value_parser = positive, allow_negative_numbers = true, conflicts_with = "resume")]
    tolerance: Option<f64>,
    /// Law of restitution.
    #[arg(long, value_enum, value_name = "LAW", conflicts_with = "resume")]
    restitution: Option<RestitutionName>,
    /// What to do when a contact problem is not solved.
    #[arg(long, value_enum)]
    policy: Option<PolicyName>,
    /// Save contact problems that were not solved, for `signorini solve`; in the folder of the run unless given.
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    save_problem: Option<Option<PathBuf>>,
    /// Threads to use; the result is the same for any number.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    threads: usize,
    /// Write the tables as text, too.
    #[arg(long)]
    csv: bool,
    /// Draw coordinates, speeds and energy (the default).
    #[arg(long, overrides_with = "no_plot")]
    plot: bool,
    /// Draw nothing.
    #[arg(long, overrides_with = "plot")]
    no_plot: bool,
    /// Make no page.
    #[arg(long)]
    no_report: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    quiet: bool,
    /// Replace the run that the folder holds.
    #[arg(long, conflicts_with = "resume")]
    force: bool,
    /// Go on with the run in this folder, to the same result as if it had never been interrupted.
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
}

/// Names of the integration methods.
#[derive(Clone, Copy, ValueEnum)]
enum IntegratorName {
    Auto,
    Adaptive,
    Rk4,
    Euler,
    StewartTrinkle,
    Moreau,
}

impl From<IntegratorName> for Integrator {
    fn from(name: IntegratorName) -> Self {
        match name {
            IntegratorName::Auto => Self::Auto,
            IntegratorName::Adaptive => Self::Adaptive,
            IntegratorName::Rk4 => Self::Rk4,
            IntegratorName::Euler => Self::Euler,
            IntegratorName::StewartTrinkle => Self::StewartTrinkle,
            IntegratorName::Moreau => Self::Moreau,
        }
    }
}

/// Names of the methods for contact problems.
#[derive(Clone, Copy, ValueEnum)]
enum MethodName {
    Auto,
    Lemke,
    GaussSeidel,
    Newton,
    Admm,
    Enumerate,
}

impl From<MethodName> for ContactMethod {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::Auto => Self::Auto,
            MethodName::Lemke => Self::Lemke,
            MethodName::GaussSeidel => Self::GaussSeidel,
            MethodName::Newton => Self::Newton,
            MethodName::Admm => Self::Admm,
            MethodName::Enumerate => Self::Enumerate,
        }
    }
}

/// Names of the policies.
#[derive(Clone, Copy, ValueEnum)]
enum PolicyName {
    Stop,
    Warn,
    Accept,
}

impl From<PolicyName> for Policy {
    fn from(name: PolicyName) -> Self {
        match name {
            PolicyName::Stop => Self::Stop,
            PolicyName::Warn => Self::Warn,
            PolicyName::Accept => Self::Accept,
        }
    }
}

/// Names of the laws of restitution.
#[derive(Clone, Copy, ValueEnum)]
enum RestitutionName {
    Newton,
    Poisson,
    Energetic,
}

impl From<RestitutionName> for Restitution {
    fn from(name: RestitutionName) -> Self {
        match name {
            RestitutionName::Newton => Self::Newton,
            RestitutionName::Poisson => Self::Poisson,
            RestitutionName::Energetic => Self::Energetic,
        }
    }
}

/// Names of the formulations.
#[derive(Clone, Copy, ValueEnum)]
enum FormulationName {
    Recursive,
    Dca,
    Dense,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("allowed: a finite number greater than zero".to_owned()),
    }
}

/// A run about to start.
struct Task {
    folder: PathBuf,
    loaded: Loaded,
    kept: KeptScene,
    identity: Identity,
    checkpoint: Option<Checkpoint>,
}

impl Run {
    /// Simulates and records.
    pub fn execute(self) -> Result<(), Failure> {
        let task = match (&self.resume, &self.scene) {
            (Some(folder), _) => self.continued(folder)?,
            (None, Some(wanted)) => self.fresh(wanted)?,
            (None, None) => return Err(Failure::input("a scene, or --resume with a folder, is needed", None)),
        };
        self.simulate(task)
    }

    /// A new run, by the scene and the options that override it.
    fn fresh(&self, wanted: &str) -> Result<Task, Failure> {
        let mut loaded = source::load(wanted)?;
        let time = &mut loaded.scene.time;
        time.end = self.until.unwrap_or(time.end);
        time.step = self.step.or(time.step);
        if let Some(name) = self.integrator {
            time.integrator = name.into();
            // The scene's tolerance was meant for the scene's method.
            if !time.integrator.has_tolerance() {
                time.rtol = None;
            }
        }
        time.rtol = self.rtol.or(time.rtol);
        if let Some(name) = self.formulation {
            loaded.scene.solver.formulation = match name {
                FormulationName::Recursive => Formulation::Recursive,
                FormulationName::Dca => Formulation::Dca,
                FormulationName::Dense => Formulation::Dense,
            };
        }
        let solver = &mut loaded.scene.solver;
        solver.method = self.solver.map_or(solver.method, ContactMethod::from);
        solver.tolerance = self.tolerance.or(solver.tolerance);
        solver.restitution = self.restitution.map_or(solver.restitution, Restitution::from);
        solver.policy = self.policy.map_or(solver.policy, Policy::from);
        let findings = validate(&loaded.scene);
        if !findings.is_empty() {
            return Err(Failure::findings(&loaded.source, findings));
        }
        let kept = KeptScene::gather(&loaded.scene, &loaded.source, &loaded.base)?;
        let identity = identify(&loaded, &kept, self.csv);
        let folder = self.out.clone().unwrap_or_else(|| Path::new("out").join(&loaded.name));
        Ok(Task { folder, loaded, kept, identity, checkpoint: None })
    }

    /// A run that was interrupted, by what its folder holds.
    fn continued(&self, folder: &Path) -> Result<Task, Failure> {
        let checkpoint = Checkpoint::read(folder)?;
        let before = &checkpoint.identity;
        let mut loaded = source::load(&folder.join(SCENE).to_string_lossy())?;
        loaded.name = before.scene.clone();
        let time = &mut loaded.scene.time;
        time.end = self.until.unwrap_or(before.end);
        (time.step, time.integrator) = (before.step, before.integrator);
        time.rtol = before.integrator.has_tolerance().then_some(before.rtol);
        loaded.scene.solver = Solver {
            formulation: before.formulation,
            method: before.method,
            tolerance: Some(before.tolerance),
            restitution: before.restitution,
            policy: self.policy.map_or(before.policy, Policy::from),
        };
        let kept = KeptScene::gather(&loaded.scene, &loaded.source, &loaded.base)?;
        let identity = identify(&loaded, &kept, self.csv || before.csv);
        before.check_same(&identity, folder)?;
        Ok(Task { folder: folder.to_path_buf(), loaded, kept, identity, checkpoint: Some(checkpoint) })
    }

    /// Where problems that are not solved are saved, if they are.
    fn problem_folder(&self, folder: &Path) -> Option<PathBuf> {
        self.save_problem.as_ref().map(|given| given.clone().unwrap_or_else(|| folder.join("problems")))
    }

    fn simulate(&self, task: Task) -> Result<(), Failure> {
        // This thread is one of them. Where the pool is there already, a caller made it and it stays.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(self.threads).use_current_thread().build_global();
        let Task { folder, loaded, kept, identity, checkpoint } = task;
        let (scene, source) = (&loaded.scene, &loaded.source);
        let state = checkpoint.as_ref().map(|checkpoint| checkpoint.state.clone());
        let Built { motion, bodies, joints, markers, mut findings, .. } =
            engine::build(scene, state).map_err(|found| Failure::findings(source, found))?;
        let layout =
            Layout::build(&bodies, &joints, &markers, &scene.output).map_err(|error| Failure::record(source, error))?;
        let layout =
            layout.with_couplings(&scene.coupling, &scene.output).map_err(|error| Failure::record(source, error))?;
        findings.extend_from_slice(layout.findings());
        let layout = match scene.output.contacts {
            Some(true) if !motion.may_touch() => {
                findings.push("output.contacts asks for contacts, and nothing can touch".to_owned());
                layout
            }
            Some(false) => layout,
            _ if motion.may_touch() => layout.with_contacts(&bodies),
            _ => layout,
        };
        let (solver, policy) = (motion.solver().map(str::to_owned), identity.policy);
        let schedule = Schedule::new(scene.time.end, &scene.output)?;
        let (name, formulation, end) = (identity.scene.clone(), identity.formulation, identity.end);

        let interrupted = catch_interrupts()?;
        let before = checkpoint.as_ref().map_or(0.0, |checkpoint| checkpoint.wall_seconds);
        let began = Instant::now();
        let wall_seconds = || before + began.elapsed().as_secs_f64();
        let mut run = match &checkpoint {
            Some(checkpoint) => {
                signorini::record::Run::resume(&folder, layout, schedule, identity, motion, checkpoint)?
            }
            None => {
                kept.check_place(&folder)?;
                prepare(&folder, self.force).map_err(suggest_force)?;
                kept.write(&folder)?;
                signorini::record::Run::create(&folder, layout, schedule, identity, motion)?
            }
        };
        let mut progress = Progress::new(self.quiet);
        let (mut flushed, mut saved) = (began, began);
        let mut unsolved = Unsolved::new(self.problem_folder(&folder));
        let ending = run.drive(&folder, |motion, report| {
            let now = Instant::now();
            let state = motion.state();
            if report.is_unsolved {
                if policy == Policy::Warn {
                    progress.clear();
                }
                unsolved.note(motion, report, policy);
            }
            progress.show(now, state.time, end, state.steps);
            if interrupted.load(Ordering::Relaxed) {
                Wish::Stop
            } else if now.duration_since(saved) >= CHECKPOINT {
                (saved, flushed) = (now, now);
                Wish::Checkpoint { wall_seconds: wall_seconds() }
            } else if now.duration_since(flushed) >= FLUSH {
                flushed = now;
                Wish::Flush
            } else {
                Wish::Continue
            }
        });
        progress.clear();
        let keep = |error: RecordError| kept_so_far(&folder, error);
        let ending = ending.map_err(keep)?;
        if let Ending::Failed(StepError::Unsolved { .. }) = &ending {
            // The step was not taken.
            unsolved.save(run.motion(), run.state().steps + 1);
        }
        let time = run.state().time;
        match &ending {
            Ending::Completed => {}
            Ending::Stopped => findings.push(format!("interrupted at t = {time}")),
            Ending::Failed(error) => findings.push(format!("stopped: {error}")),
        }
        let statistics = run.finish(&folder, wall_seconds()).map_err(keep)?;
        findings.extend(statistics.findings());
        let status = if matches!(ending, Ending::Completed) { Status::Completed } else { Status::Stopped };
        let (sim_seconds, wall_seconds, threads) = (time, wall_seconds(), self.threads);
        let about = About { status, scene: name, formulation, solver, threads, sim_seconds, wall_seconds, findings };
        let summary = Summary::new(about, &statistics);
        summary.write(&folder).map_err(keep)?;
        if !self.no_plot {
            write_plot(&folder).map_err(keep)?;
        }
        if !self.no_report {
            report::write(&folder, &folder.join(REPORT), Some(&report::command_line()))?;
        }
        if !self.quiet {
            print(&summary, &folder);
        }
        match ending {
            Ending::Completed => unsolved.result(),
            Ending::Stopped => Err(Failure::Interrupted),
            Ending::Failed(error @ StepError::Unsolved { .. }) => {
                Err(Failure::Unsolved(format!("{error}\n{}", unsolved.advice(&folder))))
            }
            Ending::Failed(error) => Err(Failure::Unsolved(error.to_string())),
        }
    }
}

fn identify(loaded: &Loaded, kept: &KeptScene, csv: bool) -> Identity {
    let (time, solver) = (&loaded.scene.time, &loaded.scene.solver);
    Identity {
        engine: VERSION.to_owned(),
        scene: loaded.name.clone(),
        scene_hash: compute_hash(kept.text.as_bytes()),
        file_hashes: kept.file_hashes(),
        end: time.end,
        formulation: solver.formulation,
        integrator: time.integrator,
        step: time.step,
        rtol: time.rtol.unwrap_or(engine::DEFAULT_RTOL),
        method: solver.method,
        tolerance: solver.tolerance.unwrap_or(engine::DEFAULT_TOLERANCE),
        restitution: solver.restitution,
        policy: solver.policy,
        csv,
    }
}

fn suggest_force(error: RecordError) -> Failure {
    match error {
        RecordError::Occupied { .. } => {
            let help = "--force replaces it, --resume DIR goes on with it, --out DIR writes elsewhere";
            Failure::input(error.to_string(), Some(help.to_owned()))
        }
        other => other.into(),
    }
}

/// What the user should know when a recording breaks off.
fn kept_so_far(folder: &Path, error: RecordError) -> Failure {
    match Failure::from(error) {
        Failure::Io(message) => Failure::Io(format!(
            "{message}\nwhat was recorded before is kept; `signorini run --resume {}` goes on with it",
            folder.display()
        )),
        other => other,
    }
}

fn print(summary: &Summary, folder: &Path) {
    let status = if summary.status == Status::Completed { "completed" } else { "stopped" };
    println!(
        "{}: {status} at t = {}, {} steps in {:.3} s",
        summary.scene, summary.sim_seconds, summary.steps, summary.wall_seconds
    );
    println!("  energy drift  {:.1e}", summary.energy.max_drift);
    let drift = summary.loop_drift;
    if drift.position > 0.0 || drift.velocity > 0.0 {
        println!("  loop drift    {:.1e} (position), {:.1e} (velocity)", drift.position, drift.velocity);
    }
    println!("  residual      {:.1e}", summary.residual.rel);
    if summary.contacts.max > 0 {
        println!("  contacts      {} at most, {:.1} per step", summary.contacts.max, summary.contacts.mean);
        println!("  penetration   {:.1e}", summary.penetration);
    }
    if summary.events > 0 {
        println!("  events        {}", summary.events);
    }
    for finding in &summary.findings {
        println!("  note          {finding}");
    }
    println!("  written to    {}", folder.display());
}
