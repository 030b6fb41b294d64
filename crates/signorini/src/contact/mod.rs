//! The contact problem, its solvers, and the judge that knows none of them.
//!
//! ```text
//! find r:   u = W r + u_free,   contact by contact   r ∈ K,   Signorini + Coulomb (or another limit surface)
//! ```
//!
//! [`ContactProblem`] is a value: it can be stored, loaded and solved alone. [`Judge`] says how well an r solves it.
//! Every solver of [`solve`] stands behind one trait, [`ContactSolver`]; [`solve::Auto`] chooses among them.

pub mod articulation;
pub mod columns;
pub mod cone;
pub mod delassus;
mod error;
pub mod forms;
pub mod law;
pub mod origin;
mod problem;
mod residual;
mod rows;
mod scaling;
pub mod solve;
pub mod store;

pub use cone::Cone;
pub use error::ContactError;
pub use problem::{ContactProblem, Kind};
pub use residual::{Judge, Residual};
pub use rows::{RowShape, RowValues, Unit};
pub use scaling::Scaling;
pub use solve::{ContactSolver, Solution, Start, Status, Work};
