//! Figures for papers: chosen columns of a recording over time, one panel for each choice, as SVG or PNG.

use super::ReportError;
use super::columns::quantity_of;
use super::picture::{Canvas, Font};
use super::thin::Thinning;
use crate::model::Model;
use crate::record::{RecordError, Recording, SCENE, Table};
use crate::scene::pattern::matches;
use crate::scene::read::read_with_source;
use crate::scene::suggest::closest;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Lines that can be told apart.
const MAX_LINES: usize = 12;
/// Marks of events that can be told apart.
const MAX_MARKS: usize = 60;
/// Dots of a drawing per dot of the figure: the drawing library rounds to whole ones.
const FINE_SVG: u32 = 8;
const FINE_PNG: u32 = 4;
/// Dots of a PNG per dot of the figure: what is left over smooths its edges.
const SHARP: u32 = 2;

/// Colours that stay apart for every kind of colour vision [Okabe and Ito], then greys.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(40, 40, 40),
    RGBColor(140, 140, 140),
];

/// What is to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// One panel each: a name or pattern of columns, or `energy`.
    pub panels: Vec<String>,
    /// First and last time; those of the recording where not given.
    pub from: Option<f64>,
    /// See `from`.
    pub to: Option<f64>,
    /// Width, and height of a panel.
    pub size: (u32, u32),
    /// Whether the axes of values are logarithmic.
    pub is_log: bool,
}

/// Why there is no figure.
#[derive(Debug, Error)]
pub enum FigureError {
    /// The recording cannot be read.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A choice fits nothing.
    #[error("`{pattern}` fits none of the {count} columns{}", suggestion.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?")))]
    NoMatch {
        /// What was asked for.
        pattern: String,
        /// What it was compared with.
        count: usize,
        /// The name that looks most like it.
        suggestion: Option<String>,
    },
    /// A choice fits more than can be told apart.
    #[error("`{pattern}` fits {count} columns, a panel shows at most {MAX_LINES}")]
    TooMany {
        /// What was asked for.
        pattern: String,
        /// How many it fits.
        count: usize,
    },
    /// Between the times that were asked for nothing was recorded.
    #[error("nothing was recorded from t = {from} to t = {to}")]
    Empty {
        /// First time.
        from: f64,
        /// Last time.
        to: f64,
    },
    /// The figure is smaller or larger than can be drawn.
    #[error("the figure would be {width} by {height} dots; allowed: 200 to 8000")]
    Size {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// No letters.
    #[error("a PNG needs a font, and there is none: {0}")]
    Font(String),
    /// The drawing library refused.
    #[error("cannot draw: {0}")]
    Draw(String),
}

impl From<RecordError> for FigureError {
    fn from(error: RecordError) -> Self {
        Self::Report(error.into())
    }
}

/// One panel: a title for its axis, and its lines.
struct Panel {
    axis: String,
    lines: Vec<(String, Vec<(f64, f64)>)>,
}

impl Figure {
    /// As SVG.
    pub fn svg(&self, folder: &Path) -> Result<String, FigureError> {
        let (width, height) = self.check_size()?;
        let (panels, marks) = self.read(folder)?;
        let mut svg = String::new();
        let root = SVGBackend::with_string(&mut svg, (FINE_SVG * width, FINE_SVG * height)).into_drawing_area();
        self.draw(&root, &panels, &marks, FINE_SVG).map_err(FigureError::Draw)?;
        drop(root);
        // The size on the screen; the coordinates inside stay fine.
        let drawn = format!("width=\"{}\" height=\"{}\"", FINE_SVG * width, FINE_SVG * height);
        Ok(svg.replacen(&drawn, &format!("width=\"{width}\" height=\"{height}\""), 1))
    }

    /// As PNG, two dots for each of the size. `font` is a TrueType file; one of the system's unless given.
    pub fn png(&self, folder: &Path, font: Option<PathBuf>) -> Result<Vec<u8>, FigureError> {
        let (width, height) = self.check_size()?;
        let font = Font::find(font).map_err(FigureError::Font)?;
        let (panels, marks) = self.read(folder)?;
        let mut canvas = Canvas::new((FINE_PNG * width, FINE_PNG * height), font);
        let root = (&mut canvas).into_drawing_area();
        self.draw(&root, &panels, &marks, FINE_PNG).map_err(FigureError::Draw)?;
        drop(root);
        canvas.png(FINE_PNG / SHARP).map_err(|error| FigureError::Draw(error.to_string()))
    }

