//! Contact ports carried to the root of the clusters [bhalerao2009, §4].
//!
//! **Problem.** The Delassus matrix of all that may push, and what impulses do, by divide and conquer.
//!
//! **Method.** Everything that pushes is a port that no merge closes. What is left open at the root is G; a sweep back down with given
//! impulses gives the speeds. Limits and dry friction push on one speed, which the block of its link eliminates.
//!
//! **Cost.** That of one assembly, and 14 k² operations more per merge with k open rows. The order of assembly is found
//! anew when other links touch, and kept while the same ones do.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/contact_motion.rs`.

use super::{Clusters, Dca, Drive, Push, write_row};
use crate::contact::delassus::BlockMatrix;
use crate::contact::origin::Origin;
use crate::contact::solve::Reason;
use crate::dynamics::error::DynamicsError;
use crate::dynamics::formulation::{Posed, Response};
use crate::dynamics::port::{Attachment, Port, Pushed};
use crate::dynamics::system::System;
use crate::plan::{Elimination, Port as PlanPort, Shape};
use crate::spatial::Wrench;

/// Clusters of a mechanism with open contact ports.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    dca: Option<Dca>,
    /// What the order of assembly was found for, and what is wanted now.
    shape: Shape,
    ports: Vec<PlanPort>,
    wanted_ports: Vec<PlanPort>,
    offsets: Vec<usize>,
    delassus: Vec<f64>,
    /// G as the root has it, and its rows.
    root: Vec<f64>,
    first: usize,
    wanted: Vec<f64>,
    kept: Vec<f64>,
    rates: Vec<f64>,
}

impl Response for Kept {
    type Of = Clusters;

    fn open(&mut self, by: &mut Clusters, at: &Posed<'_>, ports: &[Port]) -> Result<(), DynamicsError> {
        self.find_order(at, ports);
        let Some(dca) = &mut self.dca else { return Ok(()) };
        for (r, &row) in by.row.iter().enumerate() {
            write_row(r, at.rows, true, &self.ports, &mut dca.rows[row]);
        }
        dca.held.copy_from_slice(&at.system.tree.prescribed);
        let mut row = self.first;
        for port in ports {
            if let Attachment::Speed { .. } = port.place {
                dca.rows[row].pushes[0].force = port.side;
                row += 1;
                continue;
            }
            let [a, b] = port.ends(at);
            for k in 0..port.n_rows() {
                let of = |end: &Pushed| end.as_ref().map_or_else(Wrench::default, |(_, rows)| rows[k]);
                let pushes = &mut dca.rows[row].pushes;
                pushes[0] = Push { wrench: of(&b), force: 0.0 };
                pushes[1] = Push { wrench: -of(&a), force: 0.0 };
                row += 1;
            }
        }
        dca.factor(&at.system.tree, at.kinematics);
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
        Ok(())
    }

    fn write_delassus(&mut self, _: &System, out: &mut BlockMatrix) {
        out.set_from_dense(&self.offsets, &self.delassus);
    }

    fn describe(&mut self, _: &Posed<'_>, _: &[Port], _: &mut Origin) -> Option<Reason> {
        None
    }

    fn respond(&mut self, _: &Clusters, at: &Posed<'_>, r: &[f64], v: &mut [f64]) {
        let Some(dca) = &mut self.dca else { return };
        self.wanted.clear();
        self.wanted.resize(self.first + r.len(), 0.0);
        self.kept.clear();
        self.kept.resize(self.first, 0.0);
        self.kept.extend_from_slice(r);
        self.rates.clear();
        self.rates.resize(v.len(), 0.0);
        let drive = Drive { wanted: &self.wanted, kept: &self.kept, ..Default::default() };
        dca.solve(&at.system.tree, at.kinematics, &drive, &mut self.rates);
        v.iter_mut().zip(&self.rates).for_each(|(v, d)| *v += d);
    }
}

impl Kept {
    /// The order of assembly for elements and ports, if it is not the one that is there.
    fn find_order(&mut self, at: &Posed<'_>, ports: &[Port]) {
        let system = at.system;
        let n_elements = system.elements.len();
        let all = &mut self.wanted_ports;
        // Those that are there already keep their memory.
        all.resize_with(n_elements + ports.len(), PlanPort::default);
        let (own, open) = all.split_at_mut(n_elements);
        for (e, (element, port)) in system.elements.iter().zip(own).enumerate() {
            port.ends.clear();
            element.ends(&system.cuts, &mut port.ends);
            (port.n_rows, port.is_kept) = (at.rows.n_rows_of(e), false);
        }
        for (port, open) in ports.iter().zip(open) {
            open.ends.clear();
            port.write_ends(&system.cuts, &mut open.ends);
            (open.n_rows, open.is_kept) = (port.n_rows(), true);
        }
        self.first = all[..n_elements].iter().map(|p| p.n_rows).sum();
        self.offsets.clear();
        self.offsets.push(0);
        let mut n = 0;
        self.offsets.extend(ports.iter().map(|p| {
            n += p.n_rows();
            n
        }));
        if self.dca.is_none() || *all != self.ports || self.shape != system.shape {
            let plan = Elimination::build(&system.plan.parents(), all, system.shape);
            self.dca = Some(Dca::new(&system.tree, all, plan));
            self.ports.clone_from(all);
            self.shape = system.shape;
        }
    }
}
