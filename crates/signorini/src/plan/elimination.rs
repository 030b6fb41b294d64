//! In which order links are assembled into ever larger clusters.
//!
//! **Problem.** Divide and conquer merges clusters of links until one is left. Which merges, so that few follow one another,
//! every cluster has few ports, and the work stays linear?
//!
//! **Method.** Clusters are connected sets of links, each with the joint that carries it, as in top trees [alstrup2005]: one *top*
//! body (whose motion is given) and at most one *bottom* body (on which the rest hangs). Two clusters are merged where one hangs
//! on the other's bottom (compress) or both hang on one body (rake). A heavy path and what hangs on it is compressed by a
//! binary tree of least height in the order of the path; light subtrees are raked before. Cut joints keep a port open
//! from the clusters of their ends up to the first cluster that holds both (and, where one end is the ground, begins at the
//! ground): only there a dependent condition is truly redundant. Contact ports are kept open up to the root, so the links that
//! carry them are merged late.
//! The shape decides how far down the tree goes: clusters of up to so many links become *blocks*, which the recursion handles.
//! Where `auto` takes several blocks, heavy paths are halved by work instead, so that all blocks take equally long: those on which
//! nothing hangs are cheaper, and larger.
//!
//! **Cost.** O(n log n), and the sum of the numbers of open ports.
//!
//! **Fails when** never. Loops that overlap much, or a spanning tree that runs against them, leave many ports open; `widest`
//! and `work` say so.
//!
//! **Checked by** `tests/dca.rs`.

use super::top_tree::{Draft, Halving, Make, SLACK, TopTree, WITH_BOTTOM};

/// Shape of an elimination tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// By size and counted work.
    #[default]
    Auto,
    /// Every link a leaf: least depth.
    Balanced,
    /// All links in one block: the recursion.
    Caterpillar,
    /// Blocks of at most so many links under a balanced top.
    Blocked(usize),
}

/// What a port pushes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// The ground.
    Ground,
    /// A link.
    Link(usize),
    /// A speed of a link's joint.
    Speed {
        /// The link.
        link: usize,
        /// Its speed.
        speed: usize,
    },
}

impl End {
    /// A link, or the ground.
    pub fn of(link: Option<usize>) -> Self {
        link.map_or(Self::Ground, Self::Link)
    }

    /// The link in whose cluster it lies.
    pub fn link(&self) -> Option<usize> {
        match *self {
            Self::Ground => None,
            Self::Link(link) | Self::Speed { link, .. } => Some(link),
        }
    }
}

/// Something that acts between links, speeds of joints and the ground: a cut joint, a gear, or a contact.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Port {
    /// What it pushes.
    pub ends: Vec<End>,
    /// Number of scalar conditions or directions.
    pub n_rows: usize,
    /// Whether it stays open up to the root.
    pub is_kept: bool,
}

impl Port {
    /// Links at its ends, as often as they occur.
    pub fn links(&self) -> impl Iterator<Item = usize> + '_ {
        self.ends.iter().filter_map(End::link)
    }
}

/// What a cluster is made of. Clusters are numbered in post-order: the second part precedes its whole, the first lies before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Merge {
    /// Links `start..end` of [`Elimination::order`].
    Block {
        /// First.
        start: usize,
        /// One behind the last.
        end: usize,
    },
    /// The second part hangs on the bottom of the first.
    Compress,
    /// Both parts hang on the same body.
    Rake,
}

/// A connected set of links.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// What it is made of.
    pub merge: Merge,
    /// Body that carries it; none for the ground.
    pub top: Option<usize>,
    /// Link on which the rest hangs.
    pub bottom: Option<usize>,
    /// Ports that stay open, ascending.
    pub open: Vec<usize>,
    /// Ends of each of them within.
    pub n_ends: Vec<usize>,
    /// Ports that are closed here, ascending.
    pub closed: Vec<usize>,
    /// Clusters within, this one counted.
    pub n_clusters: usize,
    /// Links within.
    pub n_links: usize,
    /// Merges between it and its deepest block.
    pub height: usize,
    /// Arithmetic of this cluster alone, in units of one link of the recursion.
    pub work: f64,
    /// The most work of any way from a block within up to this cluster.
    pub span: f64,
}

/// A tree of clusters; a pure function of the topology.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Elimination {
    /// Links block by block; within a block parents first.
    pub order: Vec<usize>,
    /// Clusters in post-order; the last is the whole.
    pub clusters: Vec<Cluster>,
    /// Rows of each port.
    pub n_rows: Vec<usize>,
}

/// Operations of the recursion on one link, the unit of work.
const LINK: f64 = 500.0;
/// Operations of a compression without rows.
const COMPRESS: f64 = 4500.0;
/// Under `auto`, from how many links on a mechanism without loops is blocked, and links per block from which on there are twice
/// as many blocks: measured, see `book/divide-and-conquer.md`.
const AUTO_FROM: usize = 2048;
const AUTO_BLOCK: usize = 2048;
/// Blocks that `auto` tries where there are loops.
const LOOP_BLOCKS: [usize; 4] = [1, 4, 16, 64];

