//! A search over many machines: units of a search as messages of a durable queue (NATS JetStream),
//! and totals that are exact whatever is delivered twice, lost or killed.
//!
//! An asker ([`ask`](ask())) explores a little alone, signs a [`Job`](job::Job) and deals out what
//! is left. Workers ([`work`]) take a unit each, explore it for a slice of time in a process of its
//! own ([`mod@slice`]) and write one *commit record*: what was counted, and the units that are
//! left. The first record of a unit counts and no other
//! ([`Broker::commit`](broker::Broker::commit)), so acknowledgements of the queue are about speed
//! alone. The [`Ledger`] adds up the records that can be reached from the first one:
//!
//! - the children of a record are all that its unit did not explore, and no trace is in two of them
//!   (by construction of [`optimal`](mazurka_explore::Reduction::Optimal));
//! - the name of a unit is a hash of its content ([`UnitId`]), so a record of another division of
//!   the same parent is never taken for one of its children;
//! - hence every trace is counted once, by induction over the tree of records, and the search is at
//!   its end when no unit is named that has no record.
//!
//! Units were found with what is known of the program, so that is a part of the job, too. A worker
//! that learns more voids the job, which begins again with it.
//!
//! Absent from here: arguments, the environment, anything that is printed. `mazurka-cli` has those.

// Slices are processes with limits of Linux, and programs run natively nowhere else.
#![cfg(target_os = "linux")]

mod ask;
pub mod broker;
pub mod job;
pub mod keys;
mod ledger;
mod page;
pub mod record;
mod slice;
mod status;
mod worker;

pub use ask::{Ask, ask};
pub use broker::Access;
pub use ledger::{Ledger, Recorded};
pub use page::page;
pub use record::UnitId;
pub use slice::{Sandbox, run_slice};
pub use status::{JobStatus, WorkerStatus, cancel, prometheus, status, text};
pub use worker::{Work, work};

/// The word that makes the command explore one slice, for a worker that has started it.
pub const SLICE: &str = "slice";

/// Runs something that waits for a broker, in this thread.
fn block_on<T>(future: impl Future<Output = T>) -> Result<T, mazurka_check::Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        mazurka_check::Fault::defect(format!("nothing can be waited for: {error}"))
    })?;
    Ok(runtime.block_on(future))
}
