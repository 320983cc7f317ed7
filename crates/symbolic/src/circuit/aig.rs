//! And-inverter graphs: conjunctions and negations, each function written once.
//!
//! Implements the local rewriting of Brummayer and Biere, *Local Two-Level And-Inverter Graph
//! Minimization without Blowup* (MEMICS 2006).
//!
//! | paper                                     | here                   |
//! |-------------------------------------------|------------------------|
//! | one-level rules: neutrality, boundedness… | [`Aig::and`]           |
//! | contradiction, subsumption, idempotence   | [`Aig::two_levels`]    |
//! | resolution                                | [`Aig::resolve`]       |
//! | substitution                              | [`Aig::substitute`]    |
//!
//! Differs: the rules are applied from the left, once for each operand, where the paper goes on
//! until none fits; substitution asks again with what it made, so it does go on.

use rustc_hash::FxHashMap;
use std::fmt;
use std::ops::{Index, Not};

/// A node of an [`Aig`], or its negation: twice the number of the node, plus one if negated.
///
/// Node 0 is the constant, so that `0` is false and `1` is true, as in AIGER files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(u32);

impl Lit {
    /// The constant false.
    pub const FALSE: Self = Self(0);
    /// The constant true.
    pub const TRUE: Self = Self(1);

    /// The node, negated or not.
    pub fn new(node: usize, is_negated: bool) -> Self {
        let node = u32::try_from(node).expect("a graph has less than 2^31 nodes");
        Self(node << 1 | u32::from(is_negated))
    }

    /// The literal with this [code](Self::code).
    pub fn from_code(code: u32) -> Self {
        Self(code)
    }

    /// Twice the number of the node, plus one if negated: the number in AIGER files.
    pub fn code(self) -> u32 {
        self.0
    }

    /// The number of the node.
    pub fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether this is the negation of the node.
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// The node itself.
    #[must_use]
    pub fn positive(self) -> Self {
        Self(self.0 & !1)
    }

    /// This literal, negated if asked for.
    #[must_use]
    pub fn negated_if(self, negate: bool) -> Self {
        Self(self.0 ^ u32::from(negate))
    }

    /// Whether this is true or false; `None` for all but the constants.
    pub fn constant(self) -> Option<bool> {
        (self.node() == 0).then_some(self.is_negated())
    }
}

impl Not for Lit {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

impl From<bool> for Lit {
    fn from(value: bool) -> Self {
        Self::FALSE.negated_if(value)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.constant() {
            Some(value) => write!(f, "{value}"),
            None => write!(f, "{}{}", if self.is_negated() { "!" } else { "" }, self.node()),
        }
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// False: the node with number 0, and no other.
    False,
    /// A value that is free in every frame.
    Input,
    /// A value that is kept from one frame to the next.
    Latch,
    /// A conjunction. Both operands have smaller numbers, the left one no greater than the right.
    And(Lit, Lit),
}

/// A graph of conjunctions over inputs and latches. Operands come before what is made of them.
#[derive(Clone, Debug)]
pub struct Aig {
    nodes: Vec<Node>,
    known: FxHashMap<(Lit, Lit), Lit>,
}

impl Default for Aig {
    fn default() -> Self {
        Self { nodes: vec![Node::False], known: FxHashMap::default() }
    }
}

impl Aig {
    /// A graph with nothing but the constant.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many nodes there are, the constant included: numbers of nodes are smaller than this.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// How many of the nodes are conjunctions.
    pub fn n_ands(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node, Node::And(..))).count()
    }

    /// What a node is.
    pub fn node(&self, node: usize) -> Node {
        self.nodes[node]
    }

