//! What people are shown of typical mistakes, to the letter: the files of `tests/traces`.
//!
//! From each of them alone one can say what to change in the program. `UPDATE_EXPECT=1` rewrites
//! them; read what has changed.

use crate::support::checkout::root;
use crate::support::{Said, say};
use expect_test::expect_file;
use std::path::Path;
use std::process::Command;

/// Runs the command in a folder of the repository.
fn mazurka(folder: &str, arguments: &str) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(arguments.split(' ')).current_dir(root().join(folder)).env("COLUMNS", "80");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus-rust");
    command.env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
    for name in ["CC", "CFLAGS", "RUSTFLAGS", "LD_LIBRARY_PATH", "LC_ALL", "LC_CTYPE", "LANG"] {
        command.env_remove(name);
    }
    say(command.env_remove("CLICOLOR_FORCE").env_remove("GITHUB_ACTIONS"))
}

/// Compares what is printed of a violation to a file.
#[track_caller]
fn check(name: &str, folder: &str, arguments: &str) {
    let said = mazurka(folder, arguments).ends_with(1);
    let file = root().join("crates/cli/tests/traces").join(name).with_extension("txt");
    expect_file![file].assert_eq(&format!("$ mazurka {arguments}\n{}", timeless(&said.stdout)));
}

/// A text without times and how much was searched: where these stand depends on how long they are.
fn timeless(text: &str) -> String {
    let lines = text.lines().map(|line| without_aside(line).trim_end().to_owned());
    let is_shown = |(kept, line): &(String, &str)| !kept.is_empty() || line.is_empty();
    lines.zip(text.lines()).filter(is_shown).map(|(kept, _)| kept + "\n").collect()
}

fn without_aside(line: &str) -> &str {
    const COUNTED: [&str; 4] = ["execution", "executions", "states", "traces"];
    let is_number = |it: char| it.is_ascii_digit() || it == '.';
    let Some(timed) = line.strip_suffix(" s").filter(|it| it.ends_with(is_number)) else {
        return line;
    };
    let rest = timed.trim_end_matches(is_number).trim_end().trim_end_matches(',');
    let words: Vec<&str> = rest.split(' ').rev().take(2).collect();
    match words.iter().any(|word| COUNTED.contains(word)) {
        true => &rest[..rest.len() - words.iter().map(|it| it.len()).sum::<usize>() - 1],
        false => rest,
    }
}

/// Mistakes of C programs that run themselves.
#[test]
fn c_programs() {
    for name in [
        "lock_order",
        "lost_wakeup",
        "counter_race",
        "check_then_act",
        "use_after_free",
        "double_free",
        "aba",
        "rwlock_upgrade",
        "unlock_by_another",
        "wait_with_if",
        "peterson_late_flag",
    ] {
        check(name, ".", &format!("check corpus/c/{name}.c"));
    }
    // Pointers are names, and heap blocks are told by their types.
    check("treiber_stack", ".", "check corpus/c/treiber_stack.c -DSTORE");
    // The order that is missing is named.
    check("message_relaxed", "crates/cli/tests/programs", "check message_relaxed.c");
    // Values are written as their types say, those of volatile accesses too.
    check("values", "crates/cli/tests/programs", "check values.c --trace full");
    for name in
        ["bank", "cache_race", "null_config", "full_slots", "barrier_of_three", "missing_post"]
    {
        check(name, "crates/cli/tests/programs", &format!("check {name}.c"));
    }
}

/// Mistakes of C++ programs: what the library does has no rows, and variables have the names of the
/// source.
#[test]
fn cxx_programs() {
    check("cxx_gate", "crates/cli/tests/programs", "check gate.cpp");
}

/// The same as a model.
#[test]
fn c_models() {
    for name in ["lost_wakeup", "counter_race", "check_then_act", "use_after_free", "lock_order"] {
        let arguments = format!("check corpus/c/{name}.c --engine vm");
        check(&format!("{name}_model"), ".", &arguments);
    }
    for name in ["null_config", "full_slots", "cache_race"] {
        let arguments = format!("check {name}.c --engine vm");
        check(&format!("{name}_model"), "crates/cli/tests/programs", &arguments);
    }
}

/// Mistakes of Promela models: every step with what it changes, the end, and the truth of
/// propositions where it changes.
#[test]
fn promela_models() {
    for name in [
        "lost_update",
        "late_flag",
        "crossed_requests",
        "forgotten_reset",
        "no_response",
        "door",
        "refused",
        "one_more",
    ] {
        let arguments = format!("check {name}.pml");
        check(&format!("promela_{name}"), "crates/cli/tests/programs", &arguments);
    }
}

/// Mistakes of Rust programs, all in one file: it is compiled once.
#[test]
fn rust_tests() {
    for name in [
        "counter_counts",
        "two_locks",
        "channel_hangs",
        "lost_wakeup",
        "read_then_write",
        "child_asserts",
    ] {
        let arguments = format!("test --locked --test typical --exact {name}_violated");
        check(&format!("rust_{name}"), "corpus/rust", &arguments);
    }
}
