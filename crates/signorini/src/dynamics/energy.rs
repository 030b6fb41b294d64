//! Kinetic and potential energy of a mechanism.

use super::force::Configuration;
use super::system::{System, Workspace};

impl System {
    /// Kinetic and potential energy at the present kinematics, positions included.
    pub(crate) fn energies(&self, q: &[f64], v: &[f64], w: &Workspace) -> (f64, f64) {
        let mut kinetic = w.kinematics.kinetic_energy(&self.tree, v);
        for cut in &self.cuts {
            let rotors = self.fittings(cut).armature.iter().zip(&w.cut_v[cut.v.clone()]);
            kinetic += rotors.map(|(i, v)| 0.5 * i * v * v).sum::<f64>();
        }
        let potential = w.kinematics.gravity_potential(&self.tree, &self.model.gravity()) + self.stored(q, w);
        (kinetic, potential)
    }

    /// Energy that force elements store at the present kinematics, positions included: springs, and what loads of a user say.
    pub(crate) fn stored(&self, q: &[f64], w: &Workspace) -> f64 {
        let view = self.view(&w.kinematics);
        self.forces.potential(&Configuration { view, cuts: &self.cuts, q, cut_q: &w.cut_q })
    }
}
