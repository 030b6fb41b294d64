//! Wide registers where the processor has them, in a binary that runs where it has not.
//!
//! This is the only room with unsafe code. What is unsafe about wide registers is to run their instructions on a processor that
//! does not have them. [`Avx2`] is the proof that it has: only [`Avx2::detect`] makes one, and a [`Quad`] is only made with one. It has
//! no size and costs nothing.
//!
//! Work that the compiler turns into wide instructions by itself goes through [`wide`]; work that is written for registers is generic
//! over [`Space`] and goes through [`in_registers`]. Multiplications and additions stay apart in both, so that the bits do not depend
//! on the processor.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(not(target_arch = "x86_64"))]
#[path = "absent.rs"]
mod avx2;
mod lanes;

pub(crate) use avx2::{Avx2, Quad};
pub(crate) use lanes::{Lanes, Space};

/// Runs an expression in code for wide registers if the processor has them, and in code for any processor if not. What it calls is part
/// of that code only where it is inlined, so that a function called here is `#[inline(always)]`, and its closures too.
macro_rules! wide {
    ($work:expr) => {
        match $crate::simd::Avx2::detect() {
            Some(avx2) => avx2.run(
                #[inline(always)]
                || $work,
            ),
            None => $work,
        }
    };
}
pub(crate) use wide;

/// Runs an expression with `V`, the widest type of [`Space`] that the processor has, and `token`, the proof that it has it. What it calls
/// must be inlined, as for [`wide`].
macro_rules! in_registers {
    (|$token:ident: $V:ident| $work:expr) => {
        match $crate::simd::Avx2::detect() {
            Some($token) => {
                type $V = $crate::simd::Quad;
                $token.run(
                    #[inline(always)]
                    || $work,
                )
            }
            None => {
                type $V = [f64; 4];
                let $token = ();
                $work
            }
        }
    };
}
pub(crate) use in_registers;

#[cfg(test)]
mod tests {
    use super::Space;

    /// Everything that a number in registers can do, in bits.
    #[inline(always)]
    fn results<V: Space>(token: V::Token) -> Vec<u64> {
        let (a, b) = ([1.5, -0.3, 1e300, -0.0], [0.1, 7.0, -1e-300, 3.0]);
        let (x, y) = (V::load(token, &a), V::load(token, &b));
        let three = V::load_three(token, &[0.7, -1.1, 1e-3]);
        let rows = V::load_rows(token, &std::array::from_fn(|k| 0.1 + k as f64));
        let all = [
            V::zero(token),
            x.plus(y),
            x.minus(y),
            x.times(0.1),
            x.mul(y),
            x.abs(),
            x.turned(),
            x.turned_back(),
            x.cross(y),
            three,
        ];
        let mut out = Vec::new();
        for value in all.into_iter().chain(rows) {
            let mut numbers = [0.0; 4];
            value.store(&mut numbers);
            out.extend(numbers.map(f64::to_bits));
        }
        let mut nine = [0.0; 9];
        V::store_rows([x, y, three], &mut nine);
        out.extend(nine.map(f64::to_bits));
        out.push(three.fold_three().to_bits());
        out
    }

    #[test]
    fn wide_registers_give_the_bits_of_numbers_in_memory() {
        let narrow = results::<[f64; 4]>(());
        assert_eq!(in_registers!(|token: V| results::<V>(token)), narrow);
        assert_eq!(narrow.len(), 4 * 13 + 10);
    }

    #[test]
    fn rows_of_nine_numbers_come_and_go() {
        let nine: [f64; 9] = std::array::from_fn(|k| k as f64);
        let mut out = [f64::NAN; 9];
        in_registers!(|token: V| V::store_rows(V::load_rows(token, &nine), &mut out));
        assert_eq!(out, nine);
    }
}
