//! A formula as a boolean combination of others, each about as few atoms as possible.
//!
//! Implements the rewriting of Peled, *Combining Partial Order Reductions with On-the-fly
//! Model-Checking* (CAV 1994), section 3.1, for condition C3: steps that change atoms of different
//! parts need not keep their order.
//!
//! | paper                          | here                |
//! |--------------------------------|---------------------|
//! | φ₁, φ₂, …                      | what [`parts`] adds |
//! | the six rewriting rules        | [`Pool::split`]     |
//!
//! Differs from the paper: nothing.

use crate::{Formula, Node, NodeId, Pool};

/// More parts than that are not worth the trouble.
const MOST_PARTS: usize = 64;

/// The atoms of each part, as bits: a formula holds or not by which of its parts do. A part whose
/// atoms are all in another one is not told.
pub fn parts(formula: &Formula) -> Vec<u64> {
    let mut pool = Pool::new();
    let root = pool.add(formula);
    let mut found = Vec::new();
    pool.split(root, &mut found);
    if found.len() > MOST_PARTS {
        found = vec![root];
    }
    let mut atoms: Vec<u64> = found.iter().map(|&part| pool.atoms(part)).collect();
    atoms.sort_unstable();
    atoms.dedup();
    let is_within = |small: u64, large: u64| small & !large == 0 && small != large;
    let all = atoms.clone();
    atoms.retain(|&part| part != 0 && !all.iter().any(|&other| is_within(part, other)));
    atoms
}

impl Pool {
    /// Adds the parts of a formula.
    fn split(&mut self, id: NodeId, found: &mut Vec<NodeId>) {
        if found.len() > MOST_PARTS {
            return;
        }
        let smaller = match self.node(id).clone() {
            Node::And(parts) | Node::Or(parts) => parts.to_vec(),
            Node::Until(left, right) => self.untils(left, right),
            Node::Release(left, right) => self.releases(left, right),
            _ => vec![id],
        };
        match smaller[..] {
            [only] if only == id => found.push(id),
            _ => smaller.into_iter().for_each(|part| self.split(part, found)),
        }
    }

    fn untils(&mut self, left: NodeId, right: NodeId) -> Vec<NodeId> {
        // `<> [] (a && b)` is `<> [] a && <> [] b`.
        if left == Self::TRUE
            && let Node::Release(Self::FALSE, inner) = *self.node(right)
            && let Node::And(parts) = self.node(inner).clone()
        {
            let each = parts.iter().map(|&part| {
                let always = self.always(part);
                self.eventually(always)
            });
            return each.collect();
        }
        let (lefts, rights) = (self.conjuncts(left), self.disjuncts(right));
        self.pairs(&lefts, &rights, Self::until)
    }

    fn releases(&mut self, left: NodeId, right: NodeId) -> Vec<NodeId> {
        // `[] <> (a || b)` is `[] <> a || [] <> b`.
        if left == Self::FALSE
            && let Node::Until(Self::TRUE, inner) = *self.node(right)
            && let Node::Or(parts) = self.node(inner).clone()
        {
            let each = parts.iter().map(|&part| {
                let eventually = self.eventually(part);
                self.always(eventually)
            });
            return each.collect();
        }
        let (lefts, rights) = (self.disjuncts(left), self.conjuncts(right));
        self.pairs(&lefts, &rights, Self::release)
    }

    fn pairs(
        &mut self,
        lefts: &[NodeId],
        rights: &[NodeId],
        join: fn(&mut Self, NodeId, NodeId) -> NodeId,
    ) -> Vec<NodeId> {
        let pairs = lefts.iter().flat_map(|&left| rights.iter().map(move |&right| (left, right)));
        pairs.map(|(left, right)| join(self, left, right)).collect()
    }

    fn conjuncts(&self, id: NodeId) -> Vec<NodeId> {
        match self.node(id) {
            Node::And(parts) => parts.to_vec(),
            _ => vec![id],
        }
    }

    fn disjuncts(&self, id: NodeId) -> Vec<NodeId> {
        match self.node(id) {
            Node::Or(parts) => parts.to_vec(),
            _ => vec![id],
        }
    }

    /// The atoms of a formula, as bits.
    fn atoms(&self, id: NodeId) -> u64 {
        match *self.node(id) {
            Node::True | Node::False => 0,
            Node::Literal { atom, .. } => 1 << atom,
            Node::And(ref parts) | Node::Or(ref parts) => {
                parts.iter().fold(0, |atoms, &part| atoms | self.atoms(part))
            }
            Node::Next(operand) => self.atoms(operand),
            Node::Until(left, right) | Node::Release(left, right) => {
                self.atoms(left) | self.atoms(right)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let mut atoms = Vec::new();
        let formula = Formula::parse(text, &mut atoms).expect("it is a formula");
        let shown = |part: &u64| -> String {
            let is_in = |idx: &usize| part >> idx & 1 == 1;
            (0..atoms.len()).filter(is_in).map(|idx| atoms[idx].as_str()).collect()
        };
        let mut found: Vec<String> = parts(&formula).iter().map(shown).collect();
        found.sort();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn the_rules_of_the_paper() {
        check("[] (p && q)", &["p", "q"]);
        check("<> (p || q)", &["p", "q"]);
        check("<> [] (p && q)", &["p", "q"]);
        check("[] <> (p || q)", &["p", "q"]);
        check("(p && q) U r", &["pr", "qr"]);
        check("p U (q || r)", &["pq", "pr"]);
    }

    #[test]
    fn other_formulae() {
        check("[] (p -> <> q)", &["pq"]);
        check("[] p && <> q || r", &["p", "q", "r"]);
        check("[] (p && (q -> <> r))", &["p", "qr"]);
        check("!([] p -> [] q)", &["p", "q"]);
        check("([] (p -> q)) && <> p", &["pq"]);
        check("true", &[]);
    }
}
