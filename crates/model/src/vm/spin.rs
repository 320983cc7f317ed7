//! Spin loops: a thread that goes round a loop without changing anything is held there.
//!
//! **The rule** is that of [`Ending`]: when a thread comes to an access for the second time in the
//! same state, and has changed nothing since the first, its round can be taken out of the execution
//! and no other thread would notice. Whatever it does after this round it also does in an execution
//! without it. So it is held, and all that is left to ask, once no other thread can move, is
//! whether it could go on in another way: it cannot if all that the round looked at is still as it
//! was. A store or an exchange that left memory as it was has looked at it, too, and so has an
//! attempt to take a lock in vain.
//!
//! **The same state** is the same stack without registers that are dead (`liveness.rs`), as a hash
//! of 128 bits. What a thread writes to memory that no other can come to belongs to its state;
//! [`control::PRIVATE`] is a hash of it, kept up to date by each such write.
//!
//! **Notes** of what a thread came to and saw are in one list for all threads, each with the number
//! of the note before it. The number of the last one is a word of the stack, so it is undone like
//! the rest.
//!
//! **Locks.** A round may take a mutex and give it back: others can do without it what they did
//! around it. That a thread has a mutex belongs to its state, by [`control::PRIVATE`] again. There
//! are two exceptions. A thread that tried to take the mutex meanwhile, in vain, has noticed the
//! round; the mutex remembers that until it is given back ([`TRIED`]), so that only who comes to it
//! in order learns of it. And a thread is not held while it has a mutex that the round gives back,
//! since others may wait for that.
//!
//! A loop that reads one variable and changes nothing is an await, and has no rounds in vain: see
//! `awaits.rs`. One that counts its rounds is never in the same state again: it is unrolled.
//!
//! **A loop without an operation**, such as one that reads a plain variable, never comes to an
//! access that is a step. A thread that runs for long is therefore looked at on the way
//! ([`Round`]). If it is where it was, in the same state and with nothing changed since, it is held
//! as well, and a write to what it reads races with it. It cannot leave by what others do
//! afterwards without a data race, so at the end it counts as stuck. Where it reads nothing, or
//! where no thread is held, that it goes round for ever is a violation at once.
//!
//! This is for searches that do not store states. There, a state would have to say how its threads
//! came to it. Such a search goes round, and only a loop without an operation has to be left: see
//! [`Vm::excusing_rounds`](super::Vm::excusing_rounds).

use super::code::{CONTROL, Code, Instruction, Kind, NOWHERE, Pc, STUCK};
use super::machine::{EXCUSED, Machine, Spot, control};
use super::next::{Pending, unit};
use super::reread::Snapshot;
use super::run::{RESULT, SAVED};
use Instruction as I;
use mazurka_core::{Ending, Location, ObjectId, Spin, Violation, ViolationKind, fold};

/// How far back a thread looks for the state it is in.
const MAX_NOTES: usize = 256;

/// A mark at the note where a round began: there is no operation in it.
const FOR_EVER: u64 = 1 << 32;

/// A mark at the note of a read that leads to where the thread is: see `reread.rs`.
const REREAD: u64 = 1 << 33;

/// A mark in the count of a mutex: a thread has tried to take it while it was taken.
pub(super) const TRIED: u64 = 1 << 15;

/// What is known of the rounds of threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Spins {
    pub(super) is_on: bool,
    /// Whether a read returns what memory holds, as without a memory model: a loop that reads one
    /// variable is an await then (`awaits.rs`), and reads may be taken again (`reread.rs`).
    pub(super) reads_memory: bool,
    /// Whether a thread that goes round without an operation stays there, and is excused, if it
    /// reads what others may write.
    pub(super) excuses_rounds: bool,
    /// Whether what a thread writes to memory of its own is noted, since reads may be taken again.
    pub(super) keeps_private: bool,
    pub(super) notes: Vec<Note>,
    /// Where threads came to reads that may be taken again: see `reread.rs`.
    pub(super) snapshots: Vec<Snapshot>,
    /// Whether the step in progress has changed something that others may see.
    pub(super) has_changed: bool,
    /// The same by more than plain writes, which no other thread sees without a race before the
    /// thread does more.
    pub(super) has_acted: bool,
}

