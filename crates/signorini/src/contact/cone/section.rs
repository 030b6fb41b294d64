//! Sections of friction cones: the friction forces and moments per unit of normal force.

use super::polygon::Polygon;
use super::polyhedron::Polyhedron;
use super::{MAX_DIM, ellipsoid, project_disc};
use crate::contact::rows::RowShape;

/// The largest number of tangential rows: two forces, the spin and two rolling moments.
pub const MAX_TANGENT: usize = 5;

/// A convex set C ∋ 0 of tangential forces and moments per unit of normal force.
#[derive(Debug, Clone, PartialEq)]
pub enum Section {
    /// An interval or a disc.
    Ball {
        /// Dimension.
        dim: usize,
        /// Radius: the coefficient of friction.
        radius: f64,
    },
    /// The product of two balls: forces, then moments.
    Balls {
        /// Dimensions.
        dims: [usize; 2],
        /// Radii.
        radii: [f64; 2],
    },
    /// An ellipsoid with its axes along the coordinates; the third coordinate is the spin moment.
    Ellipsoid {
        /// Dimension, 2 or 3.
        dim: usize,
        /// Half axes.
        axes: [f64; 3],
    },
    /// The product of an ellipse of forces and an interval of moments about the normal.
    Cylinder {
        /// Half axes of the ellipse.
        axes: [f64; 2],
        /// Half the interval.
        half: f64,
    },
    /// A convex polygon of forces.
    Polygon(Polygon),
    /// A convex polyhedron of forces and the moment about the normal.
    Polyhedron(Polyhedron),
}

/// Derivative of the projection P_{sC}(y) with respect to y and s.
#[derive(Debug, Clone, Copy, Default)]
pub struct SectionJacobian {
    /// ∂P/∂y, symmetric, eigenvalues in [0, 1].
    pub dy: [[f64; MAX_TANGENT]; MAX_TANGENT],
    /// ∂P/∂s.
    pub ds: [f64; MAX_TANGENT],
}

pub(super) fn norm(y: &[f64]) -> f64 {
    match y {
        [a] => a.abs(),
        [a, b] => (a * a + b * b).sqrt(),
        _ => y.iter().map(|x| x * x).sum::<f64>().sqrt(),
    }
}

impl Section {
    /// Number of tangential rows.
    pub fn dim(&self) -> usize {
        match self {
            Section::Ball { dim, .. } | Section::Ellipsoid { dim, .. } => *dim,
            Section::Balls { dims, .. } => dims[0] + dims[1],
            Section::Polygon(_) => 2,
            Section::Cylinder { .. } | Section::Polyhedron(_) => 3,
        }
    }

    /// Number of tangential rows that are forces; the others are moments and have their own compliance.
    pub fn n_forces(&self) -> usize {
        match self {
            Section::Balls { dims, .. } => dims[0],
            other => other.dim().min(2),
        }
    }

    /// The rows of a contact with this section: one moment is about the normal, two are about the tangents.
    pub fn rows(&self) -> RowShape {
        let n_moments = self.dim() - self.n_forces();
        RowShape::new(1 + self.n_forces(), [n_moments == 1, n_moments == 2, n_moments == 2])
    }

    /// The largest moment over the largest force: a length; zero without moments, and where there are only moments one of the unit of length.
    pub fn moment_arm(&self) -> f64 {
        let extent = |k: usize| {
            let mut y = [0.0; MAX_TANGENT];
            y[k] = 1.0;
            self.support(&y[..self.dim()])
        };
        let largest = |rows: std::ops::Range<usize>| rows.map(extent).fold(0.0, f64::max);
        let (force, moment) = (largest(0..self.n_forces()), largest(self.n_forces()..self.dim()));
        if force > 0.0 || moment == 0.0 { moment / force.max(f64::MIN_POSITIVE) } else { 1.0 }
    }

