//! The only loop: take steps to the end of an execution, go back, take other steps.
//!
//! Implements the depth-first search of Flanagan and Godefroid (POPL 2005, Fig. 3) for any
//! [`Reduce`]; the stack and the sets are the reduction's, the system and the clocks are kept here.
//!
//! | paper                | here                      |
//! |----------------------|---------------------------|
//! | *Explore(S)*         | [`Worker::run`]           |
//! | *next(s, p)*         | [`Worker::next`]          |
//!
//! Differs from the paper: not recursive, and a state is left by [`System::rewind`].

use crate::bound::{Before, Bounds, Over, Waits};
use crate::counters::Counters;
use crate::coverage::Seen;
use crate::data_race::{DataRaces, Done, synchronising};
use crate::deadline::Deadline;
use crate::explorer::{Ended, ExploreError, OnExecution};
use crate::options::Options;
use crate::order::Order;
use crate::pool::Report;
use crate::reduction::{Choice, End, Reduce};
use crate::unit::Unit;
use crate::view::View;
use crate::visited::Visited;
use mazurka_core::{
    Decision, Divergence, Effect, Ending, HappensBefore, Next, Operation, Part, Position, Schedule,
    Statistics, System, ThreadId, ThreadSet, Violation, ViolationKind,
};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// One search in progress: a system, the execution it is in, and where to go from there.
pub(crate) struct Worker<'a, S, R: ?Sized> {
    system: S,
    reduction: Box<R>,
    options: &'a Options,
    deadline: Deadline<'a>,
    /// How many steps were taken since the last look at the clock.
    n_unwatched: u32,
    order: HappensBefore,
    schedule: Schedule,
    /// The threads that can move.
    enabled: ThreadSet,
    /// What every thread would do next.
    next: Vec<Next>,
    /// What threads would have done next before they said something else, oldest first.
    changes: Vec<(ThreadId, Next)>,
    /// The states of the execution, the one that it is in included.
    states: Vec<State>,
    data_races: DataRaces,
    counters: Counters,
    bounds: Option<Bounds>,
    /// The enabled threads whose next step would exceed a bound.
    over: Over,
    pub(crate) statistics: Statistics,
    /// Where the first violation is.
    found: Option<Found>,
    /// Some execution was cut at the depth limit.
    cut: bool,
    /// The loops that are known to wait, and what else was learnt of them.
    waits: &'a Waits,
    learnt: Option<Waits>,
    /// Some execution was cut that is fair to all threads, and none of them waits.
    is_too_long: bool,
    observe: Option<&'a Observe<'a, S>>,
    coverage: Option<&'a Mutex<Seen>>,
    /// How many steps of the execution were counted with another one.
    known: usize,
    /// The first violation of the execution in progress, and after how many steps it came.
    violation: Option<(usize, Violation)>,
    pub(crate) on_execution: Option<&'a OnExecution<'a>>,
    /// Since when it is known that the time is over.
    late_since: Option<Instant>,
    /// What was counted before the execution in progress.
    before_run: Statistics,
    /// Whether all of this is void, and for how many steps that is known.
    pub(crate) void: Option<&'a AtomicBool>,
    n_void: u32,
}

/// How far an execution of a search that is void goes on: what else it teaches is then known before
/// the next search begins.
const MAX_VOID: u32 = 10_000;

/// A state of the execution, as far as it is known what threads would do in it.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// How many of [`Worker::changes`] have led to it.
    n_changes: usize,
    enabled: ThreadSet,
    /// Who may want something else after a step of another thread.
    unsettled: ThreadSet,
    /// Who waits for the end of a thread, and wants something else only after a step of that one.
    joining: ThreadSet,
}

/// Called at the end of every execution.
pub(crate) type Observe<'a, S> = dyn Fn(Ended<'_, S>) + Sync + 'a;

/// A violation, and the decisions that lead to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) violation: Violation,
    pub(crate) schedule: Schedule,
}

