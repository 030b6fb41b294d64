//! The Newton matrix A + B (W + α) over active contacts: assembled, factored, solved.

use super::super::articulation::Articulation;
use super::super::cone::MAX_DIM;
use super::active::Linearised;
use super::block_lu::{Numeric, Row, Rows, Symbolic, invert};
use super::linear::DenseLu;
use super::system::System;
use super::tree_lu::TreeLu;

/// Up to this number of active rows a dense factorisation is faster than a sparse one (measured: book, contact problem).
const DENSE_ROWS: usize = 48;

/// Numbers of active rows of spatial contacts for which elimination by blocks is the faster one, however full the matrix is.
const BLOCK_ROWS: std::ops::Range<usize> = 13..97;

/// Up to this number of rows W is always the smaller one. Below a tolerance that the rounding of M + Jᵀ J/α comes close to, steps by links
/// only lead near the solution, and it must be much smaller to be worth it.
const FEW_ROWS: usize = 60;
const TREE_TOLERANCE: f64 = 1e-10;
const FEW_ROWS_EXACTLY: usize = 200;

/// Proximal parameters below which α is lost in the rounding of W, and W in that of M + Jᵀ J/α.
const SMALLEST_IN_W: f64 = 1e-11;
const SMALLEST_IN_TREES: f64 = 1e-6;

/// What a tolerance asks for: α below this many times the tolerance gains nothing, and W is better conditioned with it.
const PER_TOLERANCE: f64 = 100.0;

/// Factors of the Newton matrix.
#[derive(Debug, Clone, Default)]
pub struct NewtonMatrix {
    symbolic: Symbolic,
    has_order: bool,
    pattern: Vec<bool>,
    dense: DenseLu,
    n1: Numeric<1, 1>,
    n2: Numeric<2, 2>,
    n3: Numeric<3, 4>,
    n5: Numeric<5, 5>,
    n6: Numeric<6, 6>,
    /// First row of an active contact in the dense system.
    start: Vec<usize>,
    active_rows: usize,
    tolerance: f64,
    /// Block size of the sparse factor, zero for the dense one.
    sparse_dim: usize,
    rhs: Vec<f64>,
    packed: Vec<f64>,
    tree: TreeLu,
    /// Without contacts: M alone.
    free: TreeLu,
    uses_tree: bool,
    /// Whether velocities, too, are found by the links.
    moves_links: bool,
    /// D of every contact, in the units of the problem as it was posed.
    stiffness: Vec<[f64; 9]>,
    /// (A + α B)⁻¹ of every contact.
    inverses: Vec<[f64; 9]>,
    /// W x of the last step, where it is known.
    response: Vec<f64>,
}

impl NewtonMatrix {
    /// Forgets the last problem, and chooses between its contacts and its links.
    pub fn reset(&mut self, system: &System, tolerance: f64) {
        self.tolerance = tolerance;
        self.has_order = false;
        self.uses_tree = false;
        let n = system.n();
        let few = if tolerance < TREE_TOLERANCE { FEW_ROWS_EXACTLY } else { FEW_ROWS };
        if let Some(tree) = system.articulation.as_ref().filter(|_| n > few) {
            let cost = self.tree.plan(tree, &system.members);
            let blocks = system.n_contacts() as f64;
            let is_sparse = system.w.n_stored() * 3 < system.n_contacts() * system.n_contacts();
            let filled = 2.0 * system.w.n_stored() as f64 / blocks;
            let other = if is_sparse { 9.0 * blocks * filled * filled } else { (n as f64).powi(3) / 3.0 };
            self.uses_tree = cost < other;
            // A substitution costs about a sixth of an elimination; W is read once.
            let by_links = self.uses_tree && (9 * system.w.n_stored()) as f64 > cost / 3.0;
            self.moves_links = by_links && self.find_free_motion(system, tree);
        }
    }

    fn find_free_motion(&mut self, system: &System, tree: &Articulation) -> bool {
        self.free.share_plan(&self.tree);
        self.stiffness.clear();
        self.stiffness.resize(system.n_contacts(), [0.0; 9]);
        self.free.factor(system, tree, &self.stiffness)
    }

