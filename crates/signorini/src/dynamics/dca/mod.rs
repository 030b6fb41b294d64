//! Divide and conquer: clusters of links with ports, merged along a fixed tree.
//!
//! **Problem.** Accelerations, velocity jumps or displacements of a mechanism with loops, with few operations one after the
//! other, and with local work after a local change.
//!
//! **Method.** Clusters are assembled along an [`Elimination`] tree (`node.rs`), from blocks that the recursion handles
//! (`block.rs`). Assembly is in two halves: [`Dca::factor`] depends on the configuration only; [`Dca::solve`] carries
//! right-hand sides up and answers down, any number of times. Both run over the tree's branches side by side; the tree is fixed
//! by the plan, so the result has the same bits on any number of threads. After a change at one link
//! [`Dca::refactor_path`] repeats only what lies between it and the root.
//!
//! **Cost.** O(n) work and O(log n) merges one after the other, where few rows are open at a time.
//!
//! **Fails when** a link moves no inertia along its own joint before others are merged to it, which the recursion would
//! still do: [`Dca::singular`].
//!
//! **Checked by** `tests/dca.rs`.

mod block;
mod contact;
mod formulation;
mod fused;
mod matrix;
mod node;
mod outward;

use crate::dynamics::row::Pushed;
use crate::dynamics::tree::{Kinematics, Tree};
use crate::plan::{Elimination, End, Merge, Port};
use crate::spatial::{Twist, Wrench};
use block::Block;
pub(crate) use contact::Kept;
pub(crate) use formulation::Clusters;
use formulation::write_row;
pub use fused::Motion;
use node::{Flow, Kind, Node};
use outward::spread;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

/// Branches with fewer links than this run one after the other.
const SMALL: usize = 192;
/// How often a thread whose branch is done looks for other work before it may sleep: about a tenth of a millisecond. The passes
/// of one evaluation follow one another closely, and with this they were measured to wait less: see `book/divide-and-conquer.md`.
const PATIENCE: usize = 1000;

/// Unit force of a row at one of its port's ends.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Push {
    /// On a link, at its origin, world axes.
    pub wrench: Wrench,
    /// On a speed.
    pub force: f64,
}

/// A scalar condition, or a direction of a contact.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Unit force of the row at each of its port's ends; none at the ground.
    pub pushes: Vec<Push>,
    /// Motion along the row per force that it gives way by: one over a rotor's inertia.
    pub compliance: f64,
    /// Whether the row acts.
    pub is_active: bool,
}

impl Default for Row {
    fn default() -> Self {
        Self { pushes: Vec::new(), compliance: 0.0, is_active: true }
    }
}

/// Where accelerations come from that no changing speed causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bias {
    /// From velocities: centripetal and gyroscopic terms.
    Velocities,
    /// There are none: velocity jumps and displacements.
    None,
}

/// What a solve answers to. Empty slices stand for zeros.
#[derive(Debug, Clone, Copy)]
pub struct Drive<'a> {
    /// Force on each speed.
    pub tau: &'a [f64],
    /// Wrench on each link at its origin.
    pub external: Option<&'a [Wrench]>,
    /// Bias accelerations.
    pub bias: Bias,
    /// Rates of held speeds.
    pub held: &'a [f64],
    /// Motion of the ground: minus gravity, or none.
    pub ground: Twist,
    /// Wanted motion along each row.
    pub wanted: &'a [f64],
    /// Force of each kept row.
    pub kept: &'a [f64],
}

impl Default for Drive<'_> {
    fn default() -> Self {
        let ground = Twist::default();
        Self { tau: &[], external: None, bias: Bias::None, held: &[], ground, wanted: &[], kept: &[] }
    }
}

/// What all clusters read while they are worked on.
struct Task<'a> {
    tree: &'a Tree,
    kinematics: &'a Kinematics,
    held: &'a [bool],
    rows: &'a [Row],
}

