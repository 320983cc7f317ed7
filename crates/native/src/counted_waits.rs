//! Loops that wait and give up after some rounds: whether it matters how many there were.
//!
//! `spin` goes round such a loop to its end in one step once two rounds have read the same value.
//! An execution in which the thread leaves in a later round, since the variable has changed, is
//! then represented by the one that leaves in the second round. The two differ in what counts the
//! rounds: the registers and the words of the stack that were not the same in all rounds. So each
//! time a thread leaves such a loop by what it has read, its way to the next atomic operation is
//! computed once more with all of that unknown (`emulate`), and nothing on the way may depend on
//! it, nor may it be live at the end (`dead_slots`).
//!
//! - If so, the number of rounds does not matter, and nothing is assumed.
//! - If the way depends on the number, the loop is unrolled. Its rounds are steps like all others,
//!   and nothing is assumed either.
//! - If that is not found out, the loop is unrolled, too. Where it has more than [`MAX_UNROLLED`]
//!   rounds, the claim says that the number is taken not to matter.
//!
//! *All* rounds are compared, to the last: what is the same in the first hundred rounds may differ
//! in the next one, such as a mark that the wait was long.
//!
//! A loop that counts its rounds, and does not end by its count, is *cut*: it is unrolled to a
//! limit, and then its thread is held (`spin`). An execution with more rounds is represented by one
//! with fewer, so what was said of the number holds for it as well, and the same is asked. Only
//! that unrolling is not to the end: where the number matters, or where that is not known, the
//! claim says that it is taken not to.

use crate::coroutine;
use crate::emulate::{End, Memory, Start, Stop};
use crate::machine::Machine;
use crate::spin::{Arrival, Place};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many rounds are unrolled where it is not known whether their number matters.
const MAX_UNROLLED: usize = 16;
const WORD: usize = 8;

/// What is known, over all executions, of loops that wait and give up.
#[derive(Debug, Default)]
pub(crate) struct CountedWaits {
    waits: FxHashMap<Place, CountedWait>,
}

/// One of them, by a read of its round.
#[derive(Debug, Default)]
struct CountedWait {
    /// The most rounds in vain that it was seen to take.
    n_rounds: usize,
    /// rbx, rbp, r12 to r15: whether it differs between rounds.
    registers: [bool; 6],
    /// The words of the stack that differ between rounds, ascending.
    words: Vec<usize>,
    /// The state in the round before.
    last: Option<Round>,
    need: Need,
    /// Whether a thread was held in it after some rounds, since it goes round for ever.
    is_cut: bool,
    /// The states in which the thread has left, and what it had read there.
    left: FxHashSet<(u64, u128)>,
}

/// Whether the number of rounds is needed by what comes after them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    #[default]
    No,
    Unknown,
    Yes,
}

#[derive(Debug)]
struct Round {
    kept: [usize; 6],
    stack: Vec<u64>,
}

/// The words of a stack that are in use.
fn words(idx: usize, arrival: &Arrival) -> &'static [u64] {
    let from = arrival.stack_pointer();
    let len = (coroutine::top(idx) - from) / WORD;
    // SAFETY: the used part of the stack of a thread that waits for this call to return.
    unsafe { std::slice::from_raw_parts(from as *const u64, len) }
}

impl CountedWait {
    fn is_unrolled(&self) -> bool {
        match self.need {
            Need::No => false,
            Need::Unknown => self.n_rounds <= MAX_UNROLLED,
            Need::Yes => true,
        }
    }

    /// Adds what differs from the round before to what counts the rounds. Whether that is new.
    fn compare(&mut self, kept: &[usize; 6], stack: &[u64], stack_pointer: usize) -> bool {
        let Some(before) = &self.last else { return false };
        let mut is_new = false;
        for (idx, is_counter) in self.registers.iter_mut().enumerate() {
            let differs = before.kept[idx] != kept[idx];
            is_new |= differs && !*is_counter;
            *is_counter |= differs;
        }
        if before.stack == stack {
            return is_new;
        }
        for (idx, _) in before.stack.iter().zip(stack).enumerate().filter(|(_, (a, b))| a != b) {
            let word = stack_pointer + idx * WORD;
            if let Err(at) = self.words.binary_search(&word) {
                self.words.insert(at, word);
                is_new = true;
            }
        }
        is_new
    }

    /// Keeps the state of this round for the next one.
    fn keep(&mut self, kept: [usize; 6], stack: &[u64]) {
        let last = self.last.get_or_insert_with(|| Round { kept, stack: Vec::new() });
        last.kept = kept;
        last.stack.clear();
        last.stack.extend_from_slice(stack);
    }
}