    fn check_size(&self) -> Result<(u32, u32), FigureError> {
        let (width, panel) = self.size;
        let height = panel.saturating_mul(self.panels.len().max(1) as u32);
        let is_fine = |x: u32| (200..=8000).contains(&x);
        if is_fine(width) && is_fine(height) { Ok((width, height)) } else { Err(FigureError::Size { width, height }) }
    }

    /// Panels, and times of events.
    fn read(&self, folder: &Path) -> Result<(Vec<Panel>, Vec<f64>), FigureError> {
        let recording = Recording::open(folder)?;
        let (scene, _) = read_with_source(folder.join(SCENE)).map_err(ReportError::from)?;
        let model = Model::build(&scene).map_err(ReportError::from)?;
        let panels = self.panels.iter().map(|pattern| self.panel(&recording, &model, pattern));
        let panels = panels.collect::<Result<Vec<Panel>, FigureError>>()?;
        if panels.iter().all(|panel| panel.lines.iter().all(|line| line.1.is_empty())) {
            return Err(FigureError::Empty {
                from: self.from.unwrap_or(f64::NEG_INFINITY),
                to: self.to.unwrap_or(f64::INFINITY),
            });
        }
        let marks: Vec<f64> = recording.events()?.iter().map(|event| event.time).collect();
        Ok((panels, if marks.len() > MAX_MARKS { Vec::new() } else { marks }))
    }

    fn panel(&self, recording: &Recording, model: &Model, pattern: &str) -> Result<Panel, FigureError> {
        if pattern == "energy" {
            let [t, kinetic, potential] =
                ["t", "kinetic", "potential"].map(|name| recording.column(Table::Steps, name));
            let (t, kinetic, potential) = (t?, kinetic?, potential?);
            let start = potential.first().copied().unwrap_or(0.0);
            let change: Vec<f64> = potential.iter().map(|v| v - start).collect();
            let sum: Vec<f64> = kinetic.iter().zip(&change).map(|(a, b)| a + b).collect();
            let named = [("kinetic", kinetic), ("potential (change)", change), ("sum", sum)];
            let lines = named.into_iter().map(|(name, values)| (name.to_owned(), self.line(&t, &values))).collect();
            return Ok(Panel { axis: "energy".to_owned(), lines });
        }
        let mut found: Vec<(Table, String)> = Vec::new();
        for table in [Table::Trajectory, Table::Steps] {
            let names = recording.fields(table).iter().filter(|field| field.name != "t" && field.name != "status");
            found.extend(names.filter(|field| matches(pattern, &field.name)).map(|field| (table, field.name.clone())));
        }
        let all = || [Table::Trajectory, Table::Steps].into_iter().flat_map(|table| recording.fields(table));
        match found.len() {
            0 => {
                let names = all().map(|field| field.name.as_str()).take(10_000);
                let suggestion = closest(pattern, names).map(str::to_owned);
                return Err(FigureError::NoMatch { pattern: pattern.to_owned(), count: all().count(), suggestion });
            }
            1..=MAX_LINES => {}
            count => return Err(FigureError::TooMany { pattern: pattern.to_owned(), count }),
        }
        let mut lines = Vec::new();
        for (table, name) in &found {
            let mut columns = recording.columns(*table, &["t", name])?.into_iter();
            let (t, values) = (columns.next().unwrap_or_default(), columns.next().unwrap_or_default());
            lines.push((name.clone(), self.line(&t, &values)));
        }
        let axes: Vec<&str> =
            found.iter().map(|(_, name)| quantity_of(name, model).map_or(name.as_str(), |q| q.axis())).collect();
        let is_one = axes.iter().all(|axis| *axis == axes[0]);
        let axis = if is_one { axes[0].to_owned() } else { pattern.to_owned() };
        Ok(Panel { axis, lines })
    }

