//! Quasi-monotonic sequences: of all orders of a trace, the one with the smallest threads first.
//!
//! Implements Kahlon, Wang and Gupta, *Monotonic Partial Order Reduction: An Optimal Symbolic
//! Partial Order Reduction Technique* (CAV 2009), Definition 3, with the scheduling constraint of
//! section 4.2.
//!
//! | paper                                       | here                           |
//! |---------------------------------------------|--------------------------------|
//! | *tr* ⇒ *tr'*, a dependency chain            | *tr* happens before *tr'*      |
//! | *DC_jl(k-1)* is not *1* for any *l* but *j* | [`is_open`] of *j*             |
//! | *DC_ji(k)*, as if *i* ran now               | [`clock_of_next`]              |
//! | *S_i(k)*                                    | [`keeps_order`]                |
//!
//! A sequence is given up where no enabled thread may be next: no end of an execution is lost by
//! that, since each trace has one quasi-monotonic sequence and its prefixes are quasi-monotonic.
//!
//! Differs from the paper: chains are those of happens-before, so that whatever enables a step
//! comes before it, too. Definition 2 (c) is dropped: with it, Theorem 3 is wrong. Of the chains
//! from the last step of a thread, only those matter that are to lead to the next step of the
//! execution; that this is the same, `symbolic/src/schedule/mpor.rs` proves.

use super::stack::{Policy, Stack};
use crate::view::View;
use mazurka_core::{HappensBefore, Operation, Position, ThreadId, ThreadSet};

/// Takes the steps after which the execution is quasi-monotonic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Monotonic;

impl Policy for Monotonic {
    fn initial(&self, view: &View<'_>, _awake: ThreadSet) -> ThreadSet {
        let open: Vec<_> = threads(view).filter(|&it| is_open(view, it)).collect();
        view.enabled.iter().filter(|&thread| keeps_order(view, &open, thread)).collect()
    }

    fn before_step(_stack: &mut Stack<Self>, _view: &View<'_>, _thread: ThreadId) {}
    fn at_state(_stack: &mut Stack<Self>, _view: &View<'_>) {}
    fn at_end(_stack: &mut Stack<Self>, _view: &View<'_>) {}
}

fn threads(view: &View<'_>) -> impl Iterator<Item = ThreadId> + use<> {
    (0..view.next.len()).map(ThreadId::new)
}

/// Whether a thread has moved, and no later step depends on its last one.
fn is_open(view: &View<'_>, thread: ThreadId) -> bool {
    let last = last_step(view.order, thread);
    // A thread that was born and has not moved knows what came before its birth, and has no step.
    let knows = |other| view.order.clock_at(last_step(view.order, other))[thread.index()] >= last;
    last > 0 && !threads(view).any(|other| other != thread && knows(other))
}

/// Whether the next step of `thread` depends on all open ones of greater threads.
fn keeps_order(view: &View<'_>, open: &[ThreadId], thread: ThreadId) -> bool {
    let mut greater = open.iter().filter(|&&other| other > thread).peekable();
    if greater.peek().is_none() {
        return true;
    }
    let operation = view.operation(thread).expect("an enabled thread has one");
    let clock = clock_of_next(view.order, thread, operation);
    greater.all(|&other| clock[other.index()] >= last_step(view.order, other))
}

/// The clock that the next step of `thread` would have.
fn clock_of_next(order: &HappensBefore, thread: ThreadId, operation: Operation) -> Vec<Position> {
    let mut clock = order.clock(thread).to_vec();
    let mut before = Vec::new();
    order.predecessors(thread, operation, &mut before);
    for at in before {
        for (mine, &theirs) in clock.iter_mut().zip(order.clock_at(at)) {
            *mine = (*mine).max(theirs);
        }
    }
    clock
}

fn last_step(order: &HappensBefore, thread: ThreadId) -> Position {
    order.steps_of(thread).last().copied().unwrap_or(0)
}
