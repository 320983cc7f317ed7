//! From circuits to a satisfiability solver: unrolling, clauses, and the solver itself.

mod cadical;
mod clauses;
mod formula;
mod sat_lit;
mod unrolling;

pub(crate) use cadical::Solver;
pub(crate) use clauses::{Clauses, Encoder};
pub use formula::{Formula, ProofError};
pub(crate) use sat_lit::SatLit;
pub(crate) use unrolling::{Start, Unrolling};
