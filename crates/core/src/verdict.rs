//! Verdicts: what an engine says in the end, and exactly how much that covers.

use crate::{Coverage, Execution, Schedule, Violation};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The answer of an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Verdict {
    /// No violation, and how much that covers.
    Holds(Coverage),
    /// An execution that goes wrong, already replayed once.
    Violated(Box<Counterexample>),
    /// A limit stopped us short of the coverage that was asked for.
    Inconclusive(Limit),
}

impl Verdict {
    /// The word in the JSON output.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Holds(_) => "holds",
            Self::Violated(_) => "violated",
            Self::Inconclusive(_) => "inconclusive",
        }
    }
}

/// An execution that goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counterexample {
    /// What goes wrong at its end.
    pub violation: Violation,
    /// How to get there, with threads numbered by birth: see [`Schedule`].
    pub schedule: Schedule,
    /// The steps themselves.
    pub execution: Execution,
    /// The steps as people read them, one for each.
    pub story: Vec<Told>,
    /// In a deadlock: who waits, and for whom.
    pub waits: Vec<Wait>,
    /// In a data race: the two accesses that nothing orders, the earlier one first, where the
    /// system tells their places.
    #[serde(default)]
    pub accesses: Vec<Access>,
    /// The other plain accesses to memory that several threads access, in order, where the system
    /// tells their places and values.
    #[serde(default)]
    pub shared: Vec<Access>,
    /// The joins of the execution as people read them, one for each.
    #[serde(default)]
    pub joins: Vec<Told>,
    /// Who fails and where, if the system tells: it may be another thread than that of the last
    /// step, and earlier.
    #[serde(default)]
    pub failed: Option<FailureSite>,
    /// The pair of racing steps that decides, if one was found.
    #[serde(default)]
    pub decisive: Option<DecisivePair>,
    /// What the variables of a model hold in the end, for people: `x = 1`.
    #[serde(default)]
    pub end: Vec<String>,
}

/// Who fails, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureSite {
    /// The thread.
    pub thread: crate::ThreadId,
    /// The step, from 1, in which it fails. What follows is the way out of the failure.
    pub step: usize,
    /// Where in the source.
    pub location: Option<Location>,
}

/// Two steps of different threads that race, and an execution in which they come the other way
/// round and that was seen to end without a violation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisivePair {
    /// The earlier step, from 1.
    pub first: usize,
    /// The later one.
    pub second: usize,
    /// The other execution; [`Counterexample::execution`] up to where they part.
    pub execution: Execution,
    /// Its steps as people read them, one for each.
    pub story: Vec<Told>,
    /// How to get there, with threads numbered by birth.
    pub schedule: Schedule,
}

/// An execution in which nothing goes wrong, for those who want to see what was explored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassingExecution {
    /// How to get there, with threads numbered by birth: see [`Schedule`].
    pub schedule: Schedule,
    /// The steps themselves.
    pub execution: Execution,
    /// The steps as people read them, one for each.
    pub story: Vec<Told>,
    /// The joins of the execution as people read them, one for each.
    pub joins: Vec<Told>,
    /// Under a memory model that is not sequential consistency, for each step that accesses memory:
    /// where its value is from. Empty, or nothing, where the order of the steps decides.
    pub sources: Vec<Option<Source>>,
}

/// What an access to memory reads, or comes behind, where a memory model decides that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The step, from 1, that a read takes its value from, or that a write comes behind in
    /// modification order; 0 for the initial value.
    pub step: usize,
    /// Whether the access wrote.
    pub wrote: bool,
}

/// A plain access to memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// Who made it.
    pub thread: String,
    /// The same by its number, where that is known.
    #[serde(default)]
    pub by: Option<crate::ThreadId>,
    /// Whether it wrote.
    pub write: bool,
    /// In which step, from 1.
    pub step: usize,
    /// What people call the memory, where it is not that of the violation.
    #[serde(default)]
    pub memory: Option<String>,
    /// What it read or wrote, where the system tells: `= 0`, `0→1`.
    #[serde(default)]
    pub value: Option<String>,
    /// Where in the source: the access itself, then the calls that led to it.
    pub stack: Vec<Location>,
}

/// A step as people read it: names instead of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Who took it.
    pub thread: String,
    /// What it did: [`Operation::name`](crate::Operation::name).
    pub operation: String,
    /// To what: an object, or the thread that was spawned or joined.
    pub object: Option<String>,
    /// What was read, written or chosen, where the system tells: `= 0`, `0→1`. Addresses are names.
    pub value: Option<String>,
    /// The same with numbers for addresses, if there are any in it.
    #[serde(default)]
    pub raw: Option<String>,
    /// The memory order of an atomic access, if it is weaker than sequential consistency.
    #[serde(default)]
    pub order: Option<crate::MemoryOrder>,
    /// Where in the source, where the system tells.
    pub location: Option<Location>,
}

