//! Which shapes come near each other in a step.
//!
//! Every shape has a box that holds it over the whole step: where it is, where its centre goes, and what rotation and slack add. Around
//! that box it is given some room, and pairs whose rooms overlap are neighbours until a box leaves its room [verlet1967]: what lies in a
//! heap is looked for once, and only the boxes of neighbours are compared in a step. Rooms are searched by trees, one of the ground
//! that is built once, and one of moving shapes that is refitted. The pairs whose boxes
//! overlap are a fact about the boxes alone: neither rooms nor the history of the tree can show in the answer, and both may be dropped
//! at any time.

use super::convex::{Core, Placed};
use super::mesh::{Mesh, vector};
use crate::spatial::{Pose, Vec3};
use parry3d_f64::bounding_volume::{Aabb, BoundingVolume};
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

/// Searches after which the tree of moving shapes is built anew, because refitting lets it grow loose.
const REBUILD: u32 = 64;

/// Room around a box on each side, relative to its longest side: a ball may move by a quarter of its radius. More room has more
/// neighbours, less room is left sooner.
const ROOM: f64 = 0.125;

/// Up to this many moving shapes are compared each with each.
const FEW: usize = 24;

/// The rooms of moving shapes, and their tree.
#[derive(Default)]
pub(crate) struct Broad {
    rooms: Vec<Aabb>,
    tree: Bvh,
    workspace: BvhWorkspace,
    n: usize,
    age: u32,
}

impl Broad {
    /// Whether these boxes are all in the rooms of the last search.
    pub(crate) fn has_room(&self, boxes: &[Aabb]) -> bool {
        self.rooms.len() == boxes.len() && self.rooms.iter().zip(boxes).all(|(room, bounds)| room.contains(bounds))
    }

    /// Gives new rooms to boxes and finds the pairs (shape, shape) of neighbours, the smaller index first. `boxes` are those of the
    /// shapes `first..`, and `fixed` is the tree of the others with their numbers.
    pub(crate) fn find_neighbours(
        &mut self,
        fixed: (&Bvh, &[u32]),
        first: u32,
        boxes: &[Aabb],
        pairs: &mut Vec<(u32, u32)>,
    ) {
        pairs.clear();
        self.rooms.clear();
        self.rooms.extend(boxes.iter().map(roomy));
        let rooms = std::mem::take(&mut self.rooms);
        let boxes = rooms.as_slice();
        if boxes.len() <= FEW {
            // The same pairs, by looking at all.
            for (i, a) in boxes.iter().enumerate() {
                let others = boxes[i + 1..].iter().zip(i as u32 + 1..).filter(|(b, _)| a.intersects(b));
                pairs.extend(others.map(|(_, j)| (first + i as u32, first + j)));
            }
        } else {
            self.find_moving_pairs(first, boxes, pairs);
        }
        if !fixed.1.is_empty() {
            for (i, bounds) in boxes.iter().enumerate() {
                pairs.extend(fixed.0.intersect_aabb(bounds).map(|leaf| (fixed.1[leaf as usize], first + i as u32)));
            }
        }
        self.rooms = rooms;
    }

    /// Pairs of moving shapes, by the tree.
    fn find_moving_pairs(&mut self, first: u32, boxes: &[Aabb], pairs: &mut Vec<(u32, u32)>) {
        if self.n != boxes.len() {
            self.tree = Bvh::from_leaves(BvhBuildStrategy::Binned, boxes);
            (self.n, self.age) = (boxes.len(), 0);
        } else {
            for (i, bounds) in boxes.iter().enumerate() {
                self.tree.insert(*bounds, i as u32);
            }
            self.age += 1;
            if self.age >= REBUILD {
                self.age = 0;
                self.tree.rebuild(&mut self.workspace, BvhBuildStrategy::Binned);
            } else {
                self.tree.refit_without_opt();
            }
        }
        self.tree.traverse_bvtt_single_tree::<false>(&mut self.workspace, &mut |i, j| {
            pairs.push((first + i.min(j), first + i.max(j)));
        });
    }
}

/// A box with room on all sides.
fn roomy(bounds: &Aabb) -> Aabb {
    let room = ROOM * (bounds.maxs - bounds.mins).max_element();
    // A box without end has no use for more.
    let room = Vector::splat(if room.is_finite() { room } else { 0.0 });
    Aabb::new(bounds.mins - room, bounds.maxs + room)
}

/// The box of a core in some axes.
pub(crate) fn core_box(placed: &Placed) -> (Vec3, Vec3) {
    let r = Vec3::repeat(placed.radius);
    // The same bits as by their farthest points, which are asked for six times below.
    let reach = match placed.core {
        Core::Point => Some(Vec3::zeros()),
        Core::Box { half } => Some(placed.rotation.abs() * half),
        _ => None,
    };
    if let Some(reach) = reach {
        return (placed.position - reach - r, placed.position + reach + r);
    }
    let high = Vec3::from_fn(|i, _| {
        let mut axis = Vec3::zeros();
        axis[i] = 1.0;
        placed.support(&axis)[i]
    });
    let low = Vec3::from_fn(|i, _| {
        let mut axis = Vec3::zeros();
        axis[i] = -1.0;
        placed.support(&axis)[i]
    });
    (low - r, high + r)
}

/// The box of a surface where it is.
pub(crate) fn surface_box(mesh: &Mesh, pose: &Pose) -> (Vec3, Vec3) {
    let (low, high) = mesh.bounds();
    let (centre, half) = (low / 2.0 + high / 2.0, high / 2.0 - low / 2.0);
    let centre = pose.point(&centre);
    let half = pose.rotation.abs() * half;
    (centre - half, centre + half)
}

/// The box that holds it on the way too.
pub(crate) fn swept((low, high): (Vec3, Vec3), path: &Vec3, more: f64) -> Aabb {
    let more = Vec3::repeat(more);
    let zero = Vec3::zeros();
    Aabb::new(vector(&(low + path.inf(&zero) - more)), vector(&(high + path.sup(&zero) + more)))
}
