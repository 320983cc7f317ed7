//! What a search says in the end: the violation with a schedule that leads to it, what was
//! covered, or which limit it met. To the letter, and the same under every reduction.

use crate::support::programs::{nwriters, readers};
use crate::support::{all_options, name, script};
use expect_test::{Expect, expect};
use mazurka_core::{Limit, Next, Schedule, Verdict, ViolationKind};
use mazurka_effort::seeds;
use mazurka_explore::{Explorer, Options, Outcome, Reduction, replay};
use mazurka_script::{Script, Shape};
use std::time::Duration;

fn run(script: &Script, options: Options) -> Outcome {
    let outcome = Explorer::new(options).run(|| script.clone());
    outcome.unwrap_or_else(|error| panic!("{script}\n{error}"))
}

/// The verdict in words; the schedule of a counterexample is followed once more.
fn told(script: &Script, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Holds(coverage) => format!("{coverage}"),
        Verdict::Inconclusive(limit) => format!("inconclusive: {limit}"),
        Verdict::Violated(counterexample) => {
            let violation = &counterexample.violation;
            let text = counterexample.schedule.to_string();
            let schedule: Schedule = text.parse().expect("it was printed just now");
            let again = replay(&mut script.clone(), &schedule).expect("it can be followed");
            assert_eq!(again.execution, counterexample.execution, "{script}: {text}");
            assert_eq!(counterexample.story.len(), schedule.len(), "{script}: {text}");
            match violation.kind {
                ViolationKind::Deadlock => {
                    assert_eq!(again.violation, None, "{script}: {text}");
                    let waits = |next: &Next| matches!(next, Next::Blocked(_));
                    let n_waiting = again.end.iter().filter(|next| waits(next)).count();
                    assert_eq!(n_waiting, counterexample.waits.len(), "{script}: {text}");
                    let is_stuck =
                        again.end.iter().all(|next| !matches!(next, Next::Enabled { .. }));
                    assert!(is_stuck && n_waiting > 0, "{script}: {text}");
                }
                ViolationKind::Livelock if again.violation.is_none() => {}
                _ => {
                    let (step, found) = again.violation.expect("it goes wrong again");
                    assert!(step <= schedule.len() && found == *violation, "{script}: {text}");
                }
            }
            format!("{}: {}; {text}", violation.kind.name(), violation.message)
        }
        other => panic!("{other:?} is new"),
    }
}

/// What the default search says. Every other one comes to the same kind of verdict.
fn check(text: &str, expect: Expect) {
    check_with(text, Options::new(), expect);
}

fn check_with(text: &str, options: Options, expect: Expect) {
    let script = script(text);
    let verdict = run(&script, options.clone()).verdict;
    let two_workers = Reduction::ALL.map(|reduction| Options::new().reduction(reduction).jobs(2));
    for Options { reduction, sleep, room, jobs, .. } in all_options().into_iter().chain(two_workers)
    {
        let mut other = options.clone().reduction(reduction).sleep(sleep).jobs(jobs);
        other.room = room;
        for stop in [true, false] {
            let found = run(&script, other.clone().stop_at_first(stop)).verdict;
            let what = format!("{}: {text}: {}", name(&other), told(&script, &found));
            assert_eq!(found.name(), verdict.name(), "{what}");
            if !matches!(found, Verdict::Violated(_)) {
                assert_eq!(found, verdict, "{what}");
            }
        }
    }
    expect.assert_eq(&told(&script, &verdict));
}

#[test]
fn nothing_is_wrong() {
    check(
        "x=1; r=y | y=1; r=x",
        expect!["no assertion failure, deadlock, data race or livelock in any execution"],
    );
    check("T0:", expect!["no assertion failure, deadlock, data race or livelock in any execution"]);
    check(
        "T0: | T1:",
        expect!["no assertion failure, deadlock, data race or livelock in any execution"],
    );
    // No thread can begin, and none waits.
    check(
        "spawn(0)",
        expect!["no assertion failure, deadlock, data race or livelock in any execution"],
    );
}

#[test]
fn what_was_not_asked_for_is_not_claimed() {
    let mut options = Options::new();
    options.race = false;
    check_with(
        "x=1 | plain(y)=2",
        options.clone(),
        expect!["no assertion failure, deadlock or livelock in any execution"],
    );
    options.livelock = false;
    check_with(
        "x=1 | x=2",
        options.clone(),
        expect!["no assertion failure or deadlock in any execution"],
    );
    options.deadlock = false;
    check_with("acq(0); acq(0)", options, expect!["no assertion failure in any execution"]);
}

