//! Fewer points with the same meaning.
//!
//! The constraint of a contact point, gap + h n·(v + ω × r) ≥ 0, is affine in the place r across the normal and in the gap. A point
//! whose place and gap are a mean of other points' (or whose gap is larger) therefore adds nothing: this is how crossings of the
//! inner edges of a mesh, and corners that two shapes share, leave the list. What stays spans the support.

use super::manifold::tangents;
use crate::spatial::Vec3;
use std::cmp::Ordering;

/// A contact of one pair of shapes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub on_a: Vec3,
    pub on_b: Vec3,
    pub normal: Vec3,
    pub gap: f64,
    /// Part of the step after which the pieces are expected to touch, where they were looked at then; zero where they were at the start.
    pub time: f64,
    pub feature: u64,
    pub is_reliable: bool,
}

/// Most points of one normal that are kept; the support of a finer polygon shrinks by at most 1 − cos(π/16) = 2 %.
pub(crate) const MAX_POINTS: usize = 16;
/// Relative to the size of the shapes: points closer than this are one.
const SAME_PLACE: f64 = 1e-9;
/// Sine of the angle within which normals are one.
const SAME_NORMAL: f64 = 1e-9;

/// Cosine and sine of an angle that no side of anything has, so that points of one side have an order along the axis of the sweep
/// that rounding cannot turn round.
const AXIS: [f64; 2] = [0.825_335_614_909_678_3, 0.564_642_473_395_035_4];

/// Scratch.
#[derive(Default)]
pub(crate) struct Reducer {
    group: Vec<usize>,
    seen: Vec<[f64; 2]>,
    hull: Vec<usize>,
    is_kept: Vec<bool>,
    is_done: Vec<bool>,
    is_a_still: bool,
}

fn is_same_normal(a: &Vec3, b: &Vec3) -> bool {
    a == b || a.dot(b) > 0.0 && a.cross(b).norm_squared() <= SAME_NORMAL * SAME_NORMAL
}

impl Reducer {
    /// Reduces the contacts of one pair of shapes, in `found[from..]`, and sorts them by feature. Places are those on b where a stands
    /// still, for a fast b is caught where it will be.
    pub(crate) fn reduce(&mut self, found: &mut Vec<Found>, from: usize, size: f64, is_a_still: bool) {
        self.is_a_still = is_a_still;
        // By feature, then by anything that tells them apart: a stable sort would ask for memory.
        let tie = |f: &Found| [f.normal.x, f.normal.y, f.normal.z, f.on_b.x, f.on_b.y, f.on_b.z];
        found[from..].sort_unstable_by(|f, g| {
            f.feature.cmp(&g.feature).then_with(|| {
                let ties = tie(f).into_iter().zip(tie(g)).map(|(x, y)| x.total_cmp(&y));
                ties.fold(Ordering::Equal, Ordering::then)
            })
        });
        self.remove_doubles(found, from, size);
        let n = found.len() - from;
        if n < 3 {
            return;
        }
        self.is_kept.clear();
        self.is_kept.resize(n, false);
        self.is_done.clear();
        self.is_done.resize(n, false);
        for first in 0..n {
            if self.is_done[first] {
                continue;
            }
            let normal = found[from + first].normal;
            self.group.clear();
            for i in first..n {
                if !self.is_done[i] && is_same_normal(&normal, &found[from + i].normal) {
                    self.is_done[i] = true;
                    self.group.push(i);
                }
            }
            self.keep_hull(&found[from..], &normal, size);
        }
        let mut i = 0;
        let is_kept = &self.is_kept;
        let mut index = 0;
        found.retain(|_| {
            let keep = index < from || is_kept[i];
            if index >= from {
                i += 1;
            }
            index += 1;
            keep
        });
    }

    fn place(&self, found: &Found) -> Vec3 {
        if self.is_a_still { found.on_b } else { found.on_a }
    }

    fn remove_doubles(&mut self, found: &mut Vec<Found>, from: usize, size: f64) {
        let mut end = from;
        let slack = SAME_PLACE * size;
        for i in from..found.len() {
            let f = found[i];
            let is_double = |g: &Found| {
                (self.place(&f) - self.place(g)).norm_squared() <= slack * slack
                    && (f.gap - g.gap).abs() <= slack
                    && is_same_normal(&f.normal, &g.normal)
            };
            match found[from..end].iter().position(is_double) {
                // The first name, the smaller gap.
                Some(k) if f.gap < found[from + k].gap => {
                    found[from + k] = Found { feature: found[from + k].feature, ..f }
                }
                Some(_) => {}
                None => {
                    found[end] = f;
                    end += 1;
                }
            }
        }
        found.truncate(end);
    }

