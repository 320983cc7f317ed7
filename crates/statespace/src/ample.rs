//! Ample sets: where one process does what concerns nobody else, the others need not move.
//!
//! Implements Peled, *Combining Partial Order Reductions with On-the-fly Model-Checking* (CAV 1994) for
//! safety, with the static conditions of Holzmann and Peled, *An Improvement in Formal Verification*
//! (FORTE 1994).
//!
//! | paper                                   | here                                               |
//! |-----------------------------------------|----------------------------------------------------|
//! | C0: not empty if anything is enabled    | a [`Group`] without moves does not exist           |
//! | C1: nothing dependent before            | [`Group::safety`], as the program tells            |
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
use crate::transitions::{Group, Moves, Safety};

/// Which moves of a state are taken, and in which order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    phase: Phase,
    /// The next move, by its number.
    next: u32,
    /// The group after the one whose moves are taken, in a phase that goes by groups.
    group: u32,
    /// The move after the last one of the group.
    end: u32,
    /// Whether the candidate at hand satisfies C2.
    is_satisfied: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Groups that may stand for all others, one after the other.
    Candidates,
    /// The other groups.
    Rest,
    /// All moves, as they come.
    All,
}

impl Plan {
    /// A plan for a state that has these moves.
    pub(crate) fn new(reduction: Reduction, moves: &Moves) -> Self {
        let groups = moves.groups();
        let reduces = reduction == Reduction::Ample && groups.len() > 1;
        match reduces && groups.iter().any(is_candidate) {
            true => Self { phase: Phase::Candidates, ..Self::all() },
            false => Self::all(),
        }
    }

    /// A plan that leaves nothing out.
    pub(crate) fn all() -> Self {
        Self { phase: Phase::All, next: 0, group: 0, end: 0, is_satisfied: false }
    }

    /// The move to take next, by its number.
    #[inline]
    pub(crate) fn next(&mut self, moves: &Moves) -> Option<usize> {
        let end = if self.phase == Phase::All { moves.len() as u32 } else { self.end };
        if self.next == end && (self.phase == Phase::All || !self.next_group(moves)) {
            return None;
        }
        self.next += 1;
        Some(self.next as usize - 1)
    }

    /// Something that the candidate leads to satisfies C2.
    pub(crate) fn satisfy(&mut self) {
        self.is_satisfied = true;
    }

    /// Goes to the next group whose moves are to be taken.
    fn next_group(&mut self, moves: &Moves) -> bool {
        if self.phase == Phase::Candidates && self.is_satisfied {
            return false;
        }
        loop {
            let idx = self.group as usize;
            match moves.groups().get(idx) {
                Some(group) => {
                    self.group += 1;
                    if is_candidate(group) == (self.phase == Phase::Candidates) {
                        let range = moves.of_group(idx);
                        (self.next, self.end) = (range.start as u32, range.end as u32);
                        return true;
                    }
                }
                None if self.phase == Phase::Candidates => {
                    (self.phase, self.group) = (Phase::Rest, 0);
                }
                None => return false,
            }
        }
    }
}

fn is_candidate(group: &Group) -> bool {
    group.safety >= Safety::Commutes
}
