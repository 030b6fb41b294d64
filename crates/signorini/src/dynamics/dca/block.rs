//! A block: links that the articulated-body recursion assembles.
//!
//! **Problem.** Inertia, force maps and mobilities of a connected set of links, seen from its top, its bottom and its rows.
//!
//! **Method.** The inward sweep of [`super::super::recursive`] over the block's links. A unit force at a port runs
//! through the same sweep: at each speed it leaves t = sᵀF and goes on as F − U t/D, so that the ports' mobilities are
//! C = Σ tᵀt/D and, once the ports' forces λ are known, the speed's own force is u + tλ. A block of one link is the leaf of the
//! textbook; a block of all links is the recursion.
//!
//! **Cost.** That of the recursion, and about 40 operations per link on the way of each port.
//!
//! **Fails when** a link moves no inertia along its own joint (within the block); the link is remembered.
//!
//! **Checked by** `tests/dca.rs`.

use super::fused::FusedLinks;
use super::matrix::{self, Vec6};
use super::{Bias, Drive, Row};
use crate::dynamics::recursive::{Pivot, Strand, take_strand};
use crate::dynamics::tree::{Kinematics, LinkMotion, Tree};
use crate::plan::{End, Port};
use crate::spatial::{Sym6, Twist, Vec3, Wrench};

/// Inertia along a joint, over that of what it carries about any axis, which is nothing but rounding.
pub(super) const NO_INERTIA: f64 = 64.0 * f64::EPSILON;
/// A link of the block that hangs on the block's top.
pub(super) const OUTSIDE: u32 = u32::MAX;

/// End of a row on a link of the block, or on one of its speeds.
#[derive(Debug, Clone, Copy)]
struct BlockEnd {
    column: usize,
    row: usize,
    end: usize,
    link: usize,
    speed: Option<usize>,
}

/// Links of one block, and their factors.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// Links, parents first.
    pub links: Vec<usize>,
    /// Parent of each within the block.
    pub(super) parent: Vec<u32>,
    /// First speed of each within the block.
    pub(super) first: Vec<usize>,
    /// Place of each of the block's speeds among all.
    pub(super) speeds: Vec<usize>,
    pub(super) bottom: Option<usize>,
    /// Whether it hangs on the ground.
    pub(super) is_on_ground: bool,
    /// Links from the top to the bottom, and whether a link is among them.
    pub(super) way: Vec<usize>,
    pub(super) is_on_way: Vec<bool>,
    /// Whether others than the next link hang on this one.
    pub(super) collects: Vec<bool>,
    ends: Vec<BlockEnd>,
    strands: Vec<Strand>,
    /// Forces of the column at hand on speeds.
    pushed: Vec<(usize, f64)>,
    pub(super) n_columns: usize,
    pub(super) motion: Vec<LinkMotion>,
    /// Origin of each link, its velocity, and that against its parent's point there.
    pub(super) origin: Vec<Vec3>,
    pub(super) velocity: Vec<Vec3>,
    pub(super) slide: Vec<Vec3>,
    /// What only the fused route keeps of each link.
    pub(super) fused: FusedLinks,
    pub(super) unit: Vec<Twist>,
    pub(super) pivots: Vec<Pivot>,
    pub(super) is_held: Vec<bool>,
    /// Articulated inertia of each link after its own speeds were eliminated, at its own origin.
    inertia: Vec<Sym6>,
    pub(super) collected: Vec<Sym6>,
    /// t of each speed (rows) and column; on the fused route t/D.
    pub(super) passed: Vec<f64>,
    /// First link met whose joint moves no inertia.
    pub singular: Option<usize>,
}

/// Right-hand sides and results of one block.
#[derive(Debug, Clone, Default)]
pub struct BlockFlow {
    pub(super) force: Vec<f64>,
    pub(super) bias: Vec<Wrench>,
    pub(super) acceleration: Vec<Twist>,
    pub(super) rate: Vec<f64>,
}

