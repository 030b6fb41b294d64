//! Contact ports: what impulses at points and joints do to a mechanism, and to each other.
//!
//! **Problem.** For rows Wᵀ (directions at points of links, or speeds of joints) find the Delassus matrix G = W M⁻¹ Wᵀ with loops
//! kept closed, and for impulses r the change of speeds M⁻¹ Wᵀ r.
//!
//! **Method.** As for loops (`dynamics/recursive/loops.rs`): the inward sweep of a row's wrench gives its column of Y = N⁻ᵀ Wᵀ, and
//! G = Yᵀ Y. A column has entries on the way from its links to the ground only, so columns of different mechanisms do
//! not meet, and those of one meet from the link inwards that carries both (`dynamics/tree/ancestry.rs`). Where that way is long, what lies
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

use super::Swept;
use super::loops::{Loops, power_of_two};
use super::mobility::{Six, find_mobilities, times6};
use crate::dynamics::tree::ancestry::{Ancestry, GROUND};
use crate::dynamics::tree::{Link, LinkKind, Tree};
use crate::simd::{Lanes, Space, in_registers};
use crate::spatial::{Vec3, Wrench};

/// Most rows of one port.
pub const MAX_ROWS: usize = 6;

/// Speeds that two columns share from which on the mobility is cheaper than their product.
pub(super) const LONG: usize = 12;

/// Rows for which there is room in every entry of a port of three: one more, so that registers are full.
pub(super) const PADDED_ROWS: usize = 4;

/// Wrenches of several rows side by side: each component of all of them in one register. Moments first.
type Bundle<const L: usize> = [[f64; L]; 6];

