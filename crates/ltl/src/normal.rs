//! Formulae in negation normal form, each kept once.
//!
//! Equal formulae have equal numbers, so comparing is cheap and sets of formulae are sets of
//! numbers. What makes a formula also simplifies it, see the module `rewrite`.

use crate::{Binary, Formula, Unary};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// A formula of a [`Pool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

/// A formula in negation normal form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Always holds.
    True,
    /// Never holds.
    False,
    /// An atom, or its negation.
    Literal {
        /// Which atom.
        atom: usize,
        /// Whether it is to hold.
        positive: bool,
    },
    /// All of these hold: at least two, sorted, no conjunction among them.
    And(Box<[NodeId]>),
    /// One of these holds: at least two, sorted, no disjunction among them.
    Or(Box<[NodeId]>),
    /// It holds in the next position.
    Next(NodeId),
    /// The second holds here or later, and the first until then.
    Until(NodeId, NodeId),
    /// The second holds up to and including when the first holds, or for ever.
    Release(NodeId, NodeId),
}

/// Formulae, each with the number by which it is known.
#[derive(Debug)]
pub struct Pool {
    nodes: Vec<Node>,
    numbers: FxHashMap<Node, NodeId>,
    pub(crate) negations: FxHashMap<NodeId, NodeId>,
    pub(crate) implications: FxHashMap<(NodeId, NodeId), bool>,
}

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

impl Pool {
    /// The formula that always holds.
    pub const TRUE: NodeId = NodeId(0);
    /// The formula that never holds.
    pub const FALSE: NodeId = NodeId(1);

    /// With nothing but the constants.
    pub fn new() -> Self {
        let mut pool = Self {
            nodes: Vec::new(),
            numbers: FxHashMap::default(),
            negations: FxHashMap::default(),
            implications: FxHashMap::default(),
        };
        let constants = (pool.intern(Node::True), pool.intern(Node::False));
        debug_assert_eq!(constants, (Self::TRUE, Self::FALSE));
        pool
    }

    /// What a number stands for.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The number of a formula, as it is.
    pub(crate) fn intern(&mut self, node: Node) -> NodeId {
        if let Some(&id) = self.numbers.get(&node) {
            return id;
        }
        let id = NodeId(u32::try_from(self.nodes.len()).expect("fewer formulae than that"));
        self.nodes.push(node.clone());
        self.numbers.insert(node, id);
        id
    }

    /// An atom or its negation.
    pub fn literal(&mut self, atom: usize, positive: bool) -> NodeId {
        self.intern(Node::Literal { atom, positive })
    }

    /// A formula as it was written, in negation normal form and simplified.
    pub fn add(&mut self, formula: &Formula) -> NodeId {
        self.normal(formula, true)
    }

    /// The formula, or its negation.
    fn normal(&mut self, formula: &Formula, positive: bool) -> NodeId {
        match formula {
            Formula::Constant(value) => {
                if *value == positive {
                    Self::TRUE
                } else {
                    Self::FALSE
                }
            }
            Formula::Atom(atom) => self.literal(*atom, positive),
            Formula::Unary(Unary::Not, operand) => self.normal(operand, !positive),
            Formula::Unary(operator, operand) => {
                let operand = self.normal(operand, positive);
                match (operator, positive) {
                    (Unary::Next, _) => self.next(operand),
                    (Unary::Always, true) | (Unary::Eventually, false) => self.always(operand),
                    _ => self.eventually(operand),
                }
            }
            Formula::Binary(operator, left, right) => self.binary(*operator, left, right, positive),
        }
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: &Formula,
        right: &Formula,
        positive: bool,
    ) -> NodeId {
        if operator == Binary::Equivalent {
            let both = [self.normal(left, true), self.normal(right, positive)];
            let neither = [self.normal(left, false), self.normal(right, !positive)];
            let parts = [self.and(&both), self.and(&neither)];
            return self.or(&parts);
        }
        // `a -> b` is `!a || b`.
        let left = self.normal(left, positive != (operator == Binary::Implies));
        let right = self.normal(right, positive);
        match (operator, positive) {
            (Binary::And, true) | (Binary::Or | Binary::Implies, false) => self.and(&[left, right]),
            (Binary::Or | Binary::Implies, true) | (Binary::And, false) => self.or(&[left, right]),
            (Binary::Until, true) | (Binary::Release, false) => self.until(left, right),
            (Binary::Release, true) | (Binary::Until, false) => self.release(left, right),
            // `a W b` is `b V (a || b)`, and its negation `!b U (!a && !b)`.
            (Binary::WeakUntil, true) => {
                let one = self.or(&[left, right]);
                self.release(right, one)
            }
            (Binary::WeakUntil, false) => {
                let neither = self.and(&[left, right]);
                self.until(right, neither)
            }
            (Binary::Equivalent, _) => unreachable!("it was taken apart"),
        }
    }

