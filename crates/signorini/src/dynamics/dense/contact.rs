//! Contact ports by the oracle: one solve of the whole constrained system per row.

use super::Oracle;
use crate::contact::delassus::BlockMatrix;
use crate::contact::origin::Origin;
use crate::contact::solve::Reason;
use crate::dynamics::error::DynamicsError;
use crate::dynamics::formulation::{Posed, Response};
use crate::dynamics::port::{Attachment, Port, Pushed};
use crate::dynamics::system::System;
use crate::spatial::{Twist, Wrench};

/// Responses to unit impulses, and what they are along all rows.
#[derive(Debug, Default)]
pub(crate) struct Solves {
    responses: Vec<Vec<f64>>,
    offsets: Vec<usize>,
    delassus: Vec<f64>,
}

impl Response for Solves {
    type Of = Oracle;

    fn open(&mut self, by: &mut Oracle, at: &Posed<'_>, ports: &[Port]) -> Result<(), DynamicsError> {
        let tree = &at.system.tree;
        self.responses.clear();
        self.offsets.clear();
        self.offsets.push(0);
        for port in ports {
            for k in 0..port.n_rows() {
                let (mut external, mut tau) = (vec![Wrench::default(); tree.links.len()], vec![0.0; tree.n_v]);
                if let Attachment::Speed { speed, .. } = port.place {
                    tau[speed] = port.side;
                }
                let [a, b] = port.ends(at);
                if let Some((link, rows)) = b {
                    external[link] += rows[k];
                }
                if let Some((link, rows)) = a {
                    external[link] += -rows[k];
                }
                let mut response = vec![0.0; tree.n_v];
                by.respond(at, &tau, &external, &mut response);
                self.responses.push(response);
            }
            self.offsets.push(self.responses.len());
        }
        self.find_delassus(at, ports);
        Ok(())
    }

    fn write_delassus(&mut self, _: &System, out: &mut BlockMatrix) {
        out.set_from_dense(&self.offsets, &self.delassus);
    }

    fn describe(&mut self, _: &Posed<'_>, _: &[Port], _: &mut Origin) -> Option<Reason> {
        None
    }

    fn respond(&mut self, _: &Oracle, _: &Posed<'_>, r: &[f64], v: &mut [f64]) {
        for (response, r) in self.responses.iter().zip(r) {
            v.iter_mut().zip(response).for_each(|(v, x)| *v += x * r);
        }
    }
}

impl Solves {
    /// What every response is along every row, row by row.
    fn find_delassus(&mut self, at: &Posed<'_>, ports: &[Port]) {
        let n = self.responses.len();
        self.delassus.clear();
        self.delassus.resize(n * n, 0.0);
        let mut twists = vec![Twist::default(); at.system.tree.links.len()];
        for (j, response) in self.responses.iter().enumerate() {
            at.kinematics.find_twists(&at.system.tree, response, &mut twists);
            let mut i = 0;
            for port in ports {
                let ends = port.ends(at);
                for k in 0..port.n_rows() {
                    let along = |end: &Pushed| end.as_ref().map_or(0.0, |(link, rows)| twists[*link].dot(&rows[k]));
                    self.delassus[i * n + j] = match port.place {
                        Attachment::Speed { speed, .. } => port.side * response[speed],
                        _ => along(&ends[1]) - along(&ends[0]),
                    };
                    i += 1;
                }
            }
        }
        // Symmetric but for rounding; solvers may take it for symmetric.
        for i in 0..n {
            for j in 0..i {
                let mean = 0.5 * (self.delassus[i * n + j] + self.delassus[j * n + i]);
                (self.delassus[i * n + j], self.delassus[j * n + i]) = (mean, mean);
            }
        }
    }
}
