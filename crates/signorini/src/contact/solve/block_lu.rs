//! Block LU over the contact graph. Headings in `linear.rs`, of which this is the sparse half.

use super::super::delassus::BlockMatrix;
use super::constants::factors::INDEPENDENT;
use super::ordering::Ordering;
use crate::simd::wide;

const NONE: usize = usize::MAX;

/// A fill-reducing order of all contacts, and the pattern of the factor for those that are active.
#[derive(Debug, Clone, Default)]
pub struct Symbolic {
    /// All contacts in elimination order.
    order: Vec<usize>,
    /// Active contacts in elimination order.
    active: Vec<usize>,
    /// Position of a contact among the active ones.
    position: Vec<usize>,
    upper_start: Vec<usize>,
    upper: Vec<usize>,
    lower_start: Vec<usize>,
    lower: Vec<usize>,
    first_child: Vec<usize>,
    next_sibling: Vec<usize>,
    mark: Vec<usize>,
    /// The contact graph that the order is for: number of neighbours of each contact, and all of them.
    degrees: Vec<usize>,
    neighbours: Vec<usize>,
    ordering: Ordering,
}

impl Symbolic {
    /// Products of blocks in one factorisation, and of blocks with vectors in one substitution.
    pub fn count_products(&self) -> (usize, usize) {
        let lengths = self.upper_start.windows(2).map(|w| w[1] - w[0]);
        lengths.fold((0, 0), |(factor, solve), u| (factor + (u + 1) * (u + 1), solve + 2 * u + 1))
    }

    /// Whether the order is that of this graph.
    fn is_for(&self, graph: &BlockMatrix) -> bool {
        let n = graph.n_blocks();
        self.degrees.len() == n
            && self.neighbours.len() == graph.n_stored()
            && self.degrees.iter().enumerate().all(|(i, d)| *d == graph.columns(i).len())
            && (0..n).flat_map(|i| graph.columns(i)).eq(&self.neighbours)
    }

    /// Minimum-degree order of the whole contact graph. Nothing is done, and true returned, where it is known.
    pub fn order(&mut self, graph: &BlockMatrix) -> bool {
        if self.is_for(graph) {
            return true;
        }
        let n = graph.n_blocks();
        self.degrees.clear();
        self.degrees.extend((0..n).map(|i| graph.columns(i).len()));
        self.neighbours.clear();
        self.neighbours.extend((0..n).flat_map(|i| graph.columns(i)));
        self.ordering.find(graph, &mut self.order);
        false
    }

    /// The pattern of the factor of the active contacts.
    pub fn restrict(&mut self, graph: &BlockMatrix, is_active: &[bool]) {
        let n = graph.n_blocks();
        self.position.clear();
        self.position.resize(n, NONE);
        self.active.clear();
        for &v in &self.order {
            if is_active[v] {
                self.position[v] = self.active.len();
                self.active.push(v);
            }
        }
        let m = self.active.len();
        self.upper_start.clear();
        self.upper_start.push(0);
        self.upper.clear();
        self.first_child.clear();
        self.first_child.resize(m, NONE);
        self.next_sibling.clear();
        self.next_sibling.resize(m, NONE);
        self.mark.clear();
        self.mark.resize(m, NONE);
        for k in 0..m {
            self.mark[k] = k;
            let from = self.upper.len();
            for &j in graph.columns(self.active[k]) {
                let p = self.position[j];
                if p != NONE && p > k && self.mark[p] != k {
                    self.mark[p] = k;
                    self.upper.push(p);
                }
            }
            let mut child = self.first_child[k];
            while child != NONE {
                for t in self.upper_start[child]..self.upper_start[child + 1] {
                    let p = self.upper[t];
                    if p > k && self.mark[p] != k {
                        self.mark[p] = k;
                        self.upper.push(p);
                    }
                }
                child = self.next_sibling[child];
            }
            self.upper_start.push(self.upper.len());
            if let Some(&parent) = self.upper[from..].iter().min() {
                self.next_sibling[k] = self.first_child[parent];
                self.first_child[parent] = k;
            }
        }
        self.lower_start.clear();
        self.lower_start.resize(m + 2, 0);
        for &p in &self.upper {
            self.lower_start[p + 2] += 1;
        }
        for i in 2..m + 2 {
            self.lower_start[i] += self.lower_start[i - 1];
        }
        self.lower.clear();
        self.lower.resize(self.upper.len(), 0);
        for k in 0..m {
            for t in self.upper_start[k]..self.upper_start[k + 1] {
                let at = &mut self.lower_start[self.upper[t] + 1];
                self.lower[*at] = k;
                *at += 1;
            }
        }
    }
}

