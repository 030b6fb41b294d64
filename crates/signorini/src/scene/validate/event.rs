//! Events: what they need, what they may not have, and contradictions that can be seen before the run.

use super::Check;
use super::numbers::Range;
use crate::scene::pattern::{is_plain, matches};
use crate::scene::{Condition, Event, EventKind, FindingKind, GROUND, Joint, JointKind, Quantity};
use std::collections::{HashMap, HashSet};
use std::fmt::Arguments;

impl<'a> Check<'a> {
    /// Every `[[event]]`.
    pub(super) fn events(&mut self) {
        let mut seen = HashSet::new();
        let mut joint_names: HashSet<&str> = self.scene.joint.iter().map(|j| j.name.as_str()).collect();
        for (i, event) in self.scene.event.iter().enumerate() {
            self.subject = Some(("event", &event.name));
            let at = format_args!("event[{i}]");
            self.name(at, &event.name, &mut seen);
            if event.kind == EventKind::Weld && !joint_names.insert(&event.name) {
                let message = "a weld's joint has the name of its event, and there is a joint of that name";
                self.add(FindingKind::DuplicateName, format_args!("{at}.name"), message);
            }
            self.trigger(at, i, event);
            self.belonging(at, event);
            match event.kind {
                EventKind::Weld => self.weld(at, event),
                EventKind::Switch => self.switch(at, event),
                EventKind::Impulse => self.impulse(at, event),
                EventKind::Change => self.change(at, event),
                EventKind::Lock => self.lock(at, event),
                EventKind::Engage => self.engage(at, event),
                EventKind::Release if event.coupling.is_some() || event.couplings.is_some() => {
                    self.event_couplings(at, event);
                }
                EventKind::Unlock | EventKind::Attach | EventKind::Release => {
                    self.event_joints(at, event);
                }
            }
        }
        self.subject = None;
        self.circles();
        self.contradictions();
    }

    /// Events that wait for each other: none of them would ever happen.
    fn circles(&mut self) {
        let by_name: HashMap<&str, &Event> = self.scene.event.iter().map(|e| (e.name.as_str(), e)).collect();
        for (i, event) in self.scene.event.iter().enumerate() {
            let mut causes = std::iter::successors(Some(event), |e| by_name.get(e.after.as_deref()?).copied());
            let returns = causes.by_ref().skip(1).take(self.scene.event.len()).any(|e| e.name == event.name);
            if returns && event.after.as_ref() != Some(&event.name) {
                self.subject = Some(("event", &event.name));
                let message =
                    "the events that this one comes after come after it themselves: none of them would ever happen";
                self.add_with(FindingKind::Contradiction, format_args!("event[{i}].after"), message, |f| {
                    f.allowed("a chain that begins with a `time` or a `when`")
                });
                self.subject = None;
            }
        }
    }

    /// Keys that do nothing for the event's kind.
    fn belonging(&mut self, at: Arguments<'_>, event: &Event) {
        use EventKind::*;
        let keys: [(&str, bool, &[EventKind]); 18] = [
            ("joint", event.joint.is_some(), &[Lock, Unlock, Change, Attach, Release, Switch]),
            ("joints", event.joints.is_some(), &[Lock, Unlock, Attach, Release]),
            ("coupling", event.coupling.is_some(), &[Engage, Release]),
            ("couplings", event.couplings.is_some(), &[Engage, Release]),
            ("offset", event.offset.is_some(), &[Engage]),
            ("length", event.length.is_some(), &[Engage]),
            ("coordinates", event.coordinates.is_some(), &[Lock]),
            ("axis", event.axis.is_some(), &[Lock, Change]),
            ("axis2", event.axis2.is_some(), &[Change]),
            ("pitch", event.pitch.is_some(), &[Change]),
            ("to", event.to.is_some(), &[Change]),
            ("body", event.body.is_some(), &[Lock, Impulse]),
            ("bodies", event.bodies.is_some(), &[Weld]),
            ("force", event.force.is_some(), &[Switch]),
            ("motor", event.motor.is_some(), &[Switch]),
            ("on", event.on.is_some(), &[Switch]),
            ("point", event.point.is_some(), &[Impulse]),
            ("axes", event.axes.is_some(), &[Impulse]),
        ];
        let sizes =
            [("vector", event.vector.is_some(), &[Impulse][..]), ("moment", event.moment.is_some(), &[Impulse][..])];
        for (key, _, kinds) in
            keys.into_iter().chain(sizes).filter(|(_, given, kinds)| *given && !kinds.contains(&event.kind))
        {
            let message = format!("`{key}` does not belong to an event of kind `{}`", event.kind.name());
            self.add_with(FindingKind::Misplaced, format_args!("{at}.{key}"), &message, |f| {
                f.allowed(kinds.iter().map(|k| format!("`{}`", k.name())).collect::<Vec<_>>().join(", "))
            });
        }
    }

