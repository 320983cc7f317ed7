//! Stateless search of any [`System`](mazurka_core::System): every interleaving, each trace once.
//!
//! [`Explorer`] takes [`Options`] to a verdict. Which executions are left out is the business
//! of a reduction, one file each; `search` is the only loop.

mod bound;
mod confirm;
mod counters;
mod coverage;
mod data_race;
mod deadline;
mod deadlock;
mod decisive;
mod explorer;
mod memory;
mod options;
mod order;
mod peers;
mod pool;
mod progress;
mod reduction;
mod replay;
mod sample;
mod saved;
mod search;
mod unit;
mod view;
mod visited;

pub use bound::{Bound, BoundKind};
pub use explorer::{Ended, ExploreError, Explorer, Outcome, Warning};
pub use mazurka_core::MemoryModel;
pub use memory::weak::WeakMemory;
pub use options::{BporOpt, OptionError, Options, Reduction};
pub use order::{Order, Priority, TreeSize};
pub use peers::{Collected, Part, Peers};
pub use replay::{Replay, ReplayError, by_birth, replay, retake, retrace};
pub use sample::Sampling;
pub use saved::parts::{MergeError, Merged, SplitPart};
pub use saved::{Saved, SavedError};
