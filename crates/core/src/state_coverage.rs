//! State coverage: how many states a search has visited, and how many of them were new.

use serde::{Deserialize, Serialize};

/// The local and terminal states that a search has visited, told apart by hashes of the partial
/// order that leads to them (Coons' thesis, 8.3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StateCoverage {
    /// Local states: what happens before a step, and the step (thesis, Definition 2.1).
    pub local_states: Visits,
    /// Terminal states: the whole of a trace whose executions have ended.
    pub traces: Visits,
    /// How both have grown.
    pub over_time: Vec<CoverageSample>,
}

/// How often states of a kind were visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visits {
    /// How often.
    pub visited: u64,
    /// How many of them were different.
    pub unique: u64,
}

impl Visits {
    /// How often each was visited, on the average: 1 if nothing was done twice.
    pub fn ratio(self) -> f64 {
        self.visited as f64 / self.unique.max(1) as f64
    }
}

/// How far a search was after some executions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoverageSample {
    /// Executions, given up or not.
    pub executions: u64,
    /// Seconds.
    pub time_s: f64,
    /// Different local states.
    pub local_states: u64,
    /// Different terminal states.
    pub traces: u64,
}
