//! Convex pieces: a core with a support function, rounded by a radius.
//!
//! A sphere is a point with a radius, a capsule a segment with one; everything else has radius zero. Besides its support function
//! a core tells which normals it can offer to a contact: those of its faces, and *rings* {n : n·u = c}, the normals along an edge
//! (u the edge, c = 0), of the side of a cylinder (u the axis, c = 0) and of a cone (c the sine of its half angle).

use super::hull::Hull;
use crate::spatial::{Mat3, Vec3};
use std::sync::Arc;

/// Geometry about its own origin; axes of revolution are z.
#[derive(Debug, Clone)]
pub(crate) enum Core {
    Point,
    Segment { half: f64 },
    Box { half: Vec3 },
    Cylinder { radius: f64, half: f64 },
    Cone { radius: f64, half: f64 },
    Hull(Arc<Hull>),
    Triangle(Triangle),
}

/// A triangle of a mesh about its own centroid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Triangle {
    pub corners: [Vec3; 3],
    pub ids: [u32; 3],
    pub normal: Vec3,
}

/// Normals n with n·axis = offset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ring {
    pub axis: Vec3,
    pub offset: f64,
}

/// A core somewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed<'a> {
    pub core: &'a Core,
    pub rotation: Mat3,
    pub position: Vec3,
    /// Radius of the rounding.
    pub radius: f64,
    /// Radius of a ball about `position` that holds the core.
    pub reach: f64,
}

impl Core {
    /// Radius of a ball about the origin that holds it.
    pub(crate) fn reach(&self) -> f64 {
        match self {
            Self::Point => 0.0,
            Self::Segment { half } => *half,
            Self::Box { half } => half.norm(),
            Self::Cylinder { radius, half } | Self::Cone { radius, half } => radius.hypot(*half),
            Self::Hull(hull) => hull.vertices.iter().fold(0.0, |r, v| r.max(v.norm())),
            Self::Triangle(triangle) => triangle.corners.iter().fold(0.0, |r, v| r.max(v.norm())),
        }
    }

    /// Farthest point in a direction, which need not be a unit vector.
    pub(crate) fn support(&self, d: &Vec3) -> Vec3 {
        match self {
            Self::Point => Vec3::zeros(),
            Self::Segment { half } => Vec3::new(0.0, 0.0, half.copysign(d.z)),
            Self::Box { half } => Vec3::new(half.x.copysign(d.x), half.y.copysign(d.y), half.z.copysign(d.z)),
            Self::Cylinder { radius, half } => {
                let (c, s) = azimuth(d);
                Vec3::new(radius * c, radius * s, half.copysign(d.z))
            }
            Self::Cone { radius, half } => {
                if 2.0 * half * d.z > radius * d.x.hypot(d.y) {
                    return Vec3::new(0.0, 0.0, *half);
                }
                let (c, s) = azimuth(d);
                Vec3::new(radius * c, radius * s, -half)
            }
            Self::Hull(hull) => hull.vertices[hull.support(d)],
            Self::Triangle(triangle) => triangle.corners[triangle.support(d)],
        }
    }

    /// Whether the normals that it offers are all that a deepest overlap of two such cores can have.
    pub(crate) fn is_small_polytope(&self) -> bool {
        matches!(self, Self::Point | Self::Segment { .. } | Self::Box { .. } | Self::Triangle(_))
    }

    /// Whether it is its own mirror image in its origin.
    pub(crate) fn is_symmetric(&self) -> bool {
        matches!(self, Self::Point | Self::Segment { .. } | Self::Box { .. } | Self::Cylinder { .. })
    }

    /// Whether it has a circular edge.
    pub(crate) fn has_rim(&self) -> bool {
        matches!(self, Self::Cylinder { .. } | Self::Cone { .. })
    }
}

/// Cosine and sine of the angle about z; of the x axis where there is none.
pub(crate) fn azimuth(d: &Vec3) -> (f64, f64) {
    let rho = d.x.hypot(d.y);
    if rho > 0.0 { (d.x / rho, d.y / rho) } else { (1.0, 0.0) }
}