    /// u = W r + q, by the links where that is less work than by W.
    pub fn velocity(&mut self, system: &System, r: &[f64], u: &mut [f64]) {
        let Some(tree) = system.articulation.as_ref().filter(|_| self.uses_tree && self.moves_links) else {
            return system.velocity(r, u);
        };
        self.rhs.clear();
        self.rhs.extend(r.iter().zip(&system.row_scale).map(|(r, s)| system.common_scale * s * r));
        self.free.solve(system, tree, &self.rhs, u);
        for ((u, s), q) in u.iter_mut().zip(&system.row_scale).zip(&system.q) {
            *u = *u * s + q;
        }
    }

    /// Whether the trees that were chosen are used.
    pub fn set_trees(&mut self, uses_tree: bool) {
        self.uses_tree = uses_tree;
    }

    /// Below this the proximal term is lost in rounding.
    pub fn smallest_alpha(&self) -> f64 {
        if self.uses_tree { SMALLEST_IN_TREES } else { (PER_TOLERANCE * self.tolerance).max(SMALLEST_IN_W) }
    }

    /// W x of the last step x, if the factorisation has it.
    pub fn response(&self) -> Option<&[f64]> {
        self.uses_tree.then_some(&*self.response)
    }

    /// M + Jᵀ D J with D = (A + α B)⁻¹ B; false if a pivot vanishes.
    fn factor_tree(&mut self, system: &System, laws: &[Linearised], alpha: f64) -> bool {
        let Some(tree) = &system.articulation else { return false };
        let g = system.common_scale;
        self.stiffness.clear();
        self.inverses.clear();
        for (i, law) in laws.iter().enumerate() {
            let rows = system.rows(i);
            let (mut d, mut inverse) = ([0.0; 9], [0.0; 9]);
            let is_regular = match rows.len() {
                1 => stiffness::<1>(law, alpha, &mut d, &mut inverse),
                2 => stiffness::<2>(law, alpha, &mut d, &mut inverse),
                3 => stiffness::<3>(law, alpha, &mut d, &mut inverse),
                _ => false,
            };
            if !is_regular {
                return false;
            }
            let (dim, scale) = (rows.len(), &system.row_scale[rows]);
            for a in 0..dim {
                for b in 0..dim {
                    d[a * dim + b] *= g * scale[a] * scale[b];
                }
            }
            self.stiffness.push(d);
            self.inverses.push(inverse);
        }
        self.tree.factor(system, tree, &self.stiffness)
    }

    /// x ← f − D W x, f = (A + α B)⁻¹ x, with W x = J (M + Jᵀ D J)⁻¹ Jᵀ f.
    fn solve_tree(&mut self, system: &System, x: &mut [f64]) {
        let Some(tree) = &system.articulation else { return };
        let g = system.common_scale;
        self.rhs.clear();
        for (i, inverse) in self.inverses.iter().enumerate() {
            let rows = system.rows(i);
            let dim = rows.len();
            let mut f = [0.0; 3];
            for a in 0..dim {
                f[a] = (0..dim).map(|b| inverse[a * dim + b] * x[rows.start + b]).sum();
            }
            x[rows.clone()].copy_from_slice(&f[..dim]);
            self.rhs.extend(f[..dim].iter().zip(&system.row_scale[rows]).map(|(f, s)| g * s * f));
        }
        self.response.resize(x.len(), 0.0);
        self.tree.solve(system, tree, &self.rhs, &mut self.response);
        for (i, d) in self.stiffness.iter().enumerate() {
            let rows = system.rows(i);
            let dim = rows.len();
            for a in 0..dim {
                let force: f64 = (0..dim).map(|b| d[a * dim + b] * self.response[rows.start + b]).sum();
                x[rows.start + a] -= force / (g * system.row_scale[rows.start + a]);
            }
        }
        self.response.iter_mut().zip(&system.row_scale).for_each(|(u, s)| *u *= s);
    }

