//! One search from its options to its verdict.

mod ladder;
mod passing;
mod shorten;

use crate::bound::{Bound, Exceeded, Waits};
use crate::confirm::confirm;
use crate::coverage::Seen;
use crate::deadline::Deadline;
use crate::decisive;
use crate::memory::weak::WeakMemory;
use crate::options::{OptionError, Options, Reduction};
use crate::order::best_first::BestFirst;
use crate::order::{Order, TreeSize};
use crate::peers::{self, Collected, Part, Peers};
use crate::pool::{Pool, Reason, Report, StopOnPanic};
use crate::progress::Estimator;
use crate::reduction::Reduce;
use crate::reduction::bpor::Bpor;
use crate::reduction::dpor::Dpor;
use crate::reduction::graphs::Graphs;
use crate::reduction::monotonic::Monotonic;
use crate::reduction::none::None as NoReduction;
use crate::reduction::optimal::Optimal;
use crate::reduction::persistent::Persistent;
use crate::reduction::sleep::Sleeping;
use crate::reduction::source::Source;
use crate::reduction::stack::{Policy, Stack};
use crate::sample::{Sampler, together};
use crate::saved::{Saved, SavedError};
use crate::search::{Observe, Step, Worker};
use crate::shared_memory;
use crate::unit::Unit;
use crate::visited::Visited;
use mazurka_core::fold::Fold;
use mazurka_core::{
    Assumption, Cost, Coverage, Decision, Divergence, Event, HappensBefore, Limit, MemoryModel,
    Next, Operation, PassingExecution, Progress, Property, Rung, Sample, Schedule, Shortest,
    StateCoverage, Statistics, System, ThreadId, Verdict, Violation, ViolationKind,
};
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why a search gave no verdict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExploreError {
    /// The options do not go together; all that is wrong with them.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Options(Vec<OptionError>),
    /// The program did something else under the same schedule.
    #[error(
        "the program is not deterministic: {0}; something outside the schedule decides: time, \
         randomness, hash order, an address, a static"
    )]
    Nondeterministic(Divergence),
    /// More threads than there are numbers.
    #[error("the program has {0} threads, and {max} are possible", max = ThreadId::MAX)]
    TooManyThreads(usize),
    /// A saved search cannot go on.
    #[error(transparent)]
    Saved(#[from] SavedError),
}

/// What a search came to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// What was found, or exactly what was proved.
    pub verdict: Verdict,
    /// What was counted; of a search that raises its bound, in all rounds.
    pub statistics: Statistics,
    /// Of a search that raises its bound: what the last round that came to its end has proved.
    pub proved: Option<Coverage>,
    /// What the caller may not have expected.
    pub warnings: Vec<Warning>,
    /// What is left to do, if a limit stopped the search.
    pub saved: Option<Saved>,
    /// How much memory the execution tree of best-first search took.
    pub tree: Option<TreeSize>,
    /// How many states were visited, if that was asked for; of a search that raises its bound, in
    /// all rounds.
    pub coverage: Option<StateCoverage>,
    /// The executions that were drawn at random, if that was asked for, or if a ladder had time
    /// left.
    pub sample: Option<Sample>,
    /// What the execution of a violation costs.
    pub cost: Option<Cost>,
    /// How short the counterexample is, if that was asked for.
    pub shortest: Option<Shortest>,
    /// Of a ladder: the rungs that have come to their end, lowest first.
    pub rungs: Vec<Rung>,
    /// The first executions, of different traces, if that was asked for and nothing goes wrong.
    pub shown: Vec<PassingExecution>,
}

impl Outcome {
    /// That of a search that was stopped, and of which no more than its numbers is known.
    pub fn stopped(limit: Limit, statistics: Statistics) -> Self {
        Self {
            verdict: Verdict::Inconclusive(limit),
            statistics,
            proved: None,
            warnings: Vec::new(),
            saved: None,
            tree: None,
            coverage: None,
            sample: None,
            cost: None,
            shortest: None,
            rungs: Vec::new(),
            shown: Vec::new(),
        }
    }
}

/// Something that was asked for and will not help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A fair bound, and no thread yields.
    #[error(
        "`--bound {0}` cuts nothing: no thread was seen to yield after its first step, and a fair \
         bound counts yields; a loop that waits without one is followed to the depth limit"
    )]
    NoYields(Bound),
    /// A violation that needs this memory model.
    #[error(
        "this does not happen under sequential consistency: all of its interleavings were explored, \
         and `--memory {0}` has more executions"
    )]
    OnlyUnder(MemoryModel),
}

/// An execution that has just ended, for those who watch.
pub struct Ended<'a, S> {
    /// The system, in the state at its end.
    pub system: &'a S,
    /// Its steps and their order, with hashes.
    pub order: &'a HappensBefore,
    /// Its decisions.
    pub schedule: &'a Schedule,
    /// Whether it ends because the threads that can move are over the bound.
    pub is_cut: bool,
    /// What went wrong in it.
    pub violation: Option<&'a Violation>,
}

