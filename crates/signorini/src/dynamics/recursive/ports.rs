//! Contact ports: what impulses at points and joints do to a mechanism, and to each other.
//!
//! **Problem.** For rows Wᵀ (directions at points of links, or speeds of joints) find the Delassus matrix G = W M⁻¹ Wᵀ with loops
//! kept closed, and for impulses r the change of speeds M⁻¹ Wᵀ r.
//!
//! **Method.** As for loops (`dynamics/recursive/loops.rs`): the inward sweep of a row's wrench gives its column of Y = N⁻ᵀ Wᵀ, and
//! G = Yᵀ Y. A column has entries on the way from its links to the ground only, so columns of different mechanisms do
//! not meet, and those of one meet from the link inwards that carries both (`ancestry.rs`). Where that way is long, what lies
//! inwards of the link is known from its mobility Ω (`mobility.rs`): the entries there add up to zᵀ Ω z′, z and z′ the wrenches
//! when the sweeps come by. The block of a port with itself is always the sum of squares. Loops take from every column its part in
//! the range of their own columns, by the factorisation that is there already. Blocks: `blocks.rs`; speeds: `response.rs`.
//!
//! **Cost.** O(depth) per row for Y, 54 multiplications per block of three rows. Only ports that pass a wrench through
//! joints from one link to another of the same mechanism, and speeds, meet others at O(depth). O(n · rank) per row where there are loops.
//! The size of G does not depend on the number of joints.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/contact_motion.rs`, against `dense`.

use super::ancestry::{Ancestry, GROUND};
use super::loops::{Loops, power_of_two};
use super::mobility::{Six, times6};
use super::{Recursion, Tree};
use crate::spatial::{Twist, Vec3, Wrench};

/// Most rows of one port.
pub const MAX_ROWS: usize = 6;

/// Speeds that two columns share from which on the mobility is cheaper than their product.
pub(super) const LONG: usize = 12;

/// Rows for which there is room in every entry of a port of three: one more, so that registers are full.
pub(super) const PADDED_ROWS: usize = 4;

/// What a port pushes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Push {
    /// Links (none for the ground), and where the wrenches on them are.
    Links([Option<(u32, usize)>; 2]),
    /// One speed of the tree, forwards or backwards.
    Speed(usize, f64),
}

/// A port's columns in one mechanism.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// First link of the mechanism.
    pub(super) root: u32,
    /// From here to the ground a column has an entry for every speed; the ground where it has none.
    pub(super) tip: u32,
    /// Number of these entries, and where they are.
    pub(super) n_speeds: usize,
    pub(super) values: usize,
    /// Whether they are there speed by speed, three rows each, filled up to [`PADDED_ROWS`]; else row by row.
    pub(super) is_padded: bool,
    /// Where the wrenches are that reach the tip and, if the way is long, the links further in.
    pub(super) wrenches: usize,
    /// Where Ω times the wrenches at the tip is, if the way is long.
    pub(super) moved: usize,
    /// Entries further out than the tip: places in `outer`, and where their values are, speed by speed.
    pub(super) outer: (usize, usize),
    pub(super) outer_values: usize,
}

/// A set of ports at one configuration, in storage that is reused.
#[derive(Debug, Clone, Default)]
pub struct Ports {
    pub(super) ancestry: Ancestry,
    pub(super) mass_unit: f64,
    /// √(mass unit / D) of each speed.
    pub(super) roots: Vec<f64>,
    pub(super) pushes: Vec<Push>,
    /// First row of each port, and the number of rows.
    pub(super) offsets: Vec<usize>,
    pub(super) parts: Vec<Part>,
    /// First part of each port, and the number of parts.
    pub(super) part_start: Vec<usize>,
    pub(super) values: Vec<f64>,
    pub(super) wrenches: Vec<Six>,
    pub(super) outer: Vec<u32>,
    /// Six columns from a wrench on a body that floats alone to its entries, where they were needed.
    floating: Vec<[Six; 6]>,
    floating_of: Vec<u32>,
    /// Ω of every link, where some way is long.
    pub(super) mobilities: Vec<[Six; 6]>,
    pub(super) moved: Vec<Six>,
    has_long: bool,
    /// Whether all ports are on bodies that float alone.
    pub(super) is_floating_only: bool,
    pub(super) has_outer: bool,
    /// Length of full columns, where there are loops.
    pub(super) n_full: Option<usize>,
    column: Vec<f64>,
    /// Values of the open port over the mass unit, and all its entries by speed where some port has outer ones.
    pub(super) own: Vec<f64>,
    pub(super) scatter: Vec<f64>,
    pub(super) response: super::response::Scratch,
}

