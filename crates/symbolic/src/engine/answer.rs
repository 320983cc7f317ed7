//! What an engine answers, and what that cost.

use crate::{Certificate, Witness};
use mazurka_core::Limit;

/// An answer, and what it cost.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What is known now.
    pub answer: Answer,
    /// What it cost.
    pub statistics: Statistics,
    /// Who answered.
    pub engine: super::Engine,
}

/// What is known of a circuit.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Nothing bad happens in any execution.
    Safe(Certificate),
    /// Nothing bad happens in executions of up to so many steps, and no more was asked.
    SafeTo {
        /// How many.
        depth: usize,
    },
    /// Something bad happens. The execution was simulated once.
    Unsafe(Witness),
    /// A limit was reached before there was an answer.
    Unknown {
        /// Nothing bad happens in executions of up to so many steps; `None` if not even that is
        /// known for none.
        depth: Option<usize>,
        /// Which limit.
        why: Limit,
    },
}

/// What an engine tells on the way: it is through with a depth.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Which engine.
    pub engine: super::Engine,
    /// Nothing bad happens in so many steps.
    pub depth: usize,
    /// What it has cost so far.
    pub statistics: Statistics,
}

/// What an engine has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Calls of the solver.
    pub calls: u64,
    /// Contradictions the solver came to.
    pub conflicts: u64,
    /// Guesses of the solver.
    pub decisions: u64,
    /// Values the solver derived.
    pub propagations: u64,
    /// Variables of the formula.
    pub variables: u64,
    /// Clauses of the formula.
    pub clauses: u64,
    /// The size of the formula at each depth.
    pub depths: Vec<Depth>,
}

/// The size of a formula that covers all frames up to a depth, and what has been spent on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Variables in all frames up to here.
    pub variables: u64,
    /// Clauses in all frames up to here.
    pub clauses: u64,
    /// Contradictions by now.
    pub conflicts: u64,
    /// Guesses by now.
    pub decisions: u64,
}

impl Statistics {
    /// Adds what another solver has done.
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.conflicts += other.conflicts;
        self.decisions += other.decisions;
        self.propagations += other.propagations;
        self.variables += other.variables;
        self.clauses += other.clauses;
    }

    /// The sums, as the costs up to a depth.
    pub(crate) fn depth(&self) -> Depth {
        let Self { variables, clauses, conflicts, decisions, .. } = *self;
        Depth { variables, clauses, conflicts, decisions }
    }
}
