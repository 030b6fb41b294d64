//! Equations of motion, several ways that agree.

pub mod dense;
pub mod loads;
pub mod pivoted_qr;
pub mod recursive;