#[test]
fn assertions() {
    check(
        "x=1 | r=x; assert(r == 0)",
        expect!["assertion: assertion `r == 0` failed: left is 1; mzk1:0.1"],
    );
    check(
        "x=1; x=0 | r=x; assert(r == 0)",
        expect!["assertion: assertion `r == 0` failed: left is 1; mzk1:0.1"],
    );
    check(
        "x=1; y=1 | r=y; r1=x; if r==1 { assert(r1 == 1) }",
        expect!["no assertion failure, deadlock, data race or livelock in any execution"],
    );
    check(
        "x=1; y=1 | r1=x; r=y; if r==1 { assert(r1 == 1) }",
        expect!["assertion: assertion `r1 == 1` failed: left is 0; mzk1:1.0x2.1"],
    );
    check("assert(1 == 2)", expect!["assertion: assertion `1 == 2` failed: left is 1; mzk1:0"]);
}

#[test]
fn what_else_a_program_can_do_wrong() {
    check(
        "a[2] || r=x; a[r]=1 | x=2",
        expect!["memory: index 2 is outside of `a`, which has 2 elements; mzk1:1.0"],
    );
    check(
        "acq(0) | rel(0)",
        expect!["assertion: mutex(0) is released by T1, which has not got it; mzk1:0.1"],
    );
    check("spawn(1); spawn(1) | x=1", expect!["assertion: T0 spawned T1 a second time; mzk1:0x2"]);
    check(
        "r=0; x=1; while r == 0 { r1=r1+1 }",
        expect!["livelock: 100000 instructions without an operation in between; mzk1:0"],
    );
}

#[test]
fn choices() {
    check(
        "r=choose(3); assert(r != 2)",
        expect!["assertion: assertion `r != 2` failed: left is 2; mzk1:0~2"],
    );
    check(
        "r=choose(2); x=r | r=choose(2); r1=x; assert(r1 == r*0)",
        expect!["assertion: assertion `r1 == r*0` failed: left is 1, right is 0; mzk1:0~1.0.1x2"],
    );
    check(
        "r=choose(2); x=r | r=choose(2); r1=x; assert(r1 <= 1)",
        expect!["no assertion failure, deadlock, data race or livelock in any execution"],
    );
}

#[test]
fn deadlocks() {
    check(
        "acq(0); acq(1); rel(1); rel(0) | acq(1); acq(0); rel(0); rel(1)",
        expect![
            "deadlock: 2 threads wait for each other: T0 holds mutex(0) and waits for mutex(1), held by T1; T1 holds mutex(1) and waits for mutex(0), held by T0; mzk1:0.1"
        ],
    );
    check(
        "acq(0); acq(1); rel(1); rel(0) | acq(1); acq(2); rel(2); rel(1) | acq(2); acq(0); rel(0); rel(2)",
        expect![
            "deadlock: 3 threads wait for each other: T0 holds mutex(0) and waits for mutex(1), held by T1; T1 holds mutex(1) and waits for mutex(2), held by T2; T2 holds mutex(2) and waits for mutex(0), held by T0; mzk1:0.1.2"
        ],
    );
    // One that stands behind the circle.
    check(
        "acq(0); acq(1); rel(1); rel(0) | acq(1); acq(0); rel(0); rel(1) | acq(0); rel(0)",
        expect![
            "deadlock: 2 threads wait for each other and 1 more for ever: T0 holds mutex(0) and waits for mutex(1), held by T1; T1 holds mutex(1) and waits for mutex(0), held by T0; T2 waits for mutex(0), held by T0; mzk1:0.1"
        ],
    );
    check(
        "acq(0); acq(0)",
        expect![
            "deadlock: 1 thread waits for itself: T0 holds mutex(0) and waits for mutex(0), held by itself; mzk1:0"
        ],
    );
    check(
        "acq(0) | acq(0); rel(0)",
        expect![
            "deadlock: 1 thread waits for ever: T1 waits for mutex(0), held by T0, which has ended; mzk1:0"
        ],
    );
    check(
        "racq(0); wacq(0)",
        expect![
            "deadlock: 1 thread waits for itself: T0 holds rwlock(0) and waits to write-acquire rwlock(0), held by itself; mzk1:0"
        ],
    );
    check(
        "spawn(1); join(1) | join(0)",
        expect![
            "deadlock: 2 threads wait for each other: T0 waits to join T1; T1 waits to join T0; mzk1:0"
        ],
    );
    check(
        "spawn(1); join(1) | recv(0)",
        expect![
            "deadlock: 2 threads wait for ever: T1 waits to receive from channel(0); T0 waits to join T1; mzk1:0"
        ],
    );
    check(
        "await(x==1)",
        expect!["deadlock: 1 thread waits for ever: T0 waits to see x change; mzk1:"],
    );
    check(
        "down(0); up(1) | down(1); up(0)",
        expect![
            "deadlock: 2 threads wait for ever: T0 waits to take a permit of semaphore(0); T1 waits to take a permit of semaphore(1); mzk1:"
        ],
    );
    check(
        "bar(0)=2 || bar(0)",
        expect![
            "deadlock: 1 thread waits for ever: T0 waits at barrier(0) until 2 threads have arrived; mzk1:0"
        ],
    );
    check(
        "chan(0)=1 || send(0,1); send(0,2)",
        expect!["deadlock: 1 thread waits for ever: T0 waits to send to channel(0); mzk1:0"],
    );
}

