//! What an engine tells while it works. Engines never print; whoever listens decides.

use crate::{Coverage, Statistics};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Something that happened in a search.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// How far the search is.
    Progress(Progress),
    /// A search that raises its bound has come to the end of a round, and this is true now
    /// whatever happens next.
    Proved(Coverage),
}

/// How far a search is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// What was counted so far.
    pub statistics: Statistics,
    /// Since the search began, or was resumed.
    pub elapsed: Duration,
    /// Executions a second, since the last event.
    pub rate: f64,
    /// Branches that are known and not explored yet.
    pub frontier: u64,
    /// How many executions there will be in all, once there is a basis for a guess.
    pub estimate: Option<Estimate>,
}

/// A guess at the size of the whole search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Executions in all.
    pub executions: f64,
    /// One standard error of it.
    pub spread: f64,
}
