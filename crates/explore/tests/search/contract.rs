//! Systems that break their contract are reported, not trusted: what was different, and where.

use crate::support::boxed::search;
use crate::support::script;
use expect_test::{Expect, expect};
use mazurka_core::{
    Decision, Divergence, Effect, Failure, Next, ObjectId, Operation, Schedule, System, ThreadId,
    Violation, ViolationKind,
};
use mazurka_explore::{ExploreError, Explorer, Options, Order, Priority, Reduction, replay};
use mazurka_script::Script;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a program does otherwise when it comes back to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    /// T1 wants to do something else.
    Operation,
    /// T1 waits.
    Waits,
    /// T1 has one alternative more.
    Alternatives,
    /// T1 has ended.
    Ended,
    /// There is a thread more.
    Thread,
}

/// A script that lies after its first step, once it went back `after` times.
struct Liar {
    script: Script,
    lie: Lie,
    after: usize,
    n_returns: usize,
    /// Whether it can undo steps, or has to replay them.
    undoes: bool,
}

impl Liar {
    fn lies(&self) -> bool {
        self.n_returns >= self.after && self.script.n_steps() == 1
    }
}

impl System for Liar {
    fn reset(&mut self) {
        self.script.reset();
    }

    fn n_threads(&self) -> usize {
        self.script.n_threads() + usize::from(self.lies() && self.lie == Lie::Thread)
    }

    fn next(&self, thread: ThreadId) -> Next {
        if thread.index() >= self.script.n_threads() {
            return Next::enabled(Operation::Yield);
        }
        let truth = self.script.next(thread);
        let Next::Enabled { operation, choices } = truth else { return truth };
        if thread != ThreadId::new(1) || !self.lies() {
            return truth;
        }
        match self.lie {
            Lie::Operation => {
                Next::Enabled { operation: Operation::Load(ObjectId::new(0)), choices }
            }
            Lie::Waits => Next::Blocked(operation),
            Lie::Alternatives => Next::Enabled { operation, choices: choices + 1 },
            Lie::Ended => Next::Finished,
            Lie::Thread => truth,
        }
    }

    fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
        self.script.step(decision)
    }

    fn rewind(&mut self, schedule: &Schedule, depth: usize) -> Result<(), Divergence> {
        self.n_returns += 1;
        if self.undoes {
            return self.script.rewind(schedule, depth);
        }
        self.reset();
        for (idx, &decision) in schedule.decisions()[..depth].iter().enumerate() {
            let next = self.next(decision.thread);
            if !matches!(next, Next::Enabled { choices, .. } if decision.choice < choices) {
                let expected = format!("a step of {}", decision.thread);
                return Err(Divergence { step: idx + 1, expected, found: format!("{next:?}") });
            }
            let _ = self.step(decision);
        }
        Ok(())
    }

    fn object_name(&self, object: ObjectId) -> std::borrow::Cow<'_, str> {
        self.script.object_name(object)
    }
}

fn error_of<S: System + 'static>(options: Options, make: impl Fn() -> S + Sync) -> String {
    match search(options, make) {
        Err(error) => error.to_string(),
        Ok(outcome) => outcome.verdict.name().to_owned(),
    }
}

/// What every reduction says about a liar; they may notice it at different times, but they do.
fn check(lie: Lie, expect: Expect) {
    let make = |undoes| {
        move || {
            let script = script("x=1; x=2 | x=3; x=4");
            Liar { script, lie, after: 1, n_returns: 0, undoes }
        }
    };
    let all = Reduction::ALL.map(|reduction| Options::new().reduction(reduction));
    // Best-first search takes for granted what it knows of alternatives and of how many threads
    // there are.
    let best_first = [Priority::Preemptions, Priority::Random]
        .map(|by| Options::new().reduction(Reduction::Dpor).order(Order::best_first(by)))
        .into_iter()
        .filter(|_| !matches!(lie, Lie::Alternatives | Lie::Thread));
    for options in all.into_iter().chain(best_first) {
        for undoes in [true, false] {
            let name = crate::support::name(&options);
            let error = search(options.clone(), make(undoes));
            let error = error.map(drop).expect_err("it lies");
            let is_noticed = matches!(error, ExploreError::Nondeterministic(_));
            assert!(is_noticed, "{name}: {lie:?}: {error}");
        }
    }
    expect.assert_eq(&error_of(Options::new(), make(true)));
}

