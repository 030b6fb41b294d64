//! A line of any number of points, kept as the extremes of equally long stretches.

/// Stretches kept: at least one for every dot of a screen that shows the sheet.
const MAX_STRETCHES: usize = 1024;

/// Extremes of a stretch of points, in the order in which they came.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stretch {
    first: (f64, f64),
    second: (f64, f64),
    /// Whether the line begins anew here, after values that were missing.
    is_start: bool,
}

/// A line of any number of points, kept as the extremes of equally long stretches.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Envelope {
    stretches: Vec<Stretch>,
    /// Points that make a stretch, and those in the last one so far.
    length: usize,
    count: usize,
    is_interrupted: bool,
}

impl Default for Envelope {
    fn default() -> Self {
        Self { stretches: Vec::new(), length: 1, count: 0, is_interrupted: true }
    }
}

impl Envelope {
    /// Adds a point. Where there is no finite value the line is interrupted.
    pub(super) fn add(&mut self, t: f64, y: f64) {
        if !(t.is_finite() && y.is_finite()) {
            self.is_interrupted = true;
            return;
        }
        let is_start = std::mem::take(&mut self.is_interrupted);
        let point = Stretch { first: (t, y), second: (t, y), is_start };
        match self.stretches.last_mut().filter(|_| self.count < self.length) {
            Some(last) => {
                *last = last.joined(&point);
                self.count += 1;
            }
            None => {
                self.stretches.push(point);
                self.count = 1;
            }
        }
        if self.stretches.len() > MAX_STRETCHES && self.count == self.length {
            let halved = self.stretches.chunks(2).map(|pair| match pair {
                [a, b] => a.joined(b),
                other => other[0],
            });
            // An odd stretch at the end is half full.
            self.count = if self.stretches.len().is_multiple_of(2) { 2 * self.length } else { self.length };
            self.stretches = halved.collect();
            self.length *= 2;
        }
    }

    /// The points to draw.
    pub(super) fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.stretches.iter().flat_map(Stretch::points)
    }

    /// The points to draw, in pieces that hang together.
    pub(super) fn pieces(&self) -> impl Iterator<Item = impl Iterator<Item = (f64, f64)>> + '_ {
        self.stretches.chunk_by(|_, next| !next.is_start).map(|piece| piece.iter().flat_map(Stretch::points))
    }
}

impl Stretch {
    fn points(&self) -> impl Iterator<Item = (f64, f64)> + use<> {
        let second = (self.second != self.first).then_some(self.second);
        std::iter::once(self.first).chain(second)
    }

    /// The lowest and the highest of both.
    fn joined(&self, other: &Self) -> Self {
        let points = [self.first, self.second, other.first, other.second];
        let (mut low, mut high) = (0, 0);
        for i in 1..4 {
            if points[i].1 < points[low].1 {
                low = i;
            }
            if points[i].1 > points[high].1 {
                high = i;
            }
        }
        let is_start = self.is_start || other.is_start;
        Self { first: points[low.min(high)], second: points[low.max(high)], is_start }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_are_kept_as_they_are() {
        let mut line = Envelope::default();
        let points: Vec<(f64, f64)> = (0..1000).map(|i| (f64::from(i), f64::from(i % 7))).collect();
        points.iter().for_each(|&(t, y)| line.add(t, y));
        assert!(line.points().eq(points.iter().copied()));
        line.add(1000.0, f64::NAN);
        assert_eq!(line.points().count(), 1000);
    }

    #[test]
    fn missing_values_interrupt_a_line() {
        let mut line = Envelope::default();
        for (t, y) in [(0.0, f64::NAN), (1.0, 1.0), (2.0, 1.0), (3.0, f64::NAN), (4.0, f64::NAN), (5.0, 2.0)] {
            line.add(t, y);
        }
        let pieces: Vec<Vec<(f64, f64)>> = line.pieces().map(Iterator::collect).collect();
        assert_eq!(pieces, [vec![(1.0, 1.0), (2.0, 1.0)], vec![(5.0, 2.0)]]);
    }

    #[test]
    fn long_lines_keep_their_extremes_and_their_order() {
        let mut line = Envelope::default();
        for i in 0..1_000_003 {
            line.add(f64::from(i), if i == 654_321 { 5.0 } else { (f64::from(i) * 1e-3).sin() });
        }
        let points: Vec<(f64, f64)> = line.points().collect();
        assert!(points.len() <= 2 * MAX_STRETCHES + 2, "{}", points.len());
        assert!(points.contains(&(654_321.0, 5.0)));
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(points.iter().any(|point| point.1 < -0.999_999));
    }
}
