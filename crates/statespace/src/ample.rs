//! Ample sets: where one process does what concerns nobody else, the others need not move.
//!
//! Implements Peled, *Combining Partial Order Reductions with On-the-fly Model-Checking* (CAV 1994) for
//! safety, with the static conditions of Holzmann and Peled, *An Improvement in Formal Verification*
//! (FORTE 1994).
//!
//! | paper                                   | here                                               |
//! |-----------------------------------------|----------------------------------------------------|
//! | C0: not empty if anything is enabled    | a `Group` without moves does not exist             |
//! | C1: nothing dependent before            | [`Moves::allow`], [`Moves::prefer`]: as the program tells |
//! | C2: no cycle puts something off for ever | [`Plan::satisfy`]                                 |
//! | C3: invisible                           | not needed for ends and faults                     |
//!
//! Differs from the papers: C2 is checked afterwards. The moves of a candidate are taken, and if none of
//! them leads to a state that satisfies C2, the next candidate's follow, and in the end those of
//! everybody. What satisfies is up to the search. Depth first, a state that is not on the path: it is
//! done before this one is, so that whoever goes from state to state by such moves comes to the end of
//! it, at a state where everybody has moved. In any other order, and with several workers, a state that
//! nobody had seen before: every state has one discoverer, and that ends in the same way.

use crate::options::Reduction;
use crate::transitions::Moves;

/// Which moves of a state are taken, and in which order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// How many sets of groups may stand for all others; without one, all moves are taken as they come.
    n_sets: u32,
    /// The set whose moves are taken; `n_sets` when it is about the groups that are in none.
    set: u32,
    /// The next member of the sets; behind them, the next group.
    member: u32,
    /// The next move, by its number.
    next: u32,
    /// The move after the last one of the group at hand.
    end: u32,
    /// Whether the set at hand satisfies C2.
    is_satisfied: bool,
}

impl Plan {
    /// A plan for a state that has these moves.
    pub(crate) fn new(reduction: Reduction, moves: &Moves) -> Self {
        match moves.groups().len() {
            0 | 1 => Self::all(),
            _ => Self { n_sets: moves.n_sets(reduction), ..Self::all() },
        }
    }

    /// A plan that leaves nothing out.
    pub(crate) fn all() -> Self {
        Self { n_sets: 0, set: 0, member: 0, next: 0, end: 0, is_satisfied: false }
    }

    /// The move to take next, by its number.
    #[inline]
    pub(crate) fn next(&mut self, moves: &Moves) -> Option<usize> {
        let end = if self.n_sets == 0 { moves.len() as u32 } else { self.end };
        if self.next == end && (self.n_sets == 0 || !self.next_group(moves)) {
            return None;
        }
        self.next += 1;
        Some(self.next as usize - 1)
    }

    /// Something that the set leads to satisfies C2.
    pub(crate) fn satisfy(&mut self) {
        self.is_satisfied = true;
    }

    /// Goes to the next group whose moves are to be taken.
    fn next_group(&mut self, moves: &Moves) -> bool {
        while self.set < self.n_sets {
            if (self.member as usize) < moves.members(self.set + 1).len() {
                let group = moves.members(self.n_sets)[self.member as usize];
                self.member += 1;
                return self.begin(group, moves);
            }
            if self.is_satisfied {
                return false;
            }
            self.set += 1;
            if self.set == self.n_sets {
                self.member = 0;
            }
        }
        while (self.member as usize) < moves.groups().len() {
            let group = self.member;
            self.member += 1;
            if !moves.members(self.n_sets).contains(&group) {
                return self.begin(group, moves);
            }
        }
        false
    }

    fn begin(&mut self, group: u32, moves: &Moves) -> bool {
        let range = moves.of_group(group as usize);
        (self.next, self.end) = (range.start as u32, range.end as u32);
        true
    }
}