/// No matrix of a floating body yet.
const UNKNOWN: u32 = u32::MAX;

impl Ports {
    /// For a tree.
    pub fn new(tree: &Tree, n_extra: usize) -> Self {
        let mass: f64 = tree.links.iter().map(|l| l.inertia.mass).sum();
        Self {
            ancestry: Ancestry::build(tree),
            mass_unit: power_of_two(mass),
            floating_of: vec![UNKNOWN; tree.links.len()],
            scatter: vec![0.0; tree.n_v * MAX_ROWS],
            response: super::response::Scratch::new(tree, n_extra),
            ..Self::default()
        }
    }

    /// Forgets all ports; new ones are pushed where the recursion is now.
    pub fn clear(&mut self, recursion: &Recursion) {
        self.roots.clear();
        self.roots.extend(recursion.pivots.iter().map(|pivot| (pivot.inverse * self.mass_unit).sqrt()));
        self.pushes.clear();
        self.offsets.clear();
        self.offsets.push(0);
        self.parts.clear();
        self.part_start.clear();
        self.part_start.push(0);
        self.values.clear();
        self.wrenches.clear();
        self.outer.clear();
        self.floating.clear();
        self.floating_of.fill(UNKNOWN);
        (self.has_long, self.has_outer, self.n_full) = (false, false, None);
        self.is_floating_only = true;
    }

    /// Number of ports.
    pub fn len(&self) -> usize {
        self.pushes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pushes.is_empty()
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
        match n {
            1 => self.push_ends::<1>(tree, recursion, [a, b], n),
            3 => self.push_ends::<3>(tree, recursion, [a, b], n),
            _ => self.push_ends::<MAX_ROWS>(tree, recursion, [a, b], n),
        }
        self.end_port(n);
    }

    /// Adds a port between two links that pushes at the world point `at` along directions, on the second and opposite on the first.
    pub fn push_point<const N: usize>(
        &mut self,
        tree: &Tree,
        recursion: &Recursion,
        links: [Option<usize>; 2],
        at: &Vec3,
        directions: &[Vec3; N],
    ) {
        let wrenches = |link: Option<usize>, sign: f64| {
            let arm = link.map_or_else(Vec3::zeros, |link| at - recursion.kinematics.origin[link]);
            directions.map(|d| Wrench::new(arm.cross(&d), d) * sign)
        };
        self.push_wrenches(tree, recursion, links, [wrenches(links[0], -1.0), wrenches(links[1], 1.0)], N);
        self.end_port(N);
    }

    /// Adds a port on one speed of the tree, forwards or (`sign` −1) backwards.
    pub fn push_speed(&mut self, tree: &Tree, recursion: &Recursion, link: usize, speed: usize, sign: f64) {
        self.pushes.push(Push::Speed(speed, sign));
        let (outer, outer_values) = (self.outer.len(), self.values.len());
        let mut w = Wrench::default();
        for v in link_speeds(tree, link).filter(|v| *v >= speed) {
            let pivot = &recursion.pivots[v];
            let s = recursion.kinematics.unit_motion(link, &tree.links[link], v);
            let force = if v == speed { sign } else { 0.0 } + s.dot(&w);
            self.outer.push(v as u32);
            self.values.push(force * self.roots[v]);
            w = w - pivot.across * (force * pivot.inverse);
        }
        let outer = (outer, self.outer.len());
        (self.has_outer, self.is_floating_only) = (true, false);
        let inner = tree.links[link].parent_index();
        let w = [w.shifted(&recursion.kinematics.links[link].offset)];
        let part = Part { outer, outer_values, ..self.sweep(tree, recursion, inner, &w, 1) };
        self.parts.push(Part { root: self.ancestry.root(link), ..part });
        self.end_port(1);
    }

    fn end_port(&mut self, n: usize) {
        self.offsets.push(self.offsets.last().copied().unwrap_or(0) + n);
        self.part_start.push(self.parts.len());
    }

