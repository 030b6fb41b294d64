//! Wrenches that joints transmit, and forces of actuators.

use super::formulation::Formulation;
use super::row::{RowKind, Term};
use super::system::{System, Workspace};
use crate::spatial::{Vec3, Wrench};

impl System {
    /// Rows that depended on others at the last factorisation: joint, and what the row forbids, in words.
    pub(crate) fn name_dependent_rows(&self, w: &Workspace) -> Vec<(String, String)> {
        let mut rows = Vec::new();
        w.engine.dependent_rows(&mut rows);
        let name = |r: &usize| {
            let row = w.rows.row(*r);
            self.elements[row.element].name(row.kind, &self.model, &self.cuts)
        };
        let mut names: Vec<(String, String)> = rows.iter().map(name).collect();
        names.sort();
        names
    }

    /// Wrench that an element's rows transmit to its child, at its meeting.
    pub(crate) fn element_wrench(&self, element: usize, w: &Workspace) -> Wrench {
        let rows = w.rows.iter().enumerate().filter(|(_, row)| row.element == element);
        let terms = rows.flat_map(|(r, _)| w.rows.terms(r).iter().map(move |term| (term, w.lambda[r])));
        terms.fold(Wrench::default(), |sum, (term, lambda)| match term {
            Term::Along { direction, .. } => sum + *direction * lambda,
            Term::Speed { .. } => sum,
        })
    }

    /// Adds what couplings do within cut joints to what these transmit. Tree joints have it already.
    pub(crate) fn add_couplers(&self, w: &Workspace, out: &mut [[f64; 6]]) {
        for (r, row) in w.rows.iter().enumerate() {
            let within = w.rows.terms(r).iter().filter_map(|term| match term {
                Term::Along { direction, .. } => Some(*direction),
                Term::Speed { .. } => None,
            });
            for (cut, direction) in self.elements[row.element].cut_joints().zip(within) {
                let sum = &mut out[self.cuts[cut].joint.index()];
                sum.iter_mut().zip((direction * w.lambda[r]).to_array()).for_each(|(sum, x)| *sum += x);
            }
        }
    }

    /// Visits the rows of couplings that act: place among those of all couplings, row, and what the row was divided by. In the user's
    /// terms its force is smaller by that, gap and rate larger.
    pub(crate) fn visit_couplings(&self, w: &Workspace, mut visit: impl FnMut(usize, usize, f64)) {
        for (r, row) in w.rows.iter().enumerate() {
            if let (Some((id, scale)), RowKind::Closed(k)) = (self.elements[row.element].coupling(), row.kind) {
                visit(self.model.couplings()[id.index()].rows.start + k, r, scale);
            }
        }
    }

    /// Adds the forces of all rows to those on speeds and to the external wrenches.
    pub(crate) fn add_row_forces(&self, w: &mut Workspace) {
        for e in 0..self.elements.len() {
            w.rows.add_forces(e, &w.lambda, &mut w.external, &mut w.tau);
        }
    }

    /// Adds the forces of rows to the external wrenches, and finds what every tree joint transmits (`w.wrenches`) and the total
    /// generalised force on each speed (`w.joint_forces`).
    pub(crate) fn update_reactions(&self, gravity: &Vec3, vdot: &[f64], w: &mut Workspace) {
        self.add_row_forces(w);
        let external = Some(&w.external[..]);
        w.kinematics.find_accelerations(&self.tree, gravity, vdot, &mut w.acceleration);
        let accelerations = (vdot, &w.acceleration[..]);
        w.kinematics.find_wrenches(&self.tree, accelerations, external, &mut w.wrenches, &mut w.joint_forces);
    }

    /// What a tree joint transmits to its child at the child's joint frame, by `w.wrenches`.
    pub(crate) fn tree_reaction(&self, l: usize, w: &Workspace) -> Wrench {
        // Where the joint runs backwards, the link is the parent and its origin the parent's joint frame; the child's frame
        // lies one offset inwards.
        let runs_backwards = self.plan.links[l].reversed;
        if runs_backwards { (-w.wrenches[l]).shifted(&self.joint_offset(l, w)) } else { w.wrenches[l] }
    }

    /// Power of prescribed motions of joints that close loops.
    pub(crate) fn driven_power(&self, w: &Workspace) -> f64 {
        let rows = w.rows.iter().zip(&w.lambda);
        let driven = rows.filter(|(row, _)| matches!(row.kind, RowKind::Prescribed(_)));
        driven.fold(0.0, |power, (row, lambda)| power + lambda * row.rate)
    }

    /// Power of prescribed motions.
    pub(crate) fn motion_power(&self, vdot: &[f64], v: &[f64], w: &mut Workspace) -> f64 {
        let mut power = self.driven_power(w);
        if !self.motions.is_empty() {
            self.update_reactions(&self.model.gravity(), vdot, w);
            for (link, k, _) in &self.motions {
                let at = self.tree.links[*link].v as usize + k;
                power += (w.joint_forces[at] - w.tau[at]) * v[at];
            }
        }
        power
    }

    /// From the inner origin of a link's joint to its outer one, world axes.
    pub(crate) fn joint_offset(&self, l: usize, w: &Workspace) -> Vec3 {
        let link = &self.tree.links[l];
        let parent = link.parent_index().map(|p| w.kinematics.links[p].rotation);
        let arm = parent.map_or(link.position, |r| r * link.position);
        w.kinematics.links[l].offset - arm
    }
}
