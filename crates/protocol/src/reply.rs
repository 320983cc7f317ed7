//! What a program under test answers, and what it says meanwhile.

use crate::AtomicSite;
use mazurka_core::{
    Cost, Coverage, LineCoverage, PassingExecution, Rung, Sample, Shortest, StateCoverage,
    Statistics, Verdict, Violation,
};
use mazurka_explore::{SavedError, TreeSize, Warning};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// The schedules were explored.
    Explored(Box<Report>),
    /// One schedule was followed.
    Replayed(Replayed),
    /// There is no answer.
    Failed(Failed),
}

/// What came of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was found or proved.
    pub verdict: Verdict,
    /// What was counted.
    pub statistics: Statistics,
    /// What a search that raises its bound has proved before it was stopped.
    pub proved: Option<Coverage>,
    /// What the user may not have expected.
    pub warnings: Vec<Warning>,
    /// How long the search took.
    pub time: Duration,
    /// How often it began again because of what was learnt on the way.
    pub restarts: u32,
    /// How much memory the execution tree of best-first search took.
    pub tree: Option<TreeSize>,
    /// How many states were visited, if that was asked for.
    pub coverage: Option<StateCoverage>,
    /// The executions that were drawn at random, if some were.
    pub sample: Option<Sample>,
    /// What the execution of a violation costs.
    pub cost: Option<Cost>,
    /// How short the counterexample is, if that was asked for.
    pub shortest: Option<Shortest>,
    /// Of a ladder: the rungs that have come to their end, lowest first.
    pub rungs: Vec<Rung>,
    /// Whether the search was stopped, and is saved where the request says.
    pub is_saved: bool,
    /// What the process has used.
    pub used: Used,
    /// The atomic accesses that were met, if that was asked for.
    pub atomics: Vec<AtomicSite>,
    /// The first executions, of different traces, if that was asked for and nothing goes wrong.
    pub shown: Vec<PassingExecution>,
    /// Which lines were reached, if that was asked for.
    pub lines: Option<LineCoverage>,
}

impl Report {
    /// That of a search of which no more is known than its verdict, its numbers and its time.
    pub fn new(verdict: Verdict, statistics: Statistics, time: Duration) -> Self {
        Self {
            verdict,
            statistics,
            proved: None,
            warnings: Vec::new(),
            time,
            restarts: 0,
            tree: None,
            coverage: None,
            sample: None,
            cost: None,
            shortest: None,
            rungs: Vec::new(),
            is_saved: false,
            used: Used::default(),
            atomics: Vec::new(),
            shown: Vec::new(),
            lines: None,
        }
    }
}

/// What a process has used of the machine, all executions together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// Threads that the program had.
    pub threads: usize,
    /// The largest resident set, in bytes.
    pub peak_memory: Option<u64>,
    /// Time of the processor, in the program.
    pub user: Duration,
    /// Time of the processor, in the system on its behalf.
    pub system: Duration,
}

/// What came of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    /// What goes wrong, and after how many steps.
    pub violation: Option<(usize, Violation)>,
    /// The atomic accesses that were met, if that was asked for.
    pub atomics: Vec<AtomicSite>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failed {
    /// The program, or the request, is not one that can be followed.
    WrongInput(String),
    /// Mazurka is wrong.
    Defect(String),
    /// The request was to explore a part of a search, which has learnt what the other parts do not
    /// know: `SavedError::Void`.
    Void,
}

impl From<String> for Failed {
    fn from(text: String) -> Self {
        Self::WrongInput(text)
    }
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WrongInput(text) | Self::Defect(text) => f.write_str(text),
            Self::Void => SavedError::Void.fmt(f),
        }
    }
}

/// How far a program is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// How far its search is, once there is something to tell.
    pub search: Option<mazurka_core::Progress>,
    /// What is proved so far, in its order, by a search that raises its bound.
    pub proved: Vec<Coverage>,
}
