//! Sets of threads, as bits: two words for programs with few threads, and a number of a shared set
//! for programs with many.
//!
//! A search has several such sets in each of its states and copies them all the time, so a set is
//! two words and no more. A set that has a thread beyond [`N_NARROW`] is *wide*: the last bit of
//! the second word says so, and the first word is its number in a table of all wide sets of the
//! process ([`wide`]). Equal sets have equal words in both cases, so they are compared and hashed
//! as words.
//!
//! The table never forgets a set. It keeps a set as eight numbers of 128 bits each, which most sets
//! share: a new set of 1,024 threads takes about 100 bytes.

use crate::ThreadId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The threads of a set that is not wide are below this number.
const N_NARROW: u32 = 127;
/// What the second word of a wide set is.
const WIDE: u64 = 1 << 63;

/// A set of threads, as bits.
// Two words and not one number: what contains it is then as small as it can be, and needs no
// instructions for numbers of two words.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<u32>", into = "Vec<u32>")]
pub struct ThreadSet([u64; 2]);

impl ThreadSet {
    /// The set without a thread.
    pub const EMPTY: Self = Self([0; 2]);

    /// The set of one thread.
    #[inline]
    pub fn one(thread: ThreadId) -> Self {
        Self::EMPTY.with(thread, true)
    }

    #[inline]
    fn is_wide(self) -> bool {
        self.0[1] & WIDE != 0
    }

    /// The same set, with or without `thread`. Both words are made, so that none has to be looked
    /// up in memory.
    #[inline]
    fn with(self, thread: ThreadId, is_in: bool) -> Self {
        let number = thread.index() as u32;
        if number >= N_NARROW || self.is_wide() {
            return wide::with(self, number, is_in);
        }
        let bit = 1 << (number % 64);
        let [low, high] = if number < 64 { [bit, 0] } else { [0, bit] };
        let all = u64::from(is_in).wrapping_neg();
        Self([self.0[0] & !low | low & all, self.0[1] & !high | high & all])
    }

    /// Whether `thread` is in it.
    #[inline]
    pub fn contains(self, thread: ThreadId) -> bool {
        let number = thread.index() as u32;
        if self.is_wide() {
            return wide::contains(self, number);
        }
        let word = if number < 64 { self.0[0] } else { self.0[1] };
        number < N_NARROW && word >> (number % 64) & 1 != 0
    }

    /// Adds `thread`.
    #[inline]
    pub fn insert(&mut self, thread: ThreadId) {
        *self = self.with(thread, true);
    }

    /// Takes `thread` out.
    #[inline]
    pub fn remove(&mut self, thread: ThreadId) {
        *self = self.with(thread, false);
    }

    /// Adds `thread` or takes it out.
    #[inline]
    pub fn set(&mut self, thread: ThreadId, is_in: bool) {
        *self = self.with(thread, is_in);
    }

    /// Whether no thread is in it.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0[0] | self.0[1] == 0
    }

    /// How many threads are in it.
    #[inline]
    pub fn len(self) -> usize {
        if self.is_wide() {
            return wide::len(self);
        }
        (self.0[0].count_ones() + self.0[1].count_ones()) as usize
    }

    /// The thread of the smallest number.
    #[inline]
    pub fn first(self) -> Option<ThreadId> {
        self.first_from(0)
    }

    /// The thread of the smallest number that is not below another one.
    #[inline]
    fn first_from(self, start: u32) -> Option<ThreadId> {
        if self.is_wide() {
            return wide::first_from(self, start);
        }
        let [low, high] = match start {
            0..64 => [self.0[0] & !0 << start, self.0[1]],
            64..128 => [0, self.0[1] & !0 << (start - 64)],
            _ => [0, 0],
        };
        let number = match [low, high] {
            [0, 0] => return None,
            [0, high] => 64 + high.trailing_zeros(),
            [low, _] => low.trailing_zeros(),
        };
        Some(ThreadId::new(number as usize))
    }

    /// The thread of the smallest number after `thread`, or from the start again.
    #[inline]
    pub fn next_after(self, thread: ThreadId) -> Option<ThreadId> {
        self.first_from(thread.index() as u32 + 1).or_else(|| self.first())
    }

    /// The set as bits, for a state of a model, whose threads are fewer.
    ///
    /// # Panics
    ///
    /// If a thread of number 128 or more is in it.
    pub fn bits(self) -> u128 {
        wide::low_bits(self)
    }

    /// The set that [`ThreadSet::bits`] was told of.
    pub fn of_bits(bits: u128) -> Self {
        wide::of_low_bits(bits)
    }

    /// Its threads, in ascending order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = ThreadId> {
        let mut rest = self;
        let mut start = 0;
        std::iter::from_fn(move || {
            if rest.is_wide() {
                // Sets with one thread less each would all come into the table.
                let thread = rest.first_from(start)?;
                start = thread.index() as u32 + 1;
                return Some(thread);
            }
            let thread = rest.first()?;
            rest.remove(thread);
            Some(thread)
        })
    }
}

