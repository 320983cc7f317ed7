//! RC11: the memory model of C11, C++20 and Rust, repaired, and without load buffering.
//!
//! Implements Lahav, Vafeiadis, Kang, Hur and Dreyer, *Repairing Sequential Consistency in C/C++11*
//! (PLDI 2017), section 4 and Figure 1.
//!
//! | paper                                | here                                             |
//! |--------------------------------------|--------------------------------------------------|
//! | COHERENCE: *hb ; eco?* irreflexive   | [`Past::HappensBefore`], with [`Graph::floor`]   |
//! | ATOMICITY                            | an update is placed right behind its source, see [`Graph::rival`] |
//! | SC: *psc* acyclic                    | [`is_psc_acyclic`], below                        |
//! | NO-THIN-AIR: *sb ∪ rf* acyclic       | the order of execution                           |
//!
//! COHERENCE needs no more than the floor. The new event is at the end of hb, so a cycle enters it
//! by hb and leaves it by eco: to a write behind the one that it reads or is placed behind, or to
//! one who reads such a write, and that one is in the past of the event.
//!
//! SC is asked of the new event alone, by a search: it is at the end of sb and of hb, and no one has
//! read from it, so it is left by mo or rb to a later write of its object, and a new cycle of psc
//! leaves it there. So a way is looked for from those writes back to it, or, if the way came to it
//! from a fence by hb, to that fence. The search goes over pairs of an event and a [`Mode`]: what of
//! an edge of psc is done. Fences and joins of the same step come behind the event, and nothing is
//! behind them.
//!
//! Differs from the paper: release sequences are those of C++20. The creation and the end of
//! threads are part of sb. Mutexes and other objects that are no memory add to hb, and not to eco.
//! Memory in a chain does: where it is accessed in a sequentially consistent way, and by futexes, its
//! chain is a part of psc. Nothing is behind the last one of a chain, so no cycle is closed by it.

use super::graph::{Clock, EventId, Graph, INITIAL, Kind};
use super::scratch::Scratch;
use super::{Model, Past};

pub(crate) struct Rc11;

impl Model for Rc11 {
    fn past(&self) -> Past {
        Past::HappensBefore
    }

    fn is_consistent(&self, graph: &Graph, event: EventId, scratch: &mut Scratch) -> bool {
        // One event alone is in no cycle: coherence rules that out.
        graph.n_sc() < 2 || is_psc_acyclic(graph, event, scratch)
    }
}

/// How much of an edge of psc leads to an event, where psc = psc_base ∪ psc_F,
/// psc_base = ([E^sc] ∪ [F^sc] ; hb?) ; scb ; ([E^sc] ∪ hb? ; [F^sc]),
/// psc_F = [F^sc] ; (hb ∪ hb ; eco ; hb) ; [F^sc] and
/// scb = sb ∪ sb≠loc ; hb ; sb≠loc ∪ hb=loc ∪ mo ∪ rb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// All of one edge.
    Done,
    /// [F^sc] ; hb?
    FromFence,
    /// The same, and then sb.
    Sb,
    /// The same, and then sb≠loc ; hb.
    FarHb,
    /// The same, and then scb.
    Scb,
    /// The same, and then hb.
    ToFence,
    /// [F^sc] ; hb ; eco.
    Eco,
}

/// The search for a cycle through an event.
struct Cycle<'a> {
    graph: &'a Graph,
    event: EventId,
    /// By event, the modes in which the search has come to it, as bits.
    visited: &'a mut Vec<u8>,
    stack: &'a mut Vec<(EventId, Mode)>,
}

/// Whether the partial order of sequentially consistent events has no cycle through the event.
fn is_psc_acyclic(graph: &Graph, event: EventId, scratch: &mut Scratch) -> bool {
    let past = graph.clock(Clock::Hb, event);
    let is_fence = |at: EventId| graph.event(at).kind == Kind::Fence && graph.is_sc(at);
    let is_behind_fence = (0..event).any(|other| is_fence(other) && graph.knows(past, other));
    if !is_behind_fence && !graph.is_sc(event) {
        return true;
    }
    let Scratch { modes: visited, ways: stack, .. } = scratch;
    visited.clear();
    visited.resize(graph.events.len(), 0);
    stack.clear();
    let mut cycle = Cycle { graph, event, visited, stack };
    cycle.later_writes(event, Mode::Scb);
    if is_behind_fence {
        cycle.later_writes(event, Mode::Eco);
    }
    while let Some((at, mode)) = cycle.stack.pop() {
        if mode == Mode::Done && cycle.is_begin(at) {
            return false;
        }
        cycle.go_on(at, mode);
    }
    true
}

