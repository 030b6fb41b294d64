//! Kinetic and potential energy of a mechanism.

use super::system::{System, Workspace};

impl System {
    /// Kinetic and potential energy at the present kinematics, positions included.
    pub(crate) fn energies(&self, q: &[f64], v: &[f64], w: &Workspace) -> (f64, f64) {
        let mut kinetic = w.kinematics.kinetic_energy(&self.tree, v);
        for cut in &self.cuts {
            let rotors = self.fittings(cut).armature.iter().zip(&w.cut_v[cut.v.clone()]);
            kinetic += rotors.map(|(i, v)| 0.5 * i * v * v).sum::<f64>();
        }
        let view = self.view(&w.kinematics);
        let potential = w.kinematics.gravity_potential(&self.tree, &self.model.gravity())
            + self.loads.potential(&view, q, &self.cuts, &w.cut_q);
        (kinetic, potential)
    }
}
