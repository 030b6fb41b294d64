//! A recording as one page to look at: poses, contacts, series and certificate, packed small, and the page that carries them.
//!
//! ```text
//! recording + scene → poses, contacts, series, certificate → sections (pack) → page
//! ```
//!
//! The page works from the disk, without a network. What draws is the viewer, which is handed in as a template: this room knows no browser.
//! It reads recordings and scenes only.

mod cast;
mod certificate;
mod choose;
mod columns;
mod contacts;
mod figure;
mod frames;
mod gltf;
mod kinematics;
mod momentum;
mod pack;
mod page;
mod picture;
mod series;
mod solid;
mod start;
mod steps;
mod thin;

pub use certificate::{Certificate, Line, Verdict};
pub use figure::{Figure, FigureError};
pub use gltf::gltf;
pub use pack::{LAYOUT, MAGIC};
pub use page::{Source, page};
pub use start::{Misfit, MisfitKind};

use crate::impulse::EventReport;
use crate::model::{Model, ModelError};
use crate::record::{Checkpoint, PLOT, RecordError, Recording, SCENE, SUMMARY, Summary, Table, VERSION};
use crate::scene::read::read_with_source;
use crate::scene::{Scene, SceneError, SceneSource};
use cast::Cast;
use certificate::Evidence;
use choose::{Panel, choose};
use contacts::Contacts;
use frames::Frames;
use kinematics::Columns;
use pack::{Section, Sections};
use serde::Serialize;
use series::Catalogue;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use steps::Steps;
use thiserror::Error;

/// Instants that can be drawn; of more, evenly chosen ones.
const MAX_FRAMES: usize = 5000;
/// Poses kept in all.
const MAX_POSES: usize = 4_000_000;

/// Why there is no report.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The recording cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The scene beside it cannot be read.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The scene cannot be compiled.
    #[error("the scene of the recording cannot be built: {0}")]
    Model(#[from] ModelError),
}

/// A report: what a page carries.
#[derive(Debug)]
pub struct Report {
    /// The title of the page.
    pub title: String,
    /// The packed numbers.
    pub pack: Vec<u8>,
    /// What is said in words.
    pub certificate: Certificate,
    /// The plot sheet beside the recording, for pages without a viewer.
    pub sheet: Option<String>,
}

/// What the page is told in words; see `viewer/src/pack/header.ts`, which reads it.
#[derive(Serialize)]
struct Header<'a> {
    title: &'a str,
    name: &'a str,
    version: &'a str,
    /// Whether the run has come to an end.
    is_finished: bool,
    /// Whether lines between recorded instants are smooth.
    is_smooth: bool,
    cast: Cast,
    frames: FramesHeader,
    #[serde(flatten)]
    catalogue: Catalogue,
    panels: Vec<Panel>,
    contacts: Option<Contacts>,
    events: Vec<Happening>,
    certificate: &'a Certificate,
    verdict: Verdict,
    scene_text: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    misfits: Vec<Misfit>,
    sections: Vec<Section>,
}

/// What a page needs to know of the frames.
#[derive(Debug, Serialize)]
struct FramesHeader {
    count: usize,
    /// Instants that were recorded.
    recorded: usize,
    /// How coarse positions are.
    resolution: f64,
    /// Bodies that cannot be drawn, because neither they nor joints that lead to them were recorded.
    unseen: usize,
}

/// An event, as far as the picture shows it.
#[derive(Debug, Serialize)]
struct Happening {
    time: f64,
    name: String,
    kind: String,
    target: Vec<String>,
}

impl From<&EventReport> for Happening {
    fn from(event: &EventReport) -> Self {
        let (name, kind, target) = (event.name.clone(), event.kind.clone(), event.target.clone());
        Self { time: event.time, name, kind, target }
    }
}

impl Report {
    /// Reads the recording in a folder. `command` is the line that made it, where that is known.
    pub fn read(folder: &Path, command: Option<&str>) -> Result<Self, ReportError> {
        let recording = Recording::open(folder)?;
        let (scene, source) = read_with_source(folder.join(SCENE))?;
        let model = Model::build(&scene)?;
        let summary = recording.summary()?;
        let identity = Checkpoint::read(folder).ok().map(|checkpoint| checkpoint.identity);
        let events = recording.events()?;
        let times = recording.column(Table::Trajectory, "t")?;
        let steps = Steps::read(&recording, summary.as_ref().map(|s| s.energy.initial), &times)?;
        let evidence = Evidence {
            summary: summary.as_ref(),
            identity: identity.as_ref(),
            steps: &steps,
            events: &events,
            model: &model,
            motion_error: read_motion_error(folder),
            command,
        };
        let certificate = Certificate::new(&evidence);
        let name = summary.as_ref().map(|s| s.scene.clone()).or_else(|| identity.map(|i| i.scene));
        let name = name.unwrap_or_else(|| folder.file_name().unwrap_or_default().to_string_lossy().into_owned());
        let title = scene.title.clone().unwrap_or_else(|| name.clone());
        let told = Told { title: &title, name: &name, summary: summary.as_ref(), events: &events, source: &source };
        let pack = pack_recording(&recording, (&scene, &model), times, &steps, &told, &certificate)?;
        let sheet = fs::read_to_string(folder.join(PLOT)).ok();
        Ok(Self { title, pack, certificate, sheet })
    }
}

