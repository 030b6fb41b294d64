//! All shapes of a model, ready to be searched for contacts.
//!
//! **Problem.** Given where the bodies are and how they are expected to move in a step of length h, find every contact that the step
//! must know of.
//!
//! **Method.** Boxes around the swept shapes, neighbours, pairs ([`broad`](super::broad)); for each pair the closest direction or the one in
//! which it will be hit ([`sweep`](super::sweep)), the points along it ([`manifold`](super::manifold)), fewer of them ([`reduce`](super::reduce)).
//! A pair is looked at if its gap is at most m = h (|Δv| + |ω_a| ρ_a + |ω_b| ρ_b) + δ_a + δ_b + 2⁻²⁰ r: Δv the relative velocity of the centres of
//! the two shapes, ρ their reach, r the smaller of the two, δ what the caller allows for others that push. However fast a body turns, it stays
//! within its reach.
//!
//! **Cost.** O(n) for boxes while neighbours stay the same, O(n log n) when they are looked for, then up to a microsecond or so per pair.
//!
//! **Fails when** a pose is not finite: its shapes are left out.
//!
//! **Checked by** `tests/collide_world.rs`.

use super::broad::{Broad, core_box, surface_box, swept};
use super::contact::{Contact, ContactId};
use super::filter::Filter;
use super::manifold::tangents;
use super::pair::{Motion, PairScratch};
use super::piece::{Piece, PieceForm};
use super::sweep::SLACK;
use crate::contact::law::{LawId, Laws};
use crate::model::event::Action;
use crate::model::{BodyId, Form, Model, PairLaws, Shape};
use crate::spatial::{Pose, Twist, Vec3};
use parry3d_f64::bounding_volume::{Aabb, BoundingVolume};
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};
use std::sync::Arc;
use thiserror::Error;

/// A shape that cannot be used for contact.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WorldError {
    /// A hull whose triangles cannot be joined to faces.
    #[error("shape {shape}: the hull is too thin for contact")]
    Hull {
        /// Its place in the model.
        shape: usize,
    },
}

/// Most pairs of moving shapes that are asked whether they may touch; if none of so many does, others might.
const MOST_ASKED: usize = 1 << 16;

/// Shapes, filter and the tree of what does not move. Immutable in a step.
pub struct World {
    shapes: Vec<Shape>,
    pieces: Vec<Piece>,
    filter: Filter,
    laws: PairLaws,
    /// Shapes of the ground come first.
    n_ground: usize,
    half_spaces: Vec<u32>,
    /// Half-spaces and the shapes that may touch them.
    on_planes: Vec<(u32, u32)>,
    /// Whether moving shapes may touch each other.
    has_moving_pairs: bool,
    /// The other shapes of the ground, and the tree over them.
    solids: Vec<u32>,
    fixed: Bvh,
    /// Boxes of the shapes of the ground; a half-space is everywhere.
    ground_boxes: Vec<Aabb>,
    /// By which a memory knows whose neighbours it has.
    identity: Arc<()>,
    /// Slack of the boxes.
    slack: f64,
}

/// Memory of the search. Dropping it changes no bit of any answer.
#[derive(Default)]
pub struct Scratch {
    broad: Broad,
    motions: Vec<Motion>,
    /// Whether their numbers are finite.
    is_finite: Vec<bool>,
    boxes: Vec<Aabb>,
    pairs: Vec<(u32, u32)>,
    /// In the order of names, so that contacts are too; and the world whose they are.
    neighbours: Vec<Neighbours>,
    world: Option<Arc<()>>,
    pair: PairScratch,
    /// Distance by which each body may move otherwise than expected, because others push it; none where it is empty.
    pub allowance: Vec<f64>,
    /// Pairs of shapes that pushed in the last step, as [`ContactId::pair`], in their order.
    pub held: Vec<u64>,
    /// Pairs of shapes that were looked at closely in the last search.
    pub n_pairs: usize,
}

/// Two shapes that may come near each other, and their law.
struct Neighbours {
    shapes: (u32, u32),
    law: LawId,
}

impl World {
    /// Compiles the shapes of a model.
    pub fn build(model: &Model) -> Result<Self, WorldError> {
        let shapes = model.shapes().to_vec();
        let pieces = shapes.iter().enumerate().map(|(shape, s)| Piece::build(s).ok_or(WorldError::Hull { shape }));
        let pieces = pieces.collect::<Result<Vec<_>, _>>()?;
        let n_ground = shapes.iter().take_while(|s| s.body.is_none()).count();
        let is_half_space = |i: &usize| matches!(pieces[*i].form, PieceForm::HalfSpace);
        let half_spaces: Vec<u32> = (0..n_ground).filter(is_half_space).map(|i| i as u32).collect();
        let solids: Vec<u32> = (0..n_ground).filter(|i| !is_half_space(i)).map(|i| i as u32).collect();
        let everywhere = Aabb::new(Vector::splat(f64::NEG_INFINITY), Vector::splat(f64::INFINITY));
        let ground = pieces[..n_ground].iter().map(|p| match p.form {
            PieceForm::HalfSpace => everywhere,
            _ => swept(bounds(p, &p.pose), &Vec3::zeros(), 0.0),
        });
        let ground_boxes: Vec<Aabb> = ground.collect();
        let boxes: Vec<Aabb> = solids.iter().map(|&i| ground_boxes[i as usize]).collect();
        let fixed = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        let bound = |piece: &Piece| if piece.reach.is_finite() { piece.reach + piece.radius } else { 0.0 };
        let slack = SLACK * pieces.iter().map(bound).fold(0.0, f64::max);
        let mut world = Self {
            filter: Filter::build(model),
            laws: model.laws().clone(),
            shapes,
            pieces,
            n_ground,
            half_spaces,
            on_planes: Vec::new(),
            has_moving_pairs: true,
            solids,
            fixed,
            ground_boxes,
            identity: Arc::new(()),
            slack,
        };
        world.find_partners();
        Ok(world)
    }

