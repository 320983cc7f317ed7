//! `mazurka test` on the tests of `corpus/rust`: the last word of each name is what is to be found.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn mazurka(arguments: &[&str]) -> Output {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/rust");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.arg("test").args(arguments).arg("--locked").current_dir(project);
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus-rust"));
    // Cargo's would come before the folder that the programs were linked with.
    command.env_remove("LD_LIBRARY_PATH").env("COLUMNS", "100");
    command.output().expect("the command can be started")
}

/// Runs these tests of one file, and compares what is found to their names.
fn check(file: &str, names: &[&str]) {
    check_with(&[], file, names);
}

/// The same with more options.
fn check_with(options: &[&str], file: &str, names: &[&str]) {
    let mut arguments = vec!["--test", file, "--exact", "--json", "-", "--time-limit", "60s"];
    arguments.extend(options);
    arguments.extend(names);
    let output = mazurka(&arguments);
    let text = String::from_utf8_lossy(&output.stdout);
    let mut found: Vec<(String, String)> = text
        .lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).expect("a line is an object");
            let word = |name: &str| value[name].as_str().expect("a word").to_owned();
            (word("file"), word("verdict"))
        })
        .collect();
    found.sort();
    let mut expected: Vec<(String, String)> = names
        .iter()
        .map(|name| {
            let (_, verdict) = name.rsplit_once('_').expect("a name ends with a verdict");
            (format!("test {file} {name}"), verdict.to_owned())
        })
        .collect();
    expected.sort();
    assert_eq!(found, expected, "{}", String::from_utf8_lossy(&output.stderr));
    let is_violated = names.iter().any(|name| name.ends_with("violated"));
    assert_eq!(output.status.code(), Some(i32::from(is_violated)));
}

#[test]
fn the_standard_library() {
    check(
        "std",
        &[
            "mutex_holds",
            "mutex_violated",
            "condvar_holds",
            "condvar_violated",
            "rwlock_holds",
            "rwlock_violated",
            "barrier_holds",
            "barrier_violated",
            "mpsc_holds",
            "mpsc_violated",
            "sync_channel_holds",
            "sync_channel_violated",
            "once_lock_holds",
            "once_lock_violated",
            "scope_holds",
            "scope_violated",
            "park_holds",
            "park_violated",
            "unsafe_violated",
            "should_panic_holds",
            "result_violated",
        ],
    );
}

// Not here, since they take longer than a test may: `dashmap_holds` and `multi_thread_holds`. Without
// a bound, parking_lot's `condvar_holds` and `two_locks_violated` do so, too.
#[test]
fn crates_that_many_stand_on() {
    check("parking_lot", &["mutex_holds", "mutex_violated", "condvar_violated"]);
    let bound = ["--bound", "preemption=1"];
    check_with(&bound, "parking_lot", &["condvar_holds", "two_locks_violated"]);
    check(
        "crossbeam",
        &[
            "channel_holds",
            "channel_violated",
            "deque_holds",
            "deque_violated",
            "epoch_holds",
            "epoch_violated",
            "queue_holds",
            "queue_violated",
        ],
    );
    check(
        "others",
        &[
            "arc_swap_holds",
            "arc_swap_violated",
            "dashmap_violated",
            "flume_holds",
            "flume_violated",
        ],
    );
    check("tokio", &["current_thread_holds", "current_thread_violated", "multi_thread_violated"]);
}

#[test]
fn a_violation_is_told_and_can_be_replayed() {
    let output = mazurka(&["--test", "std", "scope_violated"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let message = "`main` panicked at tests/std.rs";
    assert!(text.contains(message), "{text}");
    assert!(text.contains("Summary 1 test: 1 violated"), "{text}");
    let schedule = text.split("--replay ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let schedule = schedule.expect("it says how to replay it");
    let again = mazurka(&["--test", "std", "--exact", "scope_violated", "--replay", schedule]);
    let text = String::from_utf8_lossy(&again.stdout);
    assert_eq!(again.status.code(), Some(1), "{text}");
    assert!(text.contains("Violated") && text.contains("the test failed"), "{text}");
}

#[test]
fn what_cannot_be_run_is_named() {
    let output = mazurka(&["--test", "std", "no_such_test"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error: no test was run"));
    let output = mazurka(&["--test", "std", "ignored"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = mazurka(&["--manifest-path", "nowhere/Cargo.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no cargo project here"));
}
