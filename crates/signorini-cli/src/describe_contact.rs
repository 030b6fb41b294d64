//! Contact in words, for `signorini check`: how it is stepped, what may touch, what overlaps at the start.

use signorini::collide::{Contact, Scratch, World};
use signorini::model::{BodyId, Form, Joint, Model};
use signorini::scene::GROUND;
use signorini::spatial::{Pose, Twist, Vec3};
use signorini::step::{Observation, Simulation};

/// Overlaps that are listed.
const MOST: usize = 12;

/// Rounding errors of a gap, in units of the size of the coordinates that it comes from.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// What there is to say: pairs of what and how much.
pub fn contact(simulation: &Simulation, seen: &Observation) -> Vec<(&'static str, String)> {
    if !simulation.steps_contact() {
        return vec![("contact", "none: nothing can push".to_owned())];
    }
    let model = &simulation.system().model;
    let options = simulation.options();
    let step = options.step.map_or_else(String::new, |step| format!(" with a step of {step}"));
    let mut words = vec![format!("stepped by `{}`{step}", options.integrator.name())];
    let mut overlaps = Vec::new();
    let n_points = model.shapes().iter().filter(|shape| matches!(shape.form, Form::Point)).count();
    let n_shapes = model.shapes().len() - n_points;
    words.extend((n_shapes > 0).then(|| count(n_shapes, "shape")));
    words.extend((n_points > 0).then(|| count(n_points, "point")));
    // A world that cannot be built would have been an error before.
    if let Some(world) = World::build(model).ok().filter(|world| world.first_pair().is_some()) {
        let (found, n_pairs) = find_contacts(&world, model, seen);
        words.push(format!("{} close at the start, {}", count(n_pairs, "pair"), count(found.len(), "contact")));
        overlaps = find_overlaps(model, &found);
    }
    let joints = model.joints().iter().filter(|joint| !joint.is_absent);
    let n_limited = joints.clone().filter(|j| !(j.fittings.lower.is_empty() && j.fittings.upper.is_empty())).count();
    let rubs = |j: &&Joint| !(j.fittings.friction.is_empty() && j.fittings.friction_load.is_empty());
    words.extend((n_limited > 0).then(|| format!("{} with limits", count(n_limited, "joint"))));
    let n_rubbing = joints.clone().filter(rubs).count();
    words.extend((n_rubbing > 0).then(|| format!("{} with dry friction", count(n_rubbing, "joint"))));
    overlaps.extend(joints.filter_map(|joint| find_excess(joint, seen)));
    let mut lines = vec![("contact", words.join("; "))];
    let n = overlaps.len();
    overlaps.truncate(MOST);
    let removed = "it will be removed without adding kinetic energy";
    lines.extend(overlaps.into_iter().map(|(what, depth)| ("overlap", format!("{what} by {depth:.2e}: {removed}"))));
    if n > MOST {
        lines.push(("overlap", format!("and {} more", n - MOST)));
    }
    lines
}

fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Contacts where everything is, and how many pairs of shapes were looked at closely.
fn find_contacts(world: &World, model: &Model, seen: &Observation) -> (Vec<Contact>, usize) {
    let poses: Vec<Pose> = model
        .bodies()
        .iter()
        .zip(&seen.bodies)
        .map(|(body, motion)| {
            let turned = Pose::from_parts(motion.position, Some(motion.orientation));
            Pose { translation: turned.translation - turned.rotation * body.com, ..turned }
        })
        .collect();
    let twists = vec![Twist::default(); poses.len()];
    let (mut scratch, mut found) = (Scratch::default(), Vec::new());
    world.find_contacts(&poses, &twists, 0.0, &mut scratch, &mut found);
    (found, scratch.n_pairs)
}

/// Pairs of bodies that overlap, and how deep.
fn find_overlaps(model: &Model, found: &[Contact]) -> Vec<(String, f64)> {
    let mut deepest: Vec<([Option<BodyId>; 2], f64)> = Vec::new();
    let rounding = |point: &Vec3| ROUNDING * (model.characteristic_length() + point.norm());
    for contact in found.iter().filter(|contact| contact.gap < -rounding(&contact.point)) {
        let pair = [contact.a, contact.b];
        match deepest.iter_mut().find(|(known, _)| *known == pair) {
            Some((_, depth)) => *depth = depth.max(-contact.gap),
            None => deepest.push((pair, -contact.gap)),
        }
    }
    let name = |body: Option<BodyId>| body.map_or(GROUND, |id| model.bodies()[id.index()].name.as_str());
    deepest.into_iter().map(|([a, b], depth)| (format!("{} and {}", name(a), name(b)), depth)).collect()
}

/// How far a joint is beyond a limit.
fn find_excess(joint: &Joint, seen: &Observation) -> Option<(String, f64)> {
    let q = seen.joint_q.get(joint.q_slot.clone())?;
    let f = &joint.fittings;
    let below = f.lower.iter().zip(q).map(|(limit, q)| ("lower", limit - q, limit.abs() + q.abs()));
    let above = f.upper.iter().zip(q).map(|(limit, q)| ("upper", q - limit, limit.abs() + q.abs()));
    let beyond = below.chain(above).filter(|(_, excess, size)| size.is_finite() && *excess > ROUNDING * size);
    let (side, excess, _) = beyond.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((format!("joint {} and its {side} limit", joint.name), excess))
}
