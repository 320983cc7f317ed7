//! Replay: following a printed schedule, step by step.
//!
//! A printed schedule numbers threads by birth (see [`Schedule`]), the system numbers them its own
//! way; [`by_birth`] goes from the second to the first, [`replay`] back again. A schedule may come
//! from a user, for another program or another version of this one, so nothing in it is trusted.

use crate::counters::Counters;
use crate::data_race::{DataRace, DataRaces, Done, synchronising};
use crate::deadline::{Deadline, LOOK_EVERY};
use crate::deadlock::{self, wish};
use mazurka_core::{
    Access, Decision, Execution, FailureSite, HappensBefore, Next, ObjectId, Operation, Part,
    Schedule, Step, System, ThreadId, ThreadSet, Told, Violation, ViolationKind, Wait, possible,
};
use std::collections::BTreeSet;

/// What came of following a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The steps that were taken: as many as the schedule has.
    pub execution: Execution,
    /// The steps as people read them, one for each.
    pub story: Vec<Told>,
    /// The first violation, a data race among them, and at which step, from 1.
    pub violation: Option<(usize, Violation)>,
    /// What every thread would do next, after the last step.
    pub end: Vec<Next>,
    /// The joins of the execution as people read them, one for each.
    pub joins: Vec<Told>,
    /// Who fails first, and where.
    pub failed: Option<FailureSite>,
    /// The first data race.
    pub(crate) race: Option<DataRace>,
}

impl Replay {
    /// The deadlock that it ends in: no thread can move, and one waits. `system` is the one that
    /// was replayed, for the names.
    pub fn deadlock(&self, system: &dyn System) -> Option<Violation> {
        let waits = self.waits(system);
        (!waits.is_empty())
            .then(|| Violation::new(ViolationKind::Deadlock, deadlock::describe(&waits, system)))
    }

    /// The two accesses of its first data race, with their places: none if there is no race, or
    /// `system`, the one that was replayed, does not tell both. It takes the steps once more.
    pub fn accesses<S: System + ?Sized>(&self, system: &mut S) -> Vec<Access> {
        let decisions: Vec<_> = self.execution.steps.iter().map(|step| step.decision).collect();
        let race = self.race.as_ref();
        race.map_or_else(Vec::new, |race| race.locate(system, &decisions))
    }

    /// Who waits in it, and for whom.
    pub fn waits(&self, system: &dyn System) -> Vec<Wait> {
        match self.end.iter().any(|next| matches!(next, Next::Enabled { .. })) {
            true => Vec::new(),
            false => deadlock::waits(&self.execution, &self.end, system),
        }
    }
}

/// Why a schedule cannot be followed, and where. Steps are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The thread does not exist by then.
    #[error(
        "step {step}: the schedule wants thread {number}, but {} by then",
        existing(*n_threads)
    )]
    NeverBorn {
        /// Where.
        step: usize,
        /// The thread's number, by birth.
        number: usize,
        /// How many threads were born before that step.
        n_threads: usize,
    },
    /// The thread has ended, others have not.
    #[error("step {step}: the schedule wants thread {number}, but it has ended")]
    Finished {
        /// Where.
        step: usize,
        /// The thread's number, by birth.
        number: usize,
    },
    /// The thread waits.
    #[error("step {step}: the schedule wants thread {number}, but it waits to {wish}")]
    Blocked {
        /// Where.
        step: usize,
        /// The thread's number, by birth.
        number: usize,
        /// What it is about to do, with the names of what it does it to.
        wish: String,
    },
    /// The operation does not have that many alternatives.
    #[error(
        "step {step}: the schedule wants alternative {choice} of `{operation}`, \
         which has {choices}, counted from 0"
    )]
    Alternative {
        /// Where.
        step: usize,
        /// The name of the operation.
        operation: &'static str,
        /// The alternative that was asked for.
        choice: u32,
        /// How many there are.
        choices: u32,
    },
    /// Every thread has ended, the schedule has not.
    #[error(
        "step {step}: the schedule goes on, but every thread has ended: \
         it belongs to another program or another version of this one"
    )]
    Ended {
        /// Where.
        step: usize,
    },
}

