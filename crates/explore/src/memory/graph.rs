//! The graph of the execution in progress: events, who reads from whom, and the modification order
//! of every object, with a way back.
//!
//! A step of the program is an event, and so is each fence in it, and each join that is passed in
//! it. For every event there are clocks, as in [`HappensBefore`](mazurka_core::HappensBefore): how
//! many events of each thread are in its past, by program order with the creation and the end of
//! threads ([`Clock::Sb`]), by that and reads-from ([`Clock::Porf`]), and by synchronisation
//! ([`Clock::Hb`]).
//!
//! Implements the happens-before order of Lahav, Vafeiadis, Kang, Hur and Dreyer, *Repairing
//! Sequential Consistency in C/C++11* (PLDI 2017), Figure 1, incrementally.
//!
//! | paper                           | here                                            |
//! |---------------------------------|-------------------------------------------------|
//! | *sb*, *rf*, *mo*, *rb*          | [`Clock::Sb`], [`Event::source`], [`Graph::mo`], [`Graph::behind`] |
//! | *rs*, *sw* of a write           | [`Clock::Released`]: what those learn who acquire it |
//! | *sw* that begins at a fence     | [`Clock::Fenced`]                               |
//! | *sw* that ends at a fence       | [`Clock::Pending`]                              |
//! | *hb*                            | [`Clock::Hb`]                                   |
//!
//! Differs from the paper: release sequences are those of C++20, without later writes of the same
//! thread; creation and end of threads are part of *sb*; and operations that are no accesses to
//! memory are chains ([`chain`]).

use super::chain::{self, Act, Link};
use super::weak::memory_of;
use super::{Model, Past};
use mazurka_core::{
    Decision, Effect, Fence, MemoryOrder, ObjectId, Operation, Part, Position, ThreadId,
};

/// The number of an event, in the order of execution.
pub(crate) type EventId = u32;

/// What stands for the write of an object's initial value.
pub(crate) const INITIAL: EventId = u32::MAX;

/// The object of an event that has none.
const NO_OBJECT: u32 = u32::MAX;

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reads memory.
    Read,
    /// Writes memory.
    Write,
    /// Reads and writes memory in one.
    Update,
    /// An update that did not write.
    Attempt,
    Fence,
    /// Takes its place in the chain of an object that is no memory.
    Chain,
    /// Starts a thread, or has waited for its end.
    Thread,
    /// Touches nothing.
    Other,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) thread: u32,
    /// How many events of the thread come before it.
    pub(crate) index: u32,
    /// The step that it belongs to, from 1.
    pub(crate) step: Position,
    pub(crate) kind: Kind,
    pub(crate) order: MemoryOrder,
    object: u32,
    /// What it reads from, or follows in its chain.
    pub(crate) source: EventId,
    /// The notification that has woken its thread.
    pub(crate) waker: EventId,
    /// Of a chain: what the object is like behind it.
    pub(crate) state: u128,
}

impl Event {
    pub(crate) fn object(&self) -> Option<usize> {
        (self.object != NO_OBJECT).then_some(self.object as usize)
    }

    pub(crate) fn reads(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::Update | Kind::Attempt | Kind::Chain)
    }

    pub(crate) fn writes(&self) -> bool {
        matches!(self.kind, Kind::Write | Kind::Update | Kind::Chain)
    }
}

/// A step of the execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) decision: Decision,
    pub(crate) operation: Operation,
    /// Its first event, which is one of its own thread.
    pub(crate) first: EventId,
    /// When it was found, in terms of others.
    pub(crate) stamp: u32,
    /// Whether it displaced a step that then waits.
    pub(crate) is_head: bool,
    /// The step with the highest stamp up to this one.
    pub(crate) latest: Position,
    /// Whether it accesses memory, if it does, that can be told what is read.
    pub(crate) is_weak: bool,
}

