//! Circuits as files: read back, by us and by a reader of its own for words, and decided by ABC.

use crate::random::{Random, circuit, judge};
use mazurka_effort::{has_tool, seeds, share};
use mazurka_symbolic::{Circuit, Lit};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

#[test]
fn circuits_are_the_same_after_they_were_written_and_read() {
    for seed in seeds(0..300) {
        let circuit = circuit(&mut Random::new(seed));
        let truth = judge(&circuit);
        let (mut text, mut binary) = (Vec::new(), Vec::new());
        circuit.write_aag(&mut text).expect("memory can be written");
        circuit.write_aig(&mut binary).expect("memory can be written");
        for bytes in [text, binary] {
            let read = Circuit::read_aiger(&bytes).expect("it was written so");
            read.validate();
            assert_eq!(judge(&read), truth, "seed {seed}");
            let names = |circuit: &Circuit| -> Vec<String> {
                circuit.latches.iter().map(|latch| latch.name.clone()).collect()
            };
            assert_eq!(names(&read), names(&circuit));
        }
    }
}

/// A circuit of words of one bit, as the format BTOR2 describes it.
fn read_btor2(text: &str) -> Circuit {
    let mut circuit = Circuit::new();
    let mut lits: BTreeMap<i64, Lit> = BTreeMap::new();
    for (idx, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |word: &str| word.parse::<i64>().expect(line);
        assert_eq!(number(words[0]), idx as i64 + 1, "lines are numbered: {line}");
        let lit = |word: &str| {
            let number = number(word);
            lits[&number.abs()].negated_if(number < 0)
        };
        let has_sort = !matches!(words[1], "sort" | "constraint" | "bad");
        assert!(!has_sort || words[2] == "1", "there is one sort: {line}");
        let made = match words[1] {
            "sort" => {
                assert_eq!(words[2..], ["bitvec", "1"], "{line}");
                continue;
            }
            "zero" => Lit::FALSE,
            "one" => Lit::TRUE,
            "input" => circuit.input(words[3]),
            "state" => circuit.latch(words[3], None),
            "and" => circuit.aig.and(lit(words[3]), lit(words[4])),
            "init" => {
                let (state, value) = (lit(words[3]), lit(words[4]));
                let mut latches = circuit.latches.iter_mut();
                let latch = latches.find(|latch| latch.lit == state).expect(line);
                latch.init = Some(value.constant().expect(line));
                continue;
            }
            "next" => {
                circuit.set_next(lit(words[3]), lit(words[4]));
                continue;
            }
            "constraint" => {
                circuit.constrain(lit(words[2]));
                continue;
            }
            "bad" => {
                circuit.bad(lit(words[2]), words[3]);
                continue;
            }
            other => panic!("`{other}` in {line}"),
        };
        lits.insert(idx as i64 + 1, made);
    }
    circuit
}

#[test]
fn whoever_reads_words_reads_the_same_circuit() {
    for seed in seeds(0..300) {
        let circuit = circuit(&mut Random::new(seed));
        let mut text = Vec::new();
        circuit.write_btor2(&mut text).expect("memory can be written");
        let read = read_btor2(&String::from_utf8(text).expect("it is text"));
        read.validate();
        assert_eq!(judge(&read), judge(&circuit), "seed {seed}");
    }
}

#[test]
fn abc_says_the_same_of_what_is_exported() {
    if !has_tool("berkeley-abc") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for circuits");
    let path = folder.path().join("circuit.aig");
    let (mut n_safe, mut n_unsafe) = (0, 0);
    for seed in seeds(0..60) {
        let circuit = for_abc(circuit(&mut Random::new(seed)));
        let truth = judge(&circuit);
        let mut file = std::fs::File::create(&path).expect("a file can be written");
        circuit.write_aig(&mut file).expect("a file can be written");
        drop(file);
        let is_safe = abc(&path).unwrap_or_else(|said| panic!("seed {seed}: {said}"));
        assert_eq!(is_safe, truth.depth().is_none(), "seed {seed}");
        n_safe += u32::from(is_safe);
        n_unsafe += u32::from(!is_safe);
    }
    assert!(n_safe > share(10) && n_unsafe > share(10), "{n_safe} {n_unsafe}");
}

/// ABC decides one property at a time, and takes latches without an initial value for zero.
fn for_abc(mut circuit: Circuit) -> Circuit {
    for latch in &mut circuit.latches {
        latch.init.get_or_insert(false);
    }
    let bads: Vec<Lit> = circuit.bads.iter().map(|bad| bad.lit).collect();
    let any = circuit.aig.any(bads);
    circuit.bads.clear();
    circuit.bad(any, "any");
    circuit
}

/// Whether ABC proves that nothing bad happens; its words, if they cannot be understood.
fn abc(path: &Path) -> Result<bool, String> {
    let script = format!("read_aiger {}; zero; fold; pdr", path.display());
    let output = Command::new("berkeley-abc").args(["-c", &script]).output();
    let output = output.map_err(|error| format!("berkeley-abc: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    match (said.contains("Property proved"), said.contains("was asserted in frame")) {
        (true, false) => Ok(true),
        (false, true) => Ok(false),
        _ => Err(said),
    }
}
