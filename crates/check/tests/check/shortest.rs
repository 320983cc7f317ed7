//! No counterexample of a Promela model has a step more than it must: held against all executions
//! of small random programs, which this file runs by itself.

use mazurka_check::{Task, engine};
use mazurka_core::{Verdict, ViolationKind};
use std::collections::{BTreeSet, VecDeque};

const NAMES: [&str; 2] = ["x", "y"];

/// A statement about two variables.
#[derive(Clone, Copy, Debug)]
enum Statement {
    Set(usize, u8),
    Copy(usize, usize),
    Increment(usize),
    Await(usize, u8),
    AssertNot(usize, u8),
}

impl Statement {
    fn text(self) -> String {
        match self {
            Self::Set(to, value) => format!("{} = {value}", NAMES[to]),
            Self::Copy(to, from) => format!("{} = {}", NAMES[to], NAMES[from]),
            Self::Increment(to) => format!("{}++", NAMES[to]),
            Self::Await(of, value) => format!("{} == {value}", NAMES[of]),
            Self::AssertNot(of, value) => format!("assert({} != {value})", NAMES[of]),
        }
    }

    /// What it makes of the variables; nothing if it has to wait. An error if it fails.
    fn run(self, mut held: [u8; 2]) -> Result<Option<[u8; 2]>, ()> {
        match self {
            Self::Set(to, value) => held[to] = value,
            Self::Copy(to, from) => held[to] = held[from],
            Self::Increment(to) => held[to] += 1,
            Self::Await(of, value) if held[of] != value => return Ok(None),
            Self::AssertNot(of, value) if held[of] == value => return Err(()),
            Self::Await(..) | Self::AssertNot(..) => {}
        }
        Ok(Some(held))
    }
}

/// Processes, each a sequence of statements.
fn generate(seed: u64) -> Vec<Vec<Statement>> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let n_processes = 2 + draw(2) as usize;
    (0..n_processes)
        .map(|_| {
            let n_statements = 2 + draw(4);
            let statement = |draw: &mut dyn FnMut(u64) -> u64| {
                let (one, value) = (draw(2) as usize, draw(3) as u8);
                match draw(6) {
                    0 => Statement::Set(one, value),
                    1 => Statement::Copy(one, 1 - one),
                    2 | 3 => Statement::Increment(one),
                    4 => Statement::Await(one, value),
                    _ => Statement::AssertNot(one, 1 + value),
                }
            };
            (0..n_statements).map(|_| statement(&mut draw)).collect()
        })
        .collect()
}

fn source(processes: &[Vec<Statement>]) -> String {
    let mut text = "byte x, y;\n".to_owned();
    for (idx, statements) in processes.iter().enumerate() {
        let lines: Vec<String> = statements.iter().map(|it| it.text()).collect();
        text += &format!("active proctype p{idx}() {{ {} }}\n", lines.join("; "));
    }
    text
}

/// The fewest steps to an assertion that fails, by all executions, those with fewer steps first.
fn fewest(processes: &[Vec<Statement>]) -> Option<usize> {
    let start = (vec![0; processes.len()], [0, 0]);
    let mut seen = BTreeSet::from([start.clone()]);
    let mut todo = VecDeque::from([(start, 0)]);
    while let Some(((places, held), n_steps)) = todo.pop_front() {
        for (idx, statements) in processes.iter().enumerate() {
            let Some(statement) = statements.get(places[idx]) else { continue };
            match statement.run(held) {
                Err(()) => return Some(n_steps + 1),
                Ok(None) => {}
                Ok(Some(held)) => {
                    let mut places = places.clone();
                    places[idx] += 1;
                    if seen.insert((places.clone(), held)) {
                        todo.push_back(((places, held), n_steps + 1));
                    }
                }
            }
        }
    }
    None
}

#[test]
fn no_counterexample_of_a_model_has_a_step_too_many() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("model.pml");
    let mut n_violated = 0;
    for seed in 0..300 {
        let processes = generate(seed);
        let source = source(&processes);
        std::fs::write(&file, &source).expect("there is room");
        let mut task = Task::files([&file]);
        task.options.set("property", "assert").expect("it is an option, and this a property");
        let engine = engine("statespace").expect("there is one of this name");
        let outcome = task.check_by(engine, &|_: &_| ()).expect("it is a model");
        let least = fewest(&processes);
        match outcome.verdict {
            Verdict::Violated(found) => {
                assert_eq!(found.violation.kind, ViolationKind::Assertion, "{source}");
                assert_eq!(Some(found.story.len()), least, "seed {seed}:\n{source}");
                let claim = format!("shortest: {} step", found.story.len());
                let is_claimed = outcome.notes.iter().any(|note| note.starts_with(&claim));
                assert!(is_claimed, "{:?}", outcome.notes);
                n_violated += 1;
            }
            _ => assert_eq!(least, None, "seed {seed}:\n{source}"),
        }
    }
    assert!(n_violated >= 30, "{n_violated}");
}