#[test]
fn a_thread_that_wants_something_else() {
    check(
        Lie::Operation,
        expect![
            "the program is not deterministic: step 2 was `store x` of T1 before and is `load x` of T1 now; something outside the schedule decides: time, randomness, hash order, an address, a static"
        ],
    );
}

#[test]
fn a_thread_that_waits_where_it_could_move() {
    check(
        Lie::Waits,
        expect![
            "the program is not deterministic: step 2 was `store x` of T1 before and is `store x` of T1, waiting now; something outside the schedule decides: time, randomness, hash order, an address, a static"
        ],
    );
}

#[test]
fn a_thread_that_has_other_alternatives() {
    check(
        Lie::Alternatives,
        expect![
            "the program is not deterministic: step 2 was `store x` of T1 before and is `store x` of T1 in 2 ways now; something outside the schedule decides: time, randomness, hash order, an address, a static"
        ],
    );
}

#[test]
fn a_thread_that_has_ended_where_it_could_move() {
    check(
        Lie::Ended,
        expect![
            "the program is not deterministic: step 2 was `store x` of T1 before and is the end of T1 now; something outside the schedule decides: time, randomness, hash order, an address, a static"
        ],
    );
}

#[test]
fn a_thread_that_was_not_there_before() {
    check(
        Lie::Thread,
        expect![
            "the program is not deterministic: step 2 was T2 not yet born before and is `yield` of T2 now; something outside the schedule decides: time, randomness, hash order, an address, a static"
        ],
    );
}

/// A script in which the second step of T1 is a store if T0 has moved before, and a load if not: it
/// depends on a step of T0, and does not say so.
struct Secretive {
    script: Script,
    moved: Vec<ThreadId>,
}

impl System for Secretive {
    fn reset(&mut self) {
        self.script.reset();
        self.moved.clear();
    }

    fn n_threads(&self) -> usize {
        self.script.n_threads()
    }

    fn next(&self, thread: ThreadId) -> Next {
        match (thread.index(), &self.moved[..], self.script.next(thread)) {
            (1, [first], Next::Enabled { operation: Operation::Store(object), .. })
                if *first == thread =>
            {
                Next::enabled(Operation::Load(object))
            }
            (_, _, next) => next,
        }
    }

    fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
        self.moved.push(decision.thread);
        self.script.step(decision)
    }

    fn rewind(&mut self, schedule: &Schedule, depth: usize) -> Result<(), Divergence> {
        self.moved.truncate(depth);
        self.script.rewind(schedule, depth)
    }

    fn object_name(&self, object: ObjectId) -> std::borrow::Cow<'_, str> {
        self.script.object_name(object)
    }
}

/// A reversal takes steps again without one that they do not depend on: if they are others now,
/// they did.
#[test]
fn a_dependence_that_was_not_told() {
    let make = || Secretive { script: script("x=1 | y=1; z=1; x=2"), moved: Vec::new() };
    let error = error_of(Options::new().reduction(Reduction::Optimal), make);
    expect!["the program is not deterministic: step 2 was `store z` of T1 before and is `load z` of T1 now; something outside the schedule decides: time, randomness, hash order, an address, a static"].assert_eq(&error);
}

/// A script that goes wrong in another way each time it is made.
struct Moody {
    script: Script,
    mood: usize,
}

impl System for Moody {
    fn reset(&mut self) {
        self.script.reset();
    }

    fn n_threads(&self) -> usize {
        self.script.n_threads()
    }

    fn next(&self, thread: ThreadId) -> Next {
        self.script.next(thread)
    }

    fn step(&mut self, decision: Decision) -> Result<Effect, Failure> {
        match (self.script.step(decision), self.mood) {
            (Err(_), 9) => Ok(Effect::Done),
            (Err(failure), mood) => {
                let message = format!("{} in mood {mood}", failure.violation.message);
                let kind = if mood == 1 { ViolationKind::Assertion } else { ViolationKind::Panic };
                let violation = Violation::new(kind, message);
                Err(Failure { effect: failure.effect, violation })
            }
            (done, _) => done,
        }
    }
}

/// What is said about an assertion that fails in one mood and is replayed in another.
fn in_moods(moods: [usize; 2]) -> String {
    let n_made = AtomicUsize::new(0);
    let make = || {
        let mood = moods[n_made.fetch_add(1, Ordering::Relaxed).min(1)];
        Moody { script: script("x=1 | r=x; assert(r == 0)"), mood }
    };
    error_of(Options::new(), make)
}

