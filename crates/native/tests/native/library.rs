//! What functions of the C library do to memory is seen: in `c_library.c`, two threads use the
//! same.

use crate::program::{CLANG, Compilers, GCC, Program};
use mazurka_core::Verdict;
use serde_json::json;

/// The cases of a program, by their names.
fn cases(program: &Program) -> Vec<String> {
    let output = program.command().output().expect("the program can be started");
    let text = String::from_utf8(output.stdout).expect("names are text");
    text.lines().map(str::to_owned).collect()
}

/// What is wrong with an answer to a case: nothing, if it is as the name says.
fn fault(program: &Program, case: &str) -> Option<String> {
    let answer = program.explore_with(&[case], &json!({}));
    let what = || format!("{case}: {} {:?}", answer.message, answer.error);
    let Some(Verdict::Violated(found)) = &answer.verdict else {
        let holds = matches!(answer.verdict, Some(Verdict::Holds(_)));
        return (!holds || !case.starts_with("holds_")).then(what);
    };
    let kind = found.violation.kind.name();
    // A block that is freed while another thread uses it is a race, or was freed before.
    let is_freed = case.starts_with("freed_");
    let wanted = if is_freed { ["race", "memory"] } else { ["race", "race"] };
    if case.starts_with("holds_") || !wanted.contains(&kind) {
        return Some(what());
    }
    // The function is named where it is called.
    let function = case.strip_prefix("freed_").unwrap_or(case);
    let places = found.accesses.iter().filter_map(|access| access.stack.first());
    // Headers have other functions in the place of some.
    let others = [("atoi", "strtol"), ("getline", "getdelim"), ("uname", "memcpy")];
    // Names are told without the underscores of the library.
    let starts = |within: &str| function.trim_start_matches('_').starts_with(within);
    let is_it = |within: &str| starts(within) || others.contains(&(function, within));
    let is_named = places.filter_map(|place| place.within.as_deref()).any(is_it);
    let in_message = found.violation.message.contains(&format!(" in {function}"));
    // Those that are not in the table are told by their place alone.
    let is_place = function == "drand48";
    (!is_named && !in_message && !is_place).then(|| format!("{} names no {function}", what()))
}

fn check(by: Compilers, level: &str) {
    let program = Program::build_by(by, "c_library", &[level, "-w"]);
    let cases = cases(&program);
    assert!(cases.len() > 100, "{cases:?}");
    let faults: Vec<String> = cases.iter().filter_map(|case| fault(&program, case)).collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), cases.len(), faults.join("\n"));
}

#[test]
fn what_functions_do_to_memory_is_seen() {
    check(GCC, "-O0");
}

#[test]
fn so_it_is_in_optimised_code() {
    check(GCC, "-O2");
}

#[test]
fn so_it_is_in_code_of_clang() {
    check(CLANG, "-O0");
}

#[test]
fn so_it_is_in_optimised_code_of_clang() {
    check(CLANG, "-O2");
}

/// The same of the library of C++.
fn check_cxx(by: Compilers, level: &str) {
    let program = Program::build_by(by, "cxx_library.cc", &[level, "-w"]);
    let cases = cases(&program);
    assert!(cases.len() > 20, "{cases:?}");
    let fault = |case: &String| {
        let answer = program.explore_with(&[case], &json!({}));
        let is_right = match &answer.verdict {
            Some(Verdict::Holds(coverage)) => {
                case.starts_with("holds") && coverage.assumptions().is_empty()
            }
            Some(Verdict::Violated(found)) => {
                !case.starts_with("holds") && found.violation.kind.name() == "race"
            }
            _ => false,
        };
        (!is_right).then(|| format!("{case}: {} {:?}", answer.message, answer.error))
    };
    let faults: Vec<String> = cases.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), cases.len(), faults.join("\n"));
}

#[test]
fn members_of_the_cxx_library_are_seen() {
    check_cxx(GCC, "-O0");
    check_cxx(GCC, "-O2");
}

#[test]
fn so_they_are_in_code_of_clang() {
    check_cxx(CLANG, "-O0");
    check_cxx(CLANG, "-O2");
}

#[test]
fn what_the_library_keeps_is_put_back() {
    for by in [GCC, CLANG] {
        let program = Program::build_by(by, "kept", &[]);
        // The other thread's operation comes before each of the loads, or after all.
        program.explore(&json!({"check_checkpoints": true})).holds(4);
    }
}

#[test]
fn random_numbers_are_one_stream() {
    let program = Program::build("kept", &[]);
    let answer = program.explore_with(&["random"], &json!({}));
    // In one order, the first thread has the first number.
    answer.violated(
        "assertion",
        "kept.c:28: assertion `first != one || getenv(\"FIRST_IS_FIRST\")` failed in random_numbers",
    );
}
