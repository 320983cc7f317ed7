//! Re-reading: a thread whose round in vain ends where it would be, had it read later, is held.
//!
//! Let a thread have made, since it last did something that others may see, the reads *a1* to *ak*:
//! loads, and compare-and-swaps that failed. Let *aj*, *j* < *k*, read the same variable as *ak*,
//! and *v* be the value that *ak* read. If the thread, taken back to *aj* and given *v* there,
//! comes to its next operation in the state in which it is now, it is held: what follows also
//! follows in the execution in which *aj* is taken in the place of *ak*, and the reads from there
//! to *ak* are not.
//!
//! That is right since *aj* to *ak* write nothing that others may see: all their steps are possible
//! without them, and see the same. In the place of *ak* the variable holds *v*, so *aj* there leads
//! to this very state, with at least one step fewer. By induction on the number of steps, every
//! state, violation and end is also reached in an execution in which no thread is held like that.
//! So such an execution is never an end that is told (`Ending::Redundant`). If *aj* has read *v*
//! itself, it has led to this state before, and so it would in the shorter execution: a loop that
//! is never left is for `spin` to find.
//!
//! It is the rule for all loops that try a compare-and-swap again with what they found, and for
//! those that read several variables until they fit. **Plain writes** on the way are allowed, as in
//! `node->next = top`: where races are errors, no other thread can see them before the thread
//! releases something, and a compare-and-swap that fails does not. All that either run wrote has to
//! be the same in the end. Accesses of the rounds that are left out lose no race: the last of these
//! rounds was taken, and the thread is held only behind it. ABA is no problem: states are compared
//! and not values.
//!
//! **Memory orders.** If *aj* acquires, so must *ak* have: else the thread would know more in the
//! shorter execution than it does, and a data race could be lost. What it has learnt between the
//! two only adds to what it knows. A fence on the way from *aj* is not computed, so it is no such
//! way.
//!
//! Taking back is computing (`emulate`): the stack and the registers of the thread are kept where
//! it came to *aj*, and bytes that it has written plainly since then as they were. Reads are kept
//! like that at places that a thread has come to twice without doing anything in between; the
//! search begins again when there is a new one.

use crate::awaits::Likeness;
use crate::coroutine;
use crate::emulate::{Kind, Memory, Start};
use crate::heap;
use crate::machine::Machine;
use crate::spin::{self, Arrival, Place};
use crate::thread;
use crate::weak_memory;
use std::rc::Rc;

/// How many reads a thread is taken back at the most.
const MAX_LINKS: usize = 16;
/// How many plain writes between them, and how long one.
pub(crate) const MAX_WRITTEN: usize = 64;
const MAX_LEN: usize = 16;

/// The reads of a thread since it last did something that others may see.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    pub(crate) links: Vec<Link>,
    /// What it has written plainly since the first of them, and what was there before.
    pub(crate) written: Vec<Written>,
    /// Whether the thread is held because an earlier read leads to where it is.
    pub(crate) is_held: bool,
}

/// A load, a compare-and-swap that has failed, or an exchange of a value for the same.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) place: Place,
    pub(crate) len: u8,
    pub(crate) value: u128,
    pub(crate) kind: Kind,
    pub(crate) operands: [u64; 2],
    pub(crate) expected_at: usize,
    pub(crate) is_exchange: bool,
    /// Of the state in which the thread came to it.
    pub(crate) digest: u64,
    /// How much was written before.
    pub(crate) n_written: usize,
    /// Whether it learns what the write that it reads from releases.
    pub(crate) acquires: bool,
    pub(crate) kept: Option<Rc<Kept>>,
}

impl Link {
    /// Whether it would not change anything if it read this value.
    pub(crate) fn only_reads(&self, value: u128) -> bool {
        match self.kind {
            Kind::Load => true,
            Kind::Compare | Kind::CompareAt => u128::from(self.operands[0]) != value,
            Kind::Update | Kind::Subtract => {
                self.is_exchange && u128::from(self.operands[0]) == value
            }
        }
    }
}

/// The state in which a thread came to a read.
pub(crate) struct Kept {
    pub(crate) registers: [usize; 6],
    pub(crate) stack: Vec<u8>,
}

