//! Rewriting: simpler formulae for the same words, found as a formula is made.
//!
//! Implements the rules of Somenzi and Bloem, *Efficient Büchi Automata from LTL Formulae* (CAV
//! 2000), section 3 (rewriting with a syntactic implication), and of Etessami and Holzmann,
//! *Optimizing Büchi Automata* (CONCUR 2000), section 3 (pure eventualities and universalities).
//!
//! Differs from the papers: rules are applied bottom up, once, as a formula is made, so that
//! what a [`Pool`] holds is always simplified. The implication is asked of formulae that exist;
//! it never makes new ones.

use crate::normal::{Node, NodeId, Pool};

/// How deep two formulae are compared. Deeper ones are taken for unrelated.
const MAX_DEPTH: u32 = 12;

impl Pool {
    /// `X operand`.
    pub fn next(&mut self, operand: NodeId) -> NodeId {
        let is_constant = matches!(operand, Self::TRUE | Self::FALSE);
        // What holds from any position on if it does from one: `[] <> p`.
        if is_constant || self.is_eventual(operand) && self.is_universal(operand) {
            return operand;
        }
        self.intern(Node::Next(operand))
    }

    /// `left U right`.
    pub fn until(&mut self, left: NodeId, right: NodeId) -> NodeId {
        if right == Self::TRUE || right == Self::FALSE || left == Self::FALSE {
            return right;
        }
        if self.is_eventual(right) || self.implies(left, right) {
            return right;
        }
        // `!right` implies `left`: the first holds anyhow until the second does.
        let otherwise = self.not(right);
        if left != Self::TRUE && self.implies(otherwise, left) {
            return self.until(Self::TRUE, right);
        }
        match (self.node(left).clone(), self.node(right).clone()) {
            (Node::Next(left), Node::Next(right)) => {
                let until = self.until(left, right);
                return self.next(until);
            }
            (Node::True, Node::Next(right)) => {
                let until = self.until(Self::TRUE, right);
                return self.next(until);
            }
            // `a U (a U b)` was caught above if it is eventual; `a U (b U c)` where a implies b.
            (_, Node::Until(other, _)) if self.implies(left, other) => return right,
            // `<> (a U b)` is `<> b`.
            (Node::True, Node::Until(_, goal)) => return self.until(Self::TRUE, goal),
            // `(a U b) U b` is `a U b` where a U b fails only if b does later: b holds at last.
            (Node::Until(_, goal), _) if goal == right => return left,
            // `<> (a && [] <> b)` is `<> a && [] <> b`.
            (Node::True, Node::And(parts)) => {
                let (steady, rest): (Vec<_>, Vec<_>) =
                    parts.iter().partition(|&&part| self.is_steady(part));
                if !steady.is_empty() {
                    let rest = self.and(&rest);
                    let mut all = steady;
                    all.push(self.until(Self::TRUE, rest));
                    return self.and(&all);
                }
            }
            _ => {}
        }
        self.intern(Node::Until(left, right))
    }

    /// `left V right`.
    pub fn release(&mut self, left: NodeId, right: NodeId) -> NodeId {
        if right == Self::TRUE || right == Self::FALSE || left == Self::TRUE {
            return right;
        }
        if self.is_universal(right) || self.implies(right, left) {
            return right;
        }
        // `left` implies `!right`: the first can never release the second.
        let otherwise = self.not(right);
        if left != Self::FALSE && self.implies(left, otherwise) {
            return self.release(Self::FALSE, right);
        }
        match (self.node(left).clone(), self.node(right).clone()) {
            (Node::Next(left), Node::Next(right)) => {
                let release = self.release(left, right);
                return self.next(release);
            }
            (Node::False, Node::Next(right)) => {
                let release = self.release(Self::FALSE, right);
                return self.next(release);
            }
            (_, Node::Release(other, _)) if self.implies(other, left) => return right,
            (Node::False, Node::Release(_, goal)) => return self.release(Self::FALSE, goal),
            (Node::Release(_, goal), _) if goal == right => return left,
            (Node::False, Node::Or(parts)) => {
                let (steady, rest): (Vec<_>, Vec<_>) =
                    parts.iter().partition(|&&part| self.is_steady(part));
                if !steady.is_empty() {
                    let rest = self.or(&rest);
                    let mut all = steady;
                    all.push(self.release(Self::FALSE, rest));
                    return self.or(&all);
                }
            }
            _ => {}
        }
        self.intern(Node::Release(left, right))
    }