/// The numbers of a factor with D×D blocks, whose rows take the room of P; smaller contacts are padded with rows of the identity.
#[derive(Debug, Clone, Default)]
pub struct Numeric<const D: usize, const P: usize> {
    /// U with ones on its diagonal.
    upper: Vec<Block<D, P>>,
    lower: Vec<Block<D, P>>,
    /// Inverses of the pivots, which are L's diagonal blocks.
    inverse: Vec<Block<D, P>>,
    row: Vec<Block<D, P>>,
    x: Vec<[f64; P]>,
}

/// Rows of D numbers, then zeros.
pub type Block<const D: usize, const P: usize> = [[f64; P]; D];

/// One row of a matrix, to be written.
pub struct Row<'a, const D: usize, const P: usize> {
    position: &'a [usize],
    blocks: &'a mut [Block<D, P>],
}

impl<const D: usize, const P: usize> Row<'_, D, P> {
    /// Where the block of a column goes, if its contact is active.
    #[inline(always)]
    pub fn block(&mut self, column: usize) -> Option<&mut Block<D, P>> {
        self.blocks.get_mut(self.position[column])
    }
}

/// A matrix that can write its rows.
pub trait Rows<const D: usize, const P: usize> {
    /// Writes the row of a contact: the blocks of all its active columns, which are zero before.
    fn write(&self, contact: usize, row: &mut Row<D, P>);
}

impl<const D: usize, const P: usize> Numeric<D, P> {
    /// Factors, in the widest registers there are; as in `linear.rs`, the bits are the same in all of them.
    pub fn factor(&mut self, s: &Symbolic, matrix: &impl Rows<D, P>) -> bool {
        wide!(self.factor_generic(s, matrix))
    }

    #[inline(always)]
    fn factor_generic(&mut self, s: &Symbolic, matrix: &impl Rows<D, P>) -> bool {
        let m = s.active.len();
        let zero = [[0.0; P]; D];
        self.upper.resize(s.upper.len(), zero);
        self.lower.resize(s.lower.len(), zero);
        self.inverse.resize(m, zero);
        self.row.resize(m, zero);
        for i in 0..m {
            let row = &mut self.row[..m];
            let lower = s.lower_start[i]..s.lower_start[i + 1];
            let upper = s.upper_start[i]..s.upper_start[i + 1];
            row[i] = zero;
            s.lower[lower.clone()].iter().for_each(|j| row[*j] = zero);
            s.upper[upper.clone()].iter().for_each(|j| row[*j] = zero);
            matrix.write(s.active[i], &mut Row { position: &s.position, blocks: row });
            let row = &mut self.row[..m];
            // U has been multiplied by the inverses of its pivots: what is left of A's row is L's, and nobody waits for a product with an inverse.
            for t in lower {
                let k = s.lower[t];
                let l = row[k];
                self.lower[t] = l;
                let others = s.upper_start[k]..s.upper_start[k + 1];
                subtract_products(row, &l, &s.upper[others.clone()], &self.upper[others]);
            }
            let Some(inverse) = invert_rows(&row[i]) else { return false };
            self.inverse[i] = inverse;
            for (u, &at) in self.upper[upper.clone()].iter_mut().zip(&s.upper[upper]) {
                *u = multiply(&inverse, &row[at]);
            }
        }
        true
    }

    /// b ← A⁻¹ b for the active contacts; contact i has the rows `offsets[i]..offsets[i + 1]` of b. Contacts of fewer than
    /// D rows are padded with zeros.
    pub fn solve(&mut self, s: &Symbolic, offsets: &[usize], b: &mut [f64]) {
        wide!(self.solve_generic(s, offsets, b));
    }

    #[inline(always)]
    fn solve_generic(&mut self, s: &Symbolic, offsets: &[usize], b: &mut [f64]) {
        let m = s.active.len();
        self.x.clear();
        self.x.resize(m, [0.0; P]);
        for i in 0..m {
            let lower = s.lower_start[i]..s.lower_start[i + 1];
            let mut sums = [[0.0; P]; D];
            for (block, &at) in self.lower[lower.clone()].iter().zip(&s.lower[lower]) {
                add_products(&mut sums, block, &self.x[at]);
            }
            let mut x = read::<P>(&b[offsets[s.active[i]]..offsets[s.active[i] + 1]]);
            x.iter_mut().zip(&sums).for_each(|(x, s)| *x -= fold(s));
            let mut products = [[0.0; P]; D];
            add_products(&mut products, &self.inverse[i], &x);
            self.x[i].iter_mut().zip(&products).for_each(|(x, p)| *x = fold(p));
        }
        for i in (0..m).rev() {
            let upper = s.upper_start[i]..s.upper_start[i + 1];
            let mut sums = [[0.0; P]; D];
            for (block, &at) in self.upper[upper.clone()].iter().zip(&s.upper[upper]) {
                add_products(&mut sums, block, &self.x[at]);
            }
            let x = &mut self.x[i];
            x.iter_mut().zip(&sums).for_each(|(x, s)| *x -= fold(s));
            write(&mut b[offsets[s.active[i]]..offsets[s.active[i] + 1]], x);
        }
    }
}

