//! Random scenes, and what must hold of every one of them.
//!
//! ```text
//! seed → scene → its text → run → checks → failures → the smallest scene that still fails
//! ```
//!
//! `book/campaign.md` says what is asked and what was found.

pub mod facts;
pub mod generate;
pub mod judge;
pub mod ledger;
pub mod math;
pub mod random;
pub mod run;
pub mod shrink;
pub mod transform;