/// A search of a system, to be configured and run.
///
/// ```
/// use mazurka_explore::{Explorer, Options, Reduction};
/// use mazurka_core::Verdict;
/// use mazurka_script::Script;
///
/// let program: Script = "acq(0); acq(1); rel(1); rel(0) | acq(1); acq(0); rel(0); rel(1)".parse().unwrap();
/// let outcome = Explorer::new(Options::new()).run(|| program.clone()).unwrap();
/// assert!(matches!(outcome.verdict, Verdict::Violated(_)));
/// ```
pub struct Explorer<'a, S> {
    options: Options,
    on_event: Option<&'a OnEvent<'a>>,
    observe: Option<&'a Observe<'a, S>>,
    stop: Option<&'a AtomicBool>,
    abandon: Option<&'a AtomicBool>,
    /// Whether an execution is left at once when the time is over.
    is_strict: bool,
    void: Option<&'a AtomicBool>,
    saved: Option<Saved>,
    peers: Option<&'a dyn Peers>,
    on_execution: Option<&'a OnExecution<'a>>,
    /// The states that were visited, in all rounds, if they are counted.
    seen: Option<Mutex<Seen>>,
    /// The loops that are known to wait.
    waits: Waits,
    /// What a search has learnt of them that has to begin again.
    learnt: Mutex<Option<Waits>>,
    /// When a ladder has one of its searches rest, after the execution in progress.
    rest_at: Option<Instant>,
    /// Whether a search that is stopped goes on within this one, and need not be recognised.
    is_climbing: bool,
}

type OnEvent<'a> = dyn Fn(&Event) + Sync + 'a;

/// Called at the end of every execution, with its decisions.
pub(crate) type OnExecution<'a> = dyn Fn(&Schedule) + Sync + 'a;

/// What makes a system for each worker.
type Make<'a, S> = dyn Fn() -> S + Sync + 'a;

