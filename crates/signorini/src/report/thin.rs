//! Series of any length, thinned to what a screen can show: of each stretch of equally many rows the least and the largest value stay,
//! in the order in which they came.

/// Stretches kept: two for every dot of a wide screen.
pub(super) const MAX_STRETCHES: usize = 4096;

/// How the rows of a table are thinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Thinning {
    rows: usize,
    /// Rows of a stretch; one where every row stays.
    length: usize,
}

impl Thinning {
    /// For a table of so many rows.
    pub fn of(rows: usize) -> Self {
        let length = if rows <= 2 * MAX_STRETCHES { 1 } else { rows.div_ceil(MAX_STRETCHES) };
        Self { rows, length }
    }

    /// Whether anything is left out.
    pub fn is_thinned(&self) -> bool {
        self.length > 1
    }

    /// Values that are kept.
    pub fn n_kept(&self) -> usize {
        if self.is_thinned() { 2 * self.rows.div_ceil(self.length) } else { self.rows }
    }

    /// The times of what is kept: of a stretch the first and the last.
    pub fn times(&self, times: &[f64]) -> Vec<f64> {
        if !self.is_thinned() {
            return times.to_vec();
        }
        times.chunks(self.length).flat_map(|stretch| [stretch[0], stretch[stretch.len() - 1]]).collect()
    }

    /// The values that are kept. A stretch without any value is a gap.
    pub fn exact(&self, values: &[f64]) -> Vec<f64> {
        if !self.is_thinned() {
            return values.to_vec();
        }
        values.chunks(self.length).flat_map(extremes).collect()
    }

    /// The same in single precision.
    pub fn values(&self, values: &[f64]) -> Vec<f32> {
        self.exact(values).into_iter().map(|x| x as f32).collect()
    }
}

/// Thins a series that comes value by value, so that no more of it is in memory than stays.
pub(super) struct Thinner {
    length: usize,
    waiting: Vec<f64>,
    kept: Vec<f64>,
    ends: bool,
}

impl Thinner {
    /// Keeps the extremes of stretches.
    pub fn extremes(thinning: Thinning) -> Self {
        Self { length: thinning.length, waiting: Vec::new(), kept: Vec::with_capacity(thinning.n_kept()), ends: false }
    }

    /// Keeps the first and the last of stretches: for times.
    pub fn ends(thinning: Thinning) -> Self {
        Self { ends: true, ..Self::extremes(thinning) }
    }

    /// The next value.
    pub fn push(&mut self, value: f64) {
        if self.length == 1 {
            self.kept.push(value);
            return;
        }
        self.waiting.push(value);
        if self.waiting.len() == self.length {
            self.close();
        }
    }

    /// What stays.
    pub fn finish(mut self) -> Vec<f64> {
        if !self.waiting.is_empty() {
            self.close();
        }
        self.kept
    }

    fn close(&mut self) {
        let kept =
            if self.ends { [self.waiting[0], self.waiting[self.waiting.len() - 1]] } else { extremes(&self.waiting) };
        self.kept.extend(kept);
        self.waiting.clear();
    }
}

fn extremes(stretch: &[f64]) -> [f64; 2] {
    let numbers = || stretch.iter().enumerate().filter(|(_, x)| !x.is_nan());
    let low = numbers().min_by(|a, b| a.1.total_cmp(b.1));
    let high = numbers().max_by(|a, b| a.1.total_cmp(b.1));
    match (low, high) {
        (Some((i, low)), Some((j, high))) if i <= j => [*low, *high],
        (Some((_, low)), Some((_, high))) => [*high, *low],
        _ => [f64::NAN; 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_series_stay_and_long_ones_keep_their_extremes() {
        let short = Thinning::of(3);
        assert_eq!((short.n_kept(), short.values(&[1.0, f64::NAN, 2.0])[2]), (3, 2.0));
        let n = 100_000;
        let values: Vec<f64> = (0..n).map(|i| if i == 54_321 { 7.0 } else { (f64::from(i) * 1e-3).sin() }).collect();
        let times: Vec<f64> = (0..n).map(f64::from).collect();
        let long = Thinning::of(values.len());
        let (kept, at) = (long.values(&values), long.times(&times));
        assert_eq!((kept.len(), at.len()), (long.n_kept(), long.n_kept()));
        assert!(kept.len() <= 2 * MAX_STRETCHES && kept.contains(&7.0));
        assert!(at.windows(2).all(|pair| pair[0] <= pair[1]));
        let (mut values_one_by_one, mut times_one_by_one) = (Thinner::extremes(long), Thinner::ends(long));
        values.iter().for_each(|x| values_one_by_one.push(*x));
        times.iter().for_each(|t| times_one_by_one.push(*t));
        assert_eq!((values_one_by_one.finish(), times_one_by_one.finish()), (long.exact(&values), at));
        assert!(long.values(&vec![f64::NAN; values.len()]).iter().all(|x| x.is_nan()));
    }
}
