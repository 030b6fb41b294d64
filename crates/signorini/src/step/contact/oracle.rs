//! Contact rows by the oracle: one solve of the whole constrained system per row.

use super::assemble::{Loads, ends};
use super::{Attachment, ContactConstraint};
use crate::dynamics::{System, Workspace};
use crate::spatial::{Twist, Wrench};
use crate::step::StepError;

/// Responses to unit impulses, and what they are along all rows.
#[derive(Default)]
pub(super) struct Oracle {
    responses: Vec<Vec<f64>>,
    delassus: Vec<f64>,
}

impl Oracle {
    pub fn assemble(
        &mut self,
        system: &System,
        touching: &[ContactConstraint],
        w: &mut Workspace,
    ) -> Result<(), StepError> {
        self.responses.clear();
        let n_v = system.tree.n_v;
        for t in touching {
            for k in 0..t.n_rows() {
                w.external.fill(Wrench::default());
                w.tau.fill(0.0);
                if let Attachment::Speed { speed, .. } = t.place {
                    w.tau[speed] = t.side();
                }
                let [a, b] = ends(t, system, w);
                if let Some((link, rows)) = b {
                    w.external[link] += rows[k];
                }
                if let Some((link, rows)) = a {
                    w.external[link] += -rows[k];
                }
                let mut response = vec![0.0; n_v];
                system.respond_by_definition(&mut response, w)?;
                self.responses.push(response);
            }
        }
        let n = self.responses.len();
        self.delassus.clear();
        self.delassus.resize(n * n, 0.0);
        let mut twists = vec![Twist::default(); system.tree.links.len()];
        for (j, response) in self.responses.iter().enumerate() {
            w.kinematics.find_twists(&system.tree, response, &mut twists);
            let mut i = 0;
            for t in touching {
                let ends = ends(t, system, w);
                for k in 0..t.n_rows() {
                    let along = |end: &Option<(usize, Loads)>| {
                        end.as_ref().map_or(0.0, |(link, rows)| twists[*link].dot(&rows[k]))
                    };
                    self.delassus[i * n + j] = match t.place {
                        Attachment::Speed { speed, .. } => t.side() * response[speed],
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
        Ok(())
    }

    /// Row by row.
    pub fn delassus(&self) -> &[f64] {
        &self.delassus
    }

    pub fn respond(&self, r: &[f64], v: &mut [f64]) {
        for (response, r) in self.responses.iter().zip(r) {
            v.iter_mut().zip(response).for_each(|(v, x)| *v += x * r);
        }
    }
}
