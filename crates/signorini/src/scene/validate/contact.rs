//! Contact rules.

use super::{Check, GROUND};
use crate::scene::pattern::{is_plain, matches};
use crate::scene::{ContactRule, FindingKind};
use std::fmt::Arguments;

impl Check<'_> {
    /// Every `[[contact]]`.
    pub(super) fn contacts(&mut self) {
        let scene = self.scene;
        for (i, rule) in scene.contact.iter().enumerate() {
            self.contact(format_args!("contact[{i}]"), rule);
        }
    }

    fn contact(&mut self, at: Arguments<'_>, rule: &ContactRule) {
        let sides = [("bodies", &rule.bodies), ("groups", &rule.groups), ("materials", &rule.materials)];
        let given: Vec<_> = sides.into_iter().filter(|(_, names)| !names.is_empty()).collect();
        let [(key, names)] = given[..] else {
            let found = if given.is_empty() { "none" } else { "more than one" };
            self.add_with(FindingKind::Misplaced, at, "a rule is about one sort of pairs", |f| {
                f.found(found).allowed("one of `bodies`, `groups`, `materials`")
            });
            return;
        };
        if !self.length(format_args!("{at}.{key}"), names.len(), 2, "the two sides of a pair") {
            return;
        }
        let scene = self.scene;
        let known: Vec<&str> = match key {
            "bodies" => scene.body.iter().map(|b| b.name.as_str()).chain([GROUND]).collect(),
            "groups" => scene.body.iter().filter_map(|b| b.group.as_deref()).collect(),
            _ => scene.material.iter().map(|m| m.name.as_str()).collect(),
        };
        let noun = match key {
            "bodies" => "body",
            "groups" => "group",
            _ => "material",
        };
        for (k, name) in names.iter().enumerate() {
            let at = format_args!("{at}.{key}[{k}]");
            if known.contains(&name.as_str()) {
                continue;
            }
            if is_plain(name) || key == "materials" {
                self.unknown_name(at, noun, name, &known);
            } else if !known.iter().any(|known| matches(name, known)) {
                self.add_with(FindingKind::Pattern, at, "the pattern matches nothing", |f| {
                    f.found(format!("`{name}`"))
                });
            }
        }
        if rule.enabled.is_some() && key == "materials" {
            let at = format_args!("{at}.enabled");
            self.add(FindingKind::Misplaced, at, "pairs are switched by `bodies` or `groups`, not by materials");
        }
        if rule.enabled.is_none() && rule.friction.is_none() && rule.restitution.is_none() {
            self.add_with(FindingKind::Missing, at, "the rule says nothing", |f| {
                f.allowed("`enabled`, `friction`, `restitution`")
            });
        }
        self.surface(at, (rule.friction.as_ref(), rule.friction_frame.as_ref()), rule.restitution);
    }
}