    /// Factors A + B (W + α) over the contacts that are not open. False if it is singular.
    pub fn factor(&mut self, system: &System, laws: &[Linearised], alpha: f64) -> bool {
        if self.uses_tree {
            if self.factor_tree(system, laws, alpha) {
                return true;
            }
            self.uses_tree = false;
        }
        let n_contacts = system.n_contacts();
        self.active_rows = laws.iter().enumerate().filter(|(_, l)| !l.is_open).map(|(i, _)| system.w.dim(i)).sum();
        if self.active_rows == 0 {
            return true;
        }
        let is_sparse = self.active_rows > DENSE_ROWS && system.w.n_stored() * 3 < n_contacts * n_contacts;
        // Spatial blocks fill registers by themselves, which pays where rows are short.
        let is_small = system.w.stride() == 3 && BLOCK_ROWS.contains(&self.active_rows);
        let sparse = is_sparse || is_small;
        if !sparse {
            self.sparse_dim = 0;
            return self.factor_dense(system, laws, alpha);
        }
        let dim = (0..n_contacts).map(|i| system.w.dim(i)).max().unwrap_or(1);
        self.sparse_dim = dim;
        if !self.has_order {
            if !self.symbolic.order(&system.w) {
                self.pattern.clear();
            }
            self.has_order = true;
        }
        if self.pattern.len() != n_contacts || self.pattern.iter().zip(laws).any(|(p, l)| *p == l.is_open) {
            self.pattern.clear();
            self.pattern.extend(laws.iter().map(|l| !l.is_open));
            self.symbolic.restrict(&system.w, &self.pattern);
        }
        let rows = NewtonRows { system, laws, alpha };
        match dim {
            1 => self.n1.factor(&self.symbolic, &rows),
            2 => self.n2.factor(&self.symbolic, &rows),
            3 => self.n3.factor(&self.symbolic, &rows),
            4 | 5 => self.n5.factor(&self.symbolic, &rows),
            _ => self.n6.factor(&self.symbolic, &rows),
        }
    }

    /// x ← (A + B (W + α))⁻¹ x.
    pub fn solve_factored(&mut self, system: &System, laws: &[Linearised], x: &mut [f64]) {
        if self.uses_tree {
            return self.solve_tree(system, x);
        }
        if self.active_rows == 0 {
            return;
        }
        // Open contacts have A = 1, B = 0 and are solved at once; the others see them on the right.
        let open = laws.iter().enumerate().filter(|(_, law)| law.is_open);
        if open.clone().flat_map(|(i, _)| &x[system.rows(i)]).any(|x| *x != 0.0) {
            self.rhs.clear();
            self.rhs.resize(x.len(), 0.0);
            open.for_each(|(i, _)| self.rhs[system.rows(i)].copy_from_slice(&x[system.rows(i)]));
            for (i, law) in laws.iter().enumerate().filter(|(_, law)| !law.is_open) {
                let rows = system.rows(i);
                let dim = rows.len();
                let mut product = [0.0; MAX_DIM];
                system.w.add_row_product(i, &self.rhs, &mut product[..dim]);
                for a in 0..dim {
                    x[rows.start + a] -= (0..dim).map(|c| law.b[a * dim + c] * product[c]).sum::<f64>();
                }
            }
        }
        let offsets = system.offsets();
        match self.sparse_dim {
            0 => {}
            1 => return self.n1.solve(&self.symbolic, offsets, x),
            2 => return self.n2.solve(&self.symbolic, offsets, x),
            3 => return self.n3.solve(&self.symbolic, offsets, x),
            4 | 5 => return self.n5.solve(&self.symbolic, offsets, x),
            _ => return self.n6.solve(&self.symbolic, offsets, x),
        }
        self.packed.clear();
        for (i, law) in laws.iter().enumerate() {
            if !law.is_open {
                self.packed.extend_from_slice(&x[system.rows(i)]);
            }
        }
        self.dense.solve(&mut self.packed);
        let mut from = 0;
        for (i, law) in laws.iter().enumerate() {
            if !law.is_open {
                let rows = system.rows(i);
                let dim = rows.len();
                x[rows].copy_from_slice(&self.packed[from..from + dim]);
                from += dim;
            }
        }
    }

    /// The Newton step: (A + B (W + α)) x = −f. False if the matrix is singular.
    pub fn solve(&mut self, system: &System, laws: &[Linearised], alpha: f64, x: &mut [f64]) -> bool {
        for (i, law) in laws.iter().enumerate() {
            x[system.rows(i)].iter_mut().zip(&law.f).for_each(|(x, f)| *x = -f);
        }
        if !self.factor(system, laws, alpha) {
            return false;
        }
        self.solve_factored(system, laws, x);
        x.iter().all(|x| x.is_finite())
    }