impl<'a, S: System> Explorer<'a, S> {
    /// A search with these options.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            on_event: None,
            observe: None,
            stop: None,
            abandon: None,
            is_strict: false,
            void: None,
            saved: None,
            peers: None,
            on_execution: None,
            seen: None,
            waits: Waits::default(),
            learnt: Mutex::new(None),
            rest_at: None,
            is_climbing: false,
        }
    }

    /// Tells `listen` how the search goes on, now and then.
    pub fn on_event(mut self, listen: &'a OnEvent<'a>) -> Self {
        self.on_event = Some(listen);
        self
    }

    /// Shows `watch` every execution at its end.
    pub fn observe(mut self, watch: &'a (dyn Fn(Ended<'_, S>) + Sync + 'a)) -> Self {
        self.observe = Some(watch);
        self
    }

    /// Stops after the execution in progress once `flag` is set; the outcome can be resumed.
    pub fn stop_when(mut self, flag: &'a AtomicBool) -> Self {
        self.stop = Some(flag);
        self
    }

    /// Stops once `flag` is set, and no longer looks up names. An execution that goes on for a
    /// while then is left in its middle, and the outcome can be resumed only with
    /// [`Reduction::Optimal`], which begins it again.
    pub fn abandon_when(mut self, flag: &'a AtomicBool) -> Self {
        self.abandon = Some(flag);
        self
    }

    /// Leaves an execution in its middle as soon as the time is over, and looks at the time after
    /// every step: for tests, where executions are short.
    #[doc(hidden)]
    pub fn strict_about_time(mut self) -> Self {
        self.is_strict = true;
        self
    }

    fn deadline(&self, begun: Instant, limit: Option<Duration>) -> Deadline<'a> {
        Deadline::new(begun, limit, self.abandon).strict(self.is_strict)
    }

    /// What is searched once `flag` is set is void: an execution that goes on for a while then is
    /// left in its middle. Without effect on a search that is shared.
    pub fn void_when(mut self, flag: &'a AtomicBool) -> Self {
        self.void = Some(flag);
        self
    }

    /// Goes on with a search that was stopped.
    pub fn resume(mut self, saved: Saved) -> Self {
        self.saved = Some(saved);
        self
    }

    /// Shares the search with other processes. It has one worker in this one, and is one of
    /// [`Reduction::Optimal`] depth first, without counted states.
    pub fn share_with(mut self, peers: &'a dyn Peers) -> Self {
        self.peers = Some(peers);
        self
    }

    /// Shows `watch` the decisions of every execution at its end, those that were given up
    /// included.
    pub fn on_execution(mut self, watch: &'a (dyn Fn(&Schedule) + Sync + 'a)) -> Self {
        self.on_execution = Some(watch);
        self
    }

    /// Works on what peers give until there is nothing left, and tells what was done.
    ///
    /// # Panics
    ///
    /// Without peers.
    pub fn help(self, make: impl Fn() -> S + Sync) -> Part {
        assert!(self.peers.is_some(), "a search is shared with peers");
        let reduction = || Box::new(Optimal::with_room(self.options.room));
        let begun = Instant::now();
        let deadline = self.deadline(begun, self.options.time_limit);
        let around = Around { peers: self.peers, begun, deadline };
        let (left, reason, reports) =
            self.search_units(&make, make(), &reduction, Vec::new(), around);
        let report = reports.into_iter().next().expect("there is one worker");
        Part::new(report, &left.units, reason, left.is_abandoned)
    }

    /// Searches. `make` gives each worker its system, and one more to replay what was found.
    pub fn run(self, make: impl Fn() -> S + Sync) -> Result<Outcome, ExploreError> {
        self.run_with(&make)
    }

    /// The search is compiled once for each type of systems, and not once for each caller.
    fn run_with(mut self, make: &Make<'_, S>) -> Result<Outcome, ExploreError> {
        let errors = self.options.errors();
        if !errors.is_empty() {
            return Err(ExploreError::Options(errors));
        }
        if let Some(saved) = &self.saved {
            self.waits = saved.waits.clone();
        }
        let (begun, asked) = (Instant::now(), self.options.clone());
        let before = || self.saved.as_ref().and_then(|saved| saved.coverage.clone());
        let seen = self.options.coverage.then(|| before().unwrap_or_default());
        self.seen = seen.map(|seen| Mutex::new(seen.resumed()));
        let mut outcome = if self.options.iterate {
            self.iterate(make)?
        } else if self.options.climbs() && !self.is_part() {
            self.climb(make)?
        } else {
            self.round(make)?.0
        };
        // Rounds and rungs have changed them.
        self.options = asked;
        if let (Some(listen), Verdict::Violated(found)) = (self.on_event, &outcome.verdict) {
            listen(&Event::Violated(found.clone()));
        }
        if let (Some(model), Verdict::Violated(found)) = (self.options.memory, &outcome.verdict)
            && found.violation.kind != ViolationKind::Unsupported
            && self.holds_in_interleavings(make)
        {
            outcome.warnings.push(Warning::OnlyUnder(model));
        }
        // What is shortened there are preemptions, and a graph has none.
        if self.options.shorten && self.options.memory.is_none() {
            outcome = self.shorten(make, outcome, begun)?;
        }
        if let (Verdict::Violated(found), false) = (&mut outcome.verdict, self.is_part()) {
            let deadline = self.deadline(begun, self.options.time_limit);
            found.decisive = decisive::find(&mut make(), found, self.options.race, deadline);
            // A graph decides what its executions read.
            if self.options.memory.is_none() {
                found.shared = shared_memory::find(&mut make(), found, deadline);
            }
        }
        self.show_executions(make, &mut outcome, begun)?;
        if let Some(seen) = self.seen {
            let (counted, seen) = seen.into_inner().expect("the lock is not poisoned").finish();
            outcome.coverage = Some(counted);
            if let Some(saved) = &mut outcome.saved {
                saved.coverage = Some(seen);
            }
        }
        Ok(outcome)
    }

    /// Raises the bound until it cuts nothing, and tells after each round what is proved.
    fn iterate(&mut self, make: &Make<'_, S>) -> Result<Outcome, ExploreError> {
        let begun = Instant::now();
        let Options { time_limit, max_executions, .. } = self.options;
        if let Some(bound) = self.saved.as_ref().and_then(Saved::main_bound) {
            self.options.raise_to(bound.limit);
        }
        let (mut before, mut proved) = (Statistics::default(), None);
        loop {
            let (mut outcome, exceeded) = self.round(make)?;
            self.saved = None;
            let bound_exceeded = outcome.statistics.bound_exceeded;
            outcome.statistics.add(&before);
            outcome.statistics.bound_exceeded = bound_exceeded;
            let Verdict::Holds(coverage) = &outcome.verdict else {
                // The limit that was set, and not what was left of it.
                outcome.verdict = match (outcome.verdict, time_limit, max_executions) {
                    (Verdict::Inconclusive(Limit::Time(_)), Some(limit), _) => {
                        Verdict::Inconclusive(Limit::Time(limit))
                    }
                    (Verdict::Inconclusive(Limit::Executions(_)), _, Some(max)) => {
                        Verdict::Inconclusive(Limit::Executions(max))
                    }
                    (verdict, ..) => verdict,
                };
                outcome.proved = proved;
                return Ok(outcome);
            };
            proved = Some(coverage.clone());
            outcome.proved = proved.clone();
            if let Some(listen) = self.on_event {
                listen(&Event::Proved(coverage.clone()));
            }
            if !exceeded.main {
                return Ok(outcome);
            }
            before = outcome.statistics;
            let left = time_limit.map(|limit| limit.saturating_sub(begun.elapsed()));
            let executions = max_executions.map(|max| max.saturating_sub(before.executions));
            let limit = match (time_limit, left, max_executions, executions) {
                (Some(limit), Some(Duration::ZERO), ..) => Some(Limit::Time(limit)),
                (.., Some(max), Some(0)) => Some(Limit::Executions(max)),
                _ => None,
            };
            if let Some(limit) = limit {
                outcome.verdict = Verdict::Inconclusive(limit);
                return Ok(outcome);
            }
            self.options.time_limit = left;
            self.options.max_executions = executions;
            let limit = self.options.main_bound().map_or(0, |bound| bound.limit);
            self.options.raise_to(limit.saturating_add(1));
        }
    }

    /// Searches within the bounds as they are, and again whenever something was learnt of loops
    /// that wait.
    fn round(&mut self, make: &Make<'_, S>) -> Result<(Outcome, Exceeded), ExploreError> {
        // What is left of a search that did not know of them is not all there is.
        if self.is_part() && self.saved.as_ref().is_some_and(|saved| saved.waits != self.waits) {
            return Err(SavedError::Void.into());
        }
        self.saved.take_if(|saved| saved.waits != self.waits);
        let begun = Instant::now();
        loop {
            let outcome = self.round_as_is(make)?;
            let learnt = self.learnt.get_mut().expect("the lock is not poisoned").take();
            let Some(waits) = learnt else { return Ok(outcome) };
            if self.is_part() {
                return Err(SavedError::Void.into());
            }
            self.waits = waits;
            self.saved = None;
            if let Some(limit) = self.options.time_limit.filter(|&it| begun.elapsed() >= it) {
                let outcome = Outcome::stopped(Limit::Time(limit), outcome.0.statistics);
                return Ok((outcome, Exceeded::default()));
            }
        }
    }

    /// Whether this is one part of a search that was split.
    fn is_part(&self) -> bool {
        self.saved.as_ref().is_some_and(|saved| saved.part().is_some())
    }

    fn round_as_is(&self, make: &Make<'_, S>) -> Result<(Outcome, Exceeded), ExploreError> {
        if let Some(model) = self.options.memory {
            return self.search_graphs(make, model);
        }
        if let Some(sampling) = self.options.sample {
            let seed = self.options.seed;
            return self.search_by::<dyn Reduce>(make, &|| Box::new(Sampler::new(sampling, seed)));
        }
        match self.options.reduction {
            Reduction::Optimal => self.search(make, || Optimal::with_room(self.options.room)),
            _ => self.search_by(make, &|| by_stack(&self.options, self.saved.as_ref())),
        }
    }

    /// A search within this one, perhaps of another system: it stops with this one, and knows the
    /// same loops.
    fn within<T: System>(&self, options: Options) -> Explorer<'a, T> {
        Explorer {
            stop: self.stop,
            abandon: self.abandon,
            is_strict: self.is_strict,
            void: self.void,
            waits: self.waits.clone(),
            ..Explorer::new(options)
        }
    }

    /// Whether nothing goes wrong under sequential consistency, as far as a short search can tell.
    fn holds_in_interleavings(&self, make: &Make<'_, S>) -> bool {
        const EXECUTIONS: u64 = 20_000;
        let mut options = Options { memory: None, jobs: 1, ..self.options.clone() };
        options.max_executions = Some(EXECUTIONS);
        let outcome = self.within(options).round(make);
        outcome.is_ok_and(|(outcome, _)| matches!(outcome.verdict, Verdict::Holds(_)))
    }

    /// Searches the execution graphs of a memory model, with that memory in front of the system's
    /// own.
    fn search_graphs(
        &self,
        make: &Make<'_, S>,
        model: MemoryModel,
    ) -> Result<(Outcome, Exceeded), ExploreError> {
        if !make().takes_injections() {
            return Err(ExploreError::Options(vec![OptionError::NoInjections(model)]));
        }
        let observe = self.observe.map(|observe| {
            move |ended: Ended<'_, WeakMemory<S>>| {
                let Ended { system, order, schedule, is_cut, violation } = ended;
                observe(Ended { system: system.system(), order, schedule, is_cut, violation });
            }
        });
        let mut explorer = Explorer {
            on_event: self.on_event,
            observe: observe.as_ref().map(|observe| observe as &Observe<'_, WeakMemory<S>>),
            saved: self.saved.clone(),
            ..self.within(self.options.clone())
        };
        let make = || WeakMemory::new(make(), model);
        loop {
            let outcome = explorer.search(&make, || Graphs::with_room(model, self.options.room))?;
            let learnt = explorer.learnt.get_mut().expect("the lock is not poisoned").take();
            let Some(waits) = learnt else { return Ok(outcome) };
            explorer.waits = waits;
            explorer.saved = None;
        }
    }

    /// A search whose loop is compiled for this reduction: what is used most.
    fn search<R: Reduce>(
        &self,
        make: &Make<'_, S>,
        reduction: impl Fn() -> R + Sync,
    ) -> Result<(Outcome, Exceeded), ExploreError> {
        self.search_by(make, &|| Box::new(reduction()))
    }

    /// A search by a reduction, or by any: then the loop is compiled once for all of them, and asks
    /// the reduction by one indirect call a step.
    fn search_by<R: Reduce + ?Sized>(
        &self,
        make: &Make<'_, S>,
        reduction: &(dyn Fn() -> Box<R> + Sync),
    ) -> Result<(Outcome, Exceeded), ExploreError> {
        let options = &self.options;
        let mut first = make();
        first.reset();
        let n_threads = first.n_threads();
        if n_threads > ThreadId::MAX {
            return Err(ExploreError::TooManyThreads(n_threads));
        }
        if options.stateful && first.fingerprint().is_none() {
            return Err(ExploreError::Options(vec![OptionError::NoFingerprint]));
        }
        let units = match &self.saved {
            None => vec![Unit::Root],
            Some(saved) => {
                saved.fits(options)?;
                if !self.is_climbing && saved.program != identity(&mut first) {
                    return Err(SavedError::OtherProgram.into());
                }
                saved.units()?
            }
        };
        let begun = Instant::now();
        let deadline = self.deadline(begun, options.time_limit);
        // What is known of loops does not travel.
        let is_alone = self.waits != Waits::default();
        let peers = self.peers.filter(|_| !is_alone && reduction().travels());
        if let Some(peers) = peers {
            peers.begin(options);
        }
        let (mut left, mut reason, mut reports) =
            self.search_units(make, first, reduction, units, Around { peers, begun, deadline });
        if let Some(peers) = peers {
            let Collected { parts, units } = peers.collect();
            left.units.extend(units.iter().map(|unit| peers::from_bytes(unit)));
            for part in parts {
                left.is_abandoned |= part.is_abandoned;
                let (report, units, theirs) = part.into_pieces();
                left.units.extend(units);
                reports.push(report);
                if matches!(reason, None | Some(Reason::Peer)) {
                    reason = theirs.or(reason);
                }
            }
        }
        if left.is_any() && matches!(reason, None | Some(Reason::Peer)) {
            // The search was ended without a reason, and it has not come to its end.
            reason = Some(Reason::Limit(Limit::Interrupted));
        }
        if let Some(Reason::Learnt) = reason {
            let learnt = reports.iter().find_map(|report| report.learnt.clone());
            *self.learnt.lock().expect("the lock is not poisoned") = learnt;
            let outcome = Outcome::stopped(Limit::Interrupted, self.sum(&reports).0);
            return Ok((outcome, Exceeded::default()));
        }
        self.conclude(make, left, reason, &reports, deadline)
    }

    /// Works on these units until nothing is left, by the workers of this process.
    fn search_units<R: Reduce + ?Sized>(
        &self,
        make: &Make<'_, S>,
        first: S,
        reduction: &(dyn Fn() -> Box<R> + Sync),
        units: Vec<Unit>,
        around: Around<'_>,
    ) -> (Left, Option<Reason>, Vec<Report>) {
        let options = &self.options;
        let Around { peers, begun, deadline } = around;
        let n_workers = if peers.is_some() { 1 } else { options.jobs };
        let pool = Pool::new(units, n_workers);
        let shared =
            Shared { pool: &pool, peers, begun, deadline, watch: Mutex::new(Watch::new(begun)) };
        let visited = Mutex::new(None);
        let work = |idx: usize, system: S| {
            let seen = self.seen.as_ref();
            let (waits, observe) = (&self.waits, self.observe);
            let mut worker =
                Worker::new(system, reduction(), options, deadline, waits, observe, seen);
            worker.on_execution = self.on_execution;
            worker.void = self.void.filter(|_| peers.is_none());
            let left = self.work(idx, worker, &shared);
            if let Some(left) = left {
                *visited.lock().expect("the lock is not poisoned") = Some(left);
            }
        };
        std::thread::scope(|scope| {
            for idx in 1..n_workers {
                scope.spawn({
                    let work = &work;
                    move || work(idx, make())
                });
            }
            work(0, first);
        });
        let is_abandoned = pool.is_abandoned();
        let (units, reason, reports) = pool.close();
        let left = Left {
            units,
            is_abandoned,
            visited: visited.into_inner().expect("the lock is not poisoned"),
        };
        (left, reason, reports)
    }

    /// What one worker does until nothing is left. Gives back the states it stored.
    fn work<R: Reduce + ?Sized>(
        &self,
        idx: usize,
        mut worker: Worker<'_, S, R>,
        shared: &Shared<'_>,
    ) -> Option<Visited> {
        let pool = shared.pool;
        let _guard = StopOnPanic(pool);
        let peers = shared.peers;
        while let Some(unit) = pool.take(peers) {
            match self.work_on(idx, &mut worker, unit, shared) {
                Ok(Step::Violated) => pool.stop(Reason::Violated),
                Ok(Step::Learnt) => pool.stop(Reason::Learnt),
                Ok(Step::TooLong) => {
                    pool.stop(Reason::Limit(Limit::Depth(self.options.max_depth)));
                }
                Ok(_) => {}
                Err(error) => pool.stop(Reason::Error(error)),
            }
            pool.done();
        }
        if let Some(peers) = peers.filter(|_| pool.is_stopped()) {
            peers.stop();
        }
        let visited = worker.take_visited();
        // Those of a saved search are counted with its statistics.
        let before = self.saved.as_ref().map_or(0, |saved| saved.statistics.states);
        let states = visited.as_ref().map_or(before, |visited| visited.len() as u64);
        worker.statistics.states = states - before;
        pool.report(idx, worker.report());
        visited
    }

    /// Works until the unit is explored, or the search is stopped.
    fn work_on<R: Reduce + ?Sized>(
        &self,
        idx: usize,
        worker: &mut Worker<'_, S, R>,
        unit: Unit,
        shared: &Shared<'_>,
    ) -> Result<Step, ExploreError> {
        let pool = shared.pool;
        let mut step = worker.begin(unit)?;
        let mut n_runs = 0u64;
        while step == Step::More {
            if pool.is_stopped() {
                pool.put(worker.dissolve());
                return Ok(Step::More);
            }
            let before = worker.statistics.executions;
            step = worker.run()?;
            if step == Step::Abandoned {
                let limit = shared.deadline.limit().unwrap_or(Limit::Interrupted);
                match worker.abandon() {
                    Some(units) => {
                        pool.put(units);
                        pool.stop(Reason::Limit(limit));
                    }
                    None => pool.abandon(limit),
                }
                return Ok(Step::More);
            }
            // What a thread that is held has made redundant was drawn all the same.
            let is_execution =
                worker.statistics.executions > before || self.options.sample.is_some();
            // What a search has left that has to begin again is not what is left of it.
            if step != Step::Learnt
                && let Some(limit) = self.limit_after_run(shared, is_execution)
            {
                pool.stop(Reason::Limit(limit));
            }
            n_runs += 1;
            if n_runs.is_multiple_of(64) {
                self.look_up(idx, worker, shared);
            }
            if pool.is_hungry()
                && step == Step::More
                && let Some(unit) = worker.share()
            {
                pool.put([unit]);
            }
            if let Some(peers) = shared.peers {
                if peers.is_stopped() {
                    pool.stop(Reason::Peer);
                }
                if peers.is_hungry()
                    && step == Step::More
                    && let Some(unit) = worker.share()
                {
                    peers.give(peers::to_bytes(&unit));
                }
            }
        }
        Ok(step)
    }

    /// The limit that is reached, of those that are looked at after every execution.
    fn limit_after_run(&self, shared: &Shared<'_>, is_execution: bool) -> Option<Limit> {
        if self.stop.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Limit::Interrupted);
        }
        if let Some(limit) = shared.deadline.limit() {
            return Some(limit);
        }
        if self.rest_at.is_some_and(|at| Instant::now() >= at) {
            return Some(Limit::Executions(shared.pool.executions.load(Ordering::Relaxed)));
        }
        let max = self.options.max_executions?;
        let new = u64::from(is_execution);
        let count = match shared.peers {
            Some(peers) => peers.count(new),
            None => shared.pool.executions.fetch_add(new, Ordering::Relaxed) + new,
        };
        (count >= max).then_some(Limit::Executions(max))
    }

    /// Tells how far the search is.
    fn look_up<R: Reduce + ?Sized>(
        &self,
        idx: usize,
        worker: &Worker<'_, S, R>,
        shared: &Shared<'_>,
    ) {
        let elapsed = shared.begun.elapsed();
        let Some(listen) = self.on_event else { return };
        let Ok(mut watch) = shared.watch.try_lock() else { return };
        let since = watch.at.elapsed();
        // A look now and then gives the estimate its spread; telling is rarer.
        if since < self.options.progress_every / 8 {
            return;
        }
        let reports = shared.pool.report(idx, worker.report());
        let (mut statistics, frontier, explored) = self.sum(&reports);
        if explored > 0.0 {
            watch.estimator.look(explored, statistics.executions);
        }
        shared.peers.iter().for_each(|peers| statistics.add(&peers.others()));
        if since < self.options.progress_every {
            return;
        }
        let rate = (statistics.executions - watch.executions) as f64 / since.as_secs_f64();
        watch.at = Instant::now();
        watch.executions = statistics.executions;
        let estimate = watch.estimator.estimate();
        listen(&Event::Progress(Progress { statistics, elapsed, rate, frontier, estimate }));
    }

    fn sum(&self, reports: &[Report]) -> (Statistics, u64, f64) {
        let before = self.saved.as_ref();
        let mut statistics = before.map_or(Statistics::default(), |saved| saved.statistics);
        let (mut frontier, mut explored) = (0, before.map_or(0.0, |saved| saved.explored));
        for report in reports {
            statistics.add(&report.statistics);
            frontier += report.frontier;
            explored += report.explored;
        }
        if self.options.reduction != Reduction::Optimal {
            // Each of the others sees the whole tree from its own stack.
            let seen = reports.iter().map(|report| report.explored).filter(|&part| part > 0.0);
            explored = seen.reduce(f64::min).unwrap_or(0.0);
        }
        (statistics, frontier, explored)
    }

    fn conclude(
        &self,
        make: &Make<'_, S>,
        left: Left,
        reason: Option<Reason>,
        reports: &[Report],
        deadline: Deadline<'_>,
    ) -> Result<(Outcome, Exceeded), ExploreError> {
        let (statistics, _, explored) = self.sum(reports);
        let cut = reports.iter().any(|report| report.cut)
            || self.saved.as_ref().is_some_and(|saved| saved.cut);
        let mut exceeded = self.saved.as_ref().map_or(Exceeded::default(), |saved| saved.exceeded);
        reports.iter().for_each(|report| exceeded.add(report.exceeded));
        let limit = match reason {
            Some(Reason::Error(error)) => return Err(error),
            Some(Reason::Limit(limit)) if left.is_any() => Some(limit),
            _ => None,
        };
        let options = &self.options;
        let before = self.saved.as_ref().and_then(|saved| saved.found.as_ref());
        let found = before.or_else(|| reports.iter().find_map(|report| report.found.as_ref()));
        let is_resumable = !left.is_abandoned && options.sample.is_none();
        // What a part has come to is kept to its end, to be put together with the others.
        let is_kept = limit.is_some() || self.is_part();
        let saved = (is_kept && is_resumable).then(|| {
            let program = if self.is_climbing { 0 } else { identity(&mut make()) };
            let mut saved = Saved::new(options, program, &left.units);
            saved.set_part(self.saved.as_ref().and_then(Saved::part).cloned());
            saved.statistics = statistics;
            saved.explored = explored;
            saved.cut = cut;
            saved.exceeded = exceeded;
            saved.found = found.cloned();
            saved.visited = left.visited;
            saved.waits = self.waits.clone();
            saved
        });
        let cost = found.filter(|_| options.shorten && options.memory.is_none());
        let cost = cost.and_then(|found| shorten::cost_of(&mut make(), found));
        let verdict = match (found, limit) {
            (Some(found), _) => {
                Verdict::Violated(Box::new(confirm(&mut make(), found, options.race, deadline)?))
            }
            (None, Some(limit)) => Verdict::Inconclusive(limit),
            (None, None) if cut => Verdict::Inconclusive(Limit::Depth(options.max_depth)),
            (None, None) => Verdict::Holds(self.coverage(exceeded, statistics.states, &make())),
        };
        let yields = reports.iter().any(|report| report.yields);
        let fair = options.fair_bound().filter(|_| !yields).map(Warning::NoYields);
        let warnings = fair.into_iter().collect();
        let tree = reports.iter().filter_map(|report| report.tree).reduce(TreeSize::max);
        let sample = together(reports.iter().filter_map(|report| report.sample.clone()));
        let outcome = Outcome {
            verdict,
            statistics,
            proved: None,
            warnings,
            saved,
            tree,
            coverage: None,
            sample,
            cost,
            shortest: None,
            rungs: Vec::new(),
            shown: Vec::new(),
        };
        Ok((outcome, exceeded))
    }

    /// What a search that has come to its end has established.
    fn coverage(&self, exceeded: Exceeded, states: u64, system: &S) -> Coverage {
        let options = &self.options;
        let looks_for_races = options.race && !options.stateful;
        // Data races and livelocks are properties of an execution, not of the states it goes
        // through.
        let searched_for = [
            (options.deadlock, Property::Deadlock),
            (looks_for_races && !system.accesses_are_lifetimes(), Property::Race),
            (options.livelock && !options.stateful, Property::Livelock),
        ];
        let searched_for = searched_for.into_iter().filter(|(is_on, _)| *is_on);
        let properties = std::iter::once(Property::Assertion)
            .chain(system.properties())
            .chain(searched_for.map(|(_, property)| property));
        let mut coverage = Coverage::of(properties);
        // A bound that kept the search from nothing is no condition.
        let main = options.main_bound().filter(|_| exceeded.main);
        let fair = options.fair_bound().filter(|_| exceeded.fair);
        coverage = main
            .into_iter()
            .chain(fair)
            .fold(coverage, |coverage, bound| coverage.within(bound.claim()));
        if exceeded.fair && !self.waits.is_empty() {
            coverage = coverage.within(mazurka_core::Bound::Rounds(self.waits.limit));
        }
        if !looks_for_races && system.has_plain_accesses() {
            // Then no other thread came between them.
            coverage = coverage.assuming(Assumption::NoRace);
        }
        if !looks_for_races && system.accesses_are_lifetimes() {
            coverage = coverage.assuming(Assumption::NoEarlyEnd);
        }
        if options.stateful {
            coverage = coverage.assuming(Assumption::of_hashes(128, states));
        }
        if let Some(model) = options.memory {
            coverage = coverage.under(model);
        }
        if let Some(part) = self.saved.as_ref().and_then(Saved::part) {
            coverage = coverage.within(part.claim());
        }
        coverage.assuming_all(system.assumptions())
    }
}

