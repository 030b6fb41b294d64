//! Time, gravity and output.

use super::Check;
use super::numbers::Range;
use crate::scene::pattern::{is_plain, matches};
use crate::scene::{ContactMethod, Event, EventKind, FindingKind, Friction, GROUND, Integrator, Joint};
use std::collections::HashSet;

/// Largest relative tolerance of the adaptive method; beyond it the error estimate means nothing.
const MAX_RTOL: f64 = 1e-2;

/// Largest tolerance of contact problems; beyond it they are hardly solved.
const MAX_TOLERANCE: f64 = 1e-2;

/// Most patterns with wildcards in one list; each is compared with every name.
const MAX_PATTERNS: usize = 1000;

impl<'a> Check<'a> {
    /// Gravity and `[time]`.
    pub(super) fn run(&mut self) {
        self.numbers(format_args!("gravity"), &self.scene.gravity, Range::Finite);
        let time = &self.scene.time;
        self.number(format_args!("time.end"), time.end, Range::Positive);
        if let Some(step) = time.step {
            self.number(format_args!("time.step"), step, Range::Positive);
        }
        match (time.integrator, time.step, time.rtol) {
            (Integrator::Auto | Integrator::Adaptive, _, None) => {}
            (Integrator::Auto | Integrator::Adaptive, _, Some(rtol)) => {
                if !(rtol > 0.0 && rtol <= MAX_RTOL) {
                    let at = format_args!("time.rtol");
                    self.add_with(FindingKind::OutOfRange, at, "the tolerance is out of range", |f| {
                        f.found(rtol.to_string()).allowed(format!("a number above 0, at most {MAX_RTOL}"))
                    });
                }
            }
            (_, _, Some(rtol)) => {
                let message = "a method with a fixed step has no tolerance";
                self.add_with(FindingKind::Misplaced, format_args!("time.rtol"), message, |f| {
                    f.found(rtol.to_string()).help("leave it out, or choose integrator `adaptive`".to_owned())
                });
            }
            (_, None, _) => {
                let message = "a method with a fixed step needs the step";
                self.add_with(FindingKind::Missing, format_args!("time.step"), message, |f| {
                    f.found("nothing").allowed("a number greater than zero")
                });
            }
            (_, Some(_), None) => {}
        }
        self.method();
        if let Some(tolerance) = self.scene.solver.tolerance.filter(|t| !(*t > 0.0 && *t <= MAX_TOLERANCE)) {
            let at = format_args!("solver.tolerance");
            self.add_with(FindingKind::OutOfRange, at, "the tolerance is out of range", |f| {
                f.found(tolerance.to_string()).allowed(format!("a number above 0, at most {MAX_TOLERANCE}"))
            });
        }
    }

    /// Lemke's method knows no friction; enumeration knows that of joints, whose bounds are fixed, but not that of contacts in
    /// space, whose sections are round.
    fn method(&mut self) {
        let scene = self.scene;
        let message = match scene.solver.method {
            ContactMethod::Lemke => "this method solves problems without friction only",
            ContactMethod::Enumerate => "this method solves problems without friction of contacts only",
            ContactMethod::Auto | ContactMethod::GaussSeidel | ContactMethod::Newton | ContactMethod::Admm => return,
        };
        let rubs = |friction: &Option<Friction>| friction.as_ref().is_some_and(|f| !f.is_none());
        let material = scene.material.iter().find(|m| rubs(&m.friction));
        let rule = scene.contact.iter().position(|r| rubs(&r.friction));
        let joint = scene.joint.iter().find(|j| j.friction.is_some() || j.friction_load.is_some());
        let joint = joint.filter(|_| scene.solver.method == ContactMethod::Lemke);
        let (what, is_round) = match (material, rule, joint) {
            (Some(material), ..) => (format!("material `{}`", material.name), true),
            (None, Some(rule), _) => (format!("contact[{rule}]"), true),
            (None, None, Some(joint)) => (format!("joint `{}`", joint.name), false),
            (None, None, None) => return,
        };
        self.add_with(FindingKind::Contradiction, format_args!("solver.method"), message, |f| {
            let more = if is_round { "" } else { ", `enumerate`" };
            f.found(format!("friction in {what}")).allowed(format!("`auto`, `gauss-seidel`, `newton`, `admm`{more}"))
        });
    }

