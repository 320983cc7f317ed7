//! Every model that is installed with SPIN: the same states, the same transitions, the same errors.
//!
//! SPIN runs without its reductions and optimisations, which leaves plain Promela. What is counted is
//! what its verifier counts: states that were stored, and how often one was looked up.

use mazurka_core::ViolationKind;
use mazurka_promela::{Options, translate};
use mazurka_statespace::{Machine, Moves, Successor, Transitions};
use rustc_hash::FxHashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

const EXAMPLES: &str = "/usr/share/doc/spin/examples";

/// Models that are left out, and why.
const LEFT_OUT: [(&str, &str); 0] = [];

/// What a search tells of a model.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Counts {
    states: u64,
    transitions: u64,
    failed_assertions: u64,
    invalid_ends: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { states, transitions, failed_assertions, invalid_ends } = self;
        write!(f, "{states:>8} {transitions:>8} {failed_assertions:>6} {invalid_ends:>6}")
    }
}

#[test]
fn counts_are_those_of_spin() {
    let mut models = Vec::new();
    find(Path::new(EXAMPLES), &mut models);
    let mut table = String::new();
    let mut n_different = 0;
    for model in &models {
        let name = model.strip_prefix(EXAMPLES).expect("it was found there").display();
        if LEFT_OUT.iter().any(|(left_out, _)| model.ends_with(left_out)) {
            continue;
        }
        let Some(theirs) = spin(model) else { continue };
        let ours = search(model);
        let is_same = ours == theirs;
        n_different += usize::from(!is_same);
        let verdict = if is_same { "equal" } else { "DIFFERENT" };
        table.push_str(&format!("{name}: {theirs} {ours} {verdict}\n"));
    }
    assert_eq!(n_different, 0, "states, transitions, assertions, ends:\n{table}");
}

/// All models below a folder.
fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("SPIN and its examples are installed");
    for entry in entries {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|it| it == "pml") {
            found.push(path);
        }
    }
    found.sort();
}

/// What SPIN's verifier counts; nothing if SPIN does not accept the model.
fn spin(model: &Path) -> Option<Counts> {
    let folder = tempfile::tempdir().expect("there is room for a verifier");
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder.path()).stdin(std::process::Stdio::null());
        command.output().unwrap_or_else(|error| panic!("{program}: {error}"))
    };
    for entry in model.parent().expect("a model is in a folder").read_dir().expect("it is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_file() {
            let name = path.file_name().expect("a file has a name");
            std::fs::copy(&path, folder.path().join(name)).expect("there is room for a model");
        }
    }
    let name = model.file_name().expect("a file has a name").to_string_lossy();
    let made = run("spin", &["-o1", "-o2", "-o3", "-a", &name]);
    if !made.status.success() {
        return None;
    }
    let flags = ["-w", "-DNOREDUCE", "-DSAFETY", "-DNOCLAIM", "-DVECTORSZ=8192", "-DMEMLIM=2048"];
    let compiled = run("gcc", &[&flags[..], &["-o", "pan", "pan.c"]].concat());
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let pan = folder.path().join("pan");
    let said =
        run(pan.to_str().expect("the folder has a plain name"), &["-c0", "-m1000000", "-w20"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let number = |what: &str| -> u64 {
        let line = said.lines().find(|line| line.contains(what));
        let word = line.and_then(|line| line.split_whitespace().next());
        let number = word.and_then(|word| word.parse::<f64>().ok());
        number.unwrap_or_else(|| panic!("{name}: no line `{what}` in\n{said}")) as u64
    };
    let is_error = |line: &&str| line.starts_with("pan:") && line.contains("at depth");
    let errors = |what: &str| {
        said.lines().filter(is_error).filter(|line| line.contains(what)).count() as u64
    };
    Some(Counts {
        states: number("states, stored"),
        transitions: number("transitions (= stored+matched)"),
        failed_assertions: errors("assertion violated"),
        invalid_ends: errors("invalid end state"),
    })
}

/// What a plain search of all states counts.
fn search(model: &Path) -> Counts {
    let model = translate(model, &Options::default()).expect("SPIN accepts it");
    let mut machine = Machine::new(&model.program).expect("the machine can run all of Promela");
    let mut first = Vec::new();
    machine.initial(&mut first);
    let mut seen = FxHashSet::from_iter([first.clone()]);
    let mut to_do = vec![first];
    let mut counts = Counts { transitions: 1, ..Counts::default() };
    let mut moves = Moves::new();
    while let Some(state) = to_do.pop() {
        moves.clear();
        machine.expand(&state, &mut moves);
        if moves.is_empty() && !machine.is_valid_end(&state) {
            counts.invalid_ends += 1;
        }
        for idx in 0..moves.len() {
            if let Some(fault) = moves[idx].fault {
                let violation = machine.violation(&state, moves[idx].step, fault);
                counts.failed_assertions += u64::from(violation.kind == ViolationKind::Assertion);
            }
            let is_new = match moves[idx].successor {
                Successor::None => false,
                Successor::Transient => true,
                Successor::Stored => {
                    counts.transitions += 1;
                    seen.insert(moves.state(idx).to_vec())
                }
            };
            if is_new {
                to_do.push(moves.state(idx).to_vec());
            }
        }
    }
    counts.states = seen.len() as u64;
    counts
}
