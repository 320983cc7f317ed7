//! `mazurka check --engine statespace`: exit status, JSON, replay, and what is refused.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn mazurka(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mazurka"))
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c"))
        .output()
        .expect("the command runs")
}

fn check(file: &str, arguments: &[&str]) -> (i32, Value) {
    let mut all = vec!["check", file, "--engine", "statespace", "--json", "-"];
    all.extend(arguments);
    let output = mazurka(&all);
    let text = String::from_utf8_lossy(&output.stdout);
    let report = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{error}: {text}\n{}", String::from_utf8_lossy(&output.stderr))
    });
    (output.status.code().expect("it exits"), report)
}

#[test]
fn a_program_that_holds() {
    for arguments in [&[][..], &["--order", "bfs"], &["--jobs", "2"], &["--storage", "exact"]] {
        let (status, report) = check("peterson.c", arguments);
        assert_eq!(status, 0, "{report:#}");
        assert_eq!(report["engine"], "statespace");
        assert_eq!(report["verdict"], "holds");
        assert_eq!(report["stats"]["states"], 144);
        assert_eq!(report["stats"]["states_matched"], 100);
        assert_eq!(report["stats"]["transitions"], 243);
        let coverage = report["coverage"].as_str().expect("there is a sentence");
        assert!(coverage.starts_with(
            "no assertion failure, crash, memory error, overflow, deadlock or data race in any execution"
        ));
    }
}

#[test]
fn a_violation_can_be_replayed() {
    for (file, flag, kind) in [
        ("peterson.c", "-DTURN=me", "assertion"),
        ("lock_order.c", "-DNOTHING", "deadlock"),
        ("treiber_stack.c", "-DSTORE", "assertion"),
    ] {
        for order in ["dfs", "bfs"] {
            let (status, report) = check(file, &[flag, "--order", order]);
            assert_eq!(status, 1, "{report:#}");
            assert_eq!(report["violation"]["kind"], kind);
            let schedule = report["violation"]["schedule"].as_str().expect("there is a schedule");
            let output =
                mazurka(&["replay", file, flag, "--engine", "statespace", "--schedule", schedule]);
            assert_eq!(output.status.code(), Some(1), "{file} {schedule}: {output:?}");
        }
    }
}

#[test]
fn races_are_found_unless_they_are_allowed() {
    let (status, report) = check("counter_race.c", &[]);
    assert_eq!((status, &report["violation"]["kind"]), (1, &"race".into()));
    let (status, report) = check("counter_race.c", &["--races", "allow"]);
    assert_eq!((status, &report["violation"]["kind"]), (1, &"assertion".into()));
}

#[test]
fn a_limit_is_inconclusive() {
    let (status, report) = check("bakery.c", &["--max-depth", "5"]);
    assert_eq!((status, &report["verdict"]), (3, &"inconclusive".into()));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |arguments: &[&str], part: &str| {
        let file: PathBuf = "peterson.c".into();
        let mut all = vec!["check", file.to_str().expect("it is text")];
        all.extend(arguments);
        let output = mazurka(&all);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(part), "{text}");
    };
    refused(
        &["--engine", "statespace", "--bound", "preemption=1"],
        "`--bound` is for `--engine` `native` and `vm`",
    );
    refused(
        &["--engine", "statespace", "--reduction", "dpor"],
        "`--reduction dpor` is for `--engine` `native` and `vm`",
    );
    refused(&["--engine", "statespace", "--storage", "paper"], "exact, tree, compact and bitstate");
    refused(&["--engine", "statespace", "--memory-limit", "0G"], "a size is a number above 0");
    refused(&["--engine", "vm", "--order", "bfs"], "`--order bfs` is for `--engine statespace`");
    refused(
        &["--engine", "vm", "--reduction", "ample"],
        "`--reduction ample` is for `--engine statespace`",
    );
}

/// Values that are wrong, options for other engines, files that are not there: all are told.
#[test]
fn all_that_is_wrong_is_told_at_once() {
    let words = ["check", "nothing.c", "--engine", "bmc", "--depth", "-3", "--seed", "x"];
    let more = ["--bound", "preemption=1", "--nondet", "5..1", "--jobs", "99999999999999999999"];
    let output = mazurka(&[&words[..], &more].concat());
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    for part in [
        "`--depth -3`: the number is negative",
        "`--seed x`: a number is expected",
        "`--nondet 5..1`: a range is two numbers",
        "`--jobs 99999999999999999999`: the number is too large",
        "`nothing.c` does not exist",
        "`--bound` is for `--engine` `native` and `vm`",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let output = mazurka(&["check", "x.rs", "--engine", "bmc", "--bound", "preemption=1"]);
    let text = String::from_utf8_lossy(&output.stderr);
    for part in ["`x.rs` does not exist", "`--bound` is for `--engine` `native` and `vm`"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    for command in ["model", "circuit", "simulate", "replay"] {
        let output = mazurka(&[command, "peterson.c", "--nondet", "5..1"]);
        let text = String::from_utf8_lossy(&output.stderr);
        let is_refused = output.status.code() == Some(2) && text.contains("`--nondet 5..1`: a");
        assert!(is_refused, "{command}: {text}");
    }
}

#[test]
fn variables_that_are_almost_those_of_options_are_told() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(["check", "peterson.c", "--engine", "statespace", "--quiet"]);
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c"));
    let output = command.env("MAZURKA_JBOS", "2").output().expect("the command runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let told = "`MAZURKA_JBOS` sets nothing; `MAZURKA_JOBS` is what may be meant";
    assert!(text.contains(told), "{text}");
}
