//! Clusters in numbers: merging, closing rows, and carrying right-hand sides up and answers down.
//!
//! **Problem.** For a cluster with given motion a of its top and forces λ at its other ports (its bottom and its open rows)
//!
//! ```text
//! f = I a + p − F λ          what the top must supply
//! x = Fᵀ a + C λ + b         how the ports move
//! ```
//!
//! find I, F, C of a merged cluster from those of its parts, p and b likewise, and on the way down a and λ of the parts.
//!
//! **Method.** Compress: the second part hangs on the bottom of the first. Its top's motion is the first's bottom motion, and
//! its demand f is the negative of the first's bottom force. With C the bottom's mobility in the first, I the second's
//! inertia, E = (1 + C I)⁻¹, K = I E, S = E C:
//! I′ = I₁ + F K Fᵀ; the second's columns become F Eᵀ F₂ and C₂ + F₂ᵀ S F₂; the first's rows lose F K C_r and C_rᵀ K C_r;
//! between them C gets F₂ᵀ E C_r. Rake: everything adds. A row with an end in either part adds up over both.
//! Rows closed here: with W their block of C, λ = W⁻(wanted − free motion) is eliminated like any pivot. The cluster is connected
//! and has one given motion, so a null direction of W moves nothing inside, hence nothing anywhere: it is truly redundant,
//! and is left out.
//!
//! This is Featherstone's divide-and-conquer algorithm [featherstone1999] in inertia form at one port, which needs no
//! body's inverse inertia and turns into the articulated-body algorithm where the second part is all that hangs outwards.
//!
//! **Cost.** About 4500 operations for a compression without rows; with k columns 14 k² more.
//!
//! **Fails when** a row is nearly dependent, which near a singular position is the truth: see `pivoted_qr.rs`.
//!
//! **Checked by** `tests/dca.rs`.

use super::block::{Block, BlockFlow};
use super::fused::Frame;
use super::matrix::{self, Closed, Joined, Mat6, Vec6};
use super::outward::{Gain, Place};
use super::{Drive, Row, Task};
use crate::dynamics::pivoted_qr::RANK_TOLERANCE;

/// What a cluster is made of.
#[derive(Debug, Clone)]
pub enum Kind {
    Block(Box<Block>),
    Compress,
    Rake,
}

/// Factors of one cluster.
#[derive(Debug, Clone)]
pub struct Node {
    pub kind: Kind,
    /// Clusters within, this one counted.
    pub n_clusters: usize,
    pub n_links: usize,
    /// Column, here, of each column of the first part (of the first part's rows, where it is compressed) and of the second.
    pub first: Vec<usize>,
    pub second: Vec<usize>,
    /// Global rows of the columns from `base` on; those from `n_open` on are closed here.
    pub rows: Vec<usize>,
    /// Columns of the bottom: six or none.
    pub base: usize,
    pub n_open: usize,
    pub n_columns: usize,
    pub inertia: Mat6,
    /// F, column by column.
    pub force: Vec<f64>,
    /// C, symmetric, with `n_columns` rows.
    pub mobility: Vec<f64>,
    /// Mobility that each row would have if nothing cancelled.
    size: Vec<f64>,
    /// Mobility that the bottom would have if no row were closed; none where that is its mobility. What closed rows leave of it may
    /// be rounding, which is no size.
    loose: Option<Mat6>,
    /// E and S of a compression.
    share: Mat6,
    eased: Mat6,
    pub closed: Closed,
    scratch: Vec<f64>,
}

/// Right-hand sides and answers of one cluster.
#[derive(Debug, Clone)]
pub struct Flow {
    pub block: BlockFlow,
    pub bias: Vec6,
    pub free: Vec<f64>,
    pub top: Vec6,
    /// Axes and spin of the top, and of the bottom against it; the fused route only.
    pub frame: Frame,
    pub turn: Frame,
    /// Where the top is, the bottom against it, and how that is accelerated; outward sweeps of the general route.
    pub place: Place,
    pub reach: Place,
    pub gain: Gain,
    pub lambda: Vec<f64>,
    scratch: Vec<f64>,
}