impl From<Vec<u32>> for ThreadSet {
    fn from(numbers: Vec<u32>) -> Self {
        numbers.into_iter().map(|number| ThreadId::new(number as usize)).collect()
    }
}

impl From<ThreadSet> for Vec<u32> {
    fn from(set: ThreadSet) -> Self {
        set.iter().map(|thread| thread.index() as u32).collect()
    }
}

impl FromIterator<ThreadId> for ThreadSet {
    fn from_iter<I: IntoIterator<Item = ThreadId>>(threads: I) -> Self {
        let mut set = Self::EMPTY;
        let mut threads = threads.into_iter();
        for thread in threads.by_ref() {
            if thread.index() as u32 >= N_NARROW {
                return wide::collect(set, thread, threads);
            }
            set.insert(thread);
        }
        set
    }
}

impl std::ops::BitOr for ThreadSet {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        let both = [self.0[0] | other.0[0], self.0[1] | other.0[1]];
        if both[1] & WIDE != 0 {
            return wide::combine(self, other, |mine, theirs| mine | theirs);
        }
        Self(both)
    }
}

impl std::ops::BitAnd for ThreadSet {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        if (self.0[1] | other.0[1]) & WIDE != 0 {
            return wide::combine(self, other, |mine, theirs| mine & theirs);
        }
        Self([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }
}

impl std::ops::Sub for ThreadSet {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        if (self.0[1] | other.0[1]) & WIDE != 0 {
            return wide::combine(self, other, |mine, theirs| mine & !theirs);
        }
        Self([self.0[0] & !other.0[0], self.0[1] & !other.0[1]])
    }
}

impl std::ops::BitOrAssign for ThreadSet {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl fmt::Debug for ThreadSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Sets with a thread beyond [`N_NARROW`]: one table of all of them, for all searches of the
/// process.
mod wide {
    use super::{N_NARROW, ThreadSet, WIDE};
    use crate::ThreadId;
    use rustc_hash::FxHashMap;
    use std::sync::{OnceLock, PoisonError, RwLock};

    const LEAF_BITS: u32 = 128;
    const N_LEAVES: usize = ThreadId::MAX / LEAF_BITS as usize;

    /// The bits of a set, all of them.
    type Bits = [u128; N_LEAVES];

    #[derive(Default)]
    struct Table {
        leaves: Vec<u128>,
        numbers_of_leaves: FxHashMap<u128, u32>,
        sets: Vec<[u32; N_LEAVES]>,
        numbers_of_sets: FxHashMap<[u32; N_LEAVES], u32>,
    }

    fn table() -> &'static RwLock<Table> {
        static TABLE: OnceLock<RwLock<Table>> = OnceLock::new();
        TABLE.get_or_init(RwLock::default)
    }

    fn bits(set: ThreadSet) -> Bits {
        if !set.is_wide() {
            let mut bits = [0; N_LEAVES];
            bits[0] = u128::from(set.0[0]) | u128::from(set.0[1]) << 64;
            return bits;
        }
        let table = table().read().unwrap_or_else(PoisonError::into_inner);
        table.sets[set.0[0] as usize].map(|leaf| table.leaves[leaf as usize])
    }

    fn set(bits: &Bits) -> ThreadSet {
        if bits[1..].iter().all(|&leaf| leaf == 0) && bits[0] >> N_NARROW == 0 {
            return ThreadSet([bits[0] as u64, (bits[0] >> 64) as u64]);
        }
        let known = table().read().unwrap_or_else(PoisonError::into_inner).find(bits);
        let number = known
            .unwrap_or_else(|| table().write().unwrap_or_else(PoisonError::into_inner).enter(bits));
        ThreadSet([number.into(), WIDE])
    }

    impl Table {
        fn find(&self, bits: &Bits) -> Option<u32> {
            let mut leaves = [0; N_LEAVES];
            for (leaf, bits) in leaves.iter_mut().zip(bits) {
                *leaf = *self.numbers_of_leaves.get(bits)?;
            }
            self.numbers_of_sets.get(&leaves).copied()
        }

        fn enter(&mut self, bits: &Bits) -> u32 {
            let leaves = bits.map(|bits| {
                *self.numbers_of_leaves.entry(bits).or_insert_with(|| {
                    self.leaves.push(bits);
                    self.leaves.len() as u32 - 1
                })
            });
            *self.numbers_of_sets.entry(leaves).or_insert_with(|| {
                self.sets.push(leaves);
                u32::try_from(self.sets.len() - 1).expect("memory ends before u32 does")
            })
        }
    }

    pub(super) fn low_bits(set: ThreadSet) -> u128 {
        let [low, rest @ ..] = bits(set);
        assert!(rest.iter().all(|&leaf| leaf == 0), "models have fewer threads");
        low
    }

    pub(super) fn of_low_bits(low: u128) -> ThreadSet {
        let mut bits = [0; N_LEAVES];
        bits[0] = low;
        set(&bits)
    }

