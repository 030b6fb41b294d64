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

/// Four numbers in one register, by hand: left to itself the compiler shuffles them about.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Quad(std::arch::x86_64::__m256d);

#[cfg(target_arch = "x86_64")]
mod quad {
    use super::{Lanes, Quad};
    use std::arch::x86_64::{
        _mm256_add_pd, _mm256_loadu_pd, _mm256_mul_pd, _mm256_set1_pd, _mm256_storeu_pd, _mm256_sub_pd,
    };

    impl Quad {
        /// From memory.
        #[inline]
        #[target_feature(enable = "avx2")]
        pub(crate) fn load(x: &[f64; 4]) -> Self {
            // SAFETY: there are four numbers to read.
            Self(unsafe { _mm256_loadu_pd(x.as_ptr()) })
        }

        /// Into memory.
        #[inline(always)]
        pub(crate) fn store(self, to: &mut [f64; 4]) {
            // SAFETY: there is room for four numbers; and as below.
            unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
        }
    }

    // SAFETY of all of these: such a number comes from `load` only, and whoever called that knows the processor.
    impl Lanes for Quad {
        #[inline(always)]
        fn plus(self, o: Self) -> Self {
            Self(unsafe { _mm256_add_pd(self.0, o.0) })
        }

        #[inline(always)]
        fn minus(self, o: Self) -> Self {
            Self(unsafe { _mm256_sub_pd(self.0, o.0) })
        }

        #[inline(always)]
        fn times(self, x: f64) -> Self {
            Self(unsafe { _mm256_mul_pd(self.0, _mm256_set1_pd(x)) })
        }
    }
}
