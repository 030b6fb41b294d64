//! Contact points of two features along a direction.
//!
//! **Problem.** Two features (corner, edge or face) face each other along n. Find points that span the region where they lie above
//! each other, each with its gap along n.
//!
//! **Method.** Seen along n, both are a point, a segment or a convex polygon. Corners of one inside the other, and crossings of
//! edges, are the corners of the common region; heights come from the line or plane of each feature. Every point has a name that
//! lasts while the same corners and edges meet.
//!
//! **Cost.** The product of the numbers of corners.
//!
//! **Fails when** the features do not lie above each other (nothing is found; the caller has the closest points).
//!
//! **Checked by** `tests/collide_manifold.rs`.

use super::feature::Spot;
use crate::spatial::Vec3;

/// A point of contact between two cores; rounding radii are not in it yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw {
    pub on_a: Vec3,
    pub gap: f64,
    pub feature: u64,
}

/// Two unit vectors that make a right-handed frame with `n`: t₁ × t₂ = n. The same bits for the same n.
pub(crate) fn tangents(n: &Vec3) -> [Vec3; 2] {
    // The axis least along n, so that nothing cancels; ties go to the first.
    let axis = n.abs().imin();
    let mut e = Vec3::zeros();
    e[axis] = 1.0;
    let first = (e - n * n[axis]).normalize();
    [first, n.cross(&first)]
}

/// How far beyond an edge a point may lie, relative to the size of the shapes: rounding, generously.
const INSIDE: f64 = 1e-12;
/// The same for two corners above each other: the direction between them is known to rounding.
pub(crate) const ABOVE_CORNER: f64 = 0.01 * INSIDE;
/// Sine of the angle below which two edges are parallel.
const PARALLEL: f64 = 1e-6;

/// Names of points.
pub(crate) mod name {
    const PART: u64 = (1 << 29) - 1;

    fn pack(tag: u64, a: u64, b: u64) -> u64 {
        tag << 62 | (a & PART) << 29 | b & PART
    }
    /// A corner of a.
    pub(crate) fn of_a(id: u32) -> u64 {
        pack(0, u64::from(id), 0)
    }
    /// A corner of b.
    pub(crate) fn of_b(id: u32) -> u64 {
        pack(1, 0, u64::from(id))
    }
    /// An edge of a over an edge of b.
    pub(crate) fn crossing(a: (u32, u32), b: (u32, u32)) -> u64 {
        pack(2, edge(a), edge(b))
    }
    /// The closest points, where no feature has the contact.
    pub(crate) fn closest() -> u64 {
        pack(3, 0, 0)
    }
    /// Tells points of one name apart.
    pub(crate) fn with_ordinal(feature: u64, ordinal: u64) -> u64 {
        feature | (ordinal & 15) << 58
    }
    /// Small corners fit in side by side; large ones are mixed.
    fn edge((v, w): (u32, u32)) -> u64 {
        let (v, w) = (u64::from(v.min(w)), u64::from(v.max(w)));
        if w < 1 << 14 {
            return v << 14 | w;
        }
        let mixed = (v << 32 | w).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        1 << 28 | mixed >> 36
    }
}

/// A corner as seen along the normal.
#[derive(Debug, Clone, Copy)]
struct Seen {
    x: f64,
    y: f64,
    z: f64,
    id: u32,
}

/// Scratch.
#[derive(Default)]
pub(crate) struct Clipper {
    a: Vec<Seen>,
    b: Vec<Seen>,
    lengths_a: Vec<f64>,
    lengths_b: Vec<f64>,
}

struct Frame<'a> {
    origin: Vec3,
    normal: &'a Vec3,
    tangents: [Vec3; 2],
}