    fn put(bits: &mut Bits, number: u32, is_in: bool) {
        let leaf = &mut bits[(number / LEAF_BITS) as usize];
        let bit = 1 << (number % LEAF_BITS);
        if is_in { *leaf |= bit } else { *leaf &= !bit }
    }

    #[cold]
    pub(super) fn with(before: ThreadSet, number: u32, is_in: bool) -> ThreadSet {
        let mut bits = bits(before);
        put(&mut bits, number, is_in);
        set(&bits)
    }

    #[cold]
    pub(super) fn contains(set: ThreadSet, number: u32) -> bool {
        bits(set)[(number / LEAF_BITS) as usize] >> (number % LEAF_BITS) & 1 != 0
    }

    #[cold]
    pub(super) fn len(set: ThreadSet) -> usize {
        bits(set).iter().map(|leaf| leaf.count_ones() as usize).sum()
    }

    #[cold]
    pub(super) fn first_from(set: ThreadSet, start: u32) -> Option<ThreadId> {
        let bits = bits(set);
        let from = (start / LEAF_BITS) as usize;
        let number = (from..N_LEAVES).find_map(|idx| {
            let below = if idx == from { start % LEAF_BITS } else { 0 };
            let leaf = bits[idx] & !0 << below;
            (leaf != 0).then(|| idx * LEAF_BITS as usize + leaf.trailing_zeros() as usize)
        });
        number.map(ThreadId::new)
    }

    #[cold]
    pub(super) fn combine(
        mine: ThreadSet,
        theirs: ThreadSet,
        with: impl Fn(u128, u128) -> u128,
    ) -> ThreadSet {
        let (mine, theirs) = (bits(mine), bits(theirs));
        set(&std::array::from_fn(|idx| with(mine[idx], theirs[idx])))
    }

    /// The set of all these threads.
    #[cold]
    pub(super) fn collect(
        some: ThreadSet,
        another: ThreadId,
        rest: impl Iterator<Item = ThreadId>,
    ) -> ThreadSet {
        let mut bits = bits(some);
        for thread in std::iter::once(another).chain(rest) {
            put(&mut bits, thread.index() as u32, true);
        }
        set(&bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_set_holds_the_last_thread_there_may_be() {
        let last = ThreadId::new(ThreadId::MAX - 1);
        let mut set = ThreadSet::one(last);
        set.insert(ThreadId::new(3));
        assert_eq!(set.iter().collect::<Vec<_>>(), [ThreadId::new(3), last]);
        assert_eq!(set.next_after(ThreadId::new(3)), Some(last));
        assert_eq!(set.next_after(last), Some(ThreadId::new(3)), "the search wraps around");
        set.remove(last);
        assert_eq!(
            set,
            ThreadSet::one(ThreadId::new(3)),
            "a set that is narrow again is as before"
        );
    }

    /// Random operations on sets with few and with many threads, beside those of ordered sets.
    #[test]
    fn wide_sets_do_what_ordered_sets_do() {
        let mut random = 1u64;
        let mut below = |limit: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as usize % limit
        };
        // Numbers on both sides of the words, of what is narrow, and of the leaves.
        const NEAR: [usize; 9] = [0, 63, 64, 126, 127, 128, 129, 255, ThreadId::MAX - 1];
        let mut sets = vec![(ThreadSet::EMPTY, BTreeSet::new()); 4];
        for _ in 0..20_000 {
            let thread = match below(3) {
                0 => NEAR[below(NEAR.len())],
                1 => below(127),
                _ => below(ThreadId::MAX),
            };
            let thread = ThreadId::new(thread);
            let (at, of, to) = (below(4), below(4), below(4));
            let (a, b) = (sets[at].clone(), sets[of].clone());
            sets[to] = match below(6) {
                0 | 1 => {
                    let mut it = a;
                    it.0.insert(thread);
                    it.1.insert(thread);
                    it
                }
                2 => {
                    let mut it = a;
                    it.0.set(thread, false);
                    it.1.remove(&thread);
                    it
                }
                3 => (a.0 | b.0, &a.1 | &b.1),
                4 => (a.0 & b.0, &a.1 & &b.1),
                _ => (a.0 - b.0, &a.1 - &b.1),
            };
            let (set, oracle) = &sets[to];
            assert_eq!(set.iter().collect::<Vec<_>>(), oracle.iter().copied().collect::<Vec<_>>());
            assert_eq!(set.len(), oracle.len());
            assert_eq!(set.is_empty(), oracle.is_empty());
            assert_eq!(set.first(), oracle.first().copied());
            assert_eq!(set.contains(thread), oracle.contains(&thread));
            let after = oracle.range(thread..).find(|&&other| other != thread);
            assert_eq!(set.next_after(thread), after.or(oracle.first()).copied());
            assert_eq!(*set, oracle.iter().copied().collect(), "equal sets have equal words");
            assert_eq!(*set == sets[of].0, *oracle == sets[of].1);
        }
    }
}