impl Elimination {
    /// For links given by their parents (parents first), and ports.
    pub fn build(parents: &[Option<usize>], ports: &[Port], shape: Shape) -> Self {
        // A port of many ends ties each of them to the next.
        let pairs = |p: &Port| -> Vec<(usize, usize)> {
            p.ends.windows(2).filter_map(|e| Some((e[0].link()?, e[1].link()?))).collect()
        };
        let shares: Vec<(usize, usize)> = ports.iter().filter(|p| !p.is_kept).flat_map(pairs).collect();
        let mut carries = vec![false; parents.len()];
        ports.iter().filter(|p| p.is_kept).flat_map(Port::links).for_each(|link| carries[link] = true);
        if shape == Shape::Auto && ports.is_empty() && parents.len() >= AUTO_FROM {
            let grain = grain(parents.len());
            let tree = TopTree::build(parents, &shares, carries, Halving::Work { grain });
            return Self::truncate(&tree, parents, ports, &|draft| draft.work <= SLACK * grain);
        }
        let tree = TopTree::build(parents, &shares, carries, Halving::Height);
        let blocked = |limit| Self::truncate(&tree, parents, ports, &|draft| draft.n_links <= limit);
        match shape {
            Shape::Balanced => blocked(1),
            Shape::Caterpillar => blocked(usize::MAX),
            Shape::Blocked(limit) => blocked(limit.max(1)),
            Shape::Auto if ports.is_empty() => blocked(usize::MAX),
            Shape::Auto => {
                let mut best = blocked(usize::MAX);
                for limit in LOOP_BLOCKS.into_iter().filter(|&limit| limit < parents.len()) {
                    let other = blocked(limit);
                    if other.work() < best.work() {
                        best = other;
                    }
                }
                best
            }
        }
    }

    /// Drafts that are small enough become blocks.
    fn truncate(tree: &TopTree, parents: &[Option<usize>], ports: &[Port], is_small: &dyn Fn(&Draft) -> bool) -> Self {
        let n_rows: Vec<usize> = ports.iter().map(|p| p.n_rows).collect();
        let mut plan = Self { order: Vec::with_capacity(parents.len()), clusters: Vec::new(), n_rows };
        let mut ports_at: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
        for (k, port) in ports.iter().enumerate() {
            port.links().for_each(|link| ports_at[link].push(k));
        }
        // The stack holds clusters to visit; `true` once their parts were visited.
        let root = tree.drafts.len().checked_sub(1);
        let mut stack: Vec<(usize, bool)> = root.map(|root| (root, false)).into_iter().collect();
        let mut done: Vec<usize> = Vec::new();
        let mut is_inside = vec![false; parents.len()];
        while let Some((at, is_visited)) = stack.pop() {
            let draft = &tree.drafts[at];
            let is_block = is_small(draft);
            match draft.make {
                Make::Compress(a, b) | Make::Rake(a, b) if !is_block && !is_visited => {
                    stack.extend([(at, true), (b, false), (a, false)]);
                }
                Make::Compress(..) | Make::Rake(..) if !is_block => {
                    let (Some(b), Some(a)) = (done.pop(), done.pop()) else { break };
                    let merge = if matches!(draft.make, Make::Rake(..)) { Merge::Rake } else { Merge::Compress };
                    let cluster = plan.merged(merge, a, b, ports);
                    plan.clusters.push(cluster);
                    done.push(plan.clusters.len() - 1);
                }
                _ => {
                    let cluster = plan.block(tree, at, parents, ports, &ports_at, &mut is_inside);
                    plan.clusters.push(cluster);
                    done.push(plan.clusters.len() - 1);
                }
            }
        }
        plan
    }

    fn block(
        &mut self,
        tree: &TopTree,
        at: usize,
        parents: &[Option<usize>],
        ports: &[Port],
        ports_at: &[Vec<usize>],
        is_inside: &mut [bool],
    ) -> Cluster {
        let start = self.order.len();
        let mut stack = vec![at];
        while let Some(at) = stack.pop() {
            match tree.drafts[at].make {
                Make::Link(link) => self.order.push(link),
                Make::Compress(a, b) | Make::Rake(a, b) => stack.extend([a, b]),
            }
        }
        let links = &mut self.order[start..];
        links.sort_unstable();
        links.iter().for_each(|&l| is_inside[l] = true);
        let top = links.iter().map(|&l| parents[l]).find(|p| p.is_none_or(|p| !is_inside[p])).flatten();
        let mut found: Vec<usize> = links.iter().flat_map(|&l| ports_at[l].iter().copied()).collect();
        let n_links = links.len();
        links.iter().for_each(|&l| is_inside[l] = false);
        let bottom = tree.bottom(at);
        found.sort_unstable();
        let (open, closed) = split(&found, ports, top);
        let n_ends = open.iter().map(|k| found.iter().filter(|j| *j == k).count()).collect();
        let merge = Merge::Block { start, end: self.order.len() };
        let k = self.width(&open, &closed, bottom.is_some());
        // The sweep of each column, and the products of all pairs.
        let work = n_links as f64 * (1.0 + k * (40.0 + k) / LINK) + self.closing(&closed, k);
        Cluster { merge, top, bottom, open, n_ends, closed, n_clusters: 1, n_links, height: 0, work, span: work }
    }