/// Clusters of one mechanism, with scratch.
#[derive(Debug, Clone)]
pub struct Dca {
    /// The tree of clusters.
    pub plan: Elimination,
    /// Rows of all ports, port by port.
    pub rows: Vec<Row>,
    /// Whether a speed is held at a given rate: prescribed, or locked.
    pub held: Vec<bool>,
    /// Force of each row by the last solve.
    pub lambda: Vec<f64>,
    /// Acceleration of each link's origin by the last solve.
    pub acceleration: Vec<Twist>,
    /// Merges so far.
    pub merges: u64,
    /// Link visits so far.
    pub work: u64,
    /// Visits that followed one another in the outward sweeps so far.
    pub depth: usize,
    nodes: Vec<Node>,
    flows: Vec<Flow>,
    /// Cluster that each cluster is merged into.
    whole: Vec<Option<usize>>,
    /// Cluster that is the block of each link, and the link's place in it; likewise of each speed.
    link_at: Vec<(usize, usize)>,
    speed_at: Vec<(usize, usize)>,
    /// First row of each port.
    first_row: Vec<usize>,
}

impl Row {
    /// Room for a row of a port.
    fn for_port(port: &Port) -> Self {
        Self { pushes: vec![Push::default(); port.ends.len()], ..Self::default() }
    }

    /// Adds what a unit force of the row does at one of its port's ends. Most ends are told of once, and keep their bits.
    pub(crate) fn add_push(&mut self, ends: &[End], pushed: Pushed) {
        let is_at = |end: &End| match (*end, pushed) {
            (End::Link(link), Pushed::Link(at, _)) => link == at,
            (End::Speed { speed, .. }, Pushed::Speed(at, _)) => speed == at,
            _ => false,
        };
        let Some(own) = ends.iter().position(is_at).map(|e| &mut self.pushes[e]) else { return };
        match pushed {
            Pushed::Link(_, wrench) if own.wrench == Wrench::default() => own.wrench = wrench,
            Pushed::Link(_, wrench) => own.wrench += wrench,
            Pushed::Speed(_, force) => own.force += force,
        }
    }
}

impl Dca {
    /// For a tree, ports, and an elimination tree of both.
    pub fn new(tree: &Tree, ports: &[Port], plan: Elimination) -> Self {
        let mut first_row = Vec::with_capacity(ports.len());
        let mut port_of: Vec<&Port> = Vec::new();
        for port in ports {
            first_row.push(port_of.len());
            port_of.extend((0..port.n_rows).map(|_| port));
        }
        let rows_of = |list: &[usize]| -> Vec<usize> {
            list.iter().flat_map(|&k| first_row[k]..first_row[k] + ports[k].n_rows).collect()
        };
        let mut nodes: Vec<Node> = Vec::with_capacity(plan.clusters.len());
        let (mut link_at, mut speed_at) = (vec![(0, 0); tree.links.len()], vec![(0, 0); tree.n_v]);
        let mut whole = vec![None; plan.clusters.len()];
        for (c, cluster) in plan.clusters.iter().enumerate() {
            let base = if cluster.bottom.is_some() { 6 } else { 0 };
            let closed = rows_of(&cluster.closed);
            let n_closed = closed.len();
            let rows = [rows_of(&cluster.open), closed].concat();
            let kind = match cluster.merge {
                Merge::Block { start, end } => {
                    let block = Block::new(tree, &plan.order[start..end], cluster.bottom, &rows, &port_of);
                    block.links.iter().enumerate().for_each(|(k, &l)| link_at[l] = (c, k));
                    block.speeds.iter().enumerate().for_each(|(k, &v)| speed_at[v] = (c, k));
                    Kind::Block(Box::new(block))
                }
                Merge::Compress => Kind::Compress,
                Merge::Rake => Kind::Rake,
            };
            let mut node = Node::new(kind, cluster.n_clusters, cluster.n_links, base, rows, n_closed);
            if !matches!(cluster.merge, Merge::Block { .. }) {
                let (first, second) = halves(&nodes);
                (whole[first], whole[second]) = (Some(c), Some(c));
                let (first, second) = (&nodes[first], &nodes[second]);
                let place = |part: &Node, skip: usize| -> Vec<usize> {
                    let find = |row: &usize| base + node.rows.iter().position(|r| r == row).unwrap_or(0);
                    let own = skip..part.base;
                    own.chain(part.rows[..part.n_open - part.base].iter().map(find)).collect()
                };
                let skip = if matches!(cluster.merge, Merge::Compress) { 6 } else { 0 };
                (node.first, node.second) = (place(first, skip), place(second, 0));
            }
            node.reserve();
            nodes.push(node);
        }
        let flows = nodes.iter().map(Node::flow).collect();
        Self {
            rows: port_of.iter().map(|port| Row::for_port(port)).collect(),
            held: tree.prescribed.clone(),
            lambda: vec![0.0; port_of.len()],
            acceleration: vec![Twist::default(); tree.links.len()],
            merges: 0,
            work: 0,
            depth: 0,
            nodes,
            flows,
            whole,
            link_at,
            speed_at,
            first_row,
            plan,
        }
    }

