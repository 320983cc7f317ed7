//! Circuits: a graph whose latches go from frame to frame, and what must not happen in it.
//!
//! The meaning is that of AIGER 1.9 (Biere, Heljanko and Wieringa, *AIGER 1.9 And Beyond*, 2011).
//! An execution is a sequence of frames. In the first, every latch has its initial value, or any if
//! it has none. In each frame inputs are free, and the latches of the next one have what their
//! next-state functions say. A frame counts only if all constraints hold in it and in those before
//! it.

mod aig;
mod cone;
mod cycles;
mod operator;
mod witness;
mod word;

pub use aig::{Aig, Lit, Node, Patterns};
pub use cone::{Cone, Wanted};
pub use cycles::Cycles;
pub use witness::{Property, Simulation, Witness, WitnessError};
pub use word::Word;

/// A value that is free in every frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its node, not negated.
    pub lit: Lit,
    /// What people call it.
    pub name: String,
}

/// A value that is kept from one frame to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latch {
    /// Its node, not negated.
    pub lit: Lit,
    /// What people call it.
    pub name: String,
    /// Its value in the first frame; if there is none, it is any.
    pub init: Option<bool>,
    next: Option<Lit>,
}

impl Latch {
    /// Its value in the next frame.
    ///
    /// # Panics
    ///
    /// If [`Circuit::set_next`] was not called for it.
    pub fn next(&self) -> Lit {
        self.next.unwrap_or_else(|| panic!("latch `{}` has no next value", self.name))
    }
}

/// What must not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// True in a frame in which it happens.
    pub lit: Lit,
    /// What people call it.
    pub name: String,
}

/// A graph, its latches, and what is asked of its executions.
///
/// ```
/// use mazurka_symbolic::Circuit;
///
/// let mut circuit = Circuit::new();
/// let go = circuit.input("go");
/// let low = circuit.latch("low", Some(false));
/// let high = circuit.latch("high", Some(false));
/// let (next_low, carry) = (circuit.aig.xor(low, go), circuit.aig.and(low, go));
/// let next_high = circuit.aig.xor(high, carry);
/// circuit.set_next(low, next_low);
/// circuit.set_next(high, next_high);
/// let three = circuit.aig.and(low, high);
/// circuit.bad(three, "counts to three");
/// circuit.validate();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Circuit {
    /// The functions.
    pub aig: Aig,
    /// All inputs of the graph, in the order in which they were made.
    pub inputs: Vec<Input>,
    /// All latches of the graph, in the order in which they were made.
    pub latches: Vec<Latch>,
    /// What holds in every frame that counts.
    pub constraints: Vec<Lit>,
    /// Those of the constraints that an engine may drop: with and without them, the same bad states
    /// are reachable in the same numbers of steps.
    pub optional: Vec<Lit>,
    /// What must not happen in any frame.
    pub bads: Vec<Bad>,
    /// What must not happen for ever: an execution that makes all literals of one of these true
    /// infinitely often, and those of [`fairness`](Self::fairness), too.
    pub justice: Vec<Vec<Lit>>,
    /// Executions that never end count only if each of these is true infinitely often.
    pub fairness: Vec<Lit>,
}

impl Circuit {
    /// A circuit without anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new input.
    pub fn input(&mut self, name: impl Into<String>) -> Lit {
        let lit = self.aig.input();
        self.inputs.push(Input { lit, name: name.into() });
        lit
    }

    /// A new latch with this initial value, or any. Its next value has to be [set](Self::set_next).
    pub fn latch(&mut self, name: impl Into<String>, init: Option<bool>) -> Lit {
        let lit = self.aig.latch();
        self.latches.push(Latch { lit, name: name.into(), init, next: None });
        lit
    }

    /// Says what a latch becomes.
    ///
    /// # Panics
    ///
    /// If the literal is no latch of the circuit.
    pub fn set_next(&mut self, latch: Lit, next: Lit) {
        let idx = self.latch_idx(latch).expect("only latches have a next value");
        self.latches[idx].next = Some(next);
    }

    /// Where in [`latches`](Self::latches) the latch with this literal is.
    pub fn latch_idx(&self, lit: Lit) -> Option<usize> {
        self.latches.binary_search_by_key(&lit, |latch| latch.lit).ok()
    }

    /// Only frames in which the literal is true count from now on.
    pub fn constrain(&mut self, lit: Lit) {
        self.constraints.push(lit);
    }

    /// The same, and the caller knows that every bad state stays reachable, in all the numbers of
    /// steps in which it was.
    pub fn constrain_optionally(&mut self, lit: Lit) {
        self.constrain(lit);
        self.optional.push(lit);
    }

    /// Asks that the literal is never true.
    pub fn bad(&mut self, lit: Lit, name: impl Into<String>) {
        self.bads.push(Bad { lit, name: name.into() });
    }

    /// Panics if the circuit is not one: a latch without a next value, an input that is none, a
    /// literal that is not in the graph.
    pub fn validate(&self) {
        let kind = |lit: Lit, expected: Node, name: &str| {
            assert!(!lit.is_negated() && lit.node() < self.aig.n_nodes(), "`{name}` is no node");
            assert_eq!(self.aig.node(lit.node()), expected, "`{name}`");
        };
        for input in &self.inputs {
            kind(input.lit, Node::Input, &input.name);
        }
        for latch in &self.latches {
            kind(latch.lit, Node::Latch, &latch.name);
        }
        let count = |kind| self.aig.nodes().filter(|&node| node == kind).count();
        assert_eq!(count(Node::Input), self.inputs.len(), "inputs without a name");
        assert_eq!(count(Node::Latch), self.latches.len(), "latches without a name");
        assert!(self.latches.is_sorted_by_key(|latch| latch.lit), "latches in order");
        for lit in self.latches.iter().map(Latch::next).chain(self.properties()) {
            assert!(lit.node() < self.aig.n_nodes(), "{lit:?} is not in the graph");
        }
    }

    /// Everything that is asked: constraints, bad states, justice and fairness.
    pub(crate) fn properties(&self) -> impl Iterator<Item = Lit> + '_ {
        let bads = self.bads.iter().map(|bad| bad.lit);
        let cycles = self.justice.iter().flatten().chain(&self.fairness).copied();
        self.constraints.iter().copied().chain(bads).chain(cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "latch `x` has no next value")]
    fn a_latch_needs_a_next_value() {
        let mut circuit = Circuit::new();
        circuit.latch("x", None);
        circuit.validate();
    }

    #[test]
    #[should_panic(expected = "inputs without a name")]
    fn inputs_are_made_by_the_circuit() {
        let mut circuit = Circuit::new();
        circuit.aig.input();
        circuit.validate();
    }
}