    /// Half the sides of a box within sC, for rows that are bounded one by one: a corner lies in the direction `towards`, or, where that is
    /// zero, where all rows take the same share of their bound.
    pub fn box_at(&self, s: f64, towards: &[f64], out: &mut [f64]) {
        match self {
            Section::Ball { radius, .. } => box_in_ball(radius * s, towards, out),
            Section::Balls { dims, radii } => {
                let ((a, b), (out_a, out_b)) = (towards.split_at(dims[0]), out.split_at_mut(dims[0]));
                box_in_ball(radii[0] * s, a, out_a);
                box_in_ball(radii[1] * s, b, out_b);
            }
            Section::Ellipsoid { dim, axes } => {
                box_in_ellipsoid(&axes[..*dim], s, towards, out);
            }
            Section::Cylinder { axes, half } => {
                box_in_ellipsoid(axes, s, &towards[..2], &mut out[..2]);
                out[2] = half * s;
            }
            Section::Polygon(polygon) => polygon.box_at(s, towards, out),
            Section::Polyhedron(polyhedron) => polyhedron.box_at(s, towards, out),
        }
    }

    pub(super) fn find_fault(&self) -> Option<(f64, &'static str)> {
        let bad = |x: &f64| !(x.is_finite() && *x >= 0.0);
        match self {
            Section::Ball { dim, radius } => {
                if !(1..=2).contains(dim) {
                    return Some((*dim as f64, "1 or 2 tangential rows"));
                }
                Some(*radius).filter(bad).map(|x| (x, "friction coefficient finite and ≥ 0"))
            }
            Section::Balls { dims, radii } => {
                if dims.contains(&0) || dims[0] > 2 || dims[1] > 2 {
                    return Some((dims[0] as f64, "1 or 2 force rows and 1 or 2 moment rows"));
                }
                radii.iter().copied().find(bad).map(|x| (x, "friction coefficients finite and ≥ 0"))
            }
            Section::Ellipsoid { dim, axes } => {
                if !(2..=3).contains(dim) {
                    return Some((*dim as f64, "2 or 3 tangential rows"));
                }
                axes[..*dim].iter().copied().find(bad).map(|x| (x, "half axes finite and ≥ 0"))
            }
            Section::Cylinder { axes: [t, o], half } => {
                [*t, *o, *half].into_iter().find(bad).map(|x| (x, "half axes and bound of the moment finite and ≥ 0"))
            }
            Section::Polygon(polygon) => polygon.find_fault(),
            Section::Polyhedron(polyhedron) => polyhedron.find_fault(),
        }
    }

    /// The same section when moment rows are measured in other units: r̂_m = ratio · r_m.
    pub(super) fn scaled(&self, ratio: f64) -> Self {
        match self {
            Section::Balls { dims, radii } => Section::Balls { dims: *dims, radii: [radii[0], radii[1] * ratio] },
            Section::Ellipsoid { dim: 3, axes } => {
                Section::Ellipsoid { dim: 3, axes: [axes[0], axes[1], axes[2] * ratio] }
            }
            Section::Cylinder { axes, half } => Section::Cylinder { axes: *axes, half: half * ratio },
            Section::Polyhedron(polyhedron) => Section::Polyhedron(polyhedron.scaled(ratio)),
            other => other.clone(),
        }
    }

    /// Support function h(y) = max over C of y·c.
    pub fn support(&self, y: &[f64]) -> f64 {
        match self {
            Section::Ball { radius, .. } => radius * norm(y),
            Section::Balls { dims, radii } => {
                let (a, b) = y.split_at(dims[0]);
                radii[0] * norm(a) + radii[1] * norm(b)
            }
            Section::Ellipsoid { dim, axes } => ellipsoid::support(&axes[..*dim], y),
            Section::Cylinder { axes, half } => ellipsoid::support(axes, &y[..2]) + half * y[2].abs(),
            Section::Polygon(polygon) => polygon.support(y),
            Section::Polyhedron(polyhedron) => polyhedron.support(y),
        }
    }

