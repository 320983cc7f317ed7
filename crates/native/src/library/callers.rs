//! Who calls a function of the C library: some parts of Rust's standard library do so on their own
//! account.
//!
//! The linker sends `memcpy` and its like here for the precompiled code of the standard library,
//! too. What that copies for the program is an access of the program. Not so what `precompiled`
//! leaves alone, such as output and panics: their locks are no operations, so that what they guard
//! would look as if threads raced for it, and the program cannot reach those buffers.

use std::ops::Range;
use std::sync::{Mutex, OnceLock};

static FOUND: Mutex<Vec<Range<usize>>> = Mutex::new(Vec::new());
/// In order, with no two that meet.
static LEFT_ALONE: OnceLock<Vec<Range<usize>>> = OnceLock::new();

/// The code of a function calls on its own account.
pub(crate) fn leave_alone(code: Range<usize>) {
    FOUND.lock().expect("the lock is not poisoned").push(code);
}

/// All such functions are known.
pub(crate) fn settle() {
    let mut found = std::mem::take(&mut *FOUND.lock().expect("the lock is not poisoned"));
    found.sort_by_key(|code| code.start);
    LEFT_ALONE.get_or_init(|| merged(&found));
}

/// Whether a call that returns to an address is one of those.
#[inline]
pub(crate) fn are_left_alone(caller: usize) -> bool {
    LEFT_ALONE.get().is_some_and(|all| contains(all, caller))
}

/// Makes one of those that have nothing but a few bytes between them, in which no code is.
fn merged(found: &[Range<usize>]) -> Vec<Range<usize>> {
    /// Functions begin at multiples of this.
    const ALIGNMENT: usize = 16;
    let mut all: Vec<Range<usize>> = Vec::new();
    for code in found {
        match all.last_mut() {
            Some(last) if code.start < last.end + ALIGNMENT => last.end = last.end.max(code.end),
            _ => all.push(code.clone()),
        }
    }
    all
}

/// Whether an address follows a call in one of these ranges: one that does not return may be the
/// last instruction.
fn contains(all: &[Range<usize>], address: usize) -> bool {
    let idx = all.partition_point(|code| code.start < address);
    idx > 0 && address <= all[idx - 1].end
}