    /// `[] operand`.
    pub fn always(&mut self, operand: NodeId) -> NodeId {
        self.release(Self::FALSE, operand)
    }

    /// `<> operand`.
    pub fn eventually(&mut self, operand: NodeId) -> NodeId {
        self.until(Self::TRUE, operand)
    }

    /// The negation of a formula.
    pub fn not(&mut self, id: NodeId) -> NodeId {
        if let Some(&known) = self.negations.get(&id) {
            return known;
        }
        let negation = match self.node(id).clone() {
            Node::True => Self::FALSE,
            Node::False => Self::TRUE,
            Node::Literal { atom, positive } => self.literal(atom, !positive),
            Node::And(parts) => {
                let parts: Vec<_> = parts.iter().map(|&part| self.not(part)).collect();
                self.or(&parts)
            }
            Node::Or(parts) => {
                let parts: Vec<_> = parts.iter().map(|&part| self.not(part)).collect();
                self.and(&parts)
            }
            Node::Next(operand) => {
                let operand = self.not(operand);
                self.next(operand)
            }
            Node::Until(left, right) => {
                let (left, right) = (self.not(left), self.not(right));
                self.release(left, right)
            }
            Node::Release(left, right) => {
                let (left, right) = (self.not(left), self.not(right));
                self.until(left, right)
            }
        };
        self.negations.insert(id, negation);
        self.negations.entry(negation).or_insert(id);
        negation
    }

    /// Whether there is no `X` in the formula: then it cannot tell how long nothing changes.
    pub fn is_next_free(&self, id: NodeId) -> bool {
        match self.node(id) {
            Node::True | Node::False | Node::Literal { .. } => true,
            Node::And(parts) | Node::Or(parts) => parts.iter().all(|&part| self.is_next_free(part)),
            Node::Next(_) => false,
            &Node::Until(left, right) | &Node::Release(left, right) => {
                self.is_next_free(left) && self.is_next_free(right)
            }
        }
    }

    /// The formula in SPIN's syntax.
    pub fn show(&self, id: NodeId, atoms: &[String]) -> String {
        let mut text = String::new();
        self.write(id, atoms, &mut text);
        text
    }

    fn write(&self, id: NodeId, atoms: &[String], text: &mut String) {
        let infix = |text: &mut String, left, sign: &str, right| {
            text.push('(');
            self.write(left, atoms, text);
            let _ = write!(text, " {sign} ");
            self.write(right, atoms, text);
            text.push(')');
        };
        let prefix = |text: &mut String, sign: &str, operand| {
            let _ = write!(text, "{sign} ");
            self.write(operand, atoms, text);
        };
        match self.node(id) {
            Node::True => text.push_str("true"),
            Node::False => text.push_str("false"),
            Node::Literal { atom, positive } => {
                text.push_str(if *positive { "" } else { "!" });
                text.push_str(&crate::formula::shown_atom(&atoms[*atom]));
            }
            Node::And(parts) => self.write_list(parts, "&&", atoms, text),
            Node::Or(parts) => self.write_list(parts, "||", atoms, text),
            Node::Next(operand) => prefix(text, "X", *operand),
            &Node::Until(Self::TRUE, right) => prefix(text, "<>", right),
            &Node::Until(left, right) => infix(text, left, "U", right),
            &Node::Release(Self::FALSE, right) => prefix(text, "[]", right),
            &Node::Release(left, right) => infix(text, left, "V", right),
        }
    }

    fn write_list(&self, parts: &[NodeId], sign: &str, atoms: &[String], text: &mut String) {
        text.push('(');
        for (idx, &part) in parts.iter().enumerate() {
            if idx > 0 {
                let _ = write!(text, " {sign} ");
            }
            self.write(part, atoms, text);
        }
        text.push(')');
    }
}
