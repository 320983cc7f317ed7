//! Sleep sets: do not redo a step until something it depends on has happened.
//!
//! Implements Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*
//! (LNCS 1032, 1996), chapter 5, for the stack of `stack.rs`.
//!
//! | book                                    | here                                       |
//! |-----------------------------------------|--------------------------------------------|
//! | `Sleep` of a state                      | [`Node::sleep`](super::stack::Node::sleep) |
//! | add `t` to `Sleep` once it is explored  | `done` in [`asleep_after`]                 |
//! | pass on what is independent of `t`      | [`inherit`]                                |
//!
//! Differs from the book: a thread stands for its next step, with all its alternatives. Added to
//! the dynamic reductions in this form alone they are unsound (`T0: x=1 | T1: y=1; r=x | T2: r=x`):
//! where a thread that a race asks for sleeps, [`dpor`](super::dpor) adds all others, and
//! [`source`](super::source) counts the sleeper as explored.

use super::bpor::meet;
use crate::view::View;
use mazurka_core::{Operation, ThreadId, ThreadSet, dependent};

/// When a thread sleeps that was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sleeping {
    /// Never.
    Off,
    /// Always.
    On,
    /// If no bound cut anything behind it. What was cut may be within the bound by another way:
    /// `r=x; x=1 | r=x; x=1`, one preemption. And otherwise if the policy says that it may doze,
    /// see [`Policy::doze_beside`](super::stack::Policy::doze_beside).
    WhenComplete,
}

/// What sleeps while the step of a thread is explored: what slept before, and what is done.
pub(crate) fn asleep_after(sleep: ThreadSet, done: ThreadSet) -> ThreadSet {
    sleep | done
}

/// Those that still sleep after `taken`.
pub(crate) fn inherit(asleep: ThreadSet, taken: Operation, view: &View<'_>) -> ThreadSet {
    asleep
        .iter()
        .filter(|&thread| view.operation(thread).is_some_and(|next| !dependent(next, taken)))
        .collect()
}

/// Those that were cut behind and must not sleep any longer, since the last step has been taken:
/// what its thread would do next depends on them or waits for them, so that it makes a difference
/// to the cost of what comes whether they have moved.
pub(crate) fn roused(dozing: ThreadSet, view: &View<'_>) -> ThreadSet {
    let Some(next) = view.last().and_then(|last| view.operation(last)) else {
        return ThreadSet::EMPTY;
    };
    let depends = |&thread: &ThreadId| {
        let own = view.operation(thread);
        next == Operation::Join(thread) || own.is_some_and(|own| meet(own, next))
    };
    dozing.iter().filter(depends).collect()
}
