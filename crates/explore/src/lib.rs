//! Stateless search of any [`System`](mazurka_core::System): dynamic partial-order reduction,
//! bounds, memory models and sampling; every interleaving, each Mazurkiewicz trace once.
//!
//! [`Explorer`] takes [`Options`] to an [`Outcome`]. Which executions are left out is the business
//! of a [`Reduction`], which executions count that of a [`Bound`], and which comes next that of an
//! [`Order`]: one file each; `search` is the only loop. A violation is replayed on a fresh system
//! before it is reported, and a search that a limit stops can be [`Saved`], resumed and split.
//!
//! A program is a type that says what each thread would do next, and does it:
//!
//! ```
//! use mazurka_core::{Decision, Effect, Failure, Next, ObjectId, Operation};
//! use mazurka_core::{System, ThreadId, Verdict};
//! use mazurka_explore::{Explorer, Options, Reduction};
//!
//! /// Two threads that take two locks in opposite orders.
//! #[derive(Clone, Default)]
//! struct Locks {
//!     taken: [usize; 2],
//!     holder: [Option<usize>; 2],
//! }
//!
//! impl System for Locks {
//!     fn reset(&mut self) {
//!         *self = Self::default();
//!     }
//!     fn n_threads(&self) -> usize {
//!         2
//!     }
//!     fn next(&self, thread: ThreadId) -> Next {
//!         let (me, step) = (thread.index(), self.taken[thread.index()]);
//!         let locks = [me, 1 - me];
//!         match step {
//!             0 | 1 => {
//!                 let lock = locks[step];
//!                 let acquire = Operation::Acquire(ObjectId::new(lock));
//!                 match self.holder[lock] {
//!                     None => Next::enabled(acquire),
//!                     Some(_) => Next::Blocked(acquire),
//!                 }
//!             }
//!             2 | 3 => Next::enabled(Operation::Release(ObjectId::new(locks[3 - step]))),
//!             _ => Next::Finished,
//!         }
//!     }
//!     fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
//!         let me = decision.thread.index();
//!         let lock = [me, 1 - me, 1 - me, me][self.taken[me]];
//!         self.holder[lock] = if self.taken[me] < 2 { Some(me) } else { None };
//!         self.taken[me] += 1;
//!         Ok(Effect::Done)
//!     }
//! }
//!
//! let outcome = Explorer::new(Options::new()).run(Locks::default).unwrap();
//! let Verdict::Violated(found) = outcome.verdict else { panic!("they wait for each other") };
//! assert_eq!(found.violation.kind.name(), "deadlock");
//! assert_eq!(found.schedule.to_string(), "mzk1:0.1");
//!
//! // Three traces: one thread first, the other first, and the deadlock.
//! let options = Options::new().reduction(Reduction::Optimal).stop_at_first(false);
//! let outcome = Explorer::new(options).run(Locks::default).unwrap();
//! assert_eq!(outcome.statistics.executions, 3);
//! ```
//!
//! `examples/system.rs` has another one and compares reductions. Reductions, bounds and memory
//! models are not open to other crates: each is held against exhaustive search by the tests of this
//! one.

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
mod shared_memory;
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
