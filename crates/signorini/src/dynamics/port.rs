//! What may push a mechanism from outside: contacts, limits and dry friction of joints, as ports.
//!
//! A port is posed by whoever knows why it pushes, and answered by a formulation ([`super::formulation::Response`]).

use super::formulation::Posed;
use super::row::Cut;
use crate::contact::cone::MAX_DIM;
use crate::contact::{RowShape, Unit};
use crate::plan::End;
use crate::spatial::{Vec3, Wrench};

/// Where a port pushes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Attachment {
    /// Between two links, none for the ground; on the second, and opposite on the first.
    Links([Option<usize>; 2]),
    /// On one speed of the tree.
    Speed {
        /// Its link.
        link: usize,
        /// The speed.
        speed: usize,
    },
    /// On one speed of a cut joint.
    Cut {
        /// The cut joint.
        cut: usize,
        /// Its speed.
        k: usize,
    },
}

/// Something that may push, at one configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Port {
    pub place: Attachment,
    /// The world point of each link that is pushed, normal and tangents there.
    pub points: [Vec3; 2],
    pub directions: [Vec3; 3],
    /// Direction on a speed: one, or minus one.
    pub side: f64,
    /// Forces and moments along these directions.
    pub rows: RowShape,
}

/// Unit loads of a port's rows; zero beyond them.
pub(crate) type Loads = [Wrench; MAX_DIM];

/// A link, and the loads on it at its origin.
pub(crate) type Pushed = Option<(usize, Loads)>;

impl Port {
    /// Links that it pushes, first and second, with the wrenches on the second; on the first they are opposite. None for what pushes a
    /// speed of the tree.
    pub fn ends(&self, at: &Posed<'_>) -> [Pushed; 2] {
        match self.place {
            Attachment::Links(links) => {
                [0, 1].map(|e| links[e].map(|link| (link, self.wrenches(link, &self.points[e], at))))
            }
            Attachment::Cut { cut, k } => {
                let (joint, closure) = (&at.system.cuts[cut], &at.closures[cut]);
                let direction = closure.measures[k] * self.side;
                let row = |arm: &Vec3| {
                    let mut loads = [Wrench::default(); MAX_DIM];
                    loads[0] = direction.shifted(arm);
                    loads
                };
                let (parent, child) = (row(&closure.parent_arm), row(&closure.child_arm));
                [joint.parent.map(|l| (l, parent)), joint.child.map(|l| (l, child))]
            }
            Attachment::Speed { .. } => [None, None],
        }
    }

    /// What it pushes, as the order of elimination sees it: the second link first.
    pub fn write_ends(&self, cuts: &[Cut], out: &mut Vec<End>) {
        match self.place {
            Attachment::Links([a, b]) => out.extend([End::of(b), End::of(a)]),
            Attachment::Speed { link, speed } => out.push(End::Speed { link, speed }),
            Attachment::Cut { cut, .. } => out.extend([End::of(cuts[cut].child), End::of(cuts[cut].parent)]),
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.dim()
    }

    /// Rows at a point as wrenches on a link at its origin.
    fn wrenches(&self, link: usize, point: &Vec3, at: &Posed<'_>) -> Loads {
        let arm = point - at.kinematics.origin[link];
        std::array::from_fn(|k| if k < self.n_rows() { self.wrench(k, &arm) } else { Wrench::default() })
    }

    /// Unit load of a row on the second link, moments about the point from which the port lies an arm away.
    fn wrench(&self, row: usize, arm: &Vec3) -> Wrench {
        let direction = self.directions[self.rows.axis(row)];
        match self.rows.unit(row) {
            Unit::Length => Wrench::new(arm.cross(&direction), direction),
            Unit::Angle => Wrench::new(direction, Vec3::zeros()),
        }
    }
}
