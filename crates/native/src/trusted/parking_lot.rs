//! parking_lot: locks and condition variables that are single operations.
//!
//! A mutex is a byte, a lock for readers and writers a word, and their first argument is the
//! object. A thread that waits here never parks, so no other bits are set in them, and the table of
//! those who park is never touched. Condition variables are not called at all: to wait gives the
//! mutex back in the byte, and takes it again when notified. Which of several sleepers `notify_one`
//! wakes is a choice, for nothing is promised of it.
//!
//! What is not listed looks at the same words, and then all of its kind are explored: waits with a
//! time limit, `bump`, `is_locked`, upgradable locks. So are locks for readers and writers where a
//! reader could wait for a writer that waits. `Once` is explored.

use super::Kind::{
    CondvarWait, Downgrade, MutexLock, MutexTryLock, MutexUnlock, NotifyAll, NotifyOne, Read,
    ReadUnlock, TryRead, TryWrite, Write, WriteUnlock,
};
use super::{Kind, Library, Row};

const fn row(path: &'static str, kind: Kind) -> Row {
    Row { path, kind, library: Library::ParkingLot }
}

pub(super) static ROWS: &[Row] = &[
    row("<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::lock", MutexLock),
    row("<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::try_lock", MutexTryLock),
    row("<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::unlock", MutexUnlock),
    row(
        "<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutexFair>::unlock_fair",
        MutexUnlock,
    ),
    row("parking_lot::condvar::Condvar::wait_until_internal", CondvarWait),
    row("parking_lot::condvar::Condvar::notify_one", NotifyOne),
    row("parking_lot::condvar::Condvar::notify_all", NotifyAll),
    row("<parking_lot::raw_rwlock::RawRwLock as lock_api::rwlock::RawRwLock>::lock_shared", Read),
    row(
        "<parking_lot::raw_rwlock::RawRwLock as lock_api::rwlock::RawRwLock>::lock_exclusive",
        Write,
    ),
    row(
        "<parking_lot::raw_rwlock::RawRwLock as lock_api::rwlock::RawRwLock>::try_lock_shared",
        TryRead,
    ),
    row(
        "<parking_lot::raw_rwlock::RawRwLock as lock_api::rwlock::RawRwLock>::try_lock_exclusive",
        TryWrite,
    ),
    row(
        "<parking_lot::raw_rwlock::RawRwLock as lock_api::rwlock::RawRwLock>::unlock_shared",
        ReadUnlock,
    ),
    row(
        "<parking_lot::raw_rwlock::RawRwLock as lock_api::rwlock::RawRwLock>::unlock_exclusive",
        WriteUnlock,
    ),
    row(
        "<parking_lot::raw_rwlock::RawRwLock as lock_api::rwlock::RawRwLockDowngrade>::downgrade",
        Downgrade,
    ),
];
