//! The engines, each in a file of its own.

pub mod circuit;
mod native;
mod promela;
mod saved;
mod series;
mod shortest;
mod statespace;
mod threads;
mod vm;

pub(crate) use circuit::{BDD, BMC, IC3, INDUCTION, PORTFOLIO};
pub(crate) use native::{Native, replaying};
pub(crate) use series::Series;
pub(crate) use statespace::Statespace;
pub use statespace::is_saving;
pub(crate) use vm::Vm;
