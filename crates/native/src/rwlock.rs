//! Locks for many readers or one writer.
//!
//! Readers come in whichever thread waits, which is what the C library does unless a lock is of the
//! kind that prefers writers and does not let readers in twice. There a reader waits for a writer
//! that waits: whether one does would have to be a step of its own, and a reader who comes in twice
//! can wait for ever. So locks of that kind are refused. The kind that is only called preferring
//! writers does not, in the C library.

use crate::io;
use crate::machine;
use crate::pthread::{self, initialise, is_mine, not_held};
use crate::real::replace;
use libc::pthread_rwlock_t;
use mazurka_core::{ObjectId, Operation as O};
use std::ffi::c_int;

/// Where the C library keeps the kind of a lock.
const KIND_OFFSET: usize = 48;
const PREFERS_WRITERS: c_int = 2;

/// The lock at an address that the program gave.
pub(crate) fn object(lock: *mut pthread_rwlock_t) -> ObjectId {
    let it = pthread::object(lock);
    // SAFETY: the program gives a lock of the C library, which is that long.
    if unsafe { *lock.byte_add(KIND_OFFSET).cast::<c_int>() } == PREFERS_WRITERS {
        refuse();
    }
    it
}

fn refuse() -> ! {
    io::refuse_always(
        "a lock of the kind `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`",
        "readers would have to wait for writers that wait; take one of the other kinds",
    )
}

fn unlock(lock: *mut pthread_rwlock_t) {
    let it = object(lock);
    let me = machine::current();
    if is_mine(it) {
        machine::visible(O::WriteRelease(it));
        return;
    }
    let reads = machine::with(|machine| machine.objects.state(it).readers.contains(&me));
    if !reads {
        not_held(lock as usize, "unlocked");
    }
    machine::visible(O::ReadRelease(it));
}

replace! {
    fn pthread_rwlock_init(lock: *mut pthread_rwlock_t, attributes: *const c_int) -> c_int {
        // SAFETY: attributes begin with the kind.
        let kind = if attributes.is_null() { 0 } else { unsafe { *attributes } };
        if kind == PREFERS_WRITERS {
            refuse();
        }
        initialise(lock);
        // SAFETY: the program gives room for a lock. Nobody uses what is in it but for its kind.
        unsafe { lock.write_bytes(0, 1) };
        0
    }

    fn pthread_rwlock_destroy(lock: *mut pthread_rwlock_t) -> c_int {
        pthread::destroy_for_good(lock);
        0
    }

    fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int {
        machine::visible(O::ReadAcquire(object(lock)));
        0
    }

    fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int {
        machine::visible(O::WriteAcquire(object(lock)));
        0
    }

    fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int {
        if machine::visible(O::TryReadAcquire(object(lock))) { 0 } else { libc::EBUSY }
    }

    fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> c_int {
        if machine::visible(O::TryWriteAcquire(object(lock))) { 0 } else { libc::EBUSY }
    }

    fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int {
        unlock(lock);
        0
    }
}
