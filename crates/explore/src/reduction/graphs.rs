//! Execution graphs: every consistent graph of a program under a memory model, exactly once, in
//! memory polynomial in the depth.
//!
//! Implements Kokologiannakis, Marmanis, Gladstein and Vafeiadis, *Truly Stateless, Optimal Dynamic
//! Partial Order Reduction* (POPL 2022), Algorithm 1, for read-modify-writes in one event and for
//! operations that wait.
//!
//! | paper                                 | here                                           |
//! |---------------------------------------|------------------------------------------------|
//! | *Visit*: the next event by a rule     | [`Graphs::choose`]: stay with the thread       |
//! | a read: one graph for each source     | [`Graphs::alternatives`]                       |
//! | a write: one graph for each place     | the same                                       |
//! | *VisitWrites*: backward revisits      | [`Graphs::revisit_all`]                        |
//! | *MaximallyAdded*, *Deleted*           | [`Graphs::is_maximal`], [`Graphs::delete`]     |
//! | *≤_G*, the order of addition          | [`Step::stamp`](crate::memory::graph::Step)    |
//!
//! **The search.** A fixed rule names the next thread. Its event is added in every way that the
//! model allows: a read from each write that is not too old, a write at each place that is not too
//! early. When a write *w* is there, a read *r* that came before it, and not in its past, might
//! have read from it: a *revisit* deletes *D*, the steps that are younger than *r* and not in the
//! past of *w*, and lets *r* read from *w*. It keeps its stamp: it stays as old as it was. Many
//! graphs would lead to the same one in this way. The revisit is made from the one in which the
//! rule went for *w*:
//!
//! 1. every step *e* of *D* and *r* is *maximal* in *P(e)*, the steps that are not younger than *e*
//!    and the past of *w*: no read in *P(e)* reads from it, and it, or what it reads from, is the
//!    last write of its object in *P(e)*;
//! 2. a write *w* that is no update has its successor in modification order still behind it: else
//!    several places of *w* would lead to the same graph.
//!
//! An update that reads from what another one has read from is no graph. It is added all the same,
//! for the revisits that take the other one away.
//!
//! An update that is revisited writes anew, and makes revisits like a write that has just been added.
//! In the paper its write is an event of its own, which is deleted by the revisit and added again
//! with a new stamp. The stamp of the read will do: where the read is maximal, what it reads from is
//! in the past of what revisits, and with that all steps between the two stamps.
//!
//! **Operations that wait** for something other than memory, a mutex for example, are no events
//! before they are taken. All operations on such an object form a chain. An operation *x* that is
//! about to be taken, or waits at the end of the execution, might have come at an earlier place of
//! the chain, in place of *r*: *D* is what is younger than *r* and not in the past of *x*, and has
//! to be maximal as above. If *r* can still be taken behind *x*, it keeps its stamp and comes right
//! behind it. If not, *r* is deleted, too, and *x* is a *head*. A head is never maximal: no *r*
//! that is left could tell any more that *x* came out of turn.
//!
//! Differs from the paper: an update is one event. The paper has no operations that wait; that the
//! mixture finds every graph once is not proved, but held against an enumeration of all graphs
//! (`tests/memory`). Graphs are revisited without being copied: the steps that stay are taken
//! again.

use super::frontier::{Branch, Frontier};
use super::{Choice, End, Reduce};
use crate::bound::Exceeded;
use crate::memory::chain::{self, Link};
use crate::memory::graph::{Clock, EventId, Graph, INITIAL, Kind, Taken};
use crate::memory::scratch::Scratch;
use crate::memory::weak::memory_of;
use crate::memory::{Model, rules};
use crate::unit::Unit;
use crate::view::View;
use mazurka_core::{
    Decision, Effect, MemoryModel, ObjectId, Operation, Position, Schedule, System, ThreadId,
    ThreadSet,
};
use serde::{Deserialize, Serialize};

/// Why a step is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// By the rule.
    Free,
    /// The same, in another way than the first.
    Alternative,
    /// It was taken before, and stays.
    Kept,
    /// It was taken before, and what comes behind it is to read from it.
    Writer,
    /// It keeps its stamp, and reads from something younger.
    Revisited,
    /// It displaced a step that waits now.
    Head,
}

