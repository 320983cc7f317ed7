//! What threads do to each other in places that are easily overlooked, and what each has for itself:
//! the cases of `hidden.c`, whose names begin with what is to be said of them.

use crate::program::{Answer, CLANG, Compilers, GCC, Program};
use mazurka_core::Verdict;
use serde_json::json;

fn is_right(case: &str, answer: &Answer) -> bool {
    match &answer.verdict {
        Some(Verdict::Holds(_)) => case.starts_with("holds_"),
        Some(Verdict::Violated(found)) => case.starts_with(found.violation.kind.name()),
        None => case.starts_with("refused_") && answer.error.is_some(),
        _ => false,
    }
}

fn check(by: Compilers, level: &str) {
    let program = Program::build_by(by, "hidden", &[level, "-w"]);
    let output = program.command().output().expect("the program can be started");
    let text = String::from_utf8(output.stdout).expect("names are text");
    let fault = |case: &str| {
        let answer = program.explore_with(&[case], &json!({ "check_checkpoints": true }));
        let what = || format!("{case}: {} {:?}", answer.message, answer.error);
        (!is_right(case, &answer)).then(what)
    };
    let faults: Vec<String> = text.lines().filter_map(fault).collect();
    assert!(text.lines().count() > 30, "{text}");
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn it_is_seen() {
    check(GCC, "-O0");
    check(GCC, "-O2");
}

#[test]
fn it_is_seen_in_code_of_clang() {
    check(CLANG, "-O0");
    check(CLANG, "-O2");
}

#[test]
fn what_does_not_fit_the_heap_is_named() {
    let answer = Program::build("hidden", &[]).explore_with(&["refused_block"], &json!({}));
    let error = answer.error.expect("it is refused");
    assert!(error.contains("an allocation of 8192 MB at "), "{error}");
    assert!(error.contains("is not supported: a thread has 4096 MB in all"), "{error}");
}