    fn merged(&self, merge: Merge, a: usize, b: usize, ports: &[Port]) -> Cluster {
        let (first, second) = (&self.clusters[a], &self.clusters[b]);
        // Each port as often as it has ends within.
        let ends = |c: &Cluster| -> Vec<usize> {
            c.open.iter().zip(&c.n_ends).flat_map(|(k, n)| std::iter::repeat_n(*k, *n)).collect()
        };
        let mut found = [ends(first), ends(second)].concat();
        found.sort_unstable();
        let (open, closed) = split(&found, ports, first.top);
        let n_ends = open.iter().map(|k| found.iter().filter(|j| *j == k).count()).collect();
        let bottom = if merge == Merge::Rake { second.bottom.or(first.bottom) } else { second.bottom };
        let k = self.width(&open, &closed, bottom.is_some());
        let base = if merge == Merge::Rake { 100.0 } else { COMPRESS };
        let work = (base + k * 150.0 + k * k * 14.0) / LINK + self.closing(&closed, k);
        Cluster {
            merge,
            top: first.top,
            bottom,
            n_clusters: 1 + first.n_clusters + second.n_clusters,
            n_links: first.n_links + second.n_links,
            height: 1 + first.height.max(second.height),
            span: work + first.span.max(second.span),
            work,
            open,
            n_ends,
            closed,
        }
    }

    /// Columns of a cluster before its closed ports are eliminated.
    fn width(&self, open: &[usize], closed: &[usize], has_bottom: bool) -> f64 {
        let rows: usize = open.iter().chain(closed).map(|&k| self.n_rows[k]).sum();
        (rows + if has_bottom { 6 } else { 0 }) as f64
    }

    /// Work of eliminating ports among `k` columns.
    fn closing(&self, closed: &[usize], k: f64) -> f64 {
        let c = closed.iter().map(|&k| self.n_rows[k]).sum::<usize>() as f64;
        (c * c * c / 3.0 + c * c * k + c * k * k) / LINK
    }

    /// Merges that follow one another, at most.
    pub fn depth(&self) -> usize {
        self.clusters.last().map_or(0, |c| c.height)
    }

    /// Number of merges.
    pub fn n_merges(&self) -> usize {
        self.clusters.iter().filter(|c| !matches!(c.merge, Merge::Block { .. })).count()
    }

    /// Number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.clusters.len() - self.n_merges()
    }

    /// Arithmetic of all clusters, in units of one link of the recursion.
    pub fn work(&self) -> f64 {
        self.clusters.iter().map(|c| c.work).sum()
    }

    /// Arithmetic that cannot run side by side: the most work of any way from a block to the root.
    pub fn span(&self) -> f64 {
        self.clusters.last().map_or(0.0, |c| c.span)
    }

    /// The largest number of open rows of a cluster, those that are closed in it counted.
    pub fn widest(&self) -> usize {
        let rows = |list: &[usize]| list.iter().map(|&k| self.n_rows[k]).sum::<usize>();
        self.clusters.iter().map(|c| rows(&c.open) + rows(&c.closed)).max().unwrap_or(0)
    }

    /// The largest number of joint ports of a merge: the top, the bottom, and the body where the parts meet.
    pub fn joint_ports(&self) -> usize {
        let ports = |c: &Cluster| {
            let meeting = usize::from(c.merge == Merge::Compress);
            1 + usize::from(c.bottom.is_some()) + meeting
        };
        self.clusters.iter().map(ports).max().unwrap_or(0)
    }
}

/// Work of one block under `auto`, in links of the recursion. A chain of n links in N blocks of even work g has g links in the block at
/// its tip and g over [`WITH_BOTTOM`] in each of the others. N doubles with n: it is a power of two, because paths are halved.
fn grain(n: usize) -> f64 {
    let doublings = (n / AUTO_BLOCK).max(2).ilog2();
    let n_blocks = f64::from(1u32 << doublings.min(30));
    WITH_BOTTOM * n as f64 / (n_blocks - 1.0 + WITH_BOTTOM)
}

/// Open and closed ports among those `found`, which has each in a row as often as it has ends within.
fn split(found: &[usize], ports: &[Port], top: Option<usize>) -> (Vec<usize>, Vec<usize>) {
    let (mut open, mut closed) = (Vec::new(), Vec::new());
    for ends in found.chunk_by(|a, b| a == b) {
        let (k, port) = (ends[0], &ports[ends[0]]);
        let on_ground = port.ends.contains(&End::Ground);
        let is_full = ends.len() == port.links().count();
        let is_closed = is_full && !port.is_kept && (!on_ground || top.is_none());
        if is_closed { closed.push(k) } else { open.push(k) }
    }
    (open, closed)
}