    fn factor_dense(&mut self, system: &System, laws: &[Linearised], alpha: f64) -> bool {
        self.start.clear();
        let mut at = 0;
        for (i, law) in laws.iter().enumerate() {
            self.start.push(if law.is_open { usize::MAX } else { at });
            if !law.is_open {
                at += system.w.dim(i);
            }
        }
        let m = self.active_rows;
        let matrix = self.dense.start(m);
        for (i, law) in laws.iter().enumerate() {
            if law.is_open {
                continue;
            }
            let (row, dim) = (self.start[i], system.w.dim(i));
            for (j, w) in system.w.row(i) {
                if laws[j].is_open {
                    continue;
                }
                let (column, width) = (self.start[j], system.w.dim(j));
                for a in 0..dim {
                    let at = (row + a) * m + column;
                    let target = &mut matrix[at..at + width];
                    let factors = &law.b[a * dim..(a + 1) * dim];
                    if let ([t0, t1, t2], [b0, b1, b2], 9) = (&mut *target, factors, w.len()) {
                        *t0 += b0 * w[0] + b1 * w[3] + b2 * w[6];
                        *t1 += b0 * w[1] + b1 * w[4] + b2 * w[7];
                        *t2 += b0 * w[2] + b1 * w[5] + b2 * w[8];
                        continue;
                    }
                    if let ([t0, t1], [b0, b1], 4) = (&mut *target, factors, w.len()) {
                        *t0 += b0 * w[0] + b1 * w[2];
                        *t1 += b0 * w[1] + b1 * w[3];
                        continue;
                    }
                    for (b, row) in factors.iter().zip(w.chunks_exact(width)) {
                        for (t, w) in target.iter_mut().zip(row) {
                            *t += b * w;
                        }
                    }
                }
            }
            for a in 0..dim {
                for c in 0..dim {
                    matrix[(row + a) * m + row + c] += law.a[a * dim + c] + alpha * law.b[a * dim + c];
                }
            }
        }
        self.dense.factor()
    }
}

/// A + B (W + α) row by row.
struct NewtonRows<'a> {
    system: &'a System,
    laws: &'a [Linearised],
    alpha: f64,
}

impl<const D: usize, const P: usize> Rows<D, P> for NewtonRows<'_> {
    #[inline(always)]
    fn write(&self, contact: usize, row: &mut Row<D, P>) {
        let (law, w) = (&self.laws[contact], &self.system.w);
        let dim = w.dim(contact);
        match w.spatial().filter(|_| D == 3) {
            Some(spatial) => {
                let slots = spatial.row_start[contact]..spatial.row_start[contact + 1];
                for (w, j) in spatial.blocks[slots.clone()].iter().zip(&spatial.columns[slots]) {
                    let Some(block) = row.block(*j) else { continue };
                    if law.is_unit {
                        block.iter_mut().zip(w.chunks_exact(D)).for_each(|(b, w)| b[..D].copy_from_slice(w));
                    } else {
                        multiply(&law.b, w, block);
                    }
                }
            }
            None => {
                for (j, w) in w.row(contact) {
                    let Some(block) = row.block(j) else { continue };
                    let width = w.len() / dim;
                    for a in 0..dim {
                        for c in 0..dim {
                            for k in 0..width {
                                block[a][k] += law.b[a * dim + c] * w[c * width + k];
                            }
                        }
                    }
                }
            }
        }
        if let Some(block) = row.block(contact) {
            for a in 0..dim {
                for c in 0..dim {
                    block[a][c] += law.a[a * dim + c] + self.alpha * law.b[a * dim + c];
                }
            }
            for a in dim..D {
                block[a][a] = 1.0;
            }
        }
    }
}

/// The product of two matrices of D rows, in rows of P.
#[inline(always)]
fn multiply<const D: usize, const P: usize>(b: &[f64], w: &[f64; 9], out: &mut [[f64; P]; D]) {
    let lanes: [[f64; P]; D] = std::array::from_fn(|c| std::array::from_fn(|k| if k < D { w[c * D + k] } else { 0.0 }));
    for (a, out) in out.iter_mut().enumerate() {
        let mut sum = [0.0; P];
        for c in 0..D {
            for k in 0..P {
                sum[k] += b[a * D + c] * lanes[c][k];
            }
        }
        *out = sum;
    }
}

