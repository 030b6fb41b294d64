//! Who descends from whom: the last link that the ways of two links to the ground have in common.
//!
//! **Problem.** For two links of a tree find the outermost link that carries both.
//!
//! **Method.** Heavy paths: every link continues the path of its parent if it carries the most of all children. A way to the ground
//! changes paths O(log n) times.
//!
//! **Cost.** O(n) once; O(log n) per question, one comparison in a chain.
//!
//! **Fails when** never.
//!
//! **Checked by** a test beside it, and `tests/contact_motion.rs`.

use super::Tree;

/// No link: the ground.
pub(crate) const GROUND: u32 = u32::MAX;

/// The tree as ways to the ground.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ancestry {
    parent: Vec<u32>,
    /// Innermost link of each link's heavy path.
    head: Vec<u32>,
    root: Vec<u32>,
    /// Speeds on the way to the ground, those of the link included.
    n_speeds: Vec<u32>,
    /// Links on the way to the ground, the link included.
    n_links: Vec<u32>,
    /// Whether a link is a mechanism by itself.
    is_alone: Vec<bool>,
}

impl Ancestry {
    pub(crate) fn build(tree: &Tree) -> Self {
        let parents = tree.links.iter().map(|l| l.parent_index().map_or(GROUND, |p| p as u32));
        Self::from_parents(parents.collect(), |i| u32::from(tree.links[i].n_v))
    }

    fn from_parents(parent: Vec<u32>, own_speeds: impl Fn(usize) -> u32) -> Self {
        let n = parent.len();
        let mut size = vec![1_u32; n];
        let mut heavy = vec![GROUND; n];
        for i in (0..n).rev() {
            if let Some(p) = index(parent[i]) {
                size[p] += size[i];
                if index(heavy[p]).is_none_or(|h| size[h] <= size[i]) {
                    heavy[p] = i as u32;
                }
            }
        }
        let is_alone = (0..n).map(|i| parent[i] == GROUND && size[i] == 1).collect();
        let zeros = || vec![0; n];
        let mut out = Self { head: zeros(), root: zeros(), n_speeds: zeros(), n_links: zeros(), is_alone, parent };
        for i in 0..n {
            let inner = index(out.parent[i]);
            let continues = inner.filter(|p| heavy[*p] == i as u32);
            out.head[i] = continues.map_or(i as u32, |p| out.head[p]);
            out.root[i] = inner.map_or(i as u32, |p| out.root[p]);
            out.n_speeds[i] = inner.map_or(0, |p| out.n_speeds[p]) + own_speeds(i);
            out.n_links[i] = inner.map_or(0, |p| out.n_links[p]) + 1;
        }
        out
    }

    /// First link of a link's mechanism.
    pub(crate) fn root(&self, link: usize) -> u32 {
        self.root[link]
    }

    /// Whether a link is a mechanism by itself.
    pub(crate) fn is_alone(&self, link: usize) -> bool {
        self.is_alone[link]
    }

    /// Speeds on the way from a link to the ground.
    #[inline]
    pub(crate) fn n_speeds(&self, link: u32) -> usize {
        self.n_speeds.get(link as usize).map_or(0, |n| *n as usize)
    }

    /// Links on the way from a link to the ground.
    #[inline]
    pub(crate) fn n_links(&self, link: u32) -> usize {
        self.n_links.get(link as usize).map_or(0, |n| *n as usize)
    }

    /// The outermost link that carries both, or the ground.
    #[inline]
    pub(crate) fn meet(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            let (Some(i), Some(j)) = (index(a), index(b)) else { return GROUND };
            let (of_a, of_b) = (self.head[i], self.head[j]);
            if of_a == of_b {
                return a.min(b);
            }
            // Links come after those that carry them, so the later path does not hold what is looked for.
            if of_a > of_b {
                a = self.parent[of_a as usize];
            } else {
                b = self.parent[of_b as usize];
            }
        }
        a
    }
}

fn index(link: u32) -> Option<usize> {
    (link != GROUND).then_some(link as usize)
}

#[cfg(test)]
mod tests {
    use super::{Ancestry, GROUND};

    #[test]
    fn links_meet_where_their_ways_to_the_ground_do() {
        // Two mechanisms; the first branches at 0, 2 and 3.
        let parents = vec![GROUND, 0, 0, 2, 3, 3, 5, 2, GROUND, 8];
        let tree = Ancestry::from_parents(parents.clone(), |_| 1);
        let way = |mut i: u32| {
            let mut way = Vec::new();
            while i != GROUND {
                way.push(i);
                i = parents[i as usize];
            }
            way
        };
        for a in 0..parents.len() as u32 {
            assert_eq!(tree.n_links(a), way(a).len());
            for b in 0..parents.len() as u32 {
                let of_b = way(b);
                let expected = way(a).into_iter().find(|i| of_b.contains(i)).unwrap_or(GROUND);
                assert_eq!(tree.meet(a, b), expected, "{a} and {b}");
            }
        }
        assert_eq!(tree.meet(3, GROUND), GROUND);
    }
}