    /// First row of a port.
    pub fn first_row(&self, port: usize) -> usize {
        self.first_row[port]
    }

    /// Assembles all clusters at the configuration of `kinematics`, with the rows and held speeds as they are set.
    pub fn factor(&mut self, tree: &Tree, kinematics: &Kinematics) {
        let task = Task { tree, kinematics, held: &self.held, rows: &self.rows };
        factor(&mut self.nodes, &task);
        self.merges += self.plan.n_merges() as u64;
        self.work += tree.links.len() as u64;
    }

    /// Assembles again what lies between a link and the root, after something changed at this link alone: a speed held or let go.
    pub fn refactor_path(&mut self, tree: &Tree, kinematics: &Kinematics, link: usize) {
        let task = Task { tree, kinematics, held: &self.held, rows: &self.rows };
        let block = self.link_at[link].0;
        self.nodes[block].factor_block(&task);
        self.work += self.nodes[block].n_links as u64;
        let mut next = self.whole[block];
        while let Some(c) = next {
            let (parts, rest) = self.nodes.split_at_mut(c);
            let (first, second) = halves(parts);
            rest[0].factor_merge(&parts[first], &parts[second], &self.rows);
            self.merges += 1;
            next = self.whole[c];
        }
    }

    /// Answers to a drive: rates of all speeds (into `rates`), motions of all links and forces of all rows.
    pub fn solve(&mut self, tree: &Tree, kinematics: &Kinematics, drive: &Drive<'_>, rates: &mut [f64]) {
        let task = Task { tree, kinematics, held: &self.held, rows: &self.rows };
        rise(&self.nodes, &mut self.flows, &task, drive);
        if let (Some(node), Some(flow)) = (self.nodes.last(), self.flows.last_mut()) {
            node.sink_root(drive, flow);
        }
        sink(&self.nodes, &mut self.flows, &task, drive);
        let (flows, links, speeds) = (&self.flows, &self.link_at, &self.speed_at);
        spread(rates, 0, &|v| Some(flows[speeds[v].0].block.rate[speeds[v].1]));
        spread(&mut self.acceleration, 0, &|l| Some(flows[links[l].0].block.acceleration[links[l].1]));
        for (node, flow) in self.nodes.iter().zip(&self.flows) {
            for j in node.n_open..node.n_columns {
                self.lambda[node.rows[j - node.base]] = flow.lambda[j];
            }
        }
        self.work += 2 * tree.links.len() as u64;
    }

    /// First link found whose joint moves no inertia of its own block.
    pub fn singular(&self) -> Option<usize> {
        self.nodes.iter().find_map(|node| if let Kind::Block(block) = &node.kind { block.singular } else { None })
    }

    /// Rows that depended on others at the last assembly; their forces are not unique.
    pub fn dependent_rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes.iter().flat_map(move |node| {
            let closed = &node.rows[node.n_open - node.base..];
            let dependent = node.closed.permutation.get(node.closed.rank..).unwrap_or_default();
            dependent.iter().map(|&i| closed[i]).filter(|&r| self.rows[r].is_active)
        })
    }

    /// Mobility of the kept rows at the root, loops included: the Delassus matrix, row by row of the rows in `kept_rows`.
    pub fn delassus(&self, out: &mut Vec<f64>) {
        out.clear();
        if let Some(root) = self.nodes.last() {
            for j in 0..root.n_open {
                out.extend((0..root.n_open).map(|i| root.mobility[j * root.n_columns + i]));
            }
        }
    }

    /// Global rows that are open at the root.
    pub fn kept_rows(&self) -> &[usize] {
        self.nodes.last().map_or(&[], |root| &root.rows[..root.n_open - root.base])
    }
}

