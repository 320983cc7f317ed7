//! Looking whether a thread has ended, without waiting for it: joins that are tried, or have a time
//! limit.
//!
//! That a thread has ended is seen only by the thread that joins it, and so its end is no step
//! ([`machine`]). Here it is seen: once some thread has tried to join another, the search begins
//! again, and the last step of each thread is a store to a flag that an attempt loads.

use crate::cancel;
use crate::library::wrote;
use crate::machine::{self, Machine};
use crate::plain_accesses::CUT;
use crate::process::wait_until;
use crate::pthread::{claim, join, thread_to_join};
use crate::real::replace;
use crate::timed;
use mazurka_core::{ObjectId, Operation as O, ThreadId};
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

type Time = *const libc::timespec;

/// Stand for the ends of the threads, as addresses for the operations on them.
static ENDS: [u8; ThreadId::MAX] = [0; ThreadId::MAX];

/// Whose end is at an address.
pub(crate) fn end_of(address: usize) -> Option<usize> {
    let idx = address.checked_sub(&raw const ENDS as usize)?;
    (idx < ENDS.len()).then_some(idx)
}

fn end(machine: &mut Machine, thread: ThreadId) -> ObjectId {
    machine.objects.at(&raw const ENDS[thread.index()] as usize)
}

/// The running thread is about to end.
pub(crate) fn announce() {
    let me = machine::current();
    let seen = machine::with(|machine| machine.are_ends_seen.then(|| end(machine, me)));
    if let Some(object) = seen {
        machine::visible(O::Store(object));
    }
}

/// Whether a thread has ended.
fn has_ended(thread: ThreadId) -> bool {
    let object = machine::with(|machine| {
        if !machine.are_ends_seen {
            machine.are_ends_seen = true;
            CUT.store(true, Ordering::Relaxed);
        }
        end(machine, thread)
    });
    machine::visible(O::Load(object));
    machine::with(|machine| machine.threads[thread.index()].has_ended())
}

/// Joins a thread that has ended. What it ended with, or the error.
fn try_join(handle: libc::pthread_t, failure: c_int) -> Result<usize, c_int> {
    let thread = thread_to_join(handle)?;
    if !has_ended(thread) {
        return Err(failure);
    }
    claim(thread, "joined");
    machine::wait_for_end(thread);
    Ok(machine::with(|machine| machine.threads[thread.index()].result))
}

/// The same, waiting for as long as there is time.
fn join_until(handle: libc::pthread_t, until: Time) -> Result<usize, c_int> {
    if until.is_null() {
        return join(handle);
    }
    thread_to_join(handle)?;
    cancel::point();
    if !timed::may_fail() {
        let result = join(handle);
        timed::conclude(false);
        return result;
    }
    let result = try_join(handle, libc::ETIMEDOUT);
    timed::conclude(result == Err(libc::ETIMEDOUT));
    if result.is_err() {
        wait_until(until);
    }
    result
}

/// Puts the result of a thread where the program wants it.
pub(crate) fn answer(result: Result<usize, c_int>, to: *mut *mut c_void) -> c_int {
    match result {
        Ok(_) if to.is_null() => 0,
        Ok(result) => {
            wrote!(pthread_join, to);
            // SAFETY: the program wants it there.
            unsafe { *to = result as *mut c_void };
            0
        }
        Err(error) => error,
    }
}

replace! {
    fn pthread_tryjoin_np(handle: libc::pthread_t, to: *mut *mut c_void) -> c_int {
        answer(try_join(handle, libc::EBUSY), to)
    }

    fn pthread_timedjoin_np(
        handle: libc::pthread_t,
        to: *mut *mut c_void,
        until: Time,
    ) -> c_int {
        answer(join_until(handle, until), to)
    }

    fn pthread_clockjoin_np(
        handle: libc::pthread_t,
        to: *mut *mut c_void,
        _clock: c_int,
        until: Time,
    ) -> c_int {
        answer(join_until(handle, until), to)
    }
}
