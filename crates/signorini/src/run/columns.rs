//! What is recorded of a simulation.

use crate::model::{Joint, Model};
use crate::record::{JointColumns, Layout, RecordError};
use crate::scene::Scene;
use crate::step::Simulation;

/// The columns of a simulation's recording, and what the user should know about them.
pub(super) fn choose(
    simulation: &Simulation,
    scene: &Scene,
    findings: &mut Vec<String>,
) -> Result<Layout, RecordError> {
    let model: &Model = &simulation.system().model;
    let bodies: Vec<String> = model.bodies().iter().map(|body| body.name.clone()).collect();
    let joints: Vec<JointColumns> = model.joints().iter().map(joint_columns).collect();
    let markers: Vec<String> = model.markers().iter().map(|marker| marker.name.clone()).collect();
    let output = &scene.output;
    let layout = Layout::build(&bodies, &joints, &markers, output)?.with_couplings(&scene.coupling, output)?;
    findings.extend_from_slice(layout.findings());
    let may_touch = simulation.steps_contact() && !model.shapes().is_empty();
    Ok(match output.contacts {
        Some(true) if !may_touch => {
            findings.push("output.contacts asks for contacts, and nothing can touch".to_owned());
            layout
        }
        Some(false) => layout,
        _ if may_touch => layout.with_contacts(&bodies),
        _ => layout,
    })
}

/// A joint as far as columns are concerned.
fn joint_columns(joint: &Joint) -> JointColumns {
    let f = &joint.fittings;
    let any = |lists: [&Vec<f64>; 2], acts: fn(f64) -> bool| {
        let acts = |k: &usize| lists.iter().any(|list| list.get(*k).is_some_and(|x| acts(*x)));
        (0..joint.v_slot.len()).filter(acts).collect()
    };
    JointColumns {
        name: joint.name.clone(),
        q: joint.q_slot.clone(),
        v: joint.v_slot.clone(),
        limits: any([&f.lower, &f.upper], f64::is_finite),
        frictions: any([&f.friction, &f.friction_load], |x| x > 0.0),
    }
}
