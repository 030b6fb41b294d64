//! Couplings: what they connect exists, and can be connected.

use super::Check;
use super::numbers::Range;
use crate::scene::coupling::Part;
use crate::scene::pattern::matches;
use crate::scene::{Attachment, Coupling, Event, FindingKind};
use std::collections::HashSet;
use std::fmt::Arguments;

impl<'a> Check<'a> {
    /// Every `[[coupling]]`.
    pub(super) fn couplings(&mut self) {
        let mut seen = HashSet::new();
        for (i, coupling) in self.scene.coupling.iter().enumerate() {
            self.subject = Some(("coupling", &coupling.name));
            let at = format_args!("coupling[{i}]");
            self.name(at, &coupling.name, &mut seen);
            let mut ends: Vec<(&str, &Attachment)> = Vec::new();
            for part in coupling.kind.parts() {
                match part {
                    Part::End(key, end) => {
                        self.attachment(format_args!("{at}.{key}"), end);
                        ends.push((key, end));
                    }
                    Part::Axis(key, axis) => {
                        self.axis(format_args!("{at}.{key}"), axis);
                    }
                    Part::Positive(key, value) => {
                        value.map(|x| self.number(format_args!("{at}.{key}"), x, Range::Positive));
                    }
                    Part::Finite(key, value) => {
                        value.map(|x| self.number(format_args!("{at}.{key}"), x, Range::Finite));
                    }
                    Part::Coordinates { joints, coordinates, ratios } => {
                        self.coupled_coordinates(at, coupling, joints, coordinates, ratios);
                    }
                }
            }
            for (key, end) in ends.iter().skip(1).filter(|(_, end)| end.body == ends[0].1.body) {
                let message = "both ends are on the same body, which keeps their distance anyway";
                self.add_with(FindingKind::SameBody, format_args!("{at}.{key}.body"), message, |f| {
                    f.found(format!("{:?}", end.body)).allowed("another body")
                });
            }
            self.coupling_breaks(at, coupling);
        }
        self.subject = None;
    }

    fn coupling_breaks(&mut self, at: Arguments<'_>, coupling: &Coupling) {
        let Some(breaks) = &coupling.breaks else { return };
        for (key, value) in [("force", breaks.force), ("impulse", breaks.impulse)] {
            value.map(|x| self.number(format_args!("{at}.break.{key}"), x, Range::Positive));
        }
        for (key, value) in [("moment", breaks.moment), ("moment_impulse", breaks.moment_impulse)] {
            if value.is_some() {
                let message = "a coupling transmits no moment that it could break by";
                self.add(FindingKind::Misplaced, format_args!("{at}.break.{key}"), message);
            }
        }
        if breaks.force.or(breaks.impulse).is_none() {
            self.add_with(FindingKind::Missing, format_args!("{at}.break"), "a break needs a threshold", |f| {
                f.allowed("`force` or `impulse`")
            });
        }
    }

