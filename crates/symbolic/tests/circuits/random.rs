//! Random circuits, and a judge that goes through all of their states.

use mazurka_symbolic::{Circuit, Lit, Patterns};
use std::collections::BTreeMap;

/// Numbers from a seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A circuit with up to eight latches and four inputs.
pub(crate) fn circuit(random: &mut Random) -> Circuit {
    let mut circuit = Circuit::new();
    let n_latches = 1 + random.below(8);
    let mut lits = Vec::new();
    for idx in 0..n_latches {
        let init = [Some(false), Some(false), Some(true), None][random.below(4)];
        lits.push(circuit.latch(format!("l{idx}"), init));
    }
    for idx in 0..random.below(5) {
        lits.push(circuit.input(format!("i{idx}")));
    }
    let latches = lits[..n_latches].to_vec();
    for _ in 0..4 + random.below(40) {
        let [a, b, c] = [(); 3].map(|()| pick(random, &lits));
        lits.push(match random.below(4) {
            0 => circuit.aig.xor(a, b),
            1 => circuit.aig.ite(a, b, c),
            _ => circuit.aig.and(a, b),
        });
    }
    for latch in latches {
        let next = pick(random, &lits);
        circuit.set_next(latch, next);
    }
    for _ in 0..random.below(3) {
        // Conjunctions alone would leave few executions.
        let [a, b] = [(); 2].map(|()| pick(random, &lits));
        let constraint = circuit.aig.or(a, b);
        circuit.constrain(constraint);
    }
    for idx in 0..1 + random.below(3) {
        let all: Vec<_> = (0..1 + random.below(4)).map(|_| pick(random, &lits)).collect();
        let bad = circuit.aig.all(all);
        circuit.bad(bad, format!("b{idx}"));
    }
    circuit.validate();
    circuit
}

fn pick(random: &mut Random, lits: &[Lit]) -> Lit {
    // Later ones depend on more.
    let [a, b] = [(); 2].map(|()| random.below(lits.len()));
    lits[a.max(b)].negated_if(random.one_in(2))
}

/// What is true of a circuit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Truth {
    /// The least number of steps to each bad state that is reachable.
    pub(crate) bads: BTreeMap<usize, usize>,
    /// The greatest number of steps that a state is away.
    pub(crate) diameter: usize,
    /// How many frames the longest execution has, if that is finite.
    pub(crate) n_frames: Option<usize>,
}

impl Truth {
    /// The least number of steps to anything bad.
    pub(crate) fn depth(&self) -> Option<usize> {
        self.bads.values().copied().min()
    }
}

/// One step of a circuit.
pub(crate) struct Step {
    /// Where it leads.
    pub(crate) next: usize,
    /// All values before it.
    pub(crate) values: Patterns,
}

/// The steps from every state that meet the constraints.
pub(crate) fn steps(circuit: &Circuit) -> Vec<Vec<Step>> {
    let inputs = 0..1 << circuit.inputs.len();
    let from = |state| inputs.clone().filter_map(|inputs| step(circuit, state, inputs)).collect();
    (0..1 << circuit.latches.len()).map(from).collect()
}

/// The states it may begin in.
pub(crate) fn initial(circuit: &Circuit) -> Vec<usize> {
    let is_initial = |&state: &usize| {
        let mut bits = circuit.latches.iter().enumerate();
        bits.all(|(idx, latch)| latch.init.is_none_or(|value| value == (state >> idx & 1 == 1)))
    };
    (0..1 << circuit.latches.len()).filter(is_initial).collect()
}

/// Goes through all states, breadth first.
pub(crate) fn judge(circuit: &Circuit) -> Truth {
    let steps = steps(circuit);
    let mut layer = initial(circuit);
    let mut is_reached = vec![false; steps.len()];
    let mut truth = Truth { bads: BTreeMap::new(), diameter: 0, n_frames: None };
    for depth in 0.. {
        layer.iter().for_each(|&state| is_reached[state] = true);
        let all = layer.iter().flat_map(|&state| &steps[state]);
        let mut next = Vec::new();
        for step in all {
            for (idx, _) in
                circuit.bads.iter().enumerate().filter(|(_, bad)| step.values.value(bad.lit))
            {
                truth.bads.entry(idx).or_insert(depth);
            }
            next.push(step.next);
        }
        next.sort_unstable();
        next.dedup();
        next.retain(|&state| !is_reached[state]);
        if next.is_empty() {
            truth.diameter = depth;
            break;
        }
        layer = next;
    }
    truth.n_frames = longest(circuit, &steps);
    truth
}

/// How many frames the longest execution has: the sets of states after so many steps, until one is
/// empty, or until there have been more than there are states.
fn longest(circuit: &Circuit, steps: &[Vec<Step>]) -> Option<usize> {
    let mut layer = initial(circuit);
    for n_frames in 0..=steps.len() {
        layer.retain(|&state| !steps[state].is_empty());
        if layer.is_empty() {
            return Some(n_frames);
        }
        layer = layer.iter().flat_map(|&state| steps[state].iter().map(|step| step.next)).collect();
        layer.sort_unstable();
        layer.dedup();
    }
    None
}

/// The step from a state with some inputs, if the constraints hold.
fn step(circuit: &Circuit, state: usize, inputs: usize) -> Option<Step> {
    let leaf = |node: usize| {
        let lit = Lit::new(node, false);
        let bit = match circuit.latch_idx(lit) {
            Some(idx) => state >> idx,
            None => {
                inputs >> circuit.inputs.iter().position(|input| input.lit == lit).expect("a leaf")
            }
        };
        bit as u64 & 1
    };
    let values = circuit.aig.simulate(leaf);
    if !circuit.constraints.iter().all(|&lit| values.value(lit)) {
        return None;
    }
    let bit = |(idx, latch): (usize, &mazurka_symbolic::Latch)| {
        usize::from(values.value(latch.next())) << idx
    };
    let next = circuit.latches.iter().enumerate().map(bit).sum();
    Some(Step { next, values })
}