    fn push_ends<const N: usize>(
        &mut self,
        tree: &Tree,
        recursion: &Recursion,
        ends: [Option<(usize, &[Wrench])>; 2],
        n: usize,
    ) {
        let mut w = [[Wrench::default(); N]; 2];
        for ((end, sign), w) in ends.into_iter().zip([-1.0, 1.0]).zip(&mut w) {
            if let Some((_, rows)) = end {
                w.iter_mut().zip(rows).for_each(|(w, r)| *w = *r * sign);
            }
        }
        self.push_wrenches(tree, recursion, ends.map(|end| end.map(|(link, _)| link)), w, n);
    }

    /// Sweeps wrenches inwards from the links that they act on.
    #[inline]
    fn push_wrenches<const N: usize>(
        &mut self,
        tree: &Tree,
        recursion: &Recursion,
        links: [Option<usize>; 2],
        w: [[Wrench; N]; 2],
        n: usize,
    ) {
        let mut push = [None; 2];
        match links {
            [Some(i), Some(j)] if self.ancestry.root(i) == self.ancestry.root(j) => {
                for ((push, link), w) in push.iter_mut().zip([i, j]).zip(&w) {
                    *push = Some((link as u32, self.keep(w, n)));
                }
                self.push_joined(tree, recursion, [i, j], w, n);
            }
            _ => {
                for ((push, link), w) in push.iter_mut().zip(links).zip(&w) {
                    if let Some(link) = link {
                        let part = self.sweep(tree, recursion, Some(link), w, n);
                        *push = Some((link as u32, part.wrenches));
                        self.parts.push(part);
                    }
                }
            }
        }
        self.pushes.push(Push::Links(push));
    }

    /// Keeps wrenches; returns where they are.
    #[inline]
    fn keep<const N: usize>(&mut self, w: &[Wrench; N], n: usize) -> usize {
        let at = self.wrenches.len();
        self.wrenches.extend(w[..n.min(N)].iter().map(|w| w.to_array()));
        at
    }

    /// A port between two links of one mechanism.
    fn push_joined<const N: usize>(
        &mut self,
        tree: &Tree,
        recursion: &Recursion,
        mut at: [usize; 2],
        mut w: [[Wrench; N]; 2],
        n: usize,
    ) {
        let (outer, outer_values) = (self.outer.len(), self.values.len());
        while at[0] != at[1] {
            // The higher-numbered link cannot be an ancestor of the other, so its wrench is complete.
            let k = usize::from(at[1] > at[0]);
            let i = at[k];
            for v in link_speeds(tree, i) {
                let mut values = [0.0; N];
                self.eliminate(tree, recursion, (i, v), &mut w[k], &mut values);
                self.outer.push(v as u32);
                self.values.extend_from_slice(&values[..n.min(N)]);
            }
            let Some(parent) = tree.links[i].parent_index() else { break };
            let offset = &recursion.kinematics.links[i].offset;
            w[k].iter_mut().for_each(|w| *w = w.shifted(offset));
            at[k] = parent;
        }
        let outer = (outer, self.outer.len());
        self.has_outer |= outer.0 < outer.1;
        self.is_floating_only &= !self.has_outer;
        let [mut sum, other] = w;
        sum.iter_mut().zip(other).for_each(|(a, b)| *a += b);
        let part = Part { outer, outer_values, ..self.sweep(tree, recursion, Some(at[0]), &sum, n) };
        self.parts.push(part);
    }

    /// Takes wrenches through one speed.
    #[inline(always)]
    fn eliminate<const N: usize>(
        &self,
        tree: &Tree,
        recursion: &Recursion,
        (i, v): (usize, usize),
        w: &mut [Wrench; N],
        values: &mut [f64; N],
    ) {
        let (pivot, root) = (&recursion.pivots[v], self.roots[v]);
        let s = recursion.kinematics.unit_motion(i, &tree.links[i], v);
        for (w, value) in w.iter_mut().zip(values) {
            let force = s.dot(w);
            *value = force * root;
            *w = *w - pivot.across * (force * pivot.inverse);
        }
    }

