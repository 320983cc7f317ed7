//! A judge that needs no solver: the states of a circuit, one by one, breadth first.

#![allow(dead_code, reason = "every test uses a part of it")]

use mazurka_symbolic::{Circuit, Node, Patterns, Property, Witness};
use rustc_hash::FxHashMap;

/// What a search through all states of a circuit finds.
pub(crate) struct Found {
    /// For each bad state, the shortest execution that leads to it.
    pub(crate) witnesses: Vec<Option<Witness>>,
    pub(crate) n_states: usize,
    /// Whether there were more states than it may look at.
    pub(crate) is_cut: bool,
}

/// Goes through all states that can be reached, up to a number of them.
pub(crate) fn search(circuit: &Circuit, most: usize) -> Found {
    let n_inputs = circuit.inputs.len();
    assert!(n_inputs <= 12, "all inputs are tried");
    let first: Vec<bool> =
        circuit.latches.iter().map(|latch| latch.init.expect("programs begin somewhere")).collect();
    let mut numbers: FxHashMap<Vec<bool>, usize> = FxHashMap::default();
    let mut states = vec![first.clone()];
    let mut origins: Vec<Option<(usize, u32)>> = vec![None];
    numbers.insert(first, 0);
    let mut witnesses = vec![None; circuit.bads.len()];
    let mut at = 0;
    while at < states.len() && states.len() < most {
        for first_input in (0..1_u32 << n_inputs).step_by(64) {
            let n_patterns = (1_u32 << n_inputs).min(64);
            let state = states[at].clone();
            let (mut latch_idx, mut input_idx) = (0, 0);
            let patterns = circuit.aig.simulate(|node| match circuit.aig.node(node) {
                Node::Latch => {
                    latch_idx += 1;
                    if state[latch_idx - 1] { u64::MAX } else { 0 }
                }
                _ => {
                    input_idx += 1;
                    let bit = |it: u32| u64::from((first_input + it) >> (input_idx - 1) & 1) << it;
                    (0..n_patterns).map(bit).sum()
                }
            });
            let counts =
                circuit.constraints.iter().fold(u64::MAX, |all, &it| all & patterns.word(it));
            for pattern in (0..n_patterns).filter(|it| counts >> it & 1 == 1) {
                let holds = |lit| patterns.word(lit) >> pattern & 1 == 1;
                let input = first_input + pattern;
                for (idx, bad) in circuit.bads.iter().enumerate() {
                    if witnesses[idx].is_none() && holds(bad.lit) {
                        let witness = trace(&states, &origins, at, input, n_inputs, idx);
                        witnesses[idx] = Some(witness);
                    }
                }
                let next: Vec<bool> = circuit.latches.iter().map(|it| holds(it.next())).collect();
                if !numbers.contains_key(&next) {
                    numbers.insert(next.clone(), states.len());
                    states.push(next);
                    origins.push(Some((at, input)));
                }
            }
        }
        at += 1;
    }
    Found { witnesses, n_states: states.len(), is_cut: at < states.len() }
}

fn trace(
    states: &[Vec<bool>],
    origins: &[Option<(usize, u32)>],
    at: usize,
    last: u32,
    n_inputs: usize,
    bad: usize,
) -> Witness {
    let bits = |input: u32| (0..n_inputs).map(|bit| input >> bit & 1 == 1).collect();
    let mut inputs: Vec<Vec<bool>> = vec![bits(last)];
    let mut at = at;
    while let Some((before, input)) = origins[at] {
        inputs.push(bits(input));
        at = before;
    }
    inputs.reverse();
    Witness { latches: states[0].clone(), inputs, property: Property::Bad(bad) }
}

/// All values in a frame in which this thread is to move, and nothing else is chosen.
pub(crate) fn frame(circuit: &Circuit, latches: &[bool], thread: usize) -> Patterns {
    frame_with(circuit, latches, |input_idx| {
        let bit = circuit.inputs[input_idx].name.strip_prefix("thread.");
        let bit = bit.map(|bit| bit.parse::<usize>().expect("bits are numbered"));
        bit.is_some_and(|bit| thread >> bit & 1 == 1)
    })
}

/// All values in a frame with these inputs.
pub(crate) fn frame_with(
    circuit: &Circuit,
    latches: &[bool],
    input: impl Fn(usize) -> bool,
) -> Patterns {
    let (mut latch_idx, mut input_idx) = (0, 0);
    circuit.aig.simulate(|node| match circuit.aig.node(node) {
        Node::Latch => {
            latch_idx += 1;
            u64::from(latches[latch_idx - 1])
        }
        _ => {
            input_idx += 1;
            u64::from(input(input_idx - 1))
        }
    })
}
