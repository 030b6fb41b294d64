//! What makes a run this run, from its scene and back.

use crate::record::{Identity, KeptScene, VERSION, compute_hash};
use crate::scene::{Scene, Solver};
use crate::step::Options;

impl Identity {
    /// Of a scene as it will be run.
    pub(super) fn of(name: &str, scene: &Scene, kept: &KeptScene, csv: bool) -> Self {
        let options = Options::from_scene(scene);
        Self {
            engine: VERSION.to_owned(),
            scene: name.to_owned(),
            scene_hash: compute_hash(kept.text.as_bytes()),
            file_hashes: kept.file_hashes(),
            end: scene.time.end,
            formulation: options.formulation,
            integrator: options.integrator,
            step: options.step,
            rtol: options.rtol,
            method: options.method,
            tolerance: options.tolerance,
            restitution: options.restitution,
            policy: options.policy,
            csv,
            changes: Vec::new(),
        }
    }

    /// Gives a scene, read from its kept text, the settings that it was run with.
    pub(super) fn apply_to(&self, scene: &mut Scene) {
        let time = &mut scene.time;
        (time.end, time.step, time.integrator) = (self.end, self.step, self.integrator);
        time.rtol = self.integrator.has_tolerance().then_some(self.rtol);
        scene.solver = Solver {
            formulation: self.formulation,
            method: self.method,
            tolerance: Some(self.tolerance),
            restitution: self.restitution,
            policy: self.policy,
        };
    }
}