    fn coupled_coordinates(
        &mut self,
        at: Arguments<'_>,
        coupling: &Coupling,
        joints: &[String],
        coordinates: Option<&[usize]>,
        ratios: &[f64],
    ) {
        if joints.len() < 2 {
            self.add_with(
                FindingKind::Missing,
                format_args!("{at}.joints"),
                "a coupler ties coordinates together",
                |f| f.found(format!("{} joints", joints.len())).allowed("two or more; one alone is held by a lock"),
            );
        }
        self.length(format_args!("{at}.ratios"), ratios.len(), joints.len(), "one ratio for each joint");
        for (k, ratio) in ratios.iter().enumerate() {
            self.number(format_args!("{at}.ratios[{k}]"), *ratio, Range::Finite);
            if *ratio == 0.0 {
                let message = "a coordinate with ratio zero is not coupled";
                self.add(FindingKind::OutOfRange, format_args!("{at}.ratios[{k}]"), message);
            }
        }
        if let Some(list) = coordinates {
            self.length(format_args!("{at}.coordinates"), list.len(), joints.len(), "one coordinate for each joint");
        }
        let mut met = HashSet::new();
        for (k, name) in joints.iter().enumerate() {
            let of = |k: usize| coordinates.and_then(|list| list.get(k).copied()).unwrap_or(0);
            let Some(joint) = self.scene.joint.iter().find(|j| j.name == *name) else {
                let names: Vec<&str> = self.scene.joint.iter().map(|j| j.name.as_str()).collect();
                self.unknown_name(format_args!("{at}.joints[{k}]"), "joint", name, &names);
                continue;
            };
            let straight = joint.kind.quaternion_at().unwrap_or(joint.kind.n_v());
            if of(k) >= straight {
                let (key, found) = match coordinates {
                    Some(_) => (format!("{at}.coordinates[{k}]"), format!("coordinate {}", of(k))),
                    None => (format!("{at}.joints[{k}]"), format!("a {} joint", joint.kind.name())),
                };
                let message = "the joint has no such coordinate that is a number of its own";
                self.add_with(FindingKind::OutOfRange, format_args!("{key}"), message, |f| {
                    let allowed = match straight {
                        0 => "a joint with an angle or a distance".to_owned(),
                        n => format!("an integer below {n}"),
                    };
                    f.found(found).allowed(allowed)
                });
            }
            if !met.insert((name, of(k))) {
                let message = "the coordinate is named twice";
                self.add(FindingKind::DuplicateName, format_args!("{at}.joints[{k}]"), message);
            }
            if joint.absent && !coupling.absent {
                let message = "the joint does not exist at the start, so there is nothing to couple";
                self.add_with(FindingKind::Misplaced, format_args!("{at}.joints[{k}]"), message, |f| {
                    f.found(format!("joint `{name}`, which is absent"))
                        .help("give the coupling `absent = true`, and engage it by an event".to_owned())
                });
            }
        }
    }

    pub(super) fn coupling_exists(&mut self, at: Arguments<'_>, name: &str) {
        let names: Vec<&str> = self.scene.coupling.iter().map(|c| c.name.as_str()).collect();
        if !names.contains(&name) {
            self.unknown_name(at, "coupling", name, &names);
        }
    }

    /// Couplings that an event names; empty where something is wrong with them.
    pub(super) fn event_couplings(&mut self, at: Arguments<'_>, event: &Event) -> Vec<&'a Coupling> {
        let scene = self.scene;
        if event.joint.is_some() || event.joints.is_some() {
            let message = "an event of couplings changes no joints; give those an event of their own";
            self.add(FindingKind::Misplaced, at, message);
            return Vec::new();
        }
        let (key, patterns) = match (&event.coupling, &event.couplings) {
            (Some(name), None) => ("coupling", std::slice::from_ref(name)),
            (None, Some(names)) if !names.is_empty() => ("couplings", names.as_slice()),
            _ => {
                self.add_with(FindingKind::Missing, at, "the event needs to know which coupling", |f| {
                    f.allowed("either `coupling` or a list `couplings`")
                });
                return Vec::new();
            }
        };
        let names: Vec<&str> = scene.coupling.iter().map(|c| c.name.as_str()).collect();
        let mut found = Vec::new();
        for (i, pattern) in patterns.iter().enumerate() {
            let is_meant =
                |c: &&Coupling| if key == "coupling" { c.name == *pattern } else { matches(pattern, &c.name) };
            let before = found.len();
            found.extend(scene.coupling.iter().filter(is_meant));
            if found.len() == before {
                let key = if key == "coupling" { key.to_owned() } else { format!("{key}[{i}]") };
                self.unknown_name(format_args!("{at}.{key}"), "coupling", pattern, &names);
                return Vec::new();
            }
        }
        found
    }

    pub(super) fn engage(&mut self, at: Arguments<'_>, event: &Event) {
        let kinds: Vec<_> = self.event_couplings(at, event).into_iter().map(|c| c.kind.clone()).collect();
        for (key, value, range) in [("offset", event.offset, Range::Finite), ("length", event.length, Range::Positive)]
        {
            let Some(value) = value else { continue };
            self.number(format_args!("{at}.{key}"), value, range);
            if kinds.iter().any(|kind| kind.constants().iter().all(|(k, _)| *k != key)) {
                let message = format!("a coupling of this kind has no `{key}` to hold");
                self.add(FindingKind::Misplaced, format_args!("{at}.{key}"), &message);
            }
        }
    }
}
