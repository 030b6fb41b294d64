//! Newton's equations through the mechanism behind W, instead of W itself.
//!
//! **Problem.** (A + B (W + α)) x = b, A and B block-diagonal. Contacts may be many more than the freedoms of what they touch.
//!
//! **Method.** Woodbury's identity: with D = (A + α B)⁻¹ B and f = (A + α B)⁻¹ b, x + D W x = f, and W x is found from f by a matrix of the
//! size of the mechanism: M + Jᵀ D J link by link (`tree_lu.rs`), or 1 + Y D Yᵀ over the speeds of a small one (`speed_lu.rs`).
//!
//! **Cost.** That of the factorisation, which [`Woodbury::plan`] tells beforehand.
//!
//! **Fails when** A + α B or the matrix is singular: the caller takes W.
//!
//! **Checked by** the tests below, against W.

use super::super::articulation::Articulation;
use super::super::origin::Mechanism;
use super::active::Linearised;
use super::block_lu::invert;
use super::constants::route::{LINK_TOLERANCE, SUBSTITUTION};
use super::speed_lu::SpeedLu;
use super::system::System;
use super::tree_lu::TreeLu;

/// Factors of the mechanism's matrix.
#[derive(Debug, Clone, Default)]
pub struct Woodbury {
    tree: TreeLu,
    /// Without contacts: M alone.
    free: TreeLu,
    speeds: SpeedLu,
    /// D of every contact, in the units of the problem as it was posed.
    stiffness: Vec<[f64; 9]>,
    /// (A + α B)⁻¹ of every contact.
    inverses: Vec<[f64; 9]>,
    rhs: Vec<f64>,
    /// W x of the last solution x.
    response: Vec<f64>,
    is_exact: bool,
    is_by_speeds: bool,
}

/// The mechanism of a system, if it is known.
fn mechanism(system: &System) -> Option<Mechanism<'_>> {
    system.origin.as_ref().and_then(|origin| origin.mechanism())
}

/// The most rows of a contact that it knows of.
pub const MOST_ROWS: usize = 3;

impl Woodbury {
    /// Whether the mechanism of a system is known.
    pub fn is_known(system: &System) -> bool {
        mechanism(system).is_some()
    }

    /// Prepares for a system; the multiplications of one factorisation, if its mechanism is known.
    pub fn plan(&mut self, system: &System, tolerance: f64) -> Option<f64> {
        self.is_exact = tolerance >= LINK_TOLERANCE;
        let mechanism = mechanism(system)?;
        self.is_by_speeds = matches!(mechanism, Mechanism::Speeds(_));
        match mechanism {
            Mechanism::Links(tree) => {
                self.tree.find_links(tree, &system.members);
                Some(self.tree.plan(tree, &system.members))
            }
            Mechanism::Speeds(columns) => self.speeds.plan(columns, &system.members),
        }
    }

    /// Whether steps lead to the tolerance of the plan, and not only near it.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Whether the matrix is that of a small mechanism's speeds.
    pub fn is_by_speeds(&self) -> bool {
        self.is_by_speeds
    }

    /// Whether velocities are found with less work than by the `of_w` multiplications of a product with W, where a factorisation takes `cost`; prepared for it.
    pub fn is_moved_for(&mut self, of_w: f64, cost: f64, system: &System) -> bool {
        match mechanism(system) {
            None => false,
            Some(Mechanism::Speeds(_)) => true,
            // A substitution costs about a sixth of an elimination; W is read once.
            Some(Mechanism::Links(tree)) => of_w > SUBSTITUTION * cost && self.find_free_motion(system, tree),
        }
    }

    fn find_free_motion(&mut self, system: &System, tree: &Articulation) -> bool {
        self.free.share_plan(&self.tree);
        self.stiffness.clear();
        self.stiffness.resize(system.n_contacts(), [0.0; 9]);
        self.free.factor(system, tree, &self.stiffness)
    }

    /// u = W r + q.
    pub fn velocity(&mut self, system: &System, r: &[f64], u: &mut [f64]) {
        self.rhs.clear();
        self.rhs.extend(r.iter().zip(&system.row_scale).map(|(r, s)| system.common_scale * s * r));
        match mechanism(system) {
            Some(Mechanism::Links(tree)) => self.free.solve(system, tree, &self.rhs, u),
            Some(Mechanism::Speeds(_)) => self.speeds.apply(system, &self.rhs, u),
            None => {}
        }
        for ((u, s), q) in u.iter_mut().zip(&system.row_scale).zip(&system.q) {
            *u = *u * s + q;
        }
    }