impl Node {
    pub fn new(kind: Kind, n_clusters: usize, n_links: usize, base: usize, rows: Vec<usize>, n_closed: usize) -> Self {
        let n = base + rows.len();
        Self {
            kind,
            n_clusters,
            n_links,
            first: Vec::new(),
            second: Vec::new(),
            rows,
            base,
            n_open: n - n_closed,
            n_columns: n,
            inertia: [0.0; 36],
            force: vec![0.0; 6 * n],
            mobility: vec![0.0; n * n],
            size: vec![0.0; n],
            loose: None,
            share: [0.0; 36],
            eased: [0.0; 36],
            closed: Closed::new(n_closed),
            scratch: Vec::new(),
        }
    }

    pub fn flow(&self) -> Flow {
        let n = self.n_columns;
        let block = if let Kind::Block(block) = &self.kind { block.flow() } else { BlockFlow::default() };
        Flow {
            block,
            bias: [0.0; 6],
            free: vec![0.0; n],
            top: [0.0; 6],
            frame: Frame::default(),
            turn: Frame::default(),
            place: Place::default(),
            reach: Place::default(),
            gain: Gain::default(),
            lambda: vec![0.0; n],
            scratch: vec![0.0; n - self.n_open],
        }
    }

    /// Reserves what merging needs, once the columns' places are known.
    pub fn reserve(&mut self) {
        let n_closed = self.n_columns - self.n_open;
        self.scratch = vec![0.0; (6 * (self.first.len() + self.second.len())).max(n_closed * (self.n_open + 6))];
    }

    /// The block that it is.
    pub fn block(&self) -> Option<&Block> {
        if let Kind::Block(block) = &self.kind { Some(block) } else { None }
    }

    fn column(&self, j: usize) -> &[f64] {
        &self.force[6 * j..6 * j + 6]
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self.mobility[j * self.n_columns + i]
    }

    fn add(&mut self, i: usize, j: usize, x: f64) {
        let n = self.n_columns;
        self.mobility[j * n + i] += x;
        if i != j {
            self.mobility[i * n + j] += x;
        }
    }

    pub fn factor_block(&mut self, task: &Task<'_>) {
        self.loose = None;
        let Kind::Block(block) = &mut self.kind else { return };
        let (force, mobility, size) = (&mut self.force, &mut self.mobility, &mut self.size);
        let whole = block.factor(task.tree, task.kinematics, task.held, task.rows, force, mobility, size);
        self.inertia = matrix::from_sym6(&whole);
        self.close(task.rows);
    }

    pub fn factor_merge(&mut self, a: &Self, b: &Self, rows: &[Row]) {
        self.force.fill(0.0);
        self.mobility.fill(0.0);
        self.size.fill(0.0);
        self.loose = None;
        match self.kind {
            Kind::Compress => self.compress(a, b),
            _ => self.rake(a, b),
        }
        self.close(rows);
    }

    /// Mobility of the bottom with no row closed.
    fn loose(&self) -> Mat6 {
        self.loose.unwrap_or_else(|| std::array::from_fn(|i| self.mobility[i / 6 * self.n_columns + i % 6]))
    }

    fn rake(&mut self, a: &Self, b: &Self) {
        self.loose = a.loose.or(b.loose);
        for (s, (a, b)) in self.inertia.iter_mut().zip(a.inertia.iter().zip(&b.inertia)) {
            *s = a + b;
        }
        for (part, is_first) in [(a, true), (b, false)] {
            let places = std::mem::take(if is_first { &mut self.first } else { &mut self.second });
            for (j, &at) in places.iter().enumerate() {
                matrix::add_scaled(&mut self.force[6 * at..], 1.0, part.column(j));
                self.size[at] += part.size[j];
                for (i, &to) in places.iter().enumerate().take(j + 1) {
                    self.add(to, at, part.entry(i, j));
                }
            }
            *(if is_first { &mut self.first } else { &mut self.second }) = places;
        }
    }

