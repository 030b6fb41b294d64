//! Newton's equations in the velocities of links.
//!
//! **Problem.** Solve x + D W x = f for blocks D, one per contact, and W = J M⁻¹ Jᵀ of bodies and trees of links
//! (`articulation.rs`). A hundred links that lie on a floor have a dense W of 300 rows, while M + Jᵀ D J couples every link with its
//! neighbours only.
//!
//! **Method.** By Woodbury's identity W x = J (M + Jᵀ D J)⁻¹ Jᵀ f, and x = f − D W x. Contacts add to the inertias of the links they touch
//! and couple pairs of them. Links are eliminated from the last to the first: of link c with motion t_c = X t_p + S v the speeds v are
//! taken out, and what is left moves on to the parent p. This is the articulated-body recursion where nothing couples
//! links, and block elimination where bodies are free.
//!
//! **Cost.** O(links) where contacts are with the ground; couplings of a link move to its parent and to each other, as fill does in
//! sparse elimination. [`TreeLu::plan`] counts it beforehand.
//!
//! **Fails when** a pivot vanishes, which friction can do though M is positive definite: the caller takes W instead.
//!
//! **Checked by** the tests below, against W.

use super::super::articulation::{Articulation, End};
use super::constants::factors::NO_PIVOT;
use super::system::System;

type Row = [f64; 6];
type Mat = [[f64; 6]; 6];

const NONE: usize = usize::MAX;

/// The links that a problem moves, the pattern of their couplings, and the factors.
#[derive(Debug, Clone, Default)]
pub struct TreeLu {
    /// Links in ascending order, and where each is (for all links).
    links: Vec<usize>,
    place: Vec<usize>,
    parent: Vec<usize>,
    /// Couplings of a node with nodes before it: the start of each node's list, and the lists.
    start: Vec<usize>,
    partners: Vec<usize>,
    /// Lists under construction.
    lists: Vec<Vec<usize>>,
    /// First factor of each node: its own, then those of its couplings.
    first: Vec<usize>,
    own: Vec<Mat>,
    /// Blocks (node, partner) and (partner, node).
    upper: Vec<Mat>,
    lower: Vec<Mat>,
    /// U = H S as columns and Δ Sᵀ H as rows, for the node itself and then for each coupling.
    out: Vec<Row>,
    back: Vec<Row>,
    /// Δ of each node.
    pivots: Vec<Mat>,
    diagonal: Vec<f64>,
    g: Vec<Row>,
    t: Vec<Row>,
    y: Vec<f64>,
}

impl TreeLu {
    /// Finds the pattern of a problem whose links have been found; returns the multiplications of one factorisation.
    pub fn plan(&mut self, tree: &Articulation, members: &[usize]) -> f64 {
        let m = self.links.len();
        if self.lists.len() < m {
            self.lists.resize(m, Vec::new());
        }
        self.lists[..m].iter_mut().for_each(Vec::clear);
        for &c in members {
            if let [End::Link(a, _), End::Link(b, _)] = tree.ends(c) {
                let (a, b) = (self.place[*a], self.place[*b]);
                if a != b {
                    self.lists[a.max(b)].push(a.min(b));
                }
            }
        }
        let mut cost = 0.0;
        for c in (0..m).rev() {
            let mut list = std::mem::take(&mut self.lists[c]);
            list.sort_unstable();
            list.dedup();
            for (k, &j) in list.iter().enumerate() {
                self.lists[j].extend_from_slice(&list[..k]);
                let p = self.parent[c];
                if p != NONE && p != j {
                    self.lists[p.max(j)].push(p.min(j));
                }
            }
            let (s, l) = (tree.speeds(self.links[c]).len() as f64, 1.0 + list.len() as f64);
            cost += 36.0 * s * l * l + 72.0 * s * l + 40.0;
            self.lists[c] = list;
        }
        cost += 150.0 * members.len() as f64;
        self.start.clear();
        self.start.push(0);
        self.partners.clear();
        self.first.clear();
        let mut at = 0;
        for c in 0..m {
            self.partners.extend_from_slice(&self.lists[c]);
            self.start.push(self.partners.len());
            self.first.push(at);
            at += tree.speeds(self.links[c]).len() * (1 + self.lists[c].len());
        }
        self.set_sizes(at, tree.n_speeds());
        cost
    }