/// Without what is in them: some of it is dead, and states are compared by what is shown here.
impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}

/// Bytes that a thread has written plainly, and what was there before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    address: usize,
    len: u8,
    before: u128,
}

impl Written {
    /// Memory as it was before all of these.
    pub(crate) fn before_all(written: &[Self]) -> Memory {
        let mut before = Memory::default();
        for it in written.iter().rev() {
            set(&mut before, it.address, it.len, it.before);
        }
        before
    }
}

impl Clone for Chain {
    fn clone(&self) -> Self {
        let mut chain = Self::default();
        chain.clone_from(self);
        chain
    }

    /// Keeps the memory that it has.
    fn clone_from(&mut self, from: &Self) {
        thread::copy(&mut self.links, &from.links);
        thread::copy(&mut self.written, &from.written);
        self.is_held = from.is_held;
    }
}

impl Chain {
    /// The thread has done something that others may see.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.links.clear();
        self.written.clear();
        self.is_held = false;
    }
}

impl Machine {
    /// The running thread is about to write plainly.
    #[inline]
    pub(crate) fn note_plain_write(&mut self, address: usize, len: usize) {
        let reads = &self.threads[coroutine::running()].reads;
        if reads.chain.links.is_empty() && reads.attempt.is_none() {
            return;
        }
        let is_there = heap::is_valid(address, len).unwrap_or_else(|| self.is_variable(address));
        let reads = &mut self.threads[coroutine::running()].reads;
        // Where nothing is, the program crashes, and not this.
        let written = (is_there && len <= MAX_LEN).then(|| {
            let before = spin::load(address, len as u8);
            Written { address, len: len as u8, before }
        });
        reads.attempt = reads.attempt.take().and_then(|attempt| attempt.write(written?));
        let chain = &mut reads.chain;
        match written.filter(|_| chain.written.len() < MAX_WRITTEN) {
            _ if chain.links.is_empty() => {}
            Some(written) => chain.written.push(written),
            None => chain.clear(),
        }
    }

    /// A thread has made an access that has changed nothing.
    pub(crate) fn note_in_chain(
        &mut self,
        idx: usize,
        arrival: &Arrival,
        address: usize,
        len: u8,
        digest: u64,
    ) {
        let value = spin::load(address, len);
        let expected = arrival.operands[0];
        // An exchange releases, and others may have seen what was written before it.
        let has_written = !self.threads[idx].reads.chain.written.is_empty();
        let kind = match arrival.kind {
            Some(Kind::Load) => Kind::Load,
            Some(kind @ (Kind::Compare | Kind::CompareAt)) if value != u128::from(expected) => kind,
            Some(kind) if arrival.is_exchange && !has_written => kind,
            _ => return self.threads[idx].reads.chain.clear(),
        };
        if weak_memory::is_on() {
            return;
        }
        let place = arrival.place(address);
        let is_kept = self.loops.keeps(self.site(idx, &place));
        let kept = is_kept.then(|| {
            let stack = coroutine::frames(idx, arrival.stack_pointer).to_vec();
            Rc::new(Kept { registers: arrival.kept, stack })
        });
        let chain = &mut self.threads[idx].reads.chain;
        if chain.links.len() == MAX_LINKS {
            chain.links.drain(..MAX_LINKS / 2);
        }
        let &Arrival { operands, expected_at, is_exchange, acquires, .. } = arrival;
        chain.links.push(Link {
            place,
            len,
            value,
            kind,
            operands,
            expected_at,
            is_exchange,
            digest,
            n_written: chain.written.len(),
            acquires,
            kept,
        });
    }

