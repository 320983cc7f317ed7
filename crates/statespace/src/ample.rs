//! Ample sets: where one process does what concerns no other process, the others need not move.
//!
//! Implements Peled, *Combining Partial Order Reductions with On-the-fly Model-Checking* (CAV 1994)
//! for safety, with the static conditions of Holzmann and Peled, *An Improvement in Formal
//! Verification* (FORTE 1994).
//!
//! | paper                                   | here                                               |
//! |-----------------------------------------|----------------------------------------------------|
//! | C0: not empty if anything is enabled    | a `Group` without moves does not exist             |
//! | C1: nothing dependent before            | [`Moves::allow`], [`Moves::prefer`]: as the program tells |
//! | C2: no cycle puts something off for ever | [`Plan::satisfy`]                                 |
//! | C3: invisible                           | not needed for ends and faults                     |
//!
//! Differs from the papers: C2 is checked afterwards. The moves of a candidate are taken, and if
//! none of them leads to a state that satisfies C2, the next candidate's follow, and in the end
//! those of everybody. What satisfies is up to the search. Depth first, a state that is not on the
//! path: it is done before this one is, so that a path that goes from state to state by such moves
//! comes to the end of it, at a state where everybody has moved. A state of the path from which
//! nothing is left out is such an end itself, and satisfies, too. In any other order, and with
//! several workers, a state that is new, or one that leads on to another state
//! where everybody has moved: `witness.rs` says why.

use crate::options::Reduction;
use crate::saved::{Form, Reader, Writer};
use crate::transitions::Moves;
use std::io;

/// Which moves of a state are taken, and in which order: set by set, until one of them satisfies
/// C2, or else all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// How many sets of groups may stand for all others; without one, all moves are taken as they
    /// come.
    n_sets: u32,
    /// The set whose moves are taken next; `n_sets` when it is about the groups that are in none,
    /// and more when nothing is left.
    next: u32,
    /// Whether a set that was taken satisfies C2.
    is_satisfied: bool,
}

impl Form for Plan {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.word(u64::from(self.n_sets) << 32 | u64::from(self.next))?;
        out.flag(self.is_satisfied)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let word = from.word()?;
        let is_satisfied = from.flag()?;
        Ok(Self { n_sets: (word >> 32) as u32, next: word as u32, is_satisfied })
    }
}

impl Plan {
    /// A plan for a state that has these moves.
    pub(crate) fn new(reduction: Reduction, moves: &Moves) -> Self {
        match moves.groups().len() {
            0 | 1 => Self::all(),
            _ => Self { n_sets: moves.n_sets(reduction), ..Self::all() },
        }
    }

    /// A plan for a state with so many sets.
    pub(crate) fn of_sets(n_sets: u32) -> Self {
        Self { n_sets, ..Self::all() }
    }

    /// The set that comes next, by its number.
    pub(crate) fn next_set(&self) -> u32 {
        self.next
    }

    /// Goes on to the next set, all of whose moves are to be taken: `moves` has no others.
    pub(crate) fn choose_told(&mut self, moves: &Moves, chosen: &mut Vec<u32>) {
        debug_assert!(!self.is_done(), "there is a set to go on to");
        self.next += 1;
        chosen.clear();
        chosen.extend(0..moves.len() as u32);
    }

    /// A plan that leaves nothing out.
    pub(crate) fn all() -> Self {
        Self { n_sets: 0, next: 0, is_satisfied: false }
    }

    /// Whether nothing has to be taken any more.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.is_satisfied || self.next > self.n_sets
    }

    /// Whether moves are left out as it is.
    #[inline]
    pub(crate) fn leaves_out(&self) -> bool {
        self.next <= self.n_sets && self.n_sets > 0
    }

    /// Something that a set leads to satisfies C2.
    #[inline]
    pub(crate) fn satisfy(&mut self) {
        self.is_satisfied = true;
    }

    /// Goes on to the next set: `chosen` become the numbers of its moves, all of which are to be
    /// taken.
    pub(crate) fn choose(&mut self, moves: &Moves, chosen: &mut Vec<u32>) {
        debug_assert!(!self.is_done(), "there is a set to go on to");
        let next = self.next;
        self.next += 1;
        chosen.clear();
        if self.n_sets == 0 {
            chosen.extend(0..moves.len() as u32);
            return;
        }
        let mut take = |group: u32| {
            let range = moves.of_group(group as usize);
            chosen.extend(range.start as u32..range.end as u32);
        };
        if next < self.n_sets {
            let before = moves.members(next).len();
            moves.members(next + 1)[before..].iter().for_each(|&group| take(group));
        } else {
            let members = moves.members(self.n_sets);
            let groups = 0..moves.groups().len() as u32;
            groups.filter(|group| !members.contains(group)).for_each(take);
        }
    }
}