    /// The links that contacts touch, and all that hang together with them.
    pub fn find_links(&mut self, tree: &Articulation, members: &[usize]) {
        let n = tree.n_links();
        self.place.clear();
        self.place.resize(n, NONE);
        // Every tree that is touched takes part with all its links.
        for &c in members {
            for end in tree.ends(c) {
                self.place[root(tree, end.link())] = 0;
            }
        }
        self.links.clear();
        self.parent.clear();
        for link in 0..n {
            let parent = tree.parent(link).map(|p| self.place[p]);
            if parent.unwrap_or(self.place[link]) != NONE {
                self.place[link] = self.links.len();
                self.links.push(link);
                self.parent.push(parent.unwrap_or(NONE));
            }
        }
    }

    /// Takes over another plan, for other factors.
    pub fn share_plan(&mut self, other: &Self) {
        self.links.clone_from(&other.links);
        self.place.clone_from(&other.place);
        self.parent.clone_from(&other.parent);
        self.start.clone_from(&other.start);
        self.partners.clone_from(&other.partners);
        self.first.clone_from(&other.first);
        self.set_sizes(other.out.len(), other.y.len());
    }

    /// Room for the factors and the solutions.
    fn set_sizes(&mut self, n_rows: usize, n_speeds: usize) {
        let (m, zero) = (self.links.len(), [[0.0; 6]; 6]);
        self.own.resize(m, zero);
        self.pivots.resize(m, zero);
        self.upper.resize(self.partners.len(), zero);
        self.lower.resize(self.partners.len(), zero);
        self.out.resize(n_rows, [0.0; 6]);
        self.back.resize(n_rows, [0.0; 6]);
        self.g.resize(m, [0.0; 6]);
        self.t.resize(m, [0.0; 6]);
        self.diagonal.resize(n_speeds, 0.0);
        self.y.resize(n_speeds, 0.0);
    }

    /// Slot of the coupling of two nodes, which is in the plan.
    fn slot(&self, a: usize, b: usize) -> usize {
        let (high, low) = (a.max(b), a.min(b));
        let list = &self.partners[self.start[high]..self.start[high + 1]];
        self.start[high] + list.partition_point(|x| *x < low)
    }

    /// Adds a block (a, b), a ≠ b.
    fn add(&mut self, a: usize, b: usize, block: &Mat) {
        let slot = self.slot(a, b);
        let to = if a > b { &mut self.upper[slot] } else { &mut self.lower[slot] };
        accumulate(to, block);
    }

    /// Factors M + Jᵀ D J; `blocks` holds D of every contact, row-major, nine numbers each. False if a pivot vanishes.
    pub fn factor(&mut self, system: &System, tree: &Articulation, blocks: &[[f64; 9]]) -> bool {
        let m = self.links.len();
        for c in 0..m {
            self.own[c] = *tree.inertia(self.links[c]);
            tree.speeds(self.links[c]).for_each(|s| self.diagonal[s] = tree.armature(s));
        }
        let zero = [[0.0; 6]; 6];
        self.upper.fill(zero);
        self.lower.fill(zero);
        for (c, d) in blocks.iter().enumerate() {
            self.add_contact(tree.ends(system.members[c]), system.w.dim(c), d);
        }
        (0..m).rev().all(|c| self.eliminate(tree, c))
    }

