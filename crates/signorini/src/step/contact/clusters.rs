//! Contact ports carried to the root of the clusters (paper 000, §4).
//!
//! **Problem.** The Delassus matrix of all that may push, and what impulses do, by divide and conquer.
//!
//! **Method.** Everything that pushes is a port of two links that no merge closes. What is left open at the root is G; a sweep back down
//! with given impulses gives the speeds. Limits and dry friction push on one speed, which the block of its link eliminates.
//!
//! **Cost.** That of one assembly, and 14 k² operations more per merge with k open rows. The order of assembly is found
//! anew when other links touch, and kept while the same ones do.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/contact_motion.rs`.

use super::assemble::{Loads, ends};
use super::{Attachment, ContactConstraint};
use crate::dynamics::dca::{Dca, Drive, Push, write_row};
use crate::dynamics::{System, Workspace};
use crate::plan::{Elimination, End, Port, Shape};
use crate::spatial::Wrench;

/// Clusters of a mechanism with open contact ports.
#[derive(Default)]
pub(super) struct Clusters {
    dca: Option<Dca>,
    /// What the order of assembly was found for, and what is wanted now.
    shape: Shape,
    ports: Vec<Port>,
    wanted_ports: Vec<Port>,
    delassus: Vec<f64>,
    /// G as the root has it, and its rows.
    root: Vec<f64>,
    first: usize,
    wanted: Vec<f64>,
    kept: Vec<f64>,
    rates: Vec<f64>,
}

impl Clusters {
    pub fn assemble(&mut self, system: &System, touching: &[ContactConstraint], w: &Workspace) {
        let ports = &mut self.wanted_ports;
        // Those that are there already keep their memory.
        ports.resize_with(system.elements.len() + touching.len(), Port::default);
        for (e, element) in system.elements.iter().enumerate() {
            let port = &mut ports[e];
            port.ends.clear();
            element.ends(&system.cuts, &mut port.ends);
            (port.n_rows, port.is_kept) = (w.rows.n_rows_of(e), false);
        }
        self.first = ports[..system.elements.len()].iter().map(|p| p.n_rows).sum();
        for (t, port) in touching.iter().zip(&mut ports[system.elements.len()..]) {
            port.ends.clear();
            write_ends(t, system, &mut port.ends);
            (port.n_rows, port.is_kept) = (t.n_rows(), true);
        }
        if self.dca.is_none() || *ports != self.ports || self.shape != system.shape {
            let plan = Elimination::build(&system.plan.parents(), ports, system.shape);
            self.dca = Some(Dca::new(&system.tree, ports, plan));
            self.ports.clone_from(ports);
            self.shape = system.shape;
        }
        let Some(dca) = &mut self.dca else { return };
        if let Some(clusters) = w.engine.clusters() {
            for (r, &at) in clusters.row.iter().enumerate() {
                write_row(r, &w.rows, true, &self.ports, &mut dca.rows[at]);
            }
        }
        dca.held.copy_from_slice(&system.tree.prescribed);
        let mut at = self.first;
        for t in touching {
            if let Attachment::Speed { .. } = t.place {
                dca.rows[at].pushes[0].force = t.side();
                at += 1;
                continue;
            }
            let [a, b] = ends(t, system, w);
            for k in 0..t.n_rows() {
                let of = |end: &Option<(usize, Loads)>| end.as_ref().map_or_else(Wrench::default, |(_, r)| r[k]);
                let pushes = &mut dca.rows[at].pushes;
                pushes[0] = Push { wrench: of(&b), force: 0.0 };
                pushes[1] = Push { wrench: -of(&a), force: 0.0 };
                at += 1;
            }
        }
        dca.factor(&system.tree, &w.kinematics);
        dca.delassus(&mut self.root);
        let rows = dca.kept_rows();
        let n = rows.len();
        self.delassus.clear();
        self.delassus.resize(n * n, 0.0);
        for (i, &row) in rows.iter().enumerate() {
            for (j, &column) in rows.iter().enumerate() {
                self.delassus[(row - self.first) * n + column - self.first] = self.root[i * n + j];
            }
        }
    }

    /// Row by row.
    pub fn delassus(&self) -> &[f64] {
        &self.delassus
    }

    pub fn respond(&mut self, system: &System, w: &Workspace, r: &[f64], v: &mut [f64]) {
        let Some(dca) = &mut self.dca else { return };
        self.wanted.clear();
        self.wanted.resize(self.first + r.len(), 0.0);
        self.kept.clear();
        self.kept.resize(self.first, 0.0);
        self.kept.extend_from_slice(r);
        self.rates.clear();
        self.rates.resize(v.len(), 0.0);
        let drive = Drive { wanted: &self.wanted, kept: &self.kept, ..Default::default() };
        dca.solve(&system.tree, &w.kinematics, &drive, &mut self.rates);
        v.iter_mut().zip(&self.rates).for_each(|(v, d)| *v += d);
    }
}

/// What something pushes, the second link first.
fn write_ends(t: &ContactConstraint, system: &System, out: &mut Vec<End>) {
    match t.place {
        Attachment::Links([a, b]) => out.extend([End::of(b), End::of(a)]),
        Attachment::Speed { link, speed } => out.push(End::Speed { link, speed }),
        Attachment::Cut { cut, .. } => {
            out.extend([End::of(system.cuts[cut].child), End::of(system.cuts[cut].parent)]);
        }
    }
}
