//! A lock-free stack of small numbers: which slots of a pool are free.

pub mod fixed;

use std::array;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The numbers below `N`, each at most once.
pub struct Stack<const N: usize> {
    top: AtomicUsize,
    below: [AtomicUsize; N],
}

/// Stands below the last number.
const BOTTOM: usize = usize::MAX;

impl<const N: usize> Stack<N> {
    /// All numbers, with 0 on top.
    pub fn full() -> Self {
        let below = |slot| if slot + 1 == N { BOTTOM } else { slot + 1 };
        Self {
            top: AtomicUsize::new(0),
            below: array::from_fn(|slot| AtomicUsize::new(below(slot))),
        }
    }

    pub fn push(&self, slot: usize) {
        let mut top = self.top.load(Ordering::Acquire);
        loop {
            self.below[slot].store(top, Ordering::Release);
            match self.top.compare_exchange(top, slot, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    pub fn pop(&self) -> Option<usize> {
        let mut top = self.top.load(Ordering::Acquire);
        while top != BOTTOM {
            let below = self.below[top].load(Ordering::Acquire);
            match self.top.compare_exchange(top, below, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(top),
                Err(now) => top = now,
            }
        }
        None
    }
}