impl Frame<'_> {
    fn see(&self, spots: &[Spot], out: &mut Vec<Seen>) {
        out.clear();
        out.extend(spots.iter().map(|s| {
            let d = s.p - self.origin;
            Seen { x: d.dot(&self.tangents[0]), y: d.dot(&self.tangents[1]), z: d.dot(self.normal), id: s.id }
        }));
        // Polygons counter-clockwise, so that inside is to the left of every edge.
        if out.len() > 2 && area(out) < 0.0 {
            out.reverse();
        }
    }

    fn raw(&self, x: f64, y: f64, z_a: f64, z_b: f64, feature: u64) -> Raw {
        let on_a = self.origin + self.tangents[0] * x + self.tangents[1] * y + self.normal * z_a;
        Raw { on_a, gap: z_b - z_a, feature }
    }
}

fn area(p: &[Seen]) -> f64 {
    let Some(o) = p.first() else { return 0.0 };
    let pairs = p.windows(2);
    pairs.map(|w| (w[0].x - o.x) * (w[1].y - o.y) - (w[0].y - o.y) * (w[1].x - o.x)).sum()
}

/// A polygon with what is asked of its edges and its plane again and again.
struct Face<'a> {
    corners: &'a [Seen],
    lengths: &'a [f64],
    /// Normal of its plane, of any length.
    plane: [f64; 3],
}

impl<'a> Face<'a> {
    fn new(corners: &'a [Seen], lengths: &'a mut Vec<f64>) -> Self {
        lengths.clear();
        let o = corners[0];
        let mut plane = [0.0; 3];
        for (q, r) in edges(corners) {
            let (u, v) = ([q.x - o.x, q.y - o.y, q.z - o.z], [r.x - o.x, r.y - o.y, r.z - o.z]);
            plane[0] += u[1] * v[2] - u[2] * v[1];
            plane[1] += u[2] * v[0] - u[0] * v[2];
            plane[2] += u[0] * v[1] - u[1] * v[0];
            let (ex, ey) = (r.x - q.x, r.y - q.y);
            lengths.push((ex * ex + ey * ey).sqrt());
        }
        Self { corners, lengths, plane }
    }

    /// Edges with their lengths.
    fn edges(&self) -> impl Iterator<Item = (&Seen, &Seen, f64)> {
        edges(self.corners).zip(self.lengths).map(|((p, q), length)| (p, q, *length))
    }

    fn is_inside(&self, x: f64, y: f64, slack: f64) -> bool {
        self.edges().all(|(p, q, length)| {
            let (ex, ey) = (q.x - p.x, q.y - p.y);
            ex * (y - p.y) - ey * (x - p.x) >= -slack * length
        })
    }

    /// Height of the plane.
    fn height(&self, x: f64, y: f64) -> f64 {
        let (o, [nx, ny, nz]) = (&self.corners[0], self.plane);
        if nz == 0.0 { o.z } else { o.z - (nx * (x - o.x) + ny * (y - o.y)) / nz }
    }
}

/// How far left of the edge from p to q.
fn left((p, q, length): (&Seen, &Seen, f64), x: f64, y: f64) -> f64 {
    let (ex, ey) = (q.x - p.x, q.y - p.y);
    if length > 0.0 { (ex * (y - p.y) - ey * (x - p.x)) / length } else { f64::INFINITY }
}

fn edges(p: &[Seen]) -> impl Iterator<Item = (&Seen, &Seen)> {
    p.iter().zip(p.iter().skip(1).chain(p.first()))
}

/// Place along a segment, 0 to 1 between its ends; none for one without length.
fn along(p: &[Seen], x: f64, y: f64) -> Option<f64> {
    let (ex, ey) = (p[1].x - p[0].x, p[1].y - p[0].y);
    let length2 = ex * ex + ey * ey;
    (length2 > 0.0).then(|| ((x - p[0].x) * ex + (y - p[0].y) * ey) / length2)
}

fn mix(p: &[Seen], t: f64) -> (f64, f64, f64) {
    let (a, b) = (p[0], p[1]);
    if t == 0.0 {
        return (a.x, a.y, a.z);
    }
    if t == 1.0 {
        return (b.x, b.y, b.z);
    }
    (a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t, a.z + (b.z - a.z) * t)
}

