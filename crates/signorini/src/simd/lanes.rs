//! Several numbers side by side, on which every operation is done at once.

/// Numbers side by side. Multiplications and additions stay apart, so that bits do not depend on registers.
pub(crate) trait Lanes: Copy {
    /// Sum, lane by lane.
    fn plus(self, o: Self) -> Self;
    /// Difference, lane by lane.
    fn minus(self, o: Self) -> Self;
    /// Every lane times `x`.
    fn times(self, x: f64) -> Self;
}

/// Four numbers: a vector in space, with a fourth lane that means nothing, or three rows with one lane to spare.
pub(crate) trait Space: Lanes {
    /// Proof that the processor has the registers.
    type Token: Copy;

    /// The proof that this number was made with.
    fn token(self) -> Self::Token;
    /// Zero in all lanes.
    fn zero(token: Self::Token) -> Self;
    /// From memory.
    fn load(token: Self::Token, x: &[f64; 4]) -> Self;
    /// From memory, with zero in the last lane.
    fn load_three(token: Self::Token, x: &[f64; 3]) -> Self;
    /// Three rows of three numbers, each in the first three lanes of one. The last lane of the first two is the number that comes next.
    fn load_rows(token: Self::Token, x: &[f64; 9]) -> [Self; 3];
    /// Into memory.
    fn store(self, to: &mut [f64; 4]);
    /// Three rows into memory, the first three lanes of each.
    fn store_rows(rows: [Self; 3], to: &mut [f64; 9]);
    /// Product, lane by lane.
    fn mul(self, o: Self) -> Self;
    /// Size of each lane.
    fn abs(self) -> Self;
    /// y, z, x.
    fn turned(self) -> Self;
    /// z, x, y.
    fn turned_back(self) -> Self;
    /// (x + z) + (y + w): the sum of the first three lanes where the last is zero.
    fn fold_three(self) -> f64;

    /// Cross product.
    #[inline(always)]
    fn cross(self, o: Self) -> Self {
        self.turned().mul(o.turned_back()).minus(self.turned_back().mul(o.turned()))
    }
}

impl<const L: usize> Lanes for [f64; L] {
    #[inline(always)]
    fn plus(mut self, o: Self) -> Self {
        self.iter_mut().zip(o).for_each(|(a, b)| *a += b);
        self
    }

    #[inline(always)]
    fn minus(mut self, o: Self) -> Self {
        self.iter_mut().zip(o).for_each(|(a, b)| *a -= b);
        self
    }

    #[inline(always)]
    fn times(mut self, x: f64) -> Self {
        self.iter_mut().for_each(|a| *a *= x);
        self
    }
}

/// Numbers in memory need no registers, and no proof.
impl Space for [f64; 4] {
    type Token = ();

    #[inline(always)]
    fn token(self) {}

    #[inline(always)]
    fn zero((): ()) -> Self {
        [0.0; 4]
    }

    #[inline(always)]
    fn load((): (), x: &[f64; 4]) -> Self {
        *x
    }

    #[inline(always)]
    fn load_three((): (), &[x, y, z]: &[f64; 3]) -> Self {
        [x, y, z, 0.0]
    }

    #[inline(always)]
    fn load_rows((): (), &[a, b, c, d, e, f, g, h, i]: &[f64; 9]) -> [Self; 3] {
        [[a, b, c, d], [d, e, f, g], [g, h, i, 0.0]]
    }

    #[inline(always)]
    fn store(self, to: &mut [f64; 4]) {
        *to = self;
    }

    #[inline(always)]
    fn store_rows([a, b, c]: [Self; 3], to: &mut [f64; 9]) {
        *to = [a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]];
    }

    #[inline(always)]
    fn mul(mut self, o: Self) -> Self {
        self.iter_mut().zip(o).for_each(|(a, b)| *a *= b);
        self
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.map(f64::abs)
    }

    #[inline(always)]
    fn turned(self) -> Self {
        let [x, y, z, w] = self;
        [y, z, x, w]
    }

    #[inline(always)]
    fn turned_back(self) -> Self {
        let [x, y, z, w] = self;
        [z, x, y, w]
    }

    #[inline(always)]
    fn fold_three(self) -> f64 {
        let [x, y, z, w] = self;
        (x + z) + (y + w)
    }
}
