//! Whether a scene means something: names that exist, numbers in range, keys that go together.
//!
//! Works on scenes from files and on scenes built in Rust alike, so it repeats nothing that the types already say but
//! everything that they do not, non-finite numbers included. What only shows when the mechanism is put together (loops
//! that do not close) is found by the model builder.

mod body;
mod contact;
mod coupling;
pub(crate) mod event;
mod friction;
mod joint;
mod numbers;
mod run;
mod signal;

pub(crate) use body::principal_moments;
pub(super) use numbers::Range;

use super::finding::MAX_FINDINGS;
use super::suggest::did_you_mean;
use super::{Body, Finding, FindingKind, GROUND, Scene};
use std::collections::{HashMap, HashSet};
use std::fmt::Arguments;

/// Everything that is wrong with a scene, at most [`MAX_FINDINGS`]; empty for one that can be built.
pub fn validate(scene: &Scene) -> Vec<Finding> {
    let mut check =
        Check { scene, subject: None, bodies: HashMap::new(), frames: HashSet::new(), findings: Vec::new() };
    check.run();
    check.bodies();
    check.joints();
    check.couplings();
    check.contacts();
    check.forces();
    check.events();
    check.output();
    check.findings
}

/// Longest name, in bytes.
pub const MAX_NAME: usize = 100;

/// Whether something may have this name: letters and digits of any script, and `_ - + : /`. Points separate a name from
/// a quantity in column names, `*` and `?` make patterns; spaces, quotes and brackets trip shells and tables.
pub fn is_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_alphanumeric() || "_-+:/".contains(c);
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_allowed)
}

/// A validation under way.
pub(super) struct Check<'a> {
    pub(super) scene: &'a Scene,
    /// What findings are about: noun and name.
    pub(super) subject: Option<(&'static str, &'a str)>,
    /// Bodies by name, as soon as they have been gone through.
    bodies: HashMap<&'a str, &'a Body>,
    /// Frames by body and name.
    frames: HashSet<(&'a str, &'a str)>,
    findings: Vec<Finding>,
}

impl<'a> Check<'a> {
    pub(super) fn add(&mut self, kind: FindingKind, at: Arguments<'_>, message: &str) {
        self.add_with(kind, at, message, |finding| finding);
    }

    pub(super) fn add_with(
        &mut self,
        kind: FindingKind,
        at: Arguments<'_>,
        message: &str,
        with: impl FnOnce(Finding) -> Finding,
    ) {
        if !self.is_full() {
            let mut finding = with(Finding::new(kind, at.to_string(), message));
            finding.subject = self.subject.map(|(noun, name)| format!("{noun} `{name}`"));
            self.findings.push(finding);
        }
    }

    fn is_full(&self) -> bool {
        self.findings.len() >= MAX_FINDINGS
    }

    /// Checks one name among others of its sort.
    pub(super) fn name(&mut self, at: Arguments<'_>, name: &'a str, seen: &mut HashSet<&'a str>) {
        if !is_name(name) {
            self.add_with(FindingKind::BadName, format_args!("{at}.name"), "this cannot be a name", |f| {
                f.found(format!("{:?}", name.chars().take(MAX_NAME).collect::<String>()))
                    .allowed(format!("1 to {MAX_NAME} bytes of letters, digits and `_ - + : /`"))
            });
        } else if !seen.insert(name) {
            self.add_with(FindingKind::DuplicateName, format_args!("{at}.name"), "the name is given twice", |f| {
                f.found(format!("`{name}`")).allowed("a name that no other of its sort has")
            });
        }
    }

    /// A reference to a body, which may be the ground where `ground` says so.
    pub(super) fn body_name(&mut self, at: Arguments<'_>, name: &str, ground: bool) {
        if name == GROUND && !ground {
            self.add_with(FindingKind::UnknownName, at, "the ground does not move", |f| {
                f.found(format!("`{GROUND}`")).allowed("the name of another body")
            });
        } else if name != GROUND && !self.bodies.contains_key(name) && !self.is_full() {
            let names = self.scene.body.iter().map(|body| body.name.as_str());
            let names: Vec<&str> = names.chain(ground.then_some(GROUND)).collect();
            self.unknown_name(at, "body", name, &names);
        }
    }

    fn unknown_name(&mut self, at: Arguments<'_>, noun: &str, name: &str, names: &[&str]) {
        let n_before = self.findings.len();
        self.add_with(FindingKind::UnknownName, at, &format!("there is no such {noun}"), |f| {
            let f = f.found(format!("{:?}", name.chars().take(MAX_NAME).collect::<String>()));
            // Comparing with very many names takes its time, and the first few slips tell the rest.
            let is_cheap = names.len() <= 1000 || n_before < 5;
            let near = is_cheap.then(|| did_you_mean(name, names.iter().copied()));
            let f = f.help(near.flatten());
            let distinct: Vec<&str> = names.iter().copied().filter(|name| is_name(name)).collect();
            match distinct.len() {
                0 => f.allowed(format!("nothing: there is no {noun} yet")),
                1..=12 => f.allowed(super::schema::quoted(distinct)),
                n => f.allowed(format!("the name of one of {n}")),
            }
        });
    }
}