    /// `[output]`.
    pub(super) fn output(&mut self) {
        self.subject = None;
        let scene = self.scene;
        let output = &scene.output;
        if let Some(interval) = output.interval {
            self.number(format_args!("output.interval"), interval, Range::Positive);
        }
        if output.every == Some(0) {
            self.add_with(FindingKind::OutOfRange, format_args!("output.every"), "the number must be positive", |f| {
                f.found("0").allowed("1 or more")
            });
        }
        if output.interval.is_some() && output.every.is_some() {
            let message = "either a time or a number of steps between rows, not both";
            self.add(FindingKind::Misplaced, format_args!("output.every"), message);
        }
        let bodies = || scene.body.iter().map(|body| body.name.as_str()).filter(|&name| name != GROUND);
        let joints = || scene.joint.iter().map(|joint| joint.name.as_str());
        // What holds a locked joint is an actuator, too.
        let locks: Vec<&Event> = scene.event.iter().filter(|event| event.kind == EventKind::Lock).collect();
        let is_locked = |name: &str| {
            let patterns = |e: &&&Event| e.joint.iter().chain(e.joints.iter().flatten()).any(|p| matches(p, name));
            locks.iter().any(|event| patterns(&event))
        };
        let pushes =
            |j: &Joint| [&j.lower, &j.upper, &j.friction, &j.friction_load].into_iter().any(|value| value.is_some());
        let is_driven = |joint: &&Joint| !joint.motor.is_empty() || is_locked(&joint.name) || pushes(joint);
        let driven = || scene.joint.iter().filter(is_driven).map(|joint| joint.name.as_str());
        self.patterns("bodies", "body", output.bodies.as_deref().unwrap_or_default(), &bodies().collect::<Vec<_>>());
        self.patterns("joints", "joint", output.joints.as_deref().unwrap_or_default(), &joints().collect::<Vec<_>>());
        self.patterns("reactions", "joint", &output.reactions, &joints().collect::<Vec<_>>());
        let couplings: Vec<&str> = scene.coupling.iter().map(|coupling| coupling.name.as_str()).collect();
        self.patterns("couplings", "coupling", &output.couplings, &couplings);
        self.patterns(
            "actuators",
            "joint with a motor, a lock, limits or dry friction",
            &output.actuators,
            &driven().collect::<Vec<_>>(),
        );
        self.markers();
    }

    fn markers(&mut self) {
        // Markers and bodies both name columns `.x .y .z`, so they share their names.
        let mut seen: HashSet<&'a str> = self.bodies.keys().copied().collect();
        for (i, marker) in self.scene.output.marker.iter().enumerate() {
            self.subject = Some(("marker", &marker.name));
            self.name(format_args!("output.marker[{i}]"), &marker.name, &mut seen);
            self.body_name(format_args!("output.marker[{i}].body"), &marker.body, false);
            self.numbers(format_args!("output.marker[{i}].point"), &marker.point, Range::Finite);
        }
        self.subject = None;
    }

    fn patterns(&mut self, key: &str, noun: &str, patterns: &[String], names: &[&str]) {
        if patterns.is_empty() {
            return;
        }
        let set: HashSet<&str> = names.iter().copied().collect();
        let mut n_wild = 0;
        for (i, pattern) in patterns.iter().enumerate() {
            let at = format_args!("output.{key}[{i}]");
            if is_plain(pattern) {
                if !set.contains(pattern.as_str()) {
                    self.unknown_name(at, noun, pattern, names);
                }
                continue;
            }
            n_wild += 1;
            if n_wild > MAX_PATTERNS {
                let message = "there are too many patterns";
                self.add_with(FindingKind::TooLarge, at, message, |f| {
                    f.allowed(format!("{MAX_PATTERNS} with wildcards"))
                });
                return;
            }
            if pattern.len() > super::MAX_NAME || !names.iter().any(|name| matches(pattern, name)) {
                self.add_with(FindingKind::Pattern, at, &format!("no {noun} matches the pattern"), |f| {
                    f.found(format!("{:?}", pattern.chars().take(super::MAX_NAME).collect::<String>()))
                });
            }
        }
    }
}
