//! One search from its options to its verdict.

use crate::bound::{Bound, Exceeded};
use crate::confirm::confirm;
use crate::coverage::Seen;
use crate::deadline::Deadline;
use crate::options::{OptionError, Options, Reduction};
use crate::order::best_first::BestFirst;
use crate::order::{Order, TreeSize};
use crate::pool::{Pool, Reason, Report, StopOnPanic};
use crate::progress::Estimator;
use crate::reduction::Reduce;
use crate::reduction::bpor::Bpor;
use crate::reduction::dpor::Dpor;
use crate::reduction::monotonic::Monotonic;
use crate::reduction::none::None as NoReduction;
use crate::reduction::optimal::Optimal;
use crate::reduction::persistent::Persistent;
use crate::reduction::sleep::Sleeping;
use crate::reduction::source::Source;
use crate::reduction::stack::{Policy, Stack};
use crate::saved::{Saved, SavedError};
use crate::search::{Observe, Step, Worker};
use crate::unit::Unit;
use crate::visited::Visited;
use mazurka_core::fold::Fold;
use mazurka_core::{
    Assumption, Coverage, Decision, Divergence, Event, HappensBefore, Limit, Next, Operation,
    Progress, Property, Schedule, StateCoverage, Statistics, System, ThreadId, Verdict, Violation,
};
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
    /// What whoever asked may not have expected.
    pub warnings: Vec<Warning>,
    /// What is left to do, if a limit stopped the search.
    pub saved: Option<Saved>,
    /// How much memory the execution tree of best-first search took.
    pub tree: Option<TreeSize>,
    /// How many states were visited, if that was asked for; of a search that raises its bound, in
    /// all rounds.
    pub coverage: Option<StateCoverage>,
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
        }
    }
}

/// Something that was asked for and will not help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A fair bound, and nobody yields.
    #[error(
        "`--bound {0}` cuts nothing: no thread was seen to yield after its first step, and a fair \
         bound counts yields; a loop that waits without one is followed to the depth limit"
    )]
    NoYields(Bound),
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
    saved: Option<Saved>,
    /// The states that were visited, in all rounds, if they are counted.
    seen: Option<Mutex<Seen>>,
}

type OnEvent<'a> = dyn Fn(&Event) + Sync + 'a;

impl<'a, S: System> Explorer<'a, S> {
    /// A search with these options.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            on_event: None,
            observe: None,
            stop: None,
            abandon: None,
            saved: None,
            seen: None,
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

    /// Stops once `flag` is set, also in the middle of an execution, and no longer looks up names.
    /// The outcome can then not be resumed.
    pub fn abandon_when(mut self, flag: &'a AtomicBool) -> Self {
        self.abandon = Some(flag);
        self
    }

    /// Goes on with a search that was stopped.
    pub fn resume(mut self, saved: Saved) -> Self {
        self.saved = Some(saved);
        self
    }

    /// Searches. `make` gives each worker its system, and one more to replay what was found.
    pub fn run(mut self, make: impl Fn() -> S + Sync) -> Result<Outcome, ExploreError> {
        let errors = self.options.errors();
        if !errors.is_empty() {
            return Err(ExploreError::Options(errors));
        }
        let before = || self.saved.as_ref().and_then(|saved| saved.coverage.clone());
        let seen = self.options.coverage.then(|| before().unwrap_or_default());
        self.seen = seen.map(|seen| Mutex::new(seen.resumed()));
        let mut outcome = match self.options.iterate {
            true => self.iterate(&make)?,
            false => self.round(&make)?.0,
        };
        if let Some(seen) = self.seen {
            let (counted, seen) = seen.into_inner().expect("nobody panics with it").finish();
            outcome.coverage = Some(counted);
            if let Some(saved) = &mut outcome.saved {
                saved.coverage = Some(seen);
            }
        }
        Ok(outcome)
    }