/// A loop without an operation in it that a thread may be in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// Where the thread was when it was last looked at; nowhere before the first time.
    start: Pc,
    /// After how many instructions it is looked at next.
    next_look: u32,
    /// In which state it was, and how long its stack.
    state: [u64; 2],
    top: u64,
    /// How many plain accesses the step had made by then.
    n_accesses: usize,
    /// The note that was made there, if it has come round once already.
    note: Option<u32>,
    /// Whether the step had changed something before.
    pub(super) had_changed: bool,
}

impl Round {
    /// Most steps have fewer instructions than this.
    pub(super) const FIRST_LOOK: u32 = 1 << 12;

    pub(super) fn new() -> Self {
        Self {
            start: Pc::MAX,
            next_look: Self::FIRST_LOOK,
            state: [0; 2],
            top: 0,
            n_accesses: 0,
            note: None,
            had_changed: false,
        }
    }
}

/// What happened to a thread, and what before that: the number of a note, from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    pub(super) before: u32,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// It came to an access, in a state with this hash.
    Arrived([u64; 2]),
    /// It saw these bytes, which belong to an object of operations.
    Saw { object: ObjectId, address: u32, size: u32, bits: u64 },
    /// It made a choice, which it could make in another way.
    Chose,
    /// It took this mutex, which was free.
    Took { object: ObjectId, address: u32 },
    /// It gave this mutex back.
    Gave { address: u32 },
    /// It wrote to these bytes, which are plain, and changed them.
    Wrote { address: u32, size: u32, before: u64 },
    /// The same to bytes that no other thread can come to.
    WrotePrivately { address: u32, size: u32, before: u64 },
}

impl Machine {
    /// Notes that the thread looks at memory that others may change.
    #[inline(always)]
    pub(super) fn see(&mut self, code: &Code, thread: usize, spot: Spot, size: u32) {
        if self.spins.is_on && self.control(thread, control::NOTES) != 0 {
            self.note_bytes(code, thread, spot, size);
        }
    }

    fn note_bytes(&mut self, code: &Code, thread: usize, spot: Spot, size: u32) {
        let object = unit(code, spot);
        if matches!(spot.object.kind, Kind::Heap | Kind::Frame) {
            // Whether it is there still.
            let address = spot.object.address - 8;
            self.note(thread, What::Saw { object, address, size: 8, bits: 1 });
        }
        for offset in (0..size).step_by(8) {
            let (address, size) = (spot.address() + offset, (size - offset).min(8));
            let held = self.get_bytes(address, size);
            let bits = self.injection.read.map_or(held, |read| read as u64);
            self.note(thread, What::Saw { object, address, size, bits });
        }
    }

    /// Notes that the thread chooses.
    pub(super) fn note_choice(&mut self, thread: usize) {
        if self.spins.is_on {
            self.note(thread, What::Chose);
        }
    }

    fn note(&mut self, thread: usize, what: What) {
        let before = self.control(thread, control::NOTES) as u32;
        self.spins.notes.push(Note { before, what });
        self.set_stack(thread, control::NOTES, self.spins.notes.len() as u64);
    }

    /// Takes the mutex at `spot`, which is free.
    pub(super) fn take(&mut self, code: &Code, thread: usize, spot: Spot) {
        let (address, before) = (spot.address(), self.spins.flags());
        let kind = self.get_bytes(address + 1, 1);
        let me = thread as u64 + 1;
        self.set_bytes(address, 4, me | kind << 8 | 1 << 16);
        if self.spins.is_on {
            self.spins.restore(before);
            self.change_hold(thread, address);
            self.note_in_round(thread, What::Took { object: unit(code, spot), address });
        }
    }

    /// Gives back the mutex at `address`, which was taken once.
    pub(super) fn give(&mut self, thread: usize, address: u32) {
        let (kind, count) = (self.get_bytes(address + 1, 1), self.get_bytes(address + 2, 2));
        let was_tried = count & TRIED != 0;
        let before = self.spins.flags().map(|flag| flag || was_tried);
        self.set_bytes(address, 4, kind << 8);
        if self.spins.is_on {
            self.spins.restore(before);
            self.change_hold(thread, address);
            self.note_in_round(thread, What::Gave { address });
        }
    }

