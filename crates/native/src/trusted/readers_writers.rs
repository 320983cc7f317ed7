//! Locks for readers and writers of Rust's standard library and of parking_lot, as operations.
//!
//! The word of a lock says who has it: the number of readers, or all ones for a writer. Two bits
//! more say who sleeps; a thread that waits here waits for the word and does not sleep, so of these
//! only the one of writers is ever set.
//!
//! **Writers that wait.** While a writer waits, the standard library lets no reader in beside
//! others. What that adds to the behaviours of a program: a reader that waits, or fails to get in,
//! although only readers have the lock. That takes three: a reader that has the lock, a writer that
//! waits, and a thread that wants to read, which may be the first one again. A lock without such
//! three threads ([`Users::needs_preference`]) is taken by `ReadAcquire`, `WriteAcquire` and their
//! kin. On all others, to begin to wait is a step of the writer, which sets the bit; a thread that
//! gives the lock back last clears the bit by the code of the library, and the writer tries again.
//! There a `ReadRelease` can let a reader in, which `ReadAcquire` does not know of, so every step
//! on such a lock is a `Call`.
//!
//! Who uses a lock is learnt on the way, over all executions; a lock that turns out to need the
//! second form voids the search. A lock whose word is accessed by any other operation is explored,
//! as are all others then. Of parking_lot, only locks of the first form are operations; where there
//! is another one, all are explored.

use super::{Bracket, Kind, Library, Predicate, announce, read, read_word};
use crate::machine;
use crate::plain_accesses::CUT;
use mazurka_core::{Effect, MemoryOrder, ObjectId, Operation as O, ThreadId, ThreadSet};
use std::sync::atomic::{AtomicU32, Ordering};

/// How the standard library marks in the word of a lock who has it and who waits.
const MASK: u32 = (1 << 30) - 1;
const MAX_READERS: u32 = MASK - 1;
const READERS_WAITING: u32 = 1 << 30;
const WRITERS_WAITING: u32 = 1 << 31;

/// Whether a reader may come in.
pub(super) fn is_readable(word: u32) -> bool {
    word & MASK < MAX_READERS && word & (READERS_WAITING | WRITERS_WAITING) == 0
}

/// Whether the lock is free.
pub(super) fn is_free(word: u32) -> bool {
    word & MASK == 0
}

/// Whether a writer has said that it waits, and was not told to try again.
pub(super) fn has_waiting_writer(word: u32) -> bool {
    word & WRITERS_WAITING != 0
}

/// How parking_lot marks writers in the word of a lock, and counts readers.
const WRITER: usize = 0b1000;
const ONE_READER: usize = 0b1_0000;

/// Whether a reader may come in to a lock of parking_lot.
pub(super) fn is_parking_lot_readable(word: usize) -> bool {
    word & WRITER == 0
}

/// Whether a lock of parking_lot is free.
pub(super) fn is_parking_lot_free(word: usize) -> bool {
    word == 0
}

fn n_readers(word: u32) -> usize {
    let n = word & MASK;
    if n == MASK { 0 } else { n as usize }
}

/// Who uses a lock.
#[derive(Debug, Default)]
pub(super) struct Users {
    readers: ThreadSet,
    /// Those that may have come in twice.
    reentrant: ThreadSet,
    /// Those that may wait to write.
    writers: ThreadSet,
    /// Whether to wait is a step of a writer: readers then wait for it.
    prefers_writers: bool,
}

impl Users {
    /// Whether a reader could wait for a writer that waits for another reader, or for the same.
    fn needs_preference(&self) -> bool {
        let others = |threads: ThreadSet, writer: ThreadId| {
            threads.iter().filter(|&thread| thread != writer).count()
        };
        self.writers
            .iter()
            .any(|writer| others(self.readers, writer) > 1 || others(self.reentrant, writer) > 0)
    }

    /// How much is known of them.
    pub(super) fn known(&self) -> u64 {
        let Self { readers, reentrant, writers, prefers_writers } = self;
        [readers, reentrant, writers]
            .into_iter()
            .fold(u64::from(*prefers_writers), |sum, threads| sum << 11 ^ threads.len() as u64)
    }
}