    /// The point of C where y·c is largest (zero where every point is): minus the friction force per unit normal
    /// force at a contact that slides with velocity −y.
    pub fn support_point(&self, y: &[f64], out: &mut [f64]) {
        let ball = |radius: f64, y: &[f64], out: &mut [f64]| {
            let n = norm(y);
            let f = if n > 0.0 { radius / n } else { 0.0 };
            out.iter_mut().zip(y).for_each(|(o, y)| *o = f * y);
        };
        match self {
            Section::Ball { radius, .. } => ball(*radius, y, out),
            Section::Balls { dims, radii } => {
                let (a, b) = y.split_at(dims[0]);
                let (oa, ob) = out.split_at_mut(dims[0]);
                ball(radii[0], a, oa);
                ball(radii[1], b, ob);
            }
            Section::Ellipsoid { dim, axes } => ellipsoid::support_point(&axes[..*dim], y, out),
            Section::Cylinder { axes, half } => {
                let ((y, m), (out, out_m)) = (y.split_at(2), out.split_at_mut(2));
                ellipsoid::support_point(axes, y, out);
                ball(*half, m, out_m);
            }
            Section::Polygon(polygon) => polygon.support_point(y, out),
            Section::Polyhedron(polyhedron) => polyhedron.support_point(y, out),
        }
    }

    /// P_{sC}(y), in place; s ≥ 0.
    pub fn project(&self, s: f64, y: &mut [f64]) {
        match self {
            Section::Ball { radius, .. } => project_ball(radius * s, y),
            Section::Balls { dims, radii } => {
                let (a, b) = y.split_at_mut(dims[0]);
                project_ball(radii[0] * s, a);
                project_ball(radii[1] * s, b);
            }
            Section::Ellipsoid { dim, axes } => ellipsoid::project(&axes[..*dim], s, y),
            Section::Cylinder { axes, half } => {
                let (y, m) = y.split_at_mut(2);
                ellipsoid::project(axes, s, y);
                project_ball(half * s, m);
            }
            Section::Polygon(polygon) => polygon.project(s, y),
            Section::Polyhedron(polyhedron) => polyhedron.project(s, y),
        }
    }

    /// P_{sC}(y), in place, with an element of its generalised derivative.
    pub fn project_with_jacobian(&self, s: f64, y: &mut [f64], jacobian: &mut SectionJacobian) {
        match self {
            Section::Ball { radius, .. } => ball_jacobian(*radius, s, y, 0, jacobian),
            Section::Balls { dims, radii } => {
                let (m, n) = (dims[0], dims[1]);
                let (a, b) = y.split_at_mut(m);
                ball_jacobian(radii[0], s, a, 0, jacobian);
                ball_jacobian(radii[1], s, b, m, jacobian);
                for i in 0..m {
                    for j in m..m + n {
                        jacobian.dy[i][j] = 0.0;
                        jacobian.dy[j][i] = 0.0;
                    }
                }
            }
            Section::Ellipsoid { dim, axes } => {
                ellipsoid::project_with_jacobian(&axes[..*dim], s, y, jacobian);
            }
            Section::Cylinder { axes, half } => {
                let (y, m) = y.split_at_mut(2);
                ellipsoid::project_with_jacobian(axes, s, y, jacobian);
                ball_jacobian(*half, s, m, 2, jacobian);
                for i in 0..2 {
                    (jacobian.dy[i][2], jacobian.dy[2][i]) = (0.0, 0.0);
                }
            }
            Section::Polygon(polygon) => polygon.project_with_jacobian(s, y, jacobian),
            Section::Polyhedron(polyhedron) => polyhedron.project_with_jacobian(s, y, jacobian),
        }
    }

    /// Projection of (a, b) on K = { b ∈ a C }: returns the normal part, leaves the tangential part in b.
    pub fn project_cone(&self, a: f64, b: &mut [f64]) -> f64 {
        let s = match self {
            Section::Ball { radius, .. } => {
                let (s, f) = project_disc(*radius, a, norm(b));
                b.iter_mut().for_each(|x| *x *= f);
                return s;
            }
            Section::Balls { dims, radii } => {
                let (x, y) = b.split_at(dims[0]);
                balls_root(a, *radii, [norm(x), norm(y)])
            }
            Section::Ellipsoid { dim, axes } => {
                return ellipsoid::project_cone(&axes[..*dim], a, b);
            }
            Section::Cylinder { axes, half } => cylinder_root(a, axes, *half, b),
            Section::Polygon(polygon) => return polygon.project_cone(a, b),
            Section::Polyhedron(polyhedron) => return polyhedron.project_cone(a, b),
        };
        self.project(s, b);
        s
    }
}