/// The reduction of a search that keeps sets of threads on a stack, with what it has stored so far.
fn by_stack(options: &Options, saved: Option<&Saved>) -> Box<dyn Reduce> {
    match options.reduction {
        Reduction::None => with_policy(options, saved, NoReduction),
        Reduction::Persistent => with_policy(options, saved, Persistent { by_locks: false }),
        Reduction::Transactions => with_policy(options, saved, Persistent { by_locks: true }),
        Reduction::Dpor if options.is_bpor() => with_policy(options, saved, Bpor::new(options)),
        Reduction::Dpor => with_policy(options, saved, Dpor),
        Reduction::Source => with_policy(options, saved, Source),
        Reduction::Monotonic => with_policy(options, saved, Monotonic),
        Reduction::Optimal => unreachable!("it has no such sets"),
    }
}

fn with_policy(
    options: &Options,
    saved: Option<&Saved>,
    policy: impl Policy + 'static,
) -> Box<dyn Reduce> {
    let is_stable = options.bounds.iter().all(|bound| bound.kind.is_local());
    let sleep = match options.sleeps() {
        false => Sleeping::Off,
        true if is_stable => Sleeping::On,
        true => Sleeping::WhenComplete,
    };
    let before = || saved.and_then(|saved| saved.visited.clone()).unwrap_or_default();
    match options.order {
        Order::DepthFirst => Box::new(Stack::new(policy, sleep, options.stateful.then(before))),
        Order::BestFirst(_) => Box::new(BestFirst::new(policy, sleep, options)),
    }
}