/// A step that is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Forced {
    pub(crate) decision: Decision,
    pub(crate) stamp: u32,
    pub(crate) role: Role,
    /// Whether it displaced another one, now or before.
    pub(crate) is_head: bool,
    /// What the thread did when it took the step before, if it did.
    pub(crate) operation: Option<Operation>,
}

/// The search for every consistent graph.
pub(crate) struct Graphs {
    model: &'static dyn Model,
    graph: Graph,
    frontier: Frontier<Forced>,
    /// The steps that are to be taken next, last one first.
    forced: Vec<Forced>,
    /// The step that is being taken.
    current: Option<Forced>,
    scratch: Scratch,
    /// The past of what revisits.
    past: Vec<u32>,
    /// For each step, its number once the others are deleted; 0 if it is deleted, too.
    numbers: Vec<Position>,
    block: Vec<Forced>,
}

/// A place in a chain where an operation might have been taken.
#[derive(Clone, Copy, Debug)]
struct Spot {
    /// What the operation does there.
    link: Link,
    object: usize,
    /// What it would follow.
    source: EventId,
    /// What follows that now.
    rival: EventId,
    /// What the object is like there.
    state: u128,
}

impl Graphs {
    /// With room for so many waiting steps.
    pub(crate) fn with_room(model: MemoryModel, room: usize) -> Self {
        Self {
            model: rules(model),
            graph: Graph::new(),
            frontier: Frontier::with_room(room),
            forced: Vec::new(),
            current: None,
            scratch: Scratch::default(),
            past: Vec::new(),
            numbers: Vec::new(),
            block: Vec::new(),
        }
    }

    /// The thread that goes next: the one whose step was found last, after a yield the next one.
    ///
    /// It may not depend on the order of execution: that differs between two ways to one graph.
    fn preferred(&self, among: ThreadSet) -> Option<ThreadId> {
        let Some(latest) = self.graph.latest() else { return among.first() };
        let thread = latest.decision.thread;
        if among.contains(thread) && latest.operation != Operation::Yield {
            return Some(thread);
        }
        among.next_after(thread)
    }

    /// Keeps all other ways to take the next step of a thread for later.
    fn alternatives(&mut self, view: &View<'_>, thread: ThreadId, operation: Operation) {
        let memory = memory_of(operation).filter(|&object| view.system.is_weak(object));
        let Some(object) = memory else {
            for choice in (1..view.choices(thread)).rev() {
                self.alternative(thread, choice);
            }
            return;
        };
        let object = object.index();
        let floor = self.graph.floor(self.model, thread, object);
        let n_writes = self.graph.mo(object).len();
        for place in floor..n_writes {
            let write = match place.checked_sub(1) {
                Some(place) => self.graph.mo(object)[place],
                None => INITIAL,
            };
            // An update comes right behind what it reads from.
            let is_store = matches!(operation, Operation::Store(_));
            if is_store && self.graph.update_of(object, write).is_some() {
                continue;
            }
            self.alternative(thread, self.choice(write));
        }
    }

    /// Keeps another way to take the next step for later.
    fn alternative(&mut self, thread: ThreadId, choice: u32) {
        let decision = Decision { thread, choice };
        let stamp = self.graph.next_stamp();
        self.block.clear();
        self.block.push(Forced {
            decision,
            stamp,
            role: Role::Alternative,
            is_head: false,
            operation: None,
        });
        self.keep(self.graph.len());
    }

    /// The choice that names a write, in the execution as it is.
    fn choice(&self, write: EventId) -> u32 {
        match write {
            INITIAL => 1,
            write => self.graph.event(write).step + 1,
        }
    }

    /// Keeps `self.block` for later.
    fn keep(&mut self, depth: usize) {
        let graph = &self.graph;
        self.frontier.keep(depth, &self.block, |depth| path(graph, depth));
    }