/// Resets the system and takes the steps of a printed schedule.
///
/// A violation does not end it: the thread that failed has ended, the schedule may go on with the
/// others.
pub fn replay<S: System + ?Sized>(
    system: &mut S,
    schedule: &Schedule,
) -> Result<Replay, ReplayError> {
    follow(Follower::new(system, true, Deadline::default()), schedule)
}

/// The same, without a word about the steps: [`Replay::story`] has none of their names, values and
/// places.
pub fn retrace<S: System + ?Sized>(
    system: &mut S,
    schedule: &Schedule,
) -> Result<Replay, ReplayError> {
    let mut follower = Follower::new(system, true, Deadline::default());
    follower.is_quiet = true;
    follow(follower, schedule)
}

/// Takes the steps of an execution of this system again, threads by the system's own numbers, and
/// tells nothing. Whether all of them were possible.
pub fn retake<S: System + ?Sized>(system: &mut S, schedule: &Schedule) -> bool {
    let mut follower = Follower::new(system, true, Deadline::default());
    follower.is_quiet = true;
    for (idx, &decision) in schedule.decisions().iter().enumerate() {
        let Ok(operation) = possible(follower.system, idx + 1, decision) else { return false };
        follower.take(decision, operation);
    }
    follower.end();
    true
}

fn follow<S: System + ?Sized>(
    mut follower: Follower<'_, S>,
    schedule: &Schedule,
) -> Result<Replay, ReplayError> {
    let mut births = Births::new(follower.initial.iter());
    for (idx, &wanted) in schedule.decisions().iter().enumerate() {
        let (decision, operation) = find(follower.system, &births, idx + 1, wanted)?;
        follower.take(decision, operation);
        births.see(operation);
    }
    Ok(follower.end())
}

/// Takes steps from the initial state on, and writes down all there is to say about them.
pub(crate) struct Follower<'a, S: ?Sized> {
    pub(crate) system: &'a mut S,
    /// The threads that exist at the start.
    pub(crate) initial: ThreadSet,
    replay: Replay,
    order: HappensBefore,
    counters: Counters,
    races: Option<DataRaces>,
    deadline: Deadline<'a>,
    /// Whether the steps are taken, and not told.
    pub(crate) is_quiet: bool,
}

impl<'a, S: System + ?Sized> Follower<'a, S> {
    /// Resets the system. Data races are violations if they are watched.
    pub(crate) fn new(system: &'a mut S, watch_races: bool, deadline: Deadline<'a>) -> Self {
        system.reset();
        let nexts = nexts(system).into_iter().enumerate();
        let initial = nexts.filter(|(_, next)| *next != Next::Unborn);
        let initial = initial.map(|(idx, _)| ThreadId::new(idx)).collect();
        let replay = Replay {
            execution: Execution::default(),
            story: Vec::new(),
            violation: None,
            end: Vec::new(),
            joins: Vec::new(),
            failed: None,
            race: None,
        };
        Self {
            system,
            initial,
            replay,
            order: HappensBefore::new(false),
            counters: Counters::default(),
            races: watch_races.then(DataRaces::new),
            deadline,
            is_quiet: false,
        }
    }

