//! Contact ports carried to the root of the clusters (paper 000, §4).
//!
//! **Problem.** The Delassus matrix of all that may push, and what impulses do, by divide and conquer.
//!
//! **Method.** Everything that pushes is a port of two links that no merge closes. What is left open at the root is G; a sweep back down
//! with given impulses gives the speeds. Limits and dry friction push on one speed: as a pair of wrenches on the joint's two
//! links that does work on this speed of the joint and on no other.
//!
//! **Cost.** That of one assembly, and 14 k² operations more per merge with k open rows. The order of assembly is found
//! anew when other links touch, and kept while the same ones do.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/contact_motion.rs`.

use super::assemble::ends;
use super::{Attachment, ContactConstraint};
use crate::dynamics::dca::cluster_row;
use crate::dynamics::dca::{Dca, Drive};
use crate::dynamics::{System, Workspace};
use crate::plan::{Elimination, Port, Shape};
use crate::spatial::Wrench;
use nalgebra::{Matrix6, Vector6};

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
        ports.clear();
        ports.extend((0..system.elements.len()).map(|e| system.port(e, &w.rows)));
        self.first = ports.iter().map(|p| p.n_rows).sum();
        ports.extend(touching.iter().map(|t| Port { ends: links(t, system), n_rows: t.n_rows(), is_kept: true }));
        if self.dca.is_none() || *ports != self.ports || self.shape != system.shape {
            let plan = Elimination::build(&system.plan.parents(), ports, system.shape);
            self.dca = Some(Dca::new(&system.tree, ports, plan));
            self.ports.clone_from(ports);
            self.shape = system.shape;
        }
        let Some(dca) = &mut self.dca else { return };
        if let Some(clusters) = w.engine.clusters() {
            for (r, &at) in clusters.row.iter().enumerate() {
                dca.rows[at] = cluster_row(r, &w.rows, true);
            }
        }
        dca.held.copy_from_slice(&system.tree.prescribed);
        let mut at = self.first;
        for t in touching {
            if let Attachment::Speed { link, speed } = t.place {
                let inner = dual(system, link, speed, w) * t.side();
                let outer = (-inner).shifted(&w.kinematics.links[link].offset);
                dca.rows[at].wrenches = [inner, outer];
                at += 1;
                continue;
            }
            let [a, b] = ends(t, system, w);
            for k in 0..t.n_rows() {
                let of = |end: &Option<(usize, [Wrench; 3])>| end.as_ref().map_or_else(Wrench::default, |(_, r)| r[k]);
                dca.rows[at].wrenches = [of(&b), -of(&a)];
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

/// Links between which something pushes, the second first.
fn links(t: &ContactConstraint, system: &System) -> [Option<usize>; 2] {
    match t.place {
        Attachment::Links([a, b]) => [b, a],
        Attachment::Speed { link, .. } => [Some(link), system.tree.links[link].parent_index()],
        Attachment::Cut { cut, .. } => [system.cuts[cut].child, system.cuts[cut].parent],
    }
}

/// A wrench at a link's origin that does unit work on one speed of its joint and none on the others.
fn dual(system: &System, link: usize, speed: usize, w: &Workspace) -> Wrench {
    let l = &system.tree.links[link];
    let n = l.v_range().len();
    let mut s = Matrix6::zeros();
    for (j, v) in l.v_range().enumerate() {
        s.set_column(j, &Vector6::from(w.kinematics.unit_motion(link, l, v).to_array()));
    }
    // The shortest such wrench; its length means nothing, since the joint holds the rest. Unknowns beyond the joint's speeds are zero.
    let mut square = s.transpose() * s;
    (n..6).for_each(|j| square[(j, j)] = 1.0);
    let mut unit = Vector6::zeros();
    unit[speed - l.v as usize] = 1.0;
    let found = square.lu().solve(&unit).map(|x| s * x);
    found.map_or_else(Wrench::default, |x| {
        Wrench::new(nalgebra::Vector3::new(x[0], x[1], x[2]), nalgebra::Vector3::new(x[3], x[4], x[5]))
    })
}
