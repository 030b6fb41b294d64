//! A line of any number of points, kept as the extremes of equally long stretches.

/// Stretches kept: a few for every dot of the sheet's width.
const MAX_STRETCHES: usize = 2048;

/// Extremes of a stretch of points, in the order in which they came.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stretch {
    first: (f64, f64),
    second: (f64, f64),
}

/// A line of any number of points, kept as the extremes of equally long stretches.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Envelope {
    stretches: Vec<Stretch>,
    /// Points that make a stretch, and those in the last one so far.
    length: usize,
    count: usize,
}

impl Default for Envelope {
    fn default() -> Self {
        Self { stretches: Vec::new(), length: 1, count: 0 }
    }
}

impl Envelope {
    /// Adds a point. Points without a finite value are left out.
    pub(super) fn add(&mut self, t: f64, y: f64) {
        if !(t.is_finite() && y.is_finite()) {
            return;
        }
        let point = Stretch { first: (t, y), second: (t, y) };
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
        self.stretches.iter().flat_map(|stretch| {
            let second = (stretch.second != stretch.first).then_some(stretch.second);
            std::iter::once(stretch.first).chain(second)
        })
    }
}

impl Stretch {
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
        Self { first: points[low.min(high)], second: points[low.max(high)] }
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
