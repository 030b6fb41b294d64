//! Couplings: conditions on a mechanism that are no joints.

use super::schema::{KeySpec, KindSpec, TableSpec, ValueSpec, optional, required};
use super::{Attachment, Break};
use serde::{Deserialize, Serialize};

/// A massless connection between bodies or joints: gear, belt, rack, rod, link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coupling {
    /// Unique among couplings.
    pub name: String,
    /// What it is; its own keys stand beside the common ones.
    #[serde(flatten)]
    pub kind: CouplingKind,
    /// Whether it waits for an event that engages it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// Loads at which it breaks; a coupling transmits no moment of its own.
    #[serde(rename = "break", default, skip_serializing_if = "Option::is_none")]
    pub breaks: Option<Break>,
}

/// The kinds of coupling. What a kind holds constant (`offset`, `length`) is taken from where it is engaged, unless given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CouplingKind {
    /// A linear relation between coordinates of joints: Σ ratio · q = offset.
    Coupler {
        /// The joints.
        joints: Vec<String>,
        /// Which coordinate of each; 0 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        coordinates: Option<Vec<usize>>,
        /// Factor of each coordinate.
        ratios: Vec<f64>,
        /// What the sum is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<f64>,
    },
    /// A massless rod between two points.
    Distance {
        /// One end.
        a: Attachment,
        /// The other end.
        b: Attachment,
        /// Its length.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        length: Option<f64>,
    },
    /// A massless link that turns about an axis of one body and holds a point of another.
    RevoluteSpherical {
        /// A point of the axis.
        a: Attachment,
        /// The axis, in the frame of the body of `a`.
        axis: [f64; 3],
        /// The point that the link holds.
        b: Attachment,
        /// Distance of that point from the axis.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        length: Option<f64>,
        /// Distance of that point from `a` along the axis.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<f64>,
    },
}

/// One thing that a kind of coupling is made of, with its key.
pub(crate) enum Part<'a> {
    /// A point of a body.
    End(&'static str, &'a Attachment),
    /// A direction.
    Axis(&'static str, [f64; 3]),
    /// A number above zero.
    Positive(&'static str, Option<f64>),
    /// Any number.
    Finite(&'static str, Option<f64>),
    /// Coordinates of joints, with factors.
    Coordinates { joints: &'a [String], coordinates: Option<&'a [usize]>, ratios: &'a [f64] },
}

const KINDS: [&str; 3] = ["coupler", "distance", "revolute-spherical"];

/// `[[coupling]]`.
pub(crate) static TABLE: TableSpec = TableSpec {
    name: "coupling",
    keys: &[
        required("name", ValueSpec::Text),
        required("kind", ValueSpec::Choice(&KINDS)),
        optional("absent", ValueSpec::Flag),
        optional("break", ValueSpec::Table(&BREAK)),
    ],
    kinds: &[
        KindSpec {
            kind: KINDS[0],
            keys: &[
                required("joints", ValueSpec::Texts),
                optional("coordinates", ValueSpec::Counts),
                required("ratios", ValueSpec::Numbers(&[])),
                OFFSET,
            ],
        },
        KindSpec { kind: KINDS[1], keys: &[A, B, LENGTH] },
        KindSpec { kind: KINDS[2], keys: &[A, required("axis", ValueSpec::Numbers(&[3])), B, LENGTH, OFFSET] },
    ],
};

const A: KeySpec = required("a", ValueSpec::Table(&super::schema::ATTACHMENT));
const B: KeySpec = required("b", ValueSpec::Table(&super::schema::ATTACHMENT));
const LENGTH: KeySpec = optional("length", ValueSpec::Number);
const OFFSET: KeySpec = optional("offset", ValueSpec::Number);

static BREAK: TableSpec = TableSpec {
    name: "coupling.break",
    keys: &[optional("force", ValueSpec::Number), optional("impulse", ValueSpec::Number)],
    kinds: &[],
};

impl CouplingKind {
    /// What it is made of.
    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        match self {
            Self::Coupler { joints, coordinates, ratios, offset } => vec![
                Part::Coordinates { joints, coordinates: coordinates.as_deref(), ratios },
                Part::Finite("offset", *offset),
            ],
            Self::Distance { a, b, length } => {
                vec![Part::End("a", a), Part::End("b", b), Part::Positive("length", *length)]
            }
            Self::RevoluteSpherical { a, axis, b, length, offset } => vec![
                Part::End("a", a),
                Part::Axis("axis", *axis),
                Part::End("b", b),
                Part::Positive("length", *length),
                Part::Finite("offset", *offset),
            ],
        }
    }

    /// What it holds constant, condition by condition: the key, and the value if it is given.
    pub fn constants(&self) -> Vec<(&'static str, Option<f64>)> {
        match self {
            Self::Coupler { offset, .. } => vec![("offset", *offset)],
            Self::Distance { length, .. } => vec![("length", *length)],
            Self::RevoluteSpherical { length, offset, .. } => vec![("offset", *offset), ("length", *length)],
        }
    }
}