    /// Raises the bound until it cuts nothing, and tells after each round what is proved.
    fn iterate(&mut self, make: &(impl Fn() -> S + Sync)) -> Result<Outcome, ExploreError> {
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

    /// Searches within the bounds as they are.
    fn round(&self, make: &(impl Fn() -> S + Sync)) -> Result<(Outcome, Exceeded), ExploreError> {
        match self.options.reduction {
            Reduction::None => self.search_stack(make, NoReduction),
            Reduction::Persistent => self.search_stack(make, Persistent { by_locks: false }),
            Reduction::Transactions => self.search_stack(make, Persistent { by_locks: true }),
            Reduction::Dpor if self.options.is_bpor() => {
                self.search_stack(make, Bpor::new(&self.options))
            }
            Reduction::Dpor => self.search_stack(make, Dpor),
            Reduction::Source => self.search_stack(make, Source),
            Reduction::Monotonic => self.search_stack(make, Monotonic),
            Reduction::Optimal => self.search(make, || Optimal::with_room(self.options.room)),
        }
    }

    fn search_stack<P: Policy + Sync>(
        &self,
        make: &(impl Fn() -> S + Sync),
        policy: P,
    ) -> Result<(Outcome, Exceeded), ExploreError> {
        let options = &self.options;
        let is_stable = options.bounds.iter().all(|bound| bound.kind.is_local());
        let sleep = match options.sleeps() {
            false => Sleeping::Off,
            true if is_stable => Sleeping::On,
            true => Sleeping::WhenComplete,
        };
        let saved = self.saved.as_ref();
        let before = || saved.and_then(|saved| saved.visited.clone()).unwrap_or_default();
        let visited = || options.stateful.then(before);
        match options.order {
            Order::DepthFirst => self.search(make, || Stack::new(policy, sleep, visited())),
            Order::BestFirst(_) => self.search(make, || BestFirst::new(policy, sleep, options)),
        }
    }

    fn search<R: Reduce>(
        &self,
        make: &(impl Fn() -> S + Sync),
        reduction: impl Fn() -> R + Sync,
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
                if saved.program != identity(&mut first) {
                    return Err(SavedError::OtherProgram.into());
                }
                saved.units()?
            }
        };
        let pool = Pool::new(units, options.jobs);
        let begun = Instant::now();
        let deadline = Deadline::new(begun, options.time_limit, self.abandon);
        let shared = Shared { pool: &pool, begun, deadline, watch: Mutex::new(Watch::new(begun)) };
        let visited = Mutex::new(None);
        let work = |idx: usize, system: S| {
            let seen = self.seen.as_ref();
            let worker = Worker::new(system, reduction(), options, deadline, self.observe, seen);
            let left = self.work(idx, worker, &shared);
            if let Some(left) = left {
                *visited.lock().expect("nobody panics with it") = Some(left);
            }
        };
        std::thread::scope(|scope| {
            for idx in 1..options.jobs {
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
            visited: visited.into_inner().expect("nobody panics with it"),
        };
        self.conclude(make, left, reason, &reports, deadline)
    }

    /// What one worker does until nothing is left. Gives back the states it stored.
    fn work<R: Reduce>(
        &self,
        idx: usize,
        mut worker: Worker<'_, S, R>,
        shared: &Shared<'_>,
    ) -> Option<Visited> {
        let pool = shared.pool;
        let _guard = StopOnPanic(pool);
        while let Some(unit) = pool.take() {
            match self.work_on(idx, &mut worker, unit, shared) {
                Ok(Step::Violated) => pool.stop(Reason::Violated),
                Ok(_) => {}
                Err(error) => pool.stop(Reason::Error(error)),
            }
            pool.done();
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
    fn work_on<R: Reduce>(
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
                pool.abandon(shared.deadline.limit().unwrap_or(Limit::Interrupted));
                return Ok(Step::More);
            }
            let is_execution = worker.statistics.executions > before;
            if let Some(limit) = self.limit_after_run(shared, is_execution) {
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
        let max = self.options.max_executions?;
        let new = u64::from(is_execution);
        let count = shared.pool.executions.fetch_add(new, Ordering::Relaxed) + new;
        (count >= max).then_some(Limit::Executions(max))
    }

    /// Tells how far the search is.
    fn look_up<R: Reduce>(&self, idx: usize, worker: &Worker<'_, S, R>, shared: &Shared<'_>) {
        let elapsed = shared.begun.elapsed();
        let Some(listen) = self.on_event else { return };
        let Ok(mut watch) = shared.watch.try_lock() else { return };
        let since = watch.at.elapsed();
        // A look now and then gives the estimate its spread; telling is rarer.
        if since < self.options.progress_every / 8 {
            return;
        }
        let reports = shared.pool.report(idx, worker.report());
        let (statistics, frontier, explored) = self.sum(&reports);
        if explored > 0.0 {
            watch.estimator.look(explored, statistics.executions);
        }
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
        make: &impl Fn() -> S,
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
        let saved = (limit.is_some() && !left.is_abandoned).then(|| {
            let mut saved = Saved::new(options, identity(&mut make()), &left.units);
            saved.statistics = statistics;
            saved.explored = explored;
            saved.cut = cut;
            saved.exceeded = exceeded;
            saved.found = found.cloned();
            saved.visited = left.visited;
            saved
        });
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
        let coverage = None;
        let outcome =
            Outcome { verdict, statistics, proved: None, warnings, saved, tree, coverage };
        Ok((outcome, exceeded))
    }

    /// What a search that has come to its end has established.
    fn coverage(&self, exceeded: Exceeded, states: u64, system: &S) -> Coverage {
        let options = &self.options;
        let looks_for_races = options.race && !options.stateful;
        // Data races and livelocks are properties of an execution, not of the states it goes through.
        let searched_for = [
            (options.deadlock, Property::Deadlock),
            (looks_for_races && !system.tells_lives_only(), Property::Race),
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
        if !looks_for_races && system.has_plain_accesses() {
            // Then nobody came between them.
            coverage = coverage.assuming(Assumption::NoRace);
        }
        if !looks_for_races && system.tells_lives_only() {
            coverage = coverage.assuming(Assumption::NoEarlyEnd);
        }
        if options.stateful {
            coverage = coverage.assuming(Assumption::of_hashes(128, states));
        }
        coverage.assuming_all(system.assumptions())
    }
}

/// What the workers of one search look at together.
struct Shared<'a> {
    pool: &'a Pool,
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
            next.hash(&mut hash);
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