#[test]
fn lost_wake_ups() {
    check(
        "acq(0); wait(0,0); rel(0) | notify(0)",
        expect![
            "deadlock: T0 sleeps on condvar(0) and no thread is left that could wake it; mzk1:0.1.0"
        ],
    );
    // The flag is looked at before the lock is taken.
    check(
        "r=x; acq(0); if r==0 { wait(0,0) }; rel(0) | acq(0); x=1; notify(0); rel(0)",
        expect![
            "deadlock: T0 sleeps on condvar(0) and no thread is left that could wake it; mzk1:0.1x4.0x2"
        ],
    );
    check(
        "acq(0); if x==0 { wait(0,0) }; rel(0) | acq(0); x=1; notify(0); rel(0)",
        expect!["no assertion failure, deadlock, data race or livelock in any execution"],
    );
    // One notification for two.
    check(
        "acq(0); if x==0 { wait(0,0) }; rel(0) | acq(0); if x==0 { wait(0,0) }; rel(0) | acq(0); x=1; notify(0); rel(0)",
        expect![
            "deadlock: T1 sleeps on condvar(0) and no thread is left that could wake it; mzk1:0x3.1x3.2x4.0x2"
        ],
    );
    check(
        "acq(0); if x==0 { wait(0,0) }; rel(0) | acq(0); if x==0 { wait(0,0) }; rel(0) | acq(0); x=1; notifyall(0); rel(0)",
        expect!["no assertion failure, deadlock, data race or livelock in any execution"],
    );
}

#[test]
fn livelocks() {
    check_with(
        "while(x==0) yield",
        Options::new().max_depth(20),
        expect![
            "livelock: an execution never ends that lets every thread move: from step 7 on the same is done over and over, for 14 steps so far; mzk1:0x8"
        ],
    );
    // Here it is the schedule that lets no thread come to an end.
    check_with(
        "while(x!=1) yield | x=1",
        Options::new().max_depth(12),
        expect!["inconclusive: depth limit, 12 steps"],
    );
    let mut options = Options::new().max_depth(12);
    options.livelock = false;
    check_with(
        "while(x==0) yield",
        options.clone(),
        expect!["inconclusive: depth limit, 12 steps"],
    );
    check_with(
        "while(x!=1) yield | x=1",
        options.clone(),
        expect!["inconclusive: depth limit, 12 steps"],
    );
    check_with(
        "x=1",
        options.clone().max_depth(1),
        expect!["no assertion failure, deadlock or data race in any execution"],
    );
    check_with("x=1; x=2", options.max_depth(1), expect!["inconclusive: depth limit, 1 step"]);
}

#[test]
fn what_goes_wrong_before_the_depth_limit_is_found() {
    // Not by persistent sets: the loop alone is one, for ever, and the limit is all they meet.
    let script = script("while(x==0) yield | y=1; assert(tid == 0)");
    for reduction in [Reduction::None, Reduction::Dpor, Reduction::Source, Reduction::Optimal] {
        let mut options = Options::new().reduction(reduction).max_depth(12);
        options.livelock = false;
        assert_eq!(run(&script, options).verdict.name(), "violated", "{reduction}");
    }
}