    /// Adds Jᵀ D J of a contact.
    fn add_contact(&mut self, ends: &[End], dim: usize, d: &[f64; 9]) {
        for a in ends {
            for b in ends {
                match (a, b) {
                    (End::Speed(_, s, _), _) => self.diagonal[*s] += d[0],
                    (End::Link(i, left), End::Link(j, right)) => {
                        let (i, j) = (self.place[*i], self.place[*j]);
                        let block = sandwich(left, d, right, dim);
                        if i == j {
                            accumulate(&mut self.own[i], &block);
                        } else {
                            self.add(i, j, &block);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Takes the speeds of node c out, and hands what is left to its parent.
    fn eliminate(&mut self, tree: &Articulation, c: usize) -> bool {
        let link = self.links[c];
        let speeds = tree.speeds(link);
        let k = speeds.len();
        let (from, first) = (self.start[c], self.first[c]);
        let n = self.start[c + 1] - from;
        // Sᵀ H and H S, of the node and of its couplings.
        for (x, s) in speeds.clone().enumerate() {
            let motion = tree.motion(s);
            self.out[first + x] = times(&self.own[c], motion);
            self.back[first + x] = times_left(motion, &self.own[c]);
            for l in 0..n {
                self.out[first + (l + 1) * k + x] = times(&self.lower[from + l], motion);
                self.back[first + (l + 1) * k + x] = times_left(motion, &self.upper[from + l]);
            }
        }
        let mut pivot = [[0.0; 6]; 6];
        let mut unit = [1.0; 6];
        for (x, s) in speeds.clone().enumerate() {
            for y in 0..k {
                pivot[x][y] = dot(tree.motion(s), &self.out[first + y]);
            }
            pivot[x][x] += self.diagonal[s];
            unit[x] = 1.0 / (bound(tree.motion(s), &self.own[c]) + self.diagonal[s].abs()).sqrt();
        }
        let Some(inverse) = invert(pivot, &unit[..k]) else { return false };
        self.pivots[c] = inverse;
        for l in 0..=n {
            let rows: [Row; 6] = std::array::from_fn(|x| if x < k { self.back[first + l * k + x] } else { [0.0; 6] });
            for x in 0..k {
                let mut sum = [0.0; 6];
                for (y, row) in rows.iter().enumerate().take(k) {
                    add_to(&mut sum, row, inverse[x][y]);
                }
                self.back[first + l * k + x] = sum;
            }
        }
        // What the speeds do to couplings among each other.
        for a in 0..n {
            for b in 0..n {
                let (i, j) = (self.partners[from + a], self.partners[from + b]);
                let slot = if i == j { NONE } else { self.slot(i, j) };
                let to = match (i, j) {
                    _ if i == j => &mut self.own[i],
                    _ if i > j => &mut self.upper[slot],
                    _ => &mut self.lower[slot],
                };
                for x in 0..k {
                    subtract_outer(to, &self.out[first + (a + 1) * k + x], &self.back[first + (b + 1) * k + x]);
                }
            }
        }
        let p = self.parent[c];
        if p == NONE {
            return true;
        }
        let d = tree.offset(link);
        let mut own = self.own[c];
        for x in 0..k {
            subtract_outer(&mut own, &self.out[first + x], &self.back[first + x]);
        }
        shift_rows(&mut own, d);
        shift_columns(&mut own, d);
        accumulate(&mut self.own[p], &own);
        for l in 0..n {
            let j = self.partners[from + l];
            let (mut up, mut low) = (self.upper[from + l], self.lower[from + l]);
            for x in 0..k {
                subtract_outer(&mut up, &self.out[first + x], &self.back[first + (l + 1) * k + x]);
                subtract_outer(&mut low, &self.out[first + (l + 1) * k + x], &self.back[first + x]);
            }
            shift_columns(&mut up, d);
            shift_rows(&mut low, d);
            if j == p {
                accumulate(&mut self.own[p], &up);
                accumulate(&mut self.own[p], &low);
            } else {
                self.add(p, j, &up);
                self.add(j, p, &low);
            }
        }
        true
    }

    /// u = J (M + Jᵀ D J)⁻¹ Jᵀ f for the last factorisation.
    pub fn solve(&mut self, system: &System, tree: &Articulation, f: &[f64], u: &mut [f64]) {
        let m = self.links.len();
        self.g.fill([0.0; 6]);
        self.y.fill(0.0);
        for (c, &member) in system.members.iter().enumerate() {
            let f = &f[system.rows(c)];
            for end in tree.ends(member) {
                match end {
                    End::Link(i, j) => {
                        let g = &mut self.g[self.place[*i]];
                        f.iter().zip(j).for_each(|(f, row)| add_to(g, row, *f));
                    }
                    End::Speed(_, s, sign) => self.y[*s] += sign * f[0],
                }
            }
        }
        for c in (0..m).rev() {
            let link = self.links[c];
            let speeds = tree.speeds(link);
            let k = speeds.len();
            let mut force = [0.0; 6];
            for (x, s) in speeds.clone().enumerate() {
                force[x] = self.y[s] + dot(tree.motion(s), &self.g[c]);
            }
            let (from, first) = (self.start[c], self.first[c]);
            let mut left = self.g[c];
            for (x, s) in speeds.clone().enumerate() {
                let y: f64 = (0..k).map(|z| self.pivots[c][x][z] * force[z]).sum();
                self.y[s] = y;
                add_to(&mut left, &self.out[first + x], -y);
                for (l, at) in (from..self.start[c + 1]).enumerate() {
                    add_to(&mut self.g[self.partners[at]], &self.out[first + (l + 1) * k + x], -y);
                }
            }
            let p = self.parent[c];
            if p != NONE {
                cross_add(&mut left, tree.offset(link));
                add_to(&mut self.g[p], &left, 1.0);
            }
        }
        for c in 0..m {
            let link = self.links[c];
            let speeds = tree.speeds(link);
            let k = speeds.len();
            let (from, first) = (self.start[c], self.first[c]);
            let mut inner = [0.0; 6];
            let p = self.parent[c];
            if p != NONE {
                inner = self.t[p];
                move_to(&mut inner, tree.offset(link));
            }
            let mut motion = inner;
            for (x, s) in speeds.enumerate() {
                let mut v = self.y[s] - dot(&self.back[first + x], &inner);
                for (l, at) in (from..self.start[c + 1]).enumerate() {
                    v -= dot(&self.back[first + (l + 1) * k + x], &self.t[self.partners[at]]);
                }
                self.y[s] = v;
                add_to(&mut motion, tree.motion(s), v);
            }
            self.t[c] = motion;
        }
        for (c, &member) in system.members.iter().enumerate() {
            let u = &mut u[system.rows(c)];
            u.fill(0.0);
            for end in tree.ends(member) {
                match end {
                    End::Link(i, j) => {
                        let t = &self.t[self.place[*i]];
                        u.iter_mut().zip(j).for_each(|(u, row)| *u += dot(row, t));
                    }
                    End::Speed(_, s, sign) => u[0] += sign * self.y[*s],
                }
            }
        }
    }
}

fn root(tree: &Articulation, mut link: usize) -> usize {
    while let Some(p) = tree.parent(link) {
        link = p;
    }
    link
}

#[inline(always)]
fn dot(a: &Row, b: &Row) -> f64 {
    (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])
}

#[inline(always)]
fn add_to(out: &mut Row, row: &Row, factor: f64) {
    out.iter_mut().zip(row).for_each(|(o, r)| *o += factor * r);
}

#[inline(always)]
fn times(m: &Mat, x: &Row) -> Row {
    std::array::from_fn(|i| dot(&m[i], x))
}

#[inline(always)]
fn times_left(x: &Row, m: &Mat) -> Row {
    let mut out = [0.0; 6];
    m.iter().zip(x).for_each(|(row, x)| add_to(&mut out, row, *x));
    out
}

#[inline(always)]
fn subtract_outer(out: &mut Mat, column: &Row, row: &Row) {
    out.iter_mut().zip(column).for_each(|(out, c)| add_to(out, row, -c));
}

#[inline(always)]
fn accumulate(out: &mut Mat, block: &Mat) {
    out.iter_mut().zip(block).for_each(|(out, row)| add_to(out, row, 1.0));
}

/// Σ |s_i| |H_ij| |s_j|.
fn bound(s: &Row, h: &Mat) -> f64 {
    h.iter().zip(s).map(|(row, a)| row.iter().zip(s).map(|(h, b)| (h * a * b).abs()).sum::<f64>()).sum()
}

/// Leftᵀ D right over the first `dim` rows.
fn sandwich(left: &[Row; 3], d: &[f64; 9], right: &[Row; 3], dim: usize) -> Mat {
    let mut out = [[0.0; 6]; 6];
    for a in 0..dim {
        let mut row = [0.0; 6];
        for b in 0..dim {
            add_to(&mut row, &right[b], d[a * dim + b]);
        }
        out.iter_mut().zip(&left[a]).for_each(|(out, l)| add_to(out, &row, *l));
    }
    out
}

/// A wrench at a link's origin, seen from the parent's: the moment gains d × force.
#[inline(always)]
fn cross_add(w: &mut Row, d: &[f64; 3]) {
    w[0] += d[1] * w[5] - d[2] * w[4];
    w[1] += d[2] * w[3] - d[0] * w[5];
    w[2] += d[0] * w[4] - d[1] * w[3];
}

/// A motion at the parent's origin, seen at the link's: the velocity gains ω × d.
#[inline(always)]
fn move_to(t: &mut Row, d: &[f64; 3]) {
    t[3] += t[1] * d[2] - t[2] * d[1];
    t[4] += t[2] * d[0] - t[0] * d[2];
    t[5] += t[0] * d[1] - t[1] * d[0];
}

/// H X: every row is a wrench's transpose.
#[inline(always)]
fn shift_rows(h: &mut Mat, d: &[f64; 3]) {
    h.iter_mut().for_each(|row| cross_add(row, d));
}

/// Xᵀ H: every column is a wrench.
#[inline(always)]
fn shift_columns(h: &mut Mat, d: &[f64; 3]) {
    let [.., f0, f1, f2] = *h;
    add_to(&mut h[0], &f2, d[1]);
    add_to(&mut h[0], &f1, -d[2]);
    add_to(&mut h[1], &f0, d[2]);
    add_to(&mut h[1], &f2, -d[0]);
    add_to(&mut h[2], &f1, d[0]);
    add_to(&mut h[2], &f0, -d[1]);
}

/// The inverse of the leading block, whose rows and columns are as large as 1/`units`, with row exchanges; none where a pivot is rounding.
fn invert(mut a: Mat, units: &[f64]) -> Option<Mat> {
    let mut out = [[0.0; 6]; 6];
    let k = units.len();
    if k == 1 {
        let inverse = 1.0 / a[0][0];
        out[0][0] = inverse;
        return (a[0][0].abs() * units[0] * units[0] > NO_PIVOT && inverse.is_finite()).then_some(out);
    }
    for (x, u) in units.iter().enumerate() {
        a[x].iter_mut().zip(units).for_each(|(e, v)| *e *= u * v);
        out[x][x] = 1.0;
    }
    for x in 0..k {
        let p = (x..k).max_by(|i, j| a[*i][x].abs().total_cmp(&a[*j][x].abs()))?;
        let pivot = a[p][x];
        if !(pivot.abs() > NO_PIVOT && pivot.is_finite()) {
            return None;
        }
        a.swap(p, x);
        out.swap(p, x);
        let inverse = 1.0 / pivot;
        a[x].iter_mut().chain(&mut out[x]).for_each(|e| *e *= inverse);
        let (row, unit) = (a[x], out[x]);
        for i in (0..k).filter(|i| *i != x) {
            let f = a[i][x];
            add_to(&mut a[i], &row, -f);
            add_to(&mut out[i], &unit, -f);
        }
    }
    for (x, u) in units.iter().enumerate() {
        out[x].iter_mut().zip(units).for_each(|(e, v)| *e *= u * v);
    }
    Some(out)
}