    /// Whether an earlier read of a thread, taken in the place of the last one, leads to the
    /// operation that it has come to, in the state in which it is.
    pub(crate) fn comes_by_rereading(
        &mut self,
        idx: usize,
        arrival: &Arrival,
        address: usize,
    ) -> bool {
        let links = &self.threads[idx].reads.chain.links;
        let Some((last, earlier)) = links.split_last() else { return false };
        if arrival.kind.is_none() || weak_memory::is_on() {
            return false;
        }
        let place = arrival.place(address);
        if !self.loops.retries.contains(&self.site(idx, &place)) {
            let is_here = |it: &Link| {
                (it.place.site, it.place.stack_pointer) == (place.site, place.stack_pointer)
            };
            let has_read = |it: &Link| (it.place.address, it.len) == (last.place.address, last.len);
            if links.iter().any(is_here) && earlier.iter().any(has_read) {
                self.learn_retries(idx, &place);
            }
            return false;
        }
        if self.loops.are_checked {
            self.check_last(idx, arrival, address);
        }
        let (object, len, value) = (last.place.address, last.len, last.value);
        let acquires = last.acquires;
        // One that has read the same has led to this state before, and what was shorter would come
        // to it again: that is for the rule of `spin`, which tells whether the loop can be left at
        // all.
        let is_candidate = |it: &Link| {
            it.place.address == object
                && it.len == len
                && it.value != value
                && (acquires || !it.acquires)
                && it.kind != Kind::Update
                && it.only_reads(value)
        };
        (0..links.len() - 1)
            .filter(|&at| is_candidate(&links[at]))
            .any(|at| self.likeness_from(idx, at, value, arrival, address) == Likeness::Same)
    }

    /// From now on, states are kept at the reads that a thread has made.
    fn learn_retries(&mut self, idx: usize, place: &Place) {
        let chain = &self.threads[idx].reads.chain;
        let places = chain.links.iter().map(|it| &it.place).chain([place]);
        let sites: Vec<_> = places.map(|place| self.site(idx, place)).collect();
        self.loops.retries.extend(sites);
        self.find_loops();
        self.learn();
    }

    /// Where a thread would be that reads a value in one of its reads, compared to where it is.
    fn likeness_from(
        &self,
        idx: usize,
        at: usize,
        value: u128,
        arrival: &Arrival,
        address: usize,
    ) -> Likeness {
        let chain = &self.threads[idx].reads.chain;
        let link = &chain.links[at];
        let Some(kept) = &link.kept else { return Likeness::Unknown };
        let mut before = Written::before_all(&chain.written[link.n_written..]);
        let result = match link.kind {
            Kind::CompareAt => {
                set(&mut before, link.expected_at, link.len, value);
                (0, size_of::<std::ffi::c_int>() as u8)
            }
            _ => (value as u64, link.len),
        };
        let from = link.place.stack_pointer;
        self.likeness_of(idx, kept, from, (result, before), arrival, address)
    }

    /// Where a thread would be that goes on from a state that was kept, with this result and with
    /// this in memory, compared to where it is.
    pub(crate) fn likeness_of(
        &self,
        idx: usize,
        kept: &Kept,
        stack_pointer: usize,
        (result, before): ((u64, u8), Memory),
        arrival: &Arrival,
        address: usize,
    ) -> Likeness {
        let thread = &self.threads[idx];
        let mut stack = kept.stack.clone();
        for at in thread.shared.addresses() {
            // Those are as others have left them.
            if let Some(offset) = at.checked_sub(stack_pointer)
                && let Some(byte) = stack.get_mut(offset)
            {
                *byte = spin::load(at, 1) as u8;
            }
        }
        let start = Start {
            thread: idx,
            stack_pointer,
            kept: kept.registers,
            unknown: [false; 6],
            result,
            stack: Some(&stack),
            shared: &thread.shared,
            thread_pointer: thread.coroutine.thread_pointer,
        };
        match self.compute(start, before) {
            Err(_) => Likeness::Unknown,
            Ok(end) => self.likeness(idx, arrival, address, &end, Some((stack_pointer, &stack))),
        }
    }

    /// Computes what the thread has just done, and compares.
    fn check_last(&self, idx: usize, arrival: &Arrival, address: usize) {
        let links = &self.threads[idx].reads.chain.links;
        let Some((last, value)) = links.len().checked_sub(1).map(|at| (at, links[at].value)) else {
            return;
        };
        if self.likeness_from(idx, last, value, arrival, address) == Likeness::Different {
            self.doubt(idx, "it has come to another state from its last read");
        }
    }
}

fn set(memory: &mut Memory, address: usize, len: u8, value: u128) {
    for at in 0..usize::from(len) {
        memory.set(address + at, Some((value >> (8 * at)) as u8));
    }
}