    /// Notes in the mutex at `address`, which is taken, that a thread has tried to take it.
    pub(super) fn note_trial(&mut self, address: u32) {
        if self.spins.is_on {
            let before = self.spins.flags();
            let count = self.get_bytes(address + 2, 2);
            self.set_bytes(address + 2, 2, count | TRIED);
            self.spins.restore(before);
        }
    }

    /// A thread has the mutex at `address` from now on, or has it no more.
    fn change_hold(&mut self, thread: usize, address: u32) {
        let hold = fold::mix(u64::from(address), 0x7a6b);
        self.set_stack(thread, control::PRIVATE, self.control(thread, control::PRIVATE) ^ hold);
    }

    /// Notes something if a round may have begun.
    fn note_in_round(&mut self, thread: usize, what: What) {
        if self.control(thread, control::NOTES) != 0 {
            self.note(thread, what);
        }
    }

    /// Writes what no other thread can come to.
    #[inline]
    pub(super) fn set_private(&mut self, thread: usize, spot: Spot, size: u32, value: u64) {
        if !self.spins.is_on {
            return self.set_bytes(spot.address(), size, value);
        }
        let (address, flags) = (spot.address(), self.spins.flags());
        let of = |bits: u64| fold::mix(u64::from(address) << 4 | u64::from(size), bits);
        let before = self.get_bytes(address, size);
        self.set_bytes(address, size, value);
        let after = self.get_bytes(address, size);
        let hash = of(before) ^ of(after);
        self.set_stack(thread, control::PRIVATE, self.control(thread, control::PRIVATE) ^ hash);
        self.spins.restore(flags);
        if self.spins.keeps_private && after != before {
            self.note_in_round(thread, What::WrotePrivately { address, size, before });
        }
    }

    /// Writes what others may see, and not without a race before the thread does more.
    #[inline]
    pub(super) fn set_plain(&mut self, thread: usize, address: u32, size: u32, value: u64) {
        if !self.spins.is_on {
            return self.set_bytes(address, size, value);
        }
        let had_acted = self.spins.has_acted;
        let before = self.get_bytes(address, size);
        self.set_bytes(address, size, value);
        self.spins.has_acted = had_acted;
        if self.get_bytes(address, size) != before {
            self.note_in_round(thread, What::Wrote { address, size, before });
        }
    }

    /// A thread comes to an instruction that is visible; says whether it is held there.
    #[inline]
    pub(super) fn comes_round(&mut self, code: &Code, thread: usize, pc: Pc) -> bool {
        self.spins.is_on && self.looks_back(code, thread, pc)
    }

    fn looks_back(&mut self, code: &Code, thread: usize, pc: Pc) -> bool {
        if self.spins.has_acted {
            self.set_stack(thread, control::NOTES, 0);
        }
        if !may_leave_things_alone(&code.instructions[pc as usize]) {
            return false;
        }
        let here = self.digest(code, thread, pc);
        if let Some(first) = self.same_before(thread, here) {
            self.set_stack(thread, control::HELD, u64::from(first));
            return true;
        }
        if self.spins.reads_memory
            && code.retries[pc as usize]
            && let Some(first) = self.read_before(code, thread, pc, here)
        {
            self.set_stack(thread, control::HELD, u64::from(first) | REREAD);
            return true;
        }
        self.note(thread, What::Arrived(here));
        self.keep_frames(code, thread, pc);
        false
    }

    /// The note of when a thread was in this state before, with all that it gave back since also
    /// taken since.
    fn same_before(&self, thread: usize, here: [u64; 2]) -> Option<u32> {
        let mut number = self.control(thread, control::NOTES) as u32;
        let mut given: Vec<u32> = Vec::new();
        for _ in 0..MAX_NOTES {
            let note = self.spins.notes[number.checked_sub(1)? as usize];
            match note.what {
                What::Arrived(there) if there == here && given.is_empty() => return Some(number),
                What::Gave { address } => given.push(address),
                What::Took { address, .. } => given.retain(|it| *it != address),
                What::Wrote { .. } => return None,
                What::Arrived(_) | What::Saw { .. } | What::Chose | What::WrotePrivately { .. } => {
                }
            }
            number = note.before;
        }
        None
    }

