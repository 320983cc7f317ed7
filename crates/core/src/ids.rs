//! Names of threads and objects, and sets of threads.
//!
//! Both names are small dense numbers, so that tables are vectors and nothing on a hot path
//! hashes. A [`System`](crate::System) hands them out and keeps them stable: the same thread or
//! object, created the same way, has the same number in every execution of one process.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A thread of the program under test.
///
/// Stable across executions: (creating thread, how many that thread had created) decides it,
/// never the order in which two unrelated threads happened to be created.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ThreadId(u32);

impl ThreadId {
    /// The most threads one program may have, over all its executions.
    pub const MAX: usize = 128;

    /// The thread with this number.
    ///
    /// # Panics
    ///
    /// If `index` is [`ThreadId::MAX`] or more.
    #[inline]
    pub fn new(index: usize) -> Self {
        assert!(index < Self::MAX, "more than {} threads", Self::MAX);
        Self(index as u32)
    }

    /// How many numbers there are for what runs beside each other in programs of any kind: models of
    /// processes have more of them than any search of executions can tell apart.
    pub const NAMES: usize = 256;

    /// The process with this number, for a schedule.
    ///
    /// # Panics
    ///
    /// If `index` is [`ThreadId::NAMES`] or more.
    pub fn named(index: usize) -> Self {
        assert!(index < Self::NAMES, "more than {} processes", Self::NAMES);
        Self(index as u32)
    }

    /// Its number.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T{}", self.0)
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A shared object: a variable, a lock, a channel, an array element.
///
/// Stable across executions like a [`ThreadId`], and never an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectId(u32);

impl ObjectId {
    /// The object with this number.
    #[inline]
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("objects are dense, and memory ends before u32 does"))
    }

    /// Its number.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "o{}", self.0)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A set of threads, as bits.
// Two words and not one number: what contains it is then as small as it can be, and needs no
// instructions for numbers of two words.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "u128", into = "u128")]
pub struct ThreadSet([u64; 2]);

impl ThreadSet {
    /// The set without a thread.
    pub const EMPTY: Self = Self([0; 2]);

    /// The set of one thread.
    #[inline]
    pub fn one(thread: ThreadId) -> Self {
        Self::EMPTY.with(thread, true)
    }

    /// The same set, with or without `thread`. Both words are made, so that none has to be looked
    /// up in memory.
    #[inline]
    fn with(self, thread: ThreadId, is_in: bool) -> Self {
        let bit = 1 << (thread.0 % 64);
        let [low, high] = if thread.0 < 64 { [bit, 0] } else { [0, bit] };
        let all = u64::from(is_in).wrapping_neg();
        Self([self.0[0] & !low | low & all, self.0[1] & !high | high & all])
    }

    /// Whether `thread` is in it.
    #[inline]
    pub fn contains(self, thread: ThreadId) -> bool {
        !(self & Self::one(thread)).is_empty()
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
        (self.0[0].count_ones() + self.0[1].count_ones()) as usize
    }

    /// The thread of the smallest number.
    #[inline]
    pub fn first(self) -> Option<ThreadId> {
        match self.0 {
            [0, 0] => None,
            [0, high] => Some(ThreadId(64 + high.trailing_zeros())),
            [low, _] => Some(ThreadId(low.trailing_zeros())),
        }
    }

    /// The thread of the smallest number after `thread`, or from the start again.
    #[inline]
    pub fn next_after(self, thread: ThreadId) -> Option<ThreadId> {
        let above = Self::from(!0u128 << thread.index() << 1);
        (self & above).first().or_else(|| self.first())
    }

    /// Its threads, in ascending order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = ThreadId> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let thread = rest.first()?;
            rest.remove(thread);
            Some(thread)
        })
    }
}

impl From<u128> for ThreadSet {
    #[inline]
    fn from(bits: u128) -> Self {
        Self([bits as u64, (bits >> 64) as u64])
    }
}

impl From<ThreadSet> for u128 {
    #[inline]
    fn from(set: ThreadSet) -> Self {
        Self::from(set.0[0]) | Self::from(set.0[1]) << 64
    }
}

impl FromIterator<ThreadId> for ThreadSet {
    fn from_iter<I: IntoIterator<Item = ThreadId>>(threads: I) -> Self {
        let mut set = Self::EMPTY;
        threads.into_iter().for_each(|thread| set.insert(thread));
        set
    }
}

impl std::ops::BitOr for ThreadSet {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }
}

impl std::ops::BitAnd for ThreadSet {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }
}

impl std::ops::Sub for ThreadSet {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_the_last_thread_there_may_be() {
        let last = ThreadId::new(ThreadId::MAX - 1);
        let mut set = ThreadSet::one(last);
        set.insert(ThreadId::new(3));
        assert_eq!(set.iter().collect::<Vec<_>>(), [ThreadId::new(3), last]);
        assert_eq!(set.next_after(ThreadId::new(3)), Some(last));
        assert_eq!(set.next_after(last), Some(ThreadId::new(3)), "the search wraps around");
        set.remove(last);
        assert_eq!(set.len(), 1);
    }
}
