//! What is measured, and how: programs of known size, CPU time and resident memory.

pub mod ltl;
pub mod machine;
pub mod models;
pub mod native;
pub mod philosophers;
pub mod plot;
pub mod programs;
pub mod thesis;