    /// Looks at a thread on its way to the next operation, `pc`, after `n_done` instructions.
    /// Whether it is held there; an error if it goes round for ever.
    #[cold]
    pub(super) fn goes_round(
        &mut self,
        code: &Code,
        thread: usize,
        pc: Pc,
        n_done: u32,
        round: &mut Round,
    ) -> Result<bool, Violation> {
        if n_done != round.next_look && pc != round.start {
            return Ok(false);
        }
        let top = self.control(thread, control::TOP);
        let may_be_same = pc == round.start && top == round.top && !self.spins.has_changed;
        if may_be_same && self.digest(code, thread, pc) == round.state {
            if self.spins.excuses_rounds && self.accesses.len() > round.n_accesses {
                self.excuse_waiting();
                self.set_stack(thread, control::PC, u64::from(STUCK));
                self.set_pending(thread, Pending::FINISHED);
                return Ok(true);
            }
            let Some(first) = round.note else {
                // Once more, to see what it looks at.
                self.note(thread, What::Arrived(round.state));
                round.note = Some(self.spins.notes.len() as u32);
                return Ok(false);
            };
            self.set_stack(thread, control::HELD, u64::from(first) | FOR_EVER);
            let sees_something = self.round(thread).any(|what| matches!(what, What::Saw { .. }));
            if !self.spins.is_on || !sees_something {
                return Err(endless());
            }
            self.set_stack(thread, control::PC, u64::from(pc));
            self.set_pending(thread, Pending::FINISHED);
            return Ok(true);
        }
        if n_done == round.next_look {
            round.start = pc;
            round.state = self.digest(code, thread, pc);
            round.top = top;
            round.n_accesses = self.accesses.len();
            round.next_look = 2 * n_done;
            round.note = None;
            round.had_changed |= self.spins.has_changed;
            self.spins.has_changed = false;
        }
        Ok(false)
    }

    /// A hash of the state of a thread that is at `pc`, without the notes and dead registers.
    pub(super) fn digest(&self, code: &Code, thread: usize, pc: Pc) -> [u64; 2] {
        let stack = &self.threads[thread].stack;
        let mut hash = [0x13, u64::from(pc)];
        let mut mix = |word: u64| {
            hash = [fold::mix(hash[0], word), fold::mix(hash[1], !word.rotate_left(32))];
        };
        let own = stack[..CONTROL].iter().enumerate();
        let own =
            own.filter(|(idx, _)| !matches!(*idx, control::PC | control::NOTES | control::HELD));
        own.for_each(|(_, &word)| mix(word));
        let mut end = self.control(thread, control::TOP) as usize;
        // Which register the frame above writes before its caller goes on.
        let mut result = NOWHERE;
        for call in self.calls(thread, pc) {
            for (register, &word) in (0..).zip(&stack[call.base..end]) {
                if register != result && code.lives.contains(call.pc, register) {
                    mix(word);
                }
            }
            end = call.base - SAVED;
            stack[end..call.base].iter().for_each(|&word| mix(word));
            result = stack[end + RESULT] as u32;
        }
        hash
    }

    /// What it means that no thread can move.
    pub(super) fn ending(&self, code: &Code) -> Ending {
        if !self.is_excused_for_ever() {
            self.survivors.end();
        }
        if self.memory[EXCUSED] != 0 {
            return Ending::Exited;
        }
        let held = (0..self.threads.len()).filter(|&thread| self.is_held(thread));
        let can_leave = held.map(|thread| self.could_leave(thread)).max();
        match can_leave {
            // A thread that awaits something in a loop goes round it.
            None if (0..self.threads.len()).any(|it| self.awaits_in_loop(code, it)) => {
                Ending::Spinning
            }
            None => Ending::Final,
            Some(true) => Ending::Redundant,
            Some(false) => Ending::Spinning,
        }
    }

