//! Options of a search, with the names they have on the command line.

use crate::bound::{Bound, BoundKind};
use crate::order::{Order, Priority};
use crate::sample::Sampling;
use mazurka_core::MemoryModel;
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
    /// The same, and no thread interferes that would need a lock that is held (CAV 2006).
    Transactions,
    /// Dynamic partial-order reduction (POPL 2005).
    Dpor,
    /// Source sets (JACM 2017).
    Source,
    /// One execution of every trace, the one with the smallest threads first; beginnings that lead
    /// to none are given up on the way (CAV 2009).
    Monotonic,
    /// One execution of every trace.
    #[default]
    Optimal,
}

impl Reduction {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Persistent,
        Self::Transactions,
        Self::Dpor,
        Self::Source,
        Self::Monotonic,
        Self::Optimal,
    ];

    /// The one to take within these bounds if none is asked for.
    pub fn default_within(bounds: &[Bound]) -> Self {
        match bounds.iter().all(|bound| Self::default().refuses(bound.kind).is_none()) {
            true => Self::default(),
            false => Self::Dpor,
        }
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Persistent => "persistent",
            Self::Transactions => "transactions",
            Self::Dpor => "dpor",
            Self::Source => "source",
            Self::Monotonic => "monotonic",
            Self::Optimal => "optimal",
        }
    }

    /// Whether its executions can be taken in any order.
    fn allows_best_first(self) -> bool {
        self != Self::Optimal
    }

    /// Whether it takes one execution of each trace, and no other to its end.
    pub fn takes_traces_once(self) -> bool {
        matches!(self, Self::Monotonic | Self::Optimal)
    }

    /// Whether it goes by the races it meets.
    fn is_dynamic(self) -> bool {
        matches!(self, Self::Dpor | Self::Source | Self::Optimal)
    }

    /// Why states cannot be stored beside it; `None` if they can.
    fn refuses_stateful(self) -> Option<&'static str> {
        match self {
            Self::None | Self::Persistent | Self::Transactions => None,
            Self::Dpor | Self::Source | Self::Optimal => {
                Some("a stored state hides the races behind it (POPL 2005, section 5)")
            }
            Self::Monotonic => {
                Some("which steps are taken from a state depends on the steps that led to it")
            }
        }
    }

    /// Why it is not known what it covers within a bound of this kind; `None` if it is.
    fn refuses(self, kind: BoundKind) -> Option<&'static str> {
        match self {
            Self::None | Self::Dpor => None,
            Self::Optimal if kind.is_local() => None,
            Self::Source if kind.is_local() => {
                Some("a thread may stand for another one that is cut sooner")
            }
            Self::Source | Self::Optimal => Some(
                "the value depends on the order of independent steps, and only `dpor` explores the \
                 orders that this takes",
            ),
            Self::Persistent | Self::Transactions => {
                Some("static information does not tell what a bound cuts")
            }
            Self::Monotonic if kind.is_local() => {
                Some("it is not proved what it covers of a trace that the bound cuts")
            }
            Self::Monotonic => Some(
                "the one execution that stands for a trace may be over the bound while others are \
                 not",
            ),
        }
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
    #[error(
        "unknown reduction `{0}`: there are none, persistent, transactions, dpor, source, \
         monotonic and optimal"
    )]
    UnknownReduction(String),
    /// States cannot be stored beside this reduction.
    #[error(
        "`stateful` cannot be combined with `--reduction {reduction}`: {why}; use `none`, \
         `persistent` or `transactions`"
    )]
    StatefulReduction {
        /// The reduction.
        reduction: Reduction,
        /// What would go wrong.
        why: &'static str,
    },
    /// Stored states are not shared between workers.
    #[error("`stateful` cannot be combined with `--jobs {0}`; use one job")]
    StatefulJobs(usize),
    /// There is no such order.
    #[error(
        "unknown order `{0}`: there are dfs and best-first, the latter with priorities: \
         `best-first:function=push,preemptions`"
    )]
    UnknownOrder(String),
    /// There is no such priority.
    #[error(
        "unknown priority `{0}`: there are preemptions, backtrack, sleep, random, function=NAME \
         and variable=NAME"
    )]
    UnknownPriority(String),
    /// A priority that could not decide anything.
    #[error("the priority `{0}` is there twice")]
    PriorityTwice(String),
    /// Its executions belong together.
    #[error(
        "`--order best-first` cannot be combined with `--reduction {0}`: it knows what it has done \
         by the execution it is in; use `source` or `dpor`"
    )]
    BestFirstReduction(Reduction),
    /// One worker has the whole order.
    #[error(
        "`--order best-first` cannot be combined with `--jobs {0}`: one worker has to know all executions that are left; use one job"
    )]
    BestFirstJobs(usize),
    /// Stored states belong to one execution at a time.
    #[error(
        "`--order best-first` cannot be combined with `stateful`: a state that is stored may not be \
         explored yet"
    )]
    BestFirstStateful,
    /// What a bound cuts decides what else is explored at the states before it.
    #[error(
        "`--order best-first` cannot be combined with `--bound {0}`: what the bound cuts behind a \
         state says what is explored there, and best-first search leaves it before that is known; \
         the priority `preemptions` takes executions with few of them first"
    )]
    BestFirstBound(BoundKind),
    /// All are equal by it.
    #[error(
        "the priority `backtrack` decides nothing with `--reduction {0}`, which explores nothing \
         else; use `none`, `persistent` or `transactions`"
    )]
    BacktrackReduction(Reduction),
    /// All are equal by it.
    #[error(
        "the priority `sleep` decides nothing with `--sleep on`, which leaves out what sleeps; use \
         `--sleep off`"
    )]
    SleepPriority,
    /// The system does not tell its state.
    #[error("`stateful` needs a program that can hash its state, and this one cannot")]
    NoFingerprint,
    /// A search without workers.
    #[error("`--jobs 0` would search nothing; use at least 1")]
    NoJobs,
    /// More workers than an operating system gives.
    #[error("`--jobs {0}` is too many; use at most {max}", max = Options::MAX_JOBS)]
    TooManyJobs(usize),
    /// There is no such bound.
    #[error(
        "unknown bound `{0}`: there are depth, context, preemption, delta, fair, local-depth and \
         local-context; write for example `preemption=2`"
    )]
    UnknownBound(String),
    /// A bound without its limit.
    #[error("`{0}` needs a limit: write for example `{0}=2`")]
    NoLimit(BoundKind),
    /// A limit that is no number.
    #[error(
        "`{kind}={limit}` has no limit that can be counted to: write `{kind}=` and a number from 0 \
         to {max}", max = u32::MAX
    )]
    WrongLimit {
        /// Of which bound.
        kind: BoundKind,
        /// What was written.
        limit: String,
    },
    /// Two limits for one thing.
    #[error("`{0}` is bounded twice; give one limit")]
    BoundTwice(BoundKind),
    /// Two bounds without a sound search within both.
    #[error(
        "`{0}` and `{1}` cannot be combined (no published algorithm); use one of them, alone or \
         with `fair`"
    )]
    TwoBounds(BoundKind, BoundKind),
    /// What the reduction covers within this bound is not known.
    #[error(
        "`--reduction {reduction}` cannot be combined with `--bound {kind}`: {why}; use `dpor`"
    )]
    BoundReduction {
        /// The reduction.
        reduction: Reduction,
        /// The bound.
        kind: BoundKind,
        /// Why it is not known what it covers.
        why: &'static str,
    },
    /// Stored states forget what was spent on the way to them.
    #[error(
        "`stateful` cannot be combined with a bound: a stored state may be reached again with more \
         of the bound left"
    )]
    BoundStateful,
    /// There is no such optimisation of bounded reduction.
    #[error(
        "unknown optimisation `{0}`: there are transitive, alternative, release, bound and sleep; \
         write for example `transitive,bound`, or `none`"
    )]
    UnknownBporOpt(String),
    /// An optimisation that would lose executions, or that is not proved.
    #[error("`--bpor-opt {opt}` cannot be combined with `--bound {kind}`: {why}")]
    BporOptBound {
        /// The optimisation.
        opt: BporOpt,
        /// The bound.
        kind: BoundKind,
        /// What would go wrong.
        why: &'static str,
    },
    /// Optimisations of a reduction that is not used.
    #[error(
        "`--bpor-opt` is for `--reduction dpor` within a bound that is not local; leave it out"
    )]
    BporOptUnused,
    /// No bound, or none that can be raised.
    #[error(
        "`--iterate` raises a bound: give one beside `fair`, for example `--bound preemption=0`"
    )]
    NothingToRaise,
    /// What goes with interleavings alone.
    #[error("`--memory {model}` cannot be combined with {what}: {why}; use `--memory sc`")]
    Memory {
        /// The memory model.
        model: MemoryModel,
        /// The other option.
        what: &'static str,
        /// What would go wrong.
        why: &'static str,
    },
    /// The system has a memory of its own.
    #[error(
        "`--memory {0}` needs a program whose accesses to memory can be told what to read, and this \
         one cannot; use `--memory sc`"
    )]
    NoInjections(MemoryModel),
    /// There is no such way to draw executions.
    #[error(
        "unknown sampling `{0}`: there are pct, pos, surw and walk; pct takes the depth of bugs, \
         from 1 to 100, as in `pct:3`"
    )]
    UnknownSampling(String),
    /// What is drawn at random is not searched within a bound, in an order or with stored states.
    #[error(
        "`--sample` cannot be combined with `{0}`: executions are drawn, and none is left out or \
         put first"
    )]
    SamplingWith(&'static str),
    /// Nothing would ever end it.
    #[error("`--sample` never ends by itself: give `--max-executions` or `--time-limit`")]
    SamplingWithoutLimit,
    /// A search without a step.
    #[error("a depth limit of 0 would search nothing; use at least 1")]
    NoDepth,
}