/// D = (A + α B)⁻¹ B of one contact, and (A + α B)⁻¹. False if A + α B is singular.
fn stiffness<const D: usize>(law: &Linearised, alpha: f64, out: &mut [f64; 9], inverse_out: &mut [f64; 9]) -> bool {
    let mut sum = [[0.0; D]; D];
    for a in 0..D {
        for b in 0..D {
            sum[a][b] = law.a[a * D + b] + alpha * law.b[a * D + b];
        }
    }
    let Some(inverse) = invert(&sum) else { return false };
    for a in 0..D {
        for b in 0..D {
            inverse_out[a * D + b] = inverse[a][b];
            out[a * D + b] = (0..D).map(|c| inverse[a][c] * law.b[c * D + b]).sum();
        }
    }
    true
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::super::articulation::End;
    use super::super::super::cone::Cone;
    use super::super::super::delassus::BlockMatrix;
    use super::super::super::problem::ContactProblem;
    use super::super::frame::Frame;
    use super::super::{Solution, Start};
    use super::*;

    struct Random(u64);

    impl Random {
        /// Between −1 and 1.
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }

        fn array<const N: usize>(&mut self) -> [f64; N] {
            std::array::from_fn(|_| self.next())
        }

        fn below(&mut self, n: usize) -> usize {
            ((self.next() + 1.0) * 0.5 * n as f64) as usize % n
        }
    }

    /// Trees and free bodies with contacts among each other, with the ground and on single speeds.
    fn mechanism(random: &mut Random, n_links: usize, n_contacts: usize) -> (Articulation, Vec<usize>) {
        let mut out = Articulation::default();
        out.clear();
        for i in 0..n_links {
            let parent = if i > 0 && random.next() > -0.4 { Some(random.below(i)) } else { None };
            let root: [[f64; 6]; 6] = std::array::from_fn(|_| random.array());
            let inertia = std::array::from_fn(|a| {
                std::array::from_fn(|b| {
                    (0..6).map(|k| root[a][k] * root[b][k]).sum::<f64>() + if a == b { 1.0 } else { 0.0 }
                })
            });
            out.push_link(parent, random.array(), inertia);
            let n = if parent.is_none() { 6 } else { 1 + random.below(3) };
            for k in 0..n {
                // Motions that are far from each other, so that M is well conditioned.
                let mut motion = random.array().map(|x: f64| 0.3 * x);
                motion[k] += 1.0;
                out.push_speed(motion, 0.1 * (1.0 + random.next()));
            }
        }
        let mut dims = Vec::new();
        for _ in 0..n_contacts {
            let a = random.below(n_links);
            let mut rows = || -> [[f64; 6]; 3] { std::array::from_fn(|_| random.array()) };
            let (first, second) = (rows(), rows());
            match random.below(4) {
                0 => {
                    let s = out.speeds(a).start;
                    out.push_contact([End::Speed(a, s, -1.0)]);
                    dims.push(1);
                }
                1 => {
                    out.push_contact([End::Link(a, first)]);
                    dims.push(3);
                }
                2 => {
                    out.push_contact([End::Link(a, first), End::Link(random.below(n_links), second)]);
                    dims.push(3);
                }
                _ => {
                    out.push_contact([End::Link(a, first), End::Link(random.below(n_links), second)]);
                    dims.push(1 + random.below(2));
                }
            }
        }
        (out, dims)
    }

    /// W = J M⁻¹ Jᵀ by the speeds of the tree.
    fn delassus(tree: &Articulation, dims: &[usize]) -> Vec<f64> {
        let n = tree.n_speeds();
        // Motion of every link per unit of every speed.
        let mut motions: Vec<Vec<[f64; 6]>> = Vec::new();
        for link in 0..tree.n_links() {
            let d = tree.offset(link);
            let mut own = vec![[0.0; 6]; n];
            if let Some(p) = tree.parent(link) {
                for (own, t) in own.iter_mut().zip(&motions[p]) {
                    *own = *t;
                    own[3] += t[1] * d[2] - t[2] * d[1];
                    own[4] += t[2] * d[0] - t[0] * d[2];
                    own[5] += t[0] * d[1] - t[1] * d[0];
                }
            }
            tree.speeds(link).for_each(|s| own[s] = *tree.motion(s));
            motions.push(own);
        }
        let mut mass = DenseLu::default();
        let m = mass.start(n);
        for link in 0..tree.n_links() {
            for a in 0..n {
                for b in 0..n {
                    for i in 0..6 {
                        for j in 0..6 {
                            m[a * n + b] += motions[link][a][i] * tree.inertia(link)[i][j] * motions[link][b][j];
                        }
                    }
                }
            }
        }
        (0..n).for_each(|s| m[s * n + s] += tree.armature(s));
        assert!(mass.factor());
        let mut rows = Vec::new();
        for (c, dim) in dims.iter().enumerate() {
            for k in 0..*dim {
                let mut row = vec![0.0; n];
                for end in tree.ends(c) {
                    match end {
                        End::Speed(_, s, sign) => row[*s] += sign,
                        End::Link(link, j) => {
                            for (r, t) in row.iter_mut().zip(&motions[*link]) {
                                *r += (0..6).map(|i| j[k][i] * t[i]).sum::<f64>();
                            }
                        }
                    }
                }
                rows.push(row);
            }
        }
        let mut w = Vec::new();
        for b in &rows {
            let mut x = b.clone();
            mass.solve(&mut x);
            w.extend(rows.iter().map(|a| a.iter().zip(&x).map(|(a, x)| a * x).sum::<f64>()));
        }
        w
    }

    /// Newton steps in the velocities of links are those in contact space.
    #[test]
    fn links_and_contacts_give_one_step() {
        let mut random = Random(5);
        for case in 0..60 {
            let (tree, dims) = mechanism(&mut random, 1 + case % 9, 1 + case / 3);
            let w = delassus(&tree, &dims);
            let mut offsets = vec![0];
            dims.iter().for_each(|d| offsets.push(offsets[offsets.len() - 1] + d));
            let n = offsets[offsets.len() - 1];
            let mut blocks = BlockMatrix::default();
            blocks.set_from_dense(&offsets, &w);
            let cones = dims.iter().map(|d| match d {
                1 => Cone::Unilateral,
                2 => Cone::planar(0.4),
                _ => Cone::circular(0.4),
            });
            let q = (0..n).map(|_| random.next()).collect();
            let mut problem = ContactProblem::build(blocks, q, cones.collect()).unwrap();
            problem.refill_articulation(|out| {
                *out = tree.clone();
                true
            });
            let (mut frame, mut solution) = (Frame::default(), Solution::default());
            frame.open(&problem, Start::Cold, 1e-9, &mut solution);
            frame.enter(&problem, &mut solution.r);
            let system = &frame.system;
            let mut laws = vec![Linearised::default(); dims.len()];
            let (r, u): (Vec<f64>, Vec<f64>) = (0..n).map(|_| (random.next().abs(), 0.3 * random.next())).unzip();
            for (i, law) in laws.iter_mut().enumerate() {
                law.update(&system.cones[i], 1.0, &r[system.rows(i)], &u[system.rows(i)]);
            }
            let mut matrix = NewtonMatrix::default();
            matrix.reset(system, 1e-9);
            let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
            matrix.uses_tree = false;
            assert!(matrix.solve(system, &laws, 1e-3, &mut x));
            matrix.tree.plan(&tree, &system.members);
            matrix.uses_tree = true;
            assert!(matrix.solve(system, &laws, 1e-3, &mut y) && matrix.uses_tree, "case {case}");
            let size = x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            let off = x.iter().zip(&y).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs()));
            // D is 1/α times as stiff as a contact.
            assert!(off <= 1e-9 * size, "case {case}: {off:e} of {size:e}");
            let mut wx = vec![0.0; n];
            super::super::super::delassus::Delassus::apply(&system.w, &x, &mut wx);
            let off = wx.iter().zip(&matrix.response).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            assert!(off <= 1e-9 * size, "case {case}: response {off:e} of {size:e}");
        }
    }
}
