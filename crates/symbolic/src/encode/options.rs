//! How a program is made a circuit, and what there is at most of what a circuit has a fixed number
//! of.

use super::temporal::Temporal;

/// How a program is to be made a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encode {
    /// Whether a data race is a violation.
    pub races: bool,
    /// Whether the machine takes plain accesses for steps, for the schedules that it is given.
    pub plain_steps: bool,
    /// Whether it is a violation if no thread can move and one waits.
    pub deadlock: bool,
    /// What executions must not do for ever. There are no schedulers for it but that of all
    /// interleavings.
    pub temporal: Option<Temporal>,
    /// What there is at most of what a circuit has a fixed number of.
    pub bounds: Bounds,
}

impl Default for Encode {
    fn default() -> Self {
        Self {
            races: true,
            plain_steps: false,
            deadlock: true,
            temporal: None,
            bounds: Bounds::default(),
        }
    }
}

/// What there is at most of what a circuit has a fixed number of. A program that needs more is no
/// error: it is reported when a bound is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How many calls of itself a function may be in; if that is 0, one that calls itself is
    /// refused.
    pub recursion: u32,
    /// How many threads a thread may start.
    pub threads: u32,
    /// How many blocks one place may allocate, where that is in a loop.
    pub blocks: u32,
    /// How many bytes a block has whose size is not known before the program runs.
    pub block_bytes: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { recursion: 0, threads: 1, blocks: 1, block_bytes: 32 }
    }
}

impl Bounds {
    /// Threads have numbers of a byte in locks, and 24 of them fit into a reader-writer lock.
    pub(super) const MAX_THREADS: usize = 30;
    /// Where a thread can be in all, and what a circuit may consist of: more would take too long.
    pub(super) const MAX_POINTS: usize = 200_000;
    pub(super) const MAX_NODES: usize = 5_000_000;

    /// How often a thread may spawn another one.
    pub(super) fn n_children(&self) -> u32 {
        self.threads.min(Self::MAX_THREADS as u32)
    }
}
