//! Threads that begin and memory that is allocated before `main`, and code that runs after it, are
//! explored like all others.

use crate::program::{CLANG, GCC, Program};
use mazurka_core::Verdict;
use serde_json::json;

#[track_caller]
fn check(how: u32, wrong: u32, expected: &str) {
    for by in [GCC, CLANG] {
        let defines = [format!("-DHOW={how}"), format!("-DWRONG={wrong}")];
        let program = Program::build_by(by, "around_main", &[&defines[0], &defines[1], "-w"]);
        let answer = program.explore(&json!({}));
        let found = match &answer.verdict {
            Some(Verdict::Holds(_)) => "holds",
            Some(Verdict::Violated(found)) => found.violation.kind.name(),
            _ => panic!("{} {:?}", answer.message, answer.error),
        };
        assert_eq!(found, expected, "{how}, {wrong}: {}", answer.message);
    }
}

#[test]
fn a_thread_that_a_constructor_starts_is_explored() {
    check(0, 1, "assertion");
    check(0, 0, "assertion");
    check(0, 3, "holds");
}

#[test]
fn a_destructor_runs_beside_threads() {
    check(1, 1, "assertion");
    check(1, 3, "holds");
}

/// A block is known although no execution has allocated it before `main`.
#[test]
fn memory_that_a_constructor_allocates_is_watched() {
    check(3, 0, "holds");
    check(3, 1, "memory");
    check(3, 2, "memory");
    check(3, 4, "memory");
}

#[test]
fn constructors_handlers_and_destructors_have_their_order() {
    check(2, 4, "assertion");
    check(2, 5, "holds");
}
