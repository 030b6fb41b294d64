//! Random numbers that are the same on every machine and in every version: scenes are named by their seed.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// SplitMix64: one word of state, every seed is a good one.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A stream of its own for every seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xd1b5_4a32_d192_ed03) ^ 0x5349_474e_4f52_494e)
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to 1.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Even between two numbers.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Even in the logarithm.
    pub fn decades(&mut self, low: f64, high: f64) -> f64 {
        (self.between(low.ln(), high.ln())).exp()
    }

    /// From `low` to `high`, both included.
    pub fn count(&mut self, low: usize, high: usize) -> usize {
        low + (self.word() % (high - low + 1) as u64) as usize
    }

    /// True with a probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.count(0, choices.len() - 1)]
    }

    /// Even in the cube [−1, 1]³.
    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.between(-1.0, 1.0))
    }

    /// A direction.
    pub fn direction(&mut self) -> Vector3<f64> {
        loop {
            let v = self.vector();
            let size = v.norm();
            if size > 0.1 && size < 1.0 {
                return v / size;
            }
        }
    }

    /// A rotation.
    pub fn rotation(&mut self) -> UnitQuaternion<f64> {
        loop {
            let q = Quaternion::new(
                self.between(-1.0, 1.0),
                self.between(-1.0, 1.0),
                self.between(-1.0, 1.0),
                self.between(-1.0, 1.0),
            );
            let size = q.norm();
            if size > 0.1 && size < 1.0 {
                return UnitQuaternion::from_quaternion(q);
            }
        }
    }
}