    /// W x of the last solution x.
    pub fn response(&self) -> &[f64] {
        &self.response
    }

    /// Factors for A + B (W + α); false if that cannot be done.
    pub fn factor(&mut self, system: &System, laws: &[Linearised], alpha: f64) -> bool {
        let g = system.common_scale;
        self.stiffness.resize(laws.len(), [0.0; 9]);
        self.inverses.resize(laws.len(), [0.0; 9]);
        let own = self.stiffness.iter_mut().zip(&mut self.inverses);
        for ((law, rows), (d, inverse)) in laws.iter().zip(system.offsets().windows(2)).zip(own) {
            let scale = &system.row_scale[rows[0]..rows[1]];
            // Forces all have one scale.
            if let [s, t, u] = scale
                && s == t
                && t == u
                && write_spatial_stiffness(law, alpha, g * s * t, d, inverse)
            {
                continue;
            }
            let found = match scale.len() {
                1 => stiffness::<1>(law, alpha),
                2 => stiffness::<2>(law, alpha),
                3 => stiffness::<3>(law, alpha),
                _ => None,
            };
            let Some(found) = found else { return false };
            [*d, *inverse] = found;
            for (row, s) in d.chunks_exact_mut(scale.len()).zip(scale) {
                row.iter_mut().zip(scale).for_each(|(d, t)| *d *= g * s * t);
            }
        }
        match mechanism(system) {
            Some(Mechanism::Links(tree)) => self.tree.factor(system, tree, &self.stiffness),
            Some(Mechanism::Speeds(_)) => self.speeds.factor(system, &self.stiffness),
            None => false,
        }
    }

    /// x ← f − D W x, f = (A + α B)⁻¹ x.
    pub fn solve(&mut self, system: &System, x: &mut [f64]) {
        let g = system.common_scale;
        self.response.resize(x.len(), 0.0);
        self.rhs.resize(x.len(), 0.0);
        for (inverse, rows) in self.inverses.iter().zip(system.offsets().windows(2)) {
            let rows = rows[0]..rows[1];
            let (x, scale) = (&mut x[rows.clone()], &system.row_scale[rows.clone()]);
            let f = times(inverse, x);
            for (((x, rhs), f), s) in x.iter_mut().zip(&mut self.rhs[rows]).zip(f).zip(scale) {
                *x = f;
                *rhs = g * s * f;
            }
        }
        match mechanism(system) {
            Some(Mechanism::Links(tree)) => self.tree.solve(system, tree, &self.rhs, &mut self.response),
            Some(Mechanism::Speeds(_)) => self.speeds.solve(system, &self.rhs, &mut self.response),
            None => {}
        }
        for (d, rows) in self.stiffness.iter().zip(system.offsets().windows(2)) {
            let rows = rows[0]..rows[1];
            let force = times(d, &self.response[rows.clone()]);
            for ((x, unit), force) in x[rows.clone()].iter_mut().zip(&system.row_unit[rows]).zip(force) {
                *x -= force * unit;
            }
        }
        self.response.iter_mut().zip(&system.row_scale).for_each(|(u, s)| *u *= s);
    }
}

/// D = (A + α B)⁻¹ B of one contact, and (A + α B)⁻¹. None if A + α B is singular.
fn stiffness<const D: usize>(law: &Linearised, alpha: f64) -> Option<[[f64; 9]; 2]> {
    let (mut d, mut inverse) = ([0.0; 9], [0.0; 9]);
    if law.is_open {
        (0..D).for_each(|a| inverse[a * D + a] = 1.0);
        return Some([d, inverse]);
    }
    let sum: [[f64; D]; D] =
        std::array::from_fn(|a| std::array::from_fn(|b| law.a[a * D + b] + alpha * law.b[a * D + b]));
    let found = invert(&sum)?;
    for a in 0..D {
        for b in 0..D {
            inverse[a * D + b] = found[a][b];
            d[a * D + b] = (0..D).map(|c| found[a][c] * law.b[c * D + b]).sum();
        }
    }
    Some([d, inverse])
}

