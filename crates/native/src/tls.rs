//! Thread-local storage: real threads that sleep lend theirs to the coroutines.
//!
//! A coroutine runs with the thread pointer of its lender, so `_Thread_local`, `errno`,
//! `pthread_self` and the C library's own per-thread data are those of a genuine thread.

use crate::coroutine;
use crate::memory::{self, Tls};
use crate::real;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

/// A real thread that only lends its storage.
pub(crate) struct Lender {
    pub(crate) thread_pointer: usize,
    /// What the program sees as the thread's name.
    pub(crate) handle: libc::pthread_t,
    blocks: Vec<Tls>,
    ready: AtomicBool,
}

impl Lender {
    /// The process's first thread, which is also the host. Its variables are in the snapshot.
    pub(crate) fn main() -> Self {
        Self {
            thread_pointer: coroutine::thread_pointer(),
            // SAFETY: asks for nothing but a number.
            handle: unsafe { libc::pthread_self() },
            blocks: Vec::new(),
            ready: AtomicBool::new(true),
        }
    }

    /// A new thread; `None` if the system has no more.
    pub(crate) fn new() -> Option<Box<Self>> {
        let mut lender = Box::new(Self {
            thread_pointer: 0,
            handle: 0,
            blocks: Vec::new(),
            ready: AtomicBool::new(false),
        });
        let pointer: *mut Self = &raw mut *lender;
        let mut handle = 0;
        // SAFETY: the thread gets all signals blocked, and a pointer that is never freed while it
        // is not ready; then it never looks again.
        let error = unsafe {
            let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            let error = real::pthread_create(&mut handle, lend, pointer.cast());
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
            error
        };
        if error != 0 {
            return None;
        }
        while !lender.ready.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        lender.handle = handle;
        Some(lender)
    }

    /// Gives the program's thread-local variables their first values.
    pub(crate) fn restore(&self) {
        for block in &self.blocks {
            // SAFETY: the block is the lender's, who sleeps, and the image is as long as it says.
            unsafe {
                let to = block.address as *mut u8;
                std::ptr::copy_nonoverlapping(block.image as *const u8, to, block.image_len);
                std::ptr::write_bytes(to.add(block.image_len), 0, block.len - block.image_len);
            }
        }
    }
}

/// What a lender does: tells where its storage is, and sleeps for ever.
extern "C" fn lend(lender: *mut c_void) -> *mut c_void {
    // SAFETY: `Lender::new` waits for us and touches nothing but `ready` meanwhile.
    unsafe {
        let lender = lender.cast::<Lender>();
        (*lender).thread_pointer = coroutine::thread_pointer();
        (*lender).blocks = memory::thread_locals();
        (*lender).ready.store(true, Ordering::Release);
    }
    loop {
        // SAFETY: waits for a signal, and all are blocked.
        unsafe { libc::syscall(libc::SYS_pause) };
    }
}