    fn compress(&mut self, a: &Self, b: &Self) {
        let Joined { share, inertia, mobility } = Joined::compute(&a.mobility, a.n_columns, &b.inertia);
        (self.share, self.eased) = (share, mobility);
        let mut lever = [0.0; 36];
        lever.copy_from_slice(&a.force[..36]);
        // I′ = I₁ + F K Fᵀ, symmetric to the last bit.
        let fk = matrix::product(&lever, &inertia);
        for j in 0..6 {
            for i in 0..=j {
                let sum = (0..6).map(|k| fk[6 * k + i] * lever[6 * k + j]).sum::<f64>();
                self.inertia[6 * j + i] = a.inertia[6 * j + i] + sum;
                self.inertia[6 * i + j] = self.inertia[6 * j + i];
            }
        }
        let (first, second) = (std::mem::take(&mut self.first), std::mem::take(&mut self.second));
        let mut scratch = std::mem::take(&mut self.scratch);
        let (sf, ec) = scratch.split_at_mut(6 * second.len());
        // How rows of the second part give way with no row of the first closed.
        let given = a.loose.map(|loose| Joined::compute(&loose, 6, &b.inertia).mobility);
        let through = matrix::product(&lever, &matrix::transposed(&share));
        for (j, &at) in second.iter().enumerate() {
            let column = b.column(j);
            matrix::add_scaled(&mut self.force[6 * at..], 1.0, &matrix::times(&through, column));
            sf[6 * j..6 * j + 6].copy_from_slice(&matrix::times(&mobility, column));
            let felt = match &given {
                Some(given) => matrix::dot(column, &matrix::times(given, column)),
                None => matrix::dot(column, &sf[6 * j..]),
            };
            self.size[at] += b.size[j] + felt;
            for (i, &to) in second.iter().enumerate().take(j + 1) {
                self.add(to, at, b.entry(i, j) + matrix::dot(b.column(i), &sf[6 * j..]));
            }
        }
        for (j, &at) in first.iter().enumerate() {
            let c = &a.mobility[(6 + j) * a.n_columns..(6 + j) * a.n_columns + 6];
            let kc = matrix::times(&inertia, c);
            let fkc = matrix::times(&lever, &kc);
            matrix::add_scaled(&mut self.force[6 * at..], 1.0, a.column(6 + j));
            matrix::add_scaled(&mut self.force[6 * at..], -1.0, &fkc);
            ec[6 * j..6 * j + 6].copy_from_slice(&matrix::times(&share, c));
            self.size[at] += a.size[6 + j];
            for (i, &to) in first.iter().enumerate().take(j + 1) {
                let other = &a.mobility[(6 + i) * a.n_columns..(6 + i) * a.n_columns + 6];
                self.add(to, at, a.entry(6 + i, 6 + j) - matrix::dot(other, &kc));
            }
            for (i, &to) in second.iter().enumerate() {
                let between = matrix::dot(b.column(i), &ec[6 * j..]);
                self.add(to, at, if to == at { 2.0 * between } else { between });
            }
        }
        if self.base > 0 && (given.is_some() || b.loose.is_some()) {
            let (mut loose, given) = (b.loose(), given.unwrap_or(mobility));
            for j in 0..6 {
                let gives = matrix::times(&given, b.column(j));
                (0..6).for_each(|i| loose[6 * j + i] += matrix::dot(b.column(i), &gives));
            }
            self.loose = Some(loose);
        }
        (self.first, self.second, self.scratch) = (first, second, scratch);
    }

