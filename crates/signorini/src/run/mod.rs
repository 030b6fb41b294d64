//! A scene and a folder become a recording: what the command calls, and what a program calls in its place.
//!
//! ```
//! use signorini::record::{Recording, Table};
//! use signorini::run::{Next, Run};
//! use signorini::scene::read::read_str;
//!
//! let scene = read_str(
//!     r#"
//!     time = { end = 1.0 }
//!     output = { interval = 0.1 }
//!     body = [{ name = "ball", mass = 1, inertia = [0.1, 0.1, 0.1], velocity = [1, 0, 0] }]
//!     "#,
//!     "flight.toml",
//!     "",
//! )?;
//! # let folder = std::env::temp_dir().join(format!("signorini-run-{}", std::process::id()));
//! let outcome = Run::new(scene).into_folder(&folder).progress(|now| {
//!     if now.wall_seconds < 60.0 { Next::GoOn } else { Next::Stop }
//! }).finish()?;
//! let x = outcome.recording()?.column(Table::Trajectory, "ball.x")?;
//! assert!((x[10] - 1.0).abs() < 1e-12);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A run that was stopped, killed, or is to be prolonged goes on from its folder alone, to the bits of one that was never interrupted:
//! `Run::from_folder("out/flight")?.until(2.0).finish()?`.
//!
//! This is the only room with a clock: it decides when rows reach the disk, and no number of a result depends on it.

mod columns;
mod error;
mod hooks;
mod perform;
mod settings;

pub use error::RunError;
pub use hooks::{Next, Progress};
pub use perform::Outcome;

use crate::record::{Checkpoint, FolderLock, Manifest, RecordError, SCENE, holds_run};
use crate::scene::read::{read_str, read_with_source};
use crate::scene::{Scene, SceneSource, Solver, Time};
use crate::step::{Simulation, StepError};
use hooks::Hooks;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Rows are handed to the operating system at least this often.
const FLUSH: Duration = Duration::from_secs(1);

/// Time between checkpoints unless chosen otherwise.
pub const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(10);

/// What a folder that holds a run is good for.
enum Start {
    /// A new run; one that is there is refused, or replaced.
    New { replace: bool },
    /// Goes on with the run of this scene where the folder holds one, else a new run.
    GoOnIfThere,
    /// Goes on with the run of the folder.
    GoOn,
}

/// A run about to start.
pub struct Run<'a> {
    name: String,
    scene: Scene,
    source: Option<Arc<SceneSource>>,
    base: PathBuf,
    folder: PathBuf,
    start: Start,
    lock: Option<FolderLock>,
    checkpoint_interval: Duration,
    with_csv: bool,
    with_plot: bool,
    threads: usize,
    command: Vec<String>,
    notes: Vec<String>,
    hooks: Hooks<'a>,
}

impl<'a> Run<'a> {
    /// Of a scene that was built or read. It is called `scene` and written to `out/scene` unless said otherwise.
    pub fn new(scene: Scene) -> Self {
        Self {
            name: "scene".to_owned(),
            scene,
            source: None,
            base: PathBuf::new(),
            folder: Path::new("out").join("scene"),
            start: Start::New { replace: false },
            lock: None,
            checkpoint_interval: CHECKPOINT_INTERVAL,
            with_csv: false,
            with_plot: cfg!(feature = "plot"),
            threads: 1,
            command: Vec::new(),
            notes: Vec::new(),
            hooks: Hooks::default(),
        }
    }

    /// Of a scene that was read, with its text: errors show their place in it, and it is kept word for word. Geometry files are looked for
    /// from `base`.
    pub fn from_source(scene: Scene, source: Arc<SceneSource>, base: &Path) -> Self {
        Self { source: Some(source), base: base.to_path_buf(), ..Self::new(scene) }
    }