#[test]
fn a_violation_that_is_gone_when_replayed() {
    expect!["the program is not deterministic: step 2 was a violation (assertion `r == 0` failed: left is 1 in mood 1) before and is none now; something outside the schedule decides: time, randomness, hash order, an address, a static"].assert_eq(&in_moods([1, 9]));
}

#[test]
fn a_violation_that_is_another_one_when_replayed() {
    let error = in_moods([1, 2]);
    assert!(error.starts_with("the program is not deterministic: step 2 was"), "{error}");
    assert!(error.contains("in mood 1") && error.contains("in mood 2"), "both are told: {error}");
}

#[test]
fn a_violation_that_is_not_there_when_replayed() {
    // The second system is another program, in which the schedule cannot be followed at all.
    let n_made = AtomicUsize::new(0);
    let make = || match n_made.fetch_add(1, Ordering::Relaxed) {
        0 => script("x=1 | acq(0); acq(0)"),
        _ => script("x=1 | acq(0)"),
    };
    expect!["the program is not deterministic: step 2 was a violation (deadlock) before and is none now; something outside the schedule decides: time, randomness, hash order, an address, a static"].assert_eq(&error_of(Options::new(), make));
    let n_made = AtomicUsize::new(0);
    let make = || match n_made.fetch_add(1, Ordering::Relaxed) {
        0 => script("x=1; y=1 | r=x; assert(r == 0)"),
        _ => script("x=1; y=1 | await(y==1); r=x; assert(r == 0)"),
    };
    expect!["the program is not deterministic: step 3 was a violation (assertion `r == 0` failed: left is 1) before and is none now; something outside the schedule decides: time, randomness, hash order, an address, a static"].assert_eq(&error_of(Options::new(), make));
}

/// More threads than there are numbers: at once, or after a step.
struct Crowd {
    n_early: usize,
    n_late: usize,
    moved: bool,
}

impl System for Crowd {
    fn reset(&mut self) {
        self.moved = false;
    }

    fn n_threads(&self) -> usize {
        if self.moved { self.n_late } else { self.n_early }
    }

    fn next(&self, thread: ThreadId) -> Next {
        match (thread.index(), self.moved) {
            (0, false) => Next::enabled(Operation::Yield),
            (_, false) => Next::Unborn,
            _ => Next::Finished,
        }
    }

    fn step(&mut self, _: Decision) -> Result<Effect, Failure> {
        self.moved = true;
        Ok(Effect::Done)
    }
}

#[test]
fn too_many_threads() {
    let check = |n_early, n_late, expect: Expect| {
        for reduction in Reduction::ALL {
            let options = Options::new().reduction(reduction).stop_at_first(true);
            let make = || Crowd { n_early, n_late, moved: false };
            let outcome = search(options, make);
            let is_refused = matches!(outcome, Err(ExploreError::TooManyThreads(_)));
            assert_eq!(is_refused, n_late > ThreadId::MAX, "{reduction}: {outcome:?}");
        }
        let make = || Crowd { n_early, n_late, moved: false };
        expect.assert_eq(&error_of(Options::new(), make));
    };
    check(1, 1_024, expect!["holds"]);
    check(1, 1_025, expect!["the program has 1025 threads, and 1024 are possible"]);
    check(1_024, 1_025, expect!["the program has 1025 threads, and 1024 are possible"]);
    check(1_025, 1_025, expect!["the program has 1025 threads, and 1024 are possible"]);
    check(1, 100_000, expect!["the program has 100000 threads, and 1024 are possible"]);
}

#[test]
fn no_threads_at_all() {
    for reduction in Reduction::ALL {
        let options = Options::new().reduction(reduction);
        let make = || Crowd { n_early: 0, n_late: 0, moved: false };
        let outcome = search(options, make).expect("there is nothing to do");
        assert_eq!((outcome.verdict.name(), outcome.statistics.executions), ("holds", 1));
        let mut crowd = make();
        let nothing = replay(&mut crowd, &Schedule::new()).expect("there is nothing to follow");
        assert!(nothing.end.is_empty());
    }
}

#[test]
fn nobody_can_begin() {
    for reduction in Reduction::ALL {
        let options = Options::new().reduction(reduction);
        let script = script("await(x==1) | down(0)");
        let outcome = Explorer::new(options).run(|| script.clone()).expect("it is a program");
        assert_eq!((outcome.verdict.name(), outcome.statistics.executions), ("violated", 1));
    }
}