    /// Eliminates the rows that are closed here.
    fn close(&mut self, rows: &[Row]) {
        let (n, m) = (self.n_columns, self.n_open);
        if m == n {
            return;
        }
        let row = |i: usize| &rows[self.rows[m + i - self.base]];
        let (mobility, size) = (&self.mobility, &self.size);
        let w = |i: usize, j: usize| {
            let compliance = if i == j { row(i).compliance } else { 0.0 };
            mobility[(m + j) * n + m + i] + compliance
        };
        let natural = |i: usize| if row(i).is_active { size[m + i] + row(i).compliance } else { 0.0 };
        self.closed.factor(w, natural, RANK_TOLERANCE * RANK_TOLERANCE);
        let rank = self.closed.rank;
        if rank == 0 {
            return;
        }
        if self.base > 0 {
            self.loose = Some(self.loose());
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        // L⁻¹ of every open column, then of the six rows of F.
        let (columns, levers) = scratch.split_at_mut(rank * m);
        for j in 0..m {
            self.closed.forward(|i| mobility[j * n + m + i], &mut columns[j * rank..(j + 1) * rank]);
        }
        for k in 0..6 {
            self.closed.forward(|i| self.force[6 * (m + i) + k], &mut levers[k * rank..(k + 1) * rank]);
        }
        for r in 0..rank {
            let inverse = self.closed.inverse_pivot(r);
            let mut lever = [0.0; 6];
            (0..6).for_each(|k| lever[k] = levers[k * rank + r]);
            for j in 0..6 {
                matrix::add_scaled(&mut self.inertia[6 * j..], lever[j] * inverse, &lever);
            }
            for j in 0..m {
                let s = columns[j * rank + r] * inverse;
                if s == 0.0 {
                    continue;
                }
                matrix::add_scaled(&mut self.force[6 * j..], -s, &lever);
                for i in 0..m {
                    self.mobility[j * n + i] -= s * columns[i * rank + r];
                }
            }
        }
        // Symmetric to the last bit.
        for j in 0..m {
            for i in 0..j {
                self.mobility[i * n + j] = self.mobility[j * n + i];
            }
        }
        self.scratch = scratch;
    }

    /// Right-hand sides of a block.
    pub fn rise_block(&self, task: &Task<'_>, drive: &Drive<'_>, flow: &mut Flow) {
        let Kind::Block(block) = &self.kind else { return };
        flow.bias = block.rise(task.tree, drive, task.rows, &mut flow.block, &mut flow.free);
        self.rise_closed(drive, flow);
    }

    /// Right-hand sides of a merged cluster from those of its parts.
    pub fn rise_merge(&self, parts: (&Self, &Self), flows: (&Flow, &Flow), drive: &Drive<'_>, flow: &mut Flow) {
        let ((a, b), (fa, fb)) = (parts, flows);
        flow.free.fill(0.0);
        flow.bias = fa.bias;
        if matches!(self.kind, Kind::Compress) {
            let mut demand = matrix::times(&b.inertia, &fa.free);
            matrix::add_scaled(&mut demand, 1.0, &fb.bias);
            let mut motion = [0.0; 6];
            motion.copy_from_slice(&fa.free[..6]);
            matrix::add_scaled(&mut motion, -1.0, &matrix::times(&self.eased, &demand));
            let demand = matrix::transposed_times(&self.share, &demand);
            for j in 0..6 {
                matrix::add_scaled(&mut flow.bias, demand[j], a.column(j));
            }
            for (j, &at) in self.second.iter().enumerate() {
                flow.free[at] += fb.free[j] + matrix::dot(b.column(j), &motion);
            }
            for (j, &at) in self.first.iter().enumerate() {
                let c = &a.mobility[(6 + j) * a.n_columns..(6 + j) * a.n_columns + 6];
                flow.free[at] += fa.free[6 + j] - matrix::dot(c, &demand);
            }
        } else {
            matrix::add_scaled(&mut flow.bias, 1.0, &fb.bias);
            self.first.iter().enumerate().for_each(|(j, &at)| flow.free[at] += fa.free[j]);
            self.second.iter().enumerate().for_each(|(j, &at)| flow.free[at] += fb.free[j]);
        }
        self.rise_closed(drive, flow);
    }

    fn rise_closed(&self, drive: &Drive<'_>, flow: &mut Flow) {
        let (n, m) = (self.n_columns, self.n_open);
        if m == n {
            return;
        }
        let Flow { free, lambda, bias, scratch, .. } = flow;
        for i in m..n {
            lambda[i] = self.wanted(drive, i) - free[i];
        }
        self.closed.solve(scratch, &mut lambda[m..]);
        for i in m..n {
            matrix::add_scaled(bias, -lambda[i], self.column(i));
            for j in 0..m {
                free[j] += self.entry(j, i) * lambda[i];
            }
        }
    }

    fn wanted(&self, drive: &Drive<'_>, column: usize) -> f64 {
        drive.wanted.get(self.rows[column - self.base]).copied().unwrap_or(0.0)
    }

    /// Forces of the rows closed here, once the top's motion and the forces at the open ports are in `flow`.
    fn sink_closed(&self, drive: &Drive<'_>, flow: &mut Flow) {
        let (n, m) = (self.n_columns, self.n_open);
        if m == n {
            return;
        }
        let Flow { free, lambda, top, scratch, .. } = flow;
        let (open, closed) = lambda.split_at_mut(m);
        for i in m..n {
            let mut rest = self.wanted(drive, i) - free[i] - matrix::dot(self.column(i), top);
            for j in 0..m {
                rest -= self.entry(j, i) * open[j];
            }
            closed[i - m] = rest;
        }
        self.closed.solve(scratch, closed);
    }

    pub fn sink_root(&self, drive: &Drive<'_>, flow: &mut Flow) {
        flow.top = drive.ground.to_array();
        for j in 0..self.n_open {
            flow.lambda[j] = drive.kept.get(self.rows[j]).copied().unwrap_or(0.0);
        }
    }

    pub fn sink_block(&self, task: &Task<'_>, drive: &Drive<'_>, flow: &mut Flow) {
        self.sink_closed(drive, flow);
        let Kind::Block(block) = &self.kind else { return };
        block.sink(task.tree, drive, &flow.top, &flow.lambda, &mut flow.block);
    }

    /// Motions of the parts' tops and forces at their ports.
    pub fn sink_merge(&self, parts: (&Self, &Self), drive: &Drive<'_>, flow: &mut Flow, to: (&mut Flow, &mut Flow)) {
        self.sink_closed(drive, flow);
        let ((a, b), (fa, fb)) = (parts, to);
        fa.top = flow.top;
        if matches!(self.kind, Kind::Rake) {
            fb.top = flow.top;
            self.first.iter().enumerate().for_each(|(j, &at)| fa.lambda[j] = flow.lambda[at]);
            self.second.iter().enumerate().for_each(|(j, &at)| fb.lambda[j] = flow.lambda[at]);
            return;
        }
        self.first.iter().enumerate().for_each(|(j, &at)| fa.lambda[6 + j] = flow.lambda[at]);
        self.second.iter().enumerate().for_each(|(j, &at)| fb.lambda[j] = flow.lambda[at]);
        // What comes from below, and the free motion of the body where the parts meet.
        let mut push = fb.bias.map(|x| -x);
        for j in 0..b.n_open {
            matrix::add_scaled(&mut push, fb.lambda[j], b.column(j));
        }
        let mut motion = [0.0; 6];
        motion.copy_from_slice(&fa.free[..6]);
        for j in 0..6 {
            motion[j] += matrix::dot(a.column(j), &flow.top);
        }
        for j in 6..a.n_open {
            matrix::add_scaled(&mut motion, fa.lambda[j], &a.mobility[j * a.n_columns..j * a.n_columns + 6]);
        }
        // With S, not with E (m + C f): a light first part would be moved far by f alone.
        matrix::add_scaled(&mut push, -1.0, &matrix::times(&b.inertia, &motion));
        matrix::add_scaled(&mut motion, 1.0, &matrix::times(&self.eased, &push));
        fa.lambda[..6].copy_from_slice(&matrix::transposed_times(&self.share, &push));
        fb.top = motion;
    }
}
