//! Random programs over what `std::sync` and `std::thread` have, as data.

use crate::support::Random;

pub(crate) const N_MUTEXES: usize = 2;
pub(crate) const N_CONDVARS: usize = 2;
pub(crate) const N_ATOMICS: usize = 2;

/// What a thread does in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Takes a mutex, changes what it guards, and gives it back.
    Section(usize),
    /// The same with the second mutex inside of the first, or the other way round.
    Nested(usize),
    /// The same as a section if the mutex is free; if not, notes that.
    TryLock(usize),
    /// Changes what a mutex guards, counts that, and notifies.
    Signal {
        mutex: usize,
        condvar: usize,
        is_inside: bool,
        is_all: bool,
    },
    /// Notifies, and holds nothing.
    Notify {
        condvar: usize,
        is_all: bool,
    },
    /// Waits once, whatever the mutex guards.
    WaitOnce {
        mutex: usize,
        condvar: usize,
    },
    /// Waits until so many changes of what a mutex guards were counted: in a loop, or by
    /// `wait_while`.
    WaitUntil {
        mutex: usize,
        condvar: usize,
        count: u32,
        is_while: bool,
    },
    /// Notes what the reader-writer lock guards.
    Read,
    /// Changes what it guards.
    Write,
    /// The same if it is free; if not, notes that.
    TryWrite,
    Park,
    /// Unparks one of the threads that were started before, or `main`.
    Unpark(usize),
    /// Changes or reads an atomic, and notes what was there before or not.
    Atomic {
        atomic: usize,
        operation: Atomic,
        value: u32,
        order: usize,
        is_noted: bool,
    },
}

/// What is done to an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    Load,
    Store,
    Swap,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Nand,
    Max,
    Min,
    /// Adds one if it is the value.
    CompareExchange,
    /// Adds one if it is less than the value, by `fetch_update`.
    Update,
}

impl Atomic {
    const ALL: [Self; 13] = [
        Self::Load,
        Self::Store,
        Self::Swap,
        Self::Add,
        Self::Sub,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Nand,
        Self::Max,
        Self::Min,
        Self::CompareExchange,
        Self::Update,
    ];

    /// What is there afterwards.
    pub(crate) fn apply(self, old: u32, value: u32) -> u32 {
        match self {
            Self::Load => old,
            Self::Store | Self::Swap => value,
            Self::Add => old.wrapping_add(value),
            Self::Sub => old.wrapping_sub(value),
            Self::And => old & value,
            Self::Or => old | value,
            Self::Xor => old ^ value,
            Self::Nand => !(old & value),
            Self::Max => old.max(value),
            Self::Min => old.min(value),
            Self::CompareExchange if old == value => old + 1,
            Self::Update if old < value => old + 1,
            Self::CompareExchange | Self::Update => old,
        }
    }
}

/// A thread of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thread {
    pub(crate) deeds: Vec<Deed>,
}

/// `main` starts all other threads, acts, and joins them.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The first is `main`.
    pub(crate) threads: Vec<Thread>,
    /// Before which thread `main` has done how many of its deeds.
    pub(crate) before: Vec<usize>,
    /// Whether what is shared belongs to an `Arc`; if not, it is static.
    pub(crate) is_counted: bool,
}

/// Mixes something into what a thread has noted, or what is guarded.
pub(crate) fn mixed(value: u32, with: u32) -> u32 {
    value.wrapping_mul(31).wrapping_add(with).wrapping_add(1)
}

/// The program of a seed.
pub(crate) fn program(seed: u64) -> Program {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
    (0..8).for_each(|_| {
        random.below(2);
    });
    let n_threads = [2, 2, 3, 3, 3, 4][random.below(6) as usize];
    let n_deeds = [0, 0, 7, 6, 5][n_threads];
    // Programs are about some kinds of deeds, each, so that these meet.
    let kinds: Vec<u64> = (0..2 + random.below(2)).map(|_| random.below(6)).collect();
    let mut threads = vec![Thread::default(); n_threads];
    for idx in 0..n_deeds {
        let me = if idx < n_threads { idx } else { random.below(n_threads as u64) as usize };
        let kind = kinds[random.below(kinds.len() as u64) as usize];
        threads[me].deeds.push(deed(&mut random, kind, me));
    }
    let n_own = threads[0].deeds.len();
    let mut before = vec![0; n_threads];
    for idx in 1..n_threads {
        let most = if random.below(3) == 0 { n_own } else { 0 };
        before[idx] = before[idx - 1].max(random.below(most as u64 + 1) as usize);
    }
    Program { threads, before, is_counted: random.below(2) == 0 }
}

fn deed(random: &mut Random, kind: u64, me: usize) -> Deed {
    let mut below = |n: usize| random.below(n as u64) as usize;
    let (mutex, condvar) = (below(N_MUTEXES), below(N_CONDVARS));
    // Most often, one condition variable belongs to one mutex.
    let condvar = if below(4) > 0 { mutex } else { condvar };
    match kind {
        0 => match below(4) {
            0 | 1 => Deed::Section(mutex),
            2 => Deed::Nested(mutex),
            _ => Deed::TryLock(mutex),
        },
        1 | 2 => match below(8) {
            0..4 => {
                Deed::Signal { mutex, condvar, is_inside: below(2) == 0, is_all: below(2) == 0 }
            }
            4 => Deed::Notify { condvar, is_all: below(2) == 0 },
            5 => Deed::WaitOnce { mutex, condvar },
            _ => {
                let count = 1 + below(2) as u32;
                Deed::WaitUntil { mutex, condvar, count, is_while: below(2) == 0 }
            }
        },
        3 => match below(5) {
            0 | 1 => Deed::Read,
            2 | 3 => Deed::Write,
            _ => Deed::TryWrite,
        },
        4 if me == 0 || below(2) == 0 => Deed::Park,
        4 => Deed::Unpark(below(me)),
        _ => Deed::Atomic {
            atomic: below(N_ATOMICS),
            operation: Atomic::ALL[below(Atomic::ALL.len())],
            value: below(4) as u32,
            order: below(5),
            is_noted: below(3) > 0,
        },
    }
}