/// What is said in words.
struct Told<'a> {
    title: &'a str,
    name: &'a str,
    summary: Option<&'a Summary>,
    events: &'a [EventReport],
    source: &'a Arc<SceneSource>,
}

fn pack_recording(
    recording: &Recording,
    (scene, model): (&Scene, &Model),
    times: Vec<f64>,
    steps: &Steps,
    told: &Told,
    certificate: &Certificate,
) -> Result<Vec<u8>, ReportError> {
    let failed = |source| RecordError::Io { action: "pack", path: recording.folder().to_path_buf(), source };
    let mut sections = Sections::default();
    let rows = choose_rows(times.len(), model.bodies().len());
    let frame_times: Vec<f64> = rows.iter().map(|&row| times[row]).collect();
    sections.add_doubles("frames.times", &frame_times).map_err(failed)?;
    let (frames, unseen) = pack_frames(recording, model, &rows, &mut sections)?;

    let recorded = times.len();
    let duration = times.last().copied().unwrap_or(0.0) - times.first().copied().unwrap_or(0.0);
    let mut series = steps.series(times);
    let contacts = contacts::read(recording, model, &frame_times, steps, &mut sections, &mut series)?;
    momentum::push(recording, model, &mut series)?;
    columns::push_trajectory(recording, model, &mut series)?;
    let panels = choose(&series.list, model, duration);
    let catalogue = series.write(&mut sections).map_err(failed)?;

    let cast = Cast::new(model, &mut sections).map_err(failed)?;
    let (title, name) = (told.title, told.name);
    let pushes = scene.time.integrator.steps_contact() || told.summary.is_none_or(|summary| summary.solver.is_some());
    let is_smooth = !pushes && !catalogue.is_thinned[0];
    let frames = FramesHeader { count: rows.len(), recorded, resolution: frames.resolution, unseen };
    let events = told.events.iter().map(Happening::from).collect();
    let scene_text = told.source.text.as_str();
    let (is_finished, verdict) = (told.summary.is_some(), certificate.verdict());
    let header = |sections| Header {
        title,
        name,
        version: VERSION,
        is_finished,
        is_smooth,
        cast,
        frames,
        catalogue,
        panels,
        contacts,
        events,
        certificate,
        verdict,
        scene_text,
        misfits: Vec::new(),
        sections,
    };
    Ok(sections.finish(header).map_err(failed)?)
}

/// Poses of all bodies at the chosen rows. Returns how many bodies are never seen, too.
fn pack_frames(
    recording: &Recording,
    model: &Model,
    rows: &[usize],
    sections: &mut Sections,
) -> Result<(Frames, usize), RecordError> {
    let wanted = kinematics::wanted_columns(recording, model);
    let columns = Columns::read(recording, &wanted, rows)?;
    let poses = kinematics::find_poses(model, &columns, rows.len());
    drop(columns);
    let unseen = poses.iter().filter(|poses| poses.iter().all(Option::is_none)).count();
    let mut frames = Frames::default();
    poses.iter().for_each(|poses| frames.add(poses));
    let failed = |source| RecordError::Io { action: "pack", path: recording.folder().to_path_buf(), source };
    frames.write(sections).map_err(failed)?;
    Ok((frames, unseen))
}

/// Rows that can be drawn: all, or evenly chosen ones, the first and the last among them.
fn choose_rows(n_rows: usize, n_bodies: usize) -> Vec<usize> {
    let most = MAX_FRAMES.min(MAX_POSES / n_bodies.max(1)).max(2);
    if n_rows <= most {
        return (0..n_rows).collect();
    }
    (0..most).map(|i| i * (n_rows - 1) / (most - 1)).collect()
}

/// The estimate of the motion's error, which not every version of the engine writes.
fn read_motion_error(folder: &Path) -> Option<f64> {
    let text = fs::read_to_string(folder.join(SUMMARY)).ok()?;
    let summary: serde_json::Value = serde_json::from_str(&text).ok()?;
    let found = &summary["motion_error"];
    found.as_f64().or_else(|| found["relative"].as_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_drawn_are_spread_evenly() {
        assert_eq!(choose_rows(3, 1), [0, 1, 2]);
        let many = choose_rows(100_001, 10);
        assert_eq!((many.len(), many[0], many[many.len() - 1]), (MAX_FRAMES, 0, 100_000));
        assert!(choose_rows(10_000, 10_000).len() * 10_000 <= MAX_POSES);
    }
}