    /// Finds the reads that a write, which is the last step, revisits.
    fn revisit_all(&mut self, write: EventId, rival: Option<EventId>) {
        let mut past = std::mem::take(&mut self.past);
        past.clear();
        past.extend_from_slice(self.graph.clock(Clock::Porf, write));
        // Its own past, without itself.
        past[self.graph.event(write).thread as usize] -= 1;
        let object = self.graph.event(write).object().expect("a write has an object");
        let place = self.graph.place(write) + 1;
        for idx in 0..self.graph.reads(object).len() {
            let read = self.graph.reads(object)[idx];
            if read == write || self.graph.knows(&past, read) {
                continue;
            }
            // What the read knows of is not newer than the write.
            if place < self.graph.floor_of(self.model, read, object) {
                continue;
            }
            if self.delete(read, Some(write), rival, &past) {
                self.revisit(object, write, read);
            }
        }
        self.past = past;
    }

    /// Finds what the next operation of a thread on a chain might have come before.
    ///
    /// A wait is in two chains. In that of the mutex, nothing can come between the acquire of the
    /// same thread and the wait: attempts to take a mutex that is waited with are refused.
    fn displace_all(&mut self, view: &View<'_>, thread: ThreadId, operation: Operation) {
        let links = chain::links(thread, operation, is_weak(view.system, operation));
        let Some(&link) = links.first() else { return };
        let waker = match operation {
            Operation::Reacquire { condvar, .. } => match self.graph.waker(thread, condvar) {
                Some(waker) => Some(waker),
                // Nothing but the end of its sleep is in its way.
                None => return,
            },
            _ => None,
        };
        let mut past = std::mem::take(&mut self.past);
        for place in (0..self.graph.mo(link.object.index()).len()).rev() {
            let spot = self.spot(link, place);
            self.graph.past_of(Clock::Porf, thread, &mut past);
            let source = Some(spot.source).filter(|&source| source != INITIAL);
            for event in source.into_iter().chain(waker) {
                self.graph.join_past(&mut past, event);
            }
            if self.graph.knows(&past, spot.rival) {
                break;
            }
            if spot.link.would_leave(spot.state).is_some() {
                self.displace_at(thread, &spot, &past);
            }
        }
        self.past = past;
    }

    /// The place in a chain behind so many events, where another one is now.
    fn spot(&self, link: Link, place: usize) -> Spot {
        let object = link.object.index();
        let rival = self.graph.mo(object)[place];
        let source = self.graph.event(rival).source;
        let state = match source {
            INITIAL => link.initial(),
            source => self.graph.event(source).state,
        };
        Spot { link, object, source, rival, state }
    }

    /// Finds what an operation displaces that would be taken at this spot.
    fn displace_at(&mut self, thread: ThreadId, spot: &Spot, past: &[u32]) {
        for idx in 0..self.graph.reads(spot.object).len() {
            let read = self.graph.reads(spot.object)[idx];
            if self.graph.knows(past, read) || !self.delete(read, None, Some(spot.rival), past) {
                continue;
            }
            for choice in 0..spot.link.choices(spot.state) {
                self.displace(Decision { thread, choice }, spot, read);
            }
        }
    }

    /// Keeps the displacement of a step by one that comes before it in a chain.
    fn displace(&mut self, decision: Decision, spot: &Spot, read: EventId) {
        let step = *self.graph.step(self.graph.event(read).step);
        let Some(link) = self.link_of(read) else { return };
        let state = spot.link.would_leave(spot.state).unwrap_or(spot.state);
        match link.would_leave(state) {
            Some(_) => {
                for choice in 0..link.choices(state) {
                    let first = self.rebuild(read);
                    self.force(decision, Role::Writer);
                    self.block.push(Forced {
                        decision: Decision { choice, ..step.decision },
                        stamp: step.stamp,
                        role: Role::Revisited,
                        is_head: step.is_head,
                        operation: Some(step.operation),
                    });
                    self.keep(first);
                }
            }
            // What would wait makes room only for one that takes its own place.
            None if self.graph.event(read).source == spot.source => {
                let first = self.rebuild(read);
                self.force(decision, Role::Head);
                self.keep(first);
            }
            None => {}
        }
    }