    /// All nodes, in the order of their numbers: the constant first, operands before conjunctions.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node> + '_ {
        self.nodes.iter().copied()
    }

    /// The operands of a literal that is a conjunction and not negated.
    pub fn operands(&self, lit: Lit) -> Option<(Lit, Lit)> {
        match self.nodes[lit.node()] {
            Node::And(left, right) if !lit.is_negated() => Some((left, right)),
            _ => None,
        }
    }

    /// A new input.
    pub fn input(&mut self) -> Lit {
        self.push(Node::Input)
    }

    /// A new latch. What it begins with and becomes is said by the circuit around the graph.
    pub fn latch(&mut self) -> Lit {
        self.push(Node::Latch)
    }

    /// Both.
    pub fn and(&mut self, left: Lit, right: Lit) -> Lit {
        let (left, right) = (left.min(right), left.max(right));
        match (left, right) {
            (Lit::FALSE, _) => Lit::FALSE,
            (Lit::TRUE, _) => right,
            _ if left == right => left,
            _ if left == !right => Lit::FALSE,
            _ => match self.two_levels(left, right) {
                Some(simpler) => simpler,
                None => self.hashed(left, right),
            },
        }
    }

    /// One of them, or both.
    pub fn or(&mut self, left: Lit, right: Lit) -> Lit {
        !self.and(!left, !right)
    }

    /// Not the first without the second.
    pub fn implies(&mut self, premise: Lit, conclusion: Lit) -> Lit {
        !self.and(premise, !conclusion)
    }

    /// Exactly one of them.
    pub fn xor(&mut self, left: Lit, right: Lit) -> Lit {
        // The signs go outside, so that the four functions of two nodes are one.
        let negate = left.is_negated() != right.is_negated();
        let (left, right) = (left.positive(), right.positive());
        let only_left = self.and(left, !right);
        let only_right = self.and(!left, right);
        self.or(only_left, only_right).negated_if(negate)
    }

    /// Both or neither.
    pub fn iff(&mut self, left: Lit, right: Lit) -> Lit {
        !self.xor(left, right)
    }

    /// `yes` where `condition` is true, else `no`.
    pub fn ite(&mut self, condition: Lit, yes: Lit, no: Lit) -> Lit {
        if yes == no {
            return yes;
        }
        if yes == !no {
            return self.iff(condition, yes);
        }
        let (condition, yes, no) = match condition.is_negated() {
            true => (!condition, no, yes),
            false => (condition, yes, no),
        };
        let then = self.and(condition, yes);
        let otherwise = self.and(!condition, no);
        self.or(then, otherwise)
    }

    /// All of them; true if there are none. The tree is balanced.
    pub fn all(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        let mut lits: Vec<_> = lits.into_iter().collect();
        lits.sort_unstable();
        lits.dedup();
        while lits.len() > 1 {
            lits = lits
                .chunks(2)
                .map(|pair| self.and(pair[0], *pair.last().expect("not empty")))
                .collect();
        }
        lits.pop().unwrap_or(Lit::TRUE)
    }

    /// At least one of them; false if there are none.
    pub fn any(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        !self.all(lits.into_iter().map(|lit| !lit))
    }

    /// Evaluates all nodes under 64 patterns at once: bit `i` of every word belongs to pattern `i`.
    /// `leaf` has the values of inputs and latches, by the numbers of their nodes.
    pub fn simulate(&self, mut leaf: impl FnMut(usize) -> u64) -> Patterns {
        let mut values = Vec::with_capacity(self.nodes.len());
        for (number, &node) in self.nodes.iter().enumerate() {
            let value = match node {
                Node::False => 0,
                Node::Input | Node::Latch => leaf(number),
                Node::And(left, right) => word_of(&values, left) & word_of(&values, right),
            };
            values.push(value);
        }
        Patterns(values)
    }

    /// Which nodes the literals depend on, themselves included, within one frame.
    pub fn cone(&self, roots: impl IntoIterator<Item = Lit>) -> Vec<bool> {
        let mut is_in = vec![false; self.nodes.len()];
        for root in roots {
            is_in[root.node()] = true;
        }
        for number in (0..self.nodes.len()).rev() {
            if let (true, Node::And(left, right)) = (is_in[number], self.nodes[number]) {
                is_in[left.node()] = true;
                is_in[right.node()] = true;
            }
        }
        is_in
    }

    fn push(&mut self, node: Node) -> Lit {
        let lit = Lit::new(self.nodes.len(), false);
        self.nodes.push(node);
        lit
    }

    fn hashed(&mut self, left: Lit, right: Lit) -> Lit {
        if let Some(&known) = self.known.get(&(left, right)) {
            return known;
        }
        let lit = self.push(Node::And(left, right));
        self.known.insert((left, right), lit);
        lit
    }

    /// What the operands of the operands say: a smaller form of the conjunction, if there is one.
    fn two_levels(&mut self, left: Lit, right: Lit) -> Option<Lit> {
        for (one, other) in [(left, right), (right, left)] {
            if let Some((a, b)) = self.operands(one) {
                if other == !a || other == !b {
                    return Some(Lit::FALSE);
                }
                if other == a || other == b {
                    return Some(one);
                }
            }
            if let Some((a, b)) = self.operands(!one) {
                // one = !(a & b)
                if other == !a || other == !b {
                    return Some(other);
                }
                if other == a {
                    return Some(self.and(other, !b));
                }
                if other == b {
                    return Some(self.and(other, !a));
                }
            }
        }
        self.two_conjunctions(left, right)
            .or_else(|| self.substitute(left, right))
            .or_else(|| self.substitute(right, left))
            .or_else(|| self.resolve(left, right))
    }

    /// Two conjunctions that contradict each other.
    fn two_conjunctions(&self, left: Lit, right: Lit) -> Option<Lit> {
        let (a, b) = self.operands(left)?;
        let (c, d) = self.operands(right)?;
        let contradict = a == !c || a == !d || b == !c || b == !d;
        contradict.then_some(Lit::FALSE)
    }

    /// `!(a & b) & (c & d)` where `c` is `!a`: the first follows from the second. Where `c` is `a`:
    /// only `!b` is left of the first.
    fn substitute(&mut self, negated: Lit, conjunction: Lit) -> Option<Lit> {
        let (a, b) = self.operands(!negated)?;
        let (c, d) = self.operands(conjunction)?;
        let has = |lit| c == lit || d == lit;
        if has(!a) || has(!b) {
            return Some(conjunction);
        }
        if has(a) {
            return Some(self.and(!b, conjunction));
        }
        has(b).then(|| self.and(!a, conjunction))
    }

    /// `!(a & b) & !(a & !b)` is `!a`.
    fn resolve(&self, left: Lit, right: Lit) -> Option<Lit> {
        let (a, b) = self.operands(!left)?;
        let (c, d) = self.operands(!right)?;
        match (a, b) {
            _ if (a == c && b == !d) || (a == d && b == !c) => Some(!a),
            _ if (b == c && a == !d) || (b == d && a == !c) => Some(!b),
            _ => None,
        }
    }
}