/// Every reduction, and how far it gets.
fn check_limit(limit: impl Fn(&mut Options), expect: Expect) {
    let mut shown = Vec::new();
    for reduction in Reduction::ALL {
        let mut options = Options::new().reduction(reduction);
        limit(&mut options);
        let script = nwriters(6);
        let outcome = run(&script, options);
        assert!(outcome.saved.is_some() || outcome.verdict.name() == "holds");
        shown.push(format!("{reduction}: {}", told(&script, &outcome.verdict)));
    }
    shown.dedup_by_key(|line| line.split_once(':').map(|(_, verdict)| verdict.to_owned()));
    expect.assert_eq(&shown.join("\n"));
}

#[test]
fn a_limit_is_not_a_proof() {
    check_limit(
        |options| options.max_executions = Some(1),
        expect!["none: inconclusive: execution limit, 1"],
    );
    check_limit(
        |options| options.max_executions = Some(719),
        expect!["none: inconclusive: execution limit, 719"],
    );
    check_limit(
        |options| options.time_limit = Some(Duration::ZERO),
        expect!["none: inconclusive: time limit, 0ns"],
    );
    check_limit(
        |options| {
            options.max_depth = 5;
            options.livelock = false;
            options.max_executions = Some(3);
        },
        expect!["none: inconclusive: execution limit, 3"],
    );
}

#[test]
fn a_limit_that_is_as_large_as_the_search_is_none() {
    let script = readers(3);
    for (limit, name) in [(1, "inconclusive"), (7, "inconclusive"), (8, "holds"), (9, "holds")] {
        let mut options = Options::new();
        options.max_executions = Some(limit);
        let outcome = run(&script, options);
        assert_eq!(outcome.verdict.name(), name, "{limit} of 8");
        assert_eq!(outcome.saved.is_some(), name == "inconclusive");
        assert_eq!(outcome.statistics.executions, limit.min(8));
    }
}

#[test]
fn only_executions_count_as_executions() {
    // Runs that are cut short because all sleep are not what the limit is about.
    for reduction in Reduction::ALL {
        let mut options = Options::new().reduction(reduction);
        options.max_executions = Some(7);
        let outcome = run(&readers(3), options);
        assert_eq!(outcome.verdict, Verdict::Inconclusive(Limit::Executions(7)), "{reduction}");
        assert_eq!(outcome.statistics.executions, 7, "{reduction}");
    }
}

#[test]
fn a_violation_within_the_limit_is_a_violation() {
    let script = script("x=1; x=2 | r=x; assert(r == 0) | x=3");
    for stop in [true, false] {
        let mut options = Options::new().stop_at_first(stop);
        options.max_executions = Some(3);
        let outcome = run(&script, options);
        assert_eq!(outcome.verdict.name(), "violated");
    }
}

#[test]
fn all_is_searched_if_the_first_is_not_enough() {
    let script = script("x=1 | r=x; assert(r == 0) | y=1 | r=y");
    let first = run(&script, Options::new());
    let all = run(&script, Options::new().stop_at_first(false));
    assert_eq!((first.verdict.name(), all.verdict.name()), ("violated", "violated"));
    assert_eq!(all.statistics.executions, 4, "two orders of x and two of y");
    assert!(first.statistics.executions < 4);
    // The first one that is met is the one that is told.
    let message = |outcome: &Outcome| match &outcome.verdict {
        Verdict::Violated(counterexample) => counterexample.violation.message.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(message(&first), message(&all));
}

#[test]
fn a_counterexample_ends_where_it_goes_wrong() {
    let script = script("r=x; assert(r == 1) | x=1; y=1");
    for options in all_options() {
        for stop in [true, false] {
            let verdict = run(&script, options.clone().stop_at_first(stop)).verdict;
            let Verdict::Violated(counterexample) = verdict else { panic!("{verdict:?}") };
            let again = replay(&mut script.clone(), &counterexample.schedule);
            let (step, _) = again.expect("it can be followed").violation.expect("it goes wrong");
            let len = counterexample.schedule.len();
            assert_eq!(step, len, "{} stop={stop}", name(&options));
        }
    }
}

#[test]
fn every_counterexample_of_a_random_program_can_be_followed() {
    let shape = Shape { plain: true, ..Shape::everything() };
    let mut all = all_options();
    all.push(Options::new().jobs(2));
    all.push(Options::new().reduction(Reduction::Persistent).stateful(true));
    for seed in seeds(0..1_000) {
        let script = mazurka_script::generate(seed, &shape);
        for options in &all {
            if options.reduction == Reduction::None {
                continue;
            }
            for stop in [true, false] {
                let mut options = options.clone().stop_at_first(stop);
                options.max_executions = Some(200);
                told(&script, &run(&script, options).verdict);
            }
        }
    }
}