    /// All of `parts` hold.
    pub fn and(&mut self, parts: &[NodeId]) -> NodeId {
        self.list(parts, true)
    }

    /// One of `parts` holds.
    pub fn or(&mut self, parts: &[NodeId]) -> NodeId {
        self.list(parts, false)
    }

    /// A conjunction, or a disjunction.
    fn list(&mut self, parts: &[NodeId], is_and: bool) -> NodeId {
        let (neutral, absorbing) =
            if is_and { (Self::TRUE, Self::FALSE) } else { (Self::FALSE, Self::TRUE) };
        let mut flat = Vec::new();
        for &part in parts {
            match self.node(part) {
                Node::And(inner) if is_and => flat.extend_from_slice(inner),
                Node::Or(inner) if !is_and => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        flat.retain(|&part| part != neutral);
        flat.sort_unstable();
        flat.dedup();
        if self.is_contradictory(&flat, is_and) {
            return absorbing;
        }
        if let Some(joined) = self.join(&flat, is_and) {
            return self.list(&joined, is_and);
        }
        self.drop_implied(&mut flat, is_and);
        match flat[..] {
            [] => neutral,
            [one] => one,
            _ if is_and => self.intern(Node::And(flat.into())),
            _ => self.intern(Node::Or(flat.into())),
        }
    }

    /// Whether two of the parts exclude each other (`is_and`), or leave nothing out.
    fn is_contradictory(&mut self, parts: &[NodeId], is_and: bool) -> bool {
        let absorbing = if is_and { Self::FALSE } else { Self::TRUE };
        parts.contains(&absorbing)
            || (0..parts.len()).any(|idx| {
                let negation = self.not_known(parts[idx]);
                negation.is_some_and(|negation| {
                    parts[idx + 1..].iter().any(|&other| match is_and {
                        true => self.implies(other, negation),
                        false => self.implies(negation, other),
                    })
                })
            })
    }

    /// The negation of a formula that is no list: to negate a list would make lists without end.
    fn not_known(&mut self, id: NodeId) -> Option<NodeId> {
        match self.node(id) {
            Node::And(_) | Node::Or(_) => self.negations.get(&id).copied(),
            _ => Some(self.not(id)),
        }
    }

    /// Two parts that are one: `[] a && [] b`. The list with them joined.
    fn join(&mut self, parts: &[NodeId], is_and: bool) -> Option<Vec<NodeId>> {
        for (idx, &first) in parts.iter().enumerate() {
            for &second in &parts[idx + 1..] {
                if let Some(joined) = self.joined(first, second, is_and) {
                    let others = parts.iter().filter(|&&part| part != first && part != second);
                    return Some(others.copied().chain([joined]).collect());
                }
            }
        }
        None
    }

    fn joined(&mut self, first: NodeId, second: NodeId, is_and: bool) -> Option<NodeId> {
        let pair = |pool: &mut Self, a, b, is_and| pool.list(&[a, b], is_and);
        match (self.node(first).clone(), self.node(second).clone()) {
            (Node::Next(a), Node::Next(b)) => {
                let both = pair(self, a, b, is_and);
                Some(self.next(both))
            }
            // (a V b) && (a V c) = a V (b && c).
            (Node::Release(a, b), Node::Release(c, d)) if is_and && a == c => {
                let both = pair(self, b, d, true);
                Some(self.release(a, both))
            }
            // (a U b) || (a U c) = a U (b || c).
            (Node::Until(a, b), Node::Until(c, d)) if !is_and && a == c => {
                let either = pair(self, b, d, false);
                Some(self.until(a, either))
            }
            // (a U c) && (b U c) = (a && b) U c.
            (Node::Until(a, b), Node::Until(c, d)) if is_and && b == d => {
                let both = pair(self, a, c, true);
                Some(self.until(both, b))
            }
            // (a V c) || (b V c) = (a || b) V c.
            (Node::Release(a, b), Node::Release(c, d)) if !is_and && b == d => {
                let either = pair(self, a, c, false);
                Some(self.release(either, b))
            }
            // [] <> a || [] <> b = [] <> (a || b).
            (Node::Release(Self::FALSE, a), Node::Release(Self::FALSE, b)) if !is_and => {
                match (self.node(a).clone(), self.node(b).clone()) {
                    (Node::Until(Self::TRUE, a), Node::Until(Self::TRUE, b)) => {
                        let either = pair(self, a, b, false);
                        let later = self.eventually(either);
                        Some(self.always(later))
                    }
                    _ => None,
                }
            }
            // <> [] a && <> [] b = <> [] (a && b).
            (Node::Until(Self::TRUE, a), Node::Until(Self::TRUE, b)) if is_and => {
                match (self.node(a).clone(), self.node(b).clone()) {
                    (Node::Release(Self::FALSE, a), Node::Release(Self::FALSE, b)) => {
                        let both = pair(self, a, b, true);
                        let always = self.always(both);
                        Some(self.eventually(always))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Takes out what the others say already.
    fn drop_implied(&mut self, parts: &mut Vec<NodeId>, is_and: bool) {
        let mut idx = 0;
        while idx < parts.len() {
            let part = parts[idx];
            let is_said = (0..parts.len()).filter(|&other| other != idx).any(|other| {
                let other = parts[other];
                if is_and { self.implies(other, part) } else { self.implies(part, other) }
            });
            if is_said {
                parts.remove(idx);
            } else {
                idx += 1;
            }
        }
    }

    /// Whether every word with a suffix that satisfies the formula satisfies it.
    pub(crate) fn is_eventual(&self, id: NodeId) -> bool {
        match self.node(id) {
            Node::True | Node::False | Node::Until(Self::TRUE, _) => true,
            Node::Literal { .. } => false,
            Node::And(parts) | Node::Or(parts) => parts.iter().all(|&part| self.is_eventual(part)),
            Node::Next(operand) => self.is_eventual(*operand),
            &Node::Until(left, right) | &Node::Release(left, right) => {
                self.is_eventual(left) && self.is_eventual(right)
            }
        }
    }

    /// Whether every suffix of a word that satisfies the formula satisfies it.
    pub(crate) fn is_universal(&self, id: NodeId) -> bool {
        match self.node(id) {
            Node::True | Node::False | Node::Release(Self::FALSE, _) => true,
            Node::Literal { .. } => false,
            Node::And(parts) | Node::Or(parts) => parts.iter().all(|&part| self.is_universal(part)),
            Node::Next(operand) => self.is_universal(*operand),
            &Node::Until(left, right) | &Node::Release(left, right) => {
                self.is_universal(left) && self.is_universal(right)
            }
        }
    }

    /// Whether it holds everywhere in a word or nowhere.
    pub(crate) fn is_steady(&self, id: NodeId) -> bool {
        self.is_eventual(id) && self.is_universal(id)
    }

    /// Whether `first` implies `second`, as far as their form tells.
    pub(crate) fn implies(&mut self, first: NodeId, second: NodeId) -> bool {
        self.implies_within(first, second, MAX_DEPTH)
    }

    fn implies_within(&mut self, first: NodeId, second: NodeId, depth: u32) -> bool {
        if first == second || first == Self::FALSE || second == Self::TRUE {
            return true;
        }
        if first == Self::TRUE || second == Self::FALSE || depth == 0 {
            return false;
        }
        if let Some(&known) = self.implications.get(&(first, second)) {
            return known;
        }
        let implies = self.implies_by_form(first, second, depth - 1);
        // What was not found near the depth limit might be found from higher up.
        if implies || depth > MAX_DEPTH / 2 {
            self.implications.insert((first, second), implies);
        }
        implies
    }

    fn implies_by_form(&mut self, first: NodeId, second: NodeId, depth: u32) -> bool {
        let (from, to) = (self.node(first).clone(), self.node(second).clone());
        let mut implies = |a, b| self.implies_within(a, b, depth);
        match &from {
            Node::Or(parts) => return parts.iter().all(|&part| implies(part, second)),
            Node::And(parts) if parts.iter().any(|&part| implies(part, second)) => return true,
            // a U b holds only where one of them does.
            &Node::Until(a, b) if implies(a, second) && implies(b, second) => return true,
            &Node::Release(_, b) if implies(b, second) => return true,
            _ => {}
        }
        match &to {
            Node::And(parts) => return parts.iter().all(|&part| implies(first, part)),
            Node::Or(parts) if parts.iter().any(|&part| implies(first, part)) => return true,
            &Node::Until(_, b) if implies(first, b) => return true,
            &Node::Release(a, b) if implies(first, a) && implies(first, b) => return true,
            _ => {}
        }
        match (from, to) {
            (Node::Next(a), Node::Next(b)) => implies(a, b),
            (Node::Until(a, b), Node::Until(c, d)) => implies(a, c) && implies(b, d),
            (Node::Release(a, b), Node::Release(c, d)) => implies(a, c) && implies(b, d),
            _ => false,
        }
    }
}