impl Triangle {
    /// The corner farthest in a direction; of several, the first.
    pub(crate) fn support(&self, d: &Vec3) -> usize {
        let h = self.corners.map(|c| c.dot(d));
        if h[0] >= h[1] && h[0] >= h[2] {
            0
        } else if h[1] >= h[2] {
            1
        } else {
            2
        }
    }
}

impl Placed<'_> {
    /// Farthest point of the core in a direction.
    pub(crate) fn support(&self, d: &Vec3) -> Vec3 {
        self.rotation * self.core.support(&self.rotation.tr_mul(d)) + self.position
    }

    /// How far the core reaches from its position along `n` and against it, where both are the same and cheap to tell.
    #[inline]
    fn extent(&self, n: &Vec3) -> Option<f64> {
        match self.core {
            Core::Point => Some(0.0),
            Core::Segment { half } => Some(self.rotation.column(2).dot(n).abs() * half),
            Core::Box { half } => Some(self.rotation.tr_mul(n).abs().dot(half)),
            _ => None,
        }
    }

    /// Radius of a ball about `position` that holds everything.
    pub(crate) fn bound(&self) -> f64 {
        self.reach + self.radius
    }

    /// Normals of faces; for a hull those at the vertex that is farthest in direction `near`, none without it.
    pub(crate) fn faces(&self, near: Option<&Vec3>, visit: &mut impl FnMut(Vec3)) {
        let column = |i: usize| self.rotation.column(i).into_owned();
        match self.core {
            Core::Point | Core::Segment { .. } => {}
            Core::Box { .. } => (0..3).for_each(|i| {
                visit(column(i));
                visit(-column(i));
            }),
            Core::Cylinder { .. } => {
                visit(column(2));
                visit(-column(2));
            }
            Core::Cone { .. } => visit(-column(2)),
            Core::Hull(hull) => {
                if let Some(d) = near {
                    let vertex = hull.support(&self.rotation.tr_mul(d));
                    hull.faces_at(vertex).for_each(|(n, _)| visit(self.rotation * n));
                }
            }
            Core::Triangle(triangle) => {
                visit(self.rotation * triangle.normal);
                visit(-(self.rotation * triangle.normal));
            }
        }
    }

    /// Rings of normals; for a hull those of the edges at the vertex that is farthest in direction `near`.
    pub(crate) fn rings(&self, near: Option<&Vec3>, visit: &mut impl FnMut(Ring)) {
        let column = |i: usize| self.rotation.column(i).into_owned();
        match self.core {
            Core::Point => {}
            Core::Segment { .. } | Core::Cylinder { .. } => visit(Ring { axis: column(2), offset: 0.0 }),
            Core::Box { .. } => (0..3).for_each(|i| visit(Ring { axis: column(i), offset: 0.0 })),
            Core::Cone { radius, half } => {
                visit(Ring { axis: column(2), offset: radius / radius.hypot(2.0 * half) });
            }
            Core::Hull(hull) => {
                if let Some(d) = near {
                    let vertex = hull.support(&self.rotation.tr_mul(d));
                    for &end in hull.ends_at(vertex) {
                        self.edge(&hull.vertices[vertex], &hull.vertices[end as usize], visit);
                    }
                }
            }
            Core::Triangle(Triangle { corners: [a, b, c], .. }) => {
                self.edge(a, b, visit);
                self.edge(b, c, visit);
                self.edge(c, a, visit);
            }
        }
    }

    fn edge(&self, a: &Vec3, b: &Vec3, visit: &mut impl FnMut(Ring)) {
        let edge = b - a;
        let length = edge.norm();
        if length > 0.0 {
            visit(Ring { axis: self.rotation * (edge / length), offset: 0.0 });
        }
    }
}

/// Separation of two cores along the unit vector `n` from `a` to `b`: negative where they overlap as seen along it.
pub(crate) fn separation(a: &Placed, b: &Placed, n: &Vec3) -> f64 {
    if let (Some(of_a), Some(of_b)) = (a.extent(n), b.extent(n)) {
        return n.dot(&(b.position - a.position)) - of_a - of_b;
    }
    n.dot(&(b.support(&-n) - a.support(n)))
}
