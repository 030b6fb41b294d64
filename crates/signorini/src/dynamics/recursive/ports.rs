//! Contact ports: what impulses at points and joints do to a mechanism, and to each other.
//!
//! **Problem.** For rows Wᵀ (directions at points of links, or speeds of joints) find the Delassus matrix G = W M⁻¹ Wᵀ with loops
//! kept closed, and for impulses r the change of speeds M⁻¹ Wᵀ r.
//!
//! **Method.** As for loops (`dynamics/recursive/loops.rs`): the inward sweep of a row's wrench gives its column of Y = N⁻ᵀ Wᵀ, and
//! G = Yᵀ Y. A column has entries on the way from its links to the ground only, so columns of different mechanisms do
//! not meet. Loops take from every column its part in the range of their own columns, by the factorisation that is there
//! already. The outward sweep of Y r gives the speeds.
//!
//! **Cost.** O(depth) per row for Y and per pair of rows that share a mechanism for G; O(n · rank) per row where there are loops.
//! The size of G does not depend on the number of joints.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/contact_motion.rs`, against `dense`.

use super::loops::{Loops, power_of_two};
use super::{Recursion, Tree};
use crate::spatial::{Twist, Wrench};

/// Most rows of one port.
pub const MAX_ROWS: usize = 6;

/// What a port touches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Touch {
    /// Two links (none for the ground): rows are wrenches on the second at a world point, and opposite on the first.
    Links(Option<usize>, Option<usize>),
    /// One speed of the tree.
    Speed(usize),
}

/// A set of ports at one configuration, in storage that is reused.
#[derive(Debug, Clone, Default)]
pub struct Ports {
    touches: Vec<Touch>,
    /// First row of each port, and the number of rows.
    offsets: Vec<usize>,
    /// Start of each port's path, and its end.
    path_start: Vec<usize>,
    /// Speeds on the paths.
    path: Vec<u32>,
    /// Start of each port's values, and their end: all rows of a port for one speed of its path, then the next speed.
    value_start: Vec<usize>,
    values: Vec<f64>,
    /// Roots of the mechanisms that a port touches; the same twice where it is one.
    roots: Vec<[u32; 2]>,
    root_of: Vec<u32>,
    mass_unit: f64,
    scatter: Vec<f64>,
    response: Vec<Twist>,
    has_loops: bool,
}

/// No mechanism: the ground.
const GROUND: u32 = u32::MAX;

impl Ports {
    /// For a tree.
    pub fn new(tree: &Tree, n_extra: usize) -> Self {
        let mut root_of = vec![0_u32; tree.links.len()];
        for (i, link) in tree.links.iter().enumerate() {
            root_of[i] = link.parent_index().map_or(i as u32, |p| root_of[p]);
        }
        let mass: f64 = tree.links.iter().map(|l| l.inertia.mass).sum();
        Self {
            root_of,
            mass_unit: power_of_two(mass),
            scatter: vec![0.0; (tree.n_v + n_extra) * MAX_ROWS],
            response: vec![Twist::default(); tree.links.len()],
            ..Self::default()
        }
    }

    /// Forgets all ports.
    pub fn clear(&mut self) {
        self.touches.clear();
        self.offsets.clear();
        self.offsets.push(0);
        self.path.clear();
        self.values.clear();
        self.path_start.clear();
        self.path_start.push(0);
        self.value_start.clear();
        self.value_start.push(0);
        self.roots.clear();
        self.has_loops = false;
    }

    /// Number of ports.
    pub fn len(&self) -> usize {
        self.touches.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.touches.is_empty()
    }

    /// First row of each port, and the number of rows.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Adds a port between two links; `rows` are wrenches on link `b` (and opposite on `a`), each at its link's origin.
    pub fn push_links(
        &mut self,
        tree: &Tree,
        recursion: &Recursion,
        a: Option<(usize, &[Wrench])>,
        b: Option<(usize, &[Wrench])>,
    ) {
        let n = a.or(b).map_or(0, |(_, rows)| rows.len());
        let root = |end: Option<(usize, &[Wrench])>| end.map_or(GROUND, |(link, _)| self.root_of[link]);
        let roots = [root(a), root(b)];
        self.touches.push(Touch::Links(a.map(|(l, _)| l), b.map(|(l, _)| l)));
        match n {
            1 => self.sweep_from::<1>(tree, recursion, a, b, n),
            3 => self.sweep_from::<3>(tree, recursion, a, b, n),
            _ => self.sweep_from::<MAX_ROWS>(tree, recursion, a, b, n),
        }
        self.end_port(n, roots);
    }

    /// Adds a port on one speed of the tree, forwards or (`sign` −1) backwards.
    pub fn push_speed(&mut self, tree: &Tree, recursion: &Recursion, link: usize, speed: usize, sign: f64) {
        self.touches.push(Touch::Speed(speed));
        let mut w = Wrench::default();
        for v in tree.links[link].v_range() {
            let pivot = &recursion.pivots[v];
            if v < speed || pivot.inverse == 0.0 {
                continue;
            }
            let s = recursion.kinematics.unit_motion(link, &tree.links[link], v);
            let force = if v == speed { sign } else { 0.0 } + s.dot(&w);
            self.path.push(v as u32);
            self.values.push(force * (pivot.inverse * self.mass_unit).sqrt());
            w = w - pivot.across * (force * pivot.inverse);
        }
        let offset = &recursion.kinematics.links[link].offset;
        let inner = tree.links[link].parent_index();
        self.sweep(tree, recursion, [inner, None], &mut [[w.shifted(offset)], [Wrench::default()]], 1);
        let root = self.root_of[link];
        self.end_port(1, [root, root]);
    }

