//! Contact ports by the recursion: Delassus matrix, where it comes from, and what impulses do.
//!
//! **Problem.** For ports of a mechanism, G block by block, and a description of G by which solvers may go faster.
//!
//! **Method.** One inward sweep per port (`ports.rs`); blocks of ports that share a mechanism. A small mechanism is described by the columns of
//! its speeds, a large one with many rows by its links.
//!
//! **Cost.** O(depth) per row, and six multiplications per pair of rows that share a mechanism.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/contact_motion.rs`: the three formulations agree.

use super::Recursive;
use super::ports::{MAX_ROWS, Ports};
use crate::contact::RowShape;
use crate::contact::articulation::{Articulation, End};
use crate::contact::delassus::BlockMatrix;
use crate::contact::origin::Origin;
use crate::contact::solve::Reason;
use crate::contact::solve::route::{self, Wanted};
use crate::dynamics::error::DynamicsError;
use crate::dynamics::formulation::{Posed, Response};
use crate::dynamics::port::{Attachment, Port, Pushed};
use crate::dynamics::system::System;
use crate::dynamics::tree::Tree;
use crate::spatial::Vec3;

/// Ports, and which of them meet.
#[derive(Debug)]
pub(crate) struct Sweeps {
    ports: Ports,
    /// Ports of each mechanism.
    members: Vec<Vec<usize>>,
    /// Mechanisms of each port.
    roots: Vec<[usize; 2]>,
    row_start: Vec<usize>,
    columns: Vec<usize>,
    cursors: Vec<usize>,
    /// Where each speed of the tree is among those that are free.
    speeds: Vec<usize>,
}

impl Sweeps {
    pub fn new(system: &System) -> Self {
        let n_extra = system.rows().n_rotors();
        Self {
            ports: Ports::new(&system.tree, n_extra),
            members: vec![Vec::new(); system.tree.links.len()],
            roots: Vec::new(),
            row_start: Vec::new(),
            columns: Vec::new(),
            cursors: Vec::new(),
            speeds: Vec::new(),
        }
    }

    /// Trees of links and what pushes them; false where that cannot be said.
    fn write_articulation(&mut self, at: &Posed<'_>, ports: &[Port], out: &mut Articulation) -> bool {
        let (tree, k) = (&at.system.tree, at.kinematics);
        let speeds = &mut self.speeds;
        speeds.clear();
        speeds.resize(tree.n_v, usize::MAX);
        for (i, link) in tree.links.iter().enumerate() {
            let motion = &k.links[i];
            let inertia = link.inertia.rotated(&motion.rotation).to_sym6().to_matrix().into();
            out.push_link(link.parent_index(), motion.offset.into(), inertia);
            for v in link.v_range().filter(|v| !tree.prescribed[*v]) {
                let s = k.unit_motion(i, link, v);
                speeds[v] = out.n_speeds();
                out.push_speed(six(&s.angular, &s.linear), k.armature[v]);
            }
        }
        for port in ports {
            match port.place {
                // What is prescribed has no speed to push.
                Attachment::Speed { speed, .. } if speeds[speed] == usize::MAX => return false,
                Attachment::Speed { link, speed } => out.push_contact([End::Speed(link, speeds[speed], port.side)]),
                Attachment::Links(_) | Attachment::Cut { .. } => {
                    let [a, b] = port.ends(at);
                    let end = |e: Pushed, sign: f64| {
                        e.map(|(link, [a, b, c, ..])| {
                            End::Link(link, [a, b, c].map(|r| six(&(r.moment * sign), &(r.force * sign))))
                        })
                    };
                    out.push_contact([end(a, -1.0), end(b, 1.0)].into_iter().flatten());
                }
            }
        }
        true
    }

    /// Which ports meet: those of one mechanism.
    fn find_pattern(&mut self) {
        let Self { ports, members, row_start, columns, roots, .. } = self;
        // Mostly the same as in the last step.
        let known = roots.len();
        roots.extend((0..ports.len()).map(|p| ports.roots(p)));
        let is_same = roots[..known] == roots[known..];
        roots.drain(..known);
        if is_same && !row_start.is_empty() {
            return;
        }
        members.iter_mut().for_each(Vec::clear);
        for p in 0..ports.len() {
            let [a, b] = roots[p];
            members[a].push(p);
            if b != a {
                members[b].push(p);
            }
        }
        row_start.clear();
        row_start.push(0);
        columns.clear();
        for p in 0..ports.len() {
            let [a, b] = roots[p];
            if a == b {
                columns.extend_from_slice(&members[a]);
            } else {
                merge(&members[a], &members[b], columns);
            }
            row_start.push(columns.len());
        }
    }

