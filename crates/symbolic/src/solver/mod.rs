//! From circuits to a satisfiability solver: unrolling, clauses, and the solver itself.

mod cadical;
mod clauses;
mod formula;
mod unrolling;

pub(crate) use cadical::Solver;
pub(crate) use clauses::{Clauses, Encoder};
pub use formula::{Formula, ProofError};
pub(crate) use unrolling::{Start, Unrolling};

/// A variable of a solver, or its negation.
pub(crate) use rustsat::types::Lit as SatLit;
