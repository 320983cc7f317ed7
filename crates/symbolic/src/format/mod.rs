//! Circuits as files, for other model checkers.

mod aiger;
mod btor;

pub use aiger::AigerError;
