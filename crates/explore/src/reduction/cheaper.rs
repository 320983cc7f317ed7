//! Branch and bound: every execution within a cost, and no other.
//!
//! No step is left out for another one: what is cheap is a property of an execution, not of its
//! trace. The threads are tried in the order of what their step costs, so that the first execution
//! is the cheapest continuation of each state.
//!
//! Implements depth-first branch and bound (Land and Doig, 1960) over executions, after the cost of
//! Musuvathi and Qadeer, *Iterative Context Bounding* (PLDI 2007): preemptions first.
//!
//! Differs from both: the cost is a triple, and each part of it has a limit of its own.

use super::{Choice, End, Reduce};
use crate::bound::Exceeded;
use crate::unit::Unit;
use crate::view::View;
use mazurka_core::{Cost, Decision, Schedule, ThreadId};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};

/// See the [module](self).
pub(crate) struct Cheaper<'a> {
    /// The most preemptions, context switches and steps there may be.
    most: Cost,
    /// How many executions may still be taken, in all searches together.
    budget: &'a AtomicU64,
    levels: Vec<Level>,
}

/// A state of the execution in progress.
struct Level {
    /// The steps that are left to take, the next one last, each with the cost after it.
    left: SmallVec<[(Decision, Cost); 4]>,
    /// What the execution costs up to the state after the step that was taken.
    cost: Cost,
}

impl<'a> Cheaper<'a> {
    pub(crate) fn new(most: Cost, budget: &'a AtomicU64) -> Self {
        Self { most, budget, levels: Vec::new() }
    }

    /// What the execution costs with one more step, by `thread`.
    fn after(&self, view: &View<'_>, thread: ThreadId) -> Cost {
        let before = self.levels.last().map_or(Cost::default(), |level| level.cost);
        let left = view.last().filter(|&last| last != thread);
        Cost {
            preemptions: before.preemptions
                + u32::from(left.is_some_and(|last| view.enabled.contains(last))),
            switches: before.switches + u32::from(left.is_some()),
            steps: before.steps + 1,
        }
    }

    /// Whether a cost is within the limits, each of them.
    fn is_within(&self, cost: Cost) -> bool {
        let Cost { preemptions, switches, steps } = self.most;
        cost.preemptions <= preemptions && cost.switches <= switches && cost.steps <= steps
    }

    /// The steps from a new state that keep the execution within the limits.
    fn level(&self, view: &View<'_>) -> Level {
        let mut left: SmallVec<[(Decision, Cost); 4]> = SmallVec::new();
        for thread in view.enabled.iter() {
            let cost = self.after(view, thread);
            if self.is_within(cost) {
                let decisions = (0..view.choices(thread)).map(|choice| Decision { thread, choice });
                left.extend(decisions.map(|decision| (decision, cost)));
            }
        }
        left.sort_by(|(_, one), (_, other)| other.cmp(one));
        Level { left, cost: Cost::default() }
    }
}

impl Reduce for Cheaper<'_> {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        if self.levels.len() == view.depth() {
            let level = self.level(view);
            self.levels.push(level);
        }
        let level = self.levels.last_mut().expect("there is one for this state");
        match level.left.pop() {
            Some((decision, cost)) => {
                level.cost = cost;
                Choice::Step(decision)
            }
            None => Choice::OverBound,
        }
    }

    fn finish(&mut self, _view: &View<'_>, _end: End) {
        let _ = self
            .budget
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    }

    fn backtrack(&mut self) -> Option<usize> {
        if self.budget.load(Ordering::Relaxed) == 0 {
            return None;
        }
        while self.levels.last().is_some_and(|level| level.left.is_empty()) {
            self.levels.pop();
        }
        self.levels.len().checked_sub(1)
    }

    fn frontier(&self) -> u64 {
        self.levels.iter().map(|level| level.left.len() as u64).sum()
    }

    fn explored(&self) -> f64 {
        0.0
    }

    fn share(&mut self, _schedule: &Schedule) -> Option<Unit> {
        None
    }

    fn adopt(&mut self, _unit: Unit) {
        self.levels.clear();
    }

    fn dissolve(&mut self, _schedule: &Schedule) -> Vec<Unit> {
        vec![Unit::Root]
    }

    fn exceeded(&self) -> Exceeded {
        Exceeded::default()
    }
}
