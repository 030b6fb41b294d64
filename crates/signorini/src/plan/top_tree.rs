//! Rake-and-compress order of a rooted forest: a binary tree of clusters, each with one top and at most one bottom.

use std::collections::{HashSet, VecDeque};

/// What a cluster of the top tree is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Make {
    /// One link with the joint that carries it.
    Link(usize),
    /// The second hangs on the bottom of the first.
    Compress(usize, usize),
    /// Both hang on the same body; only the second may have a bottom.
    Rake(usize, usize),
}

/// A cluster while the tree is built.
#[derive(Debug, Clone, Copy)]
pub struct Draft {
    pub make: Make,
    /// Merges between it and its deepest link.
    pub height: u32,
    pub n_links: usize,
    /// Whether a link within carries a port that stays open up to the root.
    pub carries: bool,
    /// Whether nothing hangs on it.
    pub is_whole: bool,
    /// Work of its blocks, if none may take more than the grain.
    pub work: f64,
}

/// By what heavy paths are halved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Halving {
    /// Least height.
    Height,
    /// Even work, given the work of a block (in links of the recursion).
    Work {
        /// Work of one block.
        grain: f64,
    },
}

/// Time on a link whose block has a bottom, over that where it has none; measured, see `book/divide-and-conquer.md`. On the ground it is
/// 1.3, in the middle 1.45; what counts most is the long pass in the middle of an evaluation.
pub const WITH_BOTTOM: f64 = 4.0 / 3.0;
/// A block may take this much more than the grain: where halves are uneven it is better left whole.
pub const SLACK: f64 = 1.25;

/// Heights beyond this are taken for equal: 2^height must fit the arithmetic. It takes far more than 2³⁰ links.
const MAX_HEIGHT: u32 = 120;

/// Merges by which clusters that carry contacts are deferred. Their columns take part in every merge on the way to the root, so
/// bodies without contacts are assembled first.
const DEFER: u32 = 3;

/// The whole order; the last draft is the root.
pub struct TopTree {
    pub drafts: Vec<Draft>,
    has_child: Vec<bool>,
    carries: Vec<bool>,
    halving: Halving,
}

impl TopTree {
    /// For links given by their parents, parents first. `shares` tells which siblings are to be raked early: pairs of links whose
    /// subtrees a cut joint connects. `carries` tells which links have ports that stay open up to the root.
    pub fn build(parents: &[Option<usize>], shares: &[(usize, usize)], carries: Vec<bool>, halving: Halving) -> Self {
        let n = parents.len();
        let mut weight = vec![1usize; n];
        for i in (0..n).rev() {
            if let Some(p) = parents[i] {
                weight[p] += weight[i];
            }
        }
        let mut heavy: Vec<Option<usize>> = vec![None; n];
        for i in 0..n {
            if let Some(p) = parents[i] {
                let is_heavier = heavy[p].is_none_or(|h| weight[i] > weight[h]);
                heavy[p] = if is_heavier { Some(i) } else { heavy[p] };
            }
        }
        let is_light = |i: usize| parents[i].is_none_or(|p| heavy[p] != Some(i));
        let mut lights: Vec<Vec<usize>> = vec![Vec::new(); n + 1];
        (0..n).filter(|&i| is_light(i)).for_each(|i| lights[parents[i].unwrap_or(n)].push(i));
        let neighbours = Neighbours::build(parents, shares);
        let has_child = heavy.iter().map(Option::is_some).collect();
        let mut tree = Self { drafts: Vec::with_capacity(2 * n), has_child, carries, halving };
        // Cluster of the heavy path that starts at a link, with all that hangs on it.
        let mut whole = vec![usize::MAX; n];
        let mut path = Vec::new();
        for top in (0..n).rev().filter(|&i| is_light(i)) {
            path.clear();
            let mut next = Some(top);
            let mut siblings = usize::MAX;
            while let Some(link) = next {
                let mut element = tree.push(Make::Link(link));
                if siblings != usize::MAX {
                    element = tree.push(Make::Rake(siblings, element));
                }
                path.push(element);
                siblings = tree.rake_all(&lights[link], &whole, &neighbours);
                next = heavy[link];
            }
            whole[top] = match halving {
                Halving::Height => tree.join_in_order(&path, Make::Compress),
                Halving::Work { grain } => tree.compress_by_work(&path, grain),
            };
        }
        let root = tree.rake_all(&lights[n], &whole, &neighbours);
        debug_assert!(n == 0 || root + 1 == tree.drafts.len());
        tree
    }

