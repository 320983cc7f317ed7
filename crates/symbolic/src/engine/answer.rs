//! What an engine is asked, and what it answers.

use crate::{Aig, Circuit, Limits, Lit, Witness};
use mazurka_core::Limit;

/// Decides circuits.
pub trait Engine {
    /// What it is called on the command line.
    fn name(&self) -> &'static str;

    /// Whether anything bad can happen in a circuit, and how. Justice properties are not looked at.
    ///
    /// `progress` is called after every depth.
    fn decide(
        &self,
        circuit: &Circuit,
        limits: &Limits,
        progress: &mut dyn FnMut(&Progress),
    ) -> Outcome;
}

/// An answer, and what it cost.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What is known now.
    pub answer: Answer,
    /// What it cost.
    pub statistics: Statistics,
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
    /// Something bad happens.
    Unsafe(Witness),
    /// A limit was reached before there was an answer.
    Unknown {
        /// Nothing bad happens in executions of up to so many steps; `None` if not even that is known
        /// for none.
        depth: Option<usize>,
        /// Which limit.
        why: Limit,
    },
}

/// Why nothing bad happens in any execution.
#[derive(Clone, Debug)]
pub enum Certificate {
    /// A set of states with all that are reachable and none that is bad: clauses over latches, each
    /// a disjunction of literals of the circuit that was asked about.
    Clauses(Vec<Vec<Lit>>),
    /// Such a set as a function of its own: a graph with a leaf for each latch, in their order.
    Set {
        /// The graph.
        aig: Aig,
        /// True for the states of the set.
        member: Lit,
    },
    /// Nothing bad happens in the first `k` frames, nor after any `k` frames in a row without it.
    Induction {
        /// How many frames.
        k: usize,
        /// Only sequences of different states are looked at.
        simple_paths: bool,
    },
}

/// What an engine tells on the way: it is through with a depth.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Which engine.
    pub engine: &'static str,
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
