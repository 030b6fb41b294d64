//! Spanning forest of the graph of bodies and joints.

use super::contraction;
use crate::model::{BodyId, Joint, JointId, Model};
use std::collections::VecDeque;

/// A tree edge, seen from its inner end.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    pub body: BodyId,
    pub joint: Option<JointId>,
    pub reversed: bool,
}

/// Children of every node in compressed rows; node 0 is the ground.
pub struct Forest {
    start: Vec<usize>,
    edges: Vec<Edge>,
}

fn node(body: Option<BodyId>) -> usize {
    body.map_or(0, |b| b.index() + 1)
}

impl Forest {
    /// Of joints with equally many freedoms those nearest to the ground are in the tree, or those that lie within the smallest
    /// clusters where `is_compact`.
    pub fn build(model: &Model, is_posed: &dyn Fn(BodyId) -> bool, is_compact: bool) -> Self {
        let n = model.bodies().len() + 1;
        let joints = model.joints();
        let distance = distances(n, joints);
        let mut levels = vec![0; joints.len()];
        if is_compact {
            // Joints that do not exist connect nothing.
            let ends = |j: &Joint| if j.is_absent { (0, 0) } else { (node(j.parent), node(j.child)) };
            let ends: Vec<(usize, usize)> = joints.iter().map(ends).collect();
            levels = contraction::levels(n, &ends);
        }
        let mut order: Vec<usize> = (0..joints.len()).filter(|&j| !joints[j].is_absent).collect();
        order.sort_by_key(|&j| {
            let (is_cut, freedoms, near) = weight(&joints[j], &distance);
            (is_cut, freedoms, levels[j], near)
        });
        let mut sets = DisjointSets::new(n);
        let mut in_tree: Vec<usize> =
            order.into_iter().filter(|&j| sets.join(node(joints[j].parent), node(joints[j].child))).collect();
        in_tree.sort_unstable();
        let rows = Rows::build(n, in_tree.iter().map(|&j| (node(joints[j].parent), node(joints[j].child), j)));

        let mut visited = vec![false; n];
        let mut children: Vec<(usize, Edge)> = Vec::with_capacity(n);
        let grow = |root: usize, visited: &mut Vec<bool>, children: &mut Vec<(usize, Edge)>| {
            let mut queue = VecDeque::from([root]);
            visited[root] = true;
            while let Some(a) = queue.pop_front() {
                for &(b, j) in rows.of(a) {
                    if !visited[b] {
                        visited[b] = true;
                        let body = BodyId(b as u32 - 1);
                        let reversed = node(joints[j].parent) == b;
                        children.push((a, Edge { body, joint: Some(JointId(j as u32)), reversed }));
                        queue.push_back(b);
                    }
                }
            }
        };
        grow(0, &mut visited, &mut children);
        // A floating mechanism is based on a body whose pose the user gave, or else on its first one.
        for posed in [true, false] {
            for b in 1..n {
                let body = BodyId(b as u32 - 1);
                if !visited[b] && (!posed || is_posed(body)) {
                    children.push((0, Edge { body, joint: None, reversed: false }));
                    grow(b, &mut visited, &mut children);
                }
            }
        }
        children.sort_by_key(|(a, e)| (*a, e.body));
        let mut start = vec![0; n + 1];
        for (a, _) in &children {
            start[a + 1] += 1;
        }
        for a in 0..n {
            start[a + 1] += start[a];
        }
        Self { start, edges: children.into_iter().map(|(_, e)| e).collect() }
    }

    pub fn children(&self, body: Option<BodyId>) -> impl DoubleEndedIterator<Item = Edge> + '_ {
        let a = node(body);
        self.edges[self.start[a]..self.start[a + 1]].iter().copied()
    }
}

fn weight(joint: &Joint, distance: &[u32]) -> (bool, usize, u32) {
    let near = distance[node(joint.parent)].min(distance[node(joint.child)]);
    (!joint.wants_tree, joint.kind().n_v(), near)
}

/// Joints between the ground and each body.
fn distances(n: usize, joints: &[Joint]) -> Vec<u32> {
    let present = joints.iter().enumerate().filter(|(_, joint)| !joint.is_absent);
    let rows = Rows::build(n, present.map(|(j, joint)| (node(joint.parent), node(joint.child), j)));
    let mut distance = vec![u32::MAX; n];
    let mut queue = VecDeque::from([0]);
    distance[0] = 0;
    while let Some(a) = queue.pop_front() {
        for &(b, _) in rows.of(a) {
            if distance[b] == u32::MAX {
                distance[b] = distance[a] + 1;
                queue.push_back(b);
            }
        }
    }
    distance
}

/// Neighbours of every node in compressed rows.
struct Rows {
    start: Vec<usize>,
    entries: Vec<(usize, usize)>,
}

impl Rows {
    fn build(n: usize, edges: impl Iterator<Item = (usize, usize, usize)> + Clone) -> Self {
        let mut start = vec![0; n + 1];
        for (a, b, _) in edges.clone() {
            start[a + 1] += 1;
            start[b + 1] += 1;
        }
        for a in 0..n {
            start[a + 1] += start[a];
        }
        let mut next = start.clone();
        let mut entries = vec![(0, 0); start[n]];
        for (a, b, j) in edges {
            entries[next[a]] = (b, j);
            next[a] += 1;
            entries[next[b]] = (a, j);
            next[b] += 1;
        }
        Self { start, entries }
    }

    fn of(&self, a: usize) -> &[(usize, usize)] {
        &self.entries[self.start[a]..self.start[a + 1]]
    }
}

struct DisjointSets(Vec<usize>);

impl DisjointSets {
    fn new(n: usize) -> Self {
        Self((0..n).collect())
    }

    fn root(&mut self, mut a: usize) -> usize {
        while self.0[a] != a {
            self.0[a] = self.0[self.0[a]];
            a = self.0[a];
        }
        a
    }

    /// Joins two sets; false where they were one already.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
        a != b
    }
}
