//! Executions without end: every engine against a judge that looks at all strongly connected parts.

use crate::random::{Random, Step, circuit, initial, steps};
use mazurka_symbolic::{Answer, Certificate, Circuit, Engine, Limits, Property};
use std::collections::BTreeSet;

const N_CIRCUITS: u64 = 500;

#[test]
fn all_engines_find_the_cycles_that_exist() {
    let (mut n_cycles, mut n_none) = (0, 0);
    for seed in 0..N_CIRCUITS {
        let circuit = with_justice(seed);
        let broken = judge(&circuit);
        n_cycles += u32::from(!broken.is_empty());
        n_none += u32::from(broken.is_empty());
        for engine in Engine::ALL {
            check(engine, &circuit, &broken, seed);
        }
    }
    assert!(n_cycles > 100 && n_none > 100, "{n_cycles} {n_none}");
}

/// A small circuit with properties of executions that never end.
fn with_justice(seed: u64) -> Circuit {
    let mut random = Random::new(seed);
    let mut circuit = loop {
        let circuit = circuit(&mut random);
        // The translation has twice as many latches, and more.
        if circuit.latches.len() <= 5 {
            break circuit;
        }
    };
    let nodes = circuit.aig.n_nodes();
    let mut lits = |n: usize| -> Vec<_> {
        let lit = |random: &mut Random| {
            let node = 1 + random.below(nodes - 1);
            mazurka_symbolic::Lit::new(node, random.one_in(2))
        };
        (0..n).map(|_| lit(&mut random)).collect()
    };
    circuit.bads.clear();
    circuit.justice = vec![lits(2), lits(3)];
    circuit.fairness = lits(1);
    circuit
}

fn check(engine: Engine, circuit: &Circuit, broken: &BTreeSet<usize>, seed: u64) {
    // Every loop that matters fits twice into the states.
    let depth = (engine == Engine::Bounded).then_some(20);
    let limits = Limits { depth, ..Limits::default() };
    let what = format!("seed {seed}, {}", engine.name());
    match engine.decide_cycles(circuit, &limits, &mut |_| {}).answer {
        Answer::Unsafe(witness) => {
            circuit.simulate(&witness).unwrap_or_else(|error| panic!("{what}: {error}"));
            let Property::Justice { idx, .. } = witness.property else {
                panic!("{what}: no cycle")
            };
            assert!(broken.contains(&idx), "{what}: property {idx} holds");
        }
        Answer::Safe(certificate) => {
            assert!(broken.is_empty(), "{what}: {broken:?} are broken");
            assert!(matches!(certificate, Certificate::Cycles(_)), "{what}");
            let checked = certificate.check(circuit, &Limits::default());
            checked.unwrap_or_else(|error| panic!("{what}: {error}"));
        }
        Answer::SafeTo { depth: 20 } => {
            assert_eq!(engine, Engine::Bounded, "{what}");
            assert!(broken.is_empty(), "{what}: {broken:?} are broken");
        }
        other => panic!("{what}: {other:?}"),
    }
}

/// The justice properties that some execution breaks: those that are true within one strongly
/// connected part of the reachable states, each literal on some step of it.
fn judge(circuit: &Circuit) -> BTreeSet<usize> {
    let steps = steps(circuit);
    let reach = |from: usize| {
        let mut reached = vec![false; steps.len()];
        let mut waiting: Vec<_> = steps[from].iter().map(|step| step.next).collect();
        while let Some(state) = waiting.pop() {
            if !std::mem::replace(&mut reached[state], true) {
                waiting.extend(steps[state].iter().map(|step| step.next));
            }
        }
        reached
    };
    let reaches: Vec<_> = (0..steps.len()).map(reach).collect();
    let begin = initial(circuit);
    let is_reachable = |state: usize| begin.iter().any(|&b| b == state || reaches[b][state]);
    let mut broken = BTreeSet::new();
    for state in (0..steps.len()).filter(|&state| reaches[state][state] && is_reachable(state)) {
        let is_inside = |other: usize| reaches[state][other] && reaches[other][state];
        let inside: Vec<&Step> = (0..steps.len())
            .filter(|&other| is_inside(other))
            .flat_map(|other| &steps[other])
            .filter(|step| is_inside(step.next))
            .collect();
        let recurs = |&lit: &_| inside.iter().any(|step| step.values.value(lit));
        if circuit.fairness.iter().all(recurs) {
            let justice = circuit.justice.iter().enumerate();
            broken.extend(justice.filter(|(_, all)| all.iter().all(recurs)).map(|(idx, _)| idx));
        }
    }
    broken
}