    /// The lower half is the upper one's mirror image.
    fn write_blocks(&mut self, tree: &Tree, out: &mut BlockMatrix) {
        let Self { ports, row_start, columns, cursors, .. } = self;
        out.set_pattern(ports.offsets(), row_start, columns);
        cursors.clear();
        cursors.extend_from_slice(row_start);
        if let Some(slots) = out.uniform_slots_mut::<9>() {
            for p in 0..ports.len() {
                let row = cursors[p]..row_start[p + 1];
                ports.write_row(tree, p, &columns[row.clone()], &mut slots[row.clone()]);
                for slot in row {
                    let q = columns[slot];
                    if q > p {
                        let [a, b, c, d, e, f, g, h, i] = slots[slot];
                        slots[cursors[q]] = [a, d, g, b, e, h, c, f, i];
                        cursors[q] += 1;
                    }
                }
            }
            return;
        }
        let mut block = [0.0; MAX_ROWS * MAX_ROWS];
        for p in 0..ports.len() {
            ports.open(tree, p);
            let n = ports.n_rows(p);
            for slot in cursors[p]..row_start[p + 1] {
                let q = columns[slot];
                ports.block(tree, p, q, &mut block);
                let to = out.slot_mut(slot);
                let block = &block[..to.len()];
                to.copy_from_slice(block);
                if q > p {
                    let mirror = out.slot_mut(cursors[q]);
                    cursors[q] += 1;
                    transpose(n, block, mirror);
                }
            }
            ports.close(tree, p);
        }
    }
}

impl Response for Sweeps {
    type Of = Recursive;

    fn open(&mut self, by: &mut Recursive, at: &Posed<'_>, ports: &[Port]) -> Result<(), DynamicsError> {
        let swept = by.swept(at.system, at.kinematics);
        self.ports.clear(swept);
        for port in ports {
            match port.place {
                Attachment::Speed { link, speed } => self.ports.push_speed(swept, link, speed, port.side),
                Attachment::Links(links) if port.rows == RowShape::POINT => {
                    self.ports.push_point(swept, links, &port.points, &port.directions);
                }
                Attachment::Links(_) | Attachment::Cut { .. } => {
                    let ends = port.ends(at);
                    let [a, b] = [&ends[0], &ends[1]].map(|e| e.as_ref().map(|(l, rows)| (*l, &rows[..port.n_rows()])));
                    self.ports.push_links(swept, a, b);
                }
            }
        }
        if !at.rows.is_empty() {
            self.ports.project_out(&at.system.tree, &by.loops);
        }
        self.ports.prepare(swept);
        self.find_pattern();
        Ok(())
    }

    fn write_delassus(&mut self, system: &System, out: &mut BlockMatrix) {
        self.write_blocks(&system.tree, out);
    }

    fn describe(&mut self, at: &Posed<'_>, ports: &[Port], out: &mut Origin) -> Option<Reason> {
        // Rows of loops are no ports.
        if !at.rows.is_empty() {
            return None;
        }
        let n_rows = self.ports.offsets().last().copied().unwrap_or(0);
        let system = at.system;
        let wanted = route::find_wanted(n_rows, system.tree.n_v, system.tree.links.len());
        if wanted != Wanted::Nothing && ports.iter().any(|p| p.n_rows() > 3) {
            return Some(Reason::MechanismRows);
        }
        match wanted {
            Wanted::Nothing => {}
            Wanted::Speeds => {
                let ports = &self.ports;
                let columns = out.start_columns(system.tree.n_v, 1.0 / ports.mass_unit());
                for p in 0..ports.len() {
                    ports.visit_columns(&system.tree, p, |speed, values| columns.push(speed, values));
                    columns.end_contact();
                }
            }
            Wanted::Links => {
                if !self.write_articulation(at, ports, out.start_articulation()) {
                    out.clear();
                }
            }
        }
        None
    }

    fn respond(&mut self, by: &Recursive, at: &Posed<'_>, r: &[f64], v: &mut [f64]) {
        self.ports.respond(by.swept(at.system, at.kinematics), r, v);
    }
}

/// Writes a row-major block of n rows as its mirror image.
fn transpose(n: usize, block: &[f64], out: &mut [f64]) {
    let m = block.len() / n.max(1);
    for (k, row) in block.chunks_exact(m.max(1)).enumerate() {
        for (l, x) in row.iter().enumerate() {
            out[l * n + k] = *x;
        }
    }
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

fn six(a: &Vec3, b: &Vec3) -> [f64; 6] {
    [a.x, a.y, a.z, b.x, b.y, b.z]
}
