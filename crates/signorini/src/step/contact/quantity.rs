//! Velocities, displacements and impulses, told apart.
//!
//! All are lists of numbers, one per speed of the tree or one per row of what may push, and as numbers all would add up. As types only
//! those do that mean something together.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Rates of coordinates, and of gaps.
pub(crate) enum Velocity {}

/// Changes of coordinates, and of gaps.
pub(crate) enum Length {}

/// What changes velocities.
pub(crate) enum Impulse {}

/// What displaces: an impulse times the time over which its velocity acts.
pub(crate) enum ImpulseTime {}

/// One number per speed of the tree.
pub(crate) struct Tangent<U>(Vec<f64>, PhantomData<U>);

/// One number per row of what may push.
pub(crate) struct RowsOf<U>(Vec<f64>, PhantomData<U>);

/// Speeds of the tree.
pub(crate) type Speeds = Tangent<Velocity>;
/// Displacements along the speeds of the tree.
pub(crate) type Displacement = Tangent<Length>;
/// Velocities along rows.
pub(crate) type RowVelocities = RowsOf<Velocity>;
/// Displacements along rows.
pub(crate) type RowDisplacements = RowsOf<Length>;
/// Impulses of rows.
pub(crate) type RowImpulses = RowsOf<Impulse>;
/// Impulses of rows times a time.
pub(crate) type RowImpulseTimes = RowsOf<ImpulseTime>;

macro_rules! list {
    ($name:ident) => {
        impl<U> $name<U> {
            /// As many zeros.
            pub fn zeros(n: usize) -> Self {
                Self(vec![0.0; n], PhantomData)
            }

            /// Becomes as many zeros, in the memory it has.
            pub fn reset(&mut self, n: usize) {
                self.0.clear();
                self.0.resize(n, 0.0);
            }

            /// The list, to be filled by somebody who does not tell quantities apart.
            pub fn buffer(&mut self) -> &mut Vec<f64> {
                &mut self.0
            }

            /// Adds another of the same kind.
            pub fn add(&mut self, other: &Self) {
                self.0.iter_mut().zip(&other.0).for_each(|(x, y)| *x += y);
            }
        }

        impl<U> Default for $name<U> {
            fn default() -> Self {
                Self::zeros(0)
            }
        }

        impl<U> Deref for $name<U> {
            type Target = [f64];
            fn deref(&self) -> &[f64] {
                &self.0
            }
        }

        impl<U> DerefMut for $name<U> {
            fn deref_mut(&mut self) -> &mut [f64] {
                &mut self.0
            }
        }
    };
}

list!(Tangent);
list!(RowsOf);
