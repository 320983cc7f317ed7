//! Printed schedules: every execution can be printed, read and followed again, and what cannot be
//! followed is refused with the step at which it goes astray.

use crate::support::script;
use expect_test::{Expect, expect};
use mazurka_core::{Execution, Next, Schedule, Step, System, ThreadId, ThreadSet};
use mazurka_effort::{seeds, share};
use mazurka_explore::{Ended, Explorer, Options, Reduction, by_birth, replay};
use mazurka_script::{Script, Shape, generate};
use std::sync::Mutex;

/// What following a schedule comes to.
fn check(text: &str, schedule: &str, expect: Expect) {
    let shown = match schedule.parse::<Schedule>() {
        Err(error) => error.to_string(),
        Ok(schedule) => match replay(&mut script(text), &schedule) {
            Err(error) => error.to_string(),
            Ok(replay) => {
                let n_steps = replay.execution.steps.len();
                let wrong = replay.violation.map_or("nothing wrong".to_owned(), |(step, what)| {
                    format!("step {step}: {}", what.message)
                });
                format!("{n_steps} steps, {wrong}, then {:?}", replay.end)
            }
        },
    };
    expect.assert_eq(&shown);
}

#[test]
fn what_is_malformed_is_refused() {
    let program = "x=1 | x=2";
    check(program, "", expect!["malformed schedule at column 1: expected `mzk1:`, found the end"]);
    check(program, "0.1", expect!["malformed schedule at column 1: expected `mzk1:`, found `0.1`"]);
    check(
        program,
        "mzk2:0.1",
        expect!["malformed schedule at column 1: expected `mzk1:`, found `mzk2:0.1`"],
    );
    check(
        program,
        "mzk1:0,1",
        expect!["malformed schedule at column 7: expected `.`, `~`, `x` or the end, found `,1`"],
    );
    check(
        program,
        "mzk1:0.",
        expect![
            "malformed schedule at column 8: expected the number of a thread (0 to 1023), found the end"
        ],
    );
    check(
        program,
        "mzk1:0~",
        expect![
            "malformed schedule at column 8: expected the number of an alternative, found the end"
        ],
    );
    check(
        program,
        "mzk1:-1",
        expect![
            "malformed schedule at column 6: expected the number of a thread (0 to 1023), found `-1`"
        ],
    );
    check(
        program,
        "mzk1:9999",
        expect![
            "malformed schedule at column 6: expected the number of a thread (0 to 1023), found `9999`"
        ],
    );
    check(
        program,
        "mzk1:0x999999999999",
        expect![
            "malformed schedule at column 8: expected how often, and not more steps than fit, found `999999999999`"
        ],
    );
    check(
        program,
        "mzk1:0 .1",
        expect!["malformed schedule at column 7: expected `.`, `~`, `x` or the end, found ` .1`"],
    );
}

#[test]
fn what_belongs_to_another_program_is_refused() {
    let program = "x=1; r=choose(2) | acq(0); acq(0)";
    check(
        program,
        "mzk1:0.2",
        expect!["step 2: the schedule wants thread 2, but only threads 0 to 1 exist by then"],
    );
    check(
        program,
        "mzk1:127",
        expect!["step 1: the schedule wants thread 127, but only threads 0 to 1 exist by then"],
    );
    check(
        program,
        "mzk1:0~1",
        expect!["step 1: the schedule wants alternative 1 of `store`, which has 1, counted from 0"],
    );
    check(
        program,
        "mzk1:0.0~2",
        expect![
            "step 2: the schedule wants alternative 2 of `choose`, which has 2, counted from 0"
        ],
    );
    check(program, "mzk1:0x3", expect!["step 3: the schedule wants thread 0, but it has ended"]);
    check(
        program,
        "mzk1:1x2",
        expect!["step 2: the schedule wants thread 1, but it waits to acquire mutex(0)"],
    );
    check(
        "x=1",
        "mzk1:0x2",
        expect![
            "step 2: the schedule goes on, but every thread has ended: it belongs to another program or another version of this one"
        ],
    );
    check(
        "spawn(1); join(1) | await(x==1)",
        "mzk1:1",
        expect!["step 1: the schedule wants thread 1, but only thread 0 exists by then"],
    );
    check(
        "spawn(1); join(1) | await(x==1)",
        "mzk1:0.1",
        expect!["step 2: the schedule wants thread 1, but it waits to see x change"],
    );
    check(
        "spawn(1); join(1) | await(x==1)",
        "mzk1:0x2",
        expect!["step 2: the schedule wants thread 0, but it waits to join T1"],
    );
    check(
        "T0:",
        "mzk1:0",
        expect![
            "step 1: the schedule goes on, but every thread has ended: it belongs to another program or another version of this one"
        ],
    );
    check(
        "acq(0); wait(0,0)",
        "mzk1:0x3",
        expect!["step 3: the schedule wants thread 0, but it waits to end its wait on condvar(0)"],
    );
    check(
        "chan(0)=1 || send(0,1); send(0,2) | bar(0)",
        "mzk1:0x2",
        expect!["step 2: the schedule wants thread 0, but it waits to send to channel(0)"],
    );
}