/// How to search, and for what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Options {
    /// What is left out.
    pub reduction: Reduction,
    /// The memory model whose execution graphs are searched; `None` for the interleavings of
    /// sequential consistency, which the reduction is about.
    pub memory: Option<MemoryModel>,
    /// Sleep sets beside the reduction. `optimal` and `monotonic` have no use for them and are the
    /// same either way.
    pub sleep: bool,
    /// Whether states are stored, and an execution ends where it meets one.
    pub stateful: bool,
    /// How far executions may stray: at most one bound, and `fair` beside it.
    pub bounds: Vec<Bound>,
    /// Which optimisations of bounded reduction are on; `None` for all that go with the bound.
    pub bpor_opt: Option<Vec<BporOpt>>,
    /// Whether the bound that is not `fair` is raised, one by one, until it cuts nothing.
    pub iterate: bool,
    /// How many OS threads share the search.
    pub jobs: usize,
    /// How many steps an execution may take.
    pub max_depth: usize,
    /// Whether an execution that reaches `max_depth` is a livelock, and not just a limit; and,
    /// unless it is a deadlock already, one whose end is a loop that no thread is left to end. A
    /// stateful search leaves a loop where it closes, so it claims nothing about livelocks.
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
    /// How often to tell the progress, if there is a listener.
    pub progress_every: Duration,
    /// How many steps of found and unexplored branches `optimal` keeps before it turns eager.
    pub room: usize,
    /// Whether the states that are visited are counted, each once and in all. It takes memory for
    /// each of them.
    pub coverage: bool,
    /// Which execution comes next.
    pub order: Order,
    /// The seed of the random number generator, for [`Priority::Random`] and for `sample`.
    pub seed: u64,
    /// Whether a search of all executions shares its time with searches within few preemptions, so
    /// that something is proved if it is stopped. Only `optimal` without bounds does.
    pub ladder: bool,
    /// Whether a shorter counterexample is looked for once one is found.
    pub shorten: bool,
    /// Draws executions at random, until a limit ends it, instead of searching all.
    pub sample: Option<Sampling>,
    /// Whether a loop that waits is to let others move after some rounds in vain: see
    /// [`Bound::Rounds`](mazurka_core::Bound::Rounds). If not, it goes round up to the depth limit.
    pub fair: bool,
    /// How many known executions best-first search keeps in order. Beyond that, what is below the
    /// one that comes next is explored depth-first, at once.
    pub fringe: usize,
    /// How many executions are told of a search in which nothing goes wrong, each of another trace.
    pub n_shown: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            reduction: Reduction::default(),
            memory: None,
            sleep: true,
            stateful: false,
            bounds: Vec::new(),
            bpor_opt: None,
            iterate: false,
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
            coverage: false,
            order: Order::default(),
            seed: 0,
            ladder: false,
            shorten: false,
            sample: None,
            fair: true,
            fringe: 1_000_000,
            n_shown: 0,
        }
    }
}

