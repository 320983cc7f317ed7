//! Events: what an engine tells while it works. Engines never print; the listener decides.

use crate::{Counterexample, Coverage, Reading, Statistics};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Something that happened in a search.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// An engine goes on to another part of its work.
    Phase(Phase),
    /// How far the search is.
    Progress(Progress),
    /// How far a search is that takes no executions.
    Gauged(Reading),
    /// A search that raises its bound has come to the end of a round, and this is true now
    /// whatever happens next.
    Proved(Coverage),
    /// A violation was found and replayed, and this is true whatever happens next: a shorter one is
    /// looked for, perhaps.
    Violated(Box<Counterexample>),
    /// More memory is in use than is allowed, and the search has not stopped when it was asked to.
    OutOfMemory {
        /// The limit, in bytes.
        limit: u64,
    },
}

/// What an engine does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Phase {
    /// The program is compiled, to be run.
    Compiling,
    /// A model or a circuit is made of the program.
    Translating,
    /// A search finds out what it has to know of the program, and then begins again.
    Learning,
    /// Executions or states are searched.
    Searching,
    /// A solver looks for a proof.
    Proving,
    /// A violation was found, and a shorter or simpler one is looked for.
    Minimising,
    /// One execution is followed.
    Replaying,
}

impl Phase {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Compiling,
        Self::Translating,
        Self::Learning,
        Self::Searching,
        Self::Proving,
        Self::Minimising,
        Self::Replaying,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compiling => "compiling",
            Self::Translating => "translating",
            Self::Learning => "learning",
            Self::Searching => "searching",
            Self::Proving => "proving",
            Self::Minimising => "minimising",
            Self::Replaying => "replaying",
        }
    }
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