impl Clipper {
    /// Adds the points of contact along `n` of two features to `out`.
    /// `size` is that of the two shapes, to which rounding is relative.
    pub(crate) fn clip(&mut self, a: &[Spot], b: &[Spot], n: &Vec3, size: f64, out: &mut Vec<Raw>) {
        let (Some(origin), false) = (a.first().map(|s| s.p), b.is_empty()) else { return };
        let frame = Frame { origin, normal: n, tangents: tangents(n) };
        frame.see(a, &mut self.a);
        frame.see(b, &mut self.b);
        let Self { a, b, lengths_a, lengths_b } = self;
        let (a, b) = (a.as_slice(), b.as_slice());
        let slack = INSIDE * size;
        match (a.len(), b.len()) {
            (1, 1) => {
                if (b[0].x - a[0].x).hypot(b[0].y - a[0].y) <= ABOVE_CORNER * size {
                    out.push(frame.raw(a[0].x, a[0].y, a[0].z, b[0].z, name::of_a(a[0].id)));
                }
            }
            (1, 2) => corner_over_edge(&a[0], b, slack, |p, z| out.push(frame.raw(p.x, p.y, p.z, z, name::of_a(p.id)))),
            (2, 1) => corner_over_edge(&b[0], a, slack, |p, z| out.push(frame.raw(p.x, p.y, z, p.z, name::of_b(p.id)))),
            (2, 2) => edge_over_edge(&frame, a, b, slack, out),
            (1, _) => {
                let (p, b) = (a[0], Face::new(b, lengths_b));
                if b.is_inside(p.x, p.y, slack) {
                    out.push(frame.raw(p.x, p.y, p.z, b.height(p.x, p.y), name::of_a(p.id)));
                }
            }
            (_, 1) => {
                let (p, a) = (b[0], Face::new(a, lengths_a));
                if a.is_inside(p.x, p.y, slack) {
                    out.push(frame.raw(p.x, p.y, a.height(p.x, p.y), p.z, name::of_b(p.id)));
                }
            }
            (2, _) => edge_over_face(a, &Face::new(b, lengths_b), slack, |(x, y, z), other, place| {
                let feature = match place {
                    Place::End(id) => name::of_a(id),
                    Place::Crossing(edge) => name::crossing((a[0].id, a[1].id), edge),
                };
                out.push(frame.raw(x, y, z, other, feature));
            }),
            (_, 2) => edge_over_face(b, &Face::new(a, lengths_a), slack, |(x, y, z), other, place| {
                let feature = match place {
                    Place::End(id) => name::of_b(id),
                    Place::Crossing(edge) => name::crossing(edge, (b[0].id, b[1].id)),
                };
                out.push(frame.raw(x, y, other, z, feature));
            }),
            _ => face_over_face(&frame, &Face::new(a, lengths_a), &Face::new(b, lengths_b), slack, out),
        }
    }
}

fn corner_over_edge(p: &Seen, edge: &[Seen], aside: f64, mut push: impl FnMut(&Seen, f64)) {
    let Some(t) = along(edge, p.x, p.y) else { return };
    let (x, y, z) = mix(edge, t.clamp(0.0, 1.0));
    if (x - p.x).hypot(y - p.y) <= aside {
        push(p, z);
    }
}

