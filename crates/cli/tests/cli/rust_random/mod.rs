//! Random programs over the standard library of Rust: what every reduction finds them to come to is
//! what an enumeration of all states does, and none is taken for one that is not deterministic.

mod oracle;
mod program;
mod source;

use mazurka_effort::seeds;
use oracle::Ends;
use program::{Program, program};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs that are tried if nothing else is said.
const SEEDS: Range<u64> = 0..24;
/// A search of more executions is given up, and what it has found by then must be possible.
const MAX_EXECUTIONS: &str = "1500";

struct Case {
    name: String,
    program: Program,
    ends: Ends,
}

/// What a search says of a program.
#[derive(Debug)]
struct Said {
    verdict: String,
    message: String,
    outcomes: BTreeSet<u32>,
}

/// Writes a project with a test for each program.
fn write_project(folder: &Path, cases: &[Case]) {
    let manifest =
        "[package]\nname = \"random\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
    let programs = cases.iter().map(|case| (case.name.as_str(), &case.program));
    for (name, text) in [
        ("Cargo.toml", manifest),
        ("src/lib.rs", "//! Nothing.\n"),
        ("tests/random.rs", &source::file(programs)),
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
    command.args(["test", "--test", "random", "--offline", "--json", "-", "--max-executions"]);
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
        said.insert(test, Said { verdict: word(&value["verdict"]), message, outcomes });
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.len(), cases.len(), "{name}: not all could be explored: {stderr}");
    said
}

/// What is wrong with what a search of all outcomes says of a program.
fn fault(case: &Case, said: Option<&Said>) -> Option<String> {
    let Some(said) = said else { return Some("could not be explored".to_owned()) };
    let expected = &case.ends.outcomes;
    let wrong: Vec<_> = said.outcomes.difference(expected).collect();
    let missing: Vec<_> = expected.difference(&said.outcomes).collect();
    let is_whole = said.verdict == "holds";
    let is_right = wrong.is_empty() && (missing.is_empty() || !is_whole);
    let is_known = is_whole || said.verdict == "inconclusive";
    (!is_right || !is_known).then(|| {
        format!("{} {}: impossible {wrong:?}, missing {missing:?}", said.verdict, said.message)
    })
}

#[test]
fn every_reduction_comes_to_what_is_possible() {
    let seeds = seeds(SEEDS);
    let case = |seed: u64| {
        let program = program(seed);
        let ends = oracle::ends(&program)?;
        Some(Case { name: format!("seed_{seed}"), program, ends })
    };
    let cases: Vec<Case> = seeds.clone().filter_map(case).collect();
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("rust-random-{}", seeds.start));
    write_project(&folder, &cases);
    let mut faults = Vec::new();
    let mut n_whole = 0;
    let searches: [(&str, &[&str]); 6] = [
        ("optimal", &["--reduction", "optimal"]),
        ("dpor", &["--reduction", "dpor"]),
        ("source", &["--reduction", "source"]),
        ("monotonic", &["--reduction", "monotonic"]),
        ("awake", &["--reduction", "dpor", "--sleep", "off"]),
        ("none", &["--reduction", "none"]),
    ];
    for (name, options) in searches {
        let options = [options, &["--property", "assert,race"]].concat();
        let said = search(&folder, &cases, name, &options);
        n_whole += said.values().filter(|said| said.verdict == "holds").count();
        for case in &cases {
            let fault = fault(case, said.get(&case.name));
            faults.extend(fault.map(|fault| format!("{name} {}: {fault}", case.name)));
        }
    }
    let said = search(&folder, &cases, "deadlock", &[]);
    let mut n_deadlocks = 0;
    for case in &cases {
        let Some(Said { verdict, message, .. }) = said.get(&case.name) else {
            faults.push(format!("deadlock {}: could not be explored", case.name));
            continue;
        };
        let expected = if case.ends.is_deadlock_possible { "violated" } else { "holds" };
        n_deadlocks += usize::from(verdict == "violated");
        if verdict != expected && verdict != "inconclusive" {
            faults.push(format!("deadlock {}: {verdict} {message}, not {expected}", case.name));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let counts = (cases.len(), n_whole, n_deadlocks);
    assert!(n_whole > 3 * cases.len() && 8 * n_deadlocks > cases.len(), "{counts:?}");
}