/// Places of the two parts of the cluster that follows `parts`.
fn halves(parts: &[Node]) -> (usize, usize) {
    let second = parts.len() - 1;
    (second - parts[second].n_clusters, second)
}

/// Runs two tasks side by side where both are large enough to be worth it and the caller runs in a pool of threads.
fn both<A: Send, B: Send>(small: usize, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    let is_alone = small < SMALL || rayon::current_thread_index().is_none() || rayon::current_num_threads() == 1;
    if is_alone {
        return (a(), b());
    }
    let (a_is_done, b_is_taken, b_is_done) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    rayon::join(
        || {
            let found = a();
            a_is_done.store(true, Release);
            linger(|| b_is_taken.load(Acquire) && !b_is_done.load(Acquire));
            found
        },
        || {
            b_is_taken.store(true, Release);
            let found = b();
            b_is_done.store(true, Release);
            linger(|| !a_is_done.load(Acquire));
            found
        },
    )
}

/// Stays awake while the other branch is under way, and does what work there is, for a while. What is computed does not depend on it.
fn linger(is_under_way: impl Fn() -> bool) {
    let mut rounds = 0;
    while rounds < PATIENCE && is_under_way() {
        if rayon::yield_now() != Some(rayon::Yield::Executed) {
            std::hint::spin_loop();
            rounds += 1;
        }
    }
}

fn factor(nodes: &mut [Node], task: &Task<'_>) {
    let Some((node, parts)) = nodes.split_last_mut() else { return };
    if let Kind::Block(_) = node.kind {
        node.factor_block(task);
        return;
    }
    let (first, _) = halves(parts);
    let (a, b) = parts.split_at_mut(first + 1);
    let small = a[first].n_links.min(b[b.len() - 1].n_links);
    both(small, || factor(a, task), || factor(b, task));
    if let (Some(a), Some(b)) = (a.last(), b.last()) {
        node.factor_merge(a, b, task.rows);
    }
}

fn rise(nodes: &[Node], flows: &mut [Flow], task: &Task<'_>, drive: &Drive<'_>) {
    let (Some((node, parts)), Some((flow, part_flows))) = (nodes.split_last(), flows.split_last_mut()) else { return };
    if let Kind::Block(_) = node.kind {
        node.rise_block(task, drive, flow);
        return;
    }
    let (first, second) = halves(parts);
    let (fa, fb) = part_flows.split_at_mut(first + 1);
    let (a, b) = parts.split_at(first + 1);
    let small = parts[first].n_links.min(parts[second].n_links);
    both(small, || rise(a, fa, task, drive), || rise(b, fb, task, drive));
    if let (Some(fa), Some(fb)) = (fa.last(), fb.last()) {
        node.rise_merge((&parts[first], &parts[second]), (fa, fb), drive, flow);
    }
}

fn sink(nodes: &[Node], flows: &mut [Flow], task: &Task<'_>, drive: &Drive<'_>) {
    let (Some((node, parts)), Some((flow, part_flows))) = (nodes.split_last(), flows.split_last_mut()) else { return };
    if let Kind::Block(_) = node.kind {
        node.sink_block(task, drive, flow);
        return;
    }
    let (first, second) = halves(parts);
    let (fa, fb) = part_flows.split_at_mut(first + 1);
    if let (Some(fa), Some(fb)) = (fa.last_mut(), fb.last_mut()) {
        node.sink_merge((&parts[first], &parts[second]), drive, flow, (fa, fb));
    }
    let (a, b) = parts.split_at(first + 1);
    let small = parts[first].n_links.min(parts[second].n_links);
    both(small, || sink(a, fa, task, drive), || sink(b, fb, task, drive));
}
