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

/// A vector in space, with a fourth lane that means nothing.
pub(crate) trait Space: Lanes {
    /// From memory.
    ///
    /// # Safety
    ///
    /// The processor must have the registers.
    unsafe fn load(x: &[f64; 4]) -> Self;
    /// Into memory.
    fn store(self, to: &mut [f64; 4]);
    /// Product, lane by lane.
    fn mul(self, o: Self) -> Self;
    /// y, z, x.
    fn turned(self) -> Self;
    /// z, x, y.
    fn turned_back(self) -> Self;

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

impl Space for [f64; 4] {
    #[inline(always)]
    unsafe fn load(x: &[f64; 4]) -> Self {
        *x
    }

    #[inline(always)]
    fn store(self, to: &mut [f64; 4]) {
        *to = self;
    }

    #[inline(always)]
    fn mul(mut self, o: Self) -> Self {
        self.iter_mut().zip(o).for_each(|(a, b)| *a *= b);
        self
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
}

/// Four numbers in one register, by hand: left to itself the compiler shuffles them about.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Quad(std::arch::x86_64::__m256d);

#[cfg(target_arch = "x86_64")]
mod quad {
    use super::{Lanes, Quad, Space};
    use std::arch::x86_64::{
        _mm256_add_pd, _mm256_loadu_pd, _mm256_mul_pd, _mm256_permute4x64_pd, _mm256_set1_pd, _mm256_storeu_pd,
        _mm256_sub_pd,
    };

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

    impl Space for Quad {
        #[inline(always)]
        unsafe fn load(x: &[f64; 4]) -> Self {
            Self(unsafe { _mm256_loadu_pd(x.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, to: &mut [f64; 4]) {
            unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn mul(self, o: Self) -> Self {
            Self(unsafe { _mm256_mul_pd(self.0, o.0) })
        }

        #[inline(always)]
        fn turned(self) -> Self {
            Self(unsafe { _mm256_permute4x64_pd::<0b11_00_10_01>(self.0) })
        }

        #[inline(always)]
        fn turned_back(self) -> Self {
            Self(unsafe { _mm256_permute4x64_pd::<0b11_01_00_10>(self.0) })
        }
    }
}