/// The same in space, D times a factor, where the contact is open or the normal row of a closed one knows nothing of the tangential ones, and two rows are left
/// to invert. False, and nothing is written, elsewhere or where that cannot be done.
#[inline]
fn write_spatial_stiffness(law: &Linearised, alpha: f64, scale: f64, d: &mut [f64; 9], inverse: &mut [f64; 9]) -> bool {
    if law.is_open {
        *d = [0.0; 9];
        *inverse = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        return true;
    }
    let ([a0, a1, a2, a3, a4, a5, a6, a7, a8, ..], [b0, b1, b2, b3, b4, b5, b6, b7, b8, ..]) = (&law.a, &law.b);
    // [s p; q r] is what is left, [t u; v w] its inverse.
    let (s, p, q, r) = (a4 + alpha * b4, a5 + alpha * b5, a7 + alpha * b7, a8 + alpha * b8);
    let (normal, factor) = (1.0 / (a0 + alpha * b0), 1.0 / (s * r - p * q));
    if [*a1, *a2, *b1, *b2] != [0.0; 4] || !(normal.is_finite() && factor.is_finite()) {
        return false;
    }
    let (t, u, v, w) = (r * factor, -p * factor, -q * factor, s * factor);
    let (x, y) = (a3 + alpha * b3, a6 + alpha * b6);
    let (x, y) = (-(t * x + u * y) * normal, -(v * x + w * y) * normal);
    *d = [
        normal * b0 * scale,
        0.0,
        0.0,
        (x * b0 + (t * b3 + u * b6)) * scale,
        (t * b4 + u * b7) * scale,
        (t * b5 + u * b8) * scale,
        (y * b0 + (v * b3 + w * b6)) * scale,
        (v * b4 + w * b7) * scale,
        (v * b5 + w * b8) * scale,
    ];
    *inverse = [normal, 0.0, 0.0, x, t, u, y, v, w];
    true
}

