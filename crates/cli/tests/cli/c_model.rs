//! What C means as a model, to every engine that takes it as one: the machine, the graph of states
//! and circuits. The programs are those of `corpus/c/model`.
//!
//! A line `// expect: violated assertion` is the verdict, `// arguments: --races allow` is what the
//! command is given, and `// says: …` are words that the sentence of a proof or a refusal has or,
//! with a `!` in front, has not.

use crate::support::{run, with_file};
use std::path::{Path, PathBuf};

const ENGINES: [&[&str]; 3] = [
    &["--engine", "vm"],
    &["--engine", "statespace"],
    &["--engine", "portfolio", "--recursion", "4"],
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c/model")
}

/// What an engine says: the verdict, with the kind of a violation, and the sentence.
fn ask(file: &str, arguments: &[&str]) -> (String, String) {
    let all = ["check", file, "--json", "-", "--time-limit", "60s"];
    let said = run(&folder(), &[&all, arguments].concat());
    if said.status == Some(2) {
        return ("refused".to_owned(), said.stderr);
    }
    let json: serde_json::Value = serde_json::from_str(&said.stdout)
        .unwrap_or_else(|_| panic!("{file} {arguments:?}: {}{}", said.stdout, said.stderr));
    let verdict = json["verdict"].as_str().expect("there is one");
    let verdict = match json["violation"]["kind"].as_str() {
        Some(kind) => format!("{verdict} {kind}"),
        None => verdict.to_owned(),
    };
    (verdict, json["coverage"].to_string())
}

/// Holds all engines to the programs whose names begin like this.
fn hold_to(prefix: &str) {
    let entries = std::fs::read_dir(folder()).expect("the corpus is there");
    let names = entries.map(|it| it.expect("it can be read").file_name().into_string());
    let mut names: Vec<String> = names.map(|it| it.expect("it is UTF-8")).collect();
    names.retain(|name| name.starts_with(prefix) && name.ends_with(".c"));
    names.sort();
    assert!(!names.is_empty(), "where are the programs?");
    let mut wrong = Vec::new();
    for name in names {
        let text = std::fs::read_to_string(folder().join(&name)).expect("it can be read");
        let find = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        let expected = find("// expect: ").expect("something is expected");
        let arguments: Vec<&str> =
            find("// arguments: ").unwrap_or("").split_whitespace().collect();
        let words = find("// says: ").unwrap_or("");
        for engine in ENGINES {
            let (verdict, sentence) = ask(&name, &[&arguments, engine].concat());
            let has_words = match words.strip_prefix('!') {
                Some(words) => !sentence.contains(words),
                None => sentence.contains(words),
            };
            if verdict != expected || !has_words {
                wrong.push(format!("{name} {engine:?}: {verdict}, {sentence}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pointers_are_numbers_like_addresses() {
    hold_to("pointer_");
}

#[test]
fn empty_parentheses_are_no_parameters() {
    hold_to("parameters_");
}

#[test]
fn functions_are_atomic_by_their_names() {
    hold_to("atomic_");
}

#[test]
fn errors_are_calls() {
    hold_to("error_");
}

#[test]
fn vacuous_proofs_say_so() {
    hold_to("vacuous_");
}

#[test]
fn everything_is_initialised_as_circuits_have_it() {
    hold_to("initialise_");
}

#[test]
fn names_have_dollars() {
    hold_to("name_");
}

#[test]
fn exit_ends_the_program() {
    hold_to("exit_");
}

#[test]
fn values_are_assumed_where_they_may_be_missing() {
    hold_to("value_");
}

#[test]
fn one_of_those_at_a_barrier_is_told_so() {
    hold_to("barrier_");
}

#[test]
fn constants_are_told_from_variables() {
    hold_to("const_");
}

/// Which is why a variable for a thread needs no value for what is said.
#[test]
fn joining_what_is_no_thread_is_wrong_natively_too() {
    let (verdict, _) = ask("value_thread_missing.c", &["--engine", "native"]);
    assert_eq!(verdict, "violated assertion");
}

/// Arrivals at a barrier commute where all threads take part in each round and none looks at who
/// was the last; else they are in order, also in a search that is saved and goes on.
#[test]
fn arrivals_at_a_barrier_commute() {
    let text = include_str!("../../../native/tests/programs/barrier_rounds.c");
    let check = |more: &[&str]| {
        let arguments: Vec<&str> =
            ["check", "x.c", "--engine", "vm"].iter().chain(more).copied().collect();
        with_file("x.c", text, &arguments)
    };
    check(&[]).ends_with(0).prints(&["1 trace,"]);
    check(&["-DTHREADS=5", "-DROUNDS=4"]).ends_with(0).prints(&["1 trace,"]);
    check(&["--jobs", "2"]).ends_with(0).prints(&["1 trace,"]);
    check(&["--save", "x.mzs"]).ends_with(0).prints(&["1 trace,"]);
    check(&["-DTHREADS=2", "-DSERIAL"]).ends_with(0).prints(&["4 traces,"]);
    check(&["-DPARTIES=2", "-DROUNDS=1"]).ends_with(0).prints(&["24 traces,"]);
    check(&["-DPARTIES=2", "-DROUNDS=1", "--jobs", "2"]).ends_with(0).prints(&["24 traces,"]);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("x.c"), text).expect("a file can be written");
    let ordered = ["check", "x.c", "--engine", "vm", "-DPARTIES=2", "-DROUNDS=1"];
    let stopped = [&ordered[..], &["--max-executions", "5", "--save", "x.mzs"]].concat();
    run(folder.path(), &stopped).ends_with(3);
    let resumed = [&ordered[..], &["--resume", "x.mzs"]].concat();
    run(folder.path(), &resumed).ends_with(0).prints(&["24 traces,"]);
    check(&["-DRACE"]).ends_with(1).prints(&["wait for ever"]);
    for reduction in ["none", "source", "dpor", "persistent", "transactions"] {
        check(&["-DTHREADS=2", "--reduction", reduction]).ends_with(0);
    }
    check(&["-DTHREADS=2", "--memory", "rc11"]).ends_with(0);
    check(&["-DTHREADS=2", "--reduction", "none", "--stateful"]).ends_with(0);
}
