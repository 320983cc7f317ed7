//! Vector clocks: how much each thread knows of each other.
//!
//! Implements the clock vectors of Flanagan and Godefroid (POPL 2005, section 4.1).
//!
//! | paper          | here                                       |
//! |----------------|--------------------------------------------|
//! | ⊥              | [`VectorClock::new`]                       |
//! | *max(c, c')*   | [`VectorClock::join`]                      |
//! | *C[p := i]*    | [`VectorClock::set`]                       |
//!
//! Differs from the paper: a clock is as long as the largest thread it knows of, so threads may
//! be born on the way. The search itself keeps its clocks in one flat table
//! ([`HappensBefore`](crate::HappensBefore)); this is the clock for everybody else.

use crate::ThreadId;
use std::cmp::Ordering;

/// A map from threads to counts, 0 where nothing is known.
#[derive(Clone, Debug, Default)]
pub struct VectorClock {
    entries: Vec<u32>,
}

impl VectorClock {
    /// The clock that knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// What it knows of a thread.
    pub fn get(&self, thread: ThreadId) -> u32 {
        self.entries.get(thread.index()).copied().unwrap_or(0)
    }

    /// Sets what it knows of a thread.
    pub fn set(&mut self, thread: ThreadId, count: u32) {
        if self.entries.len() <= thread.index() {
            self.entries.resize(thread.index() + 1, 0);
        }
        self.entries[thread.index()] = count;
    }

    /// Learns all that `other` knows.
    pub fn join(&mut self, other: &Self) {
        if self.entries.len() < other.entries.len() {
            self.entries.resize(other.entries.len(), 0);
        }
        for (mine, &theirs) in self.entries.iter_mut().zip(&other.entries) {
            *mine = (*mine).max(theirs);
        }
    }

    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

impl PartialEq for VectorClock {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

/// Ordered if one knows all that the other knows; concurrent clocks are not.
impl PartialOrd for VectorClock {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let at = |clock: &Self, idx: usize| clock.entries.get(idx).copied().unwrap_or(0);
        let len = self.entries.len().max(other.entries.len());
        let less = (0..len).any(|idx| at(self, idx) < at(other, idx));
        let more = (0..len).any(|idx| at(self, idx) > at(other, idx));
        match (less, more) {
            (false, false) => Some(Ordering::Equal),
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            (true, true) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_of_different_lengths_compare() {
        let [t0, t5] = [0, 5].map(ThreadId::new);
        let mut early = VectorClock::new();
        early.set(t0, 1);
        let mut late = early.clone();
        late.set(t5, 2);
        assert!(early < late);
        early.set(t0, 2);
        assert_eq!(early.partial_cmp(&late), None, "neither knows all of the other");
        early.join(&late);
        assert_eq!((early.get(t0), early.get(t5)), (2, 2));
        let mut padded = early.clone();
        padded.set(ThreadId::new(9), 0);
        assert_eq!(early, padded, "knowing nothing of a thread is not knowledge");
    }
}
