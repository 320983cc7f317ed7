//! Awaits: a loop that reads one variable until it has a wanted value is one step that waits.
//!
//! When a thread comes to a load, it is computed aside (`emulate`) what it would do with the value
//! that the variable has now. If it would come back to this load in the same state, without having
//! accessed anything that others may access, the round changes nothing and ends where it began: an
//! execution with it equals, for all others, the one without it. So the load is an
//! `Operation::Await` that is possible once the round would lead elsewhere, and exactly the
//! executions without rounds in vain are left. Happens-before loses what a load in vain has
//! acquired, so no race is lost with it; and none is lost with accesses of the round, since it must
//! not have any.
//!
//! Loops are learnt: a load is asked about in this way once a thread has come to it twice in a row
//! and its round was seen to be one of this kind. The search then begins again. A round that is not
//! understood, that reads two variables or that has plain accesses, is taken as a step, and `spin`
//! holds the thread when it has come round.
//!
//! Other reads that are known to lead nowhere wait in the same way: see `reads_in_vain`.
//!
//! Additions to a variable that is awaited are kept in order, see `disciplines`.
//!
//! After Jonsson, Lång and Sagonas, *Awaiting for Godot: Stateless Model Checking that Avoids
//! Executions where Nothing Happens* (FMCAD 2022). Differs from the paper: loops are found while
//! the program runs, in its machine code, and whether one would be left is computed for each value
//! that comes up.

use crate::coroutine;
use crate::dead_slots::{Dead, Frames};
use crate::emulate::{Emulator, End, Kind, Memory, Start, Stop};
use crate::globals;
use crate::heap;
use crate::image;
use crate::machine::Machine;
use crate::reads_in_vain::{self, Outcome};
use crate::report;
use crate::spin::{self, Arrival, Place};
use crate::thread::Status;
use crate::weak_memory;
use mazurka_core::{Operation, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Where a thread calls: the address to return to, and how deep its stack is.
pub(crate) type Site = (usize, usize);

/// A thread that is about to load, in a loop that may be left by it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) address: usize,
    pub(crate) len: u8,
    pub(crate) arrival: Arrival,
    pub(crate) digest: u64,
    /// Of what the thread has read before, since it last did something that others may see.
    pub(crate) history: u64,
}

/// What is known, over all executions, of loops that wait or try again.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    /// Loads that are the only read of a loop, and those that were found not to be.
    awaits: FxHashSet<Site>,
    tried: FxHashSet<Site>,
    /// Compare-and-swaps from whose failure a thread has gone on.
    goes_on: FxHashSet<Site>,
    /// Reads of loops that try again: see `reread`.
    pub(crate) retries: FxHashSet<Site>,
    aside: RefCell<Aside>,
    /// Whether every load is supposed to be one: an execution is followed to its end, of which
    /// nothing was learnt.
    are_supposed: bool,
    /// Whether what is computed is compared to what threads do.
    pub(crate) are_checked: bool,
}

/// What was computed so far. It is the same in every execution.
#[derive(Debug, Default)]
struct Aside {
    frames: Frames,
    emulator: Emulator,
    /// What becomes of a thread in this state and with this history that reads a value at a place.
    outcomes: FxHashMap<(Place, u64, u64, u128), Outcome>,
}

/// Asks for comparing what is computed to what threads do: `1`.
const CHECK: &str = "MAZURKA_CHECK_LOOPS";

impl Loops {
    pub(crate) fn new() -> Self {
        let are_checked = std::env::var_os(CHECK).is_some_and(|value| value == "1");
        Self { are_checked, ..Self::default() }
    }

    /// How much is known of them.
    pub(crate) fn known(&self) -> u64 {
        let n_awaits = self.awaits.len() + self.goes_on.len();
        (n_awaits as u64) << 32 | self.retries.len() as u64
    }

    /// Whether states are kept where a thread comes to this read.
    pub(crate) fn keeps(&self, site: Site) -> bool {
        self.are_supposed || self.retries.contains(&site)
    }
}

/// Whether an access is of a kind that may be a read in vain.
fn may_wait(arrival: &Arrival) -> bool {
    match arrival.kind {
        Some(Kind::Load | Kind::Compare | Kind::CompareAt) => true,
        Some(Kind::Update | Kind::Subtract) => arrival.is_exchange,
        None => false,
    }
}

/// How what was computed compares to where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    Same,
    /// Something that matters was not computed.
    Unknown,
    Different,
}

impl Machine {
    /// What of the state in which a thread has come to an operation does not matter.
    pub(crate) fn dead(&self, idx: usize, arrival: &Arrival) -> Dead {
        let mut dead = Dead::default();
        if self.has_loops && arrival.kind.is_some() {
            let (at, top) = (arrival.stack_pointer, coroutine::top(idx));
            let mut aside = self.loops.aside.borrow_mut();
            // SAFETY: the frames of a suspended thread are on its stack.
            let word = |address: usize| unsafe { *(address as *const usize) };
            coroutine::as_host(|| dead = aside.frames.dead(at, arrival.kept[1], top, word));
        }
        dead
    }

