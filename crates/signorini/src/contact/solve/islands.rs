//! Islands: groups of contacts that no entry of W couples. Each is a problem of its own.
//!
//! **Problem.** W, seen as a graph of contacts, may fall into several connected parts: bodies that do not touch, or
//! touch only what cannot move.
//!
//! **Method.** Union-find over the stored blocks, in either direction, since W need not be symmetric. The parts are
//! numbered by their first contact and keep the order of their contacts, so the answer depends on nothing else.
//!
//! **Cost.** One look at every stored block; a full first row ends the search at once.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/contact_islands.rs`: joined problems give the answers of their parts.

use super::super::delassus::BlockMatrix;

/// The parts of a contact graph, and the storage to find them.
#[derive(Debug, Clone, Default)]
pub struct Islands {
    parent: Vec<usize>,
    /// Contacts, sorted by part.
    order: Vec<usize>,
    /// First contact of every part in `order`, and their number.
    starts: Vec<usize>,
}

impl Islands {
    /// Finds the parts; returns their number.
    pub fn find(&mut self, w: &BlockMatrix) -> usize {
        let n = w.n_blocks();
        self.parent.clear();
        self.parent.extend(0..n);
        let mut count = n;
        for b in 0..n {
            for &c in w.columns(b) {
                if count == 1 {
                    return 1;
                }
                let (x, y) = (self.root(b), self.root(c));
                if x != y {
                    self.parent[x.max(y)] = x.min(y);
                    count -= 1;
                }
            }
        }
        count
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.parent[i] != i {
            self.parent[i] = self.parent[self.parent[i]];
            i = self.parent[i];
        }
        i
    }

    /// Sorts the contacts by part, after [`Islands::find`].
    pub fn sort(&mut self) {
        for i in 0..self.parent.len() {
            self.parent[i] = self.root(i);
        }
        self.order.clear();
        self.order.extend(0..self.parent.len());
        let parent = &self.parent;
        self.order.sort_by_key(|i| parent[*i]);
        self.starts.clear();
        self.starts.push(0);
        self.starts.extend((1..self.order.len()).filter(|k| parent[self.order[*k]] != parent[self.order[k - 1]]));
        self.starts.push(self.order.len());
    }

    /// Contacts of part k.
    pub fn part(&self, k: usize) -> &[usize] {
        &self.order[self.starts[k]..self.starts[k + 1]]
    }
}

/// Reads the rows of a part out of a vector over all rows.
pub fn gather(offsets: &[usize], part: &[usize], all: &[f64], out: &mut Vec<f64>) {
    out.clear();
    for &i in part {
        out.extend_from_slice(&all[offsets[i]..offsets[i + 1]]);
    }
}

/// Writes the rows of a part into a vector over all rows.
pub fn scatter(offsets: &[usize], part: &[usize], own: &[f64], all: &mut [f64]) {
    let mut from = 0;
    for &i in part {
        let rows = offsets[i]..offsets[i + 1];
        let dim = rows.len();
        all[rows].copy_from_slice(&own[from..from + dim]);
        from += dim;
    }
}
