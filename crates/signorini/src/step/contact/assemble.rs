//! From a mechanism in contact to a contact problem.
//!
//! **Problem.** Everything that may push during a step, points that touch, joints at their limits, joints with dry friction, as rows of
//! one contact problem u = G r + u_free.
//!
//! **Method.** Each is a port of the mechanism, so G has the size of the contacts, whatever the number of joints [bhalerao2009, eq. 24–32:
//! what is left at the root]. Loops stay closed exactly. How ports respond is the formulation's affair.
//!
//! **Cost.** That of the formulation.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/contact_motion.rs`: all formulations agree.

use super::{ContactConstraint, find_row_velocities};
use crate::contact::Cone;
use crate::contact::delassus::BlockMatrix;
use crate::contact::origin::Origin;
use crate::contact::solve::Reason;
use crate::dynamics::{Opened, Port, System, Workspace};
use crate::spatial::Twist;
use crate::step::StepError;

/// Rows of one step, in storage that is reused.
pub(crate) struct Rows {
    opened: Opened,
    ports: Vec<Port>,
    /// First row of everything that may push, and the number of rows.
    offsets: Vec<usize>,
    /// Velocities of the links at some speeds.
    pub twists: Vec<Twist>,
}

impl Rows {
    pub fn new(system: &System) -> Self {
        let twists = vec![Twist::default(); system.tree.links.len()];
        Self { opened: Opened::build(system), ports: Vec::new(), offsets: vec![0], twists }
    }

    /// First row of everything that may push, and the number of rows.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Poses all that may push where the sweeps and factored loops of `w` are.
    pub fn assemble(
        &mut self,
        system: &System,
        touching: &[ContactConstraint],
        w: &mut Workspace,
    ) -> Result<(), StepError> {
        self.offsets.clear();
        self.offsets.push(0);
        let mut n = 0;
        self.offsets.extend(touching.iter().map(|t| {
            n += t.n_rows();
            n
        }));
        self.ports.clear();
        self.ports.extend(touching.iter().map(ContactConstraint::port));
        let (engine, at) = w.posed(system);
        Ok(self.opened.open(engine, &at, &self.ports)?)
    }

    /// G, block by block.
    pub fn write_delassus(&mut self, system: &System, out: &mut BlockMatrix) {
        self.opened.write_delassus(system, out);
    }

    /// Where G comes from, where the formulation knows and it is worth knowing; else why it was not said.
    pub fn write_origin(&mut self, system: &System, w: &Workspace, out: &mut Origin) -> Option<Reason> {
        let (_, at) = w.seen(system);
        self.opened.describe(&at, &self.ports, out)
    }

    /// Adds M⁻¹ Wᵀ r to speeds.
    pub fn respond(&mut self, system: &System, w: &Workspace, r: &[f64], v: &mut [f64]) {
        let (engine, at) = w.seen(system);
        self.opened.respond(engine, &at, r, v);
    }

    /// Velocities along all rows for given speeds of the tree, at the configuration of [`Self::assemble`].
    pub fn velocities(
        &mut self,
        system: &System,
        touching: &[ContactConstraint],
        v: &[f64],
        w: &Workspace,
        out: &mut Vec<f64>,
    ) {
        w.kinematics.find_twists(&system.tree, v, &mut self.twists);
        find_row_velocities(system, w, touching, (v, &self.twists), out);
    }
}

/// Cones of all that may push.
pub(crate) fn write_cones(system: &System, touching: &[ContactConstraint], out: &mut Vec<Cone>) {
    let laws = system.model.laws().laws();
    out.clear();
    out.extend(touching.iter().map(|t| t.cone(laws)));
}