/// Some rows of a vector, then zeros.
#[inline(always)]
fn read<const P: usize>(rows: &[f64]) -> [f64; P] {
    let mut out = [0.0; P];
    // By far the most frequent, without asking how many.
    if let ([a, b, c], [x, y, z, ..]) = (rows, &mut out[..]) {
        (*x, *y, *z) = (*a, *b, *c);
    } else {
        out.iter_mut().zip(rows).for_each(|(to, from)| *to = *from);
    }
    out
}

#[inline(always)]
fn write(rows: &mut [f64], x: &[f64]) {
    if let ([a, b, c], [x, y, z, ..]) = (&mut *rows, x) {
        (*a, *b, *c) = (*x, *y, *z);
    } else {
        rows.iter_mut().zip(x).for_each(|(to, from)| *to = *from);
    }
}

/// Adds the products of every row of A with x, lane by lane.
#[inline(always)]
fn add_products<const D: usize, const P: usize>(sums: &mut Block<D, P>, a: &Block<D, P>, x: &[f64; P]) {
    for (sum, row) in sums.iter_mut().zip(a) {
        for j in 0..P {
            sum[j] += row[j] * x[j];
        }
    }
}

/// The sum of all lanes.
#[inline(always)]
fn fold<const P: usize>(lanes: &[f64; P]) -> f64 {
    match lanes[..] {
        [a, b, c, d] => (a + c) + (b + d),
        _ => lanes.iter().sum(),
    }
}