impl CountedWaits {
    /// How much is known of them.
    pub(crate) fn known(&self) -> u64 {
        let of_wait = |it: &CountedWait| {
            (it.words.len() as u64 + 1) * 8 + it.need as u64 * 2 + u64::from(it.is_cut)
        };
        self.waits.values().map(of_wait).sum()
    }

    /// Whether a loop that waits has this read.
    pub(crate) fn has(&self, place: &Place) -> bool {
        !self.waits.is_empty() && self.waits.contains_key(place)
    }

    /// Whether the rounds of the loop with this read are steps like all others.
    pub(crate) fn is_unrolled(&self, place: &Place) -> bool {
        self.waits.get(place).is_some_and(CountedWait::is_unrolled)
    }

    /// Whether the number of rounds of a loop is taken not to matter.
    pub(crate) fn assume(&self) -> bool {
        self.waits.values().any(|it| it.need != Need::No && (it.is_cut || !it.is_unrolled()))
    }

    /// A thread is held at this read after some rounds, of as many as there may be.
    pub(crate) fn cut(&mut self, place: Place) {
        let is_known = self.waits.contains_key(&place);
        let wait = self.waits.entry(place).or_default();
        wait.is_cut = true;
        if !is_known {
            wait.need = Need::Unknown;
        }
    }
}

impl Machine {
    /// A thread has come to a read in this round, from 1, of a loop that waits or counts.
    pub(crate) fn note_round(
        &mut self,
        idx: usize,
        arrival: &Arrival,
        address: usize,
        n_rounds: usize,
    ) {
        let place = arrival.place(address);
        let is_first = !self.counted_waits.waits.contains_key(&place);
        let wait = self.counted_waits.waits.entry(place).or_default();
        let was_unrolled = wait.is_unrolled();
        wait.n_rounds = wait.n_rounds.max(n_rounds);
        let mut is_new = is_first || was_unrolled != wait.is_unrolled();
        if !arrival.is_load {
            // It is only computed what a thread does that has read.
            is_new |= wait.need < Need::Unknown;
            wait.need = wait.need.max(Need::Unknown);
        }
        let stack = words(idx, arrival);
        // The first of this wait follows no other.
        if n_rounds > 1 {
            is_new |= wait.compare(&arrival.kept, stack, arrival.stack_pointer());
        }
        wait.keep(arrival.kept, stack);
        if is_new {
            wait.left.clear();
            self.learn();
        }
    }

    /// A thread has read another value than in the round before of a loop that waits. Finds out
    /// whether what it does with it depends on how many rounds there were.
    pub(crate) fn note_change(
        &mut self,
        idx: usize,
        arrival: &Arrival,
        address: usize,
        len: u8,
        value: u128,
    ) {
        let place = arrival.place(address);
        let Some(wait) = self.counted_waits.waits.get(&place) else { return };
        if wait.need == Need::Yes {
            return;
        }
        let digest = self.digest(idx, arrival);
        if wait.left.contains(&(digest, value)) {
            return;
        }
        let mut unknown = Memory::default();
        for at in wait.words.iter().flat_map(|&word| word..word + WORD) {
            unknown.set(at, None);
        }
        let start = Start {
            thread: idx,
            stack_pointer: arrival.stack_pointer(),
            kept: arrival.kept,
            unknown: wait.registers,
            result: (value as u64, len),
            stack: None,
            shared: &self.threads[idx].shared,
            thread_pointer: self.threads[idx].coroutine.thread_pointer,
        };
        let (need, has_accessed) = match self.compute(start, unknown) {
            Ok(end) if self.are_unknowns_dead(idx, &end) => (Need::No, end.has_accessed),
            Err(Stop::Undecided) => (Need::Yes, true),
            // What seems to be live may never be read.
            Ok(_) | Err(Stop::NotUnderstood) => (Need::Unknown, true),
        };
        let Some(wait) = self.counted_waits.waits.get_mut(&place) else { return };
        if !has_accessed {
            // It is the same again with other memory.
            wait.left.insert((digest, value));
        }
        if need > wait.need {
            wait.need = need;
            self.learn();
        }
    }

    /// Whether nothing that is unknown where a thread would come to is read later.
    fn are_unknowns_dead(&self, idx: usize, end: &End) -> bool {
        let dead = self.dead_at(idx, end);
        let is_register_fine = |at: usize| end.kept[at].is_some() || dead.registers[at];
        let is_byte_fine = |at: usize| {
            let is_below = coroutine::stack_of(at) == idx && at < end.stack_pointer;
            end.memory.byte(at) != Some(None) || is_below || dead.contains(at)
        };
        (0..end.kept.len()).all(is_register_fine) && end.memory.addresses().all(is_byte_fine)
    }
}
