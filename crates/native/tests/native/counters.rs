//! Additions to counters: out of order where no thread can tell, in order where a thread looks at
//! the result.

use crate::program::{CLANG, Compilers, GCC, Program};
use mazurka_core::Verdict;
use serde_json::json;

/// Three threads that add to a counter which begins as `start` and look at the result in this way,
/// with this many executions.
#[track_caller]
fn check(by: Compilers, way: &str, start: u32, executions: u64) {
    let define = [format!("-D{way}"), format!("-DSTART={start}")];
    let program = Program::build_by(by, "counters", &define.each_ref().map(String::as_str));
    program.explore(&json!({})).holds(executions);
}

#[test]
fn results_that_nobody_looks_at() {
    for by in [GCC, CLANG] {
        check(by, "UNUSED", 3, 1);
    }
}

/// What the counter was compared with was never in sight.
#[test]
fn comparisons_with_constants_that_have_one_outcome() {
    for by in [GCC, CLANG] {
        for way in ["COMPARED", "RETURNED", "SUBTRACTED", "BELOW"] {
            check(by, way, 5, 1);
        }
    }
}

/// Each may be the one that finds it so: who is the last is in order, and knows of the others, so
/// that there is no race with who frees the block.
#[test]
fn comparisons_with_constants_that_can_go_both_ways() {
    for by in [GCC, CLANG] {
        for way in ["COMPARED", "RETURNED", "SUBTRACTED"] {
            check(by, way, 3, 6);
        }
        check(by, "BELOW", 1, 6);
    }
}

/// The thread that waits for the others is the last one.
#[test]
fn the_last_one_waits_for_the_others() {
    let define = ["-DCOMPARED", "-DSTART=3", "-DWAIT", "-DEXPECTED=0"];
    let program = Program::build("counters", &define);
    program.explore(&json!({})).holds(1);
    program.explore(&json!({ "reduction": "none", "sleep": false })).holds(3);
    // A bounded search has to keep the comparing threads in order.
    program.explore(&json!({ "bounds": ["preemption=9"] })).holds(2);
}

/// One reference too few: a thread frees the block twice, in some order.
#[test]
fn a_reference_that_is_dropped_twice_is_found() {
    let define = ["-DSUBTRACTED", "-DSTART=2"];
    let answer = Program::build("counters", &define).explore(&json!({}));
    let Some(Verdict::Violated(found)) = &answer.verdict else {
        panic!("not violated: {} {:?}", answer.message, answer.error);
    };
    assert!(found.violation.message.contains("freed twice"), "{}", found.violation.message);
}

/// Ways to look at a result that are more than a comparison with a constant, with or without
/// optimisation; and the executions that they make.
const LOOKED_AT: [(&str, u64); 5] = [
    ("PASSED", 36),
    ("PASSED_ON_STACK", 36),
    ("PASSED_SECOND_ON_STACK", 36),
    ("POINTED", 36),
    ("MASKED", 12),
];

/// All that is more than a comparison with a constant keeps additions in order.
#[test]
fn results_that_somebody_looks_at() {
    for by in [GCC, CLANG] {
        for (way, executions) in
            LOOKED_AT.into_iter().chain([("INDEXED", 36), ("COMPARED_WITH_VARIABLE", 6)])
        {
            check(by, way, 3, executions);
            check(by, way, 5, executions);
        }
    }
}

/// Without optimisation a result is on the stack, where more is not understood; nothing is missed.
#[test]
fn results_without_optimisation() {
    for by in [GCC, CLANG] {
        for (way, executions) in LOOKED_AT.into_iter().chain([("COMPARED", 6), ("RETURNED", 6)]) {
            let define = [format!("-D{way}"), "-DSTART=3".to_owned(), "-O0".to_owned()];
            let program = Program::build_by(by, "counters", &define.each_ref().map(String::as_str));
            program.explore(&json!({})).holds(executions);
        }
    }
}
