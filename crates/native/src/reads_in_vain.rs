//! Reads in vain: those that are known beforehand to lead nowhere are not taken.
//!
//! Let a thread be about to read: by a load, by a compare-and-swap that would fail, or by an
//! exchange of a value for the same. It is computed aside (`emulate`) to what state it would come
//! with the value *v* that is there. The read is *in vain* if the thread would be held there:
//!
//! - It *comes round*: that is the state in which it is about to read. (`awaits`)
//! - It *comes back*: that is a state in which it came to an earlier read, and it has changed
//!   nothing since. (`spin`)
//! - It *rereads*: an earlier read of the same variable, which has read another value, leads to the
//!   same state with *v*, and acquires only if this one does. (`reread`)
//!
//! A read in vain is not possible. What a thread does that waits so is an
//! [`Operation::Await`](mazurka_core::Operation), or an
//! [`Operation::AwaitModify`](mazurka_core::Operation) if it writes where it goes on.
//!
//! **Why that is right.** In a search that takes reads in vain, a thread that has taken one is held
//! right behind it, to the end of the execution. Such a read changes nothing, so the rest of the
//! execution is possible without it, and sees the same. So leaving it out loses nothing that is not
//! lost by holding; and whatever is lost by that is found in another execution, as `spin` and
//! `reread` prove. It must not be lost either what the thread does on the way from the read to
//! where it would be held: so that way must have no access to memory of others, and ends at an atomic
//! operation without a call of anything but the instrumentation. Happens-before loses what the read
//! has acquired, so no race is lost.
//!
//! **Whether a read is in vain depends on nothing but *v*** and on what the thread itself has done:
//! its state, and the states and values of its earlier reads. So it changes only with the variable,
//! as that of any await does; the states kept with earlier reads are compared as they were then. If
//! the variable has another value later, the thread goes on in the same execution.
//!
//! **At the end** a thread that waits so is in a livelock if it would come round, or come back to a
//! read since which everything that it has read is still as it was. Otherwise there is an execution
//! in which an earlier read was made only now, and this one is redundant.
//!
//! Sites of such reads are learnt where a thread was held, and the search begins again. A
//! compare-and-swap that turns out to go on from a failure is none: there, a failure is a load, and
//! an operation is told before it is known what the variable will hold. All three states that are
//! compared leave out what is dead (`dead_slots`).

use crate::awaits::Waiting;
use crate::coroutine;
use crate::dead_slots::Dead;
use crate::emulate::{End, Kind, Memory, Start};
use crate::machine::Machine;
use crate::reread::{Kept, Link};
use std::ffi::c_int;

/// What becomes of a thread that reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is not known to be in vain.
    GoesOn,
    /// It comes to the same read in the same state.
    ComesRound,
    /// It comes to this one of its earlier reads in the state of then.
    ComesBack(usize),
    /// An earlier read would have led there.
    IsReread,
}

/// The state in which a thread comes to a read: as it is, or as it was kept.
#[derive(Clone, Copy)]
struct State<'a> {
    registers: [usize; 6],
    stack_pointer: usize,
    stack: Option<&'a [u8]>,
}

impl<'a> State<'a> {
    fn kept(link: &Link, kept: &'a Kept) -> Self {
        let stack_pointer = link.place.stack_pointer;
        Self { registers: kept.registers, stack_pointer, stack: Some(&kept.stack) }
    }

    /// A byte of the stack, if it is in use.
    fn byte(&self, at: usize) -> Option<u8> {
        let offset = at.checked_sub(self.stack_pointer)?;
        match self.stack {
            Some(stack) => stack.get(offset).copied(),
            // SAFETY: the frames of a suspended thread are on its stack.
            None => Some(unsafe { *(at as *const u8) }),
        }
    }
}

/// A hash of what a thread has read.
pub(crate) fn history(links: &[Link]) -> u64 {
    links.iter().fold(links.len() as u64, |hash, it| {
        let words = [it.place.site as u64, it.place.address as u64, it.digest, it.value as u64];
        let words = words.into_iter().chain([(it.value >> 64) as u64, it.n_written as u64]);
        let words = words.chain([u64::from(it.kept.is_some())]);
        words.fold(hash, mazurka_core::fold::mix)
    })
}

impl Machine {
    /// What becomes of a thread that waits if it reads this value, after reads that are given.
    pub(crate) fn compute_outcome(
        &self,
        idx: usize,
        waiting: &Waiting,
        value: u128,
        links: &[Link],
    ) -> Outcome {
        let Waiting { address, len, arrival, digest, .. } = waiting;
        let Some(kind) = arrival.kind else { return Outcome::GoesOn };
        let read = Link {
            place: arrival.place(*address),
            len: *len,
            value,
            kind,
            operands: arrival.operands,
            expected_at: arrival.expected_at,
            is_exchange: arrival.is_exchange,
            digest: *digest,
            n_written: self.threads[idx].reads.chain.written.len(),
            acquires: arrival.acquires,
            kept: None,
        };
        let state =
            State { registers: arrival.kept, stack_pointer: arrival.stack_pointer, stack: None };
        self.outcome_from(idx, &read, state, value, links)
    }

