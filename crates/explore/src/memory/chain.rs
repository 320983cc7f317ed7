//! Objects that are no memory: all operations on one are in one order, its chain, and each follows
//! the one before it.
//!
//! The chain is part of po ∪ rf: an operation reads what the one before it has left. So whether an
//! operation can be taken at a place of the chain is known from the chain alone, and that is what
//! [`Link::after`] says. What a thread learns by it is what the operation promises, and no more: a
//! mutex and a semaphore pass on what is known where they are given back; a notification passes on
//! nothing, the mutex does.
//!
//! Memory that cannot be told what a read returns
//! ([`System::is_weak`](mazurka_core::System::is_weak)) has a chain, too, of reads and writes
//! alike: it is stronger than the model, and the system says so in its assumptions.
//!
//! A futex is such memory, and has one chain for its accesses, those who go to sleep on it and
//! those who wake them. That a thread is asleep is told by the chain, and what the word holds by
//! the system: a sleeper whose word has changed fails, and is in the chain all the same. Both are
//! sequentially consistent, as the kernel's full barriers make them. The end of
//! a sleep follows the wake, and no chain. So both name the word, and nothing else has to do with
//! the queue of an [`Operation::FutexWait`]: a system that has them apart is refused.
//!
//! A sleep that may end at any moment ends by an operation that never waits: it takes its thread
//! out of those who sleep, or finds that it was woken before. That is told by its place in the
//! chain, as with an attempt. It passes on nothing, and learns nothing.
//!
//! Who takes a reader-writer lock for reading learns from writers alone, so its place in the chain
//! promises less than what came before it ([`Link::learns_from`]). The end of a wait at a barrier
//! follows the last of those who have arrived in its round.
//!
//! An attempt that fails is in the chain, too. C11 lets `mtx_trylock` fail for no reason; here, it
//! fails if the mutex is held.

use mazurka_core::{Effect, ObjectId, Operation, ThreadId};
use smallvec::SmallVec;

/// What an operation does to one object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) object: ObjectId,
    pub(crate) act: Act,
}

/// How an object is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// A mutex: 1 if it is held.
    Acquire,
    TryAcquire,
    Release,
    /// A condition variable: those who sleep on it, as bits.
    Enter(ThreadId),
    NotifyOne,
    NotifyAll,
    /// A futex: those who sleep on it, as bits. It may fail.
    Sleep(ThreadId),
    /// Of both: the thread sleeps no longer, for its time is up, if it was not woken before.
    Expire(ThreadId),
    /// A reader-writer lock: how many readers have it, or [`WRITER`].
    ReadAcquire,
    TryReadAcquire,
    ReadRelease,
    WriteAcquire,
    TryWriteAcquire,
    WriteRelease,
    /// A barrier: how many have arrived, in all rounds.
    Arrive,
    /// A semaphore: its permits, beside those that it was created with and [`MIDDLE`] more.
    Down {
        permits: u32,
    },
    TryDown {
        permits: u32,
    },
    Up,
    /// Memory of which nothing is known here.
    Access,
}

/// The state of a semaphore that has the permits that it was created with.
const MIDDLE: u128 = 1 << 64;

/// The state of a reader-writer lock that is held for writing.
const WRITER: u128 = 1 << 127;

/// What an operation does to chains, in order; nothing if it touches none. Only for
/// [operations](is_supported) that a graph knows. Accesses to memory are in a chain if that is not
/// weak.
pub(crate) fn links(thread: ThreadId, operation: Operation, is_weak: bool) -> SmallVec<[Link; 2]> {
    use Operation as O;
    let link = |object, act| Some(Link { object, act });
    let [first, second] = match operation {
        O::Acquire(o) | O::Reacquire { mutex: o, .. } => [link(o, Act::Acquire), None],
        O::TryAcquire(o) => [link(o, Act::TryAcquire), None],
        O::Release(o) => [link(o, Act::Release), None],
        O::Wait { condvar, mutex } => {
            [link(condvar, Act::Enter(thread)), link(mutex, Act::Release)]
        }
        O::FutexWait { word, .. } => [link(word, Act::Sleep(thread)), None],
        O::Expire(o) => [link(o, Act::Expire(thread)), None],
        O::ReadAcquire(o) => [link(o, Act::ReadAcquire), None],
        O::TryReadAcquire(o) => [link(o, Act::TryReadAcquire), None],
        O::ReadRelease(o) => [link(o, Act::ReadRelease), None],
        O::WriteAcquire(o) => [link(o, Act::WriteAcquire), None],
        O::TryWriteAcquire(o) => [link(o, Act::TryWriteAcquire), None],
        O::WriteRelease(o) => [link(o, Act::WriteRelease), None],
        O::Arrive(o) => [link(o, Act::Arrive), None],
        O::NotifyOne(o) => [link(o, Act::NotifyOne), None],
        O::NotifyAll(o) => [link(o, Act::NotifyAll), None],
        O::SemaphoreAcquire { semaphore, permits } => {
            [link(semaphore, Act::Down { permits }), None]
        }
        O::SemaphoreTryAcquire { semaphore, permits } => {
            [link(semaphore, Act::TryDown { permits }), None]
        }
        O::SemaphoreRelease(o) => [link(o, Act::Up), None],
        O::Load(o) | O::Store(o) | O::ReadModifyWrite(o) if !is_weak => {
            [link(o, Act::Access), None]
        }
        _ => [None, None],
    };
    first.into_iter().chain(second).collect()
}