    /// Points within the times that are asked for, no more than can be seen.
    fn line(&self, times: &[f64], values: &[f64]) -> Vec<(f64, f64)> {
        let (from, to) = (self.from.unwrap_or(f64::NEG_INFINITY), self.to.unwrap_or(f64::INFINITY));
        let inside: Vec<usize> =
            (0..times.len().min(values.len())).filter(|&i| times[i] >= from && times[i] <= to).collect();
        let (t, y): (Vec<f64>, Vec<f64>) = inside.iter().map(|&i| (times[i], values[i])).unzip();
        let thinning = Thinning::of(t.len());
        let (t, y) = (thinning.times(&t), thinning.exact(&y));
        t.into_iter().zip(y).map(|(t, y)| (t, if self.is_log { y.max(LEAST).log10() } else { y })).collect()
    }

    fn draw<B: DrawingBackend>(
        &self,
        root: &DrawingArea<B, Shift>,
        panels: &[Panel],
        marks: &[f64],
        fine: u32,
    ) -> Result<(), String> {
        root.fill(&WHITE).map_err(text)?;
        let times = panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.1).map(|point| point.0);
        let (from, to) = times.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), t| (l.min(t), h.max(t)));
        let to = if to > from { to } else { from + 1.0 };
        for (panel, area) in panels.iter().zip(root.split_evenly((panels.len(), 1))) {
            self.draw_panel(&area, panel, (from, to), marks, fine)?;
        }
        root.present().map_err(text)
    }

    fn draw_panel<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        panel: &Panel,
        (from, to): (f64, f64),
        marks: &[f64],
        fine: u32,
    ) -> Result<(), String> {
        let values = panel.lines.iter().flat_map(|line| &line.1).map(|point| point.1).filter(|y| y.is_finite());
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(y), h.max(y)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let air = if high > low { 0.06 * (high - low) } else { 0.5 * high.abs().max(1e-300) };
        let font = |size: u32| ("sans-serif", fine * size).into_font().color(&RGBColor(40, 40, 40));
        let mut chart = ChartBuilder::on(area)
            .margin(fine * 8)
            .x_label_area_size(fine * 36)
            .y_label_area_size(fine * 66)
            .build_cartesian_2d(from..to, low - air..high + air)
            .map_err(text)?;
        let (span, height) = (to - from, high - low + 2.0 * air);
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(228, 228, 228).stroke_width(fine))
            .axis_style(RGBColor(120, 120, 120).stroke_width(fine))
            .set_all_tick_mark_size(fine * 4)
            .x_labels(8)
            .y_labels(6)
            .x_label_formatter(&|x| tick(*x, span))
            .y_label_formatter(&|y| if self.is_log { format!("1e{y:.0}") } else { tick(*y, height) })
            .label_style(font(12))
            .axis_desc_style(font(13))
            .x_desc("time")
            .y_desc(panel.axis.as_str())
            .draw()
            .map_err(text)?;
        for &mark in marks.iter().filter(|mark| **mark >= from && **mark <= to) {
            let style = RGBColor(160, 160, 160).stroke_width(fine);
            chart.draw_series(LineSeries::new([(mark, low - air), (mark, high + air)], style)).map_err(text)?;
        }
        for (k, (name, points)) in panel.lines.iter().enumerate() {
            let style = COLOURS[k % COLOURS.len()].stroke_width(fine + fine / 2);
            // A missing value interrupts the line; its name stands once.
            for (i, piece) in points.split(|point| !point.1.is_finite()).filter(|piece| !piece.is_empty()).enumerate() {
                let drawn = chart.draw_series(LineSeries::new(piece.iter().copied(), style)).map_err(text)?;
                if i == 0 {
                    let length = 18 * fine as i32;
                    drawn.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + length, y)], style));
                }
            }
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.85))
            .label_font(font(12))
            .legend_area_size(fine * 24)
            .margin(fine * 4)
            .position(SeriesLabelPosition::UpperRight)
            .draw()
            .map_err(text)
    }
}

/// Below this is rounding; a logarithm has no zero.
const LEAST: f64 = 1e-18;

/// A number with as many digits as tell it from its neighbours on an axis so long.
fn tick(x: f64, span: f64) -> String {
    if x.abs() < 1e-9 * span {
        return "0".to_owned();
    }
    let digits = (1.0 - (span / 8.0).log10()).ceil().clamp(0.0, 12.0) as usize;
    if x.abs() >= 1e5 || digits > 5 { format!("{x:.2e}") } else { format!("{x:.digits$}") }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
