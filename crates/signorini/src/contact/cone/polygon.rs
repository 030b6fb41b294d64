//! Convex friction polygons in the tangent plane (paper 000, eq. 11–12: η directions, isotropic or not).

use super::section::{MAX_TANGENT, SectionJacobian};
use std::sync::Arc;

/// A convex polygon around the origin: the convex hull of the friction directions times their coefficients.
#[derive(Debug, Clone, PartialEq)]
pub struct Polygon {
    /// Vertices in counter-clockwise order.
    vertices: Arc<[[f64; 2]]>,
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn sub(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

impl Polygon {
    /// η directions at equal angles, the first along t₁, each with coefficient μ.
    pub fn regular(mu: f64, n_directions: usize) -> Self {
        let vertices = (0..n_directions)
            .map(|k| {
                let angle = std::f64::consts::TAU * k as f64 / n_directions as f64;
                [mu * angle.cos(), mu * angle.sin()]
            })
            .collect();
        Self { vertices }
    }

    /// The convex hull of given directions, each scaled by its own coefficient (anisotropic friction).
    ///
    /// Directions inside the hull of the others never carry friction and are dropped. The origin must lie inside:
    /// [`ContactProblem`](crate::contact::ContactProblem) refuses a polygon that does not contain it.
    pub fn hull(directions: &[[f64; 2]]) -> Self {
        let mut points: Vec<[f64; 2]> = directions.to_vec();
        points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        points.dedup();
        if points.len() < 3 {
            return Self { vertices: points.into() };
        }
        let mut hull: Vec<[f64; 2]> = Vec::with_capacity(points.len() + 1);
        for pass in 0..2 {
            let base = hull.len();
            let ordered: Box<dyn Iterator<Item = &[f64; 2]>> =
                if pass == 0 { Box::new(points.iter()) } else { Box::new(points.iter().rev()) };
            for p in ordered {
                while let [.., a, b] = hull[base..] {
                    if cross(sub(b, a), sub(*p, a)) > 0.0 {
                        break;
                    }
                    hull.pop();
                }
                hull.push(*p);
            }
            hull.pop();
        }
        Self { vertices: hull.into() }
    }

    /// From vertices in counter-clockwise order, as they are.
    pub(in crate::contact) fn from_vertices(vertices: Vec<[f64; 2]>) -> Self {
        Self { vertices: vertices.into() }
    }

    /// Vertices, counter-clockwise.
    pub fn vertices(&self) -> &[[f64; 2]] {
        &self.vertices
    }

    /// Half the sides of a box within s times the polygon, a corner of it in a direction; of a square where there is none.
    pub(super) fn box_at(&self, s: f64, towards: &[f64], out: &mut [f64]) {
        let is_zero = towards.iter().all(|t| *t == 0.0);
        let corner: [f64; 2] = std::array::from_fn(|k| if is_zero { 1.0 } else { towards[k].abs() });
        let mut share = f64::INFINITY;
        for (i, a) in self.vertices.iter().enumerate() {
            let b = self.vertices[(i + 1) % self.vertices.len()];
            // x stays within the side where n·x ≤ n·a, and n·x of the box's corners is at most |n|·corner.
            let n = [b[1] - a[1], a[0] - b[0]];
            let reach = n[0].abs() * corner[0] + n[1].abs() * corner[1];
            if reach > 0.0 {
                share = share.min((n[0] * a[0] + n[1] * a[1]) / reach);
            }
        }
        let share = if share.is_finite() { s * share.max(0.0) } else { 0.0 };
        out.iter_mut().zip(corner).for_each(|(half, c)| *half = share * c);
    }

    pub(super) fn find_fault(&self) -> Option<(f64, &'static str)> {
        if let Some(x) = self.vertices.iter().flatten().find(|x| !x.is_finite()) {
            return Some((*x, "friction directions finite"));
        }
        if self.vertices.len() < 3 {
            return Some((self.vertices.len() as f64, "at least three friction directions"));
        }
        let n = self.vertices.len();
        for i in 0..n {
            let (a, b) = (self.vertices[i], self.vertices[(i + 1) % n]);
            if cross(a, b) < 0.0 {
                return Some((cross(a, b), "friction directions that positively span the plane"));
            }
        }
        None
    }

    pub(super) fn support(&self, y: &[f64]) -> f64 {
        let dot = |v: &[f64; 2]| v[0] * y[0] + v[1] * y[1];
        self.vertices.iter().map(dot).fold(f64::NEG_INFINITY, f64::max).max(0.0)
    }

    pub(super) fn support_point(&self, y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let mut best = 0.0;
        for v in self.vertices.iter() {
            let d = v[0] * y[0] + v[1] * y[1];
            if d > best {
                best = d;
                out.copy_from_slice(v);
            }
        }
    }

    /// Where the projection of y on sC lies: inside, on edge i, or at vertex i.
    fn locate(&self, s: f64, y: [f64; 2]) -> Place {
        let n = self.vertices.len();
        for i in 0..n {
            let (a, b) = (self.vertices[i], self.vertices[(i + 1) % n]);
            let (edge, from) = (sub(b, a), [y[0] - s * a[0], y[1] - s * a[1]]);
            if cross(edge, from) >= 0.0 {
                continue; // on the inner side of this edge
            }
            let along = edge[0] * from[0] + edge[1] * from[1];
            let length = s * (edge[0] * edge[0] + edge[1] * edge[1]);
            if along > 0.0 && along < length {
                return Place::Edge(i);
            }
            // Outside this edge: y may belong to the normal cone of one of its vertices.
            if along <= 0.0 {
                let before = sub(a, self.vertices[(i + n - 1) % n]);
                if before[0] * from[0] + before[1] * from[1] >= 0.0 {
                    return Place::Vertex(i);
                }
            }
        }
        // Rounding may leave a point between two normal cones, or on a vertex cone reached only from its other edge.
        let mut best = (f64::INFINITY, Place::Inside);
        let mut outside = false;
        for i in 0..n {
            let (a, b) = (self.vertices[i], self.vertices[(i + 1) % n]);
            outside |= cross(sub(b, a), [y[0] - s * a[0], y[1] - s * a[1]]) < 0.0;
            let d = [y[0] - s * a[0], y[1] - s * a[1]];
            let d = d[0] * d[0] + d[1] * d[1];
            if d < best.0 {
                best = (d, Place::Vertex(i));
            }
        }
        if outside { best.1 } else { Place::Inside }
    }

    pub(super) fn project(&self, s: f64, y: &mut [f64]) {
        let mut unused = SectionJacobian::default();
        self.project_with_jacobian(s, y, &mut unused);
    }

    pub(super) fn project_with_jacobian(&self, s: f64, y: &mut [f64], jacobian: &mut SectionJacobian) {
        let clear = |jacobian: &mut SectionJacobian, one: f64| {
            jacobian.ds = [0.0; MAX_TANGENT];
            jacobian.dy[0][0] = one;
            jacobian.dy[1][1] = one;
            jacobian.dy[0][1] = 0.0;
            jacobian.dy[1][0] = 0.0;
        };
        match self.locate(s, [y[0], y[1]]) {
            Place::Inside => clear(jacobian, 1.0),
            Place::Vertex(i) => {
                let v = self.vertices[i];
                clear(jacobian, 0.0);
                jacobian.ds[..2].copy_from_slice(&v);
                y[0] = s * v[0];
                y[1] = s * v[1];
            }
            Place::Edge(i) => {
                let (a, b) = (self.vertices[i], self.vertices[(i + 1) % self.vertices.len()]);
                let edge = sub(b, a);
                let length = (edge[0] * edge[0] + edge[1] * edge[1]).sqrt();
                let t = [edge[0] / length, edge[1] / length];
                let along = t[0] * (y[0] - s * a[0]) + t[1] * (y[1] - s * a[1]);
                let foot = t[0] * a[0] + t[1] * a[1];
                for k in 0..2 {
                    y[k] = s * a[k] + along * t[k];
                    jacobian.ds[k] = a[k] - foot * t[k];
                    for l in 0..2 {
                        jacobian.dy[k][l] = t[k] * t[l];
                    }
                }
            }
        }
    }

    /// Projection on the polyhedral cone { b ∈ a C }: inside, on a facet, on an edge ray, or at the apex.
    pub(super) fn project_cone(&self, a: f64, b: &mut [f64]) -> f64 {
        let y = [b[0], b[1]];
        if a >= 0.0 && matches!(self.locate(a, y), Place::Inside) {
            return a;
        }
        let n = self.vertices.len();
        let mut best = (a * a + y[0] * y[0] + y[1] * y[1], 0.0, [0.0, 0.0]);
        let mut offer = |s: f64, x: [f64; 2]| {
            let d = (s - a) * (s - a) + (x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]);
            if d < best.0 {
                best = (d, s, x);
            }
        };
        for i in 0..n {
            let (v, w) = (self.vertices[i], self.vertices[(i + 1) % n]);
            // Edge ray (1, v).
            let t = (a + v[0] * y[0] + v[1] * y[1]) / (1.0 + v[0] * v[0] + v[1] * v[1]);
            if t > 0.0 {
                offer(t, [t * v[0], t * v[1]]);
            }
            // Facet spanned by (1, v) and (1, w), with outward normal (−v × w, edge turned by −90°).
            let edge = sub(w, v);
            let normal = [-cross(v, w), edge[1], -edge[0]];
            let square = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2];
            let height = normal[0] * a + normal[1] * y[0] + normal[2] * y[1];
            // Feet on facets that z is (by rounding) inside of are members of the cone too: offering them does no harm.
            if square > 0.0 {
                let f = height / square;
                let (s, x) = (a - f * normal[0], [y[0] - f * normal[1], y[1] - f * normal[2]]);
                let (from_v, from_w) = ([x[0] - s * v[0], x[1] - s * v[1]], [x[0] - s * w[0], x[1] - s * w[1]]);
                let on = |d: [f64; 2]| edge[0] * d[0] + edge[1] * d[1];
                if s > 0.0 && on(from_v) >= 0.0 && on(from_w) <= 0.0 {
                    offer(s, x);
                }
            }
        }
        b.copy_from_slice(&best.2);
        best.1
    }
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Inside,
    Edge(usize),
    Vertex(usize),
}