    /// Bottom of a cluster: the last link of its path, where something hangs on that. Whatever does lies outside.
    pub fn bottom(&self, mut at: usize) -> Option<usize> {
        loop {
            match self.drafts[at].make {
                Make::Compress(_, b) | Make::Rake(_, b) => at = b,
                Make::Link(link) => return self.has_child[link].then_some(link),
            }
        }
    }

    fn push(&mut self, make: Make) -> usize {
        let draft = match make {
            Make::Link(link) => {
                let is_whole = !self.has_child[link];
                let work = if is_whole { 1.0 } else { WITH_BOTTOM };
                Draft { make, height: 0, n_links: 1, carries: self.carries[link], is_whole, work }
            }
            Make::Compress(a, b) | Make::Rake(a, b) => {
                let (a, b) = (&self.drafts[a], &self.drafts[b]);
                let (height, n_links) = (1 + a.height.max(b.height), a.n_links + b.n_links);
                let is_tip = b.is_whole && self.fits(n_links);
                let work = if is_tip { n_links as f64 } else { a.work + b.work };
                Draft { make, height, n_links, carries: a.carries || b.carries, is_whole: b.is_whole, work }
            }
        };
        self.drafts.push(draft);
        self.drafts.len() - 1
    }

    /// Whether so many links are one block where nothing hangs on them.
    fn fits(&self, n_links: usize) -> bool {
        matches!(self.halving, Halving::Work { grain } if n_links as f64 <= SLACK * grain)
    }

    /// A binary tree over the clusters of a heavy path that halves the work. The end of the path is cheaper than the rest: as many
    /// links as make one block have no bottom.
    fn compress_by_work(&mut self, path: &[usize], grain: f64) -> usize {
        let mut works: Vec<f64> = path.iter().map(|&c| self.drafts[c].work).collect();
        let mut end = 0.0;
        for (work, &c) in works.iter_mut().zip(path).rev() {
            end += self.drafts[c].n_links as f64;
            if end > grain {
                break;
            }
            *work = self.drafts[c].n_links as f64;
        }
        self.halve_by_work(path, &works)
    }

    fn halve_by_work(&mut self, clusters: &[usize], works: &[f64]) -> usize {
        if let [only] = clusters {
            return *only;
        }
        let half = 0.5 * works.iter().sum::<f64>();
        let (mut split, mut before) = (1, works[0]);
        while split + 1 < works.len() && before + 0.5 * works[split] <= half {
            before += works[split];
            split += 1;
        }
        let a = self.halve_by_work(&clusters[..split], &works[..split]);
        let b = self.halve_by_work(&clusters[split..], &works[split..]);
        self.push(Make::Compress(a, b))
    }

    /// Rakes the clusters of siblings; `usize::MAX` where there are none.
    fn rake_all(&mut self, siblings: &[usize], whole: &[usize], neighbours: &Neighbours) -> usize {
        if siblings.is_empty() {
            return usize::MAX;
        }
        let height = |i: usize| self.drafts[whole[i]].height;
        let order = neighbours.order(siblings, height);
        let clusters: Vec<usize> = order.into_iter().map(|i| whole[i]).collect();
        self.join_in_order(&clusters, Make::Rake)
    }

    /// The binary tree of least height over clusters in a given order. Each cluster takes an aligned interval of length
    /// 2^height, from left to right; halving the whole gives the tree. Its height is at most one above log₂ of the sum.
    /// Clusters of one height are halved by their number, which is as low and gives even parts.
    fn join_in_order(&mut self, clusters: &[usize], make: fn(usize, usize) -> Make) -> usize {
        let kind = |c: usize| (self.drafts[c].height, self.drafts[c].carries);
        if clusters.windows(2).all(|pair| kind(pair[0]) == kind(pair[1])) {
            return self.halve_evenly(clusters, make);
        }
        let mut places = Vec::with_capacity(clusters.len());
        let mut end = 0u128;
        for &c in clusters {
            let Draft { height, carries, .. } = self.drafts[c];
            let deferred = if carries { height + DEFER } else { height };
            let length = 1u128 << deferred.min(MAX_HEIGHT);
            let start = end.next_multiple_of(length);
            places.push(start);
            end = start + length;
        }
        self.halve(clusters, &places, 0, end.next_power_of_two(), make)
    }