    /// What an event did to its chain.
    fn link_of(&self, event: EventId) -> Option<Link> {
        let at = self.graph.event(event).step;
        let step = self.graph.step(at);
        let links = chain::links(step.decision.thread, step.operation, step.is_weak);
        links.get((event - step.first) as usize).copied()
    }

    /// Adds a step to the block that was not in the execution.
    fn force(&mut self, decision: Decision, role: Role) {
        let stamp = self.graph.next_stamp();
        let is_head = role == Role::Head;
        self.block.push(Forced { decision, stamp, role, is_head, operation: None });
    }

    /// Numbers the steps that stay if `read` is revisited from this past; whether that is to be
    /// done here.
    fn delete(
        &mut self,
        read: EventId,
        write: Option<EventId>,
        rival: Option<EventId>,
        past: &[u32],
    ) -> bool {
        let graph = &self.graph;
        let at = graph.event(read).step;
        let stamp = graph.step(at).stamp;
        let writer = write.map(|write| graph.event(write).step);
        let is_deleted = |position: Position| {
            let step = graph.step(position);
            step.stamp > stamp && Some(position) != writer && !graph.knows(past, step.first)
        };
        let stays = |rival: EventId| rival != read && !is_deleted(graph.event(rival).step);
        if rival.is_some_and(stays) {
            return false;
        }
        // Of the places of a write, only the one whose successor stays.
        if let Some(write) = write
            && graph.event(write).kind == Kind::Write
            && let Some(object) = graph.event(write).object()
            && let Some(next) = graph.behind(object, write)
            && (next == read || is_deleted(graph.event(next).step))
        {
            return false;
        }
        if !self.is_maximal(at, past) {
            return false;
        }
        self.numbers.clear();
        let mut number = 0;
        for position in 1..=graph.len() as Position {
            if position == at || Some(position) == writer {
                self.numbers.push(0);
                continue;
            }
            if is_deleted(position) {
                if !self.is_maximal(position, past) {
                    return false;
                }
                self.numbers.push(0);
            } else {
                number += 1;
                self.numbers.push(number);
            }
        }
        true
    }

    /// Whether a step is maximal in what is not younger than it, and this past.
    fn is_maximal(&self, at: Position, past: &[u32]) -> bool {
        let graph = &self.graph;
        let step = graph.step(at);
        if step.is_head || (step.memory().is_none() && step.decision.choice != 0) {
            return false;
        }
        let is_there =
            |event: EventId| graph.stamp(event) <= step.stamp || graph.knows(past, event);
        graph.events_of(at).all(|id| {
            let event = graph.event(id);
            let Some(object) = event.object() else { return true };
            if event.writes() && graph.readers(id).iter().any(|&reader| is_there(reader)) {
                return false;
            }
            let top = graph.mo(object).iter().rev().copied().find(|&write| is_there(write));
            top.unwrap_or(INITIAL) == if event.writes() { id } else { event.source }
        })
    }

    /// Makes a block of the steps that stay, without `read`; says where it begins.
    ///
    /// The steps keep their order. What they read from and are placed behind is named anew.
    fn rebuild(&mut self, read: EventId) -> usize {
        let graph = &self.graph;
        let at = graph.event(read).step;
        // Up to here, everything stays as it is.
        let first = (1..at).find(|&it| self.numbers[it as usize - 1] == 0).unwrap_or(at);
        self.block.clear();
        for position in first..=graph.len() as Position {
            if self.numbers[position as usize - 1] == 0 {
                continue;
            }
            let step = graph.step(position);
            let mut decision = step.decision;
            if let Some(object) = step.memory() {
                let is_done = |write: EventId| {
                    let it = graph.event(write).step;
                    it < position && self.numbers[it as usize - 1] != 0
                };
                decision.choice = self.rename(object.index(), step.first, is_done);
            }
            self.block.push(Forced {
                decision,
                stamp: step.stamp,
                role: Role::Kept,
                is_head: step.is_head,
                operation: Some(step.operation),
            });
        }
        first as usize - 1
    }