impl Block {
    /// `rows` are the global rows of the columns after the bottom's.
    pub fn new(tree: &Tree, links: &[usize], bottom: Option<usize>, rows: &[usize], port_of: &[&Port]) -> Self {
        let local = |l: usize| links.binary_search(&l).ok();
        let mut first = Vec::with_capacity(links.len() + 1);
        let speeds: Vec<usize> = links.iter().flat_map(|&l| tree.links[l].v_range()).collect();
        let mut n_v = 0;
        for &l in links {
            first.push(n_v);
            n_v += tree.links[l].n_v as usize;
        }
        first.push(n_v);
        let parent = links.iter().map(|&l| tree.links[l].parent_index().and_then(local).map_or(OUTSIDE, |p| p as u32));
        let parent: Vec<u32> = parent.collect();
        let (mut way, mut is_on_way, mut collects) = (Vec::new(), vec![false; links.len()], vec![false; links.len()]);
        for (k, &p) in parent.iter().enumerate() {
            if p != OUTSIDE && p as usize + 1 != k {
                collects[p as usize] = true;
            }
        }
        let mut next = bottom.and_then(local);
        while let Some(k) = next {
            way.push(k);
            is_on_way[k] = true;
            next = (parent[k] != OUTSIDE).then_some(parent[k] as usize);
        }
        way.reverse();
        let base = if bottom.is_some() { 6 } else { 0 };
        let mut ends = Vec::new();
        for (k, &row) in rows.iter().enumerate() {
            for (end, on) in port_of[row].ends.iter().enumerate() {
                let Some(link) = on.link().and_then(local) else { continue };
                let of = |speed: usize| first[link] + speed - tree.links[links[link]].v as usize;
                let speed = if let End::Speed { speed, .. } = on { Some(of(*speed)) } else { None };
                ends.push(BlockEnd { column: base + k, row, end, link, speed });
            }
        }
        let n_columns = base + rows.len();
        Self {
            parent,
            first,
            speeds,
            way,
            is_on_way,
            collects,
            fused: FusedLinks::new(links.len()),
            bottom: bottom.and_then(local),
            is_on_ground: links.first().is_some_and(|&l| tree.links[l].parent_index().is_none()),
            strands: Vec::with_capacity(ends.len().max(1)),
            pushed: Vec::with_capacity(ends.len()),
            ends,
            n_columns,
            motion: vec![LinkMotion::default(); links.len()],
            origin: vec![Vec3::zeros(); links.len()],
            velocity: vec![Vec3::zeros(); links.len()],
            slide: vec![Vec3::zeros(); links.len()],
            unit: vec![Twist::default(); n_v],
            pivots: vec![Pivot::default(); n_v],
            is_held: vec![false; n_v],
            inertia: vec![Sym6::default(); links.len()],
            collected: vec![Sym6::default(); links.len()],
            passed: vec![0.0; n_v * n_columns],
            links: links.to_vec(),
            singular: None,
        }
    }

    /// Storage for right-hand sides.
    pub fn flow(&self) -> BlockFlow {
        let (n, n_v) = (self.links.len(), self.pivots.len());
        BlockFlow {
            force: vec![0.0; n_v],
            bias: vec![Wrench::default(); n],
            acceleration: vec![Twist::default(); n],
            rate: vec![0.0; n_v],
        }
    }

    /// Factors the block. Fills inertia, force map and mobility of its columns, and the natural size of each.
    #[allow(clippy::too_many_arguments)]
    pub fn factor(
        &mut self,
        tree: &Tree,
        kinematics: &Kinematics,
        held: &[bool],
        rows: &[Row],
        force: &mut [f64],
        mobility: &mut [f64],
        size: &mut [f64],
    ) -> Sym6 {
        let mut whole = Sym6::default();
        self.singular = None;
        self.collected.fill(Sym6::default());
        for (k, &l) in self.links.iter().enumerate().rev() {
            let link = &tree.links[l];
            let motion = kinematics.links[l];
            let mut inertia = self.collected[k] + link.inertia.rotated(&motion.rotation).to_sym6();
            for (v, global) in (self.first[k]..).zip(link.v_range()) {
                let s = kinematics.unit_motion(l, link, global);
                self.unit[v] = s;
                self.is_held[v] = held[global];
                if held[global] {
                    self.pivots[v] = Pivot::default();
                    continue;
                }
                let across = inertia.times(&s);
                let along = s.dot(&across) + kinematics.armature[global];
                let scale =
                    s.angular.norm_squared() * inertia.aa.trace() + s.linear.norm_squared() * inertia.ll.trace();
                if along <= NO_INERTIA * scale || along.is_nan() {
                    self.singular = Some(l);
                }
                let inverse = 1.0 / along;
                self.pivots[v] = Pivot { across, inverse, force: 0.0 };
                inertia = inertia.minus_outer(&across, &(across * inverse));
            }
            self.motion[k] = motion;
            self.inertia[k] = inertia;
            let moved = inertia.shifted(&motion.offset);
            match self.parent[k] {
                OUTSIDE => whole += moved,
                p => self.collected[p as usize] += moved,
            }
        }
        // The fused sweep expects what is collected to start from nothing.
        self.collected.fill(Sym6::default());
        self.pass_columns(rows, force, size);
        self.mobilities(mobility);
        whole
    }

