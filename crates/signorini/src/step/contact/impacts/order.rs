//! What strikes first.

use super::super::constraint::ContactConstraint;
use crate::dynamics::System;

/// A contact that may strike in a round, or is closed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// When it strikes; not finite where it is closed and does not.
    pub time: f64,
    /// Its gap at a time t is `left` + t × `end`.
    pub left: f64,
    pub end: f64,
    pub row: usize,
    pub is_first: bool,
}

impl Candidate {
    /// Whether it strikes.
    pub fn strikes(&self) -> bool {
        self.time.is_finite()
    }
}

/// Candidates, and the sets of mechanisms that are tied together.
#[derive(Default)]
pub(super) struct Order {
    pub candidates: Vec<Candidate>,
    group: Vec<usize>,
    /// Time of the first strike in each.
    first: Vec<f64>,
}

impl Order {
    /// Keeps the first strikes of all that are tied together, and all that is closed.
    pub fn find_first(&mut self, members: &[ContactConstraint], system: &System, root: &[usize]) {
        let Self { candidates, group, first } = self;
        group.clear();
        group.extend(0..root.len());
        first.clear();
        first.resize(root.len(), f64::INFINITY);
        for (t, _) in members.iter().zip(&*candidates).filter(|(_, c)| !c.strikes()) {
            unite(group, t.links(system).map(|l| l.map(|l| root[l])));
        }
        let groups =
            |t: &ContactConstraint, group: &mut [usize]| t.links(system).map(|l| l.map(|l| find(group, root[l])));
        for (t, c) in members.iter().zip(&*candidates).filter(|(_, c)| c.strikes()) {
            for g in groups(t, group).into_iter().flatten() {
                first[g] = c.time.min(first[g]);
            }
        }
        for (t, c) in members.iter().zip(candidates) {
            // What has closed by the time of the first strike strikes with it.
            let closed_at = |time: f64| c.time <= time || c.left + time * c.end <= t.rounding;
            c.is_first = !c.strikes() || groups(t, group).into_iter().flatten().all(|g| closed_at(first[g]));
        }
    }
}

/// Representative of a set.
fn find(group: &mut [usize], mut i: usize) -> usize {
    while group[i] != i {
        group[i] = group[group[i]];
        i = group[i];
    }
    i
}

/// Makes two sets one.
fn unite(group: &mut [usize], ends: [Option<usize>; 2]) {
    if let [Some(a), Some(b)] = ends {
        let (a, b) = (find(group, a), find(group, b));
        group[a.max(b)] = a.min(b);
    }
}
