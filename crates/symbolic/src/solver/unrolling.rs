//! Unrolling: frames of a circuit beside each other, in one graph.
//!
//! What two frames have in common is one node, and what follows from the initial values is a
//! constant. Earlier frames are never looked at again.

use crate::{Aig, Circuit, Latch, Lit, Node, Property, Witness};

/// Where the first frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At the initial values.
    Initial,
    /// Anywhere.
    Anywhere,
}

/// Some frames of a circuit.
pub(crate) struct Unrolling<'a> {
    circuit: &'a Circuit,
    /// The graph of all frames. Its leaves are the inputs of the frames, and the latches of the
    /// first.
    pub(crate) aig: Aig,
    /// For each frame and each node of the circuit, what it is there.
    frames: Vec<Vec<Lit>>,
}

impl<'a> Unrolling<'a> {
    /// One frame.
    pub(crate) fn new(circuit: &'a Circuit, start: Start) -> Self {
        let mut aig = Aig::new();
        let latches = circuit.latches.iter().map(|latch| match (start, latch.init) {
            (Start::Initial, Some(value)) => value.into(),
            _ => aig.input(),
        });
        let latches: Vec<_> = latches.collect();
        let mut unrolling = Self { circuit, aig, frames: Vec::new() };
        unrolling.push(&latches);
        unrolling
    }

    /// How many frames there are.
    pub(crate) fn n_frames(&self) -> usize {
        self.frames.len()
    }

    /// Adds a frame.
    pub(crate) fn extend(&mut self) {
        let last = self.n_frames() - 1;
        let latches = self.circuit.latches.iter().map(|latch| self.lit(last, latch.next()));
        let latches: Vec<_> = latches.collect();
        self.push(&latches);
    }

    /// What a literal of the circuit is in a frame.
    pub(crate) fn lit(&self, frame: usize, lit: Lit) -> Lit {
        self.frames[frame][lit.node()].negated_if(lit.is_negated())
    }

    /// All constraints, in a frame.
    pub(crate) fn constraint(&mut self, frame: usize) -> Lit {
        let constraints = self.circuit.constraints.iter();
        let lits: Vec<_> = constraints.map(|&lit| self.lit(frame, lit)).collect();
        self.aig.all(lits)
    }

    /// Anything bad, in a frame.
    pub(crate) fn bad(&mut self, frame: usize) -> Lit {
        let lits: Vec<_> = self.circuit.bads.iter().map(|bad| self.lit(frame, bad.lit)).collect();
        self.aig.any(lits)
    }

    /// The first frame is an initial one.
    pub(crate) fn initial(&mut self) -> Lit {
        let is = |latch: &Latch| latch.init.map(|value| self.lit(0, latch.lit).negated_if(!value));
        let lits: Vec<_> = self.circuit.latches.iter().filter_map(is).collect();
        self.aig.all(lits)
    }

    /// Some latch differs between two frames.
    pub(crate) fn differ(&mut self, frame: usize, other: usize) -> Lit {
        let pairs = self.circuit.latches.iter();
        let pairs: Vec<_> =
            pairs.map(|latch| (self.lit(frame, latch.lit), self.lit(other, latch.lit))).collect();
        let lits: Vec<_> = pairs.into_iter().map(|(l, r)| self.aig.xor(l, r)).collect();
        self.aig.any(lits)
    }

    /// The execution of so many frames in which leaves have these values. It ends in one of the bad
    /// states that are wanted.
    pub(crate) fn witness(
        &self,
        n_frames: usize,
        is_wanted: impl Fn(usize) -> bool,
        value: impl Fn(Lit) -> bool,
    ) -> Witness {
        let value = |frame: usize, lit: Lit| {
            let lit = self.lit(frame, lit);
            lit.constant().unwrap_or_else(|| value(lit))
        };
        let Circuit { latches, inputs, .. } = self.circuit;
        let inputs_of = |frame| inputs.iter().map(|input| value(frame, input.lit)).collect();
        let mut witness = Witness {
            latches: latches.iter().map(|latch| value(0, latch.lit)).collect(),
            inputs: (0..n_frames).map(inputs_of).collect(),
            property: Property::Bad(0),
        };
        witness.settle(self.circuit, is_wanted);
        witness
    }

    fn push(&mut self, latches: &[Lit]) {
        let mut latches = latches.iter();
        let mut frame: Vec<Lit> = Vec::with_capacity(self.circuit.aig.n_nodes());
        for node in self.circuit.aig.nodes() {
            let of = |lit: Lit| frame[lit.node()].negated_if(lit.is_negated());
            let lit = match node {
                Node::False => Lit::FALSE,
                Node::Input => self.aig.input(),
                Node::Latch => *latches.next().expect("there is a value for every latch"),
                Node::And(left, right) => self.aig.and(of(left), of(right)),
            };
            frame.push(lit);
        }
        self.frames.push(frame);
    }
}
