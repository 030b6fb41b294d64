//! Rows of one contact: forces first, then moments.

use super::cone::MAX_DIM;
use serde::{Deserialize, Serialize};

/// What a row moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Lengths: its velocity is a length per time, its impulse that of a force.
    Length,
    /// Angles: its velocity is an angle per time, its impulse that of a moment.
    Angle,
}

impl Unit {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Length, Self::Angle];
}

/// Which rows a contact has: forces along n, t and o in this order, then moments about some of n, t and o.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowShape {
    forces: u8,
    /// A bit per axis.
    moments: u8,
}

impl Default for RowShape {
    fn default() -> Self {
        Self::NORMAL
    }
}

impl RowShape {
    /// The normal force alone; also the one row of a joint limit.
    pub const NORMAL: Self = Self { forces: 1, moments: 0 };

    /// Forces in all directions at a point.
    pub const POINT: Self = Self { forces: 3, moments: 0 };

    /// The first `n_forces` of n, t and o (at least the normal), and moments about those of n, t and o that are true.
    pub const fn new(n_forces: usize, moments: [bool; 3]) -> Self {
        let forces = if n_forces < 1 { 1 } else { n_forces };
        let moments = moments[0] as u8 | (moments[1] as u8) << 1 | (moments[2] as u8) << 2;
        Self { forces: if forces > 3 { 3 } else { forces as u8 }, moments }
    }

    /// Number of rows, from 1 to 6.
    pub const fn dim(self) -> usize {
        self.forces as usize + self.moments.count_ones() as usize
    }

    /// Whether some rows are moments.
    pub const fn has_moments(self) -> bool {
        self.moments != 0
    }

    /// Number of rows that are forces.
    pub const fn n_forces(self) -> usize {
        self.forces as usize
    }

    /// What row `k` moves. Rows are compared only with rows of the same unit.
    pub const fn unit(self, k: usize) -> Unit {
        if k < self.forces as usize { Unit::Length } else { Unit::Angle }
    }

    /// The axis of row `k`: 0 for n, 1 for t, 2 for o.
    pub const fn axis(self, k: usize) -> usize {
        let mut rest = match k.checked_sub(self.forces as usize) {
            None => return k,
            Some(rest) => rest,
        };
        let mut axis = 0;
        while axis < 2 {
            if self.moments & 1 << axis != 0 {
                if rest == 0 {
                    return axis;
                }
                rest -= 1;
            }
            axis += 1;
        }
        axis
    }

    /// Spreads rows over the axes: along n, t, o, and about n, t, o; zero where there is no row.
    pub fn spread(self, rows: &[f64]) -> [[f64; 3]; 2] {
        let mut out = [[0.0; 3]; 2];
        for (k, x) in rows.iter().enumerate().take(self.dim()) {
            out[usize::from(self.unit(k) == Unit::Angle)][self.axis(k)] = *x;
        }
        out
    }

    /// Takes its rows from what [`spread`](Self::spread) leaves.
    pub fn gather(self, spread: &[[f64; 3]; 2]) -> RowValues {
        let mut out = RowValues { n: self.dim() as u8, x: [0.0; MAX_DIM] };
        for k in 0..self.dim() {
            out.x[k] = spread[usize::from(self.unit(k) == Unit::Angle)][self.axis(k)];
        }
        out
    }
}

/// One number per row of one contact.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(into = "Vec<f64>", try_from = "Vec<f64>")]
pub struct RowValues {
    n: u8,
    x: [f64; MAX_DIM],
}

impl RowValues {
    /// Takes up to six numbers.
    pub fn new(rows: &[f64]) -> Self {
        let n = rows.len().min(MAX_DIM);
        let mut x = [0.0; MAX_DIM];
        x[..n].copy_from_slice(&rows[..n]);
        Self { n: n as u8, x }
    }
}

impl From<RowValues> for Vec<f64> {
    fn from(values: RowValues) -> Self {
        values.to_vec()
    }
}

impl TryFrom<Vec<f64>> for RowValues {
    type Error = String;

    fn try_from(rows: Vec<f64>) -> Result<Self, String> {
        if rows.len() > MAX_DIM {
            Err(format!("{} rows, at most {MAX_DIM} are allowed", rows.len()))
        } else {
            Ok(Self::new(&rows))
        }
    }
}

impl std::ops::Deref for RowValues {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.x[..usize::from(self.n)]
    }
}

impl std::ops::DerefMut for RowValues {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.x[..usize::from(self.n)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_follow_forces() {
        let all = RowShape::new(3, [true; 3]);
        let rows = |s: RowShape| (0..s.dim()).map(|k| (s.unit(k), s.axis(k))).collect::<Vec<_>>();
        let (length, angle) = (|a| (Unit::Length, a), |a| (Unit::Angle, a));
        assert_eq!(rows(all), [length(0), length(1), length(2), angle(0), angle(1), angle(2)]);
        assert_eq!(rows(RowShape::NORMAL), [length(0)]);
        assert_eq!(rows(RowShape::new(3, [true, false, false])), [length(0), length(1), length(2), angle(0)]);
        assert_eq!(rows(RowShape::new(3, [false, true, true]))[3..], [angle(1), angle(2)]);
        assert_eq!(rows(RowShape::new(2, [false, false, true])), [length(0), length(1), angle(2)]);
        let five = RowShape::new(3, [false, true, true]);
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(five.gather(&five.spread(&values))[..], values);
        assert_eq!(all.spread(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        assert_eq!(RowShape::new(3, [false, true, true]).spread(&[1.0, 2.0, 3.0, 4.0, 5.0])[1], [0.0, 4.0, 5.0]);
    }

    #[test]
    fn values_are_as_long_as_they_were_given() {
        let mut values = RowValues::new(&[1.0, 2.0, 3.0, 4.0]);
        values[3] = 5.0;
        assert_eq!(&values[..], [1.0, 2.0, 3.0, 5.0]);
        assert!(RowValues::default().is_empty());
        assert_eq!(RowValues::new(&[0.5; 9]).len(), MAX_DIM);
    }
}
