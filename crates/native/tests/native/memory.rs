//! Accesses to memory that is not there: each is found on the byte, by both compilers' code and at
//! each level of optimisation.

use crate::program::{Answer, CLANG, Compilers, GCC, Program};
use mazurka_core::Verdict;
use serde_json::json;

/// What the message says, for each argument of `invalid.c`.
const INVALID: [(i32, &str); 55] = [
    (0, "+0x28` is written just behind the end of a block of 40 bytes at "),
    (1, "-0x1` is written 1 byte before the beginning of a block of 40 bytes at "),
    (2, "+0x2f` is read 7 bytes behind the end of a block of 40 bytes at "),
    (3, "-0x10` is read 16 bytes before the beginning of a block of 40 bytes at "),
    (4, "+0xfa0` is written 3960 bytes behind the end of a block of 40 bytes at "),
    (5, "is written"),
    (6, "+0x28` is written just behind the end of a block of 40 bytes at "),
    (7, "+0x28` is written just behind the end of a block of 40 bytes at "),
    (8, "+0x28` is written just behind the end of a block of 40 bytes at "),
    (9, "+0x28` is read just behind the end of a block of 40 bytes at "),
    (10, "is written just behind the end of a block of 1 byte at "),
    (11, "is written just behind the end of a block of 0 bytes at "),
    (12, "is written just behind the end of a block of 4096 bytes at "),
    (13, "is written just behind the end of a block of 100000 bytes at "),
    (14, "is written 1 byte behind the end of a block of 5000000 bytes at "),
    (15, "is written just behind the end of a block of 21 bytes at "),
    (16, "is written just behind the end of a block of 256 bytes at "),
    (17, "is written just behind the end of a block of 10 bytes at "),
    (18, "is written just behind the end of a block of 50 bytes at "),
    (19, "is written just behind the end of a block of 25 bytes at "),
    (20, "is written just behind the end of a block of 100 bytes at "),
    (21, "is written just behind the end of a block of 7 bytes at "),
    (22, "is written just behind the end of a block of 8192 bytes at "),
    (23, "+0x27` is used after it was freed at "),
    (24, "is used after it was freed at "),
    (25, "is used after it was freed at "),
    (26, "is used after it was freed at "),
    (27, "is used after it was freed at "),
    (28, "is freed twice"),
    (29, "+0x8` is freed and was not allocated"),
    (30, ", 16 bytes into a block of 40 bytes, which main has allocated"),
    (31, "`buffer[0]` is freed and was not allocated"),
    (32, "is freed and was not allocated"),
    (33, "is freed and was not allocated"),
    (34, "`buffer[0]` is given to `realloc` and was not allocated"),
    (35, "is used after it was freed"),
    (36, "is from `mmap` and is freed by `free`"),
    (37, "is used after it was freed"),
    (38, "is read after its thread main.1 has ended at "),
    (39, "is written after the function of main.1 that it belonged to has returned at "),
    (40, "is written beyond its end at "),
    (41, "is written beyond its end at "),
    (42, "is read beyond its end at "),
    (43, ""),
    (44, ""),
    (45, ""),
    (46, ""),
    (47, ""),
    (48, ""),
    (49, "just behind the end of a block of 40 bytes at "),
    (50, "just behind the end of a block of 40 bytes at "),
    (51, "is used after it was freed at "),
    (52, "is written beyond its end at "),
    (53, "is freed and was not allocated"),
    (54, "is written and is protected by `mprotect`"),
];
/// Those that are data races, too, where these are looked for.
const RACES: std::ops::RangeInclusive<i32> = 43..=48;

fn message(how: i32, answer: &Answer, kinds: &[&str]) -> String {
    let Some(Verdict::Violated(found)) = &answer.verdict else {
        panic!("{how} is not violated: {} {:?}", answer.message, answer.error);
    };
    let kind = found.violation.kind.name();
    assert!(kinds.contains(&kind), "{kind}: {}", found.violation.message);
    found.violation.message.clone()
}

