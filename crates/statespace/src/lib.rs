//! Stateful search of a concurrent program: every reachable state stored once; stubborn and ample
//! sets, and LTL on the fly with fairness.
//!
//! A program is anything behind the trait [`Transitions`]: its states are bytes, and it says which
//! small steps lead from one to the next, and which of them commute. [`search()`] goes through all
//! of them, by depth or by breadth, with one worker or several, and [`Storage`] says how states are
//! kept; [`search_cycles`] looks for an infinite execution that an automaton accepts. [`Machine`]
//! runs Promela models, [`Threads`] C models.
//!
//! ```
//! use mazurka_statespace::{Machine, Options, Reduction, search};
//!
//! let text = "byte n; active [2] proctype worker() { byte own; own = n; n = own + 1 }";
//! let model = mazurka_promela::translate_text("workers.pml", text).unwrap();
//! let machine = Machine::new(&model.program).unwrap();
//!
//! let mut options = Options::default();
//! options.reduction = Reduction::None;
//! let outcome = search(&machine, &options).unwrap();
//! assert_eq!(outcome.verdict.name(), "holds");
//! let n_states = outcome.statistics.states;
//!
//! // A reduction never stores more states, and the verdict is the same.
//! options.reduction = Reduction::Stubborn;
//! let reduced = search(&machine, &options).unwrap();
//! assert_eq!(reduced.verdict.name(), "holds");
//! assert!(reduced.statistics.states <= n_states);
//! ```

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
mod search_limits;
mod store;
mod threads;
mod tracked_access;
mod transitions;
mod undo;
mod witness;

pub use cycles::{
    BAD_PREFIX, Claim, ClaimError, ClaimMoves, Cycles, Property, claim, search_cycles,
    search_cycles_saving,
};
pub use machine::{Machine, MachineError, Tier, TrailError};
pub use options::{
    Construction, CycleSearch, Fairness, Optimisations, Options, OptionsError, Order, Reduction,
};
pub use saved::{SavedError, Saving, saved_log};
pub use search::{Outcome, SearchError, search, search_saving};
pub use store::Storage;
pub use threads::Threads;
pub use transitions::{
    Described, Group, Labels, Move, Moves, Safety, Sight, Step, Stuck, Successor, Transitions,
};