impl Cycle<'_> {
    /// Whether an edge of psc begins here that leaves by the event.
    fn is_begin(&self, at: EventId) -> bool {
        let begins_by_hb = || {
            self.graph.event(at).kind == Kind::Fence
                && self.graph.knows(self.graph.clock(Clock::Hb, self.event), at)
        };
        at == self.event || begins_by_hb()
    }

    fn visit(&mut self, at: EventId, mode: Mode) {
        let bit = 1 << mode as u8;
        if self.visited[at as usize] & bit == 0 {
            self.visited[at as usize] |= bit;
            self.stack.push((at, mode));
        }
    }

    fn go_on(&mut self, at: EventId, mode: Mode) {
        let graph = self.graph;
        let event = graph.event(at);
        let is_fence = event.kind == Kind::Fence;
        let is_done = graph.is_sc(at)
            && match mode {
                Mode::Sb | Mode::Scb => true,
                Mode::FromFence | Mode::ToFence => is_fence,
                Mode::Done | Mode::FarHb | Mode::Eco => false,
            };
        if is_done {
            self.visit(at, Mode::Done);
        }
        match mode {
            Mode::Done if is_fence => self.visit(at, Mode::FromFence),
            Mode::Done => self.scb(at),
            Mode::FromFence => {
                self.scb(at);
                self.eco(at);
                self.next(Clock::Hb, at, Mode::FromFence);
            }
            Mode::Sb => {
                self.next(Clock::Sb, at, Mode::Sb);
                self.next(Clock::Hb, at, Mode::ToFence);
            }
            Mode::FarHb => {
                self.far(at, Mode::Scb);
                self.next(Clock::Hb, at, Mode::FarHb);
            }
            Mode::Scb | Mode::ToFence => self.next(Clock::Hb, at, Mode::ToFence),
            Mode::Eco => {
                self.eco(at);
                self.next(Clock::Hb, at, Mode::ToFence);
            }
        }
    }

    /// Goes on by scb.
    fn scb(&mut self, at: EventId) {
        self.next(Clock::Sb, at, Mode::Sb);
        self.later_writes(at, Mode::Scb);
        if let Some(object) = self.graph.memory(at) {
            let graph = self.graph;
            for &same in graph.mo(object).iter().chain(graph.reads(object)) {
                let is_there = graph.memory(same).is_some();
                if same != at && is_there && graph.knows(graph.clock(Clock::Hb, same), at) {
                    self.visit(same, Mode::Scb);
                }
            }
        }
        // What follows the first such event of a thread by hb is what follows any.
        let graph = self.graph;
        for thread in 0..graph.n_threads() {
            let mut later = graph.thread(thread).iter().copied();
            if let Some(first) = later.find(|&later| self.is_far(at, later)) {
                self.next(Clock::Hb, first, Mode::FarHb);
            }
        }
    }

    /// Goes on by sb≠loc.
    fn far(&mut self, at: EventId, mode: Mode) {
        for later in 0..self.graph.events.len() as EventId {
            if self.is_far(at, later) {
                self.visit(later, mode);
            }
        }
    }

    /// Whether sb≠loc leads from one event to the other.
    fn is_far(&self, at: EventId, later: EventId) -> bool {
        let graph = self.graph;
        let object = graph.memory(at);
        let is_same = object.is_some() && graph.memory(later) == object;
        later != at && !is_same && graph.knows(graph.clock(Clock::Sb, later), at)
    }

    /// Goes on by rf, mo or rb.
    fn eco(&mut self, at: EventId) {
        self.later_writes(at, Mode::Eco);
        if self.graph.memory(at).is_some() {
            let graph = self.graph;
            graph.readers(at).iter().for_each(|&reader| self.visit(reader, Mode::Eco));
        }
    }

    /// Goes on by mo or rb.
    fn later_writes(&mut self, at: EventId, mode: Mode) {
        let Some(object) = self.graph.memory(at) else { return };
        let graph = self.graph;
        let event = graph.event(at);
        let write = if event.writes() { at } else { event.source };
        let start = if write == INITIAL { 0 } else { graph.place(write) + 1 };
        for &later in &graph.mo(object)[start..] {
            if graph.memory(later).is_some() {
                self.visit(later, mode);
            }
        }
    }

    /// Goes on to the next events of every thread that come after this one.
    fn next(&mut self, clock: Clock, at: EventId, mode: Mode) {
        let graph = self.graph;
        for thread in 0..graph.n_threads() {
            let events = graph.thread(thread);
            let is_before =
                |&event: &EventId| event == at || !graph.knows(graph.clock(clock, event), at);
            if let Some(&next) = events.get(events.partition_point(is_before)) {
                self.visit(next, mode);
            }
        }
    }
}