impl Step {
    /// The memory that it accesses, if that can be told what is read.
    pub(crate) fn memory(&self) -> Option<ObjectId> {
        memory_of(self.operation).filter(|_| self.is_weak)
    }
}

/// What is known of the past of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// By program order, creation and end of threads.
    Sb,
    /// By that and by reading from others.
    Porf,
    /// By that and by synchronisation.
    Hb,
    /// Of a write: what is learnt by acquiring it.
    Released,
    /// What the thread knew at its last release fence.
    Fenced,
    /// What the thread will learn at its next acquire fence.
    Pending,
}

const N_CLOCKS: usize = 6;

/// The threads as the graph sees them.
#[derive(Clone, Debug, Default)]
struct Thread {
    events: Vec<EventId>,
    /// The event that has started it.
    birth: Option<EventId>,
}

/// What a step did, as far as a graph is concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken<'a> {
    pub(crate) decision: Decision,
    pub(crate) operation: Operation,
    pub(crate) effect: Effect,
    pub(crate) order: MemoryOrder,
    /// Whether it wrote memory, if it accessed it.
    pub(crate) wrote: bool,
    /// Whether that can be told what is read.
    pub(crate) is_weak: bool,
    pub(crate) fences: &'a [Fence],
    pub(crate) parts: &'a [Part],
    pub(crate) stamp: u32,
    pub(crate) is_head: bool,
}

/// The graph of an execution, which grows and shrinks at its end.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) events: Vec<Event>,
    pub(crate) steps: Vec<Step>,
    threads: Vec<Thread>,
    /// Threads there is room for: the length of a clock.
    stride: usize,
    clocks: [Vec<u32>; N_CLOCKS],
    /// The writes of each object, in modification order; of a chain, its events.
    mo: Vec<Vec<EventId>>,
    /// The reads of each object, in the order of execution.
    reads: Vec<Vec<EventId>>,
    /// Who reads from or follows each event; vectors of events that are gone stay, to be filled
    /// again.
    readers: Vec<Vec<EventId>>,
    /// How many accesses and fences are sequentially consistent, and notifications, which may be
    /// those of a condition variable.
    n_sc: usize,
    /// Of each object: how many events of its chain say that it is memory.
    n_chained: Vec<u32>,
}

/// Whether an operation on the object of a chain says that this is memory.
fn is_of_memory(operation: Operation) -> bool {
    memory_of(operation).is_some() || matches!(operation, Operation::FutexWait { .. })
}

impl Graph {
    pub(crate) fn new() -> Self {
        Self { stride: 4, ..Self::default() }
    }

