//! What Rust's standard library initialises lazily for all threads: done before `main`.
//!
//! Every thread that the standard library starts asks for its destructors to be run at its end,
//! and the first one that does so creates a key of thread-specific data for all
//! (`std::sys::thread_local::guard::key::enable`). Which thread comes first is a race that no
//! program can observe: the key means the same whichever thread has created it. As steps of the
//! program, the load, the creation and the compare-and-swap of every thread would multiply the
//! traces of every program that starts two threads (by 4 for two, by more than 20 for three).
//!
//! So `main` calls that function before it does anything else, as it would if it had asked for
//! `thread::current()`. It runs alone then, so nothing of it is an operation. Afterwards no
//! thread finds the key missing: none stores it, and a load of what is never stored is none either.
//! The destructor of the key is for threads that end, and `main` does not end as one.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The end of the function's name, as compilers write it.
const ENABLE: &str = "3std3sys12thread_local5guard3key6enable";

/// Where the function is; 0 if the program has none.
static ENABLE_AT: AtomicUsize = AtomicUsize::new(0);

/// Looks whether a function of the program is the one.
pub(crate) fn note_function(name: &str, address: usize) {
    if name.ends_with(ENABLE) {
        ENABLE_AT.store(address, Ordering::Relaxed);
    }
}

/// The first thread of the program is about to call `main`.
pub(crate) fn initialise() {
    let address = ENABLE_AT.load(Ordering::Relaxed);
    if address == 0 {
        return;
    }
    // SAFETY: the symbol is that of a function without arguments or result, of the standard
    // library that is linked into the program, and any thread may call it at any time.
    let enable = unsafe { std::mem::transmute::<usize, unsafe extern "C-unwind" fn()>(address) };
    // SAFETY: as above.
    unsafe { enable() };
}
