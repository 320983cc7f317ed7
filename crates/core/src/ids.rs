//! Names of threads and objects.
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
///
/// A thread that was joined may leave its number to another one, if the join happens before that
/// one is spawned, and if what happens before that spawn decides it. Then all steps under one
/// number are still in one order, so a component of a clock goes on counting, and all executions of
/// a trace still have the same numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ThreadId(u32);

impl ThreadId {
    /// The most numbers one program may have for its threads, over all its executions.
    pub const MAX: usize = 1024;

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
