//! The fringe: executions that are known and not taken yet, in the order of their priorities.
//!
//! Implements the open list of best-first search in Coons' thesis, 3.2 and 3.5.4: equal ranks are
//! taken last in, first out, "which mimics depth-first search".
//!
//! Differs from the thesis: its memory is bounded. While there are more items than there is room,
//! the best one is taken as always, but whatever is found *below* it is not put into the order: it
//! is taken at once, deepest first, until nothing is left there. So a subtree costs what it would
//! cost depth-first, nothing is dropped and nothing is written to disk. What is found *above* it is
//! still put into the order: there is one such item at most for each thread at each state on the
//! way to items that are there already.

use super::priority::Rank;
use mazurka_core::Decision;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An execution that is known and not taken yet: another one up to `depth`, and then this decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Item {
    /// The node of the tree whose execution it parts from.
    pub(crate) node: u32,
    pub(crate) depth: u32,
    pub(crate) decision: Decision,
}

/// The items, in order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Fringe {
    ranked: BTreeMap<Rank, Vec<Item>>,
    n_ranked: usize,
    /// Items below the one that is explored depth-first: the deepest is last.
    eager: Vec<Item>,
    /// From which depth on items are eager, while they are.
    eager_from: Option<u32>,
    room: usize,
}

impl Fringe {
    /// A fringe that keeps about `room` items in order.
    pub(crate) fn new(room: usize) -> Self {
        let eager_from = (room == 0).then_some(0);
        Self { eager_from, room, ..Self::default() }
    }

    /// How many items there are.
    pub(crate) fn len(&self) -> usize {
        self.n_ranked + self.eager.len()
    }

    pub(crate) fn insert(&mut self, rank: Rank, item: Item) {
        if self.eager_from.is_some_and(|from| item.depth >= from) {
            let at = self.eager.partition_point(|other| other.depth <= item.depth);
            self.eager.insert(at, item);
        } else {
            self.ranked.entry(rank).or_default().push(item);
            self.n_ranked += 1;
        }
    }

    /// Takes the item that comes first.
    pub(crate) fn pop(&mut self) -> Option<Item> {
        if let Some(item) = self.eager.pop() {
            return Some(item);
        }
        let mut best = self.ranked.first_entry()?;
        let item = best.get_mut().pop().expect("no list is empty");
        if best.get().is_empty() {
            best.remove();
        }
        self.eager_from = (self.n_ranked > self.room).then_some(item.depth + 1);
        self.n_ranked -= 1;
        Some(item)
    }

    /// Puts an item that was just taken back, so that it comes first again.
    pub(crate) fn put_back(&mut self, item: Item) {
        self.eager.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mazurka_core::ThreadId;
    use smallvec::smallvec;

    fn item(depth: u32) -> Item {
        Item { node: 0, depth, decision: Decision::of(ThreadId::new(0)) }
    }

    #[test]
    fn the_smallest_rank_comes_first_and_of_equals_the_last() {
        let mut fringe = Fringe::new(10);
        for (depth, rank) in [(1, 2), (2, 0), (3, 1), (4, 0)] {
            fringe.insert(smallvec![rank], item(depth));
        }
        let depths: Vec<_> = std::iter::from_fn(|| fringe.pop()).map(|item| item.depth).collect();
        assert_eq!(depths, [4, 2, 3, 1]);
        assert_eq!(fringe.len(), 0);
    }

    #[test]
    fn what_is_below_an_item_for_which_there_is_no_room_comes_deepest_first() {
        let mut fringe = Fringe::new(1);
        fringe.insert(smallvec![0], item(3));
        fringe.insert(smallvec![1], item(1));
        assert_eq!(fringe.pop(), Some(item(3)));
        for (depth, rank) in [(5, 9), (2, 0), (7, 8), (4, 7)] {
            fringe.insert(smallvec![rank], item(depth));
        }
        let depths: Vec<_> = std::iter::from_fn(|| fringe.pop()).map(|item| item.depth).collect();
        assert_eq!(depths, [7, 5, 4, 2, 1]);
    }
}
