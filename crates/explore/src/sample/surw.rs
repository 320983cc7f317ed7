//! Selectively uniform random walk: all orders of the steps on one object are equally likely.
//!
//! Implements Zhao, Wolff, Mathur and Roychoudhury, *Selectively Uniform Concurrency Testing*
//! (ASPLOS 2025), Algorithms 1 (weights) and 2 (selection).
//!
//! | paper                                             | here                           |
//! |---------------------------------------------------|--------------------------------|
//! | Δ, the interesting events                         | the steps on [`Surw::object`]  |
//! | the number of a thread's events, from a profile   | [`Surw::profile`]              |
//! | the weight of a thread: events left, with those of the threads it has yet to start | [`Surw::weight`] |
//! | the thread whose interesting event is next        | [`Surw::intended`]             |
//!
//! Differs: the profile is what the executions so far have shown, the latest first, and the object
//! is drawn anew for every execution among those that several threads use. The orders are equally
//! likely if no step waits and each thread takes as many steps on the object in every execution:
//! the paper's condition. No probability of missing a bug follows, so none is stated.

use super::Pick;
use crate::view::View;
use fastrand::Rng;
use mazurka_core::{ObjectId, Operation, Position, ThreadId};
use std::collections::BTreeMap;

/// See the [module](self).
#[derive(Default)]
pub(crate) struct Surw {
    /// How many steps each thread took on each object in the last execution.
    profile: BTreeMap<ObjectId, Vec<u64>>,
    /// Who started each thread in the last execution, by the number of the thread.
    parents: Vec<Option<ThreadId>>,
    /// The object of this execution; none before the first.
    object: Option<ObjectId>,
    /// How many steps on it each thread has still to take.
    left: Vec<u64>,
    /// Who takes the next one.
    intended: Option<ThreadId>,
}

impl Surw {
    /// Whether this would be a step on the object.
    fn is_interesting(&self, operation: Option<Operation>) -> bool {
        self.object.is_some() && operation.and_then(Operation::object) == self.object
    }

    /// The steps that a thread and those which it has yet to start are to take on the object.
    fn weight(&self, thread: ThreadId, n_born: usize) -> u64 {
        let unborn = (n_born..self.parents.len()).map(ThreadId::new);
        let children = unborn.filter(|child| self.parents[child.index()] == Some(thread));
        let own = self.left.get(thread.index()).copied().unwrap_or(0);
        own + children.map(|child| self.weight(child, n_born)).sum::<u64>()
    }

    /// Draws one of these threads by their weights; all alike if none has any.
    fn draw(&self, threads: &[ThreadId], n_born: usize, rng: &mut Rng) -> Option<ThreadId> {
        let total: u64 = threads.iter().map(|&thread| self.weight(thread, n_born)).sum();
        if total == 0 {
            return rng.choice(threads).copied();
        }
        let mut left = rng.u64(..total);
        threads.iter().copied().find(|&thread| {
            let weight = self.weight(thread, n_born);
            let is_it = left < weight;
            left = left.saturating_sub(weight);
            is_it
        })
    }

    /// Notes the last step: one less to take on the object, or a thread that shares the weight of
    /// the one that started it.
    fn note_last(&mut self, view: &View<'_>, rng: &mut Rng) {
        let Some(last) = view.last() else { return };
        let operation = view.order.operation(view.depth() as Position);
        if self.is_interesting(Some(operation)) {
            if let Some(left) = self.left.get_mut(last.index()) {
                *left = left.saturating_sub(1);
            }
            self.intended = None;
        } else if let Operation::Spawn(child) = operation
            && self.intended == Some(last)
        {
            self.intended = self.draw(&[last, child], view.next.len(), rng);
        }
    }
}

impl Pick for Surw {
    fn begin(&mut self, rng: &mut Rng) {
        let is_shared = |counts: &&Vec<u64>| counts.iter().filter(|&&count| count > 0).count() > 1;
        let shared = self.profile.iter().filter(|(_, counts)| is_shared(counts));
        let shared: Vec<ObjectId> = shared.map(|(&object, _)| object).collect();
        self.object = rng.choice(&shared).copied();
        let counts = self.object.and_then(|object| self.profile.get(&object));
        self.left = counts.cloned().unwrap_or_default();
        self.intended = None;
    }

    fn pick(&mut self, view: &View<'_>, rng: &mut Rng) -> ThreadId {
        self.note_last(view, rng);
        let n_born = view.next.len();
        let can_go_on = |thread: ThreadId| view.operation(thread).is_some();
        if self.intended.is_none_or(|thread| !can_go_on(thread)) {
            let alive: Vec<_> =
                (0..n_born).map(ThreadId::new).filter(|&thread| can_go_on(thread)).collect();
            self.intended = self.draw(&alive, n_born, rng);
        }
        let is_free = |&thread: &ThreadId| {
            self.intended == Some(thread) || !self.is_interesting(view.operation(thread))
        };
        let free: Vec<_> = view.enabled.iter().filter(is_free).collect();
        if let Some(&thread) = rng.choice(&free) {
            return thread;
        }
        // The intended thread waits, and all others are at the object: another one is intended.
        let enabled: Vec<_> = view.enabled.iter().collect();
        self.intended = self.draw(&enabled, n_born, rng);
        self.intended.expect("some thread is enabled")
    }

    fn end(&mut self, view: &View<'_>) {
        self.profile.clear();
        self.parents.clear();
        self.parents.resize(view.next.len(), None);
        for position in 1..=view.depth() as Position {
            let thread = view.order.thread(position);
            let operation = view.order.operation(position);
            if let Operation::Spawn(child) = operation
                && let Some(parent) = self.parents.get_mut(child.index())
            {
                *parent = Some(thread);
            }
            let Some(object) = operation.object() else { continue };
            let counts = self.profile.entry(object).or_default();
            counts.resize(counts.len().max(thread.index() + 1), 0);
            counts[thread.index()] += 1;
        }
    }
}