    /// Takes a step that is possible.
    pub(crate) fn take(&mut self, decision: Decision, operation: Operation) {
        let Replay { execution, story, violation, joins, failed, race: first_race, .. } =
            &mut self.replay;
        let number = execution.steps.len() + 1;
        let thread = decision.thread;
        let operation =
            self.counters.relaxed_operation(self.system, &self.order, thread, operation);
        if number.is_multiple_of(LOOK_EVERY as usize) && !self.deadline.has_time_to_tell() {
            self.is_quiet = true;
        }
        let told = (!self.is_quiet).then(|| tell(self.system, decision.thread, operation));
        let effect = self.system.step(decision).unwrap_or_else(|failure| {
            violation.get_or_insert((number, failure.violation));
            // Who goes on last in a step is who fails in it.
            let last = self.system.parts().last().map_or(thread, |part| part.thread);
            let site = self.system.failure_site();
            let here = FailureSite { thread: last, step: number, location: None };
            failed.get_or_insert(site.unwrap_or(here));
            failure.effect
        });
        story.push(match told {
            Some(told) => {
                let (value, raw) = (self.system.value(), self.system.raw_value());
                let order = Some(self.system.order()).filter(|it| it.is_weak());
                let order = order.filter(|_| operation.is_access());
                Told { value, raw, order, ..told }
            }
            None => untold(self.system, decision.thread, operation),
        });
        let parts = self.system.parts();
        execution.push(Step { decision, operation, effect }, parts);
        let mut places = match self.is_quiet {
            true => Vec::new().into_iter(),
            false => self.system.join_locations().into_iter(),
        };
        joins.extend(parts.iter().filter_map(|part| {
            Some(Told {
                thread: self.system.thread_name(part.thread).into_owned(),
                operation: Operation::Join(part.joined?).name().to_owned(),
                object: part.joined.map(|ended| self.system.thread_name(ended).into_owned()),
                value: None,
                raw: None,
                order: None,
                location: places.next().flatten(),
            })
        }));
        self.order.push(decision, operation, effect);
        for &Part { thread, joined, .. } in parts {
            joined.into_iter().for_each(|ended| self.order.join(thread, ended));
        }
        self.counters.step(self.system, &self.order);
        let operation = synchronising(&self.order, operation);
        if let Some(races) = &mut self.races
            && let Some(race) = races.step(decision, operation, effect, Done::by(self.system))
            && self.counters.are_sure(self.system, &self.order)
        {
            let violated = race.violation(self.system);
            first_race.get_or_insert(race);
            violation.get_or_insert((number, violated));
        }
    }

    /// Whether something went wrong so far.
    pub(crate) fn has_failed(&self) -> bool {
        self.replay.violation.is_some()
    }

    /// How many steps were taken.
    pub(crate) fn n_steps(&self) -> usize {
        self.replay.execution.steps.len()
    }

    /// What came of it, and what the caller makes of that.
    pub(crate) fn end_and<R>(mut self, tell: impl FnOnce(&S, &Replay) -> R) -> R {
        self.counters.are_sure(self.system, &self.order);
        name_nulls(&self.replay.execution, &mut self.replay.story);
        self.replay.end = nexts(self.system);
        tell(self.system, &self.replay)
    }

    /// What came of it.
    pub(crate) fn end(mut self) -> Replay {
        self.counters.are_sure(self.system, &self.order);
        name_nulls(&self.replay.execution, &mut self.replay.story);
        Replay { end: nexts(self.system), ..self.replay }
    }
}

/// Calls 0 `null` wherever it is the value of an object that holds an address elsewhere.
fn name_nulls(execution: &Execution, story: &mut [Told]) {
    let object_of = |step: &Step| step.operation.object();
    let told = execution.steps.iter().zip(story.iter());
    let pointers: BTreeSet<ObjectId> = told
        .filter(|(_, told)| told.raw.is_some())
        .filter_map(|(step, _)| object_of(step))
        .collect();
    for (step, told) in execution.steps.iter().zip(story) {
        let Some(value) = &told.value else { continue };
        if !object_of(step).is_some_and(|object| pointers.contains(&object)) {
            continue;
        }
        let null = |word: &str| if word == "0" { "null".to_owned() } else { word.to_owned() };
        let named = match value.strip_prefix("= ") {
            Some(read) => format!("= {}", null(read)),
            None => value.split('→').map(null).collect::<Vec<_>>().join("→"),
        };
        if named != *value {
            let numbers = told.value.replace(named);
            told.raw = told.raw.take().or(numbers);
        }
    }
}

