//! Cancellation: a thread asks another one to end, which does so where it waits, sleeps or looks.
//!
//! Whether a thread was asked to end is a semaphore without permits, one for each thread:
//! `pthread_cancel` gives it a permit, and it is never taken. A cancellation point looks
//! whether there is one and, if so, unwinds the stack as `pthread_exit` does ([`unwind`]).
//!
//! **A wait that can be cancelled** waits for one of two things. Which of them it will be is chosen
//! before ([`Operation::Choose`](mazurka_core::Operation)): the thread then waits as ever, or for
//! the request alone. An execution that ends with a thread in the wrong wait is one that another
//! choice stands for, and no deadlock ([`is_elsewhere`]). A thread that waits for the request on a
//! condition variable is none of those who sleep there: POSIX says that it takes no notification
//! from others.
//!
//! All of that is left out until some thread calls `pthread_cancel` for the first time; the search
//! then begins again.
//!
//! Absent: asynchronous cancellation, which is refused. Functions that read or write files are no
//! cancellation points, which the coverage says.

use crate::io::refuse_always;
use crate::library::wrote;
use crate::machine::{self, Machine};
use crate::objects::Objects;
use crate::plain_accesses::CUT;
use crate::process::CANCELLED;
use crate::real::replace;
use crate::thread::Thread;
use crate::unwind;
use mazurka_core::{Effect, ObjectId, Operation as O, ThreadId};
use std::ffi::c_int;
use std::sync::atomic::Ordering;

const DEFERRED: c_int = 0;
const ASYNCHRONOUS: c_int = 1;

/// Stand for the requests to the threads, as addresses for the operations on them.
static REQUESTS: [u8; ThreadId::MAX] = [0; ThreadId::MAX];

/// What a thread at a cancellation point waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// It is at none, or cannot be cancelled.
    #[default]
    Nothing,
    /// What the function is there for.
    Event,
    /// A request to end.
    Request,
}

fn request_address(thread: usize) -> usize {
    &raw const REQUESTS[thread] as usize
}

/// What people call the thing at an address, if it is a request.
pub(crate) fn requested_of(address: usize) -> Option<usize> {
    let idx = address.checked_sub(request_address(0))?;
    (idx < REQUESTS.len()).then_some(idx)
}

fn request(machine: &mut Machine, thread: ThreadId) -> ObjectId {
    machine.objects.at(request_address(thread.index()))
}

/// A thread begins its life with the number of another, which may have been asked to end.
#[cold]
pub(crate) fn forget_request(machine: &mut Machine, thread: ThreadId) {
    machine.objects.initialise(request_address(thread.index()));
}

/// Whether the running thread can be cancelled, as far as anybody has ever been.
fn is_cancellable() -> bool {
    let me = machine::current().index();
    machine::with(|machine| machine.has_cancellation && !machine.threads[me].is_uncancellable)
}

/// Looks whether the running thread was asked to end.
fn is_requested() -> bool {
    let me = machine::current();
    let semaphore = machine::with(|machine| request(machine, me));
    let taken = machine::visible(O::SemaphoreTryAcquire { semaphore, permits: 0 });
    machine::with(|machine| {
        // As for `sem_getvalue`: it is ordered like an attempt, and takes none.
        machine.effect = Effect::Failed;
        machine.objects.state(semaphore).count += u32::from(taken);
    });
    taken
}

/// Ends the running thread, which was asked to.
fn act() -> ! {
    let me = machine::current().index();
    machine::with(|machine| machine.threads[me].is_uncancellable = true);
    unwind::end_with(CANCELLED)
}

/// A point where a thread that does not wait may be cancelled.
pub(crate) fn point() {
    if is_cancellable() && is_requested() {
        act();
    }
}

/// A point where a thread waits and may be cancelled. `wait` is what it does if it is not, `leave`
/// what has to be done before it waits for the request alone, and `come_back` after that.
pub(crate) fn wait<R>(
    wait: impl FnOnce() -> R,
    leave: impl FnOnce(),
    come_back: impl FnOnce(),
) -> R {
    if !is_cancellable() {
        return wait();
    }
    if is_requested() {
        act();
    }
    let me = machine::current();
    machine::visible(O::Choose);
    let is_request = machine::with(|machine| machine.choice == 1);
    let set = |awaited: Awaited| {
        machine::with(|machine| machine.threads[me.index()].awaited = awaited);
    };
    if is_request {
        leave();
        set(Awaited::Request);
        let semaphore = machine::with(|machine| request(machine, me));
        machine::visible(O::SemaphoreAcquire { semaphore, permits: 0 });
        set(Awaited::Nothing);
        come_back();
        act();
    }
    set(Awaited::Event);
    let result = wait();
    set(Awaited::Nothing);
    result
}

/// Whether an execution in which no thread can move any more has a thread that waits for what does
/// not come, while the other choice would have let it go on.
pub(crate) fn is_elsewhere(objects: &Objects, idx: usize, thread: &Thread) -> bool {
    match thread.awaited {
        Awaited::Nothing => false,
        Awaited::Request => true,
        Awaited::Event => objects.count_at(request_address(idx)) > 0,
    }
}

impl Machine {
    /// A thread is to be cancelled: from now on, all cancellation points are looked at.
    fn note_cancellation(&mut self) {
        if !self.has_cancellation {
            self.has_cancellation = true;
            CUT.store(true, Ordering::Relaxed);
        }
    }
}

fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: the program wants it there.
        unsafe { to.write(value) };
    }
}

replace! {
    fn pthread_cancel(handle: libc::pthread_t) -> c_int {
        let Some(thread) = machine::with(|machine| machine.thread_of(handle)) else {
            return libc::ESRCH;
        };
        let semaphore = machine::with(|machine| {
            machine.note_cancellation();
            request(machine, thread)
        });
        machine::visible(O::SemaphoreRelease(semaphore));
        0
    }

    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int {
        if !(0..=1).contains(&state) {
            return libc::EINVAL;
        }
        let me = machine::current().index();
        let before = machine::with(|machine| {
            std::mem::replace(&mut machine.threads[me].is_uncancellable, state != 0)
        });
        put(old, c_int::from(before));
        wrote!(pthread_setcancelstate, old);
        0
    }

    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int {
        match kind {
            DEFERRED => {
                put(old, DEFERRED);
                wrote!(pthread_setcanceltype, old);
            }
            ASYNCHRONOUS => refuse_always(
                "`pthread_setcanceltype` with `PTHREAD_CANCEL_ASYNCHRONOUS`",
                "a thread that may end between any two instructions",
            ),
            _ => return libc::EINVAL,
        }
        0
    }

    fn pthread_testcancel() {
        point();
    }
}
