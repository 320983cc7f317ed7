//! Relations between the events of a graph, as rows of bits.

use super::graph::EventId;

/// A relation between numbered events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relation {
    n: usize,
    words: usize,
    bits: Vec<u64>,
}

impl Relation {
    /// The empty relation between `n` events.
    pub(crate) fn clear(&mut self, n: usize) {
        self.n = n;
        self.words = n.div_ceil(64);
        self.bits.clear();
        self.bits.resize(n * self.words, 0);
    }

    pub(crate) fn add(&mut self, from: EventId, to: EventId) {
        self.bits[from as usize * self.words + to as usize / 64] |= 1 << (to % 64);
    }

    pub(crate) fn has(&self, from: usize, to: usize) -> bool {
        self.bits[from * self.words + to / 64] >> (to % 64) & 1 != 0
    }

    fn row(&self, from: usize) -> &[u64] {
        &self.bits[from * self.words..][..self.words]
    }

    /// Adds all pairs of `other`.
    pub(crate) fn union(&mut self, other: &Self) {
        debug_assert_eq!(self.n, other.n);
        for (mine, theirs) in self.bits.iter_mut().zip(&other.bits) {
            *mine |= theirs;
        }
    }

    /// Becomes `first ; second`.
    pub(crate) fn compose(&mut self, first: &Self, second: &Self) {
        self.clear(first.n);
        let words = self.words;
        for from in 0..first.n {
            for (word, &bits) in first.row(from).iter().enumerate() {
                let mut rest = bits;
                while rest != 0 {
                    let via = word * 64 + rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    let row = &mut self.bits[from * words..][..words];
                    for (mine, theirs) in row.iter_mut().zip(second.row(via)) {
                        *mine |= theirs;
                    }
                }
            }
        }
    }

    /// Becomes its transitive closure.
    pub(crate) fn close(&mut self) {
        let words = self.words;
        for via in 0..self.n {
            for from in 0..self.n {
                if from != via && self.has(from, via) {
                    for word in 0..words {
                        let theirs = self.bits[via * words + word];
                        self.bits[from * words + word] |= theirs;
                    }
                }
            }
        }
    }

    /// Whether it relates an event to itself.
    pub(crate) fn is_reflexive_somewhere(&self) -> bool {
        (0..self.n).any(|event| self.has(event, event))
    }
}

/// Room for the checks of a model, kept between them.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) relations: [Relation; 8],
    pub(crate) visited: Vec<bool>,
    pub(crate) stack: Vec<EventId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(n: usize, pairs: &[(u32, u32)]) -> Relation {
        let mut relation = Relation::default();
        relation.clear(n);
        pairs.iter().for_each(|&(from, to)| relation.add(from, to));
        relation
    }

    #[test]
    fn pairs_are_composed_and_closed() {
        for offset in [0, 60, 100] {
            let n = offset + 5;
            let at = |idx: u32| idx + offset as u32;
            let chain = [(at(0), at(1)), (at(1), at(2)), (at(3), at(4))];
            let steps = relation(n, &chain);
            let mut twice = Relation::default();
            twice.compose(&steps, &steps);
            assert!(twice.has(offset, offset + 2) && !twice.has(offset, offset + 1));
            let mut closed = steps.clone();
            closed.close();
            assert!(closed.has(offset, offset + 2) && !closed.has(offset + 2, offset + 3));
            assert!(!closed.is_reflexive_somewhere());
            closed.union(&relation(n, &[(at(2), at(0))]));
            closed.close();
            assert!(closed.is_reflexive_somewhere());
        }
    }
}
