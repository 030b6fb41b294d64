//! Positions, velocities and accelerations of all links, along the tree of clusters.
//!
//! **Problem.** Where all links are and how they move follows from coordinates and speeds. A sweep from the ground outwards
//! takes as many steps, one after the other, as the longest way has links.
//!
//! **Method.** Up the tree: each block finds where its bottom is and how it moves, seen from its top, and these compose. Down: where
//! every top is. Then each block sweeps its own links. Accelerations likewise: they are affine in that of the top.
//!
//! **Cost.** Two sweeps over the links on the ways from tops to bottoms, one over others; one after the other two visits per level of
//! the tree, and those within one block.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/dca.rs`: against the recursion's sweep, and by the counted depth.

use super::block::{Block, BlockFlow, OUTSIDE};
use super::node::{Flow, Kind, Node};
use super::{Dca, SMALL, both, halves};
use crate::dynamics::tree::{Kinematics, Link, LinkKind, LinkMotion, Tree, turn_axes};
use crate::model::joint::JointMotion;
use crate::spatial::{Mat3, Twist, Vec3, product};

/// Where a body is and how it moves, seen from another.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    rotation: Mat3,
    origin: Vec3,
    omega: Vec3,
    velocity: Vec3,
}

impl Default for Place {
    fn default() -> Self {
        let zero = Vec3::zeros();
        Self { rotation: Mat3::identity(), origin: zero, omega: zero, velocity: zero }
    }
}

impl Place {
    /// A place given in this one, as seen from where this one is.
    fn then(&self, o: &Self) -> Self {
        let arm = self.rotation * o.origin;
        Self {
            rotation: self.rotation * o.rotation,
            origin: self.origin + arm,
            omega: self.omega + self.rotation * o.omega,
            velocity: self.velocity + self.omega.cross(&arm) + self.rotation * o.velocity,
        }
    }

    /// Place of a link that hangs here, by its motion and its sliding velocity.
    fn of_link(&self, motion: &LinkMotion, slide: &Vec3) -> Self {
        Self {
            rotation: motion.rotation,
            origin: self.origin + motion.offset,
            omega: motion.omega,
            velocity: self.velocity + self.omega.cross(&motion.offset) + slide,
        }
    }
}

/// Acceleration of a bottom whose top has none, and the way between their origins.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gain {
    acceleration: Twist,
    arm: Vec3,
}

/// Coordinates and speeds of a tree.
struct Source<'a> {
    tree: &'a Tree,
    q: &'a [f64],
    v: &'a [f64],
}

/// Rates of speeds at known kinematics.
struct Rates<'a> {
    tree: &'a Tree,
    kinematics: &'a Kinematics,
    vdot: &'a [f64],
}

impl Dca {
    /// Positions and velocities of all links. The longest row of visits that follow one another is added to `depth`.
    pub fn update_kinematics(&mut self, tree: &Tree, q: &[f64], v: &[f64], out: &mut Kinematics) {
        let source = Source { tree, q, v };
        self.depth += reach(&self.nodes, &mut self.flows, &source);
        if let Some(flow) = self.flows.last_mut() {
            flow.place = Place::default();
        }
        self.depth += place(&mut self.nodes, &mut self.flows, &source);
        let (nodes, at) = (&self.nodes, &self.link_at);
        let block = |l: usize| (nodes[at[l].0].block(), at[l].1);
        let copy = |from: fn(&Block, usize) -> Vec3| move |l: usize| block(l).0.map(|b| from(b, block(l).1));
        spread(&mut out.links, 0, &|l| block(l).0.map(|b| b.motion[block(l).1]));
        spread(&mut out.origin, 0, &copy(|b, k| b.origin[k]));
        spread(&mut out.velocity, 0, &copy(|b, k| b.velocity[k]));
        spread(&mut out.slide, 0, &copy(|b, k| b.slide[k]));
        let at = &self.speed_at;
        spread(&mut out.columns, 0, &|v| nodes[at[v].0].block().map(|b| b.unit[at[v].1]));
        self.work += 2 * tree.links.len() as u64;
    }

    /// Accelerations of all links from the rates of the speeds.
    pub fn update_accelerations(
        &mut self,
        tree: &Tree,
        kinematics: &Kinematics,
        ground: &Twist,
        vdot: &[f64],
        out: &mut [Twist],
    ) {
        let rates = Rates { tree, kinematics, vdot };
        self.depth += gain(&self.nodes, &mut self.flows, &rates);
        if let Some(flow) = self.flows.last_mut() {
            flow.top = ground.to_array();
        }
        self.depth += follow(&self.nodes, &mut self.flows, &rates);
        let (flows, at) = (&self.flows, &self.link_at);
        spread(out, 0, &|l| Some(flows[at[l].0].block.acceleration[at[l].1]));
        self.work += tree.links.len() as u64;
    }
}

