//! Time limits: they hold wherever the program is, and say where it was.

use crate::program::{CLANG, GCC, Program};
use mazurka_core::{Limit, Verdict};
use serde_json::json;

/// More than a limit and a second, on a machine with other work.
const SOON_S: f64 = 3.0;

#[track_caller]
fn stuck(how: u32, line: u32) {
    let program = Program::build_by(GCC, "stuck", &[&format!("-DHOW={how}"), "-w"]);
    let options = json!({"time_limit_ms": 500, "allow": ["real=pipe"]});
    let answer = program.explore(&options);
    let Some(Verdict::Inconclusive(Limit::Stuck { thread, at: Some(at), .. })) = &answer.verdict
    else {
        panic!("{:?} {:?}", answer.verdict, answer.error);
    };
    assert_eq!((thread.as_str(), at.line), ("main.1", line), "{at}");
    assert!(answer.time_s < SOON_S, "{} s", answer.time_s);
    assert_eq!(answer.output.status.code(), Some(3));
}

#[test]
fn a_thread_that_computes_for_ever_is_left() {
    stuck(0, 13);
}

#[test]
fn a_thread_that_sleeps_in_the_kernel_is_left() {
    stuck(1, 18);
}

/// A violation that was replayed stays one, whatever the search for a shorter one meets.
#[test]
fn a_violation_outlives_a_thread_that_is_stuck_while_it_is_shortened() {
    let mut n_violated = 0;
    for wrong in [0, 1] {
        let program =
            Program::build_by(GCC, "stuck_elsewhere", &[&format!("-DWRONG={wrong}"), "-w"]);
        let answer = program.explore(&json!({"time_limit_ms": 500, "shorten": true}));
        match &answer.verdict {
            Some(Verdict::Violated(found)) => {
                n_violated += 1;
                assert_eq!(found.violation.kind.name(), "assertion");
                assert_eq!(found.story.last().map(|it| it.operation.as_str()), Some("load"));
                // It takes the time of the thread that is left.
                assert!(answer.time_s > 0.4, "nothing was stuck: {} s", answer.time_s);
            }
            // The other order was met first.
            Some(Verdict::Inconclusive(Limit::Stuck { .. })) => {}
            other => panic!("{other:?} {:?}", answer.error),
        }
    }
    assert!(n_violated > 0, "no violation came before the thread that is stuck");
}

/// One execution of as many steps as there may be takes longer than this.
#[test]
fn the_time_is_over_in_the_middle_of_an_execution() {
    let program = Program::build("long", &[]);
    let answer = program.explore(&json!({"time_limit_ms": 1}));
    let is_over = matches!(&answer.verdict, Some(Verdict::Inconclusive(Limit::Time(_))));
    assert!(is_over, "{:?} {:?}", answer.verdict, answer.error);
    // One that is nearly through may come to its end.
    assert!(answer.statistics.executions <= 1);
    assert!(answer.time_s < SOON_S, "{} s", answer.time_s);
}

/// Writing the report of a long execution took a minute.
#[test]
fn a_long_execution_is_told_soon() {
    let program = Program::build("long", &["-DWRONG"]);
    let answer = program.explore(&json!({}));
    let Some(Verdict::Violated(found)) = &answer.verdict else {
        panic!("{} {:?}", answer.message, answer.error);
    };
    assert!(found.story.len() > 40_000);
}

#[test]
fn stacks_have_the_size_of_the_system_or_that_is_asked_for() {
    for how in [0, 1] {
        let define = format!("-DHOW={how}");
        let answer = Program::build("stacks", &[&define]).explore(&json!({}));
        let holds = matches!(answer.verdict, Some(Verdict::Holds(_)));
        assert!(holds, "{how}: {} {:?}", answer.message, answer.error);
    }
    let answer = Program::build("stacks", &["-DHOW=2"]).explore(&json!({}));
    let Some(Verdict::Violated(found)) = &answer.verdict else {
        panic!("{} {:?}", answer.message, answer.error);
    };
    assert!(found.violation.message.starts_with("stack overflow"), "{}", answer.message);
}

#[test]
fn a_stack_that_is_destroyed_is_a_violation_of_the_program() {
    for by in [GCC, CLANG] {
        for level in ["-O0", "-O2"] {
            let program = Program::build_by(by, "stacks", &["-DHOW=3", level]);
            let answer = program.explore(&json!({}));
            let Some(Verdict::Violated(found)) = &answer.verdict else {
                panic!("{} {:?}", answer.message, answer.error);
            };
            assert_eq!(found.violation.kind.name(), "memory", "{}", answer.message);
        }
    }
}

#[test]
fn more_threads_than_there_are_numbers_for_are_refused_where_they_begin() {
    let answer = Program::build("many_threads", &[]).explore(&json!({}));
    let error = answer.error.expect("there is no verdict");
    assert!(error.contains("many_threads.c:15"), "{error}");
    assert!(error.contains("a program has at most 1024 threads that were not joined"), "{error}");
    assert_eq!(answer.output.status.code(), Some(2));
}
