//! Linux's futex: what C++20's waits, Rust's standard library and parking_lot sleep on.
//!
//! A wait is two operations. `FutexWait` compares and goes to sleep in one step: it reads the word,
//! so it is ordered with every write of it, and it enters the queue of that address, so it is
//! ordered with every wake. `FutexResume` is the rest: possible once another thread has woken the
//! thread, and ordered after that. Who waits is blocked, it does not spin. A wake is a
//! notification of the queue: which one of several sleepers it wakes is a choice.
//!
//! A wait and a wake may have a mask of bits: who waits is woken only by a wake that has a bit in
//! common with it. To let those who sleep at one address sleep at another is in `requeue`; so is to
//! change a word and wake at two addresses.
//!
//! As in C11, a call orders no memory ([`machine::order_nothing`]): a thread learns of what others
//! have done before they woke it from the atomic accesses around the call, by their orders. What a
//! precompiled library looks at just before a wait is an access of its own (`before_wait`).
//!
//! There is no spurious return from a wait but the one that the word has changed. A wait with a
//! time limit may expire at any moment, as all such waits: see `timed`.

use crate::before_wait;
use crate::clock;
use crate::machine;
use crate::process;
use crate::requeue;
use crate::syscall::fail_with;
use crate::timed;
use crate::trusted;
use mazurka_core::{Effect, ObjectId, Operation as O, ThreadId};
use std::ffi::{c_int, c_long};

/// Bits that say how a wait is limited and whether other processes see the word.
const FLAGS: c_int = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
/// The mask of those who give none.
pub(crate) const ALL_BITS: u32 = u32::MAX;

/// The arguments of the call, as the kernel takes them.
pub(crate) struct Call {
    pub(crate) address: usize,
    pub(crate) operation: c_int,
    pub(crate) value: u32,
    /// A pointer to a time, or how many are moved or woken elsewhere.
    pub(crate) timeout: usize,
    pub(crate) other: usize,
    /// A mask, a value to compare with or an encoded operation.
    pub(crate) bits: u32,
}

/// What the call gives back; `None` if it is one that is not supported.
pub(crate) fn call(call: &Call) -> Option<c_long> {
    if trusted::is_quiet()
        && let Some(result) = call_quietly(call)
    {
        return Some(result);
    }
    match call.operation & !FLAGS {
        libc::FUTEX_WAIT => Some(wait(call, ALL_BITS)),
        libc::FUTEX_WAKE => Some(wake(call, ALL_BITS)),
        libc::FUTEX_WAIT_BITSET | libc::FUTEX_WAKE_BITSET if call.bits == 0 => {
            Some(fail_with(libc::EINVAL))
        }
        libc::FUTEX_WAIT_BITSET => Some(wait(call, call.bits)),
        libc::FUTEX_WAKE_BITSET => Some(wake(call, call.bits)),
        libc::FUTEX_REQUEUE => Some(requeue::requeue(call, None)),
        libc::FUTEX_CMP_REQUEUE => Some(requeue::requeue(call, Some(call.bits))),
        libc::FUTEX_WAKE_OP => Some(requeue::wake_op(call)),
        _ => None,
    }
}

/// The same within a trusted call; nothing if it is to be a step as elsewhere.
fn call_quietly(call: &Call) -> Option<c_long> {
    match call.operation & !FLAGS {
        libc::FUTEX_WAIT => Some(wait_quietly(call, ALL_BITS)),
        libc::FUTEX_WAIT_BITSET => Some(wait_quietly(call, call.bits)),
        libc::FUTEX_WAKE => trusted::futex_wake(call.address, call.value as c_int, ALL_BITS),
        libc::FUTEX_WAKE_BITSET => {
            trusted::futex_wake(call.address, call.value as c_int, call.bits)
        }
        _ => None,
    }
}

