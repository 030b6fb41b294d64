//! The drawing itself.

use super::envelope::Envelope;
use super::marks::{LABEL_HEIGHT, Mark, Placed, place_labels};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A chart and the lines in it.
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) lines: Vec<(String, Envelope)>,
    /// Whether values are logarithms to the base ten.
    pub(super) is_log: bool,
}

/// Dots per unit of length: the drawing library rounds to whole dots, and lines of few dots look like stairs.
const FINE: u32 = 8;
const WIDTH: u32 = 1040;
const HEADER: u32 = 44;
const PANEL: u32 = 270;
const CAPTION: u32 = 22;
const LEGEND: u32 = 190;
/// Room for the numbers at the axis, and at the other end of the chart.
const AXIS: u32 = 84;
const MARGIN: u32 = 12;

/// Colours that stay apart for every kind of colour vision, on white paper and on a projector.
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
const INK: RGBColor = RGBColor(40, 40, 40);
const GRID: RGBColor = RGBColor(228, 228, 228);
const MARK: RGBColor = RGBColor(150, 150, 150);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws panels under each other, with marks at times across all of them. The error is a sentence.
pub(super) fn draw(title: &str, panels: &[Panel], marks: &[Mark]) -> Result<String, String> {
    let mut svg = String::new();
    let times = panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| line.1.points()).map(|point| point.0);
    let x = find_range(times, 0.0);
    let width = f64::from(WIDTH - LEGEND - AXIS - MARGIN);
    let (labels, n_rows) = place_labels(marks, width, |t| (t - x.0) / (x.1 - x.0) * width);
    let strip = LABEL_HEIGHT * n_rows as u32;
    let height = HEADER + strip + PANEL * panels.len() as u32;
    {
        let root = SVGBackend::with_string(&mut svg, (fine(WIDTH), fine(height))).into_drawing_area();
        root.fill(&WHITE).map_err(text)?;
        let (header, mut rest) = root.split_vertically(fine(HEADER));
        let style = TextStyle::from(("sans-serif", fine(22))).color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        header.draw_text(title, &style, (dots(20), dots(24))).map_err(text)?;
        for (i, panel) in panels.iter().enumerate() {
            // The first panel has the names of the marks above it.
            let rows = if i == 0 { n_rows } else { 0 };
            let (area, below) = rest.split_vertically(fine(PANEL + LABEL_HEIGHT * rows as u32));
            draw_panel(&area, panel, x, &labels, rows)?;
            rest = below;
        }
        root.present().map_err(text)?;
    }
    // The size on the screen; the coordinates inside stay fine.
    let (drawn, shown) = (size(fine(WIDTH), fine(height)), size(WIDTH, height));
    Ok(svg.replacen(&drawn, &shown, 1))
}

fn size(width: u32, height: u32) -> String {
    format!("width=\"{width}\" height=\"{height}\"")
}

fn fine(length: u32) -> u32 {
    FINE * length
}

fn dots(length: i32) -> i32 {
    FINE as i32 * length
}

fn draw_panel(area: &Area<'_>, panel: &Panel, x: (f64, f64), marks: &[Placed], n_rows: usize) -> Result<(), String> {
    let strip = LABEL_HEIGHT * n_rows as u32;
    let (whole, legend) = area.split_horizontally(fine(WIDTH - LEGEND));
    let (caption, rest) = whole.split_vertically(fine(CAPTION));
    let (names, chart_area) = rest.split_vertically(fine(strip));
    let style = TextStyle::from(("sans-serif", fine(16))).color(&INK).pos(Pos::new(HPos::Center, VPos::Center));
    let middle = (AXIS + WIDTH - LEGEND - MARGIN) / 2;
    caption.draw_text(&panel.title, &style, (dots(middle as i32), dots(CAPTION as i32) / 2)).map_err(text)?;
    let values = panel.lines.iter().flat_map(|line| line.1.points()).map(|point| point.1);
    let y = if panel.is_log { find_decades(values) } else { find_range(values, 0.06) };
    let small = ("sans-serif", fine(13)).into_font().color(&INK);
    let mut chart = ChartBuilder::on(&chart_area)
        .margin_left(fine(12))
        .margin_right(fine(MARGIN))
        .margin_bottom(fine(6))
        .x_label_area_size(fine(38))
        .y_label_area_size(fine(AXIS - 12))
        .build_cartesian_2d(x.0..x.1, y.0..y.1)
        .map_err(text)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID.stroke_width(FINE))
        .axis_style(RGBColor(150, 150, 150).stroke_width(FINE))
        .set_all_tick_mark_size(fine(5))
        .x_labels(10)
        .y_labels(6)
        .x_label_formatter(&|value| format_tick(*value, x.1 - x.0))
        .y_label_formatter(&|value| if panel.is_log { format_power(*value) } else { format_tick(*value, y.1 - y.0) })
        .label_style(small.clone())
        .x_desc("time")
        .axis_desc_style(small.clone())
        .draw()
        .map_err(text)?;
    for mark in marks {
        let ends = [(mark.time, y.0), (mark.time, y.1)];
        chart.draw_series(LineSeries::new(ends, MARK.stroke_width(FINE))).map_err(text)?;
        draw_name(&names, mark, n_rows, chart.backend_coord(&ends[1]).0)?;
    }
    for (i, (_, line)) in panel.lines.iter().enumerate() {
        let style = COLOURS[i % COLOURS.len()].stroke_width(fine(2));
        for piece in line.pieces() {
            chart.draw_series(LineSeries::new(piece, style)).map_err(text)?;
        }
    }
    draw_legend(&legend, panel)
}