    /// What an access reads from or is placed behind, where only those writes are there that are
    /// done, and by the new numbers of their steps.
    fn rename(&self, object: usize, event: EventId, is_done: impl Fn(EventId) -> bool) -> u32 {
        let graph = &self.graph;
        let mo = graph.mo(object);
        let last = mo.iter().rev().copied().find(|&write| is_done(write)).unwrap_or(INITIAL);
        let wanted = match graph.event(event).kind {
            Kind::Write => {
                let before = &mo[..graph.place(event)];
                before.iter().rev().copied().find(|&write| is_done(write)).unwrap_or(INITIAL)
            }
            _ => graph.event(event).source,
        };
        match wanted {
            wanted if wanted == last => 0,
            INITIAL => 1,
            wanted => self.numbers[graph.event(wanted).step as usize - 1] + 1,
        }
    }

    /// Keeps a revisit by a write that is in the graph, as its last step.
    fn revisit(&mut self, object: usize, write: EventId, read: EventId) {
        let first = self.rebuild(read);
        let graph = &self.graph;
        let is_kept = |other: EventId| self.numbers[graph.event(other).step as usize - 1] != 0;
        let writer = *graph.step(graph.event(write).step);
        let number = first as Position + self.block.len() as Position + 1;
        let choice = self.rename(object, write, is_kept);
        let decision = Decision { choice, ..writer.decision };
        let behind = graph.mo(object)[graph.place(write) + 1..].iter().any(|&it| is_kept(it));
        self.block.push(Forced {
            decision,
            stamp: writer.stamp,
            role: Role::Writer,
            is_head: writer.is_head,
            operation: Some(writer.operation),
        });
        let step = *graph.step(graph.event(read).step);
        let choice = if behind { number + 1 } else { 0 };
        self.block.push(Forced {
            decision: Decision { choice, ..step.decision },
            stamp: step.stamp,
            role: Role::Revisited,
            is_head: step.is_head,
            operation: Some(step.operation),
        });
        self.keep(first);
    }

    /// Whether the last event is the last of its object, or reads from that.
    fn is_last(&self, event: EventId) -> bool {
        let it = self.graph.event(event);
        let Some(object) = it.object() else { return true };
        let last = self.graph.mo(object).last().copied().unwrap_or(INITIAL);
        last == if it.writes() { event } else { it.source }
    }

    /// What an access of the next step reads from, or is placed behind.
    fn source(&self, decision: Decision, object: ObjectId) -> EventId {
        match decision.choice {
            0 => self.graph.mo(object.index()).last().copied().unwrap_or(INITIAL),
            1 => INITIAL,
            step => self.graph.step(step - 1).first,
        }
    }
}

/// Whether the memory that an operation accesses, if it does, can be told what is read.
fn is_weak(system: &dyn System, operation: Operation) -> bool {
    memory_of(operation).is_some_and(|object| system.is_weak(object))
}

/// Whether the last step of a system wrote memory.
fn has_written(system: &dyn System, operation: Operation, effect: Effect) -> bool {
    match (operation, system.accessed()) {
        (Operation::Load(_), _) => false,
        (Operation::Store(_), _) => true,
        (_, Some(accessed)) => accessed.wrote.is_some(),
        (_, None) => effect != Effect::Failed,
    }
}

/// The first `depth` steps of the execution.
fn path(graph: &Graph, depth: usize) -> Vec<Forced> {
    let steps = graph.steps.iter().take(depth);
    steps
        .map(|step| Forced {
            decision: step.decision,
            stamp: step.stamp,
            role: Role::Kept,
            is_head: step.is_head,
            operation: Some(step.operation),
        })
        .collect()
}