/// Whether a search goes on after an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// There is more to do.
    More,
    /// Nothing is left.
    Exhausted,
    /// A violation was found, and the first one is enough.
    Violated,
    /// The time was over in the middle of an execution.
    Abandoned,
    /// Something was learnt that would have mattered before: the search is void.
    Learnt,
    /// An execution has reached the depth limit that is fair to all threads, and none of them
    /// waits: the others take as long.
    TooLong,
}

impl<'a, S: System, R: Reduce + ?Sized> Worker<'a, S, R> {
    pub(crate) fn new(
        system: S,
        reduction: Box<R>,
        options: &'a Options,
        deadline: Deadline<'a>,
        waits: &'a Waits,
        observe: Option<&'a Observe<'a, S>>,
        coverage: Option<&'a Mutex<Seen>>,
    ) -> Self {
        Self {
            system,
            reduction,
            options,
            deadline,
            n_unwatched: 0,
            order: HappensBefore::new(observe.is_some() || coverage.is_some()),
            schedule: Schedule::new(),
            enabled: ThreadSet::EMPTY,
            next: Vec::new(),
            changes: Vec::new(),
            states: Vec::new(),
            data_races: DataRaces::new(),
            counters: Counters::default(),
            bounds: Bounds::of(&options.bounds, waits),
            over: Over::default(),
            statistics: Statistics::default(),
            found: None,
            cut: false,
            waits,
            learnt: None,
            is_too_long: false,
            observe,
            coverage,
            known: 0,
            violation: None,
            on_execution: None,
            late_since: None,
            before_run: Statistics::default(),
            void: None,
            n_void: 0,
        }
    }

    /// What there is to say of the search so far.
    pub(crate) fn report(&self) -> Report {
        let exceeded = self.reduction.exceeded();
        let mut statistics = self.statistics;
        statistics.bound_exceeded = exceeded.any();
        Report {
            statistics,
            exceeded,
            yields: self.bounds.as_ref().is_some_and(Bounds::has_yields),
            found: self.found.clone(),
            cut: self.cut,
            learnt: self.learnt.clone(),
            frontier: self.reduction.frontier(),
            explored: self.reduction.explored(),
            tree: self.reduction.tree_size(),
            sample: self.reduction.sample(),
        }
    }

    /// Gives away the states that were stored, if there are any.
    pub(crate) fn take_visited(&mut self) -> Option<Visited> {
        self.reduction.take_visited()
    }

    /// Gives away a part of the work.
    pub(crate) fn share(&mut self) -> Option<Unit> {
        self.reduction.share(&self.schedule)
    }

    /// Gives away all the work.
    pub(crate) fn dissolve(&mut self) -> Vec<Unit> {
        self.reduction.dissolve(&self.schedule)
    }

    /// Gives away all the work in the middle of an execution, which counts for nothing then.
    /// Nothing if that cannot be done.
    pub(crate) fn abandon(&mut self) -> Option<Vec<Unit>> {
        let units = self.reduction.abandon(&self.schedule);
        if units.is_some() {
            self.statistics = self.before_run;
        }
        let depth = self.schedule.len() as u64;
        self.statistics.max_depth = self.statistics.max_depth.max(depth);
        units
    }

    /// Takes on a unit of work and goes to where it begins.
    pub(crate) fn begin(&mut self, unit: Unit) -> Result<Step, ExploreError> {
        self.order.truncate(0);
        self.data_races.truncate(0);
        self.counters.truncate(0);
        self.bounds.iter_mut().for_each(|bounds| bounds.truncate(0));
        self.schedule.truncate(0);
        self.next.clear();
        self.changes.clear();
        self.states.clear();
        self.violation = None;
        self.system.reset();
        for decision in unit.prefix() {
            self.observe_state()?;
            if !self.is_possible(decision) {
                return Err(self.diverged(decision, None));
            }
            self.step(decision);
            self.statistics.replayed += 1;
        }
        self.observe_state()?;
        // Both begin with the first step of an execution.
        let is_root = matches!(unit, Unit::Root | Unit::Samples(_));
        self.reduction.adopt(unit);
        if is_root { Ok(Step::More) } else { self.go_back() }
    }

