//! Conjunctive normal form (Plaisted-Greenbaum): each node once, and only for the polarity that is
//! needed.
//!
//! Implements Plaisted and Greenbaum, *A Structure-Preserving Clause Form Translation* (Journal of
//! Symbolic Computation 2, 1986).
//!
//! | paper                              | here                      |
//! |------------------------------------|---------------------------|
//! | a positive occurrence: x implies f | [`Sides::forth`]          |
//! | a negative one: f implies x        | [`Sides::back`]           |
//! | labels of subformulas              | [`Encoder::lit`]          |
//!
//! Differs: conditionals are recognised and get clauses of their own, and so do conjunctions of
//! several nodes that no other node uses.

use super::SatLit;
use crate::{Aig, Lit, Node};

/// Conjunctions of more operands than this are left in parts.
const MOST_OPERANDS: usize = 16;

/// Takes variables and clauses.
pub(crate) trait Clauses {
    /// A new variable.
    fn variable(&mut self) -> SatLit;

    /// At least one of these is true.
    fn clause(&mut self, lits: &[SatLit]);
}

/// Which implications between a variable and its node there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sides {
    /// If the variable is true, the node is.
    forth: bool,
    /// If the node is true, the variable is.
    back: bool,
}

impl Sides {
    const BOTH: Self = Self { forth: true, back: true };

    /// What a literal needs of its node, if these are needed of the literal.
    fn of(self, lit: Lit) -> Self {
        match lit.is_negated() {
            true => Self { forth: self.back, back: self.forth },
            false => self,
        }
    }

    fn without(self, other: Self) -> Self {
        Self { forth: self.forth && !other.forth, back: self.back && !other.back }
    }

    fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// What a node computes of its operands.
enum Gate {
    /// All of them.
    All(Vec<Lit>),
    /// The second if the first is true, else the third.
    If(Lit, Lit, Lit),
}

/// The variables of the nodes of one graph, which may go on growing.
#[derive(Default)]
pub(crate) struct Encoder {
    variables: Vec<Option<SatLit>>,
    done: Vec<Sides>,
    /// How many conjunctions use a node.
    n_uses: Vec<u32>,
    always: Option<SatLit>,
}

impl Encoder {
    /// A literal of the solver that may be asserted or assumed: if it is true, so is this one of
    /// the graph.
    pub(crate) fn lit(&mut self, aig: &Aig, lit: Lit, to: &mut impl Clauses) -> SatLit {
        self.encode(aig, lit, Sides { forth: true, back: false }, to)
    }

    /// A literal of the solver that is true if and only if this one of the graph is.
    pub(crate) fn exact(&mut self, aig: &Aig, lit: Lit, to: &mut impl Clauses) -> SatLit {
        self.encode(aig, lit, Sides::BOTH, to)
    }

    /// The literal of the solver for this one of the graph, if it has one.
    pub(crate) fn known(&self, lit: Lit) -> Option<SatLit> {
        let variable = (*self.variables.get(lit.node())?)?;
        Some(if lit.is_negated() { !variable } else { variable })
    }

    fn encode(&mut self, aig: &Aig, lit: Lit, sides: Sides, to: &mut impl Clauses) -> SatLit {
        self.grow(aig);
        if let Some(value) = lit.constant() {
            let always = self.always(to);
            return if value { always } else { !always };
        }
        let mut waiting = vec![(lit.node(), sides.of(lit))];
        while let Some((node, sides)) = waiting.pop() {
            let missing = sides.without(self.done[node]);
            if missing.is_none() {
                continue;
            }
            self.done[node].forth |= missing.forth;
            self.done[node].back |= missing.back;
            self.define(aig, node, missing, to, &mut waiting);
        }
        self.variable(lit, to)
    }

    /// Notices new nodes of the graph.
    fn grow(&mut self, aig: &Aig) {
        let known = self.variables.len();
        self.variables.resize(aig.n_nodes(), None);
        self.done.resize(aig.n_nodes(), Sides::default());
        self.n_uses.resize(aig.n_nodes(), 0);
        for node in known..aig.n_nodes() {
            if let Node::And(left, right) = aig.node(node) {
                self.n_uses[left.node()] += 1;
                self.n_uses[right.node()] += 1;
            }
        }
    }