fn wait_quietly(call: &Call, bits: u32) -> c_long {
    let limit = call.timeout as *const libc::timespec;
    let is_relative = call.operation & !FLAGS == libc::FUTEX_WAIT;
    let deadline = (call.timeout != 0).then(|| match is_relative {
        true => process::deadline_after(limit),
        false => process::deadline(limit),
    });
    trusted::futex_wait(call.address, call.value, bits, deadline, || match is_relative {
        _ if limit.is_null() || clock::is_virtual() => {}
        true => process::wait_for(limit),
        false => process::wait_until(limit),
    })
}

/// To compare the word at an address and go to sleep there.
pub(crate) fn waiting_for(address: usize) -> O {
    machine::with(|machine| {
        machine.order_futex(address);
        let word = machine.objects.atomic(address, size_of::<u32>());
        O::FutexWait { word, queue: machine.objects.own_queue(address) }
    })
}

fn wait(call: &Call, bits: u32) -> c_long {
    let me = machine::current();
    if !before_wait::is_announced(call.address) {
        machine::visible(waiting_for(call.address));
        machine::order_nothing();
    }
    // SAFETY: the program gives a word that it can read, and no other thread runs.
    let found = unsafe { std::ptr::read_volatile(call.address as *const u32) };
    if found != call.value {
        machine::with(|machine| machine.effect = Effect::Failed);
        return fail_with(libc::EAGAIN);
    }
    let queue = machine::with(|machine| {
        let queue = machine.objects.queue(call.address);
        machine.objects.state(queue).sleepers.insert(me);
        let thread = &mut machine.threads[me.index()];
        thread.woken_by = bits;
        thread.sleeps_at = call.address;
        queue
    });
    if call.timeout == 0 {
        machine::visible(O::FutexResume(queue));
        machine::order_nothing();
        return 0;
    }
    let limit = call.timeout as *const libc::timespec;
    if clock::is_virtual() {
        let deadline = match call.operation & !FLAGS {
            libc::FUTEX_WAIT => process::deadline_after(limit),
            _ => process::deadline(limit),
        };
        let has_expired = clock::resume_until(queue, deadline);
        machine::order_nothing();
        machine::with(|machine| machine.threads[me.index()].sleeps_at = 0);
        return if has_expired { fail_with(libc::ETIMEDOUT) } else { 0 };
    }
    if timed::resume(queue) {
        return 0;
    }
    match call.operation & !FLAGS {
        libc::FUTEX_WAIT => process::wait_for(limit),
        _ => process::wait_until(limit),
    }
    fail_with(libc::ETIMEDOUT)
}

/// Wakes at most as many as the call says of those with one of these bits, and says how many those
/// were.
fn wake(call: &Call, bits: u32) -> c_long {
    let me = machine::current().index();
    let queue = machine::with(|machine| {
        machine.threads[me].wakes = bits;
        machine.threads[me].wakes_at = call.address;
        machine.order_futex(call.address);
        machine.objects.queue(call.address)
    });
    let n_woken = wake_from(queue, call.value);
    machine::with(|machine| {
        machine.threads[me].wakes = ALL_BITS;
        machine.threads[me].wakes_at = 0;
    });
    n_woken
}

fn wake_from(queue: ObjectId, value: u32) -> c_long {
    let most = at_least_one(value);
    if most >= ThreadId::MAX {
        return notify(O::NotifyAll, queue);
    }
    let mut n_woken = 0;
    for _ in 0..most {
        match notify(O::NotifyOne, queue) {
            0 => break,
            n => n_woken += n,
        }
    }
    n_woken
}

/// How many the kernel wakes: it wakes one before it looks at the limit.
pub(crate) fn at_least_one(limit: u32) -> usize {
    c_int::try_from(limit).map_or(1, |limit| limit as usize).max(1)
}

fn notify(operation: fn(ObjectId) -> O, queue: ObjectId) -> c_long {
    machine::visible(operation(queue));
    machine::with(|machine| match machine.effect {
        Effect::Woke(woken) => woken.len() as c_long,
        Effect::Done | Effect::Failed | Effect::Elapsed => 0,
    })
}
