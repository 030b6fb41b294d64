//! Poses of bodies over time, small enough to travel.
//!
//! **Problem.** A pose is seven numbers of eight bytes. A thousand bodies over a thousand instants are 56 megabytes; a picture needs none of
//! their last digits.
//!
//! **Method.** Each coordinate of a centre of mass is rounded to one of 65 535 values between its least and its largest over the run, each
//! component of a quaternion to one of 65 535 between −1 and 1; of the two quaternions of a rotation the one nearer to that before is
//! taken, so that all seven are smooth in time. Each of these series is replaced by its differences of the order (0 to 2) that makes
//! them smallest, modulo 2¹⁶. Low bytes and high bytes then stand apart, and deflate finds the zeros.
//!
//! **Cost.** O(bodies × instants).
//!
//! **Fails when** a body runs so far that a 65 534th of its way is visible: the header says how coarse the positions are.
//!
//! **Checked by** the tests below, and by the browser tests, which compare a drawn body with the recorded one.

use super::pack::Sections;
use crate::spatial::{Quaternion, Vec3};
use std::io;

/// Stands for a coordinate of a body that is not there.
const MISSING: i16 = i16::MIN;
/// The largest rounded number.
const TOP: f64 = 32_767.0;

/// Where a body is: its centre of mass, and the axes of its frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// Centre of mass.
    pub position: Vec3,
    /// Orientation of the body frame.
    pub orientation: Quaternion,
}

/// Poses, packed.
#[derive(Debug, Default, PartialEq)]
pub struct Frames {
    /// Differences of all series: seven per body (x, y, z, quaternion w x y z), one after the other.
    pub differences: Vec<u16>,
    /// Order of the differences of each series.
    pub orders: Vec<u8>,
    /// Least and largest x, y and z of each body.
    pub bounds: Vec<f64>,
    /// Half of the largest distance between two neighbouring values of a coordinate.
    pub resolution: f64,
}

impl Frames {
    /// Adds a body: its pose at every instant, none where it is not there.
    pub fn add(&mut self, poses: &[Option<Placed>]) {
        for axis in 0..3 {
            let values = || poses.iter().flatten().map(|placed| placed.position[axis]);
            let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
            let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
            self.bounds.extend([low, high]);
            // Halves first: the difference of the largest numbers there are would overflow.
            let (middle, half) = (0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low);
            self.resolution = self.resolution.max(half / TOP / 2.0);
            let round = |x: f64| if half > 0.0 { (TOP * ((x - middle) / half)).round() as i16 } else { 0 };
            self.push(poses.iter().map(|pose| pose.map_or(MISSING, |placed| round(placed.position[axis]))));
        }
        let mut last = Quaternion([1.0, 0.0, 0.0, 0.0]);
        let mut turns = Vec::with_capacity(poses.len());
        for pose in poses {
            if let Some(placed) = pose {
                last = placed.orientation.nearest(&last);
            }
            turns.push(last);
        }
        for k in 0..4 {
            self.push(turns.iter().map(|turn| (TOP * turn.0[k].clamp(-1.0, 1.0)).round() as i16));
        }
    }

    /// Writes all but the times.
    pub fn write(&self, sections: &mut Sections) -> io::Result<()> {
        sections.add_doubles("frames.bounds", &self.bounds)?;
        sections.add("frames.orders", &self.orders)?;
        sections.add_shorts("frames.poses", &self.differences)
    }

    /// Adds a series by the differences that are smallest.
    fn push(&mut self, values: impl Iterator<Item = i16>) {
        let values: Vec<u16> = values.map(|x| x as u16).collect();
        let size = |list: &[u16]| list.iter().map(|x| u64::from((*x as i16).unsigned_abs())).sum::<u64>();
        let first = differences(&values);
        let second = differences(&first);
        let candidates = [values, first, second];
        let best = (0..3).min_by_key(|&order| size(&candidates[order])).unwrap_or(0);
        self.orders.push(best as u8);
        self.differences.extend_from_slice(&candidates[best]);
    }
}

/// Each number less the one before, modulo 2¹⁶; the first stays.
fn differences(values: &[u16]) -> Vec<u16> {
    let before = std::iter::once(0).chain(values.iter().copied());
    values.iter().zip(before).map(|(x, before)| x.wrapping_sub(before)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the page does it.
    fn unpack(frames: &Frames, series: usize, count: usize) -> Vec<i16> {
        let mut values = frames.differences[series * count..(series + 1) * count].to_vec();
        for _ in 0..frames.orders[series] {
            for i in 1..count {
                values[i] = values[i].wrapping_add(values[i - 1]);
            }
        }
        values.into_iter().map(|x| x as i16).collect()
    }

    fn path(t: f64) -> Placed {
        let position = Vec3::new(3.0 * t.sin(), -7.0, 1e3 * t * t);
        Placed { position, orientation: Quaternion::exp(&Vec3::new(0.3, 2.0 * t, -t)) }
    }

    #[test]
    fn poses_come_back_as_exactly_as_the_header_says() {
        let times: Vec<f64> = (0..500).map(|i| 0.01 * f64::from(i)).collect();
        let poses: Vec<Option<Placed>> = times.iter().map(|&t| Some(path(t))).collect();
        let mut frames = Frames::default();
        frames.add(&poses);
        let series: Vec<Vec<i16>> = (0..7).map(|k| unpack(&frames, k, times.len())).collect();
        for (i, &t) in times.iter().enumerate() {
            let wanted = path(t);
            for axis in 0..3 {
                let (low, high) = (frames.bounds[2 * axis], frames.bounds[2 * axis + 1]);
                let found = 0.5 * (low + high) + 0.5 * (high - low) * f64::from(series[axis][i]) / TOP;
                assert!((found - wanted.position[axis]).abs() <= frames.resolution * 1.000_001, "{t}");
            }
            let turn = Quaternion([3, 4, 5, 6].map(|k| f64::from(series[k][i]) / TOP));
            // Half a unit in each of four components.
            let off = turn.nearest(&wanted.orientation);
            let error = (0..4).map(|k| (off.0[k] - wanted.orientation.0[k]).abs()).fold(0.0, f64::max);
            assert!(error <= 0.5001 / TOP, "{t}: {error}");
        }
        assert!(frames.orders.iter().skip(2).any(|&order| order == 2), "smooth series are of second differences");
    }

    #[test]
    fn bodies_may_be_missing_and_may_stand_still() {
        let here = Placed { position: Vec3::new(1.0, 2.0, 3.0), orientation: Quaternion([1.0, 0.0, 0.0, 0.0]) };
        let mut frames = Frames::default();
        frames.add(&[Some(here), None, Some(here)]);
        assert_eq!(unpack(&frames, 0, 3), [0, MISSING, 0]);
        assert_eq!((frames.bounds[0], frames.bounds[1], frames.resolution), (1.0, 1.0, 0.0));
        frames.add(&[None, None, None]);
        assert_eq!(unpack(&frames, 7, 3), [MISSING; 3]);
    }
}
