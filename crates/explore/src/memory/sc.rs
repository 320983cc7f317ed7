//! Sequential consistency, as a model of graphs: for tests. The search of interleavings is faster,
//! and finds the same.
//!
//! Implements Lamport, *How to Make a Multiprocessor Computer That Correctly Executes Multiprocess
//! Programs* (IEEE Transactions on Computers, 1979), as an axiom: po ∪ rf ∪ mo ∪ rb has no cycle.
//!
//! Differs from the paper: nothing.

use super::graph::{Clock, EventId, Graph, INITIAL, Kind};
use super::scratch::Scratch;
use super::{Model, Past};

pub(crate) struct Sc;

impl Model for Sc {
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
            successors(graph, at, &mut visit);
            if visited[event as usize] {
                return false;
            }
        }
        true
    }
}

/// Calls `visit` with events that come after this one, such that what comes after it comes after
/// one of them.
fn successors(graph: &Graph, at: EventId, visit: &mut impl FnMut(EventId)) {
    for thread in 0..graph.n_threads() {
        let events = graph.thread(thread);
        let first = events.partition_point(|&event| {
            event == at || !graph.knows(graph.clock(Clock::Porf, event), at)
        });
        events.get(first).into_iter().for_each(|&event| visit(event));
    }
    let event = graph.event(at);
    let Some(object) = event.object() else { return };
    if event.kind == Kind::Chain {
        return;
    }
    let write = if event.writes() { at } else { event.source };
    debug_assert!(event.reads() || write != INITIAL);
    graph.behind(object, write).into_iter().for_each(visit);
}
