//! Options of a search.

use crate::Storage;
use mazurka_core::{Gauge, ViolationKind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What a search is asked to do. The default: everything, depth first, until something is wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Which state comes next.
    pub order: Order,
    /// How states are stored.
    pub storage: Storage,
    /// Which moves are left out because others stand for them.
    pub reduction: Reduction,
    /// What makes states fewer without leaving out any order of steps.
    pub optimisations: Optimisations,
    /// How many workers search. Several of them search in an order of their own, unless it is
    /// [`Order::BreadthFirst`].
    pub jobs: usize,
    /// Whether it is wrong to stop where a program may not.
    pub ends: bool,
    /// Kinds of violation that are not looked for.
    pub ignored: Vec<ViolationKind>,
    /// Whether to go on after a violation, and count them all. Of executions that never end, the
    /// first one counts, and nested search stops there all the same.
    pub all_violations: bool,
    /// After a violation, goes on for shorter ways to one. Depth first and with one worker only,
    /// and with a storage that is exact.
    pub shorten: bool,
    /// How many moves a path may have. What is beyond makes the verdict inconclusive.
    pub depth: Option<usize>,
    /// How many states may be stored.
    pub states: Option<usize>,
    /// How long it may take.
    pub time: Option<Duration>,
    /// How much memory states and paths may take, in bytes.
    pub memory: Option<u64>,
    /// Which executions count, where it is about those that never end.
    pub fairness: Fairness,
    /// How executions that never end are looked for.
    pub cycle_search: CycleSearch,
    /// Where it is about executions that never end: whether steps that go wrong are looked for
    /// everywhere, or only as long as an execution may still violate the property.
    pub all_steps: bool,
    /// When the states of the program are found, where it is about executions that never end.
    pub construction: Construction,
    /// Makes it stop, once true.
    pub stop: Option<&'static AtomicBool>,
    /// Where the search writes how far it is.
    pub gauge: Option<Arc<Gauge>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            order: Order::default(),
            storage: Storage::default(),
            reduction: Reduction::default(),
            optimisations: Optimisations::default(),
            jobs: 1,
            ends: true,
            ignored: Vec::new(),
            all_violations: false,
            shorten: false,
            depth: None,
            states: None,
            time: None,
            memory: None,
            fairness: Fairness::default(),
            cycle_search: CycleSearch::default(),
            all_steps: true,
            construction: Construction::default(),
            stop: None,
            gauge: None,
        }
    }
}

impl Options {
    /// The most jobs.
    pub const MAX_JOBS: usize = 1024;

    /// Everything that does not go together.
    pub fn errors(&self) -> Vec<OptionsError> {
        let alone = self.is_one_path();
        let mut errors = Vec::new();
        if self.jobs == 0 {
            errors.push(OptionsError::NoJobs);
        }
        if self.jobs > Self::MAX_JOBS {
            errors.push(OptionsError::TooManyJobs(self.jobs));
        }
        if self.shorten && !(alone && self.storage.is_exact()) {
            errors.push(OptionsError::Shorten);
        }
        if self.depth.is_some() && !alone {
            errors.push(OptionsError::Depth);
        }
        errors
    }

    /// Whether one worker goes from state to state, depth first.
    pub(crate) fn is_one_path(&self) -> bool {
        self.order == Order::DepthFirst && self.jobs == 1
    }

    /// Whether a search asks for the number of a state that it has met before.
    pub(crate) fn needs_numbers(&self) -> bool {
        let has_witnesses = !self.is_one_path() && self.reduction != Reduction::None;
        self.shorten || has_witnesses && self.storage == Storage::Tree
    }
}

/// Options that do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// No worker to do it.
    #[error("a search needs at least one job")]
    NoJobs,
    /// More than any machine has a use for.
    #[error("`--jobs {0}` is too many; use at most {max}", max = Options::MAX_JOBS)]
    TooManyJobs(usize),
    /// Shortening needs the depth of every state.
    #[error(
        "shortening goes with depth-first search by one job and an exact storage; breadth-first \
         search finds a shortest way by itself"
    )]
    Shorten,
    /// Cycles need more than to know which states there are.
    #[error(
        "executions that never end are looked for depth first, by one job, with the storage `tree`, \
         and without a depth limit or shortening"
    )]
    Cycles,
    /// Only a path has a depth.
    #[error("a depth limit goes with depth-first search by one job")]
    Depth,
}

/// Which state comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Order {
    /// One that the last one leads to.
    #[default]
    DepthFirst,
    /// One that is as few states from the initial one as any: what is found first is nearest.
    BreadthFirst,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::DepthFirst, Self::BreadthFirst];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::DepthFirst => "dfs",
            Self::BreadthFirst => "bfs",
        }
    }
}

/// Which moves are left out because others stand for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Reduction {
    /// None.
    None,
    /// Those of all processes but one, where that one does what concerns no other process.
    Ample,
    /// Those of all processes but some, where these do what concerns none of the others.
    #[default]
    Stubborn,
}

impl Reduction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Ample, Self::Stubborn];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ample => "ample",
            Self::Stubborn => "stubborn",
        }
    }
}

/// What makes states fewer without leaving out any order of the steps that processes take with each
/// other. Both are on unless they are switched off, whatever the [`Reduction`] is, as in SPIN:
/// there they are its options `-o1`, `-o2` and `-o3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Optimisations {
    /// Variables that no process reads any more before it writes them have their first value again,
    /// and so have those that nothing depends on.
    pub dead_variables: bool,
    /// Steps that concern their process alone are parts of the step before them.
    pub merging: bool,
}

impl Default for Optimisations {
    fn default() -> Self {
        Self { dead_variables: true, merging: true }
    }
}

impl Optimisations {
    /// None of them: every state that the program has is one.
    pub const NONE: Self = Self { dead_variables: false, merging: false };
}

/// Which executions that never end count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Fairness {
    /// All of them.
    #[default]
    None,
    /// Those in which no process could always move from some point on and never does.
    Weak,
    /// Those in which no process could move again and again and never does from some point on.
    Strong,
    /// Those in which every step that is possible is followed by one that depends on it, such as
    /// itself: the executions that cannot be extended by steps which nothing in them depends on.
    Trace,
}

impl Fairness {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::None, Self::Weak, Self::Strong, Self::Trace];

    /// What is assumed of an execution that never ends, if anything is.
    pub fn assumed(self) -> Option<mazurka_core::Fairness> {
        match self {
            Self::None => None,
            Self::Weak => Some(mazurka_core::Fairness::Weak),
            Self::Strong => Some(mazurka_core::Fairness::Strong),
            Self::Trace => Some(mazurka_core::Fairness::Trace),
        }
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Weak => "weak",
            Self::Strong => "strong",
            Self::Trace => "trace",
        }
    }
}

/// When the graph that an automaton is held against is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Construction {
    /// While the product is searched, and as far as that goes.
    #[default]
    OnTheFly,
    /// Before: all of it, whatever the automaton is.
    OffLine,
}

impl Construction {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::OnTheFly, Self::OffLine];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::OnTheFly => "on-the-fly",
            Self::OffLine => "off-line",
        }
    }
}

/// How executions that never end are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CycleSearch {
    /// By strongly connected components.
    #[default]
    Components,
    /// By a search within a search; under fairness, by components all the same, which the notes of
    /// the outcome then say.
    Nested,
}

impl CycleSearch {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Components, Self::Nested];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Components => "components",
            Self::Nested => "nested",
        }
    }
}
