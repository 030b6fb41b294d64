//! Events in words, for `signorini check`.

use signorini::scene::{Attachment, Break, Condition, Event, EventKind, Quantity, Scene};

/// Events that are listed.
const MOST: usize = 12;

/// The scene's events, and its joints and couplings that can break: name, and what happens when.
pub fn events(scene: &Scene) -> Vec<(String, String)> {
    let own = scene.event.iter().map(|e| (e.name.clone(), format!("{} {}", action(e), trigger(e))));
    let mut lines: Vec<(String, String)> = own
        .chain(scene.joint.iter().flat_map(|j| breaks(&j.name, j.breaks.as_ref())))
        .chain(scene.coupling.iter().flat_map(|c| breaks(&c.name, c.breaks.as_ref())))
        .collect();
    let n = lines.len();
    if n > MOST {
        lines.truncate(MOST);
        lines.push(("…".to_owned(), format!("and {} more", n - MOST)));
    }
    lines
}

fn breaks(name: &str, breaks: Option<&Break>) -> Vec<(String, String)> {
    let Some(breaks) = breaks else { return Vec::new() };
    let limits = [
        ("force", "force", breaks.force),
        ("moment", "moment", breaks.moment),
        ("impulse", "impulse", breaks.impulse),
        ("moment-impulse", "moment impulse", breaks.moment_impulse),
    ];
    let line = |(key, words, limit): (&str, &str, Option<f64>)| {
        limit.map(|x| (format!("break:{name}:{key}"), format!("release {name} when its {words} rises to {x}")))
    };
    limits.into_iter().filter_map(line).collect()
}

fn action(event: &Event) -> String {
    let joints: Vec<&str> = event.joint.iter().chain(event.joints.iter().flatten()).map(String::as_str).collect();
    let couplings: Vec<&str> =
        event.coupling.iter().chain(event.couplings.iter().flatten()).map(String::as_str).collect();
    let joints = [joints, couplings].concat().join(", ");
    let body = event.body.as_deref().unwrap_or_default();
    match event.kind {
        EventKind::Lock => match (&event.coordinates, &event.axis) {
            (Some(list), _) => {
                let list: Vec<String> = list.iter().map(usize::to_string).collect();
                format!("lock {joints}, coordinates {}", list.join(", "))
            }
            (None, Some([x, y, z])) => format!("lock {joints} about [{x}, {y}, {z}] of {body}"),
            (None, None) => format!("lock {joints}"),
        },
        EventKind::Change => format!("change {joints} to {}", event.to.map_or("", |kind| kind.name())),
        EventKind::Weld => format!("weld {}", event.bodies.as_deref().unwrap_or_default().join(" and ")),
        EventKind::Unlock | EventKind::Attach | EventKind::Release | EventKind::Engage => {
            format!("{} {joints}", event.kind.name())
        }
        EventKind::Switch => {
            let what = match &event.force {
                Some(force) => force.clone(),
                None => format!("motor {} of {joints}", event.motor.unwrap_or(0)),
            };
            format!("switch {what} {}", if event.on == Some(true) { "on" } else { "off" })
        }
        EventKind::Impulse => format!("impulse on {body}"),
    }
}

fn trigger(event: &Event) -> String {
    if let Some(time) = event.time {
        return format!("at t = {time}");
    }
    if let Some(other) = &event.after {
        return match event.delay {
            Some(delay) => format!("{delay} after {other}"),
            None => format!("after {other}"),
        };
    }
    event.when.as_ref().map_or_else(String::new, |when| format!("when {}", condition(when)))
}

fn condition(when: &Condition) -> String {
    let joint = when.joint.as_deref().or(when.coupling.as_deref()).unwrap_or_default();
    let k = when.coordinate.unwrap_or(0);
    let what = match when.kind {
        Quantity::Coordinate => format!("coordinate {k} of {joint}"),
        Quantity::Speed => format!("speed {k} of {joint}"),
        Quantity::Distance => format!("the distance from {} to {}", end(&when.a), end(&when.b)),
        Quantity::KineticEnergy => "the kinetic energy".to_owned(),
        Quantity::Energy => "the energy".to_owned(),
        Quantity::Force => format!("the force of {joint}"),
        Quantity::Moment => format!("the moment of {joint}"),
        Quantity::Drive => format!("the drive on coordinate {k} of {joint}"),
        Quantity::Impulse => format!("the impulse of {joint}"),
        Quantity::MomentImpulse => format!("the moment impulse of {joint}"),
        Quantity::ContactForce => format!("the contact force of {}", when.bodies.join(" and ")),
        Quantity::ContactImpulse => format!("the impulse of a strike of {}", when.bodies.join(" and ")),
    };
    let passes = match (when.above, when.below) {
        (Some(x), _) => format!("rises to {x}"),
        (None, Some(x)) => format!("falls to {x}"),
        (None, None) => String::new(),
    };
    let again = when.rearm.map_or_else(String::new, |x| format!("; again once it is back at {x}"));
    format!("{what} {passes}{again}")
}

fn end(end: &Option<Attachment>) -> &str {
    end.as_ref().map_or("", |end| end.body.as_str())
}