    fn halve_evenly(&mut self, clusters: &[usize], make: fn(usize, usize) -> Make) -> usize {
        if let [only] = clusters {
            return *only;
        }
        let (first, second) = clusters.split_at(clusters.len() / 2);
        let a = self.halve_evenly(first, make);
        let b = self.halve_evenly(second, make);
        self.push(make(a, b))
    }

    fn halve(
        &mut self,
        clusters: &[usize],
        places: &[u128],
        start: u128,
        length: u128,
        make: fn(usize, usize) -> Make,
    ) -> usize {
        if let [only] = clusters {
            return *only;
        }
        let half = length / 2;
        let middle = start + half;
        let split = places.partition_point(|&p| p < middle);
        if split == clusters.len() {
            return self.halve(clusters, places, start, half, make);
        }
        if split == 0 {
            return self.halve(clusters, places, middle, half, make);
        }
        let a = self.halve(&clusters[..split], &places[..split], start, half, make);
        let b = self.halve(&clusters[split..], &places[split..], middle, half, make);
        self.push(make(a, b))
    }
}

/// Which siblings share cut joints.
struct Neighbours {
    /// Pairs in both directions, sorted.
    pairs: Vec<(usize, usize)>,
}

impl Neighbours {
    /// Lifts each pair of links to the two siblings in whose subtrees they lie.
    fn build(parents: &[Option<usize>], shares: &[(usize, usize)]) -> Self {
        let mut depth = vec![0usize; parents.len()];
        for i in 0..parents.len() {
            depth[i] = parents[i].map_or(0, |p| depth[p] + 1);
        }
        let mut pairs = Vec::new();
        for &(mut a, mut b) in shares {
            while a != b && parents[a] != parents[b] {
                if depth[a] < depth[b] {
                    std::mem::swap(&mut a, &mut b);
                }
                let Some(p) = parents[a] else { break };
                a = p;
            }
            if a != b && parents[a] == parents[b] {
                pairs.extend([(a, b), (b, a)]);
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        Self { pairs }
    }

    fn of(&self, a: usize) -> impl Iterator<Item = usize> + '_ {
        let start = self.pairs.partition_point(|&(x, _)| x < a);
        self.pairs[start..].iter().take_while(move |&&(x, _)| x == a).map(|&(_, b)| b)
    }

    /// Siblings that share cuts one after the other, from one end of their row; then the others, highest clusters first.
    fn order(&self, siblings: &[usize], height: impl Fn(usize) -> u32) -> Vec<usize> {
        let mut rest: Vec<usize> = siblings.to_vec();
        rest.sort_by_key(|&i| std::cmp::Reverse(height(i)));
        let is_open = |i: usize| self.of(i).next().is_some();
        if self.pairs.is_empty() || !siblings.iter().any(|&i| is_open(i)) {
            return rest;
        }
        let mut order = Vec::with_capacity(siblings.len());
        // A sibling on the heavy path is raked elsewhere.
        let (mut seen, among) = (HashSet::new(), siblings.iter().copied().collect::<HashSet<usize>>());
        // Ends of rows have one neighbour; what has several lies within a row or on a ring.
        let mut starts: Vec<usize> = siblings.iter().copied().filter(|&i| is_open(i)).collect();
        starts.sort_by_key(|&i| (self.of(i).count(), i));
        for start in starts {
            let mut queue = VecDeque::from([start]);
            while let Some(i) = queue.pop_front() {
                if seen.insert(i) {
                    order.push(i);
                    queue.extend(self.of(i).filter(|j| among.contains(j) && !seen.contains(j)));
                }
            }
        }
        order.extend(rest.into_iter().filter(|i| !seen.contains(i)));
        order
    }
}
