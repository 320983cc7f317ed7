//! Persistent sets: threads that nobody else can interfere with, found by looking ahead.
//!
//! Implements persistent sets (Flanagan and Godefroid, POPL 2005, Definition 2) by the conflict
//! closure of Godefroid (LNCS 1032, 1996), section 4.5, from what a program knows of its future.
//!
//! | book                                             | here                          |
//! |--------------------------------------------------|-------------------------------|
//! | operations a process may still execute           | [`Foresight`]                 |
//! | add every process that may conflict              | [`interferes`]                |
//! | add what may enable a process that is disabled   | [`may_enable`]                |
//! | the smallest of several persistent sets          | [`Policy::initial`]           |
//!
//! Differs from the book: a program without foresight is searched in full. The closure is
//! started at every enabled thread, and the smallest result is taken.

use super::stack::{Policy, Stack};
use crate::view::View;
use mazurka_core::{
    Foresight, Next, Operation, ThreadId, ThreadSet, dependent, may_be_coenabled, may_enable,
};

/// Takes a persistent set of the enabled steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Persistent;

impl Policy for Persistent {
    fn initial(&self, view: &View<'_>, _awake: ThreadSet) -> ThreadSet {
        let Some(foresight) = view.system.foresight() else { return view.enabled };
        let sets = view.enabled.iter().map(|seed| persistent_set(view, foresight, seed));
        sets.min_by_key(|set| set.len()).unwrap_or(ThreadSet::EMPTY)
    }

    fn before_step(_stack: &mut Stack<Self>, _view: &View<'_>, _thread: ThreadId) {}
    fn at_state(_stack: &mut Stack<Self>, _view: &View<'_>) {}
    fn at_end(_stack: &mut Stack<Self>, _view: &View<'_>) {}
}

/// The enabled threads of the smallest set around `seed` that is closed under interference.
fn persistent_set(view: &View<'_>, foresight: &dyn Foresight, seed: ThreadId) -> ThreadSet {
    let mut closed = ThreadSet::one(seed);
    let mut todo = vec![seed];
    while let Some(member) = todo.pop() {
        for idx in 0..view.next.len() {
            let other = ThreadId::new(idx);
            if !closed.contains(other) && interferes(view, foresight, other, member) {
                closed.insert(other);
                todo.push(other);
            }
        }
    }
    closed & view.enabled
}

/// Whether `other` may ever do something that matters to the next step of `member`: conflict
/// with it, or make it possible if it is not.
fn interferes(
    view: &View<'_>,
    foresight: &dyn Foresight,
    other: ThreadId,
    member: ThreadId,
) -> bool {
    let matters = |operation: Operation| match view.next[member.index()] {
        Next::Finished => false,
        Next::Unborn => operation == Operation::Spawn(member),
        Next::Blocked(next) => match next {
            // Only the end of the joined thread lets a join go on.
            Operation::Join(joined) => joined == other,
            next => may_enable(operation, next) || conflict(operation, next),
        },
        Next::Enabled { operation: next, .. } => conflict(operation, next),
    };
    let mut found = false;
    foresight.future(other, &mut |operation| found |= matters(operation));
    found
}

fn conflict(a: Operation, b: Operation) -> bool {
    dependent(a, b) && may_be_coenabled(a, b)
}