    fn end_port(&mut self, n: usize, roots: [u32; 2]) {
        self.offsets.push(self.offsets.last().copied().unwrap_or(0) + n);
        self.path_start.push(self.path.len());
        self.value_start.push(self.values.len());
        let [a, b] = roots;
        self.roots.push(if a == GROUND {
            [b, b]
        } else if b == GROUND {
            [a, a]
        } else {
            roots
        });
    }

    /// Inward sweep of a port between two links.
    fn sweep_from<const N: usize>(
        &mut self,
        tree: &Tree,
        recursion: &Recursion,
        a: Option<(usize, &[Wrench])>,
        b: Option<(usize, &[Wrench])>,
        n: usize,
    ) {
        let mut w = [[Wrench::default(); N]; 2];
        for ((end, sign), w) in [(a, -1.0), (b, 1.0)].into_iter().zip(&mut w) {
            if let Some((_, rows)) = end {
                w.iter_mut().zip(rows).for_each(|(w, r)| *w = *r * sign);
            }
        }
        self.sweep(tree, recursion, [a.map(|(l, _)| l), b.map(|(l, _)| l)], &mut w, n);
    }

    /// Inward sweep of `n` wrenches from one or two links.
    fn sweep<const N: usize>(
        &mut self,
        tree: &Tree,
        recursion: &Recursion,
        mut at: [Option<usize>; 2],
        w: &mut [[Wrench; N]; 2],
        n: usize,
    ) {
        loop {
            // The higher-numbered link cannot be an ancestor of the other, so its wrench is complete.
            let (k, i) = match at {
                [None, None] => return,
                [Some(i), None] => (0, i),
                [None, Some(j)] => (1, j),
                [Some(i), Some(j)] if i == j => {
                    let [a, b] = &mut *w;
                    a.iter_mut().zip(b).for_each(|(a, b)| *a += *b);
                    at[1] = None;
                    (0, i)
                }
                [Some(i), Some(j)] => {
                    if i > j {
                        (0, i)
                    } else {
                        (1, j)
                    }
                }
            };
            at[k] = self.pass(tree, recursion, i, &mut w[k], n);
        }
    }

    /// Takes wrenches through one link, on to its parent.
    #[inline]
    fn pass<const N: usize>(
        &mut self,
        tree: &Tree,
        recursion: &Recursion,
        i: usize,
        w: &mut [Wrench; N],
        n: usize,
    ) -> Option<usize> {
        let link = &tree.links[i];
        for v in link.v_range() {
            let pivot = &recursion.pivots[v];
            if pivot.inverse == 0.0 {
                continue;
            }
            let s = recursion.kinematics.unit_motion(i, link, v);
            let root = (pivot.inverse * self.mass_unit).sqrt();
            self.path.push(v as u32);
            let mut values = [0.0; N];
            for (w, value) in w.iter_mut().zip(&mut values) {
                let force = s.dot(w);
                *value = force * root;
                *w = *w - pivot.across * (force * pivot.inverse);
            }
            // All but ports of other sizes have as many rows as there is room for.
            self.values.extend_from_slice(&values[..if N == MAX_ROWS { n } else { N }]);
        }
        let offset = &recursion.kinematics.links[i].offset;
        let parent = link.parent_index()?;
        w.iter_mut().for_each(|w| *w = w.shifted(offset));
        Some(parent)
    }

    /// Takes from every column what loops do not allow; columns become full.
    pub fn project_out(&mut self, loops: &Loops) {
        let n_full = loops.n_unknowns();
        let n_ports = self.len();
        let (mut path, mut values) = (Vec::with_capacity(n_ports * n_full), Vec::new());
        let (mut path_start, mut value_start) = (vec![0], vec![0]);
        let mut column = vec![0.0; n_full];
        for p in 0..n_ports {
            let n = self.offsets[p + 1] - self.offsets[p];
            let start = values.len();
            values.resize(start + n_full * n, 0.0);
            for k in 0..n {
                column.fill(0.0);
                for (x, &v) in self.path[self.path_start[p]..self.path_start[p + 1]].iter().enumerate() {
                    column[v as usize] = self.values[self.value_start[p] + x * n + k];
                }
                loops.project_out(&mut column);
                for (x, y) in column.iter().enumerate() {
                    values[start + x * n + k] = *y;
                }
            }
            path.extend(0..n_full as u32);
            path_start.push(path.len());
            value_start.push(values.len());
            // A loop may go through the ground and tie mechanisms together.
            self.roots[p] = [0, 0];
        }
        (self.path, self.values, self.path_start, self.value_start) = (path, values, path_start, value_start);
        self.has_loops = true;
    }

