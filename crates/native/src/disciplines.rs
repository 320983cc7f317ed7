//! Additions to counters: what kind of operation each is, and how far they are kept in order, as
//! the searches so far have taught.

use crate::machine::{self, Machine};
use crate::plain_accesses::CUT;
use crate::results::{self, Way};
use mazurka_core::{AddId, Addition, Discipline, ObjectId, Operation, Tests};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::atomic::Ordering;

/// For each object, over all executions.
#[derive(Debug, Default)]
pub(crate) struct Disciplines {
    learnt: FxHashMap<ObjectId, Discipline>,
    n_learnt: u64,
    /// Objects that are awaited, to which additions have to be in order; and those that were
    /// added to without.
    awaited: FxHashSet<ObjectId>,
    added: FxHashSet<ObjectId>,
    /// A bounded search does not see every trace: an addition that is tested is then in order.
    pub(crate) are_strict: bool,
    /// Where data races are not looked for, a plain read could see the order of additions.
    pub(crate) are_off: bool,
}

/// An addition that is about to be announced, and of whose result the thread learns no more than
/// comparisons with constants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adding {
    added: i64,
    bits: u8,
    tests: Tests,
}

impl Adding {
    /// The running thread is about to add to the counter at an address, and to go on in this way.
    /// Nothing if the addition has to be in order with all others.
    pub(crate) fn at(address: usize, added: i64, way: Way) -> Option<Self> {
        let is_possible =
            |machine: &mut Machine| machine.is_concurrent() && !machine.disciplines.are_off;
        if !machine::with(is_possible) {
            return None;
        }
        let tests = results::tests(way)?;
        // A plain access would see the order of additions, and has to be noticed.
        let len = usize::from(way.bits / 8);
        machine::with(|machine| machine.watch.whole(address, len))?;
        Some(Self { added, bits: way.bits, tests })
    }

    /// Whether the thread may learn of a difference: it finds `before`, and would have found so much
    /// less.
    pub(crate) fn tells(self, before: i64, difference: i64) -> bool {
        let Self { bits, tests, .. } = self;
        let Some(without) = before.checked_sub(difference) else { return true };
        let highest = i64::MAX >> (64 - bits);
        let is_compared_as_it_is = |value: i64| (0..=highest).contains(&value);
        !tests.is_empty()
            && (!is_compared_as_it_is(before)
                || !is_compared_as_it_is(without)
                || tests.tell_apart(before.min(without), before.max(without)))
    }

    /// It was made, and this was the value before.
    pub(crate) fn note(self, before: u128) {
        let Self { added, bits, tests } = self;
        let before = signed(before, bits);
        let highest = i64::MAX >> (64 - bits);
        let addition = Addition { before, added, highest, tests };
        machine::with(|machine| machine.addition = Some(addition));
    }
}

/// A value of so many bits as a signed number.
pub(crate) fn signed(value: u128, bits: u8) -> i64 {
    let unused = 64 - bits;
    (value as i64) << unused >> unused
}

impl Disciplines {
    /// How much is known of counters. Whatever is new voids the search, and so is not missed.
    pub(crate) fn known(&self) -> u64 {
        self.n_learnt << 32 ^ (self.awaited.len() as u64)
    }

    /// An object is awaited. Whether additions to it were not in order so far.
    pub(crate) fn note_await(&mut self, object: ObjectId) -> bool {
        self.awaited.insert(object) && self.added.contains(&object)
    }

    /// The operation that a read-modify-write is, if it only adds.
    pub(crate) fn operation(&mut self, object: ObjectId, adding: Option<Adding>) -> Operation {
        let Some(Adding { tests, .. }) = adding else { return Operation::ReadModifyWrite(object) };
        if self.awaited.contains(&object) {
            return Operation::ReadModifyWrite(object);
        }
        self.added.insert(object);
        let discipline = match self.are_strict {
            true => &Discipline::Strict,
            false => self.learnt.get(&object).unwrap_or(&Discipline::Free),
        };
        discipline.operation(object, &tests)
    }

    /// Whether one of them has to be in order.
    pub(crate) fn is_in_order(&self, object: ObjectId, turn: AddId) -> bool {
        self.learnt.get(&object).is_some_and(|discipline| discipline.is_in_order(turn))
    }

    /// Makes the additions to an object stricter. The search has to begin again.
    pub(crate) fn add_does_not_commute(&mut self, object: ObjectId, turns: &[AddId]) {
        let discipline = self.learnt.entry(object).or_default();
        let is_known = turns.iter().all(|&turn| discipline.is_in_order(turn));
        // A search that is void already may say so again before it ends.
        if !(CUT.swap(true, Ordering::Relaxed) && is_known) {
            *discipline = discipline.stricter(turns);
            self.n_learnt += 1;
        }
    }
}
