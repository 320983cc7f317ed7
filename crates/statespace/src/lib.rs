//! Stateful search of a concurrent program: every reachable state, stored once.
//!
//! A program is anything behind the trait [`Transitions`]: its states are bytes, and it says which
//! small steps lead from one to the next.

mod machine;
mod transitions;

pub use machine::{Machine, MachineError};
pub use transitions::{
    Described, Group, Labels, Move, Moves, Safety, Step, Stuck, Successor, Transitions,
};