    /// The clauses of one node.
    fn define(
        &mut self,
        aig: &Aig,
        node: usize,
        sides: Sides,
        to: &mut impl Clauses,
        waiting: &mut Vec<(usize, Sides)>,
    ) {
        let Some(gate) = self.gate(aig, node) else { return };
        let x = self.variable(Lit::new(node, false), to);
        match gate {
            Gate::All(operands) => {
                waiting.extend(operands.iter().map(|&lit| (lit.node(), sides.of(lit))));
                let operands: Vec<_> =
                    operands.into_iter().map(|lit| self.variable(lit, to)).collect();
                if sides.forth {
                    operands.iter().for_each(|&operand| to.clause(&[!x, operand]));
                }
                if sides.back {
                    let clause: Vec<_> =
                        operands.iter().map(|&operand| !operand).chain([x]).collect();
                    to.clause(&clause);
                }
            }
            Gate::If(condition, yes, no) => {
                let yes_sides = if yes == !no { Sides::BOTH } else { sides };
                waiting.push((condition.node(), Sides::BOTH));
                waiting.extend([yes, no].map(|lit| (lit.node(), yes_sides.of(lit))));
                let [c, yes, no] = [condition, yes, no].map(|lit| self.variable(lit, to));
                if sides.forth {
                    to.clause(&[!x, !c, yes]);
                    to.clause(&[!x, c, no]);
                }
                if sides.back {
                    to.clause(&[x, !c, !yes]);
                    to.clause(&[x, c, !no]);
                }
            }
        }
    }

    fn gate(&self, aig: &Aig, node: usize) -> Option<Gate> {
        let Node::And(left, right) = aig.node(node) else { return None };
        if let Some((condition, yes, no)) = conditional(aig, left, right) {
            return Some(Gate::If(condition, yes, no));
        }
        let mut operands = vec![left, right];
        let mut idx = 0;
        while idx < operands.len() && operands.len() < MOST_OPERANDS {
            let lit = operands[idx];
            let is_shared = self.n_uses[lit.node()] > 1 || self.variables[lit.node()].is_some();
            match aig.operands(lit).filter(|&(l, r)| !is_shared && conditional(aig, l, r).is_none())
            {
                Some((left, right)) => {
                    operands[idx] = left;
                    operands.push(right);
                }
                None => idx += 1,
            }
        }
        operands.sort_unstable();
        operands.dedup();
        Some(Gate::All(operands))
    }

    /// The literal of the solver for one of the graph that is not constant.
    fn variable(&mut self, lit: Lit, to: &mut impl Clauses) -> SatLit {
        let variable = *self.variables[lit.node()].get_or_insert_with(|| to.variable());
        if lit.is_negated() { !variable } else { variable }
    }

    fn always(&mut self, to: &mut impl Clauses) -> SatLit {
        *self.always.get_or_insert_with(|| {
            let always = to.variable();
            to.clause(&[always]);
            always
        })
    }
}

/// `!(a & b) & !(!a & c)` is: if `a`, then `!b`, else `!c`.
fn conditional(aig: &Aig, left: Lit, right: Lit) -> Option<(Lit, Lit, Lit)> {
    let (a, b) = aig.operands(!left)?;
    let (c, d) = aig.operands(!right)?;
    match () {
        () if a == !c => Some((a, !b, !d)),
        () if a == !d => Some((a, !b, !c)),
        () if b == !c => Some((b, !a, !d)),
        () if b == !d => Some((b, !a, !c)),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Limits, Watch};
    use crate::solver::Solver;

    #[test]
    fn random_functions_have_the_models_of_their_graphs() {
        let mut random = 77u64;
        let mut next = move |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % below as u64) as usize
        };
        for _ in 0..400 {
            let mut aig = Aig::new();
            let inputs: Vec<_> = (0..5).map(|_| aig.input()).collect();
            let mut lits = inputs.clone();
            let mut solver = Solver::new(&Watch::new(&Limits::default()));
            let mut encoder = Encoder::default();
            // The graph grows between the calls, as it does when frames are added.
            for _ in 0..4 {
                for _ in 0..8 {
                    let mut pick = || lits[next(lits.len())].negated_if(next(2) == 0);
                    let (a, b, c) = (pick(), pick(), pick());
                    lits.push(match next(3) {
                        0 => aig.and(a, b),
                        1 => aig.xor(a, b),
                        _ => aig.ite(a, b, c),
                    });
                }
                let root = lits[lits.len() - 1].negated_if(next(2) == 0);
                let models = (0..32u64)
                    .filter(|pattern| aig.simulate(|node| pattern >> (node - 1) & 1).value(root));
                let n_models = models.count();
                let asserted = match next(2) {
                    0 => encoder.lit(&aig, root, &mut solver),
                    _ => encoder.exact(&aig, root, &mut solver),
                };
                let found = solver.solve(&[asserted]).expect("no limits");
                assert_eq!(found, n_models > 0);
                if found {
                    let leaf = |node: usize| {
                        let lit = encoder.known(Lit::new(node, false));
                        lit.is_some_and(|lit| solver.value(lit)).into()
                    };
                    assert!(aig.simulate(leaf).value(root));
                } else {
                    assert!(solver.core().iter().all(|&lit| lit == asserted));
                }
            }
        }
    }
}
