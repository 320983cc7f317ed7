//! The cone of influence: what a property depends on, and nothing else.

use crate::{Circuit, Latch, Lit, Node, Property, Witness};

/// The part of a circuit that matters, and how to get back from there.
///
/// Constraints stay, all of them: without one there would be more executions.
#[derive(Clone, Debug)]
pub struct Cone {
    /// The smaller circuit.
    pub circuit: Circuit,
    /// For each input of the smaller circuit, its number in the larger one.
    inputs: Vec<usize>,
    /// The same for latches.
    latches: Vec<usize>,
    /// The same for bad states.
    bads: Vec<usize>,
    /// The same for justice.
    justice: Vec<usize>,
    /// For each node of the larger circuit, its literal in the smaller one, if it is there.
    lits: Vec<Option<Lit>>,
    /// For each latch of the smaller circuit, its literal in the larger one.
    larger: Vec<Lit>,
    /// How many inputs the larger circuit has.
    n_inputs: usize,
    /// What the latches of the larger one begin with; those that may begin with anything, with
    /// false.
    inits: Vec<bool>,
}

impl Circuit {
    /// What everything that is asked of the circuit depends on.
    pub fn cone(&self) -> Cone {
        self.cone_of(|_| true)
    }

    /// What some of the properties depend on; the others are left out.
    pub fn cone_of(&self, is_wanted: impl Fn(Wanted) -> bool) -> Cone {
        let numbers = |n: usize, wanted: fn(usize) -> Wanted| -> Vec<usize> {
            (0..n).filter(|&idx| is_wanted(wanted(idx))).collect()
        };
        let bads = numbers(self.bads.len(), Wanted::Bad);
        let justice = numbers(self.justice.len(), Wanted::Justice);
        let mut roots = self.constraints.clone();
        roots.extend(bads.iter().map(|&idx| self.bads[idx].lit));
        roots.extend(justice.iter().flat_map(|&idx| &self.justice[idx]));
        if !justice.is_empty() {
            roots.extend(&self.fairness);
        }
        let is_in = self.depends_on(roots);
        self.restrict(&is_in, bads, justice)
    }

    /// What bad states depend on if all constraints are dropped that may be.
    pub(crate) fn without_optional(&self) -> Cone {
        let mut circuit = self.clone();
        circuit.constraints.retain(|lit| !self.optional.contains(lit));
        circuit.optional.clear();
        circuit.cone_of(|wanted| matches!(wanted, Wanted::Bad(_)))
    }

    /// Which nodes the roots depend on, in this frame or an earlier one.
    pub(crate) fn depends_on(&self, mut roots: Vec<Lit>) -> Vec<bool> {
        loop {
            let is_in = self.aig.cone(roots.iter().copied());
            let n_before = roots.len();
            let mut more: Vec<_> =
                self.latches.iter().filter(|l| is_in[l.lit.node()]).map(Latch::next).collect();
            more.retain(|next| !is_in[next.node()]);
            roots.extend(more);
            if roots.len() == n_before {
                return is_in;
            }
        }
    }

    fn restrict(&self, is_in: &[bool], bads: Vec<usize>, justice: Vec<usize>) -> Cone {
        let mut circuit = Self::new();
        let (mut inputs, mut latches) = (Vec::new(), Vec::new());
        let mut lits: Vec<Option<Lit>> = vec![None; is_in.len()];
        let (mut input_idx, mut latch_idx) = (0, 0);
        for (number, node) in self.aig.nodes().enumerate() {
            let mapped = |lit: Lit, lits: &[Option<Lit>]| {
                lits[lit.node()].expect("operands are in the cone").negated_if(lit.is_negated())
            };
            let lit = match node {
                Node::False => Some(Lit::FALSE),
                Node::Input => {
                    input_idx += 1;
                    is_in[number].then(|| {
                        inputs.push(input_idx - 1);
                        circuit.input(self.inputs[input_idx - 1].name.clone())
                    })
                }
                Node::Latch => {
                    latch_idx += 1;
                    is_in[number].then(|| {
                        let latch = &self.latches[latch_idx - 1];
                        latches.push(latch_idx - 1);
                        circuit.latch(latch.name.clone(), latch.init)
                    })
                }
                Node::And(left, right) => is_in[number].then(|| {
                    let (left, right) = (mapped(left, &lits), mapped(right, &lits));
                    circuit.aig.and(left, right)
                }),
            };
            lits[number] = lit;
        }
        let n_inputs = self.inputs.len();
        let inits = self.latches.iter().map(|latch| latch.init.unwrap_or(false)).collect();
        let larger = latches.iter().map(|&idx: &usize| self.latches[idx].lit).collect();
        let mut cone =
            Cone { circuit, inputs, latches, bads, justice, lits, larger, n_inputs, inits };
        cone.connect(self);
        cone
    }
}

/// A property that may be wanted, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// In [`Circuit::bads`].
    Bad(usize),
    /// In [`Circuit::justice`].
    Justice(usize),
}

impl Cone {
    /// The literal of the smaller circuit for one of the larger one, if it is in the cone.
    pub fn lit(&self, lit: Lit) -> Option<Lit> {
        Some(self.lits[lit.node()]?.negated_if(lit.is_negated()))
    }

    /// The number in the larger circuit of a latch of the smaller one.
    pub fn larger_latch(&self, latch_idx: usize) -> usize {
        self.latches[latch_idx]
    }

    /// The literal of the larger circuit for a latch of the smaller one.
    ///
    /// # Panics
    ///
    /// If the literal is no latch.
    pub fn larger(&self, latch: Lit) -> Lit {
        let idx = self.circuit.latch_idx(latch.positive()).expect("a latch of the smaller circuit");
        self.larger[idx].negated_if(latch.is_negated())
    }

    /// An execution of the smaller circuit as one of the larger one. What is not in the cone comes
    /// in as false.
    pub fn lift(&self, witness: &Witness) -> Witness {
        let spread = |numbers: &[usize], values: &[bool], mut all: Vec<bool>| {
            for (&number, &value) in numbers.iter().zip(values) {
                all[number] = value;
            }
            all
        };
        let inputs = witness
            .inputs
            .iter()
            .map(|frame| spread(&self.inputs, frame, vec![false; self.n_inputs]))
            .collect();
        let property = match witness.property {
            Property::Bad(idx) => Property::Bad(self.bads[idx]),
            Property::Justice { idx, loop_start } => {
                Property::Justice { idx: self.justice[idx], loop_start }
            }
        };
        Witness {
            latches: spread(&self.latches, &witness.latches, self.inits.clone()),
            inputs,
            property,
        }
    }

    /// Next values and properties, once all nodes are there.
    fn connect(&mut self, larger: &Circuit) {
        let lit =
            |lit: Lit| self.lits[lit.node()].expect("in the cone").negated_if(lit.is_negated());
        for (smaller, &idx) in self.latches.iter().enumerate() {
            let latch = self.circuit.latches[smaller].lit;
            self.circuit.set_next(latch, lit(larger.latches[idx].next()));
        }
        self.circuit.constraints = larger.constraints.iter().map(|&c| lit(c)).collect();
        self.circuit.optional = larger.optional.iter().map(|&c| lit(c)).collect();
        for &idx in &self.bads {
            let bad = &larger.bads[idx];
            self.circuit.bad(lit(bad.lit), bad.name.clone());
        }
        for &idx in &self.justice {
            self.circuit.justice.push(larger.justice[idx].iter().map(|&l| lit(l)).collect());
        }
        if !self.justice.is_empty() {
            self.circuit.fairness = larger.fairness.iter().map(|&l| lit(l)).collect();
        }
    }
}
