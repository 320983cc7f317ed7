//! Executions, and the Mazurkiewicz traces they stand for.
//!
//! Implements Mazurkiewicz's traces as used by Flanagan and Godefroid (POPL 2005, section 3) and
//! the hashes of Coons' thesis, 8.3 (after Musuvathi and Qadeer): two executions are one trace if
//! adjacent independent steps can be swapped until they are the same.
//!
//! | text                                      | here                                   |
//! |-------------------------------------------|----------------------------------------|
//! | sequence of transitions *S*               | [`Execution`]                          |
//! | the trace of *S*                          | [`Trace`]                              |
//! | hash of a terminal state                  | [`Trace::hash`]                        |
//! | local state, Def. 2.1, and its hash       | [`Execution::local_states`]            |
//!
//! Differs from the thesis: the canonical form is exact, the linearisation in which always the
//! smallest possible thread comes first; the hash is taken of happens-before, not of the form.

use crate::{Decision, Effect, HappensBefore, Operation, Part, Position, Schedule, ThreadId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An operation that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Step {
    /// Which thread took it, and which alternative.
    pub decision: Decision,
    /// What it did.
    pub operation: Operation,
    /// What came of it.
    pub effect: Effect,
}

/// A sequence of steps from the initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The joins that were no steps of their own, in order.
    #[serde(default)]
    pub joins: Vec<PassedJoin>,
}

/// A join that is a [part](crate::Part) of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedJoin {
    /// The step, from 1.
    pub at: Position,
    /// Who goes on in it.
    pub thread: ThreadId,
    /// Who has ended.
    pub ended: ThreadId,
}

impl Execution {
    /// The decisions that lead through it.
    pub fn schedule(&self) -> Schedule {
        self.steps.iter().map(|step| step.decision).collect()
    }

    /// Its happens-before order.
    pub fn happens_before(&self) -> HappensBefore {
        let mut order = HappensBefore::new(true);
        let mut joins = self.joins.iter().peekable();
        for step in &self.steps {
            let at = order.push(step.decision, step.operation, step.effect);
            while let Some(join) = joins.next_if(|join| join.at == at) {
                order.join(join.thread, join.ended);
            }
        }
        order
    }

    /// The pairs of steps that race: dependent steps of different threads, with nothing between
    /// them in happens-before, that the scheduler could have taken the other way round. In the
    /// order of their second steps.
    pub fn racing_pairs(&self) -> Vec<(Position, Position)> {
        let mut order = HappensBefore::new(false);
        let mut joins = self.joins.iter().peekable();
        let (mut pairs, mut races): (Vec<(Position, Position)>, Vec<Position>) = Default::default();
        for step in &self.steps {
            let thread = step.decision.thread;
            races.clear();
            if is_ordered_by_choice(step.operation) {
                order.immediate_races(thread, step.operation, &mut races);
            }
            let at = order.push(step.decision, step.operation, step.effect);
            let is_other = |&&first: &&Position| {
                order.thread(first) != thread && is_ordered_by_choice(order.operation(first))
            };
            pairs.extend(races.iter().filter(is_other).map(|&first| (first, at)));
            while let Some(join) = joins.next_if(|join| join.at == at) {
                order.join(join.thread, join.ended);
            }
        }
        pairs
    }

    /// One step more, with its parts.
    pub fn push(&mut self, step: Step, parts: &[Part]) {
        self.steps.push(step);
        let at = self.steps.len() as Position;
        let passed = |part: &Part| {
            let Part { thread, joined, .. } = *part;
            joined.map(|ended| PassedJoin { at, thread, ended })
        };
        self.joins.extend(parts.iter().filter_map(passed));
    }

    /// Keeps only the first `depth` steps.
    pub fn truncate(&mut self, depth: usize) {
        self.steps.truncate(depth);
        while self.joins.pop_if(|join| join.at as usize > depth).is_some() {}
    }

    /// The hashes of the local states it goes through: one for each step (thesis, Def. 2.1).
    pub fn local_states(&self) -> Vec<u64> {
        let order = self.happens_before();
        (1..=self.steps.len() as Position).map(|at| order.hash_at(at)).collect()
    }
}

/// Whether the scheduler decides when it comes.
fn is_ordered_by_choice(operation: Operation) -> bool {
    !matches!(operation, Operation::Spawn(_) | Operation::Join(_) | Operation::Choose)
}

/// An equivalence class of executions, as its smallest linearisation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Trace {
    steps: Vec<(usize, u32)>,
    hash: u64,
}

impl Trace {
    /// The trace of an execution.
    pub fn of(execution: &Execution) -> Self {
        let order = execution.happens_before();
        let n_threads =
            execution.steps.iter().map(|step| step.decision.thread.index() + 1).max().unwrap_or(0);
        let mut taken = vec![0 as Position; n_threads];
        let mut steps = Vec::with_capacity(execution.steps.len());
        while steps.len() < execution.steps.len() {
            let ready = (0..n_threads).find_map(|idx| {
                let thread = ThreadId::new(idx);
                let at = order.steps_of(thread).iter().copied().find(|&at| at > taken[idx])?;
                let clock = order.clock_at(at);
                let free = (0..n_threads).all(|other| other == idx || clock[other] <= taken[other]);
                free.then_some((idx, at))
            });
            let (idx, at) = ready.expect("a partial order has a minimal element");
            taken[idx] = at;
            steps.push((idx, order.decision(at).choice));
        }
        Self { steps, hash: order.trace_hash() }
    }

    /// A hash that every execution of the trace has.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The smallest linearisation, as a schedule.
    pub fn schedule(&self) -> Schedule {
        let decide = |&(thread, choice)| Decision { thread: ThreadId::new(thread), choice };
        self.steps.iter().map(decide).collect()
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.schedule().fmt(f)
    }
}
