//! Proofs are checked by a checker of our own: line by line, by unit propagation alone.

use crate::random::{Random, circuit};
use mazurka_effort::{seeds, share};
use mazurka_symbolic::{Answer, Circuit, Engine, Formula, Limits, ProofError};
use std::collections::BTreeMap;

/// Whether a text in the format LRAT derives the empty clause from a formula.
fn check(formula: &Formula, proof: &str) -> Result<(), String> {
    let mut clauses: BTreeMap<u64, Vec<i32>> = (1..).zip(formula.clauses()).collect();
    for line in proof.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let number = |word: &str| word.parse::<i64>().map_err(|_| format!("`{line}`"));
        let numbers =
            |words: &[&str]| words.iter().map(|w| number(w)).collect::<Result<Vec<_>, _>>();
        if words.get(1) == Some(&"d") {
            for idx in numbers(&words[2..words.len() - 1])? {
                clauses.remove(&(idx as u64)).ok_or_else(|| format!("`{line}` deletes nothing"))?;
            }
            continue;
        }
        let all = numbers(&words)?;
        let end = all.iter().position(|&n| n == 0).ok_or_else(|| format!("`{line}`"))?;
        let clause: Vec<i32> = all[1..end].iter().map(|&lit| lit as i32).collect();
        propagate(&clauses, &clause, &all[end + 1..all.len() - 1])
            .map_err(|why| format!("`{line}`: {why}"))?;
        if clause.is_empty() {
            return Ok(());
        }
        clauses.insert(all[0] as u64, clause);
    }
    Err("the empty clause is not derived".to_owned())
}

/// The clauses that the hints name are unit one after the other, and the last one is false, if the
/// clause is.
fn propagate(
    clauses: &BTreeMap<u64, Vec<i32>>,
    clause: &[i32],
    hints: &[i64],
) -> Result<(), String> {
    let mut falsified: Vec<i32> = clause.to_vec();
    for &hint in hints {
        let hinted = clauses.get(&(hint as u64)).ok_or("no such clause")?;
        let mut open: Vec<_> = hinted.iter().filter(|lit| !falsified.contains(lit)).collect();
        open.dedup();
        match open[..] {
            [] => return Ok(()),
            [unit] => falsified.push(-unit),
            _ => return Err(format!("clause {hint} is not unit")),
        }
    }
    Err("no contradiction".to_owned())
}

#[test]
fn whatever_is_safe_has_a_proof_that_can_be_checked() {
    let folder = tempfile::tempdir().expect("a folder for proofs");
    let path = folder.path().join("proof.lrat");
    let mut n_checked = [0; Engine::ALL.len()];
    for seed in seeds(0..120) {
        let circuit = circuit(&mut Random::new(seed));
        for (n_checked, engine) in n_checked.iter_mut().zip(Engine::ALL) {
            let limits = Limits { depth: Some(12), ..Limits::default() };
            let answer = engine.decide(&circuit, &limits, &mut |_| {}).answer;
            let Some(formula) = answer.formula(&circuit) else { continue };
            formula.refute(&Limits::default(), Some(&path)).expect("the answer is right");
            let proof = std::fs::read_to_string(&path).expect("a proof was written");
            check(&formula, &proof).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            *n_checked += 1;
        }
    }
    assert!(n_checked.iter().all(|&n| n > share(30)), "{n_checked:?}");
}

#[test]
fn two_claims_have_one_proof() {
    let claim = |bits, depth| Answer::SafeTo { depth }.formula(&counter(bits)).expect("it is one");
    let folder = tempfile::tempdir().expect("a folder for proofs");
    let path = folder.path().join("proof.lrat");
    let both = claim(3, 5).or(&claim(4, 9));
    both.refute(&Limits::default(), Some(&path)).expect("both are right");
    let proof = std::fs::read_to_string(&path).expect("a proof was written");
    assert_eq!(check(&both, &proof), Ok(()));
    for wrong in [claim(3, 5).or(&claim(3, 7)), claim(3, 7).or(&claim(4, 9))] {
        let refuted = wrong.refute(&Limits::default(), None);
        assert!(matches!(refuted, Err(ProofError::Satisfiable)));
    }
}

#[test]
fn a_wrong_proof_is_refused() {
    let circuit = counter(4);
    let formula = Answer::SafeTo { depth: 5 }.formula(&circuit).expect("it says something");
    let folder = tempfile::tempdir().expect("a folder for proofs");
    let path = folder.path().join("proof.lrat");
    formula.refute(&Limits::default(), Some(&path)).expect("fifteen is far away");
    let proof = std::fs::read_to_string(&path).expect("a proof was written");
    assert_eq!(check(&formula, &proof), Ok(()));
    let other = Answer::SafeTo { depth: 5 }.formula(&counter(3)).expect("it says something");
    assert!(check(&other, &proof).is_err());
    let without_hints = "1000 0 0\n";
    assert!(check(&formula, without_hints).is_err());
    assert!(check(&formula, "").is_err());
}

#[test]
fn a_wrong_claim_has_no_proof() {
    let formula = Answer::SafeTo { depth: 15 }.formula(&counter(4)).expect("it says something");
    let refuted = formula.refute(&Limits::default(), None);
    assert!(matches!(refuted, Err(ProofError::Satisfiable)));
}

#[test]
fn a_proof_that_cannot_be_written_is_an_error() {
    let formula = Answer::SafeTo { depth: 3 }.formula(&counter(4)).expect("it says something");
    let folder = tempfile::tempdir().expect("a folder for proofs");
    let refuted = formula.refute(&Limits::default(), Some(&folder.path().join("no/such/folder")));
    assert!(matches!(refuted, Err(ProofError::File(_))));
}

/// Counts while its input is true. All bits are set after 2^n - 1 steps at the earliest.
fn counter(n_bits: usize) -> Circuit {
    let mut circuit = Circuit::new();
    let mut carry = circuit.input("go");
    let bits: Vec<_> =
        (0..n_bits).map(|idx| circuit.latch(format!("{idx}"), Some(false))).collect();
    for &bit in &bits {
        let next = circuit.aig.xor(bit, carry);
        carry = circuit.aig.and(bit, carry);
        circuit.set_next(bit, next);
    }
    let all = circuit.aig.all(bits);
    circuit.bad(all, "all bits");
    circuit
}