    /// Runs a unit force of every column through the block.
    fn pass_columns(&mut self, rows: &[Row], force: &mut [f64], size: &mut [f64]) {
        self.passed.fill(0.0);
        let base = if self.bottom.is_some() { 6 } else { 0 };
        if let Some(bottom) = self.bottom {
            for j in 0..6 {
                let mut unit = [0.0; 6];
                unit[j] = 1.0;
                self.strands.push(Strand::new(bottom, matrix::wrench(&unit)));
                self.pass(j, &mut force[6 * j..6 * j + 6]);
                size[j] = 0.0;
            }
        }
        let mut next = 0;
        for j in base..self.n_columns {
            while next < self.ends.len() && self.ends[next].column == j {
                let BlockEnd { row, end, link, speed, .. } = self.ends[next];
                match speed {
                    Some(speed) => self.pushed.push((speed, rows[row].pushes[end].force)),
                    None => self.strands.push(Strand::new(link, rows[row].pushes[end].wrench)),
                }
                next += 1;
            }
            size[j] = self.pass(j, &mut force[6 * j..6 * j + 6]);
        }
    }

    /// One column: the forces in `strands` and `pushed`, inwards. Returns the mobility it would have if nothing cancelled: where ways
    /// meet the forces may cancel, and from there on it counts what came together, not what is left.
    fn pass(&mut self, column: usize, out: &mut [f64]) -> f64 {
        let (mut square, mut whole) = (0.0, Wrench::default());
        // A speed without a wrench on its link starts with none.
        for at in 0..self.pushed.len() {
            let link = self.first.partition_point(|first| *first <= self.pushed[at].0) - 1;
            self.strands.push(Strand::new(link, Wrench::default()));
        }
        while let Some(k) = self.strands.iter().map(|s| s.link).max() {
            let Strand { wrench: mut w, mut met_moment, met_force, .. } = take_strand(&mut self.strands, k);
            for v in self.first[k]..self.first[k + 1] {
                let pivot = &self.pivots[v];
                if self.is_held[v] {
                    continue;
                }
                let s = &self.unit[v];
                let own: f64 = self.pushed.iter().filter(|(speed, _)| *speed == v).map(|(_, force)| force).sum();
                let along = if own == 0.0 { s.dot(&w) } else { s.dot(&w) + own };
                let (moment, push) = (w.moment.norm().max(met_moment), w.force.norm().max(met_force));
                let scale = s.angular.norm() * moment + s.linear.norm() * push + own.abs();
                square += scale * scale * pivot.inverse;
                self.passed[v * self.n_columns + column] = along;
                w = w - pivot.across * (along * pivot.inverse);
            }
            let offset = &self.motion[k].offset;
            met_moment += offset.norm() * met_force;
            let w = w.shifted(offset);
            match self.parent[k] {
                OUTSIDE => whole += w,
                p => self.strands.push(Strand { link: p as usize, wrench: w, met_moment, met_force }),
            }
        }
        self.pushed.clear();
        out.copy_from_slice(&whole.to_array());
        square
    }

    fn mobilities(&self, mobility: &mut [f64]) {
        let n = self.n_columns;
        mobility.fill(0.0);
        for (pivot, t) in self.pivots.iter().zip(self.passed.chunks_exact(n.max(1))) {
            for j in 0..n {
                let s = t[j] * pivot.inverse;
                if s != 0.0 {
                    for i in 0..n {
                        mobility[j * n + i] += t[i] * s;
                    }
                }
            }
        }
        for j in 0..n {
            for i in 0..j {
                mobility[i * n + j] = mobility[j * n + i];
            }
        }
    }

