//! What is measured, and how: programs of known size, CPU time and resident memory.

pub mod machine;
pub mod native;
pub mod models;
pub mod plot;
pub mod programs;
