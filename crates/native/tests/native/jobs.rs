//! Processes that share the search of a program, and searches that are saved and resumed, come to
//! what one process comes to in one go.

use crate::program::{Answer, Program, request};
use mazurka_core::{Limit, Statistics, Verdict};
use mazurka_protocol::Saving;
use serde_json::json;
use std::time::Duration;

/// Programs that hold, and how they are built.
const PROGRAMS: [(&str, &[&str]); 7] = [
    ("increments", &["-DN=3"]),
    ("queue", &[]),
    ("semaphore", &[]),
    ("others", &[]),
    ("futex", &[]),
    ("thread_local", &[]),
    ("mutex_counter", &[]),
];

/// Everything that is counted, but for steps that are taken again.
fn counted(answer: &Answer) -> Statistics {
    let mut statistics = answer.statistics;
    statistics.replayed = 0;
    statistics
}

#[track_caller]
fn same(one: &Answer, other: &Answer, what: &str) {
    match (&one.verdict, &other.verdict) {
        (Some(Verdict::Violated(one)), Some(Verdict::Violated(other))) => {
            assert_eq!(one.violation.kind, other.violation.kind, "{what}");
        }
        (one_verdict, other_verdict) => {
            assert_eq!(one_verdict, other_verdict, "{what} {:?} {:?}", one.error, other.error);
            assert_eq!(counted(one), counted(other), "{what}");
        }
    }
}

#[test]
fn several_processes_count_what_one_does() {
    for (name, flags) in PROGRAMS {
        let program = Program::build(name, flags);
        let alone = program.explore(&json!({ "jobs": 1 }));
        for jobs in [2, 3] {
            let together = program.explore(&json!({ "jobs": jobs, "alone": 1 }));
            same(&alone, &together, &format!("{name} by {jobs}"));
        }
    }
}

/// The whole of a search in pieces of random lengths, each in a process of its own.
fn in_pieces(program: &Program, seed: u64, jobs: usize, most: u64) -> (Answer, usize) {
    let path = program.folder().join("saved.mzk");
    let _ = std::fs::remove_file(&path);
    let (mut random, mut n_pieces) = (seed, 0);
    loop {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        let length = 1 + (random >> 33) % most;
        let mut request = request(&json!({ "jobs": jobs, "alone": 1, "max_executions": length }));
        let (after, every) = (Duration::ZERO, Saving::EVERY);
        request.save = Some(Saving { path: path.clone(), after, every, is_asked: true });
        request.resume = path.exists().then(|| path.clone());
        let answer = program.ask_typed(&request);
        n_pieces += 1;
        let is_stopped =
            matches!(answer.verdict, Some(Verdict::Inconclusive(Limit::Executions(_))));
        assert_eq!(is_stopped, path.exists(), "{:?} {:?}", answer.verdict, answer.error);
        if !is_stopped {
            return (answer, n_pieces);
        }
    }
}

#[test]
fn a_search_that_is_stopped_at_random_moments_is_none_the_worse() {
    for (name, flags) in PROGRAMS {
        let program = Program::build(name, flags);
        let whole = program.explore(&json!({ "jobs": 1 }));
        let most = 2 + whole.statistics.executions / 10;
        for (seed, jobs) in [(1, 1), (2, 1), (3, 2)] {
            let (last, n_pieces) = in_pieces(&program, seed, jobs, most);
            same(&whole, &last, &format!("{name} in {n_pieces} pieces"));
            assert!(n_pieces > 1, "{name}: {n_pieces}");
        }
    }
}

/// A search that lasts is saved now and then, and goes on.
#[test]
fn a_search_that_is_saved_on_the_way_is_none_the_worse() {
    let program = Program::build("increments", &["-DN=4"]);
    let whole = program.explore(&json!({ "jobs": 1 }));
    for jobs in [1, 2] {
        let path = program.folder().join("on_the_way.mzk");
        let mut request = request(&json!({ "jobs": jobs, "alone": 1 }));
        let (after, every) = (Duration::ZERO, Duration::from_millis(5));
        request.save = Some(Saving { path: path.clone(), after, every, is_asked: true });
        same(&whole, &program.ask_typed(&request), "on the way");
        assert!(!path.exists(), "it has come to its end");
    }
}

#[test]
fn files_that_are_no_search_of_the_program_are_refused() {
    let program = Program::build("increments", &["-DN=3"]);
    let path = program.folder().join("saved.mzk");
    let resume = |program: &Program, options: serde_json::Value| {
        let mut request = request(&options);
        request.resume = Some(path.clone());
        let answer = program.ask_typed(&request);
        answer.error.unwrap_or_else(|| format!("{:?}", answer.verdict))
    };
    let check = |error: String, expected: &str| assert!(error.contains(expected), "{error}");
    check(resume(&program, json!({})), "it cannot be read");
    std::fs::write(&path, "").expect("there is room");
    check(resume(&program, json!({})), "not a saved search");
    std::fs::write(&path, "mzk-search-1\nold").expect("there is room");
    check(resume(&program, json!({})), "saved by another version");
    let mut first = request(&json!({ "max_executions": 50 }));
    let (after, every) = (Duration::ZERO, Saving::EVERY);
    first.save = Some(Saving { path: path.clone(), after, every, is_asked: true });
    program.ask_typed(&first);
    let bytes = std::fs::read(&path).expect("it is saved");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("there is room");
    check(resume(&program, json!({})), "damaged");
    std::fs::write(&path, &bytes).expect("there is room");
    check(resume(&program, json!({ "reduction": "source" })), "cannot go on with");
    check(resume(&program, json!({ "retries": 7 })), "`--retries`");
    let other = Program::build("queue", &[]);
    check(resume(&other, json!({})), "another program");
    check(resume(&program, json!({})), "Holds");
}
