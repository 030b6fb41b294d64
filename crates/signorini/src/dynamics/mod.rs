//! Equations of motion, several ways that agree.

pub mod dca;
pub mod dense;
pub mod loads;
pub mod pivoted_qr;
pub mod recursive;
