//! Bodies that may turn about an axis about which nothing has inertia.
//!
//! A slender rod on a hinge across its axis is as good as any body. On a joint that lets it turn about every axis the mass matrix
//! is singular wherever the rod points, but rounding hides that in most positions: a run would start, and stop somewhere. So the
//! body itself is looked at, in its own axes, where what is zero in the scene is zero.

use crate::dynamics::{System, Traits};
use crate::model::ModelError;
use crate::scene::validate::principal_moments;
use crate::scene::{Finding, FindingKind, JointKind, Scene};
use crate::spatial::Inertia;

/// Principal moment, over the largest, that may drown in rounding once the body has turned. The recursion takes 64 ε of the sum of
/// all three, at most 192 ε of the largest, for nothing; the rest is for its own rounding.
const NO_MOMENT: f64 = 512.0 * f64::EPSILON;

/// Refuses bodies at the tips of the tree that turn freely about an axis without inertia. Elsewhere bodies further out may give
/// some, and what is singular at the start is found where accelerations are first computed.
pub(super) fn check(scene: &Scene, system: &System) -> Result<(), ModelError> {
    let (model, plan) = (&system.model, &system.plan);
    let mut is_tip = vec![true; plan.links.len()];
    plan.links.iter().filter_map(|link| link.parent).for_each(|parent| is_tip[parent] = false);
    let mut is_in_loop = vec![false; model.bodies().len()];
    for cut in &plan.cuts {
        let joint = &model.joints()[cut.index()];
        [joint.parent, joint.child].into_iter().flatten().for_each(|body| is_in_loop[body.index()] = true);
    }
    // A formulation that knows loops and inertias at once: another joint may hold what this one leaves free.
    let knows_loops = Traits::of(scene.solver.formulation).knows_loops_at_once;
    let mut findings = Vec::new();
    for (link, _) in plan.links.iter().zip(is_tip).filter(|(_, is_tip)| *is_tip) {
        let body = &model.bodies()[link.body.index()];
        if knows_loops && is_in_loop[link.body.index()] {
            continue;
        }
        let joint = link.joint.map(|joint| &model.joints()[joint.index()]);
        if joint.is_some_and(|joint| joint.fittings.armature.iter().any(|x| *x > 0.0)) {
            continue;
        }
        let (moments, about) = match joint.map(|joint| (joint.kind(), joint)) {
            None | Some((JointKind::Free, _)) => (body.central, "its centre of mass"),
            Some((JointKind::Spherical, joint)) => {
                let centre = if link.reversed { &joint.parent_frame } else { &joint.child_frame };
                let arm = body.com - centre.translation;
                (Inertia::from_central(body.mass, arm, &body.central).moments, "the centre of its joint")
            }
            Some(_) => continue,
        };
        let Some([small, middle, large]) =
            principal_moments(&moments.to_matrix()).filter(|[small, _, large]| *small <= NO_MOMENT * large)
        else {
            continue;
        };
        let place = scene.body.iter().position(|b| b.name == body.name).unwrap_or_default();
        let message =
            "the body may turn freely about an axis about which it has no inertia, so its spin is not determined";
        let mut finding = Finding::new(FindingKind::Inertia, format!("body[{place}].inertia"), message)
            .found(format!("principal moments {small}, {middle}, {large} about {about}"))
            .allowed("moments above zero, or a joint that does not turn the body about that axis");
        finding.subject = Some(format!("body `{}`", body.name));
        findings.push(finding);
        if findings.len() >= crate::scene::MAX_FINDINGS {
            break;
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(ModelError(findings)) }
}