/// Whether a graph knows what an operation means.
pub(crate) fn is_supported(operation: Operation) -> bool {
    use Operation as O;
    matches!(
        operation,
        O::Load(_)
            | O::Store(_)
            | O::ReadModifyWrite(_)
            | O::Add(_)
            | O::AddAndTest(_)
            | O::Begin
            | O::Spawn(_)
            | O::Join(_)
            | O::Yield
            | O::Choose
            | O::Acquire(_)
            | O::TryAcquire(_)
            | O::Release(_)
            | O::Wait { .. }
            | O::Reacquire { .. }
            | O::NotifyOne(_)
            | O::NotifyAll(_)
            | O::SemaphoreAcquire { .. }
            | O::SemaphoreTryAcquire { .. }
            | O::SemaphoreRelease(_)
            | O::FutexWait { .. }
            | O::FutexResume(_)
            | O::Expire(_)
            | O::ReadAcquire(_)
            | O::TryReadAcquire(_)
            | O::ReadRelease(_)
            | O::WriteAcquire(_)
            | O::TryWriteAcquire(_)
            | O::WriteRelease(_)
            | O::Arrive(_)
            | O::Leave { .. }
    )
}

impl Link {
    /// What the object is like before the first operation on it.
    pub(crate) fn initial(self) -> u128 {
        match self.act {
            Act::Down { .. } | Act::TryDown { .. } | Act::Up => MIDDLE,
            _ => 0,
        }
    }

    /// What the object is like behind the operation, whose effect is known.
    pub(crate) fn after(self, state: u128, effect: Effect) -> u128 {
        let succeeded = effect != Effect::Failed;
        match (self.act, effect) {
            (Act::NotifyOne | Act::NotifyAll, Effect::Woke(woken)) => {
                woken.iter().fold(state, |state, thread| state & !(1 << thread.index()))
            }
            (
                Act::TryAcquire
                | Act::TryDown { .. }
                | Act::TryReadAcquire
                | Act::TryWriteAcquire
                | Act::Sleep(_),
                _,
            ) if !succeeded => state,
            _ => self.would_leave(state).unwrap_or(state),
        }
    }

    /// What the object would be like behind the operation, taken in this state as its first
    /// alternative; nothing if it would wait.
    pub(crate) fn would_leave(self, state: u128) -> Option<u128> {
        let n_permits = |permits: u32| (state + u128::from(permits)).saturating_sub(MIDDLE);
        match self.act {
            Act::Acquire => (state == 0).then_some(1),
            Act::TryAcquire => Some(1),
            Act::Release => Some(0),
            Act::Access => Some(state),
            Act::Enter(thread) | Act::Sleep(thread) => Some(state | 1 << thread.index()),
            Act::Expire(thread) => Some(state & !(1 << thread.index())),
            Act::ReadAcquire => (state != WRITER).then(|| state + 1),
            Act::TryReadAcquire if state == WRITER => Some(state),
            Act::TryReadAcquire => Some(state + 1),
            Act::ReadRelease => Some(state.saturating_sub(1)),
            Act::WriteAcquire => (state == 0).then_some(WRITER),
            Act::TryWriteAcquire if state != 0 => Some(state),
            Act::TryWriteAcquire => Some(WRITER),
            Act::WriteRelease => Some(0),
            Act::Arrive => Some(state + 1),
            Act::NotifyOne => Some(state & state.wrapping_sub(1)),
            Act::NotifyAll => Some(0),
            Act::Down { permits } => (n_permits(permits) > 0).then(|| state - 1),
            Act::TryDown { permits } => Some(state - u128::from(n_permits(permits) > 0)),
            Act::Up => Some(state + 1),
        }
    }

    /// Whether it learns what was known where the object was given back.
    pub(crate) fn acquires(self, effect: Effect) -> bool {
        match self.act {
            Act::Acquire | Act::Down { .. } | Act::ReadAcquire | Act::WriteAcquire => true,
            Act::TryAcquire | Act::TryDown { .. } | Act::TryReadAcquire | Act::TryWriteAcquire => {
                effect != Effect::Failed
            }
            _ => false,
        }
    }

    /// Whether what it learns, if it does, was given back by this operation or before it: readers
    /// learn nothing from readers.
    pub(crate) fn learns_from(self, operation: Operation) -> bool {
        let reads = matches!(self.act, Act::ReadAcquire | Act::TryReadAcquire);
        !reads || matches!(operation, Operation::WriteRelease(_))
    }

    /// Whether it lets others know what its thread knows.
    pub(crate) fn releases(self, _effect: Effect) -> bool {
        use Act::{Arrive, ReadRelease, Release, Up, WriteRelease};
        matches!(self.act, Release | Up | ReadRelease | WriteRelease | Arrive)
    }

    /// In how many ways it can be taken in this state.
    pub(crate) fn choices(self, state: u128) -> u32 {
        match self.act {
            Act::NotifyOne => state.count_ones().max(1),
            _ => 1,
        }
    }
}
