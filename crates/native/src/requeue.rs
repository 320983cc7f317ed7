//! Futex calls about two addresses: sleepers that are moved from one to the other, and a word that
//! is changed while sleepers of two are woken.
//!
//! Each is one step, as it is in the kernel, which holds the queues of both addresses meanwhile. To
//! the explorer both queues are one object ([`Objects::joined_queue`](crate::objects::Objects)),
//! since a wake at the second address may then wake a thread that came to sleep at the first.
//!
//! The change of a word is made by the kernel with a locked instruction, so it acquires and
//! releases: a lock may be given back by it. To move sleepers orders no memory, as to wait or to
//! wake does not.
//!
//! The kernel takes sleepers in the order in which they came, as far as their priorities are the
//! same. Here as elsewhere, who is taken is a choice: each set of the right size, first of those to
//! be woken and then of those to be moved or woken at the second address.

use crate::futex::{ALL_BITS, Call, at_least_one};
use crate::futex_wake_op::Change;
use crate::invalid;
use crate::machine::{self, Machine, Value};
use crate::syscall::fail_with;
use crate::wake_choices::{n_subsets, subset};
use mazurka_core::{Effect, ObjectId, Operation as O, ThreadSet};
use std::ffi::{c_int, c_long};

/// Whom a call is about.
#[derive(Debug)]
pub(crate) struct Regrouping {
    from: usize,
    to: usize,
    /// How many are woken at the first address.
    n_first: usize,
    /// How many of those left are moved to the second, or how many are woken there.
    n_second: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Moves, if the first word is this; if none is given, in any case.
    Move(Option<u32>),
    /// Changes the second word, and wakes there if a comparison says so.
    Change(Change),
}

impl Regrouping {
    /// Whom the call may take, first at the first address and then for the rest, given who was
    /// taken first; and how many of them. None, if a comparison fails.
    fn first(&self, machine: &Machine) -> (ThreadSet, usize) {
        let is_on = match self.kind {
            Kind::Move(Some(expected)) => word_at(self.from) == expected,
            Kind::Move(None) | Kind::Change(_) => true,
        };
        let all = if is_on { machine.sleepers_at(self.from, ALL_BITS) } else { ThreadSet::EMPTY };
        (all, self.n_first.min(all.len()))
    }

    fn second(&self, machine: &Machine, first: ThreadSet, taken: ThreadSet) -> (ThreadSet, usize) {
        let all = match self.kind {
            Kind::Move(_) => first,
            Kind::Change(change) if change.compare(word_at(self.to)) => {
                machine.sleepers_at(self.to, ALL_BITS)
            }
            Kind::Change(_) => ThreadSet::EMPTY,
        };
        let left = all - taken;
        (left, self.n_second.min(left.len()))
    }
}

fn word_at(address: usize) -> u32 {
    // SAFETY: the program gives a word that it can read, and no other thread runs.
    unsafe { std::ptr::read_volatile(address as *const u32) }
}

impl Machine {
    fn regrouping(&self, idx: usize) -> &Regrouping {
        // SAFETY: the thread is in the call, and has it on its stack.
        unsafe { &*self.threads[idx].regrouping }
    }

    /// In how many ways a thread can take the call that it is in.
    pub(crate) fn n_regroupings(&self, idx: usize) -> u32 {
        let call = self.regrouping(idx);
        let (first, n_first) = call.first(self);
        let taken = subset(first, n_first, 0);
        let (second, n_second) = call.second(self, first, taken);
        n_subsets(first.len(), n_first).saturating_mul(n_subsets(second.len(), n_second))
    }

    /// Wakes and moves those whom a thread takes in one of these ways.
    pub(crate) fn regroup(&mut self, idx: usize, queue: ObjectId, choice: u32) -> Effect {
        let call = self.regrouping(idx);
        let (first, n_first) = call.first(self);
        let n_ways = n_subsets(first.len(), n_first);
        let taken = subset(first, n_first, choice % n_ways);
        let (second, n_second) = call.second(self, first, taken);
        let rest = subset(second, n_second, choice / n_ways);
        match call.kind {
            Kind::Change(_) => self.wake(queue, taken | rest),
            Kind::Move(_) => {
                let to = call.to;
                for sleeper in rest.iter() {
                    self.threads[sleeper.index()].sleeps_at = to;
                }
                self.n_moved = rest.len();
                self.wake(queue, taken)
            }
        }
    }
}

/// Makes the call, of which `operation` is what the explorer sees. How many were woken.
fn take(regrouping: &Regrouping, word: usize, operation: fn(ObjectId, ObjectId) -> O) -> usize {
    let me = machine::current().index();
    invalid::check(word, size_of::<u32>(), false);
    let operation = machine::with(|machine| {
        machine.note_sharing(word, size_of::<u32>());
        machine.threads[me].regrouping = regrouping;
        let word = machine.objects.atomic(word, size_of::<u32>());
        operation(word, machine.objects.joined_queue(regrouping.from, regrouping.to))
    });
    machine::visible(operation);
    machine::with(|machine| match machine.effect {
        Effect::Woke(woken) => woken.len(),
        Effect::Done | Effect::Failed | Effect::Elapsed => 0,
    })
}

/// Wakes some of those who sleep at one address, and lets others sleep at another.
pub(crate) fn requeue(call: &Call, expected: Option<u32>) -> c_long {
    let limits = (c_int::try_from(call.value), c_int::try_from(call.timeout as u32));
    let (Ok(n_first), Ok(n_second)) = limits else { return fail_with(libc::EINVAL) };
    let regrouping = Regrouping {
        from: call.address,
        to: call.other,
        n_first: n_first as usize,
        n_second: n_second as usize,
        kind: Kind::Move(expected),
    };
    let n_woken = take(&regrouping, call.address, |word, queue| O::FutexRequeue { word, queue });
    machine::order_nothing();
    if expected.is_some_and(|expected| word_at(call.address) != expected) {
        return fail_with(libc::EAGAIN);
    }
    (n_woken + machine::with(|machine| machine.n_moved)) as c_long
}

/// Changes a word, wakes some of those who sleep at another address and, if the word was as a
/// comparison wants it, of those who sleep at it.
pub(crate) fn wake_op(call: &Call) -> c_long {
    let Some(change) = Change::decode(call.bits) else { return fail_with(libc::ENOSYS) };
    let regrouping = Regrouping {
        from: call.address,
        to: call.other,
        n_first: at_least_one(call.value),
        n_second: at_least_one(call.timeout as u32),
        kind: Kind::Change(change),
    };
    let n_woken = take(&regrouping, call.other, |word, queue| O::FutexWakeOp { word, queue });
    let old = word_at(call.other);
    let new = change.apply(old);
    // SAFETY: the program gives a word that it can write, and no other thread runs.
    unsafe { std::ptr::write_volatile(call.other as *mut u32, new) };
    machine::with(|machine| {
        machine.value = Value::Changed(size_of::<u32>(), old.into(), new.into());
        machine.watch.operate(call.other, size_of::<u32>(), true);
    });
    n_woken as c_long
}