    /// What does not matter where a thread would come to.
    pub(crate) fn dead_at(&self, idx: usize, end: &End) -> Dead {
        let mut dead = Dead::default();
        if let Some(frame_pointer) = end.kept[1] {
            let (frame_pointer, top) = (frame_pointer as usize, coroutine::top(idx));
            let byte = |at: usize| match end.memory.byte(at) {
                Some(byte) => byte.unwrap_or(0),
                // SAFETY: the frames of a suspended thread are on its stack.
                None => unsafe { *(at as *const u8) },
            };
            let word =
                |at: usize| usize::from_le_bytes(std::array::from_fn(|offset| byte(at + offset)));
            let mut aside = self.loops.aside.borrow_mut();
            coroutine::as_host(|| {
                dead = aside.frames.dead(end.stack_pointer, frame_pointer, top, word);
            });
        }
        dead
    }

    /// Where a thread calls.
    pub(crate) fn site(&self, idx: usize, place: &Place) -> Site {
        (place.site, coroutine::top(idx) - place.stack_pointer)
    }

    /// What a thread comes to that goes on so.
    pub(crate) fn compute(&self, start: Start<'_>, before: Memory) -> Result<End, Stop> {
        let mut end = Err(Stop::NotUnderstood);
        let mut aside = self.loops.aside.borrow_mut();
        coroutine::as_host(|| {
            if aside.emulator.program.is_empty() {
                // SAFETY: what a thread returns to stands there.
                let site = unsafe { *(start.stack_pointer as *const usize) };
                aside.emulator.program = image::of(site).map_or(0..0, image::Image::span);
                let variables = self.variables[..self.n_variables].iter();
                aside.emulator.variables =
                    variables.map(|part| part.start..part.start + part.len).collect();
            }
            end = aside.emulator.run(start, before);
        });
        end
    }

    /// A thread has come to a read twice in a row. If it is the only one of a loop, that is known
    /// from now on.
    pub(crate) fn learn_await(&mut self, idx: usize, arrival: &Arrival, address: usize, len: u8) {
        let site = self.site(idx, &arrival.place(address));
        if !may_wait(arrival)
            || weak_memory::is_on()
            || self.loops.awaits.contains(&site)
            || self.loops.goes_on.contains(&site)
            || !self.loops.tried.insert(site)
        {
            return;
        }
        let digest = self.digest(idx, arrival);
        let waiting = Waiting { address, len, arrival: *arrival, digest, history: 0 };
        if self.compute_outcome(idx, &waiting, spin::load(address, len), &[]) != Outcome::GoesOn {
            self.loops.awaits.insert(site);
            self.learn();
        }
    }

    /// A thread is held behind its last read. If that could be foretold, it is not taken from now
    /// on.
    pub(crate) fn learn_wait(&mut self, idx: usize) {
        let Some((last, earlier)) = self.threads[idx].reads.chain.links.split_last() else {
            return;
        };
        let site = self.site(idx, &last.place);
        if last.kept.is_none()
            || weak_memory::is_on()
            || self.loops.awaits.contains(&site)
            || self.loops.goes_on.contains(&site)
        {
            return;
        }
        if self.outcome_of_link(idx, last, last.value, earlier) != Outcome::GoesOn {
            self.loops.awaits.insert(site);
            self.learn();
        }
    }

    /// The running thread has made a compare-and-swap that has failed. If it was to wait for one
    /// that succeeds, it does so no more: where failing leads on, it is a load like any other.
    pub(crate) fn note_failure(&mut self, arrival: &Arrival, address: usize) {
        let idx = coroutine::running();
        if !matches!(self.threads[idx].operation, Operation::AwaitModify(_)) {
            return;
        }
        let site = self.site(idx, &arrival.place(address));
        if self.loops.awaits.remove(&site) {
            self.loops.goes_on.insert(site);
            self.learn();
        }
    }

    /// From now on, every read may be an await.
    pub(crate) fn suppose_awaits(&mut self) {
        self.find_loops();
        self.loops.are_supposed = true;
    }

    /// Whether an operation that a thread is about to announce waits for a value from which the
    /// thread goes on.
    pub(crate) fn begin_wait(
        &mut self,
        idx: usize,
        arrival: &Arrival,
        address: usize,
        len: u8,
        operation: Operation,
    ) -> bool {
        let (Operation::Load(object) | Operation::ReadModifyWrite(object)) = operation else {
            return false;
        };
        let are_any = self.loops.are_supposed || !self.loops.awaits.is_empty();
        if !are_any
            || !may_wait(arrival)
            || weak_memory::is_on()
            || self.threads[idx].reads.is_held()
        {
            return false;
        }
        let is_known = self.loops.awaits.contains(&self.site(idx, &arrival.place(address)));
        if !is_known && !self.loops.are_supposed {
            return false;
        }
        let digest = self.digest(idx, arrival);
        let history = reads_in_vain::history(&self.threads[idx].reads.chain.links);
        let waiting = Waiting { address, len, arrival: *arrival, digest, history };
        self.threads[idx].waiting = Some(waiting);
        if self.disciplines.note_await(object) {
            self.learn();
        }
        true
    }