    /// The same for a read that was made.
    pub(crate) fn outcome_of_link(
        &self,
        idx: usize,
        read: &Link,
        value: u128,
        links: &[Link],
    ) -> Outcome {
        match &read.kept {
            Some(kept) => self.outcome_from(idx, read, State::kept(read, kept), value, links),
            None => Outcome::GoesOn,
        }
    }

    fn outcome_from(
        &self,
        idx: usize,
        read: &Link,
        state: State<'_>,
        value: u128,
        links: &[Link],
    ) -> Outcome {
        let Some(end) = self.end_of(idx, read, state, value) else { return Outcome::GoesOn };
        let dead = self.dead_at(idx, &end);
        if self.is_at(idx, &end, &dead, state, read, state) {
            return Outcome::ComesRound;
        }
        // What was written since would have to be taken back.
        let since = links.iter().enumerate().rev();
        let unwritten = since.take_while(|(_, it)| it.n_written == read.n_written);
        for (at, link) in unwritten.clone() {
            if let Some(kept) = &link.kept
                && self.is_at(idx, &end, &dead, state, link, State::kept(link, kept))
            {
                return Outcome::ComesBack(at);
            }
        }
        let is_reread = unwritten.into_iter().any(|(_, link)| {
            let Some(kept) = &link.kept else { return false };
            (link.place.address, link.len) == (read.place.address, read.len)
                && link.value != value
                && (read.acquires || !link.acquires)
                && link.kind != Kind::Update
                && self.end_of(idx, link, State::kept(link, kept), value).is_some_and(|other| {
                    let there = (&other, State::kept(link, kept));
                    self.are_alike(idx, (&end, state), there, &dead)
                })
        });
        if is_reread { Outcome::IsReread } else { Outcome::GoesOn }
    }

    /// Where a thread comes to that reads a value in some state, if that is known, changes nothing,
    /// and accesses nothing of others on its way.
    fn end_of(&self, idx: usize, read: &Link, state: State<'_>, value: u128) -> Option<End> {
        if !read.only_reads(value) {
            return None;
        }
        let shared = &self.threads[idx].shared;
        let mut before = Memory::default();
        let result = match read.kind {
            Kind::CompareAt => {
                let place = read.expected_at..read.expected_at + usize::from(read.len);
                for (byte, at) in place.enumerate() {
                    if coroutine::stack_of(at) != idx || shared.contains(at) {
                        return None;
                    }
                    before.set(at, Some((value >> (8 * byte)) as u8));
                }
                (0, size_of::<c_int>() as u8)
            }
            _ => (value as u64, read.len),
        };
        let start = Start {
            thread: idx,
            stack_pointer: state.stack_pointer,
            kept: state.registers,
            unknown: [false; 6],
            result,
            stack: state.stack,
            shared,
            thread_pointer: self.threads[idx].coroutine.thread_pointer,
        };
        self.compute(start, before).ok().filter(|end| !end.has_accessed)
    }

    /// Whether a thread that has gone on from a state comes to a read in another one.
    fn is_at(
        &self,
        idx: usize,
        end: &End,
        dead: &Dead,
        from: State<'_>,
        read: &Link,
        other: State<'_>,
    ) -> bool {
        let place = &read.place;
        let is_place = (end.site, end.stack_pointer, end.address, end.kind)
            == (place.site, place.stack_pointer, place.address, read.kind);
        is_place
            && end.operands == read.operands
            && (0..end.kept.len())
                .all(|at| dead.registers[at] || end.kept[at] == Some(other.registers[at] as u64))
            && self.is_stack(idx, end, dead, from, |at| other.byte(at))
    }

    /// Whether two ways lead to the same state.
    fn are_alike(
        &self,
        idx: usize,
        (end, from): (&End, State<'_>),
        (other, there): (&End, State<'_>),
        dead: &Dead,
    ) -> bool {
        (end.site, end.stack_pointer, end.address, end.kind)
            == (other.site, other.stack_pointer, other.address, other.kind)
            && end.operands == other.operands
            && (0..end.kept.len()).all(|at| {
                dead.registers[at] || end.kept[at].is_some() && end.kept[at] == other.kept[at]
            })
            && self.is_stack(idx, end, dead, from, |at| match other.memory.byte(at) {
                Some(byte) => byte,
                None => there.byte(at),
            })
    }

    /// Whether the stack, where a thread has come to from a state, has these bytes, as far as it is
    /// in use there and not dead. What others access on it is memory like any other.
    fn is_stack(
        &self,
        idx: usize,
        end: &End,
        dead: &Dead,
        from: State<'_>,
        other: impl Fn(usize) -> Option<u8>,
    ) -> bool {
        let shared = &self.threads[idx].shared;
        (end.stack_pointer..coroutine::top(idx)).all(|at| {
            let is_shared = || shared.contains(at);
            let mine = match end.memory.byte(at) {
                Some(byte) => byte,
                None => from.byte(at),
            };
            mine.is_some() && mine == other(at) || dead.contains(at) || is_shared()
        })
    }
}