    /// Forces inwards with nothing at the ports; then what the ports would do if the top did not move (`free`). Returns the bias
    /// force at the top.
    pub fn rise(&self, tree: &Tree, drive: &Drive<'_>, rows: &[Row], flow: &mut BlockFlow, free: &mut [f64]) -> Vec6 {
        let mut whole = Wrench::default();
        flow.bias.fill(Wrench::default());
        for (k, &l) in self.links.iter().enumerate().rev() {
            let (link, motion) = (&tree.links[l], &self.motion[k]);
            let mut bias = flow.bias[k];
            let mut c = Twist::default();
            if drive.bias == Bias::Velocities {
                bias += link.inertia.rotated(&motion.rotation).gyroscopic(&motion.omega);
                c = motion.bias;
            }
            if let Some(external) = drive.external {
                bias = bias - external[l];
            }
            for (v, global) in (self.first[k]..).zip(link.v_range()) {
                if self.is_held[v] {
                    c += self.unit[v] * drive.held.get(global).copied().unwrap_or(0.0);
                    continue;
                }
                let pivot = &self.pivots[v];
                let force = drive.tau.get(global).copied().unwrap_or(0.0) - self.unit[v].dot(&bias);
                flow.force[v] = force;
                bias += pivot.across * (force * pivot.inverse);
            }
            let moved = (bias + self.inertia[k].times(&c)).shifted(&motion.offset);
            match self.parent[k] {
                OUTSIDE => whole += moved,
                p => flow.bias[p as usize] += moved,
            }
        }
        flow.bias.fill(Wrench::default());
        if self.n_columns > 0 {
            self.sweep_out(tree, drive, &Twist::default(), flow);
            self.read_ports(rows, flow, free);
        }
        whole.to_array()
    }

    /// Motions at the ports.
    fn read_ports(&self, rows: &[Row], flow: &BlockFlow, out: &mut [f64]) {
        out.fill(0.0);
        if let Some(bottom) = self.bottom {
            out[..6].copy_from_slice(&flow.acceleration[bottom].to_array());
        }
        for end in &self.ends {
            let push = &rows[end.row].pushes[end.end];
            out[end.column] += match end.speed {
                Some(speed) => flow.rate[speed] * push.force,
                None => flow.acceleration[end.link].dot(&push.wrench),
            };
        }
    }

    /// Everything within, once the motion of the top and the forces at the ports are known.
    pub fn sink(&self, tree: &Tree, drive: &Drive<'_>, top: &Vec6, lambda: &[f64], flow: &mut BlockFlow) {
        if self.n_columns > 0 {
            for (force, t) in flow.force.iter_mut().zip(self.passed.chunks_exact(self.n_columns)) {
                *force += t.iter().zip(lambda).map(|(t, l)| t * l).sum::<f64>();
            }
        }
        self.sweep_out(tree, drive, &matrix::twist(top), flow);
    }

    fn sweep_out(&self, tree: &Tree, drive: &Drive<'_>, top: &Twist, flow: &mut BlockFlow) {
        for (k, &l) in self.links.iter().enumerate() {
            let motion = &self.motion[k];
            let inner = match self.parent[k] {
                OUTSIDE => top,
                p => &flow.acceleration[p as usize],
            };
            let mut a = inner.shifted(&motion.offset);
            if drive.bias == Bias::Velocities {
                a += motion.bias;
            }
            let range = self.first[k]..self.first[k + 1];
            let global = tree.links[l].v as usize;
            for v in range.clone().filter(|&v| self.is_held[v]) {
                flow.rate[v] = drive.held.get(global + v - range.start).copied().unwrap_or(0.0);
                a += self.unit[v] * flow.rate[v];
            }
            for v in range.rev().filter(|&v| !self.is_held[v]) {
                let pivot = &self.pivots[v];
                flow.rate[v] = (flow.force[v] - a.dot(&pivot.across)) * pivot.inverse;
                a += self.unit[v] * flow.rate[v];
            }
            flow.acceleration[k] = a;
        }
    }

    /// Copies rates to where the tree keeps them.
    pub fn gather_rates(&self, flow: &BlockFlow, rates: &mut [f64]) {
        self.speeds.iter().zip(&flow.rate).for_each(|(&v, &rate)| rates[v] = rate);
    }
}