/// The values of all nodes under 64 patterns.
#[derive(Clone, Debug)]
pub struct Patterns(Vec<u64>);

impl Patterns {
    /// The values of a literal, one bit for each pattern.
    pub fn word(&self, lit: Lit) -> u64 {
        word_of(&self.0, lit)
    }

    /// The value of a literal under the first pattern.
    pub fn value(&self, lit: Lit) -> bool {
        self.word(lit) & 1 == 1
    }
}

/// The values of a node under all patterns.
impl Index<usize> for Patterns {
    type Output = u64;

    fn index(&self, node: usize) -> &u64 {
        &self.0[node]
    }
}

fn word_of(values: &[u64], lit: Lit) -> u64 {
    values[lit.node()] ^ if lit.is_negated() { u64::MAX } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The patterns of up to six leaves: every combination of their values once.
    const ALL: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];

    fn words(aig: &Aig) -> Patterns {
        aig.simulate(|node| ALL[node - 1])
    }

    #[test]
    fn connectives_compute_their_functions() {
        let mut aig = Aig::new();
        let leaves: Vec<_> = (0..3).map(|_| aig.input()).collect();
        let mut lits = vec![Lit::FALSE];
        lits.extend(&leaves);
        lits.extend(lits.clone().into_iter().map(|lit| !lit));
        let word = |lit: Lit| {
            let bits = lit.node().checked_sub(1).map_or(0, |leaf| ALL[leaf]);
            if lit.is_negated() { !bits } else { bits }
        };
        let mut expected = Vec::new();
        for &a in &lits {
            for &b in &lits {
                expected.push((aig.and(a, b), word(a) & word(b)));
                expected.push((aig.or(a, b), word(a) | word(b)));
                expected.push((aig.xor(a, b), word(a) ^ word(b)));
                expected.push((aig.iff(a, b), !(word(a) ^ word(b))));
                expected.push((aig.implies(a, b), !word(a) | word(b)));
                for &c in &lits {
                    let ite = (word(a) & word(b)) | (!word(a) & word(c));
                    expected.push((aig.ite(a, b, c), ite));
                    expected.push((aig.all([a, b, c]), word(a) & word(b) & word(c)));
                    expected.push((aig.any([a, b, c]), word(a) | word(b) | word(c)));
                }
            }
        }
        let words = words(&aig);
        for (lit, word) in expected {
            assert_eq!(words.word(lit), word, "{lit:?}");
        }
        assert_eq!((aig.all([]), aig.any([])), (Lit::TRUE, Lit::FALSE));
    }

    #[test]
    fn random_conjunctions_keep_their_functions_and_their_order() {
        let mut random = 88_172_645_463_325_252_u64;
        let mut next = move |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % below as u64) as usize
        };
        for _ in 0..300 {
            let mut aig = Aig::new();
            let mut lits: Vec<(Lit, u64)> = ALL.iter().map(|&word| (aig.input(), word)).collect();
            for _ in 0..60 {
                let mut pick = || {
                    let (lit, word) = lits[next(lits.len())];
                    if next(2) == 0 { (lit, word) } else { (!lit, !word) }
                };
                let ((a, in_a), (b, in_b)) = (pick(), pick());
                lits.push((aig.and(a, b), in_a & in_b));
            }
            let words = words(&aig);
            for (lit, word) in lits {
                assert_eq!(words.word(lit), word);
            }
            for (number, node) in aig.nodes().enumerate() {
                if let Node::And(left, right) = node {
                    assert!(left < right && right.node() < number);
                }
            }
        }
    }

    #[test]
    fn the_same_function_is_the_same_node() {
        let mut aig = Aig::new();
        let [a, b, c] = [(); 3].map(|()| aig.input());
        let ab = aig.and(a, b);
        assert_eq!(aig.and(b, a), ab);
        assert_eq!(aig.and(ab, a), ab);
        assert_eq!(aig.and(ab, !b), Lit::FALSE);
        let not_ab = !ab;
        let a_not_b = aig.and(a, !b);
        assert_eq!(aig.and(a, not_ab), a_not_b);
        assert_eq!(aig.and(not_ab, !a_not_b), !a);
        let bc = aig.and(b, c);
        let not_a_bc = aig.and(!a, bc);
        assert_eq!(aig.and(not_ab, bc), not_a_bc);
        assert_eq!(aig.xor(a, !b), aig.iff(b, a));
        assert_eq!(aig.ite(!c, a, b), aig.ite(c, b, a));
    }
}