/// The product of a block of one to three rows with as many numbers.
#[inline(always)]
fn times(block: &[f64; 9], x: &[f64]) -> [f64; 3] {
    match (block, x) {
        ([a, b, c, d, e, f, g, h, i], [x, y, z]) => {
            [a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z]
        }
        ([a, b, c, d, ..], [x, y]) => [a * x + b * y, c * x + d * y, 0.0],
        ([a, ..], [x]) => [a * x, 0.0, 0.0],
        _ => [0.0; 3],
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::super::articulation::End;
    use super::super::super::cone::Cone;
    use super::super::super::delassus::{BlockMatrix, Delassus};
    use super::super::super::problem::ContactProblem;
    use super::super::frame::Frame;
    use super::super::newton_matrix::NewtonMatrix;
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

    /// Columns of W = J M⁻¹ Jᵀ by the speeds of the tree: Y = L⁻¹ Jᵀ with M = L Lᵀ, row of W by row of W.
    fn columns(tree: &Articulation, dims: &[usize]) -> Vec<Vec<f64>> {
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
        let mut l = vec![vec![0.0; n]; n];
        for link in 0..tree.n_links() {
            for a in 0..n {
                for b in 0..n {
                    for i in 0..6 {
                        for j in 0..6 {
                            l[a][b] += motions[link][a][i] * tree.inertia(link)[i][j] * motions[link][b][j];
                        }
                    }
                }
            }
        }
        (0..n).for_each(|s| l[s][s] += tree.armature(s));
        for k in 0..n {
            for j in 0..=k {
                let sum: f64 = (0..j).map(|i| l[k][i] * l[j][i]).sum();
                l[k][j] = if j == k { (l[k][k] - sum).sqrt() } else { (l[k][j] - sum) / l[j][j] };
            }
        }
        let mut out = Vec::new();
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
                for i in 0..n {
                    let sum: f64 = (0..i).map(|j| l[i][j] * row[j]).sum();
                    row[i] = (row[i] - sum) / l[i][i];
                }
                out.push(row);
            }
        }
        out
    }

    fn largest(x: impl Iterator<Item = f64>) -> f64 {
        x.fold(0.0, |m, x| m.max(x.abs()))
    }

    /// Newton steps through links and through speeds are those in contact space.
    #[test]
    fn mechanisms_and_contacts_give_one_step() {
        let mut random = Random(5);
        for case in 0..60 {
            let (tree, dims) = mechanism(&mut random, 1 + case % 9, 1 + case / 3);
            let y = columns(&tree, &dims);
            let mut offsets = vec![0];
            dims.iter().for_each(|d| offsets.push(offsets[offsets.len() - 1] + d));
            let n = y.len();
            let products = y.iter().flat_map(|a| y.iter().map(move |b| a.iter().zip(b).map(|(a, b)| a * b).sum()));
            let mut blocks = BlockMatrix::default();
            blocks.set_from_dense(&offsets, &products.collect::<Vec<f64>>());
            let cones = dims.iter().map(|d| match d {
                1 => Cone::Unilateral,
                2 => Cone::planar(0.4),
                _ => Cone::circular(0.4),
            });
            let q = (0..n).map(|_| random.next()).collect();
            let mut problem = ContactProblem::build(blocks, q, cones.collect()).unwrap();
            let (r, u): (Vec<f64>, Vec<f64>) = (0..n).map(|_| (random.next().abs(), 0.3 * random.next())).unzip();
            let mut steps: Vec<[Vec<f64>; 2]> = Vec::new();
            for route in 0..3 {
                problem.refill_origin(|out| match route {
                    0 => out.clear(),
                    1 => *out.start_articulation() = tree.clone(),
                    _ => {
                        let to = out.start_columns(tree.n_speeds(), 0.25);
                        for (c, dim) in dims.iter().enumerate() {
                            for speed in 0..tree.n_speeds() {
                                let value = |k: usize| if k < *dim { 2.0 * y[offsets[c] + k][speed] } else { 0.0 };
                                to.push(speed, [value(0), value(1), value(2)]);
                            }
                            to.end_contact();
                        }
                    }
                });
                let (mut frame, mut solution) = (Frame::default(), Solution::default());
                frame.open(&problem, Start::Cold, 1e-9, &mut solution);
                frame.enter(&problem, &mut solution.r);
                let system = &frame.system;
                let mut laws = vec![Linearised::default(); dims.len()];
                for (i, law) in laws.iter_mut().enumerate() {
                    law.update(&system.cones[i], 1.0, &r[system.rows(i)], &u[system.rows(i)]);
                }
                let (mut x, mut wx, mut moved) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
                for (i, law) in laws.iter().enumerate() {
                    x[system.rows(i)].iter_mut().zip(&law.f).for_each(|(x, f)| *x = -f);
                }
                if route == 0 {
                    let mut matrix = NewtonMatrix::default();
                    matrix.reset(system, &vec![0.0; system.n()], (1e-9, 1e-9), Default::default());
                    assert!(matrix.solve(system, &laws, 1e-3, &mut x));
                    Delassus::apply(&system.w, &x, &mut wx);
                } else {
                    let mut own = Woodbury::default();
                    match system.origin.as_ref().unwrap().mechanism().unwrap() {
                        Mechanism::Links(tree) => {
                            own.tree.find_links(tree, &system.members);
                            own.tree.plan(tree, &system.members);
                        }
                        Mechanism::Speeds(columns) => assert!(own.speeds.plan(columns, &system.members).is_some()),
                    }
                    assert!(own.factor(system, &laws, 1e-3), "case {case}");
                    own.solve(system, &mut x);
                    wx.copy_from_slice(own.response());
                    assert!(own.is_moved_for(f64::INFINITY, 1.0, system));
                    own.velocity(system, &r, &mut moved);
                    system.velocity(&r, &mut wx);
                    let off = largest(wx.iter().zip(&moved).map(|(a, b)| a - b));
                    assert!(off <= 1e-12 * largest(wx.iter().copied()), "case {case}: velocity {off:e}");
                    wx.copy_from_slice(own.response());
                }
                steps.push([x, wx]);
            }
            let size = largest(steps[0][0].iter().copied());
            for (route, step) in steps.iter().enumerate().skip(1) {
                for (what, (x, y)) in ["step", "response"].iter().zip(steps[0].iter().zip(step)) {
                    let off = largest(x.iter().zip(y).map(|(x, y)| x - y));
                    // D is 1/α times as stiff as a contact.
                    assert!(off <= 1e-9 * size, "case {case}, route {route}: {what} {off:e} of {size:e}");
                }
            }
        }
    }
}