#[test]
fn what_can_be_followed_is() {
    let program = "x=1; r=choose(2) | r=x; assert(r == 0); x=2";
    check(
        program,
        "mzk1:",
        expect![
            "0 steps, nothing wrong, then [Enabled { operation: Store(o0), choices: 1 }, Enabled { operation: Load(o0), choices: 1 }]"
        ],
    );
    check(
        program,
        "mzk1:0.1.0~1",
        expect!["3 steps, step 2: assertion `r == 0` failed: left is 1, then [Finished, Finished]"],
    );
    check(
        program,
        "mzk1:1x2.0",
        expect![
            "3 steps, nothing wrong, then [Enabled { operation: Choose, choices: 2 }, Finished]"
        ],
    );
    check(
        "acq(0); acq(1) | acq(1); acq(0)",
        "mzk1:0.1",
        expect!["2 steps, nothing wrong, then [Blocked(Acquire(o1)), Blocked(Acquire(o0))]"],
    );
    check(
        "plain(p)=1 | plain(p)=2",
        "mzk1:0.1",
        expect![
            "2 steps, step 2: data race on `p`: T0 writes it at step 1 and T1 writes it at step 2, and nothing orders the two, then [Finished, Finished]"
        ],
    );
}

#[test]
fn threads_are_numbered_by_birth() {
    // The thread that is spawned first has the next number, wherever it stands in the text.
    let program = "spawn(3); x=1 | spawn(2); x=2 | x=3 | x=4";
    check(
        program,
        "mzk1:0.1.2.3.0.1",
        expect!["6 steps, nothing wrong, then [Finished, Finished, Finished, Finished]"],
    );
    check(
        program,
        "mzk1:1.0.2.3.0.1",
        expect!["6 steps, nothing wrong, then [Finished, Finished, Finished, Finished]"],
    );
    check(
        program,
        "mzk1:0.3",
        expect!["step 2: the schedule wants thread 3, but only threads 0 to 2 exist by then"],
    );
    let order = |schedule: &str| {
        let replay = replay(&mut script(program), &schedule.parse().unwrap()).unwrap();
        let steps = replay.execution.steps.iter();
        steps.map(|step| step.decision.thread.to_string()).collect::<Vec<_>>().join(" ")
    };
    expect!["T0 T1 T3 T2"].assert_eq(&order("mzk1:0.1.2.3"));
    expect!["T1 T0 T2 T3"].assert_eq(&order("mzk1:1.0.2.3"));
    expect!["T1 T2 T0 T3"].assert_eq(&order("mzk1:1.2.0.3"));
}

/// The threads that are there at the start.
fn initial(script: &Script) -> ThreadSet {
    let mut script = script.clone();
    script.reset();
    let threads = (0..script.n_threads()).map(ThreadId::new);
    threads.filter(|&thread| script.next(thread) != Next::Unborn).collect()
}

/// The steps of an execution, from its decisions.
fn execution(script: &Script, schedule: &Schedule) -> Execution {
    let mut script = script.clone();
    script.reset();
    let mut execution = Execution::default();
    for &decision in schedule.decisions() {
        let operation = script.next(decision.thread).operation().expect("it was taken");
        let effect = match script.step(decision) {
            Ok(effect) => effect,
            Err(failure) => failure.effect,
        };
        execution.steps.push(Step { decision, operation, effect });
    }
    execution
}

#[test]
fn every_execution_can_be_printed_and_followed() {
    let spawning = Shape { spawn_join: true, n_threads: 3..=4, ..Shape::variables() };
    let mut n_renumbered = 0;
    for shape in [Shape::everything(), spawning] {
        for seed in seeds(0..400) {
            let script = generate(seed, &shape);
            // The mirror image, so that children may come before their parents.
            let mirror: Vec<usize> = (0..script.n_threads()).rev().collect();
            for script in [script.rename_threads(&mirror), script] {
                n_renumbered += check_round_trip(&script);
            }
        }
    }
    assert!(
        n_renumbered > share(1_000),
        "only {n_renumbered} schedules have other numbers when printed"
    );
}

/// Prints and follows the executions of a program; says how many are printed with other numbers.
fn check_round_trip(script: &Script) -> usize {
    let schedules = Mutex::new(Vec::new());
    let watch = |ended: Ended<'_, Script>| {
        schedules.lock().expect("the lock is not poisoned").push(ended.schedule.clone())
    };
    let mut options = Options::new().reduction(Reduction::None).stop_at_first(false);
    options.max_executions = Some(30);
    Explorer::new(options).observe(&watch).run(|| script.clone()).expect("it is a program");
    let initial = initial(script);
    let mut n_renumbered = 0;
    for schedule in schedules.into_inner().expect("the lock is not poisoned") {
        let execution = execution(script, &schedule);
        let printed = by_birth(&execution, initial).to_string();
        let read: Schedule = printed.parse().expect("it was printed just now");
        assert_eq!(read.to_string(), printed, "{script}");
        let again = replay(&mut script.clone(), &read);
        let again = again.unwrap_or_else(|error| panic!("{script}\n{printed}: {error}"));
        assert_eq!(again.execution, execution, "{script}\n{printed}");
        assert_eq!(by_birth(&again.execution, initial), read, "{script}\n{printed}");
        n_renumbered += usize::from(schedule != read);
    }
    n_renumbered
}

#[test]
fn a_schedule_of_another_program_does_no_harm() {
    let mut n_followed = 0;
    for seed in seeds(0..2_000) {
        let [one, other] = [seed, seed + 1].map(|seed| generate(seed, &Shape::everything()));
        let outcome = Explorer::new(Options::new()).run(|| one.clone()).expect("it is a program");
        let mazurka_core::Verdict::Violated(counterexample) = outcome.verdict else { continue };
        n_followed += usize::from(replay(&mut other.clone(), &counterexample.schedule).is_ok());
    }
    assert!(n_followed > 0, "some happen to fit");
}
