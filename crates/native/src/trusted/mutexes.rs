//! Mutexes and condition variables of parking_lot, as operations.
//!
//! A mutex is a byte whose lowest bit says whether it is taken. Taking it waits for that bit, so
//! the code of the library always finds it free. A wait for a condition variable is done here in
//! place of the library: it gives the mutex back and sleeps in one step, and takes the mutex in
//! another one, once it was notified.

use super::{Bracket, Kind, Predicate, announce, announce_always, entry};
use crate::machine;
use crate::process;
use mazurka_core::{Effect, ObjectId, Operation as O, ThreadId};
use std::sync::atomic::{AtomicU8, Ordering};

const LOCKED: u8 = 1;

fn byte(address: usize) -> &'static AtomicU8 {
    // SAFETY: it is the byte of a mutex that the running thread uses, and no other runs.
    unsafe { AtomicU8::from_ptr(address as *mut u8) }
}

/// Whether the mutex at an address is free.
pub(super) fn is_free(address: usize) -> bool {
    byte(address).load(Ordering::Relaxed) & LOCKED == 0
}

/// The operation of a call of a mutex.
pub(super) fn begin(kind: Kind, object: ObjectId, address: usize) {
    match kind {
        Kind::MutexLock => {
            announce(O::Acquire(object), Predicate::Unlocked(address));
        }
        Kind::MutexTryLock => {
            if announce(O::TryAcquire(object), Predicate::Now) {
                let is_taken = is_free(address);
                let me = machine::current();
                machine::with(|machine| {
                    // Who took it while there was one thread was not noted.
                    let state = machine.objects.state(object);
                    if !is_taken && state.owner == Some(me) && machine.effect != Effect::Failed {
                        state.owner = None;
                    }
                    machine.effect = if is_taken { Effect::Done } else { Effect::Failed };
                });
            }
        }
        _ => {
            announce(O::Release(object), Predicate::Now);
        }
    }
}

/// Waits for a condition variable, in place of the library; says no if the library has to do it.
pub(super) fn wait(bracket: &mut Bracket, frame: &mut entry::Frame) -> bool {
    let (condvar_at, mutex_at) = (frame.argument(0), frame.argument(1));
    let has_limit = process::deadline_of(frame.argument(2), frame.argument(3)).is_some();
    let me = machine::current();
    let objects = machine::with(|machine| {
        machine.trusted.note_used(bracket.library);
        let condvar = machine.objects.at(condvar_at);
        let mutex = machine.objects.atomic(mutex_at, size_of::<u8>());
        let sleepers = machine.objects.sleepers(condvar);
        // One condition variable with two mutexes is a panic there.
        let is_other = |sleeper: ThreadId| {
            let operation = machine.threads[sleeper.index()].operation;
            !matches!(operation, O::Reacquire { mutex: it, .. } if it == mutex)
        };
        if has_limit || sleepers.iter().any(is_other) {
            machine.trusted.give_up(bracket.group());
            return None;
        }
        machine.trusted.note_exclusive(mutex, bracket.group());
        Some((condvar, mutex))
    });
    let Some((condvar, mutex)) = objects else { return false };
    if !announce(O::Wait { condvar, mutex }, Predicate::Now) {
        machine::with(|machine| {
            machine.objects.state(mutex).owner = None;
            machine.objects.state(condvar).sleepers.insert(me);
        });
    }
    byte(mutex_at).fetch_and(!LOCKED, Ordering::Relaxed);
    announce_always(O::Reacquire { condvar, mutex }, Predicate::Reacquirable(mutex_at));
    byte(mutex_at).fetch_or(LOCKED, Ordering::Relaxed);
    let has_expired = false;
    frame.set_result(usize::from(has_expired));
    true
}

/// Wakes one sleeper or all of a condition variable, in place of the library.
pub(super) fn notify(bracket: &Bracket, frame: &mut entry::Frame) {
    let condvar = machine::with(|machine| {
        machine.trusted.note_used(bracket.library);
        machine.objects.at(frame.argument(0))
    });
    let operation = match bracket.kind {
        Kind::NotifyOne => O::NotifyOne(condvar),
        _ => O::NotifyAll(condvar),
    };
    let is_announced = announce(operation, Predicate::Now);
    let n_woken = machine::with(|machine| match machine.effect {
        Effect::Woke(woken) if is_announced => woken.len(),
        _ => 0,
    });
    frame.set_result(n_woken);
}