    /// Asks the filter what does not change in a step.
    fn find_partners(&mut self) {
        let (shapes, filter) = (&self.shapes, &self.filter);
        let allows = |i: usize, j: usize| filter.allows(shapes[i].body, shapes[j].body);
        let moving = self.n_ground..shapes.len();
        self.on_planes.clear();
        for &plane in &self.half_spaces {
            self.on_planes.extend(moving.clone().filter(|&i| allows(plane as usize, i)).map(|i| (plane, i as u32)));
        }
        let mut pairs = moving.clone().flat_map(|i| (i + 1..moving.end).map(move |j| (i, j)));
        self.has_moving_pairs = pairs.by_ref().take(MOST_ASKED).any(|(i, j)| allows(i, j)) || pairs.next().is_some();
    }

    /// Takes the joints that exist now: bodies that a joint holds together do not touch unless a rule says so.
    pub fn update_joints(&mut self, model: &Model) {
        self.filter.update_joints(model);
        self.find_partners();
        self.identity = Arc::new(());
    }

    /// Two bodies that may touch, if any may.
    pub fn first_pair(&self) -> Option<[Option<BodyId>; 2]> {
        // Bodies may touch unless they are joined or a rule forbids it, so the first few usually settle the matter.
        let mut bodies: Vec<(Option<BodyId>, bool)> = Vec::new();
        for shape in &self.shapes {
            let is_point = matches!(shape.form, Form::Point);
            match bodies.last_mut() {
                Some((body, points)) if *body == shape.body => *points &= is_point,
                _ => bodies.push((shape.body, is_point)),
            }
        }
        // Points do not touch points.
        bodies.iter().enumerate().find_map(|(i, (a, point))| {
            let mut others = bodies[i + 1..].iter().filter(|(_, other)| !(*point && *other));
            others.find(|(b, _)| self.filter.allows(*a, *b)).map(|(b, _)| [*a, *b])
        })
    }

    /// Two bodies that may touch once an event has released the joint between them, if any may.
    pub fn first_freed(&self, model: &Model) -> Option<[Option<BodyId>; 2]> {
        let freed = model.events().iter().flat_map(|event| match &event.action {
            Action::Release(joints) => joints.as_slice(),
            _ => &[],
        });
        let has_shape = |body: Option<BodyId>| self.shapes.iter().any(|s| s.body == body);
        let ends = freed.map(|j| &model.joints()[j.index()]).map(|j| [j.parent, j.child]);
        ends.into_iter().find(|[a, b]| has_shape(*a) && has_shape(*b) && self.filter.may_allow(*a, *b))
    }

    /// How far the shapes of a body reach from the origin of its frame.
    pub fn reach(&self, body: BodyId) -> f64 {
        let own = self.shapes.iter().zip(&self.pieces).filter(|(s, _)| s.body == Some(body));
        own.fold(0.0, |m, (_, p)| m.max(p.pose.translation.norm() + p.reach + p.radius))
    }

    /// Friction and restitution, by the numbers that contacts carry.
    pub fn laws(&self) -> &Laws {
        self.laws.laws()
    }

    /// Shapes in the order of their numbers in [`ContactId`].
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Fills `out` with the contacts that a step of length `step` must know of, in the order of their names.
    ///
    /// `poses` are those of the body frames, `twists` the velocities expected for the step (best with what loads will add): world axes,
    /// linear part at the origin of the body frame.
    pub fn find_contacts(
        &self,
        poses: &[Pose],
        twists: &[Twist],
        step: f64,
        scratch: &mut Scratch,
        out: &mut Vec<Contact>,
    ) {
        out.clear();
        self.update_motions(poses, twists, step, scratch);
        self.update_neighbours(scratch);
        let Scratch { motions, is_finite, boxes, neighbours, pair, held, n_pairs, .. } = scratch;
        *n_pairs = 0;
        let needs_boxes = self.needs_boxes();
        for near in neighbours {
            let (i, j) = (near.shapes.0 as usize, near.shapes.1 as usize);
            if (needs_boxes && !boxes[i].intersects(&boxes[j])) || !is_finite[i] || !is_finite[j] {
                continue;
            }
            *n_pairs += 1;
            pair.set_held(!held.is_empty() && held.binary_search(&name(i, j)).is_ok());
            pair.find_contacts((&self.pieces[i], &motions[i]), (&self.pieces[j], &motions[j]), step);
            if pair.found.is_empty() {
                continue;
            }
            let (a, b) = (&self.shapes[i], &self.shapes[j]);
            let origin = motions[i].pose.translation;
            let mut across = (Vec3::zeros(), [Vec3::zeros(); 2]);
            out.extend(pair.found.iter().map(|found| {
                let (on_a, on_b) = (origin + found.on_a, origin + found.on_b);
                if found.normal != across.0 {
                    across = (found.normal, tangents(&found.normal));
                }
                Contact {
                    id: ContactId { pair: name(i, j), feature: found.feature },
                    a: a.body,
                    b: b.body,
                    point: (on_a + on_b) / 2.0,
                    on_a,
                    on_b,
                    normal: found.normal,
                    tangent: across.1,
                    gap: found.gap,
                    time: found.time,
                    law: near.law,
                    is_reliable: found.is_reliable,
                }
            }));
        }
        out.sort_unstable_by_key(|contact| contact.id);
    }

