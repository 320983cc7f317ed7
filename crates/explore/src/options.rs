//! What can be asked of a search, with the names it has on the command line.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Which executions are left out because others stand for them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[non_exhaustive]
pub enum Reduction {
    /// None: every interleaving.
    None,
    /// Persistent sets from static information; without any, every interleaving.
    Persistent,
    /// Dynamic partial-order reduction (POPL 2005).
    Dpor,
    /// Source sets (JACM 2017).
    Source,
    /// One execution of every trace.
    #[default]
    Optimal,
}

impl Reduction {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::None, Self::Persistent, Self::Dpor, Self::Source, Self::Optimal];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Persistent => "persistent",
            Self::Dpor => "dpor",
            Self::Source => "source",
            Self::Optimal => "optimal",
        }
    }

    /// Whether states may be stored beside it.
    fn allows_stateful(self) -> bool {
        matches!(self, Self::None | Self::Persistent)
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Reduction {
    type Err = OptionError;

    fn from_str(name: &str) -> Result<Self, OptionError> {
        let found = Self::ALL.into_iter().find(|reduction| reduction.name() == name);
        found.ok_or_else(|| OptionError::UnknownReduction(name.to_owned()))
    }
}

/// What is wrong with a set of options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// There is no such reduction.
    #[error("unknown reduction `{0}`: there are none, persistent, dpor, source and optimal")]
    UnknownReduction(String),
    /// Nobody knows how to store states beside this reduction.
    #[error(
        "`stateful` cannot be combined with `--reduction {0}`: a stored state hides the races \
         behind it (POPL 2005, section 5); use `none` or `persistent`"
    )]
    StatefulReduction(Reduction),
    /// Stored states are not shared between workers.
    #[error("`stateful` cannot be combined with `--jobs {0}`; use one job")]
    StatefulJobs(usize),
    /// The system does not tell its state.
    #[error("`stateful` needs a program that can hash its state, and this one cannot")]
    NoFingerprint,
    /// A search without workers.
    #[error("`--jobs 0` would search nothing; use at least 1")]
    NoJobs,
    /// More workers than an operating system gives.
    #[error("`--jobs {0}` is too many; use at most {max}", max = Options::MAX_JOBS)]
    TooManyJobs(usize),
    /// A search without a step.
    #[error("a depth limit of 0 would search nothing; use at least 1")]
    NoDepth,
}

/// How to search, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// What is left out.
    pub reduction: Reduction,
    /// Sleep sets beside the reduction. `optimal` has no use for them and is the same either way.
    pub sleep: bool,
    /// Whether states are stored, and an execution ends where it meets one.
    pub stateful: bool,
    /// How many OS threads share the search.
    pub jobs: usize,
    /// How many steps an execution may take.
    pub max_depth: usize,
    /// Whether an execution that reaches `max_depth` is a livelock, and not just a limit. A stateful
    /// search leaves a loop where it closes, so it claims nothing about livelocks.
    pub livelock: bool,
    /// Whether a state in which threads wait and none can move is a violation.
    pub deadlock: bool,
    /// Whether two unordered plain accesses are a violation. A stateful search reports those it
    /// meets and does not claim that there are no others.
    pub race: bool,
    /// Whether to stop at the first violation. If not, the first one is reported at the end.
    pub stop_at_first: bool,
    /// How many executions to take at the most.
    pub max_executions: Option<u64>,
    /// How long to search at the most.
    pub time_limit: Option<Duration>,
    /// How often to tell the progress, if somebody listens.
    pub progress_every: Duration,
    /// How many steps of found and unexplored branches `optimal` keeps before it turns eager.
    pub room: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            reduction: Reduction::default(),
            sleep: true,
            stateful: false,
            jobs: 1,
            max_depth: 100_000,
            livelock: true,
            deadlock: true,
            race: true,
            stop_at_first: true,
            max_executions: None,
            time_limit: None,
            progress_every: Duration::from_millis(200),
            room: crate::reduction::optimal::ROOM,
        }
    }
}

impl Options {
    /// The most workers there may be.
    pub const MAX_JOBS: usize = 1024;

    /// The options that a search has when nobody says otherwise.
    pub fn new() -> Self {
        Self::default()
    }

    /// With this reduction.
    pub fn reduction(mut self, reduction: Reduction) -> Self {
        self.reduction = reduction;
        self
    }

    /// With or without sleep sets.
    pub fn sleep(mut self, sleep: bool) -> Self {
        self.sleep = sleep;
        self
    }

    /// With or without stored states.
    pub fn stateful(mut self, stateful: bool) -> Self {
        self.stateful = stateful;
        self
    }

    /// With so many OS threads.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs;
        self
    }

    /// Stopping at the first violation, or not.
    pub fn stop_at_first(mut self, stop: bool) -> Self {
        self.stop_at_first = stop;
        self
    }

    /// With executions of at most so many steps.
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.max_depth = depth;
        self
    }

    /// What is wrong with them, all of it.
    pub fn errors(&self) -> Vec<OptionError> {
        let mut errors = Vec::new();
        if self.stateful && !self.reduction.allows_stateful() {
            errors.push(OptionError::StatefulReduction(self.reduction));
        }
        if self.stateful && self.jobs > 1 {
            errors.push(OptionError::StatefulJobs(self.jobs));
        }
        if self.jobs == 0 {
            errors.push(OptionError::NoJobs);
        }
        if self.jobs > Self::MAX_JOBS {
            errors.push(OptionError::TooManyJobs(self.jobs));
        }
        if self.max_depth == 0 {
            errors.push(OptionError::NoDepth);
        }
        errors
    }
}
