//! Random C programs that do what programs do at the edges of the instrumentation, natively: they
//! call the C library, allocate and free, exit, start threads from threads, with memory orders and
//! fences on the way. Held to an enumeration of all their executions (`oracle.rs`).

mod oracle;
mod program;

use crate::support::{Random, Said, say};
use oracle::{Kind, Oracle};
use program::Program;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// How many programs are tried by full effort.
const N_PROGRAMS: u64 = 200;

const COMPILERS: [&str; 2] = ["gcc", "clang"];
const LEVELS: [&str; 3] = ["-O0", "-O1", "-O2"];
const REDUCTIONS: [&str; 4] = ["optimal", "source", "dpor", "none"];

/// What the command says of a program, built in one of several ways.
fn check(text: &str, seed: u64) -> (Vec<String>, Said) {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("x.c"), text).expect("there is room");
    let pick = |all: &[&'static str], n: u64| all[(n % all.len() as u64) as usize];
    let (level, compiler) = (pick(&LEVELS, seed / 2), pick(&COMPILERS, seed));
    // Without a reduction, interleavings are many.
    let reduction = pick(&REDUCTIONS[..if seed.is_multiple_of(5) { 4 } else { 3 }], seed / 6);
    let arguments = [
        "check",
        "x.c",
        "--engine",
        "native",
        "--json",
        "-",
        "--cflags",
        level,
        "--reduction",
        reduction,
        "--time-limit",
        "120s",
    ];
    let said = run(folder.path(), compiler, &arguments);
    let how = [compiler, level, reduction].map(str::to_owned).to_vec();
    (how, said)
}

fn run(folder: &Path, compiler: &str, arguments: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    say(command.args(arguments).current_dir(folder).env("CC", compiler))
}

/// What was found wrong; nothing if the program holds.
fn found(said: &Said) -> Result<Option<Kind>, String> {
    let wrong = || format!("{}{}", said.stdout, said.stderr);
    let json: serde_json::Value = serde_json::from_str(&said.stdout).map_err(|_| wrong())?;
    match (json["verdict"].as_str(), json["violation"]["kind"].as_str()) {
        (Some("holds"), _) => Ok(None),
        (Some("violated"), Some(kind)) => Kind::named(kind).map(Some).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

/// The programs whose number has this remainder by 2: halves, so that two cores share them.
fn agree(half: u64) {
    let mut wrong = Vec::new();
    let mut seen = std::collections::BTreeMap::<Option<Kind>, u64>::new();
    for seed in mazurka_effort::seeds(0..N_PROGRAMS).filter(|seed| seed % 2 == half) {
        let mut random = Random(6007 * seed + 11);
        let (program, expected) = loop {
            let program = Program::new(&mut random);
            if let Some(expected) = Oracle::ask(&program) {
                break (program, expected);
            }
        };
        let text = program.in_c();
        let (how, said) = check(&text, seed / 2);
        let all: BTreeSet<Option<Kind>> = match expected.is_empty() {
            true => BTreeSet::from([None]),
            false => expected.into_iter().map(Some).collect(),
        };
        match found(&said) {
            Ok(kind) if all.contains(&kind) => *seen.entry(kind).or_default() += 1,
            other => {
                wrong.push(format!("seed {seed}, {how:?}: {other:?}, not {all:?}, of\n{text}"))
            }
        }
    }
    let n_wrong = wrong.len();
    wrong.truncate(5);
    assert!(wrong.is_empty(), "{n_wrong} answers are wrong:\n{}", wrong.join("\n"));
    // Each answer is right now and then.
    for kind in [None, Some(Kind::Race), Some(Kind::Assertion), Some(Kind::Memory)] {
        let n_seen = seen.get(&kind).copied().unwrap_or(0);
        assert!(n_seen >= mazurka_effort::share(N_PROGRAMS / 100), "{kind:?}: {seen:?}");
    }
}

#[test]
fn native_programs_do_what_an_enumeration_says() {
    agree(0);
}

#[test]
fn other_native_programs_do_what_an_enumeration_says() {
    agree(1);
}