    fn trigger(&mut self, at: Arguments<'_>, i: usize, event: &Event) {
        let n =
            usize::from(event.time.is_some()) + usize::from(event.when.is_some()) + usize::from(event.after.is_some());
        if n != 1 {
            let kind = if n == 0 { FindingKind::Missing } else { FindingKind::Misplaced };
            self.add_with(kind, at, "an event has one trigger", |f| {
                f.found(format!("{n}")).allowed("one of `time`, `when` and `after`")
            });
        }
        if let Some(time) = event.time {
            self.number(format_args!("{at}.time"), time, Range::NotNegative);
        }
        if let Some(when) = &event.when {
            self.condition(format_args!("{at}.when"), when);
        }
        if let Some(after) = &event.after {
            let others: Vec<&str> = self.scene.event.iter().map(|e| e.name.as_str()).collect();
            if !others.contains(&after.as_str()) {
                self.unknown_name(format_args!("{at}.after"), "event", after, &others);
            } else if self.scene.event[i].name == *after {
                self.add(FindingKind::Misplaced, format_args!("{at}.after"), "an event cannot wait for itself");
            }
        }
        if let Some(delay) = event.delay {
            self.number(format_args!("{at}.delay"), delay, Range::NotNegative);
            if event.after.is_none() {
                self.add(FindingKind::Misplaced, format_args!("{at}.delay"), "a delay needs `after`");
            }
        }
    }

    fn condition(&mut self, at: Arguments<'_>, when: &Condition) {
        match (when.above, when.below) {
            (Some(_), Some(_)) | (None, None) => {
                self.add_with(FindingKind::Missing, at, "a condition has one threshold", |f| {
                    f.allowed("either `above` or `below`")
                });
            }
            _ => {}
        }
        for (key, value) in [("above", when.above), ("below", when.below), ("rearm", when.rearm)] {
            if let Some(value) = value {
                self.number(format_args!("{at}.{key}"), value, Range::Finite);
            }
        }
        if let Some(rearm) = when.rearm {
            let is_back = when.above.is_none_or(|x| rearm < x) && when.below.is_none_or(|x| rearm > x);
            if !is_back {
                let message = "the quantity must come back past the threshold before the event can happen again";
                let allowed = match (when.above, when.below) {
                    (Some(x), _) => format!("a number below {x}"),
                    (None, Some(x)) => format!("a number above {x}"),
                    (None, None) => String::new(),
                };
                self.add_with(FindingKind::OutOfRange, format_args!("{at}.rearm"), message, |f| {
                    f.found(rearm.to_string()).allowed(allowed)
                });
            }
            if matches!(when.kind, Quantity::Impulse | Quantity::MomentImpulse | Quantity::ContactImpulse) {
                let message = "an impulse is over at once: there is nothing that could come back";
                self.add(FindingKind::Misplaced, format_args!("{at}.rearm"), message);
            }
        }
        let keys = [
            ("joint", when.joint.is_some(), when.kind.is_of_joint()),
            ("coordinate", when.coordinate.is_some(), when.kind.is_of_coordinate()),
            ("a", when.a.is_some(), when.kind == Quantity::Distance),
            ("b", when.b.is_some(), when.kind == Quantity::Distance),
            ("bodies", !when.bodies.is_empty(), when.kind.is_of_contact()),
            ("coupling", when.coupling.is_some(), when.kind.may_be_of_coupling()),
        ];
        for (key, _, _) in keys.into_iter().filter(|(_, given, belongs)| *given && !belongs) {
            let message = format!("`{key}` does not belong to this quantity");
            self.add(FindingKind::Misplaced, format_args!("{at}.{key}"), &message);
        }
        if when.kind.is_of_joint() {
            match (when.joint.as_deref(), when.coupling.as_deref()) {
                (None, Some(name)) if when.kind.may_be_of_coupling() => {
                    self.coupling_exists(format_args!("{at}.coupling"), name);
                }
                (Some(_), Some(_)) if when.kind.may_be_of_coupling() => {
                    let message = "this quantity belongs to a joint or to a coupling, not to both";
                    self.add(FindingKind::Misplaced, format_args!("{at}.coupling"), message);
                }
                (None, _) => {
                    let allowed = if when.kind.may_be_of_coupling() { "`joint` or `coupling`" } else { "`joint`" };
                    let message = "this quantity belongs to a joint";
                    self.add_with(FindingKind::Missing, format_args!("{at}.joint"), message, |f| f.allowed(allowed));
                }
                (Some(name), _) => self.joint_and_coordinate(at, name, when),
            }
        }
        let names = format_args!("{at}.bodies");
        if when.kind.is_of_contact() && self.length(names, when.bodies.len(), 2, "the two bodies that touch") {
            let scene = self.scene;
            let known: Vec<&str> = scene.body.iter().map(|b| b.name.as_str()).chain([GROUND]).collect();
            for (k, name) in when.bodies.iter().enumerate().filter(|(_, name)| !known.contains(&name.as_str())) {
                self.unknown_name(format_args!("{at}.bodies[{k}]"), "body", name, &known);
            }
        }
        if when.kind == Quantity::Distance {
            for (key, end) in [("a", &when.a), ("b", &when.b)] {
                match end {
                    Some(end) => self.attachment(format_args!("{at}.{key}"), end),
                    None => self.add(FindingKind::Missing, format_args!("{at}.{key}"), "a distance has two ends"),
                }
            }
        }
    }