/// A place in the source of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if it is not known.
    pub column: u32,
    /// The function, if it is known.
    pub function: Option<String>,
    /// The function of a library that was called there and has not returned, in short.
    #[serde(default)]
    pub within: Option<String>,
    /// Whether the file belongs to a library: no call in the program's own source led there.
    #[serde(default)]
    pub is_library: bool,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        match &self.within {
            Some(function) => write!(f, " in {function}"),
            None => Ok(()),
        }
    }
}

/// A thread that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// Who waits.
    pub thread: crate::ThreadId,
    /// To do what.
    pub operation: crate::Operation,
    /// Who would have to move first; empty if anybody could.
    pub holders: crate::ThreadSet,
    /// The steps by which the thread took what it still holds, from 1.
    pub holds: Vec<usize>,
    /// Where in the source it waits, if the system tells.
    #[serde(default)]
    pub location: Option<Location>,
    /// What people call that which it waits for.
    #[serde(default)]
    pub object: Option<String>,
}

/// What stopped a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Limit {
    /// It was asked to stop.
    Interrupted,
    /// So many executions were allowed.
    Executions(u64),
    /// So much time was allowed.
    Time(Duration),
    /// Some executions were cut at this depth, and livelocks were not asked for.
    Depth(usize),
    /// So many states were to be stored at the most.
    States(usize),
    /// So many bytes of memory were allowed.
    Memory(u64),
    /// A thread of the program has come to no operation for so long: it computes, or waits for
    /// something outside of the program. Nothing can be said of what it does then.
    Stuck {
        /// Who.
        thread: String,
        /// Where it was, if that is known.
        at: Option<Location>,
        /// For how long.
        time: Duration,
    },
    /// The search was split, and not all of its parts are at their end.
    Parts {
        /// How many are not.
        open: u32,
        /// How many there are.
        of: u32,
    },
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => write!(f, "interrupted"),
            Self::Executions(n) => write!(f, "execution limit, {n}"),
            Self::Time(limit) => write!(f, "time limit, {limit:?}"),
            Self::Depth(1) => write!(f, "depth limit, 1 step"),
            Self::Depth(limit) => write!(f, "depth limit, {limit} steps"),
            Self::States(limit) => write!(f, "state limit, {limit}"),
            Self::Memory(limit) => write!(f, "memory limit, {limit} bytes"),
            Self::Stuck { thread, at, time } => {
                write!(f, "{thread} has come to no operation for {:.1} s", time.as_secs_f64())?;
                at.iter().try_for_each(|place| write!(f, ", at {place}"))
            }
            Self::Parts { open, of } => write!(f, "{open} of {of} parts are not at their end"),
        }
    }
}

/// The numbers of a search, named as in the JSON output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Statistics {
    /// Maximal runs that ended in a terminal state, a violation or at the depth limit.
    pub executions: u64,
    /// Runs that were given up because every enabled thread slept or was over the bound, or that
    /// ended with a thread held in a loop which it could have left by then.
    pub blocked_executions: u64,
    /// Steps taken for the first time; steps of a replay do not count.
    pub transitions: u64,
    /// Steps taken again, to get back to where a new branch begins.
    pub replayed: u64,
    /// Races whose reversal turned out to be impossible, because its last step waits there.
    pub refused_reversals: u64,
    /// States stored, in a stateful search.
    pub states: u64,
    /// Runs that were ended by a state that was stored already.
    pub states_matched: u64,
    /// The longest execution.
    pub max_depth: u64,
    /// Whether a bound kept the search from anything.
    pub bound_exceeded: bool,
}

/// What a solver has done to decide a circuit, named as in the JSON output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Solving {
    /// Latches of the circuit.
    pub latches: u64,
    /// Gates of the circuit.
    pub gates: u64,
    /// Clauses of the formula.
    pub clauses: u64,
    /// Calls of the solver.
    pub calls: u64,
    /// Contradictions that the solver came to.
    pub conflicts: u64,
    /// Guesses of the solver.
    pub decisions: u64,
    /// Values that the solver derived.
    pub propagations: u64,
}

impl Statistics {
    /// Adds what another worker has counted.
    pub fn add(&mut self, other: &Self) {
        self.executions += other.executions;
        self.blocked_executions += other.blocked_executions;
        self.transitions += other.transitions;
        self.replayed += other.replayed;
        self.refused_reversals += other.refused_reversals;
        self.states += other.states;
        self.states_matched += other.states_matched;
        self.max_depth = self.max_depth.max(other.max_depth);
        self.bound_exceeded |= other.bound_exceeded;
    }
}
