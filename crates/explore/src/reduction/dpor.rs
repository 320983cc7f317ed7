//! Dynamic partial-order reduction: run first, then reverse races from where they were found.
//!
//! Implements Flanagan and Godefroid, *Dynamic Partial-Order Reduction for Model Checking
//! Software* (POPL 2005), Fig. 3, with the clocks and tables of Figs. 4 and 5.
//!
//! | paper, Fig. 3                             | here                                    |
//! |-------------------------------------------|-----------------------------------------|
//! | line 3, all processes *p*, enabled or not | [`Policy::at_state`]                    |
//! | line 4, the last *i*                      | [`last_race`]                           |
//! | line 5, *E*                               | [`necessary`]                           |
//! | line 6, any *q* in *E*                    | one already in `backtrack`, if possible |
//! | line 7, all enabled                       | `node.enabled`                          |
//! | line 11, *backtrack(s) := {p}*            | [`Policy::initial`]                     |
//!
//! Differs from the paper: reads and writes are apart, with the last read of every thread. A thread
//! that did not move is looked at again only after a step that its next one depends on: before
//! that, its last race is the one that the state before has dealt with. With sleep sets, the first
//! thread is chosen among those awake, and where only sleepers are in *E*, all enabled are added:
//! the subtree that was pruned would have asked for more (`T0: x=1 | T1: y=1; r=x | T2: r=x`).

use super::stack::{Node, Policy, Stack};
use crate::view::View;
use mazurka_core::{Operation, Position, ThreadId, ThreadSet, dependent};

/// Takes the steps that some race asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dpor;

impl Policy for Dpor {
    fn initial(&self, view: &View<'_>, awake: ThreadSet) -> ThreadSet {
        view.preferred(awake).map_or(ThreadSet::EMPTY, ThreadSet::one)
    }

    fn before_step(_stack: &mut Stack<Self>, _view: &View<'_>, _thread: ThreadId) {}

    fn at_state(stack: &mut Stack<Self>, view: &View<'_>) {
        detect(stack, view, |_, node, threads| node.todo |= threads);
    }

    fn at_end(_stack: &mut Stack<Self>, _view: &View<'_>) {}
}

/// Lets `add` put the threads that a race asks for into the node at its depth.
pub(crate) fn detect<P: Policy>(
    stack: &mut Stack<P>,
    view: &View<'_>,
    add: impl Fn(usize, &mut Node, ThreadSet),
) {
    let mut races = std::mem::take(&mut stack.races);
    for_each_race(view, &mut races, |depth, necessary| {
        stack.with_node(depth, |node| {
            let necessary = necessary & node.enabled;
            if !(necessary & node.todo).is_empty() {
                return;
            }
            match (necessary - node.sleep).first() {
                Some(awake) => add(depth, node, ThreadSet::one(awake)),
                None => add(depth, node, node.enabled),
            }
        });
    });
    stack.races = races;
}

/// Calls `visit` for every thread whose next step races with one that was taken, with the depth
/// of the state before that one and the threads of which one has to be explored from there.
pub(crate) fn for_each_race(
    view: &View<'_>,
    races: &mut Vec<Position>,
    mut visit: impl FnMut(usize, ThreadSet),
) {
    let last = view.depth() as Position;
    for (thread, operation) in view.operations() {
        if last > 0 && !is_news(view, last, thread, operation) {
            continue;
        }
        let race = last_race(view, thread, operation, races);
        if race != 0 {
            visit(race as usize - 1, necessary(view, race, thread));
        }
    }
}

/// Whether the step `last` can have changed what the next one of `thread` races with.
fn is_news(view: &View<'_>, last: Position, thread: ThreadId, operation: Operation) -> bool {
    let taken = view.order.operation(last);
    view.order.thread(last) == thread
        || dependent(taken, operation)
        || taken == Operation::Spawn(thread)
        || view.order.joiners().any(|joiner| joiner == thread)
        || view.order.waker(thread, operation) == Some(last)
}

/// The last step that is dependent and may be co-enabled with the next one of `thread`, and that
/// the thread does not know of; 0 if there is none.
fn last_race(
    view: &View<'_>,
    thread: ThreadId,
    operation: Operation,
    races: &mut Vec<Position>,
) -> Position {
    if operation.may_block() {
        let rival = view.order.rivals(thread, operation).next().unwrap_or(0);
        if let Operation::AwaitModify(_) = operation {
            // A read that came before does not keep it waiting.
            view.order.race_candidates(thread, operation, races);
            return races.iter().copied().fold(rival, Position::max);
        }
        return rival;
    }
    view.order.immediate_races(thread, operation, races);
    let reversible =
        |&&race: &&Position| mazurka_core::may_be_coenabled(view.order.operation(race), operation);
    races.iter().find(reversible).copied().unwrap_or(0)
}

/// The threads that have to move after `race` before `thread` can do what it would do next.
pub(crate) fn necessary(view: &View<'_>, race: Position, thread: ThreadId) -> ThreadSet {
    let known = view.order.clock(thread).iter().enumerate().take(view.next.len());
    let mut threads: ThreadSet =
        known.filter(|&(_, &at)| at > race).map(|(idx, _)| ThreadId::new(idx)).collect();
    threads.insert(thread);
    threads
}
