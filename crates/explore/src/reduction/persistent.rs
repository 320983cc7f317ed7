//! Persistent sets: threads that no other thread can interfere with, found by looking ahead.
//!
//! Implements persistent sets (Flanagan and Godefroid, POPL 2005, Definition 2) by the conflict
//! closure of Godefroid (LNCS 1032, 1996), section 4.5, from what a program knows of its future.
//!
//! | book                                             | here                          |
//! |--------------------------------------------------|-------------------------------|
//! | operations a process may still execute           | [`Foresight`]                 |
//! | add every process that may conflict              | [`matters`]                   |
//! | add what may enable a process that is disabled   | [`may_enable`]                |
//! | the smallest of several persistent sets          | [`Policy::initial`]           |
//!
//! And implements transactions, the lock acquisition patterns of Kahlon, Gupta and Sinha, *Symbolic
//! Model Checking of Concurrent Programs Using Partial Orders and On-the-Fly Transactions* (CAV
//! 2006), section 3.
//!
//! | paper                                            | here                          |
//! |--------------------------------------------------|-------------------------------|
//! | might be the first to interfere modulo locks     | [`Foresight::future_without`] |
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
pub(crate) struct Persistent {
    /// Whether no thread interferes that would need a lock that is held.
    pub(crate) by_locks: bool,
}

impl Policy for Persistent {
    fn initial(&self, view: &View<'_>, _awake: ThreadSet) -> ThreadSet {
        let Some(foresight) = view.system.foresight() else { return view.enabled };
        let rivals = self.rivals(view, foresight);
        let sets = view.enabled.iter().map(|seed| persistent_set(view, &rivals, seed));
        sets.min_by_key(|set| set.len()).unwrap_or(ThreadSet::EMPTY)
    }

    fn before_step(_stack: &mut Stack<Self>, _view: &View<'_>, _thread: ThreadId) {}
    fn at_state(_stack: &mut Stack<Self>, _view: &View<'_>) {}
    fn at_end(_stack: &mut Stack<Self>, _view: &View<'_>) {}
}

/// The enabled threads of the smallest set around `seed` that is closed under interference.
fn persistent_set(view: &View<'_>, rivals: &[ThreadSet], seed: ThreadId) -> ThreadSet {
    let mut closed = ThreadSet::one(seed);
    let mut todo = vec![seed];
    while let Some(member) = todo.pop() {
        let more = rivals[member.index()] - closed;
        closed |= more;
        todo.extend(more.iter());
    }
    closed & view.enabled
}

impl Persistent {
    /// For each thread, those that may ever do something that matters to its next step.
    fn rivals(self, view: &View<'_>, foresight: &dyn Foresight) -> Vec<ThreadSet> {
        let mut rivals = vec![ThreadSet::EMPTY; view.next.len()];
        let members =
            || view.next.iter().enumerate().map(|(idx, next)| (ThreadId::new(idx), *next));
        let holds = |member: &ThreadId| self.by_locks && foresight.is_in_the_way(*member);
        let in_the_way: ThreadSet = members().map(|it| it.0).filter(holds).collect();
        for (other, _) in members() {
            let mut future = Vec::new();
            foresight.future(other, &mut |operation| future.push(operation));
            for (member, next) in members().filter(|(member, _)| *member != other) {
                let mut is_rival =
                    future.iter().any(|&operation| matters(operation, other, member, next));
                if is_rival && in_the_way.contains(member) {
                    // What cannot come before the member moves is none of its business.
                    is_rival = false;
                    foresight.future_without(other, member, &mut |operation| {
                        is_rival |= matters(operation, other, member, next);
                    });
                }
                if is_rival {
                    rivals[member.index()].insert(other);
                }
            }
        }
        rivals
    }
}

/// Whether an operation of `other` matters to the next step of `member`: conflicts with it, or
/// makes it possible if it is not.
fn matters(operation: Operation, other: ThreadId, member: ThreadId, next: Next) -> bool {
    match next {
        // One that was joined may leave its number to another.
        Next::Unborn | Next::Finished => operation == Operation::Spawn(member),
        Next::Blocked(next) => match next {
            // Only the end of the joined thread lets a join go on.
            Operation::Join(joined) => joined == other,
            next => may_enable(operation, next) || conflict(operation, next),
        },
        Next::Enabled { operation: next, .. } => conflict(operation, next),
    }
}

fn conflict(a: Operation, b: Operation) -> bool {
    dependent(a, b) && may_be_coenabled(a, b)
}