    /// Whether a thread that waits would do something else than go round in vain.
    pub(crate) fn may_leave(&self, idx: usize) -> bool {
        let Some(waiting) = self.threads[idx].waiting else { return true };
        let (address, len) = (waiting.address, usize::from(waiting.len));
        let is_valid = heap::is_valid(address, len).or_else(|| globals::is_valid(address, len));
        let owner = coroutine::stack_of(address);
        let is_gone = owner < ThreadId::MAX
            && self.threads.get(owner).is_none_or(|it| it.status != Status::Running);
        // What is not there any more is not waited for.
        is_valid == Some(false) || is_gone || self.outcome(idx, &waiting) == Outcome::GoesOn
    }

    /// Whether a thread that waits would go on from an earlier one of its reads, made only now.
    pub(crate) fn would_leave_by_earlier_reads(&self, idx: usize) -> bool {
        let Some(waiting) = self.threads[idx].waiting.filter(|_| !self.may_leave(idx)) else {
            return false;
        };
        match self.outcome(idx, &waiting) {
            Outcome::GoesOn | Outcome::ComesRound => false,
            Outcome::ComesBack(at) => {
                let links = &self.threads[idx].reads.chain.links[at..];
                links.iter().any(|it| it.value != spin::load(it.place.address, it.len))
            }
            Outcome::IsReread => true,
        }
    }

    /// What a thread that waits would have to find changed: all that it reads in its loop, and how
    /// many bytes.
    pub(crate) fn awaited(&self, idx: usize, waiting: &Waiting) -> Vec<(usize, u8)> {
        let mut reads = vec![(waiting.address, waiting.len)];
        if let Outcome::ComesBack(at) = self.outcome(idx, waiting) {
            let links = &self.threads[idx].reads.chain.links[at..];
            reads.extend(links.iter().map(|it| (it.place.address, it.len)));
        }
        reads
    }

    /// What becomes of a thread that waits if it reads what is there now.
    fn outcome(&self, idx: usize, waiting: &Waiting) -> Outcome {
        let Waiting { address, len, arrival, digest, history } = waiting;
        let value = spin::load(*address, *len);
        let key = (arrival.place(*address), *digest, *history, value);
        if let Some(&known) = self.loops.aside.borrow().outcomes.get(&key) {
            return known;
        }
        let links = &self.threads[idx].reads.chain.links;
        let outcome = self.compute_outcome(idx, waiting, value, links);
        let mut aside = self.loops.aside.borrow_mut();
        coroutine::as_host(|| {
            aside.outcomes.insert(key, outcome);
        });
        outcome
    }

    /// How an end that was computed compares to where a thread has come to. The computation began
    /// with this stack, from this address on; or with the one that is there.
    pub(crate) fn likeness(
        &self,
        idx: usize,
        arrival: &Arrival,
        address: usize,
        end: &End,
        stack: Option<(usize, &[u8])>,
    ) -> Likeness {
        let place = arrival.place(address);
        let is_there = (end.site, end.stack_pointer, end.address, Some(end.kind))
            == (place.site, place.stack_pointer, address, arrival.kind);
        if !is_there || end.operands != arrival.operands {
            return Likeness::Different;
        }
        let dead = self.dead(idx, arrival);
        let mut is_known = true;
        for (at, computed) in end.kept.iter().enumerate().filter(|(at, _)| !dead.registers[*at]) {
            match computed {
                Some(bits) if *bits != arrival.kept[at] as u64 => return Likeness::Different,
                Some(_) => {}
                None => is_known = false,
            }
        }
        // SAFETY: memory of the program, which it has accessed or would access.
        let now = |at: usize| unsafe { *(at as *const u8) };
        for at in end.memory.addresses() {
            let is_own = coroutine::stack_of(at) == idx;
            if is_own && (at < arrival.stack_pointer || dead.contains(at)) {
                continue;
            }
            match end.memory.byte(at).flatten() {
                None => is_known = false,
                Some(byte) if byte != now(at) => return Likeness::Different,
                Some(_) => {}
            }
        }
        if let Some((start, bytes)) = stack {
            let shared = &self.threads[idx].shared;
            for at in arrival.stack_pointer..coroutine::top(idx) {
                let is_shared = || shared.contains(at);
                if end.memory.byte(at).is_some() || dead.contains(at) || is_shared() {
                    continue;
                }
                match at.checked_sub(start).map(|offset| bytes[offset]) {
                    None => is_known = false,
                    Some(byte) if byte != now(at) => return Likeness::Different,
                    Some(_) => {}
                }
            }
        }
        if is_known { Likeness::Same } else { Likeness::Unknown }
    }

    /// What was computed is wrong.
    pub(crate) fn doubt(&self, idx: usize, what: &str) -> ! {
        report::die(&format!("thread {idx} does not do what was computed: {what}"))
    }
}
