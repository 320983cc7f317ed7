//! Whether something to synchronise on was initialised, and was not destroyed since.
//!
//! Destroying leaves a mark in the memory of the object, which initialising it again removes, also
//! where that is no call: a static initialiser, or a constructor of C++ that only writes. (Of a
//! mutex it is the C library that leaves one.) A semaphore, a barrier and a spin lock have no
//! static initialiser, so one that was never initialised is known. What has one and is used
//! without cannot be told from what was, if its memory is zero.

use crate::machine;
use mazurka_core::ViolationKind;
use std::sync::{Mutex, PoisonError};

/// A value that nothing else writes there.
const MARK: u32 = 0x6d7a_6b64;

/// What was initialised before the program was explored.
static EARLY: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Something was initialised before the program was explored.
pub(crate) fn note_early(address: usize) {
    EARLY.lock().unwrap_or_else(PoisonError::into_inner).push(address);
}

/// Whether it was.
pub(crate) fn is_early(address: usize) -> bool {
    EARLY.lock().unwrap_or_else(PoisonError::into_inner).contains(&address)
}

/// Something is destroyed, and begins with at least four bytes of its own.
pub(crate) fn mark(address: usize) {
    // SAFETY: the program gives an object that is at least that long, and has no more use for it.
    unsafe { (address as *mut u32).write_unaligned(MARK) };
}

/// Something is initialised.
pub(crate) fn clear(address: usize) {
    if is_marked(address) {
        // SAFETY: as above.
        unsafe { (address as *mut u32).write_unaligned(0) };
    }
}

fn is_marked(address: usize) -> bool {
    // SAFETY: as above.
    unsafe { (address as *const u32).read_unaligned() == MARK }
}

/// Ends the running thread if it uses what was destroyed.
#[inline]
pub(crate) fn check(address: usize) {
    if is_marked(address) {
        destroyed(address);
    }
}

/// Ends the running thread, which uses what was destroyed.
#[cold]
pub(crate) fn destroyed(address: usize) -> ! {
    misuse(address, "is used after it was destroyed")
}

/// Ends the running thread, which uses what was never initialised.
#[cold]
pub(crate) fn uninitialised(address: usize) -> ! {
    misuse(address, "is used and was never initialised")
}

fn misuse(address: usize, what: &str) -> ! {
    let name = machine::name_of(address);
    machine::fail(ViolationKind::Memory, format!("`{name}` {what}"))
}
