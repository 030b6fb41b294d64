//! Conditions on the motion: whatever closes a loop or couples coordinates.
//!
//! **Problem.** Joints that close loops, locks of a rotation, gears, rods: each asks for a few scalar conditions that must hold for positions,
//! speeds, accelerations and velocity jumps alike. Formulations should not know which of them they close.
//!
//! **Method.** An [`Element`] is evaluated once at a configuration, into numbers: *meetings* (two links seen at one world point, with the
//! acceleration there that velocities alone ask for) and, for every row, *terms*, each a direction at a meeting or a factor on a speed of the
//! tree. What a row asks for is then the same sum at every level, `set.rs`:
//!
//! ```text
//! Σ direction · relative motion at the meeting + Σ factor · speed − wanted = 0
//! ```
//!
//! A kind of element is one file here and one arm in each `match` below.
//!
//! **Cost.** One evaluation per element and configuration.
//!
//! **Fails when** never; contradictions show in what is left of the conditions after a solve.
//!
//! **Checked by** `tests/dynamics.rs`, where the oracle has every kind once more, from its definition on body accelerations.

mod joint;
mod set;
mod spin;

pub use joint::{Closure, Cut};
pub(crate) use set::{Level, Meeting, RowSet, Term};
pub(crate) use spin::Spin;

use super::tree::Kinematics;
use crate::model::{Instant, JointId, Model};

/// What a row is within its element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowKind {
    /// The k-th closed direction.
    Closed(usize),
    /// The k-th speed of a joint, which follows a prescribed motion.
    Prescribed(usize),
    /// The k-th speed of a joint, which drives a rotor of this inertia.
    Rotor(usize, f64),
}

/// Something that asks for rows.
#[derive(Debug, Clone)]
pub(crate) enum Element {
    /// A joint that closes a loop: its place among the cut joints.
    Joint(usize),
    /// A lock of a joint's rotation about an axis.
    Spin(Box<Spin>),
}

/// The links that an element pushes, as the order of elimination sees them: child first.
pub(crate) type Ends = [Option<usize>; 2];

/// A configuration as elements see it.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    /// Motion of the links.
    pub kinematics: &'a Kinematics,
    /// Cut joints, and where they stand.
    pub cuts: &'a [Cut],
    /// The same at this configuration.
    pub closures: &'a [Closure],
}

/// What a row's evaluation says beside its terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gap {
    /// How far the condition is from being met.
    pub gap: f64,
    /// Whether that is a length, rather than an angle.
    pub is_length: bool,
}

impl Element {
    /// Its rows; rotors come last.
    pub fn rows(&self, model: &Model, cuts: &[Cut]) -> Vec<RowKind> {
        match self {
            Self::Joint(cut) => joint::rows(&cuts[*cut], model),
            Self::Spin(_) => vec![RowKind::Closed(0)],
        }
    }

    /// Meetings of the element, and terms of each of its rows.
    pub fn sizes(&self) -> (usize, usize) {
        match self {
            Self::Joint(_) | Self::Spin(_) => (1, 1),
        }
    }

    /// The links that it pushes.
    pub fn ends(&self, cuts: &[Cut]) -> Ends {
        match self {
            Self::Joint(cut) => [cuts[*cut].child, cuts[*cut].parent],
            Self::Spin(spin) => [spin.child, spin.parent],
        }
    }

    /// The joint whose wrench its rows transmit, and whether they are all of it.
    pub fn joint(&self, cuts: &[Cut]) -> Option<(JointId, bool)> {
        match self {
            Self::Joint(cut) => Some((cuts[*cut].joint, true)),
            Self::Spin(spin) => Some((spin.joint, false)),
        }
    }

    /// Where its links meet.
    pub fn meet(&self, see: &Sight<'_>, out: &mut [Meeting]) {
        let [first, ..] = out else { return };
        match self {
            Self::Joint(cut) => *first = joint::meeting(&see.cuts[*cut], &see.closures[*cut]),
            Self::Spin(spin) => *first = spin.meet(see.kinematics),
        }
    }

    /// One row's terms, the first meeting being `meeting`.
    pub fn pose(&self, kind: RowKind, see: &Sight<'_>, meeting: usize, terms: &mut [Term]) -> Gap {
        match self {
            Self::Joint(cut) => joint::pose(kind, &see.closures[*cut], meeting, terms),
            Self::Spin(spin) => spin.pose(see.kinematics, meeting, terms),
        }
    }

    /// How far a row is from what it follows, beyond its own gap.
    pub fn followed_gap(&self, kind: RowKind, model: &Model, cuts: &[Cut], now: Instant, cut_q: &[f64]) -> Option<f64> {
        match (self, kind) {
            (Self::Joint(cut), RowKind::Prescribed(k)) => {
                let cut = &cuts[*cut];
                Some(joint::prescribed_gap(cut, model, k, now, &cut_q[cut.q.clone()]))
            }
            _ => None,
        }
    }

    /// Value, rate and acceleration that a row follows.
    pub fn wanted(&self, kind: RowKind, model: &Model, cuts: &[Cut], now: Instant) -> [f64; 3] {
        match (self, kind) {
            (Self::Joint(cut), RowKind::Prescribed(k)) => joint::motion(&cuts[*cut], model, k, now),
            _ => [0.0; 3],
        }
    }

    /// The joint or coupling that a row belongs to, and what the row forbids, in words.
    pub fn name(&self, kind: RowKind, model: &Model, cuts: &[Cut]) -> (String, String) {
        match self {
            Self::Joint(cut) => joint::name(&cuts[*cut], model, kind),
            Self::Spin(spin) => {
                (model.joints()[spin.joint.index()].name.clone(), "rotation about a locked axis".to_owned())
            }
        }
    }
}