    /// Of a scene file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RunError> {
        let path = path.as_ref();
        let (scene, source) = read_with_source(path)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let base = path.parent().unwrap_or(Path::new(""));
        Ok(Self::from_source(scene, source, base).named(&stem).into_folder(Path::new("out").join(&stem)))
    }

    /// Goes on with the run in a folder, by the settings it had. Those that may change are [`Run::until`] and, in [`Run::solver_mut`],
    /// the method for contact problems, its tolerance and the policy. A run that was killed before its first checkpoint begins anew.
    pub fn from_folder(folder: impl AsRef<Path>) -> Result<Self, RunError> {
        let folder = folder.as_ref();
        if !holds_run(folder) {
            let reason = "there is none in it".to_owned();
            return Err(RecordError::NothingToResume { folder: folder.to_path_buf(), reason }.into());
        }
        let lock = FolderLock::take(folder)?;
        let (identity, has_checkpoint) = match Checkpoint::read_if_there(folder)? {
            Some(checkpoint) => (checkpoint.identity, true),
            None => (Manifest::of_begun(folder)?.identity, false),
        };
        let (mut scene, source) = read_with_source(folder.join(SCENE))?;
        identity.apply_to(&mut scene);
        let mut run = Self::from_source(scene, source, folder).named(&identity.scene).into_folder(folder);
        run.with_csv = identity.csv;
        run.lock = Some(lock);
        run.start = Start::GoOn;
        if !has_checkpoint {
            run.begin_anew();
        }
        Ok(run)
    }

    /// Its name in summaries.
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }

    /// The folder that it writes.
    pub fn into_folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = folder.as_ref().to_path_buf();
        self
    }

    /// The end of time, instead of the scene's.
    pub fn until(mut self, end: f64) -> Self {
        self.scene.time.end = end;
        self
    }

    /// Goes on with the run that the folder holds, if it holds one; it must be of the same scene.
    pub fn resume(mut self, is_wanted: bool) -> Self {
        self.start = if is_wanted { Start::GoOnIfThere } else { Start::New { replace: false } };
        self
    }

    /// Replaces the run that the folder holds, if it holds one.
    pub fn replace(mut self, is_wanted: bool) -> Self {
        self.start = Start::New { replace: is_wanted };
        self
    }

    /// Writes the tables as text, too.
    pub fn with_csv(mut self, is_wanted: bool) -> Self {
        self.with_csv = is_wanted;
        self
    }

    /// Draws coordinates, speeds and energy at the end. It needs the feature `plot`.
    pub fn with_plot(mut self, is_wanted: bool) -> Self {
        self.with_plot = is_wanted;
        self
    }

    /// Number of threads that the summary names. The caller makes the pool; the result is the same for any number.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// What started the run, for the manifest.
    pub fn command(mut self, words: impl IntoIterator<Item = String>) -> Self {
        self.command = words.into_iter().collect();
        self
    }

    /// Time between checkpoints: what a kill may cost at most.
    pub fn checkpoint_every(mut self, interval: Duration) -> Self {
        self.checkpoint_interval = interval;
        self
    }

    /// Asked after every step; says whether to go on.
    pub fn progress(mut self, ask: impl FnMut(&Progress<'_>) -> Next + 'a) -> Self {
        self.hooks.progress = Some(Box::new(ask));
        self
    }

    /// Done once before the first step, also where a run goes on: the place to add loads of one's own.
    pub fn prepare(mut self, act: impl FnOnce(&mut Simulation) -> Result<(), StepError> + 'a) -> Self {
        self.hooks.prepare = Some(Box::new(act));
        self
    }

    /// Done before every step: the place of a controller. A run goes on to the same bits if this depends on the simulation alone.
    pub fn control(mut self, act: impl FnMut(&mut Simulation) -> Result<(), StepError> + 'a) -> Self {
        self.hooks.control = Some(Box::new(act));
        self
    }

    /// Integration, to be changed before the run.
    pub fn time_mut(&mut self) -> &mut Time {
        &mut self.scene.time
    }

    /// Formulation and contact solver, to be changed before the run.
    pub fn solver_mut(&mut self) -> &mut Solver {
        &mut self.scene.solver
    }

    /// The scene, as it will be run.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The folder that it will write.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The scene's text. One that was built in Rust is written down, and read again so that what is kept is what is run.
    fn written(&mut self) -> Result<Arc<SceneSource>, RunError> {
        if let Some(source) = &self.source {
            return Ok(Arc::clone(source));
        }
        let text = toml::to_string(&self.scene).map_err(|error| RunError::Unwritable(error.to_string()))?;
        self.scene = read_str(&text, &self.name, &self.base)?;
        let source = Arc::new(SceneSource { file: self.name.clone(), text });
        self.source = Some(Arc::clone(&source));
        Ok(source)
    }

    /// Nothing of the run that was killed can be gone on with.
    fn begin_anew(&mut self) {
        self.notes.push("it was killed before its first checkpoint, and begins anew".to_owned());
        self.start = Start::New { replace: true };
    }
}
