//! Stateful search of a concurrent program: every reachable state, stored once.
//!
//! A program is anything behind the trait [`Transitions`]: its states are bytes, and it says which
//! small steps lead from one to the next. [`search()`] goes through all of them.

mod ample;
mod confirm;
mod cycles;
mod depth_first;
mod frontier;
mod inner;
mod machine;
mod options;
mod saved;
mod search;
mod store;
mod threads;
mod tracked_access;
mod transitions;
mod undo;
mod watch;
mod witness;

pub use cycles::{
    BAD_PREFIX, Claim, ClaimError, ClaimMoves, Cycles, Property, claim, search_cycles,
};
pub use machine::{Machine, MachineError, Tier, TrailError};
pub use options::{
    Construction, CycleSearch, Fairness, Optimisations, Options, OptionsError, Order, Reduction,
};
pub use saved::{SavedError, Saving};
pub use search::{Outcome, SearchError, search, search_saving};
pub use store::Storage;
pub use threads::Threads;
pub use transitions::{
    Described, Group, Labels, Move, Moves, Safety, Sight, Step, Stuck, Successor, Transitions,
};
