//! Numbers, vectors and quaternions.

use super::Check;
use crate::scene::FindingKind;
use crate::scene::direction::{unit, unit_quaternion};
use std::fmt::Arguments;

/// Which numbers are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scene) enum Range {
    Finite,
    Positive,
    NotNegative,
    /// A length of a shape: positive, and neither so small nor so large that products of a few leave double precision.
    Extent,
}

/// Smallest and largest length of a shape.
const EXTENT: [f64; 2] = [1e-60, 1e60];

impl Check<'_> {
    /// Whether a number is as it must be; adds a finding if not.
    pub(in crate::scene) fn number(&mut self, at: Arguments<'_>, value: f64, range: Range) -> bool {
        let (kind, message, allowed) = match range {
            _ if !value.is_finite() => (FindingKind::NotFinite, "the number is not finite", "a finite number"),
            Range::Positive if value <= 0.0 => {
                (FindingKind::OutOfRange, "the number must be positive", "a number greater than zero")
            }
            Range::NotNegative if value < 0.0 => {
                (FindingKind::OutOfRange, "the number must not be negative", "zero or a positive number")
            }
            Range::Extent if value <= 0.0 => {
                (FindingKind::OutOfRange, "the number must be positive", "a number greater than zero")
            }
            Range::Extent if !(EXTENT[0]..=EXTENT[1]).contains(&value) => {
                (FindingKind::OutOfRange, "no shape has this length", "from 1e-60 to 1e60")
            }
            _ => return true,
        };
        self.add_with(kind, at, message, |f| f.found(value.to_string()).allowed(allowed));
        false
    }

    /// The same for each of a list.
    pub(in crate::scene) fn numbers(&mut self, at: Arguments<'_>, values: &[f64], range: Range) -> bool {
        let mut all = true;
        for (i, &value) in values.iter().enumerate() {
            all &= self.number(format_args!("{at}[{i}]"), value, range);
        }
        all
    }

    /// A list with as many numbers as a joint kind asks for.
    pub(super) fn length(&mut self, at: Arguments<'_>, found: usize, wanted: usize, why: &str) -> bool {
        if found != wanted {
            self.add_with(FindingKind::WrongLength, at, "the list has the wrong length", |f| {
                f.found(format!("{found} numbers")).allowed(format!("{wanted} ({why})"))
            });
        }
        found == wanted
    }

    /// An optional quaternion.
    pub(super) fn orientation(&mut self, at: Arguments<'_>, orientation: Option<[f64; 4]>) {
        let Some(q) = orientation else { return };
        if self.numbers(at, &q, Range::Finite) && unit_quaternion(q).is_none() {
            self.add_with(FindingKind::Quaternion, at, "a quaternion of length zero is no rotation", |f| {
                f.found(format!("{q:?}")).allowed("w x y z, not all zero; any length will do")
            });
        }
    }

    /// A vector with a direction.
    pub(super) fn axis(&mut self, at: Arguments<'_>, axis: [f64; 3]) -> bool {
        if !self.numbers(at, &axis, Range::Finite) {
            return false;
        }
        if unit(axis).is_none() {
            self.add_with(FindingKind::Axis, at, "an axis of length zero has no direction", |f| {
                f.found(format!("{axis:?}")).allowed("x y z, not all zero; any length will do")
            });
            return false;
        }
        true
    }
}