    /// Number of rows of a port.
    pub fn n_rows(&self, p: usize) -> usize {
        self.offsets[p + 1] - self.offsets[p]
    }

    /// Mechanisms that a port touches, by their first links; the same twice where it is one. Only ports that have one in common
    /// have a block of G.
    pub fn roots(&self, p: usize) -> [usize; 2] {
        self.roots[p].map(|root| root as usize)
    }

    /// Prepares a row of blocks of G: those of port `p` with others.
    pub fn open(&mut self, p: usize) {
        let n = self.offsets[p + 1] - self.offsets[p];
        for (x, &v) in self.path[self.path_start[p]..self.path_start[p + 1]].iter().enumerate() {
            let from = self.value_start[p] + x * n;
            let to = v as usize * MAX_ROWS;
            self.scatter[to..to + n].copy_from_slice(&self.values[from..from + n]);
        }
    }

    /// The block of G of the open port `p` with `q`, row-major.
    pub fn block(&self, p: usize, q: usize, out: &mut [f64]) {
        let path = &self.path[self.path_start[q]..self.path_start[q + 1]];
        let values = &self.values[self.value_start[q]..self.value_start[q + 1]];
        let (n, m) = (self.n_rows(p), self.n_rows(q));
        match (n, m) {
            (3, 3) => out[..9].copy_from_slice(self.product::<3, 3>(path, values).as_flattened()),
            (1, 1) => out[..1].copy_from_slice(self.product::<1, 1>(path, values).as_flattened()),
            (3, 1) => out[..3].copy_from_slice(self.product::<3, 1>(path, values).as_flattened()),
            (1, 3) => out[..3].copy_from_slice(self.product::<1, 3>(path, values).as_flattened()),
            _ => {
                out[..n * m].fill(0.0);
                for (&v, other) in path.iter().zip(values.chunks_exact(m)) {
                    let own = &self.scatter[v as usize * MAX_ROWS..v as usize * MAX_ROWS + n];
                    for (k, a) in own.iter().enumerate() {
                        for (l, b) in other.iter().enumerate() {
                            out[k * m + l] += a * b;
                        }
                    }
                }
            }
        }
        out[..n * m].iter_mut().for_each(|g| *g /= self.mass_unit);
    }

    #[inline]
    fn product<const N: usize, const M: usize>(&self, path: &[u32], values: &[f64]) -> [[f64; M]; N] {
        let mut sum = [[0.0; M]; N];
        let (rows, _) = self.scatter.as_chunks::<MAX_ROWS>();
        let (others, _) = values.as_chunks::<M>();
        for (&v, other) in path.iter().zip(others) {
            let own = &rows[v as usize];
            for k in 0..N {
                for l in 0..M {
                    sum[k][l] += own[k] * other[l];
                }
            }
        }
        sum
    }

    /// Ends a row of blocks.
    pub fn close(&mut self, p: usize) {
        for &v in &self.path[self.path_start[p]..self.path_start[p + 1]] {
            let to = v as usize * MAX_ROWS;
            self.scatter[to..to + MAX_ROWS].fill(0.0);
        }
    }

    /// Adds M⁻¹ Wᵀ r to speeds.
    pub fn respond(&mut self, tree: &Tree, recursion: &Recursion, r: &[f64], v: &mut [f64]) {
        let y = &mut self.scatter;
        for p in 0..self.touches.len() {
            let rows = self.offsets[p]..self.offsets[p + 1];
            let n = rows.len();
            for (x, &at) in self.path[self.path_start[p]..self.path_start[p + 1]].iter().enumerate() {
                let from = self.value_start[p] + x * n;
                let sum: f64 = self.values[from..from + n].iter().zip(&r[rows.clone()]).map(|(y, r)| y * r).sum();
                y[at as usize * MAX_ROWS] += sum;
            }
        }
        for (i, link) in tree.links.iter().enumerate() {
            let inner = link.parent_index().map_or_else(Twist::default, |p| self.response[p]);
            let mut a = inner.shifted(&recursion.kinematics.links[i].offset);
            for at in link.v_range().rev() {
                let pivot = &recursion.pivots[at];
                if pivot.inverse > 0.0 {
                    let own = y[at * MAX_ROWS] / self.mass_unit * (pivot.inverse * self.mass_unit).sqrt();
                    let change = own - a.dot(&pivot.across) * pivot.inverse;
                    v[at] += change;
                    a += recursion.kinematics.unit_motion(i, link, at) * change;
                }
            }
            self.response[i] = a;
        }
        y.fill(0.0);
    }
}

impl Recursion {
    /// Velocity of every link at its origin for given speeds, at the present configuration.
    pub fn find_twists(&self, tree: &Tree, v: &[f64], out: &mut [Twist]) {
        for (i, link) in tree.links.iter().enumerate() {
            let inner = link.parent_index().map_or_else(Twist::default, |p| out[p]);
            let mut t = inner.shifted(&self.kinematics.links[i].offset);
            for at in link.v_range() {
                t += self.kinematics.unit_motion(i, link, at) * v[at];
            }
            out[i] = t;
        }
    }
}
