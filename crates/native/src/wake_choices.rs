//! Combinations by number: which sleepers a wake-up reaches is a choice.

use mazurka_core::{ThreadId, ThreadSet};

/// How many sets of a size there are. Beyond all that can be explored it does not matter how many.
pub(crate) fn n_subsets(n: usize, size: usize) -> u32 {
    let mut count: u64 = 1;
    for taken in 0..size {
        count = count * (n - taken) as u64 / (taken as u64 + 1);
        if count > u64::from(u32::MAX) {
            return u32::MAX;
        }
    }
    count as u32
}

/// One of the sets of a size, by its number.
pub(crate) fn subset(all: ThreadSet, size: usize, mut number: u32) -> ThreadSet {
    let (mut left, mut wanted) = (all.len(), size);
    let is_taken = |_: &ThreadId| {
        if wanted == 0 {
            return false;
        }
        left -= 1;
        let n_with = n_subsets(left, wanted - 1);
        let is_taken = number < n_with;
        if is_taken {
            wanted -= 1;
        } else {
            number -= n_with;
        }
        is_taken
    };
    all.iter().filter(is_taken).collect()
}
