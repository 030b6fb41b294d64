//! A linear relation between coordinates of joints: gears, belts, racks, mimic joints.
//!
//! Σ r q = c. Coordinates of the tree have speeds of their own, and the row pushes these. Those of cut joints are measured between the
//! joint's links, with the directions and the bias that a prescribed motion there would have (`joint.rs`). The sum is divided by a power of two
//! near its natural size, so that its gap is an angle, whatever the user's factors.

use super::{Cut, Gap, Meeting, Sight, Term};
use crate::dynamics::recursive::loops::power_of_two;
use crate::dynamics::tree::Tree;
use crate::model::{CoupledCoordinate, CouplingId, Model};
use crate::plan::{End, Plan};

/// Where a coordinate is.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// In the tree: its link, its place among the speeds, and among the coordinates.
    Tree { link: usize, speed: usize, q: usize },
    /// A cut joint, and which of its speeds.
    Cut { cut: usize, k: usize },
}

/// A coordinate in the relation.
#[derive(Debug, Clone, Copy)]
struct Coupled {
    place: Place,
    ratio: f64,
    /// A turn, or the mechanism's size.
    unit: f64,
}

/// A linear relation between coordinates.
#[derive(Debug, Clone)]
pub(crate) struct Coupler {
    pub id: CouplingId,
    terms: Vec<Coupled>,
    offset: f64,
    /// What the relation is divided by.
    pub scale: f64,
}

impl Coupler {
    /// None where a joint does not exist.
    pub fn build(
        id: CouplingId,
        (terms, offset): (&[CoupledCoordinate], f64),
        model: &Model,
        (plan, tree, cuts): (&Plan, &Tree, &[Cut]),
    ) -> Option<Self> {
        let mut found = Vec::with_capacity(terms.len());
        for t in terms {
            let place = match plan.link_of_joint[t.joint.index()] {
                Some(link) => {
                    let at = &tree.links[link];
                    Place::Tree { link, speed: at.v as usize + t.coordinate, q: at.q as usize + t.coordinate }
                }
                None => Place::Cut { cut: cuts.iter().position(|c| c.joint == t.joint)?, k: t.coordinate },
            };
            let is_length = model.joints()[t.joint.index()].kind().is_length(t.coordinate);
            let unit = if is_length { model.characteristic_length() } else { 1.0 };
            found.push(Coupled { place, ratio: t.ratio, unit });
        }
        let scale = power_of_two(found.iter().fold(0.0, |m: f64, t| m.max(t.ratio.abs() * t.unit)));
        Some(Self { id, terms: found, offset, scale: if scale > 0.0 { scale } else { 1.0 } })
    }

    /// Meetings, and terms of its row.
    pub fn sizes(&self) -> (usize, usize) {
        (self.cut_joints().count(), self.terms.len())
    }

    /// Those of its joints that are cut, in the order of its meetings.
    pub fn cut_joints(&self) -> impl Iterator<Item = usize> + '_ {
        self.terms.iter().filter_map(|t| if let Place::Cut { cut, .. } = t.place { Some(cut) } else { None })
    }

    pub fn ends(&self, cuts: &[Cut], out: &mut Vec<End>) {
        let mut add = |end: End| {
            if !out.contains(&end) {
                out.push(end);
            }
        };
        for t in &self.terms {
            match t.place {
                Place::Tree { link, speed, .. } => add(End::Speed { link, speed }),
                Place::Cut { cut, .. } => [cuts[cut].child, cuts[cut].parent].into_iter().for_each(|l| add(End::of(l))),
            }
        }
    }

    pub fn meet(&self, see: &Sight<'_>, out: &mut [Meeting]) {
        for (cut, meeting) in self.cut_joints().zip(out) {
            *meeting = super::joint::meeting(&see.cuts[cut], &see.closures[cut]);
        }
    }

    pub fn pose(&self, see: &Sight<'_>, first: usize, terms: &mut [Term]) -> Gap {
        let (mut sum, mut size, mut meeting) = (0.0, 0.0_f64, first);
        for (t, term) in self.terms.iter().zip(terms) {
            let factor = t.ratio / self.scale;
            let q = match t.place {
                Place::Tree { speed, q, .. } => {
                    *term = Term::Speed { speed, factor };
                    see.q[q]
                }
                Place::Cut { cut, k } => {
                    *term = Term::Along { meeting, direction: see.closures[cut].measures[k] * factor };
                    meeting += 1;
                    see.cut_q[see.cuts[cut].q.start + k]
                }
            };
            sum += factor * q;
            // After many turns it is the coordinates that are rounded.
            size = size.max(factor.abs() * t.unit.max(q.abs()));
        }
        Gap { gap: sum - self.offset / self.scale, size, is_length: false }
    }
}
