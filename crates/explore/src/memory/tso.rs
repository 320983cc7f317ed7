//! Total store order: every processor has a queue of stores on their way to memory, and its loads
//! find those first. The memory of x86 processors.
//!
//! Implements Owens, Sarkar and Sewell, *A Better x86 Memory Model: x86-TSO* (TPHOLs 2009), in the
//! form of Alglave, Maranget and Tautschnig, *Herding Cats* (TOPLAS 2014), Figure 21: coherence for
//! each object, and ppo ∪ rfe ∪ mo ∪ rb has no cycle.
//!
//! | Herding Cats                          | here                                            |
//! |---------------------------------------|-------------------------------------------------|
//! | `uniproc`                             | [`Past::Porf`]                                  |
//! | `ppo`: po without write-read pairs    | [`program_order`]                               |
//! | `mfence`, locked instructions         | [`is_barrier`]                                  |
//!
//! What a compiler makes of an order on x86 is taken for granted: a sequentially consistent store
//! is followed by a barrier, a sequentially consistent fence is one, other fences and orders are
//! nothing.
//!
//! Differs from the paper: the creation and the end of a thread, and operations on objects that are
//! no memory, are barriers. A mutex could be given back by a plain store; those of the C library
//! and of Rust are given back by a locked instruction.
//!
//! Why the floor of [`Past::Porf`] is right here: po ∪ rf leads from a write to an event of another
//! thread only over a later write of the first thread, which ppo keeps behind it; and from a
//! read, ppo keeps everything.

use super::graph::{Clock, Event, EventId, Graph, INITIAL, Kind};
use super::scratch::Scratch;
use super::{Model, Past};
use mazurka_core::MemoryOrder;

pub(crate) struct Tso;

impl Model for Tso {
    fn past(&self) -> Past {
        Past::Porf
    }

    /// Whether no way leads back to the event.
    fn is_consistent(&self, graph: &Graph, event: EventId, scratch: &mut Scratch) -> bool {
        let Scratch { visited, stack, .. } = scratch;
        visited.clear();
        visited.resize(graph.events.len(), false);
        stack.clear();
        stack.push(event);
        while let Some(at) = stack.pop() {
            let mut visit = |next: EventId| {
                if !std::mem::replace(&mut visited[next as usize], true) {
                    stack.push(next);
                }
            };
            program_order(graph, at, &mut visit);
            other_threads(graph, at, &mut visit);
            if visited[event as usize] {
                return false;
            }
        }
        true
    }
}

/// Whether it is a store that may wait in the queue.
fn is_plain_write(event: &Event) -> bool {
    event.kind == Kind::Write && event.order != MemoryOrder::SequentiallyConsistent
}

/// Whether no store waits any more behind this event.
fn is_barrier(event: &Event) -> bool {
    match event.kind {
        Kind::Read | Kind::Write => false,
        // The end of a wait for another thread.
        Kind::Other => event.waker != INITIAL,
        Kind::Fence => event.order == MemoryOrder::SequentiallyConsistent,
        Kind::Update | Kind::Attempt | Kind::Thread | Kind::Chain => true,
    }
}

/// Whether it is neither an access nor a barrier: then it keeps nothing in order, and a way over it
/// is none.
fn is_nothing(event: &Event) -> bool {
    matches!(event.kind, Kind::Fence | Kind::Other) && !is_barrier(event)
}

/// What the processor of an event keeps behind it.
fn program_order(graph: &Graph, at: EventId, visit: &mut impl FnMut(EventId)) {
    let event = graph.event(at);
    if is_nothing(event) {
        return;
    }
    let mut reads_may_pass = is_plain_write(event);
    for &next in &graph.thread(event.thread as usize)[event.index as usize + 1..] {
        let later = graph.event(next);
        reads_may_pass &= !is_barrier(later);
        if !is_nothing(later) && (!reads_may_pass || later.kind != Kind::Read) {
            visit(next);
        }
    }
}

/// What an event is before in other threads.
fn other_threads(graph: &Graph, at: EventId, visit: &mut impl FnMut(EventId)) {
    let event = graph.event(at);
    // The creation and the end of threads: all that is behind them, for the queue is empty there.
    for thread in (0..graph.n_threads()).filter(|&thread| thread != event.thread as usize) {
        for &next in graph.thread(thread) {
            if graph.knows(graph.clock(Clock::Sb, next), at) {
                visit(next);
            }
        }
    }
    for &reader in graph.readers(at) {
        if graph.event(reader).thread != event.thread {
            visit(reader);
        }
    }
    let Some(object) = event.object() else { return };
    if event.kind == Kind::Chain {
        return;
    }
    let write = if event.writes() { at } else { event.source };
    debug_assert!(event.reads() || write != INITIAL);
    graph.behind(object, write).into_iter().for_each(visit);
}