/// Who else works on a search, and until when.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// The other processes, if units can go there.
    peers: Option<&'a dyn Peers>,
    begun: Instant,
    deadline: Deadline<'a>,
}

/// What the workers of one search look at together.
struct Shared<'a> {
    pool: &'a Pool,
    /// The other processes, if units can go there.
    peers: Option<&'a dyn Peers>,
    begun: Instant,
    deadline: Deadline<'a>,
    watch: Mutex<Watch>,
}

/// What a search that was stopped has left to do.
struct Left {
    units: Vec<Unit>,
    /// Whether an execution was left in the middle: then the units are not all there is.
    is_abandoned: bool,
    visited: Option<Visited>,
}

impl Left {
    fn is_any(&self) -> bool {
        self.is_abandoned || !self.units.is_empty()
    }
}

/// What was told last.
struct Watch {
    at: Instant,
    executions: u64,
    estimator: Estimator,
}

impl Watch {
    fn new(at: Instant) -> Self {
        Self { at, executions: 0, estimator: Estimator::default() }
    }
}

/// A hash by which a program is recognised: one execution, with the names of what it touches.
fn identity(system: &mut impl System) -> u64 {
    const MAX_STEPS: usize = 1_000;
    system.reset();
    let mut hash = Fold::default();
    for _ in 0..MAX_STEPS {
        let mut first = None;
        for idx in 0..system.n_threads().min(ThreadId::MAX) {
            let thread = ThreadId::new(idx);
            let next = system.next(thread);
            // How many threads are known depends on what was explored before.
            if matches!(next, Next::Unborn) {
                continue;
            }
            // Objects by their names: numbers are those of one process.
            let operation = next.operation().map(Operation::name);
            (std::mem::discriminant(&next), operation).hash(&mut hash);
            if let Some(object) = next.operation().and_then(Operation::object) {
                hash.write(system.object_name(object).as_bytes());
            }
            if first.is_none() && matches!(next, Next::Enabled { .. }) {
                first = Some(Decision::of(thread));
            }
        }
        let Some(decision) = first else { break };
        if system.step(decision).is_err() {
            break;
        }
    }
    system.reset();
    hash.finish()
}