    /// Marks the points of the group that others do not imply.
    fn keep_hull(&mut self, found: &[Found], normal: &Vec3, size: f64) {
        if self.group.len() < 3 {
            self.group.iter().for_each(|&i| self.is_kept[i] = true);
            return;
        }
        let t = tangents(normal);
        let origin = self.place(&found[self.group[0]]);
        self.seen.clear();
        self.seen.resize(found.len(), [0.0; 2]);
        for &i in &self.group {
            let d = self.place(&found[i]) - origin;
            let (x, y) = (d.dot(&t[0]), d.dot(&t[1]));
            self.seen[i] = [AXIS[0] * x + AXIS[1] * y, AXIS[0] * y - AXIS[1] * x];
        }
        let seen = &self.seen;
        let slack = SAME_PLACE * size;
        // Whether r adds nothing to a hull that goes from p to q: it lies to the left but for rounding.
        let is_idle = |p: usize, q: usize, r: usize| {
            let [e, d] = [q, r].map(|k| [seen[k][0] - seen[p][0], seen[k][1] - seen[p][1]]);
            e[0] * d[1] - e[1] * d[0] >= -slack * (e[0] * e[0] + e[1] * e[1]).sqrt()
        };
        self.group.sort_unstable_by(|&i, &j| {
            seen[i][0].total_cmp(&seen[j][0]).then(seen[i][1].total_cmp(&seen[j][1])).then(i.cmp(&j))
        });
        self.hull.clear();
        for pass in 0..2 {
            let bottom = self.hull.len();
            for k in 0..self.group.len() {
                let i = self.group[if pass == 0 { k } else { self.group.len() - 1 - k }];
                while self.hull.len() >= bottom + 2
                    && is_idle(self.hull[self.hull.len() - 2], i, self.hull[self.hull.len() - 1])
                {
                    self.hull.pop();
                }
                self.hull.push(i);
            }
            self.hull.pop();
        }
        // The chain starts at an extreme point, which may still lie on an edge.
        let mut k = 0;
        while self.hull.len() > 2 && k < self.hull.len() {
            let n = self.hull.len();
            if is_idle(self.hull[(k + n - 1) % n], self.hull[(k + 1) % n], self.hull[k]) {
                self.hull.remove(k);
            } else {
                k += 1;
            }
        }
        self.thin();
        for &i in &self.hull {
            self.is_kept[i] = true;
        }
        for &i in &self.group {
            if !self.is_kept[i] && !self.is_implied(found, i, slack) {
                self.is_kept[i] = true;
            }
        }
    }

    /// Whether a point inside the hull has at least the gap that the hull's points imply there.
    fn is_implied(&self, found: &[Found], i: usize, slack: f64) -> bool {
        let [x, y] = self.seen[i];
        let place = |k: usize| self.seen[self.hull[k]];
        let gap = |k: usize| found[self.hull[k]].gap;
        let last = self.hull.len() - 1;
        if last == 0 {
            return found[i].gap >= gap(0) - slack;
        }
        let mut best: Option<(f64, f64)> = None;
        for k in 1..last.max(2) {
            let (p, q, r) = (place(0), place(k.min(last)), place((k + 1).min(last)));
            let cross =
                |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            let whole = cross(p, q, r);
            let (wp, wq, wr) = if whole.abs() > 0.0 {
                let at = [x, y];
                (cross(at, q, r) / whole, cross(at, r, p) / whole, cross(at, p, q) / whole)
            } else {
                let e = [q[0] - p[0], q[1] - p[1]];
                let t = ((x - p[0]) * e[0] + (y - p[1]) * e[1]) / (e[0] * e[0] + e[1] * e[1]);
                (1.0 - t, t, 0.0)
            };
            let outside = -wp.min(wq).min(wr);
            let value = wp * gap(0) + wq * gap(k.min(last)) + wr * gap((k + 1).min(last));
            if best.is_none_or(|b| outside < b.0) {
                best = Some((outside, value));
            }
        }
        best.is_none_or(|(_, value)| found[i].gap >= value - slack)
    }

    /// Keeps at most [`MAX_POINTS`] corners of the hull: the farthest in as many directions.
    fn thin(&mut self) {
        if self.hull.len() <= MAX_POINTS {
            return;
        }
        let mut chosen = [usize::MAX; MAX_POINTS];
        for (k, slot) in chosen.iter_mut().enumerate() {
            let (s, c) = (std::f64::consts::TAU * k as f64 / MAX_POINTS as f64).sin_cos();
            let height = |i: usize| self.seen[i][0] * c + self.seen[i][1] * s;
            let mut best = self.hull[0];
            for &i in &self.hull {
                if height(i) > height(best) {
                    best = i;
                }
            }
            *slot = best;
        }
        self.hull.retain(|i| chosen.contains(i));
    }
}