    /// Inward sweep of `n` wrenches from a link to the ground.
    fn sweep<const N: usize>(
        &mut self,
        tree: &Tree,
        recursion: &Recursion,
        tip: Option<usize>,
        w: &[Wrench; N],
        n: usize,
    ) -> Part {
        let tip_or_ground = tip.map_or(GROUND, |tip| tip as u32);
        let n_speeds = self.ancestry.n_speeds(tip_or_ground);
        let values = self.values.len();
        let part = Part {
            root: tip.map_or(GROUND, |tip| self.ancestry.root(tip)),
            tip: tip_or_ground,
            n_speeds,
            values,
            is_padded: N == 3,
            wrenches: self.keep(w, n),
            moved: 0,
            outer: (0, 0),
            outer_values: 0,
        };
        let Some(mut i) = tip else { return part };
        if n_speeds == 6 && N == 3 && self.ancestry.is_alone(i) {
            self.update_floating(tree, recursion, i);
            let columns = &self.floating[self.floating_of[i] as usize];
            let mut entries = [[0.0; PADDED_ROWS]; 6];
            for (k, w) in w.iter().enumerate() {
                if tree.floats[i] {
                    let [a, b, c, x, y, z] = columns;
                    let (m, f) = (&w.moment, &w.force);
                    for e in 0..3 {
                        entries[e][k] = x[e] * f.x + y[e] * f.y + z[e] * f.z;
                        entries[e + 3][k] = a[e + 3] * m.x + b[e + 3] * m.y + c[e + 3] * m.z;
                    }
                } else {
                    let column = times6(columns, &w.to_array());
                    entries.iter_mut().zip(column).for_each(|(entry, y)| entry[k] = y);
                }
            }
            self.values.extend_from_slice(entries.as_flattened());
            return part;
        }
        self.is_floating_only = false;
        let mut w = *w;
        self.values.resize(part.end(n), 0.0);
        let is_long = n_speeds > LONG;
        self.has_long |= is_long;
        let mut x = 0;
        loop {
            for v in link_speeds(tree, i) {
                let mut row = [0.0; N];
                self.eliminate(tree, recursion, (i, v), &mut w, &mut row);
                if part.is_padded {
                    let at = values + PADDED_ROWS * x;
                    self.values[at..at + N].copy_from_slice(&row);
                } else {
                    for (k, value) in row[..n.min(N)].iter().enumerate() {
                        self.values[values + k * n_speeds + x] = *value;
                    }
                }
                x += 1;
            }
            let Some(parent) = tree.links[i].parent_index() else { return part };
            let offset = &recursion.kinematics.links[i].offset;
            w.iter_mut().for_each(|w| *w = w.shifted(offset));
            if is_long {
                self.keep(&w, n);
            }
            i = parent;
        }
    }

    /// Finds the columns from a wrench on a body that floats alone to the entries of its six speeds, if they are not known.
    fn update_floating(&mut self, tree: &Tree, recursion: &Recursion, i: usize) {
        if self.floating_of[i] != UNKNOWN {
            return;
        }
        self.floating_of[i] = self.floating.len() as u32;
        let mut columns = [[0.0; 6]; 6];
        if tree.floats[i] {
            // Forces and moments have nothing to do with each other.
            let v = tree.links[i].v as usize;
            let mut rest = [Vec3::x(), Vec3::y(), Vec3::z()];
            for x in 0..3 {
                let s = recursion.kinematics.columns[v + x].linear;
                (0..3).for_each(|c| columns[3 + c][x] = s[c] * self.roots[v + x]);
                let (s, pivot) = (recursion.kinematics.columns[v + 3 + x].angular, &recursion.pivots[v + 3 + x]);
                for (c, m) in rest.iter_mut().enumerate() {
                    let force = s.dot(m);
                    columns[c][3 + x] = force * self.roots[v + 3 + x];
                    *m -= pivot.across.moment * (force * pivot.inverse);
                }
            }
        } else {
            // Column by column six wrenches, unit ones to begin with; row by row the columns that are looked for.
            let mut w = [[0.0; 6]; 6];
            (0..6).for_each(|k| w[k][k] = 1.0);
            for (x, v) in link_speeds(tree, i).enumerate() {
                let s = recursion.kinematics.unit_motion(i, &tree.links[i], v).to_array();
                let across = recursion.pivots[v].across.to_array();
                // What arrives at the pivot, for all six at once.
                let force = times6(&w, &s);
                for (row, u) in w.iter_mut().zip(across) {
                    let share = u * recursion.pivots[v].inverse;
                    row.iter_mut().zip(force).for_each(|(w, f)| *w -= share * f);
                }
                columns.iter_mut().zip(force).for_each(|(column, f)| column[x] = f * self.roots[v]);
            }
        }
        self.floating.push(columns);
    }