fn check(by: Compilers, level: &str) {
    let program = Program::build_by(by, "invalid", &[level, "-w"]);
    let asserts = json!({ "race": false, "deadlock": false, "livelock": false });
    for options in [json!({}), asserts] {
        for (how, wanted) in INVALID {
            let is_race = options["race"] != json!(false) && RACES.contains(&how);
            let kinds: &[&str] = if is_race { &["race", "memory"] } else { &["memory"] };
            let told = message(how, &program.explore_with(&[&how.to_string()], &options), kinds);
            assert!(told.contains(wanted), "{how} {level}: {told}");
        }
        let answer = program.explore(&options);
        assert!(matches!(answer.verdict, Some(Verdict::Holds(_))), "{level}: {}", answer.message);
    }
}

#[test]
fn invalid_accesses_are_found_in_what_gcc_makes() {
    check(GCC, "-O0");
    check(GCC, "-O2");
}

#[test]
fn invalid_accesses_are_found_in_what_clang_makes() {
    check(CLANG, "-O0");
    check(CLANG, "-O2");
}

#[test]
fn who_has_allocated_and_freed_is_told() {
    let program = Program::build("invalid", &["-w"]);
    let told = message(23, &program.explore_with(&["23"], &json!({})), &["memory"]);
    assert!(told.starts_with("`heap(invalid.c:80)+0x27` is used after it was freed at "), "{told}");
    let more = ", a block of 40 bytes that main has allocated and main has freed at ";
    assert!(told.contains(more), "{told}");
}

#[test]
fn operators_of_cxx_have_to_fit() {
    let wanted = [
        (0, "is from `new` and is freed by `delete[]` at "),
        (1, "is from `new[]` and is freed by `delete` at "),
        (2, "is from `new` and is freed by `free` at "),
        (3, "is from `malloc` and is freed by `delete` at "),
        (4, "is written just behind the end of a block of 12 bytes at "),
        (5, "is used after it was freed at "),
        (6, "is freed twice at "),
        (7, "is written just behind the end of a block of 40 bytes at "),
        (8, "is used after it was freed at "),
        (9, "is from `new[]` and is freed by `delete` at "),
        (10, "is from `new` with an alignment and is freed without one"),
        (11, "is from `new` without an alignment and is freed with one"),
    ];
    for (by, level) in [(GCC, "-O0"), (GCC, "-O2"), (CLANG, "-O0"), (CLANG, "-O2")] {
        let program = Program::build_by(by, "operators.cc", &[level, "-w", "-std=c++17"]);
        for (how, wanted) in wanted {
            let answer = program.explore_with(&[&how.to_string()], &json!({}));
            let told = message(how, &answer, &["memory"]);
            assert!(told.contains(wanted), "{how} {level}: {told}");
        }
        let answer = program.explore(&json!({}));
        assert!(matches!(answer.verdict, Some(Verdict::Holds(_))), "{level}: {}", answer.message);
    }
}

#[test]
fn who_follows_a_null_pointer_is_told() {
    let source = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/null_pointer.c"),
    );
    let source = source.expect("the program is there");
    for by in [GCC, CLANG] {
        for how in 0..9 {
            let program =
                Program::build_by(by, "null_pointer", &["-w", "-O0", &format!("-DHOW={how}")]);
            let told = message(how, &program.explore(&json!({ "jobs": 2 })), &["memory"]);
            let rest = told.strip_prefix("a null pointer is followed at ");
            let line = rest.and_then(|it| it.split("null_pointer.c:").nth(1)?.split(':').next());
            let line: usize = line.and_then(|it| it.parse().ok()).expect("it has a place");
            let line = source.lines().nth(line - 1).expect("it is in the source");
            assert!(line.contains("where"), "{how}: {told}: {line}");
        }
    }
}