/// A step that is not told for lack of time: what costs nothing to say.
fn untold<S: System + ?Sized>(system: &S, thread: ThreadId, operation: Operation) -> Told {
    Told {
        thread: system.thread_name(thread).into_owned(),
        operation: operation.name().to_owned(),
        object: None,
        value: None,
        raw: None,
        order: None,
        location: None,
    }
}

/// The step that a thread is about to take, as people read it.
fn tell<S: System + ?Sized>(system: &S, thread: ThreadId, operation: Operation) -> Told {
    let object = match operation {
        Operation::Spawn(other) | Operation::Join(other) => Some(system.thread_name(other)),
        other => other.object().map(|object| system.object_name(object)),
    };
    Told {
        thread: system.thread_name(thread).into_owned(),
        operation: operation.name().to_owned(),
        object: object.map(std::borrow::Cow::into_owned),
        value: None,
        raw: None,
        order: None,
        location: system.location(thread),
    }
}

/// The printed form of an execution's schedule: threads numbered by birth. `initial` are those
/// that exist at the start.
pub fn by_birth(execution: &Execution, initial: ThreadSet) -> Schedule {
    let mut births = Births::new(initial.iter());
    let mut schedule = Schedule::new();
    for step in &execution.steps {
        let number = births.number(step.decision.thread);
        schedule.push(Decision { thread: ThreadId::new(number), choice: step.decision.choice });
        births.see(step.operation);
    }
    schedule
}

/// The threads of one execution, in the order of their births.
struct Births {
    threads: Vec<ThreadId>,
}

impl Births {
    fn new(initial: impl Iterator<Item = ThreadId>) -> Self {
        Self { threads: initial.collect() }
    }

    /// The number of a thread. One that moves without a known birth is born by moving, so there
    /// are never more numbers than threads.
    fn number(&mut self, thread: ThreadId) -> usize {
        let known = self.threads.iter().position(|&born| born == thread);
        known.unwrap_or_else(|| {
            self.threads.push(thread);
            self.threads.len() - 1
        })
    }

    /// A thread that is spawned gets the next number.
    fn see(&mut self, operation: Operation) {
        if let Operation::Spawn(child) = operation {
            self.number(child);
        }
    }
}

/// What the system calls the step that the schedule wants, if it can be taken.
fn find<S: System + ?Sized>(
    system: &S,
    births: &Births,
    step: usize,
    wanted: Decision,
) -> Result<(Decision, Operation), ReplayError> {
    let number = wanted.thread.index();
    let thread = births.threads.get(number).copied();
    let next = thread.map_or(Next::Unborn, |thread| next(system, thread));
    match (thread, next) {
        (Some(thread), Next::Enabled { operation, choices }) => {
            let choice = wanted.choice;
            if choice < choices {
                return Ok((Decision { thread, choice }, operation));
            }
            Err(ReplayError::Alternative { step, operation: operation.name(), choice, choices })
        }
        (_, Next::Blocked(operation)) => {
            Err(ReplayError::Blocked { step, number, wish: wish(operation, system) })
        }
        _ if nexts(system).iter().all(|next| matches!(next, Next::Unborn | Next::Finished)) => {
            Err(ReplayError::Ended { step })
        }
        (_, Next::Finished) => Err(ReplayError::Finished { step, number }),
        _ => Err(ReplayError::NeverBorn { step, number, n_threads: births.threads.len() }),
    }
}

fn nexts<S: System + ?Sized>(system: &S) -> Vec<Next> {
    (0..system.n_threads()).map(|idx| system.next(ThreadId::new(idx))).collect()
}

fn next<S: System + ?Sized>(system: &S, thread: ThreadId) -> Next {
    match thread.index() < system.n_threads() {
        true => system.next(thread),
        false => Next::Unborn,
    }
}

