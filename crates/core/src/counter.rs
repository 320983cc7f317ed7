//! Additions whose order is not observable: what a thread learns from one, and how far a system
//! keeps them in order.

use crate::{ObjectId, Operation, ThreadId};
use std::collections::BTreeSet;

/// How many numbers the result of one addition may be compared with.
const MAX_BOUNDARIES: usize = 4;
/// What counters come to. A comparison of one with other numbers checks for overflow.
const NEAR: std::ops::Range<i64> = 1..1 << 30;
/// How many additions to one object are told apart before all of them are in order that are tested.
const MAX_TURNS: usize = 32;

/// All that a thread learns of the value that was there before its addition: on which side of some
/// numbers it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tests {
    /// Each separates the values below it from itself and those above.
    boundaries: [i64; MAX_BOUNDARIES],
    len: u8,
}

impl Tests {
    /// Nothing is learnt.
    pub const NONE: Self = Self { boundaries: [0; MAX_BOUNDARIES], len: 0 };

    /// Whether nothing is learnt.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether it is learnt if a value is below `boundary`, too. Not possible if that is too much.
    #[must_use]
    pub fn and_below(mut self, boundary: i64) -> Option<Self> {
        if !self.boundaries().contains(&boundary) {
            *self.boundaries.get_mut(usize::from(self.len))? = boundary;
            self.len += 1;
        }
        Some(self)
    }

    /// The same for whether it is `value`.
    #[must_use]
    pub fn and_equal(self, value: i64) -> Option<Self> {
        self.and_below(value)?.and_below(value.checked_add(1)?)
    }

    /// The numbers that separate what is told apart.
    pub fn boundaries(&self) -> &[i64] {
        &self.boundaries[..usize::from(self.len)]
    }

    /// Whether some values of these are told apart.
    pub fn tell_apart(&self, lowest: i64, highest: i64) -> bool {
        self.boundaries().iter().any(|&boundary| lowest < boundary && boundary <= highest)
    }
}

/// What a step added, and what its thread has learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addition {
    /// The value before, as a signed number.
    pub before: i64,
    /// What was added.
    pub added: i64,
    /// How large a value can be that is compared as it is: the type has a largest number.
    pub highest: i64,
    /// What the thread learns of the value before.
    pub tests: Tests,
}

/// One addition to an object: whose, and the how many-th of those that this thread makes to it.
/// That is the same in all linearisations of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddId {
    /// Who adds.
    pub thread: ThreadId,
    /// Counted from 0.
    pub index: u32,
}

/// How far the additions to one object are kept in order. What a search learns makes it stricter.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Discipline {
    /// Not at all.
    #[default]
    Free,
    /// These, with each other.
    Named(BTreeSet<AddId>),
    /// Those whose threads learn something: which count is the last.
    Tested,
    /// Those, and with all others.
    Strict,
}

impl Discipline {
    /// The next stricter one, with these in order.
    #[must_use]
    pub fn stricter(&self, turns: &[AddId]) -> Self {
        let before = match self {
            Self::Free => BTreeSet::new(),
            Self::Named(before) => before.clone(),
            Self::Tested | Self::Strict => return Self::Strict,
        };
        let now: BTreeSet<AddId> = before.iter().chain(turns).copied().collect();
        // If they were in order before, and that was not enough, something is not counted as it
        // should.
        match now.len() {
            n if n > before.len() && n <= MAX_TURNS => Self::Named(now),
            _ => Self::Tested,
        }
    }

    /// Whether an addition that is announced as [`Operation::AddAndTest`] is to be in order. If
    /// not, it is as good as an [`Operation::Add`].
    pub fn is_in_order(&self, turn: AddId) -> bool {
        match self {
            Self::Free => false,
            Self::Named(turns) => turns.contains(&turn),
            Self::Tested | Self::Strict => true,
        }
    }

    /// The operation that an addition is, or may be, if it is not known yet which one it is.
    pub fn operation(&self, object: ObjectId, tests: &Tests) -> Operation {
        match self {
            Self::Named(_) => Operation::AddAndTest(object),
            Self::Tested if tests.boundaries().iter().any(|it| NEAR.contains(it)) => {
                Operation::AddAndTest(object)
            }
            Self::Strict if !tests.is_empty() => Operation::ReadModifyWrite(object),
            _ => Operation::Add(object),
        }
    }
}
