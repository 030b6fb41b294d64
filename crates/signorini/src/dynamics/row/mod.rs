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

mod coupler;
mod ends;
mod joint;
mod rod;
mod set;
mod spin;

use coupler::Coupler;
use ends::Ends;
pub use joint::{Closure, Cut};
use rod::{Rod, TurningLink};
pub(crate) use set::{Level, Meeting, Pushed, RowSet, Term};
pub(crate) use spin::Spin;

use super::tree::{Kinematics, Tree};
use crate::model::{CouplingId, CouplingKind, Instant, JointId, Model};
use crate::plan::{End, Plan};

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
    /// A relation between coordinates.
    Coupler(Box<Coupler>),
    /// A rod.
    Rod(Box<Rod>),
    /// A link that turns about an axis.
    TurningLink(Box<TurningLink>),
}

/// A configuration as elements see it.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    /// Motion of the links.
    pub kinematics: &'a Kinematics,
    /// Cut joints, and where they stand.
    pub cuts: &'a [Cut],
    /// The same at this configuration.
    pub closures: &'a [Closure],
    /// Coordinates of the tree, and of the cut joints.
    pub q: &'a [f64],
    pub cut_q: &'a [f64],
    /// The mechanism's size.
    pub length: f64,
}

/// What a row's evaluation says beside its terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gap {
    /// How far the condition is from being met.
    pub gap: f64,
    /// What that is compared with.
    pub size: f64,
    /// Whether that is a length, rather than an angle.
    pub is_length: bool,
}

impl Element {
    /// The couplings of a model that act.
    pub fn build_couplings(model: &Model, plan: &Plan, tree: &Tree, cuts: &[Cut]) -> Vec<Self> {
        let acting = model.couplings().iter().enumerate().filter(|(_, c)| !c.is_absent);
        let build = |(c, coupling): (usize, &crate::model::Coupling)| {
            let id = CouplingId(c as u32);
            let held = |row: usize| coupling.held[row].unwrap_or(0.0);
            Some(match &coupling.kind {
                CouplingKind::Coupler(terms) => {
                    Self::Coupler(Box::new(Coupler::build(id, (terms, held(0)), model, (plan, tree, cuts))?))
                }
                CouplingKind::Distance { a, b } => {
                    Self::Rod(Box::new(Rod { id, ends: Ends::build(a, b, plan, tree), length: held(0) }))
                }
                CouplingKind::RevoluteSpherical { a, axis, b } => {
                    let ends = Ends::build(a, b, plan, tree);
                    Self::TurningLink(Box::new(TurningLink { id, ends, axis: *axis, held: [held(0), held(1)] }))
                }
            })
        };
        acting.filter_map(build).collect()
    }

    /// The coupling that it is, and what its rows have been divided by: forces in the user's terms are smaller, gaps and rates larger.
    pub fn coupling(&self) -> Option<(CouplingId, f64)> {
        match self {
            Self::Joint(_) | Self::Spin(_) => None,
            Self::Coupler(one) => Some((one.id, one.scale)),
            Self::Rod(one) => Some((one.id, 1.0)),
            Self::TurningLink(one) => Some((one.id, 1.0)),
        }
    }

    /// Cut joints within which it acts, in the order of its meetings. What acts within a joint is a part of what the joint transmits.
    pub fn cut_joints(&self) -> impl Iterator<Item = usize> + '_ {
        let coupler = if let Self::Coupler(one) = self { Some(one) } else { None };
        coupler.into_iter().flat_map(|one| one.cut_joints())
    }

    /// Whether this and an element of the same tree after an event ask for the same directions.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Joint(a), Self::Joint(b)) => a == b,
            (Self::Spin(a), Self::Spin(b)) => a.is_like(b),
            (a, b) => a.coupling().is_some() && a.coupling() == b.coupling(),
        }
    }

    /// Its rows; rotors come last.
    pub fn rows(&self, model: &Model, cuts: &[Cut]) -> Vec<RowKind> {
        match self {
            Self::Joint(cut) => joint::rows(&cuts[*cut], model),
            Self::Spin(_) | Self::Coupler(_) | Self::Rod(_) => vec![RowKind::Closed(0)],
            Self::TurningLink(_) => vec![RowKind::Closed(0), RowKind::Closed(1)],
        }
    }

    /// Meetings of the element, and terms of each of its rows.
    pub fn sizes(&self) -> (usize, usize) {
        match self {
            Self::Joint(_) | Self::Spin(_) | Self::Rod(_) | Self::TurningLink(_) => (1, 1),
            Self::Coupler(one) => one.sizes(),
        }
    }

    /// What it pushes, as the order of elimination sees it: child first.
    pub fn ends(&self, cuts: &[Cut], out: &mut Vec<End>) {
        match self {
            Self::Joint(cut) => out.extend([End::of(cuts[*cut].child), End::of(cuts[*cut].parent)]),
            Self::Spin(spin) => out.extend([End::of(spin.child), End::of(spin.parent)]),
            Self::Coupler(one) => one.ends(cuts, out),
            Self::Rod(one) => one.ends.write(out),
            Self::TurningLink(one) => one.ends.write(out),
        }
    }

    /// The joint whose wrench its rows transmit, and whether they are all of it.
    pub fn joint(&self, cuts: &[Cut]) -> Option<(JointId, bool)> {
        match self {
            Self::Joint(cut) => Some((cuts[*cut].joint, true)),
            Self::Spin(spin) => Some((spin.joint, false)),
            Self::Coupler(_) | Self::Rod(_) | Self::TurningLink(_) => None,
        }
    }

    /// Where its links meet.
    pub fn meet(&self, see: &Sight<'_>, out: &mut [Meeting]) {
        let first = match self {
            Self::Joint(cut) => joint::meeting(&see.cuts[*cut], &see.closures[*cut]),
            Self::Spin(spin) => spin.meet(see.kinematics),
            Self::Coupler(one) => return one.meet(see, out),
            Self::Rod(one) => one.meet(see.kinematics),
            Self::TurningLink(one) => one.meet(see.kinematics),
        };
        out.iter_mut().for_each(|meeting| *meeting = first);
    }

    /// One row's terms, the first meeting being `meeting`.
    pub fn pose(&self, kind: RowKind, see: &Sight<'_>, meeting: usize, terms: &mut [Term]) -> Gap {
        match self {
            Self::Joint(cut) => joint::pose(kind, &see.closures[*cut], see.length, meeting, terms),
            Self::Spin(spin) => spin.pose(see.kinematics, meeting, terms),
            Self::Coupler(one) => one.pose(see, meeting, terms),
            Self::Rod(one) => one.pose(see, meeting, terms),
            Self::TurningLink(one) => one.pose(usize::from(kind == RowKind::Closed(1)), see, meeting, terms),
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
        let of = |id: CouplingId| model.couplings()[id.index()].name.clone();
        match self {
            Self::Joint(cut) => joint::name(&cuts[*cut], model, kind),
            Self::Spin(spin) => {
                (model.joints()[spin.joint.index()].name.clone(), "rotation about a locked axis".to_owned())
            }
            Self::Coupler(one) => (of(one.id), "relation between coordinates".to_owned()),
            Self::Rod(one) => (of(one.id), "distance of two points".to_owned()),
            Self::TurningLink(one) => {
                let what = if kind == RowKind::Closed(0) { "along the axis" } else { "from the axis" };
                (of(one.id), format!("distance {what}"))
            }
        }
    }
}