fn existing(n_threads: usize) -> String {
    match n_threads {
        0 => "no thread exists".to_owned(),
        1 => "only thread 0 exists".to_owned(),
        n => format!("only threads 0 to {} exist", n - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Operation as O;
    use expect_test::{Expect, expect};
    use mazurka_core::{Effect, Failure, ObjectId};
    use std::borrow::Cow;

    /// Threads that take their operations one after the other. `Choose` has two alternatives.
    #[derive(Default)]
    struct Scripts {
        scripts: Vec<Vec<Operation>>,
        n_initial: usize,
        /// The operation, by thread and place, that violates something.
        fails: Option<(usize, usize)>,
        places: Vec<Option<usize>>,
        holder: Option<ThreadId>,
    }

    impl Scripts {
        fn new(n_initial: usize, scripts: &[&[Operation]]) -> Self {
            let scripts = scripts.iter().map(|script| script.to_vec()).collect();
            Self { scripts, n_initial, ..Self::default() }
        }

        fn is_finished(&self, idx: usize) -> bool {
            self.places[idx].is_some_and(|place| place >= self.scripts[idx].len())
        }
    }

    impl System for Scripts {
        fn reset(&mut self) {
            let born = |idx| (idx < self.n_initial).then_some(0);
            self.places = (0..self.scripts.len()).map(born).collect();
            self.holder = None;
        }

        fn n_threads(&self) -> usize {
            self.scripts.len()
        }

        fn next(&self, thread: ThreadId) -> Next {
            let Some(place) = self.places[thread.index()] else { return Next::Unborn };
            let Some(&operation) = self.scripts[thread.index()].get(place) else {
                return Next::Finished;
            };
            match operation {
                O::Acquire(_) if self.holder.is_some() => Next::Blocked(operation),
                O::Join(other) if !self.is_finished(other.index()) => Next::Blocked(operation),
                O::Choose => Next::Enabled { operation, choices: 2 },
                _ => Next::enabled(operation),
            }
        }

        fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
            let idx = decision.thread.index();
            let place = self.places[idx].expect("the thread is born");
            match self.scripts[idx][place] {
                O::Acquire(_) => self.holder = Some(decision.thread),
                O::Release(_) => self.holder = None,
                O::Spawn(child) => self.places[child.index()] = Some(0),
                _ => {}
            }
            if self.fails == Some((idx, place)) {
                self.places[idx] = Some(self.scripts[idx].len());
                let message = "it was to be".to_owned();
                let violation = Violation::new(ViolationKind::Assertion, message);
                return Err(Failure { effect: Effect::Done, violation });
            }
            self.places[idx] = Some(place + 1);
            Ok(Effect::Done)
        }

        fn object_name(&self, object: ObjectId) -> Cow<'_, str> {
            Cow::Owned(format!("mutex({})", object.index()))
        }
    }

    fn thread(index: usize) -> ThreadId {
        ThreadId::new(index)
    }

    fn check(system: &mut Scripts, schedule: &str, expect: Expect) {
        let schedule = schedule.parse().expect("the test has a schedule");
        let shown = match replay(system, &schedule) {
            Err(error) => error.to_string(),
            Ok(replay) => {
                let steps = &replay.execution.steps;
                let steps: Vec<String> = steps
                    .iter()
                    .map(|step| format!("{} {}", step.decision.thread, step.operation))
                    .collect();
                let violation = replay.violation.map_or(String::new(), |(step, violation)| {
                    format!("; step {step}: {}", violation.message)
                });
                let initial = (0..system.n_initial).map(thread).collect();
                assert_eq!(by_birth(&replay.execution, initial), schedule, "there and back again");
                format!("{}{violation}; then {:?}", steps.join(", "), replay.end)
            }
        };
        expect.assert_eq(&shown);
    }

    /// Two threads that start one each: the children are T2 and T3, whichever comes first.
    fn spawners() -> Scripts {
        Scripts::new(
            2,
            &[
                &[O::Spawn(thread(2)), O::Join(thread(2))],
                &[O::Spawn(thread(3))],
                &[O::Yield],
                &[O::Choose],
            ],
        )
    }

    #[test]
    fn threads_are_numbered_by_birth() {
        check(
            &mut spawners(),
            "mzk1:0.1.2.3~1.0",
            expect![
                "T0 spawn T2, T1 spawn T3, T2 yield, T3 choose, T0 join T2; then [Finished, Finished, Finished, Finished]"
            ],
        );
        check(
            &mut spawners(),
            "mzk1:1.0.2~1.3.0",
            expect![
                "T1 spawn T3, T0 spawn T2, T3 choose, T2 yield, T0 join T2; then [Finished, Finished, Finished, Finished]"
            ],
        );
        check(
            &mut spawners(),
            "mzk1:1.2.0",
            expect![
                "T1 spawn T3, T3 choose, T0 spawn T2; then [Blocked(Join(T2)), Finished, Enabled { operation: Yield, choices: 1 }, Finished]"
            ],
        );
        check(
            &mut spawners(),
            "mzk1:",
            expect![
                "; then [Enabled { operation: Spawn(T2), choices: 1 }, Enabled { operation: Spawn(T3), choices: 1 }, Unborn, Unborn]"
            ],
        );
    }

    #[test]
    fn initial_threads_are_numbered_without_gaps() {
        let step = |idx, operation| {
            let decision = Decision { thread: thread(idx), choice: 0 };
            Step { decision, operation, effect: Effect::Done }
        };
        let steps = vec![step(5, O::Spawn(thread(1))), step(1, O::Yield), step(9, O::Yield)];
        let initial = [thread(3), thread(5)].into_iter().collect();
        expect!["mzk1:1.2.3"].assert_eq(
            &by_birth(&Execution { steps, ..Execution::default() }, initial).to_string(),
        );
    }

    #[test]
    fn what_cannot_be_followed_is_said_with_its_step() {
        check(
            &mut spawners(),
            "mzk1:0.3",
            expect!["step 2: the schedule wants thread 3, but only threads 0 to 2 exist by then"],
        );
        check(
            &mut Scripts::new(1, &[&[O::Yield]]),
            "mzk1:1",
            expect!["step 1: the schedule wants thread 1, but only thread 0 exists by then"],
        );
        check(
            &mut spawners(),
            "mzk1:1x2",
            expect!["step 2: the schedule wants thread 1, but it has ended"],
        );
        check(
            &mut spawners(),
            "mzk1:0x2",
            expect!["step 2: the schedule wants thread 0, but it waits to join T2"],
        );
        check(
            &mut spawners(),
            "mzk1:1.2~4",
            expect![
                "step 2: the schedule wants alternative 4 of `choose`, which has 2, counted from 0"
            ],
        );
        check(
            &mut spawners(),
            "mzk1:1~1",
            expect![
                "step 1: the schedule wants alternative 1 of `spawn`, which has 1, counted from 0"
            ],
        );
        check(
            &mut spawners(),
            "mzk1:1.0.2.3.0.127",
            expect![
                "step 6: the schedule goes on, but every thread has ended: it belongs to another program or another version of this one"
            ],
        );
        check(
            &mut Scripts::new(0, &[]),
            "mzk1:0",
            expect![
                "step 1: the schedule goes on, but every thread has ended: it belongs to another program or another version of this one"
            ],
        );
        let mutex = ObjectId::new(0);
        let mut lockers = Scripts::new(2, &[&[O::Acquire(mutex)], &[O::Acquire(mutex)]]);
        check(
            &mut lockers,
            "mzk1:0.1",
            expect!["step 2: the schedule wants thread 1, but it waits to acquire mutex(0)"],
        );
    }

    #[test]
    fn a_violation_is_kept_with_its_step() {
        let mut system = Scripts::new(2, &[&[O::Yield, O::Yield], &[O::Yield]]);
        system.fails = Some((0, 0));
        check(
            &mut system,
            "mzk1:0.1",
            expect!["T0 yield, T1 yield; step 1: it was to be; then [Finished, Finished]"],
        );
        check(
            &mut system,
            "mzk1:0x2",
            expect!["step 2: the schedule wants thread 0, but it has ended"],
        );
    }
}
