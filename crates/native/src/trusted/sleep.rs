//! Sleeping inside a trusted call: where its code waits for a futex, and is woken by another call.
//!
//! The thread sleeps on the object of the call. To go on is another call, once it was woken or once
//! its time is up; a call that only looks at what it was given does so without touching the object.

use super::{Kind, Predicate, active, announce_always, read_word, rings};
use crate::clock;
use crate::machine;
use crate::timed;
use mazurka_core::{Effect, MemoryOrder, Operation as O, ThreadSet};
use std::ffi::{c_int, c_long};

/// A wait for a futex by a quiet thread, until a deadline if there is one: what it gives back.
/// `pass` is called if that has come and the clock is not virtual.
pub(crate) fn futex_wait(
    address: usize,
    expected: u32,
    bits: u32,
    deadline: Option<u64>,
    pass: impl FnOnce(),
) -> c_long {
    let me = machine::current();
    let active = machine::with(|machine| active(machine.threads[me.index()].bracket));
    if read_word(address) != expected {
        return crate::syscall::fail_with(libc::EAGAIN);
    }
    let Some(bracket) = active else { return 0 };
    if bracket.has_expired {
        pass();
        return crate::syscall::fail_with(libc::ETIMEDOUT);
    }
    // Who goes on by itself changes what others see of the object, too.
    let is_call = deadline.is_some()
        || matches!(
            bracket.kind,
            Kind::ArraySend | Kind::ArrayReceive | Kind::ArrayCall | Kind::SharedCall
        );
    let object = machine::with(|machine| {
        let object = bracket.object.unwrap_or_else(|| machine.objects.queue(address));
        machine.objects.state(object).sleepers.insert(me);
        let thread = &mut machine.threads[me.index()];
        thread.woken_by = bits;
        thread.sleeps_at = address;
        object
    });
    let (operation, predicate) = match is_call {
        true => (O::Call(object), Predicate::Woken),
        false => (O::FutexResume(object), Predicate::Usual),
    };
    match deadline {
        Some(deadline) if clock::is_virtual() => {
            clock::wait(operation, predicate, deadline);
        }
        Some(_) if timed::may_fail() => announce_always(operation, Predicate::Now),
        _ => announce_always(operation, predicate),
    }
    // Who was woken does not sleep any more.
    let has_expired = machine::with(|machine| {
        let thread = &mut machine.threads[me.index()];
        thread.sleeps_at = 0;
        let sleepers = &mut machine.objects.state(object).sleepers;
        let has_expired = sleepers.contains(me);
        sleepers.remove(me);
        has_expired
    });
    if deadline.is_some() && !clock::is_virtual() {
        timed::conclude(has_expired);
    }
    if matches!(bracket.kind, Kind::ArraySend | Kind::ArrayReceive) {
        let order = if has_expired { MemoryOrder::Relaxed } else { MemoryOrder::Acquire };
        let address = machine::with(|machine| machine.objects.address(object));
        rings::note_passage(bracket, address, order);
    }
    if has_expired {
        pass();
        return crate::syscall::fail_with(libc::ETIMEDOUT);
    }
    0
}

/// The same for a wake; nothing if it has to be a step of its own.
pub(crate) fn futex_wake(address: usize, most: c_int, bits: u32) -> Option<c_long> {
    let me = machine::current().index();
    machine::with(|machine| {
        let sleepers = machine.sleepers_at(address, bits);
        if sleepers.is_empty() {
            return Some(0);
        }
        if !matches!(machine.threads[me].operation, O::Call(_)) {
            return None;
        }
        let before = match machine.effect {
            Effect::Woke(woken) => woken,
            _ => ThreadSet::EMPTY,
        };
        let mut woken = ThreadSet::EMPTY;
        for sleeper in sleepers.iter().take(most.max(1) as usize) {
            woken.insert(sleeper);
        }
        let queue = machine.objects.queue(address);
        machine.wake(queue, woken);
        machine.effect = Effect::Woke(before | woken);
        Some(woken.len() as c_long)
    })
}