fn edge_over_edge(frame: &Frame, a: &[Seen], b: &[Seen], slack: f64, out: &mut Vec<Raw>) {
    let (ax, ay) = (a[1].x - a[0].x, a[1].y - a[0].y);
    let (bx, by) = (b[1].x - b[0].x, b[1].y - b[0].y);
    let (la, lb) = (ax.hypot(ay), bx.hypot(by));
    let cross = ax * by - ay * bx;
    if cross.abs() > PARALLEL * la * lb {
        let (dx, dy) = (b[0].x - a[0].x, b[0].y - a[0].y);
        let (s, t) = ((dx * by - dy * bx) / cross, (dx * ay - dy * ax) / cross);
        let within = |t: f64, length: f64| t * length >= -slack && (t - 1.0) * length <= slack;
        if within(s, la) && within(t, lb) {
            let (x, y, z_a) = mix(a, s);
            let (_, _, z_b) = mix(b, t);
            out.push(frame.raw(x, y, z_a, z_b, name::crossing((a[0].id, a[1].id), (b[0].id, b[1].id))));
        }
        return;
    }
    // Parallel: ends of one within the other. Edges that count as parallel may lie beside each other by this much.
    let slack = slack + PARALLEL * la.min(lb);
    for p in a {
        corner_over_edge(p, b, slack, |p, z| out.push(frame.raw(p.x, p.y, p.z, z, name::of_a(p.id))));
    }
    for p in b {
        corner_over_edge(p, a, slack, |p, z| out.push(frame.raw(p.x, p.y, z, p.z, name::of_b(p.id))));
    }
}

/// Where a point on an edge comes from.
enum Place {
    End(u32),
    Crossing((u32, u32)),
}

fn edge_over_face(edge: &[Seen], face: &Face, slack: f64, mut push: impl FnMut((f64, f64, f64), f64, Place)) {
    let (mut low, mut high) = ((0.0, Place::End(edge[0].id)), (1.0, Place::End(edge[1].id)));
    for side in face.edges() {
        let (p, q, _) = side;
        let (d0, d1) = (left(side, edge[0].x, edge[0].y), left(side, edge[1].x, edge[1].y));
        if d0 < -slack && d1 < -slack {
            return;
        }
        if d0 < -slack {
            let t = d0 / (d0 - d1);
            if t > low.0 {
                low = (t, Place::Crossing((p.id, q.id)));
            }
        } else if d1 < -slack {
            let t = d0 / (d0 - d1);
            if t < high.0 {
                high = (t, Place::Crossing((p.id, q.id)));
            }
        }
    }
    if low.0 > high.0 {
        return;
    }
    for (t, place) in [low, high] {
        let p = mix(edge, t);
        push(p, face.height(p.0, p.1), place);
    }
}

fn face_over_face(frame: &Frame, a: &Face, b: &Face, slack: f64, out: &mut Vec<Raw>) {
    for p in a.corners.iter().filter(|p| b.is_inside(p.x, p.y, slack)) {
        out.push(frame.raw(p.x, p.y, p.z, b.height(p.x, p.y), name::of_a(p.id)));
    }
    for p in b.corners.iter().filter(|p| a.is_inside(p.x, p.y, slack)) {
        out.push(frame.raw(p.x, p.y, a.height(p.x, p.y), p.z, name::of_b(p.id)));
    }
    for (p, q, of_a) in a.edges() {
        for (r, s, of_b) in b.edges() {
            let (ax, ay, bx, by) = (q.x - p.x, q.y - p.y, s.x - r.x, s.y - r.y);
            let cross = ax * by - ay * bx;
            if cross.abs() <= PARALLEL * of_a * of_b {
                continue;
            }
            let (dx, dy) = (r.x - p.x, r.y - p.y);
            // Both crossings lie between 0 and 1 if these lie between 0 and |cross|.
            let (along_a, along_b) = (dx * by - dy * bx, dx * ay - dy * ax);
            let (whole, sign) = (cross.abs(), 1.0_f64.copysign(cross));
            if (0.0..=whole).contains(&(sign * along_a)) && (0.0..=whole).contains(&(sign * along_b)) {
                let (x, y, _) = mix(&[*p, *q], along_a / cross);
                let feature = name::crossing((p.id, q.id), (r.id, s.id));
                out.push(frame.raw(x, y, a.height(x, y), b.height(x, y), feature));
            }
        }
    }
}
