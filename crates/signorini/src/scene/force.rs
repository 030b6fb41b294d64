//! Applied loads: what may be written, and what of it has a meaning.

use super::schema::ValueSpec::{Choice, Number, NumberOrTable, Table, Text};
use super::schema::tables::{ATTACHMENT, AXES, SIGNAL, VECTOR, kind};
use super::schema::{TableSpec, optional, required};
use super::validate::{Check, Range};
use super::{FindingKind, Signal};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt::Arguments;

/// An applied load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Force {
    /// A spring and damper between two points.
    Spring {
        /// Unique among forces.
        name: String,
        /// One end.
        a: Attachment,
        /// The other end.
        b: Attachment,
        /// Force per elongation.
        #[serde(default)]
        stiffness: f64,
        /// Length at which the spring is at rest.
        #[serde(default)]
        length: f64,
        /// Force per rate of elongation.
        #[serde(default)]
        damping: f64,
    },
    /// A force at a point of a body.
    Force {
        /// Unique among forces.
        name: String,
        /// The body.
        body: String,
        /// Where it acts, in the body frame; the centre of mass unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        point: Option<[f64; 3]>,
        /// The force, times `signal` where that is given.
        vector: [f64; 3],
        /// Axes in which `vector` is given.
        #[serde(default)]
        axes: Axes,
        /// Factor on `vector` as a function of time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<Signal>,
    },
    /// A pure torque on a body.
    Torque {
        /// Unique among forces.
        name: String,
        /// The body.
        body: String,
        /// The torque, times `signal` where that is given.
        vector: [f64; 3],
        /// Axes in which `vector` is given.
        #[serde(default)]
        axes: Axes,
        /// Factor on `vector` as a function of time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<Signal>,
    },
}

impl Force {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Spring { name, .. } | Self::Force { name, .. } | Self::Torque { name, .. } => name,
        }
    }
}

/// A point of a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// The body, or `ground`.
    pub body: String,
    /// The point in the body frame.
    #[serde(default)]
    pub point: [f64; 3],
}

/// Which axes a vector's components refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axes {
    /// Fixed in space.
    #[default]
    World,
    /// Turning with the body.
    Body,
}

/// The keys of `[[force]]`.
pub(super) static FORCE: TableSpec = TableSpec {
    name: "force",
    keys: &[required("name", Text), required("kind", Choice(&["spring", "force", "torque"]))],
    kinds: &[
        kind(
            "spring",
            &[
                required("a", Table(&ATTACHMENT)),
                required("b", Table(&ATTACHMENT)),
                optional("stiffness", Number),
                optional("length", Number),
                optional("damping", Number),
            ],
        ),
        kind(
            "force",
            &[
                required("body", Text),
                optional("point", VECTOR),
                required("vector", VECTOR),
                optional("axes", AXES),
                optional("signal", NumberOrTable(&SIGNAL)),
            ],
        ),
        kind(
            "torque",
            &[
                required("body", Text),
                required("vector", VECTOR),
                optional("axes", AXES),
                optional("signal", NumberOrTable(&SIGNAL)),
            ],
        ),
    ],
};

impl Check<'_> {
    /// Every `[[force]]`.
    pub(super) fn forces(&mut self) {
        let mut seen = HashSet::new();
        for (i, force) in self.scene.force.iter().enumerate() {
            self.subject = Some(("force", force.name()));
            let at = format_args!("force[{i}]");
            self.name(at, force.name(), &mut seen);
            self.force(at, force);
        }
        self.subject = None;
    }

    fn force(&mut self, at: Arguments<'_>, force: &Force) {
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

    /// A point of a body or of the ground.
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