/// Fills a slice whose first entry has the index `from`, by halves side by side.
pub(super) fn spread<T: Send>(out: &mut [T], from: usize, value: &(impl Fn(usize) -> Option<T> + Sync)) {
    if out.len() < 2 * SMALL {
        for (i, to) in out.iter_mut().enumerate() {
            if let Some(found) = value(from + i) {
                *to = found;
            }
        }
        return;
    }
    let half = out.len() / 2;
    let (a, b) = out.split_at_mut(half);
    both(half, || spread(a, from, value), || spread(b, from + half, value));
}

/// Up: every bottom seen from its top. Returns the longest row of visits.
fn reach(nodes: &[Node], flows: &mut [Flow], source: &Source<'_>) -> usize {
    let (Some((node, parts)), Some((flow, part_flows))) = (nodes.split_last(), flows.split_last_mut()) else {
        return 0;
    };
    if let Kind::Block(block) = &node.kind {
        flow.reach = block.reach(source);
        return block.way.len();
    }
    let (first, second) = halves(parts);
    let small = parts[first].n_links.min(parts[second].n_links);
    let (a, b) = parts.split_at(first + 1);
    let (fa, fb) = part_flows.split_at_mut(first + 1);
    let (da, db) = both(small, || reach(a, fa, source), || reach(b, fb, source));
    if let (Some(fa), Some(fb)) = (fa.last(), fb.last()) {
        flow.reach = match node.kind {
            Kind::Compress => fa.reach.then(&fb.reach),
            _ if parts[second].base > 0 => fb.reach,
            _ => fa.reach,
        };
    }
    1 + da.max(db)
}

/// Down: every top in the world, and the links of the blocks.
fn place(nodes: &mut [Node], flows: &mut [Flow], source: &Source<'_>) -> usize {
    let (Some((node, parts)), Some((flow, part_flows))) = (nodes.split_last_mut(), flows.split_last_mut()) else {
        return 0;
    };
    if let Kind::Block(block) = &mut node.kind {
        block.place(source, &flow.place);
        return block.links.len();
    }
    let (first, second) = halves(parts);
    let small = parts[first].n_links.min(parts[second].n_links);
    let (a, b) = parts.split_at_mut(first + 1);
    let (fa, fb) = part_flows.split_at_mut(first + 1);
    if let (Some(fa), Some(fb)) = (fa.last_mut(), fb.last_mut()) {
        fa.place = flow.place;
        fb.place = if matches!(node.kind, Kind::Compress) { flow.place.then(&fa.reach) } else { flow.place };
    }
    let (da, db) = both(small, || place(a, fa, source), || place(b, fb, source));
    1 + da.max(db)
}

/// Up: how every bottom is accelerated against its top.
fn gain(nodes: &[Node], flows: &mut [Flow], rates: &Rates<'_>) -> usize {
    let (Some((node, parts)), Some((flow, part_flows))) = (nodes.split_last(), flows.split_last_mut()) else {
        return 0;
    };
    if let Kind::Block(block) = &node.kind {
        flow.gain = block.gain(rates);
        return block.way.len();
    }
    let (first, second) = halves(parts);
    let small = parts[first].n_links.min(parts[second].n_links);
    let (a, b) = parts.split_at(first + 1);
    let (fa, fb) = part_flows.split_at_mut(first + 1);
    let (da, db) = both(small, || gain(a, fa, rates), || gain(b, fb, rates));
    if let (Some(fa), Some(fb)) = (fa.last(), fb.last()) {
        flow.gain = match node.kind {
            Kind::Compress => Gain {
                acceleration: fa.gain.acceleration.shifted(&fb.gain.arm) + fb.gain.acceleration,
                arm: fa.gain.arm + fb.gain.arm,
            },
            _ if parts[second].base > 0 => fb.gain,
            _ => fa.gain,
        };
    }
    1 + da.max(db)
}

