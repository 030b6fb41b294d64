//! Applied loads.

use super::Check;
use super::numbers::Range;
use crate::scene::{Attachment, FindingKind, Force, Signal};
use std::collections::HashSet;
use std::fmt::Arguments;

impl Check<'_> {
    /// Every `[[force]]`.
    pub(super) fn forces(&mut self) {
        let mut seen = HashSet::new();
        for (i, force) in self.scene.force.iter().enumerate() {
            self.subject = Some(("force", force.name()));
            let at = format_args!("force[{i}]");
            self.name(at, force.name(), &mut seen);
            match force {
                Force::Spring { a, b, stiffness, length, damping, .. } => {
                    self.attachment(format_args!("{at}.a"), a);
                    self.attachment(format_args!("{at}.b"), b);
                    if a.body == b.body {
                        let message = "both ends are on the same body, where no force does anything";
                        self.add(FindingKind::SameBody, format_args!("{at}.b.body"), message);
                    }
                    self.number(format_args!("{at}.stiffness"), *stiffness, Range::NotNegative);
                    self.number(format_args!("{at}.length"), *length, Range::NotNegative);
                    self.number(format_args!("{at}.damping"), *damping, Range::NotNegative);
                }
                Force::Force { body, point, vector, signal, .. } => {
                    self.load(at, body, vector, signal.as_ref());
                    self.numbers(format_args!("{at}.point"), &point.unwrap_or_default(), Range::Finite);
                }
                Force::Torque { body, vector, signal, .. } => self.load(at, body, vector, signal.as_ref()),
            }
        }
        self.subject = None;
    }

    pub(super) fn attachment(&mut self, at: Arguments<'_>, end: &Attachment) {
        self.body_name(format_args!("{at}.body"), &end.body, true);
        self.numbers(format_args!("{at}.point"), &end.point, Range::Finite);
    }

    fn load(&mut self, at: Arguments<'_>, body: &str, vector: &[f64], signal: Option<&Signal>) {
        self.body_name(format_args!("{at}.body"), body, false);
        self.numbers(format_args!("{at}.vector"), vector, Range::Finite);
        if let Some(signal) = signal {
            self.signal(format_args!("{at}.signal"), signal, false);
        }
    }
}
