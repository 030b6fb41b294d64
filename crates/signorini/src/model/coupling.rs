//! Couplings as numbers.

use super::build::{ModelError, Names};
use super::{BodyId, Joint, JointId, Point};
use crate::scene;
use crate::spatial::{Pose, Vec3};
use std::ops::Range;

/// A compiled coupling: one condition *value = held* after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Coupling {
    /// Name.
    pub name: String,
    /// What it is.
    pub kind: CouplingKind,
    /// Place of its conditions among those of all couplings, scene order.
    pub rows: Range<usize>,
    /// What each condition is told to hold, whenever it is engaged; none where it holds what it finds.
    pub given: Vec<Option<f64>>,
    /// What each holds now; none before it is known.
    pub held: Vec<Option<f64>>,
    /// Keys of these constants in a scene.
    pub keys: Vec<&'static str>,
    /// Whether it does not act now.
    pub is_absent: bool,
}

/// The kinds of coupling.
#[derive(Debug, Clone, PartialEq)]
pub enum CouplingKind {
    /// Σ ratio · q.
    Coupler(Vec<CoupledCoordinate>),
    /// Distance of two points.
    Distance {
        /// One end.
        a: Point,
        /// The other.
        b: Point,
    },
    /// Where a point is along an axis of another body, and how far from it.
    RevoluteSpherical {
        /// A point of the axis.
        a: Point,
        /// Its direction, in the frame of that body.
        axis: Vec3,
        /// The point that is held.
        b: Point,
    },
}

/// A coordinate in a linear relation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoupledCoordinate {
    /// The joint.
    pub joint: JointId,
    /// Which of its coordinates; it is also the place of its speed.
    pub coordinate: usize,
    /// Its factor.
    pub ratio: f64,
}

/// Where a mechanism is, as couplings see it.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Pose of each body.
    pub poses: &'a [Pose],
    /// Coordinates of all joints, in their slots.
    pub joint_q: &'a [f64],
    /// All joints.
    pub joints: &'a [Joint],
}

impl Place<'_> {
    fn pose(&self, body: Option<BodyId>) -> Pose {
        body.map_or_else(Pose::identity, |b| self.poses[b.index()])
    }

    fn between(&self, a: &Point, b: &Point) -> Vec3 {
        self.pose(b.body).point(&b.position) - self.pose(a.body).point(&a.position)
    }
}

impl CouplingKind {
    /// Values of its conditions; not a number where a joint does not exist.
    pub fn values(&self, place: &Place<'_>) -> Vec<f64> {
        match self {
            Self::Coupler(terms) => {
                let q = |t: &CoupledCoordinate| place.joint_q[place.joints[t.joint.index()].q.start + t.coordinate];
                vec![terms.iter().map(|t| t.ratio * q(t)).sum()]
            }
            Self::Distance { a, b } => vec![place.between(a, b).norm()],
            Self::RevoluteSpherical { a, axis, b } => {
                let (d, u) = (place.between(a, b), place.pose(a.body).rotation * axis);
                let along = d.dot(&u);
                vec![along, (d - u * along).norm()]
            }
        }
    }

    /// Whether a condition has a direction only where its value is above zero.
    pub fn is_radius(&self, row: usize) -> bool {
        match self {
            Self::Coupler(_) => false,
            Self::Distance { .. } => true,
            Self::RevoluteSpherical { .. } => row == 1,
        }
    }

    /// Joints whose coordinates it uses.
    pub fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        let terms = if let Self::Coupler(terms) = self { &terms[..] } else { &[] };
        terms.iter().map(|t| t.joint)
    }

    /// Points of bodies that it holds on to.
    pub fn points(&self) -> impl Iterator<Item = &Point> {
        let ends = match self {
            Self::Coupler(_) => [None, None],
            Self::Distance { a, b } | Self::RevoluteSpherical { a, b, .. } => [Some(a), Some(b)],
        };
        ends.into_iter().flatten()
    }
}

impl Coupling {
    /// Whether something that it holds is still to be taken from where it is engaged.
    pub fn is_open(&self) -> bool {
        !self.is_absent && self.held.contains(&None)
    }
}

/// Compiles a scene's couplings. Joints that they use are best in the tree, whether they are engaged or not: the tree depends only on which
/// joints there are.
pub(super) fn build_couplings(
    scene: &scene::Scene,
    names: &Names<'_>,
    joints: &mut [Joint],
) -> Result<Vec<Coupling>, ModelError> {
    let mut n_rows = 0;
    let mut couplings = Vec::with_capacity(scene.coupling.len());
    for (i, given) in scene.coupling.iter().enumerate() {
        let kind = build_kind(&given.kind, names, joints, i)?;
        kind.joints().for_each(|j| joints[j.index()].wants_tree = true);
        let (keys, told): (Vec<_>, Vec<_>) = given.kind.constants().into_iter().unzip();
        let rows = n_rows..n_rows + told.len();
        n_rows = rows.end;
        let (name, is_absent) = (given.name.clone(), given.absent);
        couplings.push(Coupling { name, kind, rows, held: told.clone(), given: told, keys, is_absent });
    }
    Ok(couplings)
}

fn build_kind(
    kind: &scene::CouplingKind,
    names: &Names<'_>,
    joints: &[Joint],
    i: usize,
) -> Result<CouplingKind, ModelError> {
    let point = |end: &scene::Attachment, key: &str| {
        let body = names.body(&end.body, &format!("coupling[{i}].{key}.body"))?;
        Ok::<Point, ModelError>(Point { body, position: end.point.into() })
    };
    Ok(match kind {
        scene::CouplingKind::Coupler { joints: list, coordinates, ratios, .. } => {
            let mut terms = Vec::with_capacity(list.len());
            for (k, (name, ratio)) in list.iter().zip(ratios).enumerate() {
                let found = joints.iter().position(|j| j.name == *name);
                let missing = || ModelError::new(format!("coupling[{i}].joints[{k}]"), "there is no such joint");
                let joint = JointId(found.ok_or_else(missing)? as u32);
                let coordinate = coordinates.as_ref().and_then(|list| list.get(k).copied()).unwrap_or(0);
                terms.push(CoupledCoordinate { joint, coordinate, ratio: *ratio });
            }
            CouplingKind::Coupler(terms)
        }
        scene::CouplingKind::Distance { a, b, .. } => CouplingKind::Distance { a: point(a, "a")?, b: point(b, "b")? },
        scene::CouplingKind::RevoluteSpherical { a, axis, b, .. } => {
            let axis = Vec3::from(*axis).normalize();
            CouplingKind::RevoluteSpherical { a: point(a, "a")?, axis, b: point(b, "b")? }
        }
    })
}
