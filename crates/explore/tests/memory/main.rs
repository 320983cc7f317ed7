//! Memory models, held against an enumeration of all execution graphs that knows nothing of the
//! search.
//!
//! `program.rs` has small programs and writes them as scripts, `oracle.rs` enumerates their graphs
//! by the axioms of each model, `random.rs` makes programs of seeds.

mod agree;
mod behaviour;
mod litmus;
mod oracle;
mod program;
mod random;
mod search;