/// The operations of a call.
pub(super) fn begin(bracket: &Bracket, object: ObjectId, address: usize) {
    match prefers_writers(bracket, object, address) {
        true if bracket.library == Library::Std => begin_preferring(bracket.kind, object, address),
        _ => begin_plainly(bracket, object, address),
    }
}

/// Notes who uses a lock how. Whether its writers wait in steps of their own.
fn prefers_writers(bracket: &Bracket, object: ObjectId, address: usize) -> bool {
    let kind = bracket.kind;
    let n_inside = match bracket.library {
        Library::Std => n_readers(read_word(address)),
        _ => read(address) / ONE_READER,
    };
    let me = machine::current();
    machine::with(|machine| {
        let is_concurrent = machine.is_concurrent();
        // Readers that came in while there was one thread were not noted.
        let known = &machine.objects.state(object).readers;
        let reenters = known.contains(&me) || known.len() < n_inside;
        let users = machine.trusted.readers_writers.entry(address).or_default();
        match kind {
            Kind::Read | Kind::TryRead => {
                users.readers.insert(me);
                if reenters {
                    users.reentrant.insert(me);
                }
            }
            Kind::Downgrade => users.readers.insert(me),
            Kind::Write => users.writers.insert(me),
            _ => {}
        }
        if !users.prefers_writers && is_concurrent && users.needs_preference() {
            users.prefers_writers = true;
            CUT.store(true, Ordering::Relaxed);
        }
        let prefers_writers = users.prefers_writers;
        if prefers_writers && bracket.library != Library::Std {
            machine.trusted.give_up(bracket.group());
        }
        prefers_writers
    })
}

/// A lock on which it cannot be told whether writers wait.
fn begin_plainly(bracket: &Bracket, object: ObjectId, address: usize) {
    let kind = bracket.kind;
    let (readable, writable) = match bracket.library {
        Library::Std => (Predicate::Readable(address), Predicate::Writable(address)),
        _ => (Predicate::ParkingLotReadable(address), Predicate::ParkingLotWritable(address)),
    };
    let (operation, possible) = match kind {
        Kind::Read => (O::ReadAcquire(object), readable),
        Kind::Write => (O::WriteAcquire(object), writable),
        Kind::TryRead => (O::TryReadAcquire(object), readable),
        Kind::TryWrite => (O::TryWriteAcquire(object), writable),
        Kind::ReadUnlock => (O::ReadRelease(object), Predicate::Now),
        _ => (O::WriteRelease(object), Predicate::Now),
    };
    let is_tried = matches!(kind, Kind::TryRead | Kind::TryWrite);
    let is_announced = announce(operation, if is_tried { Predicate::Now } else { possible });
    let me = machine::current();
    machine::with(|machine| {
        if is_tried && is_announced {
            let is_taken = possible.holds_in_memory();
            machine.effect = if is_taken { Effect::Done } else { Effect::Failed };
        }
        if kind == Kind::Downgrade {
            machine.objects.state(object).readers.push(me);
        }
    });
}

/// A lock that lets no reader in beside others while a writer waits.
fn begin_preferring(kind: Kind, object: ObjectId, address: usize) {
    let is_read = kind == Kind::Read;
    let predicate = if is_read { Predicate::Readable(address) } else { Predicate::Now };
    if announce(O::Call(object), predicate) {
        let word = read_word(address);
        machine::set_order(match kind {
            Kind::TryRead if !is_readable(word) => MemoryOrder::Relaxed,
            Kind::TryWrite if !is_free(word) => MemoryOrder::Relaxed,
            Kind::Read | Kind::Write | Kind::TryRead | Kind::TryWrite => MemoryOrder::Acquire,
            _ => MemoryOrder::Release,
        });
    }
    while kind == Kind::Write && !is_free(read_word(address)) {
        // SAFETY: it is the word of a lock that the running thread is about to take, and no other
        // runs.
        let word = unsafe { AtomicU32::from_ptr(address as *mut u32) };
        word.fetch_or(WRITERS_WAITING, Ordering::Relaxed);
        if announce(O::Call(object), Predicate::NoWriterWaits(address)) {
            machine::set_order(MemoryOrder::Acquire);
        }
    }
}
