//! The programs of `corpus/c` as circuits: what their first lines expect is what all states say,
//! and what engines say.

use crate::kit;
use mazurka_effort::{sample, share};
use mazurka_explore::replay;
use mazurka_model::{Program, Races, Vm};
use mazurka_symbolic::{
    Bounds, Encode, Encoding, Engine, Finding, Limits, Meaning, Question, Schedule, check, encode,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A program of the corpus, compiled in one way, and what is expected of it.
struct Case {
    name: String,
    program: Program,
    verdict: String,
}

/// All cases of a folder whose names have a text in them.
fn cases(folder: &str, wanted: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| entry.expect("the corpus can be read").path())
        .filter(|path| path.extension().is_some_and(|it| it == "c"))
        .filter(|path| path.to_string_lossy().contains(wanted))
        .collect();
    files.sort();
    files.iter().flat_map(|file| cases_of(file)).collect()
}

fn cases_of(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).expect("a program can be read");
    let expectations = text.lines().filter_map(|line| line.strip_prefix("// expect"));
    let cases = expectations.map(|line| line.split_once(':').expect("flags and a verdict"));
    let cases = cases.filter(|(flags, _)| !flags.contains("--property"));
    let cases = cases.map(|(flags, verdict)| {
        let name = file.file_name().expect("it is a file").to_string_lossy();
        let flags: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
        let name = format!("{name} {}", flags.join(" "));
        let options = mazurka_c::Options { flags, ..Default::default() };
        let program = mazurka_c::translate(&[file.to_owned()], &options)
            .unwrap_or_else(|faults| panic!("{name}:\n{faults}"));
        Case { name, program, verdict: verdict.trim().to_owned() }
    });
    cases.collect()
}

/// What the machine makes of a witness: `violated` and the kind.
fn replayed(case: &Case, encoding: &Encoding, witness: &mazurka_symbolic::Witness) -> String {
    let Case { name, program, .. } = case;
    let machine = Vm::new(program.clone(), Races::Error).expect("the machine runs it");
    let lifted = encoding.lift_by(witness, || machine.clone());
    let (lifted, mut vm) = lifted.expect("a witness is one");
    let again = replay(&mut vm, &lifted.schedule).expect("it can be followed");
    let violation = again.violation.clone().map(|(_, violation)| violation);
    let violation = violation.or_else(|| again.deadlock(&vm));
    let violation = violation.unwrap_or_else(|| panic!("{name}: nothing is wrong: {lifted:?}"));
    format!("violated {}", violation.kind.name())
}

/// Programs whose circuits are large.
const LARGE: [&str; 3] = ["aba.c ", "aba.c -DTAGGED", "printed_into_memory.c "];

/// Programs in which a thread spins for ever.
const SPINNING: [&str; 2] = ["spin_until.c -DFORGET", "spin_plain.c -DENDLESS"];

#[test]
fn all_states_of_small_programs_say_what_is_expected() {
    let mut n_decided = 0;
    for case in sample(cases("", "")) {
        if LARGE.contains(&case.name.as_str()) {
            continue;
        }
        let bounds = Bounds { threads: 4, blocks: 4, ..Bounds::default() };
        let options = Encode { bounds, ..Encode::default() };
        let schedule = Schedule::Interleaving.scheduler();
        let Ok(encoding) = encode(&case.program, &options, schedule) else { continue };
        if encoding.circuit.inputs.len() > 8 {
            continue;
        }
        let found = kit::search(&encoding.circuit, 2_000);
        let is_bound = |it: &Meaning| matches!(it, Meaning::Bound(_));
        let witnesses = found.witnesses.iter().zip(&encoding.meanings);
        let first = witnesses
            .filter_map(|(witness, meaning)| witness.as_ref().filter(|_| !is_bound(meaning)))
            .min_by_key(|witness| witness.depth());
        match first {
            Some(witness) => {
                let seen = replayed(&case, &encoding, witness);
                assert_eq!(seen, case.verdict, "{}", case.name);
            }
            None if found.is_cut => continue,
            // A thread that spins for ever moves for ever. The verdict says that it is assumed
            // away.
            None if SPINNING.iter().any(|name| case.name.starts_with(name)) => continue,
            None => assert_eq!("holds", case.verdict, "{}", case.name),
        }
        n_decided += 1;
    }
    assert!(n_decided > share(80), "{n_decided} decided");
}

/// Asks an engine about a program; what it says, if it says anything in time.
fn asked(case: &Case, engine: Engine, schedule: Schedule, seconds: u64) -> String {
    let limits = Limits { time: Some(Duration::from_secs(seconds)), ..Limits::default() };
    let question = Question { encode: Encode::default(), schedule, engine, limits };
    let reply = match check(&case.program, &question) {
        Ok(reply) => reply,
        Err(refusals) => return format!("refused: {}", refusals[0].what),
    };
    match &reply.finding {
        Finding::Safe if reply.bound.is_none() => "holds".to_owned(),
        Finding::Safe => "holds within a bound".to_owned(),
        Finding::Unsafe(witness) => replayed(case, &reply.encoding, witness),
        other => format!("{other:?}"),
    }
}

#[test]
fn bounded_search_ends_and_says_what_is_expected() {
    for name in ["lock_order", "message_passing", "check_then_act", "join_twice"] {
        for case in cases("", name) {
            for schedule in Schedule::ALL {
                let said = asked(&case, Engine::Bounded, schedule, 300);
                assert_eq!(said, case.verdict, "{} with {}", case.name, schedule.name());
            }
        }
    }
}

#[test]
fn races_of_a_file_system_are_found_by_transactions() {
    for case in cases("daisy", "daisy") {
        let said = asked(&case, Engine::Portfolio, Schedule::Transactions, 300);
        assert_eq!(said, case.verdict, "{}", case.name);
    }
}
