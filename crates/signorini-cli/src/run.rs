//! `signorini run`: simulate a scene and record it.

use crate::failure::Failure;
use crate::progress::{Progress, catch_interrupts};
use crate::report;
use crate::source::{self, Loaded};
use crate::unsolved::Unsolved;
use crate::{say, tell};
use clap::{Args, ValueEnum};
use signorini::record::{Ending, REPORT, RecordError, Status, Summary};
use signorini::run::{self, RunError};
use signorini::scene::{ContactMethod, Formulation, Integrator, Policy, Restitution};
use signorini::step::StepError;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

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
    /// Method for contact problems; also with --resume.
    #[arg(long, value_enum, value_name = "METHOD")]
    solver: Option<MethodName>,
    /// Tolerance of contact problems on their relative residual; also with --resume.
    #[arg(long, value_name = "R", value_parser = positive, allow_negative_numbers = true)]
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
    /// Seconds of computing between checkpoints: what a kill may cost.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value_t = run::CHECKPOINT_INTERVAL.as_secs_f64())]
    checkpoint_every: f64,
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

impl From<FormulationName> for Formulation {
    fn from(name: FormulationName) -> Self {
        match name {
            FormulationName::Recursive => Self::Recursive,
            FormulationName::Dca => Self::Dca,
            FormulationName::Dense => Self::Dense,
        }
    }
}

/// A century is longer than any run, and what the clock can add.
const CENTURY: f64 = 3.2e9;

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=CENTURY).contains(&number) => Ok(number),
        _ => Err(format!("allowed: a number of seconds from 0 to {CENTURY:e}")),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("allowed: a finite number greater than zero".to_owned()),
    }
}

impl Run {
    /// Simulates and records.
    pub fn execute(self) -> Result<(), Failure> {
        let run = match (&self.resume, &self.scene) {
            (Some(folder), _) => run::Run::from_folder(folder)?,
            (None, Some(wanted)) => self.fresh(wanted)?,
            (None, None) => return Err(Failure::input("a scene, or --resume with a folder, is needed", None)),
        };
        self.perform(self.settle(run))
    }

    /// A new run of the scene that the user means.
    fn fresh(&self, wanted: &str) -> Result<run::Run<'static>, Failure> {
        let Loaded { name, scene, source, base } = source::load(wanted)?;
        let folder = self.out.clone().unwrap_or_else(|| Path::new("out").join(&name));
        let run = run::Run::from_source(scene, source, &base).named(&name).into_folder(folder);
        Ok(run.replace(self.force).with_csv(self.csv))
    }

    /// With the options that override what the scene, or the run that goes on, says.
    fn settle(&self, mut run: run::Run<'static>) -> run::Run<'static> {
        let time = run.time_mut();
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
        let solver = run.solver_mut();
        solver.formulation = self.formulation.map_or(solver.formulation, Formulation::from);
        solver.method = self.solver.map_or(solver.method, ContactMethod::from);
        solver.tolerance = self.tolerance.or(solver.tolerance);
        solver.restitution = self.restitution.map_or(solver.restitution, Restitution::from);
        solver.policy = self.policy.map_or(solver.policy, Policy::from);
        if self.csv {
            run = run.with_csv(true);
        }
        run = run.checkpoint_every(Duration::from_secs_f64(self.checkpoint_every));
        run.with_plot(!self.no_plot).threads(self.threads).command(std::env::args())
    }

    /// Where problems that are not solved are saved, if they are.
    fn problem_folder(&self, folder: &Path) -> Option<PathBuf> {
        self.save_problem.as_ref().map(|given| given.clone().unwrap_or_else(|| folder.join("problems")))
    }

    fn perform(&self, mut run: run::Run<'static>) -> Result<(), Failure> {
        // This thread is one of them. Where the pool is there already, a caller made it and it stays.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(self.threads).use_current_thread().build_global();
        let interrupted = catch_interrupts()?;
        let policy = run.solver_mut().policy;
        let progress = RefCell::new(Progress::new(self.quiet));
        let unsolved = RefCell::new(Unsolved::new(self.problem_folder(run.folder())));
        let outcome = run
            .progress(|now| {
                let mut progress = progress.borrow_mut();
                if now.report.is_unsolved {
                    if policy == Policy::Warn {
                        progress.clear();
                    }
                    unsolved.borrow_mut().note(now.simulation, now.report, policy);
                }
                progress.show(now);
                if interrupted.load(Ordering::Relaxed) { run::Next::Stop } else { run::Next::GoOn }
            })
            .finish();
        progress.borrow().clear();
        let outcome = outcome.map_err(suggest_force)?;
        let mut unsolved = unsolved.into_inner();
        if let Ending::Failed(StepError::Unsolved { .. }) = &outcome.ending {
            // The step was not taken.
            unsolved.save(&outcome.simulation, outcome.simulation.state().steps + 1);
        }
        for note in &outcome.notes {
            tell!("note: {note}");
        }
        if !self.no_report {
            report::write(&outcome.folder, &outcome.folder.join(REPORT), Some(&report::command_line()))?;
        }
        if !self.quiet {
            print(&outcome.summary, &outcome.folder);
        }
        match outcome.ending {
            Ending::Completed => unsolved.result(),
            Ending::Stopped => Err(Failure::Interrupted),
            Ending::Failed(error @ StepError::Unsolved { .. }) => {
                Err(Failure::Unsolved(format!("{error}\n{}", unsolved.advice(&outcome.folder))))
            }
            Ending::Failed(error) => Err(Failure::Unsolved(error.to_string())),
        }
    }
}

fn suggest_force(error: RunError) -> Failure {
    match error {
        RunError::Record(RecordError::Occupied { .. }) => {
            let help = "--force replaces it, --resume DIR goes on with it, --out DIR writes elsewhere";
            Failure::input(error.to_string(), Some(help.to_owned()))
        }
        other => other.into(),
    }
}

fn print(summary: &Summary, folder: &Path) {
    let status = if summary.status == Status::Completed { "completed" } else { "stopped" };
    say!(
        "{}: {status} at t = {}, {} steps in {:.3} s",
        summary.scene,
        summary.sim_seconds,
        summary.steps,
        summary.wall_seconds
    );
    say!("  energy drift  {:.1e}", summary.energy.max_drift);
    let drift = summary.loop_drift;
    if drift.position > 0.0 || drift.velocity > 0.0 {
        say!("  loop drift    {:.1e} (position), {:.1e} (velocity)", drift.position, drift.velocity);
    }
    say!("  residual      {:.1e}", summary.residual.rel);
    if summary.contacts.max > 0 {
        say!("  contacts      {} at most, {:.1} per step", summary.contacts.max, summary.contacts.mean);
        say!("  penetration   {:.1e}", summary.penetration);
    }
    if summary.events > 0 {
        say!("  events        {}", summary.events);
    }
    for finding in &summary.findings {
        say!("  note          {finding}");
    }
    say!("  written to    {}", folder.display());
}
