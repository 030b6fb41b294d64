//! Collision: from poses to contacts.
//!
//! ```text
//! poses, expected twists → boxes on their way → pairs → direction → points → contacts with lasting names
//! ```
//!
//! Spheres and capsules are a point and a segment with a radius; boxes, cylinders, cones and hulls have none. A half-space holds every
//! corner by itself; meshes and height fields are triangles that know their neighbours. Bounding-volume trees, the faces of hulls and
//! the depth of overlap come from `parry3d-f64`, in coordinates scaled by powers of two where its tolerances are absolute. Everything
//! else works with lengths relative to the shapes at hand: rescaling a scene by a power of two changes no bit.

mod ball;
mod boxes;
mod broad;
mod closest;
mod contact;
mod convex;
mod direction;
mod feature;
mod filter;
mod hull;
mod manifold;
mod mesh;
mod pair;
mod piece;
mod reduce;
mod rim;
mod sweep;
mod world;

pub use contact::{Contact, ContactId};
pub use world::{Scratch, World, WorldError};