/// Down: accelerations of the tops, and of the blocks' links.
fn follow(nodes: &[Node], flows: &mut [Flow], rates: &Rates<'_>) -> usize {
    let (Some((node, parts)), Some((flow, part_flows))) = (nodes.split_last(), flows.split_last_mut()) else {
        return 0;
    };
    let top = super::matrix::twist(&flow.top);
    if let Kind::Block(block) = &node.kind {
        block.follow(rates, &top, &mut flow.block);
        return block.links.len();
    }
    let (first, second) = halves(parts);
    let small = parts[first].n_links.min(parts[second].n_links);
    let (a, b) = parts.split_at(first + 1);
    let (fa, fb) = part_flows.split_at_mut(first + 1);
    if let (Some(fa), Some(fb)) = (fa.last_mut(), fb.last_mut()) {
        (fa.top, fb.top) = (flow.top, flow.top);
        if matches!(node.kind, Kind::Compress) {
            fb.top = (top.shifted(&fa.gain.arm) + fa.gain.acceleration).to_array();
        }
    }
    let (da, db) = both(small, || follow(a, fa, rates), || follow(b, fb, rates));
    1 + da.max(db)
}

/// Motion of a link that hangs at a given place, and the velocity with which it slides there.
fn find_motion(link: &Link, source: &Source<'_>, inner: &Place, general: &mut JointMotion) -> (LinkMotion, Vec3) {
    let spin = inner.omega;
    let arm = product(&inner.rotation, &link.position);
    let axes = if link.is_parallel { inner.rotation } else { inner.rotation * link.rotation };
    match link.kind {
        LinkKind::Revolute(axis) => {
            let rate = axis.of(&axes) * source.v[link.v as usize];
            let mut rotation = axes;
            turn_axes(&axes, axis, source.q[link.q as usize].sin_cos(), &mut rotation);
            let bias = Twist::new(spin.cross(&rate), spin.cross(&spin.cross(&arm)));
            (LinkMotion { rotation, offset: arm, omega: spin + rate, bias }, Vec3::zeros())
        }
        LinkKind::General { joint, reversed } => {
            joint.motion(reversed, &source.q[link.q_range()], &source.v[link.v_range()], &axes, general);
            let (offset, rate) = (arm + general.offset, general.rate);
            let linear = spin.cross(&spin.cross(&offset)) + spin.cross(&rate.linear) * 2.0;
            let bias = Twist::new(spin.cross(&rate.angular), linear) + general.bias;
            let motion = LinkMotion { rotation: general.rotation, offset, omega: spin + rate.angular, bias };
            (motion, rate.linear)
        }
    }
}

impl Block {
    fn reach(&self, source: &Source<'_>) -> Place {
        let (mut at, mut general) = (Place::default(), JointMotion::default());
        for &k in &self.way {
            let (motion, slide) = find_motion(&source.tree.links[self.links[k]], source, &at, &mut general);
            at = at.of_link(&motion, &slide);
        }
        at
    }

    fn place(&mut self, source: &Source<'_>, top: &Place) {
        let mut general = JointMotion::default();
        for (k, &l) in self.links.iter().enumerate() {
            let link = &source.tree.links[l];
            let inner = match self.parent[k] {
                OUTSIDE => *top,
                p => {
                    let (p, motion) = (p as usize, &self.motion[p as usize]);
                    let (rotation, omega) = (motion.rotation, motion.omega);
                    Place { rotation, omega, origin: self.origin[p], velocity: self.velocity[p] }
                }
            };
            let (motion, slide) = find_motion(link, source, &inner, &mut general);
            let at = inner.of_link(&motion, &slide);
            if let LinkKind::General { .. } = link.kind {
                self.unit[self.first[k]..self.first[k + 1]].copy_from_slice(&general.columns[..link.n_v as usize]);
            }
            (self.motion[k], self.slide[k]) = (motion, slide);
            (self.origin[k], self.velocity[k]) = (at.origin, at.velocity);
        }
    }

    /// Acceleration of a link by that of its parent.
    fn accelerate(&self, k: usize, rates: &Rates<'_>, inner: &Twist) -> Twist {
        let l = self.links[k];
        let (link, motion) = (&rates.tree.links[l], &rates.kinematics.links[l]);
        let a = inner.shifted(&motion.offset) + motion.bias;
        link.v_range().fold(a, |a, v| a + rates.kinematics.unit_motion(l, link, v) * rates.vdot[v])
    }

    fn gain(&self, rates: &Rates<'_>) -> Gain {
        let mut gain = Gain::default();
        for &k in &self.way {
            gain.acceleration = self.accelerate(k, rates, &gain.acceleration);
            gain.arm += rates.kinematics.links[self.links[k]].offset;
        }
        gain
    }

    fn follow(&self, rates: &Rates<'_>, top: &Twist, flow: &mut BlockFlow) {
        for k in 0..self.links.len() {
            let inner = if self.parent[k] == OUTSIDE { *top } else { flow.acceleration[self.parent[k] as usize] };
            flow.acceleration[k] = self.accelerate(k, rates, &inner);
        }
    }
}