impl Reduce for Graphs {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        debug_assert_eq!(self.graph.len(), view.depth());
        if let Some(step) = self.forced.pop() {
            let thread = step.decision.thread;
            let next = view.next.get(thread.index()).and_then(|next| next.operation());
            let is_possible =
                view.enabled.contains(thread) && step.decision.choice < view.choices(thread);
            if !is_possible && step.role == Role::Revisited && step.operation == next {
                // There are fewer ways to take it than could be told before.
                self.forced.clear();
                return Choice::Refused;
            }
            // A compare-and-swap may fail where it did not before, or the other way round.
            let is_other = step.operation.is_some()
                && step.operation != next
                && !(step.role == Role::Revisited && view.system.compares(thread));
            if is_other || !is_possible {
                self.forced.clear();
                return Choice::Diverged(step.decision, step.operation);
            }
            self.current = Some(step);
            return Choice::Step(step.decision);
        }
        let Some(thread) = self.preferred(view.enabled) else {
            unreachable!("some thread is enabled")
        };
        let operation = view.operation(thread).expect("an enabled thread has one");
        self.displace_all(view, thread, operation);
        self.alternatives(view, thread, operation);
        let decision = Decision::of(thread);
        let stamp = self.graph.next_stamp();
        let role = Role::Free;
        self.current = Some(Forced { decision, stamp, role, is_head: false, operation: None });
        Choice::Step(decision)
    }

    fn took(&mut self, system: &dyn System, operation: Operation, effect: Effect) -> bool {
        let Some(Forced { decision, stamp, role, is_head, .. }) = self.current.take() else {
            unreachable!("it was chosen here")
        };
        let taken = Taken {
            decision,
            operation,
            effect,
            order: system.order(),
            wrote: has_written(system, operation, effect),
            is_weak: is_weak(system, operation),
            fences: system.fences(),
            parts: system.parts(),
            stamp,
            is_head,
        };
        let memory = memory_of(operation).filter(|_| taken.is_weak);
        let source = memory.map_or(INITIAL, |object| self.source(decision, object));
        self.graph.push(self.model, taken, source);
        if role == Role::Kept || memory.is_none() {
            return true;
        }
        let event = self.graph.step(self.graph.len() as Position).first;
        let is_update = self.graph.event(event).kind == Kind::Update;
        let rival = is_update.then(|| self.graph.rival(event)).flatten();
        let is_graph = rival.is_none()
            && (self.is_last(event)
                || self.model.is_consistent(&self.graph, event, &mut self.scratch));
        // An update that reads from something else now has written something else, too.
        let is_new =
            matches!(role, Role::Free | Role::Alternative) || is_update && role == Role::Revisited;
        if is_new && self.graph.event(event).writes() {
            self.revisit_all(event, rival);
        }
        is_graph
    }

    fn finish(&mut self, view: &View<'_>, end: End) {
        self.forced.clear();
        if end == End::Terminal {
            for (thread, operation) in view.operations() {
                if operation.may_block() {
                    self.displace_all(view, thread, operation);
                }
            }
        }
        let graph = &self.graph;
        self.frontier.finish(|depth| path(graph, depth));
    }

    fn backtrack(&mut self) -> Option<usize> {
        let depth = self.frontier.backtrack(&mut self.forced)?;
        self.graph.truncate(depth);
        Some(depth)
    }

    fn frontier(&self) -> u64 {
        self.frontier.len()
    }

    fn explored(&self) -> f64 {
        self.frontier.explored()
    }

    fn share(&mut self, _schedule: &Schedule) -> Option<Unit> {
        let graph = &self.graph;
        self.frontier.share(|depth| path(graph, depth)).map(Unit::Graph)
    }

    fn adopt(&mut self, unit: Unit) {
        self.graph.truncate(0);
        match unit {
            Unit::Root => self.frontier.begin(),
            Unit::Graph(branch) => self.frontier.adopt(branch),
            Unit::Optimal(_) | Unit::Stack(_) | Unit::Tree(_) | Unit::Samples(_) => {
                panic!("a unit of another search")
            }
        }
    }

    fn exceeded(&self) -> Exceeded {
        Exceeded::default()
    }

    fn dissolve(&mut self, _schedule: &Schedule) -> Vec<Unit> {
        let graph = &self.graph;
        let branches = self.frontier.dissolve(&mut self.forced, |depth| path(graph, depth));
        branches.into_iter().map(Unit::Graph).collect()
    }
}

/// A part of the search: a block, and the execution up to where it begins.
pub(crate) type GraphUnit = Branch<Forced>;