    /// Whether anything is looked for by its box.
    fn needs_boxes(&self) -> bool {
        self.has_moving_pairs || !self.solids.is_empty()
    }

    /// Finds who may come near whom, where that is not known from the last search.
    fn update_neighbours(&self, scratch: &mut Scratch) {
        let Scratch { broad, boxes, pairs, neighbours, world, .. } = scratch;
        let moving = boxes.get(self.n_ground..).unwrap_or_default();
        let is_same = world.as_ref().is_some_and(|world| Arc::ptr_eq(world, &self.identity));
        if is_same && (!self.needs_boxes() || broad.has_room(moving)) {
            return;
        }
        pairs.clear();
        if self.needs_boxes() {
            broad.find_neighbours((&self.fixed, &self.solids), self.n_ground as u32, moving, pairs);
        }
        pairs.retain(|&(i, j)| self.filter.allows(self.shapes[i as usize].body, self.shapes[j as usize].body));
        pairs.extend_from_slice(&self.on_planes);
        pairs.sort_unstable();
        neighbours.clear();
        let shape = |i: u32| &self.shapes[i as usize];
        let law = |(i, j): (u32, u32)| self.laws.between(shape(i), shape(j));
        neighbours.extend(pairs.iter().map(|&shapes| Neighbours { shapes, law: law(shapes) }));
        if !is_same {
            *world = Some(Arc::clone(&self.identity));
        }
    }

    fn update_motions(&self, poses: &[Pose], twists: &[Twist], step: f64, scratch: &mut Scratch) {
        scratch.motions.clear();
        scratch.is_finite.clear();
        scratch.boxes.clear();
        if self.needs_boxes() {
            scratch.boxes.extend_from_slice(&self.ground_boxes);
        }
        for (shape, piece) in self.shapes.iter().zip(&self.pieces) {
            let Some(body) = shape.body else {
                let (velocity, spin) = (Vec3::zeros(), Vec3::zeros());
                let motion = Motion { pose: piece.pose, velocity, spin, allowance: 0.0 };
                scratch.is_finite.push(is_finite(&motion));
                scratch.motions.push(motion);
                continue;
            };
            let pose = poses.get(body.index()).map_or_else(Pose::default, |pose| *pose);
            let twist = twists.get(body.index()).map_or_else(Twist::default, |twist| *twist);
            let lever = pose.rotation * piece.pose.translation;
            let motion = Motion {
                pose: pose * piece.pose,
                velocity: twist.linear + twist.angular.cross(&lever),
                spin: twist.angular,
                allowance: scratch.allowance.get(body.index()).copied().unwrap_or(0.0),
            };
            let is_finite = is_finite(&motion);
            scratch.is_finite.push(is_finite);
            scratch.motions.push(motion);
            if !self.needs_boxes() {
                continue;
            }
            scratch.boxes.push(if is_finite {
                // What turns stays within its reach.
                let turning = (step * motion.spin.norm()).min(1.0) * piece.reach;
                swept(bounds(piece, &motion.pose), &(motion.velocity * step), turning + motion.allowance + self.slack)
            } else {
                Aabb::new(Vector::ZERO, Vector::ZERO)
            });
        }
    }
}

/// Name of a pair of shapes.
const fn name(i: usize, j: usize) -> u64 {
    (i as u64) << 32 | j as u64
}

fn is_finite(motion: &Motion) -> bool {
    let reach = motion.pose.translation.norm_squared() + motion.velocity.norm_squared() + motion.spin.norm_squared();
    reach.is_finite() && motion.pose.rotation.iter().all(|x| x.is_finite())
}

/// The box of a piece where it is.
fn bounds(piece: &Piece, pose: &Pose) -> (Vec3, Vec3) {
    match (&piece.form, piece.placed(pose)) {
        (PieceForm::Surface(mesh), _) => surface_box(mesh, pose),
        (_, Some(placed)) => core_box(&placed),
        (_, None) => (Vec3::zeros(), Vec3::zeros()),
    }
}