/// A port pushes its second link, and the first one opposite.
const SIGNS: [f64; 2] = [-1.0, 1.0];

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
    pub fn clear(&mut self, swept: Swept<'_>) {
        self.roots.clear();
        self.roots.extend(swept.pivots.iter().map(|pivot| (pivot.inverse * self.mass_unit).sqrt()));
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
    pub fn push_links(&mut self, swept: Swept<'_>, a: Option<(usize, &[Wrench])>, b: Option<(usize, &[Wrench])>) {
        let n = a.or(b).map_or(0, |(_, rows)| rows.len());
        match n {
            1 => self.push_wrenches::<1>(swept, [a, b], n),
            3 => self.push_wrenches::<PADDED_ROWS>(swept, [a, b], n),
            _ => self.push_wrenches::<MAX_ROWS>(swept, [a, b], n),
        }
        self.end_port(n);
    }

    /// Adds a port between two links that pushes along directions at a world point of each, on the second and opposite on the first.
    pub fn push_point(
        &mut self,
        swept: Swept<'_>,
        links: [Option<usize>; 2],
        points: &[Vec3; 2],
        directions: &[Vec3; 3],
    ) {
        self.push_ends(swept, links, directions.len(), |k, link| {
            bundle_at(&(points[k] - swept.kinematics.origin[link]), directions, SIGNS[k])
        });
        self.end_port(directions.len());
    }

    /// Adds a port on one speed of the tree, forwards or (`sign` −1) backwards.
    pub fn push_speed(&mut self, swept: Swept<'_>, link: usize, speed: usize, sign: f64) {
        self.pushes.push(Push::Speed(speed, sign));
        let (outer, outer_values) = (self.outer.len(), self.values.len());
        let mut w = Wrench::default();
        for v in link_speeds(swept.tree, link).filter(|v| *v >= speed) {
            let pivot = &swept.pivots[v];
            let s = swept.kinematics.unit_motion(link, &swept.tree.links[link], v);
            let force = if v == speed { sign } else { 0.0 } + s.dot(&w);
            self.outer.push(v as u32);
            self.values.push(force * self.roots[v]);
            w = w - pivot.across * (force * pivot.inverse);
        }
        let outer = (outer, self.outer.len());
        (self.has_outer, self.is_floating_only) = (true, false);
        let inner = swept.tree.links[link].parent_index();
        let w = w.shifted(&swept.kinematics.links[link].offset).to_array().map(|x| [x]);
        let part = Part { outer, outer_values, ..self.sweep(swept, inner, &w, 1) };
        self.parts.push(Part { root: self.ancestry.root(link), ..part });
        self.end_port(1);
    }

    fn end_port(&mut self, n: usize) {
        self.offsets.push(self.offsets.last().copied().unwrap_or(0) + n);
        self.part_start.push(self.parts.len());
    }

    fn push_wrenches<const L: usize>(&mut self, swept: Swept<'_>, ends: [Option<(usize, &[Wrench])>; 2], n: usize) {
        let rows = ends.map(|end| end.map_or(&[][..], |(_, rows)| rows));
        let links = ends.map(|end| end.map(|(link, _)| link));
        self.push_ends(swept, links, n, |k, _| bundle::<L>(rows[k], SIGNS[k]));
    }

    /// Sweeps wrenches inwards from the links that they act on: those that `wrenches` gives for the first or second of them.
    #[inline(always)]
    fn push_ends<const L: usize>(
        &mut self,
        swept: Swept<'_>,
        links: [Option<usize>; 2],
        n: usize,
        wrenches: impl Fn(usize, usize) -> Bundle<L>,
    ) {
        let mut push = [None; 2];
        match links {
            [Some(i), Some(j)] if self.ancestry.root(i) == self.ancestry.root(j) => {
                let w = [wrenches(0, i), wrenches(1, j)];
                for ((push, link), w) in push.iter_mut().zip([i, j]).zip(&w) {
                    *push = Some((link as u32, keep(&mut self.wrenches, w, n)));
                }
                self.push_joined(swept, [i, j], w, n);
            }
            _ => {
                for (k, (push, link)) in push.iter_mut().zip(links).enumerate() {
                    if let Some(link) = link {
                        let part = self.sweep(swept, Some(link), &wrenches(k, link), n);
                        *push = Some((link as u32, part.wrenches));
                        self.parts.push(part);
                    }
                }
            }
        }
        self.pushes.push(Push::Links(push));
    }

    /// A port between two links of one mechanism.
    fn push_joined<const L: usize>(&mut self, swept: Swept<'_>, mut at: [usize; 2], mut w: [Bundle<L>; 2], n: usize) {
        let (outer, outer_values) = (self.outer.len(), self.values.len());
        while at[0] != at[1] {
            // The higher-numbered link cannot be an ancestor of the other, so its wrench is complete.
            let k = usize::from(at[1] > at[0]);
            let i = at[k];
            let link = &swept.tree.links[i];
            for v in link.v_range() {
                let values = eliminate(swept, self.roots[v], (i, link, v), &mut w[k]);
                self.outer.push(v as u32);
                self.values.extend_from_slice(&values[..n.min(L)]);
            }
            let Some(parent) = link.parent_index() else { break };
            w[k] = shifted(w[k], &swept.kinematics.links[i].offset);
            at[k] = parent;
        }
        let outer = (outer, self.outer.len());
        self.has_outer |= outer.0 < outer.1;
        self.is_floating_only &= !self.has_outer;
        let [mut sum, other] = w;
        sum.as_flattened_mut().iter_mut().zip(other.as_flattened()).for_each(|(a, b)| *a += b);
        let part = Part { outer, outer_values, ..self.sweep(swept, Some(at[0]), &sum, n) };
        self.parts.push(part);
    }

    /// Inward sweep of `n` wrenches from a link to the ground.
    fn sweep<const L: usize>(&mut self, swept: Swept<'_>, tip: Option<usize>, w: &Bundle<L>, n: usize) -> Part {
        let tip_or_ground = tip.map_or(GROUND, |tip| tip as u32);
        let n_speeds = self.ancestry.n_speeds(tip_or_ground);
        let is_padded = L == PADDED_ROWS;
        let part = Part {
            root: tip.map_or(GROUND, |tip| self.ancestry.root(tip)),
            tip: tip_or_ground,
            n_speeds,
            values: self.values.len(),
            is_padded,
            wrenches: keep(&mut self.wrenches, w, n),
            moved: 0,
            outer: (0, 0),
            outer_values: 0,
        };
        let Some(tip) = tip else { return part };
        if n_speeds == 6 && is_padded && self.ancestry.is_alone(tip) {
            self.update_floating(swept, tip);
            let entries = floating_entries(&self.floating[self.floating_of[tip] as usize], swept.tree.floats[tip], w);
            self.values.extend_from_slice(entries.as_flattened());
            return part;
        }
        self.is_floating_only = false;
        self.values.resize(part.end(n), 0.0);
        let is_long = n_speeds > LONG;
        self.has_long |= is_long;
        let (values, kept) = (&mut self.values[part.values..], is_long.then_some(&mut self.wrenches));
        let way = Way { swept, roots: &self.roots, tip };
        if let (true, Some(w)) = (is_padded, w.as_flattened().as_chunks().0.first_chunk()) {
            way.take_padded(w, values.as_chunks_mut().0, kept);
        } else {
            let write = |x: usize, row: [f64; L]| {
                row[..n.min(L)].iter().enumerate().for_each(|(k, value)| values[k * n_speeds + x] = *value);
            };
            way.take(*w, write, kept.map(|kept| |w: &_| _ = keep(kept, w, n)));
        }
        part
    }

    /// Finds the columns from a wrench on a body that floats alone to the entries of its six speeds, if they are not known.
    fn update_floating(&mut self, swept: Swept<'_>, i: usize) {
        if self.floating_of[i] != UNKNOWN {
            return;
        }
        self.floating_of[i] = self.floating.len() as u32;
        let mut columns = [[0.0; 6]; 6];
        if swept.tree.floats[i] {
            // Forces and moments have nothing to do with each other.
            let v = swept.tree.links[i].v as usize;
            let mut rest = [Vec3::x(), Vec3::y(), Vec3::z()];
            for x in 0..3 {
                let s = swept.kinematics.columns[v + x].linear;
                (0..3).for_each(|c| columns[3 + c][x] = s[c] * self.roots[v + x]);
                let (s, pivot) = (swept.kinematics.columns[v + 3 + x].angular, &swept.pivots[v + 3 + x]);
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
            for (x, v) in link_speeds(swept.tree, i).enumerate() {
                let s = swept.kinematics.unit_motion(i, &swept.tree.links[i], v).to_array();
                let across = swept.pivots[v].across.to_array();
                // What arrives at the pivot, for all six at once.
                let force = times6(&w, &s);
                for (row, u) in w.iter_mut().zip(across) {
                    let share = u * swept.pivots[v].inverse;
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
        let parts = &self.parts[self.part_start[p]..self.part_start[p + 1]];
        if !self.has_outer && parts.iter().all(|part| part.is_padded) {
            for part in parts {
                let (entries, _) = self.values[part.values..].as_chunks::<PADDED_ROWS>();
                speeds_inwards(tree, part.tip).zip(entries).for_each(|(v, [a, b, c, _])| visit(v, [*a, *b, *c]));
            }
            return;
        }
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
    pub fn prepare(&mut self, swept: Swept<'_>) {
        // One port alone has no pairs.
        if !self.has_long || self.n_full.is_some() || self.len() == 1 {
            return;
        }
        find_mobilities(swept, &mut self.mobilities);
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

/// The way of wrenches from a link to the ground.
struct Way<'a> {
    swept: Swept<'a>,
    roots: &'a [f64],
    tip: usize,
}

impl Way<'_> {
    /// Takes wrenches through all speeds on the way; `entry` gets the entries of each, `pass` what reaches the links further in.
    #[inline(always)]
    fn take<V: Lanes>(&self, mut w: [V; 6], mut entry: impl FnMut(usize, V), mut pass: Option<impl FnMut(&[V; 6])>) {
        let Self { swept, roots, tip } = self;
        let (mut i, mut x) = (*tip, 0);
        loop {
            let link = &swept.tree.links[i];
            for v in link.v_range() {
                entry(x, eliminate(*swept, roots[v], (i, link, v), &mut w));
                x += 1;
            }
            let Some(parent) = link.parent_index() else { return };
            w = shifted(w, &swept.kinematics.links[i].offset);
            if let Some(pass) = &mut pass {
                pass(&w);
            }
            i = parent;
        }
    }

    /// Three rows at once.
    fn take_padded(&self, w: &Bundle<PADDED_ROWS>, values: &mut [[f64; PADDED_ROWS]], kept: Option<&mut Vec<Six>>) {
        in_registers!(|token: V| self.take_in_registers::<V>(token, w, values, kept));
    }

    #[inline(always)]
    fn take_in_registers<V: Space>(
        &self,
        token: V::Token,
        w: &Bundle<PADDED_ROWS>,
        values: &mut [[f64; PADDED_ROWS]],
        kept: Option<&mut Vec<Six>>,
    ) {
        let [a, b, c, x, y, z] = w;
        let load = |x: &_| V::load(token, x);
        let w = [load(a), load(b), load(c), load(x), load(y), load(z)];
        let pass = kept.map(|kept| {
            |w: &[V; 6]| {
                let mut rows = [[0.0; PADDED_ROWS]; 6];
                rows.iter_mut().zip(w).for_each(|(row, w)| w.store(row));
                keep(kept, &rows, 3);
            }
        });
        self.take(w, |x, row| row.store(&mut values[x]), pass);
    }
}

/// Keeps the wrenches of `n` rows; returns where they are.
fn keep<const L: usize>(kept: &mut Vec<Six>, w: &Bundle<L>, n: usize) -> usize {
    let at = kept.len();
    let mut rows = [[0.0; 6]; L];
    for (c, component) in w.iter().enumerate() {
        rows.iter_mut().zip(component).for_each(|(row, x)| row[c] = *x);
    }
    kept.extend_from_slice(&rows[..n.min(L)]);
    at
}

/// Wrenches side by side, or their opposites.
fn bundle<const L: usize>(rows: &[Wrench], sign: f64) -> Bundle<L> {
    let mut out = [[0.0; L]; 6];
    for (k, row) in rows.iter().take(L).enumerate() {
        out.iter_mut().zip((*row * sign).to_array()).for_each(|(component, x)| component[k] = x);
    }
    out
}

/// Unit forces along directions, or their opposites, at the end of an arm.
fn bundle_at(arm: &Vec3, [a, b, c]: &[Vec3; 3], sign: f64) -> Bundle<PADDED_ROWS> {
    let force = |k: usize| [a[k] * sign, b[k] * sign, c[k] * sign, 0.0];
    let zero = [0.0; PADDED_ROWS];
    shifted([zero, zero, zero, force(0), force(1), force(2)], arm)
}

/// The same force systems, with moments about the point from which their present point lies `d` away.
#[inline(always)]
fn shifted<V: Lanes>([mx, my, mz, fx, fy, fz]: [V; 6], d: &Vec3) -> [V; 6] {
    [
        mx.plus(fz.times(d.y).minus(fy.times(d.z))),
        my.plus(fx.times(d.z).minus(fz.times(d.x))),
        mz.plus(fy.times(d.x).minus(fx.times(d.y))),
        fx,
        fy,
        fz,
    ]
}

/// A combination of three components.
#[inline(always)]
fn combined<V: Lanes>(s: &Vec3, [x, y, z]: [V; 3]) -> V {
    x.times(s.x).plus(y.times(s.y)).plus(z.times(s.z))
}

/// Takes wrenches through one speed of a link; returns its entries.
#[inline(always)]
fn eliminate<V: Lanes>(
    swept: Swept<'_>,
    root: f64,
    (i, link, v): (usize, &Link, usize),
    [mx, my, mz, fx, fy, fz]: &mut [V; 6],
) -> V {
    let pivot = &swept.pivots[v];
    let force = match link.kind {
        LinkKind::Revolute(axis) => combined(&axis.of(&swept.kinematics.links[i].rotation), [*mx, *my, *mz]),
        LinkKind::General { .. } => {
            let s = &swept.kinematics.columns[v];
            combined(&s.angular, [*mx, *my, *mz]).plus(combined(&s.linear, [*fx, *fy, *fz]))
        }
    };
    let share = force.times(pivot.inverse);
    let (m, f) = (&pivot.across.moment, &pivot.across.force);
    for (component, u) in [(mx, m.x), (my, m.y), (mz, m.z), (fx, f.x), (fy, f.y), (fz, f.z)] {
        *component = component.minus(share.times(u));
    }
    force.times(root)
}

/// Entries of the six speeds of a body that floats alone. Where it is placed at its centre of mass, forces and moments have nothing to
/// do with each other.
#[inline(always)]
fn floating_entries<const L: usize>(columns: &[Six; 6], is_central: bool, w: &Bundle<L>) -> Bundle<L> {
    let mut entries = [[0.0; L]; 6];
    let [a, b, c, x, y, z] = columns;
    let [mx, my, mz, fx, fy, fz] = w;
    for (e, entry) in entries.iter_mut().enumerate() {
        if !is_central {
            for (column, component) in columns.iter().zip(w) {
                entry.iter_mut().zip(component).for_each(|(y, x)| *y += column[e] * x);
            }
        } else if e < 3 {
            *entry = combined(&Vec3::new(x[e], y[e], z[e]), [*fx, *fy, *fz]);
        } else {
            *entry = combined(&Vec3::new(a[e], b[e], c[e]), [*mx, *my, *mz]);
        }
    }
    entries
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
