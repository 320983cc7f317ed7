//! What random scripts may consist of.

use std::ops::RangeInclusive;

/// What random scripts may consist of, and how large they may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many threads: at most 128.
    pub n_threads: RangeInclusive<usize>,
    /// How many shared variables: 1 to 3.
    pub n_variables: RangeInclusive<usize>,
    /// The most visible operations that one thread can take.
    pub max_per_thread: usize,
    /// The most visible operations that all threads can take together.
    pub max_total: usize,
    /// `if`, on variables and on locals.
    pub branches: bool,
    /// `cas`, `add` and `swap`.
    pub cas: bool,
    /// `await`.
    pub awaits: bool,
    /// `await` that writes in the same step.
    pub await_updates: bool,
    /// Elements of an array, some by an index that is only known when it runs.
    pub arrays: bool,
    /// `acq`, `rel` and `tryacq`.
    pub locks: bool,
    /// One lock inside of another.
    pub nested_locks: bool,
    /// Reader-writer locks.
    pub rwlocks: bool,
    /// `wait`, `notify` and `notifyall`.
    pub condvars: bool,
    /// `sleep`, `notify` and `notifyall`.
    pub futexes: bool,
    /// `down`, `up` and `trydown`.
    pub semaphores: bool,
    /// `bar`.
    pub barriers: bool,
    /// `send` and `recv` with and without `try`, bounded and not.
    pub channels: bool,
    /// `spawn` and `join`.
    pub spawn_join: bool,
    /// `choose`.
    pub choose: bool,
    /// `yield`.
    pub yields: bool,
    /// `assert`, of what was read.
    pub assertions: bool,
    /// Plain memory. Scripts with it have races, and what they do is then not determined by the
    /// order of their operations alone; no preset has it.
    pub plain: bool,
}

impl Shape {
    /// Loads, stores and read-modify-writes, and branches on what was read.
    pub fn variables() -> Self {
        Self {
            n_threads: 2..=4,
            n_variables: 1..=3,
            max_per_thread: 4,
            max_total: 9,
            branches: true,
            cas: true,
            awaits: false,
            await_updates: false,
            arrays: false,
            locks: false,
            nested_locks: false,
            rwlocks: false,
            condvars: false,
            futexes: false,
            semaphores: false,
            barriers: false,
            channels: false,
            spawn_join: false,
            choose: false,
            yields: false,
            assertions: false,
            plain: false,
        }
    }

    /// Variables and mutexes, also nested, so that some scripts deadlock.
    pub fn locks() -> Self {
        Self { max_per_thread: 6, locks: true, nested_locks: true, ..Self::variables() }
    }

    /// Every kind of operation.
    pub fn everything() -> Self {
        Self {
            awaits: true,
            arrays: true,
            rwlocks: true,
            condvars: true,
            semaphores: true,
            barriers: true,
            channels: true,
            spawn_join: true,
            choose: true,
            yields: true,
            assertions: true,
            ..Self::locks()
        }
    }

    /// The features that a script may have besides loads and stores.
    pub(super) fn features(&self) -> Vec<Feature> {
        [
            (self.branches, Feature::Branches),
            (self.cas, Feature::Cas),
            (self.awaits, Feature::Awaits),
            (self.await_updates, Feature::AwaitUpdates),
            (self.arrays, Feature::Arrays),
            // Twice and thrice: they are what most programs are about.
            (self.locks, Feature::Locks),
            (self.locks, Feature::Locks),
            (self.locks, Feature::Locks),
            (self.rwlocks, Feature::RwLocks),
            (self.condvars, Feature::Condvars),
            (self.futexes, Feature::Futexes),
            (self.semaphores, Feature::Semaphores),
            (self.barriers, Feature::Barriers),
            (self.channels, Feature::Channels),
            (self.spawn_join, Feature::SpawnJoin),
            (self.choose, Feature::Choose),
            (self.yields, Feature::Yields),
            (self.assertions, Feature::Assertions),
            (self.plain, Feature::Plain),
        ]
        .into_iter()
        .filter_map(|(is_wanted, feature)| is_wanted.then_some(feature))
        .collect()
    }
}

/// One of the switches of a [`Shape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feature {
    Branches,
    Cas,
    Awaits,
    AwaitUpdates,
    Arrays,
    Locks,
    RwLocks,
    Condvars,
    Futexes,
    Semaphores,
    Barriers,
    Channels,
    SpawnJoin,
    Choose,
    Yields,
    Assertions,
    Plain,
}