/// Half the sides of a box within a ball, a corner of it in a direction; a cube where there is none.
fn box_in_ball(radius: f64, towards: &[f64], out: &mut [f64]) {
    let size = match towards {
        [a, b] => a.hypot(*b),
        _ => norm(towards),
    };
    let cube = match out.len() {
        2 => std::f64::consts::FRAC_1_SQRT_2,
        n => 1.0 / (n as f64).sqrt(),
    };
    for (half, t) in out.iter_mut().zip(towards) {
        *half = radius * if size > 0.0 { (t / size).abs() } else { cube };
    }
}

/// The same within an ellipsoid.
fn box_in_ellipsoid(axes: &[f64], s: f64, towards: &[f64], out: &mut [f64]) {
    let mut unit = [0.0; MAX_TANGENT];
    for ((unit, t), e) in unit.iter_mut().zip(towards).zip(axes) {
        *unit = if *e > 0.0 { t / e } else { 0.0 };
    }
    box_in_ball(s, &unit[..axes.len()], out);
    out.iter_mut().zip(axes).for_each(|(half, e)| *half *= e);
}

/// Root s ≥ 0 of s − a = h(b − P_{sC}(b)) for an ellipse times an interval.
fn cylinder_root(a: f64, axes: &[f64; 2], half: f64, b: &[f64]) -> f64 {
    let (b, m) = (&b[..2], b[2].abs());
    let f = |s: f64| s - a - ellipsoid::excess(axes, s, b) - half * (m - half * s).max(0.0);
    if a >= 0.0 && f(a) >= 0.0 {
        return a;
    }
    let h = ellipsoid::support(axes, b) + half * m;
    if a + h <= 0.0 { 0.0 } else { ellipsoid::root(a, h, f) }
}

fn project_ball(radius: f64, y: &mut [f64]) {
    let n = norm(y);
    if n > radius {
        let f = radius / n;
        y.iter_mut().for_each(|x| *x *= f);
    }
}

fn ball_jacobian(mu: f64, s: f64, y: &mut [f64], at: usize, jacobian: &mut SectionJacobian) {
    let n = norm(y);
    let radius = mu * s;
    let dim = y.len();
    if n <= radius {
        for i in 0..dim {
            for j in 0..dim {
                jacobian.dy[at + i][at + j] = if i == j { 1.0 } else { 0.0 };
            }
            jacobian.ds[at + i] = 0.0;
        }
        return;
    }
    let f = radius / n;
    let mut d = [0.0; MAX_DIM];
    for i in 0..dim {
        d[i] = y[i] / n;
    }
    for i in 0..dim {
        for j in 0..dim {
            let id = if i == j { 1.0 } else { 0.0 };
            jacobian.dy[at + i][at + j] = f * (id - d[i] * d[j]);
        }
        jacobian.ds[at + i] = mu * d[i];
    }
    if dim == 1 {
        // One dimension: the boundary is two points, so the derivative along y vanishes exactly.
        jacobian.dy[at][at] = 0.0;
    }
    y.iter_mut().for_each(|x| *x *= f);
}

/// Root s ≥ 0 of (s − a) = Σ μᵢ (nᵢ − μᵢ s)₊: the active terms are read off the sign of the increasing difference
/// at the two break points.
fn balls_root(a: f64, mu: [f64; 2], n: [f64; 2]) -> f64 {
    let active = |i: usize| {
        let j = 1 - i;
        if mu[i] <= 0.0 {
            return true; // contributes nothing: μ = 0
        }
        let s = n[i] / mu[i];
        (s - a) - mu[j] * (n[j] - mu[j] * s).max(0.0) > 0.0
    };
    let (mut top, mut bottom) = (a, 1.0);
    for i in 0..2 {
        if active(i) {
            top += mu[i] * n[i];
            bottom += mu[i] * mu[i];
        }
    }
    (top / bottom).max(0.0)
}