    /// Takes from every column what loops do not allow; columns become full.
    pub fn project_out(&mut self, tree: &Tree, loops: &Loops) {
        let n_full = loops.n_unknowns();
        let mut full = std::mem::take(&mut self.own);
        full.clear();
        self.column.resize(n_full, 0.0);
        for p in 0..self.len() {
            for k in 0..self.n_rows(p) {
                self.column.fill(0.0);
                let mut column = std::mem::take(&mut self.column);
                self.visit_entries(tree, p, |v, values, stride| column[v] = values[k * stride]);
                loops.project_out(&mut column);
                full.extend_from_slice(&column);
                self.column = column;
            }
        }
        self.own = std::mem::replace(&mut self.values, full);
        self.n_full = Some(n_full);
        self.is_floating_only = false;
    }

    /// Visits all entries of a port: the speed, and its values from the first row on with the distance between rows.
    pub(super) fn visit_entries(&self, tree: &Tree, p: usize, mut visit: impl FnMut(usize, &[f64], usize)) {
        let n = self.n_rows(p);
        for part in &self.parts[self.part_start[p]..self.part_start[p + 1]] {
            let places = part.outer.0..part.outer.1;
            for (x, v) in self.outer[places].iter().enumerate() {
                visit(*v as usize, &self.values[part.outer_values + x * n..], 1);
            }
            for (x, v) in speeds_inwards(tree, part.tip).enumerate() {
                let (values, stride) = self.entry(part, x);
                visit(v, values, stride);
            }
        }
    }

    /// Visits the entries of a port of three rows at most: the speed, and its values, zero for rows that there are not. G = Yᵀ Y / [`Ports::mass_unit`].
    pub fn visit_columns(&self, tree: &Tree, p: usize, mut visit: impl FnMut(usize, [f64; 3])) {
        let n = self.n_rows(p);
        self.visit_entries(tree, p, |v, values, stride| {
            visit(v, std::array::from_fn(|k| if k < n { values[k * stride] } else { 0.0 }));
        });
    }

    /// What squares of entries are divided by.
    pub fn mass_unit(&self) -> f64 {
        self.mass_unit
    }

    /// Values of one speed of a part, from the first row on, with the distance between rows.
    pub(super) fn entry(&self, part: &Part, x: usize) -> (&[f64], usize) {
        let (row, speed) = part.strides();
        (&self.values[part.values + speed * x..], row)
    }

    /// Number of rows of a port.
    pub fn n_rows(&self, p: usize) -> usize {
        self.offsets[p + 1] - self.offsets[p]
    }

    /// Mechanisms that a port touches, by their first links; the same twice where it is one. Only ports that have one in common
    /// have a block of G.
    pub fn roots(&self, p: usize) -> [usize; 2] {
        match &self.parts[self.part_start[p]..self.part_start[p + 1]] {
            // A loop may go through the ground and tie mechanisms together.
            _ if self.n_full.is_some() => [0, 0],
            [a, b] => [a.root as usize, b.root as usize],
            [a] => [a.root as usize; 2],
            _ => [0, 0],
        }
    }

    /// Prepares blocks of G, when all ports are there.
    pub fn prepare(&mut self, tree: &Tree, recursion: &Recursion) {
        // One port alone has no pairs.
        if !self.has_long || self.n_full.is_some() || self.len() == 1 {
            return;
        }
        recursion.find_mobilities(tree, &mut self.mobilities);
        self.moved.clear();
        for (parts, rows) in self.part_start.windows(2).zip(self.offsets.windows(2)) {
            for part in self.parts[parts[0]..parts[1]].iter_mut().filter(|part| part.n_speeds > LONG) {
                part.moved = self.moved.len();
                let wrenches = &self.wrenches[part.wrenches..part.wrenches + rows[1] - rows[0]];
                let mobility = &self.mobilities[part.tip as usize];
                self.moved.extend(wrenches.iter().map(|z| times6(mobility, z)));
            }
        }
    }
}

/// Speeds of a link.
#[inline(always)]
fn link_speeds(tree: &Tree, link: usize) -> std::ops::Range<usize> {
    tree.links[link].v_range()
}

/// Speeds on the way from a link to the ground, in the order of an inward sweep.
pub(super) fn speeds_inwards(tree: &Tree, tip: u32) -> impl Iterator<Item = usize> {
    let first = (tip != GROUND).then_some(tip as usize);
    let links = std::iter::successors(first, |i| tree.links[*i].parent_index());
    links.flat_map(|i| link_speeds(tree, i))
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