/// The name of a mark in the strip above a chart, and its line through the rows below the name.
fn draw_name(strip: &Area<'_>, mark: &Placed, n_rows: usize, x: i32) -> Result<(), String> {
    let Some(label) = mark.label.as_ref().filter(|label| label.row < n_rows) else { return Ok(()) };
    let height = dots(LABEL_HEIGHT as i32);
    let (top, bottom) = (height * (n_rows - 1 - label.row) as i32, height * n_rows as i32);
    strip.draw(&PathElement::new([(x, top), (x, bottom)], MARK.stroke_width(FINE))).map_err(text)?;
    let (side, offset) = if label.is_left { (HPos::Right, -dots(5)) } else { (HPos::Left, dots(5)) };
    let style = TextStyle::from(("sans-serif", fine(13))).color(&INK).pos(Pos::new(side, VPos::Center));
    strip.draw_text(&label.text, &style, (x + offset, top + height / 2)).map_err(text)
}

/// Beside the chart, where it cannot hide a line.
fn draw_legend(area: &Area<'_>, panel: &Panel) -> Result<(), String> {
    let style = TextStyle::from(("sans-serif", fine(14))).color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
    if panel.lines.is_empty() {
        return area.draw_text("nothing recorded", &style, (dots(4), dots(40))).map_err(text);
    }
    for (i, (name, _)) in panel.lines.iter().enumerate() {
        let y = dots(44 + 24 * i as i32);
        let colour = COLOURS[i % COLOURS.len()].stroke_width(fine(3));
        area.draw(&PathElement::new([(dots(4), y), (dots(28), y)], colour)).map_err(text)?;
        area.draw_text(&shorten(name), &style, (dots(36), y)).map_err(text)?;
    }
    Ok(())
}

/// The middle of a long name says least.
pub(super) fn shorten(name: &str) -> String {
    const LONGEST: usize = 20;
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= LONGEST {
        return name.to_owned();
    }
    let (head, tail) = (&letters[..9], &letters[letters.len() - 10..]);
    head.iter().chain(&['…']).chain(tail).collect()
}

/// From the lowest to the highest value, with some air around; never empty.
fn find_range(values: impl Iterator<Item = f64>, air: f64) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return (0.0, 1.0);
    }
    let (size, centre) = (low.abs().max(high.abs()), 0.5 * low + 0.5 * high);
    // A line that differs from a constant by rounding only is drawn as a constant.
    if high - low <= 1e-12 * size || high == low {
        let half = if size == 0.0 { 1.0 } else { 0.1 * size };
        return (centre - half, centre + half);
    }
    // Half of the largest number is room enough for what is drawn around it.
    let margin = (air * (high - low)).min(0.25 * f64::MAX);
    ((low - margin).max(-0.25 * f64::MAX), (high + margin).min(0.25 * f64::MAX))
}

/// Whole decades around the values.
fn find_decades(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = find_range(values, 0.0);
    (low.floor(), high.ceil().max(low.floor() + 1.0))
}

/// A power of ten; ticks between two of them have no number.
fn format_power(exponent: f64) -> String {
    let whole = exponent.round();
    if (exponent - whole).abs() < 1e-6 { format!("1e{whole}") } else { String::new() }
}

/// As many digits as the ticks of such a range differ in.
fn format_tick(value: f64, range: f64) -> String {
    let value = if value.abs() < 1e-9 * range { 0.0 } else { value };
    let size = value.abs().max(range);
    if !(1e-3..1e6).contains(&size) && value != 0.0 {
        return format!("{value:.1e}");
    }
    let digits = (1.0 - range.log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.digits$}");
    let is_long = text.contains('.') && value == 0.0;
    if is_long { "0".to_owned() } else { text }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_show_what_differs() {
        assert_eq!(format_tick(0.25, 1.5), "0.2");
        assert_eq!(format_tick(5.0, 10.0), "5");
        assert_eq!(format_tick(1000.02, 0.1), "1000.02");
        assert_eq!(format_tick(1e-17, 1.0), "0");
        assert_eq!(format_tick(2.5e-7, 1e-6), "2.5e-7");
        assert_eq!(format_tick(3e9, 1e10), "3.0e9");
    }

    #[test]
    fn ranges_are_never_empty() {
        for values in [vec![], vec![0.0], vec![3.0, 3.0], vec![1.0, 1.0 + 1e-15], vec![-f64::MAX, f64::MAX]] {
            let (low, high) = find_range(values.iter().copied(), 0.06);
            assert!(low < high && (high - low).is_finite(), "{values:?}: {low} {high}");
        }
    }

    #[test]
    fn long_names_keep_their_ends() {
        assert_eq!(shorten("left-arm.q0"), "left-arm.q0");
        assert_eq!(shorten("a-very-long-name-of-a-joint.q0"), "a-very-lo…a-joint.q0");
    }
}