    /// Takes steps to the end of one execution and goes back to where the next one begins.
    pub(crate) fn run(&mut self) -> Result<Step, ExploreError> {
        self.before_run = self.statistics;
        let end = self.descend()?;
        if let Some(watch) = self.on_execution {
            watch(&self.schedule);
        }
        match end {
            Step::More => self.go_back(),
            end => Ok(end),
        }
    }

    fn descend(&mut self) -> Result<Step, ExploreError> {
        loop {
            if self.enabled.is_empty() {
                return self.end(End::Terminal);
            }
            if self.schedule.len() >= self.options.max_depth {
                return self.end(End::Cut);
            }
            self.n_unwatched += 1;
            if self.n_unwatched >= self.deadline.look_every() {
                self.n_unwatched = 0;
                if self.deadline.limit().is_none() {
                    self.late_since = None;
                } else {
                    let since = *self.late_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= self.deadline.grace() {
                        return Ok(Step::Abandoned);
                    }
                }
                if self.void.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                    self.n_void += self.deadline.look_every();
                    if self.n_void > MAX_VOID {
                        return Ok(Step::Abandoned);
                    }
                }
            }
            let view = View {
                order: &self.order,
                next: &self.next,
                enabled: self.enabled,
                over: &self.over,
                system: &self.system,
            };
            let choice = self.reduction.choose(&view);
            match choice {
                Choice::Step(decision) | Choice::Again(decision) => {
                    let is_new = matches!(choice, Choice::Step(_));
                    let (operation, effect) = self.step(decision);
                    if !self.reduction.took(&self.system, operation, effect) {
                        let depth = self.schedule.len();
                        self.violation.take_if(|(at, _)| *at == depth);
                        self.statistics.refused_reversals += 1;
                        return self.end(End::GivenUp);
                    }
                    if is_new {
                        self.statistics.transitions += 1;
                        if self.violation.is_some() && self.options.stop_at_first {
                            self.note_violation();
                            self.note_coverage(false);
                            self.statistics.executions += 1;
                            return Ok(Step::Violated);
                        }
                    } else {
                        self.statistics.replayed += 1;
                        self.known = self.schedule.len();
                    }
                    self.observe_state()?;
                    // It was here before, in another run: a program that differs now shows it.
                    // And best-first search seldom comes back to a state that it knows.
                    if !is_new || cfg!(debug_assertions) || self.options.order != Order::DepthFirst
                    {
                        self.look_for_changed_minds()?;
                    }
                    continue;
                }
                Choice::Diverged(decision, operation) => {
                    return Err(self.diverged(decision, operation));
                }
                Choice::Taken => return Ok(Step::More),
                Choice::Refused => self.statistics.refused_reversals += 1,
                Choice::OverBound => return self.end(End::OverBound),
                Choice::Asleep => self.statistics.blocked_executions += 1,
                Choice::Visited => self.statistics.states_matched += 1,
            }
            return self.end(End::GivenUp);
        }
    }

    /// The execution has ended here.
    fn end(&mut self, end: End) -> Result<Step, ExploreError> {
        self.statistics.max_depth = self.statistics.max_depth.max(self.schedule.len() as u64);
        let view = View {
            order: &self.order,
            next: &self.next,
            enabled: self.enabled,
            over: &self.over,
            system: &self.system,
        };
        self.reduction.finish(&view, end);
        self.counters.are_sure(&mut self.system, &self.order);
        if end == End::Cut && self.options.learns_waits() {
            let mut waits = self.waits.clone();
            if waits.look_at(&self.order, self.next.len()) {
                self.learnt = Some(waits);
                return Ok(Step::Learnt);
            }
        }
        let ending = (end == End::Terminal).then(|| self.system.ending());
        let is_redundant = ending == Some(Ending::Redundant);
        self.note_coverage(end == End::Terminal && !is_redundant);
        if end == End::GivenUp {
            self.note_violation();
            return Ok(Step::More);
        }
        if is_redundant && self.violation.is_none() {
            self.statistics.blocked_executions += 1;
            return Ok(Step::More);
        }
        let is_cut = end == End::OverBound;
        if is_cut && self.do_all_wait() && !self.go_round()? {
            return Ok(Step::Learnt);
        }
        match is_cut {
            true => self.statistics.blocked_executions += 1,
            false => self.statistics.executions += 1,
        }
        if self.violation.is_none() && !is_cut {
            let depth = self.schedule.len();
            self.violation = self.violation_at_end(ending).map(|violation| (depth, violation));
        }
        if let Some(observe) = self.observe {
            observe(Ended {
                system: &self.system,
                order: &self.order,
                schedule: &self.schedule,
                is_cut,
                violation: self.violation.as_ref().map(|(_, violation)| violation),
            });
        }
        if self.violation.is_some() {
            self.note_violation();
            if self.options.stop_at_first {
                return Ok(Step::Violated);
            }
        }
        let is_search = self.options.stop_at_first && self.options.sample.is_none();
        Ok(if self.is_too_long && is_search { Step::TooLong } else { Step::More })
    }

    /// What is wrong with an execution that has ended so, or was cut at the depth limit.
    fn violation_at_end(&mut self, ending: Option<Ending>) -> Option<Violation> {
        let Some(ending) = ending else {
            self.cut = true;
            let is_fair = self.options.livelock && self.is_fair();
            let is_livelock =
                is_fair && (!self.options.fair || Waits::do_all_wait(&self.order, self.next.len()));
            self.is_too_long = is_fair && !is_livelock;
            return is_livelock.then(|| {
                Violation::new(
                    ViolationKind::Livelock,
                    format!("an execution has not ended after {} steps", self.options.max_depth),
                )
            });
        };
        let Options { deadlock, livelock, .. } = *self.options;
        let is_blocked = || self.next.iter().any(|next| matches!(next, Next::Blocked(_)));
        let kind = match ending {
            Ending::Final if deadlock && is_blocked() => ViolationKind::Deadlock,
            Ending::Spinning if deadlock => ViolationKind::Deadlock,
            Ending::Spinning if livelock => ViolationKind::Livelock,
            _ => return None,
        };
        // Who waits for whom is told once the counterexample is replayed.
        Some(Violation::new(kind, kind.name().to_owned()))
    }

    /// Whether all who can move are in loops that wait, over the bound, with nothing new to see,
    /// and no thread is held in a loop that another execution leaves.
    fn do_all_wait(&self) -> bool {
        !self.waits.is_empty()
            && self.options.fair_bound().is_none()
            && self.violation.is_none()
            && (self.enabled - self.over.fair).is_empty()
            && !self.enabled.iter().any(|thread| self.waits.has_news(&self.order, thread))
            && self.system.ending() != Ending::Redundant
    }

    /// Lets all who can move, and wait in loops, go round in turn: no other thread is kept from
    /// moving. If that never ends, it is a livelock. If one of them leaves its loop or sees
    /// something new, more rounds are needed than the bound allows; says no if these are to be
    /// tried.
    fn go_round(&mut self) -> Result<bool, ExploreError> {
        let stem = self.schedule.len();
        let mut end_of_round = stem;
        while self.schedule.len() < self.options.max_depth.max(stem + 1) {
            for thread in self.enabled.iter() {
                // A thread that is held in a loop that changes nothing may be the one to leave.
                let is_over =
                    !self.takes_round(thread)? || self.system.ending() == Ending::Redundant;
                if is_over {
                    if self.violation.is_some() {
                        return Ok(true);
                    }
                    let mut waits = self.waits.clone();
                    let is_enough = !waits.raise();
                    self.cut |= is_enough;
                    self.learnt = (!is_enough).then_some(waits);
                    return Ok(is_enough);
                }
            }
            if end_of_round == stem {
                end_of_round = self.schedule.len();
            }
            if self.deadline.limit().is_some() {
                self.cut = true;
                return Ok(true);
            }
        }
        if self.options.livelock {
            let (first, n_steps) = (stem + 1, self.schedule.len() - stem);
            let message = format!(
                "an execution never ends that lets every thread move: from step {first} on the same \
                 is done over and over, for {n_steps} steps so far"
            );
            let violation = Violation::new(ViolationKind::Livelock, message);
            self.violation = Some((end_of_round, violation));
        }
        Ok(true)
    }

    /// Lets a thread take the steps of one round of its loop. Whether it is where it was then, and
    /// no thread can move that could not before.
    fn takes_round(&mut self, thread: ThreadId) -> Result<bool, ExploreError> {
        for _ in 0..=self.waits.longest() {
            if !self.enabled.contains(thread) {
                return Ok(false);
            }
            self.step(Decision::of(thread));
            self.observe_state()?;
            if self.violation.is_some() {
                return Ok(false);
            }
            if self.over.fair.contains(thread) {
                return Ok((self.enabled - self.over.fair).is_empty());
            }
        }
        Ok(false)
    }

    /// Whether all who could move in the third quarter of the execution did so there, and those in
    /// the last one. If not, it is perhaps the schedule alone that keeps it from ending.
    fn is_fair(&self) -> bool {
        let len = self.schedule.len();
        [(len / 2, len * 3 / 4), (len * 3 / 4, len)].into_iter().all(|(from, to)| {
            let states = self.states[from..to].iter();
            let could = states.fold(ThreadSet::EMPTY, |all, state| all | state.enabled);
            let is_there = |&at: &Position| (from..to).contains(&(at as usize - 1));
            could.iter().all(|thread| self.order.steps_of(thread).iter().any(is_there))
        })
    }

    fn note_violation(&mut self) {
        if self.found.is_none()
            && let Some((depth, violation)) = self.violation.clone()
        {
            let schedule = self.schedule.decisions()[..depth].iter().copied().collect();
            self.found = Some(Found { violation, schedule });
        }
    }

    fn note_coverage(&mut self, is_terminal: bool) {
        let Some(coverage) = self.coverage else { return };
        // A worker that panics ends the whole search; its states were visited all the same.
        let mut coverage = coverage.lock().unwrap_or_else(PoisonError::into_inner);
        coverage.add(&self.order, self.known, is_terminal);
    }

    fn go_back(&mut self) -> Result<Step, ExploreError> {
        let Some(depth) = self.reduction.backtrack() else { return Ok(Step::Exhausted) };
        self.known = depth;
        if depth < self.schedule.len() {
            // What went wrong before that has gone wrong in the next execution, too.
            self.violation.take_if(|(at, _)| *at > depth);
            self.system.rewind(&self.schedule, depth).map_err(ExploreError::Nondeterministic)?;
            self.order.truncate(depth);
            self.data_races.truncate(depth);
            self.counters.truncate(depth);
            self.bounds.iter_mut().for_each(|bounds| bounds.truncate(depth));
            self.schedule.truncate(depth);
            self.states.truncate(depth + 1);
            for (thread, before) in self.changes.drain(self.states[depth].n_changes..).rev() {
                self.next[thread.index()] = before;
            }
            self.observe_state()?;
        }
        Ok(Step::More)
    }

    fn is_possible(&self, decision: Decision) -> bool {
        let next = self.next.get(decision.thread.index());
        matches!(next, Some(Next::Enabled { choices, .. }) if decision.choice < *choices)
    }

    /// The error for a step that was possible in this state before, as this operation if that is
    /// known.
    fn diverged(&self, decision: Decision, operation: Option<Operation>) -> ExploreError {
        let Decision { thread, choice } = decision;
        let step = self.schedule.len() + 1;
        let Some(&next) = self.next.get(thread.index()) else {
            let expected = format!("a step of {thread}");
            let found = "no such thread".to_owned();
            return ExploreError::Nondeterministic(Divergence { step, expected, found });
        };
        let expected = match operation {
            Some(operation) => self.show(thread, Next::enabled(operation)),
            None => format!("alternative {choice} of {}", self.system.thread_name(thread)),
        };
        let found = self.show(thread, next);
        ExploreError::Nondeterministic(Divergence { step, expected, found })
    }

    /// Takes one step, in the system and in all that follows it.
    // Not called: the system may have been on other stacks meanwhile, and the processor guesses
    // wrongly where the next returns go.
    #[inline(always)]
    fn step(&mut self, decision: Decision) -> (Operation, Effect) {
        let operation =
            self.next[decision.thread.index()].operation().expect("an enabled thread has one");
        if let Some(bounds) = &mut self.bounds {
            let before = Before { order: &self.order, next: &self.next, enabled: self.enabled };
            bounds.push(&before, decision.thread);
        }
        self.schedule.push(decision);
        let number = self.schedule.len();
        let effect = self.system.step(decision).unwrap_or_else(|failure| {
            self.violation.get_or_insert((number, failure.violation));
            failure.effect
        });
        self.order.push(decision, operation, effect);
        let parts = self.system.parts();
        for &Part { thread, joined, .. } in parts {
            joined.into_iter().for_each(|ended| self.order.join(thread, ended));
        }
        self.counters.step(&self.system, &self.order);
        if self.options.race {
            let operation = synchronising(&self.order, operation);
            let done = Done::by(&self.system);
            if let Some(race) = self.data_races.step(decision, operation, effect, done)
                && self.violation.is_none()
                // If not, the last one may have happened after the others.
                && self.counters.are_sure(&mut self.system, &self.order)
            {
                self.violation = Some((number, race.violation(&self.system)));
            }
        }
        (operation, effect)
    }

    /// Finds out what every thread would do next in this state, and what is over the bounds.
    fn observe_state(&mut self) -> Result<(), ExploreError> {
        self.observe_threads()?;
        if let Some(bounds) = &mut self.bounds {
            let before = Before { order: &self.order, next: &self.next, enabled: self.enabled };
            self.over = bounds.over(&before);
        }
        Ok(())
    }

    /// Finds out what every thread would do next in this state, and whether it said so here before.
    fn observe_threads(&mut self) -> Result<(), ExploreError> {
        let n_threads = self.system.n_threads();
        if n_threads > ThreadId::MAX {
            return Err(ExploreError::TooManyThreads(n_threads));
        }
        let depth = self.schedule.len();
        if self.states.len() > depth {
            return self.observe_again(n_threads);
        }
        let mut state = self.states.last().copied().unwrap_or_default();
        match self.who_moved_alone(&state, n_threads) {
            Some(moved) => {
                self.ask(moved, &mut state);
                if self.next[moved.index()] == Next::Finished {
                    self.ask_those_who_join(ThreadSet::one(moved), &mut state);
                }
            }
            None => {
                let changed = self.who_went_on(n_threads);
                let asked = changed | self.who_may_be_concerned(&state, changed);
                self.next.resize(n_threads.max(self.next.len()), Next::Unborn);
                asked.iter().for_each(|thread| self.ask(thread, &mut state));
                self.ask_those_who_join(changed, &mut state);
            }
        }
        self.enabled = state.enabled;
        self.states.push(State { n_changes: self.changes.len(), ..state });
        Ok(())
    }

    /// Asks a thread what it would do next.
    #[inline]
    fn ask(&mut self, thread: ThreadId, state: &mut State) {
        let next = self.counters.relaxed(&self.system, &self.order, thread);
        state.enabled.set(thread, matches!(next, Next::Enabled { .. }));
        let is_joining = matches!(next, Next::Blocked(Operation::Join(_)));
        state.joining.set(thread, is_joining);
        let may_change = may_change(next) || self.system.compares(thread);
        state.unsettled.set(thread, !is_joining && may_change);
        let before = std::mem::replace(&mut self.next[thread.index()], next);
        self.changes.push((thread, before));
    }

    /// Who took the last step, if it concerns no thread but those that wait for the end of that
    /// thread.
    #[inline]
    fn who_moved_alone(&self, state: &State, n_threads: usize) -> Option<ThreadId> {
        let &Decision { thread: moved, .. } = self.schedule.decisions().last()?;
        let is_alone = state.unsettled.is_empty()
            && n_threads == self.next.len()
            && self.started().is_none()
            && self.order.joiners().next().is_none();
        is_alone.then_some(moved)
    }

    /// Who has gone on in the last step, or was born since the one before.
    fn who_went_on(&self, n_threads: usize) -> ThreadSet {
        let moved = self.schedule.decisions().last().map(|decision| decision.thread);
        let born = (self.next.len()..n_threads).map(ThreadId::new);
        born.chain(moved).chain(self.started()).chain(self.order.joiners()).collect()
    }

    /// Who was started by the last step.
    #[inline]
    fn started(&self) -> Option<ThreadId> {
        match self.last_operation()? {
            Operation::Spawn(child) => Some(child),
            _ => None,
        }
    }

    #[inline]
    fn last_operation(&self) -> Option<Operation> {
        let last = self.schedule.len() as Position;
        (last > 0).then(|| self.order.operation(last))
    }

    /// Who else may want something else than in the `state` before the last step.
    fn who_may_be_concerned(&self, state: &State, changed: ThreadSet) -> ThreadSet {
        let operation = self.last_operation();
        // A mutex is taken and given back by operations on it alone.
        let is_concerned = |thread: &ThreadId| match self.next[thread.index()].operation() {
            Some(Operation::Acquire(mutex)) => operation.is_none_or(|it| it.is_about(mutex)),
            _ => true,
        };
        (state.unsettled - changed).iter().filter(is_concerned).collect()
    }

    /// Asks those who wait for the end of one of these threads.
    fn ask_those_who_join(&mut self, ended: ThreadSet, state: &mut State) {
        for thread in state.joining.iter() {
            if let Next::Blocked(Operation::Join(child)) = self.next[thread.index()]
                && ended.contains(child)
            {
                self.ask(thread, state);
            }
        }
    }

    /// Looks for a thread that says something else than is known of it. After a step, only one that
    /// may wait, has a choice or compares can do so, and those were asked; in a state that the
    /// search has come back to, none can.
    fn look_for_changed_minds(&self) -> Result<(), ExploreError> {
        for (idx, &before) in self.next.iter().enumerate() {
            let thread = ThreadId::new(idx);
            let now = self.counters.relaxed(&self.system, &self.order, thread);
            if before != now {
                return Err(self.nondeterministic(thread, before, now));
            }
        }
        Ok(())
    }

    /// Asks every thread what it would do next in a state that the search has come back to, unless
    /// the system has undone what they did.
    fn observe_again(&mut self, n_threads: usize) -> Result<(), ExploreError> {
        // A thread that was not known here before was born in another execution.
        self.next.resize(n_threads.max(self.next.len()), Next::Unborn);
        if cfg!(debug_assertions) || !self.system.undoes_steps() {
            self.look_for_changed_minds()?;
        }
        self.enabled = self.states[self.schedule.len()].enabled;
        Ok(())
    }

    /// The error for a thread that wants something else than it wanted in this state before.
    fn nondeterministic(&self, thread: ThreadId, before: Next, now: Next) -> ExploreError {
        ExploreError::Nondeterministic(Divergence {
            step: self.schedule.len() + 1,
            expected: self.show(thread, before),
            found: self.show(thread, now),
        })
    }

    /// What a thread would do next, in words.
    fn show(&self, thread: ThreadId, next: Next) -> String {
        let name = self.system.thread_name(thread);
        match next {
            Next::Unborn => format!("{name} not yet born"),
            Next::Finished => format!("the end of {name}"),
            Next::Blocked(operation) => {
                format!("`{}` of {name}, waiting", self.describe(operation))
            }
            Next::Enabled { operation, choices: 1 } => {
                format!("`{}` of {name}", self.describe(operation))
            }
            Next::Enabled { operation, choices } => {
                format!("`{}` of {name} in {choices} ways", self.describe(operation))
            }
        }
    }

    fn describe(&self, operation: Operation) -> String {
        match operation.object() {
            Some(object) => format!("{} {}", operation.name(), self.system.object_name(object)),
            None => operation.to_string(),
        }
    }
}

/// Whether a thread that would do this may want something else after a step of another one, its
/// birth aside: it may wait or not, or have other ways to go on. That a compare-and-swap may become
/// another operation, its system tells ([`System::compares`]).
fn may_change(next: Next) -> bool {
    match next {
        Next::Unborn | Next::Finished => false,
        Next::Blocked(_) => true,
        Next::Enabled { operation, choices } if operation.is_access() => choices != 1,
        Next::Enabled { operation, choices } => {
            choices != 1 || operation.may_block() || operation.may_choose()
        }
    }
}