    fn joint_and_coordinate(&mut self, at: Arguments<'_>, name: &str, when: &Condition) {
        if !self.joint_exists(format_args!("{at}.joint"), name) || !when.kind.is_of_coordinate() {
            return;
        }
        let k = when.coordinate.unwrap_or(0);
        let n = self.kinds_of(name).map(|kind| if when.kind == Quantity::Coordinate { kind.n_q() } else { kind.n_v() });
        let n = n.max().unwrap_or(0);
        if k >= n {
            self.add_with(
                FindingKind::OutOfRange,
                format_args!("{at}.coordinate"),
                "the joint has no such coordinate",
                |f| f.found(k.to_string()).allowed(format!("an integer below {n}")),
            );
        }
    }

    /// Kinds that a joint has in the course of the run.
    fn kinds_of<'n>(&self, name: &'n str) -> impl Iterator<Item = JointKind> + use<'a, 'n> {
        let first = self.scene.joint.iter().filter(move |j| j.name == name).map(|j| j.kind);
        let later = self.scene.event.iter().filter(move |e| e.joint.as_deref() == Some(name)).filter_map(|e| e.to);
        first.chain(later)
    }

    fn joint_exists(&mut self, at: Arguments<'_>, name: &str) -> bool {
        let names = self.joint_names();
        let exists = names.contains(&name);
        if !exists {
            self.unknown_name(at, "joint", name, &names);
        }
        exists
    }

    /// Joints of the scene and those that welds will make.
    fn joint_names(&self) -> Vec<&'a str> {
        let welds = self.scene.event.iter().filter(|e| e.kind == EventKind::Weld).map(|e| e.name.as_str());
        self.scene.joint.iter().map(|j| j.name.as_str()).chain(welds).collect()
    }

    /// Joints that an event names; empty where something is wrong with them.
    fn event_joints(&mut self, at: Arguments<'_>, event: &Event) -> Vec<&'a str> {
        let (key, patterns) = match (&event.joint, &event.joints) {
            (Some(name), None) => ("joint", std::slice::from_ref(name)),
            (None, Some(names)) if !names.is_empty() => ("joints", names.as_slice()),
            _ => {
                self.add_with(FindingKind::Missing, at, "the event needs to know which joint", |f| {
                    f.allowed("either `joint` or a list `joints`")
                });
                return Vec::new();
            }
        };
        let names = self.joint_names();
        let mut found = Vec::new();
        for (i, pattern) in patterns.iter().enumerate() {
            let before = found.len();
            found.extend(names.iter().copied().filter(|name| {
                if is_plain(pattern) || key == "joint" { *name == pattern } else { matches(pattern, name) }
            }));
            if found.len() == before {
                match key {
                    "joint" => self.unknown_name(format_args!("{at}.joint"), "joint", pattern, &names),
                    _ => self.unknown_name(format_args!("{at}.joints[{i}]"), "joint", pattern, &names),
                }
                return Vec::new();
            }
        }
        found
    }

    fn lock(&mut self, at: Arguments<'_>, event: &Event) {
        let joints: Vec<&Joint> = {
            let names = self.event_joints(at, event);
            self.scene.joint.iter().filter(|j| names.contains(&j.name.as_str())).collect()
        };
        if let Some(coordinates) = &event.coordinates {
            let most = joints.iter().map(|j| self.kinds_of(&j.name).map(JointKind::n_v).max().unwrap_or(0)).min();
            for (i, &k) in coordinates.iter().enumerate() {
                if most.is_some_and(|n| k >= n) {
                    let at = format_args!("{at}.coordinates[{i}]");
                    self.add_with(FindingKind::OutOfRange, at, "the joint has no such coordinate", |f| {
                        f.found(k.to_string()).allowed(format!("an integer below {}", most.unwrap_or(0)))
                    });
                }
            }
            if coordinates.is_empty() {
                self.add(
                    FindingKind::Missing,
                    format_args!("{at}.coordinates"),
                    "a lock of no coordinate does nothing",
                );
            }
        }
        match (event.axis, &event.body) {
            (None, None) => {}
            (None, Some(_)) => self.add(FindingKind::Misplaced, format_args!("{at}.body"), "a body needs `axis`"),
            (Some(axis), body) => {
                self.axis(format_args!("{at}.axis"), axis);
                if event.coordinates.is_some() {
                    self.add(
                        FindingKind::Misplaced,
                        format_args!("{at}.axis"),
                        "either an axis or coordinates, not both",
                    );
                }
                for joint in &joints {
                    let kinds: Vec<JointKind> = self.kinds_of(&joint.name).collect();
                    if !kinds.iter().any(|k| k.quaternion_at().is_some()) {
                        let message = "only a joint that turns in any direction can be locked about an axis";
                        self.add_with(FindingKind::Misplaced, format_args!("{at}.axis"), message, |f| {
                            f.found(format!("a {} joint", joint.kind.name())).allowed("a spherical or free joint")
                        });
                    }
                    match body {
                        None => {
                            let message = "the axis is fixed in one of the joint's bodies";
                            self.add_with(FindingKind::Missing, format_args!("{at}.body"), message, |f| {
                                f.allowed(format!("`{}` or `{}`", joint.parent, joint.child))
                            });
                        }
                        Some(body) if *body != joint.parent && *body != joint.child => {
                            let message = "the axis is fixed in one of the joint's bodies";
                            self.add_with(FindingKind::UnknownName, format_args!("{at}.body"), message, |f| {
                                f.found(format!("{body:?}")).allowed(format!("`{}` or `{}`", joint.parent, joint.child))
                            });
                        }
                        Some(_) => {}
                    }
                }
            }
        }
    }

    fn change(&mut self, at: Arguments<'_>, event: &Event) {
        let Some(name) = event.joint.as_deref() else {
            return self.add(FindingKind::Missing, format_args!("{at}.joint"), "a change needs its joint");
        };
        self.joint_exists(format_args!("{at}.joint"), name);
        let Some(kind) = event.to else {
            return self.add(FindingKind::Missing, format_args!("{at}.to"), "a change needs the new kind");
        };
        self.axes(at, &changed_joint(event, kind));
    }

    fn weld(&mut self, at: Arguments<'_>, event: &Event) {
        match event.bodies.as_deref() {
            Some([a, b]) => {
                self.body_name(format_args!("{at}.bodies[0]"), a, true);
                self.body_name(format_args!("{at}.bodies[1]"), b, true);
                if a == b {
                    self.add(FindingKind::SameBody, format_args!("{at}.bodies"), "a weld joins two different bodies");
                }
            }
            other => {
                self.add_with(FindingKind::WrongLength, format_args!("{at}.bodies"), "a weld joins two bodies", |f| {
                    f.found(format!("{} names", other.map_or(0, <[_]>::len))).allowed("2")
                })
            }
        }
    }

    fn switch(&mut self, at: Arguments<'_>, event: &Event) {
        match (&event.force, &event.joint, event.motor) {
            (Some(force), None, None) => {
                let names: Vec<&str> = self.scene.force.iter().map(|f| f.name()).collect();
                if !names.contains(&force.as_str()) {
                    self.unknown_name(format_args!("{at}.force"), "force", force, &names);
                }
            }
            (None, Some(name), motor) => {
                if !self.joint_exists(format_args!("{at}.joint"), name) {
                    return;
                }
                let n = self.scene.joint.iter().find(|j| j.name == *name).map_or(0, |j| j.motor.len());
                if motor.unwrap_or(0) >= n {
                    let message = "the joint has no such motor";
                    self.add_with(FindingKind::OutOfRange, format_args!("{at}.motor"), message, |f| {
                        f.found(motor.unwrap_or(0).to_string()).allowed(format!("an integer below {n}"))
                    });
                }
            }
            _ => self.add_with(FindingKind::Missing, at, "the event needs to know what is switched", |f| {
                f.allowed("either `force`, or `joint` and `motor`")
            }),
        }
        if event.on.is_none() {
            self.add(FindingKind::Missing, format_args!("{at}.on"), "a switch goes on or off");
        }
    }

    fn impulse(&mut self, at: Arguments<'_>, event: &Event) {
        match event.body.as_deref() {
            Some(body) => self.body_name(format_args!("{at}.body"), body, false),
            None => self.add(FindingKind::Missing, format_args!("{at}.body"), "an impulse acts on a body"),
        }
        for (key, value) in [("point", event.point), ("vector", event.vector), ("moment", event.moment)] {
            self.numbers(format_args!("{at}.{key}"), &value.unwrap_or_default(), Range::Finite);
        }
        if event.vector.is_none() && event.moment.is_none() {
            self.add_with(FindingKind::Missing, at, "an impulse needs its size", |f| f.allowed("`vector` or `moment`"));
        }
    }

    /// Two events at one time that want one joint, load or motor to be two things.
    fn contradictions(&mut self) {
        let names = self.joint_names();
        let mut at_once: HashMap<(u64, String), usize> = HashMap::new();
        for (i, event) in self.scene.event.iter().enumerate() {
            let Some(time) = event.time.filter(|t| t.is_finite()) else { continue };
            let subjects: Vec<String> = match event.kind {
                EventKind::Impulse | EventKind::Weld => Vec::new(),
                EventKind::Switch => match (&event.force, &event.joint) {
                    (Some(force), _) => vec![format!("load `{force}`")],
                    (None, Some(joint)) => vec![format!("motor {} of joint `{joint}`", event.motor.unwrap_or(0))],
                    (None, None) => Vec::new(),
                },
                EventKind::Engage | EventKind::Release if event.joint.is_none() && event.joints.is_none() => {
                    let patterns: Vec<&String> =
                        event.coupling.iter().chain(event.couplings.iter().flatten()).collect();
                    let all = self.scene.coupling.iter().map(|c| &c.name);
                    let named = all.filter(|name| patterns.iter().any(|p| matches(p, name)));
                    named.map(|name| format!("coupling `{name}`")).collect()
                }
                _ => {
                    let patterns: Vec<&String> = event.joint.iter().chain(event.joints.iter().flatten()).collect();
                    let named = names.iter().filter(|name| patterns.iter().any(|p| matches(p, name)));
                    named.map(|name| format!("joint `{name}`")).collect()
                }
            };
            for subject in subjects {
                // −0 and 0 are one time.
                let first = *at_once.entry(((time + 0.0).to_bits(), subject.clone())).or_insert(i);
                let other = &self.scene.event[first];
                if go_together(other, event) {
                    continue;
                }
                self.subject = Some(("event", &event.name));
                let message =
                    format!("this contradicts event `{}`, which happens to {subject} at the same time", other.name);
                self.add_with(FindingKind::Contradiction, format_args!("event[{i}]"), &message, |f| {
                    f.found(format!("{} and {}", other.kind.name(), event.kind.name()))
                        .help("let one come `after` the other".to_owned())
                });
                self.subject = None;
            }
        }
    }
}

/// Whether two events of one time want the same of one thing, or locks that add up.
fn go_together(a: &Event, b: &Event) -> bool {
    a.kind == b.kind
        && match a.kind {
            EventKind::Change => (a.to, a.axis, a.axis2, a.pitch) == (b.to, b.axis, b.axis2, b.pitch),
            EventKind::Switch => a.on == b.on,
            EventKind::Engage => (a.offset, a.length) == (b.offset, b.length),
            _ => true,
        }
}

/// The joint that a change makes, as far as axes are concerned.
pub(crate) fn changed_joint(event: &Event, kind: JointKind) -> Joint {
    Joint { kind, axis: event.axis, axis2: event.axis2, pitch: event.pitch, ..Joint::default() }
}
