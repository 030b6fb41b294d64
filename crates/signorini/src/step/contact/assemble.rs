//! From a mechanism in contact to a contact problem.
//!
//! **Problem.** Everything that may push during a step, points that touch, joints at their limits, joints with dry friction, as rows of
//! one contact problem u = G r + u_free.
//!
//! **Method.** Each is a port of the mechanism (`dynamics/recursive/ports.rs`), so G has the size of the contacts, whatever the
//! number of joints (paper 000, eq. 24–32: what is left at the root). Loops stay closed exactly. u_free are the
//! velocities that the mechanism would have at the end of the step without them; the normal row is moved by gap/h (eq. 15).
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

/// Rows of one step.
#[derive(Default)]
pub(crate) struct Rows {
    pub ports: Ports,
    pub cones: Vec<Cone>,
    pub twists: Vec<Twist>,
    pub delassus: BlockMatrix,
}

impl Rows {
    pub fn new(system: &System, n_extra: usize) -> Self {
        Self {
            ports: Ports::new(&system.tree, n_extra),
            twists: vec![Twist::default(); system.tree.links.len()],
            ..Self::default()
        }
    }

    /// Ports and cones of all that may push; the articulated sweep and the factored loops of `w` belong to this configuration.
    pub fn pose(&mut self, system: &System, touching: &[Touching], w: &Workspace) {
        self.ports.clear();
        self.cones.clear();
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
            self.cones.push(t.cone());
        }
        if !w.loops.rows.is_empty() {
            self.ports.project_out(&w.loops);
        }
        self.write_delassus();
    }

    fn write_delassus(&mut self) {
        let n = self.ports.len();
        let offsets = self.ports.offsets().to_vec();
        self.delassus.clear(&offsets);
        let mut block = [0.0; MAX_ROWS * MAX_ROWS];
        for p in 0..n {
            self.ports.open(p);
            for q in 0..n {
                if p == q || self.ports.meet(p, q) {
                    let size = (offsets[p + 1] - offsets[p]) * (offsets[q + 1] - offsets[q]);
                    self.ports.block(p, q, &mut block);
                    let at = self.delassus.push_block(p, q);
                    self.delassus.write_values(at, &block[..size]);
                }
            }
            self.delassus.end_row();
            self.ports.close(p);
        }
    }

    /// Velocities along all rows for given speeds of the tree, at the configuration of [`Self::pose`].
    pub fn velocities(&mut self, system: &System, touching: &[Touching], v: &[f64], w: &Workspace, out: &mut Vec<f64>) {
        w.recursion.find_twists(&system.tree, v, &mut self.twists);
        out.clear();
        for t in touching {
            let twist = |l: Option<usize>| l.map_or_else(Twist::default, |l| self.twists[l]);
            match t.place {
                Place::Links([a, b]) => {
                    let at = |l: Option<usize>| {
                        let arm = l.map_or_else(Vec3::zeros, |l| t.at - w.recursion.kinematics.origin[l]);
                        twist(l).shifted(&arm).linear
                    };
                    let relative = at(b) - at(a) + t.drift;
                    out.extend(t.directions()[..t.n_rows()].iter().map(|d| d.dot(&relative)));
                }
                Place::Speed { speed, .. } => out.push(t.side() * v[speed]),
                Place::Cut { cut, k } => {
                    let (joint, closure) = (&system.cuts[cut], &w.closures[cut]);
                    let relative = twist(joint.child).shifted(&closure.child_arm)
                        - twist(joint.parent).shifted(&closure.parent_arm);
                    out.push(t.side() * relative.dot(&closure.measures[k]));
                }
            }
        }
    }
}

/// Rows of a contact as wrenches on a link at its origin.
fn wrenches(link: usize, t: &Touching, w: &Workspace) -> [Wrench; 3] {
    let arm = t.at - w.recursion.kinematics.origin[link];
    t.directions().map(|d| Wrench::new(arm.cross(&d), d))
}
