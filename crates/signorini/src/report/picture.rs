//! A picture of dots for the drawing library: filled by its rasteriser, lettered with a font of the system, written as PNG.

use ab_glyph::{Font as _, FontVec, ScaleFont, point};
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use plotters::prelude::DrawingBackend;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendTextStyle, DrawingErrorKind};
use std::convert::Infallible;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where systems keep a font without serifs.
const PLACES: [&str; 12] = [
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
    "/usr/share/fonts/liberation-sans/LiberationSans-Regular.ttf",
    "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
    "/usr/share/fonts/noto/NotoSans-Regular.ttf",
    "/usr/share/fonts/truetype/freefont/FreeSans.ttf",
    "/System/Library/Fonts/Supplemental/Arial.ttf",
    "/Library/Fonts/Arial.ttf",
    "C:\\Windows\\Fonts\\arial.ttf",
];

/// Largest font file.
const MAX_FONT_BYTES: u64 = 64 << 20;

/// Letters.
pub(super) struct Font(FontVec);

impl Font {
    /// The given font, or one of the system's. The error is a sentence.
    pub fn find(given: Option<PathBuf>) -> Result<Self, String> {
        let place = match given {
            Some(place) => place,
            None => PLACES.iter().map(PathBuf::from).find(|place| place.is_file()).ok_or_else(|| {
                "no DejaVu, Liberation, Noto or Arial where systems keep them; `--font FILE` names one, and SVG needs none".to_owned()
            })?,
        };
        Self::read(&place).map_err(|reason| format!("{}: {reason}", place.display()))
    }

    fn read(place: &Path) -> Result<Self, String> {
        let length = std::fs::metadata(place).map_err(|error| error.to_string())?.len();
        if length > MAX_FONT_BYTES {
            return Err(format!("{length} bytes are too many for a font"));
        }
        let bytes = std::fs::read(place).map_err(|error| error.to_string())?;
        FontVec::try_from_vec(bytes).map(Self).map_err(|_| "not a TrueType font".to_owned())
    }

    /// Width, and height above and below the line.
    fn measure(&self, text: &str, size: f32) -> (f32, f32, f32) {
        let font = self.0.as_scaled(size);
        let mut width = 0.0;
        let mut last = None;
        for id in text.chars().map(|c| self.0.glyph_id(c)) {
            width += last.map_or(0.0, |last| font.kern(last, id)) + font.h_advance(id);
            last = Some(id);
        }
        (width, font.ascent(), -font.descent())
    }
}

/// A picture of dots.
pub(super) struct Canvas {
    size: (u32, u32),
    dots: Vec<[u8; 3]>,
    font: Font,
}

impl Canvas {
    /// A white one.
    pub fn new(size: (u32, u32), font: Font) -> Self {
        Self { size, dots: vec![[255; 3]; size.0 as usize * size.1 as usize], font }
    }

    fn mix(&mut self, (x, y): BackendCoord, colour: BackendColor) {
        let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { return };
        if x >= self.size.0 || y >= self.size.1 {
            return;
        }
        let dot = &mut self.dots[y as usize * self.size.0 as usize + x as usize];
        let (r, g, b) = colour.rgb;
        for (old, new) in dot.iter_mut().zip([r, g, b]) {
            let mixed = f64::from(*old) * (1.0 - colour.alpha) + f64::from(new) * colour.alpha;
            *old = mixed.round().clamp(0.0, 255.0) as u8;
        }
    }

    /// As PNG [ISO 15948]; squares of so many dots become one.
    pub fn png(&self, square: u32) -> io::Result<Vec<u8>> {
        let (width, height) = (self.size.0 / square, self.size.1 / square);
        let mut rows = ZlibEncoder::new(Vec::new(), Compression::new(9));
        for y in 0..height {
            // Each row as it is, without a filter.
            let mut row = vec![0u8];
            for x in 0..width {
                let mut sums = [0u32; 3];
                for i in 0..square * square {
                    let (dx, dy) = (x * square + i % square, y * square + i / square);
                    let dot = self.dots[dy as usize * self.size.0 as usize + dx as usize];
                    sums.iter_mut().zip(dot).for_each(|(sum, part)| *sum += u32::from(part));
                }
                row.extend(sums.map(|sum| (sum / (square * square)) as u8));
            }
            rows.write_all(&row)?;
        }
        let mut header = Vec::new();
        header.extend(width.to_be_bytes());
        header.extend(height.to_be_bytes());
        // Eight bits, red green blue, nothing special.
        header.extend([8, 2, 0, 0, 0]);
        let mut file = vec![0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];
        for (name, data) in [(b"IHDR", header), (b"IDAT", rows.finish()?), (b"IEND", Vec::new())] {
            file.extend((data.len() as u32).to_be_bytes());
            let mut crc = Crc::new();
            crc.update(name);
            crc.update(&data);
            file.extend(name);
            file.extend(data);
            file.extend(crc.sum().to_be_bytes());
        }
        Ok(file)
    }
}

type Outcome = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for &mut Canvas {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Outcome {
        Ok(())
    }

    fn present(&mut self) -> Outcome {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, colour: BackendColor) -> Outcome {
        self.mix(at, colour);
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Outcome {
        let size = style.size() as f32 * LETTER;
        let (width, above, below) = self.font.measure(text, size);
        let anchor = style.anchor();
        let dx = match anchor.h_pos {
            HPos::Left => 0.0,
            HPos::Center => -0.5 * width,
            HPos::Right => -width,
        };
        let dy = match anchor.v_pos {
            VPos::Top => above,
            VPos::Center => 0.5 * (above - below),
            VPos::Bottom => -below,
        };
        let (colour, turn) = (style.color(), style.transform());
        let mut dots: Vec<(BackendCoord, f64)> = Vec::new();
        let font = self.font.0.as_scaled(size);
        let (mut x, mut last) = (dx, None);
        for id in text.chars().map(|c| self.font.0.glyph_id(c)) {
            x += last.map_or(0.0, |last| font.kern(last, id));
            let glyph = id.with_scale_and_position(size, point(x, dy));
            if let Some(outline) = self.font.0.outline_glyph(glyph) {
                let corner = outline.px_bounds().min;
                outline.draw(|i, j, cover| {
                    let place = turn.transform(corner.x as i32 + i as i32, corner.y as i32 + j as i32);
                    dots.push(((at.0 + place.0, at.1 + place.1), f64::from(cover.min(1.0))));
                });
            }
            x += font.h_advance(id);
            last = Some(id);
        }
        for (place, cover) in dots {
            self.mix(place, BackendColor { alpha: colour.alpha * cover, ..colour });
        }
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let (width, above, below) = self.font.measure(text, style.size() as f32 * LETTER);
        Ok((width.ceil() as u32, (above + below).ceil() as u32))
    }
}

/// The size of letters is that of their body; fonts are scaled by the height of their lines.
const LETTER: f32 = 1.16;