#[inline(always)]
fn multiply<const D: usize, const P: usize>(a: &Block<D, P>, b: &Block<D, P>) -> Block<D, P> {
    let mut out = [[0.0; P]; D];
    for i in 0..D {
        for k in 0..D {
            for j in 0..P {
                out[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    out
}

/// Subtracts L times blocks of U from blocks of a row.
#[inline(always)]
fn subtract_products<const D: usize, const P: usize>(
    row: &mut [Block<D, P>],
    l: &Block<D, P>,
    at: &[usize],
    u: &[Block<D, P>],
) {
    for (&at, u) in at.iter().zip(u) {
        let out = &mut row[at];
        for i in 0..D {
            let mut sum = out[i];
            for k in 0..D {
                for j in 0..P {
                    sum[j] -= l[i][k] * u[k][j];
                }
            }
            out[i] = sum;
        }
    }
}

/// Gauss–Jordan with row exchanges, for blocks of D rows that are alone.
pub fn invert<const D: usize>(a: &[[f64; D]; D]) -> Option<[[f64; D]; D]> {
    invert_rows(a)
}

/// The same in rows of P, of which the first D count.
#[inline(always)]
fn invert_rows<const D: usize, const P: usize>(a: &Block<D, P>) -> Option<Block<D, P>> {
    if D == 3
        && let Some(inverse) = invert_by_minors(a)
    {
        return Some(inverse);
    }
    let mut a = *a;
    let mut out = [[0.0; P]; D];
    for i in 0..D {
        out[i][i] = 1.0;
    }
    for k in 0..D {
        let mut p = k;
        for i in k + 1..D {
            if a[i][k].abs() >= a[p][k].abs() {
                p = i;
            }
        }
        let pivot = a[p][k];
        if !(pivot.abs() > 0.0 && pivot.is_finite()) {
            return None;
        }
        a.swap(p, k);
        out.swap(p, k);
        let inverse = 1.0 / pivot;
        for j in 0..P {
            a[k][j] *= inverse;
            out[k][j] *= inverse;
        }
        for i in 0..D {
            if i != k {
                let f = a[i][k];
                for j in 0..P {
                    a[i][j] -= f * a[k][j];
                    out[i][j] -= f * out[k][j];
                }
            }
        }
    }
    Some(out)
}

/// Three rows by their minors, where nothing waits for the choice of a pivot. Minors lose the square of the condition number where
/// elimination loses the number itself, so that blocks whose rows nearly depend on each other, as those of redundant contacts do, are refused.
#[inline(always)]
fn invert_by_minors<const D: usize, const P: usize>(a: &Block<D, P>) -> Option<Block<D, P>> {
    let minor = |i: usize, j: usize| {
        let (p, q, r, s) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
        a[p][r] * a[q][s] - a[p][s] * a[q][r]
    };
    let mut out = [[0.0; P]; D];
    for i in 0..D {
        for j in 0..D {
            out[j][i] = minor(i, j);
        }
    }
    let determinant = a[0][0] * out[0][0] + a[0][1] * out[1][0] + a[0][2] * out[2][0];
    let square = |row: &[f64; P]| row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
    // The volume that the rows span, and what it would be if they were orthogonal.
    let volumes = (determinant * determinant, square(&a[0]) * square(&a[1]) * square(&a[2]));
    if !(volumes.0 > INDEPENDENT * INDEPENDENT * volumes.1 && volumes.1.is_finite()) {
        return None;
    }
    let inverse = 1.0 / determinant;
    out.iter_mut().flatten().for_each(|x| *x *= inverse);
    Some(out)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A matrix as it is.
    pub struct Plain<'a>(pub &'a BlockMatrix);

    impl Rows<3, 4> for Plain<'_> {
        fn write(&self, contact: usize, row: &mut Row<3, 4>) {
            for (j, w) in self.0.row(contact) {
                if let Some(block) = row.block(j) {
                    *block = std::array::from_fn(|a| [w[3 * a], w[3 * a + 1], w[3 * a + 2], 0.0]);
                }
            }
        }
    }

    /// A turn about each axis in turn.
    fn rotation(angles: [f64; 3]) -> Block<3, 3> {
        let mut out = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for (axis, angle) in angles.into_iter().enumerate() {
            let (p, q, (sin, cos)) = ((axis + 1) % 3, (axis + 2) % 3, angle.sin_cos());
            let mut turn = [[0.0; 3]; 3];
            (turn[axis][axis], turn[p][p], turn[q][q], turn[p][q], turn[q][p]) = (1.0, cos, cos, -sin, sin);
            out = multiply(&turn, &out);
        }
        out
    }

    /// Also where rows nearly depend on each other, and minors would lose twice as many digits as there are to lose.
    #[test]
    fn inverses_lose_no_more_than_they_must() {
        for case in 0..100 {
            let angle = f64::from(case);
            let small = 10.0_f64.powi(-(case % 9));
            let scale = [[1.0, 0.0, 0.0], [0.0, small, 0.0], [0.0, 0.0, 2.0 * small]];
            let [left, right] = [[0.3 + angle, 1.1 * angle, 0.7], [2.0 - angle, 0.4, 1.7 * angle]].map(rotation);
            let a = multiply(&multiply(&left, &scale), &right);
            let Some(inverse) = invert(&a) else { panic!("{small:e} is singular") };
            let one = multiply(&a, &inverse);
            let off = |i: usize, j: usize| (one[i][j] - f64::from(u8::from(i == j))).abs();
            let worst = (0..9).map(|k| off(k / 3, k % 3)).fold(0.0, f64::max);
            assert!(worst <= 8.0 * f64::EPSILON / small, "{small:e}: {worst:e}");
        }
    }

    /// The widest registers and the plain ones.
    #[test]
    fn wide_registers_change_no_bit() {
        let n = 9;
        let offsets: Vec<usize> = (0..=n).map(|i| 3 * i).collect();
        let mut dense = vec![0.0; 9 * n * n];
        for (k, x) in dense.iter_mut().enumerate() {
            let (i, j) = (k / (3 * n), k % (3 * n));
            let is_near = (i / 3).abs_diff(j / 3) <= 2;
            *x = if i == j { 9.0 } else { (k as f64 * 0.37).sin() * f64::from(u8::from(is_near)) };
        }
        let mut matrix = BlockMatrix::default();
        matrix.set_from_dense(&offsets, &dense);
        let mut symbolic = Symbolic::default();
        symbolic.order(&matrix);
        symbolic.restrict(&matrix, &vec![true; n]);
        let (mut wide, mut plain) = (Numeric::<3, 4>::default(), Numeric::<3, 4>::default());
        assert!(wide.factor(&symbolic, &Plain(&matrix)) && plain.factor_generic(&symbolic, &Plain(&matrix)));
        assert!(wide.upper == plain.upper && wide.lower == plain.lower && wide.inverse == plain.inverse);
        let b: Vec<f64> = (0..3 * n).map(|k| (k as f64 * 0.7).cos()).collect();
        let (mut x, mut y) = (b.clone(), b.clone());
        wide.solve(&symbolic, &offsets, &mut x);
        plain.solve_generic(&symbolic, &offsets, &mut y);
        assert_eq!(x, y);
        for (row, b) in dense.chunks_exact(3 * n).zip(&b) {
            let sum: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
            assert!((sum - b).abs() <= 1e-13);
        }
    }
}