impl Options {
    /// The most workers there may be.
    pub const MAX_JOBS: usize = 1024;

    /// The options that a search has by default.
    pub fn new() -> Self {
        Self::default()
    }

    /// With this reduction.
    pub fn reduction(mut self, reduction: Reduction) -> Self {
        self.reduction = reduction;
        self
    }

    /// Under this memory model.
    pub fn memory(mut self, memory: MemoryModel) -> Self {
        self.memory = Some(memory);
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

    /// Within this bound, beside those it has.
    pub fn bound(mut self, kind: BoundKind, limit: u32) -> Self {
        self.bounds.push(Bound::new(kind, limit));
        self
    }

    /// With these optimisations of bounded reduction and no others.
    pub fn bpor_opt(mut self, opt: &[BporOpt]) -> Self {
        self.bpor_opt = Some(opt.to_vec());
        self
    }

    /// Raising the bound until it cuts nothing, or not.
    pub fn iterate(mut self, iterate: bool) -> Self {
        self.iterate = iterate;
        self
    }

    /// The bound that is not `fair`, if there is one.
    pub fn main_bound(&self) -> Option<Bound> {
        self.bounds.iter().copied().find(|bound| bound.kind != BoundKind::Fair)
    }

    /// The fair bound, if there is one.
    pub fn fair_bound(&self) -> Option<Bound> {
        self.bounds.iter().copied().find(|bound| bound.kind == BoundKind::Fair)
    }

    /// Gives the bound that is not `fair` this limit.
    pub(crate) fn raise_to(&mut self, limit: u32) {
        let mut bounds = self.bounds.iter_mut();
        if let Some(bound) = bounds.find(|bound| bound.kind != BoundKind::Fair) {
            bound.limit = limit;
        }
    }

    /// Whether an optimisation of bounded reduction is on: if none is asked for, all that go with
    /// the bounds.
    pub(crate) fn has(&self, opt: BporOpt) -> bool {
        match &self.bpor_opt {
            Some(on) => on.contains(&opt),
            None => self.bounds.iter().all(|bound| opt.refuses(bound.kind).is_none()),
        }
    }

    /// Whether the search learns which loops wait, and begins again with a bound for them. It is
    /// known what `none` and `optimal` cover within it.
    pub(crate) fn learns_waits(&self) -> bool {
        self.fair
            && matches!(self.reduction, Reduction::None | Reduction::Optimal)
            && self.order == Order::DepthFirst
            && !self.stateful
            && self.sample.is_none()
            && self.bounds.iter().all(|bound| bound.kind.is_local())
    }

    /// Whether the search is a ladder.
    pub(crate) fn climbs(&self) -> bool {
        self.ladder
            && self.reduction == Reduction::Optimal
            && self.bounds.is_empty()
            && self.sample.is_none()
            && self.memory.is_none()
            && self.stop_at_first
    }

    /// Whether processes can share the search, as [`Peers`](crate::Peers).
    pub fn may_be_shared(&self) -> bool {
        self.reduction == Reduction::Optimal
            && self.order == Order::DepthFirst
            && !self.stateful
            && !self.coverage
            && self.sample.is_none()
            && self.memory.is_none()
    }

    /// Whether sleep sets are on.
    pub(crate) fn sleeps(&self) -> bool {
        // What sleeps may lead to nothing but beginnings that `monotonic` gives up.
        let is_right = self.reduction != Reduction::Monotonic;
        self.sleep && is_right && (!self.is_bpor() || self.has(BporOpt::Sleep))
    }

    /// Whether the search is one of bounded reduction: `dpor` with points that a bound asks for.
    pub(crate) fn is_bpor(&self) -> bool {
        let needs_points = |bound: &Bound| !bound.kind.is_local();
        self.reduction == Reduction::Dpor && self.bounds.iter().any(needs_points)
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

    /// In this order.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
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
        if self.stateful
            && let Some(why) = self.reduction.refuses_stateful()
        {
            errors.push(OptionError::StatefulReduction { reduction: self.reduction, why });
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
        self.memory_errors(&mut errors);
        self.bound_errors(&mut errors);
        self.sampling_errors(&mut errors);
        if let Order::BestFirst(priorities) = &self.order {
            self.best_first_errors(priorities, &mut errors);
        }
        errors
    }

    fn memory_errors(&self, errors: &mut Vec<OptionError>) {
        let Some(model) = self.memory else { return };
        let of_interleavings = "it is about interleavings, and a graph has many";
        let refused = [
            (self.reduction != Reduction::default(), "`--reduction`", of_interleavings),
            (!self.bounds.is_empty(), "`--bound`", of_interleavings),
            (self.order != Order::DepthFirst, "`--order`", of_interleavings),
            (self.stateful, "`stateful`", "a stored state hides the writes that led to it"),
            (self.sample.is_some(), "`--sample`", of_interleavings),
            (self.coverage, "`--coverage`", "its states are those of interleavings"),
        ];
        for (_, what, why) in refused.into_iter().filter(|(is_there, ..)| *is_there) {
            errors.push(OptionError::Memory { model, what, why });
        }
    }

    fn sampling_errors(&self, errors: &mut Vec<OptionError>) {
        if self.sample.is_none() {
            return;
        }
        let others = [
            (!self.bounds.is_empty(), "--bound"),
            (self.stateful, "--stateful"),
            (self.order != Order::DepthFirst, "--order"),
        ];
        let given = others.into_iter().filter(|(is_given, _)| *is_given);
        errors.extend(given.map(|(_, name)| OptionError::SamplingWith(name)));
        if self.max_executions.is_none() && self.time_limit.is_none() {
            errors.push(OptionError::SamplingWithoutLimit);
        }
    }

    fn bound_errors(&self, errors: &mut Vec<OptionError>) {
        let mut seen: Vec<BoundKind> = Vec::new();
        for &Bound { kind, .. } in &self.bounds {
            if seen.contains(&kind) {
                errors.push(OptionError::BoundTwice(kind));
                continue;
            }
            if kind != BoundKind::Fair
                && let Some(&other) = seen.iter().find(|&&other| other != BoundKind::Fair)
            {
                errors.push(OptionError::TwoBounds(other, kind));
            }
            seen.push(kind);
            if let Some(why) = self.reduction.refuses(kind) {
                let reduction = self.reduction;
                errors.push(OptionError::BoundReduction { reduction, kind, why });
            }
        }
        if self.stateful && !self.bounds.is_empty() {
            errors.push(OptionError::BoundStateful);
        }
        if self.iterate && self.main_bound().is_none() {
            errors.push(OptionError::NothingToRaise);
        }
        let Some(opts) = &self.bpor_opt else { return };
        if !self.is_bpor() {
            errors.push(OptionError::BporOptUnused);
        }
        for &opt in opts {
            let refused = |&kind: &BoundKind| Some((kind, opt.refuses(kind)?));
            if let Some((kind, why)) = seen.iter().find_map(refused) {
                errors.push(OptionError::BporOptBound { opt, kind, why });
            }
        }
    }

    fn best_first_errors(&self, priorities: &[Priority], errors: &mut Vec<OptionError>) {
        errors.extend(self.bounds.iter().map(|bound| OptionError::BestFirstBound(bound.kind)));
        if !self.reduction.allows_best_first() {
            errors.push(OptionError::BestFirstReduction(self.reduction));
        } else if self.reduction.is_dynamic() && priorities.contains(&Priority::Backtrack) {
            errors.push(OptionError::BacktrackReduction(self.reduction));
        }
        if self.sleep && priorities.contains(&Priority::Sleep) {
            errors.push(OptionError::SleepPriority);
        }
        if self.jobs > 1 {
            errors.push(OptionError::BestFirstJobs(self.jobs));
        }
        if self.stateful {
            errors.push(OptionError::BestFirstStateful);
        }
    }
}

/// An optimisation of bounded reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BporOpt {
    /// Only races that no other race implies.
    Transitive,
    /// For a thread that could not have moved, one that it waited for.
    Alternative,
    /// For a lock, the place where it was taken and not where it was given back.
    Release,
    /// What only the bound asks for is explored once the bound was met.
    Bound,
    /// Sleep sets: what was explored sleeps, unless the bound cut something behind it.
    Sleep,
}

impl BporOpt {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Transitive, Self::Alternative, Self::Release, Self::Bound, Self::Sleep];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Transitive => "transitive",
            Self::Alternative => "alternative",
            Self::Release => "release",
            Self::Bound => "bound",
            Self::Sleep => "sleep",
        }
    }

    /// Those of a list, `none` or empty for none of them.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, OptionError> {
        match text.trim() {
            "" | "none" => Ok(Vec::new()),
            names => names.split(',').map(|name| name.trim().parse()).collect(),
        }
    }

    /// Why it cannot be used with a bound of this kind; `None` if it can.
    pub(crate) fn refuses(self, kind: BoundKind) -> Option<&'static str> {
        use BoundKind as K;
        match (self, kind) {
            (Self::Alternative, K::Context) => Some(
                "where a switch is needed, all threads have to be explored, so there is no \
                 alternative to choose (thesis, 6.2)",
            ),
            (Self::Alternative, K::Delta | K::Fair) => {
                Some("the thread that is asked for and all that come before it have to be explored")
            }
            (Self::Release, K::Preemption) => Some(
                "a switch before a release can spare a preemption: \
                 `acq(0); x=0; rel(0); r=x | x=1; acq(0); x=1; rel(0)` loses an execution",
            ),
            (Self::Release, K::Delta | K::Fair) => {
                Some("who can move decides what a step costs, and a release changes that")
            }
            (Self::Alternative | Self::Release | Self::Transitive, K::Depth) => {
                Some("every order has to be explored, since every step counts")
            }
            _ => None,
        }
    }
}

impl fmt::Display for BporOpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for BporOpt {
    type Err = OptionError;

    fn from_str(name: &str) -> Result<Self, OptionError> {
        let found = Self::ALL.into_iter().find(|opt| opt.name() == name);
        found.ok_or_else(|| OptionError::UnknownBporOpt(name.to_owned()))
    }
}
