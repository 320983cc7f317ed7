//! Whether something to synchronise on was initialised, and was not destroyed since.
//!
//! Destroying leaves a mark in the memory of the object, which initialising it again removes, also
//! where that is no call: a static initialiser, or a constructor of C++ that only writes. (Of a
//! mutex it is the C library that leaves one.) A semaphore, a barrier and a spin lock have no
//! static initialiser, so one that was never initialised is known. What has one and is used
//! without cannot be told from what was, if its memory is zero; if it is not, it can
//! ([`check_contents`]).

use crate::coroutine;
use crate::heap;
use crate::machine;
use mazurka_core::{ThreadId, ViolationKind};
use std::slice;
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

/// Ends the running thread if it uses a mutex, condition variable or lock for readers on the heap
/// or a stack that has other contents than any has that was initialised: all is zero, for the
/// operations on it write nothing there, but for what says of which kind it is. Others have been
/// used before there was anything to explore.
#[inline]
pub(crate) fn check_contents<T>(pointer: *const T) {
    let zero: &[(usize, usize)] = const {
        const MUTEX: usize = size_of::<libc::pthread_mutex_t>();
        const CONDITION: usize = size_of::<libc::pthread_cond_t>();
        const LOCK: usize = size_of::<libc::pthread_rwlock_t>();
        match size_of::<T>() {
            MUTEX => &[(0, 16), (24, 40)],
            CONDITION => &[(0, 24), (40, 48)],
            LOCK => &[(0, 28)],
            _ => &[],
        }
    };
    let address = pointer as usize;
    let is_new = heap::place(address).is_some() || coroutine::stack_of(address) < ThreadId::MAX;
    if !is_new {
        return;
    }
    for &(begin, end) in zero {
        // SAFETY: the program gives an object that is that long.
        let bytes = unsafe { slice::from_raw_parts(pointer.cast::<u8>(), size_of::<T>()) };
        if bytes[begin..end].iter().any(|&byte| byte != 0) {
            uninitialised(address);
        }
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
