//! Source sets: for every race, one thread that can begin the reversed execution.
//!
//! Implements Abdulla, Aronis, Jonsson and Sagonas, *Source Sets: A Foundation for Optimal
//! Dynamic Partial Order Reduction* (JACM 2017; POPL 2014), Algorithm 1.
//!
//! | paper                                        | here                          |
//! |----------------------------------------------|-------------------------------|
//! | reversible race *e* ≾ *e'*                   | [`races`]                     |
//! | *v* = notdep(*e*, *E*).proc(*e'*)            | described by its initials     |
//! | *I(v)* after *E'*, the initials              | [`initials`]                  |
//! | add some *q* ∈ *I* unless one is there       | [`Source::detect`]            |
//!
//! Differs from the paper: threads that wait at the end of an execution take part (two acquires
//! race even if the second is never taken), and where no initial is enabled, all enabled threads
//! are added. A sleeping initial counts as explored, and so sleep sets may be on or off.

use super::stack::{Policy, Stack};
use crate::view::View;
use mazurka_core::{Operation, Position, ThreadId, ThreadSet, may_be_coenabled, waits_alike};

/// Takes the steps of a source set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source;

impl Policy for Source {
    fn initial(&self, view: &View<'_>, awake: ThreadSet) -> ThreadSet {
        view.preferred(awake).map_or(ThreadSet::EMPTY, ThreadSet::one)
    }

    fn before_step(stack: &mut Stack<Self>, view: &View<'_>, thread: ThreadId) {
        let operation = view.operation(thread).expect("it is about to be taken");
        Self::detect(stack, view, thread, operation);
    }

    fn at_state(_stack: &mut Stack<Self>, _view: &View<'_>) {}

    fn at_end(stack: &mut Stack<Self>, view: &View<'_>) {
        for (thread, operation) in view.operations() {
            Self::detect(stack, view, thread, operation);
        }
    }
}

impl Source {
    fn detect(stack: &mut Stack<Self>, view: &View<'_>, thread: ThreadId, operation: Operation) {
        let mut found = std::mem::take(&mut stack.races);
        races(view, thread, operation, &mut found);
        for &race in &found {
            if !operation.may_block() && !may_be_coenabled(view.order.operation(race), operation) {
                continue;
            }
            let initials = initials(view, race, thread, &found);
            stack.with_node(race as usize - 1, |node| {
                if (initials & (node.todo | node.sleep)).is_empty() {
                    node.todo |= match (initials & node.enabled).first() {
                        Some(initial) => ThreadSet::one(initial),
                        None => node.enabled,
                    };
                }
            });
        }
        stack.races = found;
    }
}

/// The steps that race with what `thread` would do next.
fn races(view: &View<'_>, thread: ThreadId, operation: Operation, found: &mut Vec<Position>) {
    if operation.may_block() {
        // The newest one that can be reversed. A failed attempt in between may not be one.
        found.clear();
        for rival in view.order.rivals(thread, operation) {
            found.push(rival);
            if waits_alike(view.order.operation(rival), operation) {
                break;
            }
        }
        if let Operation::AwaitModify(_) = operation {
            // A read that came before does not keep it waiting.
            let mut reads = Vec::new();
            view.order.race_candidates(thread, operation, &mut reads);
            found.extend(reads);
            found.sort_unstable_by(|a, b| b.cmp(a));
            found.dedup();
        }
    } else {
        view.order.immediate_races(thread, operation, found);
    }
}

/// The threads that can come first in what remains of the execution without `race` and all that
/// follows from it, with the next step of `thread` at its end.
fn initials(view: &View<'_>, race: Position, thread: ThreadId, races: &[Position]) -> ThreadSet {
    let order = view.order;
    let free = |clock: &[Position], own: usize| {
        clock.iter().enumerate().all(|(idx, &at)| idx == own || at < race)
    };
    let mut initials = ThreadSet::EMPTY;
    let owner = order.thread(race).index();
    for idx in (0..view.next.len()).filter(|&idx| idx != owner) {
        let steps = order.steps_of(ThreadId::new(idx));
        let first = steps.partition_point(|&at| at <= race);
        if let Some(&at) = steps.get(first)
            && free(order.clock_at(at), idx)
        {
            initials.insert(ThreadId::new(idx));
        }
    }
    let moved = order.steps_of(thread).last().is_some_and(|&at| at > race);
    let operation = view.operation(thread);
    let modifies = matches!(operation, Some(Operation::AwaitModify(_)));
    let may_block = operation.is_some_and(Operation::may_block) && !modifies;
    let woken_since = operation
        .and_then(|operation| order.waker(thread, operation))
        .is_some_and(|waker| waker > race);
    let is_gone = |other: Position| other <= race || may_block || order.ordered(race, other);
    let alone = !woken_since && races.iter().all(|&other| is_gone(other));
    if !moved && alone && free(order.clock(thread), thread.index()) {
        initials.insert(thread);
    }
    initials
}
