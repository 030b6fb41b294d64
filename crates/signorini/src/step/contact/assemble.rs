//! From a mechanism in contact to a contact problem.
//!
//! **Problem.** Everything that may push during a step, points that touch, joints at their limits, joints with dry friction, as rows of
//! one contact problem u = G r + u_free.
//!
//! **Method.** Each is a port of the mechanism (`dynamics/recursive/ports.rs`), so G has the size of the contacts, whatever the
//! number of joints (paper 000, eq. 24–32: what is left at the root). Loops stay closed exactly.
//!
//! **Cost.** O(depth) per row, and one dot product per pair of rows that share a mechanism.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/contact_motion.rs`, against `dense`.

use super::{Place, Touching};
use crate::contact::Cone;
use crate::contact::delassus::BlockMatrix;
use crate::dynamics::recursive::ports::{MAX_ROWS, Ports};
use crate::spatial::{Twist, Vec3, Wrench};
use crate::step::system::{System, Workspace};

/// Rows of one step, in storage that is reused.
#[derive(Default)]
pub(crate) struct Rows {
    pub ports: Ports,
    /// Velocities of the links at some speeds.
    pub twists: Vec<Twist>,
    /// Ports of each mechanism.
    members: Vec<Vec<usize>>,
    row_start: Vec<usize>,
    columns: Vec<usize>,
    cursors: Vec<usize>,
}

impl Rows {
    pub fn new(system: &System, n_extra: usize) -> Self {
        let n_links = system.tree.links.len();
        Self {
            ports: Ports::new(&system.tree, n_extra),
            twists: vec![Twist::default(); n_links],
            members: vec![Vec::new(); n_links],
            ..Self::default()
        }
    }

    /// Ports of all that may push; the articulated sweep and the factored loops of `w` belong to this configuration.
    pub fn pose(&mut self, system: &System, touching: &[Touching], w: &Workspace) {
        self.ports.clear();
        for t in touching {
            let n = t.n_rows();
            match t.place {
                Place::Links(links) => {
                    let rows = links.map(|l| l.map(|l| (l, wrenches(l, t, w))));
                    let [a, b] = [&rows[0], &rows[1]].map(|e| e.as_ref().map(|(l, rows)| (*l, &rows[..n])));
                    self.ports.push_links(&system.tree, &w.recursion, a, b);
                }
                Place::Speed { link, speed } => {
                    self.ports.push_speed(&system.tree, &w.recursion, link, speed, t.side());
                }
                Place::Cut { cut, k } => {
                    let (joint, closure) = (&system.cuts[cut], &w.closures[cut]);
                    let direction = closure.measures[k] * t.side();
                    let [a, b] = [direction.shifted(&closure.parent_arm), direction.shifted(&closure.child_arm)];
                    let ends = [joint.parent.map(|l| (l, [a])), joint.child.map(|l| (l, [b]))];
                    let [a, b] = [&ends[0], &ends[1]].map(|e| e.as_ref().map(|(l, rows)| (*l, &rows[..])));
                    self.ports.push_links(&system.tree, &w.recursion, a, b);
                }
            }
        }
        if !w.loops.rows.is_empty() {
            self.ports.project_out(&w.loops);
        }
        self.find_pattern();
    }

    /// Which ports meet: those of one mechanism.
    fn find_pattern(&mut self) {
        let Self { ports, members, row_start, columns, .. } = self;
        members.iter_mut().for_each(Vec::clear);
        for p in 0..ports.len() {
            let [a, b] = ports.roots(p);
            members[a].push(p);
            if b != a {
                members[b].push(p);
            }
        }
        row_start.clear();
        row_start.push(0);
        columns.clear();
        for p in 0..ports.len() {
            let [a, b] = ports.roots(p);
            if a == b {
                columns.extend_from_slice(&members[a]);
            } else {
                merge(&members[a], &members[b], columns);
            }
            row_start.push(columns.len());
        }
    }

    /// G, block by block; the lower half is the upper one's mirror image.
    pub fn write_delassus(&mut self, out: &mut BlockMatrix) {
        out.set_pattern(self.ports.offsets(), &self.row_start, &self.columns);
        let mut block = [0.0; MAX_ROWS * MAX_ROWS];
        self.cursors.clear();
        self.cursors.extend_from_slice(&self.row_start);
        for p in 0..self.ports.len() {
            self.ports.open(p);
            let n = self.ports.n_rows(p);
            for slot in self.cursors[p]..self.row_start[p + 1] {
                let q = self.columns[slot];
                let m = self.ports.n_rows(q);
                self.ports.block(p, q, &mut block);
                out.slot_mut(slot).copy_from_slice(&block[..n * m]);
                if q > p {
                    let mirror = out.slot_mut(self.cursors[q]);
                    self.cursors[q] += 1;
                    for k in 0..n {
                        for l in 0..m {
                            mirror[l * n + k] = block[k * m + l];
                        }
                    }
                }
            }
            self.ports.close(p);
        }
    }

    /// Velocities along all rows for given speeds of the tree, at the configuration of [`Self::pose`].
    pub fn velocities(&mut self, system: &System, touching: &[Touching], v: &[f64], w: &Workspace, out: &mut Vec<f64>) {
        w.recursion.find_twists(&system.tree, v, &mut self.twists);
        out.clear();
        for t in touching {
            match t.place {
                Place::Links([a, b]) => {
                    let at = |l: Option<usize>| {
                        l.map_or_else(Vec3::zeros, |l| {
                            let twist = &self.twists[l];
                            twist.linear + twist.angular.cross(&(t.at - w.recursion.kinematics.origin[l]))
                        })
                    };
                    let relative = at(b) - at(a) + t.drift;
                    out.extend(t.directions()[..t.n_rows()].iter().map(|d| d.dot(&relative)));
                }
                Place::Speed { speed, .. } => out.push(t.side() * v[speed]),
                Place::Cut { cut, k } => {
                    let (joint, closure) = (&system.cuts[cut], &w.closures[cut]);
                    out.push(t.side() * joint.relative_motion(closure, &self.twists).dot(&closure.measures[k]));
                }
            }
        }
    }
}

/// Cones of all that may push.
pub(crate) fn write_cones(touching: &[Touching], out: &mut Vec<Cone>) {
    out.clear();
    out.extend(touching.iter().map(Touching::cone));
}

/// Two ascending lists as one, each number once.
fn merge(a: &[usize], b: &[usize], out: &mut Vec<usize>) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let (x, y) = (a.get(i).copied().unwrap_or(usize::MAX), b.get(j).copied().unwrap_or(usize::MAX));
        out.push(x.min(y));
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
}

/// Rows of a contact as wrenches on a link at its origin.
fn wrenches(link: usize, t: &Touching, w: &Workspace) -> [Wrench; 3] {
    let arm = t.at - w.recursion.kinematics.origin[link];
    t.directions().map(|d| Wrench::new(arm.cross(&d), d))
}