    /// How many steps there are.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn event(&self, event: EventId) -> &Event {
        &self.events[event as usize]
    }

    pub(crate) fn step(&self, at: Position) -> &Step {
        &self.steps[at as usize - 1]
    }

    /// The events of a step.
    pub(crate) fn events_of(&self, at: Position) -> std::ops::Range<EventId> {
        let end = self.steps.get(at as usize).map_or(self.events.len() as EventId, |it| it.first);
        self.step(at).first..end
    }

    pub(crate) fn stamp(&self, event: EventId) -> u32 {
        self.step(self.event(event).step).stamp
    }

    /// A stamp that is higher than all there are.
    pub(crate) fn next_stamp(&self) -> u32 {
        self.steps.last().map_or(0, |step| self.step(step.latest).stamp + 1)
    }

    /// The step with the highest stamp.
    pub(crate) fn latest(&self) -> Option<&Step> {
        self.steps.last().map(|step| self.step(step.latest))
    }

    pub(crate) fn n_sc(&self) -> usize {
        self.n_sc
    }

    /// The memory that an event accesses, weak or in a chain. A sleep that ends since its time is up
    /// accesses nothing.
    pub(crate) fn memory(&self, event: EventId) -> Option<usize> {
        let Event { kind, step, .. } = *self.event(event);
        let is_memory = |object: usize| {
            self.n_chained[object] > 0 && !matches!(self.step(step).operation, Operation::Expire(_))
        };
        self.event(event).object().filter(|&object| kind != Kind::Chain || is_memory(object))
    }

    /// Whether an event is a sequentially consistent fence or access to memory.
    pub(crate) fn is_sc(&self, event: EventId) -> bool {
        let Event { kind, order, .. } = *self.event(event);
        order == MemoryOrder::SequentiallyConsistent
            && (kind == Kind::Fence || self.memory(event).is_some())
    }

    /// The writes of an object, in modification order, or its chain.
    pub(crate) fn mo(&self, object: usize) -> &[EventId] {
        self.mo.get(object).map_or(&[], Vec::as_slice)
    }

    /// Those who have read an object.
    pub(crate) fn reads(&self, object: usize) -> &[EventId] {
        self.reads.get(object).map_or(&[], Vec::as_slice)
    }

    /// Those who read from an event that is not [`INITIAL`], or follow it.
    pub(crate) fn readers(&self, event: EventId) -> &[EventId] {
        &self.readers[event as usize]
    }

    /// The place of a write among those of its object.
    pub(crate) fn place(&self, write: EventId) -> usize {
        let object = self.event(write).object().expect("a write has an object");
        let place = self.mo[object].iter().rposition(|&other| other == write);
        place.expect("a write is in the order of its object")
    }

    /// The first write behind a write, or behind the initial value, of an object.
    pub(crate) fn behind(&self, object: usize, write: EventId) -> Option<EventId> {
        let place = if write == INITIAL { 0 } else { self.place(write) + 1 };
        self.mo(object).get(place).copied()
    }

    /// The update that has read from a write of an object, if there is one.
    pub(crate) fn update_of(&self, object: usize, write: EventId) -> Option<EventId> {
        let next = self.behind(object, write)?;
        let event = self.event(next);
        (matches!(event.kind, Kind::Update | Kind::Chain) && event.source == write).then_some(next)
    }

    /// All updates but `update` itself that have read from what it has read from.
    pub(crate) fn rival(&self, update: EventId) -> Option<EventId> {
        let &Event { source, object, .. } = self.event(update);
        let is_rival = |&&other: &&EventId| {
            let event = self.event(other);
            other != update && event.kind == Kind::Update && event.source == source
        };
        self.mo(object as usize).iter().find(is_rival).copied()
    }

    pub(crate) fn n_threads(&self) -> usize {
        self.threads.len()
    }

    /// The events of a thread, in program order.
    pub(crate) fn thread(&self, thread: usize) -> &[EventId] {
        self.threads.get(thread).map_or(&[], |thread| &thread.events)
    }

    /// What a thread's next event will follow in any case.
    pub(crate) fn last_of(&self, thread: ThreadId) -> Option<EventId> {
        let thread = self.threads.get(thread.index())?;
        thread.events.last().copied().or(thread.birth)
    }

    pub(crate) fn clock(&self, clock: Clock, event: EventId) -> &[u32] {
        &self.clocks[clock as usize][event as usize * self.stride..][..self.stride]
    }

    /// Whether an event is in a past.
    pub(crate) fn knows(&self, past: &[u32], event: EventId) -> bool {
        let Event { thread, index, .. } = *self.event(event);
        past.get(thread as usize).is_some_and(|&known| index < known)
    }

    /// Copies what a thread knows into `past`.
    pub(crate) fn past_of(&self, clock: Clock, thread: ThreadId, past: &mut Vec<u32>) {
        past.clear();
        match self.last_of(thread) {
            Some(last) => past.extend_from_slice(self.clock(clock, last)),
            None => past.resize(self.stride, 0),
        }
    }

    /// Adds what an event knows to `past`.
    pub(crate) fn join_past(&self, past: &mut Vec<u32>, event: EventId) {
        past.resize(self.stride, 0);
        for (mine, &theirs) in past.iter_mut().zip(self.clock(Clock::Porf, event)) {
            *mine = (*mine).max(theirs);
        }
    }

    /// The place in the modification order that a read or write of `object` by `thread` has to come
    /// behind: how many writes at the beginning of the order are too old to be read from, the
    /// initial value counted as one.
    pub(crate) fn floor(&self, model: &dyn Model, thread: ThreadId, object: usize) -> usize {
        self.floor_behind(model, self.last_of(thread), object)
    }

    /// The same for an event that is there.
    pub(crate) fn floor_of(&self, model: &dyn Model, event: EventId, object: usize) -> usize {
        let &Event { thread, index, .. } = self.event(event);
        let Thread { events, birth } = &self.threads[thread as usize];
        let before = index.checked_sub(1).map(|index| events[index as usize]);
        self.floor_behind(model, before.or(*birth), object)
    }

    fn floor_behind(&self, model: &dyn Model, last: Option<EventId>, object: usize) -> usize {
        let Some(last) = last else { return 0 };
        let past = match model.past() {
            Past::HappensBefore => self.clock(Clock::Hb, last),
            Past::Porf => self.clock(Clock::Porf, last),
        };
        let mo = self.mo(object);
        let is_known = |&write: &EventId| {
            self.knows(past, write)
                || self.readers(write).iter().any(|&reader| self.knows(past, reader))
        };
        mo.iter().rposition(is_known).map_or(0, |place| place + 1)
    }

    /// Adds a step. An access to memory reads from, or is placed behind, `source`.
    pub(crate) fn push(&mut self, model: &dyn Model, taken: Taken<'_>, source: EventId) {
        let Taken { decision, operation, effect, order, wrote, is_weak, .. } = taken;
        let thread = decision.thread;
        let first = self.events.len() as EventId;
        let at = self.steps.len() as Position + 1;
        let before = self.steps.last().map(|step| step.latest);
        let latest = before.filter(|&it| self.step(it).stamp > taken.stamp).unwrap_or(at);
        self.steps.push(Step {
            decision,
            operation,
            first,
            stamp: taken.stamp,
            is_head: taken.is_head,
            latest,
            is_weak,
        });
        let order = model.order(order);
        match operation {
            Operation::Load(object)
            | Operation::Store(object)
            | Operation::ReadModifyWrite(object)
                if !is_weak =>
            {
                let reads = !matches!(operation, Operation::Store(_));
                self.access_chain(thread, object, order, reads, wrote);
            }
            Operation::Load(object) | Operation::Await(object) => {
                self.access(thread, Kind::Read, object, order, source);
            }
            Operation::Store(object) => self.access(thread, Kind::Write, object, order, source),
            Operation::ReadModifyWrite(object) => {
                let kind = if wrote { Kind::Update } else { Kind::Attempt };
                self.access(thread, kind, object, order, source);
            }
            Operation::Spawn(child) => {
                self.other(thread, Kind::Thread, INITIAL);
                self.make_room(child);
                self.threads[child.index()].birth = Some(first);
            }
            Operation::Join(child) => self.join_thread(thread, child),
            _ => {
                let links = chain::links(thread, operation, is_weak);
                let enabler = self.enabler(thread, operation);
                if links.is_empty() {
                    self.other(thread, Kind::Other, enabler);
                    if let (Operation::Leave { .. }, true) = (operation, enabler != INITIAL) {
                        self.join(Clock::Hb, first, Clock::Released, enabler);
                    }
                }
                for link in links {
                    self.link(model, thread, link, effect, enabler);
                }
            }
        }
        for fence in taken.fences.iter().filter(|fence| fence.n_parts == 0) {
            self.fence(thread, model.order(fence.order));
        }
        for (idx, &Part { thread, joined, .. }) in taken.parts.iter().enumerate() {
            if let Some(ended) = joined {
                self.join_thread(thread, ended);
            }
            for fence in taken.fences.iter().filter(|fence| fence.n_parts == idx + 1) {
                self.fence(thread, model.order(fence.order));
            }
        }
    }

    /// Takes back all steps after `depth`.
    pub(crate) fn truncate(&mut self, depth: usize) {
        let Some(&Step { first, .. }) = self.steps.get(depth) else { return };
        while self.events.len() > first as usize {
            let event = self.events.pop().expect("it is there");
            let id = self.events.len() as EventId;
            self.n_sc -= usize::from(event.order == MemoryOrder::SequentiallyConsistent);
            self.threads[event.thread as usize].events.pop();
            if let Some(object) = event.object() {
                if event.kind == Kind::Chain {
                    let operation = self.step(event.step).operation;
                    self.n_chained[object] -= u32::from(is_of_memory(operation));
                }
                if event.writes() {
                    let mo = &mut self.mo[object];
                    let place = mo.iter().rposition(|&other| other == id);
                    mo.remove(place.expect("a write is in the order of its object"));
                }
                if event.reads() {
                    self.reads[object].pop();
                }
            }
            if event.source != INITIAL && event.kind != Kind::Write {
                self.readers[event.source as usize].pop();
            }
            if event.waker != INITIAL {
                self.readers[event.waker as usize].pop();
            }
        }
        for thread in &mut self.threads {
            thread.birth.take_if(|birth| *birth >= first);
        }
        self.steps.truncate(depth);
        for clock in &mut self.clocks {
            clock.truncate(first as usize * self.stride);
        }
    }

    /// What has enabled the next operation of a thread, if that is one event in another thread.
    fn enabler(&self, thread: ThreadId, operation: Operation) -> EventId {
        match operation {
            Operation::Reacquire { condvar, .. } => self.waker(thread, condvar).unwrap_or(INITIAL),
            Operation::FutexResume(word) => self.waker(thread, word).unwrap_or(INITIAL),
            Operation::Leave { barrier, parties } => {
                self.last_arrival(thread, barrier, parties).unwrap_or(INITIAL)
            }
            _ => INITIAL,
        }
    }

    /// The notification that has taken a thread out of the sleepers of a condition variable.
    pub(crate) fn waker(&self, thread: ThreadId, condvar: ObjectId) -> Option<EventId> {
        let chain = self.mo(condvar.index());
        let mine = 1u128 << thread.index();
        // From the end: while it is not asleep behind an event, it was woken there or before.
        let mut woken = None;
        for &event in chain.iter().rev() {
            if self.event(event).state & mine != 0 {
                return woken;
            }
            woken = Some(event);
        }
        None
    }

    /// The last arrival of the round of a barrier that a thread has arrived in.
    fn last_arrival(&self, thread: ThreadId, barrier: ObjectId, parties: u32) -> Option<EventId> {
        let chain = self.mo(barrier.index());
        let is_own = |&event: &EventId| self.event(event).thread as usize == thread.index();
        let own = chain.iter().rposition(is_own)?;
        let parties = parties.max(1) as usize;
        chain.get((own / parties + 1) * parties - 1).copied()
    }

    fn access(
        &mut self,
        thread: ThreadId,
        kind: Kind,
        object: ObjectId,
        order: MemoryOrder,
        source: EventId,
    ) {
        let idx = object.index();
        self.make_room_for(idx);
        let event = self.begin(thread, kind, idx as u32, order);
        if kind != Kind::Write && source != INITIAL {
            self.join(Clock::Porf, event, Clock::Porf, source);
            let learns = if order.acquires() { Clock::Hb } else { Clock::Pending };
            self.join(learns, event, Clock::Released, source);
        }
        if matches!(kind, Kind::Write | Kind::Update) {
            let known = if order.releases() { Clock::Hb } else { Clock::Fenced };
            self.join(Clock::Released, event, known, event);
            if kind == Kind::Update && source != INITIAL {
                self.join(Clock::Released, event, Clock::Released, source);
            }
            let place = if source == INITIAL { 0 } else { self.place(source) + 1 };
            self.mo[idx].insert(place, event);
        }
        self.follow(event, source);
    }

    /// An access to memory that is in a chain.
    fn access_chain(
        &mut self,
        thread: ThreadId,
        object: ObjectId,
        order: MemoryOrder,
        reads: bool,
        writes: bool,
    ) {
        let idx = object.index();
        self.make_room_for(idx);
        self.n_chained[idx] += 1;
        let source = self.mo[idx].last().copied().unwrap_or(INITIAL);
        let event = self.begin(thread, Kind::Chain, idx as u32, order);
        if source != INITIAL {
            // Who sleeps on a futex still does.
            self.events[event as usize].state = self.event(source).state;
            self.join(Clock::Porf, event, Clock::Porf, source);
            if reads {
                let learns = if order.acquires() { Clock::Hb } else { Clock::Pending };
                self.join(learns, event, Clock::Released, source);
                // What only reads leaves what is released as it was.
                self.join(Clock::Released, event, Clock::Released, source);
            }
        }
        if writes {
            let known = if order.releases() { Clock::Hb } else { Clock::Fenced };
            self.join(Clock::Released, event, known, event);
        }
        self.mo[idx].push(event);
        self.follow(event, source);
    }

    /// Adds an event to the end of a chain.
    fn link(
        &mut self,
        model: &dyn Model,
        thread: ThreadId,
        link: Link,
        effect: Effect,
        waker: EventId,
    ) {
        let idx = link.object.index();
        self.make_room_for(idx);
        let source = self.mo[idx].last().copied().unwrap_or(INITIAL);
        let before = if source == INITIAL { link.initial() } else { self.event(source).state };
        self.n_chained[idx] += u32::from(matches!(link.act, Act::Sleep(_)));
        // The kernel has full barriers where a thread sleeps on a futex and where others are woken.
        let order = match link.act {
            Act::Sleep(_) | Act::NotifyOne | Act::NotifyAll => {
                model.order(MemoryOrder::SequentiallyConsistent)
            }
            _ => MemoryOrder::Relaxed,
        };
        let event = self.begin(thread, Kind::Chain, idx as u32, order);
        self.events[event as usize].state = link.after(before, effect);
        if waker != INITIAL {
            self.join(Clock::Porf, event, Clock::Porf, waker);
            self.events[event as usize].waker = waker;
            self.readers[waker as usize].push(event);
        }
        if source != INITIAL {
            self.join(Clock::Porf, event, Clock::Porf, source);
            if link.acquires(effect) {
                let given = self.mo[idx].iter().rev().copied();
                let mut given =
                    given.filter(|&it| link.learns_from(self.step(self.event(it).step).operation));
                if let Some(given) = given.next() {
                    self.join(Clock::Hb, event, Clock::Released, given);
                }
            }
            self.join(Clock::Released, event, Clock::Released, source);
        }
        if link.releases(effect) {
            self.join(Clock::Released, event, Clock::Hb, event);
        }
        self.mo[idx].push(event);
        self.follow(event, source);
    }

    /// An event that touches nothing, and follows `waker`.
    fn other(&mut self, thread: ThreadId, kind: Kind, waker: EventId) {
        let event = self.begin(thread, kind, NO_OBJECT, MemoryOrder::Relaxed);
        if waker != INITIAL {
            self.join(Clock::Porf, event, Clock::Porf, waker);
            self.events[event as usize].waker = waker;
            self.readers[waker as usize].push(event);
        }
        self.follow(event, INITIAL);
    }

    fn fence(&mut self, thread: ThreadId, order: MemoryOrder) {
        let event = self.begin(thread, Kind::Fence, NO_OBJECT, order);
        if order.acquires() {
            self.join(Clock::Hb, event, Clock::Pending, event);
        }
        if order.releases() {
            self.join(Clock::Fenced, event, Clock::Hb, event);
        }
        self.follow(event, INITIAL);
    }

    fn join_thread(&mut self, thread: ThreadId, ended: ThreadId) {
        let event = self.begin(thread, Kind::Thread, NO_OBJECT, MemoryOrder::Relaxed);
        if let Some(last) = self.last_of(ended) {
            for clock in [Clock::Sb, Clock::Porf, Clock::Hb] {
                self.join(clock, event, clock, last);
            }
        }
        self.follow(event, INITIAL);
    }

    /// A new event, with the clocks of the one before it in its thread.
    fn begin(&mut self, thread: ThreadId, kind: Kind, object: u32, order: MemoryOrder) -> EventId {
        self.make_room(thread);
        let id = self.events.len() as EventId;
        let Thread { events, birth } = &mut self.threads[thread.index()];
        let index = events.len() as u32;
        let (before, is_born) = (events.last().copied(), events.is_empty());
        let birth = birth.filter(|_| is_born);
        events.push(id);
        self.events.push(Event {
            thread: thread.index() as u32,
            index,
            step: self.steps.len() as Position,
            kind,
            order,
            object,
            source: INITIAL,
            waker: INITIAL,
            state: 0,
        });
        self.n_sc += usize::from(order == MemoryOrder::SequentiallyConsistent);
        let stride = self.stride;
        for (idx, clock) in self.clocks.iter_mut().enumerate() {
            let is_order = idx <= Clock::Hb as usize;
            let from = match before {
                Some(before) if idx != Clock::Released as usize => Some(before),
                // What a fence or a read has seen is its own thread's business.
                None if is_order => birth,
                _ => None,
            };
            match from {
                Some(from) => {
                    clock.extend_from_within(from as usize * stride..(from as usize + 1) * stride)
                }
                None => clock.resize(clock.len() + stride, 0),
            }
            if is_order {
                clock[id as usize * stride + thread.index()] = index + 1;
            }
        }
        id
    }

    /// Notes what an event reads from, and that it reads.
    fn follow(&mut self, event: EventId, source: EventId) {
        let idx = event as usize;
        self.events[idx].source = source;
        if self.readers.len() <= idx {
            self.readers.resize_with(idx + 1, Vec::new);
        }
        self.readers[idx].clear();
        if source != INITIAL && self.events[idx].kind != Kind::Write {
            self.readers[source as usize].push(event);
        }
        if self.events[idx].reads()
            && let Some(object) = self.events[idx].object()
        {
            self.reads[object].push(event);
        }
    }

    /// The clock `into` of an event learns what the clock `from` of another one knows.
    fn join(&mut self, into: Clock, event: EventId, from: Clock, other: EventId) {
        let (start, theirs) = (event as usize * self.stride, other as usize * self.stride);
        for column in 0..self.stride {
            let known = self.clocks[from as usize][theirs + column];
            let mine = &mut self.clocks[into as usize][start + column];
            *mine = (*mine).max(known);
        }
    }

    fn make_room(&mut self, thread: ThreadId) {
        let n_threads = thread.index() + 1;
        if self.threads.len() < n_threads {
            self.threads.resize_with(n_threads, Thread::default);
        }
        if n_threads > self.stride {
            let stride = n_threads.next_power_of_two();
            let padding = vec![0; stride - self.stride];
            for clock in &mut self.clocks {
                *clock =
                    clock.chunks(self.stride).flat_map(|row| [row, &padding].concat()).collect();
            }
            self.stride = stride;
        }
    }

    fn make_room_for(&mut self, object: usize) {
        if self.mo.len() <= object {
            self.mo.resize_with(object + 1, Vec::new);
            self.n_chained.resize(object + 1, 0);
            self.reads.resize_with(object + 1, Vec::new);
        }
    }
}
