//! How far an engine is that takes no executions: counters that it writes, and others read at any
//! time.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counters that a search keeps up to date, now and then.
#[derive(Debug, Default)]
pub struct Gauge {
    states: AtomicU64,
    depth: AtomicU64,
    clauses: AtomicU64,
    conflicts: AtomicU64,
}

impl Gauge {
    /// So many states are stored.
    pub fn set_states(&self, states: u64) {
        self.states.store(states, Ordering::Relaxed);
    }

    /// A solver is through with executions of so many steps, by so many clauses and conflicts.
    pub fn set_depth(&self, depth: u64, clauses: u64, conflicts: u64) {
        self.depth.fetch_max(depth, Ordering::Relaxed);
        self.clauses.store(clauses, Ordering::Relaxed);
        self.conflicts.store(conflicts, Ordering::Relaxed);
    }

    /// What they say.
    pub fn read(&self, elapsed: Duration) -> Reading {
        let [states, depth, clauses, conflicts] =
            [&self.states, &self.depth, &self.clauses, &self.conflicts]
                .map(|counter| counter.load(Ordering::Relaxed));
        Reading { states, depth, clauses, conflicts, rate: 0.0, elapsed }
    }
}

/// What the counters of a search say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// States that are stored.
    pub states: u64,
    /// Nothing goes wrong in executions of so many steps, as far as a solver is through with them.
    pub depth: u64,
    /// Clauses of its formula.
    pub clauses: u64,
    /// Contradictions that it came to.
    pub conflicts: u64,
    /// States a second, or conflicts where there are no states, since the last reading.
    pub rate: f64,
    /// Since the search began.
    pub elapsed: Duration,
}

impl Reading {
    /// What is counted: states, or conflicts where there are no states.
    pub fn count(&self) -> u64 {
        if self.states > 0 { self.states } else { self.conflicts }
    }
}
