//! The same stack with a version beside the top, so that an old one is never taken for a new one.

use std::array;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The numbers below `N`, each at most once.
pub struct Stack<const N: usize> {
    /// The version in the upper half, the number in the lower one.
    top: AtomicU64,
    below: [AtomicU32; N],
}

/// Stands below the last number.
const BOTTOM: u32 = u32::MAX;

fn slot_of(top: u64) -> u32 {
    top as u32
}

/// The next version, with another number on top.
fn replaced(top: u64, slot: u32) -> u64 {
    ((top >> 32) + 1) << 32 | u64::from(slot)
}

impl<const N: usize> Stack<N> {
    /// All numbers, with 0 on top.
    pub fn full() -> Self {
        let below = |slot| if slot + 1 == N { BOTTOM } else { slot as u32 + 1 };
        Self { top: AtomicU64::new(0), below: array::from_fn(|slot| AtomicU32::new(below(slot))) }
    }

    pub fn push(&self, slot: usize) {
        let mut top = self.top.load(Ordering::Acquire);
        loop {
            self.below[slot].store(slot_of(top), Ordering::Release);
            let new = replaced(top, slot as u32);
            match self.top.compare_exchange(top, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    pub fn pop(&self) -> Option<usize> {
        let mut top = self.top.load(Ordering::Acquire);
        while slot_of(top) != BOTTOM {
            let slot = slot_of(top) as usize;
            let new = replaced(top, self.below[slot].load(Ordering::Acquire));
            match self.top.compare_exchange(top, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(slot),
                Err(now) => top = now,
            }
        }
        None
    }
}
