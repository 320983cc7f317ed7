//! C++ programs, compiled by gcc and clang and explored: for each facility of the library a correct
//! program that is proved and one with a planted mistake that is found.

use crate::program::{Answer, CLANG, Compilers, GCC, Program};
use mazurka_core::Verdict;
use serde_json::json;

/// The programs of all facilities, without and with their mistakes.
fn check_facilities(by: Compilers) {
    let program = Program::build_by(by, "library.cc", &["-std=c++20"]);
    for (what, kind, message) in FACILITIES {
        let correct = program.explore_with(&[what], &json!({}));
        assert!(
            matches!(correct.verdict, Some(Verdict::Holds(_))),
            "{what}: {} {:?}",
            correct.message,
            correct.error
        );
        let wrong = program.explore_with(&[what, "wrong"], &json!({}));
        check_mistake(&wrong, what, kind, message);
    }
}

/// What is found has to be of a kind, and to be told in words of which these are a part.
fn check_mistake(answer: &Answer, what: &str, kind: &str, message: &str) {
    let Some(Verdict::Violated(found)) = &answer.verdict else {
        panic!("{what} has a mistake: {} {:?}", answer.message, answer.error);
    };
    let violation = &found.violation;
    assert_eq!(violation.kind.name(), kind, "{what}: {}", violation.message);
    assert!(violation.message.contains(message), "{what}: {}", violation.message);
}

/// What each of them gets wrong, and a part of what is said about it.
const FACILITIES: [(&str, &str, &str); 22] = [
    ("MUTEX", "race", "::n`: "),
    ("RECURSIVE", "invalid-end", "ends while it holds `recursive_::m`"),
    ("SHARED", "race", "::n`: "),
    ("CONDITION", "deadlock", "main.1 sleeps on condition"),
    ("CONDITION_ANY", "deadlock", "main.1 sleeps on condition"),
    ("SCOPED", "deadlock", "2 threads wait for each other"),
    ("ONCE", "race", "::n`: "),
    ("PROMISE", "deadlock", "main sleeps on heap(library.cc:"),
    ("ASYNC", "panic", "an exception `std::runtime_error` that is not caught: lost"),
    ("TASK", "race", "data race on `task_::shared`"),
    ("ATOMICS", "assertion", "assertion `w.load().a == 2` failed"),
    ("POINTERS", "assertion", "assertion `!BUG` failed"),
    ("STATICS", "race", "data race on `statics_::unguarded`"),
    ("LOCALS", "assertion", "assertion `alive == (BUG ? 2 : 1)` failed"),
    ("TIMED", "assertion", "assertion `n == 2` failed"),
    ("WAIT_FOR", "assertion", "assertion `in_time` failed"),
    ("SHARED_TIMED", "assertion", "assertion `false` failed"),
    ("STOP", "assertion", "assertion `seen` failed"),
    ("LATCH", "race", "data race on `latch_::data`"),
    ("BARRIER", "deadlock", "no thread is left that could wake it"),
    ("SEMAPHORE", "race", "data race on `semaphore_::data`"),
    (
        "ATOMIC_WAIT",
        "deadlock",
        "main.1 sleeps on atomic_wait_::x and no thread is left that could wake it",
    ),
];

#[test]
fn the_library_of_gcc() {
    check_facilities(GCC);
}

#[test]
fn the_library_as_clang_compiles_it() {
    check_facilities(CLANG);
}

/// As far as the program's own source declares them; what is in a union, or shares its bytes, is
/// told by its distance.
#[test]
fn fields_have_their_names() {
    let told = [
        ("0", "race", "data race on `account.balance`: "),
        ("1", "race", "data race on `account.opened.day`: "),
        ("2", "race", "data race on `account.entries[2].amount`: "),
        ("3", "race", "data race on `accounts[1][0].entries[1].amount`: "),
        ("4", "race", "data race on `account+0x"),
        ("5", "race", "data race on `account+0x"),
        ("6", "invalid-end", "`accounts[0][1].lock`"),
    ];
    for by in [GCC, CLANG] {
        let program = Program::build_by(by, "fields.cc", &[]);
        for (what, kind, part) in told {
            check_mistake(&program.explore_with(&[what], &json!({})), what, kind, part);
        }
    }
}
