//! Trusted calls of the standard library and of crates: with their inside explored and without,
//! programs come to the same ends.
//!
//! Every row of the table of trusted functions is called by one of the programs here: those that
//! are written out, and random ones over the same objects.

mod crates;
mod source;

use mazurka_effort::seeds;
use serde_json::Value;
use source::Case;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The random programs that are tried if nothing else is said.
const SEEDS: Range<u64> = 0..8;
/// A search of the inside that takes more is given up, and what it has found by then must be found
/// without it, too.
const MAX_EXECUTIONS: &str = "4000";

/// What a search says of a program.
#[derive(Debug)]
struct Said {
    verdict: String,
    message: String,
    n_executions: u64,
    outcomes: BTreeSet<u32>,
}

fn write_project(folder: &Path, cases: &[Case], dependencies: &str) {
    let manifest =
        "[package]\nname = \"trust\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
    for (name, text) in [
        ("Cargo.toml", &*format!("{manifest}{dependencies}")),
        ("src/lib.rs", "//! Nothing.\n"),
        ("tests/trust.rs", &source::file(cases)),
    ] {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("there is room");
        std::fs::write(path, text).expect("there is room");
    }
}

/// Searches all programs.
fn search(folder: &Path, cases: &[Case], name: &str, options: &[&str]) -> BTreeMap<String, Said> {
    let told = folder.join(name);
    std::fs::create_dir_all(&told).expect("there is room");
    for case in cases {
        std::fs::write(told.join(&case.name), "").expect("there is room");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(["test", "--test", "trust", "--json", "-", "--max-executions"]);
    command.arg(MAX_EXECUTIONS).args(options).current_dir(folder);
    // Outcomes are written behind the back of the search.
    command.args(["--allow", "real=syscall"]);
    command.env("CARGO_TARGET_DIR", folder.join("target")).env("MAZURKA_OUTCOMES", &told);
    // Cargo's would come before the folder that the programs were linked with.
    let output = command.env_remove("LD_LIBRARY_PATH").output().expect("it can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut said = BTreeMap::new();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).expect("a line is an object");
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let test = word(&value["file"]).rsplit(' ').next().unwrap_or_default().to_owned();
        let bytes = std::fs::read(told.join(&test)).expect("it is there");
        let (outcomes, _) = bytes.as_chunks::<4>();
        let outcomes = outcomes.iter().map(|&it| u32::from_ne_bytes(it)).collect();
        let message = word(&value["violation"]["message"]);
        let n_executions = value["stats"]["executions"].as_u64().unwrap_or(0);
        let verdict = word(&value["verdict"]);
        said.insert(test, Said { verdict, message, n_executions, outcomes });
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.len(), cases.len(), "{name}: not all could be explored: {stderr}");
    said
}

/// How two searches of a program contradict each other; the second one explores all.
fn fault(trusting: &Said, exploring: &Said) -> Option<String> {
    let ends = |said: &Said| said.verdict != "inconclusive";
    let missing: Vec<_> = exploring.outcomes.difference(&trusting.outcomes).collect();
    let wrong: Vec<_> = trusting.outcomes.difference(&exploring.outcomes).collect();
    let is_missing = trusting.verdict == "holds" && !missing.is_empty();
    // Where a call is explored after all, the search has begun again, and what programs have
    // written before then does not count.
    let began_again =
        trusting.n_executions == exploring.n_executions && trusting.n_executions > 100;
    let is_wrong = exploring.verdict == "holds" && !wrong.is_empty() && !began_again;
    let differ = ends(trusting) && ends(exploring) && trusting.verdict != exploring.verdict;
    (is_missing || is_wrong || differ).then(|| {
        format!(
            "{} {} ({} executions), without trust {} {} ({}): missing {missing:?}, impossible {wrong:?}",
            trusting.verdict,
            trusting.message,
            trusting.n_executions,
            exploring.verdict,
            exploring.message,
            exploring.n_executions,
        )
    })
}

fn compare(folder: &str, cases: &[Case], more: &[&str]) {
    compare_lists(folder, cases, "std", "", more);
}

/// The same with these lists, for programs with dependencies.
fn compare_lists(folder: &str, cases: &[Case], lists: &str, dependencies: &str, more: &[&str]) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    write_project(&folder, cases, dependencies);
    let mut faults = Vec::new();
    let mut n_compared = 0;
    // With deadlocks a search ends at the first, so outcomes are compared without.
    for (name, options) in
        [("outcomes", &["--property", "assert,race"][..]), ("deadlocks", &[][..])]
    {
        let with = |trust: &str, name: String| {
            let options = [&["--trust", trust], options, more].concat();
            search(&folder, cases, &name, &options)
        };
        let trusting = with(lists, format!("{name}-trusted"));
        let exploring = with("none", format!("{name}-none"));
        for case in cases {
            let (one, other) = (&trusting[&case.name], &exploring[&case.name]);
            n_compared += usize::from(other.verdict != "inconclusive");
            let fault = fault(one, other);
            faults.extend(fault.map(|fault| format!("{name} {}: {fault}", case.name)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(2 * n_compared > cases.len(), "{n_compared} of {}", 2 * cases.len());
}

#[test]
fn every_row_comes_to_the_same_ends_as_its_inside() {
    compare("rust-trust-rows", &source::rows(), &[]);
}

#[test]
fn optimised_builds_come_to_the_same_ends() {
    // Every other row: how the inside comes to its ends is compared above.
    let cases: Vec<Case> = source::rows().into_iter().step_by(2).collect();
    compare("rust-trust-release", &cases, &["--release"]);
}

#[test]
fn random_programs_come_to_the_same_ends() {
    let seeds = seeds(SEEDS);
    let cases: Vec<Case> = seeds.clone().map(source::random).collect();
    compare(&format!("rust-trust-{}", seeds.start), &cases, &[]);
}

#[test]
fn random_locks_come_to_the_same_ends() {
    let seeds = seeds(SEEDS);
    let cases: Vec<Case> = seeds.clone().map(source::random_locks).collect();
    compare(&format!("rust-trust-locks-{}", seeds.start), &cases, &[]);
}

#[test]
fn time_limits_come_to_the_same_ends_by_a_virtual_clock() {
    let mut cases = source::rows();
    cases.retain(|case| case.name.contains("timeout"));
    assert!(cases.len() > 5, "{}", cases.len());
    compare("rust-trust-time", &cases, &["--time", "virtual"]);
}

#[test]
fn calls_of_crates_come_to_the_same_ends() {
    compare_lists("rust-trust-crates", &crates::rows(), crates::LISTS, crates::DEPENDENCIES, &[]);
}

/// A list that does not exist is an error, which names those that do.
#[test]
fn lists_have_names() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("rust-trust-names");
    write_project(&folder, &source::rows()[..1], "");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(["test", "--test", "trust", "--trust", "parking-lot,none,std,tokio"]);
    command.current_dir(&folder).env("CARGO_TARGET_DIR", folder.join("target"));
    let output = command.env_remove("LD_LIBRARY_PATH").output().expect("it can be started");
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for words in [
        "`--trust parking-lot`: there is no list of trusted calls",
        "the lists are `std`, `parking_lot`, `crossbeam-channel`, `flume` and `none`",
        "`--trust none` and `--trust std` contradict each other",
        "`--trust tokio` is not possible: a call of `tokio::sync` is a poll of a future",
    ] {
        assert!(said.contains(words), "no `{words}` in {said}");
    }
}