    fn is_held(&self, thread: usize) -> bool {
        self.control(thread, control::HELD) != 0
    }

    /// The notes of the round in which a thread is held, the last one first.
    fn round(&self, thread: usize) -> impl Iterator<Item = What> {
        let first = self.control(thread, control::HELD) as u32;
        let mut number = self.control(thread, control::NOTES) as u32;
        std::iter::from_fn(move || {
            let idx = Some(number).filter(|&number| number != first)?.checked_sub(1)?;
            let note = self.spins.notes[idx as usize];
            number = note.before;
            Some(note.what)
        })
    }

    /// Whether something that a held thread looked at has changed since, or it may choose.
    fn could_leave(&self, thread: usize) -> bool {
        match self.control(thread, control::HELD) {
            held if held & FOR_EVER != 0 => return false,
            // In the place of its last read, an earlier one leads on from here.
            held if held & REREAD != 0 => return true,
            _ => {}
        }
        self.round(thread).any(|what| match what {
            What::Arrived(_)
            | What::Gave { .. }
            | What::Wrote { .. }
            | What::WrotePrivately { .. } => false,
            What::Saw { address, size, bits, .. } => self.get_bytes(address, size) != bits,
            What::Chose => true,
            What::Took { address, .. } => self.get_bytes(address, 1) != 0,
        })
    }

    /// The loop that a thread is held in.
    pub(super) fn spin(
        &self,
        code: &Code,
        thread: usize,
        location: Option<Location>,
    ) -> Option<Spin> {
        let place = location.map_or_else(String::new, |location| format!(" at {location}"));
        if self.awaits_in_loop(code, thread) {
            let object = self.pending[thread].next.operation()?.object()?;
            let names = self.names.lock().expect("the lock is not poisoned");
            let name = names.unit(code, &self.threads, object.index() as u32);
            return Some(Spin { object, text: format!("spins{place} until {name} changes") });
        }
        if !self.is_held(thread) {
            return None;
        }
        let seen = self.round(thread).filter_map(|what| match what {
            What::Saw { object, .. } => Some(object),
            _ => None,
        });
        let taken = self.round(thread).filter_map(|what| match what {
            What::Took { object, .. } => Some(object),
            _ => None,
        });
        let object = seen.last().or_else(|| taken.last())?;
        let names = self.names.lock().expect("the lock is not poisoned");
        let name = names.unit(code, &self.threads, object.index() as u32);
        Some(Spin { object, text: format!("spins{place} until {name} changes") })
    }
}

/// A loop that no thread can end.
fn endless() -> Violation {
    Violation::new(
        ViolationKind::Livelock,
        "a loop goes round for ever: nothing changes in it, and it has no operation at \
                  which another thread could come between"
            .to_owned(),
    )
}

/// Whether an operation may leave everything as it is, so that a round may begin with it.
fn may_leave_things_alone(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        I::Load { .. }
            | I::Store { .. }
            | I::Modify { .. }
            | I::CompareExchange { .. }
            | I::Lock { .. }
            | I::TryLock { .. }
            | I::TryReadLock(..)
            | I::TryWriteLock(..)
            | I::SemaphoreTryAcquire(..)
            | I::SemaphoreValue(..)
    )
}

impl Spins {
    /// Whether something has changed, and by more than plain writes.
    #[inline]
    fn flags(&self) -> [bool; 2] {
        [self.has_changed, self.has_acted]
    }

    #[inline]
    fn restore(&mut self, flags: [bool; 2]) {
        [self.has_changed, self.has_acted] = flags;
    }

    /// Notes that an operation which is none of those that may leave things alone was carried out.
    #[inline]
    pub(super) fn after(&mut self, instruction: &Instruction) {
        if !self.is_on {
            return;
        }
        let is_harmless = matches!(instruction, I::Yield | I::Choose { .. } | I::Unlock { .. });
        if !is_harmless && !may_leave_things_alone(instruction) {
            self.has_changed = true;
            self.has_acted = true;
        }
    }
}
