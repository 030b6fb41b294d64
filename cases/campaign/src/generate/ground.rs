//! What scenes stand on: always with its highest point at z = 0, and wide enough for all that flies.

use super::shapes::{mesh, shape};
use super::{Draft, ground};
use signorini::scene::{Geometry, Shape};

/// The kinds of ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    HalfSpace,
    Box,
    Mesh,
    HeightField,
    Hull,
}

/// Any of them.
pub(super) const ANY: [Kind; 5] = [Kind::HalfSpace, Kind::Box, Kind::Mesh, Kind::HeightField, Kind::Hull];

impl Draft {
    /// Puts a ground there of one of some kinds; what flies has `speed`.
    pub(super) fn add_ground(&mut self, kinds: &[Kind], speed: f64) {
        let width = 20.0 * self.size + 4.0 * speed * self.end;
        let kind = self.random.pick(kinds);
        let thickness = self.size * self.random.decades(0.005, 1.0);
        let at = |geometry, z: f64| Shape { position: [0.0, 0.0, z], ..shape(geometry) };
        let shape = match kind {
            Kind::HalfSpace => shape(Geometry::HalfSpace),
            Kind::Box => at(Geometry::Box { size: [width, width, thickness] }, -thickness / 2.0),
            // A plate of two by two units, a thousandth of a unit thick in all.
            Kind::Mesh => at(mesh("plate", width / 2.0), -0.0005 * width / 2.0),
            Kind::HeightField => shape(self.height_field(width)),
            Kind::Hull => shape(Geometry::ConvexHull {
                points: corners(width / 2.0, thickness),
                file: None,
                scale: None,
                hull: None,
            }),
        };
        let mut body = ground();
        body.shape.push(shape);
        self.scene.body.insert(0, body);
    }

    fn height_field(&mut self, width: f64) -> Geometry {
        let columns = self.random.count(2, 9);
        let is_flat = self.random.chance(0.5);
        let depth = if is_flat { 0.0 } else { 0.1 * width / columns as f64 };
        let heights = (0..columns * columns).map(|_| -depth * self.random.unit()).collect();
        Geometry::HeightField { size: [width, width], columns, heights }
    }
}

fn corners(r: f64, depth: f64) -> Vec<[f64; 3]> {
    (0..8)
        .map(|k| [(k & 1, r), (k >> 1 & 1, r)].map(|(bit, r)| r * (2 * bit - 1) as f64))
        .zip(0..8)
        .map(|([x, y], k): ([f64; 2], i32)| [x, y, if k < 4 { -depth } else { 0.0 }])
        .collect()
}
